"""Numbers and tables as pages show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

__all__ = ["Table", "in_words", "number", "parsed_table", "table"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first columns are set to the left and the others to the right."""
    lines = [head, ["---"] * left + ["--:"] * (len(head) - left), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


class Table(TypedDict):
    """A table as results files hold it: texts, the first of each row its name."""

    head: list[str]
    rows: list[list[str]]


def parsed_table(text: str) -> Table:
    """The inverse of `table`."""
    head, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines()]
    return {"head": head, "rows": rows}


def number(value: float, digits: int = 2) -> str:
    """With that many significant digits, without an exponent, as ``"0.0052"``, ``"13"`` or ``"1204"``."""
    if value == 0:
        return "0"
    shown = float(f"{value:.{digits}g}")
    decimals = max(0, digits - 1 - int(f"{shown:e}".partition("e")[2]))
    return f"{shown:.{decimals}f}" if shown < 10**digits else f"{value:.0f}"


def in_words(names: Sequence[str]) -> str:
    """Names in a sentence: ``"a, b and c"``, or ``"none"``."""
    if len(names) < 2:
        return names[0] if names else "none"
    return f"{', '.join(names[:-1])} and {names[-1]}"
