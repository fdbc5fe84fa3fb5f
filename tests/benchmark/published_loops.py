"""The nine metrics from raw predictions, by their definitions and the published way: loops, scipy, peers."""

from __future__ import annotations

from typing import Any

import numpy as np
from lifelines import KaplanMeierFitter
from scipy import stats
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw
from sksurv.nonparametric import kaplan_meier_estimator
from sksurv.util import Surv

from aldsurv import SurvivalData

LEVELS = [k / 10 for k in range(1, 10)]
STEPPED = ("deepsurv", "deephit")


def durations_of(model: str, predicted: Any, train: SurvivalData) -> np.ndarray:
    """Times at which the curves of a model with steps are given."""
    return np.unique(train.time) if model == "deepsurv" else np.asarray(predicted.kinks())[0, 1:]


def brier(model: str, predicted: Any, train: SurvivalData, test: SurvivalData, *, published: bool) -> float:
    """The integrated Brier score, row by row and time by time."""
    times = np.linspace(*np.percentile(train.time, [10, 90]), 100)
    if published:
        curve = KaplanMeierFitter().fit(test.time, test.event)
        at_rows, at_times = curve.predict(test.time).to_numpy(), curve.predict(times).to_numpy()
    else:
        steps, heights = kaplan_meier_estimator(train.event, train.time, reverse=True)
        at_rows, at_times = (
            np.append(1.0, heights)[np.searchsorted(steps, t, side="right")] for t in (test.time, times)
        )
    survival = np.asarray(predicted.survival(times)).tolist()
    quantiles = np.asarray(predicted.quantile(LEVELS)).tolist() if model == "cqrnn" else []
    scores = []
    for j, t in enumerate(times.tolist()):
        total = 0.0
        for i, (time, event) in enumerate(zip(test.time.tolist(), test.event.tolist(), strict=True)):
            s = survival[i][j]
            if published and model == "cqrnn":
                own = quantiles[i]
                nearest = min(range(9), key=lambda k, own=own, t=t: (abs(own[k] - t), k))
                s = 0.0 if t < own[0] or t >= own[-1] else 1 - LEVELS[nearest]
            if published and model in ("lognormal", *STEPPED):
                s = 1 - s
            if time <= t and event:
                total += s**2 / at_rows[i]
            elif time > t:
                total += (1 - s) ** 2 / at_times[j]
        scores.append(total / len(test))
    return float(np.trapezoid(scores, times) / (times[-1] - times[0]))


def predicted_times(model: str, predicted: Any, train: SurvivalData, *, published: bool) -> np.ndarray:
    """One time per row: the mean of ALD and LogNorm, the median of the others."""
    if model in ("ald", "lognormal"):
        return np.asarray(predicted.mean())
    if not published or model == "cqrnn":
        median = np.asarray(predicted.median())
        return np.array([train.time.max() if np.isinf(time) else time for time in median])
    grid = durations_of(model, predicted, train)
    width = (train.time.max() - train.time.min()) / len(grid)
    times = []
    for row in np.asarray(predicted.cdf(grid)).tolist():
        place = next((k for k, share in enumerate(row) if share >= 0.5), None)
        if place is None:
            times.append(np.median(train.time))
        else:
            times.append(grid[place] if model == "deepsurv" else train.time.min() + (place + 0.5) * width)
    return np.array(times)


def bin_shares(quantiles: Any, test: SurvivalData, *, closed: bool) -> list[float]:
    """Shares of the ten bins, by comparing times with quantiles."""
    shares = [0.0] * 10
    for own, time, event in zip(quantiles, test.time.tolist(), test.event.tolist(), strict=True):
        u = (min(range(9), key=lambda k, own=own, time=time: (abs(own[k] - time), k)) + 1) / 10
        for j in range(10):
            lower, upper = own[j - 1] if j else -np.inf, own[j] if j < 9 else np.inf
            if event:
                shares[j] += (lower <= time <= upper) / len(test)
                continue
            if lower <= time and (time < upper or (closed and time <= upper)):
                shares[j] += ((j + 1) / 10 - u) / (1 - u) / len(test)
            if time < lower or (closed and time <= lower):
                shares[j] += 0.1 / (1 - u) / len(test)
    return shares


def mass_between(levels: list[float], events: list[bool], low: float, high: float) -> float:
    """Share of the rows in [low, high] of probability; a censored row is spread from its level to 1."""
    total = 0.0
    for u, event in zip(levels, events, strict=True):
        if event:
            total += low <= u <= high
        elif u < high:
            total += (high - max(u, low)) / (1 - u)
    return total / len(levels)


def calibration(model: str, predicted: Any, train: SurvivalData, test: SurvivalData, *, published: bool) -> dict:
    """CensDcal, and slopes and intercepts of Cal[S] and Cal[f]."""
    if published and model not in ("ald", "lognormal"):
        if model == "cqrnn":
            quantiles = np.asarray(predicted.quantile(LEVELS)).tolist()
        else:
            grid = durations_of(model, predicted, train).tolist()
            failure = np.asarray(predicted.cdf(grid)).tolist()
            quantiles = [
                [next((t for t, share in zip(grid, row, strict=True) if share >= q), grid[-1]) for q in LEVELS]
                for row in failure
            ]
        shares, closed = (bin_shares(quantiles, test, closed=which) for which in (False, True))
        cumulated = [sum(closed[: j + 1]) for j in range(9)] + [1.0]
        widths, around = [0.2, 0.4, 0.6, 0.8], [sum(closed[5 - k : 5 + k]) for k in range(1, 5)]
    else:
        levels = [float(predicted[i].cdf(time)[0]) for i, time in enumerate(test.time)]
        events = test.event.tolist()
        until = [mass_between(levels, events, -1.0, (j + 1) / 10) for j in range(9)] + [1.0]
        shares = np.diff([0.0, *until]).tolist()
        cumulated = until
        widths = [k / 10 for k in range(1, 10)]
        around = [mass_between(levels, events, 0.5 - width / 2, 0.5 + width / 2) for width in widths]
    survival = stats.linregress([k / 10 for k in range(1, 11)], cumulated)
    density = stats.linregress(widths, around)
    columns = {
        "cens_dcal": 100 * sum((0.1 - share) ** 2 for share in shares),
        "cal_s_slope": survival.slope,
        "cal_s_intercept": survival.intercept,
        "cal_f_slope": density.slope,
        "cal_f_intercept": density.intercept,
    }
    if not published:
        return columns
    exchanged = {name.replace("_s_", "_x_").replace("_f_", "_s_"): value for name, value in columns.items()}
    return {name.replace("_x_", "_f_"): value for name, value in exchanged.items()}


def nine(
    model: str,
    predicted: Any,
    train: SurvivalData,
    test: SurvivalData,
    *,
    published: bool,
    truth: np.ndarray | None = None,
    unit: float = 1.0,
) -> dict[str, float]:
    """All nine metrics by name."""
    times = predicted_times(model, predicted, train, published=published)
    compared = [
        abs(time - (test.time[i] if truth is None else truth[i]))
        for i, time in enumerate(times)
        if truth is not None or test.event[i]
    ]
    surv = [Surv.from_arrays(rows.event, rows.time) for rows in (train, test)]
    steps, heights = kaplan_meier_estimator(train.event, train.time, reverse=True)
    return {
        "mae": float(np.mean(compared)) / unit,
        "ibs": brier(model, predicted, train, test, published=published),
        "harrell_c": concordance_index_censored(test.event, test.time, -times)[0],
        "uno_c": concordance_index_ipcw(*surv, -times, tau=steps[heights > 0][-1])[0],
        **calibration(model, predicted, train, test, published=published),
    }
