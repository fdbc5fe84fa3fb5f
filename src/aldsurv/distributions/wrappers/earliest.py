"""The earliest of several independent times: the first event, from hazards of several causes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.distributions.numerics.log_space import log1mexp, log_sum_exp
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Earliest"]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Earliest(SurvivalDistribution):
    """The distribution of the minimum of independent times: hazards add up, survivals multiply.

    Survival, cdf, density and hazard are exact; quantiles come from a root search, the rest from quadrature.

    Parameters
    ----------
    parts
        Distributions of the same individuals, of any families.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = Earliest([Exponential([2.0]), Exponential([3.0])])
    >>> d.hazard(7.0).round(4), d.mean().round(4)
    (array([0.8333]), array([1.2]))
    """

    parts: tuple[SurvivalDistribution, ...]

    def __init__(self, parts: Sequence[SurvivalDistribution]) -> None:
        lengths = {len(part) for part in parts}
        if len(lengths) != 1:
            raise ParameterError(f"parts must be distributions of the same rows, but have {sorted(lengths)} of them.")
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def _column(self) -> Array:
        return self.parts[0]._column

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(parts=tuple(part._map_rows(change) for part in self.parts))

    def _join(self, others: Sequence[Self]) -> Self:
        if any(len(other.parts) != len(self.parts) for other in others):
            raise ParameterError("distributions of the earliest of different numbers of times cannot be joined.")
        every = zip(self.parts, *(other.parts for other in others), strict=True)
        return self.from_checked(parts=tuple(SurvivalDistribution.concatenate(parts) for parts in every))

    def _log_survival(self, t: Array) -> Array:
        return reduce(lambda a, b: a + b, [part._log_survival(t) for part in self.parts])

    def _log_cdf(self, t: Array) -> Array:
        return log1mexp(self._log_survival(t))

    def _log_density(self, t: Array) -> Array:
        return log_sum_exp(self.log_part_densities(t), axis=0)

    def log_part_densities(self, t: Array) -> Array:
        """``log f`` at times (n, m) of each part being the earliest: its density times the others' survival."""
        xp = namespace(t)
        survivals = [part._log_survival(t) for part in self.parts]
        terms = []
        for k, part in enumerate(self.parts):
            others = [survival for j, survival in enumerate(survivals) if j != k]
            terms.append(reduce(lambda a, b: a + b, others, part._log_density(t)))
        return xp.stack(xp.broadcast_arrays(*terms), axis=0)

    def _log_hazard(self, t: Array) -> Array:
        xp = namespace(t)
        return log_sum_exp(xp.stack(xp.broadcast_arrays(*[part._log_hazard(t) for part in self.parts]), axis=0), axis=0)

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        return reduce(lambda a, b: a + b, [part._log_survival_ratio(t, since) for part in self.parts])

    def _bracket(self, log_survival: Array) -> tuple[Array, Array]:
        return self._around(log_survival)

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        # Not after the first of the parts' quantiles; and one part at least has fallen by its share of the fall.
        xp, count = namespace(log_survival), len(self.parts)
        both = [part._around(xp.concat([log_survival / count, log_survival], axis=1)) for part in self.parts]
        m = log_survival.shape[1]
        return reduce(xp.minimum, [low[:, :m] for low, _ in both]), reduce(
            xp.minimum, [high[:, m:] for _, high in both]
        )

    def _first_guess(self, log_survival: Array, low: Array, high: Array) -> Array:
        # The ends differ by no more than the number of parts in cumulative hazard: its logarithm is close to a line,
        # over log time if that is positive.
        xp = namespace(log_survival)
        ends = self._log_survival(xp.concat([low, high], axis=1))
        rise = xp.log(ends / xp.concat([log_survival, log_survival], axis=1))
        m = log_survival.shape[1]
        share = xp.clip(-rise[:, :m] / (rise[:, m:] - rise[:, :m]), 0.0, 1.0)
        positive = low > 0
        ratio = xp.where(positive, high, xp.ones_like(high)) / xp.where(positive, low, xp.ones_like(low))
        between = xp.where(positive, low * ratio**share, low + (high - low) * share)
        # Often one part has nearly all of the hazard, and its quantile is the one.
        between = xp.where(share == 1, high, between)
        usable = xp.isfinite(between) & xp.isfinite(rise[:, m:])
        return xp.where(usable, between, super()._first_guess(log_survival, low, high))

    def _lower(self) -> Array:
        return reduce(namespace(self._column).minimum, [part._lower() for part in self.parts])

    def _kinks(self) -> Array:
        xp = namespace(self._column)
        kinks = xp.concat([place for part in self.parts for place in (part._kinks(), part._lower())], axis=1)
        return xp.where(xp.isfinite(kinks), kinks, xp.zeros_like(kinks))

    def _places(self) -> Array:
        return namespace(self._column).concat([super()._places(), *(part._places() for part in self.parts)], axis=-1)

    def _quadrature_cost(self) -> int:
        return sum(part._quadrature_cost() for part in self.parts)

    def _scaled(self, factor: Array) -> Earliest:
        return self.from_checked(parts=tuple(part._scaled(factor) for part in self.parts))

    def _shifted(self, offset: Array) -> Earliest:
        return self.from_checked(parts=tuple(part._shifted(offset) for part in self.parts))
