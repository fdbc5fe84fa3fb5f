"""Warnings of the library as lines for people, in place of the source lines that Python would show."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, final

import click

from aldsurv.cli.shared.option_words import in_options
from aldsurv.quoting import printable, shortened

__all__ = ["Notes", "warnings_as_notes"]


# Many columns may be named in one note.
_LONGEST = 3000


@final
class Notes(list[str]):
    """Messages of warnings, each once."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__()
        self._told, self._quiet = 0, quiet

    @property
    def messages(self) -> list[str]:
        """All of them."""
        return list(self)

    def add(self, message: Any) -> None:
        """Take a message, unless it was taken before."""
        told = shortened(printable(in_options(" ".join(str(message).split()))), _LONGEST)
        if told not in self:
            self.append(told)

    def tell(self) -> None:
        """Print those that were not printed yet, as ``aldsurv: note: …`` on the standard error stream."""
        if not self._quiet:
            for told in self[self._told :]:
                click.echo(f"aldsurv: note: {told}", err=True)
        self._told = len(self)


@contextmanager
def warnings_as_notes(*, quiet: bool = False) -> Iterator[Notes]:
    """Collect warnings as notes, which are told at the end of the block at the latest.

    Parameters
    ----------
    quiet
        Collect them only.
    """
    notes = Notes(quiet=quiet)
    with warnings.catch_warnings():
        # What libraries deprecate among themselves is no concern of who runs a command.
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        warnings.showwarning = lambda message, *_, **__: notes.add(message)
        try:
            yield notes
        finally:
            notes.tell()
