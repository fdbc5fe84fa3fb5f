"""What tables hold in place of a gap: words among numbers, and numbers such as -9 and 999."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.plain_numbers import plain_number

__all__ = ["GapValue", "likely_gap_values", "words_among_numbers"]

_BELOW, _ABOVE = (-9, -99, -999, -9999), (999, 9999, 99999)
# One such number may be a value like others, and so may one that others come near to.
_FEWEST_ROWS, _TIMES_OTHERS = 2, 4
_MOST_WORDS = 3


class GapValue(NamedTuple):
    """A column, in how many rows it holds the number, and the limit of the others on that side."""

    column: str
    rows: int
    limit: float


def likely_gap_values(x: Mapping[str, NDArray[Any]]) -> dict[str, Sequence[GapValue]]:
    """Numbers that may stand for gaps, as text, and the columns that hold them.

    A negative number is one if all others of the column are 0 or more, a positive one if it is four times as large as
    any other.

    Examples
    --------
    >>> likely_gap_values({"age": np.array([50, 61, -9, 47, -9]), "score": np.array([-9, -9, -3, 1, 0])})
    {'-9': [GapValue(column='age', rows=2, limit=47.0)]}
    """
    found: dict[str, list[GapValue]] = defaultdict(list)
    for name, values in x.items():
        if values.dtype.kind not in "iuf":
            continue
        for number in (*_BELOW, *_ABOVE):
            rows = int((values == number).sum())
            others = values[np.isfinite(values) & (values != number)]
            if rows < _FEWEST_ROWS or not others.size:
                continue
            limit = float(others.min() if number < 0 else others.max())
            if limit >= 0 if number < 0 else _TIMES_OTHERS * limit <= number:
                found[plain_number(number)].append(GapValue(name, rows, limit))
    return dict(found)


def words_among_numbers(values: NDArray[Any]) -> Sequence[str]:
    """The few different words of a column that otherwise holds numbers; none if there are many."""
    from aldsurv.data.frame_columns import is_numeric_text

    words = {value.strip() for value in set(values.tolist()) if isinstance(value, str) and not is_numeric_text(value)}
    return sorted(words) if len(words) <= _MOST_WORDS else []
