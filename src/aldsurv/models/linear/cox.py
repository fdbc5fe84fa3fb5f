"""Cox's proportional hazards regression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.wrappers.proportional_hazards import ProportionalHazards
from aldsurv.errors import DataError
from aldsurv.models.file_entries import Arrays, finite_floats, require
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import LinearFit, LinearProblem, solve
from aldsurv.models.linear.linear_survival import RIDGE_RANGE, LinearSurvival, UserUnit, number_of_events, spreads
from aldsurv.models.linear.newton import Evaluation
from aldsurv.models.linear.partial_likelihood import PartialLikelihood
from aldsurv.models.search_space import SearchSpace
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline, baseline_hazard

__all__ = ["CoxRegression"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@final
@dataclass(frozen=True, kw_only=True)
class CoxFit(LinearFit):
    """What Cox's regression learns.

    Attributes
    ----------
    baseline
        Cumulative hazard of an average row, or one for each stratum.
    average
        The (weighted) mean of each column (d,).
    """

    baseline: BaselineHazard | StratifiedBaseline
    average: FloatArray


@final
@dataclass(kw_only=True, eq=False, repr=False)
class CoxRegression(LinearSurvival):
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
    ridge, categorical, point, unit
        As in `LinearSurvival`. In lifelines `ridge` is ``penalizer = ridge/n``, in scikit-survival ``alpha = ridge``
        for standardised columns. The median of a curve that stays above one half is infinite.

    Attributes
    ----------
    baseline_
        Cumulative baseline hazard, or one for each stratum.
    coefficients_, covariance_, dropped_, penalty_, log_likelihood_
        As in `LinearSurvival`: hazard ratios, and the partial log-likelihood.

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
    strata: str | int | Sequence[str | int] | None = None

    baseline_: BaselineHazard | StratifiedBaseline = field(init=False)
    average_: FloatArray = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"ties": Choice(("efron", "breslow"))}
    RATIO_NAME: ClassVar[str] = "hazard ratio"
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "ibs")

    def predict(self, X: object) -> FloatArray:
        """Risk score of each row: β·x, measured from an average row; the higher, the earlier the event."""
        self._require_fitted()
        return np.asarray((self.design_.numbers(X, type(self).__name__) - self.average_) @ self.standardised_)

    def predict_distribution(self, X: object) -> ProportionalHazards:
        """Survival ``exp(-H0(t)·exp(β·x))`` of each row, a step at every time of an event; the last value is held."""
        risk, codes = self.predict(X), self.design_.codes(X)
        if isinstance(self.baseline_, StratifiedBaseline) and codes is not None:
            return self.baseline_.distribution(risk, codes)
        return self.baseline_.distribution(risk)  # type: ignore[call-arg]

    def _strata_columns(self) -> Any:
        return self.strata

    def _kind(self) -> str:
        return f"proportional hazards, {self.ties.capitalize()}'s ties"

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> CoxFit:
        if not (data.exact | data.right_censored).all():
            count = int(np.count_nonzero(~(data.exact | data.right_censored)))
            raise DataError(
                f"CoxRegression takes exact and right-censored rows only, but {count} of {len(data)} rows are left- or "
                "interval-censored",
                argument="y",
                advice="Use WeibullAFT or LogNormalAFT, or leave these rows out.",
            )
        fit = solve(_CoxProblem(x, design.names, data, self.ties, codes), self.ridge)
        average = data.weights @ x / data.total_weight
        risk = (x - average) @ fit.standardised
        baseline = baseline_hazard(data, risk, ties=self.ties, strata=codes)  # type: ignore[call-overload]
        return CoxFit(**vars(fit), baseline=baseline, average=average)

    def _to_users_unit(self, design: Design) -> UserUnit:
        return UserUnit(design.names, 1 / design.scales)

    def _further_arrays(self) -> dict[str, NDArray[Any]]:
        parts = self.baseline_.baselines if isinstance(self.baseline_, StratifiedBaseline) else (self.baseline_,)
        levels = self.baseline_.levels if isinstance(self.baseline_, StratifiedBaseline) else np.zeros(0)
        return {
            "average": self.average_,
            "baseline.levels": levels.astype(np.int64),
            "baseline.sizes": np.array([part.times.size for part in parts], np.int64),
            "baseline.times": np.concatenate([part.times for part in parts]),
            "baseline.log_cumulative": np.concatenate([part.log_cumulative for part in parts]),
        }

    def _with_further_arrays(self, fit: LinearFit, design: Design, arrays: Arrays) -> CoxFit:
        names = ("levels", "sizes", "times", "log_cumulative")
        expected = {"average", *(f"baseline.{name}" for name in names)}
        require(set(arrays) == expected, "its baseline is not that of this model")
        average = finite_floats(arrays, "average")
        require(average.shape == (len(design.names),), "its average row has other columns")
        levels, sizes, times, heights = (arrays[f"baseline.{name}"] for name in names)
        require(all(array.ndim == 1 for array in (levels, sizes, times, heights)), "its baseline must be of columns")
        require(levels.dtype == sizes.dtype == np.int64, "strata of the baseline must be numbered")
        require(times.dtype == heights.dtype == np.float64, "its baseline must be of numbers")
        stratified = bool(design.columns)
        require(sizes.size == (levels.size if stratified else 1), "there must be one baseline per stratum")
        numbered = bool((np.diff(levels) > 0).all() and np.isin(levels, np.arange(len(design.strata))).all())
        require(numbered, "the baselines are not those of its strata")
        require(bool((sizes > 0).all()), "the baselines are unclear")
        require(sizes.sum() == times.size == heights.size, "the baseline's sizes do not fit")
        cuts = np.cumsum(sizes)[:-1]
        parts = tuple(map(_read_baseline, np.split(times, cuts), np.split(heights, cuts)))
        baseline = StratifiedBaseline(levels, parts) if stratified else parts[0]
        return CoxFit(**vars(fit), baseline=baseline, average=average)


@final
class _CoxProblem(LinearProblem):
    """The partial likelihood of some columns."""

    def __init__(self, x: FloatArray, names: list[str], data: SurvivalData, ties: str, strata: IntArray | None) -> None:
        super().__init__(x, names, spreads(x, data.weights), number_of_events(data))
        self._data, self._ties, self._strata = data, ties, strata

    def likelihood(self, columns: FloatArray, ridge: float = 0.0) -> Callable[[FloatArray], Evaluation]:
        return PartialLikelihood(columns, self._data, ties=self._ties, strata=self._strata)

    def start(self, columns: int) -> FloatArray:
        return np.zeros(columns)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        # The information of the risk sets about the columns.
        information = self.likelihood(self.x)(np.zeros(len(self.names))).information
        return information, float(self._data.weights[self._data.exact].sum()) * self.spread**2


def _read_baseline(times: FloatArray, heights: FloatArray) -> BaselineHazard:
    require(bool(np.isfinite(times).all() and (np.diff(times) > 0).all()), "times of the baseline must ascend")
    # Only a stratum without an event has no hazard at all.
    no_event = heights.size == 1 and bool(np.isneginf(heights[0]))
    require(no_event or bool(np.isfinite(heights).all()), "the baseline must be of numbers")
    require(no_event or bool((np.diff(heights) >= 0).all()), "the baseline must not fall")
    return BaselineHazard(times.copy(), heights.copy())
