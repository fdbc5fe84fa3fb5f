"""``aldsurv evaluate``: how well a model predicts the rows of a table."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.evaluate.evaluation_notes import notes_on_figures, notes_on_rows
from aldsurv.cli.evaluate.scored_table import Evaluated, Measured, evaluated_rows, measure, measure_one, training_rows
from aldsurv.cli.shared.metric_lines import (
    FIGURES,
    Line,
    as_json,
    chance_words,
    limits_text,
    metric_table,
    number_text,
    p_text,
    paragraph,
    shown_figures,
)
from aldsurv.cli.shared.metric_settings import MetricSettings, metric_options, resampled_if_many, times_of
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.outcome import OutcomeColumns, outcome_options
from aldsurv.cli.shared.text_layout import printable

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["evaluate"]


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@outcome_options
@click.option("--group", default=None, metavar="COLUMN", help="Also for each of its values, and which fares worst.")
@click.option("--times", default=None, metavar="T,…", help="Also AUC, Brier score and ICI at these times.")
@metric_options(200)
@click.option("--json", "print_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="No notes, only the figures.")
def evaluate(
    model: str,
    table: str,
    outcome: OutcomeColumns,
    group: str | None,
    times: str | None,
    train: str | None,
    settings: MetricSettings,
    print_json: bool,
    quiet: bool,
) -> None:
    """Tell how well a model predicts the rows of a table.

    TABLE is a CSV, TSV or Parquet file with the columns that the model was
    trained on and those of the outcome. Where the model was made by
    'aldsurv fit', it knows the names of the latter.

    Intervals come from drawing the rows again; the model stays as it is.

    \b
    Examples:
      aldsurv evaluate m.aldsurv t.csv
      aldsurv evaluate m.aldsurv t.csv \\
        --times 365,730 --group hospital
      aldsurv evaluate m.aldsurv t.csv \\
        --train train.csv --json
    """  # noqa: D301
    from aldsurv.cli.evaluate.evaluation_groups import by_group, group_labels, group_lines

    asked = times_of(times)
    with warnings_as_notes(quiet=quiet or print_json) as notes:
        found = evaluated_rows(model, table, outcome)
        labels = None if group is None else group_labels(table, group)
        rows = training_rows(train, found, outcome)
        for told in notes_on_rows(found, own_train=train is not None):
            warnings.warn(told, stacklevel=1)
        settings = resampled_if_many(settings, found.rows)
        answer = _answer(found, rows, settings, asked)
        if labels is not None:
            answer["by_group"] = by_group(found, labels, rows, settings, column=str(group))
    answer["notes"] = notes
    if print_json:
        click.echo(as_json(answer))
        return
    lines = _told(answer, settings)
    if labels is not None:
        lines += ["", *group_lines(answer["by_group"])]
    click.echo("\n".join(lines))


def _answer(found: Evaluated, train: SurvivalData, settings: MetricSettings, times: Sequence[float]) -> dict[str, Any]:
    from aldsurv import metrics

    rows, predicted = found.rows, found.predicted
    measured = measure(predicted, rows, train, settings)
    for told in notes_on_figures(found, measured, settings):
        warnings.warn(told, stacklevel=1)
    measured["d_calibration"] = Measured(metrics.d_calibration(predicted, rows).p_value, math.nan, math.nan)
    horizons = []
    for time in times:
        at = {name: measure_one(name, predicted, rows, train, settings, times=[time]) for name in ("auc", "brier")}
        at["ici"] = measure_one("ici", predicted, rows, None, settings, time=time)
        horizons.append({"time": time, **{name: value._asdict() for name, value in at.items()}})
    return {
        "model": found.path,
        "kind": type(found.model).__name__,
        "table": str(found.table.path),
        "rows": len(rows),
        "events": rows.n_events,
        "summary": rows.summary(),
        "unit": found.model.get_params().get("unit"),
        "point": settings.point,
        "confidence": settings.confidence if settings.bootstrap else None,
        "bootstrap": settings.bootstrap,
        "metrics": {name: measured[name]._asdict() for name in FIGURES if name in measured},
        "brier_skill": _skill(found, train, measured["ibs"].value),
        "cens_dcal_by_chance": metrics.censored_d_calibration_by_chance(predicted, rows),
        "times": horizons,
    }


def _skill(found: Evaluated, train: SurvivalData, score: float) -> float:
    """Share of the integrated Brier score of Kaplan-Meier that the model saves."""
    from aldsurv import metrics

    if math.isnan(score):
        return math.nan
    with warnings.catch_warnings():
        # The score itself has said what is cut off.
        warnings.simplefilter("ignore", UserWarning)
        return metrics.brier_skill_score(found.predicted, found.rows, train=train)


def _told(answer: dict[str, Any], settings: MetricSettings) -> list[str]:
    words = {name: figure.help for name, figure in FIGURES.items()}
    skill, score = answer["brier_skill"], answer["metrics"]["ibs"]["value"]
    if math.isfinite(skill) and skill < 1:
        words["ibs"] = f"0 perfect, {score / (1 - skill):.3f} Kaplan-Meier"
    words["cens_dcal"] = chance_words(answer["cens_dcal_by_chance"])
    unit = answer["unit"] or ""
    shown = shown_figures(answer["metrics"], [answer["metrics"]["log_likelihood"]["value"]])
    lines = [_line(name, answer["metrics"][name], words[name]) for name in shown]
    for at in answer["times"]:
        when = f" at {at['time']:g} {unit}".rstrip()
        lines += [_line(name, at[name], words[name], when) for name in ("auc", "brier", "ici")]
    return [
        paragraph(printable(f"{answer['model']} ({answer['kind']}) on {answer['table']}")),
        paragraph(answer["summary"], indent="  "),
        "",
        *metric_table(lines, settings.confidence if settings.bootstrap else None),
    ]


def _line(name: str, found: dict[str, float], word: str, when: str = "") -> Line:
    value = p_text(found["value"]) if name == "d_calibration" else number_text(found["value"])
    return Line(FIGURES[name].name + when, value, limits_text(found["lower"], found["upper"]), word)
