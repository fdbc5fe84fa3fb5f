"""Which printed calibration column can be Cal[S]: a slope and an intercept imply a least CensDcal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.datasets import names

__all__ = ["Bound", "calibration_bounds", "least_cens_dcal"]

_BINS = 10
# Half of the last digit that the paper prints.
_ROUNDING = 0.0005


class Bound(NamedTuple):
    """Whether a printed pair of slope and intercept can be of the curve whose CensDcal is printed beside it.

    Attributes
    ----------
    dataset, model
        The row of the printed table.
    column
        ``"cal_s"`` or ``"cal_f"``, as printed.
    ratio
        The least CensDcal that the pair implies, divided by the printed one; above 1 is impossible.
    """

    dataset: str
    model: str
    column: str
    ratio: float


def calibration_bounds() -> list[Bound]:
    """A bound per printed pair of slope and intercept, in its favour within rounding."""
    printed = published_results()
    bounds = []
    for dataset in names(paper=True):
        for model in PAPER_MODELS:
            largest = printed[dataset, model, "cens_dcal"].mean + _ROUNDING
            for column in ("cal_s", "cal_f"):
                pair = (printed[dataset, model, f"{column}_{which}"].mean for which in ("slope", "intercept"))
                bounds.append(Bound(dataset, model, column, least_cens_dcal(*pair, rounding=_ROUNDING) / largest))
    return bounds


def least_cens_dcal(slope: float, intercept: float, *, rounding: float = 0.0) -> float:
    """The least CensDcal that a Cal[S] curve of this slope and intercept can have.

    All three follow from the shares ``0.1 + d_j`` of the ten bins: slope - 1 and intercept are linear in d, CensDcal
    is ``100·|d|²``, least for the shortest d that gives both. It is convex in them, so the bound also holds for means
    over runs.

    Parameters
    ----------
    slope, intercept
        Of the line through the ten cumulative shares.
    rounding
        The least over all pairs within this distance of them.
    """
    form = _quadratic_form()
    ends = np.array([[slope - 1.0], [intercept]]) + rounding * np.array([-1.0, 1.0])
    if np.all(ends[:, 0] * ends[:, 1] <= 0):
        return 0.0
    # The form is convex and its zero lies outside the box: the least is on an edge.
    least = np.inf
    for fixed, free in ((0, 1), (1, 0)):
        for end in ends[fixed]:
            other = np.clip(-form[0, 1] * end / form[free, free], *ends[free])
            here = form[fixed, fixed] * end**2 + 2 * form[0, 1] * end * other + form[free, free] * other**2
            least = min(least, 100 * float(here))
    return least


def _quadratic_form() -> FloatArray:
    """Quadratic form of (slope - 1, intercept): the square of the shortest d that gives them."""
    steps = np.arange(1, _BINS + 1) / _BINS
    centred = steps - steps.mean()
    cumulated = np.tril(np.ones((_BINS, _BINS)))
    slope = centred / (centred @ centred) @ cumulated
    pair = np.stack([slope, np.full(_BINS, 1 / _BINS) @ cumulated - slope * steps.mean()])
    # Shares sum to 1, so that d sums to 0.
    pair = pair - pair.mean(axis=1, keepdims=True)
    return np.asarray(np.linalg.inv(pair @ pair.T))
