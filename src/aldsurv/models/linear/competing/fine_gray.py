"""Fine & Gray's regression of the incidence of each cause."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, OrNone, Satisfies, is_whole_number
from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing import SubdistributionHazards
from aldsurv.errors import DataError
from aldsurv.models.linear.competing.cause_regressions import CauseRegressions
from aldsurv.models.linear.competing.subdistribution_likelihood import SubdistributionRows
from aldsurv.models.linear.cox_baseline import CoxBaseline
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.formulas import SUBDISTRIBUTION_FORMULA
from aldsurv.models.linear.linear_fit import InMemoryProblem, solve
from aldsurv.models.linear.linear_survival import States, spreads
from aldsurv.models.linear.newton import Evaluation
from aldsurv.models.linear.proportional_hazards_survival import HazardRegression
from aldsurv.models.linear.ridge_survival import RIDGE_RANGE
from aldsurv.models.linear.sandwich import clusters_of
from aldsurv.models.search_space import SearchSpace

__all__ = ["FineGray", "SubdistributionRegression"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class FineGray(CauseRegressions):
    """Proportional hazards of the subdistribution of each cause: ``F_k(t | x) = 1 - exp(-H_k0(t)·exp(β_k·x))``.

    Learns from data made by `SurvivalData.competing`. A coefficient is that of the incidence itself: a ratio above one
    means more events of the cause by any time, whichever way (Fine & Gray 1999). Those with an event of another cause
    stay at risk, weighted by the chance not to be censored since. Standard errors are robust, and include what is
    uncertain about that chance, as in R's ``cmprsk::crr``; with groups they are by cluster. Ties are Breslow's. With
    events of one kind it is `CoxRegression` with Breslow's ties and robust standard errors.

    Exact and right-censored rows, with weights and groups; delayed entry and strata are not supported.

    Regressions of different causes are fitted independently, and for some rows their incidences would add up to more
    than one. `predict_incidence` then multiplies incidences of such a row by a factor, the same at all times, so that
    at the last event they add up to one: those of all causes, or with `cause` those of the others, which share what
    the cause of interest leaves.

    Parameters
    ----------
    cause
        The cause of interest, by number or name, whose predicted incidence is that of its regression in every row.
        None: no cause comes first.
    ridge, categorical, point, unit
        As in `CauseRegressions`.

    Attributes
    ----------
    causes_
        Names of the causes; None if the data had events of one kind.
    coefficients_, coefficients_by_cause_
        One table with lines such as ``"relapse: age"``, and a table per cause; ratios are of subdistribution hazards.
    regressions_
        The regression of each cause.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> relapse, death = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2, 500)
    >>> time = np.minimum(np.minimum(relapse, death), 3.0)
    >>> cause = np.select([time == relapse, time == death], ["relapse", "death"], "censored")
    >>> model = FineGray("relapse").fit(x, SurvivalData.competing(time, cause))
    >>> print(model.coefficients_)
                 coefficient  model error  robust error      z        p  subhazard ratio             95 %
    death: x0        -0.4971      0.06862       0.06089  -8.16  <0.0001           0.6083  0.5398 – 0.6854
    relapse: x0       0.7823      0.06583       0.07494  10.44  <0.0001           2.1866  1.8879 – 2.5325
    >>> model.predict_incidence([[-1.0], [1.0]]).incidence(1.0, "relapse").round(2)
    array([0.29, 0.8 ])
    """

    cause: int | str | None = field(default=None, kw_only=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "cause": OrNone(
            Satisfies(
                lambda value: isinstance(value, str) or (is_whole_number(value) and value >= 1),  # type: ignore[operator]
                "the name or the number of a cause",
            )
        )
    }
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "ibs")
    FORMULA: ClassVar[str] = SUBDISTRIBUTION_FORMULA

    def predict_incidence(self, X: object) -> SubdistributionHazards:
        """Probability of the event of each cause by any time, for each row of `X`, in the unit of the data."""
        risks, grid = self.predict_log_risks(X), self._grid(X)
        with np.errstate(over="ignore"):
            last = -np.expm1(-np.exp(risks + grid.log_cumulative[-1]))
        return SubdistributionHazards(
            grid.times, grid.log_cumulative, risks, self.causes_, share=_shares(last, self._first_cause())
        )

    def _first_cause(self) -> int | None:
        if self.cause is None or self.cause_names_ is None:
            return None
        return cause_number(self.cause, self.cause_names_) - 1

    def _check_data(self, data: SurvivalData) -> None:
        if self.cause is not None and data.causes is not None:
            cause_number(self.cause, data.causes)
        if data.entry is not None and bool((data.entry[data.weights > 0] > 0).any()):
            count = int(np.count_nonzero(data.entry > 0))
            raise DataError(
                f"FineGray cannot learn from delayed entry, which {count} of {len(data)} rows have",
                argument="y",
                advice="Use CauseSpecificCox, or leave these rows out.",
            )

    def _regression(self, number: int) -> SubdistributionRegression:
        return SubdistributionRegression(
            cause=number,
            ties="breslow",
            ridge=self.ridge,
            robust=True,
            categorical=self.categorical,
            point=self.point,
            unit=self.unit,
        )

    def _kind(self) -> str:
        return "proportional hazards of each cause's subdistribution"


@final
@dataclass(kw_only=True, eq=False, repr=False)
class SubdistributionRegression(HazardRegression):
    """The regression of one cause's incidence, as `FineGray` has one for each.

    Parameters
    ----------
    cause
        Number of the cause.
    ties, strata, ridge, robust, categorical, point, unit
        As in `CoxRegression`; ties are always Breslow's, there are no strata, and errors are robust.
    """

    cause: int = 1

    RATIO_NAME: ClassVar[str] = "subhazard ratio"

    def _kind(self) -> str:
        return "proportional hazards of a cause's subdistribution"

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        rows = SubdistributionRows(data, self.cause)
        clusters = clusters_of(data, self.robust)
        fit = solve(_SubdistributionProblem(x, design.names, data, rows, clusters), self.ridge)
        average = data.weights @ x / data.total_weight
        baseline = rows.baseline((x - average) @ fit.standardised)
        return fit, CoxBaseline(baseline=baseline, average=average)


@final
class _SubdistributionProblem(InMemoryProblem):
    """The weighted partial likelihood of some columns."""

    def __init__(
        self,
        x: FloatArray,
        names: list[str],
        data: SurvivalData,
        rows: SubdistributionRows,
        clusters: NDArray[np.intp] | None,
    ) -> None:
        super().__init__(x, names, spreads(x, data.weights), rows.n_events, clusters)
        self._rows = rows

    def likelihood(self, columns: FloatArray, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        return lambda beta: self._rows.evaluate(columns, beta)

    def scores(self, columns: FloatArray, point: FloatArray) -> FloatArray:
        return self._rows.scores(columns, point)

    def start(self, columns: int) -> FloatArray:
        return np.zeros(columns)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        # The information of the risk sets about the columns.
        information = self._rows.evaluate(self.x, np.zeros(len(self.names))).information
        return information, self._rows.total_events * self.spread**2


def _shares(last: FloatArray, first: int | None) -> FloatArray:
    """What incidences (n, causes) at the end are multiplied by, so that no row has more than one of them."""
    shares = np.ones_like(last)
    if first is None:
        return np.asarray(shares / np.maximum(last.sum(axis=1, keepdims=True), 1.0))
    others = np.arange(last.shape[1]) != first
    total, left = last[:, others].sum(axis=1), 1 - last[:, first]
    shares[:, others] = np.divide(left, total, out=np.ones_like(total), where=total > left)[:, None]
    return shares
