from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ImpossibleRowsWarning, ParameterError
from aldsurv.nonparametric import kaplan_meier
from metrics.definitions import simulated

NINE = ["mae", "ibs", "harrell_c", "uno_c", "cens_dcal", "cal_s_slope", "cal_s_intercept", "cal_f_slope"]
NINE += ["cal_f_intercept"]


@pytest.mark.parametrize("point", ["mean", "median", "mode", "restricted_mean", "follow_up"])
def test_each_is_what_its_function_gives(point):
    train, data = simulated(1), simulated(2)
    rng = np.random.default_rng(3)
    data = SurvivalData.right(data.time, data.event, weight=rng.uniform(0.5, 2, len(data)))
    predicted = AsymmetricLaplace(rng.uniform(5, 20, len(data)), rng.uniform(3, 9, len(data)), 0.6)
    found = metrics.evaluate(predicted, data, train=train, point=point, unit=4.0)
    # Where rows are ranked within follow-up, the median is the predicted time.
    time = {"point": "median" if point == "follow_up" else point}
    assert list(found) == [*NINE, "log_likelihood", "bounded_log_likelihood"]
    assert all(type(value) is float for value in found.values())
    expected = {
        "mae": metrics.mean_absolute_error(predicted, data, **time, unit=4.0),
        "ibs": metrics.integrated_brier_score(predicted, data, train=train),
        "harrell_c": metrics.concordance_harrell(predicted, data, point=point, train=train),
        "uno_c": metrics.concordance_uno(predicted, data, train=train, point=point),
        "cens_dcal": metrics.censored_d_calibration(predicted, data),
        "log_likelihood": metrics.log_likelihood(predicted, data),
        "bounded_log_likelihood": metrics.bounded_log_likelihood(predicted, data, train=train),
    }
    for kind, line in (
        ("s", metrics.survival_calibration(predicted, data)),
        ("f", metrics.density_calibration(predicted, data)),
    ):
        expected |= {f"cal_{kind}_slope": line.slope, f"cal_{kind}_intercept": line.intercept}
    assert found == expected
    truth = rng.uniform(5, 20, len(data))
    against = metrics.evaluate(predicted, data, train=train, point=point, truth=truth)
    assert against["mae"] == metrics.mean_absolute_error(predicted, data, **time, truth=truth)


def test_points_by_default_and_one_for_each_use():
    train, data, rng = simulated(1), simulated(2), np.random.default_rng(3)
    predicted = Weibull(rng.uniform(5, 30, len(data)), rng.uniform(0.5, 4, len(data)))
    end = np.sort(train.time)[int(np.ceil(0.8 * len(train))) - 1]
    found = metrics.evaluate(predicted, data, train=train)
    assert found["mae"] == metrics.mean_absolute_error(predicted.median(), data)
    area = predicted.restricted_mean(end)
    assert found["harrell_c"] == metrics.concordance_harrell(area, data)
    assert found["uno_c"] == metrics.concordance_uno(area, data, train=train)
    found = metrics.evaluate(predicted, data, train=train, point="mean", ranking_point="mode")
    assert found["mae"] == metrics.mean_absolute_error(predicted.mean(), data)
    assert found["harrell_c"] == metrics.concordance_harrell(predicted.mode(), data)
    assert found["uno_c"] == metrics.concordance_uno(predicted.mode(), data, train=train)


@pytest.mark.parametrize("point", ["mean", "restricted_mean", "follow_up"])
def test_limits_are_those_of_each_metric_alone(point):
    train, data, rng = simulated(1), simulated(2, n=150), np.random.default_rng(3)
    data = SurvivalData.right(data.time, data.event, weight=rng.integers(0, 4, 150))
    predicted = AsymmetricLaplace(rng.uniform(5, 20, 150), rng.uniform(3, 9, 150), 0.6)
    settings = {"random_state": 5, "train": train}
    error = {"truth": rng.uniform(5, 20, 150), "unit": 4.0}
    found = metrics.evaluate(predicted, data, point=point, **error, bootstrap=60, confidence=0.8, **settings)
    values = metrics.evaluate(predicted, data, point=point, **error, train=train)
    assert list(found) == list(values)
    for name, result in found.items():
        options = {"point": point} if name in ("mae", "harrell_c", "uno_c") else {}
        options |= {"point": "median"} if (name, point) == ("mae", "follow_up") else {}
        options |= error if name == "mae" else {}
        alone = metrics.bootstrap(name, predicted, data, samples=60, level=0.8, **settings, **options)
        assert dataclasses.astuple(result) == pytest.approx(dataclasses.astuple(alone), rel=1e-9, abs=1e-12)
        assert result.value == values[name]
        assert result.lower < result.upper


def test_draws_of_the_default_seed():
    train, data = simulated(1), simulated(2, n=50)
    predicted = Weibull(np.linspace(5, 30, 50), 1.3)
    first, again, other = (
        metrics.evaluate(predicted, data, train=train, bootstrap=20, **seed) for seed in ({}, {}, {"random_state": 1})
    )
    assert first == again
    assert first["ibs"].lower != other["ibs"].lower


def test_resamples_without_a_value_are_left_out_of_their_metric():
    data = SurvivalData.right([3, 5, 8], [True, False, False])
    with pytest.warns(UserWarning, match=r"^\d+ of 100 resamples have no value of \w+ .* left out.$") as caught:
        found = metrics.evaluate(Exponential([2.0, 9.0, 8.0]), data, train=simulated(1), bootstrap=100)
    told = {str(one.message).split()[8]: int(str(one.message).split()[0]) for one in caught}
    assert {name: 100 - result.samples for name, result in found.items() if result.samples < 100} == told
    assert list(told) == ["mae", "harrell_c", "uno_c"]
    # An event is needed for the error, and a later row besides for the order: P = (2/3)³ and (2/3)³ + (1/3)³.
    for name, share in (("mae", 8 / 27), ("harrell_c", 9 / 27)):
        assert abs(told[name] - 100 * share) < 4 * np.sqrt(100 * share * (1 - share))


@pytest.mark.parametrize("bootstrap", [1, 0, True, 10.0])
def test_numbers_of_draws_that_are_refused(bootstrap):
    data = simulated(1, n=5)
    with pytest.raises(ParameterError, match="bootstrap must be a whole number from 2 on or None"):
        metrics.evaluate(Exponential(np.ones(5)), data, train=data, bootstrap=bootstrap)
    with pytest.raises(ParameterError, match="confidence must be a number between 0 and 1, but is 95"):
        metrics.evaluate(Exponential(np.ones(5)), data, train=data, bootstrap=10, confidence=95)


def test_rows_in_another_order():
    train, data = simulated(1), simulated(2)
    predicted = Weibull(np.linspace(5, 30, len(data)), 1.3)
    order = np.random.default_rng(4).permutation(len(data))
    expected = metrics.evaluate(predicted, data, train=train)
    found = metrics.evaluate(predicted[order], data[order], train=train[::-1])
    assert found == pytest.approx(expected, rel=1e-10)


def test_another_unit_of_time():
    train, data = simulated(1, ties=False), simulated(2, ties=False)
    predicted = Weibull(np.linspace(5, 30, len(data)), 1.3)
    expected = metrics.evaluate(predicted, data, train=train)
    found = metrics.evaluate(predicted.scaled(8.0), data.scaled(8.0), train=train.scaled(8.0), unit=8.0)
    # The density is per unit of time: an exact row loses log 8.
    found["log_likelihood"] += np.log(8) * data.event.mean()
    found["bounded_log_likelihood"] += np.log(8) * data.event.mean()
    assert found == pytest.approx(expected, rel=1e-9)


def test_tensors_that_need_gradients():
    torch = pytest.importorskip("torch")
    train, data = simulated(1), simulated(2)
    theta = np.linspace(5, 20, len(data))
    expected = metrics.evaluate(AsymmetricLaplace(theta, 5.0, 0.6), data, train=train)
    tensor = torch.tensor(theta, requires_grad=True)
    found = metrics.evaluate(AsymmetricLaplace(tensor, 5.0, 0.6), data, train=train)
    assert found == pytest.approx(expected, rel=1e-10)


def test_structured_arrays_and_pairs_are_data_too():
    train, data = simulated(1), simulated(2)
    predicted = Exponential(np.linspace(5, 30, len(data)))
    expected = metrics.evaluate(predicted, data, train=train)
    assert metrics.evaluate(predicted, data.to_structured(), train=(train.time, train.event)) == expected


def test_one_row_has_no_order_but_all_the_rest():
    data = SurvivalData.right([3], [True])
    with pytest.warns(UserWarning, match="is not defined and NaN") as caught:
        found = metrics.evaluate(Exponential([2.0]), data, train=simulated(1))
    assert {name for name, value in found.items() if np.isnan(value)} == {"harrell_c", "uno_c"}
    assert all("no row is known to outlive" in str(one.message) for one in caught)


def test_no_event():
    data = SurvivalData.right([3, 5], [False, False])
    with pytest.warns(UserWarning, match="is not defined and NaN") as caught:
        found = metrics.evaluate(Exponential([2.0, 3.0]), data, train=simulated(1))
    assert {name for name, value in found.items() if np.isnan(value)} == {"mae", "harrell_c", "uno_c"}
    assert len(caught) == 3


def test_what_is_refused():
    data = simulated(1, n=5)
    with pytest.raises(ParameterError, match="predicted has 2 and data 5"):
        metrics.evaluate(Exponential([1.0, 2.0]), data, train=data)
    with pytest.raises(CensoringError, match="exact and right-censored rows only"):
        metrics.evaluate(Exponential([1.0]), SurvivalData.interval([1], [2]), train=data)


def test_public_names():
    assert metrics.__all__ == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)


def test_needs_numpy_alone():
    code = (
        "import sys, numpy as np; from aldsurv import SurvivalData\n"
        "from aldsurv.distributions import AsymmetricLaplace\n"
        "import aldsurv.metrics as metrics\n"
        "data = SurvivalData.right(np.arange(1.0, 9), [True, False] * 4)\n"
        "metrics.evaluate(AsymmetricLaplace(np.arange(8.0), 1.0, 0.5), data, train=data)\n"
        "print([name for name in ('torch', 'scipy', 'sklearn', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def late_events() -> tuple[Step, SurvivalData, SurvivalData]:
    """Curves that end with the last event of training, two later events, and one where no training row had any."""
    train = SurvivalData.right(np.arange(1.0, 21.0), np.arange(20) % 4 != 3)
    data = SurvivalData.right([2.5, 7.0, 30.0, 12.0, 45.0], [True, False, True, True, True])
    curve = kaplan_meier(train).survival_at(np.arange(1.0, 20.0))
    return Step(np.arange(1.0, 20.0), np.tile(curve, (5, 1))), data, train


def test_an_impossible_row_has_a_warning_and_a_finite_companion():
    predicted, data, train = late_events()
    with pytest.warns(ImpossibleRowsWarning, match=r"^log_likelihood is -inf: 3 of 5 rows have no") as caught:
        found = metrics.evaluate(predicted, data, train=train)
    late = "row 2 (event at 30, after the last step of its curve), row 3 (event at 12, between two steps of its curve)"
    assert late in str(caught[0].message)
    assert f"mixed in, is {found['bounded_log_likelihood']:.4g}." in str(caught[0].message)
    assert caught[0].message.rows == (2, 3, 4)
    assert found["log_likelihood"] == -np.inf
    # By its definition: one part in a hundred of an exponential distribution with the event rate of training.
    rate = 15 / train.time.sum()
    usual = np.where(
        data.event, predicted.density(data.time[:, None])[:, 0], predicted.survival(data.time[:, None])[:, 0]
    )
    spare = np.where(data.event, rate, 1.0) * np.exp(-rate * data.time)
    expected = np.log(0.99 * usual + 0.01 * spare).mean()
    assert found["bounded_log_likelihood"] == pytest.approx(expected, rel=1e-12)
    limits = metrics.bootstrap("bounded_log_likelihood", predicted, data, train=train, samples=50, random_state=0)
    assert limits.lower <= limits.value <= limits.upper
    assert np.isfinite([limits.lower, limits.upper, limits.standard_error]).all()


def test_the_companion_is_near_the_log_likelihood_where_that_is_finite():
    train, data = simulated(1), simulated(2)
    truth = Weibull(np.linspace(5, 30, len(data)), 1.3)
    plain, bounded = metrics.log_likelihood(truth, data), metrics.bounded_log_likelihood(truth, data, train=train)
    assert bounded >= plain + np.log(0.99)
    assert bounded == pytest.approx(plain, abs=0.03)
    # It prefers what is right, and heeds every kind of censoring, entry and weights.
    assert metrics.bounded_log_likelihood(truth.scaled(3.0), data, train=train) < bounded - 0.1
    rows = SurvivalData.interval(
        [2, 3, -np.inf, 5], [2, 4, 1, np.inf], entry=[1, -np.inf, -np.inf, 2], weight=[1, 2, 1, 0]
    )
    unweighted = SurvivalData.interval(rows.lower, rows.upper, entry=rows.entry)
    reference = SurvivalData.right([4.0], [True])  # a mean of 4
    likelihood = [np.exp(one.log_likelihood(unweighted)) for one in (truth[:4], Exponential(np.full(4, 4.0)))]
    expected = np.log(0.5 * likelihood[0] + 0.5 * likelihood[1])
    found = metrics.bounded_log_likelihood(truth[:4], rows, train=reference, share=0.5)
    assert found == pytest.approx(np.average(expected, weights=rows.weights), rel=1e-12)
    with pytest.raises(ParameterError, match="share must be a number between 0 and 1, but is 1"):
        metrics.bounded_log_likelihood(truth, data, share=1)
    nothing = SurvivalData.right([1, 2], [True, True], weight=[0, 1])[:1]
    with pytest.warns(UserWarning, match="bounded_log_likelihood is not defined and NaN"):
        assert np.isnan(metrics.bounded_log_likelihood(truth[:1], nothing))
