"""Plots of Shapley values show the values they are given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aldsurv.errors import ParameterError
from aldsurv.inspection import Attributions
from aldsurv.plots import (
    plot_attribution_swarm,
    plot_attributions,
    plot_attributions_over_time,
    plot_mean_attributions,
)


@pytest.fixture
def explained():
    values = np.random.default_rng(2).normal(size=(30, 4, 3))
    values[:, 1] *= 5
    columns = (np.arange(30.0), np.array(["a", None] * 15, object), np.full(30, np.nan), np.arange(30) % 2 == 0)
    base = np.array([0.5, 0.4, 0.3])
    predicted = base + values.sum(axis=1)
    names = ("age", "ward $", "gaps", "sex")
    times = np.array([1.0, 2.0, 4.0])
    return Attributions(names, values, np.zeros_like(values), base, predicted, times, "x", columns, 30, True)


def test_lines_over_time(explained):
    ax = plot_attributions_over_time(explained, 3, most=2, unit="days")
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    order = explained[3].order
    assert explained[3].names[order[0]] == "ward $"
    np.testing.assert_allclose(lines[r"ward \$"], explained.values[3, 1])
    np.testing.assert_allclose(lines["2 other columns"], explained.values[3, order[2:]].sum(axis=0))
    assert ax.get_xlabel() == "time (days)"


def test_bars_of_a_row(explained):
    ax = plot_attributions(explained, 1, time=2.0, most=3)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "1 other column"
    assert any(label.endswith("= missing") for label in labels)
    widths = sorted(patch.get_width() for patch in ax.patches)
    np.testing.assert_allclose(sum(widths), explained.predicted[1, 1] - explained.base[1], atol=1e-12)


def test_mean_bars(explained):
    ax = plot_mean_attributions(explained, time=4.0, most=2)
    widths = [patch.get_width() for patch in ax.patches]
    np.testing.assert_allclose(widths[-1], np.abs(explained.values[:, 1, 2]).mean())
    assert len(widths) == 2


def test_a_point_per_row_and_column(explained):
    ax = plot_attribution_swarm(explained)
    points = np.concatenate([each.get_offsets()[:, 0] for each in ax.collections])
    np.testing.assert_allclose(np.sort(points), np.sort(explained.values[:, :, 2].ravel()))
    heights = np.concatenate([each.get_offsets()[:, 1] for each in ax.collections])
    assert np.abs(heights - heights.round()).max() < 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: plot_attributions(e, 30), "row must be one of the 30 rows"),
        (lambda e: plot_attributions(e, time=3.0), "time must be one of"),
        (lambda e: plot_attributions(e, most=0), "most must be"),
    ],
)
def test_bad_requests(explained, call, message):
    with pytest.raises(ParameterError, match=message):
        call(explained)


def test_units_and_what_is_left_out_are_named(explained):
    assert plot_attributions(explained, 1, time=2.0, unit="days").get_xlabel() == "change of x at 2 days"
    assert plot_mean_attributions(explained).get_xlabel() == "mean absolute change of x, over 3 times"
    ax = plot_attribution_swarm(explained, most=3, unit="days")
    assert ax.get_xlabel() == "change of x at 4 days"
    assert ax.get_title(loc="right") == "3 of 4 columns; grey: text or missing"
    one = replace(explained[1], errors=np.full((1, 4, 3), 0.1))
    assert plot_attributions(one).get_title(loc="right").endswith("bars: standard errors")
    summary = replace(
        one, times=None, values=one.values[..., :1], errors=one.errors[..., :1], base=one.base[:1],
        predicted=one.predicted[:, :1],
    )  # fmt: skip
    assert plot_attributions(summary, unit="days").get_xlabel() == "change of x (days)"
