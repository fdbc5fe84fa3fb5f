"""Boosted trees: every row walks through all of them, level by level."""

from __future__ import annotations

import numpy as np

from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.export.onnx.columns import Columns, Rows
from aldsurv.export.onnx.curves.laplace import LaplaceMixture
from aldsurv.export.onnx.graph import Graph, Tensor, joined
from aldsurv.export.onnx.models.neural import cause_predictions, laplace_columns, mean_parameters, mixture_columns
from aldsurv.export.onnx.models.prediction import Prediction, predict
from aldsurv.models.trees.boosted_ald import BoostedALD
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.tree_arrays import Trees

__all__: list[str] = []


@predict.register
def _(model: BoostedALD, columns: Columns) -> Prediction:
    outputs, (members, boosted) = model.outputs_, model.units_.shape
    rows = columns.rows(model.features_)
    sums = _tree_sums(columns.graph, model.trees_, rows, members * boosted)
    raws = []
    for k in range(members):
        grown = sums.slice(k * boosted, (k + 1) * boosted) * columns.graph.constant(model.units_[k][:, None])
        moved = grown + columns.graph.constant(model.start_[k, :boosted, None])
        fixed = columns.graph.constant(model.start_[k, boosted:, None])
        raws.append(joined([moved, fixed + moved.slice(0, 1) * 0.0]) if boosted < outputs.count else moved)
    layout = outputs.layout
    if layout is None:
        parts = [_part(outputs.part, raw).scaled(model.time_scale_) for raw in raws]
        mixture = LaplaceMixture.joined(parts, [1.0 / members] * members)
        return Prediction(mixture, parameters=mean_parameters(model.parameter_names, parts))
    every = [
        tuple(_part(outputs.part, raw.gather(layout.columns(cause))) for cause in range(layout.causes)) for raw in raws
    ]
    logits = [raw.slice(0, max(layout.logits, 1)) for raw in raws]
    incidences = cause_predictions(layout, [tuple(one) for one in every], logits).scaled(model.time_scale_)
    return Prediction(incidences.overall(), None if outputs.causes is None else incidences)


def _part(part: BoostedOutputs, raw: Tensor) -> LaplaceMixture:
    support = SUPPORTS[part.support]
    exp_theta = support.theta_link == "exp"
    if part.components == 1:
        return laplace_columns(raw, support, exp_theta=exp_theta)
    return mixture_columns(raw, MixtureOutputs(part.components, True, exp_theta), part.least_scale, support)


def _tree_sums(graph: Graph, trees: Trees, rows: Rows, outputs: int) -> Tensor:
    """Sums of the trees (outputs, rows)."""
    zero = rows.values.slice(0, 1) * 0.0
    if not len(trees):
        return graph.constant(np.zeros((outputs, 1))) + zero
    leaf, itself = trees.feature == -1, np.arange(len(trees.feature))
    base = np.repeat(trees.first[:-1], np.diff(trees.first))
    left, right = (np.where(leaf, itself, base + side) for side in (trees.left, trees.right))
    place = np.zeros(int(rows.order.max()) + 1, np.int64)
    place[rows.order] = np.arange(len(rows.order))
    # A leaf looks at the first column and goes to itself either way.
    column = place[np.maximum(trees.feature, 0)]
    # Compared in single precision, as the trees were grown. A gap is a level or an indicator: no number is missing.
    values = rows.values.cast("float32")
    seen_table, threshold = graph.constant(column, "int64"), graph.constant(trees.threshold, "float32")
    go_left, go_right = graph.constant(left, "int64"), graph.constant(right, "int64")
    node = graph.constant(trees.first[:-1][:, None], "int64") + zero.cast("int64")
    for _ in range(trees.levels):
        below = values.gather_rows(seen_table.gather(node)) < threshold.gather(node)
        node = below.where(go_left.gather(node), go_right.gather(node))
    leaves = graph.constant(trees.value.astype(np.float64)).gather(node)
    owner = (trees.output[None, :] == np.arange(outputs)[:, None]).astype(np.float64)
    return graph.constant(owner) @ leaves
