"""X-CAL and survival-CRPS as training terms: against their definitions, slopes against finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import DataError
from aldsurv.losses import likelihood_objective
from aldsurv.losses.calibration_term import calibration_penalties
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.losses.objective import ClosedFormObjective
from aldsurv.losses.training_terms import one_component, with_terms

FAMILIES = {
    "real": "asymmetric_laplace",
    "positive": "positive_asymmetric_laplace",
    "log": "log_asymmetric_laplace",
}
TIED = MixtureOutputs(3, tied=True, exp_theta=False)
LEAST, HORIZON = 0.125, 12.0
every_support = pytest.mark.parametrize("support", FAMILIES)
every_count = pytest.mark.parametrize("components", [1, 3])


def known(n=40, kinds="er", seed=0):
    rng = np.random.default_rng(seed)
    # Exact in float32, so that a difference is one of formulas.
    time = np.minimum(rng.exponential(2.0, n) + 0.1, 10.0).astype(np.float32).astype(np.float64)
    kind = np.array(list(kinds))[rng.integers(0, len(kinds), n)]
    lower = np.where(kind == "l", -np.inf, time)
    upper = np.where(kind == "r", np.inf, np.where(kind == "i", 1.125 * time, time))
    return SurvivalData.interval(lower, upper.astype(np.float32).astype(np.float64))


def made(support, components, data, **weights):
    if components == 1:
        likelihood = likelihood_objective(FAMILIES[support], ("identity", "exp", "exp"), data)
        columns, least = one_component(exp_theta=False), 0.0
    else:
        likelihood, columns, least = mixture_objective(TIED, SUPPORTS[support], data, LEAST), TIED.columns, LEAST
    terms = {"calibration": 0.0, "crps": 0.0, **weights}
    return likelihood, with_terms(
        likelihood, columns, SUPPORTS[support], data, horizon=HORIZON, least_scale=least, **terms
    )


def outputs(components, n, members=1, seed=1):
    count = 3 if components == 1 else TIED.outputs
    return torch.tensor(0.4 * np.random.default_rng(seed).normal(size=(members, n, count)))


def fields_of(objective, members=1):
    return tuple(
        (field.double() if field.is_floating_point() else field)[None].expand(members, -1) for field in objective.fields
    )


def parameters(components, raw):
    if components == 1:
        theta, log_sigma, log_kappa = raw.T
        return theta[:, None], np.exp(log_sigma)[:, None], np.exp(log_kappa)[:, None], np.ones((len(raw), 1))
    found = TIED.columns(raw, LEAST)
    return found["theta"], found["sigma"], found["kappa"], found["weights"]


def cdf(support, components, raw, times):
    """Cdf (n, m) at times (n, m), from scipy's components."""
    theta, sigma, kappa, weights = (column[:, None] for column in parameters(components, raw))
    part = stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))
    if support == "log":
        with np.errstate(divide="ignore"):
            level = part.cdf(np.log(np.maximum(times, 0.0))[..., None])
    else:
        level = part.cdf(times[..., None])
    if support == "positive":
        level = np.where(times[..., None] > 0, (level - part.cdf(0.0)) / part.sf(0.0), 0.0)
    return (weights * level).sum(-1)


def penalty_by_definition(lower, upper, weight):
    """The soft D-calibration of each row's levels, spread over (lower, upper) by many points."""
    share = np.zeros(10)
    edges = np.array([-np.inf, *np.arange(1, 10) / 10, np.inf])
    for low, high, own in zip(lower, upper, weight, strict=True):
        points = low + (high - low) * (np.arange(4000) + 0.5) / 4000
        with np.errstate(over="ignore"):
            before = 1 / (1 + np.exp(-(edges[:, None] - points) / 0.02))
        share += own * np.diff(before.mean(1))
    return 100 * ((share / weight.sum() - 0.1) ** 2).sum()


def test_calibration_penalty_is_that_of_the_definition():
    rng = np.random.default_rng(3)
    lower = rng.beta(2, 1, (2, 30))
    kind = rng.integers(0, 3, (2, 30))
    upper = np.where(kind == 0, lower, np.where(kind == 1, 1.0, lower + (1 - lower) * rng.random((2, 30))))
    weight = rng.uniform(0, 2, (2, 30))
    weight[:, 5] = 0
    for own in (None, weight):
        found = calibration_penalties(*(None if a is None else torch.tensor(a) for a in (lower, upper, own)))
        used = np.ones_like(lower) if own is None else own
        expected = [penalty_by_definition(*rows) for rows in zip(lower, upper, used, strict=True)]
        assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_uniform_levels_have_no_penalty_and_no_weight_has_none():
    levels = torch.linspace(0, 1, 100_001, dtype=torch.float64)[None]
    assert calibration_penalties(levels, levels, None).item() < 1e-4
    whole = torch.zeros(1, 3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.float64)
    assert calibration_penalties(*whole, None).item() < 1e-4
    assert calibration_penalties(levels[:, :5], levels[:, :5], torch.zeros(1, 5)).item() == 0


@every_support
@every_count
def test_calibration_of_the_objective_is_that_of_its_cdf(support, components):
    data, raw = known(kinds="erli"), outputs(components, 40, members=2)
    likelihood, objective = made(support, components, data, calibration=2.5)
    found = objective.losses(raw, fields_of(objective, 2), None)
    plain = likelihood.losses(raw, fields_of(likelihood, 2), None)
    for member in range(2):
        own = raw[member].numpy()
        low = cdf(support, components, own, np.where(np.isfinite(data.lower), data.lower, 1.0)[:, None])[:, 0]
        high = cdf(support, components, own, np.where(np.isfinite(data.upper), data.upper, 1.0)[:, None])[:, 0]
        low, high = np.where(np.isfinite(data.lower), low, 0.0), np.where(np.isfinite(data.upper), high, 1.0)
        expected = 2.5 * penalty_by_definition(low, high, np.ones(40))
        assert_allclose((found - plain)[member].item(), expected, rtol=1e-5)


@every_support
@every_count
def test_crps_is_the_integral_up_to_the_horizon(support, components):
    data, raw = known(n=8, kinds="erli"), outputs(components, 8)
    _, objective = made(support, components, data, crps=1.0)
    first = 0.0 if support != "real" else -30.0
    start = np.where(np.isfinite(data.lower), data.lower, first)
    stop = np.where(np.isfinite(data.upper), data.upper, HORIZON)
    # Midpoints of a fine grid; of log time, on which early times are not cut short, with support log.
    cells = (np.arange(20_000) + 0.5) / 20_000
    total = 0.0
    for row in range(8):
        own = raw[0, row : row + 1].numpy()
        for low, high, power in ((first, start[row], 0), (stop[row], HORIZON, 1)):
            if high <= low:
                continue
            times = low + (high - low) * cells**3 if support == "log" and power == 0 else low + (high - low) * cells
            speed = 3 * cells**2 if support == "log" and power == 0 else 1.0
            level = cdf(support, components, own, times[None])[0]
            total += (high - low) * np.mean(speed * (level if power == 0 else 1 - level) ** 2)
    assert_allclose(objective.losses(raw, fields_of(objective), None).item(), total / 8, rtol=1e-5)


@every_support
@every_count
def test_slopes_against_finite_differences(support, components):
    data = known(n=8, kinds="erli")
    _, objective = made(support, components, data, calibration=1.5, crps=0.3)
    fields, weight = fields_of(objective), torch.tensor([[1.0, 0.5, 2.0, 0.0, 1.0, 1.0, 0.3, 1.0]]).double()
    raw = outputs(components, 8).requires_grad_()
    (slopes,) = torch.autograd.grad(objective.losses(raw, fields, weight).sum(), raw)
    rng = np.random.default_rng(4)
    for _ in range(6):
        direction = torch.tensor(rng.normal(size=raw.shape))
        ahead, behind = (objective.losses(raw.detach() + h * direction, fields, weight) for h in (1e-5, -1e-5))
        assert_allclose((slopes * direction).sum().item(), ((ahead - behind) / 2e-5).item(), rtol=1e-5, atol=1e-8)


@every_count
def test_a_row_without_weight_is_as_if_it_were_not_there(components):
    data, raw = known(n=30), outputs(components, 30, members=2)
    _, objective = made("log", components, data, calibration=1.0, crps=0.5)
    weight = torch.ones(2, 30).double()
    weight[:, 20:] = 0
    fields = fields_of(objective, 2)
    fewer = objective.losses(raw[:, :20], tuple(field[:, :20] for field in fields), None)
    assert_allclose(objective.losses(raw, fields, weight).numpy(), fewer.numpy(), rtol=1e-12)


@every_count
def test_terms_add_up_and_none_leaves_the_likelihood_itself(components):
    data, raw = known(), outputs(components, 40)
    likelihood, plain = made("log", components, data)
    assert plain is likelihood
    assert isinstance(plain, ClosedFormObjective)
    alone = likelihood.losses(raw, fields_of(likelihood), None)
    found = {}
    for weights in ((1.0, 0.0), (0.0, 1.0), (0.7, 0.25)):
        _, objective = made("log", components, data, calibration=weights[0], crps=weights[1])
        found[weights] = objective.losses(raw, fields_of(objective), None)
        assert objective.for_start() is not objective
    penalty, score = found[1.0, 0.0] - alone, found[0.0, 1.0]
    assert_allclose(found[0.7, 0.25].item(), (0.75 * alone + 0.25 * score + 0.7 * penalty).item(), rtol=1e-10)


def test_rows_that_entered_late():
    time, entry = np.array([2.0, 3.0, 4.0]), np.array([1.0, -np.inf, 0.5])
    data = SurvivalData.right(time, [True, False, True], entry=entry)
    raw = outputs(1, 3)
    likelihood, objective = made("log", 1, data, calibration=1.0)
    found = objective.losses(raw, fields_of(objective), None) - likelihood.losses(raw, fields_of(likelihood), None)
    at, before = (cdf("log", 1, raw[0].numpy(), t[:, None])[:, 0] for t in (time, np.maximum(entry, 0.0)))
    level = (at - before) / (1 - before)
    expected = penalty_by_definition(level, np.where(data.exact, level, 1.0), np.ones(3))
    assert_allclose(found.item(), expected, rtol=1e-5)
    with pytest.raises(DataError, match="entered late"):
        made("log", 1, data, crps=0.5)
