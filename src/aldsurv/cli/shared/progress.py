"""How far a long command is: one line that is written over on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from aldsurv.cli.shared.text_layout import screen_width
from aldsurv.quoting import printable

__all__ = ["progress_line"]

_CLEAR = "\r\033[K"


@contextmanager
def progress_line(*, show: bool) -> Iterator[Callable[[str], None]]:
    """A function that shows a line on the standard error stream in place of the one before; cleared at the end.

    Parameters
    ----------
    show
        Whether to show it at all; it is shown on a terminal only.
    """
    if not show or not sys.stderr.isatty():
        yield lambda line: None
        return
    try:
        yield lambda line: click.echo(f"{_CLEAR}{printable(line)[: screen_width() - 1]}", nl=False, err=True)
    finally:
        click.echo(_CLEAR, nl=False, err=True)
