from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from aldsurv import metrics
from aldsurv.distributions import AsymmetricLaplace, Exponential, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.survival_data import SurvivalData
from metrics.definitions import simulated

NINE = ["mae", "ibs", "harrell_c", "uno_c", "cens_dcal", "cal_s_slope", "cal_s_intercept", "cal_f_slope"]
NINE += ["cal_f_intercept"]


@pytest.mark.parametrize("point", ["mean", "median", "mode", "restricted_mean"])
def test_each_is_what_its_function_gives(point):
    train, data = simulated(1), simulated(2)
    rng = np.random.default_rng(3)
    data = SurvivalData.right(data.time, data.event, weight=rng.uniform(0.5, 2, len(data)))
    predicted = AsymmetricLaplace(rng.uniform(5, 20, len(data)), rng.uniform(3, 9, len(data)), 0.6)
    found = metrics.evaluate(predicted, data, train=train, point=point, unit=4.0)
    assert list(found) == [*NINE, "log_likelihood"]
    assert all(type(value) is float for value in found.values())
    expected = {
        "mae": metrics.mean_absolute_error(predicted, data, point=point, unit=4.0),
        "ibs": metrics.integrated_brier_score(predicted, data, train=train),
        "harrell_c": metrics.concordance_harrell(predicted, data, point=point),
        "uno_c": metrics.concordance_uno(predicted, data, train=train, point=point),
        "cens_dcal": metrics.censored_d_calibration(predicted, data),
        "log_likelihood": metrics.log_likelihood(predicted, data),
    }
    for kind, line in (
        ("s", metrics.survival_calibration(predicted, data)),
        ("f", metrics.density_calibration(predicted, data)),
    ):
        expected |= {f"cal_{kind}_slope": line.slope, f"cal_{kind}_intercept": line.intercept}
    assert found == expected
    truth = rng.uniform(5, 20, len(data))
    against = metrics.evaluate(predicted, data, train=train, point=point, truth=truth)
    assert against["mae"] == metrics.mean_absolute_error(predicted, data, point=point, truth=truth)


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
