"""Values of README.md."""

from __future__ import annotations

from bench.accuracy.tables import short_table
from bench.pages import accuracy, performance

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    texts = accuracy.values() | performance.values()
    names = ("models compared", "seconds of the benchmark", "seconds of a default fit")
    return {"compared": short_table(accuracy.study_cells()), **{name: texts[name] for name in names}}
