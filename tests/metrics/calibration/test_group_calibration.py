from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics import censored_d_calibration, concordance_harrell
from aldsurv.metrics.calibration.distribution_calibration import d_calibration
from aldsurv.metrics.calibration.group_calibration import GroupCalibration, calibration_by_group, worst_group
from aldsurv.metrics.calibration.individual_calibration import worst_group_calibration
from aldsurv.nonparametric import kaplan_meier
from metrics.definitions import simulated

right = SurvivalData.right


@pytest.mark.parametrize("weighted", [False, True])
def test_each_group_as_if_it_were_alone(weighted):
    rng = np.random.default_rng(0)
    data = simulated(0, 300)
    data = right(data.time, data.event, weight=rng.uniform(0.5, 2, 300) if weighted else None)
    predicted, labels = Weibull(rng.uniform(5, 40, 300), 1.3), rng.choice(["b", "a", "c"], 300)
    found = calibration_by_group(predicted, data, labels, horizon=5.0)
    assert [group.group for group in found.groups] == ["a", "b", "c"]
    assert found.horizon == 5
    for group in found.groups:
        rows = labels == group.group
        alone, own = predicted[rows], data[rows]
        assert group.n == rows.sum()
        assert group.events == own.event.sum()
        assert group.harrell_c == concordance_harrell(alone, own)
        assert group.cens_dcal == pytest.approx(censored_d_calibration(alone, own), rel=1e-10)
        assert group.p_value == d_calibration(alone, own).p_value
        mean = own.weights @ alone.survival(5.0) / own.total_weight
        assert group.difference == pytest.approx(mean - float(kaplan_meier(own).survival_at(5.0)), rel=1e-10)


def test_the_worst_is_found_though_small_groups_scatter():
    rng = np.random.default_rng(2)
    labels = np.repeat(["wrong", "right", "small", "tiny"], [400, 400, 60, 8])
    truth = Weibull(rng.uniform(3, 15, labels.size), 1.5)
    data = right(truth.sample(random_state=1), np.ones(labels.size, bool))
    predicted = truth.scaled(np.where(labels == "wrong", 1.25, 1.0))
    found = calibration_by_group(predicted, data, labels)
    assert found.worst == "wrong"
    by_label = {group.group: group for group in found.groups}
    assert by_label["wrong"].p_value < 1e-3
    assert by_label["wrong"].difference > 0.05
    # Of few rows CensDcal is larger still, and means nothing.
    assert by_label["tiny"].cens_dcal > by_label["wrong"].cens_dcal
    assert calibration_by_group(predicted, data, labels, least=1000).worst is None


def binomial_rows(survivors: dict[str, tuple[int, int]]) -> tuple[SurvivalData, np.ndarray]:
    """So many of so many rows of each group survive time 5; half of the others are events at 1, half at 3."""
    labels = np.repeat(list(survivors), [n for _, n in survivors.values()])
    alive = np.concatenate([np.arange(n) < k for k, n in survivors.values()])
    return right(np.where(alive, 8.0, np.where(np.arange(alive.size) % 2, 1.0, 3.0)), ~alive), labels


def level_prediction(shares: np.ndarray) -> Step:
    """Survival beyond 5 of each row."""
    return Step([1.0, 3.0, 20.0], np.stack([(1 + shares) / 2, shares, 0 * shares], axis=1))


def test_a_group_that_is_twelve_points_too_low_is_called_so():
    """Predicted 74.4 %, observed 86.4 % (about 77 to 93): D-calibration does not see it, the interval does."""
    data, labels = binomial_rows({"a": (70, 81), "b": (150, 200)})
    predicted = level_prediction(np.where(labels == "a", 0.744, 0.75))
    found = calibration_by_group(predicted, data, labels, horizon=5.0)
    a, b = found.groups
    limits = stats.binomtest(70, 81).proportion_ci(0.95)
    assert (a.predicted, a.observed) == pytest.approx((0.744, 70 / 81))
    assert (a.lower, a.upper) == pytest.approx((0.744 - limits.high, 0.744 - limits.low), rel=1e-9)
    wider = stats.binomtest(70, 81).proportion_ci(0.975)
    assert (a.corrected_lower, a.corrected_upper) == pytest.approx((0.744 - wider.high, 0.744 - wider.low), rel=1e-9)
    assert (a.finding, found.worst) == ("off", "a")
    at_least = 100 * (wider.low - 0.744)
    near, far = 100 * (limits.low - 0.744), 100 * (limits.high - 0.744)
    assert a.verdict == f"too low by 12.0 points ({near:.1f} to {far:.1f}), at least {at_least:.1f} given 2 groups"
    assert a.short_verdict == f"off by {at_least:.1f} or more"
    assert (b.finding, b.short_verdict) == ("too few", "too few to tell")
    # Among many groups it may be chance; that there is no sign of it is never said.
    many = calibration_by_group(predicted, data, labels, horizon=5.0, comparisons=12).groups[0]
    assert many.finding == "unclear"
    assert many.verdict == f"too low by 12.0 points ({near:.1f} to {far:.1f}), may be chance among 12 groups"
    assert many.short_verdict == "too low, or chance"


def test_right_is_said_only_within_the_margin():
    data, labels = binomial_rows({"few": (45, 60), "many": (1500, 2000), "tiny": (6, 8)})
    found = calibration_by_group(level_prediction(np.full(2068, 0.745)), data, labels, horizon=5.0)
    few, many, tiny = found.groups
    assert (few.finding, many.finding, tiny.finding) == ("too few", "right", "not judged")
    assert max(-many.lower, many.upper) < 0.05 < max(-few.lower, few.upper)
    assert many.verdict == "right within 5 points"
    assert few.verdict == f"too few to tell ({-100 * few.lower:.1f} points too low to {100 * few.upper:.1f} too high)"
    assert tiny.verdict == "too few rows"
    assert np.isnan(tiny.off_by_at_least)
    # Two groups are judged, and corrected for.
    assert [group.comparisons for group in found.groups] == [2, 2, 0]


def test_a_group_that_is_off_for_sure_is_worse_than_a_small_one_that_scatters():
    data, labels = binomial_rows({"large": (2000, 3000), "small": (33, 60)})
    predicted = level_prediction(np.where(labels == "large", 0.73, 0.64))
    found = calibration_by_group(predicted, data, labels, horizon=5.0)
    large, small = found.groups
    assert small.difference > large.difference > 0.06
    assert small.off_by_at_least == 0 < large.off_by_at_least
    assert found.worst == "large"
    # Where no group is off for sure, it is the one with the largest difference, of those with enough rows.
    right_for_large = level_prediction(np.where(labels == "large", 0.66, 0.64))
    assert calibration_by_group(right_for_large, data, labels, horizon=5.0).worst == "small"
    assert calibration_by_group(right_for_large, data, labels, horizon=5.0, least=100).worst == "large"


def test_right_predictions_are_rarely_called_off():
    rng, runs, any_off = np.random.default_rng(3), 60, 0
    labels = np.repeat(np.arange(6), [50, 50, 60, 60, 80, 120])
    for _ in range(runs):
        truth = Weibull(rng.uniform(5, 20, labels.size), 1.3)
        end = rng.uniform(0, 25, labels.size)
        time = truth.sample(random_state=rng)
        data = right(np.minimum(time, end), time <= end)
        found = calibration_by_group(truth, data, labels)
        any_off += any(group.finding == "off" for group in found.groups)
    assert any_off <= stats.binom.ppf(0.999, runs, 0.05)


shares = st.floats(-1, 1)


@given(st.lists(st.tuples(shares, shares, shares, st.integers(0, 3)), max_size=8))
def test_the_worst_has_the_largest_figure(rows):
    groups = []
    for place, (one, other, third, comparisons) in enumerate(rows):
        lower, difference, upper = sorted((one, other, third))
        groups.append(
            GroupCalibration(place, 60, 9, 0.5, 1.0, 0.5, 0.5, 0.5 - difference, difference, lower, upper, lower, upper,
            comparisons)
        )  # fmt: skip
    worst, judged = worst_group(groups), [group for group in groups if group.comparisons]
    if worst is None:
        assert not judged
        return
    assert worst.comparisons
    if worst.finding == "off":
        assert worst.off_by_at_least == max(group.off_by_at_least for group in judged)
        assert (worst.lower > 0) or (worst.upper < 0)
    else:
        assert abs(worst.difference) == max(abs(group.difference) for group in judged)
        assert all(group.finding != "off" for group in judged)
    for group in judged:
        assert ("right" in group.verdict) == (-0.05 <= group.lower <= 0 <= group.upper <= 0.05)


def test_weights_that_are_no_counts_count_as_kish_has_it():
    """Half the rows of weight 3, half of weight 1: as much is known as from 80 % of the rows."""
    data, labels = binomial_rows({"a": (150, 200)})
    weight = np.where(np.arange(200) % 4 < 2, 0.3, 0.1)
    weighted = right(data.time, data.event, weight=weight)
    found = calibration_by_group(level_prediction(np.full(200, 0.7)), weighted, labels, horizon=5.0).groups[0]
    observed = float(kaplan_meier(weighted).survival_at(5.0))
    assert found.observed == pytest.approx(observed)
    low, high = (stats.beta.ppf(q, *ab) for q, ab in (
        (0.025, (160 * observed, 160 * (1 - observed) + 1)), (0.975, (160 * observed + 1, 160 * (1 - observed))),
    ))  # fmt: skip
    assert (found.lower, found.upper) == pytest.approx((0.7 - high, 0.7 - low), rel=1e-6)


def test_a_group_without_a_distance_is_not_the_worst():
    """No row of the first group has got beyond level 0: it has none, and must not hide the other."""
    x = np.repeat([[0.0], [1.0]], 60, axis=0)
    data = right(np.repeat([1.0, 150.0], 60), np.arange(120) % 2 == 0)
    predicted = Step([100.0, 200.0], np.tile([0.5, 0.0], (120, 1)))
    with pytest.warns(UserWarning, match="x0 ≤ 0 is not defined and NaN: all levels are 0"):
        found = worst_group_calibration(predicted, data, x)
    assert found.group == "x0 > 0"
    assert found.distance > 0.1


def test_any_column():
    data = right(np.arange(1.0, 7.0), [True] * 6)
    predicted = Exponential(np.arange(1.0, 7.0))
    names = ["y", "y", None, "x", "x", None]
    expected = calibration_by_group(predicted, data, names, horizon=1.0)
    assert [group.group for group in expected.groups] == ["x", "y", None]
    for column in (pd.Series(names, dtype="object"), pd.Series(names, dtype="category"), pl.Series(names)):
        np.testing.assert_equal(calibration_by_group(predicted, data, column, horizon=1.0), expected)
    numbers = calibration_by_group(predicted, data, [2.0, 2.0, np.nan, 1.0, 1.0, np.nan], horizon=1.0)
    assert [group.group for group in numbers.groups] == [1.0, 2.0, None]
    assert [group[1:] for group in numbers.groups] == [group[1:] for group in expected.groups]
    # Labels that have no order among them stay in that of the rows.
    mixed = calibration_by_group(predicted, data, np.array(["y", "y", 3, 3, "a", "a"], dtype=object), horizon=1.0)
    assert [group.group for group in mixed.groups] == ["y", 3, "a"]


def test_edges():
    data = right([1, 2, 3, 9, 10, 11], [True, True, False, True, True, True])
    predicted, labels = Exponential(np.arange(1.0, 7.0)), [0, 0, 0, 1, 1, 1]
    with pytest.warns(UserWarning, match=r"1 of 2 groups end before the horizon 5 .*\(first: 0\)"):
        found = calibration_by_group(predicted, data, labels, horizon=5)
    assert np.isnan(found.groups[0].difference)
    # The median of the observed times.
    with pytest.warns(UserWarning, match="harrell is not defined"):
        assert calibration_by_group(predicted, data, [0, 1, 1, 1, 1, 1]).horizon == 3
    nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="no row has a positive weight"):
        assert calibration_by_group(predicted[:2], nothing, [0, 1]).groups == ()
    with pytest.raises(ParameterError, match=r"one label for each of 6 rows, but has shape \(2,\)"):
        calibration_by_group(predicted, data, [0, 1])
    assert (found.groups[0].verdict, found.worst) == ("too few rows", None)
    with pytest.warns(UserWarning, match="end before the horizon"):
        short = calibration_by_group(predicted, data, labels, horizon=5, least=1)
    assert (short.groups[0].verdict, short.worst) == ("ends before the horizon", 1)
    with pytest.raises(ParameterError, match="comparisons must be a whole number from 1 on"):
        calibration_by_group(predicted, data, labels, comparisons=0)
    with pytest.raises(ParameterError, match="least must be a whole number from 1 on"):
        calibration_by_group(predicted, data, labels, least=0)
    with pytest.raises(ParameterError, match="horizon must be a number above 0"):
        calibration_by_group(predicted, data, labels, horizon=-1)
    with pytest.raises(CensoringError, match="calibration_by_group is not defined for delayed entry"):
        calibration_by_group(predicted, right(data.time, data.event, entry=[0.5] * 6), labels)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        calibration_by_group(predicted[:2], SurvivalData.interval([1, 2], [2, 3]), [0, 1])
