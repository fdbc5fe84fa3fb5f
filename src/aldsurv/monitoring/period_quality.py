"""How well a model predicts the rows of one period: observed/expected, calibration slope and C, with limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics import bootstrap
from aldsurv.metrics.calibration_summary import LimitedValue, calibration_summary
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import PredictedDistribution

__all__ = ["LEAST_EVENTS", "PeriodQuality", "concordance_with_limits", "poisson_limits", "slope_with_limits"]

FloatArray = NDArray[np.float64]
# With fewer events a slope or a C says nothing.
LEAST_EVENTS = 10
_NONE = (math.nan, math.nan, math.nan)


@final
@dataclass(frozen=True)
class PeriodQuality:
    """Calibration and discrimination in one period, and the evidence against the model after it.

    Attributes
    ----------
    period
        Its name.
    rows, events, expected
        Its rows and events, and the events that the model expected until each row's time; weighted if rows are.
    ratio, ratio_lower, ratio_upper
        Observed/expected with its exact Poisson interval.
    slope, slope_lower, slope_upper
        Calibration slope, as `metrics.calibration_slope` has it; NaN with fewer than ten events.
    concordance, concordance_lower, concordance_upper
        Harrell's C with limits of the bootstrap; NaN with fewer than ten events, and with delayed entry.
    ratio_evidence, slope_evidence
        Evidence from all periods so far, of which the test makes an alarm at its limit.
    notes
        Why something is NaN.
    """

    period: str
    rows: int
    events: float
    expected: float
    ratio: float
    ratio_lower: float
    ratio_upper: float
    slope: float
    slope_lower: float
    slope_upper: float
    concordance: float
    concordance_lower: float
    concordance_upper: float
    ratio_evidence: float
    slope_evidence: float
    notes: tuple[str, ...] = ()


def poisson_limits(observed: float, expected: float, confidence: float) -> tuple[float, float]:
    """Exact limits of observed/expected, where the former is a Poisson count; weighted counts need not be whole."""
    from scipy.special import gammaincinv

    tail = (1 - confidence) / 2
    lower = float(gammaincinv(observed, tail)) if observed > 0 else 0.0
    return lower / expected, float(gammaincinv(observed + 1, 1 - tail)) / expected


def slope_with_limits(
    predicted: PredictedDistribution, rows: SurvivalData, cause: Cause, confidence: float, seed: int
) -> LimitedValue:
    """Calibration slope of one period."""
    found = calibration_summary(predicted, rows, cause=cause, confidence=confidence, random_state=seed)
    return found["calibration_slope"]


def concordance_with_limits(
    times: FloatArray, rows: SurvivalData, cause: Cause, confidence: float, samples: int, seed: int
) -> LimitedValue:
    """Harrell's C of predicted times (n,) in one period."""
    if rows.entry is not None and (rows.entry > 0).any():
        return LimitedValue(*_NONE, reason="C is not defined for delayed entry")
    if rows.group is not None and rows.n_groups < 2:
        return LimitedValue(*_NONE, reason="C needs two persons or more")
    result = bootstrap("harrell_c", times, rows, samples=samples, level=confidence, random_state=seed, cause=cause)
    value = LimitedValue.of(result)
    return value if math.isfinite(value.value) else value._replace(reason="no pair can be compared")
