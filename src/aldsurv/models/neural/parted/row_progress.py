"""How far a fit of many rows has come: rows per second and the time left, for people who watch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RowProgress", "ShowLine", "status_line"]

# Shows a text in place of the one before; whether it is the last one of its line.
ShowLine = Callable[[str, bool], object]

# Of a line that stays readable.
_SECONDS_BETWEEN_LINES = 0.5


def status_line(show: bool | str) -> ShowLine | None:
    """What writes a line on the standard error stream again and again; None: nothing is shown.

    Parameters
    ----------
    show
        True, False, or ``"auto"``: when the standard error stream is a terminal.
    """
    stream, width = sys.stderr, 0
    if not stream or not (show is True or (show == "auto" and stream.isatty())):
        return None

    def write(text: str, last: bool) -> None:
        nonlocal width
        sys.stderr.write("\r" + text.ljust(width) + "\n" * last)
        sys.stderr.flush()
        width = 0 if last else len(text)

    return write


@final
class RowProgress:
    """Rows per second and the time left, as a text that changes.

    Parameters
    ----------
    show
        What shows the text; None: nothing does.
    """

    def __init__(self, show: ShowLine | None) -> None:
        self._show = show
        self._phase, self._total, self._done, self._epoch = "", 0, 0, -1
        self._began = self._shown = time.monotonic()

    def begin(self, phase: str, total: int) -> None:
        """A phase in which so many rows are to be read."""
        self._finish()
        self._phase, self._total, self._done, self._epoch = phase, total, 0, -1
        self._began = time.monotonic()

    def advance(self, rows: int) -> None:
        """So many more rows were read."""
        self._done += rows
        if self._show is not None and time.monotonic() - self._shown > _SECONDS_BETWEEN_LINES:
            self._show(self.text(), False)
            self._shown = time.monotonic()

    def advance_epoch(self, epoch: int, rows: int) -> None:
        """So many more rows were learned from, in an epoch counted from 0."""
        self._epoch = epoch
        self.advance(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._finish()

    def text(self) -> str:
        """The line."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        rate = self._done / seconds
        epoch = f" (epoch {self._epoch + 1})" if self._epoch >= 0 else ""
        left = max(self._total - self._done, 0) / rate if rate else 0.0
        line = f"{self._phase}{epoch}: {self._done:,} of {self._total:,} rows, {rate:,.0f} rows/s"
        return f"{line}, {_duration(left)} left" if left else line

    def _finish(self) -> None:
        if self._show is not None and self._done:
            self._show(self.text(), True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
