"""Cox regression with an elastic-net penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.cox_baseline import CoxBaseline, require_right_censored
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.elastic_net.elastic_net_survival import ElasticNetFit, ElasticNetSurvival
from aldsurv.models.linear.elastic_net.losses import PartialLoss
from aldsurv.models.linear.elastic_net.scored_path import PathProblem
from aldsurv.models.linear.elastic_net.solver import PenalisedFit
from aldsurv.models.linear.linear_survival import States
from aldsurv.models.linear.proportional_hazards_survival import ProportionalHazardsSurvival
from aldsurv.models.search_space import OneOf, SearchSpace

__all__ = ["ElasticNetCox"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetCox(ProportionalHazardsSurvival, ElasticNetSurvival):
    """Proportional hazards for tables with many columns: most get no coefficient, how many is chosen by folds.

    Exact and right-censored rows, with delayed entry, weights and strata. Held-out rows are scored by the partial
    log-likelihood of all rows less that of the others (Verweij and van Houwelingen 1993), per event. `baseline_` is the
    hazard of a row whose every column is at its (weighted) mean.

    Parameters
    ----------
    ties, strata
        As in `CoxRegression`; scikit-survival's and glmnet's ties are Breslow's.
    l1_ratio, alpha, n_alphas, alpha_min_ratio, folds, choose, random_state, categorical, point, unit
        As in `ElasticNetSurvival`.

    Attributes
    ----------
    baseline_
        Cumulative baseline hazard, or one for each stratum.
    coefficients_, selected_columns_, alpha_, l1_ratio_, path_, alphas_, log_likelihood_
        As in `ElasticNetSurvival`: hazard ratios, and the partial log-likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(150, 300))
    >>> event_time, censoring = rng.exponential(np.exp(-x[:, 0] - x[:, 1])), rng.exponential(2, 150)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> model = ElasticNetCox(0.9, folds=5, random_state=0).fit(x, y)
    >>> len(model.selected_columns_) < 50, {"x0", "x1"} <= set(model.selected_columns_)
    (True, True)
    """

    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"choose": OneOf(("best", "one_standard_error"))}, "ibs")

    def _kind(self) -> str:
        return f"proportional hazards with an elastic net, {self.ties.capitalize()}'s ties"

    def _slopes(self) -> FloatArray:
        return self.standardised_

    def _shown(self) -> list[int]:
        return [int(k) for k in np.flatnonzero(self.standardised_)]

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        require_right_censored(data, type(self).__name__)
        problem = _PartialProblem(data, self.ties, codes)
        solution = self._solve(problem, x, data.weights, self._parts(x, data))
        self._warn_without_columns(solution)
        null = problem.every.at(np.zeros(len(data)), np.zeros(0))
        gain = float(solution.path.gains[np.argmin(np.abs(solution.path.alphas - solution.alpha))])
        fit = ElasticNetFit(
            standardised=solution.slopes,
            log_likelihood=gain + (0.0 if null is None else null.value),
            alpha=solution.alpha,
            l1_ratio=solution.path.l1_ratio,
            path=solution.path,
        )
        return fit, CoxBaseline.estimate(x, solution.slopes, data, self.ties, codes)


@final
class _PartialProblem(PathProblem):
    """The partial likelihood of any rows."""

    def __init__(self, data: SurvivalData, ties: str, codes: IntArray | None) -> None:
        self._data, self._ties, self._codes, self.n = data, ties, codes, len(data)
        self.every = PartialLoss(data, ties, codes)

    def loss(self, rows: IntArray) -> PartialLoss:
        return PartialLoss(self._data[rows], self._ties, None if self._codes is None else self._codes[rows])

    def held_out(self, fit: PenalisedFit, u: FloatArray, part: IntArray) -> float:
        slopes = self.every.at(u, fit.free)
        return -np.inf if slopes is None else slopes.value - fit.slopes.value

    def held_out_weight(self, part: IntArray) -> float:
        rows = self._data[part]
        return float(rows.weights[rows.exact].sum())

    def effects(self, fit: PenalisedFit) -> FloatArray:
        return fit.beta
