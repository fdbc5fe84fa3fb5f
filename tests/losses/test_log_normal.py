from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
import torch
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import LogNormal
from aldsurv.errors import DataError
from aldsurv.losses import likelihood_objective
from aldsurv.losses.likelihood.log_normal_likelihood import (
    _value_and_slopes,
    log_normal_log_likelihood,
    log_normal_log_likelihood_and_slopes,
)
from aldsurv.training.marginal_start import best_constant

LINKS = ("identity", "softplus")


def tensor(values, dtype=torch.float64):
    return torch.tensor(np.asarray(values), dtype=dtype)


def outputs(mu, eta, dtype=torch.float64):
    """The second output is the inverse of softplus."""
    eta = np.asarray(eta, np.float64)
    columns = np.broadcast_arrays(np.asarray(mu, np.float64), eta + np.log(-np.expm1(-eta)))
    return tensor(np.stack(columns, -1), dtype)


def random_rows(n, seed, dtype=torch.float64):
    """Outputs, logarithms of times, events and entries (some -inf) of n rows."""
    rng = np.random.default_rng(seed)
    raw, y = rng.normal(size=(n, 2)), 2 * rng.normal(size=n)
    since = np.where(rng.random(n) < 0.6, y - rng.exponential(1.0, n), -np.inf)
    return tensor(raw, dtype), tensor(y, dtype), tensor(rng.random(n) < 0.5, torch.bool), tensor(since, dtype)


@pytest.mark.parametrize("event", [True, False])
def test_value_and_slopes_at_extremes(event):
    cases = list(itertools.product([1e-4, 0.3, 1.0, 30.0], [-1e4, -40.0, -6.0, -0.5, 0.0, 0.5, 6.0, 40.0, 1e4]))
    eta, z = (np.array(column) for column in zip(*cases, strict=True))
    raw, y = outputs(0.0, eta), tensor(z * eta)
    value, slopes = log_normal_log_likelihood_and_slopes(raw.numpy(), y.numpy(), np.full(len(cases), event))
    with mpmath.workdps(60):
        for found, slope, (spread, distance) in zip(value, slopes, cases, strict=True):
            second = mpmath.log(mpmath.expm1(mpmath.mpf(spread)))
            position = mpmath.mpf(distance) * mpmath.mpf(spread)

            def known(mu, raw_eta, position=position):
                scale = mpmath.log1p(mpmath.exp(raw_eta))
                at = (position - mu) / scale
                if event:
                    return -(at**2) / 2 - mpmath.log(scale) - mpmath.log(2 * mpmath.pi) / 2
                return mpmath.log(mpmath.erfc(at / mpmath.sqrt(2)) / 2)

            assert found == pytest.approx(float(known(0, second)), rel=1e-9, abs=1e-300)
            wanted = [mpmath.diff(known, (0, second), order) for order in ((1, 0), (0, 1))]
            assert slope == pytest.approx([float(number) for number in wanted], rel=1e-6, abs=1e-200)


def test_value_is_scipys():
    rng = np.random.default_rng(0)
    mu, eta = rng.normal(size=300), np.exp(rng.normal(size=300))
    y, event = mu + 2 * eta * rng.normal(size=300), rng.random(300) < 0.5
    since = y - eta * rng.exponential(size=300)
    truth = stats.norm(mu, eta)
    wanted = np.where(event, truth.logpdf(y), truth.logsf(y))
    raw = outputs(mu, eta)
    found = log_normal_log_likelihood(raw, tensor(y), tensor(event, torch.bool))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    found = log_normal_log_likelihood(raw, tensor(y), tensor(event, torch.bool), tensor(since))
    np.testing.assert_allclose(found, wanted - truth.logsf(since), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("delayed", [True, False])
def test_gradcheck(delayed):
    raw, y, event, since = random_rows(24, 1)
    shape = (2, 12)
    assert torch.autograd.gradcheck(
        lambda r: log_normal_log_likelihood(
            r, y.view(shape), event.view(shape), since.view(shape) if delayed else None
        ),
        raw.view(*shape, 2).requires_grad_(),
        eps=1e-6,
        atol=1e-7,
    )


@pytest.mark.parametrize("delayed", [True, False])
def test_gradient_is_that_of_the_family(delayed):
    raw, y, event, since = random_rows(400, 2)
    since = since if delayed else torch.full_like(since, -math.inf)
    raw.requires_grad_()
    rows = log_normal_log_likelihood(raw, y, event, since if delayed else None)
    outer = torch.linspace(-1, 2, 400, dtype=torch.float64)
    (found,) = torch.autograd.grad((rows * outer).sum(), raw)

    family = LogNormal(raw[:, 0], torch.nn.functional.softplus(raw[:, 1]))
    time = y.exp()[:, None]
    known = torch.where(event, family.log_density(time)[:, 0] + y, family.log_survival(time)[:, 0])
    before = family.log_survival(torch.where(since.isfinite(), since, 0.0).exp()[:, None])[:, 0]
    wanted_rows = known - torch.where(since.isfinite(), before, 0.0)
    (wanted,) = torch.autograd.grad((wanted_rows * outer).sum(), raw)
    torch.testing.assert_close(rows, wanted_rows, rtol=1e-10, atol=1e-11)
    torch.testing.assert_close(found, wanted, rtol=1e-8, atol=1e-10)


def test_float32_stays_finite():
    cases = list(itertools.product([-50.0, 0.0, 50.0], [-60.0, -5.0, 0.0, 60.0], [-1e6, -5.0, 0.0, 5.0], [True, False]))
    mu, second, y, event = (np.array(column) for column in zip(*cases, strict=True))
    raw = tensor(np.stack([mu, second], -1), torch.float32).requires_grad_()
    # A spread of e⁻⁶⁰ makes an event that is not at μ impossible even in float64 squared; it may say so.
    possible = tensor(~(event & (second < -10)) & ~((second < -10) & (y > mu)), torch.bool)
    for since in (None, tensor(np.minimum(y, mu) - 1, torch.float32)):
        rows = log_normal_log_likelihood(raw, tensor(y, torch.float32), tensor(event, torch.bool), since)
        (slopes,) = torch.autograd.grad(rows.sum(), raw)
        assert rows.dtype == slopes.dtype == torch.float32
        assert rows[possible].isfinite().all()
        assert slopes[possible].isfinite().all()


def test_a_row_without_entry_is_a_row_with_none():
    raw, y, event, _ = random_rows(50, 3, torch.float32)
    raw.requires_grad_()
    bare = log_normal_log_likelihood(raw, y, event)
    open_ended = log_normal_log_likelihood(raw, y, event, torch.full_like(y, -math.inf))
    (slopes,), (others,) = torch.autograd.grad(bare.sum(), raw), torch.autograd.grad(open_ended.sum(), raw)
    assert torch.equal(bare, open_ended)
    assert torch.equal(slopes, others)


@pytest.mark.parametrize("delayed", [True, False])
def test_a_flag_or_time_touches_its_row_only(delayed):
    raw, y, event, since = random_rows(40, 4, torch.float32)
    raw.requires_grad_()

    def answers(times, flags):
        rows = log_normal_log_likelihood(raw, times, flags, since if delayed else None)
        return rows.detach(), torch.autograd.grad(rows.mean(), raw)[0]

    rows, slopes = answers(y, event)
    for changed in (0, 17, 39):
        flags, times = event.clone(), y.clone()
        flags[changed], times[changed] = ~flags[changed], y[changed] + 0.5
        untouched = torch.arange(40) != changed
        for given in ((y, flags), (times, event)):
            other_rows, other_slopes = answers(*given)
            assert torch.equal(rows[untouched], other_rows[untouched])
            assert torch.equal(slopes[untouched], other_slopes[untouched])
            assert rows[changed] != other_rows[changed]
            assert not torch.equal(slopes[changed], other_slopes[changed])


@pytest.mark.parametrize("kinds", ["exact and right", "all"])
def test_the_objective_keeps_rows_apart(kinds):
    # The mean over a batch changes by what the changed row alone says, for each of its members.
    rng = np.random.default_rng(5)
    time, event = rng.exponential(2.0, 30) + 0.1, rng.random(30) < 0.5
    upper = np.where(event, time, np.inf)
    if kinds == "all":
        upper[:10] = time[:10] * 1.3
    raw = tensor(rng.normal(size=(2, 30, 2)), torch.float32)

    def loss_of(lower, upper, rows=slice(None)):
        objective = likelihood_objective("log_normal", LINKS, SurvivalData.interval(lower, upper))
        fields = tuple(field[None, rows].expand(2, -1) for field in objective.fields)
        return objective.losses(raw[:, rows], fields, None).double().numpy()

    before = loss_of(time, upper)
    for changed in (3, 20):
        other = upper.copy()
        other[changed] = time[changed] if np.isinf(upper[changed]) else np.inf
        alone = [loss_of(time, bound, slice(changed, changed + 1)) for bound in (upper, other)]
        np.testing.assert_allclose(loss_of(time, other) - before, (alone[1] - alone[0]) / 30, rtol=1e-4, atol=1e-6)
        assert (np.abs(alone[1] - alone[0]) > 1e-3).all()


def test_a_row_has_the_same_bits_alone_and_among_others():
    raw, y, event, since = (array.numpy() for array in random_rows(67, 6, torch.float32))
    rows, slopes = log_normal_log_likelihood_and_slopes(raw, y, event, since)
    for length in (1, 2, 7, 8, 15, 33):
        own = log_normal_log_likelihood_and_slopes(raw[:length], y[:length], event[:length], since[:length])
        assert own[0].tobytes() == rows[:length].tobytes()
        assert own[1].tobytes() == slopes[:length].tobytes()


def test_formulas_are_the_same_on_torch():
    # On a CPU numpy computes, on other devices torch.
    raw, y, event, since = random_rows(80, 7)
    for entry in (None, since):
        value, slopes = _value_and_slopes(torch, raw, y, event, entry)
        arrays = [None if given is None else given.numpy() for given in (raw, y, event, entry)]
        wanted, wanted_slopes = _value_and_slopes(np, *arrays)
        np.testing.assert_allclose(value, wanted, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(slopes, wanted_slopes, rtol=1e-9, atol=1e-11)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_the_best_constant_is_that_of_lifelines():
    from lifelines import LogNormalFitter

    rng = np.random.default_rng(8)
    event_time, lost = np.exp(0.7 + 0.8 * rng.normal(size=3000)), rng.exponential(4.0, 3000)
    time, event = np.minimum(event_time, lost), event_time <= lost
    objective = likelihood_objective("log_normal", LINKS, SurvivalData.right(time, event))
    mu, second = best_constant(objective, np.arange(3000), None).astype(np.float64)
    wanted = LogNormalFitter().fit(time, event)
    assert mu == pytest.approx(wanted.mu_, abs=2e-3)
    assert np.logaddexp(second, 0) == pytest.approx(wanted.sigma_, abs=2e-3)


def test_a_search_that_starts_far_away_in_time_finds_it():
    # The start is told in units of the data: hours or decades.
    rng = np.random.default_rng(9)
    y = rng.normal(size=500)
    for unit in (1e-6, 1.0, 1e6):
        objective = likelihood_objective("log_normal", LINKS, SurvivalData.right(np.exp(y) * unit, np.ones(500)))
        mu, second = best_constant(objective, np.arange(500), None)
        assert mu == pytest.approx(y.mean() + np.log(unit), abs=2e-3)
        assert np.logaddexp(second, 0) == pytest.approx(y.std(), abs=2e-3)


def test_an_event_at_time_0_has_no_logarithm():
    with pytest.raises(DataError, match="no logarithm"):
        likelihood_objective("log_normal", LINKS, SurvivalData.right([0.0, 1.0], [1, 1]))
    # A row that is censored there says nothing.
    data = SurvivalData.right([0.0, 1.0], [0, 1])
    objective = likelihood_objective("log_normal", LINKS, data)
    raw = torch.zeros(1, 2, 2)
    losses = objective.losses(raw, tuple(field[None] for field in objective.fields), None)
    assert losses.item() == pytest.approx(-stats.lognorm(np.log(2)).logpdf(1.0) / 2, rel=1e-6)
