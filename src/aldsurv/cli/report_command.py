"""``aldsurv report``: one page about a model, for people."""

from __future__ import annotations

import json
import math
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.shared.outcome import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import PAGE, checked_output, force_option, is_standard_output
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.quoting import printable, quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.reports.model.model_page import ModelReport
    from aldsurv.tables.table import Table

__all__ = ["report"]

_UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")


@click.command()
@click.argument("model")
@click.argument("table")
@outcome_options
@click.option("--train", default=None, metavar="TABLE", help="Training rows: the censoring is estimated from them.")
@click.option("--group", default=None, metavar="COLUMN", help="Column of the subgroups; else the most important ones.")
@click.option("--title", default=None, metavar="TEXT", help="Heading of the page.")
@click.option(
    "--unit", default=None, metavar="TEXT", help="Unit of time, such as months, if the model does not know it."
)
@click.option("--people", default=6, show_default=True, metavar="N", help="Single subjects shown, 1 to 10.")
@click.option("--rows", default=None, metavar="NUMBERS", help="Which ones: row numbers from 1, with commas.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Of all that is drawn at random.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, readable=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The page.",
)
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print the numbers on the page as JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def report(
    model: str,
    table: str,
    outcome: OutcomeColumns,
    train: str | None,
    group: str | None,
    title: str | None,
    unit: str | None,
    people: int,
    rows: str | None,
    seed: int,
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write one page about MODEL and the rows of TABLE, for people.

    TABLE (CSV, TSV or Parquet) has the columns of training and the outcome,
    preferably of people whom the model has not learned from. The page tells
    in plain words how well the predictions agree with what happened, what
    they depend on and what to be careful about. It is one file that needs
    no other and no network. A page of that name is replaced, any other
    file only with --force.

    \b
    Examples:
      aldsurv report model.aldsurv test.csv
      aldsurv report model.aldsurv test.csv --train train.csv --group sex
      aldsurv report model.aldsurv test.csv --rows 3,17 --out two.html
      aldsurv report model.aldsurv test.csv --time months --event died
    """  # noqa: D301
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.cli.shared.outcome import load_model, outcome_of, read_model_table, read_outcome_table

    chosen = _row_numbers(rows) if rows is not None else people
    checked_output(out, PAGE, inputs=[model, table, train], force=force)
    with warnings_as_notes(quiet=quiet or as_json):
        estimator = load_model(model)
        columns = outcome_of(estimator, outcome)
        found = read_model_table(table, estimator, columns)
        if found.y is None:
            raise DataError(f"{table!r} has no outcome to hold predictions against. Name --time and --event.")
        values = None if group is None else _group_values(group, found, table, columns)
        training = None if train is None else read_outcome_table(train, columns).y
        _check_people(chosen, len(found))
        if sys.stderr.isatty() and not quiet:
            click.echo(f"Looking at {len(found):,} rows; this takes some seconds.", err=True)
        from aldsurv.files.writing import write_text
        from aldsurv.reports.model.model_page import model_report
        from aldsurv.reports.page.page import render_page

        made = model_report(
            estimator,
            found.x,
            found.y,
            train=training,
            group=None if group is None else (group, values),
            people=chosen,
            title=None if title is None else printable(title),
            source=printable(Path(table).name),
            unit=unit or _unit(estimator, columns),
            random_state=seed,
        )
        page = write_text(out, render_page(made.page))
    aside = is_standard_output(out)
    if as_json:
        click.echo(json.dumps(_numbers(made, page), indent=2, allow_nan=False), err=aside)
    elif not quiet:
        click.echo(printable(page), err=aside)


def _unit(model: SurvivalEstimator, columns: OutcomeColumns) -> str | None:
    """The name of the column of times where that is a unit, and the model knows none."""
    known = any(name.endswith("unit") and value for name, value in model.get_params().items())
    return columns.time if not known and columns.time and columns.time.lower() in _UNITS else None


def _row_numbers(text: str) -> list[int]:
    """Row numbers from 0 on of those that were typed from 1 on."""
    try:
        return [int(word) - 1 for word in text.split(",") if word.strip()]
    except ValueError:
        raise ParameterError(f"--rows must be row numbers with commas, such as 3,17, but is {quoted(text)}.") from None


def _check_people(chosen: int | list[int], length: int) -> None:
    """Told in the words of the command line."""
    if isinstance(chosen, int):
        if not 1 <= chosen <= 10:
            raise ParameterError(f"--people must be a number from 1 to 10, but is {chosen}.")
        return
    if not 1 <= len(chosen) <= 10:
        raise ParameterError(f"--rows must be 1 to 10 row numbers, but are {len(chosen)}.")
    wrong = [row + 1 for row in chosen if not 0 <= row < length]
    if wrong:
        raise ParameterError(f"--rows must lie between 1 and {length}, the rows of the table, but one is {wrong[0]}.")


def _group_values(group: str, table: Table, path: str, columns: OutcomeColumns) -> NDArray[Any]:
    """Values of a column, be it one of the model's or not."""
    from aldsurv.checks import listed
    from aldsurv.cli.shared.outcome import read_outcome_table

    if group in table.x:
        return table.x[group]
    whole = read_outcome_table(path, columns).x
    if group not in whole:
        near = get_close_matches(group, whole, n=1)
        hint = f"Did you mean {quoted(near[0])}?" if near else f"Columns: {listed(list(whole), 12)}."
        raise UnknownNameError(
            f"--group names {quoted(group)}, which is no column of {path!r} beside the outcome. {hint}"
        )
    return whole[group]


def _numbers(made: ModelReport, page: Path) -> dict[str, Any]:
    findings, data = made.findings, made.subject.data
    return {
        "page": str(page),
        "model": type(made.subject.model).__name__,
        "rows": len(made.subject.everything),
        "rows_used": len(data),
        "events": data.n_events,
        "metrics": {
            name: {"value": _plain(score.value), "lower": _plain(score.lower), "upper": _plain(score.upper)}
            for name, score in findings.scores.items()
        },
        "d_calibration_p": _plain(findings.d_calibration.p_value),
        "brier_skill": _plain(findings.skill),
        "coverage_80": _plain(findings.coverage.coverage),
        "probability_negative": _plain(findings.negative.mean()),
        "cautions": [{"about": title.removesuffix("."), "text": text} for title, text in made.cautions],
    }


def _plain(value: Any) -> float | None:
    """A number that JSON can hold."""
    return float(value) if math.isfinite(value) else None
