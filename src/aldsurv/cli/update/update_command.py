"""``aldsurv update``: a model for another place, changed as little as that needs."""

from __future__ import annotations

from pathlib import Path

import click

from aldsurv.cli.shared.command_options import force_option, json_option, out_option, quiet_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import MODEL, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError

__all__ = ["update"]


@click.command()
@click.argument("model", metavar="MODEL")
@click.argument("table", metavar="TABLE")
@outcome_options
@reading_options
@click.option(
    "--rung",
    type=click.Choice(["auto", "none", "intercept", "slope", "levels", "last_layer", "refit"]),
    default="auto",
    show_default=True,
    help="How the model is changed; auto chooses a rung.",
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the held-out parts.")
@out_option("The updated model  [default: the name of MODEL with -updated]")
@force_option()
@json_option()
@quiet_option()
def update(
    model: str,
    table: str,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    rung: str,
    seed: int,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Update MODEL with the rows of TABLE, from another place or time.

    Six rungs, from the smallest change to the largest, are compared on
    held-out rows of TABLE:

    \b
      none        the model as it is
      intercept   all hazards times a factor
      slope       also the differences
                  between people
      levels      also a map of the levels
      last_layer  the output layer of a
                  network, the coefficients
                  of a linear model
      refit       the same model and settings
                  fitted to TABLE alone

    A larger change replaces a smaller one only if it is better by more
    than chance. With few events the larger changes are not tried. The
    new file records the updates, which 'aldsurv info' shows. Models of
    several causes cannot be updated.

    \b
    Examples:
      aldsurv update m.aldsurv new.csv
      aldsurv update m.aldsurv new.csv \\
        --out here.aldsurv
      aldsurv update m.aldsurv new.csv \\
        --time days --event died \\
        --rung intercept --json
    """  # noqa: D301
    from aldsurv.cli.shared.error_text import errors_of_model
    from aldsurv.cli.shared.input_files import load_model, outcome_columns_in, read_model_table, require_events
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.cli.update.update_text import update_facts, update_text

    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    target = Path(f"{Path(model).stem}-updated.aldsurv") if out is None else out
    checked_output(target, MODEL, inputs=[model, table], force=force)
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        estimator = load_model(model)
        reading = reading_of(estimator, reading)
        with errors_of_model(model):
            columns = outcome_columns_in(table, estimator, outcome, reading)
            rows = read_model_table(table, estimator, columns, reading)
        data = require_events(rows, columns)
        # Imported here, so that a wrong name is an error at once.
        from aldsurv.tuning.model_update import update_model

        with errors_of_model(model):
            result = update_model(estimator, rows.x, data, rung=rung, random_state=seed, source=Path(model).name)
        if result.rung in ("last_layer", "refit"):
            result.model.set_outcome_columns(columns.given, reading.missing or ())
        result.model.save(target)
    to_stderr = is_standard_output(target)
    if as_json:
        facts = update_facts(result, model=model, table=table, target=target)
        click.echo(json_text({**facts, "notes": notes}), err=to_stderr)
    elif not quiet:
        click.echo(update_text(result, model=model, table=table, target=target), err=to_stderr)
