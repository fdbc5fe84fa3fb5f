"""``aldsurv fit``: learn from a table, say how well rows held out are predicted, and save the model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.outcome import OutcomeColumns, outcome_options, read_outcome_table, remember_outcome, words
from aldsurv.cli.shared.outputs import MODEL, checked_output, force_option, is_standard_output

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["fit"]

_INTERRUPTED = 130


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@outcome_options
@click.option("--drop", default=None, metavar="COLUMNS", help="Columns to leave out, commas between them.")
@click.option("--categorical", default=None, metavar="COLUMNS", help="Columns whose values are codes.")
@click.option("--model", "name", default="ald", show_default=True, metavar="NAME", help="Which model.")
@click.option("--recipe", default=None, metavar="NAME", help="default or paper.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="The same seed gives the same model.")
@click.option("--members", type=int, default=None, metavar="N", help="Members of the ensemble.")
@click.option("--support", default=None, metavar="NAME", help="real, positive, log or auto.")
@click.option("--unit", default=None, metavar="NAME", help="Unit of time, such as months; for people.")
@click.option("--held-out", default=0.2, show_default=True, metavar="SHARE", help="Rows to test on; 0 for none.")
@click.option("--tune", "trials", type=int, default=None, metavar="N", help="Search for settings by N trials.")
@click.option(
    "--out", type=click.Path(path_type=Path, readable=False), default=None, metavar="FILE", help="The model to write."
)
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def fit(
    table: Path,
    outcome: OutcomeColumns,
    drop: str | None,
    categorical: str | None,
    name: str,
    recipe: str | None,
    seed: int,
    members: int | None,
    support: str | None,
    unit: str | None,
    held_out: float,
    trials: int | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn from TABLE (CSV, TSV or Parquet) and save the model.

    Columns that are not named are covariates. A random part of the rows is
    held out to say how well the model predicts; the model that is saved is
    then fitted to all rows, with the same settings. Its name is that of the
    table with the ending .aldsurv, in the current folder, unless --out is
    given. A model of that name is replaced, any other file only with
    --force.

    Ctrl-C ends the training: the best so far is saved, the exit code is
    130. A search by --tune that is stopped goes on when the same command is
    given again.

    Models with a network: ald, icald, lognormal, cqrnn, deepsurv, deephit.
    With boosted trees: boosted_ald. Linear ones: cox, weibull_aft,
    lognormal_aft. recalibrated and icald_calibrated are ald with its
    probabilities put right by cross-fitting, in two ways.

    \b
    Examples:
      aldsurv fit people.csv \\
        --time months --event status
      aldsurv fit people.csv \\
        --time t --event died \\
        --event-value yes --drop id,visit
      aldsurv fit people.parquet \\
        --time t --event e --model cox
      aldsurv fit teeth.csv \\
        --lower from --upper to
      aldsurv fit people.csv \\
        --time t --event e --tune 30
    """  # noqa: D301
    # Here, so that the help is there at once.
    from aldsurv.cli.fit import fit_plan, fit_steps, fit_text

    start = time.monotonic()
    outcome.require_pair()
    given = {"recipe": recipe, "members": members, "support": support, "unit": unit}
    plan = fit_plan.planned(name, given, seed=seed, held_out=held_out, trials=trials, quiet=quiet)
    target = checked_output(out or fit_plan.default_target(table), MODEL, inputs=[table], force=force)
    aside = is_standard_output(target)
    tell = fit_text.Teller(silent=quiet or as_json, aside=aside)
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        rows = read_outcome_table(table, outcome, drop=words(drop), categorical=words(categorical))
        understood = fit_steps.understood(plan, rows, outcome)
        tell(fit_text.understanding(understood, unit))
        notes.tell()
        found = fit_steps.learned(plan, understood, target, tell, notes)
        model = _kept(found.model, outcome, target)
    seconds = time.monotonic() - start
    if as_json:
        click.echo(
            json.dumps(fit_text.plain(understood, found, model, target, seconds, notes.messages), indent=2), err=aside
        )
    else:
        tell(fit_text.ending(found, target, seconds))
    if found.interrupted:
        raise click.exceptions.Exit(_INTERRUPTED)


def _kept(model: SurvivalEstimator, outcome: OutcomeColumns, target: Path) -> SurvivalEstimator:
    remember_outcome(model, outcome)
    model.save(target)
    return model
