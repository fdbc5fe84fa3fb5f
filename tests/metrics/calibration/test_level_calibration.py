from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, LogNormal, Normal, Step, Weibull
from aldsurv.errors import ParameterError
from aldsurv.metrics import (
    EventLevels,
    calibration_counts,
    censored_d_calibration,
    censored_d_calibration_by_chance,
    density_calibration,
    density_calibration_points,
    survival_calibration,
    survival_calibration_points,
)
from aldsurv.metrics.calibration.event_levels import event_levels
from metrics import definitions

right = SurvivalData.right
Levels = list[tuple[Fraction, Fraction, Fraction]]


@st.composite
def levels(draw: st.DrawFn) -> Levels:
    """Rows (low, high, weight) with many bounds on the edges of bins."""
    bound = st.integers(0, 40).map(lambda k: Fraction(k, 40))
    pairs = draw(st.lists(st.tuples(bound, bound, st.booleans()), min_size=1, max_size=12))
    weights = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(3)])
    return [
        (min(a, b), min(a, b) if exact else max(a, b), draw(weights) if k else Fraction(1))
        for k, (a, b, exact) in enumerate(pairs)
    ]


def as_levels(rows: Levels) -> EventLevels:
    return EventLevels(*(np.array([float(value) for value in column]) for column in zip(*rows, strict=True)))


@given(levels(), st.sampled_from([3, 5, 10]))
def test_by_definition(rows, bins):
    found, total = as_levels(rows), sum(weight for _, _, weight in rows)
    mass = definitions.counts(rows, bins)
    np.testing.assert_allclose(found.counts(bins), [float(m) for m in mass], atol=1e-12)
    expected = 100 * sum((Fraction(1, bins) - m / total) ** 2 for m in mass)
    assert found.distance_from_uniform(bins) == pytest.approx(float(expected), abs=1e-12)

    points = found.survival_points(bins)
    level = [j / bins for j in range(1, bins + 1)]
    observed = [float(sum(mass[:j]) / total) for j in range(1, bins + 1)]
    np.testing.assert_allclose(points, [level, observed], atol=1e-12)
    np.testing.assert_allclose(points.line, np.polyfit(level, observed, 1), atol=1e-12)

    points = found.density_points(bins)
    level = [j / bins for j in range(1, bins)]
    observed = [float(definitions.central(rows, Fraction(j, bins)) / total) for j in range(1, bins)]
    np.testing.assert_allclose(points, [level, observed], atol=1e-12)
    np.testing.assert_allclose(points.line, np.polyfit(level, observed, 1), atol=1e-12)


def spelled_out(u: list[float], event: list[bool], weight: list[float]) -> list[float]:
    """The counts as they are defined for right-censored rows: own bin and each later one."""
    found = [0.0] * 10
    for level, seen, w in zip(u, event, weight, strict=True):
        own = int(np.ceil(level * 10)) - 1
        if seen:
            found[own] += w
            continue
        found[own] += w * ((own + 1) / 10 - level) / (1 - level)
        for later in range(own + 1, 10):
            found[later] += w * 0.1 / (1 - level)
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_right_censored_rows_as_spelled_out(weighted):
    rng = np.random.default_rng(3)
    n = 400
    scale, u, event = rng.uniform(2, 9, n), rng.uniform(0.001, 0.999, n), rng.random(n) < 0.4
    weight = rng.uniform(0, 3, n) if weighted else None
    data = right(-scale * np.log1p(-u), event, weight=weight)
    mass = np.array(spelled_out(u.tolist(), event.tolist(), data.weights.tolist()))
    predicted, total = Exponential(scale), data.total_weight
    np.testing.assert_allclose(calibration_counts(predicted, data), mass, rtol=1e-9)
    expected = 100 * ((0.1 - mass / total) ** 2).sum()
    assert censored_d_calibration(predicted, data) == pytest.approx(expected, rel=1e-9)

    level = np.arange(1, 11) / 10
    line = np.polyfit(level, np.cumsum(mass) / total, 1)
    np.testing.assert_allclose(survival_calibration(predicted, data), line, rtol=1e-8)
    np.testing.assert_allclose(survival_calibration_points(predicted, data), [level, np.cumsum(mass) / total])
    rows = [
        (Fraction(v), Fraction(v if e else 1), Fraction(w))
        for v, e, w in zip(u.tolist(), event.tolist(), data.weights.tolist(), strict=True)
    ]
    width = np.arange(1, 10) / 10
    within = [float(definitions.central(rows, Fraction(j, 10))) / total for j in range(1, 10)]
    np.testing.assert_allclose(density_calibration_points(predicted, data), [width, within], rtol=1e-9)
    np.testing.assert_allclose(density_calibration(predicted, data), np.polyfit(width, within, 1), rtol=1e-8)


def test_levels_of_every_kind_of_row():
    data = SurvivalData.interval([1, 2, -np.inf, 3, 0], [1, np.inf, 4, 5, 0], weight=[1, 2, 1, 1, 3])
    kappa = 0.7
    oracle = stats.laplace_asymmetric(kappa=kappa, loc=2, scale=1.5 / np.sqrt(2))
    found = event_levels(AsymmetricLaplace([2.0] * 5, 1.5, kappa), data)
    # The event at 0 came at or before 1, the smallest time above 0.
    np.testing.assert_allclose(found.low, [oracle.cdf(1), oracle.cdf(2), 0, oracle.cdf(3), 0], rtol=1e-12)
    np.testing.assert_allclose(found.high, [oracle.cdf(1), 1, oracle.cdf(4), oracle.cdf(5), oracle.cdf(1)], rtol=1e-12)
    assert found.weight.tolist() == [1, 2, 1, 1, 3]


def test_levels_after_delayed_entry():
    entry = [-np.inf, 0.5, 0.5, 1, 1]
    data = SurvivalData.interval([1, 1, 2, 3, -np.inf], [1, 1, np.inf, 5, 4], entry=entry)
    cdf = stats.norm(2, 1.5).cdf
    low, high = (
        [
            float((cdf(at) - cdf(since)) / (1 - cdf(since))) if since < at < np.inf else float(at == np.inf)
            for at, since in zip(bound, entry, strict=True)
        ]
        for bound in (data.lower, data.upper)
    )
    found = event_levels(Normal([2.0] * 5, 1.5), data)
    np.testing.assert_allclose(found.low, low, rtol=1e-12)
    np.testing.assert_allclose(found.high, high, rtol=1e-12)


def test_entry_that_the_prediction_rules_out():
    data = right([60.0], [True], entry=[50.0])
    for predicted in (Weibull([1.0], 8.0), Step([1.0, 2.0], [[0.5, 0.0]])):
        found = event_levels(predicted, data)
        assert (found.low.tolist(), found.high.tolist()) == ([1], [1])
        assert calibration_counts(predicted, data).tolist() == [0] * 9 + [1]


@given(st.integers(1, 30), st.sampled_from([2, 4, 10]))
def test_uniform_levels(repeats, bins):
    n = bins * repeats
    u = (np.arange(n) + 0.5) / n
    predicted, data = Exponential(np.full(n, 3.0)), right(-3 * np.log1p(-u), np.full(n, True))
    assert censored_d_calibration(predicted, data, bins=bins) == pytest.approx(0, abs=1e-25)
    np.testing.assert_allclose(survival_calibration(predicted, data, bins=bins), (1, 0), atol=1e-12)


def test_rows_of_which_nothing_is_known_are_uniform():
    predicted, data = LogNormal([0.0, 1.0], 1.0), right([0, 0], [False, False])
    assert censored_d_calibration(predicted, data) == pytest.approx(0, abs=1e-25)
    np.testing.assert_allclose(survival_calibration(predicted, data), (1, 0), atol=1e-12)
    np.testing.assert_allclose(density_calibration(predicted, data), (1, 0), atol=1e-12)


def test_censored_where_nothing_is_left():
    """F(y) next to 1, and 1 itself: all of the row in the last bin."""
    time = [20.0, 35.0, 36.5, 38.0, 1e4]
    data = right(time, [False] * 5)
    np.testing.assert_array_equal(calibration_counts(Exponential([1.0] * 5), data), [0] * 9 + [5])
    assert density_calibration_points(Exponential([1.0] * 5), data).observed.tolist() == [0] * 9
    tiny = SurvivalData.interval([-np.inf, 0], [1e-310, 1e-310])
    np.testing.assert_array_equal(calibration_counts(Exponential([1.0] * 2), tiny), [2] + [0] * 9)


def test_what_is_not_censored_gives_the_same_as_its_limit():
    """An interval that shrinks around a time becomes the event at that time."""
    time, predicted = np.array([0.3, 1.2, 2.1]), Exponential([1.0, 2.0, 1.0])
    exact = right(time, [True] * 3)
    narrow = SurvivalData.interval(time - 1e-9, time + 1e-9)
    np.testing.assert_allclose(calibration_counts(predicted, narrow), calibration_counts(predicted, exact), atol=1e-7)


@pytest.mark.parametrize("kind", ["right", "interval", "left", "entry"])
def test_the_true_distribution_is_calibrated(kind):
    rng = np.random.default_rng(11)
    n = 20_000
    x = rng.uniform(0, 2, n)
    true = Weibull(6 + 4 * x, 2.0)
    event, other = true.sample(random_state=4), rng.uniform(0, 20, n)
    if kind == "right":
        data = right(np.minimum(event, other), event <= other)
    elif kind == "interval":
        data = SurvivalData.interval(*np.where(event <= other, [0 * other, other], [other, 0 * other + np.inf]))
    elif kind == "left":
        data = SurvivalData.left(np.maximum(event, other), event >= other)
    else:
        entered = event > other / 2
        true = true[entered]
        data = right(event[entered], np.full(entered.sum(), True), entry=other[entered] / 2)
    assert censored_d_calibration(true, data) < 0.02
    np.testing.assert_allclose(survival_calibration(true, data), (1, 0), atol=0.02)
    np.testing.assert_allclose(density_calibration(true, data), (1, 0), atol=0.02)
    wrong = true.scaled(1.5)
    assert censored_d_calibration(wrong, data) > 0.1
    assert np.abs(np.subtract(survival_calibration(wrong, data), (1, 0))).max() > 0.05


@pytest.mark.parametrize("bins", [4, 10])
def test_chance_without_censoring_is_that_of_a_multinomial(bins):
    rng = np.random.default_rng(0)
    levels = SurvivalData.right(rng.exponential(1, 40), np.ones(40))
    found = censored_d_calibration_by_chance(Exponential(np.ones(40)), levels, bins=bins)
    # Variances of the shares of 40 rows, times 100.
    assert found == pytest.approx(100 * bins * (1 / bins) * (1 - 1 / bins) / 40, rel=1e-12)
    # Twice the weight is no more rows.
    assert censored_d_calibration_by_chance(
        Exponential(np.ones(40)), levels.with_weight(np.full(40, 2.0)), bins=bins
    ) == pytest.approx(found, rel=1e-12)


@pytest.mark.parametrize("kind", ["right", "weights", "left", "interval", "entry"])
def test_chance_is_what_the_truth_scores_on_average(kind):
    rng = np.random.default_rng(3)
    scale, found, expected = rng.uniform(1, 3, 60), [], []
    truth = Exponential(scale)
    for _ in range(600):
        time, other = rng.exponential(scale), rng.exponential(2.5, 60)
        if kind == "left":
            data = SurvivalData.left(np.maximum(time, other), time >= other)
        elif kind == "interval":
            data = SurvivalData.interval(np.floor(time), np.ceil(time))
        elif kind == "entry":
            data = SurvivalData.right(other + time, rng.random(60) < 2, entry=other)
        else:
            weight = rng.uniform(0, 3, 60) if kind == "weights" else None
            data = SurvivalData.right(np.minimum(time, other), time <= other, weight=weight)
        found.append(censored_d_calibration(truth, data))
        expected.append(censored_d_calibration_by_chance(truth, data))
    error = np.std(found) / np.sqrt(len(found))
    assert np.mean(expected) == pytest.approx(np.mean(found), abs=3.5 * error)
    # Less than without censoring, and not by so little that the test could not tell.
    if kind in ("right", "left", "interval"):
        assert np.mean(expected) < 90 / 60 - 10 * error


def test_too_wide_and_too_narrow():
    """Density calibration sees spread: too narrow a prediction covers too little."""
    event = np.random.default_rng(12).normal(50, 5, 20_000)
    data = right(event, np.full(20_000, True))
    for sigma in (2.5, 10.0):
        half = stats.norm.ppf(0.5 + np.arange(1, 10) / 20) * sigma
        observed = 2 * stats.norm(0, 5).cdf(half) - 1
        predicted = Normal(np.full(20_000, 50.0), sigma)
        points = density_calibration_points(predicted, data)
        np.testing.assert_allclose(points.observed, observed, atol=0.015)
        np.testing.assert_allclose(points.line, np.polyfit(np.arange(1, 10) / 10, observed, 1), atol=0.02)


def test_without_weight():
    data, predicted = right([1, 2, 3], [1, 1, 1], weight=[0, 0, 1])[:2], Exponential([1.0, 2.0])
    for act in (censored_d_calibration, survival_calibration, density_calibration):
        with pytest.warns(UserWarning, match="calibration is not defined and NaN: no row has a positive weight"):
            assert np.isnan(act(predicted, data)).all()


def test_what_is_refused():
    data, predicted = right([1, 2], [1, 1]), Exponential([1.0, 2.0])
    for bins in (1, 0, 2.5, True, "10"):
        with pytest.raises(ParameterError, match="bins must be a whole number from 2 on"):
            calibration_counts(predicted, data, bins=bins)
    with pytest.raises(ParameterError, match="bins must be a whole number from 3 on, but is 2"):
        density_calibration(predicted, data, bins=2)
    with pytest.raises(ParameterError, match="predicted has 2 and data 1"):
        censored_d_calibration(predicted, data[:1])
