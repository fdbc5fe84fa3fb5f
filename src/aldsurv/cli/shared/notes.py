"""Warnings of the library as notes: one line each, in place of the source lines that Python would show."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

import click

from aldsurv.cli.shared.command_options import format_names
from aldsurv.errors import LeftOutWarning, SheetWarning
from aldsurv.quoting import printable, shortened

__all__ = ["Notes", "warnings_as_notes"]

# Many columns may be named in one note.
_LONGEST = 3000
_MOST_NAMES = 12


@final
class Notes(list[str]):
    """Notes for the user, each once.

    Parameters
    ----------
    quiet
        Collect them only, print none.
    """

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._shown, self._quiet = 0, quiet

    def add(self, message: object) -> None:
        """Add a text or a warning, unless it was added before."""
        note = shortened(printable(" ".join(_text(message).split())), _LONGEST)
        if note not in self:
            self.append(note)

    def show(self) -> None:
        """Print those that were not printed yet, as ``aldsurv: note: …`` on the standard error stream."""
        if not self._quiet:
            for note in self[self._shown :]:
                click.echo(f"aldsurv: note: {note}", err=True)
        self._shown = len(self)


def _text(message: object) -> str:
    """A text or a warning; advice that names an argument of the library in terms of options."""
    if isinstance(message, LeftOutWarning):
        names = format_names([str(column) for column in message.columns[:_MOST_NAMES]])
        kept = "it as a category" if len(message.columns) == 1 else "them as categories"
        return f"{message.problem} To use {kept} all the same, give --categorical {names}."
    if isinstance(message, SheetWarning):
        return f"{message.problem} To read another, name it by --sheet."
    return str(message)


@contextmanager
def warnings_as_notes(*, quiet: bool = False) -> Iterator[Notes]:
    """Collect warnings as notes, which are printed at the end of the block at the latest.

    Parameters
    ----------
    quiet
        Collect them only.
    """
    notes = Notes(quiet=quiet)
    with warnings.catch_warnings():
        # Deprecations within libraries do not concern who runs a command.
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = lambda message, *_, **__: notes.add(message)
        try:
            yield notes
        finally:
            notes.show()
