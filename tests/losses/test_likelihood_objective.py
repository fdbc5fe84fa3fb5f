from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import (
    AsymmetricLaplace,
    LogAsymmetricLaplace,
    LogNormal,
    Normal,
    PositiveAsymmetricLaplace,
    Weibull,
)
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.losses import likelihood_objective
from aldsurv.losses.objective import ClosedFormObjective, weighted_mean

EXP = ("exp", "exp", "exp")
FREE = ("identity", "exp", "exp")
CASES = {
    "asymmetric_laplace exp": ("asymmetric_laplace", AsymmetricLaplace, EXP),
    "asymmetric_laplace identity": ("asymmetric_laplace", AsymmetricLaplace, FREE),
    "asymmetric_laplace softplus": ("asymmetric_laplace", AsymmetricLaplace, ("identity", "softplus", "exp")),
    "positive exp": ("positive_asymmetric_laplace", PositiveAsymmetricLaplace, EXP),
    "positive identity": ("positive_asymmetric_laplace", PositiveAsymmetricLaplace, FREE),
    "log exp": ("log_asymmetric_laplace", LogAsymmetricLaplace, EXP),
    "log identity": ("log_asymmetric_laplace", LogAsymmetricLaplace, FREE),
    "log_normal": ("log_normal", LogNormal, ("identity", "softplus")),
    "weibull": ("weibull", Weibull, ("exp", "exp")),
    "normal": ("normal", Normal, ("identity", "exp")),
}
LINK = {"exp": np.exp, "identity": lambda raw: raw, "softplus": lambda raw: np.logaddexp(raw, 0.0)}
SCIPY = {
    "log_normal": lambda mu, sigma: stats.lognorm(s=sigma, scale=np.exp(mu)),
    "weibull": lambda scale, shape: stats.weibull_min(shape, scale=scale),
    "normal": stats.norm,
    "asymmetric_laplace": lambda theta, sigma, kappa: stats.laplace_asymmetric(
        kappa=kappa, loc=theta, scale=sigma / math.sqrt(2)
    ),
}
cases = pytest.mark.parametrize("name", CASES)


def known(kinds, n=120, seed=0, *, entry=False, weight=False):
    """Rows of the kinds in `kinds` (e, r, l, i for exact, right-, left- and interval-censored)."""
    rng = np.random.default_rng(seed)
    # Exact in float32, so that a difference is one of formulas.
    time = (rng.exponential(2.0, n) + 0.1).astype(np.float32).astype(np.float64)
    kind = np.array(list(kinds))[rng.integers(0, len(kinds), n)]
    lower = np.where(kind == "l", -np.inf, time)
    upper = np.where(kind == "r", np.inf, np.where(kind == "i", time * 1.5, time))
    entries = np.where(rng.random(n) < 0.5, time * 0.25, -np.inf) if entry else None
    return SurvivalData.interval(lower, upper, entry=entries, weight=rng.uniform(0.2, 3, n) if weight else None)


def random_outputs(name, n, seed=0, members=1):
    raw = 0.5 * np.random.default_rng(seed).normal(size=(members, n, len(CASES[name][2])))
    return torch.tensor(raw)


def distribution(name, raw):
    _, family, links = CASES[name]
    return family(*(LINK[link](raw[:, k].numpy()) for k, link in enumerate(links)))


def loss_of(name, data, raw, *, unit=1.0, weight=None, rows=None):
    """The objective's losses in float64, so that the arithmetic of float32 does not hide an error."""
    family, _, links = CASES[name]
    objective = likelihood_objective(family, links, data, unit=unit)
    members = raw.shape[0]
    rows = np.broadcast_to(np.arange(len(data)), (members, len(data))) if rows is None else rows
    fields = tuple(
        (field.double() if field.is_floating_point() else field)[torch.tensor(np.array(rows))]
        for field in objective.fields
    )
    assert raw.shape[-1] == objective.outputs
    return objective.losses(raw, fields, weight)


KINDS = {"exact": "e", "right": "r", "left": "l", "interval": "i", "exact and right": "er", "mixed": "erli"}


@cases
@pytest.mark.parametrize("kinds", KINDS)
@pytest.mark.parametrize("entry", [True, False], ids=["entry", "no entry"])
def test_is_minus_the_mean_log_likelihood(name, kinds, entry):
    data = known(KINDS[kinds], entry=entry)
    raw = random_outputs(name, len(data))
    expected = -distribution(name, raw[0]).log_likelihood(data).mean()
    # Times, and for the log support their logarithms, are held in float32.
    assert loss_of(name, data, raw).item() == pytest.approx(expected, rel=1e-6, abs=1e-6)


@cases
def test_weights_multiply_rows(name):
    data = known("erli", entry=True, weight=True)
    raw = random_outputs(name, len(data))
    found = loss_of(name, data, raw, weight=torch.tensor(data.weight.copy())[None])
    rows = distribution(name, raw[0]).log_likelihood(data)
    assert found.item() == pytest.approx(-rows.sum() / data.total_weight, rel=1e-6)


@pytest.mark.parametrize("name", ["log_normal", "weibull", "normal", "asymmetric_laplace exp"])
def test_is_the_definition(name):
    data = known("erli")
    raw = random_outputs(name, len(data))
    family, _, links = CASES[name]
    reference = SCIPY[family](*(LINK[link](raw[0, :, k].numpy()) for k, link in enumerate(links)))
    with np.errstate(all="ignore"):
        # A difference of numbers near 1 has no digits left in the far tail: there survivals are subtracted.
        within = np.where(
            reference.sf(data.lower) < 0.5,
            reference.sf(data.lower) - reference.sf(data.upper),
            reference.cdf(data.upper) - reference.cdf(data.lower),
        )
        values = np.select(
            [data.exact, data.right_censored, data.left_censored],
            [reference.logpdf(data.lower), reference.logsf(data.lower), reference.logcdf(data.upper)],
            np.log(within),
        )
    assert loss_of(name, data, raw).item() == pytest.approx(-values.mean(), rel=1e-6)


@cases
@pytest.mark.parametrize("kinds", ["er", "erli"])
def test_unit_of_time(name, kinds):
    data = known(kinds, entry=True)
    raw = random_outputs(name, len(data))
    units = np.random.default_rng(1).uniform(0.01, 400, len(data))
    for unit in (365.25, units):
        # One unit inside is `unit` of the user's: the same distribution in the user's time is the scaled one.
        given = SurvivalData.interval(data.lower * unit, data.upper * unit, entry=data.entry * unit)
        expected = -distribution(name, raw[0]).scaled(unit).log_likelihood(given).mean()
        assert loss_of(name, data, raw, unit=unit).item() == pytest.approx(expected, rel=1e-6, abs=2e-6)


@cases
@pytest.mark.parametrize("kinds", ["er", "erli"])
def test_gradient_is_that_of_the_family(name, kinds):
    data = known(kinds, entry=True, seed=3)
    raw = random_outputs(name, len(data), seed=3).requires_grad_()
    (found,) = torch.autograd.grad(loss_of(name, data, raw).sum(), raw)
    assert found.isfinite().all()
    step = torch.zeros_like(raw)
    rng = np.random.default_rng(5)
    for row in rng.integers(0, len(data), 4):
        for k in range(raw.shape[-1]):
            step.zero_()
            step[0, row, k] = 1e-6
            with torch.no_grad():
                up, down = (loss_of(name, data, raw + sign * step).item() for sign in (1, -1))
            assert found[0, row, k].item() == pytest.approx((up - down) / 2e-6, rel=1e-4, abs=1e-7)


@cases
@pytest.mark.parametrize("kinds", ["er", "erli"])
def test_a_member_depends_on_its_own_rows_and_outputs(name, kinds):
    data = known(kinds, entry=True, seed=1)
    raw = random_outputs(name, 30, members=4).requires_grad_()
    rows = np.stack([np.random.default_rng(k).permutation(len(data))[:30] for k in range(4)])
    together = loss_of(name, data, raw, rows=rows)
    for k in range(4):
        alone = loss_of(name, data[rows[k]], raw[k : k + 1])
        assert together[k].item() == pytest.approx(alone.item(), rel=1e-12)
    (slopes,) = torch.autograd.grad(together[2], raw)
    assert (slopes[[0, 1, 3]] == 0).all()
    assert (slopes[2] != 0).any()
    other = raw.detach().clone()
    other[[0, 1, 3]] += 1
    changed = loss_of(name, data, other, rows=rows)
    assert changed[2].item() == pytest.approx(together[2].item(), rel=1e-12)
    assert changed[1].item() != pytest.approx(together[1].item(), rel=1e-3)


@cases
@pytest.mark.parametrize("kinds", ["er", "erli"])
def test_rows_of_no_weight_do_not_count(name, kinds):
    data = known(kinds, seed=2)
    raw = random_outputs(name, len(data))
    rows = np.concatenate([np.arange(len(data)), np.zeros(9, np.int64)])[None]
    padded = torch.cat([raw, torch.full((1, 9, raw.shape[-1]), 0.3, dtype=raw.dtype)], 1).requires_grad_()
    weight = torch.tensor(np.r_[np.ones(len(data)), np.zeros(9)])[None]
    found = loss_of(name, data, padded, rows=rows, weight=weight)
    assert found.item() == pytest.approx(loss_of(name, data, raw).item(), rel=1e-12)
    (slopes,) = torch.autograd.grad(found.sum(), padded)
    assert (slopes[0, len(data) :] == 0).all()


@pytest.mark.parametrize("name", ["log exp", "log identity"])
@pytest.mark.parametrize("beside", ["er", "erli"])
def test_log_support_with_rows_censored_at_zero(name, beside):
    data = known(beside, seed=4)
    at_zero = SurvivalData.right([0.0, 0.0], [False, False])
    raw = random_outputs(name, len(data) + 2, seed=4).requires_grad_()
    joined = SurvivalData.concatenate([data, at_zero])
    found = loss_of(name, joined, raw)
    # That an event comes after time 0 is no news: such a row adds 0 to the sum, and 1 to the number of rows.
    alone = loss_of(name, data, raw[:, :-2])
    assert found.item() == pytest.approx(alone.item() * len(data) / (len(data) + 2), rel=1e-6)
    (slopes,) = torch.autograd.grad(found.sum(), raw)
    assert slopes.isfinite().all()
    assert (slopes[0, -2:] == 0).all()


@pytest.mark.parametrize("support", ["positive exp", "log exp"])
def test_an_entry_before_time_begins_says_nothing(support):
    time, event = [0.5, 2.0, 3.0], [True, False, True]
    raw = random_outputs(support, 3)
    late = SurvivalData.right(time, event, entry=[0.0, 0.0, -np.inf])
    found, expected = loss_of(support, late, raw), loss_of(support, SurvivalData.right(time, event), raw)
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)


def test_log_support_refuses_an_event_at_zero():
    with pytest.raises(DataError, match=r"event at time 0 .* left-censored"):
        likelihood_objective("log_asymmetric_laplace", EXP, SurvivalData.right([0.0, 1.0], [True, True]))


def test_unknown_names():
    data = SurvivalData.right([1.0], [True])
    with pytest.raises(UnknownNameError, match="weibull"):
        likelihood_objective("weibul", ("exp", "exp"), data)
    objective = likelihood_objective("weibull", ("exp", "logit"), data)
    with pytest.raises(ParameterError, match="logit"):
        objective.losses(torch.zeros(1, 1, 2), tuple(field[None] for field in objective.fields), None)


@cases
def test_fields_are_one_a_row_in_float32(name):
    family, _, links = CASES[name]
    data = known("er", entry=True)
    objective = likelihood_objective(family, links, data)
    for field in objective.fields:
        assert field.shape == (len(data),)
        assert field.dtype in (torch.float32, torch.bool, torch.int8)
    raw = random_outputs(name, len(data)).float().requires_grad_()
    loss = objective.losses(raw, tuple(field[None] for field in objective.fields), None)
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(loss_of(name, data, raw.detach().double()).item(), rel=1e-4)


def test_weighted_mean():
    values = torch.tensor([[1.0, 2.0, 6.0], [1.0, 2.0, 6.0], [4.0, 5.0, 6.0]])
    weight = torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    assert weighted_mean(values, None).tolist() == [3.0, 3.0, 5.0]
    assert weighted_mean(values, weight).tolist() == [1.5, 6.0, 0.0]


@cases
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("entry", [True, False], ids=["entry", "no entry"])
def test_slopes_in_closed_form(name, entry, weighted):
    family, _, links = CASES[name]
    data = known("er", entry=entry, seed=6)
    objective = likelihood_objective(family, links, data, unit=30.0)
    # Members with rows of their own, one of them without any that counts.
    rows = torch.tensor(np.stack([np.random.default_rng(k).permutation(len(data))[:40] for k in range(3)]))
    weight = torch.rand(3, 40, generator=torch.Generator().manual_seed(0)) if weighted else None
    if weight is not None:
        weight[1, 30:] = 0
        weight[2] = 0
    raw = random_outputs(name, 40, members=3).float().requires_grad_()
    fields = tuple(field[rows] for field in objective.fields)
    expected = objective.losses(raw, fields, weight)
    (slopes,) = torch.autograd.grad(expected.sum(), raw)
    closed = name == "log_normal" or (family.endswith("asymmetric_laplace") and "softplus" not in links)
    assert isinstance(objective, ClosedFormObjective) == closed
    if not closed:
        return
    found, by_hand = objective.losses_and_slopes(
        raw.detach().numpy().copy(), [field.numpy() for field in fields], None if weight is None else weight.numpy()
    )
    assert found.dtype == by_hand.dtype == np.float32
    np.testing.assert_allclose(found, expected.detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_hand, slopes, rtol=1e-4, atol=1e-7)


def test_other_kinds_of_censoring_have_no_closed_form():
    assert not isinstance(likelihood_objective("asymmetric_laplace", EXP, known("erli")), ClosedFormObjective)
