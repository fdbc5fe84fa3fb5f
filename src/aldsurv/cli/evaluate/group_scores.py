"""Scores of ``aldsurv evaluate`` within the groups of a column, and the group that is predicted worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from aldsurv.cli.evaluate.table_predictions import TablePredictions
from aldsurv.cli.shared.input_files import read_outcome_table
from aldsurv.cli.shared.metric_scores import Score, metric_warnings, score_all
from aldsurv.cli.shared.metric_settings import MetricSettings
from aldsurv.cli.shared.number_text import format_number, format_p_value
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.text_layout import paragraph, printable, screen_width
from aldsurv.data.persons import first_rows
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted
from aldsurv.registry import METRICS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.metrics import GroupCalibration

__all__ = ["GroupScores", "group_labels", "group_lines", "score_groups"]

_MOST_GROUPS = 50
_LEAST_ROWS = 50
_MISSING = "(missing)"
_HEADER = ("rows", "events", METRICS["harrell_c"].title, METRICS["cens_dcal"].title, "p", "too high by")


@final
@dataclass(frozen=True)
class GroupScores:
    """Calibration and discrimination within each group of a column.

    Attributes
    ----------
    column
        Its name.
    horizon
        The time at which predicted and observed survival are compared.
    worst, worst_p_value
        The group that is calibrated worst, None if all are too small; and the p-value of its D-calibration, corrected
        for the number of groups.
    groups, metrics
        Each group, and all its metrics, None if it is too small for them.
    """

    column: str
    horizon: float
    worst: str | None
    worst_p_value: float
    groups: tuple[GroupCalibration, ...]
    metrics: tuple[Mapping[str, Score] | None, ...]

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        groups = [
            {
                **group._asdict(),
                "metrics": None if scores is None else {name: score._asdict() for name, score in scores.items()},
            }
            for group, scores in zip(self.groups, self.metrics, strict=True)
        ]
        return {
            "column": self.column,
            "horizon": self.horizon,
            "worst": self.worst,
            "worst_p_value": self.worst_p_value,
            "groups": groups,
        }


def group_labels(path: str, column: str) -> list[str]:
    """Value of the column in each row, as text."""
    # Read as codes, values keep their leading zeros.
    values = read_outcome_table(path, OutcomeColumns(), categorical=[column]).x[column]
    labels = [_MISSING if value is None or value != value else _label(value) for value in values.tolist()]
    if len(set(labels)) > _MOST_GROUPS:
        raise ParameterError(
            f"--group {quoted(column)} has {len(set(labels))} different values in {path!r}, but at most {_MOST_GROUPS} "
            "groups are allowed. Cut it into classes first."
        )
    return labels


def score_groups(
    predictions: TablePredictions, labels: list[str], train: SurvivalData, settings: MetricSettings, *, column: str
) -> GroupScores:
    """Calibration and discrimination of each group; all metrics of those with 50 rows or more.

    A person with several episodes is of the group of the first.
    """
    from aldsurv import metrics

    predicted, rows, table = predictions.predicted, predictions.rows, predictions.table
    if table.y is not None and table.y.person is not None:
        labels = [labels[row] for row in first_rows(table.y).tolist()]
    with metric_warnings():
        point = settings.ranking_point(predictions.model)
        calibration = metrics.calibration_by_group(predicted, rows, labels, least=_LEAST_ROWS, point=point, train=train)
    label_column = np.array(labels, object)
    group_metrics: list[Mapping[str, Score] | None] = []
    for group in calibration.groups:
        if group.n < _LEAST_ROWS:
            group_metrics.append(None)
            continue
        chosen = np.flatnonzero((label_column == group.group) & (rows.weights > 0))
        group_metrics.append(score_all(predictions.model, predicted[chosen], rows[chosen], train, settings))
    tested = sum(group.n >= _LEAST_ROWS for group in calibration.groups)
    worst = next((group for group in calibration.groups if group.group == calibration.worst), None)
    return GroupScores(
        column,
        calibration.horizon,
        None if worst is None else str(worst.group),
        # Bonferroni's correction: the smallest of many p-values is small by chance.
        math.nan if worst is None else min(1.0, tested * worst.p_value),
        tuple(calibration.groups),
        tuple(group_metrics),
    )


def group_lines(scores: GroupScores) -> list[str]:
    """The groups in aligned lines, and a sentence about the worst."""
    cells = [
        (
            printable(group.group),
            str(group.n),
            str(group.events),
            format_number(group.harrell_c),
            format_number(group.cens_dcal),
            format_p_value(group.p_value),
            format_number(group.difference),
        )
        for group in scores.groups
    ]
    explanation = (
        f"p: of D-calibration. too high by: mean predicted survival at {scores.horizon:.4g}, the median time, "
        "minus that of Kaplan-Meier."
    )
    lines = _aligned([(f"by {printable(scores.column)}", *_HEADER), *cells])
    return [*lines, paragraph(explanation), paragraph(_verdict(scores))]


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    if sum(widths) + 2 * (len(widths) - 1) <= screen_width():
        return [
            "  ".join([f"{row[0]:<{widths[0]}}", *(f"{row[k]:>{widths[k]}}" for k in range(1, len(widths)))])
            for row in rows
        ]
    # Too narrow for a table: a group and its scores, one under the other.
    lines = [rows[0][0]]
    for row in rows[1:]:
        pairs = [f"{title} {value}" for title, value in zip(rows[0][1:], row[1:], strict=True)]
        lines += [f"  {row[0]}", paragraph(", ".join(pairs), indent="    ")]
    return lines


def _verdict(scores: GroupScores) -> str:
    worst = next((group for group in scores.groups if group.group == scores.worst), None)
    if worst is None:
        return f"No group has the {_LEAST_ROWS} rows that it takes to be called the worst."
    verdict = (
        f"Worst calibrated: {printable(worst.group)} ({METRICS['cens_dcal'].title} {format_number(worst.cens_dcal)}"
    )
    if not math.isnan(worst.harrell_c):
        verdict += f", {METRICS['harrell_c'].title} {format_number(worst.harrell_c)}"
    verdict += f"), p {format_p_value(scores.worst_p_value)} after correction for the number of groups"
    if scores.worst_p_value >= 0.05:
        return f"{verdict}: no more than chance explains."
    if math.isnan(worst.difference):
        return f"{verdict}."
    side = "high" if worst.difference > 0 else "low"
    return f"{verdict}; its predicted survival is too {side} by {abs(worst.difference):.3f}."


def _label(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
