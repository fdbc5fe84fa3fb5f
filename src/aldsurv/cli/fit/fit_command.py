"""``aldsurv fit``: learn from a table, score rows that are held out, and save the model."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import (
    CommandWithRecords,
    cluster_option,
    force_option,
    json_option,
    out_option,
    quiet_option,
    split_names,
)
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import MODEL, PAGE, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from aldsurv.cli.fit.fit_request import FitRequest

__all__ = ["fit"]

_INTERRUPTED = 130


@click.command(cls=CommandWithRecords, registries={"Models": MODELS})
@click.argument("tables", metavar="TABLE...", type=click.Path(path_type=Path), nargs=-1, required=True)
@outcome_options
@reading_options
@click.option("--drop", default=None, metavar="COLUMNS", help="Columns to leave out, separated by commas.")
@click.option("--categorical", default=None, metavar="COLUMNS", help="Columns whose values are codes.")
@click.option("--model", default="ald", show_default=True, metavar="NAME", help="One of the models below.")
@click.option(
    "--recipe", default=None, metavar="NAME", help="default or paper; for ald also small, large, larger, huge."
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of split and model.")
@click.option("--members", type=int, default=None, metavar="N", help="Members of the ensemble.")
@click.option("--support", default=None, metavar="NAME", help="real, positive, log or auto.")
@click.option("--learning-rate", type=float, default=None, metavar="X", help="Learning rate of networks and trees.")
@click.option("--ridge", type=float, default=None, metavar="X", help="Penalty of a regression; 0: none.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="Any parameter of the model; may be repeated."
)
@click.option("--unit", default=None, metavar="NAME", help="Unit of time, such as months; of dates, days.")
@click.option("--held-out", default=0.2, show_default=True, metavar="SHARE", help="Share of held-out rows; 0: none.")
@click.option("--tune", "trials", type=int, default=None, metavar="N", help="Search for better settings with N trials.")
@cluster_option()
@click.option("--stream", is_flag=True, help="Read a Parquet file in parts, like a folder.")
@out_option("Model file to write.")
@click.option(
    "--report",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[FILE]",
    help="Write a report on the held-out rows  [default: beside the model]",
)
@force_option()
@json_option()
@quiet_option()
def fit(
    tables: tuple[Path, ...],
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    drop: str | None,
    categorical: str | None,
    model: str,
    recipe: str | None,
    seed: int,
    members: int | None,
    support: str | None,
    learning_rate: float | None,
    ridge: float | None,
    assignments: tuple[str, ...],
    unit: str | None,
    held_out: float,
    trials: int | None,
    cluster: str | None,
    stream: bool,
    out: Path | None,
    report: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit a model to TABLE (CSV, TSV, Parquet, Excel) and save it.

    Columns that are not named are covariates. A random part of the rows
    is held out to measure how well the model predicts; the model that
    is saved is then fitted to all rows, with the same settings. Rows of
    one person, identified by --id, are held out together; with --start
    and --stop in place of --time they are episodes between changes of
    the person's covariates. By default the model is saved under the
    name of the table with the ending .aldsurv, in the current folder. A
    model of that name is replaced, any other file only with --force.

    Two columns of dates, --start and --end, can replace --time; --unit
    is then days, weeks, months (30.4375 days) or years (365.25 days).

    --event-values names competing causes. Models for several causes
    predict the probability of each; the others predict the time to the
    first event of any cause.

    --tune N compares N settings by cross-validation, the first being
    the default. The best are compared again on new folds, and replace
    the default only if they are better by more than chance. The
    held-out rows take no part in the search. With --cluster, workers
    score trials at the same time, with the same result.

    --set sets any parameter of the model, as in --set max_epochs=50 or
    --set hidden=64,64; 'aldsurv models NAME' lists them. --tune does
    not search parameters that are set.

    --report writes the page of 'aldsurv report' for the held-out rows
    and the model that was fitted without them.

    TABLE can be a folder of Parquet files, or several files. They are
    read in parts, like a Parquet file of more than 5 million rows, or
    any with --stream: rows need not fit in memory. At most 50,000 rows
    are then held out, and the model is fitted once, to the others.
    After Ctrl-C the same command continues.

    Ctrl-C ends the training: the best model so far is saved (not of a
    training on a cluster), and the exit code is 130. A search by --tune
    that was stopped continues when the same command is repeated.

    Several processes of one or more machines train one network, when they
    are started by torchrun, or on the workers of --cluster: the model is
    that of one process.

    \b
    Examples:
      aldsurv fit people.csv \\
        --time months --event status
      aldsurv fit people.csv \\
        --time t --event died \\
        --event-value yes --drop id,visit
      aldsurv fit people.csv \\
        --time t --event status \\
        --event-values relapse,death \\
        --model deephit
      aldsurv fit people.parquet \\
        --time t --event e --model cox
      aldsurv fit teeth.csv \\
        --lower from --upper to
      aldsurv fit visits.csv \\
        --time t --event e --id patient
      aldsurv fit visits.csv \\
        --id patient --start from \\
        --stop to --event died
      aldsurv fit people.xlsx \\
        --start diagnosis --end seen \\
        --event died --unit months
      aldsurv fit people.csv \\
        --time t --event e --tune 30
      aldsurv fit people.csv \\
        --time t --event e \\
        --model boosted_ald --tune 50
      aldsurv fit people.csv \\
        --time t --event e \\
        --set hidden=64,64 --report
      aldsurv fit claims/ \\
        --time t --event e \\
        --out model.aldsurv
      torchrun --nproc-per-node 2 \\
        -m aldsurv -- fit claims/ \\
        --time t --event e \\
        --out model.aldsurv
    """  # noqa: D301
    # Imported here, so that help is shown at once.
    from aldsurv.cli.fit import fit_request, fit_run, fit_text, parted_fit
    from aldsurv.cli.fit.model_parameters import OPTION_PARAMETERS, chosen_parameters
    from aldsurv.files.writing import write_text
    from aldsurv.training.ranks import current_ranks

    start = time.monotonic()
    table, ranks = tables[0], current_ranks()
    # One of several processes writes and speaks.
    quiet, as_json = quiet or not ranks.first, as_json and ranks.first
    options = dict(zip(OPTION_PARAMETERS, (recipe, members, support, learning_rate, ridge, unit), strict=True))
    target = out or fit_request.default_target(table)
    if outcome.end:
        # The unit is that of the times, whether the model has a name for it or not.
        outcome = replace(outcome, unit=unit or "days")
        options["unit"] = outcome.unit if "unit" in MODELS.load(model).parameter_defaults() else None
    request = fit_request.FitRequest(
        table,
        outcome,
        reading=reading,
        drop=split_names(drop),
        categorical=split_names(categorical),
        model=model,
        parameters=chosen_parameters(model, options, assignments),
        seed=seed,
        held_out=held_out,
        trials=trials,
        target=target,
        report=None if report is None else Path(report or fit_request.default_report(table, target)),
        show_progress=not quiet,
        cluster=cluster,
    )
    request.check()
    checked_output(request.target, MODEL, inputs=tables, force=force)
    if request.report is not None:
        checked_output(request.report, PAGE, inputs=[table, request.target], force=force, option="--report")
    to_stderr = is_standard_output(request.target)
    printer = fit_text.Printer(silent=quiet or as_json, to_stderr=to_stderr)
    # A search has its rows in memory: the cluster scores its trials.
    if parted_fit.reads_in_parts(tables, stream=stream or (cluster is not None and trials is None)):
        with warnings_as_notes(quiet=quiet or as_json) as notes:
            _share_work(request)
            parted = parted_fit.run_parted_fit(request, tables, printer, notes)
        seconds = time.monotonic() - start
        if as_json:
            click.echo(json_text(parted_fit.facts(request, parted, seconds, notes)), err=to_stderr)
        else:
            printer.show(parted_fit.saved_text(request, parted, seconds))
        if parted.interrupted:
            raise click.exceptions.Exit(_INTERRUPTED)
        return
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        _share_work(request)
        summary = fit_run.summarize_table(request)
        printer.show(fit_text.table_text(summary, outcome.unit or unit))
        notes.show()
        result = fit_run.run_fit(request, summary.table, printer, notes)
        ranks.leave()
        result.model.set_outcome_columns(summary.outcome.given, reading.missing or ())
        result.model.save(request.target)
        if request.report is not None and result.page is not None:
            write_text(request.report, result.page)
    seconds = time.monotonic() - start
    if as_json:
        click.echo(json_text(fit_text.fit_facts(request, summary, result, seconds, notes)), err=to_stderr)
    else:
        if result.model.stack_table_ is not None:
            printer.show(fit_text.stack_text(result.model.stack_table_))
        printer.show(fit_text.saved_text(request, result, len(summary.table), seconds))
    if result.interrupted:
        raise click.exceptions.Exit(_INTERRUPTED)


def _share_work(request: FitRequest) -> None:
    """Go on in one process, if torchrun has started several that have nothing to share."""
    from aldsurv.training.ranks import current_ranks

    ranks = current_ranks()
    if ranks.count > 1 and request.cluster is not None:
        raise ParameterError("--cluster and torchrun cannot be combined: each starts the processes that train.")
    if not request.estimator_type.SHARES_TRAINING:
        ranks.leave(f"the model {quoted(request.model)} is not fitted by several processes")
    if request.trials is not None:
        ranks.leave("--tune does not search with several processes")
