"""Calibration and discrimination in subgroups of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics import GroupCalibration, calibration_by_group
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import fixed, number, p_value, signed, time_with_unit
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["Subgroup", "subgroup_table", "subgroups"]

_MOST_LEVELS = 8
_MOST_COLUMNS = 6
_LEAST_ROWS = 50
_ALPHA = 0.05


@final
@dataclass(frozen=True)
class Subgroup:
    """A subgroup: its column and values, its calibration, and whether that is poor."""

    column: str
    label: str
    calibration: GroupCalibration
    poor: bool = False

    @property
    def small(self) -> bool:
        """Whether there are too few rows to judge."""
        return self.calibration.n < _LEAST_ROWS

    @property
    def unclear(self) -> bool:
        """Whether the p-value is small, but not after the correction for the number of subgroups."""
        return not self.poor and self.calibration.p_value < _ALPHA


def subgroups(
    evaluated: EvaluatedModel, order: Sequence[int], given: tuple[str, NDArray[Any]] | None
) -> tuple[list[Subgroup], float]:
    """Subgroups by a given column, or by the most important ones, and the time at which they are compared.

    A subgroup is poorly calibrated if its p-value is below 0.05 divided by the number of subgroups (Bonferroni).

    Parameters
    ----------
    evaluated
        The model and the rows.
    order
        Places of the columns, the most important first.
    given
        Name and values (n,) of the given column; None for the most important ones.
    """
    if given is None:
        columns = [(evaluated.table.names[place], evaluated.table.columns[place]) for place in order[:_MOST_COLUMNS]]
    else:
        columns = [given]
    rows: list[Subgroup] = []
    horizon = float("nan")
    for name, values in columns:
        codes, labels = _parts(values, whole=given is not None)
        if len(labels) < 2:
            continue
        result = calibration_by_group(evaluated.predicted, evaluated.data, codes, least=_LEAST_ROWS)
        horizon = result.horizon
        rows += [Subgroup(name, labels[int(group.group)], group) for group in result.groups]
    judged = sum(not row.small for row in rows)
    return [replace(row, poor=not row.small and row.calibration.p_value < _ALPHA / judged) for row in rows], horizon


def subgroup_table(rows: Sequence[Subgroup], horizon: float, unit: str | None) -> PageTable:
    """The subgroups as a table."""
    columns = (
        PageColumn("column", "Column"),
        PageColumn("group", "Group"),
        PageColumn("rows", "Rows", numeric=True),
        PageColumn("events", "Events", numeric=True),
        PageColumn("c", "C", numeric=True, meaning="Harrell's C; 0.5 is chance"),
        PageColumn("difference", "Expected − observed", numeric=True, meaning="Event-free share in percentage points"),
        PageColumn("p", "p", numeric=True, meaning="Test of D-calibration; small: not calibrated"),
        PageColumn("verdict", "Calibration"),
    )
    about = (
        f"Expected − observed is the difference of the event-free shares at {time_with_unit(horizon, unit)} in "
        "percentage points: above 0 the predicted times are too long, below 0 too short. Groups of fewer than "
        f"{_LEAST_ROWS} rows are not judged; “unclear” means a p below {_ALPHA} that may be chance among many groups."
    )
    return PageTable("groups", "Predictions by subgroup", columns, tuple(_cells(row) for row in rows), about=about)


def _cells(row: Subgroup) -> tuple[PageCell, ...]:
    calibration = row.calibration
    return (
        PageCell(row.column),
        PageCell(row.label),
        PageCell(f"{calibration.n:,}", calibration.n),
        PageCell(f"{calibration.events:,}", calibration.events),
        PageCell(fixed(calibration.harrell_c), calibration.harrell_c),
        PageCell(signed(100 * calibration.difference, 1), 100 * calibration.difference),
        PageCell(p_value(calibration.p_value).removeprefix("p ").removeprefix("= "), calibration.p_value),
        PageCell(_verdict(row), tone="bad" if row.poor else ""),
    )


def _verdict(row: Subgroup) -> str:
    if row.small:
        return "too few rows"
    if row.poor:
        return "off"
    return "unclear" if row.unclear else "no sign of miscalibration"


def _parts(values: NDArray[Any], *, whole: bool) -> tuple[NDArray[np.intp], list[str]]:
    """A code per row and the labels of the codes: levels, or thirds of a numeric column; no labels for too many levels.

    With `whole` a column with too many levels is used, its rarer levels in one group.
    """
    items = [None if value is None or value != value else value for value in values.tolist()]
    counts: dict[Any, int] = {}
    for item in items:
        counts[item] = counts.get(item, 0) + 1
    levels = [level for level in counts if level is not None]
    if len(levels) > _MOST_LEVELS and values.dtype.kind in "iuf":
        return _thirds(np.array([np.nan if item is None else float(item) for item in items]))
    if len(levels) > _MOST_LEVELS and not whole:
        return np.zeros(len(items), np.intp), []
    kept = sorted(levels, key=lambda level: -counts[level])[:_MOST_LEVELS]
    numeric = all(isinstance(level, (int, float)) for level in kept)
    ordered = sorted(kept, key=None if numeric else str)
    code = {level: place for place, level in enumerate(ordered)}
    labels = [number(float(level), 6) if isinstance(level, float) else str(level) for level in ordered]
    extra = [*(["other"] if len(levels) > len(kept) else []), *(["missing"] if None in counts else [])]
    for level in counts:
        if level not in code:
            code[level] = len(labels) + (extra.index("missing") if level is None else 0)
    return np.array([code[item] for item in items], np.intp), labels + extra


def _thirds(values: NDArray[np.float64]) -> tuple[NDArray[np.intp], list[str]]:
    low, high = np.quantile(values[~np.isnan(values)], [1 / 3, 2 / 3], method="inverted_cdf")
    codes = np.where(np.isnan(values), 3, np.digitize(values, [low, high], right=True)).astype(np.intp)
    first, second = number(float(low), 4), number(float(high), 4)
    return codes, [f"up to {first}", f"over {first}, up to {second}", f"over {second}", "missing"]
