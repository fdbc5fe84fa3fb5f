"""What the user should know about the rows of a table before a model learns from them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.tables.table import Table

__all__ = ["censoring_note", "copies_note", "is_censoring_name", "is_person_name", "person_notes"]

# Names of columns that hold the number of a person.
_PERSON = re.compile(r"(?i)(^|[^a-z])(id|pid|mrn|patient|subject|person|participant)([^a-z]?(id|no|nr|number|code))?$")


def is_person_name(name: str) -> bool:
    """Whether a column is named like one that says of which person a row is."""
    return _PERSON.search(name) is not None


def is_censoring_name(name: str) -> bool:
    """Whether a column is named as if its value 1 meant that a row is censored."""
    return re.search(r"(?i)(^|[^a-z])(is[^a-z]?)?censor(ed|ing)([^a-z]|$)", name) is not None


def censoring_note(event: str) -> str:
    """That 1 is taken for the event although the name says the opposite, or may do so."""
    return (
        f"column {quoted(event)} is named like one of censoring, and 1 is taken for the event: if 1 means censored, "
        "give --event-value 0."
    )


def copies_note(table: Table) -> str | None:
    """That some rows are there more than once."""
    from aldsurv.columns.row_copies import count_extra, find_copies

    copies = find_copies(table.x, table.y) if table.y is not None else None
    if copies is None:
        return None
    count = count_extra(copies)
    copied = "1 row is an exact copy of another" if count == 1 else f"{count} rows are exact copies of others"
    return f"{copied}: copies stay on the same side of every split."


def person_notes(table: Table) -> list[str]:
    """That a column looks like the number of a person with several rows."""
    notes = []
    for name, values in table.x.items():
        if not is_person_name(name):
            continue
        count = len(set(values.tolist()))
        # Many different values, but not one per row.
        if len(table) / 10 < count < 0.9 * len(table):
            notes.append(
                f"column {quoted(name)} has {count} different values in {len(table)} rows: if it says of which person "
                f"a row is, name it by --id {quoted(name)}, so that no person is on both sides of a split."
            )
    return notes
