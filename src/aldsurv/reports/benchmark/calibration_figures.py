"""Calibration curves of a benchmark with the lines through them: all datasets, and ALD's best and worst."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aldsurv.benchmark.display_names import dataset_title, model_title
from aldsurv.benchmark.figure_data import CalibrationExample, calibration_extremes, figure_curves
from aldsurv.benchmark.results import REFERENCE_MODEL, Results
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.benchmark.tables import NumberCell, format_cell
from aldsurv.benchmark.view import View, sorted_datasets
from aldsurv.metrics.calibration.event_levels import CalibrationPoints
from aldsurv.plots import benchmark as plots
from aldsurv.reports.page.page_figures import Picture, picture_of

__all__ = ["calibration_pictures", "extreme_calibration_pictures"]

_KINDS = {"survival": "Cal[S]", "density": "Cal[f]"}

Curves = Mapping[str, tuple[FloatArray, FloatArray]]


def calibration_pictures(results: Results, view: View, folder: Path) -> tuple[Picture, ...]:
    """Calibration curves and the lines through them, dataset by dataset."""
    pictures = []
    for dataset in sorted_datasets(name for name, _ in view.series(results)):
        curves = {kind: figure_curves(results, dataset, kind, view=view) for kind in _KINDS}
        if not any(curves.values()):
            continue
        title = dataset_title(dataset)
        titled = {kind: _titled(by_model) for kind, by_model in curves.items()}
        figure = plots.calibration_fit_figure(titled["survival"], titled["density"], title=title)
        caption = (
            f"Observed against expected shares on {title}: mean and standard deviation over the runs, and the line "
            "through the means. The dashed line is the ideal: slope 1, intercept 0."
        )
        alt = f"Calibration on {title}. " + " ".join(_describe_lines(kind, titled[kind]) for kind in _KINDS)
        pictures.append(picture_of(figure, folder, f"calibration_{dataset}", caption=caption, alt=alt))
    return tuple(pictures)


def extreme_calibration_pictures(results: Results, view: View, folder: Path) -> tuple[Picture, ...]:
    """The best and worst calibration lines of ALD on real data, if there are two real datasets."""
    found = {kind: calibration_extremes(results, kind, view=view) for kind in _KINDS}
    extremes = {kind: pair for kind, pair in found.items() if pair is not None}
    if len(extremes) < len(_KINDS):
        return ()
    rows = [
        [_panel(name, kind, pair[place]) for kind, pair in extremes.items()]
        for place, name in enumerate(("best", "worst"))
    ]
    model = model_title(REFERENCE_MODEL)
    caption = (
        f"Best and worst calibration of {model} on the real datasets of this run. For each of Cal[S] and Cal[f] these "
        "are the datasets with the least and the largest |1 − slope| + |intercept| of the line through the means over "
        "the runs. The paper shows TMBImmuno (Cal[S]) and LGGGBM (Cal[f]) as the best and SUPPORT as the worst."
    )
    alt = f"Calibration of {model}. " + " ".join(
        f"{title}: {_describe_lines(kind, curves)}"
        for row in rows
        for kind, (title, curves) in zip(extremes, row, strict=True)
    )
    figure = plots.calibration_examples_figure(rows)
    return (picture_of(figure, folder, "calibration_best_and_worst", caption=caption, alt=alt),)


def _panel(name: str, kind: str, example: CalibrationExample) -> tuple[str, Curves]:
    title = f"{name} {_KINDS[kind]}: {dataset_title(example.dataset)}"
    return title, {model_title(REFERENCE_MODEL): (example.expected, example.observed)}


def _titled(by_model: Curves) -> Curves:
    return {model_title(model): curve for model, curve in by_model.items()}


def _describe_lines(kind: str, curves: Curves) -> str:
    """Slope and intercept of each model, for readers who cannot see the figure."""
    lines = {name: CalibrationPoints(x, runs.mean(axis=0)).line for name, (x, runs) in curves.items()}
    parts = [
        f"{name} {' and '.join(format_cell(NumberCell(value, digits=2)) for value in line)}"
        for name, line in lines.items()
    ]
    return f"Slope and intercept of {_KINDS[kind]}: {', '.join(parts)}." if parts else ""
