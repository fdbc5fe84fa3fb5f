"""Options that several commands have, and how their text is read."""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted
from aldsurv.registry import Record, Registry

__all__ = [
    "CommandWithRecords", "cluster_option", "evaluation_times_option", "force_option", "format_names", "json_option",
    "naming_options", "out_option", "parse_numbers", "quiet_option", "split_names", "train_option",
]  # fmt: skip

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(help_text: str = "Print JSON.") -> Callable[[Command], Command]:
    """``--json``, as ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def quiet_option(help_text: str = "Print nothing but errors.") -> Callable[[Command], Command]:
    """``--quiet``."""
    return click.option("--quiet", is_flag=True, help=help_text)


def force_option() -> Callable[[Command], Command]:
    """``--force`` of every command that writes a file."""
    return click.option("--force", is_flag=True, help="Overwrite even a file of another kind.")


def out_option(help_text: str, default: str | None = None) -> Callable[[Command], Command]:
    """``--out``, a file to write."""
    return click.option(
        "--out",
        type=click.Path(path_type=Path, readable=False),
        default=None if default is None else Path(default),
        show_default=default is not None,
        metavar="FILE",
        help=help_text,
    )


def cluster_option(*older: str) -> Callable[[Command], Command]:
    """``--cluster``, the workers that do it, and what the option was called in earlier versions."""
    return click.option(
        "--cluster",
        *older,
        "cluster",
        default=None,
        metavar="ADDRESS",
        help="Address of a Dask scheduler; local:4 starts four processes on this machine.",
    )


def evaluation_times_option() -> Callable[[Command], Command]:
    """``--times`` of commands that describe a model."""
    return click.option(
        "--times",
        default=None,
        metavar="T,T",
        help="Times at which predictions are evaluated  [default: the median time and up to two round ones]",
    )


def naming_options(command: Command) -> Command:
    """``--unit``, ``--event-name`` and ``--labels``: what a description of a model calls things."""
    for option in (
        click.option("--labels", default=None, metavar="FILE", help="Labels of columns and levels: CSV or JSON."),
        click.option("--event-name", default=None, metavar="TEXT", help="Name of the event, such as death or churn."),
        click.option(
            "--unit", default=None, metavar="TEXT", help="Unit of time, such as months, if the model has none."
        ),
    ):
        command = option(command)
    return command


def train_option() -> Callable[[Command], Command]:
    """``--train``, a table."""
    return click.option(
        "--train",
        default=None,
        metavar="TABLE",
        help="Training rows, from which the censoring is estimated  [default: TABLE itself]",
    )


def split_names(text: str | None) -> tuple[str, ...]:
    """Names with commas between them, each once; one that holds a comma is put in double quotes."""
    fields = next(csv.reader([text or ""], skipinitialspace=True), [])
    return tuple(dict.fromkeys(name.strip() for name in fields if name.strip()))


def format_names(names: Sequence[str]) -> str:
    """The inverse of `split_names`, as it is typed in a shell."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())


def parse_numbers(
    text: str | None, option: str, *, example: str, low: float = 0.0, high: float = math.inf, above: bool = False
) -> tuple[float, ...]:
    """Numbers with commas between them, each once.

    Parameters
    ----------
    text
        What was typed; None for none.
    option
        Its name, for messages.
    example
        What is right, for messages.
    low, high, above
        The numbers must be from `low` on, or `above` it, and below `high`.
    """
    numbers: list[float] = []
    for word in split_names(text):
        try:
            number = float(word)
        except ValueError:
            raise ParameterError(
                f"{option} must be numbers separated by commas, but holds {quoted(word)}. Give {option} {example}."
            ) from None
        if not (low < number if above else low <= number) or not number < high:
            bounds = f"above {low:g}" if above else f"from {low:g} on" if high == math.inf else f"from {low:g}"
            bounds += "" if high == math.inf else f" {'and' if above else 'to'} below {high:g}"
            raise ParameterError(f"{option} must be {bounds}, but holds {quoted(word)}. Give {option} {example}.")
        numbers.append(number)
    if text is not None and not numbers:
        raise ParameterError(f"{option} holds no number. Give {option} {example}.")
    return tuple(dict.fromkeys(numbers))


class CommandWithRecords(click.Command):
    """A command whose help ends with lists of records, such as the models.

    Parameters
    ----------
    registries
        By the heading of the list; read when help is asked for, so that what was added later is there.
    """

    def __init__(self, *arguments: Any, registries: Mapping[str, Registry[Any]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._registries = registries

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lists."""
        for heading, registry in self._registries.items():
            with formatter.section(heading):
                formatter.write_dl([(record.name, _description(record)) for record in registry.records()])


def _description(record: Record) -> str:
    return f"{record.title}: {record.purpose}"
