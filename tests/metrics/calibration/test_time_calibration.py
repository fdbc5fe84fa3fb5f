from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics.calibration.calibration_curve import observed_probability
from aldsurv.metrics.calibration.time_calibration import integrated_calibration_index, one_calibration
from aldsurv.nonparametric import kaplan_meier
from metrics.definitions import simulated

right = SurvivalData.right


def restricted_cubic_spline(x):
    """Harrell's: cubic between the knots, straight outside of them."""
    a, b, c = np.quantile(x, [0.1, 0.5, 0.9], method="inverted_cdf")

    def cube(knot):
        return np.maximum(x - knot, 0) ** 3

    return np.stack([x, (cube(a) - cube(b) * (c - a) / (c - b) + cube(c) * (b - a) / (c - b)) / (c - a) ** 2], axis=1)


def test_curve_against_the_cox_regression_of_lifelines():
    from lifelines import CoxPHFitter

    data = simulated(1, 250, ties=False)
    rng = np.random.default_rng(3)
    # Between events it draws straight lines.
    time = float(np.sort(data.time[data.event])[60])
    risk = Weibull(rng.uniform(5, 40, 250) + data.time / 5, 1.2).cdf(time)
    columns = restricted_cubic_spline(np.log(-np.log1p(-risk)))
    frame = pd.DataFrame({"a": columns[:, 0], "b": columns[:, 1], "time": data.time, "event": data.event})
    fitted = CoxPHFitter().fit(frame, "time", "event", fit_options={"precision": 1e-12})
    survival = fitted.predict_survival_function(frame, times=[time]).to_numpy()[0]
    # It stops a little before the maximum.
    np.testing.assert_allclose(observed_probability(risk, data, time), 1 - survival, atol=1e-6)


def test_index_by_its_curve():
    data = simulated(2, 200)
    weight = np.random.default_rng(0).integers(0, 3, 200)
    predicted = Weibull(np.random.default_rng(3).uniform(5, 40, 200), 1.2)
    rows = np.repeat(np.arange(200), weight)
    risk = predicted.cdf(7.0)[rows]
    distance = np.sort(np.abs(risk - observed_probability(risk, data[rows], 7.0)))
    n = distance.size
    found = integrated_calibration_index(predicted, right(data.time, data.event, weight=weight), 7.0)
    expected = distance.mean(), distance[int(np.ceil(0.5 * n)) - 1], distance[int(np.ceil(0.9 * n)) - 1]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_few_distinct_predictions():
    data = simulated(4, 300)
    observed = 1 - float(kaplan_meier(data).survival_at(8.0))
    found = integrated_calibration_index(Exponential(np.full(300, 20.0)), data, 8.0)
    np.testing.assert_allclose(found, np.full(3, abs(observed + np.expm1(-0.4))), rtol=1e-12)
    # Two predictions: a regression on one column, which has the two groups in it.
    scale = np.where(np.arange(300) % 2, 10.0, 30.0)
    risk = Exponential(scale).cdf(8.0)
    curve = observed_probability(risk, data, 8.0)
    assert np.unique(curve.round(12)).size == 2
    assert curve.min() < observed < curve.max()


def truth_and_rows(seed, n, censoring=25.0):
    rng = np.random.default_rng([seed, 3])
    truth = Weibull(rng.uniform(3, 15, n), 1.5)
    event, lost = truth.sample(random_state=rng), rng.exponential(censoring, n)
    return truth, right(np.minimum(event, lost), event <= lost)


def test_index_of_the_truth_and_of_the_wrong():
    truth, data = truth_and_rows(0, 6000)
    assert integrated_calibration_index(truth, data, 6.0).ici < 0.02
    late = truth.scaled(1.4)
    found = integrated_calibration_index(late, data, 6.0)
    # The observed curve is known here: that of the truth.
    distance = np.abs(late.cdf(6.0) - truth.cdf(6.0))
    np.testing.assert_allclose(found, [distance.mean(), *np.quantile(distance, [0.5, 0.9])], atol=0.02)
    # All of a sort too certain: the mean is right, the index is not.
    certain = Weibull(np.array(truth.median()) ** 3 / 40, 1.5)
    assert integrated_calibration_index(certain, data, 6.0).ici > 0.1


def one_by_definition(risk, data, time, bins, variance):
    order = np.argsort(risk, kind="stable")
    total, expected, observed = 0.0, [], []
    for rows in np.split(order, bins):
        curve, mean = kaplan_meier(data[rows]), risk[rows].mean()
        survival = float(curve.survival_at(time))
        spread = mean * (1 - mean) / rows.size
        at = curve.times <= time
        n, d = curve.at_risk[at], curve.events[at]
        greenwood = survival**2 * (d / (n * (n - d))).sum()
        if variance == "greenwood":
            spread = greenwood
        elif variance == "effective":
            spread = mean * (1 - mean) / (survival * (1 - survival) / greenwood)
        total += (1 - survival - mean) ** 2 / spread
        expected.append(mean)
        observed.append(1 - survival)
    return total, stats.chi2.sf(total, bins), expected, observed


@pytest.mark.parametrize("variance", ["effective", "greenwood", "binomial"])
@pytest.mark.parametrize("bins", [2, 5, 10])
def test_one_calibration_by_definition(bins, variance):
    data = simulated(6, 300, ties=False)
    predicted = Weibull(np.random.default_rng(3).uniform(5, 40, 300), 1.2)
    found = one_calibration(predicted, data, 7.0, bins=bins, variance=variance, least=0)
    for value, expected in zip(found, one_by_definition(predicted.cdf(7.0), data, 7.0, bins, variance), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-10)


def test_one_calibration_does_not_depend_on_the_order_of_rows():
    data = simulated(6, 300)
    predicted = Exponential(np.random.default_rng(3).integers(5, 12, 300))
    mixed = np.random.default_rng(0).permutation(300)
    found, again = (one_calibration(p, d, 7.0) for p, d in ((predicted, data), (predicted[mixed], data[mixed])))
    for value, expected in zip(found, again, strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-9)
    assert found.predicted.size <= 7
    weighted = one_calibration(predicted, right(data.time, data.event, weight=np.full(300, 2)), 7.0)
    doubled = np.repeat(np.arange(300), 2)
    np.testing.assert_allclose(weighted[:2], one_calibration(predicted[doubled], data[doubled], 7.0)[:2], rtol=1e-9)


def p_values(variance, censoring, scale=1.0, replications=200, n=600, bins=10):
    found = []
    for seed in range(replications):
        truth, data = truth_and_rows(seed, n, censoring)
        found.append(one_calibration(truth.scaled(scale), data, 6.0, bins=bins, variance=variance).p_value)
    return np.array(found)


# Now and then all of a group of high risk are gone by then.
@pytest.mark.filterwarnings("ignore:one_calibration. 1 of 10 groups have no row left")
def test_p_values_of_the_truth_are_uniform():
    assert stats.kstest(p_values("effective", 10.0), "uniform").pvalue > 0.01
    assert stats.kstest(p_values("greenwood", 10.0, bins=4), "uniform").pvalue > 0.01
    assert stats.kstest(p_values("binomial", 1e9), "uniform").pvalue > 0.01
    # Without regard to censoring, or in small groups, the truth is rejected too often.
    assert (p_values("binomial", 6.0) < 0.05).mean() > 0.08
    assert (p_values("greenwood", 10.0) < 0.05).mean() > 0.08
    assert np.median(p_values("effective", 10.0, 1.3, 20)) < 0.01


def test_the_truth_is_rejected_as_often_as_the_level_says():
    """Of rows of which few are followed so long, in groups of 60: at the 5 % level in about 5 % of the draws."""
    rng, rejected, sizes = np.random.default_rng(0), [], []
    for _ in range(400):
        truth = Weibull(np.exp(1.5 + 0.7 * rng.normal(size=600)), 1.5)
        event, lost = truth.sample(random_state=rng), rng.exponential(8.0, 600)
        found = one_calibration(truth, right(np.minimum(event, lost), event <= lost), 8.0)
        rejected.append(found.p_value < 0.05)
        sizes.append(found.predicted.size)
    assert 0.025 <= np.mean(rejected) <= 0.075  # as they are cut: 13 %
    assert 3 < np.mean(sizes) < 6


def test_groups_of_enough_rows_stay_as_they_are_cut():
    data = simulated(6, 3000)
    predicted = Weibull(np.random.default_rng(3).uniform(5, 40, 3000), 1.2)
    joined, cut = one_calibration(predicted, data, 7.0), one_calibration(predicted, data, 7.0, least=0)
    for value, expected in zip(joined, cut, strict=True):
        np.testing.assert_array_equal(value, expected)


def test_groups_without_events_or_survivors():
    time = np.concatenate([np.full(10, 9.0), np.linspace(1, 5, 10)])
    data = right(time, np.ones(20, bool))
    predicted = Exponential(np.repeat([60.0, 2.0], 10))
    found = one_calibration(predicted, data, 6.0, bins=2, least=0)
    p = -np.expm1(-6 / np.array([60.0, 2.0]))
    np.testing.assert_allclose(found.observed, [0, 1])
    assert found.statistic == pytest.approx((10 * (found.observed - p) ** 2 / (p * (1 - p))).sum())
    certain = Exponential(np.repeat([1e300, 1e-300], 10))
    assert one_calibration(certain, data, 6.0, bins=2, least=0)[:2] == (0, 1)
    assert one_calibration(certain[::-1], data, 6.0, bins=2, least=0)[:2] == (np.inf, 0)
    # Together they have events and survivors.
    assert one_calibration(predicted, data, 6.0, bins=2).observed.tolist() == [0.5]


def test_edges():
    data = simulated(1, 100)
    predicted = Exponential(np.linspace(5, 40, 100))
    last = data.time.max()
    for metric in (integrated_calibration_index, one_calibration):
        with pytest.warns(UserWarning, match=f"the rows end at {last:g}, before the time {last + 1:g}"):
            assert np.isnan(metric(predicted, data, last + 1)[:2]).all()
        with pytest.warns(UserWarning, match="no row has an event"):
            assert np.isnan(metric(predicted, right(data.time, np.zeros(100, bool)), 5.0)[:2]).all()
        nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
        with pytest.warns(UserWarning, match="no row has a positive weight"):
            assert np.isnan(metric(predicted[:2], nothing, 1.0)[:2]).all()
        with pytest.raises(CensoringError, match="is not defined for delayed entry"):
            metric(predicted[:2], right([1, 2], [True, True], entry=[0, 1]), 1.0)
        with pytest.raises(CensoringError, match="exact and right-censored"):
            metric(predicted[:2], SurvivalData.interval([1, 2], [2, 3]), 1.0)
        for time in (0, -1, np.inf, [1.0], "soon", True):
            with pytest.raises(ParameterError, match="time must be a number above 0"):
                metric(predicted, data, time)
    for bins in (1, 2.5, True):
        with pytest.raises(ParameterError, match="bins must be a whole number from 2 on"):
            one_calibration(predicted, data, 5.0, bins=bins)
    for least in (-1, 2.5, True):
        with pytest.raises(ParameterError, match="least must be a whole number from 0 on"):
            one_calibration(predicted, data, 5.0, least=least)
    with pytest.raises(ParameterError, match="variance must be one of 'effective', 'greenwood', 'binomial'"):
        one_calibration(predicted, data, 5.0, variance="poisson")
    short = right(np.concatenate([np.full(50, 2.0), np.linspace(5, 9, 50)]), np.arange(100) >= 50)
    with pytest.warns(UserWarning, match="1 of 2 groups have no row left at time 7"):
        found = one_calibration(predicted, short, 7.0, bins=2, least=0)
    assert np.isnan(found.observed[1])
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic, 1))
    # The events are exactly those of the highest risk, in its order: there is no largest slope.
    apart = right(np.arange(1.0, 101.0), np.arange(100) < 40)
    with pytest.warns(UserWarning, match="has no finite solution"):
        assert np.isnan(integrated_calibration_index(predicted, apart, 30.0)).all()
