"""The loss of a randomised forecaster against its definition, written out with scipy's distribution."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.stats import laplace_asymmetric

from aldsurv import SurvivalData
from aldsurv.distributions import MixedAsymmetricLaplace
from aldsurv.distributions.support import SUPPORTS
from aldsurv.losses.level_objective import correction_objective, level_objective

LINKS = ("identity", "exp", "exp")
N = 40
KINDS = ("right", "late", "any")


def rows(kind):
    """Times from 0.3 to 3: exact and right-censored, the same entered late, or censored in every way."""
    rng = np.random.default_rng(0)
    time = rng.uniform(0.3, 3.0, N)
    if kind != "any":
        entry = np.where(rng.random(N) < 0.5, time * rng.uniform(0.2, 0.9, N), -np.inf) if kind == "late" else None
        return SurvivalData.right(time, rng.random(N) < 0.6, entry=entry)
    lower, upper = time.copy(), time.copy()
    upper[:10], lower[10:20], upper[20:30] = np.inf, -np.inf, time[20:30] + 0.7
    return SurvivalData.interval(lower, upper)


def drawn(seed=1):
    rng = np.random.default_rng(seed)
    raw = np.column_stack([rng.normal(0.8, 0.5, N), rng.normal(0, 0.3, N), rng.normal(0, 0.3, N)])
    return raw, rng.random(N), rng.integers(0, 3, N).astype(float)


class Row:
    """One row's distribution: cdf and density of time, on the support."""

    def __init__(self, parts, support):
        self.parts = [(w, laplace_asymmetric(kappa=k, loc=t, scale=s / np.sqrt(2))) for w, t, s, k in parts]
        self.support = support

    def cdf(self, time):
        if time == -np.inf or (self.support != "real" and time <= 0):
            return 0.0
        if time == np.inf:
            return 1.0
        place = np.log(time) if self.support == "log" else time
        if self.support == "positive":
            return sum(w * (d.cdf(place) - d.cdf(0)) / d.sf(0) for w, d in self.parts)
        return sum(w * d.cdf(place) for w, d in self.parts)

    def density(self, time):
        place, slope = (np.log(time), 1 / time) if self.support == "log" else (time, 1.0)
        norm = [d.sf(0) if self.support == "positive" else 1.0 for _, d in self.parts]
        return slope * sum(w * d.pdf(place) / c for (w, d), c in zip(self.parts, norm, strict=True))


def by_definition(distributions, places, data, level, weight, *, share, target):
    """``w·NLL + (1 - w)·distance`` of each row, from the definitions of both."""
    losses = []
    for i, (d, place) in enumerate(zip(distributions, places, strict=True)):
        low, high = data.lower[i], data.upper[i]
        entry = -np.inf if data.entry is None else data.entry[i]
        left = 1 - d.cdf(entry)

        def cdf(time, d=d, entry=entry, left=left):
            return (d.cdf(time) - d.cdf(entry)) / left if time > entry else 0.0

        likelihood = d.density(low) / left if low == high else cdf(high) - cdf(low)
        if target == "cdf":
            distance = max(cdf(low) - level[i], 0.0) + max(level[i] - cdf(high), 0.0)
        else:
            ends = np.array([max(low, 1e-300), high]) if d.support == "log" else np.array([low, high])
            ends = np.log(ends) if d.support == "log" else ends
            distance = level[i] * max(ends[0] - place, 0.0) + (1 - level[i]) * max(place - ends[1], 0.0)
        losses.append(-share * np.log(likelihood) + (1 - share) * distance)
    return np.average(losses, weights=weight)


def computed(objective, raw, level, weight):
    fields = [field.double() if field.is_floating_point() else field for field in objective.fields]
    fields = tuple(field[None] for field in [*fields, torch.tensor(level)])
    return objective.losses(raw[None], fields, None if weight is None else torch.tensor(weight)[None])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["cdf", "pinball"])
@pytest.mark.parametrize("support", SUPPORTS)
def test_the_loss_is_its_definition(support, target, kind):
    data, (raw, level, weight) = rows(kind), drawn()
    objective = level_objective(SUPPORTS[support], LINKS, data, share=0.3, target=target)
    found = computed(objective, torch.tensor(raw), level, weight)
    theta, sigma, kappa = raw[:, 0], np.exp(raw[:, 1]), np.exp(raw[:, 2])
    parts = [Row([(1.0, t, s, k)], support) for t, s, k in zip(theta, sigma, kappa, strict=True)]
    wanted = by_definition(parts, theta, data, level, weight, share=0.3, target=target)
    # Bounds of the rows are kept in float32.
    assert_allclose(found.item(), wanted, rtol=1e-5)
    # A row more that has no weight changes nothing.
    level[weight == 0] = 0.5
    assert_allclose(computed(objective, torch.tensor(raw), level, weight).item(), wanted, rtol=1e-5)


@pytest.mark.parametrize("kind", ["right", "late"])
@pytest.mark.parametrize("target", ["cdf", "pinball"])
@pytest.mark.parametrize("support", SUPPORTS)
def test_the_loss_of_factors_is_its_definition(support, target, kind):
    data, (raw, level, weight) = rows(kind), drawn(2)
    raw = 0.4 * (raw - raw.mean(0))
    rng = np.random.default_rng(3)
    base = MixedAsymmetricLaplace(
        rng.normal(0.8, 0.4, (N, 2)), rng.uniform(0.5, 2, (N, 2)), rng.uniform(0.6, 1.5, (N, 2)), [0.3, 0.7],
        support=support,
    )  # fmt: skip
    objective = correction_objective(base, data, share=0.6, target=target)
    found = computed(objective, torch.tensor(raw), level, weight)
    factor = np.exp(raw)
    theta = base.theta + raw[:, :1] if support == "log" else base.theta * factor[:, :1]
    sigma, kappa = base.sigma * factor[:, 1:2], base.kappa * factor[:, 2:]
    parts = [Row(zip([0.3, 0.7], *row, strict=True), support) for row in zip(theta, sigma, kappa, strict=True)]
    places = theta @ [0.3, 0.7]
    wanted = by_definition(parts, places, data, level, weight, share=0.6, target=target)
    assert_allclose(found.item(), wanted, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["cdf", "pinball"])
def test_gradients_are_finite_differences(target, kind):
    data, (raw, level, weight) = rows(kind), drawn(4)
    rng = np.random.default_rng(5)
    base = MixedAsymmetricLaplace(rng.normal(0.8, 0.4, (N, 1)), 1.1, 0.9, support="log")
    objectives = [level_objective(SUPPORTS["real"], LINKS, data, share=0.5, target=target)]
    if kind != "any":
        objectives.append(correction_objective(base, data, share=0.5, target=target))
    for objective in objectives:
        given = torch.tensor(raw, requires_grad=True)
        computed(objective, given, level, weight).sum().backward()
        step = 1e-6
        for column in range(3):
            moved = np.zeros_like(raw)
            moved[:, column] = step
            ends = [computed(objective, torch.tensor(raw + sign * moved), level, weight).item() for sign in (1, -1)]
            assert_allclose(given.grad[:, column].sum().item(), (ends[0] - ends[1]) / (2 * step), rtol=1e-5, atol=1e-8)
        assert not given.grad[weight == 0].any()


def test_of_censored_rows_only_what_is_too_high_counts():
    data = SurvivalData.right([1.0, 1.0], [False, False])
    # With κ = 1 and θ = 1, F(1) = 1/2.
    raw = torch.tensor([[1.0, 0.0, 0.0]] * 2, dtype=torch.float64)
    objective = level_objective(SUPPORTS["real"], LINKS, data, share=0.5, target="cdf")
    survival = -np.log(0.5)
    above, below = (computed(objective, raw, np.full(2, level), None).item() for level in (0.9, 0.2))
    assert_allclose([above, below], [survival / 2, survival / 2 + 0.3 / 2], rtol=1e-6)
