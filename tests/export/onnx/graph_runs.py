"""Rows as the columns of a model would have them, and what a graph answers to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime

from aldsurv.columns.column_plans import Levels, Number
from aldsurv.export.onnx import OnnxExport


def rows_for(model: Any, n: int = 24, seed: int = 0) -> dict[str | int, Any]:
    """Columns with values a little beyond training, gaps where training had some, and levels of training."""
    rng, columns = np.random.default_rng(seed), {}
    for name, plan in model.innermost.columns_.items():
        if isinstance(plan, Number):
            reach = 0.1 * (plan.high - plan.low)
            # Float32 can hold them: both kinds of graphs see the same rows.
            values = rng.uniform(plan.low - reach, plan.high + reach, n).astype(np.float32).astype(np.float64)
            values[:: 5 if plan.gaps else n] = np.nan
            columns[name] = values
        elif isinstance(plan, Levels):
            columns[name] = rng.choice(np.array(plan.levels, object), n)
        else:
            columns[name] = np.ones(n)
    strata = rng.integers(0, max(len(model.strata_), 1), n)
    for k, name in enumerate(model.strata_columns_):
        columns[name] = np.array([model.strata_[number][k] for number in strata], object)
    return columns


def as_table(columns: dict[str | int, Any]) -> Any:
    """What Python's models take: a dict, or an array if columns have no names."""
    if all(isinstance(name, str) for name in columns):
        return columns
    return np.column_stack([np.asarray(column, np.float64) for column in columns.values()])


def answers(graph: OnnxExport, columns: dict[Any, Any], precision: str = "float64", **more: Any) -> dict[str, Any]:
    """The outputs by name."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    # Optimising takes longer than these few rows.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.to_bytes(), options, providers=["CPUExecutionProvider"])
    feed = dict(more)
    for column in graph.inputs:
        name = str(column["column"])
        values = columns[name] if name in columns else columns[int(name[1:])]
        if column["kind"] == "text":
            feed[str(column["input"])] = np.array(["" if value is None else value for value in values], object)
        else:
            feed[str(column["input"])] = np.array([np.nan if value is None else value for value in values], precision)
    return dict(zip(graph.outputs, session.run(graph.outputs, feed), strict=True))


def distance(found: Any, expected: Any) -> float:
    """Largest relative distance of times, 0 where both are infinite."""
    found, expected = np.asarray(found, np.float64), np.asarray(expected)
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(found == expected, 0.0, np.abs(found - expected) / np.abs(expected))))
