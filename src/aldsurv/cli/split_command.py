"""``aldsurv split``: the rows of a table as two tables, one to fit a model to and one to test it on."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import force_option, json_option, quiet_option
from aldsurv.cli.shared.number_text import format_count, json_text
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_options
from aldsurv.cli.shared.outputs import PREDICTIONS, checked_output, is_standard_output
from aldsurv.cli.shared.reading_options import ReadingOptions, reading_options
from aldsurv.cli.shared.text_layout import printable, screen_width, two_columns, wrapped
from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["split"]

_FILE = click.Path(path_type=Path, readable=False)


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@outcome_options
@reading_options
@click.option("--test", default=0.25, show_default=True, metavar="SHARE", help="Share of test rows.")
@click.option("--out-train", type=_FILE, default=None, metavar="FILE", help="Training rows  [default: TABLE_train]")
@click.option("--out-test", type=_FILE, default=None, metavar="FILE", help="Test rows  [default: TABLE_test]")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Random seed of the split.")
@click.option("--stratify/--no-stratify", default=True, help="Whether both have the same share of events.")
@force_option()
@json_option()
@quiet_option()
def split(
    table: Path,
    outcome: OutcomeColumns,
    reading: ReadingOptions,
    test: float,
    out_train: Path | None,
    out_test: Path | None,
    seed: int,
    stratify: bool,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Split TABLE (CSV, TSV or Parquet) at random into training and test rows.

    Both parts have the same share of events. Rows of one person, named
    by --id, stay together, and so do exact copies of a row. The test
    rows are those that 'aldsurv fit' holds out with the same share and
    seed.

    Rows are written unchanged and in the same order, with the header,
    delimiter and encoding of TABLE. A file whose name ends in .gz is
    compressed. By default the files are in the current folder, as in
    people_train.csv and people_test.csv.

    \b
    Examples:
      aldsurv split people.csv \\
        --time months --event status
      aldsurv split visits.parquet \\
        --time t --event e --id patient \\
        --test 0.3 --seed 7
      aldsurv split people.csv \\
        --time t --event e \\
        --out-train train.csv \\
        --out-test test.csv
    """  # noqa: D301
    import numpy as np

    from aldsurv.cli.predict.prediction_files import output_file
    from aldsurv.cli.shared.input_files import read_outcome_table
    from aldsurv.cli.shared.notes import warnings_as_notes
    from aldsurv.datasets import read_blocks

    outcome.require_pair()
    if not 0 < test < 1:
        raise ParameterError(f"--test must be a share between 0 and 1, but is {test:g}.")
    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    paths = [given or _default_path(table, part) for given, part in ((out_train, "train"), (out_test, "test"))]
    for path, option, other in zip(paths, ("--out-train", "--out-test"), (None, paths[0]), strict=True):
        _check_output(path, table, other, force=force, option=option)
    with warnings_as_notes(quiet=quiet or as_json):
        rows = read_outcome_table(table, outcome, reading=reading)
        _, test_rows = rows.split_rows(test, random_state=seed, stratify=stratify)
        parts = np.zeros(len(rows), np.intp)
        parts[test_rows] = 1
        # Both get their names when both are complete.
        with ExitStack() as stack:
            files = [stack.enter_context(output_file(path)) for path in paths]
            read_blocks(table, **reading.arguments).copy_rows(parts, files)
    counts = [_counts(rows.y, parts == part) for part in (0, 1)]
    if quiet and not as_json:
        return
    train_facts, test_facts = ({"file": str(path), **count} for path, count in zip(paths, counts, strict=True))
    facts = {"rows": len(rows), "train": train_facts, "test": test_facts}
    text = json_text(facts) if as_json else _text(table, paths, counts, outcome)
    click.echo(text, err=any(map(is_standard_output, paths)))


def _default_path(table: Path, part: str) -> Path:
    """The name of the table with that of the part before the ending, in the current folder."""
    plain = Path(table.name.removesuffix(".gz"))
    return Path(f"{plain.stem}_{part}{plain.suffix}{'.gz' * table.name.endswith('.gz')}")


def _check_output(path: Path, table: Path, other: Path | None, *, force: bool, option: str) -> None:
    """Refuse to write over the table, over the other part, over another kind of file, or in another format."""
    from aldsurv.cli.shared.input_files import require_file

    require_file(table)
    kinds = [".parquet" in place.suffixes for place in (table, path)]
    if kinds[0] != kinds[1]:
        ending = ".parquet" if kinds[0] else table.suffix or ".csv"
        raise ParameterError(
            f"{option} must end in {ending}, for rows are written as they are in {str(table)!r}, but is {str(path)!r}."
        )
    if other is not None and path.absolute() == other.absolute():
        raise ParameterError(f"--out-train and --out-test must be different files, but both are {str(path)!r}.")
    kind = "gz" if path.suffix == ".gz" else "parquet" if kinds[1] else "csv"
    checked_output(path, PREDICTIONS[kind], inputs=[table, other], force=force, option=option)


def _counts(data: SurvivalData | None, chosen: object) -> dict[str, int]:
    if data is None:
        return {}
    part = data[chosen]
    persons = {} if data.group is None else {"persons": part.n_groups}
    return {"rows": len(part), "events": part.n_events, **persons}


def _text(table: Path, paths: list[Path], counts: list[dict[str, int]], outcome: OutcomeColumns) -> str:
    width = screen_width()
    lines = [f"{printable(table.name)} split at random"]
    lines += two_columns(
        [
            (printable(path), ", ".join(format_count(number, noun[:-1]) for noun, number in count.items()))
            for path, count in zip(paths, counts, strict=True)
        ],
        width,
    )
    options = " ".join(f"--{role.replace('_', '-')} {shlex.quote(name)}" for role, name in outcome.given.items())
    lines += wrapped(printable(f"Next: aldsurv fit {shlex.quote(str(paths[0]))} {options}"), width, indent=2)
    return "\n".join(lines)
