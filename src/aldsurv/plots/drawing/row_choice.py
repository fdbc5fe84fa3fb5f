"""Which individuals a plot shows, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import ParameterError

__all__ = ["choose_row_numbers", "choose_rows"]

_MOST_LINES = 10


def choose_rows(
    distribution: SurvivalDistribution, rows: Any, labels: Sequence[str] | None
) -> tuple[SurvivalDistribution, list[str | None]]:
    """Rows to draw and the names of their lines; a line without a name needs no legend."""
    n = len(distribution)
    numbers = choose_row_numbers(n, rows)
    if not 1 <= numbers.size <= _MOST_LINES:
        remedy = " Choose some of them, such as rows=[0]." if n else ""
        raise ParameterError(
            f"a plot can show between 1 and {_MOST_LINES} individuals, but would have to show {numbers.size} of "
            f"{n} rows.{remedy}"
        )
    if labels is None:
        return distribution[numbers], [f"row {number}" if numbers.size > 1 else None for number in numbers]
    if isinstance(labels, str) or len(labels) != numbers.size:
        raise ParameterError(f"labels must be a list of {numbers.size} names, one a line, but are {labels!r:.60}.")
    return distribution[numbers], [str(label) for label in labels]


def choose_row_numbers(n: int, rows: Any) -> NDArray[np.intp]:
    """Numbers of the rows that ``rows`` chooses of n; None for all."""
    numbers = np.arange(n)
    if rows is None:
        return numbers
    try:
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            rows = rows.astype(np.intp) if rows.size == 0 else rows
        return np.atleast_1d(numbers[rows])
    except IndexError as error:
        raise ParameterError(f"rows must choose among {n} rows, but are {rows!r:.60} ({error}).") from None
