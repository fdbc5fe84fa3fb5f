from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics import censored_d_calibration, concordance_harrell
from aldsurv.metrics.calibration.distribution_calibration import d_calibration
from aldsurv.metrics.calibration.group_calibration import calibration_by_group
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


def test_a_large_group_that_is_wrong_is_worse_than_a_small_one_that_scatters():
    """The small group has more CensDcal beyond 90/n, by chance; only the large one is off by more than chance."""
    labels = np.repeat(["large", "small"], [3000, 60])
    scattered = np.repeat(np.arange(10), [9, 3, 9, 3, 9, 3, 9, 3, 6, 6]) / 10 + 0.05
    levels = np.concatenate([(np.arange(3000) + 0.5) / 3000, scattered])
    truth = Weibull(np.linspace(3, 15, 3060), 1.5)
    data = right(truth.quantile(levels[:, None])[:, 0], np.ones(3060, bool))
    found = calibration_by_group(truth.scaled(np.where(labels == "large", 1.08, 1.0)), data, labels)
    large, small = found.groups
    assert small.cens_dcal - 90 / 60 > large.cens_dcal - 90 / 3000 > 0
    assert small.p_value > 0.1 > 0.01 > large.p_value
    assert found.worst == "large"
    # Where no group is off by more than chance, it is the one with the largest distance beyond that.
    assert calibration_by_group(truth, data, labels).worst == "small"
    assert calibration_by_group(truth, data, labels, least=100).worst == "large"


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
    with pytest.raises(ParameterError, match="least must be a whole number from 1 on"):
        calibration_by_group(predicted, data, labels, least=0)
    with pytest.raises(ParameterError, match="horizon must be a number above 0"):
        calibration_by_group(predicted, data, labels, horizon=-1)
    with pytest.raises(CensoringError, match="calibration_by_group is not defined for delayed entry"):
        calibration_by_group(predicted, right(data.time, data.event, entry=[0.5] * 6), labels)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        calibration_by_group(predicted[:2], SurvivalData.interval([1, 2], [2, 3]), [0, 1])
