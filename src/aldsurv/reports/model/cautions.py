"""What a reader should be careful about, as far as the data and the model can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.reports.model.findings import Findings
from aldsurv.reports.model.model_verdicts import ALPHA, FEW_EVENTS, average_agrees
from aldsurv.reports.model.subgroups import GroupRow
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, counted, listed, p_value, percent

__all__ = ["cautions"]

# Probabilities of times below 0 that matter: on average, and for a single row.
_NEGATIVE_MEAN, _NEGATIVE_ROW = 0.01, 0.05

Caution = tuple[str, str]


def cautions(subject: Subject, findings: Findings, groups: Sequence[GroupRow], notes: Sequence[str]) -> list[Caution]:
    """Title and text of each.

    Parameters
    ----------
    subject, findings
        What the report is about, and its numbers.
    groups
        Subgroups and how they fare.
    notes
        What the computation warned of.
    """
    found = [
        *_about_rows(subject, findings),
        *_about_times(subject, findings),
        *_about_columns(subject, findings),
        *_about_predictions(findings, groups),
    ]
    return [*found, *(("From the computation.", note) for note in notes)]


def _about_rows(subject: Subject, findings: Findings) -> list[Caution]:
    found = []
    if findings.trained_here:
        told = (
            "These seem to be the very rows that the model has learned from: as many rows and events, the same first "
            "and last time. All numbers here flatter the model. Use rows that it has not seen."
        )
        found.append(("Training rows.", told))
    events = subject.data.n_events
    if events < FEW_EVENTS:
        told = (
            f"Only {counted(events, 'event')}. With fewer than {FEW_EVENTS} the numbers here are rough: look at their "
            "intervals."
        )
        found.append(("Few events.", told))
    if len(subject.rows) < len(subject.everything):
        told = (
            f"The table has {len(subject.everything):,} rows. The numbers and pictures here are of "
            f"{len(subject.rows):,} of them, drawn at random."
        )
        found.append(("A sample.", told))
    return found


def _about_times(subject: Subject, findings: Findings) -> list[Caution]:
    follow_up, found = subject.follow_up, []
    longer = float(np.mean(subject.data.time > follow_up))
    if longer:
        told = (
            f"{percent(longer)} of the rows were observed beyond {amount(follow_up, subject.unit)}, the last time in "
            "training. What the model says about later times is a continuation, not experience."
        )
        found.append(("Beyond the follow-up of training.", told))
    late = float(np.mean(findings.median > follow_up))
    if late:
        told = (
            f"For {percent(late)} of the rows the predicted median lies beyond {amount(follow_up, subject.unit)}, "
            "where training had no data. Read such medians as “later than that”."
        )
        found.append(("Late medians.", told))
    return found


def _about_columns(subject: Subject, findings: Findings) -> list[Caution]:
    if findings.outside is None or not findings.outside.any():
        return []
    counts, names = findings.outside.sum(axis=0), subject.table.names
    worst = sorted((place for place in range(len(names)) if counts[place]), key=lambda place: -counts[place])
    rows = int(findings.outside.any(axis=1).sum())
    told = (
        f"{counted(rows, 'row')} ({percent(rows / len(subject.rows))}) with a value that training did not have: "
        f"{listed([f'{names[place]} ({counts[place]})' for place in worst])}. Predictions for them are less certain "
        "than they look."
    )
    return [("Outside the range of training.", told)]


def _about_predictions(findings: Findings, groups: Sequence[GroupRow]) -> list[Caution]:
    found = []
    p = findings.d_calibration.p_value
    if p < ALPHA or not average_agrees(findings):
        which = f"do not agree with what happened ({p_value(p)})" if p < ALPHA else "are off on average"
        found.append(("Poor calibration.", f"The predicted probabilities {which}: see “Calibration”."))
    mean, largest = float(findings.negative.mean()), float(findings.negative.max())
    if mean > _NEGATIVE_MEAN or largest > _NEGATIVE_ROW:
        told = (
            f"The model gives a probability of {percent(mean)} on average, and of up to {percent(largest)}, to times "
            "below zero, which cannot happen."
        )
        found.append(("Negative times.", told))
    poor = [f"{group.column} = {group.label}" for group in groups if group.poor]
    if poor:
        told = f"The probabilities are off in {listed(poor)}: see “Subgroups”."
        found.append(("Subgroups.", told))
    return found
