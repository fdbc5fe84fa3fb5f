"""Limits of the data and the model that a reader of the report should know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.calibration_verdict import calibration_problems
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.model_verdicts import FEW_EVENTS
from aldsurv.reports.model.quality.subgroups import Subgroup, worst_subgroup
from aldsurv.reports.model.row_kind import known_times
from aldsurv.reports.page.number_format import counted, name_list, p_value, percent, time_with_unit

__all__ = ["Caution", "cautions"]

# Probabilities of times below 0 that matter: on average, and for a single row.
_NEGATIVE_MEAN, _NEGATIVE_ROW = 0.01, 0.05


class Caution(NamedTuple):
    """A limit of the data or the model."""

    title: str
    text: str


def cautions(
    evaluated: EvaluatedModel, findings: Findings, groups: Sequence[Subgroup], messages: Sequence[str]
) -> list[Caution]:
    """All cautions that apply.

    Parameters
    ----------
    evaluated, findings
        What the report is about, and its numbers.
    groups
        The subgroups and their calibration.
    messages
        Warnings of the computation.
    """
    return [
        *_about_rows(evaluated, findings),
        *_about_times(evaluated, findings),
        *_about_columns(evaluated, findings),
        *_about_predictions(findings, groups),
        *(Caution("From the computation.", message) for message in messages),
    ]


def _about_rows(evaluated: EvaluatedModel, findings: Findings) -> list[Caution]:
    given = []
    if findings.trained_here:
        text = (
            "These seem to be the training rows of the model: the number of rows and events and the first and last "
            "time are the same. Metrics on training rows are optimistic. Use rows that the model has not seen."
        )
        given.append(Caution("Training rows.", text))
    events = evaluated.events
    if events < FEW_EVENTS:
        text = (
            f"Only {counted(events, 'event')}. With fewer than {FEW_EVENTS} events the estimates are imprecise: "
            "consider their intervals."
        )
        given.append(Caution("Few events.", text))
    if len(evaluated.rows) < len(evaluated.everything):
        text = (
            f"The table has {len(evaluated.everything):,} rows. Numbers and figures are of {len(evaluated.rows):,} of "
            "them, drawn at random."
        )
        given.append(Caution("A sample.", text))
    return given


def _about_times(evaluated: EvaluatedModel, findings: Findings) -> list[Caution]:
    follow_up, given = evaluated.follow_up, []
    last = time_with_unit(follow_up, evaluated.unit)
    longer = float(np.mean(known_times(evaluated.data) > follow_up))
    if longer:
        text = (
            f"{percent(longer)} of the rows were observed beyond {last}, the last time in training. Predictions for "
            "later times are extrapolated."
        )
        given.append(Caution("Beyond the follow-up of training.", text))
    late = float(np.mean(findings.median > follow_up))
    if late:
        text = (
            f"For {percent(late)} of the rows the predicted median lies beyond {last}, where training had no data. "
            "Read such medians as “later than that”."
        )
        given.append(Caution("Late medians.", text))
    return given


def _about_columns(evaluated: EvaluatedModel, findings: Findings) -> list[Caution]:
    if findings.outside is None or not findings.outside.any():
        return []
    counts, names = findings.outside.sum(axis=0), evaluated.table.names
    worst = sorted((place for place in range(len(names)) if counts[place]), key=lambda place: -counts[place])
    rows = int(findings.outside.any(axis=1).sum())
    text = (
        f"{counted(rows, 'row')} ({percent(rows / len(evaluated.rows))}) with a value that did not occur in training: "
        f"{name_list([f'{names[place]} ({counts[place]})' for place in worst])}. Predictions for them are less certain "
        "than they seem."
    )
    return [Caution("Outside the range of training.", text)]


def _about_predictions(findings: Findings, groups: Sequence[Subgroup]) -> list[Caution]:
    given = []
    problems = calibration_problems(findings)
    which = [
        *(["are off on average"] * bool(problems.average)),
        *(["are too extreme" if problems.differences < 0 else "are too alike"] if problems.differences else []),
        *([f"do not agree with the observed outcomes ({p_value(findings.d_calibration.p_value)})"] * problems.uneven),
    ]
    if which:
        text = f"The predicted probabilities {', and they '.join(which)}: see “Calibration”."
        given.append(Caution("Poor calibration.", text))
    mean, largest = float(findings.negative.mean()), float(findings.negative.max())
    if mean > _NEGATIVE_MEAN or largest > _NEGATIVE_ROW:
        text = (
            f"The model gives a probability of {percent(mean)} on average, and of up to {percent(largest)}, to times "
            "below zero, which are impossible."
        )
        given.append(Caution("Negative times.", text))
    off, worst = [group.name for group in groups if group.calibration.finding == "off"], worst_subgroup(groups)
    if off and worst is not None:
        subject = "It is" if len(off) == 1 else f"The worst is {worst.name}:"
        text = f"Predicted event-free shares are off in {name_list(off)}. {subject} {worst.calibration.verdict}."
        given.append(Caution("Subgroups.", text))
    return given
