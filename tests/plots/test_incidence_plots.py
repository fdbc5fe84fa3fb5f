from __future__ import annotations

import warnings

import numpy as np
import pytest
from lifelines import AalenJohansenFitter

from aldsurv import SurvivalData
from aldsurv.distributions import CauseMixture, CumulativeIncidence, Exponential
from aldsurv.errors import ParameterError
from aldsurv.nonparametric import aalen_johansen
from aldsurv.plots import (
    incidence_figure,
    plot_aalen_johansen,
    plot_incidence,
    plot_mean_incidence,
    plot_stacked_incidence,
)
from aldsurv.plots.drawing.appearance import COLOURS

CAUSES = ["relapse", "death", "other"]


@pytest.fixture
def rates() -> np.ndarray:
    return np.random.default_rng(0).uniform(0.02, 0.2, (3, 40))


@pytest.fixture
def predicted(rates: np.ndarray) -> CauseMixture:
    """Constant rates of each cause: all have the same time, and shares in proportion to their rates."""
    total = rates.sum(axis=0)
    return CauseMixture([Exponential(1 / total)] * 3, (rates / total).T, CAUSES)


def incidence(rates: np.ndarray, times: np.ndarray) -> np.ndarray:
    """(causes, n, m) by the formula for constant rates."""
    total = rates.sum(axis=0)
    return (rates / total)[:, :, None] * -np.expm1(-np.multiply.outer(total, times))


def observed(seed: int = 1, n: int = 40) -> SurvivalData:
    rng = np.random.default_rng(seed)
    # Times without ties, which lifelines would move.
    time = rng.permutation(n) * 0.5 + 0.5
    return SurvivalData.competing(time, rng.integers(0, 4, n), names=CAUSES)


def test_stacked_areas_fill_the_axes(predicted, rates):
    times = np.linspace(0, 12, 13)
    ax = plot_stacked_incidence(predicted, times, row=7, unit="years")
    assert len(ax.collections) == 4
    tops = np.vstack([np.cumsum(incidence(rates, times)[:, 7], axis=0), np.ones(13)])
    for area, top in zip(ax.collections, tops, strict=True):
        corners = area.get_paths()[0].vertices
        drawn = [corners[np.isclose(corners[:, 0], time), 1].max() for time in times]
        np.testing.assert_allclose(drawn, top, atol=1e-12)
    assert ax.get_ylim() == (0, 1)
    assert ax.get_xlabel() == "time (years)"
    shares = np.append(incidence(rates, times)[:, 7, -1], 0)
    shares[-1] = 1 - shares.sum()
    texts = [f"{name} {100 * share:.0f} %" for name, share in zip([*CAUSES, "no event"], shares, strict=True)]
    assert [text.get_text() for text in ax.texts] == texts


@pytest.mark.parametrize("ends", [[0.001, 0.002, 0.003], [0.98, 0.009, 0.008], [0.3, 0.001, 0.6], [0.0, 0.0, 1.0]])
def test_labels_of_narrow_areas_stay_apart(ends):
    one = CumulativeIncidence([1.0, 2.0], [[0.0, end] for end in ends], CAUSES)
    heights = [text.xy[1] for text in plot_stacked_incidence(one, [0.0, 2.0]).texts]
    assert min(np.diff(heights)) > 0.069
    assert min(heights) + 0.25 >= 0
    assert max(heights) <= 1


def test_lines_of_several_rows(predicted, rates):
    times = np.linspace(0, 12, 25)
    ax = plot_incidence(predicted, times, cause="death", rows=[3, 5], labels=["a", "b$x"], unit="years")
    assert [line.get_label() for line in ax.lines] == ["a", r"b\$x"]
    for line, row in zip(ax.lines, (3, 5), strict=True):
        np.testing.assert_allclose(line.get_ydata(), incidence(rates, line.get_xdata())[1, row], atol=1e-12)
    assert ax.get_ylabel() == "probability of death"
    figure = incidence_figure(predicted, times, rows=[3, 5], unit="years")
    assert [ax.get_title(loc="left") for ax in figure.axes] == CAUSES
    line = figure.axes[2].lines[1]
    np.testing.assert_allclose(line.get_ydata(), incidence(rates, line.get_xdata())[2, 5], atol=1e-12)
    assert len(figure.legends) == 1
    assert not incidence_figure(predicted, rows=[0]).legends


def test_aalen_johansen_is_that_of_lifelines():
    data = observed()
    ax = plot_aalen_johansen(aalen_johansen(data), band=None)
    assert not ax.collections
    for number, line in enumerate(ax.lines, start=1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitter = AalenJohansenFitter(calculate_variance=False).fit(data.time, data.cause, event_of_interest=number)
        np.testing.assert_allclose(line.get_ydata(), fitter.cumulative_density_.to_numpy()[:, 0], atol=1e-12)
    shaded = plot_aalen_johansen(aalen_johansen(data), band=0.9)
    assert len(shaded.collections) == 3
    assert shaded.get_title(loc="right") == "shaded: 90 % confidence"
    assert [line.get_color() for line in shaded.lines] == list(COLOURS[:3])


def test_mean_incidence_beside_aalen_johansen(predicted, rates):
    data = observed().with_weight(np.arange(40) % 3 + 1.0)
    ax = plot_mean_incidence(predicted, data)
    steps, dashed = ax.lines[:3], ax.lines[3:]
    assert [line.get_label() for line in steps] == CAUSES
    for place, line in enumerate(dashed):
        exact = np.average(incidence(rates, line.get_xdata())[place], axis=0, weights=data.weights)
        np.testing.assert_allclose(line.get_ydata(), exact, atol=1e-12)
        assert line.get_color() == steps[place].get_color()
        assert ax.get_ylim()[1] > line.get_ydata().max()


def test_many_rows_are_averaged_in_blocks(predicted, monkeypatch):
    data = observed()
    whole = plot_mean_incidence(predicted, data).lines[4].get_ydata()
    monkeypatch.setattr("aldsurv.plots.incidence_plots._BLOCK", 7)
    np.testing.assert_allclose(plot_mean_incidence(predicted, data).lines[4].get_ydata(), whole, rtol=1e-12)


def test_errors(predicted):
    with pytest.raises(ParameterError, match="predicted has 40 rows, but data has 39"):
        plot_mean_incidence(predicted, observed()[1:])
    with pytest.raises(ParameterError, match="predicted has the causes"):
        plot_mean_incidence(predicted, SurvivalData.competing(np.arange(40) + 1.0, np.arange(40) % 3))
    with pytest.raises(ParameterError, match="cause must be a number from 1 to 3 or one of"):
        plot_incidence(predicted, cause="cancer", rows=[0])
    with pytest.raises(ParameterError, match="between 1 and 10 individuals"):
        plot_incidence(predicted, cause=1)
    with pytest.raises(ParameterError, match="rows must choose among 40 rows"):
        plot_stacked_incidence(predicted, row=40)
