"""Values of docs/tutorial.md: what its commands print."""

from __future__ import annotations

from collections.abc import Sequence

from bench.pages.results import ResultsError, read_section

__all__ = ["FILE", "SECTION", "values"]

FILE, SECTION = "tutorial.json", "output"
_LEFT_OUT = "..."


def values() -> dict[str, str]:
    """By name."""
    printed: dict[str, list[str]] = read_section(FILE, SECTION)
    fit, evaluate, compare = (_output(printed, f"aldsurv {name} ") for name in ("fit", "evaluate", "compare"))
    scores = ("Harrell's C", "integrated Brier", "log-likelihood", "CensDcal", "D-calibration")
    return {
        "fit": _fenced(_lines(fit, ("Fitted to", " ", "Harrell's C", "Uno's C", "integrated Brier"), "Fitted to")),
        "evaluate": _fenced(_lines(evaluate, (" ", *scores), "      ")),
        "compare": _fenced(compare[next(k for k, line in enumerate(compare) if line.startswith("Verdict")) :]),
    }


def _output(printed: dict[str, list[str]], command: str) -> list[str]:
    """Of the first command that begins so."""
    for name, lines in printed.items():
        if name.startswith(command):
            return lines
    raise ResultsError(
        f"docs/results/{FILE} has no output of {command.strip()}: run python -m bench.pages.tutorial_run"
    )


def _lines(lines: Sequence[str], beginnings: tuple[str, ...], first: str) -> list[str]:
    """From the first line on those that begin so; the page says that there are more."""
    start = next(place for place, line in enumerate(lines) if line.startswith(first))
    return [*(line for line in lines[start:] if line.startswith(beginnings)), _LEFT_OUT]


def _fenced(lines: Sequence[str]) -> str:
    return "\n".join(["```text", *lines, "```"])
