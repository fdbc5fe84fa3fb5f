"""Accelerated failure times with an elastic-net penalty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.models.linear.aft import (
    LogNormalAFT,
    WeibullAFT,
    check_log_sigma,
    informative_rows,
    log_time_unit,
    rows_with_location,
)
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, SmallestExtreme, Standard, StandardNormal
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.elastic_net.elastic_net_survival import ElasticNetFit, ElasticNetSurvival
from aldsurv.models.linear.elastic_net.losses import LogTimeLoss
from aldsurv.models.linear.elastic_net.scored_path import PathProblem
from aldsurv.models.linear.elastic_net.solver import PenalisedFit
from aldsurv.models.linear.formulas import log_time_formula
from aldsurv.models.linear.linear_survival import States, UserUnit
from aldsurv.models.linear.pulled_refit import refit_location
from aldsurv.models.search_space import OneOf, SearchSpace
from aldsurv.models.structure import ModelStructure

__all__ = ["ElasticNetAFT"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class _Family(NamedTuple):
    """A distribution of time: that of ``(log T - μ)/σ``, the rows', the last parameter's name, and the formula."""

    standard: Standard
    distribution: Callable[[FloatArray, float], LogNormal | Weibull]
    last_parameter: tuple[str, float]
    formula: str


def _log_normal(mu: FloatArray, sigma: float) -> LogNormal:
    return LogNormal(mu=mu, sigma=np.full_like(mu, sigma))


def _weibull(mu: FloatArray, sigma: float) -> Weibull:
    return Weibull(scale=np.exp(mu), shape=np.full_like(mu, 1 / sigma))


_FAMILIES = {
    "lognormal": _Family(StandardNormal(), _log_normal, LogNormalAFT.LAST_PARAMETER, LogNormalAFT.FORMULA),
    "weibull": _Family(SmallestExtreme(), _weibull, WeibullAFT.LAST_PARAMETER, WeibullAFT.FORMULA),
}


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetAFT(ElasticNetSurvival):
    """``log T = β0 + β·x + σ·Z`` for tables with many columns: most get no coefficient, how many is chosen by folds.

    Exact, right-, left- and interval-censored rows, with delayed entry and weights. Held-out rows are scored by their
    log-likelihood, per row. The penalty is on ``β/σ``: it does not depend on how far times are spread, there is one
    minimum, and one also where columns outnumber rows.

    Parameters
    ----------
    family
        ``"lognormal"`` or ``"weibull"``. A Weibull model has proportional hazards, as `ElasticNetCox` has; the
        log-normal one lets the effect on the hazard fade with time.
    l1_ratio, alpha, n_alphas, alpha_min_ratio, folds, choose, random_state, categorical, point, unit
        As in `ElasticNetSurvival`.

    Attributes
    ----------
    coefficients_, selected_columns_, alpha_, l1_ratio_, path_, alphas_, log_likelihood_
        As in `ElasticNetSurvival`: time ratios; ``intercept`` and ``log(sigma)`` or ``log(shape)`` are in the table,
        too. The log-likelihood is in the unit of the data.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(150, 300))
    >>> event_time = np.exp(2 + x[:, 0] - x[:, 1] + 0.5 * rng.normal(size=150))
    >>> model = ElasticNetAFT(0.9, folds=5, random_state=0).fit(x, (event_time, np.ones(150)))
    >>> len(model.selected_columns_) < 50, {"x0", "x1"} <= set(model.selected_columns_)
    (True, True)
    """

    family: str = "lognormal"

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"family": Choice(tuple(_FAMILIES))}
    RATIO_NAME: ClassVar[str] = "time ratio"
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {"family": OneOf(tuple(_FAMILIES)), "choose": OneOf(("best", "one_standard_error"))}, "log_likelihood"
    )

    def predict_distribution(self, X: object) -> LogNormal | Weibull:
        """The log-normal or Weibull distribution of each row."""
        self._require_fitted()
        x = self.design_.numbers(X, type(self).__name__)
        return self._of_family().distribution(*rows_with_location(self.standardised_, x))

    def structure(self) -> ModelStructure:
        """The formula of the survival."""
        self._require_fitted()
        return ModelStructure(
            log_time_formula(self._of_family().formula), (("Kind of fit", self._kind()),), complete=True
        )

    def _of_family(self) -> _Family:
        return _FAMILIES[self.family]

    def _kind(self) -> str:
        return f"accelerated failure time with an elastic net, {self.family}"

    def _slopes(self) -> FloatArray:
        return self.standardised_[1:-1]

    def _shown(self) -> list[int]:
        last = self.standardised_.size - 1
        return [0, *(1 + np.flatnonzero(self._slopes())).tolist(), last]

    def _check_estimates(self, estimates: FloatArray) -> None:
        super()._check_estimates(estimates)
        check_log_sigma(estimates)

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        rows, numbers = informative_rows(data, type(self).__name__)
        x, standard = x[numbers], self._of_family().standard
        problem = _LogTimeProblem(rows, standard)
        parts = self._parts(x, rows)
        solution = self._solve(problem, x, rows.weights, parts)
        self._warn_without_columns(solution)
        location, tau = solution.free.tolist()
        intercept = location / tau + problem.middle - solution.centre
        standardised = np.concatenate([[intercept], solution.slopes, [-np.log(tau)]])
        likelihood = LogTimeLikelihood(np.ones((len(rows), 1)), rows, standard)
        values = likelihood.slopes(rows_with_location(standardised, x)[0], float(standardised[-1])).value
        fit = ElasticNetFit(
            standardised=standardised,
            log_likelihood=float(rows.weights @ values),
            alpha=solution.alpha,
            l1_ratio=solution.path.l1_ratio,
            path=solution.path,
        )
        return (fit,)

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Nothing is in the way of `refit_outputs`."""
        return None

    def _pulled_states(self, x: FloatArray, data: SurvivalData, codes: IntArray | None, pull: float) -> States:
        rows, numbers = informative_rows(data, type(self).__name__)
        free, standard = self._free_columns(), self._of_family().standard
        found = refit_location(x[numbers], rows, standard, self.standardised_, free=free, pull=pull)
        return (self._changed_fit(*found),)

    def _to_users_unit(self, design: Design) -> UserUnit:
        return log_time_unit(design, *self._of_family().last_parameter)


@final
class _LogTimeProblem(PathProblem):
    """The likelihood of any rows; times are divided by ``exp(middle)``, so that their unit does not matter."""

    def __init__(self, rows: SurvivalData, standard: Standard) -> None:
        low, high = rows.lower, rows.upper
        log_times = np.log(np.where(np.isfinite(low) & (low > 0), low, high))
        self.middle, self.n = float(np.average(log_times, weights=rows.weights)), len(rows)
        self._rows, self._standard = rows.scaled(float(np.exp(-self.middle))), standard

    def loss(self, rows: IntArray) -> LogTimeLoss:
        return LogTimeLoss(self._rows[rows], self._standard)

    def held_out(self, fit: PenalisedFit, u: FloatArray, part: IntArray) -> float:
        return self.loss(part).log_likelihood(u[part], fit.free)

    def held_out_weight(self, part: IntArray) -> float:
        return self._rows[part].total_weight

    def effects(self, fit: PenalisedFit) -> FloatArray:
        return np.asarray(fit.beta / fit.free[1])
