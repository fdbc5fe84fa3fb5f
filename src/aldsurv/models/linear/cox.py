"""Cox's proportional hazards regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.cox_baseline import CoxBaseline, require_right_censored
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import InMemoryProblem, solve
from aldsurv.models.linear.linear_survival import States, number_of_events, spreads
from aldsurv.models.linear.newton import Evaluation
from aldsurv.models.linear.partial_likelihood import PartialLikelihood
from aldsurv.models.linear.problems.parted_partial import PartedCoxProblem
from aldsurv.models.linear.problems.parted_rows import HeldRows, robust_setting
from aldsurv.models.linear.problems.risk_slots import risk_slots, slotted_rows
from aldsurv.models.linear.proportional_hazards_survival import HazardRegression
from aldsurv.models.linear.ridge_survival import RIDGE_RANGE
from aldsurv.models.linear.sandwich import clusters_of
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.parted.table_summary import OutcomeSummary
from aldsurv.models.search_space import SearchSpace
from aldsurv.tables.parts.parted_table import PartedTable

__all__ = ["CoxRegression"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class CoxRegression(HazardRegression):
    """Proportional hazards: ``h(t | x) = h0(t)·exp(β·x)``, β by the partial likelihood, h0 a step at each event.

    Exact and right-censored rows, with delayed entry, weights and strata. `baseline_` is the
    cumulative hazard of a row whose every column, those of levels too, is at its (weighted) mean.

    Parameters
    ----------
    ties
        ``"efron"`` or ``"breslow"``: how events at one time share the risk. Breslow's counts a row of weight 2
        as two rows; Efron's, as in R and lifelines, gives tied events their mean weight, so that two equal rows are
        a tie and one of weight 2 is none.
    strata
        Column of X or list of them, by name or position: each combination of their levels has a baseline of its own,
        and no coefficient.
    ridge, robust, categorical, point, unit
        As in `RidgeSurvival`. In lifelines `ridge` is ``penalizer = ridge/n``, in scikit-survival ``alpha = ridge``
        for standardised columns. The median of a curve that stays above one half is infinite.

    Attributes
    ----------
    baseline_
        Cumulative baseline hazard, or one for each stratum.
    coefficients_, covariance_, model_covariance_, dropped_, penalty_, log_likelihood_
        As in `RidgeSurvival`: hazard ratios, and the partial log-likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> event_time, censoring = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2, 300)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> model = CoxRegression().fit(x, y)
    >>> print(model.coefficients_)
        coefficient  std. error      z        p  hazard ratio             95 %
    x0        1.103     0.09683  11.39  <0.0001        3.0137  2.4927 – 3.6435
    x1     -0.05191     0.07409  -0.70   0.4835        0.9494  0.8211 – 1.0978
    """

    ties: str = field(default="efron", kw_only=False)

    FITS_PARTS: ClassVar[bool] = True
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "ibs")

    def _kind(self) -> str:
        return f"proportional hazards, {self.ties.capitalize()}'s ties"

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        require_right_censored(data, type(self).__name__)
        problem = _CoxProblem(x, design.names, data, self.ties, codes, clusters_of(data, self.robust))
        fit = solve(problem, self.ridge)
        return fit, CoxBaseline.estimate(x, fit.standardised, data, self.ties, codes)

    def _estimate_parts(self, design: Design, table: PartedTable, outcome: OutcomeSummary) -> States:
        owner, engine = type(self).__name__, current_engine()
        slots = risk_slots(table, design, owner, engine)
        rows = HeldRows(engine, engine.hold(partial(slotted_rows, design, owner), table.parts, (slots,)))
        problem = PartedCoxProblem(
            rows,
            design.names,
            slots,
            ties=self.ties,
            events=outcome.known,
            n_rows=outcome.rows,
            robust=robust_setting(self.robust, table, outcome),
        )
        fit = solve(problem, self.ridge)
        average = problem.moments.mean
        hazard = problem.log_cumulative_hazard(fit.standardised) + average @ fit.standardised
        baseline = slots.baseline(hazard, stratified=bool(design.columns))
        return fit, CoxBaseline(baseline=baseline, average=average)


@final
class _CoxProblem(InMemoryProblem):
    """The partial likelihood of some columns."""

    def __init__(
        self,
        x: FloatArray,
        names: list[str],
        data: SurvivalData,
        ties: str,
        strata: IntArray | None,
        clusters: NDArray[np.intp] | None,
    ) -> None:
        super().__init__(x, names, spreads(x, data.weights), number_of_events(data), clusters)
        self._data, self._ties, self._strata = data, ties, strata

    def likelihood(self, columns: FloatArray, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        return PartialLikelihood(columns, self._data, ties=self._ties, strata=self._strata)

    def scores(self, columns: FloatArray, point: FloatArray) -> FloatArray:
        return PartialLikelihood(columns, self._data, ties=self._ties, strata=self._strata).scores(point)

    def start(self, columns: int) -> FloatArray:
        return np.zeros(columns)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        # The information of the risk sets about the columns.
        information = self.likelihood(self.x)(np.zeros(len(self.names))).information
        return information, float(self._data.weights[self._data.exact].sum()) * self.spread**2
