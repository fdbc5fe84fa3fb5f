"""A fitted model as one ONNX file: inputs, outputs, and what a reader should know of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aldsurv.checks import Choice, check
from aldsurv.errors import MissingDependencyError
from aldsurv.export.onnx.columns import Columns
from aldsurv.export.onnx.graph import Graph, Tensor
from aldsurv.export.onnx.models.prediction import Prediction, predict
from aldsurv.export.times_and_levels import DEFAULT_LEVELS, checked_levels, checked_times
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import printable
from aldsurv.registry import saved_model_name

__all__ = ["OUTPUTS", "PRECISIONS", "OnnxExport", "build_onnx"]

PRECISIONS = ("float64", "float32")
# What a graph may answer, in the order in which it has them.
OUTPUTS = ("survival", "quantiles", "median", "parameters", "incidence", "outside")
TIMES = "times"


@final
@dataclass(frozen=True, eq=False)
class OnnxExport:
    """A graph, and what it is made of.

    Attributes
    ----------
    model
        The ``onnx.ModelProto``.
    inputs
        For each input the column, the input's name, and what it holds.
    outputs
        Names of the outputs.
    """

    model: Any
    inputs: list[dict[str, object]]
    outputs: list[str]

    def to_bytes(self) -> bytes:
        """What a file holds."""
        content: bytes = self.model.SerializeToString()
        return content


def build_onnx(
    model: SurvivalEstimator,
    *,
    times: Sequence[float],
    quantiles: Sequence[float] = DEFAULT_LEVELS,
    precision: str = "float64",
    outputs: Sequence[str] | None = None,
    digest: str = "",
) -> OnnxExport:
    """A fitted model as a graph.

    Parameters
    ----------
    model
        The model; one with an encoder is refused.
    times
        Times of the survival, in the unit of the model; callers may give others as the input ``times``.
    quantiles
        Levels of the quantiles, between 0 and 1.
    precision
        Type of numbers that callers give and get: ``"float64"`` or ``"float32"``. Inside all is double precision.
    outputs
        Some of `OUTPUTS`; None: all that the model has.
    digest
        Of the file of the model (`aldsurv.files.file_digest`), for the metadata; empty for a model without one.
    """
    check("precision", precision, Choice(PRECISIONS))
    wanted = tuple(OUTPUTS if outputs is None else outputs)
    for name in wanted:
        check("outputs", name, Choice(OUTPUTS))
    grid, levels = checked_times(times), checked_levels(quantiles)
    _require_onnx()
    _register_models()
    graph = Graph()
    columns = Columns(graph, precision)
    causes = model.causes_ or ()
    reserved = [TIMES, *OUTPUTS, *(f"parameter_{name}" for name in model.parameter_names)]
    graph.reserve([*reserved, *(_output_name(cause) for cause in causes)])
    prediction = predict(model, columns)
    given_times = graph.input(TIMES, precision, [TIMES], grid.astype(precision)).cast("float64").unsqueeze(1)
    written = _write_outputs(graph, columns, model, prediction, given_times, levels, wanted)
    described = [column.to_dict() for column in columns.inputs.values()]
    metadata = {
        "aldsurv_version": _version(),
        "model": saved_model_name(type(model)),
        "digest": digest,
        "unit": str(_unit(model) or ""),
        "precision": precision,
        "columns": json.dumps(described, ensure_ascii=False),
        "times": json.dumps(grid.tolist()),
        "quantile_levels": json.dumps(levels.tolist()),
        "causes": json.dumps(list(causes), ensure_ascii=False),
    }
    return OnnxExport(graph.model(saved_model_name(type(model)), metadata), described, written)


def _write_outputs(
    graph: Graph,
    columns: Columns,
    model: SurvivalEstimator,
    prediction: Prediction,
    times: Tensor,
    levels: np.ndarray[Any, Any],
    wanted: Sequence[str],
) -> list[str]:
    precision, like, names = columns.precision, columns.any_input(), []

    def write(name: str, tensor: Tensor, shape: list[str | int]) -> None:
        values = tensor.expand(like)
        values = values.squeeze(0) if len(shape) == 1 else values.transpose([1, 0])
        graph.output(name, values if values.dtype == "bool" else values.cast(precision), shape)
        names.append(name)

    if "survival" in wanted:
        write("survival", prediction.curve.survival(times), ["rows", TIMES])
    searched = [*(levels.tolist() if "quantiles" in wanted else []), *([0.5] if "median" in wanted else [])]
    if searched:
        # One search for all of them.
        reached = prediction.curve.quantile(graph.constant(np.log1p(-np.array(searched))[:, None]))
        if "quantiles" in wanted and levels.size:
            write("quantiles", reached.slice(0, levels.size), ["rows", levels.size])
        if "median" in wanted:
            write("median", reached.slice(len(searched) - 1, len(searched)), ["rows"])
    if "parameters" in wanted:
        for name, tensor in prediction.parameters.items():
            write(f"parameter_{name}", tensor, ["rows"])
    incidences = prediction.incidences
    if "incidence" in wanted and incidences is not None:
        for cause, tensor in zip(model.causes_ or (), incidences.at(times), strict=True):
            write(_output_name(cause), tensor, ["rows", TIMES])
    features = model.innermost.features_ or model.features_
    if "outside" in wanted and features is not None:
        write("outside", columns.outside(features), ["rows"])
    return names


def _output_name(cause: str) -> str:
    return f"incidence_{printable(cause)}"


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise MissingDependencyError(
            'writing graphs needs onnx, which is not installed: pip install "aldsurv[onnx]"'
        ) from None


def _register_models() -> None:
    """Import the modules whose functions `predict` dispatches to."""
    from aldsurv.export.onnx.models import linear, neural, trees, wrappers  # noqa: F401


def _unit(model: SurvivalEstimator) -> str | None:
    unit: str | None = model.innermost.get_params(deep=False).get("unit")
    return unit


def _version() -> str:
    import aldsurv

    return str(aldsurv.__version__)
