"""Survival data in one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aldsurv.data.frame_columns import FloatArray
from aldsurv.plain_numbers import percent, plain_number

if TYPE_CHECKING:
    from aldsurv.data.observed_rows import ObservedRows

__all__ = ["summary_line"]


def summary_line(data: ObservedRows) -> str:
    """Rows, events, range of time, and what else there is."""
    n = len(data)
    if n == 0:
        return "n=0"
    bounds = np.concatenate([data.lower, data.upper])
    kinds = {"left-censored": data.left_censored, "interval-censored": data.interval_censored}
    # The others are events, too, at times that are not known exactly.
    exact = "exact " if any(rows.any() for rows in kinds.values()) else ""
    events = f"{data.n_events} {exact}{'event' if data.n_events == 1 else 'events'}"
    parts = [f"n={n}", f"{events} ({percent(data.n_events / data.n_persons)})", f"time {_range(bounds)}"]
    if data.person is not None:
        parts.insert(1, f"{data.n_persons} {'person' if data.n_persons == 1 else 'persons'}")
    parts += [f"{rows.sum()} {kind}" for kind, rows in kinds.items() if rows.any()]
    if data.cause is not None and data.causes is not None:
        counts = np.bincount(data.cause, minlength=len(data.causes) + 1)[1:]
        parts.append("causes " + ", ".join(f"{name} ({n})" for name, n in zip(data.causes, counts, strict=True)))
    if data.entry is not None and np.isfinite(data.entry).any():
        parts.append(f"entry {_range(data.entry)}")
    if data.weight is not None:
        parts.append(f"weights {_range(data.weight)} (total {_compact(data.total_weight)})")
    if data.group is not None and (data.person is None or data.n_groups < data.n_persons):
        parts.append(f"{data.n_groups} {'group' if data.n_groups == 1 else 'groups'}")
    return ", ".join(parts)


def _range(values: FloatArray) -> str:
    finite = values[np.isfinite(values)]
    return f"{_compact(finite.min())}–{_compact(finite.max())}"


def _compact(value: float) -> str:
    """Three digits, but never fewer than those before the point."""
    return plain_number(value, 3)
