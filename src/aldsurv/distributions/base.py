"""SurvivalDistribution: what every model answers with and everything downstream reads."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import numpy as np

from aldsurv.distributions.censored_likelihood import row_log_likelihood
from aldsurv.distributions.formulas import Formulas, residual_anywhere
from aldsurv.distributions.numerics.backend import Array, namespace, random_exponential
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions.from_predictions import CurveTail
    from aldsurv.distributions.wrappers.level_map import LevelMap

__all__ = ["SurvivalDistribution"]


# Functions of time that a frame may hold.
CurveKind: TypeAlias = Literal["survival", "cdf", "cumulative_hazard", "hazard", "density"]
DistributionT = TypeVar("DistributionT", bound="SurvivalDistribution")


class SurvivalDistribution(Formulas):
    """The distribution of the time to an event for each of n individuals.

    Immutable. **Shapes:** every method that takes times (or probabilities, or horizons) gives ``(n,)`` for a
    number, ``(n, m)`` for a vector of m, and matches row by row what has two axes: ``d.survival(time[:, None])``
    is ``(n, 1)``, one value per subject. Methods without an argument give ``(n,)``.

    The arrays are numpy's or torch's, like the parameters; the same formulas run on both. Slicing with ``d[rows]``,
    joining with ``SurvivalDistribution.concatenate``, and changing the unit of time with ``scaled`` and ``shifted``
    work for every family. Families override the methods that begin with an underscore (`Formulas`).
    """

    @staticmethod
    def concatenate(parts: Sequence[DistributionT]) -> DistributionT:
        """One distribution with the rows of all parts, in order; the parts must be of one family."""
        parts = list(parts)
        if not parts:
            raise ParameterError("concatenate needs at least one distribution, but got none.")
        families = {type(part).__name__ for part in parts}
        if len(families) > 1:
            raise ParameterError(
                f"only distributions of one family can be joined, but these are {', '.join(sorted(families))}. "
                "Evaluate them apart, or make them of one family."
            )
        return parts[0] if len(parts) == 1 else parts[0]._join(parts[1:])

    @staticmethod
    def from_survival(
        curves: Any, times: object, *, interpolate: bool = True, tail: CurveTail | None = None
    ) -> SurvivalDistribution:
        """The distribution of survival curves that any model predicted.

        Parameters
        ----------
        curves
            Survival ``(n, m)``, one row per subject, or ``(m,)`` for one: between 0 and 1, never rising. What rounding
            does (1e-9; 1e-6 if the curves are float32) is repaired, anything more is refused.
        times
            Where the curves were evaluated: ``(m,)``, strictly increasing and not negative, or ``(n, m)``. At time 0
            survival must be 1; if 0 is not among the times, that is added.
        interpolate
            True: survival falls linearly between the times (`QuantileKnots`), so that there is a density, and levels
            ``F(y)`` between those of the times. False: it falls at the times only (`Step`), as in scikit-survival.
            At the times themselves both are the curves.
        tail
            What happens after the last time to those still event-free. ``"exponential"`` (default if interpolated)
            goes on with the density of the last stretch, so that all means and medians are finite; ``"hold"``
            (default and possible only if not interpolated) keeps survival where it is for ever, which makes
            the mean infinite; ``"drop"`` lets the rest have the event by the last time.

        Examples
        --------
        >>> d = SurvivalDistribution.from_survival([[1.0, 0.8, 0.4], [1.0, 0.9, 0.0]], [0.0, 1.0, 3.0])
        >>> d.survival([1.0, 2.0])
        array([[0.8 , 0.6 ],
               [0.9 , 0.45]])
        """
        from aldsurv.distributions.from_predictions import distribution_of_curves

        return distribution_of_curves(curves, times, interpolate=interpolate, tail=tail)

    @staticmethod
    def from_quantiles(values: Any, levels: Any) -> SurvivalDistribution:
        """The distribution of predicted quantiles, joined by straight lines (`QuantileKnots`).

        Parameters
        ----------
        values
            Times ``(n, m)``, one row per subject, or ``(m,)`` for one. Quantiles that cross are sorted; the field
            ``crossed`` of the result shows in which rows.
        levels
            Their probabilities ``(m,)``, strictly increasing and between 0 and 1, at least two.

        Examples
        --------
        >>> SurvivalDistribution.from_quantiles([[2.0, 4.0, 8.0]], [0.25, 0.5, 0.75]).cdf([3.0, 8.0])
        array([[0.375, 0.75 ]])
        """
        from aldsurv.distributions.families.quantile_knots import QuantileKnots

        return QuantileKnots(levels, values)

    @staticmethod
    def from_functions(
        functions: Any, *, interpolate: bool = True, tail: CurveTail | None = None
    ) -> SurvivalDistribution:
        """The distribution of survival functions, one per row, as ``predict_survival_function`` gives them.

        Parameters
        ----------
        functions
            Callables with their times in ``x``: scikit-survival's ``StepFunction``, or those of this library. They
            may have different times, but as many each.
        interpolate, tail
            As in `from_survival`.
        """
        from aldsurv.distributions.from_predictions import curves_of_functions, distribution_of_curves

        return distribution_of_curves(*curves_of_functions(functions), interpolate=interpolate, tail=tail)

    @staticmethod
    def from_frame(frame: Any, *, interpolate: bool = True, tail: CurveTail | None = None) -> SurvivalDistribution:
        """The distribution of survival curves in a pandas frame, as lifelines and pycox give them.

        Parameters
        ----------
        frame
            Times in the index, ascending, and one column per subject, whose names are not kept.
        interpolate, tail
            As in `from_survival`.
        """
        from aldsurv.distributions.from_predictions import curves_of_frame, distribution_of_curves

        return distribution_of_curves(*curves_of_frame(frame), interpolate=interpolate, tail=tail)

    def to_frame(self, times: object = None, *, kind: CurveKind = "survival", index: Any = None) -> pd.DataFrame:
        """A pandas frame with one row per individual, which needs pandas.

        Parameters
        ----------
        times
            A number, or a list of times: one column each, named by the time. None: quantiles of the event time in
            the columns ``q10``, ``q25``, ``median``, ``q75`` and ``q90``.
        kind
            What is in the columns of `times`: ``"survival"``, ``"cdf"``, ``"cumulative_hazard"``, ``"hazard"`` or
            ``"density"``.
        index
            Labels of the rows, such as ``X.index``; None for their numbers.

        Examples
        --------
        >>> from aldsurv.distributions import Exponential
        >>> Exponential([2.0, 5.0]).to_frame([1, 2.5], index=["Ann", "Bo"]).round(3)
        time    1.0    2.5
        Ann   0.607  0.287
        Bo    0.819  0.607
        """
        from aldsurv.distributions.presentation import distribution_frame

        return distribution_frame(self, times, kind, index)

    def _repr_html_(self) -> str:
        from aldsurv.distributions.presentation import distribution_html

        return distribution_html(self)

    def survival(self, times: object) -> Array:
        """Probability to be event-free after ``times``: S(t) = P(T > t)."""
        return self._evaluate(lambda d, t: d._survival(t), times=times)

    def log_survival(self, times: object) -> Array:
        """Logarithm of the survival, accurate where the survival itself underflows or rounds to one."""
        return self._evaluate(lambda d, t: d._log_survival(t), times=times)

    def cdf(self, times: object) -> Array:
        """Probability of the event by ``times``: F(t) = P(T ≤ t)."""
        return self._evaluate(lambda d, t: d._cdf(t), times=times)

    def log_cdf(self, times: object) -> Array:
        """Logarithm of the cdf."""
        return self._evaluate(lambda d, t: d._log_cdf(t), times=times)

    def density(self, times: object) -> Array:
        """Probability density f(t)."""
        return self._evaluate(lambda d, t: d._density(t), times=times)

    def log_density(self, times: object) -> Array:
        """Logarithm of the density."""
        return self._evaluate(lambda d, t: d._log_density(t), times=times)

    def hazard(self, times: object) -> Array:
        """Event rate among those still event-free: f(t)/S(t)."""
        return self._evaluate(lambda d, t: d._hazard(t), times=times)

    def log_conditional_survival(self, times: object, since: object) -> Array:
        """``log P(T > times | T > since)`` for times not before ``since``, accurate where both survivals underflow."""
        return self._evaluate(lambda d, t, s: d._log_survival_ratio(t, s), times=times, since=since)

    def cumulative_hazard(self, times: object) -> Array:
        """``-log S(t)``."""
        return self._evaluate(lambda d, t: -d._log_survival(t), times=times)

    def log_probability(self, lower: Any, upper: Any) -> Array:
        """``log P(lower < T ≤ upper)``, accurate for tiny probabilities."""
        return self._evaluate(lambda d, a, b: d._log_probability(a, b), lower=lower, upper=upper)

    def probability(self, lower: Any, upper: Any) -> Array:
        """``P(lower < T ≤ upper)``."""
        return self._evaluate(lambda d, a, b: namespace(a).exp(d._log_probability(a, b)), lower=lower, upper=upper)

    def probability_negative(self) -> Array:
        """``P(T < 0)``: what the family puts where no event time can be; 0 for positive families."""
        tiny = np.nextafter(0.0, -1.0)
        return self._evaluate(lambda d, t: d._cdf(t), times=tiny)

    def cure_probability(self) -> Array:
        """Probability that the event never comes: the survival at infinity."""
        return self.survival(math.inf)

    def quantile(self, levels: Any) -> Array:
        """Smallest time by which the event has happened with probability ``levels``."""
        return self._evaluate(_quantile, levels=levels, cost=16)

    def median(self) -> Array:
        """Time by which half of the probability has passed."""
        return self.quantile(0.5)

    def interval(self, level: float = 0.9) -> Array:
        """Central interval ``(n, 2)`` that holds the event time with probability ``level``."""
        if not 0 < level < 1:
            raise ParameterError(f"level must lie between 0 and 1, but is {level}.")
        return self.quantile([(1 - level) / 2, (1 + level) / 2])

    def mean(self) -> Array:
        """Expected time; infinite where the expectation does not exist."""
        return self._evaluate(lambda d: d._mean(), cost=self._block_cost())

    def variance(self) -> Array:
        """Expected squared distance from the mean."""
        return self._evaluate(lambda d: d._variance(), cost=self._block_cost())

    def std(self) -> Array:
        """Standard deviation, in the unit of time."""
        return namespace(self._column).sqrt(self.variance())

    def mode(self) -> Array:
        """Time at which the density is highest."""
        return self._evaluate(lambda d: d._mode(), cost=self._block_cost())

    def kinks(self) -> Array:
        """Times ``(n, k)`` at which the density is not smooth, so that a grid should hold them."""
        return self._kinks()

    def restricted_mean(self, horizon: Any) -> Array:
        """Expected event-free time within ``horizon``: ``∫ S(t) dt`` from 0 to the horizon."""
        return self._evaluate(_restricted_mean, horizon=horizon, cost=self._block_cost())

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """`restricted_mean` within one horizon, to some digits where more would take a quadrature of each row."""
        return self.restricted_mean(horizon)

    def mean_residual_life(self, times: object) -> Array:
        """Expected further time for those event-free at ``times``: ``E[T - t | T > t]``."""
        return self._evaluate(_mean_residual_life, times=times, cost=self._block_cost())

    def crps(self, times: object, upper: object = None) -> Array:
        """Continuous ranked probability score of the outcome ``times``, in the unit of time; lower is better.

        Parameters
        ----------
        times
            The event time; with ``upper``, the time after which the event is known to have happened.
        upper
            For an outcome known only to lie in ``(times, upper]``: the score counts what can be judged, ``F²``
            before the interval and ``S²`` after it. ``upper=inf`` is the survival-CRPS of a right-censored row,
            ``times=-inf`` that of a left-censored one.
        """
        upper = times if upper is None else upper
        return self._evaluate(_crps_anywhere, times=times, upper=upper, cost=self._crps_cost())

    def conditional(self, since: object) -> SurvivalDistribution:
        """Distribution of the event time of those known to be event-free at ``since`` (a number, or one per row)."""
        column = self._as_column(since, "since")
        self._refuse(column == math.inf, column, "since must be a time before infinity")
        return self._conditional(column)

    def sample(self, size: int | None = None, *, random_state: Any = None) -> Array:
        """Draws from every row: ``(n,)``, or ``(n, size)``.

        Parameters
        ----------
        size
            How many for each row; None for one, without the second axis.
        random_state
            A seed or a numpy generator. The same seed gives the same draws on numpy and torch.
        """
        count = 1 if size is None else size
        exponential = random_exponential((len(self), count), random_state, self._column)
        drawn = self._evaluate(lambda d, e: d._inverse_log_survival(-e), draws=exponential, cost=16)
        return drawn[:, 0] if size is None else drawn

    def log_likelihood(self, data: SurvivalData) -> Array:
        """Log-likelihood ``(n,)`` of each row of ``data`` under the same row here, times its weight.

        Exact ``log f(y)``, right-censored ``log S(y)``, left-censored ``log F(y)``, interval-censored
        ``log(F(u) - F(l))``; delayed entry at a subtracts ``log S(a)``.
        """
        if len(data) != len(self):
            raise ParameterError(f"the data have {len(data)} rows, but the distribution has {len(self)}.")
        with np.errstate(all="ignore"):
            return row_log_likelihood(self, data)

    def scaled(self, factor: Any) -> SurvivalDistribution:
        """Distribution of ``factor · T``: the same times in another unit; factor > 0, a number or one per row."""
        column = self._as_column(factor, "factor")
        self._refuse((column <= 0) | (column == math.inf), column, "factor must be positive and finite")
        with np.errstate(over="ignore"):
            return self._scaled(column)

    def shifted(self, offset: Any) -> SurvivalDistribution:
        """Distribution of ``T + offset``; offset a number or one per row."""
        column = self._as_column(offset, "offset")
        self._refuse(~namespace(column).isfinite(column), column, "offset must be finite")
        with np.errstate(over="ignore"):
            return self._shifted(column)

    # ---- distributions made of this one, of which a family may know a simpler form ---------------------------

    @abstractmethod
    def _join(self, others: Sequence[Self]) -> Self:
        """Rows of self followed by those of others, all of this family."""

    def _conditional(self, since: Array) -> SurvivalDistribution:
        from aldsurv.distributions.wrappers.truncated import LeftTruncated

        return LeftTruncated(self, since)

    def _recalibrated(self, level_map: LevelMap) -> SurvivalDistribution:
        """The distribution after a map of its levels; where all probability sits at times, so it does afterwards."""
        from aldsurv.distributions.wrappers.recalibrated import Recalibrated

        return Recalibrated(self, level_map)

    def _with_scaled_hazard(self, factor: Array) -> SurvivalDistribution:
        """The distribution with its hazard multiplied by a column (n, 1) of positive numbers."""
        from aldsurv.distributions.wrappers.scaled_hazard import ScaledHazard

        return ScaledHazard(self, factor)

    @abstractmethod
    def _scaled(self, factor: Array) -> SurvivalDistribution:
        """Distribution of ``factor · T``, for a column (1 or n, 1) of positive numbers; all fields get its rows."""

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        from aldsurv.distributions.wrappers.shifted import Shifted

        return Shifted(self, offset)


def _quantile(distribution: SurvivalDistribution, levels: Array) -> Array:
    xp = namespace(levels)
    if not bool(xp.all((levels >= 0) & (levels <= 1))):
        raise ParameterError("levels must lie between 0 and 1: quantile(0.9), not quantile(90).")
    return distribution._inverse_log_survival(xp.log1p(-levels))


def _restricted_mean(distribution: SurvivalDistribution, horizon: Array) -> Array:
    xp = namespace(horizon)
    if not bool(xp.all(horizon >= 0)):
        raise ParameterError("horizon must not be negative: it is the time up to which survival is counted.")
    zero = xp.zeros_like(horizon)
    return distribution._survival(zero) * residual_anywhere(distribution, zero, horizon)


def _mean_residual_life(distribution: SurvivalDistribution, times: Array) -> Array:
    return residual_anywhere(distribution, times, namespace(times).full_like(times, math.inf))


def _crps_anywhere(distribution: SurvivalDistribution, lower: Array, upper: Array) -> Array:
    """``_crps`` of outcomes that may lie below the support, where survival is one, or never come."""
    xp = namespace(lower)
    if bool(xp.any(upper < lower)):
        raise ParameterError("upper must not be before times: the outcome is known to lie between them.")
    never = lower == math.inf
    lower = xp.where(never, xp.zeros_like(lower), lower)
    bound = distribution._lower()
    below = xp.clip(xp.maximum(upper, bound) - upper, 0.0, None)
    below = xp.where(xp.isnan(below), xp.zeros_like(below), below)
    known = xp.where(lower > bound, lower, xp.full_like(lower, -math.inf))
    score = below + distribution._crps(known, xp.maximum(upper, bound))
    # Only a distribution that says "never" is right about an outcome that does not come.
    expected = distribution._log_cdf(xp.full_like(score, math.inf)) > -math.inf
    missed = xp.where(expected, xp.full_like(score, math.inf), xp.zeros_like(score))
    return xp.where(never, missed, score)
