"""``aldsurv compare``: several models on the same rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.compare.comparison import Differences, paired, table_of_differences, table_of_models, verdict
from aldsurv.cli.evaluate.evaluation_notes import notes_on_figures, notes_on_rows
from aldsurv.cli.evaluate.scored_table import Evaluated, evaluated_rows, measure, training_rows
from aldsurv.cli.shared.metric_lines import FIGURES, as_json, paragraph, shown_figures
from aldsurv.cli.shared.metric_settings import MetricSettings, metric_options, resampled_if_many
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.outcome import OutcomeColumns, outcome_of, outcome_options
from aldsurv.cli.shared.text_layout import printable
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["compare"]


@click.command()
@click.argument("files", nargs=-1, metavar="MODEL MODEL... TABLE")
@outcome_options
@metric_options(500)
@click.option("--json", "print_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="No notes, only the figures.")
def compare(
    files: tuple[str, ...],
    outcome: OutcomeColumns,
    train: str | None,
    settings: MetricSettings,
    print_json: bool,
    quiet: bool,
) -> None:
    """Compare models by their predictions of the same rows.

    All are held against the first. What makes rows easy or hard for all of
    them cancels in the differences, which are therefore known far better
    than the figures themselves. p-values come from the same resamples as the
    intervals; with several models they are corrected for their number (Holm).

    TABLE must have rows that none of the models has learned from.

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
    *models, table = files
    names = _names(models)
    with warnings_as_notes(quiet=quiet or print_json) as notes:
        found = [evaluated_rows(path, table, outcome) for path in models]
        _require_one_outcome(found, outcome)
        rows = training_rows(train, found[0], outcome)
        for told in _all_notes(found, own_train=train is not None):
            warnings.warn(told, stacklevel=1)
        answer = _answer(names, found, rows, resampled_if_many(settings, found[0].rows))
    answer["notes"] = notes
    click.echo(as_json(answer) if print_json else _told(answer))


def _answer(names: list[str], found: list[Evaluated], train: SurvivalData, settings: MetricSettings) -> dict[str, Any]:
    rows = found[0].rows
    # Limits of the single figures would cost as much again; `evaluate` has them, and here the differences count.
    measured = [measure(one.predicted, rows, train, replace(settings, bootstrap=None)) for one in found]
    for one, figures in zip(found, measured, strict=True):
        for told in notes_on_figures(one, figures, settings):
            warnings.warn(f"{Path(one.path).name}: {told}", stacklevel=1)
    # A figure without a finite value for some model, as of left-censored rows, neither wins nor loses.
    known = [key for key in FIGURES if key in measured[0] and all(math.isfinite(one[key].value) for one in measured)]
    known = shown_figures(known, [one["log_likelihood"].value for one in measured])
    differences: Differences = {}
    if settings.bootstrap is not None:
        predictions = {name: one.predicted for name, one in zip(names, found, strict=True)}
        differences = paired(predictions, rows, train, settings, known)
    return {
        "table": str(found[0].table.path),
        "rows": len(rows),
        "events": rows.n_events,
        "summary": rows.summary(),
        "unit": next((unit for one in found if (unit := one.model.get_params().get("unit"))), None),
        "point": settings.point,
        "confidence": settings.confidence if settings.bootstrap else None,
        "bootstrap": settings.bootstrap,
        "models": [
            {
                "name": name,
                "path": one.path,
                "kind": type(one.model).__name__,
                "metrics": {key: figures[key].value for key in FIGURES if key in figures},
            }
            for name, one, figures in zip(names, found, measured, strict=True)
        ],
        "first": names[0],
        "differences": differences,
        "verdict": verdict(
            names,
            [{key: one.value for key, one in figures.items()} for figures in measured],
            differences,
            settings.confidence,
        ),
    }


def _told(answer: dict[str, Any]) -> str:
    kinds = ", ".join(f"{model['name']} ({model['kind']})" for model in answer["models"])
    lines = [
        paragraph(printable(f"{kinds} on {answer['table']}")),
        paragraph(answer["summary"], indent="  "),
        "",
        *table_of_models(answer["models"]),
    ]
    for name, found in answer["differences"].items():
        lines += ["", *table_of_differences(name, answer["first"], found, answer["confidence"])]
    return "\n".join([*lines, "", *(paragraph(sentence) for sentence in answer["verdict"])])


def _names(paths: list[str]) -> list[str]:
    """Names of the files without folder and ending where these tell the models apart."""
    stems = [Path(path).stem for path in paths]
    names = [printable(name) for name in (stems if len(set(stems)) == len(stems) else paths)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ParameterError(f"{quoted(twice)} is given more than once. Give each model once.")
    return names


def _require_one_outcome(found: list[Evaluated], given: OutcomeColumns) -> None:
    """Models are compared on one outcome."""
    first = outcome_of(found[0].model, given)
    for other in found[1:]:
        columns = outcome_of(other.model, given)
        if columns != first:
            told = [", ".join(f"{role} {quoted(name)}" for role, name in one.given.items()) for one in (first, columns)]
            raise ParameterError(
                f"{found[0].path!r} was trained with {told[0]}, but {other.path!r} with {told[1]}. "
                "Name the columns to compare by, such as --time months --event status."
            )


def _all_notes(found: list[Evaluated], *, own_train: bool) -> list[str]:
    """Notes on the rows, each once; those that are not of all models with the name of the file."""
    by_model = [notes_on_rows(one, own_train=own_train) for one in found]
    common = [note for note in by_model[0] if all(note in notes for notes in by_model)]
    special = [
        f"{Path(one.path).name}: {note}"
        for one, notes in zip(found, by_model, strict=True)
        for note in notes
        if note not in common
    ]
    return common + special
