"""A distribution drawn through predicted quantiles: the cdf is linear between its knots."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import exponential_remainder, saturation, squared_remainder
from aldsurv.distributions.numerics.sorted_rows import count_below, pick, shared_or_mapped, stacked
from aldsurv.distributions.numerics.table_checks import checked_levels, checked_table
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["QuantileKnots"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class QuantileKnots(SurvivalDistribution):
    """Quantiles joined by straight lines, with stated assumptions outside them.

    Below the first quantile the probability is spread evenly down to zero (where that quantile is not positive: as
    thinly as between the first two). Beyond the last quantile the tail is exponential and continues the
    density of the last stretch, so that mean and variance exist. Quantiles that cross are sorted; ``crossed`` shows
    which rows had some.

    Parameters
    ----------
    levels
        Probabilities ``(m,)``, strictly increasing, m ≥ 2.
    quantiles
        Times ``(n, m)``: for each row the time by which the event has happened with each probability.

    Examples
    --------
    >>> d = QuantileKnots([0.25, 0.5, 0.75], [[2.0, 4.0, 8.0], [3.0, 2.0, 9.0]])
    >>> d.cdf([1.0, 6.0])
    array([[0.125, 0.625],
           [0.125, 0.625]])
    >>> d.crossed
    array([False,  True])
    """

    values: Array
    cdf_values: Array
    tail_scale: Array
    crossed: Array

    def __init__(self, levels: Any, quantiles: Any) -> None:
        table = checked_table(quantiles, "quantiles")
        xp = namespace(table)
        if table.shape[1] < 2:
            raise ParameterError("quantiles must be given for at least two levels, but there is one.")
        probabilities = as_like(checked_levels(levels, table.shape[1]), table)[None, :]
        crossed = xp.any(table[:, 1:] < table[:, :-1], axis=1)
        table = xp.sort(table, axis=1)
        first, second = table[:, :1], table[:, 1:2]
        thin = (second - first) / (probabilities[:, 1:2] - probabilities[:, :1]) * probabilities[:, :1]
        bottom = xp.where(first > 0, 0 * first, first - thin)
        made = self._from_cdf(
            xp.concat([bottom, table], axis=1),
            xp.concat([0 * probabilities[:, :1], probabilities], axis=1),
            crossed=crossed,
        )
        for name in ("values", "cdf_values", "tail_scale", "crossed"):
            object.__setattr__(self, name, getattr(made, name))

    @classmethod
    def _from_cdf(cls, values: Array, cdf_values: Array, *, crossed: Array | None = None) -> QuantileKnots:
        """Knots with their cdf, the first of them 0; either may have one row for all."""
        xp = namespace(values)
        width = values[:, -1:] - values[:, -2:-1]
        rise = cdf_values[:, -1:] - cdf_values[:, -2:-1]
        # A flat last stretch says nothing about the tail: take the mean slope of the whole curve instead.
        flat = rise <= 0
        width = xp.where(flat, values[:, -1:] - values[:, :1], width)
        rise = xp.where(flat, xp.clip(cdf_values[:, -1:], 1e-12, None), rise)
        scale = (1 - cdf_values[:, -1:]) * width / rise
        least = float(xp.finfo(values.dtype).eps) * (1 + xp.abs(values[:, -1:]))
        scale = xp.maximum(scale, least)
        if crossed is None:
            crossed = xp.zeros_like(scale[:, 0], dtype=xp.bool)
        return cls.from_checked(values=values, cdf_values=cdf_values, tail_scale=scale, crossed=crossed)

    @property
    def _column(self) -> Array:
        return self.tail_scale

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(
            values=shared_or_mapped(self.values, change),
            cdf_values=shared_or_mapped(self.cdf_values, change),
            tail_scale=change(self.tail_scale),
            crossed=change(self.crossed),
        )

    def _join(self, others: Sequence[Self]) -> Self:
        xp = namespace(self.values)
        parts: list[Self] = [self, *others]
        if len({part.values.shape[1] for part in parts}) > 1:
            raise ParameterError("quantile distributions with different numbers of knots cannot be joined.")
        lengths = [len(part) for part in parts]
        return self.from_checked(
            values=stacked([part.values for part in parts], lengths),
            cdf_values=stacked([part.cdf_values for part in parts], lengths),
            tail_scale=xp.concat([part.tail_scale for part in parts], axis=0),
            crossed=xp.concat([part.crossed for part in parts], axis=0),
        )

    # ---- places: the stretch a time lies on

    def _stretch(self, t: Array) -> Array:
        """Index of the knot at which the stretch of each time begins; the last knot is never one."""
        xp = namespace(self.values)
        knots = self.values.shape[1]
        return xp.clip(count_below(self.values, t, inclusive=True) - 1, 0, knots - 2)

    def _inner_cdf(self, t: Array) -> Array:
        """Cdf up to the last knot, clipped beyond the knots."""
        xp = namespace(self.values)
        index = self._stretch(t)
        start, stop = pick(self.values, index), pick(self.values, index + 1)
        low, high = pick(self.cdf_values, index), pick(self.cdf_values, index + 1)
        width = stop - start
        inside = xp.where(width > 0, (t - start) / xp.where(width > 0, width, xp.ones_like(width)), xp.ones_like(width))
        # Before the first knot there is nothing, even where the first stretch is a jump.
        share = xp.where(t < self.values[:, :1], xp.zeros_like(inside), inside)
        return low + (high - low) * xp.clip(share, 0.0, 1.0)

    def _tail_start(self) -> tuple[Array, Array]:
        """Last knot and the survival there."""
        return self.values[:, -1:], 1 - self.cdf_values[:, -1:]

    def _log_survival(self, t: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        beyond = t >= last
        inner = xp.log1p(-self._inner_cdf(xp.minimum(t, last)))
        return xp.where(beyond, xp.log(rest) - xp.clip(t - last, 0.0, None) / self.tail_scale, inner)

    def _log_cdf(self, t: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        beyond = t >= last
        inner = xp.log(self._inner_cdf(xp.minimum(t, last)))
        tail = xp.log1p(-rest * xp.exp(-xp.clip(t - last, 0.0, None) / self.tail_scale))
        return xp.where(beyond, tail, inner)

    def _log_density(self, t: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        index = self._stretch(t)
        rise = pick(self.cdf_values, index + 1) - pick(self.cdf_values, index)
        width = pick(self.values, index + 1) - pick(self.values, index)
        inner = xp.log(rise) - xp.log(width)
        tail = xp.log(rest) - xp.log(self.tail_scale) - xp.clip(t - last, 0.0, None) / self.tail_scale
        value = xp.where(t >= last, tail, inner)
        return xp.where(t >= self.values[:, :1], value, xp.full_like(value, -math.inf))

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        log_rest = xp.log(rest)
        beyond = log_survival < log_rest
        q = -xp.expm1(xp.where(beyond, log_rest, log_survival))
        q = xp.minimum(q, self.cdf_values[:, -1:])
        knots = self.cdf_values.shape[1]
        index = xp.clip(count_below(self.cdf_values, q, inclusive=False) - 1, 0, knots - 2)
        low, high = pick(self.cdf_values, index), pick(self.cdf_values, index + 1)
        start, stop = pick(self.values, index), pick(self.values, index + 1)
        rise = high - low
        share = xp.where(rise > 0, (q - low) / xp.where(rise > 0, rise, xp.ones_like(rise)), xp.zeros_like(rise))
        inner = start + (stop - start) * share
        some = rest > 0
        safe = xp.where(some, log_rest, xp.zeros_like(log_rest))
        tail = last - self.tail_scale * (log_survival - safe)
        return xp.where(beyond, xp.where(some, tail, last), inner)

    # ---- integrals: polynomials on the stretches, exponentials in the tail

    def _integrals(self, t: Array, edge: Array, here: Array, power: int) -> tuple[Array, Array]:
        """Integral of ``edge^power``, linear between the knots, from the first knot to t and from t to the last.

        Each is summed from its own end: a small part is not lost among large ones. ``here`` is the value at t.
        """
        xp = namespace(self.values)
        stretches = (self.values[:, 1:] - self.values[:, :-1]) * _mean_power(edge[:, :-1], edge[:, 1:], power)
        nothing = xp.zeros_like(stretches[:, :1])
        front = xp.concat([nothing, xp.cumulative_sum(stretches, axis=1)], axis=1)
        back = xp.concat([xp.flip(xp.cumulative_sum(xp.flip(stretches, axis=1), axis=1), axis=1), nothing], axis=1)
        index = self._stretch(t)
        inside = xp.minimum(xp.maximum(t, self.values[:, :1]), self.values[:, -1:])
        before = (inside - pick(self.values, index)) * _mean_power(pick(edge, index), here, power)
        after = (pick(self.values, index + 1) - inside) * _mean_power(here, pick(edge, index + 1), power)
        return pick(front, index) + before, pick(back, index + 1) + after

    def _survival_integrals(self, t: Array, power: int) -> tuple[Array, Array]:
        return self._integrals(t, 1 - self.cdf_values, 1 - self._inner_cdf(t), power)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        early, late = xp.minimum(start, last), xp.minimum(stop, last)
        front_early, back_early = self._survival_integrals(early, 1)
        front_late, back_late = self._survival_integrals(late, 1)
        # Either difference is as exact as what it is taken from: the smaller one, early or late in time.
        inner = xp.where(front_late < back_early, front_late - front_early, back_early - back_late)
        begin = xp.maximum(start, last)
        tail = self.tail_scale * saturation(xp.clip(stop - begin, 0.0, None), self.tail_scale)
        at_start = 1 - self._inner_cdf(early)
        some = at_start > 0
        safe = xp.where(some, at_start, xp.ones_like(at_start))
        return xp.where(some, (inner + rest * tail) / safe, xp.zeros_like(inner))

    def _mean(self) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        masses = self.cdf_values[:, 1:] - self.cdf_values[:, :-1]
        middles = (self.values[:, 1:] + self.values[:, :-1]) / 2
        return xp.sum(masses * middles, axis=1, keepdims=True) + rest * (last + self.tail_scale)

    def _variance(self) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        mean = self._mean()
        masses = self.cdf_values[:, 1:] - self.cdf_values[:, :-1]
        widths = self.values[:, 1:] - self.values[:, :-1]
        middles = (self.values[:, 1:] + self.values[:, :-1]) / 2
        inner = xp.sum(masses * ((middles - mean) ** 2 + widths**2 / 12), axis=1, keepdims=True)
        return inner + rest * ((last + self.tail_scale - mean) ** 2 + self.tail_scale**2)

    def _mode(self) -> Array:
        # The largest jump if there is one, else the middle of the densest stretch, on which the density is constant.
        xp = namespace(self.values)
        widths = self.values[:, 1:] - self.values[:, :-1] + xp.zeros_like(self.tail_scale)
        masses = self.cdf_values[:, 1:] - self.cdf_values[:, :-1] + xp.zeros_like(self.tail_scale)
        jump = widths <= 0
        jumps = xp.where(jump, masses, xp.zeros_like(masses))
        density = xp.where(jump, xp.zeros_like(masses), masses / xp.where(jump, xp.ones_like(widths), widths))
        has_jump = xp.any(jumps > 0, axis=1, keepdims=True)
        height = xp.where(has_jump, jumps, density)
        # The first of those as high except for rounding: the stretch below the first quantile may copy the next one.
        highest = height >= (1 - 1e-9) * xp.max(height, axis=1, keepdims=True)
        index = xp.argmax(xp.astype(highest, xp.int64), axis=1)[:, None]
        return (pick(self.values, index) + pick(self.values, index + 1)) / 2

    def _crps(self, lower: Array, upper: Array) -> Array:
        xp = namespace(self.values)
        last, rest = self._tail_start()
        early = xp.maximum(lower, self.values[:, :1])
        v = xp.clip(early - last, 0.0, None) / self.tail_scale
        reached = 1 - rest
        risen = reached**2 * v + 2 * reached * rest * exponential_remainder(v) + rest**2 * squared_remainder(v)
        first = xp.minimum(early, last)
        before = self._integrals(first, self.cdf_values, self._inner_cdf(first), 2)[0] + self.tail_scale * risen
        w = xp.clip(upper - last, 0.0, None) / self.tail_scale
        tail = self.tail_scale * rest**2 * xp.exp(-2 * w) / 2
        inner = self._survival_integrals(xp.minimum(upper, last), 2)[1]
        return before + tail + inner

    def _lower(self) -> Array:
        return self.values[:, :1] + 0 * self.tail_scale

    def _kinks(self) -> Array:
        return self.values + 0 * self.tail_scale

    def _block_cost(self) -> int:
        # Sums over the grid of each row, no quadrature.
        return int(max(self.values.shape[1], self.cdf_values.shape[1]))

    def _scaled(self, factor: Array) -> QuantileKnots:
        return self.from_checked(
            values=factor * self.values,
            cdf_values=self.cdf_values,
            tail_scale=factor * self.tail_scale,
            crossed=self.crossed,
        )

    def _shifted(self, offset: Array) -> QuantileKnots:
        return self.from_checked(
            values=self.values + offset,
            cdf_values=self.cdf_values,
            tail_scale=self.tail_scale + 0 * offset,
            crossed=self.crossed,
        )


def _mean_power(start: Array, stop: Array, power: int) -> Array:
    """Mean of ``y^power`` while y runs evenly from start to stop."""
    return (start + stop) / 2 if power == 1 else (start**2 + start * stop + stop**2) / 3
