"""Values of docs/update.md: at which rung updates on drawn shifts stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.pages.markdown import in_words, table
from bench.pages.results import origins, read_section
from bench.update import FILE, SECTION

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(FILE, SECTION)
    shifts: Sequence[Mapping[str, Any]] = measured["shifts"]
    right = [line["rungs with 300 events"].get(line["right rung"], 0) for line in shifts]
    worst = max(line["worst loss with 30 events, standard errors"] for line in shifts)
    return {
        "drawn shifts": _listed(shifts),
        "repetitions of shifts": str(measured["repetitions"]),
        "fewest right rungs": str(min(right)),
        "worst loss with few events": f"{worst:.2f}",
        "losses above one": str(sum(line["losses above one"] for line in shifts)),
        "date of shifts": origins(FILE)[SECTION].date,
    }


def _listed(shifts: Sequence[Mapping[str, Any]]) -> str:
    """A row per shift: the right rung, how often it was chosen, and which others were."""
    rows = []
    for line in shifts:
        many, few = line["rungs with 300 events"], line["rungs with 30 events"]
        others = ", ".join(f"`{rung}` {count}" for rung, count in many.items() if rung != line["right rung"])
        chosen = in_words([f"`{rung}` {count}" for rung, count in few.items()])
        right = str(many.get(line["right rung"], 0))
        rows.append([line["shift"], f"`{line['right rung']}`", right, others, chosen])
    return table(
        ["what moved", "right rung", "chosen with 300 events", "others", "chosen with 30 events"], rows, left=2
    )
