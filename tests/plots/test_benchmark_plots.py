"""Figures of a benchmark: what is drawn is what was given, and nothing lies on anything else."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy import stats

from aldsurv.errors import ParameterError
from aldsurv.plots import save_figure
from aldsurv.plots.benchmark import (
    calibration_examples_figure,
    calibration_fit_figure,
    plot_calibration_fit,
    plot_critical_difference,
    plot_metric,
    plot_squares,
    plot_time_histogram,
    time_histogram_figure,
)
from aldsurv.plots.drawing.appearance import marker_look

NAN = math.nan
NAMES = [f"LogNorm medium {k}" for k in range(21)]
MODELS = ["ALD", "CQRNN", "LogNorm", "DeepSurv", "DeepHit"]


def spreads(seed: int = 0, n: int = 21) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(seed)
    return {model: (rng.lognormal(0, 1, n), rng.uniform(0.01, 0.4, n)) for model in MODELS}


def boxes(figure: Figure, texts) -> list:
    FigureCanvasAgg(figure).draw()
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]


def overlaps(found) -> int:
    return sum(one.overlaps(other) for k, one in enumerate(found) for other in found[:k])


def bars(container) -> np.ndarray:
    """Middle, lower and upper end of each error bar."""
    line, _, (stems,) = container
    ends = np.array([segment[:, 1] for segment in stems.get_segments()])
    return np.column_stack([line.get_ydata(), ends])


def test_metric_shows_means_and_standard_deviations():
    given = spreads()
    ax = plot_metric(NAMES, given, label="MAE")
    assert [container.get_label() for container in ax.containers] == MODELS
    for container, (means, sds) in zip(ax.containers, given.values(), strict=True):
        np.testing.assert_allclose(bars(container), np.column_stack([means, means - sds, means + sds]))
        x = container[0].get_xdata()
        # Each in the room of its dataset.
        np.testing.assert_array_equal(np.round(x), range(21))
    assert len({to_hex(container[0].get_color()) for container in ax.containers}) == 5
    assert len({container[0].get_marker() for container in ax.containers}) == 5


def test_published_markers_are_hollow_and_beside():
    given, printed = spreads(), spreads(1)
    ax = plot_metric(NAMES, given, label="MAE", published={**printed, "other": printed["ALD"]}, log=True)
    assert len(ax.containers) == 10
    for ours, theirs in zip(ax.containers[::2], ax.containers[1::2], strict=True):
        assert to_hex(theirs[0].get_markerfacecolor()) == "#ffffff"
        assert to_hex(ours[0].get_markerfacecolor()) == to_hex(ours[0].get_color()) == to_hex(theirs[0].get_color())
        assert np.all(theirs[0].get_xdata() > ours[0].get_xdata())
    every = np.sort(np.concatenate([container[0].get_xdata() for container in ax.containers]))
    assert np.diff(every).min() > 0.05
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [*MODELS, "ours", "published"]


def test_logarithmic_bars_end_at_the_edge():
    ax = plot_metric(["a", "b", "c", "d"], {"ALD": ([0.1, 10.0, 0.0, NAN], [0.5, 1.0, 1.0, 1.0])}, label="", log=True)
    found = bars(ax.containers[0])
    bottom = ax.get_ylim()[0]
    assert 0 < bottom < 0.1
    np.testing.assert_allclose(found, [[0.1, bottom, 0.6], [10, 9, 11]])


def test_distances_do_not_go_below_zero():
    ax = plot_metric(["a", "b"], {"ALD": ([0.1, 1.0], [0.5, NAN])}, label="", least=0.0)
    np.testing.assert_allclose(bars(ax.containers[0]), [[0.1, 0, 0.6], [1, 1, 1]])
    assert ax.get_ylim()[0] == 0


@pytest.mark.parametrize("log", [False, True])
def test_nothing_to_show(log):
    for models in ({}, {"ALD": ([NAN], [NAN])}, {"ALD": ([math.inf], [NAN])}):
        boxes(plot_metric(["a"], models, label="MAE", log=log).figure, [])


def test_names_of_datasets_do_not_run_into_each_other():
    ax = plot_metric(NAMES, spreads(), label="MAE", published=spreads(1))
    labels = ax.get_xticklabels()
    boxes(ax.figure, [])
    # Slanted, so that boxes overlap where texts do not: lines of text must be further apart than they are high.
    size = labels[0].get_fontsize() * ax.figure.dpi / 72
    pitch = ax.transData.transform((1, 0))[0] - ax.transData.transform((0, 0))[0]
    assert pitch * math.sin(math.radians(labels[0].get_rotation())) > size
    inside = ax.figure.bbox
    for box in boxes(ax.figure, [*labels, *ax.get_legend().get_texts()]):
        assert box.x0 >= inside.x0 - 1
        assert box.y0 >= inside.y0 - 1
        assert box.x1 <= inside.x1 + 1


def test_looks_differ_beyond_the_colours():
    looks = {tuple(marker_look(place).values()) for place in range(20)}
    assert len(looks) == 20


def test_squares():
    marks = [["", "G", "FG"], ["?", "", "F"]]
    meanings = {"": "fine", "F": "one", "G": "two", "?": "open"}
    ax = plot_squares(["r", "s"], [("A", ["a", "b"]), ("B", ["c"])], marks, meanings)
    squares = [patch for patch in ax.patches if (patch.get_gid() or "").startswith("square")]
    assert [patch.get_gid().removeprefix("square-") for patch in squares] == [mark for row in marks for mark in row]
    colours = {patch.get_gid(): patch.get_facecolor() for patch in squares}
    assert colours["square-F"] == colours["square-FG"]
    assert len(set(colours.values())) == 4
    # Groups are apart, columns of one group are not.
    places = [patch.get_x() for patch in squares[:3]]
    assert np.diff(places) == pytest.approx([1.0, 1.5])
    assert [text.get_text() for text in ax.texts if text.get_text() in "FG?"] == ["G", "FG", "?", "F"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["fine", "F: one", "G: two", "open"]
    with pytest.raises(ParameterError, match="marks must have 2 rows of 3 columns"):
        plot_squares(["r", "s"], [("A", ["a", "b", "c"])], [["", "", ""]], meanings)


def test_squares_of_all_numbers_fit():
    columns = [f"Cal[S] intercept {k}" for k in range(9)]
    groups = [(name, columns) for name in ("ALD", "CQRNN", "LogNorm", "DeepSurv", "DeepHit")]
    # Two rows lie as far apart as twenty-one.
    ax = plot_squares(NAMES[:2], groups, [["FGR"] * 45] * 2, {"": "fine", "F": "F", "G": "G", "R": "R"})
    assert overlaps(boxes(ax.figure, ax.texts)) == 0
    assert overlaps(boxes(ax.figure, ax.get_yticklabels())) == 0


def fitted_lines(ax) -> list[np.ndarray]:
    """Ends of the lines through the points, in the order of the models."""
    return [line.get_xydata() for line in ax.lines if line.get_linestyle() == "-"]


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_calibration_fit():
    rng = np.random.default_rng(0)
    expected = np.arange(1, 11) / 10
    curves = {model: (expected, expected + 0.05 * rng.normal(size=(6, 10))) for model in MODELS[:3]}
    ax = plot_calibration_fit(curves, title="GBSG")
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[0, 0], [1, 1]])
    assert ax.lines[0].get_linestyle() == "--"
    for container, (_, runs) in zip(ax.containers, curves.values(), strict=True):
        mean, sd = runs.mean(axis=0), runs.std(axis=0, ddof=1)
        np.testing.assert_allclose(bars(container), np.column_stack([mean, mean - sd, mean + sd]))
        np.testing.assert_allclose(container[0].get_xdata(), expected, atol=0.02)
    assert ax.get_title() == "GBSG"
    one_run = plot_calibration_fit({"ALD": (expected, expected)})
    np.testing.assert_allclose(bars(one_run.containers[0]), np.column_stack([expected] * 3))
    with pytest.raises(ParameterError, match="'ALD' has 9 and 10"):
        plot_calibration_fit({"ALD": (expected, expected[1:])})


def test_calibration_lines_are_those_of_least_squares():
    rng = np.random.default_rng(1)
    expected = np.arange(1, 11) / 10
    curves = {model: (expected, expected + 0.2 * rng.normal(size=(5, 10))) for model in MODELS}
    ax = plot_calibration_fit(curves)
    lines, drawn_points = fitted_lines(ax), [container[0] for container in ax.containers]
    for line, points, text, (name, (_, runs)) in zip(lines, drawn_points, texts(ax), curves.items(), strict=True):
        # The mean of the slopes and intercepts of the runs, which is what the tables of the benchmark have.
        slope, intercept = np.mean([np.polyfit(expected, run, 1) for run in runs], axis=0)
        np.testing.assert_allclose(line, [[0, intercept], [1, intercept + slope]], rtol=1e-9, atol=1e-12)
        assert text == f"{name}: slope {slope:.2f}, intercept {intercept:.2f}".replace("-", "−")
        assert points.get_linestyle() == "None"
    colours = [to_hex(line.get_color()) for line in ax.lines if line.get_linestyle() == "-"]
    assert colours == [to_hex(points.get_color()) for points in drawn_points]


def test_an_intercept_that_rounds_to_zero_has_no_sign():
    expected = np.arange(1, 10) / 10
    assert texts(plot_calibration_fit({"ALD": (expected, expected - 1e-4)})) == ["ALD: slope 1.00, intercept 0.00"]
    assert texts(plot_calibration_fit({"ALD": ([0.5], [0.4])})) == ["ALD: slope –, intercept –"]


def test_calibration_fit_figure():
    nine, ten = np.arange(1, 10) / 10, np.arange(1, 11) / 10
    figure = calibration_fit_figure({"ALD": (ten, ten)}, {"ALD": (nine, 0.9 * nine + 0.02)}, title="GBSG")
    left, right = figure.axes
    assert (left.get_title(), right.get_title()) == ("Cal[S]", "Cal[f]")
    assert texts(left) == ["ALD: slope 1.00, intercept 0.00"]
    assert texts(right) == ["ALD: slope 0.90, intercept 0.02"]
    assert (len(left.containers[0][0].get_xdata()), len(right.containers[0][0].get_xdata())) == (10, 9)
    boxes(calibration_fit_figure({}, {}), [])


@pytest.mark.parametrize("models", [1, 5, 12])
def test_slopes_and_intercepts_lie_below_the_axes_and_inside_the_figure(models):
    rng = np.random.default_rng(2)
    ten = np.arange(1, 11) / 10
    curves = {f"Gradient boosting {k}": (ten, rng.uniform(size=(3, 10))) for k in range(models)}
    figure = calibration_fit_figure(curves, curves, title="LogNorm medium")
    boxes(figure, [])
    every = [text for ax in figure.axes for text in ax.get_legend().get_texts()]
    found = boxes(figure, every)
    assert len(found) == 2 * models
    assert overlaps(found) == 0
    for ax in figure.axes:
        name = ax.xaxis.label.get_window_extent()
        for box in boxes(figure, ax.get_legend().get_texts()):
            assert box.y1 < name.y0
            assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
            assert box.y0 >= figure.bbox.y0


def test_calibration_examples():
    ten = np.arange(1, 11) / 10
    panels = [
        [("best", {"ALD": (ten, ten)}), ("best, too", {"ALD": (ten, ten**2)})],
        [("worst", {"ALD": (ten, 1 - ten)})],
    ]
    figure = calibration_examples_figure(panels)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in shown] == ["best", "best, too", "worst"]
    assert [len(figure.axes), texts(shown[2])] == [4, ["ALD: slope −1.00, intercept 1.00"]]
    boxes(calibration_examples_figure([]), [])


def test_time_histogram():
    rng = np.random.default_rng(0)
    time, event = rng.exponential(500, 400), rng.random(400) < 0.6
    edges = np.linspace(0, 4000, 9)
    ax = plot_time_histogram(time, event, bins=edges.tolist(), unit="days")
    events, censored = ([patch.get_height() for patch in container] for container in ax.containers)
    np.testing.assert_array_equal(events, np.histogram(time[event], edges)[0])
    np.testing.assert_array_equal(censored, np.histogram(time[~event], edges)[0])
    np.testing.assert_array_equal([patch.get_y() for patch in ax.containers[1]], events)
    assert ax.get_xlabel() == "time (days)"


def test_histograms_of_both_parts_have_the_same_bins():
    rng = np.random.default_rng(1)
    parts = {name: (rng.exponential(scale, 50), np.ones(50, bool)) for name, scale in (("training", 9), ("test", 2))}
    one, other = time_histogram_figure(parts, bins=12).axes
    left = [[patch.get_x() for patch in ax.containers[0]] for ax in (one, other)]
    assert left[0] == left[1]
    assert len(left[0]) == 12
    assert sum(patch.get_height() for patch in other.containers[0]) == 50
    boxes(time_histogram_figure({}), [])
    boxes(plot_time_histogram([], []).figure, [])


def density_line(ax):
    (line,) = [line for line in ax.lines if line.get_label() == "density estimate"]
    return line.get_xydata().T


def test_density_over_a_histogram():
    rng = np.random.default_rng(3)
    time = rng.exponential(500, 300)
    edges = np.linspace(0, time.max(), 21)
    ax = plot_time_histogram(time, rng.random(300) < 0.5, bins=edges.tolist(), density=True)
    x, y = density_line(ax)
    # A sum of normal densities, and of those of the times mirrored at 0; Scott's bandwidth is n^(-1/5) of their spread.
    bandwidth = time.std(ddof=1) * 300 ** (-1 / 5)
    by_hand = [stats.norm.pdf(here, np.concatenate([time, -time]), bandwidth).sum() for here in x]
    np.testing.assert_allclose(y, np.array(by_hand) * (edges[1] - edges[0]), rtol=1e-9)
    # In subjects per bin: the area under it is that of the bars, less what lies beyond the last time.
    area, whole = np.trapezoid(y, x), 300 * (edges[1] - edges[0])
    assert 0.97 * whole < area < 1.001 * whole
    assert "density estimate" in texts(ax)
    assert not [line for line in plot_time_histogram(time, time > 0, bins=20).lines if line.get_label()[0] != "_"]


def test_density_of_both_parts_and_of_little():
    rng = np.random.default_rng(4)
    parts = {name: (rng.gamma(2, 9, n), rng.random(n) < 0.5) for name, n in (("training", 90), ("test", 30))}
    one, other = time_histogram_figure(parts, bins=10, density=True).axes
    assert density_line(one)[1].max() > density_line(other)[1].max()
    for few in ([], [3.0], [2.0, 2.0]):
        ax = plot_time_histogram(few, [True] * len(few), density=True)
        assert not ax.lines
    with pytest.raises(ParameterError, match="bins must be equally wide"):
        plot_time_histogram([1.0, 2.0], [True, True], bins=[0.0, 1.0, 5.0], density=True)


def test_critical_difference():
    ranks = {"ALD": 1.5, "CQRNN": 2.0, "LogNorm": 4.2, "DeepSurv": 2.9, "DeepHit": 4.4}
    groups = [("ALD", "CQRNN", "DeepSurv"), ("LogNorm", "DeepHit")]
    ax = plot_critical_difference(ranks, 1.33, groups=groups, title="MAE")
    thick = [line for line in ax.lines if line.get_linewidth() > 3]
    for line, group in zip(thick, groups, strict=True):
        own = [ranks[name] for name in group]
        np.testing.assert_allclose(line.get_xdata(), [min(own), max(own)], atol=0.05)
    drops = {round(line.get_xdata()[0], 6) for line in ax.lines if len(line.get_xdata()) == 3}
    assert drops == set(ranks.values())
    assert {text.get_text() for text in ax.texts} >= {f"{name}  {rank:.2f}" for name, rank in ranks.items()}
    assert overlaps(boxes(ax.figure, ax.texts)) == 0


def test_lines_of_ranks_do_not_cross():
    rng = np.random.default_rng(2)
    for count in (2, 3, 8, 11):
        ranks = {f"model {k}": rank for k, rank in enumerate(rng.uniform(1, count, count))}
        ax = plot_critical_difference(ranks, 1.0)
        elbows = [(*line.get_xdata()[1:], line.get_ydata()[1]) for line in ax.lines if len(line.get_xdata()) == 3]
        for rank, edge, height in elbows:
            for other, _, depth in elbows:
                between = min(rank, edge) < other < max(rank, edge)
                assert not (between and depth > height), "a line down crosses a line to a name"
        assert overlaps(boxes(ax.figure, ax.texts)) == 0
        inside = ax.figure.bbox
        assert all(inside.x0 <= box.x0 and box.x1 <= inside.x1 for box in boxes(ax.figure, ax.texts))


def test_critical_differences_of_little():
    for ranks in ({}, {"ALD": 1.0}, {"ALD": NAN, "CQRNN": 1.0}):
        ax = plot_critical_difference(ranks, NAN)
        boxes(ax.figure, [])
        assert len([line for line in ax.lines if len(line.get_xdata()) == 3]) == sum(map(math.isfinite, ranks.values()))
    with pytest.raises(ParameterError, match="'CQRNN' has none"):
        plot_critical_difference({"ALD": 1.0}, 1.0, groups=[("ALD", "CQRNN")])


def test_given_axes_are_given_back(tmp_path):
    figure = Figure()
    axes = list(figure.subplots(5, 1))
    shares = [0.1, 0.5, 1.0]
    found = [
        plot_metric(["a"], {"ALD": ([1.0], [0.1])}, label="", ax=axes[0]),
        plot_calibration_fit({"ALD": (shares, shares)}, ax=axes[1]),
        plot_time_histogram([1.0, 2.0], [True, False], ax=axes[2]),
        plot_critical_difference({"ALD": 1.0, "CQRNN": 2.0}, 0.5, ax=axes[3]),
        plot_squares(["r"], [("A", ["c"])], [["?"]], {"?": "open"}, ax=axes[4]),
    ]
    assert all(one is ax for one, ax in zip(found, axes, strict=True))
    assert save_figure(figure, tmp_path / "all.svg").stat().st_size > 1000


def test_a_mean_that_would_hide_all_others_is_written_at_the_edge():
    usual = [0.5 + 0.1 * k for k in range(10)]
    models = {"A": (usual, [0.1] * 10), "B": ([1e27, *usual[1:]], [1e27, *[0.1] * 9])}
    names = [f"set {k}" for k in range(10)]
    ax = plot_metric(names, models, label="MAE", log=True)
    assert max(usual) < ax.get_ylim()[1] < 100
    assert [text.get_text() for text in ax.texts] == ["1e27 ↑"]
    # Nothing is cut where all can be read.
    assert not plot_metric(names, {"A": models["A"]}, label="MAE", log=True).texts
