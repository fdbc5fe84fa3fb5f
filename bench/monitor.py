"""False alarms of ``monitor_model`` on quiet streams, and how many events it takes to find a change.

``python -m bench.monitor [--streams 1000] [--only covariates]`` draws streams of periods from a model that is right,
and from ones whose hazards, differences between people or covariates change; results are
kept in docs/results/monitor.json.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, WeibullAFT
from aldsurv.monitoring.column_drift import column_drift
from aldsurv.monitoring.evidence import Evidence, SlopeSums, rate_evidence, slope_evidence, slope_sums
from aldsurv.monitoring.model_monitoring import ALPHA_SHARES
from aldsurv.monitoring.monitoring_result import DRIFT, RATIO, SLOPE
from bench.pages.results import ResultsError, read_section, store_section, today

FILE, SECTION = "monitor.json", "streams"
ALPHA = 0.05
PERIODS, ROWS = 48, 50
# Standard deviation of the linear predictor.
SPREAD = 0.8
_TOGETHER = 20
# Title, test that should find it, factor of the hazards and of the differences, and periods before the change.
CHANGES = (
    ("observed/expected 1.2", RATIO, 1.2, 1.0, 0),
    ("observed/expected 1.5", RATIO, 1.5, 1.0, 0),
    ("observed/expected 2", RATIO, 2.0, 1.0, 0),
    ("observed/expected 0.7", RATIO, 0.7, 1.0, 0),
    ("slope 0.5", SLOPE, 1.0, 0.5, 0),
    ("observed/expected 1.5", RATIO, 1.5, 1.0, 24),
    ("observed/expected 2", RATIO, 2.0, 1.0, 24),
    ("slope 0.5", SLOPE, 1.0, 0.5, 24),
)
# How far a column moves, in standard deviations.
SHIFTS = (0.25, 0.5, 1.0)

FloatArray = NDArray[np.float64]


class Streams(NamedTuple):
    """Events, expected events and linear predictor of rows (streams, periods, rows)."""

    event: NDArray[np.bool_]
    expected: FloatArray
    predictor: FloatArray


def drawn(streams: int, factor: float, slope: float, before: int, seed: int) -> Streams:
    """Rows of proportional hazards, which the model predicts rightly in the first periods."""
    generator = np.random.default_rng(seed)
    predictor = generator.normal(0, SPREAD, (streams, PERIODS, ROWS))
    later = (np.arange(PERIODS) >= before)[:, None]
    # Centred at the mean of those with an event, so that another slope leaves the number of events about as it is.
    mean = np.average(predictor, weights=-np.expm1(-np.exp(predictor)))
    true = predictor + np.where(later, math.log(factor) + (slope - 1) * (predictor - mean), 0.0)
    time_to_event = generator.exponential(size=predictor.shape) * np.exp(-true)
    end = generator.uniform(0.1, 1.5, predictor.shape)
    event = time_to_event <= end
    weights = -np.expm1(-np.exp(predictor))
    centre = (predictor * weights).sum(-1, keepdims=True) / weights.sum(-1, keepdims=True)
    return Streams(event, np.minimum(time_to_event, end) * np.exp(predictor), predictor - centre)


def evidence_of(streams: Streams) -> dict[str, Evidence]:
    """Of both tests of calibration, after each period; some streams at a time, which fit the cache."""
    parts = [_evidence(Streams(*(each[k : k + _TOGETHER] for each in streams))) for k in _starts(len(streams.event))]
    return {
        test: Evidence(*(np.concatenate(each) for each in zip(*(part[test] for part in parts), strict=True)))
        for test in (RATIO, SLOPE)
    }


def _starts(count: int) -> range:
    return range(0, count, _TOGETHER)


def _evidence(streams: Streams) -> dict[str, Evidence]:
    parts = [slope_sums(streams.event[:, k], streams.expected[:, k], streams.predictor[:, k]) for k in range(PERIODS)]
    sums = SlopeSums(*(np.stack(column, 1) for column in zip(*parts, strict=True)))
    return {RATIO: rate_evidence(sums.observed, sums.expected), SLOPE: slope_evidence(sums)}


def reached(evidence: Evidence, test: str) -> NDArray[np.bool_]:
    """After which periods the evidence is at its limit (streams, periods)."""
    return np.asarray(evidence.log >= -math.log(ALPHA * ALPHA_SHARES[test]))


def false_alarms(streams: int) -> dict[str, float]:
    """Shares of quiet streams with an alarm of each test of calibration."""
    quiet = evidence_of(drawn(streams, 1.0, 1.0, 0, seed=0))
    return {test: float(reached(evidence, test).any(-1).mean()) for test, evidence in quiet.items()}


def drift_alarms(streams: int, shift: float, periods: int = 24) -> list[list[int]]:
    """Of each stream the periods, from 1 on, in which the moved column of three is found to have drifted.

    Without a shift, those in which any column is.
    """
    generator = np.random.default_rng(1)

    def table(rows: int, moved: FloatArray | float) -> dict[str, Any]:
        return {
            "a": generator.normal(size=rows) + moved,
            "b": generator.exponential(size=rows),
            "site": generator.choice(["north", "south", "west"], rows, p=[0.5, 0.3, 0.2]),
        }

    y = SurvivalData.right(generator.exponential(size=1000), np.ones(1000, bool))
    model = WeibullAFT().fit(table(1000, 0.0), y)
    place = np.repeat(np.arange(periods), ROWS)
    alarms = []
    for _ in range(streams):
        found = column_drift(
            model,
            table(place.size, shift),
            place,
            [str(k + 1) for k in range(periods)],
            weights=np.ones(place.size),
            reference=table(1000, 0.0),
            reference_periods=1,
            alpha=ALPHA * ALPHA_SHARES[DRIFT],
        )
        alarms.append([int(each.period) for each in found if each.drifted and (not shift or each.column == "a")])
    return alarms


def delay(streams: int, change: tuple[str, str, float, float, int]) -> dict[str, Any]:
    """How long after a change its test raises an alarm, and whether another does so before."""
    title, test, factor, slope, before = change
    rows = drawn(streams, factor, slope, before, seed=1)
    evidence = evidence_of(rows)
    alarm = reached(evidence[test], test)
    early = alarm[:, :before].any(-1)
    first = np.where(alarm.any(-1), alarm.argmax(-1), PERIODS)
    events = np.cumsum(rows.event.sum(-1) * (np.arange(PERIODS) >= before), -1)
    until = np.where(first < PERIODS, events[np.arange(streams), np.minimum(first, PERIODS - 1)], math.inf)[~early]
    other = SLOPE if test == RATIO else RATIO
    median, ninth = (float(np.quantile(until, level, method="inverted_cdf")) for level in (0.5, 0.9))
    return {
        "change": title,
        "before": before,
        "found": float(np.isfinite(until).mean()),
        "periods": float(np.median(first[~early] - before + 1)),
        "events": median,
        "events 90 %": ninth if math.isfinite(ninth) else None,
        "other test": float(reached(evidence[other], other).any(-1).mean()),
    }


def drift_delay(streams: int, shift: float) -> dict[str, Any]:
    """Share of streams in which a column that moved is found in the first period, and in the first six."""
    first = [min(found, default=PERIODS) for found in drift_alarms(streams, shift, 6)]
    return {
        "shift": shift,
        "at once": float(np.mean([k == 1 for k in first])),
        "six": float(np.mean([k <= 6 for k in first])),
    }


def stored() -> dict[str, Any]:
    """What was measured before."""
    try:
        return dict(read_section(FILE, SECTION))
    except (ResultsError, OSError):
        return {}


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--only", choices=("calibration", "covariates"), default=None)
    options = parser.parse_args(given)
    streams, begun = options.streams, time.process_time()
    values = {**stored(), "streams": streams, "alpha": ALPHA, "periods": PERIODS, "rows": ROWS}
    alarms = dict(values.get("false alarms", {}))
    if options.only != "covariates":
        alarms |= false_alarms(streams)
        values["changes"] = [delay(streams, change) for change in CHANGES]
    if options.only != "calibration":
        alarms[DRIFT] = float(np.mean([bool(found) for found in drift_alarms(streams, 0.0)]))
        values["shifts"] = [drift_delay(min(streams, 300), shift) for shift in SHIFTS]
    values["false alarms"] = {test: alarms[test] for test in ALPHA_SHARES if test in alarms}
    print(json.dumps(values, indent=1), f"{time.process_time() - begun:.0f} s", flush=True)
    store_section(FILE, SECTION, values, today("python -m bench.monitor"))


if __name__ == "__main__":
    main()
