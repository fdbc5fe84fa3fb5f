"""The same formulas on torch: the same numbers, and derivatives that exist."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from aldsurv import SurvivalData
from aldsurv.distributions import (
    AsymmetricLaplace,
    CovariatePath,
    Cured,
    Earliest,
    Exponential,
    LeftTruncated,
    LogAsymmetricLaplace,
    LogNormal,
    MixedAsymmetricLaplace,
    Mixture,
    Normal,
    PositiveAsymmetricLaplace,
    ProportionalHazards,
    QuantileKnots,
    Recalibrated,
    ScaledHazard,
    Shifted,
    Step,
    Weibull,
)
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.registry import FAMILIES
from contracts.families import DISCRETE, NAMES, members

FUNCTIONS = {
    "survival": ([-1.0, 0.5, 3.0, 40.0],),
    "log_survival": ([-1.0, 0.5, 3.0, 40.0],),
    "cdf": ([0.5, 3.0, 40.0],),
    "log_cdf": ([0.5, 3.0, 40.0],),
    "density": ([0.5, 3.0, 40.0],),
    "log_density": ([0.5, 3.0],),
    "hazard": ([0.5, 3.0],),
    "cumulative_hazard": ([0.5, 3.0],),
    "log_probability": (0.5, [3.0, 9.0]),
    "quantile": ([0.01, 0.5, 0.99],),
    "interval": (0.9,),
    "mean": (),
    "variance": (),
    "mode": (),
    "restricted_mean": ([0.5, 5.0],),
    "mean_residual_life": ([0.5, 3.0],),
    "crps": ([0.5, 5.0],),
}


def on_torch(d, leaves: list[torch.Tensor]):
    """The same distribution with tensors for parameters; the tensors are appended to ``leaves``."""

    def tensor(array: np.ndarray) -> torch.Tensor:
        leaf = torch.tensor(np.array(array), dtype=torch.float64, requires_grad=True)
        leaves.append(leaf)
        return leaf

    if isinstance(d, Parametric):
        return type(d)(**{name: tensor(column) for name, column in d._columns().items()})
    if isinstance(d, Mixture):
        return Mixture([on_torch(part, leaves) for part in d.components], torch.tensor(np.array(d.weights)))
    if isinstance(d, MixedAsymmetricLaplace):
        columns = [tensor(getattr(d, name)) for name in ("theta", "sigma", "kappa")]
        return MixedAsymmetricLaplace(*columns, torch.tensor(np.array(d.weights)), support=d.support)
    if isinstance(d, CovariatePath):
        return CovariatePath([on_torch(part, leaves) for part in d.parts], torch.tensor(np.array(d.starts)))
    if isinstance(d, Earliest):
        return Earliest([on_torch(part, leaves) for part in d.parts])
    if isinstance(d, Cured):
        return Cured(on_torch(d.base, leaves), tensor(d.cure))
    if isinstance(d, LeftTruncated):
        return LeftTruncated(on_torch(d.base, leaves), torch.tensor(np.array(d.since)))
    if isinstance(d, Shifted):
        return Shifted(on_torch(d.base, leaves), tensor(d.offset))
    if isinstance(d, ScaledHazard):
        return ScaledHazard(on_torch(d.base, leaves), tensor(d.factor))
    if isinstance(d, Recalibrated):
        return Recalibrated(on_torch(d.base, leaves), d.level_map)
    if isinstance(d, Step):
        return Step(torch.tensor(d.times[0]), tensor(d.values), tail=d.tail)
    if isinstance(d, ProportionalHazards):
        risk = tensor(d.log_risk)
        baseline = (torch.tensor(np.array(array)) for array in (d.times, d.log_cumulative))
        return ProportionalHazards(*baseline, risk, sizes=d.size, strata=d.stratum[:, 0])
    if isinstance(d, QuantileKnots):
        return QuantileKnots(d.cdf_values[0, 1:], tensor(d.values[:, 1:]))
    raise AssertionError(f"no way to put a {type(d).__name__} on torch: add one here")


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3)
@given(data=st.data())
def test_torch_gives_the_numbers_of_numpy(name, data):
    d = data.draw(members(name))
    same = on_torch(d, [])
    for method, arguments in FUNCTIONS.items():
        found, expected = getattr(same, method)(*arguments), getattr(d, method)(*arguments)
        assert isinstance(found, torch.Tensor)
        assert found.dtype == torch.float64
        assert tuple(found.shape) == expected.shape
        # Where numpy has a closed form that torch lacks (incomplete gamma) they differ by the quadrature's error; a
        # mode that is searched for is known to the square root of the precision.
        close = {"rtol": 1e-6, "atol": 1e-7} if method == "mode" else {"rtol": 1e-8, "atol": 1e-12}
        assert_allclose(found.detach().numpy(), expected, **close, err_msg=method)
    assert_allclose(same.sample(4, random_state=3).detach(), d.sample(4, random_state=3), rtol=1e-9, atol=1e-12)
    rows = SurvivalData.interval([1.0, 2.0, -np.inf, 0.5], [1.0, np.inf, 3.0, 4.0], entry=[0.2, -np.inf, 0.1, 0.3])
    index = [0] * 4
    assert_allclose(same[index].log_likelihood(rows).detach(), d[index].log_likelihood(rows), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*DISCRETE, "quantile_knots"}])
@settings(max_examples=3)
@given(data=st.data())
def test_gradients_are_finite(name, data):
    d = data.draw(members(name))
    for method, arguments in FUNCTIONS.items():
        leaves: list[torch.Tensor] = []
        value = getattr(on_torch(d, leaves), method)(*arguments)
        value = value[torch.isfinite(value)].sum()
        if value.requires_grad:
            for gradient in torch.autograd.grad(value, leaves, allow_unused=True):
                assert gradient is None or bool(torch.isfinite(gradient).all()), method


# ---- derivatives checked against finite differences


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


LIKELIHOOD = ("log_density", "log_survival", "log_cdf")
PARAMETRIC = [name for name in NAMES if issubclass(FAMILIES.load(name), Parametric)]


@pytest.mark.parametrize("name", PARAMETRIC)
@pytest.mark.parametrize("method", [*LIKELIHOOD, "log_probability", "quantile", "restricted_mean", "crps", "mean"])
def test_gradcheck_of_every_parametric_family(name, method):
    cls = FAMILIES.load(name)
    values = {"real": [1.3, -0.4], "positive": [0.6, 1.7]}
    inputs = [column(*values[domain]) for domain in cls.parameters().values()]
    arguments = {"log_probability": (0.7, 2.1), "quantile": ([0.1, 0.8],), "mean": ()}.get(method, ([0.7, 2.1],))

    def function(*parameters):
        value = getattr(cls(*parameters), method)(*arguments)
        return torch.where(torch.isfinite(value), value, torch.zeros_like(value))

    assert torch.autograd.gradcheck(function, inputs, eps=1e-6, atol=1e-6, rtol=1e-5)


DISTANCES = [0.0, 1e-3, -1e-3, 0.8, -0.8, 40.0, -40.0]
# All of it is checked but the hazard at θ itself, where it has a corner whose slopes are not averaged.
CASES = [
    (method, distance)
    for method in [*LIKELIHOOD, "survival", "hazard", "crps"]
    for distance in DISTANCES
    if (method, distance) != ("hazard", 0.0)
]


@pytest.mark.parametrize(("method", "distance"), CASES)
@pytest.mark.parametrize("kappa", [0.05, 1.0, 20.0])
def test_gradcheck_of_the_ald_at_beside_and_far_from_theta(method, distance, kappa):
    # Exactly at θ the density has a corner: torch gives the mean of both slopes, as central differences do.
    theta, sigma, shape = column(2.0), column(1.5), column(kappa)
    time = 2.0 + distance

    def function(*parameters):
        return getattr(AsymmetricLaplace(*parameters), method)(time)

    assert torch.autograd.gradcheck(function, (theta, sigma, shape), eps=1e-7, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("family", [AsymmetricLaplace, PositiveAsymmetricLaplace, LogAsymmetricLaplace])
@pytest.mark.parametrize("kappa", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_likelihood_gradients_stay_finite_in_the_far_tails(family, kappa, sigma, dtype):
    distances = torch.tensor([0.0, 1e-6, 1.0, 30.0, 1e4], dtype=dtype)
    for sign in (-1.0, 1.0):
        theta = torch.full((5,), 2.0, dtype=dtype, requires_grad=True)
        scale = torch.full((5,), sigma, dtype=dtype, requires_grad=True)
        shape = torch.full((5,), kappa, dtype=dtype, requires_grad=True)
        d = family(theta, scale, shape)
        place = 2.0 + sign * distances * sigma
        if family is LogAsymmetricLaplace:
            place = torch.exp(torch.clip(place, -80.0, 80.0))
        elif family is PositiveAsymmetricLaplace:
            place = torch.clip(place, 1e-6, None)
        for method in LIKELIHOOD:
            value = getattr(d, method)(place[:, None])
            used = torch.isfinite(value)
            if bool(used.any()):
                gradients = torch.autograd.grad(value[used].sum(), (theta, scale, shape), retain_graph=True)
                assert all(bool(torch.isfinite(gradient).all()) for gradient in gradients), (method, sign)


def test_precision_and_device_follow_the_parameters():
    d = AsymmetricLaplace(torch.zeros(3, dtype=torch.float32), 1.0, [1.0, 2.0, 0.5])
    assert d.survival([1.0]).dtype == torch.float32
    assert d.theta.shape == (3, 1)
    assert AsymmetricLaplace(torch.arange(3), 1.0, 1.0).mean().dtype == torch.float64
    assert d[torch.tensor([2, 0])].kappa[0, 0] == 0.5
    assert len(d[np.array([True, False, True])]) == 2


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_quantile_of_a_mixture_has_the_implicit_derivative(scale):
    theta, sigma = column(1.0 * scale), column(0.5 * scale)

    def function(theta, sigma):
        parts = [AsymmetricLaplace(theta, sigma, 0.7), Normal(theta + 2 * scale, sigma), LogNormal(theta / scale, 0.4)]
        return Mixture(parts).quantile([0.05, 0.5, 0.95]) / scale

    assert torch.autograd.gradcheck(function, (theta, sigma), eps=1e-6 * scale, atol=1e-6, rtol=1e-5)


def test_training_by_gradient_descent_finds_the_parameters():
    truth = AsymmetricLaplace(np.full(4000, 5.0), 2.0, 0.6)
    times = truth.sample(random_state=1)
    censoring = np.random.default_rng(2).uniform(2, 20, 4000)
    kept = times > 0
    data = SurvivalData.right(np.minimum(times, censoring)[kept], (times <= censoring)[kept])
    raw = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([raw], lr=0.1)
    for _ in range(200):
        optimiser.zero_grad()
        theta, log_sigma, log_kappa = raw
        rows = torch.ones(len(data), dtype=torch.float64)
        d = AsymmetricLaplace(theta * rows, torch.exp(log_sigma) * rows, torch.exp(log_kappa) * rows)
        loss = -d.log_likelihood(data).mean()
        loss.backward()
        optimiser.step()
    theta, sigma, kappa = raw[0].item(), math.exp(raw[1].item()), math.exp(raw[2].item())
    assert abs(theta - 5.0) < 0.15
    assert abs(sigma - 2.0) < 0.15
    assert abs(kappa - 0.6) < 0.05


def test_exponential_and_weibull_agree_on_torch():
    scale = torch.tensor([2.0, 3.0])
    one = Exponential(scale), Weibull(scale, 1.0)
    for method, arguments in FUNCTIONS.items():
        first, second = (getattr(d, method)(*arguments) for d in one)
        assert_allclose(first.numpy(), second.numpy(), rtol=1e-4, atol=1e-6, err_msg=method)
