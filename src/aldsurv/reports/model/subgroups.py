"""How the predictions do in parts of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics import GroupCalibration, calibration_by_group
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, number, p_value, signed
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["GroupRow", "group_table", "groups_of"]

_MOST_LEVELS = 8
_MOST_COLUMNS = 6
_LEAST_ROWS = 50
_ALPHA = 0.05


@final
@dataclass(frozen=True)
class GroupRow:
    """A part of the rows: which column, which values, what was found, and whether its calibration is poor."""

    column: str
    label: str
    found: GroupCalibration
    poor: bool = False

    @property
    def small(self) -> bool:
        """Whether there are too few rows to judge."""
        return self.found.n < _LEAST_ROWS

    @property
    def unclear(self) -> bool:
        """Whether the p-value is small, but not for the smallest of so many."""
        return not self.poor and self.found.p_value < _ALPHA


def groups_of(
    subject: Subject, order: Sequence[int], given: tuple[str, NDArray[Any]] | None
) -> tuple[list[GroupRow], float]:
    """Groups by a column that was asked for, or by the most important ones; and the time at which they are compared.

    A group is poorly calibrated if its p-value stands out among all groups: below 0.05 over their number.

    Parameters
    ----------
    subject
        The rows.
    order
        Places of the columns, the most important first.
    given
        Name and values (n,) of the column that was asked for.
    """
    if given is None:
        columns = [(subject.table.names[place], subject.table.columns[place]) for place in order[:_MOST_COLUMNS]]
    else:
        columns = [given]
    rows: list[GroupRow] = []
    horizon = float("nan")
    for name, values in columns:
        codes, labels = _parts(values, whole=given is not None)
        if len(labels) < 2:
            continue
        result = calibration_by_group(subject.predicted, subject.data, codes, least=_LEAST_ROWS)
        horizon = result.horizon
        rows += [GroupRow(name, labels[int(group.group)], group) for group in result.groups]
    judged = sum(not row.small for row in rows)
    return [replace(row, poor=not row.small and row.found.p_value < _ALPHA / judged) for row in rows], horizon


def group_table(rows: Sequence[GroupRow], horizon: float, unit: str | None) -> PageTable:
    """The groups as a table."""
    columns = (
        PageColumn("column", "Column"),
        PageColumn("group", "Group"),
        PageColumn("rows", "Rows", numeric=True),
        PageColumn("events", "Events", numeric=True),
        PageColumn("c", "C", numeric=True, meaning="Share of pairs in the right order; 0.5 is chance"),
        PageColumn("difference", "Expected − observed", numeric=True, meaning="Event-free share in points"),
        PageColumn("p", "p", numeric=True, meaning="D-calibration; small speaks against the predictions"),
        PageColumn("verdict", "Calibration"),
    )
    about = (
        f"Expected − observed is the event-free share at {amount(horizon, unit)} in percentage points: above 0 the "
        f"model is too hopeful, below 0 too gloomy. Groups of fewer than {_LEAST_ROWS} rows are not judged; “unclear” "
        f"has a p below {_ALPHA}, which among so many groups may be chance."
    )
    return PageTable("groups", "Predictions by subgroup", columns, tuple(_cells(row) for row in rows), about=about)


def _cells(row: GroupRow) -> tuple[PageCell, ...]:
    found = row.found
    verdict = "too few rows" if row.small else "off" if row.poor else "unclear" if row.unclear else "no sign of error"
    return (
        PageCell(row.column),
        PageCell(row.label),
        PageCell(f"{found.n:,}", found.n),
        PageCell(f"{found.events:,}", found.events),
        PageCell(f"{found.harrell_c:.3f}" if np.isfinite(found.harrell_c) else "–", found.harrell_c),
        PageCell(signed(100 * found.difference, 1), 100 * found.difference),
        PageCell(p_value(found.p_value).removeprefix("p ").removeprefix("= "), found.p_value),
        PageCell(verdict, tone="bad" if row.poor else ""),
    )


def _parts(values: NDArray[Any], *, whole: bool) -> tuple[NDArray[np.intp], list[str]]:
    """A code for each row and what the codes mean: levels, or thirds of many numbers; nothing if levels are too many.

    A column that was asked for is taken whole: its further levels share one group.
    """
    items = [None if value is None or value != value else value for value in values.tolist()]
    counts: dict[Any, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    known = [level for level in counts if level is not None]
    if len(known) > _MOST_LEVELS and values.dtype.kind in "iuf":
        return _thirds(np.array([np.nan if item is None else float(item) for item in items]))
    if len(known) > _MOST_LEVELS and not whole:
        return np.zeros(len(items), np.intp), []
    kept = sorted(known, key=lambda level: -counts[level])[:_MOST_LEVELS]
    numeric = all(isinstance(level, (int, float)) for level in kept)
    ordered = sorted(kept, key=None if numeric else str)
    code = {level: place for place, level in enumerate(ordered)}
    labels = [number(float(level), 6) if isinstance(level, float) else str(level) for level in ordered]
    extra = [*(["other"] if len(known) > len(kept) else []), *(["missing"] if None in counts else [])]
    for level in counts:
        if level not in code:
            code[level] = len(labels) + (extra.index("missing") if level is None else 0)
    return np.array([code[item] for item in items], np.intp), labels + extra


def _thirds(values: NDArray[np.float64]) -> tuple[NDArray[np.intp], list[str]]:
    known = values[~np.isnan(values)]
    low, high = np.quantile(known, [1 / 3, 2 / 3], method="inverted_cdf")
    codes = np.where(np.isnan(values), 3, np.digitize(values, [low, high], right=True)).astype(np.intp)
    first, second = number(float(low), 4), number(float(high), 4)
    return codes, [f"up to {first}", f"over {first}, up to {second}", f"over {second}", "missing"]
