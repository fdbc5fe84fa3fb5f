"""Values of docs/calculator.md: sizes of pages, and milliseconds of answers."""

from __future__ import annotations

from bench.calculator import FILE, SECTION
from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(FILE, SECTION)
    rows = [
        [
            f"`{one['model']}`",
            f"{one['rows']:,}",
            f"{one['file'] / 1e3:.0f}",
            f"{one['page'] / 1e3:.0f}",
            number(one["answer"]),
            number(one["contributions"]),
        ]
        for one in measured
    ]
    head = ["model", "rows", "model file, kB", "page, kB", "ms for an answer", "ms for seven contributions"]
    return {"sizes of pages": table(head, rows), "date of pages": origins(FILE)[SECTION].date}
