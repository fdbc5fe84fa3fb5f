"""What a fitted model computes its predictions from, beside its columns and settings, for those who apply it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline

__all__ = ["Baseline", "ModelStructure", "baselines_of"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Baseline:
    """A cumulative hazard to which that of each row is proportional: a step at each time.

    Attributes
    ----------
    name
        The stratum or the cause that it is of; empty if there is one only.
    times
        Times of the steps (m,), ascending.
    cumulative
        Its values from each time on (m,).
    centre
        Sum of coefficients times columns of the row whose hazard it is.
    """

    name: str
    times: FloatArray
    cumulative: FloatArray
    centre: float


@final
@dataclass(frozen=True, eq=False)
class ModelStructure:
    """What the predictions are computed from.

    Attributes
    ----------
    formula
        How a prediction follows from the columns, in a sentence or two; empty if no short one does.
    facts
        Names and values: layers, trees, members, how long training took.
    baselines
        Those of a model of proportional hazards; else none.
    held_out
        Share of the rows that each member held out of training; 0 if none.
    complete
        Whether formula, coefficients and baselines are the whole model, so that predictions can be made by hand.
    """

    formula: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    baselines: tuple[Baseline, ...] = ()
    held_out: float = 0.0
    complete: bool = False


def baselines_of(
    baseline: BaselineHazard | StratifiedBaseline, centre: float, strata: tuple[str, ...], cause: str = ""
) -> tuple[Baseline, ...]:
    """A baseline for each stratum, or the only one.

    Parameters
    ----------
    baseline, centre
        The hazard of a row, and the linear predictor of that row.
    strata
        Names of all strata, by their numbers.
    cause
        The cause that it is of, if there are several.
    """
    if isinstance(baseline, BaselineHazard):
        return (Baseline(cause, baseline.times, baseline.cumulative, centre),)
    return tuple(
        Baseline(", ".join(filter(None, [cause, strata[int(level)]])), one.times, one.cumulative, centre)
        for level, one in zip(baseline.levels.tolist(), baseline.baselines, strict=True)
    )
