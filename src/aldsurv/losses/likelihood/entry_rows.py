"""Rows with delayed entry as two sets of rows without: a mixture must survive the entry as a whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData

__all__ = ["outcome_and_entry"]


def outcome_and_entry(data: SurvivalData) -> tuple[SurvivalData, SurvivalData | None, NDArray[np.bool_]]:
    """What happened to each row, what it had survived before, and which rows entered late.

    Parameters
    ----------
    data
        Rows of any censoring.

    Returns
    -------
    outcome, survived, entered
        Rows without entry or causes. Those of `survived` are censored at the entry, or at 0 where there is none; it is
        None if no row entered late.
    """
    if data.entry is None or not np.isfinite(data.entry).any():
        return data, None, np.zeros(len(data), np.bool_)
    entered = np.isfinite(data.entry)
    since = np.where(data.left_censored & entered, data.entry, data.lower)
    # What a row must have survived counts like a censoring there.
    known = np.where(entered, data.entry, 0.0)
    outcome = SurvivalData.from_checked(since, data.upper)
    return outcome, SurvivalData.from_checked(known, np.full(len(data), np.inf)), entered
