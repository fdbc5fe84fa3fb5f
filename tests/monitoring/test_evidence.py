"""Evidence against its definition: integrals by quadrature, sums by hand, and the laws of a martingale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from aldsurv.errors import ParameterError
from aldsurv.monitoring import SlopeSums, rate_evidence, slope_evidence, slope_sums
from aldsurv.monitoring.evidence import SLOPE_CHANGES


def mixture(events: float, hazard: float, shape: float) -> float:
    """The integral over the factor, numerically."""

    def integrand(r: float) -> float:
        return math.exp(events * math.log(r) - (r - 1) * hazard) * stats.gamma.pdf(r, shape, scale=1 / shape)

    return quad(integrand, 1e-12, 1, limit=200)[0] + quad(integrand, 1, 30, limit=200)[0]


@pytest.mark.parametrize("shape", [1.0, 5.0, 20.0])
def test_rate_evidence_is_the_mean_of_integrals_over_first_periods(shape):
    observed, expected = [3, 0, 9, 4], [2.5, 1.5, 4.0, 4.5]
    evidence = rate_evidence(observed, expected, shape=shape)
    for last in range(4):
        parts = [
            mixture(sum(observed[k : last + 1]), sum(expected[k : last + 1]), shape) / ((k + 1) * (k + 2))
            for k in range(last + 1)
        ]
        # What has not begun yet counts 1, with the weights that are left.
        assert math.exp(evidence.log[last]) == pytest.approx(sum(parts) + 1 / (last + 2), rel=1e-7)
        assert evidence.start[last] == int(np.argmax(parts))


def test_slope_evidence_is_a_mean_of_likelihoods_over_the_largest_without_a_slope():
    rng = np.random.default_rng(0)
    periods = [(rng.random(6) < 0.6, rng.exponential(size=6), rng.normal(size=6)) for _ in range(3)]
    weights = stats.norm.pdf(SLOPE_CHANGES, scale=0.5)
    weights /= weights.sum()

    def likelihood(r, change: float, some):
        """Row by row."""
        product = np.ones(np.shape(r))
        for event, hazard, z in some:
            for d, h, x in zip(event, hazard, z, strict=True):
                factor = r * math.exp(change * x)
                product *= (factor if d else 1.0) * np.exp(-h * factor)
        return product

    evidence = slope_evidence(SlopeSums(*map(np.stack, zip(*(slope_sums(*each) for each in periods), strict=True))))
    for last in range(3):
        total = 1 / (last + 2)
        for first in range(last + 1):
            some = periods[first : last + 1]
            level = sum(event.sum() for event, *_ in some) / sum(hazard.sum() for _, hazard, _ in some)
            r, width = np.linspace(1e-4, 12, 3001, retstep=True)
            prior = stats.gamma.pdf(r, 5.0, scale=0.2)
            mean = sum(
                weight * width * (likelihood(r, change, some) * prior).sum()
                for change, weight in zip(SLOPE_CHANGES, weights, strict=True)
            )
            total += mean / likelihood(level, 0.0, some) / ((first + 1) * (first + 2))
        assert math.exp(evidence.log[last]) == pytest.approx(total, rel=1e-6)


def quiet_rows(streams: int, periods: int, rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Events, expected events and linear predictor of rows that a model predicts rightly, censored independently."""
    rng = np.random.default_rng(1)
    z = rng.normal(0, 0.7, (streams, periods, rows))
    # The cumulative hazard at the event is exponential, whatever the distribution.
    until, censored = rng.exponential(size=z.shape), np.exp(z) * rng.uniform(0.1, 1.0, z.shape)
    return until < censored, np.minimum(until, censored), z


@pytest.mark.parametrize("level", [1.0, 1.6])
def test_evidence_is_rarely_large_under_the_model(level):
    event, hazard, z = quiet_rows(3_000, 6, 4)
    # Hazards that are the predicted ones times a level: of no concern to the slope.
    expected = hazard / level
    changes = [slope_sums(event[:, k], expected[:, k], z[:, k]) for k in range(6)]
    evidence = np.exp(slope_evidence(SlopeSums(*(np.stack(each, 1) for each in zip(*changes, strict=True)))).log)
    error = evidence.std(0) / math.sqrt(len(evidence))
    assert (evidence.mean(0) < 1 + 4 * error).all()
    assert (evidence.max(-1) >= 10).mean() < 0.1
    if level == 1.0:
        rate = np.exp(rate_evidence(event.sum(-1), expected.sum(-1)).log)
        assert (np.abs(rate.mean(0) - 1) < 4 * rate.std(0) / math.sqrt(len(rate))).all()
        # Ville: ever 10 with a probability of at most a tenth.
        assert 0 < (rate.max(-1) >= 10).mean() < 0.1


def test_a_change_is_found_and_dated():
    rng = np.random.default_rng(2)
    observed = np.concatenate([rng.poisson(20, 24), rng.poisson(40, 12)])
    evidence = rate_evidence(observed, np.full(36, 20.0))
    reached = int(np.argmax(evidence.log >= math.log(40)))
    assert (evidence.log[:24] < math.log(40)).all()
    assert 24 <= reached <= 28
    assert evidence.start[-1] == pytest.approx(24, abs=1)


def test_streams_are_computed_together():
    observed, expected = np.array([[3, 5], [8, 1]]), np.array([[2.0, 3.0], [4.0, 2.0]])
    whole = rate_evidence(observed, expected)
    for k in range(2):
        np.testing.assert_allclose(whole.log[k], rate_evidence(observed[k], expected[k]).log, rtol=1e-12)


def test_wrong_shapes_are_refused():
    with pytest.raises(ParameterError, match="one number per period"):
        rate_evidence([1, 2], [1.0])
    with pytest.raises(ParameterError, match="per period"):
        slope_evidence(SlopeSums(np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 4))))
