"""The times at which a report judges predictions."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.reports.model.model_page import model_report
from aldsurv.reports.model.report_times import checked_report_times, default_report_times, main_time
from reports.known_model import KnownScale, even_rows
from reports.undrawn import leave_pictures_undrawn


def exponential_rows(n=1000):
    time = np.random.default_rng(0).exponential(20.0, n)
    return SurvivalData.right(np.minimum(time, 60.0), time <= 60.0)


def test_default_times_are_the_median_and_round_ones_within_follow_up():
    data = exponential_rows()
    times = default_report_times(data)
    middle = np.quantile(data.time, 0.5, method="inverted_cdf")
    assert list(times) == sorted(times)
    assert middle in times
    assert 1 < len(times) <= 3
    for time in times:
        assert time == middle or float(f"{time:.1g}") == time
        assert np.count_nonzero(data.event & (data.time <= time)) >= 10
        assert np.count_nonzero(data.time > time) >= 10


def test_few_rows_and_rows_at_zero_have_fewer_times():
    assert default_report_times(exponential_rows(12)) == (
        float(np.quantile(exponential_rows(12).time, 0.5, method="inverted_cdf")),
    )
    assert default_report_times(SurvivalData.right([0, 0, 0, 5], [True, True, True, True])) == ()


def test_given_times_are_sorted_and_must_lie_within_the_follow_up():
    data = exponential_rows()
    assert checked_report_times([30, 12, 30], data) == (12.0, 30.0)
    with pytest.raises(ParameterError, match="ends at 60, but one is 61"):
        checked_report_times([12, 61], data)
    with pytest.raises(ParameterError, match="Give positive times"):
        checked_report_times([-3], data)
    with pytest.raises(ParameterError, match="1 to 6 different times"):
        checked_report_times([1, 2, 3, 4, 5, 6, 7], data)


def test_results_of_one_time_are_those_of_the_given_time_nearest_to_the_middle(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    x, y = even_rows()
    middle = float(np.quantile(y.time, 0.5, method="inverted_cdf"))
    given = [round(0.5 * middle, 3), round(1.1 * middle, 3), round(3 * middle, 3)]
    assert main_time(given, y) == given[1]
    report = model_report(KnownScale(), x, y, times=given)
    assert report.findings.horizon == given[1]
    assert report.at_times.times == tuple(given)
    assert report.findings.scores["observed_expected_ratio_at"] == report.at_times.findings[1].calibration[
        "observed_expected_ratio_at"
    ]  # fmt: skip
    assert report.at_times.risk_groups[0].horizon == given[1]
