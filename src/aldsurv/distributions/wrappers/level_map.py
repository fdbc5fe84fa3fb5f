"""A monotone map of probabilities: what turns predicted levels into those that come true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.sorted_rows import count_below
from aldsurv.errors import ParameterError

__all__ = ["LevelMap", "describe_levels", "log_odds", "mapped_survival", "same_maps", "softplus"]

FloatArray = NDArray[np.float64]

# Quotients of distances, and their squares, must stay finite; predictions far off lead to log odds of many thousands.
_FARTHEST, _NEAREST = 1e15, 1e-50


@final
@dataclass(frozen=True, eq=False, repr=False)
class LevelMap:
    """A smooth, strictly increasing map of [0, 1] onto itself through given points.

    It is a spline of rational quadratics between the log odds ``log(u/(1 - u))``: both tails keep all their digits,
    however close to 0 or 1. Before the first and after the last point it adds a constant to the log odds, so
    that tails keep their weight: where a mean was finite it stays finite, and a density that was positive stays so.

    Parameters
    ----------
    knots
        Log odds (m,) of the levels as predicted, finite and ascending. None at all: the identity.
    values
        Log odds (m,) of what they become, finite and ascending.

    Examples
    --------
    >>> moved = LevelMap.through([0.2, 0.5, 0.9], [0.1, 0.5, 0.8])
    >>> moved([0.0, 0.2, 0.4, 0.5, 1.0]).round(3)
    array([0.   , 0.1  , 0.367, 0.5  , 1.   ])
    """

    knots: FloatArray
    values: FloatArray

    def __post_init__(self) -> None:
        for name in ("knots", "values"):
            array = np.array(getattr(self, name), dtype=np.float64)
            if array.ndim != 1 or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
                raise ParameterError(f"{name} must be finite log odds in strictly ascending order.")
            if array.size and (np.abs(array).max() > _FARTHEST or np.diff(array, prepend=-np.inf).min() < _NEAREST):
                raise ParameterError(
                    f"{name} must lie between -{_FARTHEST:g} and {_FARTHEST:g} and be at least {_NEAREST:g} apart, "
                    "so that the map between them can be computed."
                )
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.knots.shape != self.values.shape:
            raise ParameterError(f"there are {self.knots.size} knots, but {self.values.size} values. Give one each.")

    @classmethod
    def through(cls, levels: ArrayLike, mapped: ArrayLike) -> LevelMap:
        """The map that takes each of `levels` to `mapped`, probabilities between 0 and 1."""
        found = [np.asarray(given, np.float64) for given in (levels, mapped)]
        if not all(((array > 0) & (array < 1)).all() for array in found):
            raise ParameterError("levels and what they become must lie between 0 and 1, both excluded.")
        return cls(*(np.log(array) - np.log1p(-array) for array in found))

    def __repr__(self) -> str:
        return f"LevelMap({self.knots.size} knots)" if self.knots.size else "LevelMap(identity)"

    def __call__(self, levels: ArrayLike) -> FloatArray:
        """What probabilities become."""
        asked = np.asarray(levels, np.float64)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise ParameterError("levels must lie between 0 and 1.")
        with np.errstate(divide="ignore"):
            odds = np.log(asked) - np.log1p(-asked)
        moved = odds + self.shift(odds)
        return np.asarray(np.exp(-softplus(-moved)))

    @property
    def slopes(self) -> FloatArray:
        """Derivative at each knot: 1 at both ends, elsewhere a harmonic mean of the slopes on both sides."""
        slopes = np.ones(self.knots.size)
        if self.knots.size > 2:
            width = np.diff(self.knots)
            secant = np.diff(self.values) / width
            before, after = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
            slopes[1:-1] = (before + after) / (before / secant[:-1] + after / secant[1:])
        return slopes

    def shift(self, odds: Array) -> Array:
        """What is added to log odds of any shape, which may be infinite: finite everywhere."""
        xp = namespace(odds)
        if self.knots.size < 2:
            return xp.zeros_like(odds) + (float(self.values[0] - self.knots[0]) if self.knots.size else 0.0)
        ends = self.values[[0, -1]] - self.knots[[0, -1]]
        inside = xp.clip(odds, float(self.knots[0]), float(self.knots[-1]))
        start, width, low, height, first, last = self._pieces(inside, self.knots)
        share, secant = (inside - start) / width, height / width
        product = share * (1 - share)
        risen = height * (secant * share**2 + first * product) / (secant + (first + last - 2 * secant) * product)
        moved = low + risen - inside
        moved = xp.where(odds > float(self.knots[-1]), xp.full_like(moved, float(ends[1])), moved)
        return xp.where(odds < float(self.knots[0]), xp.full_like(moved, float(ends[0])), moved)

    def log_slope(self, odds: Array) -> Array:
        """Logarithm of the derivative of the map of log odds."""
        xp = namespace(odds)
        if self.knots.size < 2:
            return xp.zeros_like(odds)
        # At the ends of the clipped range the slope is 1, as it is beyond them.
        inside = xp.clip(odds, float(self.knots[0]), float(self.knots[-1]))
        start, width, _, height, first, last = self._pieces(inside, self.knots)
        share, secant = (inside - start) / width, height / width
        product = share * (1 - share)
        rise = last * share**2 + 2 * secant * product + first * (1 - share) ** 2
        return xp.log(secant**2 * rise) - 2 * xp.log(secant + (first + last - 2 * secant) * product)

    def inverse_shift(self, odds: Array) -> Array:
        """What must be added to mapped log odds to get those before."""
        xp = namespace(odds)
        if self.knots.size < 2:
            return xp.zeros_like(odds) - (float(self.values[0] - self.knots[0]) if self.knots.size else 0.0)
        ends = self.knots[[0, -1]] - self.values[[0, -1]]
        inside = xp.clip(odds, float(self.values[0]), float(self.values[-1]))
        start, width, low, height, first, last = self._pieces(inside, self.values)
        secant, risen = height / width, inside - low
        bend = risen * (first + last - 2 * secant)
        a, b, c = height * (secant - first) + bend, height * first - bend, -secant * risen
        # The root in [0, 1], in the form that does not subtract; the discriminant is positive except for rounding.
        share = 2 * c / (-b - xp.sqrt(xp.clip(b**2 - 4 * a * c, 0.0, None)))
        moved = start + xp.clip(share, 0.0, 1.0) * width - inside
        moved = xp.where(odds > float(self.values[-1]), xp.full_like(moved, float(ends[1])), moved)
        return xp.where(odds < float(self.values[0]), xp.full_like(moved, float(ends[0])), moved)

    def _pieces(self, inside: Array, edges: FloatArray) -> tuple[Array, ...]:
        """Of the stretch each number lies in: knot, width, value, height, slopes at both ends."""
        xp = namespace(inside)
        index = xp.clip(count_below(as_like(edges[None, :], inside), inside, inclusive=True) - 1, 0, edges.size - 2)
        slopes = self.slopes
        columns: list[Any] = [self.knots[:-1], np.diff(self.knots), self.values[:-1], np.diff(self.values)]
        return tuple(as_like(column, inside)[index] for column in (*columns, slopes[:-1], slopes[1:]))


def describe_levels(levels: LevelMap) -> str:
    """What five levels become, as text."""
    shown = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
    return ", ".join(f"{a:g} → {b:.3f}" for a, b in zip(shown, levels(shown), strict=True))


def softplus(x: Array) -> Array:
    """``log(1 + exp(x))``: minus the log of the probability whose log odds are -x."""
    xp = namespace(x)
    return xp.clip(x, 0.0, None) + xp.log1p(xp.exp(-xp.abs(x)))


def mapped_survival(survival: Array, level_map: LevelMap) -> Array:
    """What survivals become if their levels are mapped: those of 0 and 1 stay."""
    xp = namespace(survival)
    inside = (survival > 0) & (survival < 1)
    safe = xp.where(inside, survival, xp.full_like(survival, 0.5))
    odds = xp.log1p(-safe) - xp.log(safe)
    mapped = xp.exp(-softplus(odds + level_map.shift(odds)))
    return xp.where(inside, mapped, survival)


def same_maps(maps: Sequence[LevelMap], others: Sequence[LevelMap]) -> bool:
    """Whether both are the same maps, to the bit."""
    return len(maps) == len(others) and all(
        one.knots.tobytes() == other.knots.tobytes() and one.values.tobytes() == other.values.tobytes()
        for one, other in zip(maps, others, strict=True)
    )


def log_odds(log_survival: Array) -> Array:
    """Log odds of the cdf, from the log survival."""
    from aldsurv.distributions.numerics.log_space import log1mexp

    return log1mexp(log_survival) - log_survival
