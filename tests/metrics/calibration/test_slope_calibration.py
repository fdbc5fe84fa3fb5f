from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CauseHazards, Exponential, LogNormal, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError, UndefinedMetricWarning
from aldsurv.metrics import bootstrap, calibration_slope, evaluate, survival_calibration
from metrics.calibration.frozen_calibration import AT, FROZEN, KINDS, causes, prediction, rows

right = SurvivalData.right


def drawn(n, seed, *, power=1.0, factor=1.0, lost=3.0):
    """Rows of exponential times with log hazards x, and a prediction with log hazards power·x and all times longer."""
    rng = np.random.default_rng([seed, 5])
    x = rng.normal(size=n)
    event, censoring = rng.exponential(size=n) * np.exp(-x), rng.uniform(0, lost, n)
    return Exponential(factor * np.exp(-power * x)), right(np.minimum(event, censoring), event <= censoring)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["plain", "ties"])
def test_at_a_time_it_is_the_coefficient_of_coxph(kind, part):
    expected = FROZEN["sets"][kind][part]["at"]
    found = calibration_slope(prediction(kind), rows(part), AT)
    assert found.slope == pytest.approx(expected["slope"], rel=1e-6)
    assert found.standard_error == pytest.approx(expected["se"], rel=1e-6)
    assert (found.lower, found.upper) == pytest.approx(expected["limits"], rel=1e-6)
    if part == "plain":
        assert found.slope == pytest.approx(expected["rms"], rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["plain", "ties", "entry"])
def test_overall_it_is_the_coefficient_of_a_poisson_regression(kind, part):
    expected = FROZEN["sets"][kind][part]["overall"]
    found = calibration_slope(prediction(kind), rows(part))
    assert found.slope == pytest.approx(expected["slope"], rel=1e-7)
    assert found.standard_error == pytest.approx(expected["se"], rel=1e-7)
    assert (found.lower, found.upper) == pytest.approx(expected["slope_limits"], rel=1e-6)


@pytest.mark.parametrize("cause", ["one", "two"])
def test_by_cause_it_is_that_of_fine_and_gray(cause):
    predicted, data = causes()
    expected = FROZEN["causes"][cause]
    found = calibration_slope(predicted, data, AT, cause=cause)
    assert found.slope == pytest.approx(expected["slope"], rel=1e-6)
    assert found.slope == pytest.approx(expected["crr"], rel=1e-6)
    assert found.standard_error == pytest.approx(expected["se"], rel=1e-6)
    # Overall it is that of the hazard of the cause, with other causes as censorings.
    overall = calibration_slope(predicted, data, cause=cause)
    assert overall.slope == pytest.approx(expected["overall"]["slope"], rel=1e-3)
    assert overall.standard_error == pytest.approx(expected["overall"]["se"], rel=1e-3)


def test_overall_by_the_likelihood_itself():
    predicted, data = drawn(150, 1, power=1.7)
    time, event = data.time, data.event
    hazard = -predicted.log_survival(time[:, None])[:, 0]
    x = np.log(-predicted.log_survival(float(np.quantile(time[event], 0.5, method="inverted_cdf"))))

    def loss(ab):
        mean = np.exp(ab[0] + ab[1] * x) * hazard / np.exp(x)
        return mean.sum() - np.log(mean[event]).sum()

    best = optimize.minimize(loss, [0.0, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
    assert calibration_slope(predicted, data).slope == pytest.approx(best.x[1], abs=1e-6)


def test_of_proportional_hazards_the_centre_does_not_matter():
    """A common power of all survival curves moves the intercept only; x is the linear predictor and a constant."""
    predicted, data = drawn(200, 2, power=0.5)
    slope = calibration_slope(predicted, data).slope
    assert calibration_slope(predicted.scaled(3.0), data).slope == pytest.approx(slope, rel=1e-9)
    assert calibration_slope(predicted.scaled(3.0), data, 0.5).slope == pytest.approx(
        calibration_slope(predicted, data, 0.5).slope, rel=1e-9
    )


@pytest.mark.parametrize("time", [None, 0.8])
def test_what_is_too_extreme_or_too_alike_shows(time):
    truth, data = drawn(3000, 3)
    right_one = calibration_slope(truth, data, time)
    assert right_one.lower < 1 < right_one.upper
    for power in (3.0, 0.4, -1.0):
        predicted, _ = drawn(3000, 3, power=power)
        found = calibration_slope(predicted, data, time)
        assert found.lower < 1 / power < found.upper
        assert (found.upper < 1) == (power != 0.4)
        assert (found.lower > 1) == (power == 0.4)
    shifted = calibration_slope(drawn(3000, 3, factor=2.0)[0], data, time)
    assert shifted.slope == pytest.approx(right_one.slope, rel=1e-9)


def test_hazards_that_are_not_proportional():
    """Log-normal times: right ones have a slope of 1, and of predictions that are noise it is 0."""
    rng = np.random.default_rng(12)
    x, noise = rng.normal(size=(2, 3000))
    truth = LogNormal(0.8 * x, 0.7)
    event, lost = truth.sample(random_state=1), rng.uniform(0, 6, 3000)
    data = right(np.minimum(event, lost), event <= lost)
    found, of_noise = calibration_slope(truth, data), calibration_slope(LogNormal(0.8 * noise, 1.0), data)
    assert found.lower < 1 < found.upper
    assert of_noise.lower < 0 < of_noise.upper < 0.1


def test_the_slope_of_levels_does_not_see_an_over_trained_model():
    """Cal[S] of predictions whose errors cancel is near 1; the Cox slope says that they are far too extreme."""
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=400), rng.normal(size=400)
    event, lost = rng.weibull(2.0, 400) * np.exp(-0.3 * x), rng.uniform(0.3, 4, 400)
    data = right(np.minimum(event, lost), event <= lost)
    # The curves are wide enough for the noise in their scales.
    predicted = Weibull(1.2 * np.exp(-0.3 * x - noise), 1.08)
    assert survival_calibration(predicted, data).slope == pytest.approx(1, abs=0.1)
    for time in (None, 0.7):
        found = calibration_slope(predicted, data, time)
        assert found.upper < 0.6


@pytest.mark.parametrize("time", [None, 0.7])
def test_limits_hold_the_slope_as_often_as_they_say(time):
    """Of 300 drawn sets with a right prediction the limits hold 1 in about 80 %: five standard errors around it."""
    held = []
    for seed in range(300):
        truth, data = drawn(120, 100 + seed)
        found = calibration_slope(truth, data, time, confidence=0.8)
        held.append(found.lower <= 1 <= found.upper)
    assert np.mean(held) == pytest.approx(0.8, abs=5 * np.sqrt(0.16 / 300))


@pytest.mark.parametrize("cause", ["one", "two"])
def test_limits_by_cause_hold_the_slope(cause):
    held = []
    for seed in range(40):
        rng = np.random.default_rng([seed, 9])
        hazards = np.exp(0.8 * rng.normal(size=(2, 150)))
        times, lost = rng.exponential(size=(2, 150)) / hazards, rng.uniform(0.3, 2, 150)
        first = times.min(axis=0)
        label = np.where(first <= lost, 1 + times.argmin(axis=0), 0)
        data = SurvivalData.competing(np.minimum(first, lost), label, names=["one", "two"])
        truth = CauseHazards([Exponential(1 / hazards[0]), Exponential(1 / hazards[1])], ["one", "two"])
        for time in (None, 0.5):
            found = calibration_slope(truth, data, time, cause=cause, confidence=0.8)
            held.append(found.lower <= 1 <= found.upper)
    assert np.mean(held) == pytest.approx(0.8, abs=0.16)


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
@settings(max_examples=30, deadline=None)
def test_limits_are_symmetric_and_wider_with_more_confidence(seed, confidence):
    predicted, data = drawn(60, seed, power=2.0)
    for time in (None, 0.4):
        found = calibration_slope(predicted, data, time, confidence=confidence)
        wider = calibration_slope(predicted, data, time, confidence=0.5 * (1 + confidence))
        assert found.slope - found.lower == pytest.approx(found.upper - found.slope, rel=1e-6)
        assert wider.lower < found.lower < found.slope < found.upper < wider.upper
        assert wider.standard_error == found.standard_error


@pytest.mark.parametrize("name", ["calibration_slope", "calibration_slope_at"])
def test_resamples_agree_with_repeated_rows(name):
    predicted, data = drawn(80, 4, power=1.5)
    options = {} if name == "calibration_slope" else {"time": 0.6}
    found = bootstrap(name, predicted, data, samples=30, random_state=0, **options)
    generator = np.random.default_rng(0)
    centre = {"time": 0.6} if options else {}
    values = []
    for _ in range(30):
        chosen = generator.integers(0, 80, 80)
        values.append(calibration_slope(predicted[chosen], data[chosen], **centre).slope)
    # Overall the centre is that of all rows, and of exponential times it does not matter.
    assert found.lower == pytest.approx(np.quantile(values, 0.025), rel=1e-6)
    assert found.upper == pytest.approx(np.quantile(values, 0.975), rel=1e-6)


def test_as_a_function_it_is_that_of_all_follow_up():
    predicted, data = drawn(60, 5)
    found = bootstrap(calibration_slope, predicted, data, samples=5, random_state=0)
    np.testing.assert_array_equal(found.value, calibration_slope(predicted, data))
    both = evaluate(predicted, data, train=data, metrics=["calibration_slope", "calibration_slope_at"])
    middle = float(np.quantile(data.time[data.event], 0.5, method="inverted_cdf"))
    assert both == {
        "calibration_slope": calibration_slope(predicted, data).slope,
        "calibration_slope_at": calibration_slope(predicted, data, middle).slope,
    }


@pytest.mark.parametrize("time", [None, 2.0])
@pytest.mark.parametrize(
    ("data", "scale", "reason"),
    [
        (right([1, 2, 3, 4], [0, 0, 0, 0]), [1, 2, 3, 4], "no row has an event"),
        (
            right([1, 2, 3, 4, 5], [1, 0, 1, 1, 1], weight=[0, 0, 0, 0, 1])[:4],
            [1, 2, 3, 4],
            "no row has a positive weight",
        ),
        (right([1, 2, 3, 4], [1, 0, 1, 1]), [2, 2, 2, 2], "all predictions are alike"),
        # The only event is that of the highest risk: the larger the slope, the better.
        (right([1, 2, 3, 4], [1, 0, 0, 0]), [1, 2, 3, 4], "has no finite solution"),
    ],
)
def test_without_a_slope_there_is_a_reason(data, scale, reason, time):
    with pytest.warns(UndefinedMetricWarning, match=reason):
        found = calibration_slope(Exponential(np.array(scale, float)), data, time)
    assert np.isnan(found).all()


def test_one_event_is_enough_if_it_is_not_at_an_end():
    data = right([2, 3, 4, 5, 6], [1, 0, 0, 0, 0])
    found = calibration_slope(Exponential([3.0, 1.0, 5.0, 2.0, 9.0]), data, 4.0)
    assert np.isfinite(found).all()
    assert found.lower < 1 < found.upper
    with pytest.warns(UndefinedMetricWarning, match="no row has an event by the time 1"):
        calibration_slope(Exponential([3.0, 1.0, 5.0, 2.0, 9.0]), data, 1.0)
    with pytest.warns(UndefinedMetricWarning, match="the rows end at 6, before the time 7"):
        calibration_slope(Exponential([3.0, 1.0, 5.0, 2.0, 9.0]), data, 7.0)


def test_certain_predictions_count_as_nearly_certain():
    """Curves of steps that are exactly 1 before the first and 0 after the last."""
    rng = np.random.default_rng(6)
    data = right(rng.integers(1, 7, 80), rng.random(80) < 0.7)
    survival = np.sort(rng.random((80, 3)), axis=1)[:, ::-1].copy()
    survival[:40, 0], survival[40:, 2] = 1.0, 0.0
    predicted = Step([2.0, 4.0, 5.0], survival)
    for time in (None, 1.5, 2.0, 5.0):
        if time == 1.5:
            with pytest.warns(UndefinedMetricWarning, match="all predictions are alike"):
                calibration_slope(predicted, data, time)
        else:
            found = calibration_slope(predicted, data, time)
            assert np.isfinite(found).all()


def test_what_is_refused():
    predicted, data = drawn(10, 7)
    for confidence in (0.0, 1.0, "0.9", None):
        with pytest.raises(ParameterError, match="confidence"):
            calibration_slope(predicted, data, confidence=confidence)
    for time in (0.0, -1.0, np.inf, "1"):
        with pytest.raises(ParameterError, match="time"):
            calibration_slope(predicted, data, time)
    with pytest.raises(ParameterError, match="same rows"):
        calibration_slope(predicted[:5], data)
    late = right(data.time, data.event, entry=0.5 * data.time)
    with pytest.raises(CensoringError, match="delayed entry"):
        calibration_slope(predicted, late, 1.0)
    assert np.isfinite(calibration_slope(predicted, late).slope)
    with pytest.raises(CensoringError):
        calibration_slope(predicted, SurvivalData.interval(data.time, data.time + 1))
