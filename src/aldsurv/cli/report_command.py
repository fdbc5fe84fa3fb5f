"""``aldsurv report``: one HTML page about a model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import (
    evaluation_times_option,
    force_option,
    json_option,
    naming_options,
    out_option,
    parse_numbers,
    quiet_option,
    train_option,
)
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import PAGE, PDF, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError
from aldsurv.quoting import printable, quoted

if TYPE_CHECKING:
    from aldsurv.columns.column_labels import ColumnLabels
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.reports.model.causes.cause_findings import CauseFindings
    from aldsurv.reports.model.model_page import ModelReport

__all__ = ["report", "report_unit"]

_UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")


@click.command()
@click.argument("model")
@click.argument("table")
@outcome_options
@reading_options
@train_option()
@evaluation_times_option()
@click.option("--group", default=None, metavar="COLUMN", help="Column of subgroups  [default: the most important]")
@click.option("--title", default=None, metavar="TEXT", help="Heading of the page.")
@naming_options
@click.option("--people", default=6, show_default=True, metavar="N", help="Number of single subjects shown, 1 to 10.")
@click.option("--rows", default=None, metavar="NUMBERS", help="Their row numbers, from 1, separated by commas.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed.")
@out_option("The page.", default="report.html")
@click.option(
    "--pdf",
    type=click.Path(path_type=Path, readable=False),
    default=None,
    metavar="FILE",
    help="Also print the page as PDF, through Chromium, Chrome or Edge.",
)
@force_option()
@json_option("Print the numbers on the page as JSON.")
@quiet_option()
def report(
    model: str,
    table: str,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    train: str | None,
    times: str | None,
    group: str | None,
    title: str | None,
    unit: str | None,
    event_name: str | None,
    labels: str | None,
    people: int,
    rows: str | None,
    seed: int,
    out: Path,
    pdf: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write an HTML report about MODEL and the rows of TABLE.

    TABLE (CSV, TSV, Parquet, Excel) has the columns of training and the
    outcome, preferably of rows that the model was not trained on. The
    page describes in plain words how well the predictions agree with
    the outcomes, which covariates they depend on, and their limits; for
    a model with causes, by cause. It is one self-contained file. A page
    of that name is replaced, any other file only with --force.

    \b
    Examples:
      aldsurv report model.aldsurv test.csv
      aldsurv report model.aldsurv test.csv --train train.csv --group sex
      aldsurv report model.aldsurv test.csv --times 12,36,60
      aldsurv report model.aldsurv test.csv --rows 3,17 --out two.html
      aldsurv report model.aldsurv test.csv --time months --event died
      aldsurv report model.aldsurv test.csv --labels labels.csv --event-name death
      aldsurv report model.aldsurv test.csv --pdf report.pdf --json > report.json
    """  # noqa: D301
    from aldsurv.cli.shared.group_columns import read_group_column, training_columns
    from aldsurv.cli.shared.input_files import (
        load_model,
        outcome_columns_in,
        read_model_table,
        read_training_table,
        require_events,
    )
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.files.writing import write_bytes, write_text

    horizons = parse_numbers(times, "--times", above=True, example="12,36,60")
    shown_rows = people if rows is None else _row_numbers(rows)
    inputs = [model, table, train, labels]
    checked_output(out, PAGE, inputs=inputs, force=force)
    browser = _checked_pdf(pdf, out, inputs=inputs, force=force)
    titles = None if labels is None else _read_labels(labels)
    with warnings_as_notes(quiet=quiet or as_json):
        estimator = load_model(model)
        columns = outcome_columns_in(table, estimator, outcome, reading)
        reading = reading_of(estimator, reading)
        data = read_model_table(table, estimator, columns, reading)
        observed = require_events(data, columns)
        values = None if group is None else read_group_column(group, data, columns, reading, "--group")
        training = None if train is None else read_training_table(train, estimator, training_columns(columns), reading)
        _check_shown_rows(shown_rows, len(data))
        if sys.stderr.isatty() and not quiet:
            click.echo(f"Looking at {len(data):,} rows; this takes some seconds.", err=True)
        from aldsurv.reports.model.model_page import model_report
        from aldsurv.reports.page.page import render_page
        from aldsurv.reports.page.pdf import printed_page

        result = model_report(
            estimator,
            data.x,
            observed,
            train=None if training is None else training.y,
            train_X=None if training is None else training.x,
            times=horizons or None,
            group=None if group is None or values is None else (group, values),
            people=shown_rows,
            title=None if title is None else printable(title),
            source=printable(Path(table).name),
            unit=unit or report_unit(estimator, columns),
            event_name=event_name,
            labels=titles,
            model_file=model,
            random_state=seed,
        )
        html = render_page(result.page)
        if pdf is not None:
            write_bytes(pdf, printed_page(html, browser))
        page = write_text(out, html)
    to_stderr = any(is_standard_output(path) for path in (out, pdf) if path is not None)
    if as_json:
        click.echo(json_text(_facts(result, page, pdf)), err=to_stderr)
    elif not quiet:
        for path in (page, *(() if pdf is None else (pdf,))):
            click.echo(printable(path), err=to_stderr)


def _checked_pdf(pdf: Path | None, out: Path, *, inputs: list[str | None], force: bool) -> str | None:
    """The browser that prints the page; an error before anything is done if it cannot be printed there."""
    if pdf is None:
        return None
    from aldsurv.reports.page.pdf import find_browser

    checked_output(pdf, PDF, inputs=inputs, force=force, option="--pdf")
    if pdf.absolute() == out.absolute() or (pdf.exists() and out.exists() and pdf.samefile(out)):
        raise ParameterError(f"--pdf and --out are the same file {str(pdf)!r}. Name another by --pdf.")
    return find_browser()


def _read_labels(path: str) -> ColumnLabels:
    from aldsurv.columns.column_labels import read_labels

    return read_labels(path)


def report_unit(model: SurvivalEstimator, columns: OutcomeColumns) -> str | None:
    """The name of the column of times if that is a unit, and the model has none."""
    has_unit = any(name.endswith("unit") and value for name, value in model.get_params().items())
    if has_unit:
        return None
    return columns.unit or (columns.time if columns.time and columns.time.lower() in _UNITS else None)


def _row_numbers(text: str) -> list[int]:
    """Row numbers from 0 on; they are typed from 1 on."""
    try:
        return [int(word) - 1 for word in text.split(",") if word.strip()]
    except ValueError:
        raise ParameterError(f"--rows must be row numbers with commas, such as 3,17, but is {quoted(text)}.") from None


def _check_shown_rows(chosen: int | list[int], length: int) -> None:
    """Raise `ParameterError` unless there are 1 to 10 of them, all in the table."""
    if isinstance(chosen, int):
        if not 1 <= chosen <= 10:
            raise ParameterError(f"--people must be a number from 1 to 10, but is {chosen}.")
        return
    if not 1 <= len(chosen) <= 10:
        raise ParameterError(f"--rows must be 1 to 10 row numbers, but are {len(chosen)}.")
    wrong = [row + 1 for row in chosen if not 0 <= row < length]
    if wrong:
        raise ParameterError(f"--rows must lie between 1 and {length}, the rows of the table, but one is {wrong[0]}.")


def _facts(report: ModelReport, page: Path, pdf: Path | None) -> dict[str, object]:
    """The numbers on the page, as JSON has them."""
    from aldsurv.reports.model.report_numbers import participant_numbers, risk_group_numbers, time_numbers

    findings, data = report.findings, report.subject.data
    return {
        "page": str(page),
        "pdf": None if pdf is None else str(pdf),
        "model": type(report.subject.model).__name__,
        "rows": len(report.subject.everything),
        "rows_used": len(data),
        "events": data.n_events,
        "metrics": {name: score.to_dict() for name, score in findings.scores.items()},
        "d_calibration_p": findings.d_calibration.p_value,
        "brier_skill": findings.skill,
        "coverage_80": findings.coverage.coverage,
        "probability_negative": findings.negative.mean(),
        "participants": participant_numbers(report.participants),
        "times": time_numbers(report.at_times),
        "risk_groups": risk_group_numbers(report.at_times),
        "causes": {each.cause: _cause_facts(each) for each in report.causes} or None,
        "cautions": [{"about": title.removesuffix("."), "text": text} for title, text in report.cautions],
        "unit": report.subject.unit,
        "event_name": report.subject.event,
        "intended_use": report.use.to_dict(),
        "specification": report.specification.to_dict(),
        "checklist": [each.to_dict() for each in report.checklist],
    }


def _cause_facts(cause: CauseFindings) -> dict[str, object]:
    return {
        "events": cause.events,
        "horizon": cause.horizon,
        "expected": cause.predicted,
        "observed": cause.observed,
        "observed_limits": cause.limits,
        "brier_skill": cause.skill,
        "metrics": {name: score.to_dict() for name, score in cause.scores.items()},
    }
