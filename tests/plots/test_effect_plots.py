from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from aldsurv.inspection import Importance, PartialDependence
from aldsurv.plots.effect_plots import parameter_figure, plot_importance, plot_partial_dependence


def importance(repeats=3):
    falls = np.array([[0.01, 0.02, 0.03], [0.2, 0.1, 0.3], [-0.01, 0.0, 0.01]])[:, :repeats]
    return Importance(("age", "$\\frac{$ & <b>", "noise"), falls, 0.7, "harrell_c")


def effect(*, numeric=True):
    values = np.array([1.0, 2.0, 4.0]) if numeric else np.array(["I", "II", "III"], object)
    individual = np.arange(30.0).reshape(10, 3)
    found = np.linspace(0, 5, 1000) if numeric else np.array(["I"] * 5, object)
    return PartialDependence("age", values, individual, "median", numeric, found)


def test_bars_are_the_means_with_the_most_important_on_top():
    ax = plot_importance(importance())
    bars = [bar.get_width() for bar in ax.patches]
    assert bars == pytest.approx([0.0, 0.02, 0.2])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["noise", "age", r"\$\frac{\$ & <b>"]
    ax.figure.canvas.draw()
    assert [bar.get_width() for bar in plot_importance(importance(), most=1).patches] == pytest.approx([0.2])


def test_one_repeat_has_bars_without_spread():
    assert not plot_importance(importance(1)).containers[0].errorbar


def test_numbers_are_a_line_in_a_band_over_a_rug():
    ax = plot_partial_dependence(effect())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [13.5, 14.5, 15.5])
    band = ax.collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == pytest.approx(
        (np.quantile(np.arange(0, 30, 3), 0.1), 2 + np.quantile(np.arange(0, 30, 3), 0.9))
    )
    rug = ax.collections[1].get_offsets()[:, 0]
    assert len(rug) <= 200
    assert rug.min() >= 1
    assert rug.max() <= 4
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("age", "median")


def test_levels_are_points_with_bars():
    ax = plot_partial_dependence(effect(numeric=False), label="months")
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [13.5, 14.5, 15.5])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["I", "II", "III"]
    assert ax.get_ylabel() == "months"


def test_they_draw_where_they_are_told():
    ax = Figure().subplots()
    assert plot_importance(importance(), ax=ax) is ax
    ax = Figure().subplots()
    assert plot_partial_dependence(effect(), ax=ax) is ax
    figure = parameter_figure([effect(), effect()], ["θ", "σ"])
    assert [panel.get_ylabel() for panel in figure.axes] == ["θ", "σ"]
