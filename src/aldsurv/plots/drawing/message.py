"""Words in axes: what a picture says beside its lines, and why it has none."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from matplotlib.axes import Axes

__all__ = ["collected_warnings", "write_message", "write_note"]

_GREY = "0.4"
_WIDTH = 32


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """What metrics warn of, as text to write into the axes: who looks at a picture does not see the terminal."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield told
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            told.append(_as_reason(str(warning.message)))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def write_message(ax: Axes, reasons: Sequence[str] | str) -> Axes:
    """Say in the middle of the axes why nothing is drawn; gives the axes back."""
    reason = reasons if isinstance(reasons, str) else next(iter(reasons), "there is no estimate.")
    # Lines of our own: matplotlib would wrap at the edge of the figure, across the axes beside these.
    told = textwrap.fill(f"Nothing to draw: {reason}", _WIDTH)
    ax.text(
        0.5, 0.5, told, transform=ax.transAxes, ha="center", va="center", color=_GREY, fontsize="small", gid="message",
        in_layout=False,
    )  # fmt: skip
    return ax


def write_note(ax: Axes, lines: Sequence[str], *, corner: str = "upper left") -> None:
    """Write numbers into a corner of the axes, such as ``"lower right"``."""
    vertical, horizontal = corner.split()
    ax.text(
        0.03 if horizontal == "left" else 0.97, 0.97 if vertical == "upper" else 0.03, "\n".join(lines),
        transform=ax.transAxes, ha=horizontal, va="top" if vertical == "upper" else "bottom", fontsize="small",
        linespacing=1.4, zorder=5, gid="note", in_layout=False,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2},
    )  # fmt: skip


def _as_reason(message: str) -> str:
    """A warning of a metric without the name of the function, which is no word for a picture."""
    return re.sub(r"^\w+ is not defined and NaN: ", "", message)
