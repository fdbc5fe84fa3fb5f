"""Time cut into bins: where the bins end, where rows lie in them, and how likely each bin is without covariates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.nonparametric.kaplan_meier import kaplan_meier

__all__ = ["bin_ends", "bins_passed", "marginal_chances", "places", "require_right_censored"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def require_right_censored(data: SurvivalData, owner: str) -> None:
    """Raise `DataError` unless all rows are exact or right-censored."""
    other = ~(data.exact | data.right_censored)
    if other.any():
        row = int(np.argmax(other))
        raise DataError(
            f"{owner} learns from exact and right-censored rows only, but {np.count_nonzero(other)} of {len(data)} are "
            f"left- or interval-censored (first: row {row}, ({data.lower[row]:g}, {data.upper[row]:g}]). "
            "Leave them out by data[data.exact | data.right_censored], or use ALDSurvival, which takes them."
        )


def bin_ends(data: SurvivalData, count: int, scheme: str) -> FloatArray:
    """Ends (count,) of bins that begin at time 0, ascending; the last holds the last event.

    Parameters
    ----------
    data
        Exact and right-censored rows; those without weight do not count.
    count
        Number of bins.
    scheme
        ``"equidistant"``: bins of one width, up to the largest time. ``"quantile"``: about as many events in each, by
        the Kaplan-Meier estimate, up to the last event; bins that ties leave too few are made up by halving the widest.
    """
    rows = data[data.weights > 0]
    largest = float(rows.time.max()) if rows.time.max() > 0 else 1.0
    if scheme == "equidistant":
        return np.linspace(0.0, largest, count + 1)[1:]
    # Who enters late, or has a weight, is not weighed here: the grid need not be exact, and an early risk set of
    # a few must not use up all levels.
    curve = kaplan_meier(SurvivalData.right(rows.time, rows.event))
    levels = 1 - (1 - curve.survival[-1]) * np.arange(1, count + 1) / count
    reached = np.searchsorted(-curve.survival, -levels - 1e-12, side="left")
    ends = np.unique(curve.times[np.minimum(reached, len(curve.times) - 1)])
    last = float(rows.time[rows.event].max(initial=0.0))
    ends = np.unique(np.append(ends[(ends > 0) & (ends < last)], last if last > 0 else largest))
    while len(ends) < count:
        edges = np.append(0.0, ends)
        widest = int(np.argmax(np.diff(edges)))
        ends = np.insert(ends, widest, (edges[widest] + edges[widest + 1]) / 2)
    return ends


def bins_passed(times: FloatArray, ends: FloatArray, *, in_part: bool) -> FloatArray:
    """How many bins lie before each time; `in_part` counts the share passed of the bin in which it lies."""
    whole = np.searchsorted(ends, times, side="right")
    if not in_part:
        return whole.astype(np.float64)
    edges = np.concatenate([[0.0], ends, [np.inf]])
    width = edges[whole + 1] - edges[whole]
    found: FloatArray = whole + np.maximum(times - edges[whole], 0.0) / width
    # Rounding must not lift a time over the end of its bin.
    return np.minimum(found, whole + np.where(whole < len(ends), 1 - 1e-6, 0.0))


def places(data: SurvivalData, ends: FloatArray, *, in_part: bool) -> tuple[FloatArray, FloatArray | None]:
    """Where each row lies (n,): the bin of an event, the bins passed by a censored row; and the bins passed at entry.

    An event lies in the bin that ends at or after it. A censored row is known to have passed the bins that end at or
    before its time, and, `in_part`, a share of the next: what it passed of it is not thrown away. An entry is always
    taken in part: as if at risk for the whole of the bin in which they enter, subjects would look too healthy.
    """
    event_bin = np.minimum(np.searchsorted(ends, data.time, side="left"), len(ends) - 1)
    place = np.where(data.event, event_bin, bins_passed(data.time, ends, in_part=in_part))
    if data.entry is None:
        return place, None
    entered = bins_passed(np.maximum(data.entry, 0.0), ends, in_part=True)
    # Rounded down, a censored time must not come to lie before the entry.
    return np.where(data.event, place, np.maximum(place, entered)), entered


def marginal_chances(
    place: FloatArray,
    cause: IntArray,
    weight: FloatArray | None,
    entered: FloatArray | None,
    *,
    causes: int,
    bins: int,
) -> FloatArray:
    """Probability of each cause and bin (causes, bins) without covariates: Aalen-Johansen on the bins, a little evened.

    No probability is 0, nor is what is left after the last bin: their logarithms are where a network starts.
    """
    weight = np.ones(len(place)) if weight is None else weight
    event = cause > 0
    edges = np.arange(bins)
    own = np.where(event, (cause - 1) * bins + place.astype(np.int64), 0)
    deaths = np.bincount(own[event], weight[event], causes * bins).reshape(causes, bins)
    # Time at risk in each bin, in bins; an event is at risk for the whole of its own.
    until = np.where(event, np.floor(place) + 1, place)
    since = np.zeros(len(place)) if entered is None else entered
    at_risk = np.array([(weight * np.clip(np.minimum(until, b + 1) - np.maximum(since, b), 0, 1)).sum() for b in edges])
    hazard = np.minimum(deaths.sum(axis=0) / np.maximum(at_risk, 1e-12), 1.0)
    survival = np.cumprod(np.append(1.0, 1 - hazard))
    shares = deaths / np.maximum(deaths.sum(axis=0), 1e-12)
    chances = survival[:-1] * hazard * shares
    total = chances.sum()
    even = deaths.sum(axis=1, keepdims=True) + 1.0
    even = np.broadcast_to(even / (even.sum() * bins), chances.shape)
    mixed = 0.95 * chances + 0.05 * max(total, 1e-3) * even
    after = max(1 - total, 0.5 / len(place))
    return np.asarray(mixed / (mixed.sum() + after))
