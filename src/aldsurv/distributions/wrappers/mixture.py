"""Mixtures of distributions: ensembles, and individuals with several ways for the event to come."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, final

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.formulas import residual_anywhere
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import log_sum_exp, or_complement
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace

__all__ = ["Mixture"]

# Log survivals at which integrals over a mixture take a new start, in each component.
_LANDMARKS = [[math.log(0.5), math.log(1e-4)]]


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Mixture(SurvivalDistribution):
    """With probability ``weights`` the time follows each of the components.

    Survival, cdf, density, moments and restricted means are exact sums; quantiles come from a root search, CRPS from
    quadrature (of asymmetric Laplace distributions of one support: from a closed form).

    Parameters
    ----------
    components
        Distributions of the same individuals, of any families.
    weights
        ``(k,)`` or ``(n, k)``, not negative; each row is divided by its sum. Equal weights by default.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> d = Mixture([Exponential(1.0), Exponential(9.0)], weights=[0.75, 0.25])
    >>> d.mean(), d.median().round(4)
    (array([3.]), array([0.9987]))
    """

    components: tuple[SurvivalDistribution, ...]
    weights: Array

    def __init__(self, components: Sequence[SurvivalDistribution], weights: Any = None) -> None:
        parts = tuple(components)
        if not parts:
            raise ParameterError("a mixture needs at least one component, but got none.")
        lengths = {len(part) for part in parts}
        if len(lengths) > 1:
            raise ParameterError(f"components must have the same rows, but have {sorted(lengths)} of them.")
        object.__setattr__(self, "components", parts)
        object.__setattr__(self, "weights", _normalised(weights, parts))

    def __repr__(self) -> str:
        families = ", ".join(dict.fromkeys(type(part).__name__ for part in self.components))
        return f"Mixture(n={len(self)}, components={len(self.components)}, of {families})"

    @property
    def _column(self) -> Array:
        return self.weights

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        parts = tuple(part._map_rows(change) for part in self.components)
        return self.from_checked(components=parts, weights=change(self.weights))

    def _join(self, others: Sequence[Self]) -> Self:
        if any(len(other.components) != len(self.components) for other in others):
            raise ParameterError("mixtures with different numbers of components cannot be joined.")
        all_parts = [self.components, *(other.components for other in others)]
        return self.from_checked(
            components=tuple(SurvivalDistribution.concatenate(parts) for parts in zip(*all_parts, strict=True)),
            weights=namespace(self.weights).concat([self.weights, *(other.weights for other in others)], axis=0),
        )

    def _sum(self, value: Callable[[SurvivalDistribution], Array]) -> Array:
        """Weighted sum of a value of each component; a component of weight 0 does not count, even if infinite."""
        xp = namespace(self.weights)
        total: Array = 0.0
        for k, part in enumerate(self.components):
            weight, term = self.weights[:, k : k + 1], value(part)
            some = weight > 0
            total = total + weight * xp.where(some, term, xp.zeros_like(term))
        return total

    def _log_sum(self, value: Callable[[SurvivalDistribution], Array]) -> Array:
        xp = namespace(self.weights)
        terms = []
        for k, part in enumerate(self.components):
            weight = self.weights[:, k : k + 1]
            some, term = weight > 0, value(part)
            log_weight = xp.log(xp.where(some, weight, xp.ones_like(weight)))
            # A component of weight 0 does not count, not even where its density is infinite.
            term = xp.where(some, term, xp.zeros_like(term)) + log_weight
            terms.append(xp.where(some, term, xp.full_like(term, -math.inf)))
        return log_sum_exp(xp.stack(xp.broadcast_arrays(*terms), axis=-1))

    def _log_tails(self, t: Array) -> tuple[Array, Array]:
        below = self._log_sum(lambda part: part._log_cdf(t))
        return self._log_sum(lambda part: part._log_survival(t)), below

    def _log_survival(self, t: Array) -> Array:
        # A sum of survivals near 1 would forget how near.
        return or_complement(*self._log_tails(t))

    def _log_cdf(self, t: Array) -> Array:
        return or_complement(*reversed(self._log_tails(t)))

    def _log_density(self, t: Array) -> Array:
        return self._log_sum(lambda part: part._log_density(t))

    def _survival(self, t: Array) -> Array:
        return namespace(t).clip(self._sum(lambda part: part._survival(t)), None, 1.0)

    def _cdf(self, t: Array) -> Array:
        return namespace(t).clip(self._sum(lambda part: part._cdf(t)), None, 1.0)

    def _density(self, t: Array) -> Array:
        return self._sum(lambda part: part._density(t))

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        return self._log_sum(lambda part: part._log_probability(lower, upper))

    def _bracket(self, log_survival: Array) -> tuple[Array, Array]:
        return self._around(log_survival)

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        # The mixture's quantile lies between those of its components.
        xp = namespace(log_survival)
        lows, highs = [], []
        for k, part in enumerate(self.components):
            low, high = part._around(log_survival)
            some = self.weights[:, k : k + 1] > 0
            lows.append(xp.where(some, low, xp.full_like(low, math.inf)))
            highs.append(xp.where(some, high, xp.full_like(high, -math.inf)))
        return reduce(xp.minimum, lows), reduce(xp.maximum, highs)

    def _places(self) -> Array:
        xp = namespace(self.weights)
        return xp.concat([*(part._places() for part in self.components), self._kinks()], axis=-1)

    def restricted_mean(self, horizon: Any) -> Array:
        """Expected event-free time within ``horizon``: the weighted sum of those of the components."""
        return self._weighted([part.restricted_mean(horizon) for part in self.components])

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """The weighted sum of those of the components."""
        return self._weighted([part.approximate_restricted_mean(horizon) for part in self.components])

    def _weighted(self, parts: Sequence[Array]) -> Array:
        """The weighted sum of one value or several values of each component."""
        weights = [self.weights[:, k] if part.ndim == 1 else self.weights[:, k : k + 1] for k, part in enumerate(parts)]
        return reduce(operator.add, [weight * part for weight, part in zip(weights, parts, strict=True)])

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.weights)
        log_survival = self._log_survival(start)
        gone = log_survival == -math.inf
        reference = xp.where(gone, xp.zeros_like(log_survival), log_survival)
        total: Array = 0.0
        whole: Array = 0.0
        for k, part in enumerate(self.components):
            # Who is still event-free at the start is mixed again: components that live longer weigh more.
            weight = self.weights[:, k : k + 1]
            share = weight * xp.exp(part._log_survival(start) - reference)
            residual = residual_anywhere(part, start, stop)
            total = total + share * xp.where(share > 0, residual, xp.zeros_like(residual))
            whole = whole + share
        # The shares add up to one except for rounding, which grows with the logarithms.
        return total / xp.where(gone, xp.ones_like(whole), whole)

    def _mean(self) -> Array:
        return self._sum(lambda part: part._mean())

    def _variance(self) -> Array:
        xp = namespace(self.weights)
        mean = self._mean()
        endless = ~xp.isfinite(mean)
        center = xp.where(endless, xp.zeros_like(mean), mean)
        variance = self._sum(lambda part: part._variance() + (part._mean() - center) ** 2)
        return xp.where(endless, xp.full_like(mean, math.inf), variance)

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        only = self.components[0] if len(self.components) == 1 else self._flat()
        return super()._inverse_log_survival(log_survival) if only is None else only._inverse_log_survival(log_survival)

    def _crps(self, lower: Array, upper: Array) -> Array:
        flat = self._flat()
        return super()._crps(lower, upper) if flat is None else flat._crps(lower, upper)

    def _quadrature_cost(self) -> int:
        return max(part._quadrature_cost() for part in self.components)

    def _crps_cost(self) -> int:
        flat = self._flat()
        return super()._crps_cost() if flat is None else flat._crps_cost()

    def _flat(self) -> MixedAsymmetricLaplace | None:
        """The same with all components in one array, if they are asymmetric Laplace distributions of one support."""
        from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace

        return MixedAsymmetricLaplace.of_components(self.components, self.weights)

    def _lower(self) -> Array:
        return reduce(namespace(self.weights).minimum, [part._lower() for part in self.components])

    def _kinks(self) -> Array:
        # Beside the components' own kinks: where the support of each begins, and where most of it has passed,
        # since a narrow component is a sharp feature on the scale of a wide one.
        xp = namespace(self.weights)
        found = []
        for part in self.components:
            bound = part._lower()
            levels = as_like(_LANDMARKS, self.weights) + xp.zeros_like(self.weights[:, :1])
            found += [part._kinks(), bound, part._inverse_log_survival(levels)]
        kinks = xp.concat(found, axis=1)
        return xp.where(xp.isfinite(kinks), kinks, xp.zeros_like(kinks))

    def _scaled(self, factor: Array) -> Mixture:
        parts = tuple(part._scaled(factor) for part in self.components)
        return self.from_checked(components=parts, weights=self.weights + 0 * factor)

    def _shifted(self, offset: Array) -> Mixture:
        parts = tuple(part._shifted(offset) for part in self.components)
        return self.from_checked(components=parts, weights=self.weights + 0 * offset)


def _normalised(weights: Any, parts: tuple[SurvivalDistribution, ...]) -> Array:
    n, k = len(parts[0]), len(parts)
    column = parts[0]._column[:, :1]
    xp = namespace(column)
    if weights is None:
        return xp.full_like(xp.broadcast_to(column, (n, k)), 1.0 / k)
    table = parts[0]._as_array(weights, "weights")
    table = table[None, :] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] not in (1, n) or table.shape[1] != k:
        raise ParameterError(
            f"weights must have shape ({k},) or ({n}, {k}) for {k} components, but has {tuple(table.shape)}."
        )
    total = xp.sum(table, axis=1, keepdims=True)
    if not bool(xp.all(table >= 0)) or not bool(xp.all((total > 0) & xp.isfinite(total))):
        raise ParameterError("weights must be finite and not negative, and not all zero in any row.")
    return xp.broadcast_to(table / total, (n, k))
