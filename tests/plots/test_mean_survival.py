from __future__ import annotations

import numpy as np
import pytest
from lifelines import KaplanMeierFitter

from aldsurv import SurvivalData
from aldsurv.distributions import Exponential
from aldsurv.errors import ParameterError
from aldsurv.plots import plot_mean_survival, prediction_figure


@pytest.fixture
def rows() -> tuple[Exponential, SurvivalData]:
    rng = np.random.default_rng(0)
    mean = rng.uniform(1, 5, 60)
    time = rng.exponential(mean)
    weight = rng.integers(1, 4, 60).astype(float)
    return Exponential(mean), SurvivalData.right(time, rng.random(60) < 0.7, weight=weight)


def test_mean_survival_beside_kaplan_meier(rows):
    predicted, data = rows
    ax = plot_mean_survival(predicted, data, unit="years")
    observed, mean = ax.lines
    times = mean.get_xdata()
    assert times[0] == 0
    assert times[-1] == pytest.approx(data.time.max())
    means = np.exp(-np.outer(1 / predicted.mean(), times))
    np.testing.assert_allclose(mean.get_ydata(), np.average(means, axis=0, weights=data.weight), rtol=1e-12)
    with np.errstate(all="ignore"):
        fitter = KaplanMeierFitter().fit(data.time, data.event, weights=data.weight)
    np.testing.assert_allclose(observed.get_ydata()[-1], fitter.survival_function_.iloc[-1, 0], rtol=1e-9)
    assert observed.get_color() != mean.get_color()
    assert ax.get_xlabel() == "time (years)"


def test_many_rows_are_averaged_in_blocks(monkeypatch, rows):
    predicted, data = rows
    whole = plot_mean_survival(predicted, data).lines[1].get_ydata()
    monkeypatch.setattr("aldsurv.plots.mean_survival._BLOCK", 7)
    np.testing.assert_allclose(plot_mean_survival(predicted, data).lines[1].get_ydata(), whole, rtol=1e-12)


def test_figure_of_single_rows_and_all(rows):
    predicted, data = rows
    figure = prediction_figure(predicted, data, rows=[3, 5], labels=["a", "b"], unit="days")
    left, right = figure.axes
    assert [line.get_label() for line in left.lines] == ["a", "b"]
    first = left.lines[0]
    np.testing.assert_allclose(first.get_ydata(), np.exp(-first.get_xdata() / predicted.mean()[3]), rtol=1e-12)
    assert left.get_xlim()[1] == pytest.approx(right.get_xlim()[1])


def test_rows_must_match(rows):
    predicted, data = rows
    with pytest.raises(ParameterError, match="predicted has 60 rows, but data has 59"):
        plot_mean_survival(predicted, data[1:])
