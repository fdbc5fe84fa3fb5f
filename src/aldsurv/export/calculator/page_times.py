"""Times at which a page shows probabilities unless others are given: round ones within follow-up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.errors import ParameterError
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

__all__ = ["MOST_TIMES", "checked_times", "default_times", "latest_time"]

# More make the table of a page long.
MOST_TIMES = 12
# What people count in; other units have round numbers.
_USUAL = {
    "days": (7, 14, 30, 90, 180, 365, 730, 1095, 1825, 3650, 7300),
    "weeks": (1, 2, 4, 8, 13, 26, 52, 104, 156, 260, 520, 1040),
    "months": (1, 3, 6, 12, 24, 36, 60, 120, 240, 360),
}
_SHARES = (0.25, 0.5, 1.0)
# Beyond so many times the last time of training, numbers are the form of a tail, and a drawing is a line at its edge.
_FARTHEST = 10


def default_times(end: float, unit: str | None) -> tuple[float, ...]:
    """One to three round times up to the end of follow-up.

    Parameters
    ----------
    end
        The end of follow-up.
    unit
        Of time, if it is known.

    Examples
    --------
    >>> default_times(70.0, "months"), default_times(8.4, None)
    ((12.0, 24.0, 60.0), (2.0, 5.0))
    """
    power = 10.0 ** np.floor(np.log10(end))
    round_numbers = [step * scale for scale in (power / 100, power / 10, power) for step in (1, 2, 5)]
    usual = [time for time in _USUAL.get((unit or "").strip().lower(), ()) if time <= end]
    # Neither a follow-up shorter than such times nor one far beyond them is counted in them.
    steps = usual if len(usual) > 2 and usual[-1] > end / 3 else round_numbers
    chosen = {max((float(f"{step:.6g}") for step in steps if step <= share * end), default=end) for share in _SHARES}
    return tuple(sorted(chosen))


def latest_time(last: float) -> float:
    """The latest time that a page is asked for, of a model whose training ended at another."""
    return float(f"{_FARTHEST * last:.4g}")


def checked_times(times: Sequence[float], latest: float) -> tuple[float, ...]:
    """Given times in ascending order, each once.

    `ParameterError` unless all are positive numbers, not too many, and none is later than the latest that a page shows.
    """
    try:
        grid = np.unique(np.asarray(times, dtype=np.float64).reshape(-1))
    except (TypeError, ValueError):
        raise ParameterError(f"times must be numbers, but {quoted(times, 60)} was given.", argument="times") from None
    if not 1 <= grid.size <= MOST_TIMES:
        raise ParameterError(f"times must be 1 to {MOST_TIMES} different times, but are {grid.size}.", argument="times")
    if not bool((np.isfinite(grid) & (grid > 0)).all()):
        raise ParameterError("times must be positive numbers.", argument="times")
    if grid[-1] > latest:
        raise ParameterError(
            f"times must be at most {plain_number(latest)}, {_FARTHEST} times the last time of training, but "
            f"{plain_number(grid[-1])} was given.",
            argument="times",
        )
    return tuple(grid.tolist())
