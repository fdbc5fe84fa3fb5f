"""What a model predicts, as a graph, and the functions by which kinds of models make it: dispatched by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import singledispatch
from typing import final

from aldsurv.errors import ParameterError
from aldsurv.export.onnx.columns import Columns
from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.graph import Tensor
from aldsurv.export.onnx.incidences import Incidences
from aldsurv.models.base import SurvivalEstimator

__all__ = ["Prediction", "not_exported", "predict"]


@final
@dataclass(frozen=True, eq=False)
class Prediction:
    """What the rows of a graph are predicted to have.

    Attributes
    ----------
    curve
        The distribution of the time to the event.
    incidences
        Of competing causes; None without any.
    parameters
        Parameters (1, rows) of the distribution by name, as `SurvivalEstimator.predict_parameters` gives them.
    """

    curve: Curve
    incidences: Incidences | None = None
    parameters: Mapping[str, Tensor] = field(default_factory=dict)


def not_exported(model: SurvivalEstimator, reason: str) -> ParameterError:
    """The error for a model that cannot be written as a graph."""
    return ParameterError(f"this {type(model).__name__} cannot be written as ONNX: {reason}.", argument="model")


@singledispatch
def predict(model: SurvivalEstimator, columns: Columns) -> Prediction:
    """The prediction of a fitted model from its columns.

    A new kind of model registers its own function: ``@predict.register``.
    """
    raise not_exported(model, "its kind of model has no graph")
