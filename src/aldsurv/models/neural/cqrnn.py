"""Quantile regression under censoring: a network gives every individual the quantiles of its distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.numerics.ordered_quantiles import ordered_quantiles
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.models.neural.fitting.preparation import Rows
from aldsurv.models.neural.fitting.quantile_stages import later_stages, own_layers, stage_of
from aldsurv.models.neural.network_space import NETWORK_ENTRIES
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.search_space import SearchSpace
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective
    from aldsurv.training.history import History

__all__ = ["CQRNN"]

_CHOICES = {
    "y_star_kind": ("factor", "value"),
    "algorithm": ("grid", "sequential"),
    "censored_level": ("nearest", "interpolated"),
    "support": ("real", "log"),
    "crossing": ("sorted", "never"),
}
# Logarithms of times that are still times; a spread of them below which all times are one.
_LARGEST_LOG, _LEAST_SPREAD = 80.0, 1e-6
_PAPER: dict[str, Any] = {
    "quantiles": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    "y_star": 1.2,
    "y_star_kind": "factor",
    "algorithm": "grid",
    "censored_level": "nearest",
    "support": "real",
    "crossing": "sorted",
    "hidden": (100, 100),
    "head_hidden": (),
    "activation": "relu",
    "residual": False,
    "batch_norm": False,
    # Epochs and dropout are the dataset's: aldsurv.models.paper_settings.
    "dropout": 0.0,
    "members": 1,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "schedule": "constant",
    "warmup": 0,
    "batch_size": 128,
    "max_epochs": 100,
    "patience": 0,
    "weight_decay": 0.0001,
    "clip_norm": 0.0,
    "validation": 0.0,
    "start": "random",
    # The paper does not say in which unit time enters the network.
    "time_scale": "std",
    "clip_features": 5.0,
    "point": "median",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    "quantiles": tuple(round(0.05 * k, 2) for k in range(1, 20)),
    "y_star": 2.0,
    "censored_level": "interpolated",
    "support": "log",
    "crossing": "never",
    "hidden": (64, 64),
    "activation": "silu",
    "residual": True,
    "dropout": 0.1,
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.003,
    "batch_size": "auto",
    "max_epochs": 200,
    "patience": 15,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
    "validation": 0.2,
    "start": "marginal",
    "time_scale": "median",
}


@final
class CQRNN(NeuralSurvival):
    """Individual survival distributions by censored quantile regression (Pearce et al., 2022).

    The network gives quantiles of the time. It is trained with the pinball loss, in which a censored row is split by
    Portnoy's weights between its own time and a time y* beyond all others. The prediction joins the quantiles by
    straight lines: `QuantileKnots` says what is assumed outside them. Takes events and right-censored rows.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the network and training of the baseline CQRNN in Sheng & Henao (2025),
        whose epochs and dropout differ by dataset: see `aldsurv.models.paper_settings`.
    quantiles
        Probabilities of the quantiles, at least two, increasing, between 0 and 1.
    y_star, y_star_kind
        Where the part of a censored row lies that is beyond all times: at this ``"factor"`` times the largest time,
        or at this ``"value"``, a time in the unit of the data.
    algorithm
        ``"grid"``: one network gives all quantiles, and how much had happened by a censoring time is read off its own
        predictions. ``"sequential"``: a network for each quantile, trained from the lowest to the highest, and it is
        read off those already trained; each has all layers for itself, without a residual.
    censored_level
        How it is read off: the level of the ``"nearest"`` quantile, or ``"interpolated"`` between two.
    support
        Quantiles of the time itself (``"real"``, which may come out below 0) or of its logarithm (``"log"``). With
        the latter a row at time 0 is taken to be at the first later time.
    crossing
        Predicted quantiles that cross are ``"sorted"``, or the network's outputs are distances between neighbours,
        so that they ``"never"`` cross. The networks of the sequential algorithm can only be sorted.
    hidden, head_hidden
        Sizes of the layers that the quantiles share, and of those that each has for itself.
    activation, residual, batch_norm, dropout
        Kind of the units, whether shared layers pass on a projection of their input, normalisation, share dropped.
    encoder
        A torch module, or a function that makes one, in place of the shared layers: it gets X as it is, of any
        shape ``(n, ...)``, and gives ``(n, numbers)``. A module's weights are where every member starts.
    members
        Networks of the ensemble; the prediction is the mixture of theirs. Each has validation rows of its own.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        As in `aldsurv.training.TrainingSettings`; 0 switches patience, decay or clipping off.
    validation
        Share of the rows that decides when to stop; 0 for none. Under ten rows none are held out.
    start
        ``"marginal"``: begin at the quantiles of the Kaplan-Meier curve; ``"random"``.
    time_scale
        What is one unit of time inside: ``"median"`` or ``"std"`` of the times, ``"none"`` or a number.
        Answers are in the unit of the data in any case.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
    point
        Summary that is the predicted time, and by which rows are ranked: ``"median"``, ``"mean"``, ``"mode"``,
        ``"restricted_mean"``, or ``"auto"``: one for each use, by the members' validation rows.
    categorical
        Columns, by name or number, whose numbers are categories.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for people who read it.
    device
        ``"auto"`` (a CUDA device if there is one), ``"cpu"``, …
    random_state
        Seed: the same seed gives the same bits on the same machine.
    progress
        Whether to show a progress bar; ``"auto"``: in a terminal.
    callbacks
        Functions that are called with an `EpochReport` after each epoch; True ends training (with the sequential
        algorithm that of the quantile at hand).
    checkpoint
        A file from which a killed fit goes on; not with the sequential algorithm.

    Attributes
    ----------
    settings_
        Every setting that was used.
    error_point_, ranking_point_, point_scores_
        The summary that `predict_time` gives and the one that `predict` ranks by; with ``point="auto"`` what they were
        chosen by: as in `ALDSurvival`.
    history_
        Losses of each epoch and member, in the unit inside; of all stages one after the other.
    learned_
        ``y_star``, in the unit of the data; with support log ``log_spread``, in which logarithms are counted inside.
    features_
        How columns become numbers.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> event_time, censoring = np.exp(x[:, 0] + rng.normal(size=300) / 2), rng.exponential(5, 300)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> model = CQRNN(random_state=0).fit(x, y)
    >>> d = model.predict_distribution([[-1.0, 0.0], [1.0, 0.0]])
    >>> bool(d.median()[0] < d.median()[1]), d.quantile([0.1, 0.5, 0.9]).shape
    (True, (2, 3))
    """

    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}

    quantiles: Sequence[float] | None
    y_star: float | None
    y_star_kind: str | None
    algorithm: str | None
    censored_level: str | None
    support: str | None
    crossing: str | None
    time_scale: str | float | None

    def __init__(
        self,
        recipe: str = "default",
        *,
        quantiles: Sequence[float] | None = None,
        y_star: float | None = None,
        y_star_kind: str | None = None,
        algorithm: str | None = None,
        censored_level: str | None = None,
        support: str | None = None,
        crossing: str | None = None,
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

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        return own_layers(settings) if settings["algorithm"] == "sequential" else settings

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        for name, allowed in _CHOICES.items():
            if settings[name] not in allowed:
                raise ParameterError(f"{name} must be {' or '.join(map(repr, allowed))}, but is {settings[name]!r}.")
        _require_levels(settings["quantiles"])
        y_star, factor = settings["y_star"], settings["y_star_kind"] == "factor"
        number = isinstance(y_star, (int, float)) and not isinstance(y_star, bool)
        if not number or not (1.0 if factor else 0.0) < y_star < np.inf:
            rule = "a factor above 1 (of the largest time)" if factor else "a time above 0"
            raise ParameterError(f"y_star must be {rule}, but is {y_star!r}.")
        if settings["algorithm"] == "sequential":
            for name in ("encoder", "checkpoint"):
                if getattr(self, name) is not None:
                    raise ParameterError(f"{name} must be None with algorithm='sequential'. Take algorithm='grid'.")

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        if not bool((data.exact | data.right_censored).all()) or data.entry is not None:
            raise CensoringError(
                "CQRNN takes events and right-censored rows observed from the start, but some rows are left- or "
                "interval-censored or entered late. Take a model with a likelihood, such as ALDSurvival."
            )
        time = data.lower
        if settings["support"] == "real" or bool((time > 0).all()):
            return data
        if not bool((time > 0).any()):
            raise DataError("all times are 0: there is nothing to learn. Check the time column.")
        # Below all quantiles it does not matter to them where a row lies.
        time = np.maximum(time, time[time > 0].min())
        return SurvivalData.right(time, data.exact, weight=data.weight)

    def _learn_before(
        self, X: Any, data: SurvivalData, settings: dict[str, Any], rows: Rows
    ) -> dict[str, NDArray[Any]]:
        if settings["support"] == "real":
            return {}
        # A pinball loss pulls as hard near as far: steps suit outputs whose spread is about 1.
        spread = float(np.log(data.lower[data.weights > 0]).std())
        return {"log_spread": np.array([spread if spread > _LEAST_SPREAD else 1.0])}

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        from aldsurv.losses.quantile_objective import QuantileObjective

        settings = prepared[0].settings
        levels, at = stage_of(prepared)
        return QuantileObjective(
            data,
            levels,
            np.concatenate([np.full(len(own.data), _y_star(own)) for own in prepared]),
            rule=settings["censored_level"],
            log_spread=_log_spreads(prepared),
            ordered=settings["crossing"] == "never",
            at=at,
            device=device,
        )

    def _remember(
        self,
        prepared: Prepared,
        network: Architecture,
        weights: dict[str, NDArray[np.float32]],
        encoders: list[Any],
        history: History,
        fingerprint: str,
    ) -> None:
        if prepared.settings["algorithm"] == "sequential":
            network, weights, history = later_stages(self, prepared, network, weights, history)
        super()._remember(prepared, network, weights, encoders, history, fingerprint)

    def _learn_after(self, prepared: Prepared, outputs: Callable[[], NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
        return {"y_star": np.array([_y_star(prepared) * prepared.unit])}

    def _member_distribution(self, raw: NDArray[np.float64], member: int, X: Any) -> SurvivalDistribution:
        settings = self.settings_
        quantiles = np.asarray(ordered_quantiles(raw)) if settings["crossing"] == "never" else raw
        if settings["support"] == "log":
            quantiles = np.exp(np.clip(quantiles * self.learned_["log_spread"][0], -_LARGEST_LOG, _LARGEST_LOG))
        return QuantileKnots(settings["quantiles"], quantiles)

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        wanted = len(settings["quantiles"])
        if network.outputs != wanted:
            raise ParameterError(f"the network has {network.outputs} outputs, but there are {wanted} quantiles.")
        names = {"y_star"} if settings["support"] == "real" else {"y_star", "log_spread"}
        if set(learned) != names:
            raise ParameterError(f"beside the network there must be {' and '.join(sorted(names))}.")
        for name, array in learned.items():
            if array.shape != (1,) or array.dtype != np.float64 or not 0 < array[0] < np.inf:
                raise ParameterError(f"{name} must be one positive number, but is {array!r:.60}.")

    def _kind(self) -> str:
        return f"{len(self.settings_['quantiles'])} quantiles"

    def _told_loss(self, loss: float) -> tuple[str, str]:
        return "pinball loss", f"{loss:.4f}"

    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(NETWORK_ENTRIES, "log_likelihood")


def _y_star(prepared: Prepared) -> float:
    """The time beyond all others, in the unit inside."""
    settings, data = prepared.settings, prepared.data
    largest = float(data.lower[data.weights > 0].max())
    if settings["y_star_kind"] == "factor":
        return float(settings["y_star"]) * largest
    y_star = float(settings["y_star"]) / prepared.unit
    if not y_star > largest:
        raise ParameterError(
            f"y_star must be beyond the largest time, {largest * prepared.unit:g}, but is {settings['y_star']!r}."
        )
    return y_star


def _log_spreads(prepared: Sequence[Prepared]) -> NDArray[np.float64] | None:
    """Of each row, or None if outputs are quantiles of the time itself."""
    if prepared[0].settings["support"] == "real":
        return None
    return np.concatenate([np.full(len(own.data), own.learned["log_spread"][0]) for own in prepared])


def _require_levels(levels: Any) -> None:
    numbers = isinstance(levels, tuple) and all(isinstance(q, (int, float)) for q in levels)
    if not numbers or len(levels) < 2 or not all(0 < q < 1 for q in levels) or not (np.diff(levels) > 0).all():
        raise ParameterError(
            f"quantiles must be two or more increasing probabilities between 0 and 1, but are {levels!r:.80}."
        )
