"""Where an updated model comes from: one record per update, the oldest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, final

from aldsurv.checks import WholeNumber
from aldsurv.models.file_entries import require
from aldsurv.models.updating.adjustment import RUNGS

__all__ = ["UpdateStep", "ancestry_from_file"]


@final
@dataclass(frozen=True)
class UpdateStep:
    """One update.

    Attributes
    ----------
    model
        Name of the model that was updated.
    digest
        SHA-256 of that model, the one that its file holds if this version of aldsurv writes it.
    rung
        How it was changed, one of `RUNGS`.
    rows, events
        Of the table that it was updated on.
    source
        Where the model came from, such as the name of its file, if that was given.
    """

    model: str
    digest: str
    rung: str
    rows: int
    events: int
    source: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        name = self.model if self.source is None else f"{self.model} of {self.source}"
        change = "left as it is" if self.rung == "none" else f"updated by {self.rung}"
        return f"{name} ({self.digest[:12]}), {change} on {self.rows} rows with {self.events} events"


def ancestry_from_file(entries: Any) -> tuple[UpdateStep, ...]:
    """The records of a file that may hold anything."""
    require(isinstance(entries, Sequence) and not isinstance(entries, str), "its ancestry is unclear")
    names = {entry.name for entry in fields(UpdateStep)}
    steps = []
    for entry in entries:
        require(isinstance(entry, Mapping) and set(entry) == names, "its ancestry is unclear")
        texts = all(isinstance(entry[name], str) for name in ("model", "digest", "rung"))
        require(texts and entry["rung"] in RUNGS, "its ancestry is unclear")
        require(entry["source"] is None or isinstance(entry["source"], str), "its ancestry is unclear")
        require(all(WholeNumber(0).allows(entry[name]) for name in ("rows", "events")), "its ancestry is unclear")
        steps.append(UpdateStep(**entry))
    return tuple(steps)
