"""Scores of ``aldsurv evaluate`` within the groups of a column, and the group that is predicted worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from aldsurv.cli.evaluate.table_predictions import TablePredictions
from aldsurv.cli.scores.metric_scores import Score, metric_warnings, score_all
from aldsurv.cli.scores.metric_settings import MetricSettings
from aldsurv.cli.shared.input_files import read_outcome_table
from aldsurv.cli.shared.number_text import format_number, format_p_value
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.cli.shared.text_layout import join_names, paragraph, printable, screen_width
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
_SURVIVAL_HEADER = ("predicted", "observed", "off by", "95 % interval", "finding")
_SCORE_HEADER = ("rows", "events", METRICS["harrell_c"].title, METRICS["cens_dcal"].title, "p")


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
    worst
        The group that is calibrated worst by `metrics.calibration_by_group`, None if all are too small.
    groups, metrics
        Each group, and all its metrics, None if it is too small for them.
    """

    column: str
    horizon: float
    worst: str | None
    groups: tuple[GroupCalibration, ...]
    metrics: tuple[Mapping[str, Score] | None, ...]

    def to_dict(self) -> dict[str, object]:
        """As JSON has it."""
        groups = [
            {
                **group._asdict(),
                "off_by_at_least": group.off_by_at_least,
                "verdict": group.verdict,
                "metrics": None if scores is None else {name: score._asdict() for name, score in scores.items()},
            }
            for group, scores in zip(self.groups, self.metrics, strict=True)
        ]
        return {
            "column": self.column,
            "horizon": self.horizon,
            "worst": self.worst,
            "groups": groups,
        }


def group_labels(path: str, column: str, reading: ReadingOptions) -> list[str]:
    """Value of the column in each row, as text."""
    # Read as codes, values keep their leading zeros.
    values = read_outcome_table(path, OutcomeColumns(), categorical=[column], reading=reading).x[column]
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
    return GroupScores(column, calibration.horizon, calibration.worst, tuple(calibration.groups), tuple(group_metrics))


def group_lines(scores: GroupScores, unit: str | None) -> list[str]:
    """The groups in aligned lines, and sentences about the worst."""
    when = f"{scores.horizon:.4g} {unit or ''}".rstrip()
    name = printable(scores.column)
    survival = [
        (
            printable(group.group),
            _percent(group.predicted),
            _percent(group.observed),
            _signed_points(group.difference),
            f"{_signed_points(group.lower)} to {_signed_points(group.upper)}" if math.isfinite(group.lower) else "",
            group.short_verdict,
        )
        for group in scores.groups
    ]
    other = [
        (
            printable(group.group),
            str(group.n),
            str(group.events),
            format_number(group.harrell_c),
            format_number(group.cens_dcal),
            format_p_value(group.p_value),
        )
        for group in scores.groups
    ]
    explanation = (
        f"Mean predicted survival at {when}, the median time, against Kaplan-Meier; the difference in percentage "
        "points, and its interval. The findings allow for the number of groups. p: of D-calibration, over all times."
    )
    return [
        *_aligned([(f"by {name}", *_SURVIVAL_HEADER), *survival], text_columns=(0, 5)),
        "",
        *_aligned([(f"by {name}", *_SCORE_HEADER), *other], text_columns=(0,)),
        paragraph(explanation),
        *(paragraph(sentence) for sentence in _sentences(scores, when)),
    ]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if math.isfinite(share) else "–"


def _signed_points(share: float) -> str:
    # Without a negative zero.
    return f"{round(100 * share, 1) + 0.0:+.1f}" if math.isfinite(share) else "–"


def _aligned(rows: list[tuple[str, ...]], *, text_columns: tuple[int, ...]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    if sum(widths) + 2 * (len(widths) - 1) <= screen_width():
        signs = ["<" if k in text_columns else ">" for k in range(len(widths))]
        return [
            "  ".join(f"{cell:{sign}{width}}" for cell, sign, width in zip(row, signs, widths, strict=True)).rstrip()
            for row in rows
        ]
    # Too narrow for a table: a group and its scores, one under the other.
    lines = [rows[0][0]]
    for row in rows[1:]:
        pairs = [f"{title} {value}" for title, value in zip(rows[0][1:], row[1:], strict=True)]
        lines += [f"  {row[0]}", paragraph(", ".join(pairs), indent="    ")]
    return lines


def _sentences(scores: GroupScores, when: str) -> list[str]:
    """Which group is worst, by the figure that makes it so, and which have other shapes than predicted."""
    worst = next((group for group in scores.groups if group.group == scores.worst), None)
    if worst is None:
        return [f"No group has the {_LEAST_ROWS} rows that it takes to be judged, followed up to {when}."]
    name = printable(worst.group)
    if worst.finding == "off":
        text = f"Worst: {name}, whose predicted survival at {when} is {worst.verdict}."
    else:
        figure = _signed_points(worst.difference)
        text = (
            f"No group is clearly off at {when}. The largest difference, {figure}, is that of {name}: {worst.verdict}."
        )
    shapes = [printable(group.group) for group in scores.groups if group.shape_off and group.finding != "off"]
    if not shapes:
        return [text]
    return [text, f"Over all times the probabilities are off in {join_names(shapes)} (D-calibration)."]


def _label(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
