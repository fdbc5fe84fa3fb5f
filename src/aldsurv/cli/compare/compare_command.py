"""``aldsurv compare``: several models on the same rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from aldsurv.cli.causes.chosen_cause import cause_option, chosen_causes
from aldsurv.cli.compare.comparison import ComparedModel, compare_models, infinite_times
from aldsurv.cli.compare.comparison_text import comparison_facts, comparison_text
from aldsurv.cli.evaluate.evaluation_notes import row_notes, score_notes
from aldsurv.cli.evaluate.table_predictions import TablePredictions, predict_table, read_training_rows
from aldsurv.cli.scores.metric_settings import MetricSettings, metric_options, without_few_resamples
from aldsurv.cli.shared.command_options import json_option, quiet_option
from aldsurv.cli.shared.error_text import errors_of_model
from aldsurv.cli.shared.notes import Notes, warnings_as_notes
from aldsurv.cli.shared.number_text import format_count, json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of, outcome_options
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options
from aldsurv.cli.shared.text_layout import join_names, printable
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["compare"]


@click.command()
@click.argument("files", nargs=-1, metavar="MODEL MODEL... TABLE")
@outcome_options
@reading_options
@cause_option("Compare by the incidence of this cause.")
@metric_options(500)
@json_option()
@quiet_option("No notes, only the scores.")
def compare(
    files: tuple[str, ...],
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    cause: str | None,
    train: str | None,
    settings: MetricSettings,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare models by their predictions of the same rows.

    All are compared with the first. What makes rows easy or hard for all of
    them cancels in the differences, which are therefore known far better
    than the scores themselves. p-values come from the same resamples as the
    intervals; with several models they are corrected for their number (Holm).

    A score that is infinite for a model neither wins nor loses. Where a
    predicted time is infinite, errors of all models are by the mean time up
    to the last of the rows.

    Models with causes are compared by the first event of any cause, or by
    the incidence of one that --cause names.

    TABLE must have rows that none of the models was trained on.

    \b
    Examples:
      aldsurv compare \\
        cox.aldsurv ald.aldsurv test.csv
      aldsurv compare \\
        a.aldsurv b.aldsurv c.aldsurv \\
        test.csv --train train.csv --json
    """  # noqa: D301
    if len(files) < 3:
        raise click.UsageError(f"Give two models or more, and a table after them, but got {len(files)} of the three.")
    *paths, table = files
    names = _model_names(paths)
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        predictions = [predict_table(path, table, outcome, reading) for path in paths]
        _require_same_outcome(predictions, outcome)
        _require_cause(predictions, cause)
        # Whether persons were named does not change what is predicted: one of the models may know them.
        rows = next((one.rows for one in predictions if one.rows.group is not None), predictions[0].rows)
        predictions = [replace(one, rows=rows) for one in predictions]
        training_rows = read_training_rows(train, predictions[0], outcome, reading)
        for note in _common_and_special(predictions, has_train=train is not None):
            notes.add(note)
        settings = without_few_resamples(settings, predictions[0].rows)
        if cause is None:
            settings = _with_finite_times(settings, predictions, notes)
        models = [
            ComparedModel.score(name, one, training_rows, settings, cause)
            for name, one in zip(names, predictions, strict=True)
        ]
        for model in models if cause is None else []:
            for note in score_notes(model.predictions, model.metrics, settings):
                notes.add(f"{Path(model.predictions.path).name}: {note}")
        comparison = compare_models(models, training_rows, settings, cause)
    click.echo(json_text({**comparison_facts(comparison), "notes": notes}) if as_json else comparison_text(comparison))


def _with_finite_times(settings: MetricSettings, predictions: list[TablePredictions], notes: Notes) -> MetricSettings:
    """The settings; with the restricted mean of all models in place of times that are infinite for one.

    By such times rows are not ranked, either, where the model would do so: they are all tied.
    """
    counts = [infinite_times(one, settings) for one in predictions]
    infinite = [(one, count) for one, count in zip(predictions, counts, strict=True) if count]
    if not infinite:
        return settings
    rows = predictions[0].rows
    end = float(rows.time[rows.weights > 0].max())
    points = [settings.error_point(one.model) for one, _ in infinite]
    ranked = any(settings.ranking_point(one.model) == point for (one, _), point in zip(infinite, points, strict=True))
    parts = [
        f"{Path(one.path).name} predicts an infinite {point} for {count}"
        for (one, count), point in zip(infinite, points, strict=True)
    ]
    notes.add(
        f"{join_names(parts)} of {format_count(rows.n_events, 'event')}: the mean absolute error{' and C' * ranked} of "
        f"all models {'are' if ranked else 'is'} by the mean time up to {end:.4g}, the last time of the rows."
    )
    return replace(settings, point="restricted_mean") if ranked else replace(settings, error="restricted_mean")


def _model_names(paths: list[str]) -> list[str]:
    """Names of the files, without folder and ending where these are not needed to distinguish them."""
    stems = [Path(path).stem for path in paths]
    names = [printable(name) for name in (stems if len(set(stems)) == len(stems) else paths)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"{quoted(twice)} is given more than once. Give each model once.")
    return names


def _require_same_outcome(predictions: list[TablePredictions], given: OutcomeColumns) -> None:
    """Models are compared on one outcome."""
    first = replace(outcome_columns_of(predictions[0].model, given), id=None)
    for other in predictions[1:]:
        columns = replace(outcome_columns_of(other.model, given), id=None)
        if columns != first:
            texts = [
                ", ".join(f"{role} {quoted(name)}" for role, name in one.given.items()) for one in (first, columns)
            ]
            raise ParameterError(
                f"{predictions[0].path!r} was trained with {texts[0]}, but {other.path!r} with {texts[1]}. "
                "Name the columns to compare by, such as --time months --event status."
            )


def _require_cause(predictions: list[TablePredictions], cause: str | None) -> None:
    """Raise `ParameterError` unless every model predicts the cause, and the rows have it."""
    if cause is None:
        return
    for one in predictions:
        with errors_of_model(one.path):
            chosen_causes(one.model, cause)
    rows = predictions[0].rows
    if rows.causes is None:
        raise ParameterError(
            f"--cause {quoted(cause)} needs rows with causes, but these have events of one kind. Name the values of "
            'the causes, as by --event-values "1=relapse,2=death".'
        )
    if not rows.of_cause(cause).n_events:
        raise ParameterError(f"--cause {quoted(cause)} has no event in the {len(rows)} rows. Give rows that have some.")


def _common_and_special(predictions: list[TablePredictions], *, has_train: bool) -> list[str]:
    """Notes on the rows, each once; those that do not concern all models with the name of the file."""
    by_model = [row_notes(one, has_train=has_train) for one in predictions]
    common = [note for note in by_model[0] if all(note in notes for notes in by_model)]
    special = [
        f"{Path(one.path).name}: {note}"
        for one, notes in zip(predictions, by_model, strict=True)
        for note in notes
        if note not in common
    ]
    return common + special
