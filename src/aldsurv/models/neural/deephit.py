"""DeepHit: a network gives every individual a probability for each bin of time, and for each of competing causes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.incidence import CumulativeIncidence, linear_survival
from aldsurv.errors import ParameterError
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.neural.time_bins import bin_ends, marginal_chances, places, require_right_censored
from aldsurv.networks import Architecture

__all__ = ["DeepHit"]

FloatArray = NDArray[np.float64]

_PAPER: dict[str, Any] = {
    "durations": 100,
    "scheme": "equidistant",
    "censoring": "rounded",
    "interpolation": "linear",
    "alpha": 0.2,
    "sigma": 0.1,
    "hidden": (32, 32),
    "head_hidden": (),
    "activation": "relu",
    "residual": False,
    "batch_norm": True,
    "dropout": 0.1,
    "members": 1,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "schedule": "constant",
    "warmup": 0,
    "batch_size": 128,
    "max_epochs": 200,
    "patience": 10,
    "weight_decay": 0.0,
    "clip_norm": 0.0,
    "validation": 0.2,
    "start": "random",
    "time_scale": "median",
    "clip_features": 5.0,
    "point": "median",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    "durations": 15,
    "scheme": "quantile",
    "censoring": "interpolated",
    "alpha": 0.8,
    "sigma": 0.3,
    "activation": "silu",
    "batch_norm": False,
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.003,
    "batch_size": "auto",
    "patience": 15,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
    "start": "marginal",
}
_SCHEMES = ("equidistant", "quantile")
_CENSORING = ("rounded", "interpolated")
_INTERPOLATION = ("linear", "step")
# Pairs are weighed by exp of differences of up to 1/sigma, which single precision must be able to hold.
_LEAST_SIGMA = 0.02
_MOST_DURATIONS = 10_000


@final
class DeepHit(NeuralSurvival):
    """Individual survival distributions by probabilities of bins of time that a network gives (Lee et al., 2018).

    Nothing is assumed about the shape of the distribution. The loss joins the likelihood of the bins with a ranking
    loss: who has the event early should have the larger probability of it by then. With data made by
    `SurvivalData.competing` there is a probability for each cause and bin, and `predict_incidence` answers cause by
    cause; `predict_distribution` is that of the time to the first event of any cause.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the baseline of Sheng & Henao (2025), which is pycox's.
    durations
        Number of bins.
    scheme
        ``"equidistant"`` bins, or ``"quantile"``: about as many events in each.
    censoring
        Of a censored time within a bin: ``"rounded"`` takes it as the end of the bin before, as pycox does;
        ``"interpolated"`` counts the share of the bin that was passed.
    interpolation
        ``"linear"``: survival falls evenly within a bin. ``"step"``: at its end.
    alpha
        Share of the likelihood in the loss, from 0 to 1; the rest is the ranking's.
    sigma
        Differences of probability beyond this matter in the ranking.
    hidden, head_hidden
        Sizes of the layers that all outputs share, and of those that each has for itself.
    activation, residual, batch_norm, dropout
        As in `ALDSurvival`.
    encoder
        A torch module, or a function that makes one, in the place of the shared layers, as in `ALDSurvival`.
    members
        Number of networks; their probabilities are averaged.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        Training, as in `ALDSurvival`.
    validation
        Share of the rows that decide when to stop; each member holds out others.
    start
        ``"marginal"``: every network starts at the incidence without covariates; ``"random"``.
    time_scale
        What is one unit of time inside; makes no difference but for rounding.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
    point
        Summary that is the predicted time, and by which rows are ranked: ``"median"``, ``"mean"``, ``"mode"``,
        ``"restricted_mean"``, or ``"auto"``: one for each use, by the members' validation rows.
    categorical, unit, device, random_state, progress, callbacks, checkpoint
        As in `ALDSurvival`.

    Attributes
    ----------
    error_point_, ranking_point_, point_scores_
        The summary that `predict_time` gives and the one that `predict` ranks by; with ``point="auto"`` what they were
        chosen by: as in `ALDSurvival`.
    bin_ends_
        Ends of the bins, in the unit of the data; the first begins at 0.
    causes_
        Names of the causes; None if the data had none.
    settings_, history_, features_, trained_on_
        As in `ALDSurvival`; the losses are DeepHit's own.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> death, relapse = np.exp(x[:, 0] + rng.normal(size=300) / 2), np.exp(x[:, 1] + rng.normal(size=300) / 2)
    >>> first = np.minimum(np.minimum(death, relapse), 3.0)
    >>> cause = np.select([first == death, first == relapse], [1, 2], 0)
    >>> model = DeepHit(random_state=0).fit(x, SurvivalData.competing(first, cause, names=["death", "relapse"]))
    >>> found = model.predict_incidence([[-1.0, 1.0], [1.0, -1.0]])
    >>> chance = found.incidence(1.0)
    >>> chance.shape, bool(chance[0, 0] > 0.6 > chance[1, 0]), bool(chance[1, 1] > 0.6 > chance[0, 1])
    ((2, 2), True, True)
    """

    TAKES_CAUSES: ClassVar[bool] = True
    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}

    durations: int | None
    scheme: str | None
    censoring: str | None
    interpolation: str | None
    alpha: float | None
    sigma: float | None
    time_scale: str | float | None

    def __init__(
        self,
        recipe: str = "default",
        *,
        durations: int | None = None,
        scheme: str | None = None,
        censoring: str | None = None,
        interpolation: str | None = None,
        alpha: float | None = None,
        sigma: float | None = None,
        hidden: Sequence[int] | None = None,
        head_hidden: Sequence[int] | None = None,
        activation: str | None = None,
        residual: bool | None = None,
        batch_norm: bool | None = None,
        dropout: float | None = None,
        encoder: Any = None,
        members: int | None = None,
        optimizer: str | None = None,
        learning_rate: float | None = None,
        schedule: str | None = None,
        warmup: int | None = None,
        batch_size: int | str | None = None,
        max_epochs: int | None = None,
        patience: int | None = None,
        weight_decay: float | str | None = None,
        clip_norm: float | None = None,
        validation: float | None = None,
        start: str | None = None,
        time_scale: str | float | None = None,
        clip_features: float | None = None,
        point: str | None = None,
        categorical: Sequence[str | int] | None = None,
        unit: str | None = None,
        device: str = "auto",
        random_state: Any = None,
        progress: bool | str = "auto",
        callbacks: Sequence[Any] | None = None,
        checkpoint: Any = None,
    ) -> None:
        self._keep(locals())

    @property
    def bin_ends_(self) -> FloatArray:
        """Ends of the bins (bins,), in the unit of the data."""
        self._require_fitted()
        return np.asarray(self.learned_["bin_ends"] * self.time_scale_)

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes; None if the data had none."""
        self._require_fitted()
        return _names_from(self.learned_.get("causes"))

    def predict_incidence(self, X: Any) -> CumulativeIncidence:
        """Probability of the event of each cause by any time, for each row of `X`, in the unit of the data."""
        raw = self._raw(X)
        bins = len(self.learned_["bin_ends"])
        values = np.mean([_incidence(member, bins) for member in raw], axis=0)
        names = self.causes_ or ("1",)
        return CumulativeIncidence.from_checked(
            times=self.bin_ends_,
            values=values,
            causes=names,
            interpolate=self.settings_["interpolation"] == "linear",
        )

    def _kind(self) -> str:
        return f"{len(self.learned_['bin_ends'])} bins of time"

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        count, alpha, sigma = settings["durations"], settings["alpha"], settings["sigma"]
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= _MOST_DURATIONS:
            raise ParameterError(f"durations must be a whole number from 2 to {_MOST_DURATIONS}, but is {count!r}.")
        for name, allowed in (("scheme", _SCHEMES), ("censoring", _CENSORING), ("interpolation", _INTERPOLATION)):
            if settings[name] not in allowed:
                raise ParameterError(f"{name} must be {' or '.join(map(repr, allowed))}, but is {settings[name]!r}.")
        if not isinstance(alpha, (int, float)) or isinstance(alpha, bool) or not 0 <= alpha <= 1:
            raise ParameterError(f"alpha must be a share from 0 to 1, but is {alpha!r}.")
        if not isinstance(sigma, (int, float)) or isinstance(sigma, bool) or not _LEAST_SIGMA <= sigma < np.inf:
            raise ParameterError(f"sigma must be a number from {_LEAST_SIGMA} on, but is {sigma!r}.")

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        require_right_censored(data, type(self).__name__)
        return data

    def _learn_before(self, X: Any, data: SurvivalData, settings: dict[str, Any], rows: Any) -> dict[str, NDArray[Any]]:
        learned: dict[str, NDArray[Any]] = {"bin_ends": bin_ends(data, settings["durations"], settings["scheme"])}
        if data.causes is not None:
            learned["causes"] = _as_numbers(data.causes)
        return learned

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Any:
        from aldsurv.losses.deephit_loss import deephit_objective

        settings = prepared[0].settings
        in_part = settings["censoring"] == "interpolated"
        found = [places(own.data, own.learned["bin_ends"], in_part=in_part) for own in prepared]
        place = np.concatenate([each for each, _ in found])
        entered = None
        if data.entry is not None:
            entered = np.concatenate([np.zeros(len(each)) if since is None else since for each, since in found])
        cause = data.exact.astype(np.int64) if data.cause is None else data.cause
        causes = 1 if data.causes is None else len(data.causes)

        def start(rows: NDArray[np.int64]) -> FloatArray:
            chosen = (None if column is None else column[rows] for column in (data.weight, entered))
            return marginal_chances(place[rows], cause[rows], *chosen, causes=causes, bins=settings["durations"])

        return deephit_objective(
            place,
            cause,
            entered,
            bins=settings["durations"],
            causes=causes,
            alpha=float(settings["alpha"]),
            sigma=float(settings["sigma"]),
            start=start,
            device=device,
        )

    def _member_distribution(self, raw: FloatArray, member: int, X: Any) -> SurvivalDistribution:
        ends = np.asarray(self.learned_["bin_ends"])
        return self._of_survival(ends, 1 - _incidence(raw, len(ends)).sum(axis=1))

    def _combined(self, parts: list[Any]) -> SurvivalDistribution:
        # All have the same grid: the mean of the curves is their mixture, in one table.
        ends = self.bin_ends_
        curves = [part.values if isinstance(part, Step) else 1 - part.cdf_values[:, 1:] for part in parts]
        return self._of_survival(ends, np.mean(curves, axis=0))

    def _of_survival(self, ends: FloatArray, survival: FloatArray) -> SurvivalDistribution:
        survival = np.clip(survival, 0.0, 1.0)
        if self.settings_["interpolation"] == "linear":
            return linear_survival(ends, survival)
        return Step.from_checked(times=ends[None, :], values=survival, tail="hold")

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        ends = learned.get("bin_ends")
        if ends is None or not set(learned) <= {"bin_ends", "causes"}:
            raise ParameterError("what DeepHit learned must be bin_ends and perhaps causes.")
        if ends.dtype != np.float64 or ends.shape != (settings["durations"],):
            raise ParameterError(
                f"bin_ends must be {settings['durations']} numbers, but are {ends.dtype} {ends.shape}."
            )
        if not np.isfinite(ends).all() or (np.diff(ends, prepend=0.0) <= 0).any():
            raise ParameterError("bin_ends must be finite, above 0 and ascending.")
        names = _names_from(learned.get("causes"))
        if network.outputs != len(ends) * (1 if names is None else len(names)):
            raise ParameterError(f"the network must have an output for each cause and bin, but has {network.outputs}.")


def _incidence(raw: FloatArray, bins: int) -> FloatArray:
    """Probability of each cause up to the end of each bin (n, causes, bins), from the network's outputs."""
    # The output for what comes after the last bin is always 0.
    top = np.maximum(raw.max(axis=1, keepdims=True), 0.0)
    grown = np.exp(raw - top)
    chances = grown / (grown.sum(axis=1, keepdims=True) + np.exp(-top))
    return np.asarray(np.cumsum(chances.reshape(len(raw), -1, bins), axis=2))


def _as_numbers(names: Sequence[str]) -> NDArray[np.int64]:
    """Names as the numbers of their letters, a 0 after each: a model file holds numbers."""
    return np.array([ord(letter) for name in names for letter in (*name.replace("\0", " "), "\0")], np.int64)


def _names_from(numbers: NDArray[Any] | None) -> tuple[str, ...] | None:
    if numbers is None:
        return None
    if numbers.dtype != np.int64 or numbers.ndim != 1 or not numbers.size or numbers[-1] != 0:
        raise ParameterError("causes must be names as numbers of their letters, a 0 after each.")
    if ((numbers < 0) | (numbers > 0x10FFFF)).any():
        raise ParameterError("causes must be numbers of letters, but some are not.")
    return tuple("".join(map(chr, numbers.tolist())).split("\0")[:-1])
