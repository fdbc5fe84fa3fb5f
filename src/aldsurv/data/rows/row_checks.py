"""Rules that every row of the outcome's columns must keep, and how the first row that breaks one is reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.frame_columns import BoolArray, Column
from aldsurv.quoting import quoted

__all__ = ["require_equal_length", "require_rows"]


def require_rows(
    good: BoolArray,
    column: Column,
    rule: str,
    shown: Mapping[str, NDArray[Any]],
    advice: str = "Drop or correct those rows.",
) -> None:
    """Raise `DataError` unless all rows are good.

    Parameters
    ----------
    good
        Which rows keep the rule.
    column, rule
        What the rule is about, and the rule, to follow "must be".
    shown
        Arrays whose values in the first bad row are shown, by what they are called.
    advice
        What to do.
    """
    if good.all():
        return
    bad = np.flatnonzero(~good)
    row = int(bad[0])
    values = [f"{label} {quoted(values[row : row + 1].tolist()[0])}".strip() for label, values in shown.items()]
    count = f"{bad.size} of {good.size} values {'is' if bad.size == 1 else 'are'}"
    raise column.error(f"must be {rule}, but {count} not, first {' and '.join(values)}", row=row, advice=advice)


def require_equal_length(first: Column, reference: NDArray[Any], other: Column, values: NDArray[Any]) -> None:
    """Raise `DataError` unless two columns are equally long and not empty."""
    if values.size != reference.size:
        raise first.error(
            f"has {reference.size} values, but {other.argument} has {values.size}",
            advice="Give columns of equal length: one value per row.",
        )
    if reference.size == 0:
        raise first.error("has no rows", advice="Give at least one.")
