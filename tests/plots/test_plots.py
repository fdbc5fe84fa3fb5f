from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Annotation

import aldsurv
from aldsurv import plots
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import (
    AsymmetricLaplace,
    Exponential,
    LogAsymmetricLaplace,
    Mixture,
    Normal,
    Shifted,
    Step,
    SurvivalDistribution,
    Weibull,
)
from aldsurv.errors import MissingDependencyError, ParameterError
from aldsurv.nonparametric import KaplanMeier, kaplan_meier
from aldsurv.plots import (
    distribution_figure,
    plot_density,
    plot_hazard,
    plot_kaplan_meier,
    plot_survival,
    save_figure,
)

CURVES = {plot_survival: "survival", plot_density: "density", plot_hazard: "hazard"}
THREE = AsymmetricLaplace([60.0, 26.0, 8.0], [24.0, 18.0, 10.0], [0.7, 0.6, 0.5])
STEPS = Step([2.0, 5.0, 9.0, 14.0], [[0.9, 0.7, 0.4, 0.2], [0.8, 0.5, 0.3, 0.0]])
FAMILIES = {
    "asymmetric_laplace": THREE,
    "normal": Normal([10.0, 80.0], [1.0, 20.0]),
    "pole_at_zero": Weibull([20.0, 10.0], [0.6, 4.0]),
    "heavy_tail": LogAsymmetricLaplace([1.0, 2.0], [2.0, 3.0], [0.5, 0.4]),
    "step": STEPS,
    "torch": AsymmetricLaplace(torch.tensor([60.0, 26.0], requires_grad=True), 24.0, 0.7),
}
families = pytest.mark.parametrize("distribution", FAMILIES.values(), ids=FAMILIES)
curves = pytest.mark.parametrize("plot", CURVES, ids=CURVES.values())


def estimate(seed: int = 0, scale: float = 30.0, n: int = 120, **options: object) -> KaplanMeier:
    rng = np.random.default_rng(seed)
    time, end = rng.exponential(scale, n), rng.uniform(0, 60, n)
    return kaplan_meier(SurvivalData.right(np.minimum(time, end), time <= end, **options))


def drawn(figure: Figure) -> Figure:
    """The same figure after everything in it was placed and painted, which may fail as well."""
    FigureCanvasAgg(figure).draw()
    return figure


@families
@curves
def test_lines_are_the_values_of_each_row(plot, distribution: SurvivalDistribution) -> None:
    ax = plot(distribution)
    assert len(ax.lines) == len(distribution)
    for row, line in zip(distribution, ax.lines, strict=True):
        times = line.get_xdata()
        values = np.asarray(getattr(row, CURVES[plot])(times).tolist())[0]
        np.testing.assert_array_equal(line.get_ydata(), np.where(np.isfinite(values), values, np.nan))
        assert np.isfinite(times).all()
        assert (np.diff(times) > 0).all()
        assert times.size > 400
    drawn(ax.figure)


@families
def test_default_times_start_at_zero_and_show_most_of_every_row(distribution: SurvivalDistribution) -> None:
    ax = plot_survival(distribution)
    start, stop = ax.get_xlim()
    assert start == 0
    assert all((line.get_xdata()[0], line.get_xdata()[-1]) == (start, stop) for line in ax.lines)
    assert all(line.get_ydata()[-1] < 0.21 for line in ax.lines)
    assert ax.get_ylim() == (0, 1.02)


def test_default_times_end_soon_after_the_last_step_when_some_never_have_the_event() -> None:
    assert plot_survival(Step([3.0, 7.0], [[0.995, 0.99]])).get_xlim() == (0, pytest.approx(7.28))
    endless = Mixture([Exponential([1.0]), LogAsymmetricLaplace([700.0], [20.0], [0.01])], [[0.5, 0.5]])
    start, stop = plot_survival(endless).get_xlim()
    assert start == 0
    assert 0 < stop < np.inf


def test_default_times_of_a_point_and_of_times_below_zero() -> None:
    assert plot_survival(Step([4.0], [[0.0]])).get_xlim() == (0, pytest.approx(4.16))
    start, stop = plot_survival(Normal([-50.0], [2.0])).get_xlim()
    assert start < -50 < stop < 0


def test_given_times_are_kept_and_corners_added() -> None:
    line = plot_density(THREE[1], [50, 0, 10, 20.0]).lines[0]
    times = line.get_xdata()
    assert set(times) >= {0, 10, 20, 50}
    assert times.size == 6
    assert line.get_ydata().max() == pytest.approx(THREE[1].density(26.0)[0], rel=1e-4)


@pytest.mark.parametrize("times", [None, np.arange(15.0), np.linspace(0, 14, 7)])
@pytest.mark.parametrize(
    "steps",
    [STEPS, Shifted(STEPS, 0.1), STEPS.conditional(3.0), Mixture([STEPS, STEPS.scaled(0.7)], [0.3, 0.7])],
    ids=["step", "shifted", "conditional", "mixture"],
)
def test_steps_are_drawn_as_steps(steps: SurvivalDistribution, times) -> None:
    probes = np.setdiff1d(np.linspace(0.05, 13.9, 500).round(3), np.asarray(steps.kinks()).ravel())
    for row, line in zip(steps, plot_survival(steps, times).lines, strict=True):
        between = np.interp(probes, line.get_xdata(), line.get_ydata())
        np.testing.assert_allclose(between, row.survival(probes)[0], atol=1e-12)


def test_steps_have_no_spike_where_density_and_survival_jump() -> None:
    # Each jump over the length of the stretch before it, over the survival on that stretch; nothing at either end.
    heights = {0.0, 0.1 / 2, 0.2 / 3 / 0.9, 0.3 / 4 / 0.7, 0.2 / 5 / 0.4}
    for times in (None, np.arange(17.0)):
        values = plot_hazard(STEPS[0], times).lines[0].get_ydata()
        assert {round(value, 9) for value in values} == {round(value, 9) for value in heights}


def test_heights_follow_the_likely_times() -> None:
    # Both rows have a hazard that is infinite somewhere; neither fills the picture.
    top = plot_hazard(FAMILIES["pole_at_zero"]).get_ylim()[1]
    assert 0.3 < top < 2
    assert plot_hazard(Normal([10.0, 80.0], [1.0, 20.0])).get_ylim()[1] < 3
    peak = THREE.density(THREE.mode()[:, None]).max()
    assert plot_density(THREE).get_ylim() == (0, pytest.approx(1.05 * peak, rel=1e-4))
    assert plot_density(THREE[2], [200, 300]).get_ylim()[1] > 0
    assert plot_density(STEPS[0], [20, 30]).get_ylim() == (0, 1)


@curves
def test_axes_name_quantity_and_unit(plot) -> None:
    quantity = {"survival": "survival probability"}.get(CURVES[plot], CURVES[plot])
    assert (plot(THREE).get_xlabel(), plot(THREE).get_ylabel()) == ("time", quantity)
    ax = plot(THREE, unit="months")
    assert ax.get_xlabel() == "time (months)"
    assert ax.get_ylabel() == (quantity if plot is plot_survival else f"{quantity} (1/months)")


def legend_texts(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_labels() -> None:
    assert legend_texts(plot_survival(THREE)) == ["row 0", "row 1", "row 2"]
    assert legend_texts(plot_survival(THREE, rows=[2, 0])) == ["row 2", "row 0"]
    assert legend_texts(plot_survival(THREE, labels=["a", "b", "c"])) == ["a", "b", "c"]
    assert legend_texts(plot_survival(THREE, rows=1, labels=["b"])) == ["b"]
    assert plot_survival(THREE, rows=1).get_legend() is None


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(1, [1]), (-1, [2]), (slice(1, None), [1, 2]), ([2, 0], [2, 0]), (np.array([True, False, True]), [0, 2])],
)
def test_rows_choose_as_in_the_distribution(rows, expected: list[int]) -> None:
    lines = plot_survival(THREE, [0, 30, 60], rows=rows).lines
    for line, row in zip(lines, expected, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), THREE[row].survival(line.get_xdata())[0])


def test_what_cannot_be_drawn_is_refused() -> None:
    many = AsymmetricLaplace(np.arange(11.0), 1.0, 1.0)
    with pytest.raises(ParameterError, match=r"between 1 and 10 individuals.* 11 of 11 rows\. Choose some .* rows="):
        plot_survival(many)
    assert len(plot_survival(many, rows=slice(10)).lines) == 10
    with pytest.raises(ParameterError, match="show 0 of 11 rows"):
        plot_hazard(many, rows=[])
    with pytest.raises(ParameterError, match=r"show 0 of 0 rows\.$"):
        plot_hazard(many[:0])
    with pytest.raises(ParameterError, match="rows must choose among 11 rows"):
        plot_density(many, rows=11)
    for labels in (["a", "b"], "abc"):
        with pytest.raises(ParameterError, match="labels must be a list of 3 names"):
            plot_survival(THREE, labels=labels)
    for times in ([1.0], [1.0, np.inf], [1.0, np.nan], []):
        with pytest.raises(ParameterError, match="at least two different finite numbers"):
            plot_survival(THREE, times)
    with pytest.raises(ParameterError, match="times must be numbers"):
        plot_survival(THREE, ["soon", "late"])


def test_every_line_looks_different_also_across_calls() -> None:
    many = AsymmetricLaplace(np.arange(10.0), 1.0, 1.0)
    ax = plot_survival(many)
    plot_survival(THREE, ax=ax)
    plot_kaplan_meier(estimate(), ax=ax)
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == len(ax.lines) == 14


def test_given_axes_are_used_and_what_they_show_stays_in_view() -> None:
    ax = Figure().subplots()
    assert plot_survival(THREE, [0, 200], ax=ax) is ax
    plot_survival(THREE, [10, 20], ax=ax)
    assert ax.get_xlim() == (0, 200)
    density = plot_density(THREE, ax=Figure().subplots())
    top = density.get_ylim()[1]
    plot_density(THREE[0], ax=density)
    assert density.get_ylim()[1] == top


def test_figure_of_all_three() -> None:
    figure = distribution_figure(THREE, labels=["a", "b", "c"], unit="months")
    assert [ax.get_ylabel() for ax in figure.axes] == [
        "survival probability",
        "density (1/months)",
        "hazard (1/months)",
    ]
    assert len({ax.get_xlim() for ax in figure.axes}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]
    assert all(ax.get_legend() is None for ax in figure.axes)
    assert distribution_figure(THREE, [0, 10], rows=0).legends == []
    drawn(figure)


def test_kaplan_meier_draws_the_estimate() -> None:
    curve = estimate()
    ax = plot_kaplan_meier(curve, unit="weeks")
    (line,) = ax.lines
    assert line.get_drawstyle() == "steps-post"
    np.testing.assert_array_equal(line.get_xdata(), [0, *curve.times])
    np.testing.assert_array_equal(line.get_ydata(), [1, *curve.survival])
    band, ticks = ax.collections
    lower, upper = curve.band(0.95)
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices}
    assert corners >= set(zip(curve.times, lower, strict=True)) | set(zip(curve.times, upper, strict=True))
    censored = curve.censored > 0
    np.testing.assert_array_equal(ticks.get_offsets()[:, 0], curve.times[censored])
    np.testing.assert_array_equal(ticks.get_offsets()[:, 1], curve.survival_at(curve.times[censored]))
    assert ax.get_xlabel() == "time (weeks)"
    assert ax.get_title(loc="right") == "shaded: 95 % confidence, ticks: censored"


def test_kaplan_meier_without_band_censoring_or_table() -> None:
    curve = kaplan_meier(SurvivalData.right([1.0, 2.0], [1, 1]))
    ax = plot_kaplan_meier(curve, band=None, at_risk=False, label="all")
    assert ax.get_title(loc="right") == ""
    assert ax.child_axes == []
    assert legend_texts(ax) == ["all"]
    with pytest.raises(ParameterError, match="level must be a number between 0 and 1"):
        plot_kaplan_meier(curve, band=95)


def test_ticks_of_censoring_are_left_out_where_they_would_hide_the_curve() -> None:
    ax = plot_kaplan_meier(estimate(n=3000))
    assert len(ax.collections) == 1
    assert ax.get_title(loc="right") == "shaded: 95 % confidence"
    plot_kaplan_meier(estimate(n=30), ax=ax)
    assert ax.get_title(loc="right") == "shaded: 95 % confidence, ticks: censored"


def at_risk_texts(ax: Axes) -> list[list[str]]:
    ax.figure.draw_without_rendering()
    return [[label.get_text() for label in child.get_xticklabels()] for child in ax.child_axes]


def shown_ticks(ax: Axes) -> np.ndarray:
    ticks, (low, high) = ax.get_xticks(), ax.get_xlim()
    return ticks[(ticks >= low) & (ticks <= high)]


def test_numbers_at_risk_stand_under_their_ticks_also_when_these_change() -> None:
    first, second = estimate(0), estimate(1, 200.0)
    ax = plot_kaplan_meier(first, label="first")
    ticks = shown_ticks(ax)
    assert at_risk_texts(ax) == [[f"{value:.0f}" for value in first.at_risk_at(ticks)]]
    plot_kaplan_meier(second, label="second", ax=ax)
    ax.set_xlim(0, 200)
    assert not np.array_equal(shown_ticks(ax), ticks)
    expected = [[f"{value:.0f}" for value in curve.at_risk_at(shown_ticks(ax))] for curve in (first, second)]
    assert at_risk_texts(ax) == expected
    notes = [text.get_text() for text in ax.texts if isinstance(text, Annotation)]
    assert notes == ["number at risk", "first", "second"]


def test_numbers_at_risk_of_weighted_rows() -> None:
    ax = plot_kaplan_meier(estimate(n=4, weight=[0.5, 1.25, 1.0, 1.0]))
    assert at_risk_texts(ax)[0][0] == "3.8"


def test_nothing_in_the_table_overlaps() -> None:
    ax = plot_kaplan_meier(estimate(0, n=20_000), label="a rather long name")
    plot_kaplan_meier(estimate(1, n=9), label="b", ax=ax)
    drawn(ax.figure)
    rows = [child.get_xticklabels() for child in ax.child_axes]
    texts = [ax.xaxis.label, *ax.texts, *rows[0], *rows[1], *ax.get_xticklabels()]
    boxes = [text.get_window_extent() for text in texts]
    for index, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:index]), texts[index]
        assert box.x0 >= 0
        assert box.y0 >= 0


def test_global_state_is_left_alone(tmp_path: Path) -> None:
    program = (
        "import matplotlib; before = matplotlib.rcParams.copy()\n"
        "from aldsurv import SurvivalData, plots\n"
        "from aldsurv.distributions import Weibull\n"
        "from aldsurv.nonparametric import kaplan_meier\n"
        "plots.plot_survival(Weibull([2.0], [1.0]))\n"
        "ax = plots.plot_kaplan_meier(kaplan_meier(SurvivalData.right([1, 2], [1, 0])))\n"
        "for kind in ('png', 'svg'):\n    plots.save_figure(ax.figure, f'{sys.argv[1]}/plot.{kind}')\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert matplotlib.rcParams == before\n"
    )
    run_python(program, str(tmp_path))


def run_python(program: str, *arguments: str) -> str:
    source = str(Path(aldsurv.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{program}", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "MPLBACKEND": "agg"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("way", ["from aldsurv import plots", "from aldsurv.plots import save_figure", "aldsurv.plots"])
def test_missing_matplotlib_is_told_with_its_remedy(way: str) -> None:
    program = (
        "sys.modules['matplotlib'] = None\n"
        f"import aldsurv\ntry:\n    {way}\n"
        "except aldsurv.AldsurvError as error:\n    print(type(error).__name__, error)\n"
    )
    answer = run_python(program)
    assert answer.startswith(MissingDependencyError.__name__)
    assert 'pip install "aldsurv[plots]"' in answer


def test_only_a_missing_matplotlib_is_called_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "aldsurv\[plots\]"'):
        runpy.run_path(str(plots.__file__))
    (tmp_path / "matplotlib.py").write_text("import no_such_part\n")
    monkeypatch.delitem(sys.modules, "matplotlib")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_part"):
        runpy.run_path(str(plots.__file__))


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("b.SVG", b"<?xml"), ("c.pdf", b"%PDF")])
def test_saved_figures_are_whole_and_the_same_each_time(tmp_path: Path, name: str, start: bytes) -> None:
    path = tmp_path / name
    assert save_figure(plot_survival(THREE, labels=list("abc")).figure, path) == path
    first = path.read_bytes()
    assert first.startswith(start)
    assert save_figure(plot_survival(THREE, labels=list("abc")).figure, str(path)) == path
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


def test_failed_saving_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plot.png"
    figure = plot_survival(THREE).figure

    def write_half(self, file, **options) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", write_half)
    with pytest.raises(OSError, match="No space"):
        save_figure(figure, path)
    assert list(tmp_path.iterdir()) == []
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space"):
        save_figure(figure, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_where_figures_cannot_be_saved(tmp_path: Path) -> None:
    figure = Figure()
    with pytest.raises(ParameterError, match=r"path must end in .png, .svg, .pdf, but is 'plot.bmp'"):
        save_figure(figure, "plot.bmp")
    with pytest.raises(FileNotFoundError):
        save_figure(figure, tmp_path / "missing" / "plot.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(OSError, match=r"folder\.png"):
        save_figure(figure, tmp_path / "folder.png")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder.png"]


def test_a_second_curve_keeps_the_unit_named_by_the_first():
    d = AsymmetricLaplace([10.0, 20.0], 4.0, 0.8)
    ax = plot_hazard(d[:1], unit="weeks", labels=["first"])
    plot_hazard(d[1:], ax=ax, labels=["second"])
    assert ax.get_xlabel() == "time (weeks)"
    assert ax.get_ylabel() == "hazard (1/weeks)"
