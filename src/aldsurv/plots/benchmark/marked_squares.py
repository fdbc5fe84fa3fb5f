"""A table of squares, each with a colour and a mark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle

from aldsurv.errors import ParameterError
from aldsurv.plots.drawing.appearance import COLOURS
from aldsurv.plots.drawing.new_figures import new_axes

__all__ = ["plot_squares"]

# Of marks that stand for nothing to explain, and for something that is not explained.
_PLAIN, _OPEN = "0.88", "#000000"
# The black of the usual colours is taken.
_COLOURS = (*(colour for colour in COLOURS if colour != _OPEN), "#7A5195")


def plot_squares(
    rows: Sequence[str],
    groups: Sequence[tuple[str, Sequence[str]]],
    marks: Sequence[Sequence[str]],
    meanings: Mapping[str, str],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw a square for each cell of a table, coloured by the first letter of its mark, with the mark in it.

    Parameters
    ----------
    rows
        Their names.
    groups
        Groups of columns: a title, and the names of its columns.
    marks
        A text per row and column; an empty one is a pale square, ``"?"`` a black one, None no square.
    meanings
        What each letter of the marks means, in the order of the legend; ``""`` and ``"?"`` too.
    ax
        Where to draw; None: in a new figure.
    """
    columns = [name for _, names in groups for name in names]
    if len(marks) != len(rows) or any(len(row) != len(columns) for row in marks):
        raise ParameterError(f"marks must have {len(rows)} rows of {len(columns)} columns, as named.", argument="marks")
    if ax is None:
        ax = new_axes(2.2 + 0.235 * len(columns), 2.0 + 0.235 * len(rows))
    letters = [letter for letter in meanings if letter not in ("", "?")]
    colours = {"": _PLAIN, "?": _OPEN, **dict(zip(letters, _COLOURS, strict=False))}
    # A gap of half a square between groups.
    places = [place + 0.5 * k for k, (_, names) in enumerate(groups) for place in _range(groups, k, names)]
    for i, row in enumerate(marks):
        for place, mark in zip(places, row, strict=True):
            colour = colours.get(mark[:1], _OPEN)
            ax.add_patch(Rectangle((place, i), 0.92, 0.92, facecolor=colour, linewidth=0, gid=f"square-{mark}"))
            if mark:
                ax.text(place + 0.46, i + 0.5, mark, ha="center", va="center", fontsize=5, color="white")
    for k, (title, names) in enumerate(groups):
        first = _range(groups, k, names)[0] + 0.5 * k
        ax.text(first + len(names) / 2, -0.35, title, ha="center", va="bottom", fontsize="small")
    ax.set_xlim(-0.2, places[-1] + 1.2)
    ax.set_ylim(len(rows) + 0.2, -1.6)
    ax.set_xticks([place + 0.46 for place in places], columns, rotation=90, fontsize="x-small")
    ax.set_yticks([i + 0.46 for i in range(len(rows))], rows, fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    handles = [Patch(facecolor=colours[letter], label=_legend_text(letter, text)) for letter, text in meanings.items()]
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize="x-small"
    )
    return ax


def _range(groups: Sequence[tuple[str, Sequence[str]]], place: int, names: Sequence[str]) -> range:
    before = sum(len(others) for _, others in groups[:place])
    return range(before, before + len(names))


def _legend_text(letter: str, text: str) -> str:
    return f"{letter}: {text}" if letter not in ("", "?") else text
