"""Accelerated failure times: Weibull and log-normal regression."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Flag
from aldsurv.data.cause_checks import require_rows_without_event
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.wrappers.cured import Cured
from aldsurv.errors import DataError
from aldsurv.models.file_entries import require
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, SmallestExtreme, Standard, StandardNormal
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.cure.cure_fit import fit_with_cure
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.formulas import LOG_NORMAL_FORMULA, WEIBULL_FORMULA, log_time_formula
from aldsurv.models.linear.linear_fit import solve
from aldsurv.models.linear.linear_survival import States, UserUnit, spreads
from aldsurv.models.linear.newton import maximise
from aldsurv.models.linear.problems.log_time_problem import (
    LEAST_SHARE,
    LogTimeProblem,
    guarded,
    rows_with_information,
    start_without_columns,
)
from aldsurv.models.linear.problems.parted_log_time import PartedLogTimeProblem
from aldsurv.models.linear.problems.parted_rows import HeldRows, encoded_rows, robust_setting
from aldsurv.models.linear.pulled_refit import refit_location
from aldsurv.models.linear.ridge_survival import RIDGE_RANGE, RidgeSurvival
from aldsurv.models.linear.sandwich import clusters_of
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.parted.table_summary import OutcomeSummary
from aldsurv.models.search_space import SearchSpace
from aldsurv.models.structure import ModelStructure
from aldsurv.nonparametric.plateau import warn_of_short_follow_up
from aldsurv.tables.parts.parted_table import PartedTable

__all__ = [
    "AcceleratedFailureTime",
    "LogNormalAFT",
    "WeibullAFT",
    "check_log_sigma",
    "informative_rows",
    "least_spread",
    "location_and_scale",
    "log_time_unit",
    "rows_with_location",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Of a file.
_LARGEST_LOG_SIGMA = 50.0
# Beyond e^300 squares would overflow.
_LARGEST_LOG = 300.0
# Before the names of coefficients of the cure.
_CURE = "cure: "


@dataclass(kw_only=True, eq=False, repr=False)
class AcceleratedFailureTime(RidgeSurvival):
    """``log T = β0 + β·x + σ·Z``: columns multiply the time, the shape is the same for all rows.

    Exact, right-, left- and interval-censored rows, with delayed entry and weights. An event at time 0 is taken as one
    at or before the smallest time above 0.

    Parameters
    ----------
    ridge
        Penalty ``½·ridge·Σ(β·s)²``, s the standard deviation of a column; the intercept has none. So that there always
        is a maximum, also ``½·ridge·(s/1000σ)²``, s the standard deviation of log time: negligible unless σ is tiny.
    cure
        Whether a share of the rows never has the event (a mixture cure model): ``logit P(never) = γ0 + γ·x``, and the
        failure time is that of the others. Without a long level tail of the Kaplan-Meier estimate nothing separates
        such a share from late events; a `CureWarning` says so.
    robust, categorical, point, unit
        As in `RidgeSurvival`.

    Attributes
    ----------
    coefficients_
        Table of ``intercept``, the columns and the logarithm of shape or σ, with standard errors and time ratios; with
        a cure also ``cure: intercept`` and ``cure:`` of each column, whose ratios are odds ratios of never having the
        event.
    aic_
        Akaike's criterion.
    covariance_, model_covariance_, dropped_, penalty_, log_likelihood_
        As in `RidgeSurvival`; the log-likelihood is in the unit of the data.
    """

    ridge: float = field(default=0.0, kw_only=False)
    cure: bool = False

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"cure": Flag()}
    LATER_PARAMETERS: ClassVar[frozenset[str]] = frozenset({"robust", "cure"})
    RATIO_NAME: ClassVar[str] = "time ratio"
    FITS_PARTS: ClassVar[bool] = True
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": RIDGE_RANGE}, "log_likelihood")
    # Name of the last parameter, and its sign as a multiple of log σ.
    LAST_PARAMETER: ClassVar[tuple[str, float]]
    # The survival by μ and that parameter.
    FORMULA: ClassVar[str]

    @property
    def aic_(self) -> float:
        """Akaike's criterion: twice the number of parameters less twice the log-likelihood."""
        self._require_fitted()
        dropped = np.count_nonzero(self._is_dropped(self._to_users_unit(self.design_).names))
        return 2 * (self.standardised_.size - int(dropped) - self.log_likelihood_)

    @property
    def coefficients_(self) -> CoefficientTable:
        """Coefficients in the unit of the columns: names, estimates, standard errors, ratios with intervals."""
        table = super().coefficients_
        return replace(table, ratio_name="ratio") if self.cure else table

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked; with a cure within follow-up, since any other may be infinite."""
        return "follow_up" if self.cure else self.point

    def structure(self) -> ModelStructure:
        """The formula of the survival."""
        self._require_fitted()
        formula = log_time_formula(self.FORMULA, cure=self.cure)
        return ModelStructure(formula, (("Kind of fit", self._kind()),), complete=True)

    def cure_probability(self, X: object) -> FloatArray:
        """Probability (n,) of each row of `X` never to have the event; 0 without a cure."""
        self._require_fitted()
        x = self.design_.numbers(X, type(self).__name__)
        if not self.cure:
            return np.zeros(len(x))
        gamma = self.standardised_[x.shape[1] + 2 :]
        logit = np.clip(gamma[0] + x @ gamma[1:], -_LARGEST_LOG, _LARGEST_LOG)
        return np.asarray(1 / (1 + np.exp(-logit)))

    @abstractmethod
    def _standard(self) -> Standard:
        """Distribution of ``(log T - μ)/σ``."""

    def _location_and_scale(self, X: object) -> tuple[FloatArray, float]:
        """μ of each row, and σ."""
        self._require_fitted()
        x = self.design_.numbers(X, type(self).__name__)
        return rows_with_location(self.standardised_[: x.shape[1] + 2], x)

    def _with_cure(self, distribution: SurvivalDistribution, X: object) -> SurvivalDistribution:
        """The distribution with the share that never has the event, if there is one."""
        return Cured(distribution, self.cure_probability(X)) if self.cure else distribution

    def _check_estimates(self, estimates: FloatArray) -> None:
        super()._check_estimates(estimates)
        # With a cure as many parameters as before log σ follow it.
        check_log_sigma(estimates[: estimates.size // 2 + 1] if self.cure else estimates)

    def _is_dropped(self, names: Sequence[str], dropped: Mapping[str, str] | None = None) -> NDArray[np.bool_]:
        return super()._is_dropped([name.removeprefix(_CURE) for name in names], dropped)

    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        rows, numbers = informative_rows(data, type(self).__name__)
        spread = spreads(x, data.weights)
        clusters = clusters_of(rows, self.robust)
        if self.cure:
            plateau = self._plateau(rows)
            return (
                fit_with_cure(
                    x[numbers],
                    design.names,
                    spread,
                    rows,
                    self._standard(),
                    ridge=self.ridge,
                    plateau=plateau,
                    clusters=clusters,
                ),
            )
        problem = LogTimeProblem(
            x[numbers], design.names, spread, rows, self._standard(), self.LAST_PARAMETER[0], clusters
        )
        return (solve(problem, self.ridge),)

    def _estimate_parts(self, design: Design, table: PartedTable, outcome: OutcomeSummary) -> States:
        owner, engine = type(self).__name__, current_engine()
        if self.cure:
            raise DataError(
                f"{owner} with a cure cannot be fitted to a table in parts",
                argument="cure",
                advice="Read the table into memory by read_table, or give cure=False.",
            )
        problem = PartedLogTimeProblem(
            HeldRows(engine, engine.hold(partial(encoded_rows, design, owner), table.parts)),
            design.names,
            self._standard(),
            last=self.LAST_PARAMETER[0],
            smallest=outcome.smallest_time,
            events=outcome.known,
            robust=robust_setting(self.robust, table, outcome),
        )
        return (solve(problem, self.ridge),)

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Why `refit_outputs` is not possible: a cure has a second linear predictor."""
        return "the linear predictor of a model with a cure cannot be fitted alone" if self.cure else None

    def _pulled_states(self, x: FloatArray, data: SurvivalData, codes: IntArray | None, pull: float) -> States:
        rows, numbers = informative_rows(data, type(self).__name__)
        free, covariance = self._free_columns(), self.standardised_covariance_
        found = refit_location(x[numbers], rows, self._standard(), self.standardised_, free=free, pull=pull)
        # The spread is that of the old rows, and so is its variance.
        found.covariance[-1, -1] = 1.0 if covariance is None else covariance[-1, -1]
        return (self._changed_fit(*found),)

    def _plateau(self, rows: SurvivalData) -> float:
        """The share without event at the end of follow-up, with a warning if that is too early to estimate it."""
        require_rows_without_event(rows)
        return warn_of_short_follow_up(rows, type(self).__name__, stacklevel=6).plateau

    def _to_users_unit(self, design: Design) -> UserUnit:
        unit = log_time_unit(design, *self.LAST_PARAMETER)
        return _unit_with_cure(unit, design) if self.cure else unit

    def _kind(self) -> str:
        cured = ", some never" if self.cure else ""
        return f"accelerated failure time{cured}, AIC {self.aic_:.2f}"


@final
@dataclass(kw_only=True, eq=False, repr=False)
class WeibullAFT(AcceleratedFailureTime):
    """Weibull times whose logarithm of the scale is linear in the columns, with one shape for all rows.

    It is a proportional hazards model, too: log hazard ratios are minus the coefficients times the shape. Parameters,
    attributes and kinds of rows are those of `AcceleratedFailureTime`: ``ridge``, ``cure``, ``robust``,
    ``categorical``, ``point``, ``unit``; the table of coefficients ends with ``log(shape)``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> event_time, censoring = 10 * np.exp(x[:, 0]) * rng.weibull(2, 500), rng.exponential(30, 500)
    >>> y = np.minimum(event_time, censoring), event_time <= censoring
    >>> print(WeibullAFT().fit(x, y).coefficients_)
                coefficient  std. error      z        p  time ratio              95 %
    intercept         2.272     0.02814  80.71  <0.0001      9.6943  9.1740 – 10.2441
    x0                1.065     0.02895  36.78  <0.0001      2.8999   2.7399 – 3.0692
    log(shape)       0.6939     0.04001  17.34  <0.0001      2.0014   1.8505 – 2.1647
    """

    LAST_PARAMETER: ClassVar[tuple[str, float]] = ("log(shape)", -1.0)
    FORMULA: ClassVar[str] = WEIBULL_FORMULA

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The Weibull distribution of each row; with a cure, `Cured` around it."""
        mu, sigma = self._location_and_scale(X)
        return self._with_cure(Weibull(scale=np.exp(mu), shape=np.full_like(mu, 1 / sigma)), X)

    def _standard(self) -> Standard:
        return SmallestExtreme()


@final
@dataclass(kw_only=True, eq=False, repr=False)
class LogNormalAFT(AcceleratedFailureTime):
    """Log-normal times whose mean logarithm is linear in the columns, with one standard deviation for all rows.

    Parameters, attributes and kinds of rows are those of `AcceleratedFailureTime`: ``ridge``, ``cure``,
    ``robust``, ``categorical``, ``point``, ``unit``; the table of coefficients ends with ``log(sigma)``.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> seen = np.ceil(np.exp(2 + x[:, 0] + rng.normal(size=500)))      # known to the day: in (seen - 1, seen]
    >>> model = LogNormalAFT().fit(x, SurvivalData.interval(seen - 1, seen))
    >>> model.coefficients_["x0"].coefficient, model.coefficients_["log(sigma)"].ratio
    (1.011, 0.939)
    """

    LAST_PARAMETER: ClassVar[tuple[str, float]] = ("log(sigma)", 1.0)
    FORMULA: ClassVar[str] = LOG_NORMAL_FORMULA

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The log-normal distribution of each row; with a cure, `Cured` around it."""
        mu, sigma = self._location_and_scale(X)
        return self._with_cure(LogNormal(mu=mu, sigma=np.full_like(mu, sigma)), X)

    def _standard(self) -> Standard:
        return StandardNormal()


def informative_rows(data: SurvivalData, owner: str) -> tuple[SurvivalData, IntArray]:
    """What `rows_with_information` gives; an error if they are too few for a location and a scale."""
    rows, numbers = rows_with_information(data)
    if numbers.size < 2:
        raise DataError(
            f"{owner} needs at least two rows with a time above 0 and a positive weight, "
            f"but has n_samples={numbers.size}.",
            argument="y",
        )
    return rows, numbers


def rows_with_location(standardised: FloatArray, x: FloatArray) -> tuple[FloatArray, float]:
    """μ of each row of numbers (n, d), and σ, by an intercept, the slopes and log σ."""
    mu = standardised[0] + x @ standardised[1:-1]
    return np.clip(mu, -_LARGEST_LOG, _LARGEST_LOG), float(np.exp(standardised[-1]))


def check_log_sigma(estimates: FloatArray) -> None:
    """Refuse a spread of log time of a file that no rows lead to."""
    require(abs(float(estimates[-1])) <= _LARGEST_LOG_SIGMA, "its spread of log time is out of range")


def log_time_unit(design: Design, last_parameter: str, sign: float) -> UserUnit:
    """How an intercept, slopes and log σ become those of the user's columns, the last times `sign`."""
    factors = np.concatenate([[1.0], design.per_unit, [sign]])
    # The intercept is where all columns are 0, not at their means.
    with np.errstate(over="ignore"):
        intercept = np.concatenate([[1.0], -design.centres / design.scales, [0.0]])
    return UserUnit(["intercept", *design.names, last_parameter], factors, ((0, intercept),))


def _unit_with_cure(unit: UserUnit, design: Design) -> UserUnit:
    """The same, with coefficients of the cure behind: an intercept and slopes."""
    before, mu = len(unit.names), ["intercept", *design.names]
    names = [*unit.names, *(f"{_CURE}{name}" for name in mu)]
    factors = np.concatenate([unit.factors, [1.0], design.per_unit])
    (_, intercept) = unit.combined[0]
    zeros = np.zeros(len(mu))
    # As of the time, the intercept is where all columns are 0.
    of_time, of_cure = np.append(intercept, zeros), np.concatenate([np.zeros(before), intercept[: len(mu)]])
    return UserUnit(names, factors, ((0, of_time), (before, of_cure)))


def location_and_scale(data: SurvivalData, standard: Standard) -> tuple[float, float]:
    """μ and σ without columns, of rows from `rows_with_information`; σ is kept off 0."""
    start = start_without_columns(data)
    likelihood = LogTimeLikelihood(np.ones((len(data), 1)), data, standard)
    (mu, log_sigma), _ = maximise(
        guarded(likelihood, least_spread(data) ** 2),
        start,
        names=["location", "scale"],
        longest=np.array([np.inf, 1.0]),
    )
    return float(mu), float(np.exp(log_sigma))


def least_spread(data: SurvivalData) -> float:
    """What a penalty keeps the spread of log time above, about, for rows from `rows_with_information`."""
    return LEAST_SHARE * float(np.exp(start_without_columns(data)[-1]))
