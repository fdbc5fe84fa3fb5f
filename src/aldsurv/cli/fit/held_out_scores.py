"""How well a model predicts rows that were held out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, final

import numpy as np

from aldsurv.cli.causes.cause_scores import CauseScores, score_cause
from aldsurv.cli.scores.metric_scores import (
    FEW_EVENTS,
    Score,
    few_events_note,
    impossible_rows_note,
    infinite_times_note,
    metric_warnings,
    score_calibration,
)
from aldsurv.cli.scores.metric_settings import MetricSettings
from aldsurv.cli.shared.notes import Notes
from aldsurv.errors import CensoringError
from aldsurv.models.neural.fitting.skill_check import HeldPart, gain_over_kaplan_meier, sampled_rows
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.metrics import BootstrapResult
    from aldsurv.metrics.point_estimates import Point, RankingPoint
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = ["CONFIDENCE", "HeldOutScores", "score_held_out", "split_table"]

CONFIDENCE = 0.95
_SAMPLES = 200


@final
@dataclass(frozen=True)
class HeldOutScores:
    """Metrics on rows that were held out.

    Attributes
    ----------
    rows, persons, events
        How many were held out; persons only of episodes, else None. Events count whether their time is exact or not.
    metrics
        By name, in the order in which they are printed.
    cens_dcal_by_chance
        What CensDcal would be by chance; NaN where it is not among them.
    causes
        Scores of the incidence of each cause, of a model that tells causes apart.
    """

    rows: int
    events: int
    metrics: dict[str, Score]
    cens_dcal_by_chance: float
    causes: tuple[CauseScores, ...] = ()
    persons: int | None = None


def split_table(table: Table, share: float, seed: int, notes: Notes) -> tuple[Table, Table | None]:
    """Training rows, and a random part as held-out rows, with the same share of events; None if there are too few.

    Parameters
    ----------
    table
        The rows.
    share
        How many to hold out; 0 for none.
    seed
        Of the random order.
    notes
        Gets the reason if there are too few.
    """
    unknown = "how well the model predicts is not known."
    if not share:
        return table, None
    if table.y is None or round(share * len(table)) < 2 or len(table) - round(share * len(table)) < 2:
        notes.add(f"too few rows ({len(table)}) to hold {percent(share)} out: {unknown}")
        return table, None
    train, test = table.split(share, random_state=seed)
    if not all(part.y is not None and part.y.upper.min() < math.inf for part in (train, test)):
        notes.add(f"too few events ({table.y.n_events}) to hold some out: {unknown}")
        return table, None
    return train, test


def score_held_out(model: SurvivalEstimator, train: Table, test: Table, seed: int, notes: Notes) -> HeldOutScores:
    """The metrics of `aldsurv.metrics.evaluate`; the log-likelihood alone where others have no definition.

    Metrics of one time per row use the time that the model predicts, or by which it ranks rows.
    """
    from aldsurv import metrics
    from aldsurv.distributions.wrappers.covariate_path import along_paths

    if train.y is None or test.y is None:
        return HeldOutScores(len(test), 0, {}, math.nan)
    predicted, data = along_paths(model.predict_distribution(test.x), test.y)
    if data.group is not None and data.n_groups < 2:
        notes.add("all held-out rows are of one person: the intervals are too narrow for other persons.")
        data = data.with_group(None)
    error_point = cast("Point", model.error_point_)
    results: dict[str, BootstrapResult]
    try:
        with metric_warnings():
            results = dict(
                metrics.evaluate(
                    predicted,
                    data,
                    train=train.y,
                    point=error_point,
                    ranking_point=cast("RankingPoint", model.ranking_point_),
                    bootstrap=_SAMPLES,
                    confidence=CONFIDENCE,
                    random_state=seed,
                )
            )
    except CensoringError:
        only = metrics.bootstrap("log_likelihood", predicted, data, samples=_SAMPLES, random_state=seed)
        results = {"log_likelihood": only}
    if "mae" in results and math.isinf(float(results["mae"].value)):
        times = metrics.point_estimate(predicted, data, point=error_point)
        notes.add(infinite_times_note(error_point, int(np.isinf(times).sum()), len(data)))
    if math.isinf(float(results["log_likelihood"].value)):
        notes.add(impossible_rows_note(predicted, data, test))
        if "bounded_log_likelihood" not in results:
            results["bounded_log_likelihood"] = metrics.bootstrap(
                "bounded_log_likelihood", predicted, data, train=train.y, samples=_SAMPLES, random_state=seed
            )
    _note_no_skill(model, train, test, notes)
    settings = MetricSettings(None, _SAMPLES, CONFIDENCE, seed)
    given = {name: Score.of(result) for name, result in results.items()}
    given |= score_calibration(predicted, data, settings)
    scores = {name: given[name] for name in METRICS if name in given}
    by_chance = metrics.censored_d_calibration_by_chance(predicted, data) if "cens_dcal" in scores else math.nan
    causes: tuple[CauseScores, ...] = ()
    if model.causes_ is not None and data.causes is not None:
        incidence = model.predict_incidence(test.x)
        causes = tuple(score_cause(model, incidence, data, train.y, settings, cause) for cause in model.causes_)
    events = int((~data.right_censored).sum())
    if events < FEW_EVENTS:
        notes.add(few_events_note(events))
    persons = None if test.y.person is None else test.y.n_persons
    return HeldOutScores(len(test), events, scores, by_chance, causes, persons)


def _note_no_skill(model: SurvivalEstimator, train: Table, test: Table, notes: Notes) -> None:
    """Say that the held-out rows are predicted worse than by Kaplan-Meier, by more than chance explains."""
    chosen = test[sampled_rows(np.arange(len(test)))]
    if chosen.y is None or train.y is None:
        return
    gain = gain_over_kaplan_meier([HeldPart(model.predict_distribution(chosen.x), chosen.y, train.y)])
    if gain is not None and gain.mean < -gain.error:
        notes.add(
            f"the held-out rows are predicted worse than by Kaplan-Meier, which ignores all columns: their mean "
            f"log-likelihood is {plain_number(-gain.mean, 2)} lower. Give more rows, or drop columns that say nothing "
            "about the times."
        )
