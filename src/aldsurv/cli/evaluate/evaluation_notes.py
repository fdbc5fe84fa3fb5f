"""What a reader of figures should know of the rows and the predictions behind them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.cli.evaluate.scored_table import Evaluated, Measured
    from aldsurv.cli.shared.metric_settings import MetricSettings
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution

__all__ = ["note_on_endless_rows", "note_on_impossible_rows", "notes_on_figures", "notes_on_rows"]

_FEW_EVENTS = 50
_OTHER_UNIT = 8.0


def notes_on_rows(evaluated: Evaluated, *, own_train: bool) -> list[str]:
    """What a reader of the figures should know of the rows."""
    rows, trained_on = evaluated.rows, evaluated.model.trained_on_
    notes = []
    events = int((~rows.right_censored).sum())
    if events < _FEW_EVENTS:
        many = "1 event" if events == 1 else f"{events} events"
        notes.append(f"only {many}: the figures are uncertain, and their intervals too narrow.")
    if not own_train and not (rows.left_censored | rows.interval_censored).any():
        notes.append("the censoring is estimated from these rows themselves; with --train from those of training.")
    known = np.concatenate([rows.lower, rows.upper])
    known = known[np.isfinite(known) & (known > 0)]
    trained = np.asarray(vars(evaluated.model).get("unique_times_", []), float)
    trained = trained[trained > 0]
    if known.size and trained.size:
        here, there = float(np.median(known)), float(np.median(trained))
        if max(here / there, there / here) > _OTHER_UNIT:
            notes.append(
                f"the times of the table are around {here:.3g}, those of training around {there:.3g}. "
                "Are they in another unit?"
            )
        late = int(np.count_nonzero(rows.lower > trained[-1]))
        if late:
            notes.append(
                f"{late} of {len(rows)} rows were followed beyond {trained[-1]:.4g}, the last time of training."
            )
    seen = (len(rows), rows.n_events, known.max() if known.size else None)
    if trained_on is not None and seen == (trained_on.rows, trained_on.events, trained_on.last_time):
        notes.append("this looks like the training table: metrics on training rows are optimistic.")
    return notes + _unlike_training(evaluated)


def notes_on_figures(evaluated: Evaluated, found: dict[str, Measured], settings: MetricSettings) -> list[str]:
    """Why figures are infinite, and what to do about it."""
    from aldsurv.metrics import point_estimate

    notes, rows = [], evaluated.rows
    if math.isinf(found["mae"].value):
        endless = np.isinf(point_estimate(evaluated.predicted, rows, point=settings.point))  # type: ignore[arg-type]
        notes.append(
            f"{note_on_endless_rows(settings.point, int(endless.sum()), len(rows))} Try --point restricted_mean."
        )
    if math.isinf(found["log_likelihood"].value):
        notes.append(note_on_impossible_rows(evaluated.predicted, rows))
    return notes


def note_on_endless_rows(point: str, endless: int, rows: int) -> str:
    """Why the mean absolute error is not finite."""
    return (
        f"the {point.replace('_', ' ')} of {endless} of {rows} rows is infinite, and with it the mean absolute error: "
        "their curves end before."
    )


def note_on_impossible_rows(predicted: SurvivalDistribution, rows: SurvivalData) -> str:
    """Why the log-likelihood is not finite, and which number is."""
    from aldsurv.metrics.error.log_likelihood import log_likelihood_rows

    impossible = int(np.isneginf(log_likelihood_rows(predicted, rows)).sum())
    return (
        f"{impossible} of {len(rows)} rows were held impossible, as events after the last step of a curve, or where "
        "it has none: the log-likelihood is not finite. The bounded one mixes 1 % of an exponential distribution into "
        "each prediction."
    )


def _unlike_training(evaluated: Evaluated) -> list[str]:
    kept = vars(evaluated.model)
    features = kept.get("features_") or getattr(kept.get("design_"), "features", None)
    if features is None:
        return []
    outside = features.outside(evaluated.table.x)
    if not outside.any():
        return []
    counts = outside.sum(axis=0)
    worst = [evaluated.table.feature_names[j] for j in counts.argsort()[::-1][:3] if counts[j]]
    return [
        f"{int(outside.any(axis=1).sum())} of {len(outside)} rows have values beyond those of training "
        f"(in {', '.join(map(quoted, worst))})."
    ]
