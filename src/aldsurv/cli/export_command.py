"""``aldsurv export``: a model for programs without Python, as ONNX or as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.checks import listed
from aldsurv.cli.shared.command_options import force_option, json_option, parse_numbers, quiet_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.cli.shared.outputs import FileKind, checked_output, is_standard_output
from aldsurv.errors import ParameterError
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["export"]

_LEVELS = "0.1,0.25,0.75,0.9"
# The first bytes of a graph of aldsurv: the version of the format, then the producer's name.
ONNX = FileKind("an ONNX model of aldsurv", lambda path, start: b"\x12\x07aldsurv" in start[:64])
SQL = FileKind("SQL of aldsurv", lambda path, start: start.startswith(b"-- ") and b" of aldsurv:" in start[:200])


@click.command()
@click.argument("model")
@click.option(
    "--onnx", type=click.Path(path_type=Path, readable=False), default=None, metavar="FILE", help="ONNX graph to write."
)
@click.option(
    "--sql",
    type=click.Path(path_type=Path, readable=False),
    default=None,
    metavar="FILE",
    help="SQL of a linear model to write, one SELECT.",
)
@click.option(
    "--times",
    default=None,
    metavar="T,T",
    help="Times of survival  [default: quarters of the follow-up in training]",
)
@click.option(
    "--quantiles", default=None, metavar="Q,Q", help=f"Levels of quantiles, beside the median  [default: {_LEVELS}]"
)
@click.option(
    "--outputs",
    default=None,
    metavar="NAME,NAME",
    help="Some of survival, quantiles, median, parameters, incidence, outside  [default: all]",
)
@click.option(
    "--float32/--float64",
    "single",
    default=False,
    help="Type of inputs and outputs of the graph  [default: float64]",
)
@click.option("--table", default=None, metavar="NAME", help="Table that the SELECT reads  [default: people]")
@force_option()
@json_option("Print what was written as JSON.")
@quiet_option()
def export(
    model: str,
    onnx: Path | None,
    sql: Path | None,
    times: str | None,
    quantiles: str | None,
    outputs: str | None,
    single: bool,
    table: str | None,
    force: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write MODEL as an ONNX graph or as SQL, to predict without Python.

    The inputs of the graph are columns as in the table (including text
    and gaps); its outputs are survival, quantiles, median, parameters,
    incidences of causes, and whether a row lies outside the range of
    the training rows. The SELECT does the same for Cox and accelerated
    failure time models, in a database.

    \b
    Examples:
      aldsurv export model.aldsurv --onnx model.onnx
      aldsurv export model.aldsurv --onnx model.onnx --times 12,36,60
      aldsurv export model.aldsurv --onnx model.onnx --float32
      aldsurv export model.aldsurv --onnx model.onnx --outputs survival,outside
      aldsurv export cox.aldsurv --sql cox.sql --times 12,36 --table patients
    """  # noqa: D301
    from aldsurv.cli.shared.input_files import load_model
    from aldsurv.cli.shared.notes import warnings_as_notes

    if onnx is None and sql is None:
        raise ParameterError("nothing to write: give --onnx FILE or --sql FILE.")
    if onnx is not None and sql is not None and onnx.absolute() == sql.absolute():
        raise ParameterError("--onnx and --sql must be different files.")
    for option, is_given, needed, path in (
        ("--outputs", outputs is not None, "--onnx", onnx),
        ("--float32", single, "--onnx", onnx),
        ("--table", table is not None, "--sql", sql),
    ):
        if is_given and path is None:
            raise ParameterError(f"{option} goes with {needed}, which is not given. Leave it out.")
    for path, kind, option in ((onnx, ONNX, "--onnx"), (sql, SQL, "--sql")):
        if path is not None:
            checked_output(path, kind, inputs=[model], force=force, option=option)
    grid = parse_numbers(times, "--times", above=True, example="12,36,60") or None
    levels = parse_numbers(quantiles, "--quantiles", above=True, high=1.0, example=_LEVELS) or None
    with warnings_as_notes(quiet=quiet or as_json):
        estimator = load_model(model)
        files: dict[Path, bytes] = {}
        facts: dict[str, object] = {"model": model}
        if onnx is not None:
            content, described = _graph(estimator, model, grid, levels, _names(outputs), single)
            files[onnx] = content
            facts["onnx"] = {"file": str(onnx), "bytes": len(content), **described}
        if sql is not None:
            from aldsurv.export.sql import build_sql

            source = "people" if table is None else table
            statement = build_sql(estimator, times=grid, quantiles=levels, table=source)
            files[sql] = statement.text.encode()
            facts["sql"] = {"file": str(sql), "columns": list(statement.columns), "table": source}
    from aldsurv.files.writing import write_bytes

    for path, content in files.items():
        write_bytes(path, content)
    to_stderr = any(map(is_standard_output, files))
    if as_json:
        click.echo(json_text(facts), err=to_stderr)
    elif not quiet:
        for path in files:
            click.echo(printable(path), err=to_stderr)


def _names(outputs: str | None) -> list[str] | None:
    if outputs is None:
        return None
    from aldsurv.export.onnx import OUTPUTS

    names = [name.strip() for name in outputs.split(",") if name.strip()]
    unknown = [name for name in names if name not in OUTPUTS]
    if unknown or not names:
        raise ParameterError(f"--outputs must be some of {listed(OUTPUTS)}, but is {outputs!r:.60}.")
    return names


def _graph(
    estimator: SurvivalEstimator,
    path: str,
    times: Sequence[float] | None,
    levels: Sequence[float] | None,
    outputs: list[str] | None,
    single: bool,
) -> tuple[bytes, dict[str, object]]:
    from aldsurv.export.onnx import build_onnx
    from aldsurv.export.times_and_levels import DEFAULT_LEVELS, follow_up_quarters
    from aldsurv.files.model_file import file_digest

    grid, quantiles = times or follow_up_quarters(estimator), levels or DEFAULT_LEVELS
    graph = build_onnx(
        estimator,
        times=grid,
        quantiles=quantiles,
        precision="float32" if single else "float64",
        outputs=outputs,
        digest=file_digest(path),
    )
    described = {"times": list(grid), "quantiles": list(quantiles), "inputs": graph.inputs, "outputs": graph.outputs}
    return graph.to_bytes(), described
