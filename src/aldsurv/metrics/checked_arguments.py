"""What metrics require of their arguments, and the warning where a metric has no value."""

from __future__ import annotations

import warnings
from typing import TypeAlias

import numpy as np
from array_api_compat import to_device
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.numerics.backend import Array, without_gradient
from aldsurv.errors import CensoringError, ParameterError, UndefinedMetricWarning
from aldsurv.plain_numbers import plain_number

__all__ = [
    "FloatArray",
    "PredictedDistribution",
    "Prediction",
    "as_numbers",
    "matched_data",
    "number_column",
    "person_rows",
    "undefined",
    "without_delayed_entry",
]

FloatArray: TypeAlias = NDArray[np.float64]
# The distribution of each row: of the time to the event, or of its cause and time.
PredictedDistribution: TypeAlias = SurvivalDistribution | CompetingDistribution
# The same or, where a metric takes them, predicted times (n,).
Prediction: TypeAlias = PredictedDistribution | ArrayLike


def as_numbers(array: Array) -> FloatArray:
    """The values of a distribution as float64 of numpy, whatever library and device computed them."""
    return np.asarray(to_device(without_gradient(array), "cpu"), dtype=np.float64)


def number_column(values: object, name: str, length: int) -> FloatArray:
    """``values`` as one number per row, checked: of the right length and without NaN."""
    try:
        column = np.asarray(without_gradient(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{name} must be numbers, but is {type(values).__name__} ({error}).", argument=name
        ) from None
    if column.shape != (length,):
        raise ParameterError(
            f"{name} must have one number for each of {length} rows, but has shape {column.shape}.", argument=name
        )
    missing = np.isnan(column)
    if missing.any():
        raise ParameterError(
            f"{name} must be numbers, but {missing.sum()} of {length} values are NaN",
            argument=name,
            row=int(np.argmax(missing)),
        )
    return column


def matched_data(predicted: object, data: SurvivalData) -> SurvivalData:
    """The data, checked to have a row for each row of the prediction."""
    if isinstance(predicted, CompetingDistribution):
        raise ParameterError(
            "this metric is of the time to one event and has no definition by cause, but predicted has causes",
            argument="predicted",
            advice="For the first event of any cause give predicted.overall().",
        )
    if not isinstance(predicted, SurvivalDistribution):
        raise ParameterError(
            f"predicted must be a SurvivalDistribution, but is {type(predicted).__name__}.", argument="predicted"
        )
    rows = person_rows(data)
    if len(rows) != len(predicted):
        raise ParameterError(
            f"predicted and data must have the same rows, but predicted has {len(predicted)} and data {len(rows)}.",
            argument="predicted",
        )
    return rows


def person_rows(data: object) -> SurvivalData:
    """The data as observed, checked to have one row per person: metrics count people, not episodes."""
    rows = SurvivalData.of(data)
    if rows.person is not None:
        raise CensoringError(
            f"data must have one row per person, but its {len(rows)} rows are episodes of {rows.n_persons} persons",
            argument="data",
            advice="Compare model.predict_path(X, id, start, stop) with data.persons().",
        )
    return rows


def without_delayed_entry(data: SurvivalData, metric: str) -> SurvivalData:
    """The data; an error if some subjects came under observation only after time 0."""
    if data.entry is not None and (data.entry > 0).any():
        late = data.entry > 0
        row = int(np.argmax(late))
        raise CensoringError(
            f"{metric} is not defined for delayed entry, but {late.sum()} of {len(data)} rows enter after 0, the "
            f"first at {plain_number(data.entry[row])}",
            argument="data",
            row=row,
            advice="log_likelihood and the metrics of calibration are defined for it.",
        )
    return data


def undefined(metric: str, reason: str, *, where: str = "", stacklevel: int = 3) -> float:
    """NaN, with a warning that says why; `where` says at which times, if not at all."""
    text = f"{metric} is not defined and NaN{f' {where}' if where else ''}: {reason}."
    warnings.warn(UndefinedMetricWarning(text, metric=metric, reason=reason, where=where), stacklevel=stacklevel)
    return float("nan")
