"""Notes on rows that users give: Python's warnings, or records of the logger ``aldsurv`` for a service.

In a notebook people see warnings. A service needs every note, of every request and thread, with a level, which Python's
warnings cannot give: their filters belong to the process, show one text once per line of code, and are changed by other
libraries while they work. So notes on columns are given by `warn`, which does not pass the filters once `log_warnings`
has been called; warnings of fits and metrics pass them, and are logged where they would be shown.
"""

from __future__ import annotations

import inspect
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, final

from aldsurv.checks import Flag, check
from aldsurv.errors import AldsurvWarning

__all__ = ["log_warnings", "muted", "warn"]

LOGGER = logging.getLogger("aldsurv")

_PACKAGE = f"{Path(__file__).parent}{os.sep}"
# Of a thread, not of the process: what one request mutes, another still gets.
_MUTED: ContextVar[bool] = ContextVar("muted", default=False)


@final
class _Route:
    """Where warnings go: to the logger while there is a function that showed them before, and the filter of then."""

    shown_by: Any = None
    filter: Any = None


_ROUTE = _Route()


def log_warnings(on: bool = True) -> None:
    """Send aldsurv's warnings to the logger ``aldsurv``, each time they are given, and not to standard error.

    To be called once, when a service starts. Records have the level ``WARNING``, or ``INFO`` where nothing is lost, as
    for columns that are not used, and the name of the warning's class in ``record.category``.

    Parameters
    ----------
    on
        False: show them again as Python shows warnings.

    Examples
    --------
    >>> import logging
    >>> logging.getLogger("aldsurv").setLevel(logging.WARNING)
    >>> log_warnings()
    >>> log_warnings(False)
    """
    check("on", on, Flag())
    if on == (_ROUTE.shown_by is not None):
        return
    if on:
        # The logger has levels and filters of its own.
        warnings.filterwarnings("always", category=AldsurvWarning)
        _ROUTE.shown_by, _ROUTE.filter = warnings.showwarning, warnings.filters[0]
        warnings.showwarning = _log_shown
        return
    # Others may have put a function or filters of their own in place since then.
    if warnings.showwarning is _log_shown:
        warnings.showwarning = _ROUTE.shown_by
    if _ROUTE.filter in warnings.filters:
        warnings.filters.remove(_ROUTE.filter)  # type: ignore[attr-defined]
    _ROUTE.shown_by = _ROUTE.filter = None


def warn(
    message: str | AldsurvWarning, category: type[AldsurvWarning] = AldsurvWarning, *, level: int = logging.WARNING
) -> None:
    """Give a note on columns; as a warning it is about the line that called aldsurv.

    Parameters
    ----------
    message
        One line, or the warning itself.
    category
        Class of the warning, if `message` is a line.
    level
        Of the record, if notes are logged.
    """
    if _MUTED.get():
        return
    note = category(message) if isinstance(message, str) else message
    if _ROUTE.shown_by is None:
        warnings.warn(note, stacklevel=_levels_to_caller())
    else:
        _log(note, level)


@contextmanager
def muted() -> Iterator[None]:
    """Give no notes in this block: they would repeat others, or be about rows that the user did not choose."""
    token = _MUTED.set(True)
    try:
        yield
    finally:
        _MUTED.reset(token)


def _log(note: Warning, level: int) -> None:
    LOGGER.log(level, "%s", note, extra={"category": type(note).__name__}, stacklevel=_levels_to_caller())


def _log_shown(message: Any, category: type[Warning], *place: Any, **options: Any) -> None:
    if issubclass(category, AldsurvWarning):
        _log(message, logging.WARNING)
    else:
        _ROUTE.shown_by(message, category, *place, **options)


def _levels_to_caller() -> int:
    """The `stacklevel`, for who calls this function's caller, of the first line outside of aldsurv."""
    # 3.12 has skip_file_prefixes, which does the same.
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
