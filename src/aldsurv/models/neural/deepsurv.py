"""Proportional hazards with a network for the log risk (Faraggi & Simon 1995; Katzman et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.neural.fitting.preparation import Rows
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.strata import Stratum, covariates, strata_from_array, strata_numbers, strata_of, strata_to_array
from aldsurv.networks import Architecture
from aldsurv.nonparametric.breslow import baseline_hazard

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective

__all__ = ["DeepSurv"]

FloatArray = NDArray[np.float64]
# A prediction has a value for each row and each of these times; more would cost memory, not tell more.
_MOST_GRID_TIMES = 1024

_PAPER: dict[str, Any] = {
    "ties": "breslow",
    "strata": (),
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
    "time_scale": "none",
    "clip_features": 5.0,
    "point": "median",
}
_DEFAULT: dict[str, Any] = {
    **_PAPER,
    "ties": "efron",
    "activation": "silu",
    "batch_norm": False,
    "dropout": 0.2,
    "members": 5,
    "optimizer": "adamw",
    "learning_rate": 0.003,
    "batch_size": "auto",
    "patience": 15,
    "weight_decay": 0.1,
    "clip_norm": 1.0,
    "start": "marginal",
    "point": "restricted_mean",
}


@final
class DeepSurv(NeuralSurvival):
    """Individual survival curves by proportional hazards: a network gives each row's log risk.

    The network is trained by Cox's partial likelihood, which needs no shape of the hazard. Each member then has a
    baseline hazard, by the rule of its ties from all rows of ``fit``, and a row's survival is
    ``exp(-H0(t)·exp(log risk))``: a step at the times of events, whose last value is held. Rows may be exact or
    right-censored, with delayed entry and weights.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the baseline of Sheng & Henao (2025), as in pycox.
    ties
        Rule for tied events: ``"efron"`` or ``"breslow"``.
    strata
        Columns of X, by name or number, whose levels have baseline hazards of their own. They are no covariates, and
        are not among ``feature_names_in_``.
    hidden, head_hidden
        Sizes of the layers; there is one output, so the two follow each other.
    activation, residual, batch_norm, dropout
        Kind of the units, whether `hidden` layers pass on a projection of their input, normalisation, share dropped.
    encoder
        A torch module, or a function that makes one, in place of the layers `hidden`: it gets X as it is, of any
        shape ``(n, ...)``, and gives ``(n, numbers)``. A module's weights are where every member starts.
    members
        Networks of the ensemble, whose survival curves are averaged. Each has validation rows of its own.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        As in `aldsurv.training.TrainingSettings`; 0 switches patience, decay or clipping off. Risk sets are those of a
        batch: see `aldsurv.losses.cox_loss.cox_losses`.
    validation
        Share of the rows that decides when to stop; 0 for none. Under ten rows none are held out.
    start
        ``"marginal"``: begin with the same risk for all; ``"random"``.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
    point
        Summary that `predict_time` gives: ``"restricted_mean"`` (up to the last training time), ``"median"`` (infinite
        where survival stays above a half), ``"mean"`` or ``"mode"``.
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
        Functions that are called with an `EpochReport` after each epoch; True ends training.
    checkpoint
        A file from which a killed fit goes on.

    Attributes
    ----------
    settings_
        Every setting that was used.
    history_
        Losses of each epoch and member: negative log partial likelihood an event. It grows with the logarithm of the
        risk sets, so that of batches and that of the validation rows are not on one scale.
    features_
        How columns become numbers.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> event_time, censoring = rng.exponential(np.exp(-(x[:, 0] ** 2))), rng.exponential(2, 300)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> model = DeepSurv(random_state=0).fit(x, y)
    >>> risk = model.predict([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]])
    >>> bool(risk[0] > risk[1] < risk[2]), model.predict_distribution(x).survival([0.5, 1.0]).shape
    (True, (300, 2))
    """

    _LEARNS_FROM_ALL: ClassVar[bool] = True
    _CHOOSES_POINT: ClassVar[bool] = False
    _RECIPES: ClassVar[dict[str, dict[str, Any]]] = {"default": _DEFAULT, "paper": _PAPER}
    # Only the order of times counts: they stay as they are, and the steps at the very times of events.
    time_scale: ClassVar[None] = None

    ties: str | None
    strata: str | int | Sequence[str | int] | None

    def __init__(
        self,
        recipe: str = "default",
        *,
        ties: str | None = None,
        strata: str | int | Sequence[str | int] | None = None,
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

    def predict(self, X: Any) -> FloatArray:
        """Log risk of each row: the higher, the earlier the event, among rows of one stratum.

        It is measured from the mean of the training rows and averaged over the members.
        """
        return np.asarray((self._raw(X)[..., 0] - self.learned_["center"][:, None]).mean(axis=0))

    def predict_distribution(self, X: Any) -> ProportionalHazards:
        """Survival of each row of `X`, the mean of the members': a step at each of at most 1024 times of events."""
        return self._hazards(self._raw(X)[..., 0], slice(None), X)

    def _member_distribution(self, raw: FloatArray, member: int, X: Any) -> SurvivalDistribution:
        return self._hazards(raw[None, :, 0], slice(member, member + 1), X)

    def _hazards(self, log_risk: FloatArray, members: slice, X: Any) -> ProportionalHazards:
        """The mean of some members, whose log risks are (members, n)."""
        times, log_hazard = self.learned_["times"], self.learned_["log_hazard"][members]
        count, strata, size = log_hazard.shape
        return ProportionalHazards(
            np.tile(times, strata),
            log_hazard.reshape(count, strata * size).T,
            log_risk.T,
            sizes=np.full(strata, size),
            strata=self._strata_of(X),
        )

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name or position; they are not among `features_`."""
        return tuple(self.settings_["strata"])

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns that training had."""
        columns = self.strata_columns_
        return tuple(strata_from_array(self.learned_["strata"], len(columns))) if columns else ()

    def _strata_of(self, X: Any) -> NDArray[np.int64] | None:
        columns = self.settings_["strata"]
        if not columns:
            return None
        return strata_numbers(X, columns, strata_from_array(self.learned_["strata"], len(columns)))

    # ---- what the training asks for

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if not isinstance(settings["strata"], tuple):
            settings["strata"] = (settings["strata"],)
        return settings

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        if settings["ties"] not in ("efron", "breslow"):
            raise ParameterError(f"ties must be 'efron' or 'breslow', but is {settings['ties']!r}.")
        _strata_columns(settings["strata"])

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        odd = np.count_nonzero(~(data.exact | data.right_censored))
        if odd:
            raise DataError(
                f"DeepSurv takes exact and right-censored rows only, but {odd} of {len(data)} rows are left- or "
                "interval-censored. Use ALDSurvival, or leave these rows out."
            )
        return data

    def _columns(self, X: Any) -> Any:
        return covariates(X, _strata_columns(self.strata))

    def _learn_before(
        self, X: Any, data: SurvivalData, settings: dict[str, Any], rows: Rows
    ) -> dict[str, NDArray[Any]]:
        times = np.unique(data.time[data.event & (data.weights > 0)])
        if times.size == 0:
            raise DataError("no event has a positive weight: there is nothing to learn. Check the weights.")
        if times.size > _MOST_GRID_TIMES:
            times = times[np.linspace(0, times.size - 1, _MOST_GRID_TIMES).round().astype(np.intp)]
        if not settings["strata"]:
            return {"times": times}
        return {"times": times, "strata": strata_to_array(strata_of(X, settings["strata"])[0])}

    def _per_row(self, X: Any, data: SurvivalData, settings: dict[str, Any]) -> dict[str, NDArray[Any]]:
        return {"stratum": strata_of(X, settings["strata"])[1]} if settings["strata"] else {}

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        from aldsurv.losses.cox_loss import cox_objective

        settings = prepared[0].settings
        strata = np.concatenate([own.per_row["stratum"] for own in prepared]) if settings["strata"] else None
        return cox_objective(data, ties=settings["ties"], strata=strata, device=device)

    def _learn_after(self, prepared: Prepared, outputs: Callable[[], FloatArray]) -> dict[str, NDArray[Any]]:
        data, times, ties = prepared.data, prepared.learned["times"], prepared.settings["ties"]
        risks = outputs()[..., 0]
        strata = prepared.per_row.get("stratum", np.zeros(len(data), np.int64))
        levels = int(strata.max()) + 1
        log_hazard = np.full((len(risks), levels, times.size), -np.inf)
        for k, risk in enumerate(risks):
            found = baseline_hazard(data, risk, ties=ties, strata=strata)
            log_hazard[k, found.levels] = found.log_cumulative_at(times)
        return {"log_hazard": log_hazard, "center": np.average(risks, axis=1, weights=data.weights)}

    # ---- what a file must hold

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        columns = _strata_columns(settings["strata"])
        if _strata_columns(self.strata) != columns:
            raise ParameterError("strata must be the same columns among its parameters and its settings.")
        names = {"times", "log_hazard", "center"} | ({"strata"} if columns else set())
        if network.outputs != 1 or set(learned) != names:
            raise ParameterError(f"DeepSurv has one output and the arrays {', '.join(sorted(names))}.")
        times, hazard, center = learned["times"], learned["log_hazard"], learned["center"]
        if any(array.dtype != np.float64 for array in (times, hazard, center)):
            raise ParameterError("the baseline hazard must be of numbers.")
        strata = len(strata_from_array(learned["strata"], len(columns))) if columns else 1
        if times.ndim != 1 or times.size == 0 or hazard.shape != (members, strata, times.size):
            raise ParameterError(f"the baseline hazard must have {members} members, {strata} strata and its times.")
        if center.shape != (members,) or not (np.isfinite(times).all() and np.isfinite(center).all()):
            raise ParameterError("times and centers of the baseline hazard must be finite.")
        # -inf is no hazard yet, and from there on it must not fall; NaN does neither.
        if not ((np.diff(times) > 0).all() and (hazard < np.inf).all() and (hazard[..., 1:] >= hazard[..., :-1]).all()):
            raise ParameterError("times of the baseline hazard must ascend, and it must not fall.")

    def _kind(self) -> str:
        return f"proportional hazards, {str(self.settings_['ties']).capitalize()}'s ties"

    def _told_loss(self, loss: float) -> tuple[str, str]:
        return "partial loss", f"{loss:.4f} an event"


def _strata_columns(strata: Any) -> tuple[str | int, ...]:
    """The columns that are strata, as the user may write them."""
    if strata is None:
        return ()
    columns = tuple(strata) if isinstance(strata, (list, tuple)) else (strata,)
    for column in columns:
        if not isinstance(column, (str, int, np.integer)) or isinstance(column, bool):
            raise ParameterError(f"strata must be columns of X by name or number, but holds {column!r:.60}.")
    return columns
