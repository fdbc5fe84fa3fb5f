from __future__ import annotations

import numpy as np
import pytest

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential
from aldsurv.errors import CensoringError
from aldsurv.metrics.calibration_summary import CALIBRATION_AT_TIME, CALIBRATION_OVERALL, calibration_summary
from aldsurv.registry import METRICS
from metrics.definitions import simulated


@pytest.mark.parametrize(("time", "names"), [(None, CALIBRATION_OVERALL), (8.0, CALIBRATION_AT_TIME)])
def test_it_has_the_numbers_of_the_functions(time, names):
    data = simulated(3, 120)
    predicted = Exponential(np.random.default_rng(0).uniform(5, 30, 120))
    found = calibration_summary(predicted, data, time, confidence=0.8)
    assert tuple(found) == names
    for name, result in found.items():
        function = getattr(metrics, METRICS[name].function_name)
        assert result == (*function(predicted, data, time, confidence=0.8)[:3], "")


def test_rows_in_groups_are_drawn_together():
    data = simulated(3, 120).with_group(np.arange(120) // 3)
    predicted = Exponential(np.random.default_rng(0).uniform(5, 30, 120))
    for time, options in ((None, {}), (8.0, {"time": 8.0})):
        for name, result in calibration_summary(predicted, data, time, samples=40, random_state=2).items():
            drawn = metrics.bootstrap(name, predicted, data, samples=40, random_state=2, **options)
            assert result == (drawn.value, drawn.lower, drawn.upper, "")
    # One group cannot be drawn again.
    single = calibration_summary(predicted, data.with_group(np.zeros(120, int)))
    assert single == calibration_summary(predicted, data.with_group(None))


def test_without_a_value_there_is_a_reason():
    data = SurvivalData.right([1.0, 2.0, 3.0], [False, False, False])
    found = calibration_summary(Exponential([1.0, 2.0, 3.0]), data)
    assert found["calibration_slope"].reason == found["calibration_in_the_large"].reason == "no row has an event"
    assert found["observed_expected_ratio"][:2] == (0.0, 0.0)
    assert all(result.reason for result in calibration_summary(Exponential([1.0, 2.0, 3.0]), data, 9.0).values())
    late = SurvivalData.right([1.0, 2.0, 3.0], [True, True, False], entry=[0.0, 1.0, 1.0])
    with pytest.raises(CensoringError, match="delayed entry"):
        calibration_summary(Exponential([1.0, 2.0, 3.0]), late, 2.0)
