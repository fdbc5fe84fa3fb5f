"""Metrics of what a model predicts for one of several causes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from aldsurv.cli.scores.metric_scores import Score, metric_warnings, score_calibration, score_metric
from aldsurv.cli.scores.metric_table import MetricLine, metric_table
from aldsurv.cli.shared.number_text import format_count, format_limits, format_number
from aldsurv.cli.shared.text_layout import paragraph, printable
from aldsurv.plain_numbers import plain_number
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.cli.scores.metric_settings import MetricSettings
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import CompetingDistribution
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["ANY_CAUSE", "CauseScores", "cause_lines", "score_cause"]

# The heading of scores that do not depend on causes.
ANY_CAUSE = "First event of any cause"
# At times that are asked for.
_AT_TIMES = ("auc", "brier", "ici")


@final
@dataclass(frozen=True)
class CauseScores:
    """Scores of the predicted incidence of one cause.

    Attributes
    ----------
    cause, events
        Its name, and its events among the rows.
    metrics
        By name, in the order in which they are printed; empty without events.
    times
        Further metrics at times that were asked for.
    brier_skill
        Share of the integrated Brier score of Aalen-Johansen, which ignores all columns, that the model saves.
    """

    cause: str
    events: int
    metrics: Mapping[str, Score]
    times: Mapping[float, Mapping[str, Score]]
    brier_skill: float = math.nan

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "events": self.events,
            "metrics": {name: score._asdict() for name, score in self.metrics.items()},
            "brier_skill": self.brier_skill,
            "times": [
                {"time": time, **{name: score._asdict() for name, score in scores.items()}}
                for time, scores in self.times.items()
            ],
        }


def score_cause(
    model: SurvivalEstimator,
    predicted: CompetingDistribution,
    rows: SurvivalData,
    train: SurvivalData,
    settings: MetricSettings,
    cause: str,
    *,
    times: Sequence[float] = (),
) -> CauseScores:
    """The scores of one cause; without events of it there are none.

    Parameters
    ----------
    model, predicted, rows
        The model, its predictions and the outcomes of the same rows.
    train
        Rows that the censoring is estimated from.
    settings
        By which times rows are ranked, and of the limits.
    cause
        Name of the cause.
    times
        Times at which AUC, Brier score, ICI, calibration slope and observed/expected are wanted, too.
    """
    from aldsurv import metrics
    from aldsurv.metrics.evaluation import DEFAULT_METRICS

    events = rows.of_cause(cause).n_events
    if not events:
        return CauseScores(cause, 0, {}, {})
    with metric_warnings():
        results = metrics.evaluate(
            predicted,
            rows,
            train=train,
            metrics=[name for name in DEFAULT_METRICS if METRICS[name].causes == "each"],
            cause=cause,
            ranking_point=settings.ranking_point(model),
            bootstrap=settings.bootstrap,
            confidence=settings.confidence,
            random_state=settings.seed,
        )
    at_times: dict[float, dict[str, Score]] = {}
    for time in times:
        at_times[time] = {}
        for name in _AT_TIMES:
            record = METRICS[name]
            when: dict[str, object] = {"times": [time]} if record.time_argument == "times" else {"time": time}
            training = None if record.train == "unused" else train
            at_times[time][name] = score_metric(name, predicted, rows, training, settings, cause=cause, **when)
        at_times[time] |= score_calibration(predicted, rows, settings, time=time, cause=cause)
    given = {name: Score.of(result) for name, result in results.items()}
    given |= score_calibration(predicted, rows, settings, cause=cause)
    scores = {name: given[name] for name in METRICS if name in given}
    with warnings.catch_warnings():
        # The score itself has warned of times that are left out.
        warnings.simplefilter("ignore", UserWarning)
        skill = metrics.brier_skill_score(predicted, rows, train=train, cause=cause)
    return CauseScores(cause, events, scores, at_times, float(skill))


def cause_lines(scores: CauseScores, confidence: float | None, unit: str | None) -> list[str]:
    """A heading, and the metrics in aligned lines."""
    heading = printable(f"{scores.cause} ({format_count(scores.events, 'event')})")
    hints = {name: METRICS[name].hint for name in scores.metrics}
    if math.isfinite(scores.brier_skill) and scores.brier_skill < 1:
        reference = scores.metrics["ibs"].value / (1 - scores.brier_skill)
        hints["ibs"] = f"{hints['ibs']}, {reference:.3f} Aalen-Johansen"
    lines = [_line(name, score, hints[name]) for name, score in scores.metrics.items()]
    for time, at_time in scores.times.items():
        at = f" at {plain_number(time)} {unit or ''}".rstrip()
        lines += [_line(name, score, METRICS[name].hint, at) for name, score in at_time.items()]
    if not lines:
        return [paragraph(f"{heading}: without events there are no scores.")]
    return [paragraph(heading), *metric_table(lines, confidence)]


def _line(name: str, score: Score, hint: str, at: str = "") -> MetricLine:
    value = format_number(score.value) if math.isfinite(score.value) else "–"
    return MetricLine(METRICS[name].title + at, value, format_limits(score.lower, score.upper), hint)
