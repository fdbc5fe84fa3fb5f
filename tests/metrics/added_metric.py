"""A whole metric, as one would add it: one function and its record."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import Prediction, undefined, without_delayed_entry
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.registry import MetricRecord

RECORD = MetricRecord(
    "rmse",
    f"{__name__}:root_mean_squared_error",
    "root mean squared error",
    "root of the mean squared distance of the predicted time from the time of the event, over the uncensored rows",
    short_title="RMSE",
    hint="of the events; 0 perfect",
    ideal=0.0,
    direction="lower",
    uses_point=True,
)


def root_mean_squared_error(
    predicted: Prediction, data: SurvivalData, *, point: Point = "median", unit: float = 1.0
) -> float:
    """Root of the weighted mean squared distance of the predicted time from that of the event; lower is better."""
    rows = without_delayed_entry(SurvivalData.of(data), "root_mean_squared_error")
    weight = rows.weights * rows.event
    if not weight.any():
        return undefined("root_mean_squared_error", "no uncensored row has a positive weight")
    distance = (point_estimate(predicted, rows, point=point) - rows.time)[weight > 0]
    return float(np.sqrt(np.average(distance**2, weights=weight[weight > 0])) / unit)
