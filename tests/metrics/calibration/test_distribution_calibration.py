from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics.calibration.distribution_calibration import d_calibration, km_calibration
from aldsurv.metrics.calibration.level_calibration import calibration_counts, censored_d_calibration
from aldsurv.nonparametric import kaplan_meier
from metrics import definitions
from metrics.definitions import right_censored, simulated

right = SurvivalData.right


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_d_calibration_by_definition(bins):
    rng = np.random.default_rng(1)
    u, event, weight = rng.uniform(0.001, 0.999, 60), rng.random(60) < 0.5, rng.integers(0, 4, 60)
    data = right(-3 * np.log1p(-u), event, weight=weight)
    levels = [
        (Fraction(a), Fraction(a) if e else Fraction(1), Fraction(int(w)))
        for a, e, w in zip(u.tolist(), event.tolist(), weight, strict=True)
    ]
    counts = np.array([float(count) for count in definitions.counts(levels, bins)])
    found = d_calibration(Exponential(np.full(60, 3.0)), data, bins=bins)
    np.testing.assert_allclose(found.counts, counts, rtol=1e-10)
    expected = stats.chisquare(counts)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-10)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_d_calibration_heeds_every_kind_of_row():
    data = SurvivalData.interval([1, 2, 1, -np.inf], [1, np.inf, 3, 2], entry=[0.5, 0.0, 0.0, 0.0], weight=[1, 2, 1, 3])
    predicted = Weibull([2.0, 3.0, 1.0, 5.0], 1.5)
    found = d_calibration(predicted, data, bins=5)
    np.testing.assert_array_equal(found.counts, calibration_counts(predicted, data, bins=5))
    # The same squares, on another scale.
    assert censored_d_calibration(predicted, data, bins=5) == pytest.approx(100 * found.statistic / (5 * 7), rel=1e-12)


def replicated(scale: float, censoring: float, replications: int = 200) -> np.ndarray:
    found = []
    for seed in range(replications):
        rng = np.random.default_rng([seed, 1])
        truth = Weibull(rng.uniform(2, 9, 300), 1.7)
        event, lost = truth.sample(random_state=rng), rng.exponential(censoring, 300)
        data = right(np.minimum(event, lost), event <= lost)
        found.append(d_calibration(truth.scaled(scale), data).p_value)
    return np.array(found)


def test_p_values_of_the_truth():
    """Uniform without censoring; with it too large, never too small."""
    assert stats.kstest(replicated(1.0, 1e9), "uniform").pvalue > 0.01
    censored = replicated(1.0, 6.0)
    assert stats.kstest(censored, "uniform", alternative="greater").pvalue > 0.05
    assert stats.kstest(censored, "uniform", alternative="less").pvalue < 1e-3
    assert np.median(replicated(1.4, 6.0, 20)) < 0.01


def mean_squared_distance(predicted, data, until):
    """By quadrature between the jumps of the Kaplan-Meier curve."""
    curve = kaplan_meier(data)
    ends = np.unique(np.concatenate([[0.0], curve.times[curve.times < until], [until]]))
    weights = data.weights / data.total_weight
    total = 0.0
    for a, b in itertools.pairwise(ends):
        level = float(curve.survival_at(a))
        total += integrate.quad(lambda t, s=level: (float(weights @ predicted.survival(t)) - s) ** 2, a, b)[0]
    return total / until


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("horizon", [None, 9.5])
def test_km_calibration_by_quadrature(weighted, horizon):
    rng = np.random.default_rng(4)
    data = simulated(2, 40, ties=False)
    data = right(data.time, data.event, weight=rng.uniform(0, 2, 40) if weighted else None)
    predicted = Weibull(rng.uniform(5, 30, 40), 1.4)
    until = horizon or data.time[data.event].max()
    expected = mean_squared_distance(predicted, data, until)
    assert km_calibration(predicted, data, horizon=horizon) == pytest.approx(expected, rel=1e-5)


@given(right_censored(least=2))
def test_predicting_the_curve_itself_is_perfect(data):
    if data.total_weight == 0 or not (data.event & (data.time > 0) & (data.weights > 0)).any():
        with pytest.warns(UserWarning, match="not defined"):
            assert np.isnan(km_calibration(Exponential(np.ones(len(data))), data))
        return
    curve = kaplan_meier(data)
    predicted = Step(curve.times, np.broadcast_to(curve.survival, (len(data), curve.times.size)))
    # Straight lines between the places cut the corners of a step.
    assert km_calibration(predicted, data) < 2e-3
    late = Exponential(np.full(len(data), 1e9))
    last = curve.times[curve.events > 0][-1]
    area = np.diff(np.append(curve.times, last).clip(0, last), prepend=0.0)
    expected = (area * (1 - np.append(1.0, curve.survival)) ** 2).sum() / last
    assert km_calibration(late, data) == pytest.approx(expected, abs=1e-6)


def test_km_calibration_shrinks_for_the_truth():
    truth = Exponential(np.full(4000, 20.0))
    event, lost = truth.sample(random_state=0), np.random.default_rng(1).exponential(40, 4000)
    data = right(np.minimum(event, lost), event <= lost)
    # The tail of the curve is left to few rows.
    assert km_calibration(truth, data, horizon=50) < 3e-4
    assert km_calibration(truth.scaled(1.3), data, horizon=50) > 3e-3


def test_edges():
    data, predicted = right([1, 2], [True, False]), Exponential([1.0, 2.0])
    with pytest.warns(UserWarning, match="the horizon used is 2"):
        cut = km_calibration(predicted, data, horizon=9)
    assert cut == km_calibration(predicted, data, horizon=2)
    with pytest.warns(UserWarning, match="no row has an event after time 0"):
        assert np.isnan(km_calibration(predicted, right([1, 2], [False, False])))
    nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="d_calibration is not defined and NaN: no row has a positive weight"):
        assert np.isnan(d_calibration(predicted, nothing)[:2]).all()
    with pytest.raises(CensoringError, match="km_calibration is not defined for delayed entry"):
        km_calibration(predicted, right([1, 2], [True, True], entry=[0, 1]))
    with pytest.raises(CensoringError, match="exact and right-censored rows only"):
        km_calibration(predicted, SurvivalData.interval([1, 2], [2, 3]))
    with pytest.raises(ParameterError, match="horizon must be a number above 0"):
        km_calibration(predicted, data, horizon=-1)
    with pytest.raises(ParameterError, match="bins must be a whole number from 2 on"):
        d_calibration(predicted, data, bins=1)


@given(st.integers(1, 4))
def test_a_weight_counts_as_rows(times):
    data = simulated(7, 30)
    predicted = Exponential(np.linspace(5, 40, 30))
    rows = np.repeat(np.arange(30), times)
    weighted = right(data.time, data.event, weight=np.full(30, times))
    for metric in (lambda p, d: d_calibration(p, d)[:2], km_calibration):
        np.testing.assert_allclose(metric(predicted, weighted), metric(predicted[rows], data[rows]), rtol=1e-9)


@pytest.mark.parametrize("n", [7, 300, 1200])
@pytest.mark.parametrize("ties", [False, True])
def test_the_kaplan_meier_curve_itself_has_no_distance(n, ties):
    """A step function against itself, of fewer and of more steps than there are places to compare at."""
    rng = np.random.default_rng(n)
    time = rng.exponential(7.0, n)
    data = right(np.ceil(time) if ties else time, rng.uniform(size=n) < 0.6, weight=rng.integers(1, 3, n))
    same = kaplan_meier(data).distribution[np.zeros(n, np.intp)]
    assert km_calibration(same, data) < 1e-25
    assert km_calibration(same, data, horizon=float(np.quantile(data.time, 0.6))) < 1e-25
    assert km_calibration(same.scaled(1.5), data) > 1e-3
