"""A record of something before it is imported, and records of one kind by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.quoting import quoted, suggest_names

__all__ = ["Record", "Registry"]


@dataclass(frozen=True)
class Record:
    """Name, location, title and purpose of something, without importing it.

    Parameters
    ----------
    name
        By which users ask for it.
    location
        ``"module:attribute"``.
    title
        How it is called in tables, plots and reports.
    purpose
        What it is for, in one line.
    """

    name: str
    location: str
    title: str
    purpose: str

    def load(self) -> Any:
        """Import and return it."""
        module, attribute = self.location.split(":")
        return getattr(import_module(module), attribute)


RecordT = TypeVar("RecordT", bound=Record)


class Registry(Generic[RecordT]):
    """Records by name, in the order in which they are listed.

    Parameters
    ----------
    kind
        What the names stand for, in the singular; used in error messages.
    records
        The records; their names differ.

    Examples
    --------
    >>> families = Registry("family", Record("weibull", "aldsurv.distributions:Weibull", "Weibull", "power of time"))
    >>> families.load("weibull").__name__, families["weibull"].title
    ('Weibull', 'Weibull')
    >>> families.load("weibul")
    Traceback (most recent call last):
      ...
    aldsurv.errors.UnknownNameError: unknown family 'weibul'. Did you mean 'weibull'?
    """

    def __init__(self, kind: str, *records: RecordT) -> None:
        self._kind = kind
        self._records: dict[str, RecordT] = {}
        for record in records:
            self.add(record)

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __getitem__(self, name: str) -> RecordT:
        """The record of a name; an unknown one raises `UnknownNameError` with the nearest names."""
        try:
            return self._records[name]
        except (KeyError, TypeError):
            raise UnknownNameError(self._unknown(name)) from None

    def records(self) -> list[RecordT]:
        """All records."""
        return list(self._records.values())

    def load(self, name: str) -> Any:
        """Import and return what ``name`` stands for."""
        return self[name].load()

    def title(self, name: str) -> str:
        """The title of a name; an unknown name is given back."""
        return self._records[name].title if name in self._records else name

    def name_of(self, thing: type) -> str:
        """The name of a class that has a record."""
        record = self.record_of(thing)
        if record is None:
            raise UnknownNameError(
                f"{thing.__name__} is not a registered {self._kind}.",
                advice="Add a record for it in aldsurv/registry.",
            )
        return record.name

    def title_of(self, thing: type) -> str:
        """The title of a class; one without a record has the name of the class."""
        record = self.record_of(thing)
        return thing.__name__ if record is None else record.title

    def record_of(self, thing: type) -> RecordT | None:
        """The record of a class; None if it has none."""
        location = f"{thing.__module__}:{thing.__qualname__}"
        return next((record for record in self._records.values() if record.location == location), None)

    def add(self, record: RecordT) -> None:
        """Register one more; its name must be new."""
        if record.name in self._records:
            raise ParameterError(f"there is already a {self._kind} {quoted(record.name)}.", argument="name")
        self._records[record.name] = record

    def remove(self, name: str) -> None:
        """Take a record away."""
        del self._records[self[name].name]

    def _unknown(self, name: object) -> str:
        return f"unknown {self._kind} {quoted(name)}. {suggest_names(name, self._records)}"
