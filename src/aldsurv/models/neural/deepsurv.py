"""Proportional hazards with a network for the log risk (Faraggi & Simon 1995; Katzman et al. 2018)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Satisfies, is_whole_number
from aldsurv.columns.column_plans import ColumnPlan
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.file_entries import Arrays, Document
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PYCOX_TRAINING, NetworkModel, Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.prediction.point_summaries import RANKING_POINTS
from aldsurv.models.rows.strata import Stratum, covariates, named_columns, strata_numbers, strata_of
from aldsurv.models.rows.training_rows import thinned
from aldsurv.models.search_space import SearchSpace
from aldsurv.networks import Architecture
from aldsurv.nonparametric.breslow import baseline_hazard

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["DeepSurv", "HazardExtras", "RiskNetwork"]

FloatArray = NDArray[np.float64]
Ties = Literal["efron", "breslow"]
# A prediction has a value for each row and each of these times; more would cost memory and hardly add anything.
_MOST_GRID_TIMES = 1024
_STRATUM = "stratum"


@final
@dataclass(frozen=True)
class HazardExtras(Extras):
    """Baseline hazards of the members.

    Attributes
    ----------
    times
        At which the baselines are kept (times,), in the unit inside.
    log_hazard
        Log cumulative baseline hazard (members, strata, times).
    center
        Mean log risk of the training rows (members,).
    strata
        Levels of each stratum, one per column.
    """

    times: FloatArray = field(default_factory=lambda: np.zeros(0))
    log_hazard: FloatArray | None = None
    center: FloatArray | None = None
    strata: tuple[Stratum, ...] | None = None

    @classmethod
    def from_file(cls, arrays: Arrays, document: Document) -> HazardExtras:
        """Files of version 0.1 have the strata as an array."""
        if "strata" in arrays:
            try:
                strata = json.loads(bytes(arrays["strata"].tolist()).decode())
            except (TypeError, ValueError):
                raise ParameterError("the strata cannot be read.") from None
            document = {**document, "strata": strata}
            arrays = {name: array for name, array in arrays.items() if name != "strata"}
        return super().from_file(arrays, document)


def _are_columns(strata: object) -> bool:
    columns = strata if isinstance(strata, tuple) else (strata,)
    return all(isinstance(column, str) or is_whole_number(column) for column in columns)


@final
@dataclass(frozen=True, kw_only=True)
class RiskNetwork(NetworkModel):
    """Settings and formulas of `DeepSurv`: the output is the log risk."""

    ties: str = "efron"
    strata: tuple[str | int, ...] = ()

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "ties": Choice(("efron", "breslow")),
        "point": Choice(RANKING_POINTS),
        "strata": Satisfies(_are_columns, "columns of X by name or number"),
    }
    ADDED_LATER: ClassVar[tuple[Mapping[str, Any], ...]] = ({"time_scale": "none"},)
    EXTRAS: ClassVar[type[Extras]] = HazardExtras
    LEARNS_FROM_ALL: ClassVar[bool] = True

    def completed(self) -> RiskNetwork:
        """One column of strata as a list of one."""
        return self if isinstance(self.strata, tuple) else replace(self, strata=(self.strata,))

    def for_table(self, X: object) -> RiskNetwork:
        """The same with strata by name, if `X` has names."""
        return replace(self, strata=named_columns(X, self.strata)) if self.strata else self

    def covariates(self, X: object) -> Any:
        """The columns that are not strata."""
        return covariates(X, self.strata)

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """Exact and right-censored rows."""
        odd = np.count_nonzero(~(data.exact | data.right_censored))
        if odd:
            raise DataError(
                f"DeepSurv takes exact and right-censored rows only, but {odd} of {len(data)} rows are left- or "
                "interval-censored.",
                argument="y",
                advice="Use ALDSurvival, or leave these rows out.",
            )
        return data

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """Times at which baselines are kept, and the strata."""
        times = thinned(np.unique(data.time[data.event & (data.weights > 0)]), _MOST_GRID_TIMES)
        return HazardExtras(times, strata=tuple(strata_of(X, self.strata)[0]) if self.strata else None)

    def row_columns(self, X: object) -> dict[str, NDArray[Any]]:
        """The stratum of each row."""
        return {_STRATUM: strata_of(X, self.strata)[1]} if self.strata else {}

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """Cox's partial likelihood."""
        from aldsurv.losses.cox_loss import cox_objective

        strata = np.concatenate([task.row_columns[_STRATUM] for task in prepared]) if self.strata else None
        return cox_objective(data, ties=cast("Ties", self.ties), strata=strata, device=device)

    def complete_extras(self, prepared: Prepared, outputs: Callable[[], FloatArray]) -> Extras:
        """A baseline hazard per member, by the rule of its ties from all rows."""
        extras = HazardExtras.of(prepared.extras)
        data, risks = prepared.data, outputs()[..., 0]
        strata = prepared.row_columns.get(_STRATUM, np.zeros(len(data), np.int64))
        log_hazard = np.full((len(risks), int(strata.max()) + 1, extras.times.size), -np.inf)
        for k, risk in enumerate(risks):
            baseline = baseline_hazard(data, risk, ties=cast("Ties", self.ties), strata=strata)
            log_hazard[k, baseline.levels] = baseline.log_cumulative_at(extras.times)
        return replace(extras, log_hazard=log_hazard, center=np.average(risks, axis=1, weights=data.weights))

    def describe_outputs(self) -> tuple[Output, ...]:
        """The log risk."""
        return (Output("log risk"),)

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """Proportional hazards with the member's baseline."""
        return self.hazards(raw[None, :, 0], HazardExtras.of(extras), slice(member, member + 1), X)

    def hazards(self, log_risk: FloatArray, extras: HazardExtras, members: slice, X: object) -> ProportionalHazards:
        """The mean of some members, whose log risks are (members, n)."""
        log_hazard = np.asarray(extras.log_hazard)[members]
        count, strata, size = log_hazard.shape
        return ProportionalHazards(
            np.tile(extras.times, strata),
            log_hazard.reshape(count, strata * size).T,
            log_risk.T,
            sizes=np.full(strata, size),
            strata=strata_numbers(X, self.strata, extras.strata or ()) if self.strata else None,
        )

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """One output, and baselines that rise."""
        baseline = HazardExtras.of(extras)
        times, hazard, center = baseline.times, baseline.log_hazard, baseline.center
        if network.outputs != 1 or hazard is None or center is None or (baseline.strata is None) == bool(self.strata):
            raise ParameterError("DeepSurv has one output, a baseline hazard, and strata if there are columns of them.")
        if self.strata:
            _check_strata(baseline.strata, len(self.strata))
        if any(array.dtype != np.float64 for array in (times, hazard, center)):
            raise ParameterError("the baseline hazard must be of numbers.")
        strata = len(baseline.strata or ()) if self.strata else 1
        if times.ndim != 1 or times.size == 0 or hazard.shape != (members, strata, times.size):
            raise ParameterError(f"the baseline hazard must have {members} members, {strata} strata and its times.")
        if center.shape != (members,) or not (np.isfinite(times).all() and np.isfinite(center).all()):
            raise ParameterError("times and centers of the baseline hazard must be finite.")
        # -inf is no hazard yet, and from there on it must not fall; NaN does neither.
        if not ((np.diff(times) > 0).all() and (hazard < np.inf).all() and (hazard[..., 1:] >= hazard[..., :-1]).all()):
            raise ParameterError("times of the baseline hazard must ascend, and it must not fall.")

    def describe(self, extras: Extras) -> str:
        """With the rule for ties."""
        return f"proportional hazards, {self.ties.capitalize()}'s ties"

    def format_loss(self, loss: float) -> tuple[str, str]:
        """The partial likelihood per event."""
        return "partial loss", f"{loss:.4f} per event"


_DEFAULT = RiskNetwork(dropout=0.2, time_scale="none", point="restricted_mean")
_PAPER = RiskNetwork(**PYCOX_TRAINING, ties="breslow", time_scale="none", point="median")


@final
@dataclass(kw_only=True, eq=False, repr=False)
class DeepSurv(NeuralSurvival):
    """Individual survival curves by proportional hazards: a network gives each row's log risk.

    The network is trained by Cox's partial likelihood, which needs no shape of the hazard. Each member then has a
    baseline hazard, by the rule of its ties from all rows of ``fit``, and a row's survival is
    ``exp(-H0(t)·exp(log risk))``: a step at the times of events, whose last value is held. Rows may be exact or
    right-censored, with delayed entry and weights.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``. Beside its own
    parameters and attributes, below, it has those of `NeuralSurvival`.

    The recipe ``"paper"`` is the baseline of Sheng & Henao (2025), as in pycox. There is one output, so `hidden` and
    `head_hidden` follow each other. Survival curves of the members are averaged. Risk sets are those of a batch: see
    `aldsurv.losses.cox_loss.cox_losses`. `point` is the summary that `predict_time` gives: ``"restricted_mean"`` (up to
    the last training time), ``"median"`` (infinite where survival stays above a half), ``"mean"`` or ``"mode"``. The
    unit inside (`time_scale`) makes no difference.

    Parameters
    ----------
    ties
        Rule for tied events: ``"efron"`` or ``"breslow"``.
    strata
        Columns of X, by name or number, whose levels have baseline hazards of their own. They are not covariates, and
        are not among ``feature_names_in_``.

    Attributes
    ----------
    history_
        Losses of each epoch and member: negative log partial likelihood per event. It grows with the logarithm of the
        risk sets, so that of batches and that of the validation rows are not on one scale.

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

    ties: str | None = None
    strata: str | int | Sequence[str | int] | None = None

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": _DEFAULT, "paper": _PAPER}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(NETWORK_ENTRIES, "ibs")

    @property
    def columns_(self) -> dict[str | int, ColumnPlan | None]:
        """Columns of X by name or position, and what was learned of each; None: strata."""
        covariate_columns, strata = super().columns_, self.strata_columns_
        if not strata or self.features_ is None:
            return covariate_columns
        if self.features_.named:
            return {**covariate_columns, **dict.fromkeys(strata)}
        plans = iter(self.features_.columns)
        return {k: None if k in strata else next(plans) for k in range(len(covariate_columns) + len(strata))}

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name or position; they are not among `features_`."""
        return cast("RiskNetwork", self.settings_).strata

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns in the training rows."""
        return HazardExtras.of(self.fitted_.extras).strata or ()

    def predict(self, X: object) -> FloatArray:
        """Log risk of each row: the higher, the earlier the event, among rows of one stratum.

        It is measured from the mean of the training rows and averaged over the members.
        """
        risks = self.predict_outputs(X)[..., 0]
        center = np.asarray(HazardExtras.of(self.fitted_.extras).center)
        return np.asarray((risks - center[:, None]).mean(axis=0))

    def predict_distribution(self, X: object) -> ProportionalHazards:
        """Survival of each row of `X`, the mean of the members': a step at each of at most 1024 times of events."""
        risks = self.predict_outputs(X)[..., 0]
        model = cast("RiskNetwork", self.fitted_.model)
        curves = model.hazards(risks, HazardExtras.of(self.fitted_.extras), slice(None), X)
        return cast("ProportionalHazards", curves.scaled(self.fitted_.time_scale))


def _check_strata(strata: Any, columns: int) -> None:
    """Raise `ParameterError` unless these are different strata of so many columns."""
    sound = isinstance(strata, tuple) and all(isinstance(levels, tuple) and len(levels) == columns for levels in strata)
    sound = sound and all(isinstance(level, (str, int, float, type(None))) for levels in strata for level in levels)
    if not strata or not sound or len(set(strata)) < len(strata):
        raise ParameterError("the strata are not those of its columns.")
