"""Mixtures of asymmetric Laplace distributions, all components in one array."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, check
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.distributions.formulas import residual_anywhere
from aldsurv.distributions.numerics.backend import Array, as_like, is_numpy, namespace
from aldsurv.distributions.numerics.log_space import log_sum_exp, or_complement
from aldsurv.distributions.numerics.near_quantiles import near_quantiles
from aldsurv.distributions.numerics.squared_areas import falling, rising, squared_area
from aldsurv.distributions.support import SUPPORTS, Support, support_of
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MixedAsymmetricLaplace"]

FloatArray = NDArray[np.float64]

# Log survivals at which integrals over a mixture take a new start, in each component.
_LANDMARKS = [[math.log(0.5), math.log(1e-4)]]
# Sums of probabilities below this are taken of their logarithms.
_UNDERFLOW = 1e-290


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class MixedAsymmetricLaplace(SurvivalDistribution):
    """With probability ``weights`` the time follows each of K asymmetric Laplace distributions of one support.

    Survival, cdf, density, moments, restricted means and CRPS are exact sums. Between the places of its components the
    logarithm of the density (of log time, for support log) is convex, so that the mode is one of them. Quantiles come
    from a search for all rows at once.

    Parameters
    ----------
    theta, sigma, kappa
        Locations, scales and asymmetries: ``(K,)``, or ``(n, K)`` with one row per individual; or numbers.
    weights
        The same shapes, not negative; each row is divided by its sum. Equal weights by default.
    support
        ``"real"``, ``"positive"`` (each component given that the time is positive) or ``"log"`` (components of the
        logarithm of the time).

    Examples
    --------
    >>> d = MixedAsymmetricLaplace([2.0, 9.0], [0.5, 1.0], [1.0, 0.8], weights=[0.75, 0.25], support="positive")
    >>> d.median().round(3), d.mode()
    (array([2.144]), array([2.]))
    """

    theta: Array
    sigma: Array
    kappa: Array
    weights: Array
    support: str

    def __init__(self, theta: Any, sigma: Any, kappa: Any, weights: Any = None, *, support: str = "real") -> None:
        check("support", support, Choice(tuple(SUPPORTS)))
        given = {"theta": theta, "sigma": sigma, "kappa": kappa, "weights": 1.0 if weights is None else weights}
        columns = _same_shape({name: _two_axes(value, name) for name, value in given.items()})
        for name, column in columns.items():
            _require(column, name)
        weights = columns["weights"]
        columns["weights"] = weights / namespace(weights).sum(weights, axis=1, keepdims=True)
        for name, column in columns.items():
            object.__setattr__(self, name, column)
        object.__setattr__(self, "support", support)

    def __repr__(self) -> str:
        return f"MixedAsymmetricLaplace(n={len(self)}, components={self._count}, support={self.support!r})"

    @property
    def components(self) -> tuple[SurvivalDistribution, ...]:
        """The distribution of each component."""
        family = self._support.family
        return tuple(
            family.from_checked(
                theta=self.theta[:, k, None], sigma=self.sigma[:, k, None], kappa=self.kappa[:, k, None]
            )
            for k in range(self._count)
        )

    @staticmethod
    def joined(parts: Sequence[MixedAsymmetricLaplace]) -> MixedAsymmetricLaplace:
        """The mixture, with equal weights, of mixtures for the same individuals, as one flat mixture."""
        xp = namespace(parts[0].theta)
        columns = {
            name: xp.concat([getattr(part, name) for part in parts], axis=1)
            for name in ("theta", "sigma", "kappa", "weights")
        }
        columns["weights"] = columns["weights"] / len(parts)
        return MixedAsymmetricLaplace.from_checked(**columns, support=parts[0].support)

    @staticmethod
    def of_members(columns: Mapping[str, FloatArray], support: str) -> MixedAsymmetricLaplace:
        """The same of checked parameters (members, n, K) by name; one that is the same for all is (members, 1, K)."""
        members, n, count = columns["weights"].shape

        def flat(values: FloatArray) -> FloatArray:
            # Component by component, as they were computed: no copy.
            by_component = np.broadcast_to(values, (members, n, count)).swapaxes(1, 2)
            return np.asarray(by_component.reshape(members * count, n).T)

        fields = {name: flat(values) for name, values in columns.items()}
        fields["weights"] = fields["weights"] / members
        return MixedAsymmetricLaplace.from_checked(**fields, support=support)

    @staticmethod
    def collected(parts: Iterable[MixedAsymmetricLaplace], rows: int) -> MixedAsymmetricLaplace:
        """One mixture with the rows of all parts, so many together, of which each is let go before the next is made.

        A parameter that a part has once for all of its rows is the same in every part.
        """
        parts = iter(parts)
        first = next(parts)
        columns: dict[str, FloatArray] = {}
        for name in ("theta", "sigma", "kappa", "weights"):
            values = getattr(first, name)
            once = len(first) > 1 and values.strides[0] == 0
            # Room for columns that are each in one piece of memory.
            room = np.empty((values.shape[1], rows)).T
            columns[name] = np.broadcast_to(values[:1], room.shape) if once else room
        start = 0
        for part in chain([first], parts):
            for name, column in columns.items():
                if column.flags.writeable:
                    column[start : start + len(part)] = getattr(part, name)
            start += len(part)
        return MixedAsymmetricLaplace.from_checked(**columns, support=first.support)

    @staticmethod
    def of_components(parts: Sequence[SurvivalDistribution], weights: Array) -> MixedAsymmetricLaplace | None:
        """The mixture of asymmetric Laplace distributions, or of mixtures of them, of one support; None of others."""
        supports = {_support_name(part) for part in parts}
        support = supports.pop()
        if supports or support is None:
            return None
        xp = namespace(weights)
        one = xp.ones_like(weights[:, :1])
        own = [part.weights if isinstance(part, MixedAsymmetricLaplace) else one for part in parts]
        columns = {
            name: xp.concat([getattr(part, name) for part in parts], axis=1) for name in ("theta", "sigma", "kappa")
        }
        shares = [weights[:, k : k + 1] * share for k, share in enumerate(own)]
        return MixedAsymmetricLaplace.from_checked(**columns, weights=xp.concat(shares, axis=1), support=support)

    @property
    def _support(self) -> Support:
        return SUPPORTS[self.support]

    @property
    def _count(self) -> int:
        return int(self.theta.shape[1])

    @property
    def _column(self) -> Array:
        return self.theta

    def _evaluate(self, formula: Any, *, cost: int = 1, **arguments: Any) -> Array:
        return super()._evaluate(formula, cost=max(cost, self._count), **arguments)

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(
            theta=change(self.theta),
            sigma=change(self.sigma),
            kappa=change(self.kappa),
            weights=change(self.weights),
            support=self.support,
        )

    def _join(self, others: Sequence[Self]) -> Self:
        if any(other._count != self._count or other.support != self.support for other in others):
            raise ParameterError("only mixtures of as many components and of the same support can be joined.")
        xp = namespace(self.theta)
        # Each component stays, or becomes, one piece of memory.
        columns = {
            name: xp.concat([getattr(part, name).T for part in (self, *others)], axis=1).T
            for name in ("theta", "sigma", "kappa", "weights")
        }
        return self.from_checked(**columns, support=self.support)

    # ---- all components as the rows of one distribution, n times K of them -------------------------------

    def _stack(self) -> Parametric:
        xp = namespace(self.theta)
        columns = {name: xp.reshape(getattr(self, name), (-1, 1)) for name in ("theta", "sigma", "kappa")}
        return self._support.family.from_checked(**columns)

    def _each(self, formula: Callable[..., Array], *arguments: Array) -> Array:
        """Values (n, K, m) of a formula of the stack at times (1 or n, m)."""
        xp, n, k = namespace(self.theta), len(self), self._count
        rows = [
            t if t.shape[0] == 1 else xp.reshape(xp.broadcast_to(t[:, None, :], (n, k, t.shape[1])), (n * k, -1))
            for t in arguments
        ]
        values = formula(self._stack(), *rows)
        return xp.reshape(values, (n, k, values.shape[1]))

    def _sum(self, formula: Callable[..., Array], *arguments: Array) -> Array:
        """Weighted sum; a component of weight 0 does not count, even if infinite."""
        xp, values = namespace(self.theta), self._each(formula, *arguments)
        if is_numpy(xp) and bool((self.weights > 0).all()):
            return np.asarray((self.weights[:, None, :] @ values)[:, 0, :])
        weights = self.weights[..., None]
        return xp.sum(weights * xp.where(weights > 0, values, xp.zeros_like(values)), axis=1)

    def _weighted(self, formula: Callable[..., Array], t: Array) -> Array:
        """`_sum` of a formula whose values depend on each parameter and time alone."""
        if not is_numpy(namespace(self.theta)) or not bool((self.weights > 0).all()):
            return self._sum(formula, t)
        # Times, components, rows: the longest axis is the last one, which numpy walks through fastest.
        components = self._support.family.from_checked(theta=self.theta.T, sigma=self.sigma.T, kappa=self.kappa.T)
        values = formula(components, t.T[:, None, :])
        return _sum_in_pairs(values * self.weights.T).T

    def _log_sum(self, formula: Callable[..., Array], *arguments: Array) -> Array:
        xp, values = namespace(self.theta), self._each(formula, *arguments)
        some = self.weights[..., None] > 0
        weights = xp.log(xp.where(some, self.weights[..., None], xp.ones_like(self.weights[..., None])))
        values = xp.where(some, values, xp.zeros_like(values)) + weights
        return log_sum_exp(xp.where(some, values, xp.full_like(values, -math.inf)), axis=1)

    # ---- what every family provides ----------------------------------------------------------------------

    def _survival(self, t: Array) -> Array:
        return namespace(t).clip(self._weighted(lambda d, t: d._survival(t), t), None, 1.0)

    def _cdf(self, t: Array) -> Array:
        return namespace(t).clip(self._weighted(lambda d, t: d._cdf(t), t), None, 1.0)

    def _density(self, t: Array) -> Array:
        return self._weighted(lambda d, t: d._density(t), t)

    def _log_survival(self, t: Array) -> Array:
        return self._log_tail(t, above=True)

    def _log_cdf(self, t: Array) -> Array:
        return self._log_tail(t, above=False)

    def _log_tail(self, t: Array, *, above: bool) -> Array:
        xp = namespace(self.theta)
        if is_numpy(xp):
            # Sums of probabilities keep all digits unless they underflow, at a fraction of the cost.
            wanted, other = (self._survival(t), self._cdf(t)) if above else (self._cdf(t), self._survival(t))
            if bool((wanted > _UNDERFLOW).all()):
                return np.where(other < 0.5, np.log1p(-other), np.log(wanted))
        log_survival = self._log_sum(lambda d, t: d._log_survival(t), t)
        log_cdf = self._log_sum(lambda d, t: d._log_cdf(t), t)
        return or_complement(log_survival, log_cdf) if above else or_complement(log_cdf, log_survival)

    def _log_density(self, t: Array) -> Array:
        if is_numpy(namespace(self.theta)):
            density = self._density(t)
            if bool(((density > _UNDERFLOW) & (density < math.inf)).all()):
                return np.asarray(np.log(density))
        return self._log_sum(lambda d, t: d._log_density(t), t)

    def _log_probability(self, lower: Array, upper: Array) -> Array:
        return self._log_sum(lambda d, a, b: d._log_probability(a, b), lower, upper)

    def _bracket(self, log_survival: Array) -> tuple[Array, Array]:
        return self._around(log_survival)

    def _first_guess(self, log_survival: Array, low: Array, high: Array) -> Array:
        if not is_numpy(namespace(self.theta)):
            return super()._first_guess(log_survival, low, high)
        survivals = falling(self.theta, self.sigma, self.kappa, self.weights, self._support)
        times = near_quantiles(survivals, np.broadcast_to(log_survival, low.shape))
        times = np.exp(times) if self._support.of_log_time else times
        return np.where(np.isfinite(times), times, super()._first_guess(log_survival, low, high))

    def _around(self, log_survival: Array) -> tuple[Array, Array]:
        # The mixture's quantile lies between those of its components.
        xp, some = namespace(self.theta), self.weights[..., None] > 0
        times = self._each(lambda d, s: d._inverse_log_survival(s), log_survival)
        low = xp.min(xp.where(some, times, xp.full_like(times, math.inf)), axis=1)
        return low, xp.max(xp.where(some, times, xp.full_like(times, -math.inf)), axis=1)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(self.theta)
        log_survival = self._log_survival(start)
        gone = log_survival == -math.inf
        reference = xp.where(gone, xp.zeros_like(log_survival), log_survival)[:, None, :]
        # Who is still event-free at the start is mixed again: components that live longer weigh more.
        each = self._each(lambda d, t: d._log_survival(t), start)
        share = self.weights[..., None] * xp.exp(each - reference)
        residual = self._each(residual_anywhere, start, stop)
        counts = (share > 0) & (residual < math.inf)
        total = xp.sum(share * xp.where(counts, residual, xp.zeros_like(residual)), axis=1)
        # The shares add up to one except for rounding, which grows with the logarithms.
        whole = xp.sum(share, axis=1)
        mean = total / xp.where(gone, xp.ones_like(whole), whole)
        # Infinite only now: a zero gradient times an infinite factor would not be zero.
        endless = xp.any((share > 0) & (residual == math.inf), axis=1)
        return xp.where(endless, xp.full_like(mean, math.inf), mean)

    def _mean(self) -> Array:
        return self._sum(lambda d: d._mean())

    def _variance(self) -> Array:
        xp = namespace(self.theta)
        mean = self._mean()
        endless = ~xp.isfinite(mean)
        center = xp.where(endless, xp.zeros_like(mean), mean)
        variance = self._sum(lambda d, c: d._variance() + (d._mean() - c) ** 2, center)
        return xp.where(endless, xp.full_like(mean, math.inf), variance)

    def _crps(self, lower: Array, upper: Array) -> Array:
        return self.crps_until(lower, upper, None)

    def crps_until(self, lower: Array, upper: Array, horizon: Array | None) -> Array:
        """``∫ F² dt`` up to lower plus ``∫ S² dt`` from upper to the horizon, which is not before them, or for ever."""
        xp, columns = namespace(self.theta), (self.theta, self.sigma, self.kappa, self.weights)
        if self._support.of_log_time:
            lower, upper, horizon = (None if t is None else self._log_time(t) for t in (lower, upper, horizon))
        before = squared_area(rising(*columns, self._support), lower + xp.zeros_like(self.theta[:, :1]))
        until = None if horizon is None else -horizon
        return before + squared_area(falling(*columns, self._support), -upper + xp.zeros_like(self.theta[:, :1]), until)

    def _log_time(self, t: Array) -> Array:
        """Logarithms; minus infinity stays, and 0 has that of the smallest positive number."""
        xp = namespace(t)
        least = float(xp.finfo(t.dtype).smallest_normal)
        return xp.where(t == -math.inf, t, xp.log(xp.clip(t, least, None)))

    def _crps_cost(self) -> int:
        return self._count * (self._count + 1)

    def _mode(self) -> Array:
        xp = namespace(self.theta)
        places = self._each(lambda d: d._kinks())[..., 0]
        lower = self._lower()
        places = xp.concat([lower, places], axis=1) if self._support.from_zero else places
        best = xp.argmax(self._log_density(places), axis=1)[:, None]
        return xp.take_along_axis(places, best, axis=1)

    def _lower(self) -> Array:
        return self._support.family._lower(self.components[0])

    def _kinks(self) -> Array:
        # Beside the components' own kinks: where most of each has passed, since a narrow component is a sharp feature
        # on the scale of a wide one.
        xp = namespace(self.theta)
        landmarks = self._each(lambda d, s: d._inverse_log_survival(s), as_like(_LANDMARKS, self.theta))
        peaks = self._each(lambda d: d._kinks())
        kinks = xp.reshape(xp.concat([peaks, landmarks], axis=2), (len(self), -1))
        return xp.where(xp.isfinite(kinks), kinks, xp.zeros_like(kinks))

    def scaled(self, factor: Any) -> MixedAsymmetricLaplace:
        """Distribution of ``factor · T``, which is a mixture on the same support."""
        return cast(MixedAsymmetricLaplace, super().scaled(factor))

    def _scaled(self, factor: Array) -> MixedAsymmetricLaplace:
        return self._moved(lambda component: component._scaled(factor), 0 * factor)

    def _shifted(self, offset: Array) -> SurvivalDistribution:
        if self._support.from_zero:
            return super()._shifted(offset)
        return self._moved(lambda component: component._shifted(offset), 0 * offset)

    def _moved(self, change: Callable[[Any], Any], zero: Array) -> MixedAsymmetricLaplace:
        # Parameters of a component change number by number, those of all components as well.
        whole = self._support.family.from_checked(theta=self.theta, sigma=self.sigma, kappa=self.kappa)
        moved, kappa, weights = change(whole), self.kappa, self.weights
        if zero.shape[0] != 1:
            kappa, weights = kappa + zero, weights + zero
        return self.from_checked(
            theta=moved.theta, sigma=moved.sigma, kappa=kappa, weights=weights, support=self.support
        )


def _sum_in_pairs(values: FloatArray) -> FloatArray:
    """Sums (m, n) over the components of values (m, K, n), which are overwritten.

    Added one after the other, as numpy does along an axis in the middle, the error would grow with their number, and a
    search for a quantile to the last digit would take more steps.
    """
    count = values.shape[1]
    while count > 1:
        half = count // 2
        values[:, :half] += values[:, count - half : count]
        count -= half
    return values[:, 0]


def _support_name(part: SurvivalDistribution) -> str | None:
    """Support of an asymmetric Laplace distribution or of a mixture of such; None of anything else."""
    if isinstance(part, MixedAsymmetricLaplace):
        return part.support
    single = support_of(type(part))
    return None if single is None else single.name


def _two_axes(value: Any, name: str) -> Array:
    """``value`` as (1 or n, 1 or K): float64 on numpy, the tensor's own precision on torch."""
    xp = namespace(value)
    if is_numpy(xp):
        try:
            array: Array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ParameterError(f"{name} must be numbers, but is {value!r:.60} ({error}).") from None
    else:
        array = value if xp.isdtype(value.dtype, "real floating") else xp.astype(value, xp.float64)
    if array.ndim > 2:
        raise ParameterError(f"{name} must have shape (K,) or (n, K), but has {tuple(array.shape)}.")
    return xp.reshape(array, (1, -1)) if array.ndim < 2 else array


def _same_shape(columns: dict[str, Array]) -> dict[str, Array]:
    tensors = [column for column in columns.values() if not is_numpy(namespace(column))]
    if tensors:
        columns = {name: as_like(column, tensors[0]) for name, column in columns.items()}
    shapes = [tuple(column.shape) for column in columns.values()]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(f"{name} {shape}" for name, shape in zip(columns, shapes, strict=True))
        raise ParameterError(f"parameters must have one shape (n, K), but they differ: {shown}.") from None
    if shape[1] == 0:
        raise ParameterError("a mixture needs at least one component, but got none.")
    xp = namespace(next(iter(columns.values())))
    return {name: xp.broadcast_to(column, shape) for name, column in columns.items()}


def _require(column: Array, name: str) -> None:
    xp = namespace(column)
    rules = {"theta": "finite", "weights": "finite and not negative, and not all zero in any row"}
    good = xp.isfinite(column)
    if name in ("sigma", "kappa"):
        good = good & (column > 0)
    elif name == "weights":
        good = good & (column >= 0) & (xp.sum(column, axis=1, keepdims=True) > 0)
    count = math.prod(good.shape) - int(xp.sum(xp.astype(good, xp.int64)))
    if count:
        rule = rules.get(name, "positive and finite")
        raise ParameterError(f"{name} must be {rule}, but {count} of {math.prod(good.shape)} values are not.")
