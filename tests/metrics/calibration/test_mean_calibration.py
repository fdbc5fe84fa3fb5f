from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError, UndefinedMetricWarning
from aldsurv.metrics import bootstrap, calibration_in_the_large, observed_expected_ratio
from metrics.calibration.frozen_calibration import AT, FROZEN, KINDS, causes, prediction, rows

right = SurvivalData.right


def drawn(n, seed, factor=1.0):
    """Rows of Weibull times, and a prediction of times that are longer by a factor."""
    rng = np.random.default_rng([seed, 6])
    truth = Weibull(rng.uniform(2, 8, n), 1.4)
    event, lost = truth.sample(random_state=rng), rng.uniform(0, 12, n)
    return truth.scaled(factor), right(np.minimum(event, lost), event <= lost)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["plain", "ties"])
def test_at_a_time_it_is_that_of_survfit(kind, part):
    expected = FROZEN["sets"][kind][part]["mean"]
    ratio = observed_expected_ratio(prediction(kind), rows(part), AT)
    assert ratio.ratio == pytest.approx(expected["ratio"], rel=1e-9)
    assert (ratio.observed, ratio.expected) == pytest.approx((expected["observed"], expected["expected"]), rel=1e-9)
    assert (ratio.lower, ratio.upper) == pytest.approx(expected["ratio_limits"], rel=1e-8)
    large = calibration_in_the_large(prediction(kind), rows(part), AT)
    assert large.difference == pytest.approx(expected["observed"] - expected["expected"], rel=1e-8)
    assert (large.lower, large.upper) == pytest.approx(expected["difference_limits"], rel=1e-7)
    assert large[3:] == (ratio.observed, ratio.expected, ratio.ratio)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["plain", "ties", "entry"])
def test_overall_it_is_the_intercept_of_a_poisson_regression(kind, part):
    expected = FROZEN["sets"][kind][part]["overall"]
    large = calibration_in_the_large(prediction(kind), rows(part))
    assert large.difference == pytest.approx(expected["intercept"], rel=1e-8)
    assert (large.lower, large.upper) == pytest.approx(expected["intercept_limits"], abs=1e-8)
    assert (large.observed, large.expected) == pytest.approx((expected["observed"], expected["expected"]), rel=1e-9)
    ratio = observed_expected_ratio(prediction(kind), rows(part))
    assert ratio[:3] == pytest.approx(np.exp(large[:3]), rel=1e-12)
    assert (ratio.observed, ratio.expected, ratio.ratio) == large[3:]


@pytest.mark.parametrize("cause", ["one", "two"])
def test_by_cause_it_is_that_of_aalen_johansen(cause):
    predicted, data = causes()
    expected = FROZEN["causes"][cause]
    ratio = observed_expected_ratio(predicted, data, AT, cause=cause)
    assert (ratio.observed, ratio.expected) == pytest.approx((expected["observed"], expected["expected"]), rel=1e-9)
    # R has the infinitesimal jackknife, here it is Aalen's variance.
    error = np.log(ratio.upper / ratio.lower) / (2 * stats.norm.ppf(0.975))
    assert error == pytest.approx(expected["std_err"] / expected["observed"], rel=0.03)
    overall, frozen = calibration_in_the_large(predicted, data, cause=cause), expected["overall"]
    assert overall.observed == frozen["observed"]
    assert overall.expected == pytest.approx(frozen["expected"], rel=1e-3)
    assert overall[:3] == pytest.approx([frozen["intercept"], *frozen["intercept_limits"]], abs=1e-3)


def test_what_is_shifted_shows():
    truth, data = drawn(2000, 0)
    for time in (None, 4.0):
        found = observed_expected_ratio(truth, data, time)
        assert found.lower < 1 < found.upper
        large = calibration_in_the_large(truth, data, time)
        assert large.lower < 0 < large.upper
        late, early = (observed_expected_ratio(truth.scaled(factor), data, time) for factor in (1.3, 0.7))
        assert late.lower > 1
        assert early.upper < 1
        assert calibration_in_the_large(truth.scaled(1.3), data, time).lower > 0
        assert calibration_in_the_large(truth.scaled(0.7), data, time).upper < 0
    # Of a hazard that is too small by a factor the overall ratio is that factor.
    slower = observed_expected_ratio(truth.scaled(2 ** (1 / 1.4)), data)
    assert slower.lower < 2 < slower.upper


@pytest.mark.parametrize("time", [None, 3.0])
def test_limits_hold_the_truth_as_often_as_they_say(time):
    """Of 400 drawn sets with a right prediction: five standard errors around 80 %."""
    held = []
    for seed in range(400):
        truth, data = drawn(100, seed)
        ratio = observed_expected_ratio(truth, data, time, confidence=0.8)
        large = calibration_in_the_large(truth, data, time, confidence=0.8)
        held.append((ratio.lower <= 1 <= ratio.upper, large.lower <= 0 <= large.upper))
    assert np.mean(held, axis=0) == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 400))


@pytest.mark.parametrize("name", ["observed_expected_ratio", "calibration_in_the_large"])
def test_resamples_agree_with_repeated_rows(name):
    function = {
        "observed_expected_ratio": observed_expected_ratio,
        "calibration_in_the_large": calibration_in_the_large,
    }[name]
    predicted, data = drawn(60, 1)
    for time, metric in ((None, name), (3.0, f"{name}_at")):
        options = {} if time is None else {"time": time}
        found = bootstrap(metric, predicted, data, samples=20, random_state=0, **options)
        generator, values = np.random.default_rng(0), []
        for _ in range(20):
            chosen = generator.integers(0, 60, 60)
            values.append(function(predicted[chosen], data[chosen], time)[0])
        assert (found.lower, found.upper) == pytest.approx(np.quantile(values, [0.025, 0.975]), rel=1e-9)


def test_without_events():
    data, predicted = right([2, 3, 4], [0, 0, 0]), Exponential([1.0, 4.0, 6.0])
    found = observed_expected_ratio(predicted, data)
    assert (found.ratio, found.lower, found.observed) == (0.0, 0.0, 0.0)
    # Garwood's limit: with that mean number no event has a probability of 2.5 %.
    assert stats.poisson.pmf(0, found.upper * found.expected) == pytest.approx(0.025)
    at_time = observed_expected_ratio(predicted, data, 3.0)
    assert at_time.ratio == 0
    assert np.isnan([at_time.lower, at_time.upper]).all()
    large = calibration_in_the_large(predicted, data, 3.0)
    assert large.difference == pytest.approx(-predicted.cdf(3.0).mean())
    with pytest.warns(UndefinedMetricWarning, match="no row has an event"):
        assert np.isnan(calibration_in_the_large(predicted, data)).all()


def test_one_event():
    data = right([2, 3, 4], [0, 1, 0])
    found = observed_expected_ratio(Exponential([3.0, 3.0, 3.0]), data)
    assert found[:3] == pytest.approx(np.exp([0, -stats.norm.ppf(0.975), stats.norm.ppf(0.975)]) / 3)
    # All had the event: Greenwood's variance is 0.
    every = right([1, 2, 3], [1, 1, 1])
    assert np.isnan(observed_expected_ratio(Exponential([3.0] * 3), every, 3.0).lower)
    assert observed_expected_ratio(Exponential([3.0] * 3), every, 3.0).observed == 1


@pytest.mark.parametrize("function", [observed_expected_ratio, calibration_in_the_large])
def test_without_an_estimate_there_is_a_reason(function):
    data = right([1, 2, 3], [1, 0, 1])
    with pytest.warns(UndefinedMetricWarning, match="the rows end at 3, before the time 4"):
        assert np.isnan(function(Exponential([1.0] * 3), data, 4.0)).all()
    flat = Step([2.0, 5.0], [[1.0, 0.5]] * 3)
    with pytest.warns(UndefinedMetricWarning, match="no event is predicted by the time 1.5"):
        assert np.isnan(function(flat, data, 1.5)).all()
    for time in (None, 2.0):
        with pytest.warns(UndefinedMetricWarning, match="no row has a positive weight"):
            assert np.isnan(
                function(Exponential([1.0] * 3), right([1, 2, 3, 4], [1, 0, 1, 1], weight=[0, 0, 0, 1])[:3], time)
            ).all()


def test_a_curve_that_ends_counts_23_events():
    data = right([1, 3], [0, 1])
    found = observed_expected_ratio(Step([1.0, 2.0], [[0.5, 0.0]] * 2), data)
    assert found.expected == pytest.approx(np.log(2) + 10 * np.log(10))


def test_an_event_at_zero_was_observed_until_the_next_time():
    data = right([0, 2, 5], [1, 1, 0])
    found = observed_expected_ratio(Exponential([1.0, 1.0, 1.0]), data)
    assert found.expected == pytest.approx(2 + 2 + 5)
    # A row that was lost at 0 was not observed at all.
    lost = observed_expected_ratio(Exponential([1.0, 1.0, 1.0]), right([0, 2, 5], [0, 1, 0]))
    assert lost.expected == pytest.approx(7, abs=1e-9)


@pytest.mark.parametrize("function", [observed_expected_ratio, calibration_in_the_large])
def test_what_is_refused(function):
    predicted, data = drawn(10, 7)
    with pytest.raises(ParameterError, match="confidence"):
        function(predicted, data, confidence=1.0)
    with pytest.raises(ParameterError, match="time"):
        function(predicted, data, 0.0)
    with pytest.raises(CensoringError, match="delayed entry"):
        function(predicted, right(data.time, data.event, entry=0.5 * data.time), 1.0)
    with pytest.raises(CensoringError):
        function(predicted, SurvivalData.interval(data.time, data.time + 1))
