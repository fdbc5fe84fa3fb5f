"""Results files: what was measured, by which command, when, with which versions and of which recipes.

A JSON file has sections, each with its own origin; a CSV file has its origin in comment lines before the header.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from aldsurv.benchmark.running import versions
from bench.pages.fingerprints import fingerprints

__all__ = [
    "MODELS",
    "PERFORMANCE",
    "RESULTS",
    "Origin",
    "ResultsError",
    "comment_lines",
    "described_origins",
    "origins",
    "outdated",
    "read_rows",
    "read_section",
    "store_section",
    "today",
]

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PERFORMANCE = "performance.json"
# Studies of single models, which the pages of the models show.
MODELS = "models.json"
_COMMENT = "# "
_SHORT_LIST = re.compile(r"\[\n[^\[\]{}]*\]")


class ResultsError(ValueError):
    """A results file that is not there, or does not hold what it should."""


@dataclass(frozen=True)
class Origin:
    """Where numbers come from.

    Attributes
    ----------
    command
        That measures them again.
    date
        Of the run, as ``"2026-11-17"``.
    versions
        Of the packages it ran with, by name; empty if they were not recorded.
    fingerprints
        Of the recipes that the numbers are of, by names such as ``"ald/paper"``.
    """

    command: str
    date: str
    versions: Mapping[str, str]
    fingerprints: Mapping[str, str]


def today(command: str, recipes: Iterable[str] = ()) -> Origin:
    """The origin of numbers that are measured now, with the recipes of this code."""
    return Origin(command, datetime.now(timezone.utc).date().isoformat(), versions(), fingerprints(recipes))


def store_section(file: str, section: str, values: Any, origin: Origin) -> None:
    """Put the numbers of one command, with six digits, into a JSON file; the other sections stay."""
    path = RESULTS / file
    sections = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    sections[section] = {**asdict(origin), "values": _rounded(values)}
    text = json.dumps(dict(sorted(sections.items())), indent=1, ensure_ascii=False)
    # A list of numbers or texts on one line, so that a table has a line per row.
    text = _SHORT_LIST.sub(lambda match: re.sub(r"\n\s*", " ", match[0]).replace("[ ", "[").replace(" ]", "]"), text)
    part = path.with_suffix(".part")
    part.write_text(text + "\n", encoding="utf-8", newline="\n")
    part.replace(path)


def read_section(file: str, section: str) -> Any:
    """The numbers of a section."""
    sections = _sections(file)
    if section not in sections:
        raise ResultsError(f"docs/results/{file} has no section {section!r}; there are {', '.join(sections)}.")
    return sections[section]["values"]


def read_rows(file: str) -> list[dict[str, str]]:
    """The rows of a CSV file by column."""
    return list(csv.DictReader(line for line in _text(file).splitlines() if not line.startswith(_COMMENT)))


def comment_lines(origin: Origin) -> str:
    """The origin as the first lines of a CSV file."""
    lists = (("versions", origin.versions), ("fingerprints", origin.fingerprints))
    lines = [f"command: {origin.command}", f"date: {origin.date}"]
    lines += [f"{name}: {', '.join(' '.join(pair) for pair in entries.items())}" for name, entries in lists]
    return "".join(f"{_COMMENT}{line.strip()}\n" for line in lines)


def origins(file: str) -> dict[str, Origin]:
    """The origin of each section of a JSON file; of a CSV file, which has one, under an empty name."""
    if file.endswith(".json"):
        return {
            name: Origin(**{field.name: section[field.name] for field in fields(Origin)})
            for name, section in _sections(file).items()
        }
    lines = _text(file).splitlines()
    comments = [line.removeprefix(_COMMENT).partition(":") for line in lines if line.startswith(_COMMENT)]
    entries = {name: text.strip() for name, _, text in comments}
    missing = [field.name for field in fields(Origin) if field.name not in entries]
    if missing:
        raise ResultsError(f"docs/results/{file} does not say its {' and '.join(missing)} in comment lines at its top.")
    return {
        "": Origin(entries["command"], entries["date"], _pairs(entries["versions"]), _pairs(entries["fingerprints"]))
    }


def described_origins() -> str:
    """A line for each section of each results file: date, place and command."""
    lines = []
    for path in sorted(RESULTS.iterdir()):
        try:
            sections = origins(path.name)
        except ResultsError as error:
            lines.append(f"no date     {error}")
            continue
        for section, origin in sections.items():
            place = f"{path.name} {section}".strip()
            lines.append(f"{origin.date}  {place}: {origin.command}")
    return "\n".join(lines)


def outdated(file: str) -> list[str]:
    """A message for each recipe of a results file that has other settings in the code."""
    messages = []
    for section, origin in origins(file).items():
        now = fingerprints(origin.fingerprints)
        place = f"docs/results/{file}" + (f", section {section}" if section else "")
        messages += [
            f"{place} is of another recipe {name} ({old}) than the code's ({now[name]}): run {origin.command}"
            for name, old in origin.fingerprints.items()
            if old != now[name]
        ]
    return messages


def _sections(file: str) -> dict[str, Any]:
    return dict(json.loads(_text(file)))


def _text(file: str) -> str:
    path = RESULTS / file
    if not path.exists():
        raise ResultsError(f"there is no results file docs/results/{file}.")
    return path.read_text(encoding="utf-8")


def _rounded(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {name: _rounded(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [_rounded(value) for value in values]
    return float(f"{values:.6g}") if isinstance(values, float) else values


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.rsplit(" ", 1) for pair in text.split(", ") if pair)
