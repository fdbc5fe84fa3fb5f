from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from distributions.ald_oracle import ExactALD
from scipy import stats

from aldsurv.distributions import AsymmetricLaplace
from aldsurv.losses.likelihood.ald_likelihood import _value_and_slopes, ald_log_likelihood

DISTANCES = [-1e4, -30.0, -1.0, -1e-6, 0.0, 1e-6, 1.0, 30.0, 1e4]
KAPPAS = [1e-4, 0.03, 0.7, 1.0, 1.4, 30.0, 1e4]
SIGMAS = [1e-8, 1.0, 1e8]


def outputs(theta, sigma, kappa, *, exp_theta, dtype=torch.float64):
    first = np.log(theta) if exp_theta else theta
    columns = np.broadcast_arrays(first, np.log(sigma), np.log(kappa))
    return torch.tensor(np.stack(columns, -1), dtype=dtype)


def tensor(values, dtype=torch.float64):
    return torch.tensor(np.asarray(values), dtype=dtype)


def random_rows(n, seed, dtype=torch.float64):
    """Outputs, times on both sides of θ, events and entries (some -inf) of n rows; θ by exp is positive."""
    rng = np.random.default_rng(seed)
    raw = rng.normal(size=(n, 3))
    time = rng.exponential(2.0, n) + 0.05
    since = np.where(rng.random(n) < 0.6, time * rng.uniform(0, 0.95, n), -np.inf)
    return tensor(raw, dtype), tensor(time, dtype), tensor(rng.random(n) < 0.5, torch.bool), tensor(since, dtype)


@pytest.mark.parametrize("event", [True, False])
@pytest.mark.parametrize("sigma", SIGMAS)
def test_value_at_extremes(event, sigma):
    cases = list(itertools.product(KAPPAS, DISTANCES))
    kappa, distance = (np.array(column) for column in zip(*cases, strict=True))
    time = distance * sigma
    found = ald_log_likelihood(
        outputs(0.0, sigma, kappa, exp_theta=False), tensor(time), torch.full((len(cases),), event), exp_theta=False
    )
    for value, k, t in zip(found.tolist(), kappa, time, strict=True):
        exact = ExactALD(0.0, sigma, k)
        expected = float(exact.log_density(t) if event else exact.log_survival(t))
        assert value == pytest.approx(expected, rel=1e-11, abs=1e-14), (k, t)


@pytest.mark.parametrize("exp_theta", [True, False])
def test_value_is_scipys(exp_theta):
    rng = np.random.default_rng(0)
    theta, sigma, kappa = rng.uniform(0.5, 4, 300), np.exp(rng.normal(size=300)), np.exp(rng.normal(size=300))
    time, event = theta + sigma * rng.normal(size=300), rng.random(300) < 0.5
    since = time - sigma * rng.exponential(size=300)
    raw = outputs(theta, sigma, kappa, exp_theta=exp_theta)
    reference = stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))
    expected = np.where(event, reference.logpdf(time), np.log(reference.sf(time)))
    found = ald_log_likelihood(raw, tensor(time), tensor(event, torch.bool), exp_theta=exp_theta)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    found = ald_log_likelihood(raw, tensor(time), tensor(event, torch.bool), tensor(since), exp_theta=exp_theta)
    np.testing.assert_allclose(found, expected - np.log(reference.sf(since)), rtol=1e-9, atol=1e-11)


def test_at_theta():
    theta, sigma, kappa = 3.0, 0.5, 2.0
    raw = outputs(theta, sigma, kappa, exp_theta=False)[None]
    density = ald_log_likelihood(raw, tensor([theta]), torch.tensor([True]), exp_theta=False)
    survival = ald_log_likelihood(raw, tensor([theta]), torch.tensor([False]), exp_theta=False)
    assert density.item() == pytest.approx(math.log(math.sqrt(2) / sigma * kappa / (1 + kappa**2)), rel=1e-14)
    assert survival.item() == pytest.approx(-math.log(1 + kappa**2), rel=1e-14)


@pytest.mark.parametrize("exp_theta", [True, False])
def test_delayed_entry_at_extremes(exp_theta):
    # Far beyond θ both survivals are exp of minus thousands; their ratio is not.
    for kappa, since, time in itertools.product([0.01, 1.0, 100.0], [0.5, 2.0, 300.0], [300.5, 4000.0]):
        raw = outputs(2.0, 0.3, kappa, exp_theta=exp_theta)[None]
        exact = ExactALD(2.0, 0.3, kappa)
        for event in (True, False):
            known = exact.log_density(time) if event else exact.log_survival(time)
            expected = float(known - exact.log_survival(since))
            found = ald_log_likelihood(
                raw, tensor([time]), torch.tensor([event]), tensor([since]), exp_theta=exp_theta
            ).item()
            largest = max(abs(float(known)), 1.0)
            assert found == pytest.approx(expected, rel=1e-11, abs=1e-14 * largest)


@pytest.mark.parametrize("exp_theta", [True, False])
@pytest.mark.parametrize("delayed", [True, False])
def test_gradcheck(exp_theta, delayed):
    raw, time, event, since = random_rows(24, 1)
    theta = raw[:, 0].exp() if exp_theta else raw[:, 0]
    # Finite differences must not step over the kink, nor times lie on it.
    assert (time - theta).abs().min() > 1e-3
    assert (since - theta).abs().min() > 1e-3
    shape = (2, 12)
    assert torch.autograd.gradcheck(
        lambda r: ald_log_likelihood(
            r,
            time.view(shape),
            event.view(shape),
            since.view(shape) if delayed else None,
            exp_theta=exp_theta,
        ),
        raw.view(*shape, 3).requires_grad_(),
        eps=1e-6,
        atol=1e-7,
    )


@pytest.mark.parametrize("exp_theta", [True, False])
@pytest.mark.parametrize("delayed", [True, False])
def test_gradient_is_that_of_the_family(exp_theta, delayed):
    raw, time, event, since = random_rows(400, 2)
    since = since if delayed else torch.full_like(since, -math.inf)
    raw.requires_grad_()
    rows = ald_log_likelihood(raw, time, event, since if delayed else None, exp_theta=exp_theta)
    outer = torch.linspace(-1, 2, 400, dtype=torch.float64)
    (found,) = torch.autograd.grad((rows * outer).sum(), raw)

    theta = raw[:, 0].exp() if exp_theta else raw[:, 0]
    family = AsymmetricLaplace(theta, raw[:, 1].exp(), raw[:, 2].exp())
    known = torch.where(event, family.log_density(time[:, None])[:, 0], family.log_survival(time[:, None])[:, 0])
    start = torch.where(since.isfinite(), since, theta.detach())
    before = torch.where(since.isfinite(), family.log_survival(start[:, None])[:, 0], 0.0)
    expected_rows = known - before
    (expected,) = torch.autograd.grad((expected_rows * outer).sum(), raw)
    torch.testing.assert_close(rows, expected_rows, rtol=1e-11, atol=1e-12)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)


def test_gradient_at_theta_is_one_sided():
    raw = outputs(1.0, 0.7, 1.5, exp_theta=False)[None].requires_grad_()
    for event in (True, False):
        at = ald_log_likelihood(raw, tensor([1.0]), torch.tensor([event]), exp_theta=False)
        above = ald_log_likelihood(raw, tensor([1.0 + 1e-12]), torch.tensor([event]), exp_theta=False)
        (slope,), (beside,) = torch.autograd.grad(at, raw), torch.autograd.grad(above, raw)
        torch.testing.assert_close(slope, beside, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("exp_theta", [True, False])
def test_float32_stays_finite(exp_theta):
    cases = list(itertools.product([1e-3, 1.0, 1e3], SIGMAS, KAPPAS, [1e-6, 0.5, 1e3, 1e6], [True, False]))
    theta, sigma, kappa, time, event = (np.array(column) for column in zip(*cases, strict=True))
    raw = outputs(theta, sigma, kappa, exp_theta=exp_theta, dtype=torch.float32).requires_grad_()
    for since in (None, tensor(time / 2, torch.float32)):
        rows = ald_log_likelihood(
            raw, tensor(time, torch.float32), tensor(event, torch.bool), since, exp_theta=exp_theta
        )
        (slopes,) = torch.autograd.grad(rows.sum(), raw)
        assert rows.dtype == slopes.dtype == torch.float32
        assert rows.isfinite().all()
        assert slopes.isfinite().all()


@pytest.mark.parametrize("exp_theta", [True, False])
def test_a_row_without_entry_is_a_row_with_none(exp_theta):
    raw, time, event, _ = random_rows(50, 3, torch.float32)
    raw.requires_grad_()
    bare = ald_log_likelihood(raw, time, event, exp_theta=exp_theta)
    open_ended = ald_log_likelihood(raw, time, event, torch.full_like(time, -math.inf), exp_theta=exp_theta)
    (slopes,), (others,) = torch.autograd.grad(bare.sum(), raw), torch.autograd.grad(open_ended.sum(), raw)
    assert torch.equal(bare, open_ended)
    assert torch.equal(slopes, others)


@pytest.mark.parametrize("exp_theta", [True, False])
def test_a_flag_touches_its_row_only(exp_theta):
    raw, time, event, since = random_rows(40, 4, torch.float32)
    raw.requires_grad_()

    def answers(flags):
        rows = ald_log_likelihood(raw, time, flags, since, exp_theta=exp_theta)
        return rows.detach(), torch.autograd.grad(rows.mean(), raw)[0]

    rows, slopes = answers(event)
    for changed in (0, 17, 39):
        flags = event.clone()
        flags[changed] = ~flags[changed]
        other_rows, other_slopes = answers(flags)
        untouched = torch.arange(40) != changed
        assert torch.equal(rows[untouched], other_rows[untouched])
        assert torch.equal(slopes[untouched], other_slopes[untouched])
        assert rows[changed] != other_rows[changed]
        assert not torch.equal(slopes[changed], other_slopes[changed])


@pytest.mark.parametrize("exp_theta", [True, False])
def test_a_row_has_the_same_bits_alone_and_among_others(exp_theta):
    raw, time, event, since = random_rows(67, 5, torch.float32)
    raw.requires_grad_()
    rows = ald_log_likelihood(raw, time, event, since, exp_theta=exp_theta)
    (slopes,) = torch.autograd.grad(rows.sum(), raw)
    for length in (1, 2, 7, 8, 15, 33):
        part = raw.detach()[:length].clone().requires_grad_()
        own = ald_log_likelihood(part, time[:length], event[:length], since[:length], exp_theta=exp_theta)
        assert torch.equal(own, rows[:length])
        assert torch.equal(torch.autograd.grad(own.sum(), part)[0], slopes[:length])


def test_value_needs_no_gradient():
    raw, time, event, since = random_rows(30, 6)
    without = ald_log_likelihood(raw, time, event, since, exp_theta=False)
    within = ald_log_likelihood(raw.clone().requires_grad_(), time, event, since, exp_theta=False)
    assert not without.requires_grad
    assert torch.equal(without, within.detach())


@pytest.mark.parametrize("exp_theta", [True, False])
def test_formulas_are_the_same_on_torch(exp_theta):
    # On a CPU numpy computes, on other devices torch.
    raw, time, event, since = random_rows(80, 7)
    for entry in ([], [since]):
        value, slopes = _value_and_slopes(torch, raw, time, event, *entry, exp_theta, True)
        arrays = [tensor.numpy() for tensor in (raw, time, event, *entry)]
        expected, expected_slopes = _value_and_slopes(np, *arrays, exp_theta, True)
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(slopes, expected_slopes, rtol=1e-12, atol=1e-13)
