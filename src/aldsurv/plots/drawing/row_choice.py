"""Which individuals a plot shows, and under which names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

__all__ = ["RowChoice", "choose_row_numbers", "choose_rows", "row_labels"]

# An index of rows, as in ``distribution[rows]``; None for all.
RowChoice: TypeAlias = slice | ArrayLike | None

_MOST_LINES = 10


def choose_rows(
    distribution: SurvivalDistribution, rows: RowChoice, labels: Sequence[str] | None
) -> tuple[SurvivalDistribution, list[str | None]]:
    """Rows to draw and the names of their lines; a single row has no name."""
    n = len(distribution)
    numbers = choose_row_numbers(n, rows)
    return distribution[numbers], row_labels(numbers, n, labels)


def row_labels(numbers: NDArray[np.intp], n: int, labels: Sequence[str] | None) -> list[str | None]:
    """Names of the lines of chosen rows, at most ten; a single row has no name.

    Parameters
    ----------
    numbers, n
        The rows, of how many.
    labels
        What a user named them; None: their numbers.
    """
    if not 1 <= numbers.size <= _MOST_LINES:
        raise ParameterError(
            f"a plot can show between 1 and {_MOST_LINES} individuals, but would have to show {numbers.size} of "
            f"{n} rows.",
            argument="rows",
            advice="Choose some of them, such as rows=[0]." if n else "",
        )
    if labels is None:
        return [f"row {number}" if numbers.size > 1 else None for number in numbers]
    if isinstance(labels, str) or len(labels) != numbers.size:
        problem = f"labels must be a list of {numbers.size} names, one per line, but are {quoted(labels, 60)}."
        raise ParameterError(problem, argument="labels")
    return [str(label) for label in labels]


def choose_row_numbers(n: int, rows: RowChoice) -> NDArray[np.intp]:
    """Numbers of the chosen rows of n."""
    numbers = np.arange(n)
    if rows is None:
        return numbers
    try:
        if isinstance(rows, slice):
            return numbers[rows]
        index = np.asarray(rows)
        return np.atleast_1d(numbers[index.astype(np.intp) if index.size == 0 else index])
    except IndexError as error:
        problem = f"rows must choose among {n} rows, but are {quoted(rows, 60)} ({error})."
        raise ParameterError(problem, argument="rows") from None
