"""Text inside axes: numbers in a corner, and why nothing is drawn."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from matplotlib.axes import Axes
from matplotlib.figure import Figure

__all__ = ["collected_warnings", "reword_axes", "write_message", "write_note"]

_GREY = "0.4"
_WIDTH = 32
_METRIC_NAME = re.compile(r"^\w+ is not defined and NaN: ")


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Messages of warnings of the metrics, each once: the reader of a picture or a page does not see the terminal.

    The list is filled when the block ends. Warnings of other kinds, such as deprecations, are issued again.
    """
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if not issubclass(warning.category, UserWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        elif text not in messages:
            messages.append(text)


def write_message(ax: Axes, reasons: Sequence[str] | str) -> Axes:
    """Write in the middle of the axes why nothing is drawn; returns the axes."""
    reason = reasons if isinstance(reasons, str) else next(iter(reasons), "there is no estimate.")
    # Wrapped here: matplotlib would wrap at the edge of the figure, across neighbouring axes.
    text = textwrap.fill(f"Nothing to draw: {_METRIC_NAME.sub('', reason)}", _WIDTH)
    ax.text(
        0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=_GREY, fontsize="small", gid="message",
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


def reword_axes(figure: Figure, words: Mapping[str, str]) -> None:
    """Replace phrases in the labels of all axes, and whole entries of their legends.

    Parameters
    ----------
    figure
        The figure to change.
    words
        What stands for each phrase.
    """
    if not words:
        return
    # All at once, the longest first: what stands for a phrase may itself hold one.
    phrases = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b")
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_label_text(phrases.sub(lambda match: words[match[0]], axis.get_label_text()))
        legend = ax.get_legend()
        for entry in () if legend is None else legend.get_texts():
            entry.set_text(words.get(entry.get_text(), entry.get_text()))
