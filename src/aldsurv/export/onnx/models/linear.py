"""Linear models: proportional hazards, accelerated failure times, regressions of competing causes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.event_columns import cause_number
from aldsurv.errors import ParameterError
from aldsurv.export.onnx.columns import Columns
from aldsurv.export.onnx.curves.base import Curve
from aldsurv.export.onnx.curves.hazards import HazardGrid, MemberHazards, SummedHazardCurves, SummedIncidenceCurves
from aldsurv.export.onnx.curves.levels import CuredCurve
from aldsurv.export.onnx.curves.parametric import LogNormalCurve, WeibullCurve
from aldsurv.export.onnx.functions import expm1
from aldsurv.export.onnx.graph import Tensor, joined
from aldsurv.export.onnx.incidences import GridIncidences
from aldsurv.export.onnx.models.prediction import Prediction, predict
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.competing.cause_regressions import SharedGrid
from aldsurv.models.linear.competing.cause_specific_cox import CauseSpecificCox
from aldsurv.models.linear.competing.fine_gray import FineGray
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.elastic_net.elastic_net_aft import ElasticNetAFT
from aldsurv.models.linear.proportional_hazards_survival import ProportionalHazardsSurvival
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline

__all__: list[str] = []

FloatArray = NDArray[np.float64]
# Locations of log time, and log odds of a cure, are cut there by the models.
_LARGEST_LOG = 300.0


def _linear(design: Design, columns: Columns, slopes: FloatArray, start: FloatArray) -> Tensor:
    """Sums (k, rows) of columns times slopes (k, d), and of what is added to them (k,)."""
    numbers = design.features.width
    placed = np.zeros((len(slopes), numbers))
    placed[:, design.used] = slopes
    rows = columns.rows(design.features, exact=True, without=design.strata_positions)
    graph = columns.graph
    return graph.constant(placed[:, rows.order]) @ rows.values + graph.constant(start[:, None])


def _stratum(design: Design, columns: Columns, baseline: BaselineHazard | StratifiedBaseline) -> Tensor | None:
    """Number of each row's baseline."""
    if not isinstance(baseline, StratifiedBaseline):
        return None
    plans = design.features.columns
    names = [column if isinstance(column, str) else plans[column].name for column in design.columns]
    code = columns.strata(names, design.strata, design.features)
    # A stratum may have no baseline of its own: one without rows that count.
    place = np.full(len(design.strata) + 1, -1)
    place[baseline.levels.astype(np.int64)] = np.arange(len(baseline.levels))
    known = columns.graph.constant(place, "int64")
    return known.gather((code < 0).where(columns.graph.constant(len(design.strata), "int64"), code))


@predict.register
def _(model: ProportionalHazardsSurvival, columns: Columns) -> Prediction:
    design, slopes, baseline = model.design_, model.standardised_, model.baseline_
    risk = _linear(design, columns, slopes[None, :], -np.atleast_1d(model.average_ @ slopes))
    parts = baseline.baselines if isinstance(baseline, StratifiedBaseline) else (baseline,)
    grid = HazardGrid.of(
        columns.graph,
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.log_cumulative for part in parts])[:, None],
        tuple(part.times.size for part in parts),
        _stratum(design, columns, baseline),
    )
    return Prediction(MemberHazards(grid, risk))


# ---- accelerated failure times


def _log_time(design: Design, columns: Columns, estimates: FloatArray) -> tuple[Tensor, float]:
    """Location (1, rows) and σ, by an intercept, the slopes and log σ."""
    location = _linear(design, columns, estimates[None, 1:-1], estimates[:1])
    return location.clip(-_LARGEST_LOG, _LARGEST_LOG), float(np.exp(estimates[-1]))


def _weibull(location: Tensor, sigma: float) -> Curve:
    return WeibullCurve(location, location.graph.constant([[1 / sigma]]))


def _log_normal(location: Tensor, sigma: float) -> Curve:
    return LogNormalCurve(location, location.graph.constant([[sigma]]))


def _with_cure(curve: Curve, model: WeibullAFT | LogNormalAFT, columns: Columns) -> Prediction:
    if not model.cure:
        return Prediction(curve)
    gamma = model.standardised_[len(model.design_.names) + 2 :]
    logit = _linear(model.design_, columns, gamma[None, 1:], gamma[:1]).clip(-_LARGEST_LOG, _LARGEST_LOG)
    return Prediction(CuredCurve(curve, 1.0 / (1.0 + (-logit).exp())))


@predict.register
def _(model: WeibullAFT, columns: Columns) -> Prediction:
    own = model.standardised_[: len(model.design_.names) + 2]
    return _with_cure(_weibull(*_log_time(model.design_, columns, own)), model, columns)


@predict.register
def _(model: LogNormalAFT, columns: Columns) -> Prediction:
    own = model.standardised_[: len(model.design_.names) + 2]
    return _with_cure(_log_normal(*_log_time(model.design_, columns, own)), model, columns)


@predict.register
def _(model: ElasticNetAFT, columns: Columns) -> Prediction:
    location, sigma = _log_time(model.design_, columns, model.standardised_)
    return Prediction((_weibull if model.family == "weibull" else _log_normal)(location, sigma))


# ---- competing causes


def _risks(model: CauseSpecificCox | FineGray, columns: Columns) -> Tensor:
    slopes = np.stack([one.standardised_ for one in model.regressions_])
    averages = np.array([one.average_ @ one.standardised_ for one in model.regressions_])
    return _linear(model.design_, columns, slopes, -averages)


def _grid(model: CauseSpecificCox | FineGray, columns: Columns) -> HazardGrid:
    baselines = [one.baseline_ for one in model.regressions_]
    shared = SharedGrid.of(baselines, None)
    stratum = _stratum(model.design_, columns, baselines[0])
    return HazardGrid.of(columns.graph, shared.times, shared.log_cumulative, tuple(shared.sizes), stratum)


@predict.register
def _(model: CauseSpecificCox, columns: Columns) -> Prediction:
    incidences = GridIncidences(SummedHazardCurves(_grid(model, columns), _risks(model, columns)))
    return Prediction(incidences.overall(), None if model.causes_ is None else incidences)


@predict.register
def _(model: FineGray, columns: Columns) -> Prediction:
    risks, grid = _risks(model, columns), _grid(model, columns)
    last = -expm1(-(risks + grid.log_cumulative[:, 0, -1:]).exp())
    count = len(model.regressions_)
    first = None
    if model.cause is not None and model.causes_ is not None:
        first = cause_number(model.cause, model.causes_) - 1
    if first is None:
        shares = last * 0.0 + 1.0 / last.sum(0, keep=True).maximum(1.0)
    else:
        others = np.array([k for k in range(count) if k != first])
        if not others.size:
            raise ParameterError("a cause of interest needs other causes beside it.", argument="model")
        total, left = last.gather(others).sum(0, keep=True), 1.0 - last.slice(first, first + 1)
        share = (total > left).where(left / (total > left).where(total, 1.0), 1.0)
        one = share * 0.0 + 1.0
        shares = joined([one if k == first else share for k in range(count)])
    incidences = GridIncidences(SummedIncidenceCurves(grid, risks, shares))
    return Prediction(incidences.overall(), None if model.causes_ is None else incidences)
