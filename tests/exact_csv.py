"""pandas' reader of CSV files with every digit of a number."""

from __future__ import annotations

from typing import Any

import pandas as pd

# Reading a number back as it was written is an option before pandas 3.1, and from there on the only way.
EXACT = {"float_precision": "round_trip"} if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1) else {}


def read_exact_csv(source: Any, **options: Any) -> pd.DataFrame:
    """A table as pandas reads it, its numbers equal to those that were written."""
    return pd.read_csv(source, **EXACT, **options)
