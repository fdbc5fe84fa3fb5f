"""Values of docs/cluster.md: training by one process and by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["values"]

_FILE, _SECTION = "scale.json", "shared training"


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(_FILE, _SECTION)
    fits: Sequence[Mapping[str, Any]] = measured["fits"]
    return {
        "date of shared training": origins(_FILE)[_SECTION].date,
        "shared rows": f"{measured['rows']:,}",
        "shared columns": str(measured["columns"]),
        "shared runs": str(len({fit["run"] for fit in fits}) // len({fit["batch"] for fit in fits})),
        "shared load": number(median(fit["load"] for fit in fits)),
        "shared training": _by_batch(fits),
        "shared weights": _weights(fits),
    }


def _by_batch(fits: Sequence[Mapping[str, Any]]) -> str:
    """A row per way, and for each size of a batch both kinds of seconds of the fastest run."""
    batches = sorted({fit["batch"] for fit in fits})
    ways = list(dict.fromkeys(fit["way"] for fit in fits))
    rows = []
    for way in ways:
        row = [way]
        for batch in batches:
            fastest = min((fit for fit in fits if (fit["way"], fit["batch"]) == (way, batch)), key=_seconds)
            row += [number(fastest[key], 3) for key in ("seconds", "processor seconds")]
        rows.append(row)
    head = [f"{what}, batches of {batch:,}" for batch in batches for what in ("seconds", "core-seconds")]
    return table(["", *head], rows)


def _seconds(fit: Mapping[str, Any]) -> float:
    return float(fit["seconds"])


def _weights(fits: Sequence[Mapping[str, Any]]) -> str:
    """Whether all ways gave the same weights."""
    batches = {fit["batch"] for fit in fits}
    same = len({(fit["batch"], fit["weights"]) for fit in fits}) == len(batches)
    return "the same bits" if same else "different bits"
