"""What a reader of scores should know of the rows and the predictions behind them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aldsurv.checks import listed
from aldsurv.cli.scores.metric_scores import FEW_EVENTS, few_events_note, impossible_rows_note, infinite_times_note
from aldsurv.plain_numbers import plain_number

if TYPE_CHECKING:
    from aldsurv.cli.evaluate.table_predictions import TablePredictions
    from aldsurv.cli.scores.metric_scores import Score
    from aldsurv.cli.scores.metric_settings import MetricSettings

__all__ = ["row_notes", "score_notes"]

# Median times that differ by such a factor are probably in different units.
_OTHER_UNIT = 8.0


def row_notes(predictions: TablePredictions, *, has_train: bool) -> list[str]:
    """What to know of the rows."""
    rows, trained_on = predictions.rows, predictions.model.trained_on_
    notes = []
    events = int((~rows.right_censored).sum())
    if events < FEW_EVENTS:
        notes.append(few_events_note(events))
    if not has_train and not (rows.left_censored | rows.interval_censored).any():
        notes.append("the censoring is estimated from these rows; name the training rows by --train if you have them.")
    causes = predictions.model.causes_
    if causes is not None and rows.causes is None:
        notes.append(
            f"the model tells {listed(causes)} apart, but the rows do not: the scores are those of the first event of "
            "any cause. Name the values of the causes by --event-values."
        )
    bounds = np.concatenate([rows.lower, rows.upper])
    times = bounds[np.isfinite(bounds) & (bounds > 0)]
    training_times = predictions.model.unique_times_[predictions.model.unique_times_ > 0]
    if times.size and training_times.size:
        here, training = float(np.median(times)), float(np.median(training_times))
        if max(here / training, training / here) > _OTHER_UNIT:
            notes.append(
                f"the times of the table are around {plain_number(here, 3)}, those of training around "
                f"{plain_number(training, 3)}. Are they in another unit?"
            )
        last = training_times[-1]
        late = int(np.count_nonzero(rows.lower > last))
        if late:
            notes.append(
                f"{late} of {len(rows)} rows were followed beyond {plain_number(last, 4)}, the last time of training."
            )
    facts = (len(rows), rows.n_events, times.max() if times.size else None)
    if trained_on is not None and facts == (trained_on.rows, trained_on.events, trained_on.last_time):
        notes.append("this looks like the training table: metrics on training rows are optimistic.")
    return notes + _outside_notes(predictions)


def score_notes(predictions: TablePredictions, scores: Mapping[str, Score], settings: MetricSettings) -> list[str]:
    """Why scores are infinite, and what to do about it."""
    from aldsurv.metrics import point_estimate

    notes, rows = [], predictions.rows
    if math.isinf(scores["mae"].value):
        point = settings.error_point(predictions.model)
        times = point_estimate(predictions.predicted, rows, point=point)
        infinite = int(np.isinf(times).sum())
        notes.append(f"{infinite_times_note(point, infinite, len(rows))} Try --point restricted_mean.")
    if math.isinf(scores["log_likelihood"].value):
        notes.append(impossible_rows_note(predictions.predicted, rows, predictions.table))
    return notes


def _outside_notes(predictions: TablePredictions) -> list[str]:
    """How many rows have values that training had not shown."""
    features, table = predictions.model.innermost.features_, predictions.table
    if features is None:
        return []
    outside = features.outside({name: table.x[name] for name in features.names_in or table.x})
    if not outside.any():
        return []
    counts = outside.sum(axis=0)
    worst = [features.columns[j].name for j in counts.argsort()[::-1][:3] if counts[j]]
    return [
        f"values beyond those of training in {int(outside.any(axis=1).sum())} of {len(outside)} rows "
        f"(in {listed(worst)})."
    ]
