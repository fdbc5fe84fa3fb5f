"""Calibration and discrimination in subgroups of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.metrics import GroupCalibration, calibration_by_group
from aldsurv.metrics.calibration.group_calibration import MARGIN, worst_group
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import fixed, number, p_value, signed, time_with_unit
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["Subgroup", "describe_subgroups", "subgroup_table", "subgroups", "worst_subgroup"]

_MOST_LEVELS = 8
_MOST_COLUMNS = 6
_LEAST_ROWS = 50


class Subgroup(NamedTuple):
    """A subgroup: its column and values, and its calibration."""

    column: str
    label: str
    calibration: GroupCalibration

    @property
    def name(self) -> str:
        """Column and values in a sentence."""
        return f"{self.column} = {self.label}"


def subgroups(
    evaluated: EvaluatedModel,
    order: Sequence[int],
    given: Sequence[tuple[str, NDArray[Any]]],
    at: float | None = None,
) -> tuple[list[Subgroup], float]:
    """Subgroups by given columns, or by the most important ones, and the time at which they are compared.

    They are judged as by `calibration_by_group`, with limits corrected for the number of subgroups of all columns.

    Parameters
    ----------
    evaluated
        The model and the rows.
    order
        Places of the columns, the most important first.
    given
        Name and values (n,) of each given column; none for the most important ones.
    at
        When they are compared; None: at the median observed time.
    """
    if not given:
        table = evaluated.shown_table
        columns = [(table.names[place], table.columns[place]) for place in order[:_MOST_COLUMNS]]
    else:
        columns = [(evaluated.labels.column(name), evaluated.labels.values(name, values)) for name, values in given]
    divided = [(name, *_parts(values, whole=bool(given))) for name, values in columns]
    divided = [(name, codes, labels) for name, codes, labels in divided if len(labels) > 1]
    counted = evaluated.data.weights > 0
    judged = sum(int((np.bincount(codes[counted]) >= _LEAST_ROWS).sum()) for _, codes, _ in divided)
    rows: list[Subgroup] = []
    horizon = float("nan")
    for name, codes, labels in divided:
        result = calibration_by_group(
            evaluated.predicted, evaluated.data, codes, horizon=at, least=_LEAST_ROWS, comparisons=max(judged, 1)
        )
        horizon = result.horizon
        rows += [Subgroup(name, labels[int(group.group)], group) for group in result.groups]
    return rows, horizon


def worst_subgroup(rows: Sequence[Subgroup]) -> Subgroup | None:
    """The worst of those that are judged, as of `worst_group`; None if none is."""
    worst = worst_group(row.calibration for row in rows)
    return next((row for row in rows if row.calibration is worst), None)


def describe_subgroups(rows: Sequence[Subgroup], horizon: float, unit: str | None) -> str:
    """Sentences: how many subgroups are off, and which is the worst."""
    when = time_with_unit(horizon, unit)
    judged, worst = [row for row in rows if row.calibration.judged], worst_subgroup(rows)
    if worst is None:
        return f"No group has {_LEAST_ROWS} rows, followed up to {when}: none can be judged."
    name, group = worst.name, worst.calibration
    off = sum(row.calibration.finding == "off" for row in judged)
    counted = f"At {when} {off or 'none'} of {len(judged)} groups {'is' if off == 1 else 'are'} off by more than chance"
    figure = signed(100 * group.difference, 1)
    which = f"the worst is {name}" if off else f"the largest difference, {figure}, is that of {name}"
    text = f"{counted} explains, given their number; {which}: {group.verdict}."
    shapes = sum(row.calibration.shape_off and row.calibration.finding != "off" for row in judged)
    if not shapes:
        return text
    return f"{text} Over all times the probabilities are off in {shapes} more, by the p of D-calibration."


def subgroup_table(rows: Sequence[Subgroup], horizon: float, unit: str | None) -> PageTable:
    """The subgroups as a table."""
    at = f"Event-free share at {time_with_unit(horizon, unit)}"
    columns = (
        PageColumn("column", "Column"),
        PageColumn("group", "Group"),
        PageColumn("rows", "Rows", numeric=True),
        PageColumn("events", "Events", numeric=True),
        PageColumn("expected", "Expected", numeric=True, meaning=f"{at}: mean of the predictions"),
        PageColumn("observed", "Observed", numeric=True, meaning=f"{at}: Kaplan-Meier"),
        PageColumn("difference", "Difference (95 %)", numeric=True, meaning="Expected − observed, with its limits"),
        PageColumn("verdict", "Calibration"),
        PageColumn("c", "C", numeric=True, meaning="Harrell's C; 0.5 is chance"),
        PageColumn("cens_dcal", "CensDcal", numeric=True, meaning="Over all times; 0 is ideal, small groups have more"),
        PageColumn("p", "p", numeric=True, meaning="Test of D-calibration over all times; small: not calibrated"),
    )
    about = (
        f"Expected and observed are event-free shares at {time_with_unit(horizon, unit)}. Their difference is in "
        "percentage points, with the 95 % interval of the group alone: above 0 the predicted times are too long, "
        "below 0 too short. A group is off if limits of the difference that hold for all groups at once leave out 0, "
        f"and right if its own are within {100 * MARGIN:.0f} points of 0. Groups of fewer than {_LEAST_ROWS} rows are "
        "not judged."
    )
    return PageTable("groups", "Predictions by subgroup", columns, tuple(_cells(row) for row in rows), about=about)


def _cells(row: Subgroup) -> tuple[PageCell, ...]:
    group = row.calibration
    difference, lower, upper = (signed(100 * share, 1) for share in (group.difference, group.lower, group.upper))
    limits = "" if np.isnan(group.lower) else f" ({lower} to {upper})"
    return (
        PageCell(row.column),
        PageCell(row.label),
        PageCell(f"{group.n:,}", group.n),
        PageCell(f"{group.events:,}", group.events),
        PageCell(f"{fixed(100 * group.predicted, 1)} %", group.predicted),
        PageCell(f"{fixed(100 * group.observed, 1)} %", group.observed),
        PageCell(difference + limits, 100 * group.difference),
        PageCell(group.short_verdict, tone="bad" if group.finding == "off" else ""),
        PageCell(fixed(group.harrell_c), group.harrell_c),
        PageCell(fixed(group.cens_dcal), group.cens_dcal),
        PageCell(p_value(group.p_value).removeprefix("p ").removeprefix("= "), group.p_value),
    )


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
