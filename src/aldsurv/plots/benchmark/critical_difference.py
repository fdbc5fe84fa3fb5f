"""Critical-difference diagrams: mean ranks on a line, models that do not differ joined (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from aldsurv.errors import ParameterError
from aldsurv.plots.drawing.appearance import marker_look
from aldsurv.plots.drawing.new_figures import new_axes

__all__ = ["plot_critical_difference"]

_BAR_STEP = 0.32
_LABEL_STEP = 0.62


def plot_critical_difference(
    ranks: Mapping[str, float],
    critical_difference: float,
    *,
    groups: Sequence[Sequence[str]] = (),
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw a critical-difference diagram.

    Parameters
    ----------
    ranks
        Mean rank of each model, 1 being the best, in any order; models without one (NaN) are left out.
    critical_difference
        Drawn as a ruler; NaN for none.
    groups
        Models that do not differ, each group joined by a bar.
    title
        Above the diagram.
    ax
        Where to draw; None: in a new figure.

    Examples
    --------
    >>> ax = plot_critical_difference({"A": 1.2, "B": 1.8, "C": 3.0}, 0.9, groups=[("A", "B")])
    >>> [text.get_text() for text in ax.texts]
    ['1', '2', '3', 'CD 0.90', 'A  1.20', 'B  1.80', 'C  3.00']
    """
    if unknown := [name for group in groups for name in group if name not in ranks]:
        raise ParameterError(f"groups must be of models with ranks, but {unknown[0]!r} has none.", argument="groups")
    ranked = sorted((rank, name) for name, rank in ranks.items() if math.isfinite(rank))
    count = max(len(ranked), 2)
    left = ranked[: (len(ranked) + 1) // 2]
    first_label = 0.45 + _BAR_STEP * len(groups)
    depth = first_label + _LABEL_STEP * max(len(left), 1)
    if ax is None:
        ax = new_axes(6.4, 0.85 + 0.42 * depth + 0.3 * bool(title))
    _axis(ax, count, critical_difference)
    for place, group in enumerate(groups):
        ends = min(ranks[name] for name in group) - 0.03, max(ranks[name] for name in group) + 0.03
        height = 0.35 + _BAR_STEP * place
        ax.plot(ends, [height, height], color="0.25", linewidth=3.5, solid_capstyle="butt")
    places = {name: place for place, name in enumerate(ranks)}
    right = ranked[len(left) :]
    # On both sides the outermost model is labelled highest, so that the lines do not cross.
    for side, models in ((-1, left), (1, right[::-1])):
        for level, (rank, name) in enumerate(models):
            height = first_label + _LABEL_STEP * (level + 0.5)
            edge = 1 - 0.12 if side < 0 else count + 0.12
            colour = marker_look(places[name])["color"]
            ax.plot([rank, rank, edge], [0, height, height], color=colour, linewidth=1.2, zorder=1)
            text = f"{name}  {rank:.2f}"
            ax.text(edge + 0.05 * side, height, text, ha="right" if side < 0 else "left", va="center", fontsize="small")
    ax.set_ylim(depth, -1.15)
    ax.set_title(title, fontsize="medium")
    return ax


def _axis(ax: Axes, count: int, critical_difference: float) -> None:
    """The line of ranks with its numbers above, and the ruler above them."""
    ax.set_axis_off()
    margin = 0.26 * (count - 1) + 0.2
    ax.set_xlim(1 - margin, count + margin)
    ax.plot([1, count], [0, 0], color="black", linewidth=1.2)
    for rank in range(1, count + 1):
        ax.plot([rank, rank], [0, -0.14], color="black", linewidth=1.2)
        ax.annotate(str(rank), (rank, -0.2), ha="center", va="bottom", fontsize="small")
    if math.isfinite(critical_difference):
        end = 1 + critical_difference
        ax.errorbar([1, end], [-0.95, -0.95], yerr=0.1, color="black", linewidth=1.2)
        ax.text(end + 0.08, -0.95, f"CD {critical_difference:.2f}", ha="left", va="center", fontsize="small")
