from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, LogAsymmetricLaplace, LogNormal
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.losses import likelihood_objective
from aldsurv.losses import objective as objectives
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.losses.objective import ClosedFormObjective
from aldsurv.training.marginal_start import best_constant, best_constants

FREE = ("identity", "exp", "exp")


def sample(family, n, seed, *parameters):
    rng = np.random.default_rng(seed)
    return family(*parameters).quantile(rng.random((1, n)))[0]


def best_of_scipy(loss, starts):
    """The least loss that a search without slopes finds from any of the starts."""
    found = [
        minimize(loss, start, method="Nelder-Mead", options={"maxiter": 4000, "xatol": 1e-7, "fatol": 1e-10})
        for start in starts
    ]
    return min(answer.fun for answer in found)


@pytest.mark.parametrize(("sigma", "kappa"), [(0.5, 1.0), (0.3, 0.4), (0.1, 2.0), (1.0, 0.2), (0.2, 2.5)])
@pytest.mark.parametrize("support", ["real exp", "real identity", "log identity"])
def test_is_the_best_fit_without_covariates(support, sigma, kappa):
    # Times are scaled to a median of about 1 before they come here.
    links = ("exp", "exp", "exp") if support == "real exp" else FREE
    family, at = (LogAsymmetricLaplace, 0.0) if support == "log identity" else (AsymmetricLaplace, 1.0)
    time = sample(family, 600, 1, at, sigma, kappa)
    time = time[time > 0].astype(np.float32).astype(np.float64)
    seen = np.log(time) if support == "log identity" else time
    first, undo = (np.log, np.exp) if support == "real exp" else (float, float)

    def loss(raw):
        return -AsymmetricLaplace(undo(raw[0]), *np.exp(raw[1:])).log_density(seen).mean()

    name = "log_asymmetric_laplace" if support == "log identity" else "asymmetric_laplace"
    objective = likelihood_objective(name, links, SurvivalData.right(time, np.ones(len(time))))
    found = best_constant(objective, np.arange(len(time)), None)
    assert found.dtype == np.float32
    assert found.shape == (3,)
    starts = [
        [first(place), np.log(seen.std()), skew] for place in (np.median(seen), at or 0.1) for skew in (-0.7, 0.7)
    ]
    # As a function of θ the loss has a kink at every time: a search by slopes may end a few times away from the best.
    assert loss(found.astype(np.float64)) <= best_of_scipy(loss, starts) + 1e-4


def test_with_censoring_and_weights():
    rng = np.random.default_rng(0)
    event, lost = sample(LogNormal, 500, 2, 0.5, 0.8), rng.exponential(3, 500)
    weight = rng.uniform(0, 2, 500)
    time = np.minimum(event, lost).astype(np.float32).astype(np.float64)
    data = SurvivalData.right(time, event <= lost, weight=weight)

    def loss(raw):
        own = LogNormal(np.full(500, raw[0]), np.logaddexp(raw[1], 0))
        return -own.log_likelihood(data).sum() / weight.sum()

    objective = likelihood_objective("log_normal", ("identity", "softplus"), data)
    found = best_constant(objective, np.arange(500), torch.from_numpy(weight).float())
    assert loss(found.astype(np.float64)) <= best_of_scipy(loss, [[0, 0], [1, 1]]) + 1e-5


def test_only_the_rows_given_count():
    early, late = (
        sample(LogAsymmetricLaplace, 300, 3, 0.0, 0.5, 1.0),
        sample(LogAsymmetricLaplace, 300, 4, 2.0, 0.5, 1.0),
    )
    data = SurvivalData.right(np.concatenate([early, late]), np.ones(600))
    objective = likelihood_objective("log_asymmetric_laplace", FREE, data)
    assert best_constant(objective, np.arange(300), None)[0] == pytest.approx(0, abs=0.2)
    assert best_constant(objective, np.arange(300, 600), None)[0] == pytest.approx(2, abs=0.2)
    nothing_of_the_late = torch.from_numpy(np.repeat([1.0, 0.0], 300)).float()
    assert best_constant(objective, np.arange(600), nothing_of_the_late)[0] == pytest.approx(0, abs=0.2)


def test_many_rows_are_thinned_evenly(monkeypatch):
    time = sample(LogAsymmetricLaplace, 3000, 5, 1.0, 0.5, 1.0)
    # In order of time: the first rows alone would say something else.
    objective = likelihood_objective("log_asymmetric_laplace", FREE, SurvivalData.right(np.sort(time), np.ones(3000)))
    whole = best_constant(objective, np.arange(3000), None)
    monkeypatch.setattr(objectives, "_START_ROWS", 500)
    np.testing.assert_allclose(best_constant(objective, np.arange(3000), None), whole, atol=0.1)


def test_nothing_to_hold_on_to_stays_finite():
    # All times alike: the likelihood grows without end as σ goes to 0.
    data = SurvivalData.right(np.ones(20), np.ones(20))
    for family in ("asymmetric_laplace", "log_asymmetric_laplace", "positive_asymmetric_laplace"):
        found = best_constant(likelihood_objective(family, FREE, data), np.arange(20), None)
        assert np.isfinite(found).all()
        assert (np.abs(found) <= 12).all()


def mixture(support="log", entry=None, least=0.01):
    rng = np.random.default_rng(8)
    time = rng.weibull(1.5, 90).astype(np.float32) + 0.1
    data = SurvivalData.right(time, rng.random(90) < 0.6, entry=entry)
    layout = MixtureOutputs(3, tied=True, exp_theta=support == "positive")
    return mixture_objective(layout, SUPPORTS[support], data, least)


def test_members_find_together_what_they_find_alone():
    objective, weight = mixture(), torch.from_numpy(np.random.default_rng(9).uniform(0, 2, 90)).float()
    rows = [np.arange(60), np.arange(30, 90), np.arange(0, 90, 2)]
    for weights in (None, weight):
        together = best_constants(objective, rows, weights, [None] * 3)
        for own, found in zip(rows, together, strict=True):
            np.testing.assert_allclose(best_constant(objective, own, weights), found, atol=2e-3)


@pytest.mark.parametrize("support", ["log", "positive", "real"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("least", [0.01, np.linspace(0.01, 0.1, 90)])
def test_the_loss_of_constants_is_that_of_rows_with_equal_outputs(support, weighted, least):
    rng = np.random.default_rng(10)
    entry = np.where(np.arange(90) % 3, 0.0, 0.05)
    objective = mixture(support, entry, least)
    fields = [field.numpy().reshape(2, 45) for field in objective.fields]
    fields = [field.astype(np.float64) if field.dtype == np.float32 else field for field in fields]
    weight = rng.uniform(0, 2, (2, 45)) if weighted else None
    outputs = rng.normal(0, 0.3, (2, objective.outputs))
    found = objective.constant_losses_and_slopes(outputs, fields, weight)
    expected = ClosedFormObjective.constant_losses_and_slopes(objective, outputs, fields, weight)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
