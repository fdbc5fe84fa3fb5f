"""What every model requires of its training rows, and which facts about them are kept with it."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv import __version__
from aldsurv.checks import Number, WholeNumber
from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.group_column import group_numbers
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ModelFileError
from aldsurv.models.file_entries import require

__all__ = [
    "TrainedOn",
    "data_fingerprint",
    "distinct_times",
    "installed_versions",
    "require_events",
    "require_same_count",
    "require_same_rows",
    "thinned",
]

_MOST_TIMES = 512


def require_same_rows(n_rows: int, data: SurvivalData) -> None:
    """Raise `DataError` unless X has one row for each time, and some row had an event."""
    require_same_count(n_rows, data)
    require_events(data)


def require_same_count(n_rows: int, data: SurvivalData) -> None:
    """Raise `DataError` unless X has one row for each time."""
    if n_rows != len(data):
        raise DataError(
            f"X has {n_rows} rows, but y has {len(data)}", argument="X", advice="Give one row of X for each time."
        )


def require_events(data: SurvivalData) -> None:
    """Raise `DataError` unless some row of positive weight had an event."""
    if not (np.isfinite(data.upper) & (data.weights > 0)).any():
        raise DataError(
            "no event was observed in any row: there is nothing to learn",
            argument="y",
            advice="Check which value of the event column means an event.",
        )


def installed_versions() -> dict[str, str]:
    """Of Python and of the packages that matter to every model."""
    return {"aldsurv": __version__, "numpy": np.__version__, "python": platform.python_version()}


def distinct_times(data: SurvivalData) -> NDArray[np.float64]:
    """All finite times and bounds, ascending."""
    bounds = np.concatenate([data.lower, data.upper])
    return np.unique(bounds[np.isfinite(bounds)])


def thinned(times: NDArray[np.float64], most: int = _MOST_TIMES) -> NDArray[np.float64]:
    """At most so many of the times, evenly by their rank, the first and the last among them."""
    if len(times) <= most:
        return times
    return np.asarray(times[np.linspace(0, len(times) - 1, most).round().astype(np.intp)])


def data_fingerprint(x: NDArray[Any], data: SurvivalData) -> str:
    """SHA-256 of the values that a model was trained on."""
    digest = hashlib.sha256(repr((x.shape, str(x.dtype))).encode())
    digest.update(np.ascontiguousarray(x).data)
    for column in (data.lower, data.upper, data.entry, data.weight):
        digest.update(b"none" if column is None else np.ascontiguousarray(column).data)
    if data.cause is not None:
        digest.update(repr(data.causes).encode())
        digest.update(np.ascontiguousarray(data.cause).data)
    if data.group is not None:
        digest.update(b"group")
        digest.update(group_numbers(data.group).data)
    if data.person is not None:
        digest.update(b"person")
        digest.update(group_numbers(data.person).data)
    return digest.hexdigest()


@final
@dataclass(frozen=True)
class TrainedOn:
    """What a model was trained on, for those who use it later.

    Attributes
    ----------
    rows, events, total_weight
        How many, and the sum of the weights.
    first_time, last_time
        Range of the times, in the unit of the data.
    follow_up
        The time within which rows are ranked, as `end_of_follow_up` has it; None in files of earlier versions.
    fingerprint
        SHA-256 of the numbers.
    versions
        Of Python and of the packages that matter.
    outcome
        Columns of the table that held the outcome, by their role (``"time"``, ``"event"``, …), if they were given.
    groups
        Number of groups of rows that belong together, if there were any.
    persons
        Number of persons, if rows were their episodes.
    missing
        Values that stood for gaps in the table, if some were named.
    bounded
        Number of rows whose event is known to lie within bounds, which `events` does not count; None if there is none.
    """

    rows: int
    events: int
    first_time: float
    last_time: float
    total_weight: float | None = None
    fingerprint: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    outcome: Mapping[str, str] = field(default_factory=dict)
    groups: int | None = None
    follow_up: float | None = None
    persons: int | None = None
    missing: Sequence[str] = ()
    bounded: int | None = None

    @property
    def known_events(self) -> int:
        """Rows whose event is known to have come, at a time or within bounds."""
        return self.events + (self.bounded or 0)

    @property
    def rows_text(self) -> str:
        """How many rows, and of how many persons or groups if there were any."""
        if self.persons is not None:
            return f"{self.rows} episodes of {self.persons} persons"
        return f"{self.rows}" if self.groups is None else f"{self.rows} of {self.groups} groups"

    @property
    def event_share(self) -> float:
        """Share of the rows, or of the persons, whose event is known to have come."""
        return self.known_events / (self.rows if self.persons is None else self.persons)

    @classmethod
    def describe(
        cls,
        data: SurvivalData,
        *,
        times: NDArray[np.float64],
        fingerprint: str,
        packages: Mapping[str, str] | None = None,
    ) -> TrainedOn:
        """Describe the training rows.

        Parameters
        ----------
        data
            The rows, in the user's unit.
        times
            Distinct times of them, ascending.
        fingerprint
            What `data_fingerprint` gives.
        packages
            Versions of further packages.
        """
        return cls(
            rows=len(data),
            events=data.n_events,
            total_weight=data.total_weight,
            first_time=float(times[0]),
            last_time=float(times[-1]),
            fingerprint=fingerprint,
            versions={**installed_versions(), **(packages or {})},
            groups=None if data.group is None else data.n_groups,
            follow_up=end_of_follow_up(data),
            persons=None if data.person is None else data.n_persons,
            bounded=int(np.count_nonzero(np.isfinite(data.upper) & ~data.exact)) or None,
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it; None is left out."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        mappings: dict[str, Any] = {name: dict(value) for name, value in values.items() if isinstance(value, Mapping)}
        mappings["missing"] = list(self.missing)
        return {name: mappings.get(name, value) for name, value in values.items() if value not in (None, {}, ())}

    @classmethod
    def from_dict(cls, document: object) -> TrainedOn:
        """The inverse of `to_dict`, for a file that may hold anything; raises `ModelFileError`."""
        names = {entry.name for entry in fields(cls)}
        if not isinstance(document, dict) or not set(document) <= names:
            raise ModelFileError("the file cannot be used: trained_on is unclear.")
        for name in ("rows", "events"):
            require(WholeNumber(0).allows(document.get(name)), f"{name} in trained_on must be a whole number")
        require(document["rows"] >= 1, "trained_on must have rows")
        groups = document.get("groups", 1)
        require(WholeNumber(1).allows(groups) and groups <= document["rows"], "groups in trained_on must be a number")
        persons = document.get("persons", 1)
        require(
            WholeNumber(1).allows(persons) and persons <= document["rows"], "persons in trained_on must be a number"
        )
        bounded = document.get("bounded", 1)
        require(
            WholeNumber(1).allows(bounded) and bounded <= document["rows"], "bounded in trained_on must be a number"
        )
        for name in ("first_time", "last_time"):
            require(Number().allows(document.get(name)), f"{name} in trained_on must be a number")
        end = Number(0, document["last_time"])
        require(end.allows(document.get("follow_up", 0)), "follow_up in trained_on must be a time of training")
        require(Number(0).allows(document.get("total_weight", 0)), "total_weight in trained_on must be a number")
        require(isinstance(document.get("fingerprint", ""), str), "fingerprint in trained_on must be text")
        for name in ("versions", "outcome"):
            entries = document.get(name, {})
            texts = isinstance(entries, dict) and all(isinstance(text, str) for text in entries.values())
            require(texts, f"{name} in trained_on must be texts by name")
        missing = document.get("missing", [])
        require(
            isinstance(missing, list) and all(isinstance(text, str) for text in missing),
            "missing in trained_on must be a list of texts",
        )
        return cls(**{**document, "missing": tuple(missing)})
