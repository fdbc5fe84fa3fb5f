"""The Kaplan-Meier estimate of survival, with delayed entry and weights, in one sort and linear passes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.display.frames import data_frame
from aldsurv.display.html import html_block, html_curves
from aldsurv.distributions.families.step import Step
from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Departures", "KaplanMeier", "departures", "kaplan_meier", "product_limit"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class KaplanMeier:
    """Survival as a product over the distinct times of events and censorings.

    Numbers of subjects are sums of their weights. The arrays are read-only.

    Parameters
    ----------
    times
        Distinct times (m,) of events and censorings, ascending.
    at_risk
        Number at risk at each time: those with ``entry < t <= time``.
    events, censored
        Number that had the event, or were censored, at each time.
    survival
        Estimate at each time, to be held until the next; exactly 0 once all at risk have had the event.
    greenwood
        Estimated variance of the logarithm of survival, the running sum of ``d/(n(n - d))``. A time at which
        all at risk have the event adds nothing: survival is 0 from there on, its logarithm has no variance.
    entry_times, entered
        Distinct positive times of delayed entry and the number that entered at each; may be empty.

    Examples
    --------
    >>> curve = kaplan_meier(SurvivalData.right([1, 2, 2, 4, 5], [1, 1, 0, 1, 0]))
    >>> curve.survival
    array([0.8, 0.6, 0.3, 0.3])
    >>> curve.at_risk_at([0, 2, 3])
    array([5., 4., 2.])
    """

    times: FloatArray
    at_risk: FloatArray
    events: FloatArray
    censored: FloatArray
    survival: FloatArray
    greenwood: FloatArray
    entry_times: FloatArray
    entered: FloatArray

    def __post_init__(self) -> None:
        for array in vars(self).values():
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"KaplanMeier({self.times.size} times, {self.events.sum():g} events)"

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A pandas frame with one row per time, which needs pandas; `level` is that of the log-log limits.

        Examples
        --------
        >>> kaplan_meier(SurvivalData.right([1, 2, 2, 4], [1, 1, 0, 1])).to_frame().round(3)
              at_risk  events  censored  survival    std  lower  upper
        time
        1.0       4.0     1.0       0.0      0.75  0.217  0.128  0.961
        2.0       3.0     1.0       1.0      0.50  0.250  0.058  0.845
        4.0       1.0     1.0       0.0      0.00  0.000  0.000  0.000
        """
        lower, upper = self.band(level)
        columns = {name: getattr(self, name) for name in ("at_risk", "events", "censored", "survival", "std")}
        made = data_frame({**columns, "lower": lower, "upper": upper}, index=self.times, length=self.times.size)
        return made.rename_axis("time")

    def _repr_html_(self) -> str:
        times, survival = np.append(0.0, self.times), np.append(1.0, self.survival)
        return html_block(
            f"Kaplan-Meier, {self.times.size} times, {self.events.sum():g} events",
            html_curves(times, survival[None, :], label="survival over time", steps=True),
        )

    @property
    def variance(self) -> FloatArray:
        """Greenwood's variance of survival at each time (m,)."""
        return self.survival**2 * self.greenwood

    @property
    def std(self) -> FloatArray:
        """Standard error of survival at each time (m,)."""
        return self.survival * np.sqrt(self.greenwood)

    @property
    def distribution(self) -> Step:
        """The curve as a distribution of one row; after the last time survival is held."""
        return Step(self.times, self.survival[None, :], tail="hold")

    def band(
        self, level: float = 0.95, method: Literal["log-log", "plain"] = "log-log"
    ) -> tuple[FloatArray, FloatArray]:
        """Pointwise confidence limits of survival, lower and upper (m,) each.

        Parameters
        ----------
        level
            Confidence, between 0 and 1.
        method
            ``"log-log"``: normal for ``log(-log S)``, the exponential Greenwood limits
            ``S ** exp(±z·se(log S)/log S)``. ``"plain"``: normal for S, cut to [0, 1]. Both limits are 1
            where survival is 1, and 0 where it is 0.
        """
        check("level", level, Number(0, 1, above=True, below=True))
        check("method", method, Choice(("log-log", "plain")))
        quantile = NormalDist().inv_cdf((1 + level) / 2)
        if method == "plain":
            width = quantile * self.std
            return np.maximum(self.survival - width, 0.0), np.minimum(self.survival + width, 1.0)
        inside = (self.survival > 0) & (self.survival < 1)
        log_survival = np.log(self.survival, out=np.full(self.survival.shape, -1.0), where=inside)
        exponent = quantile * np.sqrt(self.greenwood) / log_survival
        # With weights far below one an exponent can overflow: its limit, a bound of 0, is the right answer.
        with np.errstate(over="ignore"):
            lower, upper = (np.exp(log_survival * np.exp(sign * exponent)) for sign in (-1, 1))
        return np.where(inside, lower, self.survival), np.where(inside, upper, self.survival)

    def survival_at(self, times: ArrayLike) -> FloatArray:
        """Estimate at any times, of their shape: 1 before the first of the curve, held after the last."""
        return self._survival_after(np.searchsorted(self.times, _checked_times(times), side="right"))

    def survival_before(self, times: ArrayLike) -> FloatArray:
        """Estimate just before any times, of their shape: a fall at a time itself does not count yet."""
        return self._survival_after(np.searchsorted(self.times, _checked_times(times), side="left"))

    def at_risk_at(self, times: ArrayLike) -> FloatArray:
        """Number at risk just before any times, of their shape: for the table under a plot."""
        requested = _checked_times(times)
        index = np.searchsorted(self.times, requested, side="left")
        at_next_time = np.append(self.at_risk, 0.0)[index]
        if self.entry_times.size == 0:
            return at_next_time
        # Those at risk at the next time of the curve, less those who enter between the requested time and it.
        entered = np.concatenate([[0.0], np.cumsum(self.entered)])
        following = np.append(self.times, np.inf)[index]
        later = entered[np.searchsorted(self.entry_times, following, side="left")]
        sooner = entered[np.searchsorted(self.entry_times, requested, side="left")]
        return np.where(index < self.times.size, np.maximum(at_next_time - (later - sooner), 0.0), 0.0)

    def table(self, level: float = 0.95) -> dict[str, FloatArray]:
        """Columns of the life table, with the log-log limits at `level`."""
        lower, upper = self.band(level)
        return {
            "time": self.times,
            "at_risk": self.at_risk,
            "events": self.events,
            "censored": self.censored,
            "survival": self.survival,
            "std": self.std,
            "lower": lower,
            "upper": upper,
        }

    def _survival_after(self, passed: NDArray[np.intp]) -> FloatArray:
        """Survival once so many of the times of the curve have passed."""
        survival: FloatArray = np.where(passed == 0, 1.0, self.survival[passed - 1])[()]
        return survival


class Departures(NamedTuple):
    """Numbers that leave the risk set at each time, each (m,): the curves of event and censoring follow from them."""

    times: FloatArray
    events: FloatArray
    censored: FloatArray
    after: FloatArray
    """Number at risk at each time that is still there after it."""
    entry_times: FloatArray
    entered: FloatArray


def kaplan_meier(data: SurvivalData) -> KaplanMeier:
    """Kaplan-Meier estimate of survival from exact and right-censored rows.

    Parameters
    ----------
    data
        Delayed entry and weights count: a subject is at risk in ``(entry, time]``; a row of weight 0
        counts as absent. If all who entered early have the event before others enter, survival is 0 from
        there on by the definition of the estimator, and a warning says so.
    """
    leaving = departures(data)
    return product_limit(leaving, leaving.events, leaving.censored, leaving.after + leaving.censored)


def departures(data: SurvivalData) -> Departures:
    """Numbers that leave, and that stay, at each distinct time."""
    rows = SurvivalData.of(data)
    if rows.weight is not None and not rows.weight.all():
        rows = rows[rows.weight > 0]
    if len(rows) == 0:
        raise DataError("a curve needs at least one row of positive weight, but the data have none.", argument="data")
    numbers = _counts(rows) if rows.weight is None else _weight_sums(rows, rows.weight)
    return Departures(*numbers, *_entries(rows))


def product_limit(leaving: Departures, events: FloatArray, censored: FloatArray, survivors: FloatArray) -> KaplanMeier:
    """The curve whose survival falls by the factor ``survivors/(survivors + events)`` at each time."""
    at_risk = survivors + events
    # An empty risk set, as behind the last event for the curve of censorings, leaves the curve as it is.
    factor = np.divide(survivors, at_risk, out=np.ones_like(at_risk), where=at_risk > 0)
    survival: FloatArray = np.cumprod(factor, out=factor)
    # Where there are no survivors the product is 0 and stays so, in place of an infinite ratio.
    product = at_risk * survivors
    ratio = np.divide(events, product, out=product, where=survivors > 0)
    greenwood: FloatArray = np.cumsum(ratio, out=ratio)
    if survival.size > 1 and survival[-2] == 0:  # without delayed entry the last to leave is the last time
        time = float(leaving.times[np.argmin(survival)])
        warnings.warn(
            f"survival falls to 0 at time {time!r}, where all at risk leave, and stays 0 although others "
            f"enter later. To begin the curve later, use data[data.time > {time!r}].",
            AldsurvWarning,
            stacklevel=3,
        )
    return KaplanMeier(
        leaving.times, at_risk, events, censored, survival, greenwood, leaving.entry_times, leaving.entered
    )


def _counts(data: SurvivalData) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Times, events, censored and after of rows that count one each.

    The bits of a float that is not negative are in the order of their integers, and its sign bit is free.
    With the event in its place one sort of integers moves both, which takes half as long as sorting indices.
    Beyond that most of the time goes into touching new memory: hence the work in place.
    """
    keys = (data.time.view(np.uint64) << np.uint64(1)) | data.exact
    keys.sort()
    event = keys & np.uint64(1)
    keys >>= np.uint64(1)
    time = keys.view(np.float64)
    starts, ends = _groups(time)
    times = time[starts]
    events = np.add.reduceat(event, starts).astype(np.float64)
    censored = np.subtract(ends, starts, dtype=np.float64)
    censored -= events
    entered = time.size if data.entry is None else np.searchsorted(np.sort(data.entry), times, side="left")
    return times, events, censored, np.subtract(entered, ends, dtype=np.float64)


def _weight_sums(data: SurvivalData, weight: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    order = np.argsort(data.time)
    time, event, leaving = data.time[order], data.exact[order], weight[order]
    starts, ends = _groups(time)
    times = time[starts]
    events, censored = (np.add.reduceat(leaving * kind, starts) for kind in (event, ~event))
    if data.entry is None:
        return times, events, censored, _sum_from(leaving, ends)
    by_entry = np.argsort(data.entry)
    entered = np.searchsorted(data.entry[by_entry], times, side="left")
    coarse, fine = (
        _sum_from(part[order], ends) - _sum_from(part[by_entry], entered) for part in _coarse_and_fine(weight)
    )
    # A rounding error in place of an empty risk set would keep survival from reaching 0.
    return times, events, censored, np.where(entered > ends, coarse + fine, 0.0)


def _entries(data: SurvivalData) -> tuple[FloatArray, FloatArray]:
    """Distinct times of delayed entry and the number that entered at each."""
    # Subjects that enter at 0 are there from the start: the table under a plot begins with all of them.
    if data.entry is None or not (data.entry > 0).any():
        return np.empty(0), np.empty(0)
    rows = np.flatnonzero(data.entry > 0)
    if data.weight is None:
        entry = np.sort(data.entry[rows])
        starts, ends = _groups(entry)
        return entry[starts], np.subtract(ends, starts, dtype=np.float64)
    rows = rows[np.argsort(data.entry[rows])]
    entry = data.entry[rows]
    starts, _ = _groups(entry)
    return entry[starts], np.add.reduceat(data.weight[rows], starts)


def _groups(values: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where runs of equal values start, and one behind where they end."""
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return starts, np.append(starts[1:], values.size)


def _sum_from(values: FloatArray, index: NDArray[np.intp]) -> FloatArray:
    """Sum of the values from each index on; summed from the end, so that the last groups are exact."""
    return np.append(np.cumsum(values[::-1])[::-1], 0.0)[index]


def _coarse_and_fine(weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights as multiples of a step whose sums are exact, and the rest.

    With delayed entry a small risk set is the difference of two large sums; in plain sums it would drown
    in their rounding.
    """
    _, exponent = np.frexp(weight.sum())
    step = np.ldexp(1.0, exponent - 50)
    coarse = np.round(weight / step) * step
    return coarse, weight - coarse


def _checked_times(times: ArrayLike) -> FloatArray:
    try:
        checked = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but {quoted(times, 60)} was given.", argument="times") from None
    if np.isnan(checked).any():
        raise ParameterError(
            f"times must be numbers, but {np.isnan(checked).sum()} of {checked.size} are NaN.", argument="times"
        )
    return checked
