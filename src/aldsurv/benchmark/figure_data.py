"""The numbers that the figures of a benchmark show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import REFERENCE_MODEL, Results
from aldsurv.benchmark.statistics import FloatArray, as_loss, distance_from, run_summary
from aldsurv.benchmark.view import View, sorted_datasets, sorted_models
from aldsurv.datasets import describe
from aldsurv.metrics.calibration.event_levels import CalibrationPoints

__all__ = [
    "CalibrationExample",
    "Spread",
    "calibration_extremes",
    "figure_curves",
    "figure_values",
    "published_figure_values",
]

# Means and standard deviations, one of each per dataset.
Spread = tuple[list[float], list[float]]


class CalibrationExample(NamedTuple):
    """A model's calibration curve on one dataset: expected (k,) and observed (runs, k) shares."""

    dataset: str
    expected: FloatArray
    observed: FloatArray

    @property
    def distance(self) -> float:
        """``|1 - slope| + |intercept|`` of the line through the means over runs."""
        line = CalibrationPoints(self.expected, self.observed.mean(axis=0)).line
        return abs(1 - line.slope) + abs(line.intercept)


def figure_values(results: Results, metric: str, *, view: View | None = None) -> tuple[list[str], dict[str, Spread]]:
    """Datasets, and for each model the mean and standard deviation on each; NaN where there are no results.

    Slopes are drawn as ``|1 - slope|`` and intercepts as ``|intercept|`` of the runs, other metrics unchanged.
    """
    chosen = (view or View()).series(results)
    datasets = sorted_datasets(dataset for dataset, _ in chosen)
    drawn: dict[str, Spread] = {}
    for model in sorted_models(model for _, model in chosen):
        series = [chosen.get((dataset, model)) for dataset in datasets]
        runs = (np.empty(0) if one is None else results.by_seed(one, metric) for one in series)
        summaries = [run_summary(_as_drawn(metric, values)) for values in runs]
        drawn[model] = [one.mean for one in summaries], [one.sd for one in summaries]
    return datasets, drawn


def published_figure_values(metric: str, datasets: Sequence[str]) -> dict[str, Spread]:
    """The same for the published numbers; distances of slopes and intercepts are those of the means."""
    printed = published_results()
    drawn: dict[str, Spread] = {}
    for model in PAPER_MODELS:
        pairs = [printed.get((dataset, model, metric), (np.nan, np.nan)) for dataset in datasets]
        drawn[model] = [float(_as_drawn(metric, mean)) for mean, _ in pairs], [sd for _, sd in pairs]
    return drawn


def figure_curves(
    results: Results, dataset: str, kind: str, *, view: View | None = None
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Calibration curves of a dataset by model: expected (k,) and observed (runs, k).

    Parameters
    ----------
    results, dataset
        The results, and the name of the dataset.
    kind
        ``"survival"`` or ``"density"``.
    view
        Which series; None for the paper's.
    """
    chosen = (view or View()).series(results)
    drawn: dict[str, tuple[FloatArray, FloatArray]] = {}
    for model in sorted_models(model for _, model in chosen):
        series = chosen.get((dataset, model))
        curves = [curve for curve in results.curves if curve.series == series and curve.kind == kind]
        if curves:
            drawn[model] = np.array(curves[0].expected), np.array([curve.observed for curve in curves])
    return drawn


def calibration_extremes(
    results: Results, kind: str, *, model: str = REFERENCE_MODEL, view: View | None = None
) -> tuple[CalibrationExample, CalibrationExample] | None:
    """The real datasets on which a model's calibration line is nearest to the diagonal and furthest from it.

    Parameters
    ----------
    results, kind, view
        As in `figure_curves`.
    model
        Whose curves.

    Returns
    -------
    tuple or None
        Least and largest `CalibrationExample.distance`; None unless there are two real datasets with curves.
    """
    examples = []
    for dataset in sorted_datasets(name for name, _ in (view or View()).series(results)):
        curve = figure_curves(results, dataset, kind, view=view).get(model)
        if curve is not None and describe(dataset).kind != "synthetic":
            examples.append(CalibrationExample(dataset, *curve))
    examples = [example for example in examples if np.isfinite(example.distance)]
    if len(examples) < 2:
        return None
    ordered = sorted(examples, key=lambda example: example.distance)
    return ordered[0], ordered[-1]


def _as_drawn(metric: str, values: ArrayLike) -> FloatArray:
    return np.asarray(values, np.float64) if distance_from(metric) is None else as_loss(metric, values)
