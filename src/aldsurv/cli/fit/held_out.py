"""How well a model predicts rows that were held out, as numbers and as lines."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from aldsurv.cli.evaluate.evaluation_notes import note_on_endless_rows, note_on_impossible_rows
from aldsurv.cli.evaluate.scored_table import told_in_figures
from aldsurv.cli.shared.metric_lines import (
    FIGURES,
    Line,
    chance_words,
    limits_text,
    metric_table,
    number_text,
    shown_figures,
)
from aldsurv.errors import CensoringError

if TYPE_CHECKING:
    from aldsurv.metrics.point_estimates import Point
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = ["HeldOut", "Scored", "figure_lines", "figures", "part_rows"]

_SAMPLES = 200
_CONFIDENCE = 0.95


class Scored(NamedTuple):
    """A metric and its limits of 95 % confidence."""

    value: float
    lower: float
    upper: float


class HeldOut(NamedTuple):
    """Metrics by name, and what CensDcal would be by chance; NaN where it is not among them."""

    scores: dict[str, Scored]
    by_chance: float


def part_rows(table: Table, share: float, seed: int) -> tuple[Table, Table] | str:
    """A random training and held-out part with their share of the events, or why there is none.

    Parameters
    ----------
    table
        The rows.
    share
        How many to hold out.
    seed
        Of the random order.
    """
    if table.y is None or round(share * len(table)) < 2 or len(table) - round(share * len(table)) < 2:
        return f"too few rows ({len(table)}) to hold {100 * share:g} % out: how well the model predicts is not known."
    train, test = table.split(share, random_state=seed)
    if not all(part.y is not None and part.y.upper.min() < math.inf for part in (train, test)):
        return f"too few events ({table.y.n_events}) to hold some out: how well the model predicts is not known."
    return train, test


def figures(model: SurvivalEstimator, train: Table, test: Table, seed: int) -> HeldOut:
    """The metrics of `aldsurv.metrics.evaluate` by name; the log-likelihood alone where others have no definition.

    Those that look at one time a row look at the one that the model predicts, or by which it ranks rows.
    """
    from aldsurv import metrics

    if train.y is None or test.y is None:
        return HeldOut({}, math.nan)
    predicted, data = model.predict_distribution(test.x), test.y
    points = cast("tuple[Point, Point]", (model.ranking_point_, model.error_point_))
    options: dict[str, Any] = {"bootstrap": _SAMPLES, "confidence": _CONFIDENCE, "random_state": seed}
    found: dict[str, Any]
    try:
        with told_in_figures():
            found = dict(metrics.evaluate(predicted, data, train=train.y, point=points[0], **options))
        if points[1] != points[0]:
            found["mae"] = metrics.bootstrap(
                "mae", predicted, data, point=points[1], samples=_SAMPLES, level=_CONFIDENCE, random_state=seed
            )
    except CensoringError:
        only = metrics.bootstrap("log_likelihood", predicted, data, samples=_SAMPLES, random_state=seed)
        found = {"log_likelihood": only}
    if "mae" in found and math.isinf(found["mae"].value):
        estimate = metrics.point_estimate(predicted, data, point=points[1])
        warnings.warn(note_on_endless_rows(points[1], int(np.isinf(estimate).sum()), len(data)), stacklevel=2)
    if math.isinf(found["log_likelihood"].value):
        warnings.warn(note_on_impossible_rows(predicted, data), stacklevel=2)
        found.setdefault(
            "bounded_log_likelihood",
            metrics.bootstrap(
                "bounded_log_likelihood", predicted, data, train=train.y, samples=_SAMPLES, random_state=seed
            ),
        )
    named = {name: found[name] for name in FIGURES if name in found}
    by_chance = metrics.censored_d_calibration_by_chance(predicted, data) if "cens_dcal" in named else math.nan
    scores = {name: Scored(float(one.value), float(one.lower), float(one.upper)) for name, one in named.items()}
    return HeldOut(scores, by_chance)


def figure_lines(found: HeldOut) -> list[str]:
    """One line a metric: value, limits, and what is good."""
    log_likelihood = found.scores.get("log_likelihood")
    shown = shown_figures(found.scores, [] if log_likelihood is None else [log_likelihood.value])
    words = {name: FIGURES[name].help for name in found.scores} | {"cens_dcal": chance_words(found.by_chance)}
    lines = [
        Line(FIGURES[name].name, number_text(one.value), limits_text(one.lower, one.upper), words[name])
        for name, one in ((name, found.scores[name]) for name in shown)
    ]
    return metric_table(lines, _CONFIDENCE)
