"""Models made of other models: recalibrated, corrected level by level, updated, stacked."""

from __future__ import annotations

import math

import numpy as np

from aldsurv.export.onnx.columns import Columns
from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.curves.hazards import GridCurve
from aldsurv.export.onnx.curves.laplace import LaplaceMixture
from aldsurv.export.onnx.curves.levels import HazardTimes, Remapped
from aldsurv.export.onnx.curves.mixed import MixedCurves, mixed
from aldsurv.export.onnx.curves.tables import StepCurve
from aldsurv.export.onnx.graph import joined
from aldsurv.export.onnx.models.prediction import Prediction, not_exported, predict
from aldsurv.export.onnx.network import network_outputs
from aldsurv.models.updating.updated_survival import UpdatedSurvival
from aldsurv.models.wrappers.icald_calibrated import ICALDCalibrated
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival
from aldsurv.models.wrappers.stacked import StackedSurvival
from aldsurv.networks.level_grid import level_nodes

__all__: list[str] = []

# As the models have them: logarithms of factors of levels and of hazards, and linear predictors.
_LARGEST_LOG = 20.0
_LOWEST, _HIGHEST = math.log(1e-8), math.log(50.0)


@predict.register
def _(model: RecalibratedSurvival, columns: Columns) -> Prediction:
    return Prediction(Remapped(predict(model.estimator_, columns).curve, model.level_map_))


@predict.register
def _(model: UpdatedSurvival, columns: Columns) -> Prediction:
    curve, change = predict(model.estimator_, columns).curve, model.adjustment_
    if change.slope != 1.0:
        hazard = (-curve.log_survival(columns.graph.constant([[change.time]]))).log().clip(_LOWEST, _HIGHEST)
        factor = (hazard - change.center) * (change.slope - 1.0) + change.intercept
        curve = HazardTimes(curve, factor.clip(-_LARGEST_LOG, _LARGEST_LOG).exp())
    elif change.intercept:
        curve = HazardTimes(curve, columns.graph.constant([[math.exp(change.intercept)]]))
    return Prediction(Remapped(curve, change.level_map) if change.level_map.knots.size else curve)


@predict.register
def _(model: StackedSurvival, columns: Columns) -> Prediction:
    parts = [_without_steps(predict(each, columns).curve, model) for each in model.estimators_.values()]
    return Prediction(mixed(parts, list(model.weights_.values())))


def _without_steps(curve: Curve, model: StackedSurvival) -> Curve:
    """Curves of steps joined by lines between the knots of the stack."""
    if isinstance(curve, MixedCurves):
        return MixedCurves(tuple(_without_steps(part, model) for part in curve.parts), curve.shares)
    if not isinstance(curve, (GridCurve, StepCurve)):
        return curve
    times = np.asarray(model.knots_, np.float64)
    return StepCurve(times, curve.survival(curve.graph.constant(times[:, None]))).smoothed()


@predict.register
def _(model: ICALDCalibrated, columns: Columns) -> Prediction:
    base, graph = predict(model.estimator_, columns).curve, columns.graph
    if not isinstance(base, LaplaceMixture):
        raise not_exported(model, "the model within does not predict asymmetric Laplace distributions")
    levels, shares = np.array(level_nodes(model.nodes)).T
    raw = network_outputs(model.network_, model.weights_, columns.rows(model.features_), levels)
    raw = raw.clip(-_LARGEST_LOG, _LARGEST_LOG)
    members, parts = len(model.weights_["output.bias"]), []
    weights = [graph.constant([[float(share)]]) for share in shares / shares.sum()]
    for k in range(members):
        by_theta, by_sigma, by_kappa = (raw.slice(k, k + 1).squeeze(0).slice(j, j + 1).squeeze(0) for j in range(3))
        # Components (components, 1, rows) at each level (levels, rows).
        theta, sigma, kappa = (column.unsqueeze(1) for column in (base.theta, base.sigma, base.kappa))
        moved = theta + by_theta if base.support.of_log_time else theta * by_theta.exp()
        weight = base.weights.unsqueeze(1) * joined(weights)
        columns_ = (moved, sigma * by_sigma.exp(), kappa * by_kappa.exp(), weight)
        count = model.nodes
        flat = [joined([column.slice(j, j + 1, axis=1).squeeze(1) for j in range(count)]) for column in columns_]
        theta, sigma, kappa, weight = flat
        parts.append(LaplaceMixture(theta, sigma, kappa, weight, base.support))
    return Prediction(LaplaceMixture.joined(parts, [1.0 / members] * members))
