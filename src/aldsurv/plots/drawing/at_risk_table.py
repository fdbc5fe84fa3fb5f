"""The number at risk, written under the ticks of a time axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, Locator

from aldsurv.nonparametric import KaplanMeier

__all__ = ["add_at_risk_row"]

_NAME = "number at risk"
# Distance between lines of text, and about half the width of a digit, in heights of the letters.
_LINE, _HALF_DIGIT = 1.3, 0.3


class _SameTicks(Locator):
    """The ticks of another time axis, also after its limits have changed."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax

    def __call__(self) -> Sequence[float]:
        low, high = sorted(self._ax.get_xlim())
        return [float(tick) for tick in self._ax.get_xticks() if low <= tick <= high]


def add_at_risk_row(ax: Axes, estimate: KaplanMeier, label: str | None, colour: str) -> None:
    """Write the number at risk at each tick below the name of the time axis, under the rows already there."""
    earlier = sum(child.get_label() == _NAME for child in ax.child_axes)
    size = float(ax.xaxis.label.get_fontsize())
    # In points from the axis, so that it fits figures of any size; tick labels and the axis label come first.
    heading = 2 * _LINE * size + 8
    down = heading + (1 + earlier) * _LINE * size
    # A second axis in the same place, so that the numbers stay with their ticks when the limits change.
    row = ax.secondary_xaxis("bottom")
    row.set_label(_NAME)
    row.xaxis.set_major_locator(_SameTicks(ax))
    row.xaxis.set_major_formatter(FuncFormatter(lambda time, _: _number(float(estimate.at_risk_at(time)))))
    row.tick_params(length=0, pad=down, labelcolor=colour, labelsize="small")
    row.spines[:].set_visible(False)
    if not earlier:
        _write(ax, _NAME, (0.0, -heading), "0.4", "left")
    if label is not None:
        # Left of the first number, half of which is left of the axis; names are aligned up to five digits.
        digits = max(5, len(_number(float(estimate.at_risk.max()))))
        _write(ax, label, (-digits * _HALF_DIGIT * size - 8, -down), colour, "right")


def _write(ax: Axes, text: str, place: tuple[float, float], colour: str, side: str) -> None:
    ax.annotate(
        text,
        xy=(0.0, 0.0),
        xycoords="axes fraction",
        xytext=place,
        textcoords="offset points",
        ha=side,
        va="top",
        color=colour,
        fontsize="small",
        annotation_clip=False,
    )


def _number(value: float) -> str:
    """One decimal for counts that weights have made fractional."""
    return f"{np.round(value, 1):.1f}".removesuffix(".0")
