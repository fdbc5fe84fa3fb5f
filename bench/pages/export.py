"""Values of docs/export.md: what scoring a row costs by ONNX and by numpy."""

from __future__ import annotations

from bench.onnx_scoring import FILE, SECTION
from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(FILE, SECTION)
    rows = [
        [one["by"], number(one["microseconds"], 2), f"{one['apart']:.0e}" if one["apart"] else "–"]
        for one in measured["ways"]
    ]
    head = ["by", "µs of processor per row", "largest difference from numpy"]
    return {
        "scoring by ONNX": table(head, rows),
        "date of ONNX": origins(FILE)[SECTION].date,
        "members of ONNX": str(measured["members"]),
        "rows of ONNX": f"{measured['rows']:,}",
        "columns of ONNX": str(measured["columns"]),
        "block of ONNX": f"{measured['block']:,}",
    }
