from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, LogNormal, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics import log_likelihood, mean_absolute_error, point_estimate

right = SurvivalData.right


def test_error_on_uncensored_rows():
    data = right([1, 2, 5], [1, 0, 1])
    assert mean_absolute_error([2.0, 100.0, 3.0], data) == 1.5
    assert mean_absolute_error([2.0, 100.0, 3.0], data, unit=3) == 0.5
    weighted = right([1, 2, 5, 7], [1, 0, 1, 1], weight=[3, 1, 1, 0])
    assert mean_absolute_error([2.0, 100.0, 3.0, np.inf], weighted) == (3 * 1 + 2) / 4


def test_error_against_the_truth():
    data = right([1, 2, 5], [1, 0, 0], weight=[1, 1, 2])
    assert mean_absolute_error([2.0, 4.0, 3.0], data, truth=[2.5, 2.0, 6.0]) == (0.5 + 2 + 2 * 3) / 4
    assert mean_absolute_error([2.0], SurvivalData.interval([1], [3]), truth=[2.5]) == 0.5
    assert mean_absolute_error([2.0], right([3], [1], entry=[1]), truth=[2.5]) == 0.5


@pytest.mark.parametrize("point", ["mean", "median", "mode"])
def test_error_of_points(point):
    predicted = LogNormal([0.0, 1.0], [0.5, 0.8])
    data = right([1, 2], [1, 1])
    moments = {
        "mean": stats.lognorm([0.5, 0.8], scale=np.exp([0, 1])).mean(),
        "median": np.exp([0, 1]),
        "mode": np.exp([0 - 0.25, 1 - 0.64]),
    }
    expected = np.abs(moments[point] - [1, 2]).mean()
    assert mean_absolute_error(predicted, data, point=point) == pytest.approx(expected, rel=1e-9)


def test_restricted_mean_ends_at_the_largest_time():
    data, scale = right([1, 4], [1, 0]), np.array([1.0, 2.0])
    expected = scale * -np.expm1(-4 / scale)
    np.testing.assert_allclose(point_estimate(Exponential(scale), data, point="restricted_mean"), expected, rtol=1e-12)


def test_infinite_points_are_an_infinite_error():
    assert mean_absolute_error(Step([1.0], [[0.7]]), right([1], [1])) == np.inf


def test_likelihood_of_every_kind_of_row():
    lower, upper = [1, 2, -np.inf, 3, 2], [1, np.inf, 4, 5, 2]
    weight, entry = [1, 2, 1, 0.5, 1], [-np.inf, -np.inf, -np.inf, -np.inf, 1]
    data = SurvivalData.interval(lower, upper, weight=weight, entry=entry)
    d = stats.weibull_min(1.5, scale=4)
    rows = [d.logpdf(1), d.logsf(2), d.logcdf(4), np.log(d.cdf(5) - d.cdf(3)), d.logpdf(2) - d.logsf(1)]
    expected = np.average(rows, weights=weight)
    assert log_likelihood(Weibull([4.0] * 5, 1.5), data) == pytest.approx(expected, rel=1e-12)


def test_likelihood_keeps_the_constant():
    expected = stats.laplace_asymmetric(kappa=0.5, loc=2, scale=3 / np.sqrt(2)).logpdf(2.5)
    assert log_likelihood(AsymmetricLaplace(2.0, 3.0, 0.5), right([2.5], [1])) == pytest.approx(expected, rel=1e-12)


def test_impossible_rows():
    data = right([1, 5], [1, 1], weight=[1, 0])
    predicted = Step([2.0, 3.0], [[0.5, 0.0], [0.5, 0.0]])
    assert log_likelihood(predicted, data) == pytest.approx(np.log(0.25))
    assert log_likelihood(predicted, right([1, 5], [1, 1])) == -np.inf


def test_what_has_no_value():
    with pytest.warns(UserWarning, match="mean_absolute_error is not defined and NaN: no uncensored row has"):
        assert np.isnan(mean_absolute_error([1.0, 2.0], right([1, 2], [0, 0])))
    data = right([1, 2, 3], [1, 1, 1], weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="log_likelihood is not defined and NaN: no row has a positive weight"):
        assert np.isnan(log_likelihood(Exponential([1.0, 2.0]), data))
    with pytest.warns(UserWarning, match="no row has a positive weight"):
        assert np.isnan(mean_absolute_error([1.0, 2.0], data, truth=[1.0, 2.0]))


def test_what_is_refused():
    data = right([1, 2], [1, 1])
    for unit in (0, -1, np.inf, np.nan, "days"):
        with pytest.raises(ParameterError, match="unit must be a number above 0"):
            mean_absolute_error([1.0, 2.0], data, unit=unit)
    with pytest.raises(ParameterError, match=r"truth must have one number for each of 2 rows, but has shape \(3,\)"):
        mean_absolute_error([1.0, 2.0], data, truth=[1, 2, 3])
    with pytest.raises(ParameterError, match="truth must be finite"):
        mean_absolute_error([1.0, 2.0], data, truth=[1, np.inf])
    with pytest.raises(CensoringError, match="mean_absolute_error without truth is not defined for delayed entry"):
        mean_absolute_error([1.0, 2.0], right([1, 2], [1, 1], entry=[0.5, 0]))
    with pytest.raises(CensoringError, match="exact and right-censored rows only"):
        mean_absolute_error([1.0], SurvivalData.interval([1], [3]))
    with pytest.raises(ParameterError, match="predicted has 1 and data 2"):
        log_likelihood(Exponential([1.0]), data)
