"""The command ``aldsurv``: runs the command that is named, and shows errors as one line."""

from __future__ import annotations

import codecs
import errno
import io
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click

from aldsurv import __version__
from aldsurv.cli.process import SignalledError, discard, ended_by_signals, message_streams
from aldsurv.cli.shared.error_text import error_line
from aldsurv.cli.shared.launched_group import EndedElsewhereError, joined_group
from aldsurv.errors import AldsurvError
from aldsurv.quoting import printable, quoted, shortened
from aldsurv.registry import Record, Registry

__all__ = ["main"]


_COMMANDS = Registry(
    "command",
    Record("check", "aldsurv.cli.check.check_command:check", "check", "Show how a table is read."),
    Record("fit", "aldsurv.cli.fit.fit_command:fit", "fit", "Fit a model to a table and save it."),
    Record("split", "aldsurv.cli.split_command:split", "split", "Split a table into training and test rows."),
    Record("predict", "aldsurv.cli.predict.predict_command:predict", "predict", "Predict for each row of a table."),
    Record("evaluate", "aldsurv.cli.evaluate.evaluate_command:evaluate", "evaluate", "Score a model on a table."),
    Record("compare", "aldsurv.cli.compare.compare_command:compare", "compare", "Compare models on the same rows."),
    Record("explain", "aldsurv.cli.explain.explain_command:explain", "explain", "Show which covariates matter."),
    Record("update", "aldsurv.cli.update.update_command:update", "update", "Update a model with other rows."),
    Record("monitor", "aldsurv.cli.monitor.monitor_command:monitor", "monitor", "Monitor a model over calendar time."),
    Record("serve", "aldsurv.cli.serve_command:serve", "serve", "Predict over HTTP."),
    Record("report", "aldsurv.cli.report_command:report", "report", "Write an HTML report about a model."),
    Record("calculator", "aldsurv.cli.calculator_command:calculator", "calculator", "Write a page that predicts."),
    Record("card", "aldsurv.cli.card_command:card", "card", "Write a model card: Markdown or JSON."),
    Record("plan", "aldsurv.cli.plan.plan_command:plan", "plan", "Compute sample sizes for a model."),
    Record("export", "aldsurv.cli.export_command:export", "export", "Write a model as ONNX or SQL."),
    Record("info", "aldsurv.cli.info_command:info", "info", "Show what is in a model file."),
    Record("models", "aldsurv.cli.models_command:models", "models", "List the models and their parameters."),
    Record("benchmark", "aldsurv.cli.benchmark_command:benchmark", "benchmark", "Run the benchmark of the paper."),
    Record("datasets", "aldsurv.cli.datasets_command:datasets", "datasets", "List, describe and fetch datasets."),
    Record("demo", "aldsurv.cli.demo_command:demo", "demo", "Fit a model to a real table and predict."),
)

# Names from untrusted input are shortened where they are quoted; this limits messages of other libraries.
_LONGEST_MESSAGE = 2000
# What the processes that torchrun starts do together.
_SHARED_COMMAND = "fit"
_USAGE_ERROR, _SYSTEM_ERROR, _INTERRUPTED = 2, 1, 130


class _RefusedError(click.ClickException):
    """An error of the library, worded for the command that shows it."""

    exit_code = _USAGE_ERROR


def _option_names(command: click.Command) -> set[str]:
    """The options of a command, and of those below it."""
    names = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return names.union(*map(_option_names, below))


class _LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        # A command half typed, which a shell completes, is not an error.
        if ctx.resilient_parsing and cmd_name not in _COMMANDS:
            return None
        command: click.Command = _COMMANDS.load(cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with joined_group() as ctx.obj:
                return super().invoke(ctx)
        except AldsurvError as error:
            command = None if ctx.invoked_subcommand is None else self.get_command(ctx, ctx.invoked_subcommand)
            raise _RefusedError(error_line(error, None if command is None else _option_names(command))) from error
        except BrokenPipeError as error:
            # Of a pipe that was named as the output; click would end without a message.
            raise click.ClickException(_system_message(error)) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(command.name, command.purpose) for command in _COMMANDS.records()])


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
    ctx.obj(ctx.invoked_subcommand == _SHARED_COMMAND)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    It is 2 when something in the request or the data is wrong, 1 when the system fails (a full disk, a folder
    that cannot be written), 130 when interrupted, and 128 plus its number when a signal such as SIGTERM ends it.
    When the reader of standard output leaves early, the work goes on.

    Parameters
    ----------
    arguments
        Arguments after ``aldsurv``; None for those of the process.
    """
    _tolerate_characters()
    with message_streams() as output:
        try:
            with ended_by_signals():
                code = _run(arguments)
        except SignalledError as ended:
            _discard_output()
            return _fail(f"ended by {ended} before it was done.", 128 + ended.number)
        if output.error is not None and not isinstance(output.error, BrokenPipeError) and not code:
            return _fail(output.error.strerror or str(output.error), _SYSTEM_ERROR)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    # click assumes at least 50 columns; on narrower terminals lines would break anywhere.
    width = max(20, min(shutil.get_terminal_size().columns, 80))
    try:
        code = aldsurv.main(arguments, prog_name="aldsurv", standalone_mode=False, terminal_width=width)
    except AldsurvError as error:
        return _fail(error_line(error), _USAGE_ERROR)
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "aldsurv"
        return _fail(f"{_sentence(error.format_message())} Try '{command} --help'.", _USAGE_ERROR)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except EndedElsewhereError:
        return _SYSTEM_ERROR
    except MemoryError as error:
        return _fail(_memory_message(str(error)), _USAGE_ERROR)
    except RuntimeError as error:
        # torch out of memory and pathlib in a loop of links raise plain RuntimeErrors.
        if str(error).startswith("Symlink loop"):
            return _fail(f"{error}: a link leads to itself. Name a file.", _USAGE_ERROR)
        if "allocate memory" not in str(error):
            raise
        return _fail(_memory_message(str(error).partition("memory: ")[2]), _USAGE_ERROR)
    except OSError as error:
        _discard_output()
        if error.errno == errno.ELOOP:
            return _fail(f"{quoted(str(error.filename), 300)} is a link to itself. Name a file.", _USAGE_ERROR)
        return _fail(_system_message(error), _SYSTEM_ERROR)
    return code if isinstance(code, int) else 0


def _system_message(error: OSError) -> str:
    place = "" if error.filename is None else f"{error.filename}: "
    return f"{place}{error.strerror or error}"


def _fail(message: str, code: int) -> int:
    line = shortened(printable(" ".join(message.split())), _LONGEST_MESSAGE)
    click.echo(f"aldsurv: error: {line}", err=True)
    return code


def _memory_message(details: str) -> str:
    """What could not be allocated, if that is known, and what takes less memory."""
    # numpy names the shape and the type of the array; others have no text.
    reason = " ".join(details.split()).rstrip(".")
    return (
        f"there is not enough memory{f' ({reason})' if reason else ''}. Use fewer rows, columns, times or members "
        "at a time, or a machine with more memory."
    )


def _sentence(message: str) -> str:
    return message if message.endswith((".", "?")) else f"{message}."


def _tolerate_characters() -> None:
    """Write ``?`` for a character that the terminal does not have, rather than fail.

    A byte of a file name that is not UTF-8 is written as a backslash escape.
    """
    codecs.register_error("aldsurv", _replacement)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="aldsurv")


def _replacement(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    escaped = (printable(letter) if "\ud800" <= letter <= "\udfff" else "?" for letter in missing)
    return "".join(escaped), error.end


def _discard_output() -> None:
    """Discard output that cannot be written, so that Python does not try it again, and complain, when it exits."""
    stream = sys.__stdout__
    if stream is None:
        return
    try:
        stream.flush()
    except OSError:
        discard(stream.fileno())
