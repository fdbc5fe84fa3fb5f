from __future__ import annotations

import warnings

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from scipy import stats

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Exponential, Step
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.nonparametric import kaplan_meier
from aldsurv.plots import (
    plot_auc,
    plot_brier,
    plot_calibration,
    plot_calibration_at,
    plot_d_calibration,
    plot_individuals,
    plot_predicted_against_observed,
    plot_time_distribution,
    save_figure,
)
from aldsurv.plots.drawing.axes_text import collected_warnings, write_message


@pytest.fixture(scope="module")
def rows() -> tuple[Exponential, SurvivalData]:
    """Predictions that are 30 % too long, of rows with weights and ties."""
    rng = np.random.default_rng(0)
    mean = rng.uniform(1, 9, 150).round(1)
    time, end = rng.exponential(mean), rng.uniform(0, 15, 150)
    observed = np.maximum(np.minimum(time, end).round(1), 0.1)
    return Exponential(1.3 * mean), SurvivalData.right(observed, time <= end, weight=rng.integers(1, 4, 150))


DRAW = {
    "calibration": lambda p, y, ax: plot_calibration(p, y, ax=ax),
    "density": lambda p, y, ax: plot_calibration(p, y, kind="density", ax=ax),
    "d_calibration": lambda p, y, ax: plot_d_calibration(p, y, ax=ax),
    "calibration_at": lambda p, y, ax: plot_calibration_at(p, y, 1.0, ax=ax),
    "auc": lambda p, y, ax: plot_auc(p, y, train=y, ax=ax),
    "brier": lambda p, y, ax: plot_brier(p, y, train=y, ax=ax),
    "observed": lambda p, y, ax: plot_predicted_against_observed(p, y, ax=ax),
    "individuals": lambda p, y, ax: plot_individuals(p[:4], ax=ax),
    "times": lambda p, y, ax: plot_time_distribution(y, ax=ax),
}
every = pytest.mark.parametrize("draw", DRAW.values(), ids=DRAW)


def texts(ax, gid: str) -> list[str]:
    """What is written in the axes; messages without their line breaks."""
    found = [text.get_text() for text in ax.texts if text.get_gid() == gid]
    return [text.replace("\n", " ") for text in found] if gid == "message" else found


def painted(ax):
    FigureCanvasAgg(ax.figure).draw()
    return ax


def band(ax) -> np.ndarray:
    """Lower and upper edge of the shaded area, by place."""
    corners = ax.collections[0].get_paths()[0].vertices
    places = np.unique(corners[:, 0])
    return np.array([(own.min(), own.max()) for own in (corners[corners[:, 0] == place, 1] for place in places)])


@every
def test_given_axes_are_given_back_with_names(draw, rows, tmp_path):
    figure = Figure()
    ax = figure.subplots()
    assert draw(*rows, ax) is ax
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    assert not texts(ax, "message")
    assert save_figure(figure, tmp_path / "figure.svg").stat().st_size > 1000
    new = draw(*rows, None)
    assert new.figure is not figure
    painted(new)


@every
@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("event", [False, True])
def test_few_rows_without_a_crash_or_a_warning(draw, n, event):
    predicted, data = Exponential([2.0] * n), SurvivalData.right([1.5] * n, [event] * n)
    ax = painted(draw(predicted, data, None))
    assert ax.get_xlabel()
    # Something is drawn, or it is said why not.
    assert texts(ax, "message") or ax.lines or ax.patches or ax.collections


@every
def test_no_row_that_counts(draw):
    data = SurvivalData.right([1.0, 2.0, 3.0], [True, False, True], weight=[0.0, 0.0, 1.0])[:2]
    painted(draw(Exponential([2.0, 3.0]), data, None))


@pytest.mark.parametrize("name", ["calibration_at", "auc"])
def test_without_events_it_says_why(name):
    ax = DRAW[name](Exponential([2.0, 3.0, 4.0]), SurvivalData.right([1.0, 2.0, 3.0], [False] * 3), None)
    assert texts(ax, "message") == ["Nothing to draw: no row has an event."]


def test_times_beyond_the_rows_are_said_to_be_so(rows):
    predicted, data = rows
    ax = plot_calibration_at(predicted, data, 1000.0)
    last = data.time.max()
    assert texts(ax, "message") == [f"Nothing to draw: the rows end at {last:g}, before the time 1000."]
    assert "no subject is at risk" in texts(plot_auc(predicted, data, train=data, times=[1000.0]), "message")[0]
    assert "end before these times" in texts(plot_brier(predicted, data, train=data, times=[1000.0]), "message")[0]


def test_long_messages_leave_the_layout_alone():
    figure = Figure(figsize=(9, 3), layout="constrained")
    axes = figure.subplots(1, 3)
    data = SurvivalData.right([1.0, 2.0, 3.0], [True] * 3)
    for ax in axes:
        plot_auc(Exponential([2.0, 3.0, 4.0]), data, train=data, times=[1000.0], ax=ax)
    FigureCanvasAgg(figure).draw()
    for ax in axes:
        assert ax.get_position().width > 0.2
        message = ax.texts[0].get_window_extent()
        assert message.x0 > ax.bbox.x0
        assert message.x1 < ax.bbox.x1


@pytest.mark.parametrize(
    ("kind", "points"),
    [("survival", metrics.survival_calibration_points), ("density", metrics.density_calibration_points)],
)
def test_calibration_is_that_of_the_metric(rows, kind, points):
    predicted, data = rows
    ax = plot_calibration(predicted, data, kind=kind, bootstrap=50)
    identity, drawn, fitted = ax.lines
    np.testing.assert_array_equal(identity.get_xydata(), [[0, 0], [1, 1]])
    expected = points(predicted, data)
    np.testing.assert_array_equal(drawn.get_xydata(), np.column_stack(expected))
    slope, intercept = np.polyfit(*expected, 1)
    np.testing.assert_allclose(fitted.get_ydata(), [intercept, intercept + slope])
    assert texts(ax, "note") == [f"slope {slope:.3f}\nintercept {intercept:+.3f}"]
    by_hand = metrics.bootstrap(lambda p, y: tuple(points(p, y).observed), predicted, data, samples=50, random_state=0)
    np.testing.assert_allclose(band(ax), np.column_stack([by_hand.lower, by_hand.upper]), atol=1e-12)
    assert len(plot_calibration(predicted, data, kind=kind, bootstrap=None).collections) == 0


def test_d_calibration(rows):
    predicted, data = rows
    test = metrics.d_calibration(predicted, data, bins=8)
    ax = plot_d_calibration(predicted, data, bins=8)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], test.counts / data.total_weight)
    np.testing.assert_allclose([bar.get_x() for bar in ax.patches], np.arange(8) / 8)
    ideal, lower, upper = (line.get_ydata()[0] for line in ax.lines)
    n = round(data.total_weight)
    assert ideal == 1 / 8
    np.testing.assert_allclose([lower, upper], stats.binom.ppf([0.025, 0.975], n, 1 / 8) / n)
    assert texts(ax, "note") == [f"p = {test.p_value:.3f}" if test.p_value >= 0.001 else "p < 0.001"]


@pytest.mark.parametrize("n", [1, 2, 40, 1000, 123_456])
def test_binomial_limits(n):
    predicted = Exponential(np.ones(2))
    data = SurvivalData.right([0.5, 1.0], [True, True], weight=[n - 0.5, 0.5])
    limits = [line.get_ydata()[0] for line in plot_d_calibration(predicted, data).lines[1:]]
    np.testing.assert_allclose(limits, stats.binom.ppf([0.025, 0.975], n, 0.1) / n)


def test_calibration_at_one_time(rows):
    predicted, data = rows
    ax = plot_calibration_at(predicted, data, 3.0, unit="years")
    _, curve, usual, groups = ax.lines
    risk, observed = curve.get_data()
    np.testing.assert_allclose(np.sort(risk), np.sort(predicted.cdf(3.0)))
    # The index is the mean distance of the curve from the diagonal, over the rows in order of their predictions.
    index = metrics.integrated_calibration_index(predicted, data, 3.0)
    weight = data.weights[np.argsort(predicted.cdf(3.0), kind="stable")]
    assert np.average(np.abs(risk - observed), weights=weight) == pytest.approx(index.ici)
    assert set(usual.get_xdata()) < set(risk)
    found = metrics.one_calibration(predicted, data, 3.0)
    np.testing.assert_array_equal(groups.get_xydata(), np.column_stack([found.predicted, found.observed]))
    assert texts(ax, "note") == [f"ICI {index.ici:.3f}\nE50 {index.e50:.3f}\nE90 {index.e90:.3f}"]
    heights = np.array([bar.get_height() for bar in ax.patches])
    counts = np.histogram(predicted.cdf(3.0), 50, (0, 1), weights=data.weights)[0]
    np.testing.assert_allclose(heights / heights.max(), counts / counts.max())
    assert heights.max() < 0.2
    assert ax.get_xlabel() == "predicted probability of an event by 3 years"


def test_auc(rows):
    predicted, data = rows
    train = data[:100]
    times = [1.0, 2.0, 4.0]
    ax = plot_auc(predicted, data, train=train, times=times[::-1], unit="years")
    expected = metrics.cumulative_dynamic_auc(predicted, data, times, train=train)
    np.testing.assert_array_equal(ax.lines[1].get_xydata(), np.column_stack([times, expected.auc]))
    assert texts(ax, "note") == [f"mean {expected.mean:.3f}"]
    assert ax.get_xlabel() == "time (years)"
    assert len(plot_auc(predicted, data, train=train, times=times, band=None).collections) == 0
    with pytest.raises(ParameterError, match="band must be a number between 0 and 1 or None, but is 95"):
        plot_auc(predicted, data, train=train, band=95)


def test_auc_band_is_that_of_delong_without_censoring():
    rng = np.random.default_rng(3)
    mean = rng.integers(1, 8, 80).astype(float)
    data = SurvivalData.right(rng.exponential(mean), np.ones(80, bool))
    ax = plot_auc(Exponential(mean), data, train=data, times=[2.0, 3.0], band=0.9)
    for time, (lower, upper) in zip((2.0, 3.0), band(ax), strict=True):
        case = data.time <= time
        inorder = np.heaviside(mean[~case][None, :] - mean[case][:, None], 0.5)
        # DeLong, DeLong & Clarke-Pearson (1988) with the number of rows, not one less, as the divisor.
        variance = inorder.mean(axis=1).var() / case.sum() + inorder.mean(axis=0).var() / (~case).sum()
        reach = stats.norm.ppf(0.95) * np.sqrt(variance)
        np.testing.assert_allclose([lower, upper], [inorder.mean() - reach, inorder.mean() + reach], rtol=1e-9)


def test_auc_band_is_as_wide_as_the_scatter_of_resamples():
    rng = np.random.default_rng(4)
    mean = rng.uniform(1, 9, 400)
    time, end = rng.exponential(mean), rng.uniform(0, 15, 400)
    data = SurvivalData.right(np.minimum(time, end), time <= end, weight=rng.integers(1, 3, 400))
    times = [1.0, 3.0, 6.0]
    limits = band(plot_auc(Exponential(mean), data, train=data, times=times))
    resampled = metrics.bootstrap(
        lambda p, y: tuple(metrics.cumulative_dynamic_auc(p, y, times, train=data).auc),
        Exponential(mean), data, samples=400, random_state=0,
    )  # fmt: skip
    np.testing.assert_allclose(np.ptp(limits, axis=1) / (2 * stats.norm.ppf(0.975)), resampled.standard_error, rtol=0.1)


def test_auc_looks_between_the_events(rows):
    predicted, data = rows
    times = plot_auc(predicted, data, train=data, band=None).lines[1].get_xdata()
    assert times.size == 25
    events = data.time[data.event]
    assert events.min() <= times[0] < np.quantile(events, 0.2)
    assert np.quantile(events, 0.8) < times[-1] <= events.max()


def test_brier_beside_kaplan_meier(rows):
    predicted, data = rows
    train = data[:120]
    ax = plot_brier(predicted, data, train=train)
    marginal, own = ax.lines
    times = own.get_xdata()
    np.testing.assert_allclose(own.get_ydata(), metrics.brier_score(predicted, data, times, train=train))
    curve = kaplan_meier(train)
    same = Step(curve.times, np.tile(curve.survival, (len(data), 1)))
    np.testing.assert_allclose(marginal.get_ydata(), metrics.brier_score(same, data, times, train=train))
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    score = metrics.integrated_brier_score(predicted, data, train=train)
    assert labels == [
        f"Kaplan-Meier, mean {metrics.integrated_brier_score(same, data, train=train):.3f}",
        f"prediction, mean {score:.3f}",
    ]


def test_predicted_against_observed(rows):
    predicted, data = rows
    ax = plot_predicted_against_observed(predicted, data, point="mean", unit="years")
    events, censored = (part.get_offsets() for part in ax.collections)
    both = np.column_stack([data.time, predicted.mean()])
    np.testing.assert_allclose(events, both[data.event])
    np.testing.assert_allclose(censored, both[~data.event])
    # Hollow, so that the two are told apart without colour.
    assert ax.collections[1].get_facecolor().size == 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("observed time (years)", "predicted mean (years)")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    error = metrics.mean_absolute_error(predicted, data, point="mean")
    assert texts(ax, "note") == [f"mean absolute error of events {error:.3g}"]
    low, high = ax.get_xlim()
    assert low < both.min() < both.max() < high


def test_predictions_that_no_axis_holds():
    predicted = Step([1.0, 2.0], [[0.9, 0.8], [0.4, 0.0], [0.5, 0.1]])
    data = SurvivalData.right([0.0, 3.0, 2.0], [True, False, True])
    ax = painted(plot_predicted_against_observed(predicted, data))
    assert ax.get_xscale() == "linear"
    assert texts(ax, "note") == ["1 predicted infinite: at the edge"]
    assert ax.collections[0].get_offsets()[0].tolist() == [0.0, ax.get_ylim()[1]]
    below = plot_predicted_against_observed(Exponential([2.0] * 3).shifted(-9.0), data)
    assert "3 predicted below 0: at the edge" in texts(below, "note")[0]


def test_limits_are_shaded_around_each_curve():
    predicted = Exponential([1.0, 3.0, 9.0])

    def band(times):
        survival = predicted.survival(times)
        # Behind the second time the upper limit rises, which no survival curve does.
        return survival**2, np.where(times > times[1], 1.0, np.sqrt(survival))

    ax = plot_individuals(predicted, rows=[2, 0], times=[0.0, 2.0, 4.0], band=band)
    for shade, line, mean in zip(ax.collections, ax.lines, (9.0, 1.0), strict=False):
        corners = shade.get_paths()[0].vertices
        assert tuple(shade.get_facecolor()[0][:3]) == to_rgb(line.get_color())
        for time, low, high in (
            (2.0, np.exp(-4 / mean), np.exp(-1 / mean)),
            (4.0, np.exp(-8 / mean), np.exp(-1 / mean)),
        ):
            heights = corners[corners[:, 0] == time, 1]
            np.testing.assert_allclose([heights.min(), heights.max()], [low, high], rtol=1e-12)
    assert len(ax.collections) == 2


def test_individuals(rows):
    predicted, _ = rows
    ax = plot_individuals(predicted, rows=[4, 7, 9], labels=["a", "b", "c"], level=0.5, unit="years")
    curves = ax.lines[:3]
    for row, line in zip((4, 7, 9), curves, strict=True):
        np.testing.assert_allclose(line.get_ydata(), np.exp(-line.get_xdata() / predicted.mean()[row]))
    bars = [line for line in ax.lines if line.get_linewidth() == 3.0]
    medians = [line for line in ax.lines if line.get_linestyle() == "None"]
    for row, bar, median, curve in zip((4, 7, 9), bars, medians, curves, strict=True):
        scale = predicted.mean()[row]
        np.testing.assert_allclose(bar.get_xdata(), scale * np.log([4 / 3, 4]))
        np.testing.assert_allclose(median.get_xdata(), scale * np.log(2))
        assert median.get_ydata()[0] == 0.5
        assert bar.get_color() == median.get_color() == curve.get_color()
    heights = [bar.get_ydata()[0] for bar in bars]
    assert ax.get_ylim()[0] < min(heights) < max(heights) < 0
    assert len({median.get_marker() for median in medians}) == 3
    assert min(ax.get_yticks()) == 0


def test_intervals_that_leave_the_picture():
    ax = painted(plot_individuals(Step([1.0, 2.0], [[0.9, 0.6], [0.5, 0.0]]), rows=[0, 1]))
    stop = ax.get_xlim()[1]
    arrows = [line for line in ax.lines if line.get_marker() == ">"]
    assert [float(arrow.get_xdata()[0]) for arrow in arrows] == [stop]
    with pytest.raises(ParameterError, match="level must be a number between 0 and 1, but is 80"):
        plot_individuals(Exponential([1.0]), level=80)


def test_time_distribution():
    data = SurvivalData.interval([1, 2, 4, -np.inf], [1, np.inf, 6, 3])
    ax = plot_time_distribution(data, bins=[0, 1.2, 1.8, 3, 6], unit="days")
    events, others = ([bar.get_height() for bar in container] for container in ax.containers)
    assert events == [1, 0, 0, 0]
    assert others == [0, 1, 1, 1]
    assert ax.get_title(loc="right") == "4 rows, 3 events (75 %), 2 within bounds"


def test_bad_arguments(rows):
    predicted, data = rows
    with pytest.raises(ParameterError, match="kind must be 'survival' or 'density', but is 'hazard'"):
        plot_calibration(predicted, data, kind="hazard")
    with pytest.raises(ParameterError, match="bootstrap must be a whole number from 2 on or None, but is 1"):
        plot_calibration(predicted, data, bootstrap=1)
    with pytest.raises(ParameterError, match="predicted has 150 and data 149"):
        plot_calibration(predicted, data[1:])
    with pytest.raises(CensoringError, match=r"\(row 0\)"):
        plot_auc(predicted[:1], SurvivalData.interval([1], [2]), train=data)


def test_other_warnings_are_not_swallowed():
    def loud():
        with collected_warnings() as messages:
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            for _ in range(2):
                warnings.warn("metric is not defined\nand NaN: why.", UserWarning, stacklevel=1)
        return messages

    with pytest.warns(DeprecationWarning, match="old"):
        messages = loud()
    assert messages == ["metric is not defined and NaN: why."]
    assert texts(write_message(Figure().subplots(), messages), "message") == ["Nothing to draw: why."]
