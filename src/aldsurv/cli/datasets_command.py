"""``aldsurv datasets``: list, describe, locate and download datasets."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import json_option
from aldsurv.cli.shared.number_text import json_text
from aldsurv.errors import ParameterError
from aldsurv.quoting import printable

if TYPE_CHECKING:
    from aldsurv.datasets import DatasetInfo

__all__ = ["datasets"]


@click.group(invoke_without_command=True)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """The 21 datasets of the paper, and one with causes (rotterdam).

    Synthetic ones are drawn, gbsg and rotterdam come with aldsurv, the
    others are files of their publishers, kept in the data folder: ALDSURV_DATA if that
    variable is set, else the user's cache folder.

    \b
    Examples:
      aldsurv datasets list
      aldsurv datasets describe whas
      aldsurv datasets fetch metabric whas
      aldsurv datasets fetch --all
      aldsurv datasets path
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@datasets.command("list")
@json_option()
def list_datasets(as_json: bool) -> None:
    """List the datasets, and which are on this machine.

    \b
    Examples:
      aldsurv datasets list
      aldsurv datasets list --json
    """  # noqa: D301
    infos = _infos()
    if as_json:
        click.echo(json_text([_facts(info) for info in infos]))
        return
    lines = [("name", "kind", "rows", "features", "censored", "time", "data")]
    lines += [
        (
            info.name,
            info.kind,
            str(info.rows),
            str(info.n_features),
            f"{100 * info.censored:.0f} %",
            info.unit,
            _state(info),
        )
        for info in infos
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = (
            cell.rjust(width) if column in (2, 3, 4) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        click.echo("  ".join(cells).rstrip())


@datasets.command()
@click.argument("name")
@json_option()
def describe(name: str, as_json: bool) -> None:
    """Rows, columns, source and licence of a dataset.

    \b
    Examples:
      aldsurv datasets describe support
    """  # noqa: D301
    from aldsurv.datasets import describe as describe_dataset

    info = describe_dataset(name)
    click.echo(json_text(_facts(info)) if as_json else f"{info}\ndata      {_state(info)}")


@datasets.command()
@click.argument("name", required=False)
def path(name: str | None) -> None:
    """Print the data folder, or the file of a dataset.

    \b
    Examples:
      aldsurv datasets path
      aldsurv datasets path metabric
    """  # noqa: D301
    from aldsurv.datasets import describe as describe_dataset
    from aldsurv.datasets.data_folder import data_folder, raw_file

    if name is None:
        click.echo(data_folder())
        return
    info = describe_dataset(name)
    if info.file is None or (info.packaged and not _is_here(info)):
        raise ParameterError(f"{name!r} needs no file: load it by aldsurv.datasets.load({name!r}).")
    click.echo(raw_file(info))


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAMES]...")
@click.option("--all", "every", is_flag=True, help="All that need a file.")
@json_option()
def fetch(names: tuple[str, ...], every: bool, as_json: bool) -> None:
    """Download datasets from their publishers.

    Existing files are checked and not downloaded again; an interrupted
    download continues.

    \b
    Examples:
      aldsurv datasets fetch metabric whas
      aldsurv datasets fetch --all
    """  # noqa: D301
    if every == bool(names):
        raise click.UsageError("Give names of datasets or --all, one of the two.")
    from aldsurv.datasets import describe as describe_dataset
    from aldsurv.datasets.data_folder import data_folder
    from aldsurv.datasets.download import DownloadError, fetch_file, names_with_files

    # All names are checked before the first file is downloaded.
    infos = [describe_dataset(name) for name in (names_with_files() if every else dict.fromkeys(names))]
    files: dict[str, str | None] = {}
    failed: dict[str, str] = {}
    for info in infos:
        try:
            files[info.name] = None if info.file is None else str(fetch_file(info))
        except DownloadError as error:  # noqa: PERF203
            failed[info.name] = printable(error)
            click.echo(f"aldsurv: error: {printable(error)}", err=True)
        else:
            if not as_json:
                click.echo(f"{info.name}: {printable(files[info.name] or 'needs no file')}")
    if as_json:
        click.echo(json_text({"folder": str(data_folder()), "files": files, "failed": failed}))
    if failed:
        raise click.exceptions.Exit(1)


def _infos() -> list[DatasetInfo]:
    from aldsurv.datasets import describe as describe_dataset
    from aldsurv.datasets import names

    return [describe_dataset(name) for name in names()]


def _facts(info: DatasetInfo) -> dict[str, object]:
    values = asdict(info)
    del values["location"]
    return {**values, "rows": info.rows, "n_features": info.n_features, "data": _state(info)}


def _state(info: DatasetInfo) -> str:
    if info.packaged:
        return "comes with aldsurv"
    if info.file is None:
        return "drawn when loaded"
    if _is_here(info):
        return "here"
    return "to be got by hand" if info.url is None else "to be fetched"


def _is_here(info: DatasetInfo) -> bool:
    from aldsurv.datasets.data_folder import data_folder

    return (data_folder() / str(info.file)).is_file()
