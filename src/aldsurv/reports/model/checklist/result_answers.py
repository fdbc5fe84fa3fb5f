"""What a report answers of the items of open science, results and discussion."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import aldsurv
from aldsurv.reports.model.checklist.study import Answer, Study, filled, left_open, partly
from aldsurv.reports.model.row_kind import known_times
from aldsurv.reports.page.number_format import counted, interval, name_list, percent, time_with_unit

__all__ = ["RESULT_ANSWERS"]

# Measures that the answer about performance names, with their words and digits.
_MEASURES = (("harrell_c", "C", 3), ("calibration_slope", "calibration slope", 2))


def _code(study: Study) -> Answer:
    return partly(f"The numbers of this page are those of aldsurv {aldsurv.__version__}.", "the code of the analysis")


def _flow(study: Study) -> Answer:
    evaluated = study.evaluated
    rows, events = len(evaluated.data), evaluated.events
    middle = time_with_unit(float(np.median(known_times(evaluated.data))), evaluated.unit)
    return partly(
        f"{counted(rows, 'row')}: {events:,} with and {rows - events:,} without an observed event; median observed "
        f"time {middle}.",
        "who was excluded before, and why",
        study.first_of("participants", "data"),
    )


def _characteristics(study: Study) -> Answer:
    return partly(
        "Values and gaps of all columns, and the times, are shown.",
        "dates, treatments, differences between groups",
        study.first_of("participants", "data"),
    )


def _comparison(study: Study) -> Answer:
    if study.compared:
        return filled(
            "Outcome and columns of development and evaluation stand beside each other, with standardised differences.",
            study.first_of("participants"),
        )
    return partly(
        "Shown are ranges and levels in development, and how many values here are outside of them.",
        "the distributions beside each other (give the development rows by --train)",
        study.first_of("participants", "data"),
    )


def _numbers(study: Study) -> Answer:
    text = f"Development: {study.training_rows}. Evaluation: {study.evaluation_rows}."
    if study.trained_on is None:
        return partly(f"Evaluation: {study.evaluation_rows}.", "the numbers of development", study.first_of("glance"))
    return filled(text, study.first_of("model"))


def _specification(study: Study) -> Answer:
    if study.spec.applies_by_hand:
        return filled(
            "Formula, coefficients and, if the model has one, the baseline are given; limits to the use of the model "
            "are for the author to add.",
            study.first_of("model"),
        )
    return partly(
        "Structure, settings and inputs are given; predictions need the model file.",
        "how the file can be had, and limits to its use",
        study.first_of("model"),
    )


def _performance(study: Study) -> Answer:
    findings = study.findings
    shown = [
        f"{title} {findings.value(name):.{digits}f} (95 % {interval(*findings.limits(name), digits)})"
        for name, title, digits in _MEASURES
        if np.isfinite(findings.value(name))
    ]
    columns = list(dict.fromkeys(group.column for group in study.groups))
    groups = f" Subgroups by {name_list(columns)}." if columns else ""
    given = ", ".join(shown) or "Measures that are defined for these rows"
    return filled(f"{given}; all measures have their limits.{groups}", study.first_of("numbers"))


def _updated_model(study: Study) -> Answer:
    if study.evaluated.model.ancestry_:
        return filled("The updated model is the one specified and evaluated on this page.", study.first_of("model"))
    return filled("The model was not updated.")


def _interpretation(study: Study) -> Answer:
    return partly(
        "Verdicts on discrimination, calibration, intervals and gain, with their reasons.",
        "what they mean beside the aims and earlier studies",
        study.first_of("glance"),
    )


def _limitations(study: Study) -> Answer:
    given = "no caution applies" if not study.cautions else f"{counted(study.cautions, 'caution')} given"
    return partly(f"Limits that the data show: {given}.", "limits of the study", study.first_of("care"))


def _poor_input(study: Study) -> Answer:
    features = study.spec.features
    if features is None:
        return left_open()
    outside = study.findings.outside
    share = 0.0 if outside is None else float(np.mean(outside.any(axis=1)))
    seen = "" if outside is None else f" Here {percent(share)} of the rows have such values."
    return partly(
        "The model fills gaps by the rule of each column and reports values that development had not shown." + seen,
        "when a prediction should not be used",
        study.first_of("use"),
    )


RESULT_ANSWERS: Mapping[str, Callable[[Study], Answer]] = {
    "18f": _code,
    "20a": _flow,
    "20b": _characteristics,
    "20c": _comparison,
    "21": _numbers,
    "22": _specification,
    "23a": _performance,
    "24": _updated_model,
    "25": _interpretation,
    "26": _limitations,
    "27a": _poor_input,
}
