"""What data with causes must have for a model to learn each of them."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = ["require_each_cause", "require_known_causes", "require_rows_without_event"]


def require_each_cause(data: SurvivalData) -> None:
    """Raise a `DataError` that names a cause without an event in any row that counts; data without causes pass."""
    if data.cause is None or data.causes is None:
        return
    counts = np.bincount(data.cause, weights=data.weights > 0, minlength=len(data.causes) + 1)[1:]
    if not counts.all():
        name = data.causes[int(np.argmin(counts))]
        raise DataError(
            f"no event of cause {quoted(name)} was observed",
            argument="y",
            advice="Leave the cause out of its names, or give rows in which it occurs.",
        )


def require_known_causes(data: SurvivalData) -> None:
    """Raise a `DataError` where an event is known to lie between times: its cause is not known."""
    unclear = ~(data.exact | data.right_censored)
    if unclear.any():
        row = int(np.argmax(unclear))
        raise DataError(
            "hazards of causes need events whose time and cause are known, but a row has one between two times "
            "(an event at time 0 counts as one before the first later time)",
            argument="causes",
            row=row,
            advice='Use causes="mixture".',
        )


def require_rows_without_event(data: SurvivalData) -> None:
    """Raise a `DataError` if every row had the event: there is no information on a share that never has it."""
    if not bool((data.right_censored & (data.weights > 0)).any()):
        raise DataError(
            "cure=True needs rows that were still without an event when they were last seen, but there are none",
            argument="cure",
            advice="Leave cure out: everyone had the event.",
        )
