"""What linear models of proportional hazards share: a baseline, strata, predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.models.file_entries import Arrays
from aldsurv.models.fitted_state import fitted_state
from aldsurv.models.linear.cox_baseline import CoxBaseline, require_right_censored
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.formulas import HAZARD_FORMULA
from aldsurv.models.linear.linear_survival import LinearSurvival, States, UserUnit
from aldsurv.models.linear.partial_likelihood import PartialLikelihood
from aldsurv.models.linear.pulled_refit import refit_log_risk
from aldsurv.models.linear.ridge_survival import RidgeSurvival
from aldsurv.models.rows.strata import stratum_names
from aldsurv.models.structure import ModelStructure, baselines_of
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline

__all__ = ["HazardRegression", "ProportionalHazardsSurvival"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(kw_only=True, eq=False, repr=False)
class ProportionalHazardsSurvival(LinearSurvival):
    """A linear model whose log hazard is that of a baseline plus the linear predictor.

    Parameters
    ----------
    ties
        ``"efron"`` or ``"breslow"``: how events at one time share the risk.
    strata
        Columns of X whose combinations of levels have baselines of their own.

    Attributes
    ----------
    baseline_
        Cumulative baseline hazard, or one for each stratum.
    average_
        The (weighted) mean of each column (d,).
    """

    ties: str = "efron"
    strata: str | int | Sequence[str | int] | None = None

    baseline_: BaselineHazard | StratifiedBaseline = field(init=False)
    average_: FloatArray = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"ties": Choice(("efron", "breslow"))}
    RATIO_NAME: ClassVar[str] = "hazard ratio"

    def predict(self, X: object) -> FloatArray:
        """Risk score of each row: β·x, measured from an average row; the higher, the earlier the event."""
        self._require_fitted()
        return self._baseline().log_risk(self.design_.numbers(X, type(self).__name__), self.standardised_)

    def predict_distribution(self, X: object) -> ProportionalHazards:
        """Survival ``exp(-H0(t)·exp(β·x))`` of each row, a step at every time of an event; the last value is held."""
        return self._baseline().distribution(self.predict(X), self.design_.codes(X))

    @property
    def ranking_point_(self) -> str:
        """The summary that ranks rows of one stratum as `predict` does: any median may be infinite.

        A file of an earlier version does not have the end of follow-up: there it is `point`.
        """
        self._require_fitted()
        return self.point if self.trained_on_.follow_up is None else "follow_up"

    @property
    def baseline_centre_(self) -> float:
        """Sum of coefficients times columns of the average row, whose hazard the baseline is."""
        # Only numbers are centred: of other columns the average itself counts.
        average = self.design_.centres / self.design_.scales + self.average_
        return float(average @ self.standardised_)

    def structure(self) -> ModelStructure:
        """The formula of the survival, and the baselines."""
        self._require_fitted()
        names = stratum_names(self.strata_columns_, self.strata_)
        baselines = baselines_of(self.baseline_, self.baseline_centre_, names)
        return ModelStructure(HAZARD_FORMULA, (("Kind of fit", self._kind()),), baselines, complete=True)

    def _baseline(self) -> CoxBaseline:
        return fitted_state(self, CoxBaseline)

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Nothing is in the way of `refit_outputs`."""
        return None

    def _pulled_states(self, x: FloatArray, data: SurvivalData, codes: IntArray | None, pull: float) -> States:
        require_right_censored(data, type(self).__name__)
        before, free = self._baseline(), self._free_columns()
        average_row = before.distribution(np.zeros(len(x)), codes)
        hazard = average_row.cumulative_hazard(data.lower[:, None])[:, 0]
        if data.entry is not None:
            entry = np.where(np.isfinite(data.entry), data.entry, 0.0)
            hazard = hazard - average_row.cumulative_hazard(entry[:, None])[:, 0]
        found = refit_log_risk(x - before.average, data, hazard, self.standardised_, free=free, pull=pull)
        slopes, factor = found.point[1:], float(found.point[0])
        value = PartialLikelihood(x, data, ties=self.ties, strata=codes)(slopes).value
        return self._changed_fit(slopes, found.covariance[1:, 1:], value), before.multiplied(factor)

    def _strata_columns(self) -> Any:
        return self.strata

    def _to_users_unit(self, design: Design) -> UserUnit:
        return UserUnit(design.names, design.per_unit)

    def _further_arrays(self) -> dict[str, NDArray[Any]]:
        return self._baseline().to_arrays()

    def _read_further(self, design: Design, arrays: Arrays) -> States:
        return (CoxBaseline.from_arrays(design, arrays),)


@dataclass(kw_only=True, eq=False, repr=False)
class HazardRegression(ProportionalHazardsSurvival, RidgeSurvival):
    """Proportional hazards at the maximum of a likelihood, with standard errors: of all events, or of one cause."""
