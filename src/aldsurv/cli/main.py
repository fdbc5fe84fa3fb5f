"""The command ``aldsurv``: finds the command that is asked for, and turns errors into one line."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import NamedTuple

import click

from aldsurv import __version__
from aldsurv.errors import AldsurvError
from aldsurv.registry import Registry

__all__ = ["main"]


class _Entry(NamedTuple):
    """Where a command is, and what it does in a line: known without importing it."""

    location: str
    summary: str


_COMMANDS = {
    "fit": _Entry("aldsurv.cli.fit:fit", "Learn from a table and save the model."),
    "predict": _Entry("aldsurv.cli.predict:predict", "Predict for each row of a table."),
    "evaluate": _Entry("aldsurv.cli.evaluate:evaluate", "How well a model predicts the rows of a table."),
    "compare": _Entry("aldsurv.cli.compare:compare", "Several models on the same rows."),
    "report": _Entry("aldsurv.cli.report:report", "One page about a model, for people."),
    "info": _Entry("aldsurv.cli.info:info", "What is in a model file."),
    "benchmark": _Entry("aldsurv.cli.benchmark:benchmark", "Compare models as the paper does."),
    "datasets": _Entry("aldsurv.cli.datasets:datasets", "List, describe and fetch datasets."),
    "demo": _Entry("aldsurv.cli.demo:demo", "Fit a model to a real table and predict."),
}
_REGISTRY = Registry("command", {name: entry.location for name, entry in _COMMANDS.items()})

_USAGE_ERROR, _SYSTEM_ERROR, _INTERRUPTED = 2, 1, 130


class _LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # A word half typed, which a shell wants completed, is no error.
        if ctx.resilient_parsing and cmd_name not in _REGISTRY:
            return None
        command: click.Command = _REGISTRY.load(cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])


@click.group(cls=_LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def aldsurv(ctx: click.Context) -> None:
    """Predict the whole distribution of the time to an event.

    \b
    Examples:
      aldsurv demo
      aldsurv datasets list
      aldsurv demo --help
    """  # noqa: D301
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    It is 2 when something in the request or the data is wrong, 1 when the system fails (a full disk, a folder
    that cannot be written), 130 when interrupted.

    Parameters
    ----------
    arguments
        Words after ``aldsurv``; None for those of the process.
    """
    _tolerate_characters()
    # click takes no terminal for narrower than 50 columns; on smaller ones lines would break anywhere.
    width = max(20, min(shutil.get_terminal_size().columns, 80))
    try:
        code = aldsurv.main(arguments, prog_name="aldsurv", standalone_mode=False, terminal_width=width)
    except AldsurvError as error:
        return _fail(str(error), _USAGE_ERROR)
    except click.UsageError as error:
        asked = error.ctx.command_path if error.ctx else "aldsurv"
        return _fail(f"{_sentence(error.format_message())} Try '{asked} --help'.", _USAGE_ERROR)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except OSError as error:
        _discard_output()
        place = "" if error.filename is None else f"{error.filename}: "
        return _fail(f"{place}{error.strerror or error}", _SYSTEM_ERROR)
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int) -> int:
    click.echo(f"aldsurv: error: {' '.join(message.split())}", err=True)
    return code


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?")) else f"{message}."


def _tolerate_characters() -> None:
    """Write ``?`` for a character that the terminal does not have, rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Let go of output that cannot be written, so that Python does not try, and complain, once more at its end."""
    stream = sys.__stdout__
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
