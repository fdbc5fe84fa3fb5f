"""Figures of a benchmark for its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import numpy as np

from aldsurv.benchmark.display_names import dataset_title, metric_title, model_title
from aldsurv.benchmark.figure_data import Spread, figure_values, published_figure_values
from aldsurv.benchmark.ranking import rank_models
from aldsurv.benchmark.results import PAPER_METRICS, Results
from aldsurv.benchmark.statistics import FloatArray, distance_from
from aldsurv.benchmark.view import View
from aldsurv.datasets import load_split
from aldsurv.errors import AldsurvError
from aldsurv.plots import benchmark as plots
from aldsurv.reports.page.page_figures import Picture, picture_of

__all__ = [
    "metric_pictures",
    "ranking_pictures",
    "time_histograms",
]

# With a larger ratio of the largest mean to the smallest the axis is logarithmic.
_LOG_FROM = 100.0

ValueT = TypeVar("ValueT")


def metric_pictures(results: Results, view: View, folder: Path) -> tuple[Picture, ...]:
    """Means and standard deviations of each of the nine metrics, over datasets and models."""
    pictures = []
    for metric in PAPER_METRICS:
        datasets, values = figure_values(results, metric, view=view)
        if not datasets:
            continue
        ideal = distance_from(metric)
        title = metric_title(metric) if ideal is None else f"distance of {metric_title(metric)} from {ideal:g}"
        comparable = view.definition == "released" and view.variant == "row"
        ax = plots.plot_metric(
            [dataset_title(name) for name in datasets],
            _titled(values),
            label=title,
            published=_titled(published_figure_values(metric, datasets)) if comparable else None,
            log=_needs_log(values),
            least=None if ideal is None else 0.0,
        )
        published = "; published numbers are hollow" if comparable else ""
        caption = f"{title}: mean and standard deviation over the runs{published}."
        alt = f"{title} of {_titles(values)} on {len(datasets)} datasets. {_describe_medians(values)}"
        pictures.append(picture_of(ax.figure, folder, f"metric_{metric}", caption=caption, alt=alt))
    return tuple(pictures)


def ranking_pictures(results: Results, view: View, folder: Path) -> tuple[Picture, ...]:
    """Critical-difference diagrams of the nine metrics, where there are enough datasets and models."""
    pictures = []
    for metric in PAPER_METRICS:
        ranking = rank_models(results, metric, view=view)
        if np.isnan(ranking.critical_difference):
            continue
        title = metric_title(metric)
        ranks = {model_title(model): rank for model, rank in zip(ranking.models, ranking.mean_ranks, strict=True)}
        groups = [[model_title(model) for model in group] for group in ranking.groups]
        ax = plots.plot_critical_difference(ranks, ranking.critical_difference, groups=groups, title=title)
        caption = (
            f"{title}: mean ranks over {ranking.n_datasets} datasets, critical difference "
            f"{ranking.critical_difference:.2f}, Friedman's p {ranking.p_value:.2g}."
        )
        alt = f"Mean ranks by {title}: " + ", ".join(f"{model} {rank:.2f}" for model, rank in ranks.items()) + "."
        pictures.append(picture_of(ax.figure, folder, f"ranks_{metric}", caption=caption, alt=alt))
    return tuple(pictures)


def time_histograms(dataset: str, folder: Path) -> tuple[Picture, ...]:
    """Times of both parts of a dataset; none if its file is not available."""
    try:
        train, test = load_split(dataset)
    except (AldsurvError, OSError):
        return ()
    parts = {name: (part.y.time, part.y.event) for name, part in (("training part", train), ("test part", test))}
    unit, title = train.info.unit, dataset_title(dataset)
    figure = plots.time_histogram_figure(parts, density=True, unit=unit)
    quartiles = np.quantile(train.y.time, [0.25, 0.5, 0.75])
    caption = (
        f"Times in {title} ({unit}), split of seed 0. The line is a kernel density estimate of all times, events and "
        "censored, in subjects per bin: Gaussian kernel, Scott's bandwidth, reflected at 0."
    )
    alt = f"Histograms of times in {title}. Quartiles of the training part: "
    alt += ", ".join(f"{value:.0f}" for value in quartiles) + f" {unit}; longest {train.y.time.max():.0f}."
    return (picture_of(figure, folder, f"times_{dataset}", caption=caption, alt=alt),)


def _titled(by_model: Mapping[str, ValueT]) -> dict[str, ValueT]:
    return {model_title(model): value for model, value in by_model.items()}


def _titles(models: Iterable[str]) -> str:
    return ", ".join(model_title(model) for model in models)


def _describe_medians(values: Mapping[str, Spread]) -> str:
    """Median of each model over the datasets, for readers who cannot see the figure."""
    means = {model: _finite_means(spread) for model, spread in values.items()}
    medians = [f"{model_title(model)} {np.median(finite):.3f}" for model, finite in means.items() if finite.size]
    return f"Median over datasets: {', '.join(medians)}." if medians else ""


def _needs_log(values: Mapping[str, Spread]) -> bool:
    means = np.concatenate([_finite_means(spread) for spread in values.values()])
    return means.size > 0 and bool(means.min() > 0 and means.max() > _LOG_FROM * means.min())


def _finite_means(spread: Spread) -> FloatArray:
    means = np.asarray(spread[0], np.float64)
    return means[np.isfinite(means)]
