from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Normal, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics.error.ranked_probability import crps, survival_crps

right = SurvivalData.right


def test_by_quadrature():
    scale = np.array([2.0, 5.0, 1.0, 4.0, 3.0])
    predicted = Weibull(scale, 1.5)
    lower, upper = np.array([1.0, 2.0, 0.5, -np.inf, 3.0]), np.array([1.0, np.inf, 2.0, 3.0, 3.0])
    weight = np.array([1.0, 2.0, 0.5, 3.0, 0.0])
    scores = []
    for row, (a, b) in enumerate(zip(lower, upper, strict=True)):
        one = predicted[row : row + 1]
        early = integrate.quad(lambda t, d=one: d.cdf(t)[0] ** 2, 0, max(a, 0), epsabs=1e-12)[0]
        late = integrate.quad(lambda t, d=one: d.survival(t)[0] ** 2, b, np.inf, epsabs=1e-12)[0] if b < np.inf else 0
        scores.append(early + late)
    data = SurvivalData.interval(lower, upper, weight=weight)
    assert survival_crps(predicted, data) == pytest.approx(weight @ scores / weight.sum(), rel=1e-8)
    exact = right([1.0, 2.0, 3.0], [True, False, True], weight=[1, 2, 3])
    expected = (scores[0] + 3 * scores[4]) / 4
    assert crps(predicted[[0, 1, 4]], exact) == pytest.approx(expected, rel=1e-8)
    assert crps(predicted[[0, 4]], right([9, 9], [False, False], weight=[1, 3]), truth=[1, 3]) == pytest.approx(
        expected, rel=1e-8
    )
    uncensored = right([1.0, 3.0], [True, True])
    assert crps(predicted[[0, 4]], uncensored) == pytest.approx(survival_crps(predicted[[0, 4]], uncensored), rel=1e-14)


def test_nothing_beats_the_truth_if_every_row_counts():
    rng = np.random.default_rng(0)
    truth = Normal(rng.uniform(20, 60, 20000), 5.0)
    times = truth.sample(random_state=1)
    data = right(times, np.ones(20000, bool))
    best = crps(truth, data)
    others = [
        truth.scaled(0.97),
        truth.scaled(1.03),
        Normal(truth.mean(), 3.5),
        Normal(truth.mean(), 7.0),
        Normal(np.full(20000, 40.0), 12.0),
        AsymmetricLaplace(truth.mean(), 5.0, 1.0),
    ]
    for other in others:
        scores, own = other.crps(times[:, None])[:, 0], truth.crps(times[:, None])[:, 0]
        # The difference is beyond its scatter.
        assert (scores - own).mean() > 3 * (scores - own).std() / np.sqrt(20000)
        assert crps(other, data) > best
    censored = right(np.minimum(times, truth.mean()), times <= truth.mean())
    assert crps(truth, censored, truth=times) == pytest.approx(best, rel=1e-14)
    # Of those alone that were seen, an early prediction is the better one.
    assert crps(truth.scaled(0.95), censored) < crps(truth, censored)


def test_the_survival_crps_is_not_proper():
    """All rows censored at 1: the truth until there, and an end soon after, beats the truth."""
    n = 20000
    truth = Exponential(np.full(n, 1.0))
    times = truth.sample(random_state=0)
    data = right(np.minimum(times, 1.0), times <= 1.0)
    grid = np.linspace(0.0, 1.01, 203)
    ends = Step(grid, np.broadcast_to(np.where(grid <= 1.0, np.exp(-grid), 0.0), (n, grid.size)))
    assert survival_crps(ends, data) < survival_crps(truth, data) - 0.02
    assert crps(ends, data, truth=times) > crps(truth, data, truth=times) + 0.02


def test_edges():
    predicted, data = Exponential([1.0, 2.0]), right([1, 2], [False, False])
    with pytest.warns(UserWarning, match="crps is not defined and NaN: no uncensored row"):
        assert np.isnan(crps(predicted, data))
    nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="survival_crps is not defined and NaN: no row has a positive weight"):
        assert np.isnan(survival_crps(predicted, nothing))
    late = right([1, 2], [True, True], entry=[0, 1])
    for metric in (crps, survival_crps):
        with pytest.raises(CensoringError, match="is not defined for delayed entry"):
            metric(predicted, late)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        crps(predicted, SurvivalData.interval([1, 2], [2, 3]))
    with pytest.raises(ParameterError, match="truth must be finite"):
        crps(predicted, data, truth=[1, np.inf])
    never = Step([1.0], [[0.5], [0.5]])
    assert crps(never, right([1, 2], [True, True])) == np.inf
    # Of weight 0 it does not matter that the score is infinite.
    assert crps(Step([1.0], [[0.0], [0.5]]), right([1, 2], [True, True], weight=[1, 0])) == 0
