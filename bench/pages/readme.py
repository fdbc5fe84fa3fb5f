"""Values of README.md."""

from __future__ import annotations

from bench.accuracy.tables import short_table
from bench.pages import accuracy

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    cells = accuracy.study_cells()
    return {"compared": short_table(cells), "models compared": accuracy.values()["models compared"]}
