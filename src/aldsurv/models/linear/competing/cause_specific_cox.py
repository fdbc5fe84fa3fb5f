"""Cox regression of the hazard of each cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

from aldsurv.checks import Choice, Constraint
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing import CauseSpecificHazards
from aldsurv.models.linear.competing.cause_regressions import CauseRegressions
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.formulas import CAUSE_HAZARD_FORMULA
from aldsurv.models.linear.ridge_survival import RIDGE_RANGE, ROBUST
from aldsurv.models.search_space import SearchSpace

__all__ = ["CauseSpecificCox"]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class CauseSpecificCox(CauseRegressions):
    """Proportional hazards of each cause, ``h_k(t | x) = h_k0(t)·exp(β_k·x)``, events of the others as censored.

    Learns from data made by `SurvivalData.competing`. `predict_incidence` joins the hazards to the incidence of each
    cause, as `CauseSpecificHazards` says: incidences and survival add up to one at every time. A coefficient is that of
    the rate of a cause among those without any event; what it means for the incidence depends on the other causes, too.
    With events of one kind it is `CoxRegression`.

    Exact and right-censored rows, with delayed entry, weights, strata and groups.

    Parameters
    ----------
    ties
        ``"efron"`` or ``"breslow"``, as in `CoxRegression`.
    strata
        Column of X or list of them, by name or position: each combination of their levels has baselines of its own.
    robust
        As in `CoxRegression`.
    ridge, categorical, point, unit
        As in `CauseRegressions`.

    Attributes
    ----------
    causes_
        Names of the causes; None if the data had events of one kind.
    coefficients_, coefficients_by_cause_
        One table with lines such as ``"relapse: age"``, and a table per cause.
    regressions_
        The `CoxRegression` of each cause.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> relapse, death = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2, 500)
    >>> time = np.minimum(np.minimum(relapse, death), 3.0)
    >>> cause = np.select([time == relapse, time == death], ["relapse", "death"], "censored")
    >>> model = CauseSpecificCox().fit(x, SurvivalData.competing(time, cause))
    >>> print(model.coefficients_)
                 coefficient  std. error      z        p  hazard ratio             95 %
    death: x0      -0.004428     0.08404  -0.05   0.9580        0.9956  0.8444 – 1.1739
    relapse: x0       0.9496     0.06952  13.66  <0.0001        2.5847  2.2554 – 2.9620
    >>> model.predict_incidence([[-1.0], [1.0]]).incidence(1.0, "relapse").round(2)
    array([0.26, 0.8 ])
    """

    ties: str = field(default="efron", kw_only=False)
    strata: str | int | Sequence[str | int] | None = None
    robust: bool | str = "auto"

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"ties": Choice(("efron", "breslow")), "robust": ROBUST}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "ibs")
    FORMULA: ClassVar[str] = CAUSE_HAZARD_FORMULA

    def predict_incidence(self, X: object) -> CauseSpecificHazards:
        """Probability of the event of each cause by any time, for each row of `X`, in the unit of the data."""
        risks, grid = self.predict_log_risks(X), self._grid(X)
        return CauseSpecificHazards(
            grid.times,
            grid.log_cumulative,
            risks,
            self.causes_,
            sizes=grid.sizes,
            strata=grid.strata,
        )

    def _regression(self, number: int) -> CoxRegression:
        return CoxRegression(
            self.ties,
            strata=self.strata,
            ridge=self.ridge,
            robust=self.robust,
            categorical=self.categorical,
            point=self.point,
            unit=self.unit,
        )

    def _target(self, data: SurvivalData, number: int) -> SurvivalData:
        return data if data.causes is None else data.of_cause(number)

    def _strata_columns(self) -> Any:
        return self.strata

    def _kind(self) -> str:
        return f"proportional hazards of each cause, {self.ties.capitalize()}'s ties"
