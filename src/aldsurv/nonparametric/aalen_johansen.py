"""The Aalen-Johansen estimate of the incidence of competing causes, with delayed entry and weights."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, Number, WholeNumber, check
from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.display.frames import data_frame
from aldsurv.display.html import html_block, html_curves
from aldsurv.distributions.competing.cumulative_incidence import CumulativeIncidence
from aldsurv.errors import DataError, ParameterError
from aldsurv.nonparametric.kaplan_meier import kaplan_meier
from aldsurv.plain_numbers import plain_number

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AalenJohansen", "BandMethod", "aalen_johansen"]

FloatArray = NDArray[np.float64]
BandMethod: TypeAlias = Literal["log-log", "complementary", "plain"]
BAND_METHODS = ("log-log", "complementary", "plain")


@final
@dataclass(frozen=True, eq=False, repr=False)
class AalenJohansen:
    """Incidence of each cause at the distinct times of events and censorings.

    At each time the incidence of cause k rises by ``S(t-)·d_k/n``, with S the Kaplan-Meier estimate for the event of
    any cause: the incidences add up to 1 - S. (One minus the Kaplan-Meier estimate with other causes as censorings is
    larger: it is the incidence in a world without the others.) The arrays are read-only.

    Parameters
    ----------
    times
        Distinct times (m,), ascending.
    at_risk
        Number at risk at each time, as sum of weights: those with ``entry < t <= time``.
    events
        Number of events of each cause at each time (causes, m).
    incidence
        Estimate for each cause at each time (causes, m), to be held until the next.
    survival
        Kaplan-Meier estimate for the event of any cause (m,).
    causes
        Names of the causes.

    Examples
    --------
    >>> curves = aalen_johansen(SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["death", "relapse"]))
    >>> curves.incidence
    array([[0.25, 0.25, 0.25, 0.75],
           [0.  , 0.25, 0.25, 0.25]])
    >>> curves.incidence_at([0.5, 3.5], cause="death")
    array([0.  , 0.25])
    """

    times: FloatArray
    at_risk: FloatArray
    events: FloatArray
    incidence: FloatArray
    survival: FloatArray
    causes: tuple[str, ...]

    def __post_init__(self) -> None:
        for array in (self.times, self.at_risk, self.events, self.incidence, self.survival):
            array.flags.writeable = False

    @property
    def variance(self) -> FloatArray:
        """Greenwood's variance of the incidence of each cause at each time (causes, m).

        With F the incidence, d the events of any cause and d_k those of the cause among n at risk, the sum over the
        times u up to t of ``(F(t) - F(u))²·d/(n(n - d)) + S(u-)²·d_k(n - d_k)/n³ - 2(F(t) - F(u))·S(u-)·d_k/n²``, as in
        Marubini & Valsecchi (1995). With one cause it is that of `KaplanMeier`.
        """
        before, share, lost = self._increments()
        rise = before * share
        spread = np.cumsum(rise**2 * _divided(self.at_risk - self.events, self.events * self.at_risk), axis=1)
        # The square of F(t) - F(u) multiplied out: each factor of F(u) is in a running sum.
        here, weighted, squared = (np.cumsum(self.incidence**power * lost, axis=1) for power in range(3))
        fall = self.incidence**2 * here - 2 * self.incidence * weighted + squared
        joint = rise / np.where(self.at_risk > 0, self.at_risk, 1.0)
        both = self.incidence * np.cumsum(joint, axis=1) - np.cumsum(self.incidence * joint, axis=1)
        return np.asarray(np.maximum(spread + fall - 2 * both, 0.0))

    @property
    def std(self) -> FloatArray:
        """Standard error of the incidence of each cause at each time (causes, m)."""
        return np.sqrt(self.variance)

    def __repr__(self) -> str:
        return f"AalenJohansen({self.times.size} times, causes={list(self.causes)})"

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A pandas frame with one row per time and columns by cause, which needs pandas.

        Those of a cause are the ``incidence``, its standard error ``std``, and ``lower`` and ``upper`` log-log limits
        at `level`.
        """
        lower, upper = self.band(level)
        parts = {"incidence": self.incidence, "std": self.std, "lower": lower, "upper": upper}
        columns = {(cause, name): values[k] for k, cause in enumerate(self.causes) for name, values in parts.items()}
        made = data_frame(columns, index=self.times, length=self.times.size, labels=("cause", "part"))
        return made.rename_axis("time")

    def _repr_html_(self) -> str:
        times = np.append(0.0, self.times)
        curves = np.concatenate([np.zeros((len(self.causes), 1)), self.incidence], axis=1)
        title = f"Aalen-Johansen, {self.times.size} times, causes {', '.join(self.causes)}"
        return html_block(title, html_curves(times, curves, label="incidence over time", names=self.causes, steps=True))

    @property
    def distribution(self) -> CumulativeIncidence:
        """The curves as the incidence of one individual; after the last time they are held."""
        positive = self.times > 0
        if not positive.all() and self.incidence[:, ~positive].any():
            raise DataError(
                "an event at time 0 cannot be in CumulativeIncidence, which is 0 there.",
                advice="Use incidence_at.",
            )
        return CumulativeIncidence(self.times[positive], self.incidence[:, positive], self.causes)

    def incidence_at(self, times: ArrayLike, cause: int | str | None = None) -> FloatArray:
        """Estimate at any times, of their shape, for one cause by number or name; for all with a leading axis."""
        requested = np.asarray(times, np.float64)
        if np.isnan(requested).any():
            raise ParameterError(
                f"times must be numbers, but {np.isnan(requested).sum()} of {requested.size} are NaN.", argument="times"
            )
        padded = np.concatenate([np.zeros((len(self.causes), 1)), self.incidence], axis=1)
        incidence: FloatArray = padded[:, np.searchsorted(self.times, requested, side="right")]
        return incidence if cause is None else incidence[cause_number(cause, self.causes) - 1]

    def band(
        self, level: float = 0.95, method: BandMethod = "log-log", *, cause: int | str | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Pointwise confidence limits of the incidence, lower and upper: (causes, m) each, of one cause (m,).

        Parameters
        ----------
        level
            Confidence, between 0 and 1.
        method
            ``"log-log"``: normal for ``log(-log F)``, as in SAS, lifelines and survfit of R.
            ``"complementary"``: normal for ``log(-log(1 - F))``, with one cause the limits of `KaplanMeier`.
            ``"plain"``: normal for F, cut to [0, 1]. Both limits are F where that is 0 or 1.
        cause
            Number or name of a cause; None: all.

        Examples
        --------
        >>> curves = aalen_johansen(SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1]))
        >>> lower, upper = curves.band(cause=1)
        >>> lower.round(3), upper.round(3)
        (array([0.009, 0.009, 0.009, 0.128]), array([0.665, 0.665, 0.665, 0.961]))
        """
        check("level", level, Number(0, 1, above=True, below=True))
        width = NormalDist().inv_cdf((1 + level) / 2)
        chosen = self._chosen(cause)
        return _limits(self.incidence[chosen], self.std[chosen], width, method)

    def simultaneous_band(
        self,
        cause: int | str,
        level: float = 0.95,
        method: BandMethod = "log-log",
        *,
        start: float | None = None,
        end: float | None = None,
        samples: int = 1000,
        random_state: int | np.random.Generator | None = 0,
    ) -> tuple[FloatArray, FloatArray]:
        """Limits (m,) each that hold the whole curve of a cause from `start` to `end` with confidence `level`.

        Those of `band`, wider: in place of the normal quantile stands that of the largest distance of the curve from
        the truth in standard errors, computed by drawing the errors of all times (Lin 1997). NaN outside of the range.

        Parameters
        ----------
        cause, level, method
            As in `band`.
        start, end
            Range of times; None: the 10 % and the 90 % point of the times of the cause's events. Next to the first
            event and the last row the standard errors are no guide.
        samples
            Number of draws.
        random_state
            Seed or generator of the draws.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> curves = aalen_johansen(SurvivalData.competing(rng.exponential(5, 200), rng.integers(0, 3, 200)))
        >>> inner, outer = curves.band(cause=1), curves.simultaneous_band(1)
        >>> inside = ~np.isnan(outer[0])
        >>> bool((outer[0] < inner[0])[inside].all() and (outer[1] > inner[1])[inside].all())
        True
        """
        check("level", level, Number(0, 1, above=True, below=True))
        check("samples", samples, WholeNumber(2))
        k = cause_number(cause, self.causes) - 1
        counted = self.events[k] > 0
        if not counted.any():
            raise DataError(f"there is no event of cause {self.causes[k]!r}, and so no band for it.", argument="cause")
        ends = np.quantile(self.times[counted], [0.1, 0.9], weights=self.events[k, counted], method="inverted_cdf")
        first = float(ends[0]) if start is None else float(start)
        last = float(ends[1]) if end is None else float(end)
        incidence, std = self.incidence[k], self.std[k]
        inside = (self.times >= first) & (self.times <= last) & (std > 0) & (incidence < 1)
        if not inside.any():
            raise ParameterError(
                f"from {plain_number(first)} to {plain_number(last)} the incidence of cause {self.causes[k]!r} has no "
                "standard error",
                argument="start",
                advice="Choose a range with events of the cause.",
            )
        largest = np.abs(self._drawn_errors(k, int(samples), random_state)[:, inside] / std[inside]).max(axis=1)
        lower, upper = _limits(incidence, std, float(np.quantile(largest, level)), method)
        return np.where(inside, lower, np.nan), np.where(inside, upper, np.nan)

    def table(self, cause: int | str, level: float = 0.95) -> dict[str, FloatArray]:
        """Columns of the table of one cause, with the log-log limits at `level`."""
        k = cause_number(cause, self.causes) - 1
        lower, upper = self.band(level, cause=cause)
        return {
            "time": self.times,
            "at_risk": self.at_risk,
            "events": self.events[k],
            "incidence": self.incidence[k],
            "std": self.std[k],
            "lower": lower,
            "upper": upper,
        }

    def _chosen(self, cause: int | str | None) -> slice | int:
        return slice(None) if cause is None else cause_number(cause, self.causes) - 1

    def _increments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """S just before each time (m,), the share with the event of each cause (causes, m), and Greenwood's terms (m,).

        A time at which all at risk have the event adds nothing to Greenwood's sum: no incidence rises after it.
        """
        before = np.concatenate([[1.0], self.survival[:-1]])
        total = self.events.sum(axis=0)
        share = _divided(self.events, self.at_risk)
        return before, share, _divided(total, self.at_risk * np.maximum(self.at_risk - total, 0.0))

    def _drawn_errors(self, k: int, samples: int, random_state: int | np.random.Generator | None) -> FloatArray:
        """Normal draws (samples, m) of the error of the incidence of a cause, with its covariance over the times.

        At each time the shares of the cause and of the others have the covariance of a multinomial draw; those of
        different times are independent.
        """
        before, share, _ = self._increments()
        of_cause, others = share[k], share.sum(axis=0) - share[k]
        size = np.where(self.at_risk > 0, self.at_risk, 1.0)
        generator = np.random.default_rng(random_state)
        first, second = generator.standard_normal((2, samples, size.size))
        own = np.sqrt(of_cause * (1 - of_cause) / size)
        # What is left of the others' variance once the cause's share is known; they compete for the same subjects.
        slope = -_divided(others, 1 - of_cause)
        rest = np.sqrt(np.maximum(others * (1 - others) / size - slope**2 * own**2, 0.0))
        error = own * first
        left = 1 - of_cause - others
        lost = _divided(error + slope * error + rest * second, left)
        incidence = self.incidence[k]
        running = np.cumsum(lost, axis=1)
        return np.asarray(np.cumsum(before * error + incidence * lost, axis=1) - incidence * running)


def _divided(value: FloatArray, by: FloatArray) -> FloatArray:
    """The quotient, 0 where the divisor is (or is so by rounding)."""
    value, by = np.broadcast_arrays(value, by)
    return np.divide(value, by, out=np.zeros(value.shape), where=by > 1e-14)


def _limits(incidence: FloatArray, std: FloatArray, width: float, method: BandMethod) -> tuple[FloatArray, FloatArray]:
    """The incidence less and plus so many standard errors on the scale of a transformation."""
    check("method", method, Choice(BAND_METHODS))
    if method == "plain":
        return np.maximum(incidence - width * std, 0.0), np.minimum(incidence + width * std, 1.0)
    inside = (incidence > 0) & (incidence < 1)
    level = np.where(inside, incidence, 0.5)
    level = 1 - level if method == "complementary" else level
    log_level = np.log(level)
    exponent = width * std / (level * -log_level)
    with np.errstate(over="ignore"):
        low, high = (np.exp(log_level * np.exp(sign * exponent)) for sign in (1, -1))
    if method == "complementary":
        low, high = 1 - high, 1 - low
    return np.where(inside, low, incidence), np.where(inside, high, incidence)


def aalen_johansen(data: SurvivalData) -> AalenJohansen:
    """Aalen-Johansen estimate of the incidence of each cause, from exact and right-censored rows.

    Parameters
    ----------
    data
        Data with causes, made by `SurvivalData.competing`; without, the events are of one cause. Delayed entry and
        weights count as in `kaplan_meier`.
    """
    rows = SurvivalData.of(data)
    curve = kaplan_meier(rows)
    cause = rows.exact.astype(np.int64) if rows.cause is None else rows.cause
    names = ("1",) if rows.causes is None else rows.causes
    m = curve.times.size
    counted = rows.exact & (rows.weights > 0)
    place = (cause[counted] - 1) * m + np.searchsorted(curve.times, rows.time[counted])
    events = np.bincount(place, rows.weights[counted], len(names) * m).astype(np.float64).reshape(len(names), m)
    before = np.concatenate([[1.0], curve.survival[:-1]])
    at_risk = curve.at_risk
    share = np.divide(before, at_risk, out=np.zeros(m), where=at_risk > 0)
    return AalenJohansen(curve.times, at_risk.copy(), events, np.cumsum(share * events, axis=1), curve.survival, names)
