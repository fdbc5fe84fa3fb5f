"""``aldsurv monitor``: a model in use, watched over calendar periods."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aldsurv.cli.causes.chosen_cause import cause_option, chosen_causes
from aldsurv.cli.shared.command_options import force_option, json_option, out_option, quiet_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import PAGE, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from numpy.typing import NDArray


__all__ = ["monitor"]

_ALARM = 1


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@click.option("--by", required=True, metavar="COLUMN", help="Column of periods or dates, at which each row began.")
@click.option(
    "--period", type=click.Choice(["month", "quarter", "year"]), default=None, help="Length of periods  [month]"
)
@outcome_options
@reading_options
@cause_option("Only events of this cause.")
@click.option("--train", default=None, metavar="TABLE", help="Training rows to compare covariates with.")
@click.option(
    "--reference", default=1, show_default=True, metavar="N", help="Without --train: compare with the first N periods."
)
@click.option("--alpha", default=0.05, show_default=True, metavar="P", help="Probability of any false alarm.")
@click.option("--title", default=None, metavar="TEXT", help="Heading of the page.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the resamples for limits of C.")
@out_option("The page.", default="monitor.html")
@force_option()
@click.option("--fail-on-alarm", is_flag=True, help="Exit with 1 if there is an alarm.")
@json_option()
@quiet_option()
@click.pass_context
def monitor(
    ctx: click.Context,
    model: str,
    table: str,
    by: str,
    period: str | None,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    cause: str | None,
    train: str | None,
    reference: int,
    alpha: float,
    title: str | None,
    seed: int,
    out: Path,
    force: bool,
    fail_on_alarm: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Monitor MODEL over the calendar periods of TABLE.

    TABLE has the columns of training, the outcome so far, and the
    period or date at which each row began. For every period the page
    shows observed and expected events, calibration slope, C and the
    drift of covariates. Alarms are raised by sequential tests, which
    are valid at any time: while nothing changes, the probability of any
    alarm, ever, is at most --alpha.

    A row belongs to one period with its whole follow-up. A person
    followed over several periods needs a row in each, with --entry and
    --id.

    The exit code is 0 even if there is an alarm; with --fail-on-alarm
    it is 1, for scheduled jobs. The page is written in any case.

    \b
    Examples:
      aldsurv monitor m.aldsurv t.csv \\
        --by admitted
      aldsurv monitor m.aldsurv t.csv \\
        --by admitted --period quarter \\
        --train train.csv --json
      aldsurv monitor m.aldsurv t.csv \\
        --by month --fail-on-alarm --quiet
    """  # noqa: D301
    from aldsurv.cli.monitor.monitor_text import monitor_facts, monitor_text
    from aldsurv.cli.shared.error_text import errors_of_model
    from aldsurv.cli.shared.input_files import load_model, outcome_columns_in, read_model_table, require_events
    from aldsurv.cli.shared.notes import warnings_as_notes

    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    checked_output(out, PAGE, inputs=[model, table, train], force=force)
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        estimator = load_model(model)
        chosen_causes(estimator, cause)
        reading = reading_of(estimator, reading)
        with errors_of_model(model):
            # The format may be that of the periods alone.
            columns = outcome_columns_in(table, estimator, replace(outcome, date_format=None), reading)
            if columns.end and outcome.date_format:
                columns = replace(columns, date_format=outcome.date_format)
            rows = read_model_table(table, estimator, columns, reading)
            base = None if train is None else read_model_table(train, estimator, OutcomeColumns(), reading).x
        data = require_events(rows, columns)
        periods = _column(table, by, reading)
        # Imported here, so that a wrong name is an error at once.
        from aldsurv.cli.shared.error_text import errors_in_file
        from aldsurv.files.writing import write_text
        from aldsurv.monitoring import monitor_model
        from aldsurv.reports.monitoring.monitoring_page import monitoring_page
        from aldsurv.reports.page.page import render_page

        with errors_in_file(table):
            result = monitor_model(
                estimator,
                rows.x,
                data,
                by=periods,
                period=period,
                date_format=outcome.date_format or columns.date_format,
                reference=base,
                reference_periods=reference,
                alpha=alpha,
                cause=cause,
                random_state=seed,
            )
        described = {"model": printable(Path(model).name), "source": printable(Path(table).name)}
        heading = None if title is None else printable(title)
        page = write_text(out, render_page(monitoring_page(result, title=heading, **described)))
    to_stderr = is_standard_output(out)
    if as_json:
        facts = monitor_facts(result, model=model, table=table, page=page)
        click.echo(json_text({**facts, "notes": [*result.notes, *notes]}), err=to_stderr)
    elif not quiet:
        click.echo(monitor_text(result, model=model, table=table, page=page), err=to_stderr)
    if fail_on_alarm and result.alarms:
        ctx.exit(_ALARM)


def _column(path: str, name: str, reading: ReadingOptions) -> NDArray[Any]:
    """Values of a column, whatever else it is used for."""
    from aldsurv.cli.shared.error_text import errors_in_file
    from aldsurv.cli.shared.input_files import read_outcome_table
    from aldsurv.data.frame_columns import require_column

    whole = read_outcome_table(path, OutcomeColumns(), reading=reading)
    with errors_in_file(path):
        require_column(name, [column.name for column in whole.columns], "by")
    return whole.x[name]
