"""Many rows in a few at a time."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["row_blocks"]

# Few enough for the cache of a processor, whatever the number of rows and times.
_VALUES = 1 << 16


def row_blocks(rows: int, values_per_row: int, *, values: int = _VALUES) -> Iterator[slice]:
    """Slices that cover all rows, each of about as many rows as have `values` numbers together."""
    step = max(1, values // max(1, values_per_row))
    for start in range(0, rows, step):
        yield slice(start, start + step)
