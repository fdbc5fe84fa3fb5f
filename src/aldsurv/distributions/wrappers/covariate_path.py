"""Distributions along a path of covariates that change in time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.data.persons import episode_order, starts_of
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.formulas import residual_anywhere
from aldsurv.distributions.numerics.backend import Array, as_like, namespace
from aldsurv.distributions.numerics.log_space import log1mexp
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.data.survival_data import SurvivalData

__all__ = ["CovariatePath", "along_paths", "path_of_rows"]

# Share of the values up to which it pays to gather the rows and arguments of those that are needed.
_FEW = 0.25

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class CovariatePath(SurvivalDistribution):
    """One distribution after the other: in each episode the hazard is that of the distribution in force.

    ``H(t)`` is the sum over episodes of ``H_k(min(t, end of k)) - H_k(start of k)``. The last distribution goes on for
    ever.

    Parameters
    ----------
    parts
        The distribution of each episode, of the same individuals.
    starts
        ``(k,)`` or ``(n, k)``, never falling: when each episode begins, which is when the one before ends. The first
        may be ``-inf``: from the start; else what comes out is given survival to it. An individual with fewer episodes
        has ``inf`` for those it does not have.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> path = CovariatePath([Exponential(10.0), Exponential(2.0)], [0.0, 5.0])
    >>> path.cumulative_hazard([5.0, 7.0])
    array([[0.5, 1.5]])
    >>> path.quantile(1 - np.exp(-1.5))
    array([7.])
    """

    parts: tuple[SurvivalDistribution, ...]
    starts: Array

    def __init__(self, parts: Sequence[SurvivalDistribution], starts: Any) -> None:
        parts = tuple(parts)
        if not parts:
            raise ParameterError("a path needs at least one distribution, but got none.", argument="parts")
        lengths = {len(part) for part in parts}
        if len(lengths) > 1:
            raise ParameterError(f"parts must have the same rows, but have {sorted(lengths)} of them.")
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "starts", _checked_starts(starts, parts))

    def __repr__(self) -> str:
        families = ", ".join(dict.fromkeys(type(part).__name__ for part in self.parts))
        return f"CovariatePath(n={len(self)}, episodes={len(self.parts)}, of {families})"

    @property
    def _column(self) -> Array:
        return self.starts

    def _map_rows(self, change: Callable[[Array], Array]) -> Self:
        return self.from_checked(parts=tuple(part._map_rows(change) for part in self.parts), starts=change(self.starts))

    def _join(self, others: Sequence[Self]) -> Self:
        paths: list[CovariatePath] = [self, *others]
        most = max(len(path.parts) for path in paths)
        xp = namespace(self.starts)
        columns = [[*path.parts, *[path.parts[-1]] * (most - len(path.parts))] for path in paths]
        starts = []
        for path in paths:
            never = xp.full_like(path.starts[:, :1], math.inf)
            starts.append(xp.concat([path.starts, *[never] * (most - len(path.parts))], axis=1))
        return self.from_checked(
            parts=tuple(SurvivalDistribution.concatenate(parts) for parts in zip(*columns, strict=True)),
            starts=xp.concat(starts, axis=0),
        )

    def _episodes(self) -> Iterator[tuple[SurvivalDistribution, Array, Array]]:
        """Each distribution with columns of the times between which it is in force."""
        never = namespace(self.starts).full_like(self.starts[:, :1], math.inf)
        for k, part in enumerate(self.parts):
            stop = self.starts[:, k + 1 : k + 2] if k + 1 < len(self.parts) else never
            yield part, self.starts[:, k : k + 1], stop

    def _log_survival(self, t: Array) -> Array:
        return self._log_survival_ratio(t, namespace(t).full_like(self.starts[:, :1], -math.inf))

    def _log_survival_ratio(self, t: Array, since: Array) -> Array:
        xp = namespace(t)
        t, since = xp.broadcast_arrays(t + xp.zeros_like(self.starts[:, :1]), since)
        total = xp.zeros_like(t)
        for part, start, stop in self._episodes():
            if not bool(xp.any(t > start)):
                break
            # Episodes that are passed from beginning to end cost one value per row, whatever the number of times.
            whole = (since <= start) & (t >= stop) & (stop < math.inf)
            passed = xp.where(whole, _log_passed(part, start, stop), xp.zeros_like(total))
            some = (t > start) & (since < stop) & (t > since) & ~whole
            total = total + passed + _where(some, _log_ratio, part, xp.minimum(t, stop), xp.maximum(since, start))
        return total

    def _log_cdf(self, t: Array) -> Array:
        return log1mexp(self._log_survival(t))

    def _log_density(self, t: Array) -> Array:
        xp = namespace(t)
        before, density = xp.zeros_like(self.starts[:, :1]), xp.full_like(t + self.starts[:, :1], -math.inf)
        for k, (part, start, stop) in enumerate(self._episodes()):
            inside = (t <= stop) & ((t >= start) if k == 0 else (t > start))
            safe = xp.where(inside, t, _finite(start))
            here = _where(inside, lambda rows, t: rows._log_density(t), part, safe) - _log_survival_at(part, start)
            density = xp.where(inside, before + here, density)
            before = before + _log_passed(part, start, stop)
        return density

    def _inverse_log_survival(self, log_survival: Array) -> Array:
        xp = namespace(log_survival)
        before = xp.zeros_like(self.starts[:, :1])
        times = xp.full_like(log_survival + before, math.inf)
        settled = xp.zeros_like(times, dtype=xp.bool)
        for k, (part, start, stop) in enumerate(self._episodes()):
            after = before + _log_passed(part, start, stop)
            last = (stop == math.inf) | (k + 1 == len(self.parts))
            here = ~settled & ((after <= log_survival) | last)
            left = _log_survival_at(part, start)
            gone = left == -math.inf
            since = xp.where(here & ~gone, log_survival - before + xp.where(gone, xp.zeros_like(left), left), -1.0)
            found = _where(here, lambda rows, level: rows._inverse_log_survival(level), part, xp.clip(since, None, 0.0))
            found = xp.where(gone, start, xp.minimum(xp.maximum(found, start), stop))
            times = xp.where(here, found, times)
            settled = settled | here
            before = after
            if bool(xp.all(settled)):
                break
        return times

    def approximate_restricted_mean(self, horizon: float) -> Array:
        """Survival times Gauss's weights: the areas of all episodes would take a quadrature of each."""
        xp = namespace(self._column)
        survival = self.survival(horizon * as_like((_NODES + 1) / 2, self._column))
        return horizon / 2 * xp.sum(survival * as_like(_NODE_WEIGHTS, self._column), axis=-1)

    def _residual(self, start: Array, stop: Array) -> Array:
        xp = namespace(start)
        total = xp.zeros_like(start + stop + self.starts[:, :1])
        # Log survival from the start, or from the beginning of the path, to the beginning of the episode.
        passed = xp.zeros_like(total)
        for part, begin, end in self._episodes():
            low, high = xp.maximum(start, begin), xp.minimum(stop, end)
            some = (low < high) & xp.isfinite(low) & (passed > -math.inf)
            low, high = xp.where(some, low, xp.zeros_like(low)), xp.where(some, high, xp.zeros_like(high))
            if bool(xp.any(some)):
                area = _where(some, residual_anywhere, part, low, high)
                total = total + xp.where(some, xp.exp(passed) * area, xp.zeros_like(total))
            ends = xp.where(end == math.inf, begin, end)
            passed = passed + _log_ratio(part, xp.maximum(ends, start), xp.maximum(start, begin))
        return total

    def _mean(self) -> Array:
        xp, lower = namespace(self.starts), self._lower()
        if not bool(xp.all(xp.isfinite(lower))):
            return super()._mean()
        return lower + residual_anywhere(self, lower, xp.full_like(lower, math.inf))

    def _places(self) -> Array:
        # The density jumps where an episode begins, and may be highest just after.
        xp = namespace(self.starts)
        return xp.concat([super()._places(), _after(self._kinks())], axis=-1)

    def _lower(self) -> Array:
        xp = namespace(self.starts)
        bounds = [xp.minimum(xp.maximum(part._lower(), start), stop) for part, start, stop in self._episodes()]
        return reduce(xp.minimum, bounds)

    def _kinks(self) -> Array:
        xp = namespace(self.starts)
        found = []
        for part, start, stop in self._episodes():
            found += [start, xp.minimum(xp.maximum(part._kinks(), start), stop)]
        kinks = xp.concat(found, axis=1)
        return xp.where(xp.isfinite(kinks), kinks, xp.zeros_like(kinks))

    def _quadrature_cost(self) -> int:
        return len(self.parts) * max(part._quadrature_cost() for part in self.parts)

    def _scaled(self, factor: Array) -> CovariatePath:
        return self.from_checked(parts=tuple(part._scaled(factor) for part in self.parts), starts=self.starts * factor)

    def _shifted(self, offset: Array) -> CovariatePath:
        return self.from_checked(parts=tuple(part._shifted(offset) for part in self.parts), starts=self.starts + offset)


def path_of_rows(predicted: SurvivalDistribution, rows: Any, first: Any, last: Any, start: Any) -> SurvivalDistribution:
    """The distribution along each person's path, from those of its episodes.

    Parameters
    ----------
    predicted
        A row for each episode.
    rows, first, last
        As in `aldsurv.data.persons.EpisodeOrder`.
    start
        Start of each episode; a first one of 0 is from the start.
    """
    counts = last - first + 1
    most = int(counts.max(initial=1))
    place = np.arange(most)
    inside = place < counts[:, None]
    chosen = rows[first[:, None] + np.minimum(place, counts[:, None] - 1)]
    starts = np.where(inside, start[chosen], np.inf)
    starts[:, 0] = np.where(starts[:, 0] > 0, starts[:, 0], -np.inf)
    parts = [predicted[chosen[:, k]] for k in range(most)]
    if most == 1 and not np.isfinite(starts).any():
        return parts[0]
    return CovariatePath(parts, starts)


def along_paths(predicted: SurvivalDistribution, data: SurvivalData) -> tuple[SurvivalDistribution, SurvivalData]:
    """Predictions and data with one row per person; both as they are unless the rows are episodes.

    Parameters
    ----------
    predicted
        What was predicted for each row of `data`.
    data
        The rows as observed.
    """
    if data.person is None:
        return predicted, data
    order = episode_order(data)
    return path_of_rows(predicted, order.rows, order.first, order.last, starts_of(data)), data.persons()


def _where(some: Array, formula: Callable[..., Array], part: SurvivalDistribution, *arguments: Array) -> Array:
    """A formula of a distribution at arguments (n, m) where `some` is True, else 0; few of them are gathered first.

    Every time lies in one episode, so that many episodes cost little more than one.
    """
    xp = namespace(some)
    full = xp.broadcast_arrays(some, *arguments)
    some, given = full[0], full[1:]
    rows, columns = xp.nonzero(some)
    count, size = int(rows.shape[0]), math.prod(some.shape)
    if count > _FEW * size:
        return xp.where(some, formula(part, *given), xp.zeros_like(given[0]))
    values = xp.zeros_like(given[0])
    if count:
        chosen = part._map_rows(lambda array: array[rows])
        values[rows, columns] = formula(chosen, *(one[rows, columns][:, None] for one in given))[:, 0]
    return values


def _log_ratio(part: SurvivalDistribution, t: Array, since: Array) -> Array:
    """``log S(t)/S(since)``, 0 where `t` is not after `since`; -inf where no one is left at `since`."""
    xp = namespace(t)
    since, t = xp.broadcast_arrays(since, t)
    after = t > since
    begin = xp.where(xp.isfinite(since), since, xp.where(xp.isfinite(t), t, xp.zeros_like(t)))
    end, whole = xp.where(after, t, begin), since == -math.inf
    if bool(xp.all(whole)):
        return xp.where(after, part._log_survival(end), xp.zeros_like(end))
    gone = (part._log_survival(begin) == -math.inf) & ~whole
    ratio = part._log_survival_ratio(end, xp.where(whole | gone, end, begin))
    if bool(xp.any(whole)):
        ratio = xp.where(whole, part._log_survival(end), ratio)
    ratio = xp.where(gone, xp.full_like(ratio, -math.inf), ratio)
    return xp.where(after, ratio, xp.zeros_like(ratio))


def _log_passed(part: SurvivalDistribution, start: Array, stop: Array) -> Array:
    """``log S(stop)/S(start)`` of an episode that ends, 0 of one that does not."""
    xp = namespace(start)
    return _log_ratio(part, xp.where(stop == math.inf, start, stop), start)


def _log_survival_at(part: SurvivalDistribution, start: Array) -> Array:
    """``log S(start)``; 0 for a path from the start, and for an episode that never comes."""
    xp = namespace(start)
    return xp.where(xp.isfinite(start), part._log_survival(_finite(start)), xp.zeros_like(start))


def _finite(start: Array) -> Array:
    xp = namespace(start)
    return xp.where(xp.isfinite(start), start, xp.zeros_like(start))


def _after(times: Array) -> Array:
    """The next larger numbers, or close to them."""
    xp = namespace(times)
    return times + 4 * float(xp.finfo(times.dtype).eps) * (xp.abs(times) + float(xp.finfo(times.dtype).tiny))


def _checked_starts(starts: Any, parts: tuple[SurvivalDistribution, ...]) -> Array:
    n, k = len(parts[0]), len(parts)
    table = parts[0]._as_array(starts, "starts")
    xp = namespace(table)
    table = table[None, :] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[0] not in (1, n) or table.shape[1] != k:
        raise ParameterError(
            f"starts must have shape ({k},) or ({n}, {k}) for {k} episodes, but has {tuple(table.shape)}.",
            argument="starts",
        )
    if not bool(xp.all(table[:, 1:] >= table[:, :-1])) or bool(xp.any(table[:, 0] == math.inf)):
        raise ParameterError(
            "starts must never fall from one episode to the next, and the first must be given.", argument="starts"
        )
    return xp.broadcast_to(table, (n, k))
