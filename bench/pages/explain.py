"""Values of docs/explain.md: milliseconds per row, and errors."""

from __future__ import annotations

from collections.abc import Mapping

from bench.explain import FILE, SECTION
from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(FILE, SECTION)
    models: Mapping[str, Mapping[str, float]] = measured["models"]
    rows = [
        [
            f"`{name}`",
            number(one["milliseconds"]),
            number(one["first"]),
            f"{one['missed']:.4f}",
            f"{one['stated']:.4f}",
        ]
        for name, one in models.items()
    ]
    head = ["model", "ms per row", "ms for one row and the background", "true error", "standard error"]
    return {
        "milliseconds of explanations": table(head, rows),
        "rows of explanations": f"{measured['rows']:,}",
        "columns of explanations": str(measured["columns"]),
        "times of explanations": str(measured["times"]),
        "date of explanations": origins(FILE)[SECTION].date,
    }
