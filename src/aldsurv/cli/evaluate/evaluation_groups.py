"""The figures of ``aldsurv evaluate`` within the groups of a column, and the group that is predicted worst."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from aldsurv.cli.evaluate.scored_table import Evaluated, measure, told_in_figures
from aldsurv.cli.shared.metric_lines import number_text, p_text, paragraph
from aldsurv.cli.shared.metric_settings import MetricSettings
from aldsurv.cli.shared.outcome import OutcomeColumns, read_outcome_table
from aldsurv.cli.shared.text_layout import printable, screen_width
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData

__all__ = ["by_group", "group_labels", "group_lines"]

_MOST_GROUPS = 50
_LEAST = 50
_MISSING = "(missing)"
_HEADER = ("rows", "events", "Harrell's C", "CensDcal", "p", "too high by")


def group_labels(path: str, column: str) -> list[str]:
    """Value of the column in each row, as text; gaps as what they are."""
    # As codes they are what the file says, with leading zeros.
    values = read_outcome_table(path, OutcomeColumns(), categorical=[column]).x[column]
    labels = [_MISSING if value is None or value != value else _text(value) for value in values.tolist()]
    if len(set(labels)) > _MOST_GROUPS:
        raise ParameterError(
            f"--group {quoted(column)} has {len(set(labels))} different values in {path!r}, but at most {_MOST_GROUPS} "
            "groups can be told apart. Cut it into classes first."
        )
    return labels


def by_group(
    found: Evaluated, labels: list[str], train: SurvivalData, settings: MetricSettings, *, column: str
) -> dict[str, Any]:
    """Calibration and order within each group; all metrics of those with 50 rows or more."""
    from aldsurv import metrics

    with told_in_figures():
        calibration = metrics.calibration_by_group(
            found.predicted,
            found.rows,
            labels,
            least=_LEAST,
            point=settings.point,  # type: ignore[arg-type]
        )
    column_of_labels = np.array(labels, object)
    groups = []
    for group in calibration.groups:
        entry: dict[str, Any] = group._asdict()
        entry["metrics"] = None
        if group.n >= _LEAST:
            rows = np.flatnonzero((column_of_labels == group.group) & (found.rows.weights > 0))
            measured = measure(found.predicted[rows], found.rows[rows], train, settings)
            entry["metrics"] = {name: value._asdict() for name, value in measured.items()}
        groups.append(entry)
    tested = sum(group.n >= _LEAST for group in calibration.groups)
    worst = next((group for group in calibration.groups if group.group == calibration.worst), None)
    return {
        "column": column,
        "horizon": calibration.horizon,
        "worst": calibration.worst,
        # The smallest of many p-values is small: Bonferroni's correction.
        "worst_p_value": math.nan if worst is None else min(1.0, tested * worst.p_value),
        "groups": groups,
    }


def group_lines(found: dict[str, Any]) -> list[str]:
    """The groups in aligned lines, and a sentence about the worst."""
    title = f"by {printable(found['column'])}"
    cells = [
        (
            printable(group["group"]),
            str(group["n"]),
            str(group["events"]),
            number_text(group["harrell_c"]),
            number_text(group["cens_dcal"]),
            p_text(group["p_value"]),
            number_text(group["difference"]),
        )
        for group in found["groups"]
    ]
    explained = (
        f"p: of D-calibration. too high by: mean predicted survival at {found['horizon']:.4g}, the median time, "
        "less Kaplan-Meier's."
    )
    return [*_aligned([(title, *_HEADER), *cells]), paragraph(explained), paragraph(_verdict(found))]


def _aligned(lines: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    if sum(widths) + 2 * (len(widths) - 1) <= screen_width():
        return [
            "  ".join([f"{line[0]:<{widths[0]}}", *(f"{line[k]:>{widths[k]}}" for k in range(1, len(widths)))])
            for line in lines
        ]
    # Too narrow for a table: a group and its figures, one under the other.
    told = [lines[0][0]]
    for line in lines[1:]:
        pairs = [f"{name} {value}" for name, value in zip(lines[0][1:], line[1:], strict=True)]
        told += [f"  {line[0]}", paragraph(", ".join(pairs), indent="    ")]
    return told


def _verdict(found: dict[str, Any]) -> str:
    worst = next((group for group in found["groups"] if group["group"] == found["worst"]), None)
    if worst is None:
        return f"No group has the {_LEAST} rows that it takes to be called the worst."
    told = f"Worst calibrated: {printable(worst['group'])} (CensDcal {number_text(worst['cens_dcal'])}"
    if worst["harrell_c"] == worst["harrell_c"]:
        told += f", Harrell's C {number_text(worst['harrell_c'])}"
    corrected = found["worst_p_value"]
    told += f"), p {p_text(corrected)} after correction for the number of groups"
    if corrected >= 0.05:
        return f"{told}: no more than chance would have it."
    side = worst["difference"]
    if math.isnan(side):
        return f"{told}."
    return f"{told}; its predicted survival is too {'high' if side > 0 else 'low'} by {abs(side):.3f}."


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
