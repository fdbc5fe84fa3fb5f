"""``aldsurv evaluate``: how well a model predicts the rows of a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import click

from aldsurv.cli.causes.cause_scores import ANY_CAUSE, CauseScores, cause_lines, score_cause
from aldsurv.cli.causes.chosen_cause import cause_option, chosen_causes
from aldsurv.cli.evaluate.evaluation_notes import row_notes, score_notes
from aldsurv.cli.evaluate.table_predictions import TablePredictions, predict_table, read_training_rows
from aldsurv.cli.scores.metric_scores import Score, score_all, score_calibration, score_metric
from aldsurv.cli.scores.metric_settings import MetricSettings, metric_options, without_few_resamples
from aldsurv.cli.scores.metric_table import MetricLine, cens_dcal_hint, metric_table, shown_metrics
from aldsurv.cli.shared.command_options import cluster_option, json_option, parse_numbers, quiet_option
from aldsurv.cli.shared.input_files import time_unit
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.number_text import format_count, format_limits, format_number, format_p_value, json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options
from aldsurv.cli.shared.text_layout import paragraph, printable
from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["evaluate"]


@final
@dataclass(frozen=True)
class _Evaluation:
    """Scores of a model on the rows of a table.

    Attributes
    ----------
    predictions, settings
        What is scored, and how.
    metrics
        Scores by name, in the order in which they are printed.
    brier_skill
        Share of Kaplan-Meier's integrated Brier score that the model saves.
    cens_dcal_by_chance
        What CensDcal would be by chance.
    times
        Further metrics at times that were asked for.
    causes
        Scores of the incidence of each cause.
    cause
        The cause that was asked for; None for all, and the first event of any.
    """

    predictions: TablePredictions
    settings: MetricSettings
    metrics: Mapping[str, Score]
    brier_skill: float
    cens_dcal_by_chance: float
    times: Mapping[float, Mapping[str, Score]]
    causes: Sequence[CauseScores] = ()
    cause: str | None = None

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        predictions, rows, settings = self.predictions, self.predictions.rows, self.settings
        return {
            "model": predictions.path,
            "kind": type(predictions.model).__name__,
            "table": str(predictions.table.path),
            "rows": len(rows),
            "events": rows.n_events,
            "summary": rows.summary(),
            "unit": time_unit(predictions.model),
            "point": settings.error_point(predictions.model),
            "ranking_point": settings.ranking_point(predictions.model),
            "confidence": settings.confidence if settings.bootstrap else None,
            "bootstrap": settings.bootstrap,
            "metrics": {name: score._asdict() for name, score in self.metrics.items()},
            "brier_skill": self.brier_skill,
            "cens_dcal_by_chance": self.cens_dcal_by_chance,
            "times": [
                {"time": time, **{name: score._asdict() for name, score in scores.items()}}
                for time, scores in self.times.items()
            ],
            "causes": {scores.cause: scores.to_dict() for scores in self.causes} or None,
        }

    def lines(self) -> list[str]:
        """As a table."""
        predictions, settings, unit = self.predictions, self.settings, time_unit(self.predictions.model) or ""
        hints = {record.name: record.hint for record in METRICS.records()}
        if math.isfinite(self.brier_skill) and self.brier_skill < 1:
            reference = self.metrics["ibs"].value / (1 - self.brier_skill)
            hints["ibs"] = f"{hints['ibs']}, {reference:.3f} Kaplan-Meier"
        hints["cens_dcal"] = cens_dcal_hint(self.cens_dcal_by_chance)
        shown = shown_metrics(self.metrics, [self.metrics["log_likelihood"].value])
        lines = [_metric_line(name, self.metrics[name], hints[name]) for name in shown]
        for time, scores in self.times.items():
            at = f" at {plain_number(time)} {unit}".rstrip()
            lines += [_metric_line(name, score, hints[name], at) for name, score in scores.items()]
        kind = type(predictions.model).__name__
        confidence = settings.confidence if settings.bootstrap else None
        blocks = [cause_lines(scores, confidence, unit) for scores in self.causes]
        if self.cause is None:
            heading = [f"{ANY_CAUSE} ({format_count(predictions.rows.n_events, 'event')})"] if self.causes else []
            blocks.insert(0, [*heading, *metric_table(lines, confidence)])
        return [
            paragraph(printable(f"{predictions.path} ({kind}) on {predictions.table.path}")),
            paragraph(printable(predictions.rows.summary()), indent="  "),
            *(line for block in blocks for line in ("", *block)),
        ]


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@outcome_options
@reading_options
@cause_option("Only the scores of this cause.")
@click.option("--group", default=None, metavar="COLUMN", help="Also score each value of this column.")
@click.option(
    "--times",
    default=None,
    metavar="T,…",
    help="Also AUC, Brier score, ICI, calibration slope and observed/expected at these times.",
)
@metric_options(200)
@cluster_option()
@json_option()
@quiet_option("No notes, only the scores.")
def evaluate(
    model: str,
    table: str,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    cause: str | None,
    group: str | None,
    times: str | None,
    train: str | None,
    settings: MetricSettings,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure how well a model predicts the rows of a table.

    TABLE is a CSV, TSV, Parquet or Excel file with the columns that the
    model was trained on and those of the outcome. A model made by
    'aldsurv fit' has the names of the latter.

    A model with causes is scored by the first event of any cause, and
    by the incidence of each. For the latter, a person with an event of
    another cause never has one of this cause.

    TABLE can be a folder of Parquet files of any size: metrics are
    merged over its parts, without intervals. With more than five
    million rows, harrell_c and uno_c are computed from a sample, with a
    standard error.

    Intervals are computed by resampling the rows, those of calibration
    slope and observed/expected by their regressions. The model is not
    fitted again.

    \b
    Examples:
      aldsurv evaluate m.aldsurv t.csv
      aldsurv evaluate m.aldsurv t.csv \\
        --times 365,730 --group hospital
      aldsurv evaluate m.aldsurv t.csv \\
        --train train.csv --json
      aldsurv evaluate m.aldsurv t.csv \\
        --cause relapse
      aldsurv evaluate m.aldsurv big \\
        --cluster local:4
    """  # noqa: D301
    from aldsurv.cli.evaluate import parted_scores
    from aldsurv.cli.evaluate.group_scores import group_labels, group_lines, score_groups

    if Path(table).is_dir() or cluster is not None:
        parted_scores.refuse_options({"--cause": cause, "--group": group, "--times": times}, reading)
        with warnings_as_notes(quiet=quiet or as_json) as notes:
            scores = parted_scores.evaluate_folder(
                model, table, outcome, reading, train, settings, cluster=cluster, quiet=quiet or as_json
            )
        click.echo(json_text({**scores.to_dict(), "notes": notes}) if as_json else "\n".join(scores.lines()))
        return

    horizons = parse_numbers(times, "--times", above=True, example="365,730")
    if cause is not None and group is not None:
        raise ParameterError(
            "--group cannot be combined with --cause: groups are compared by the first event of any cause."
        )
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        predictions = predict_table(model, table, outcome, reading)
        causes = _scored_causes(predictions, cause)
        labels = None if group is None else group_labels(table, group, reading)
        training_rows = read_training_rows(train, predictions, outcome, reading)
        for note in row_notes(predictions, has_train=train is not None):
            notes.add(note)
        settings = without_few_resamples(settings, predictions.rows)
        evaluation = _evaluate(predictions, training_rows, settings, horizons)
        for note in [] if cause is not None else score_notes(predictions, evaluation.metrics, settings):
            notes.add(note)
        if predictions.incidence is not None:
            by_cause = [
                score_cause(
                    predictions.model, predictions.incidence, predictions.rows, training_rows, settings, each,
                    times=horizons,
                )
                for each in causes
            ]  # fmt: skip
            evaluation = replace(evaluation, causes=by_cause, cause=cause)
        groups = None
        if labels is not None:
            groups = score_groups(predictions, labels, training_rows, settings, column=str(group))
    if as_json:
        by_group = {} if groups is None else {"by_group": groups.to_dict()}
        click.echo(json_text({**evaluation.to_dict(), **by_group, "notes": notes}))
    else:
        by_group_lines = [] if groups is None else ["", *group_lines(groups, time_unit(predictions.model))]
        click.echo("\n".join([*evaluation.lines(), *by_group_lines]))


def _scored_causes(predictions: TablePredictions, cause: str | None) -> tuple[str, ...]:
    """The causes to score, if the model and the rows have any."""
    causes = chosen_causes(predictions.model, cause)
    if cause is not None and predictions.incidence is None:
        raise ParameterError(
            f"--cause {quoted(cause)} needs rows with causes, but these have events of one kind. Name the values of "
            'the causes, as by --event-values "1=relapse,2=death".'
        )
    return causes


def _evaluate(
    predictions: TablePredictions, train: SurvivalData, settings: MetricSettings, times: Sequence[float]
) -> _Evaluation:
    from aldsurv import metrics

    rows, predicted = predictions.rows, predictions.predicted
    scores = score_all(predictions.model, predicted, rows, train, settings)
    scores["d_calibration"] = Score(metrics.d_calibration(predicted, rows).p_value)
    scores |= score_calibration(predicted, rows, settings)
    at_times = {
        time: {
            "auc": score_metric("auc", predicted, rows, train, settings, times=[time]),
            "brier": score_metric("brier", predicted, rows, train, settings, times=[time]),
            "ici": score_metric("ici", predicted, rows, None, settings, time=time),
            **score_calibration(predicted, rows, settings, time=time),
        }
        for time in times
    }
    return _Evaluation(
        predictions,
        settings,
        {name: scores[name] for name in METRICS if name in scores},
        _brier_skill(predictions, train, scores["ibs"].value),
        metrics.censored_d_calibration_by_chance(predicted, rows),
        at_times,
    )


def _brier_skill(predictions: TablePredictions, train: SurvivalData, score: float) -> float:
    """Share of the integrated Brier score of Kaplan-Meier that the model saves."""
    from aldsurv import metrics

    if math.isnan(score):
        return math.nan
    with warnings.catch_warnings():
        # The score itself has warned of times that are left out.
        warnings.simplefilter("ignore", UserWarning)
        return metrics.brier_skill_score(predictions.predicted, predictions.rows, train=train)


def _metric_line(name: str, score: Score, hint: str, at: str = "") -> MetricLine:
    value = format_p_value(score.value) if name == "d_calibration" else format_number(score.value)
    return MetricLine(METRICS[name].title + at, value, format_limits(score.lower, score.upper), hint)
