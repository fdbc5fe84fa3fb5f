"""``aldsurv explain``: how much each column moves the prediction, for one row or for all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.causes.chosen_cause import cause_option, chosen_causes
from aldsurv.cli.shared.command_options import force_option, json_option, out_option, parse_numbers, quiet_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.outputs import PICTURE, PREDICTIONS, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_of, reading_options
from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["explain"]

# Rows that are explained where none is named: more would take minutes and show the same.
_MOST_ROWS = 200


@click.command()
@click.argument("model")
@click.argument("table")
@click.option("--row", "--rows", "rows", default=None, metavar="N", help="Row to explain, from 1; or several, 3,17.")
@click.option("--times", default=None, metavar="T,T", help="Explain survival at these times  [default: 20 times]")
@click.option("--summary", default=None, metavar="NAME", help="Explain median, mean or restricted_mean instead.")
@cause_option("Explain the probability of this cause.")
@click.option("--since", type=float, default=None, metavar="T", help="Given that there was no event by this time.")
@click.option("--background", default=None, metavar="TABLE", help="Rows of the population  [default: TABLE]")
@reading_options
@click.option("--plot", type=click.Path(path_type=Path), default=None, metavar="FILE", help="Picture to write (PNG).")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the sampled orders.")
@out_option("Table of all contributions to write (CSV).")
@force_option()
@json_option()
@quiet_option()
def explain(
    model: str,
    table: str,
    rows: str | None,
    times: str | None,
    summary: str | None,
    cause: str | None,
    since: float | None,
    background: str | None,
    reading: ReadingOptions,
    plot: Path | None,
    seed: int,
    out: Path | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Show how much each column contributes to predictions of MODEL.

    With --row: why the prediction of that row differs from the mean
    prediction, column by column. Without it: the mean contribution of
    each column over all rows; of more than 200 rows, 200 are used at
    even steps.

    The contributions are Shapley values: they add up to the prediction
    minus the mean prediction of 20 background rows. Up to 7 columns all
    their subsets are used, and with more columns random orders.
    Standard errors are shown. Contributions show what the model uses,
    not what causes the event.

    \b
    Examples:
      aldsurv explain model.aldsurv people.csv \\
        --row 3
      aldsurv explain model.aldsurv people.csv \\
        --row 3 --times 12,24,60 \\
        --plot why.png
      aldsurv explain model.aldsurv people.csv \\
        --summary median --out why.csv
      aldsurv explain model.aldsurv people.csv \\
        --row 3 --since 24
    """  # noqa: D301
    from aldsurv.cli.explain import explanation_text
    from aldsurv.cli.shared.input_files import load_model, read_model_table, time_unit
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.cli.shared.progress import progress_line
    from aldsurv.files.writing import write_text

    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    grid = parse_numbers(times, "--times", example="12,24,60") or None
    inputs = [model, table, background]
    if plot is not None:
        checked_output(plot, PICTURE, inputs=inputs, force=force, option="--plot")
        if plot.suffix.lower() != ".png":
            raise ParameterError(f"--plot must end in .png, but is {quoted(str(plot))}.")
    if out is not None:
        checked_output(out, PREDICTIONS["csv"], inputs=inputs, force=force)
    to_stderr = out is not None and is_standard_output(out)
    with warnings_as_notes(quiet=quiet or as_json) as notes:
        estimator = load_model(model)
        last = float(estimator.unique_times_[-1])
        late = [time for time in grid or () if time > last]
        if late:
            notes.add(f"--times {late[0]:g} is after {plain_number(last, 4)}, the last time of training.")
        chosen_causes(estimator, cause)
        reading = reading_of(estimator, reading)
        data = read_model_table(table, estimator, OutcomeColumns(), reading)
        numbers = _row_numbers(rows, len(data))
        usual = data
        if background is not None:
            usual = read_model_table(background, estimator, OutcomeColumns(), reading)
        # Imported here, so that a wrong name is an error at once.
        from aldsurv.inspection import shapley_values

        done = 0
        with progress_line(show=not quiet) as show:

            def advance() -> None:
                nonlocal done
                done += 1
                show(f"{done} of {len(numbers)} rows explained")

            explained = shapley_values(
                estimator,
                {name: column[numbers] for name, column in data.x.items()},
                times=grid,
                summary=summary,
                cause=cause,
                since=since,
                background=usual.x,
                random_state=seed,
                advance=advance,
            )
    view = explanation_text.Explanation(
        explained, (numbers + 1).tolist(), time_unit(estimator), single=rows is not None
    )
    if plot is not None:
        from aldsurv.plots import attribution_figure, save_figure

        save_figure(attribution_figure(explained, unit=view.unit), plot)
    if out is not None:
        write_text(out, explanation_text.csv_text(view))
    if as_json:
        click.echo(json_text(explanation_text.facts(view)), err=to_stderr)
    elif not quiet:
        click.echo(explanation_text.text(view), err=to_stderr)


def _row_numbers(text: str | None, length: int) -> NDArray[np.intp]:
    """Rows from 0 on; they are typed from 1 on."""
    import numpy as np

    from aldsurv.inspection.background_rows import even_steps

    if text is None:
        return even_steps(length, _MOST_ROWS)
    numbers = parse_numbers(text, "--row", example="3", low=1)
    wrong = [number for number in numbers if number != int(number) or number > length]
    if wrong:
        raise ParameterError(f"--row must be a whole number from 1 to {length}, but is {wrong[0]:g}.")
    return np.array([int(number) - 1 for number in numbers], np.intp)
