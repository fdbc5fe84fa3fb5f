"""Running one cell of a benchmark: load the data, fit all seeds, evaluate each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from aldsurv.benchmark.paper.mixed_rows import mixed_rows
from aldsurv.benchmark.paper.published_evaluation import PublishedEvaluation, switches_of
from aldsurv.benchmark.paper.published_values import comparable, stored_values
from aldsurv.benchmark.plan import Cell
from aldsurv.benchmark.results import MASS_BELOW_ZERO, POINT_METRICS, Curve, Result, Series
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.benchmark.store import CellOutcome
from aldsurv.datasets import Dataset, load
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.metrics import concordance_harrell, concordance_uno, evaluate, mean_absolute_error
from aldsurv.metrics.calibration.event_levels import event_levels
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.models import SurvivalEstimator
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.registry import MODELS, PEERS

__all__ = ["fit_seeds", "run_cell", "split_of"]

_POINTS: tuple[Point, ...] = ("mean", "median", "mode")
_BINS = 10
_PERCENTILES = tuple(int(name.removeprefix("f0_p")) for name in MASS_BELOW_ZERO)


def run_cell(cell: Cell, **changes: Any) -> CellOutcome:
    """Results of all seeds of a cell; an error becomes part of the outcome, so that it does not stop other cells.

    Parameters
    ----------
    cell
        Which model, recipe, dataset and seeds.
    changes
        To the settings of the recipe.
    """
    try:
        with _one_thread(), warnings.catch_warnings():
            # What cannot be computed is recorded as NaN; the warnings of a thousand fits would go unread.
            warnings.simplefilter("ignore")
            return _run(cell, changes)
    except Exception as error:
        message = " ".join(str(error).split())
        return CellOutcome(cell, error=f"{type(error).__name__}: {message}"[:500])


def split_of(series: Series, seed: int) -> tuple[Dataset, Dataset]:
    """Training and test rows of one run."""
    definition = "printed" if series.definition == "real" else series.definition
    data = load(series.dataset, seed=seed, definition=definition)
    by, _, left_out = series.variant.partition(", without ")
    if left_out:
        kept = [k for k, name in enumerate(data.feature_names) if name != left_out]
        columns = tuple(data.feature_names[k] for k in kept)
        data = replace(data, x=data.x[:, kept], info=replace(data.info, feature_names=columns))
    return data.split(seed, by=by)


def _run(cell: Cell, changes: Mapping[str, Any]) -> CellOutcome:
    splits = [split_of(cell.series, seed) for seed in cell.seeds]
    start = time.perf_counter()
    models = fit_seeds(cell, [train for train, _ in splits], **changes)
    mixed = _fit_mixed(cell, [train for train, _ in splits], changes)
    trained = time.perf_counter()
    results: list[Result] = []
    curves: list[Curve] = []
    for seed, model, (train, test) in zip(cell.seeds, models, splits, strict=True):
        predicted = model.predict_distribution(test.x)
        values = _values(predicted, train, test)
        if comparable(cell.series):
            published = PublishedEvaluation(
                cell.series.model,
                predicted,
                train.y,
                test.y,
                truth=_true_mean(test),
                unit=_error_unit(train, test),
                mixed=mixed[seed].predict_distribution(test.x) if seed in mixed else None,
            )
            values |= {("", name): value for name, value in stored_values(published).items()}
        if isinstance(model, NeuralSurvival):
            values["", "epochs"] = float(np.mean(model.history_.best_epoch))
        results += [Result(cell.series, seed, point, metric, value) for (point, metric), value in values.items()]
        levels = event_levels(predicted, test.y)
        for kind, points in (("survival", levels.survival_points(_BINS)), ("density", levels.density_points(_BINS))):
            expected, observed = (tuple(float(share) for share in axis) for axis in points)
            curves.append(Curve(cell.series, seed, kind, expected, observed))
    seconds = trained - start, time.perf_counter() - trained
    return CellOutcome(cell, tuple(results), tuple(curves), None, *seconds)


def fit_seeds(cell: Cell, trains: list[Dataset], **changes: Any) -> list[SurvivalEstimator]:
    """A fitted estimator per seed, with `changes` to the settings of the recipe."""
    from aldsurv.models.neural.fitting.joint_fit import fit_together

    name, recipe = cell.series.model, cell.series.recipe
    kind: type[SurvivalEstimator] = (PEERS if name in PEERS else MODELS).load(name)
    parameters = kind.parameter_defaults()
    settings: dict[str, Any] = {"device": "cpu", "progress": False}
    if recipe == "paper":
        from aldsurv.models.paper_settings import paper_settings

        settings |= {"recipe": "paper", **paper_settings(name, cell.series.dataset)}
    settings = {setting: value for setting, value in (settings | changes).items() if setting in parameters}
    seeded = "random_state" in parameters
    models = [kind(**settings, **({"random_state": seed} if seeded else {})) for seed in cell.seeds]
    networks = [model for model in models if isinstance(model, NeuralSurvival)]
    if networks:
        return [*fit_together(networks, [(train.x, train.y) for train in trains])]
    return [model.fit(train.x, train.y) for model, train in zip(models, trains, strict=True)]


def _fit_mixed(cell: Cell, trains: list[Dataset], changes: Mapping[str, Any]) -> dict[int, SurvivalEstimator]:
    """LogNorm by seed, trained on the rows that its published loss amounts to; other models have none."""
    if not comparable(cell.series) or "mixed_rows" not in switches_of(cell.series.model, "ibs"):
        return {}
    # Twice the rows of a batch: an epoch then has as many steps as with the rows themselves.
    batch_size = 2 * MODELS.load(cell.series.model).RECIPES["paper"].batch_size
    models = fit_seeds(cell, [mixed_rows(train) for train in trains], **{"batch_size": batch_size, **changes})
    return dict(zip(cell.seeds, models, strict=True))


def _true_mean(test: Dataset) -> FloatArray | None:
    return None if test.truth is None else np.asarray(test.truth.mean())


def _error_unit(train: Dataset, test: Dataset) -> float:
    """Errors on real data are in standard deviations of all times of the dataset, as in the paper."""
    return 1.0 if test.truth is not None else float(np.concatenate([train.y.time, test.y.time]).std())


def _values(predicted: SurvivalDistribution, train: Dataset, test: Dataset) -> dict[tuple[str, str], float]:
    """Every metric by summary and name, and ``beyond``: the share of rows whose summary is infinite."""
    truth, unit = _true_mean(test), _error_unit(train, test)
    values: dict[tuple[str, str], float] = {}
    for point in _POINTS:
        estimate = point_estimate(predicted, test.y, point=point)
        # A curve that ends above one half has no median: its event is expected after the last training time.
        beyond = np.isinf(estimate)
        estimate = np.where(beyond, train.y.time.max(), estimate)
        values[point, "mae"] = mean_absolute_error(estimate, test.y, truth=truth, unit=unit)
        values[point, "harrell_c"] = concordance_harrell(estimate, test.y)
        values[point, "uno_c"] = concordance_uno(estimate, test.y, train=train.y)
        values[point, "beyond"] = float(beyond.mean())
    with warnings.catch_warnings():
        # Curves that end with the last event of training give later events probability 0: stored as -inf.
        warnings.filterwarnings("ignore", message="log_likelihood is -inf", category=UserWarning)
        scores = evaluate(predicted, test.y, train=train.y, ties="scikit-survival")
    for name, value in scores.items():
        if name not in (*POINT_METRICS, "bounded_log_likelihood"):
            values["", name] = value
    at_zero = np.asarray(predicted.cdf(0.0))
    for percent, value in zip(_PERCENTILES, np.percentile(at_zero, _PERCENTILES), strict=True):
        values["", f"f0_p{percent}"] = float(value)
    return {key: float(value) for key, value in values.items()}


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for matrix products: as fast for small ones, and the same bits on any number of cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
