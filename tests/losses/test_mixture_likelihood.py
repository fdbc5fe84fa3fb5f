"""The likelihood of mixtures: against scipy and the distribution itself, slopes against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import DataError
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.losses.objective import ClosedFormObjective

LAYOUTS = {
    "free": MixtureOutputs(3, tied=False, exp_theta=False),
    "free exp": MixtureOutputs(2, tied=False, exp_theta=True),
    "tied": MixtureOutputs(3, tied=True, exp_theta=False),
    "tied exp": MixtureOutputs(2, tied=True, exp_theta=True),
    "skewed": MixtureOutputs(3, tied=True, exp_theta=False, skewed=True),
    "skewed exp": MixtureOutputs(2, tied=True, exp_theta=True, skewed=True),
}
LEAST = 0.125
every_support = pytest.mark.parametrize("support", SUPPORTS)
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)


def known(kinds="er", n=60, seed=0, *, entry=False):
    rng = np.random.default_rng(seed)
    # Exact in float32, so that a difference is one of formulas.
    time = (rng.exponential(2.0, n) + 0.1).astype(np.float32).astype(np.float64)
    kind = np.array(list(kinds))[rng.integers(0, len(kinds), n)]
    lower = np.where(kind == "l", -np.inf, time)
    upper = np.where(kind == "r", np.inf, np.where(kind == "i", time * 1.5, time))
    entries = np.where(rng.random(n) < 0.5, time * 0.25, -np.inf) if entry else None
    return SurvivalData.interval(lower, upper, entry=entries)


def outputs(layout, n=60, seed=1, members=1):
    return torch.tensor(0.5 * np.random.default_rng(seed).normal(size=(members, n, layout.outputs)))


def by_hand(layout, raw):
    """Parameters (n, K) from outputs, written out from the definition of the layout."""
    k = layout.components
    places = np.linspace(-1, 1, k)
    if layout.tied:
        first = 3 if layout.skewed else 2
        mu, s, logits = raw[:, :1], raw[:, 1:2], raw[:, first : first + k]
        delta, rho, log_kappa = (raw[:, first + j * k : first + (j + 1) * k] for j in (1, 2, 3))
        log_kappa = log_kappa + (raw[:, 2:3] if layout.skewed else 0)
        location = mu + (delta + places) * (1 if layout.exp_theta else np.exp(s))
        log_scale = s + rho
    else:
        location, log_scale, log_kappa, logits = (raw[:, j * k : (j + 1) * k] for j in range(4))
        location = location + places
    weights = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    theta = np.exp(location) if layout.exp_theta else location
    return theta, np.exp(log_scale) + LEAST, np.exp(log_kappa), 0.99 * weights + 0.01 / k


def losses_of(layout, support, data, raw, *, unit=1.0, weight=None):
    objective = mixture_objective(layout, SUPPORTS[support], data, LEAST, unit=unit)
    fields = tuple(
        (field.double() if field.is_floating_point() else field)[None].expand(len(raw), -1)
        for field in objective.fields
    )
    return objective, fields, objective.losses(raw, fields, weight)


@every_layout
def test_columns_are_those_of_the_definition(layout):
    raw = outputs(layout)[0].numpy()
    found = layout.columns(raw, LEAST)
    for name, expected in zip(("theta", "sigma", "kappa", "weights"), by_hand(layout, raw), strict=True):
        assert_allclose(found[name], expected, rtol=1e-13, err_msg=name)


@every_layout
def test_events_and_censored_rows_against_scipy(layout):
    data, raw = known(), outputs(layout)
    theta, sigma, kappa, weights = by_hand(layout, raw[0].numpy())
    part = stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))
    time, seen = data.lower[:, None], data.exact
    likelihood = np.where(seen, (weights * part.pdf(time)).sum(1), (weights * part.sf(time)).sum(1))
    _, _, found = losses_of(layout, "real", data, raw)
    assert_allclose(found.numpy(), -np.log(likelihood).mean(), rtol=1e-7)
    # In another unit a density is per that unit.
    _, _, in_days = losses_of(layout, "real", data, raw, unit=30.0)
    assert_allclose(in_days.numpy() - found.numpy(), seen.mean() * np.log(30.0), rtol=1e-6)


@every_layout
@every_support
@pytest.mark.parametrize("kinds", ["er", "erl", "erli", "l", "i"])
@pytest.mark.parametrize("entry", [True, False], ids=["entry", "no entry"])
def test_every_kind_of_row_is_that_of_the_distribution(layout, support, kinds, entry):
    data, raw = known(kinds, entry=entry), outputs(layout, members=2)
    objective, _, found = losses_of(layout, support, data, raw)
    # With delayed entry an event before a time is one in an interval.
    closed = kinds == "er" or ("i" not in kinds and support != "positive" and not entry)
    assert isinstance(objective, ClosedFormObjective) == closed
    for member in range(2):
        d = MixedAsymmetricLaplace(*by_hand(layout, raw[member].numpy()), support=support)
        # float32 fields: times are exact, their logarithms are not.
        assert_allclose(found[member].item(), -d.log_likelihood(data).mean(), rtol=2e-6)


@every_layout
@pytest.mark.parametrize("size", [100.0, 300.0])
def test_outputs_that_single_precision_has_no_exponential_of(layout, size):
    # Of tens of millions of rows one may be so far out that the network answers in the hundreds.
    data = known(n=4 * layout.outputs)
    objective = mixture_objective(layout, SUPPORTS["log"], data, LEAST)
    raw = np.zeros((1, len(data), layout.outputs), np.float32)
    rows = np.arange(len(data))
    raw[0, rows, rows % layout.outputs] = np.where(rows < 2 * layout.outputs, size, -size)
    fields = [field.numpy()[None] for field in objective.fields]
    losses, slopes = objective.losses_and_slopes(raw, fields, None)
    assert np.isfinite(losses).all()
    assert np.isfinite(slopes).all()


@every_layout
@every_support
@pytest.mark.parametrize("kinds", ["er", "erl", "erli"])
@pytest.mark.parametrize("entry", [True, False], ids=["entry", "no entry"])
def test_slopes_against_finite_differences(layout, support, kinds, entry):
    data = known(kinds, n=12, entry=entry)
    objective, fields, _ = losses_of(layout, support, data, outputs(layout, 12))
    weight = torch.tensor(np.random.default_rng(5).uniform(0.2, 2.0, (1, 12)))
    raw = outputs(layout, 12).requires_grad_()
    (slopes,) = torch.autograd.grad(objective.losses(raw, fields, weight).sum(), raw)
    # Each output of all rows together, and all outputs of each row: every slope takes part in two checks.
    signs = torch.tensor(np.random.default_rng(7).choice([-1.0, 1.0], raw.shape))[0]
    directions = torch.zeros(layout.outputs + 12, 12, layout.outputs, dtype=torch.float64)
    for k in range(layout.outputs):
        directions[k, :, k] = signs[:, k]
    for row in range(12):
        directions[layout.outputs + row, row] = signs[row]
    # All directions at once, each as a member of its own.
    every = [field.expand(len(directions), -1) for field in (*fields, weight)]
    ahead, behind = (
        objective.losses(raw.detach() + h * directions, tuple(every[:-1]), every[-1]) for h in (1e-5, -1e-5)
    )
    assert_allclose((slopes * directions).sum(dim=(1, 2)), (ahead - behind) / 2e-5, rtol=1e-5, atol=1e-8)


@every_layout
@every_support
@pytest.mark.parametrize("entry", [True, False], ids=["entry", "no entry"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "no weights"])
def test_slopes_by_hand_are_those_of_torch(layout, support, entry, weighted):
    data = known("er" if entry or support == "positive" else "erl", entry=entry)
    objective = mixture_objective(layout, SUPPORTS[support], data, LEAST)
    fields = tuple(field[None].expand(3, -1) for field in objective.fields)
    weight = torch.rand(3, 60, generator=torch.Generator().manual_seed(0)) if weighted else None
    raw = outputs(layout, members=3).float().requires_grad_()
    expected = objective.losses(raw, fields, weight)
    expected.sum().backward()
    found, slopes = objective.losses_and_slopes(
        raw.detach().numpy(), [field.numpy() for field in fields], None if weight is None else weight.numpy()
    )
    assert found.dtype == slopes.dtype == np.float32
    assert_allclose(found, expected.detach(), rtol=1e-6)
    assert_allclose(slopes, raw.grad, rtol=1e-4, atol=1e-7)


@every_support
def test_far_rows_have_finite_slopes(support):
    layout = LAYOUTS["free"]
    data = SurvivalData.right([1e-4, 1e4, 1e4, 3.0], [True, True, False, True])
    objective = mixture_objective(layout, SUPPORTS[support], data, LEAST)
    raw = np.full((1, 4, layout.outputs), -2.0, np.float32)
    raw[..., 9:] = [30.0, 0.0, -60.0]
    values, slopes = objective.losses_and_slopes(raw, [field[None].numpy() for field in objective.fields], None)
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()


def test_a_component_that_weighs_nothing_still_feels_the_rows():
    # The network gives the second component e⁻⁶⁰ of the weight, but it stands where the rows are.
    layout = MixtureOutputs(2, tied=False, exp_theta=False)
    data = SurvivalData.right(np.full(20, 5.0), np.ones(20))
    objective = mixture_objective(layout, SUPPORTS["real"], data, LEAST)
    raw = np.tile(np.array([1.0, 3.5, 0, 0, 0, 0, 0, -60.0], np.float32), (1, 20, 1))
    _, slopes = objective.losses_and_slopes(raw, [field[None].numpy() for field in objective.fields], None)
    assert abs(slopes[0, :, 1].sum()) > 0.01


@every_layout
@every_support
def test_the_guess_puts_components_at_different_times(layout, support):
    data = known(n=400)
    objective = mixture_objective(layout, SUPPORTS[support], data, LEAST)
    start, scale = objective.guess(np.arange(400))
    assert start.shape == scale.shape == (layout.outputs,)
    theta = layout.columns(start[None], LEAST)["theta"][0]
    middle = np.log(data.lower) if support == "log" else data.lower
    below = [(middle < place).mean() for place in theta]
    if not (layout.exp_theta and support == "log"):
        # exp cannot reach negative logarithms of time: what it can, it spreads.
        k = layout.components
        assert_allclose(below, (np.arange(k) + 0.5) / k, atol=0.1)


def test_an_event_at_time_zero_has_no_logarithm():
    data = SurvivalData.right([0.0, 1.0], [True, True])
    with pytest.raises(DataError, match="no logarithm"):
        mixture_objective(LAYOUTS["free"], SUPPORTS["log"], data, LEAST)
