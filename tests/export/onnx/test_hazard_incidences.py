"""Incidences of causes with hazards of their own: the panels of a graph against those of Python, which are halved."""

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnxruntime

from aldsurv.distributions import CauseHazards, LogNormal, MixedAsymmetricLaplace, Weibull
from aldsurv.distributions.support import SUPPORTS
from aldsurv.export.onnx.curves.laplace import LaplaceMixture
from aldsurv.export.onnx.curves.parametric import LogNormalCurve, WeibullCurve
from aldsurv.export.onnx.graph import Graph
from aldsurv.export.onnx.hazard_incidences import HazardIncidences

N = 30
TIMES = np.array([1e-3, 0.3, 0.9, 1.0, 1.7, 4.0, 50.0])


def _incidences(graph, parts):
    """Incidence (causes, n, m) by the graph of one member."""
    asked = graph.input("times", "float64", ["times"]).unsqueeze(1)
    for k, tensor in enumerate(HazardIncidences((tuple(parts),)).at(asked)):
        graph.output(f"cause_{k}", tensor, ["times", "rows"])
    content = graph.model("incidences", {}).SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return np.array(session.run(None, {"times": TIMES})).transpose(0, 2, 1)


def _expected(parts):
    distribution = CauseHazards(parts)
    return np.array([distribution.incidence(TIMES, cause) for cause in distribution.causes])


@pytest.mark.parametrize("causes", [2, 3])
@pytest.mark.parametrize("support", sorted(SUPPORTS))
def test_narrow_and_wide_components(support, causes):
    rng, graph = np.random.default_rng(causes), Graph()
    curves, distributions = [], []
    for _ in range(causes):
        theta = rng.normal(0.3, 0.5, (3, N))
        # A component may be a thousand times narrower than another.
        sigma, kappa = np.exp(rng.uniform(-6, 1, (3, N))), np.exp(rng.uniform(-1.5, 1.5, (3, N)))
        weights = rng.dirichlet(np.ones(3), N).T
        columns = [graph.constant(column) for column in (theta, sigma, kappa, weights)]
        curves.append(LaplaceMixture(*columns, SUPPORTS[support]))
        distributions.append(MixedAsymmetricLaplace(theta.T, sigma.T, kappa.T, weights.T, support=support))
    np.testing.assert_allclose(_incidences(graph, curves), _expected(distributions), rtol=0, atol=1e-9)


def test_weibull_and_normal_parts():
    rng = np.random.default_rng(0)
    location, spread = rng.normal(0.3, 0.5, (2, N)), np.exp(rng.uniform(-4, 1, (2, N)))
    for curve, family, columns in (
        (LogNormalCurve, LogNormal, (location, spread)),
        (WeibullCurve, lambda log_scale, shape: Weibull(np.exp(log_scale), shape), (location, 1 / spread)),
    ):
        graph, pairs = Graph(), list(zip(*columns, strict=True))
        curves = [curve(*(graph.constant(column[None]) for column in pair)) for pair in pairs]
        expected = _expected([family(*pair) for pair in pairs])
        np.testing.assert_allclose(_incidences(graph, curves), expected, rtol=0, atol=1e-9)
