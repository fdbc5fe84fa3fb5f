"""Times of a likelihood of log time."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["LEAST_LOG_TIME", "in_log_time"]

# Survival at this logarithm of time is 1 under any distribution that float32 can tell from a point.
LEAST_LOG_TIME = -1e6


def in_log_time(time: Any, entry: Any, event: Any, offset: Any) -> tuple[Any, Any, Any]:
    """Logarithms of times and entries, and the offset of each row's loss with that of the time in it."""
    with np.errstate(divide="ignore"):
        # T has the density of log T divided by T; a row censored at 0 says nothing: log S(-inf) = 0.
        time, entry = np.log(time), None if entry is None else np.log(np.maximum(entry, 0.0))
    offset = offset + np.where(event, time, 0.0)
    return np.maximum(time, LEAST_LOG_TIME), entry, offset
