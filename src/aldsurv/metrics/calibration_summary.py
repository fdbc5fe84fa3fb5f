"""Calibration slope and calibration in the large of one prediction, each with its limits or the reason for none."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import UndefinedMetricWarning
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.cause_of_interest import Cause
from aldsurv.metrics.checked_arguments import PredictedDistribution
from aldsurv.metrics.resampling.bootstrap import BootstrapResult, RandomState, bootstrap

__all__ = ["CALIBRATION_AT_TIME", "CALIBRATION_OVERALL", "LimitedValue", "calibration_summary"]

CALIBRATION_OVERALL = ("calibration_slope", "observed_expected_ratio", "calibration_in_the_large")
CALIBRATION_AT_TIME = tuple(f"{name}_at" for name in CALIBRATION_OVERALL)


class LimitedValue(NamedTuple):
    """A metric with its limits; NaN, with the reason, where it has no value."""

    value: float
    lower: float
    upper: float
    reason: str = ""

    @classmethod
    def of(cls, result: BootstrapResult) -> LimitedValue:
        """A number with its limits from resamples."""
        return cls(float(result.value), float(result.lower), float(result.upper))

    def to_dict(self) -> dict[str, float]:
        """The value and its limits by name."""
        return {"value": self.value, "lower": self.lower, "upper": self.upper}


def calibration_summary(
    predicted: PredictedDistribution,
    data: SurvivalData,
    time: float | None = None,
    *,
    cause: Cause = None,
    confidence: float = 0.95,
    samples: int = 200,
    random_state: RandomState = 0,
) -> dict[str, LimitedValue]:
    """Calibration slope, observed/expected and calibration in the large, by the names of `aldsurv.registry.METRICS`.

    Limits are those of `calibration_slope`, `observed_expected_ratio` and `calibration_in_the_large`. These take rows
    as independent: of rows in groups they are those of the bootstrap, which draws the rows of a group together.

    Parameters
    ----------
    predicted, data, cause
        As in `calibration_slope`.
    time
        When to look; None: over all follow-up.
    confidence
        Confidence of the limits.
    samples, random_state
        Of the bootstrap, for rows in two groups or more.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> found = calibration_summary(Exponential([2.0] * 4), data)
    >>> found["calibration_slope"].reason
    'all predictions are alike'
    >>> found["observed_expected_ratio"]
    LimitedValue(value=0.5455, lower=0.1759, upper=1.691, reason='')
    """
    rows = SurvivalData.of(data)
    grouped = rows.group is not None and rows.n_groups > 1
    options: dict[str, Any] = {"cause": cause} if time is None else {"cause": cause, "time": time}
    results = {}
    for name in CALIBRATION_OVERALL if time is None else CALIBRATION_AT_TIME:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", UndefinedMetricWarning)
                numbers = find_metric(name).function(predicted, rows, confidence=confidence, **options)
        except UndefinedMetricWarning as warning:
            results[name] = LimitedValue(np.nan, np.nan, np.nan, warning.reason)
            continue
        value, lower, upper = (float(part) for part in numbers[:3])
        if grouped:
            drawn = bootstrap(
                name, predicted, rows, samples=samples, level=confidence, random_state=random_state, **options
            )
            lower, upper = float(drawn.lower), float(drawn.upper)
        results[name] = LimitedValue(value, lower, upper)
    return results
