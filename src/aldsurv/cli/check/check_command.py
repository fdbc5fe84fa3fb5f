"""``aldsurv check``: what would be read of a table, what to look at, and the command to run next."""

from __future__ import annotations

from pathlib import Path

import click

from aldsurv.cli.shared.command_options import json_option, split_names
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options

__all__ = ["check"]


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@outcome_options
@reading_options
@click.option("--drop", default=None, metavar="COLUMNS", help="Columns to leave out, separated by commas.")
@click.option("--categorical", default=None, metavar="COLUMNS", help="Columns whose values are codes.")
@click.option("--unit", default=None, metavar="NAME", help="Unit of time, such as months; of dates, days.")
@json_option()
def check(
    table: Path,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    drop: str | None,
    categorical: str | None,
    unit: str | None,
    as_json: bool,
) -> None:
    """Show how TABLE is read; no model is fitted.

    The table is read as by 'aldsurv fit', whose options have the same
    meaning. The output shows the format of the file, every column with
    its use, the outcome, possible problems such as columns that give
    the outcome away, and the command to run next.

    Columns of the outcome that are not named are guessed by their names and
    values.

    The exit code is 2 if the table, or a column that was named, cannot
    be read.

    \b
    Examples:
      aldsurv check people.csv
      aldsurv check people.csv \\
        --time months --event status
      aldsurv check people.csv --json
    """  # noqa: D301
    # Imported here, so that help is shown at once.
    from aldsurv.cli.check import check_notes, check_text, table_check

    request = table_check.CheckRequest(table, outcome, reading, split_names(drop), split_names(categorical), unit)
    with warnings_as_notes(quiet=True) as notes:
        result = table_check.check_table(request)
        check_notes.add_notes(result, notes)
    if as_json:
        click.echo(json_text(check_text.check_facts(result, notes)))
    else:
        click.echo(check_text.check_text(result, notes))
    if result.problem is not None:
        raise result.problem
