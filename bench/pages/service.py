"""Values of docs/service.md: latency, many clients at once, fuzzed bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

__all__ = ["values"]

FILE = "serve.json"
_TITLES = {"cox": "`CoxRegression`", "ald": "`ALDSurvival()`"}


def values() -> dict[str, str]:
    """By name."""
    latency, load, fuzz = (read_section(FILE, section) for section in ("latency", "load", "fuzz"))
    return {
        "date": origins(FILE)["latency"].date,
        "load average": f"{latency['load average']:.0f}",
        "latency": _latency(latency["lines"]),
        "clients": f"{load['clients']:,}",
        "seconds": f"{load['seconds']:.0f}",
        "load": _load(load),
        "bodies": f"{fuzz['bodies']:,}",
        "statuses": " and ".join(f"{count:,} were answered by {status}" for status, count in fuzz["statuses"].items()),
    }


def _latency(lines: list[Mapping[str, Any]]) -> str:
    """A row per service and size."""
    rows = [
        [_TITLES.get(line["service"], line["service"]), f"{line['rows']:,}"]
        + [number(line[name], 3) for name in ("p50", "p99", "processor")]
        for line in lines
    ]
    return table(["service", "rows", "p50, ms", "p99, ms", "processor, ms"], rows)


def _load(load: Mapping[str, Any]) -> str:
    """One row: requests, errors, seconds until an answer, memory."""
    sizes = load["MB"]
    row = [f"{load['requests']:,}", f"{load['errors']:,}", number(load["per second"], 3), number(load["p50"], 3)]
    row += [number(load["p99"], 3), f"{load['MB before']:.0f}", f"{sizes[0]:.0f}", f"{sizes[-1]:.0f}"]
    head = [
        "requests",
        "errors",
        "per second",
        "p50, s",
        "p99, s",
        "MB before",
        "MB at the first look",
        "MB at the end",
    ]
    return table(head, [row])
