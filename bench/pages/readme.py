"""Values of README.md."""

from __future__ import annotations

from bench.accuracy.tables import short_table
from bench.pages import accuracy, neutral, performance

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    cells = accuracy.study_cells()
    count = str(len(accuracy.compared_models(cells)))
    return performance.values() | neutral.headline() | {"compared": short_table(cells), "models compared": count}
