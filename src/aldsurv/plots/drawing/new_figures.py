"""New figures: shown in notebooks, and everywhere else objects of the caller's alone.

A notebook shows what pyplot manages at the end of each cell, and closes it. A script or a service gets figures that
pyplot does not manage: they need no display, may be made in any thread, and are freed like any other object, while
pyplot would keep each of them until it is closed.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["figures_for_pages", "new_axes", "new_figure", "returned_figure"]

# Backends that write files and show nothing.
_FILES_ONLY = {"agg", "cairo", "pdf", "pgf", "ps", "svg", "template"}
_FOR_PAGE: ContextVar[bool] = ContextVar("for_page", default=False)


@contextmanager
def figures_for_pages() -> Iterator[None]:
    """Make figures in this block that are not shown, in a notebook either: they are for a page."""
    token = _FOR_PAGE.set(True)
    try:
        yield
    finally:
        _FOR_PAGE.reset(token)


def new_axes(width: float = 6.4, height: float = 4.0) -> Axes:
    """Axes of a new figure, in inches; a notebook shows it at the end of the cell."""
    return new_figure(width, height).subplots()


def new_figure(width: float, height: float, layout: Literal["constrained"] | None = "constrained") -> Figure:
    """A new figure, in inches, for a function that returns its axes."""
    if not _is_shown():
        return Figure(figsize=(width, height), layout=layout)
    from matplotlib import pyplot

    return pyplot.figure(figsize=(width, height), layout=layout)


def returned_figure(width: float, height: float) -> Figure:
    """A new figure, in inches, for a function that returns it: a notebook shows the value of a cell."""
    figure = new_figure(width, height)
    if _is_shown() and "inline" in matplotlib.get_backend().lower():
        # As the value of a cell and as one of pyplot's figures it would be shown twice.
        from matplotlib import pyplot

        pyplot.close(figure)
    return figure


def _is_shown() -> bool:
    """Whether someone works in IPython, with a backend that shows figures; pyplot is for the main thread only."""
    interactive = sys.modules.get("IPython")
    if interactive is None or _FOR_PAGE.get() or threading.current_thread() is not threading.main_thread():
        return False
    return interactive.get_ipython() is not None and matplotlib.get_backend().lower() not in _FILES_ONLY
