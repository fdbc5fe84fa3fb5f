from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from monitoring.watched import MONTHS, fitted, rows

from aldsurv.errors import ParameterError
from aldsurv.monitoring import monitor_model
from aldsurv.plots import plot_column_drift, plot_evidence, plot_quality_by_period


@pytest.fixture(scope="module")
def result():
    model, train, _ = fitted()
    x, y, month = rows(60, 1, factor=2.5, shift=1.0)
    return monitor_model(model, x, y, by=month, reference=train, samples=2)


@pytest.mark.parametrize("quantity", ["ratio", "slope", "concordance"])
def test_periods_with_limits(result, quantity):
    ax = Figure().subplots()
    assert plot_quality_by_period(result, quantity, ax=ax) is ax
    drawn = next(line for line in ax.lines if line.get_marker() == "o")
    known = [getattr(each, quantity) for each in result.periods if math.isfinite(getattr(each, quantity))]
    np.testing.assert_array_equal(drawn.get_ydata(), known)
    alarms = [line for line in ax.lines if line.get_gid() == "alarm"]
    assert len(alarms) == (quantity == "ratio")
    ax.figure.canvas.draw()


def test_evidence_and_its_limits(result):
    ax = plot_evidence(result)
    series = {line.get_label(): line.get_ydata() for line in ax.lines}
    expected = np.minimum([each.ratio_evidence for each in result.periods], 1e6)
    np.testing.assert_allclose(series["observed/expected"], expected)
    assert {"its limit, 40", "its limit, 80"} <= set(series)


def test_drift_by_column_and_period(result):
    ax = plot_column_drift(result)
    values = np.asarray(ax.collections[0].get_array()).reshape(3, len(MONTHS))
    by_place = {(each.column, each.period): each.psi for each in result.drift}
    assert values[0].tolist() == [by_place["a", month] for month in MONTHS]
    crosses = next(line for line in ax.lines if line.get_marker() == "x")
    assert len(crosses.get_xdata()) == sum(each.drifted for each in result.drift) > 0
    # Only the column that moved furthest.
    assert [text.get_text() for text in plot_column_drift(result, columns=1).get_yticklabels()] == ["a"]


def test_says_why_nothing_is_drawn(result):
    empty = replace(result, periods=tuple(replace(each, slope=math.nan, notes=("too few",)) for each in result.periods))
    assert "Nothing to draw: too few" in plot_quality_by_period(empty, "slope").texts[0].get_text()
    assert "Nothing to draw" in plot_column_drift(replace(result, drift=())).texts[0].get_text()
    with pytest.raises(ParameterError, match="quantity must be"):
        plot_quality_by_period(result, "auc")
