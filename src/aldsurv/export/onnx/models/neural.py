"""Models with a network: what its outputs stand for, dispatched by the class of their settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import singledispatch

import numpy as np

from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.distributions.families.log_normal import LogNormal
from aldsurv.distributions.families.weibull import Weibull
from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.distributions.numerics.ordered_quantiles import middle_level
from aldsurv.distributions.support import SUPPORTS, Support, support_of
from aldsurv.errors import ParameterError
from aldsurv.export.onnx.columns import Columns
from aldsurv.export.onnx.curves.base import Curve, SmoothCurve
from aldsurv.export.onnx.curves.hazards import HazardGrid, MemberHazards
from aldsurv.export.onnx.curves.laplace import LaplaceMixture
from aldsurv.export.onnx.curves.mixed import mixed
from aldsurv.export.onnx.curves.parametric import LogNormalCurve, WeibullCurve
from aldsurv.export.onnx.curves.tables import quantile_knots
from aldsurv.export.onnx.functions import softplus
from aldsurv.export.onnx.graph import Tensor, joined
from aldsurv.export.onnx.hazard_incidences import HazardIncidences
from aldsurv.export.onnx.incidences import BinIncidences, CauseMixtureIncidences, Incidences
from aldsurv.export.onnx.models.prediction import Prediction, not_exported, predict
from aldsurv.export.onnx.network import network_outputs
from aldsurv.models.neural.ald import ALDNetwork, MixtureExtras
from aldsurv.models.neural.cqrnn import QuantileExtras, QuantileNetwork
from aldsurv.models.neural.deephit import BinExtras, BinNetwork
from aldsurv.models.neural.deepsurv import HazardExtras, RiskNetwork
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.icald import ICALDNetwork
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.neural.parametric import LARGEST_LOG, CauseExtras, ParametricNetwork
from aldsurv.networks.level_grid import level_nodes
from aldsurv.registry import FAMILIES

__all__ = ["cause_predictions", "laplace_columns", "mean_parameters", "mixture_columns", "network_prediction"]

_LARGEST_OUTPUT = 1e30


@predict.register
def _(model: NeuralSurvival, columns: Columns) -> Prediction:
    fitted = model.fitted_
    if fitted.features is None:
        raise not_exported(model, "an encoder of its own reads the columns")
    rows = columns.rows(fitted.features)
    raw = network_outputs(fitted.network, fitted.weights, rows, fitted.model.levels)
    return network_prediction(fitted.model, raw.clip(-_LARGEST_OUTPUT, _LARGEST_OUTPUT), fitted, columns)


@singledispatch
def network_prediction(model: NetworkModel, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    """What the outputs (members, outputs, rows) of the networks stand for, in the user's unit."""
    raise ParameterError(f"networks of {type(model).__name__} have no graph.", argument="model")


def _member(raw: Tensor, k: int) -> Tensor:
    return raw.slice(k, k + 1).squeeze(0)


def _exp(x: Tensor) -> Tensor:
    return x.clip(-LARGEST_LOG, LARGEST_LOG).exp()


# ---- families


def laplace_columns(raw: Tensor, support: Support, *, exp_theta: bool) -> LaplaceMixture:
    """One component from outputs (3, rows): θ, log σ and log κ."""
    theta, sigma, kappa = (raw.slice(k, k + 1) for k in range(3))
    theta, sigma, kappa = _exp(theta) if exp_theta else theta, _exp(sigma), _exp(kappa)
    return LaplaceMixture(theta, sigma, kappa, sigma * 0.0 + 1.0, support)


def mixture_columns(raw: Tensor, layout: MixtureOutputs, least_scale: float, support: Support) -> LaplaceMixture:
    """The components that outputs (outputs, rows) of a layout stand for."""
    graph, k = raw.graph, layout.components
    places = graph.constant(layout.places[:, None])

    def part(number: int) -> Tensor:
        return raw.slice(layout.shared + number * k, layout.shared + (number + 1) * k)

    if layout.tied:
        logits, relative, log_scale, log_kappa = part(0), part(1) + places, part(2), part(3)
        log_spread = raw.slice(1, 2)
        location = raw.slice(0, 1) + (relative if layout.exp_theta else _exp(log_spread) * relative)
        log_scale = log_spread + log_scale
        log_kappa = log_kappa + raw.slice(2, 3) if layout.skewed else log_kappa
    else:
        location, log_scale, log_kappa, logits = part(0) + places, part(1), part(2), part(3)
    share = (logits - logits.max(0, keep=True)).exp()
    share = share / share.sum(0, keep=True) * (1 - SHARED_OUT) + SHARED_OUT / k
    return LaplaceMixture(
        _exp(location) if layout.exp_theta else location,
        _exp(log_scale) + least_scale,
        _exp(log_kappa),
        share / share.sum(0, keep=True),
        support,
    )


def _linked(raw: Tensor, links: tuple[str, ...]) -> list[Tensor]:
    """Parameters (1, rows) from outputs (parameters, rows)."""
    found = []
    for k, link in enumerate(links):
        number = raw.slice(k, k + 1)
        if link == "identity":
            found.append(number)
        elif link == "exp":
            found.append(_exp(number))
        elif link == "softplus":
            found.append(softplus(number.clip(-LARGEST_LOG, LARGEST_LOG)))
        else:
            raise ParameterError(f"outputs with the link {link} have no graph.", argument="model")
    return found


@singledispatch
def _part(model: ParametricNetwork, raw: Tensor, extras: Extras) -> SmoothCurve:
    """The distribution that the outputs (part_outputs, rows) of one member and cause stand for, in the unit inside."""
    family, parameters = FAMILIES.load(model.family), _linked(raw, model.links)
    support = support_of(family)
    if support is not None:
        theta, sigma, kappa = parameters
        return LaplaceMixture(theta, sigma, kappa, sigma * 0.0 + 1.0, support)
    if family is LogNormal:
        return LogNormalCurve(*parameters)
    if family is Weibull:
        return WeibullCurve(parameters[0].log(), parameters[1])
    raise ParameterError(f"the family {model.family} has no graph.", argument="model")


@_part.register
def _(model: ALDNetwork, raw: Tensor, extras: Extras) -> SmoothCurve:
    layout = model.layout
    if layout is None:
        return laplace_columns(raw, SUPPORTS[model.support], exp_theta=model.theta_link == "exp")
    least = MixtureExtras.of(extras).least_scale
    return mixture_columns(raw, layout, float(least or 0.0), SUPPORTS[model.support])


@network_prediction.register
def _(model: ParametricNetwork, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    layout, members = model.cause_outputs(fitted.extras), fitted.n_members
    if layout is None:
        parts = [_part(model, _member(raw, k), fitted.extras).scaled(fitted.time_scale) for k in range(members)]
        return Prediction(
            mixed(parts, [1.0 / members] * members), parameters=mean_parameters(model.parameter_names, parts)
        )
    causes = CauseExtras.of(fitted.extras).causes
    every = [[_member(raw, k).gather(layout.columns(c)) for c in range(layout.causes)] for k in range(members)]
    parts_by_member = [tuple(_part(model, outputs, fitted.extras) for outputs in one) for one in every]
    logits = [_member(raw, k).slice(0, max(layout.logits, 1)) for k in range(members)]
    incidences = cause_predictions(layout, parts_by_member, logits).scaled(fitted.time_scale)
    return Prediction(incidences.overall(), None if causes is None else incidences)


def cause_predictions(layout: CauseOutputs, members: list[tuple[SmoothCurve, ...]], logits: list[Tensor]) -> Incidences:
    """Of members with a distribution for each cause; of a mixture with logits (logits, rows)."""
    if not layout.mixture:
        return HazardIncidences(tuple(members))
    mixtures = []
    for parts, raw in zip(members, logits, strict=True):
        share = (raw - raw.max(0, keep=True)).exp()
        share = share / share.sum(0, keep=True)
        chances = tuple(share.slice(k, k + 1) for k in range(layout.causes))
        cure = share.slice(layout.causes, layout.causes + 1) if layout.cure else None
        mixtures.append(CauseMixtureIncidences(parts, chances, cure))
    return CauseMixtureIncidences.mean_of(mixtures)


def mean_parameters(names: tuple[str, ...], parts: Sequence[Curve]) -> Mapping[str, Tensor]:
    """Means over the members by name."""
    tables = [joined(_columns_of(part)) for part in parts]
    total = tables[0]
    for table in tables[1:]:
        total = total + table
    mean = total / float(len(tables))
    return {name: mean.slice(k, k + 1) for k, name in enumerate(names)}


def _columns_of(part: Curve) -> list[Tensor]:
    if isinstance(part, LaplaceMixture):
        return [part.theta, part.sigma, part.kappa, part.weights]
    if isinstance(part, WeibullCurve):
        return [part.log_scale.exp(), part.shape]
    if isinstance(part, LogNormalCurve):
        return [part.mu, part.sigma]
    raise ParameterError(f"parameters of {type(part).__name__} have no names.", argument="model")


# ---- other networks


@network_prediction.register
def _(model: ICALDNetwork, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    shares = raw.graph.constant([[share] for _, share in level_nodes(model.nodes)])
    parts = []
    for k in range(fitted.n_members):
        outputs = _member(raw, k)
        theta, sigma, kappa = (outputs.slice(j, j + 1).squeeze(0) for j in range(3))
        theta = _exp(theta) if model.theta_link == "exp" else theta
        weights = shares / float(np.sum([share for _, share in level_nodes(model.nodes)])) + theta * 0.0
        parts.append(LaplaceMixture(theta, _exp(sigma), _exp(kappa), weights, SUPPORTS[model.support]))
    mixture = LaplaceMixture.joined(parts, [1.0 / len(parts)] * len(parts))
    return Prediction(mixture.scaled(fitted.time_scale))


@network_prediction.register
def _(model: QuantileNetwork, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    levels, parts = np.asarray(model.quantiles, np.float64), []
    for k in range(fitted.n_members):
        quantiles = _member(raw, k)
        if model.crossing == "never":
            gaps = softplus(quantiles.slice(1, len(levels)))
            sums = joined([quantiles.slice(0, 1) * 0.0, gaps]).cumulative_sum(0)
            middle = middle_level(len(levels))
            quantiles = quantiles.slice(0, 1) + (sums - sums.slice(middle, middle + 1))
        if model.support == "log":
            spread = QuantileExtras.of(fitted.extras).log_spread
            quantiles = _exp(quantiles * float(1.0 if spread is None else spread))
        parts.append(quantile_knots(quantiles, levels).scaled(fitted.time_scale))
    return Prediction(mixed(parts, [1.0 / len(parts)] * len(parts)))


@network_prediction.register
def _(model: RiskNetwork, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    extras, features = HazardExtras.of(fitted.extras), fitted.features
    heights = np.asarray(extras.log_hazard)
    members, strata, size = heights.shape
    stratum = None
    if model.strata and features is not None:
        names = [name if isinstance(name, str) else f"x{name}" for name in model.strata]
        stratum = columns.strata(names, extras.strata or (), features)
    grid = HazardGrid.of(
        raw.graph,
        np.tile(extras.times * fitted.time_scale, strata),
        heights.reshape(members, strata * size).T,
        (size,) * strata,
        stratum,
    )
    return Prediction(MemberHazards(grid, raw.squeeze(1)))


@network_prediction.register
def _(model: BinNetwork, raw: Tensor, fitted: FittedNetwork, columns: Columns) -> Prediction:
    extras = BinExtras.of(fitted.extras)
    bins, causes = len(extras.bin_ends), 1 if extras.causes is None else len(extras.causes)
    top = raw.max(1, keep=True).maximum(0.0)
    grown = (raw - top).exp()
    chances = (grown / (grown.sum(1, keep=True) + (-top).exp())).mean(0)
    tables = tuple(chances.slice(k * bins, (k + 1) * bins).cumulative_sum(0) for k in range(causes))
    incidences = BinIncidences(extras.bin_ends * fitted.time_scale, tables, model.interpolation == "linear")
    return Prediction(incidences.overall(), None if extras.causes is None else incidences)
