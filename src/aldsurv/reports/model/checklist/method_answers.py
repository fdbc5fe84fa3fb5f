"""What a report answers of the items of title, introduction and methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from aldsurv.columns.column_plans import LeftOut
from aldsurv.reports.model.checklist.study import Answer, Study, filled, left_open, partly
from aldsurv.reports.model.quality.findings import RESAMPLES
from aldsurv.reports.page.number_format import counted, name_list, number, percent, time_with_unit

__all__ = ["METHOD_ANSWERS"]


def _title(study: Study) -> Answer:
    return partly(
        f"This page evaluates a model that predicts the time to {study.evaluated.the_event}.",
        "the title, with the population",
        study.first_of("glance"),
    )


def _users(study: Study) -> Answer:
    return left_open("the places that are marked in “Intended use and limits”")._replace(anchor=study.first_of("use"))


def _objectives(study: Study) -> Answer:
    if study.findings.trained_here:
        text = "The rows seem to be those of development: what is shown is apparent performance, no evaluation."
    else:
        text = f"The model, developed on {study.training_rows}, is evaluated on {study.evaluation_rows}."
    return partly(text, "the aims", study.first_of("glance"))


def _sources(study: Study) -> Answer:
    source = "" if study.source is None else f" of {study.source}"
    return partly(
        f"Development: {study.training_rows}. Evaluation: {study.evaluation_rows}{source}.",
        "kind of the sources, why these, whom they represent",
        study.first_of("participants", "data"),
    )


def _dates(study: Study) -> Answer:
    longest = time_with_unit(study.evaluated.longest, study.evaluated.unit)
    return partly(
        f"Follow-up is up to {study.last_time} in development and up to {longest} in evaluation.",
        "the calendar dates",
        study.first_of("participants", "data"),
    )


def _preparation(study: Study) -> Answer:
    return partly(
        "How columns become numbers was learned from the development rows alone, by the same rule for all of them.",
        "what was checked and cleaned before, and if alike in all groups",
        study.first_of("model"),
    )


def _outcome(study: Study) -> Answer:
    evaluated, facts = study.evaluated, study.trained_on
    outcome = {} if facts is None else facts.outcome
    columns = [f"{role.replace('_', ' ')} “{evaluated.labels.column(name)}”" for role, name in outcome.items()]
    named = f" (columns: {', '.join(columns)})" if columns else ""
    return partly(
        f"The outcome is the time to {evaluated.the_event}{named}; the horizon is up to {study.last_time}.",
        "definition, how and when assessed, why this outcome",
        study.first_of("use"),
    )


def _choice_of_predictors(study: Study) -> Answer:
    features = study.spec.features
    total = len(study.evaluated.table.names)
    left_out = 0 if features is None else sum(isinstance(plan, LeftOut) for plan in features.columns)
    rule = (
        f", of which {left_out} were left out by rule: constant, or text that differs in most rows" if left_out else ""
    )
    text = f"The model was given {counted(total, 'column')}{rule}."
    return partly(text, "how they were chosen", study.first_of("model"))


def _predictors(study: Study) -> Answer:
    names = study.evaluated.table.names
    return partly(
        f"{counted(len(names), 'predictor')}: {name_list(names, 12)}; ranges, levels and encoding are listed.",
        "how and when measured, and whether blind to the outcome",
        study.first_of("model"),
    )


def _size(study: Study) -> Answer:
    facts, features = study.trained_on, study.spec.features
    per = ""
    if facts is not None and features is not None and features.width:
        per = f" ({number(facts.known_events / features.width, 2)} events for each of {features.width} inputs)"
    return partly(
        f"Development: {study.training_rows}{per}. Evaluation: {study.evaluation_rows}.",
        "how the sizes came about and why they are enough; `aldsurv plan` computes what is needed",
    )


def _gaps(study: Study) -> Answer:
    gaps = [
        sum(value is None or value != value for value in column.tolist()) for column in study.evaluated.table.columns
    ]
    with_gaps = sum(count > 0 for count in gaps)
    here = f"{counted(with_gaps, 'column')} have gaps here" if with_gaps != 1 else "1 column has gaps here"
    return partly(
        f"{here if with_gaps else 'No column has gaps here'}; the rule of each column is listed.",
        "rows or values that were left out, and why",
        study.first_of("model"),
    )


def _use_of_data(study: Study) -> Answer:
    held_out = study.spec.structure.held_out
    inner = f", of which each member held out {percent(held_out)}" if held_out else ""
    whole = "the same rows" if study.findings.trained_here else "other rows"
    return partly(
        f"Development used {study.training_rows}{inner}; the evaluation {study.evaluation_rows}, {whole}.",
        "how the data were divided",
        study.first_of("model"),
    )


def _handling(study: Study) -> Answer:
    return filled("For each column encoding, scaling and the rule for gaps are listed.", study.first_of("model"))


def _building(study: Study) -> Answer:
    changed = sum(each.changed for each in study.spec.settings)
    return partly(
        f"{study.spec.title}; all settings are listed, of which {changed or 'none'} differ from their defaults.",
        "why this kind of model, tuning before this fit, internal validation",
        study.first_of("model"),
    )


def _clusters(study: Study) -> Answer:
    facts = study.trained_on
    groups = study.evaluated.data.n_groups if study.evaluated.data.group is not None else None
    if facts is not None and facts.groups is not None:
        groups = facts.groups
    if groups is None:
        return left_open("clusters and how they were dealt with; neither set of rows names any")
    return partly(
        f"Rows of one of {groups:,} groups stay together where rows are held out or resampled.",
        "differences between clusters",
    )


def _measures(study: Study) -> Answer:
    return filled(
        "Discrimination, calibration, error and coverage, each with its meaning, limits from "
        f"{RESAMPLES} resamples or their formula, and plots.",
        study.first_of("numbers"),
    )


def _updating(study: Study) -> Answer:
    steps = study.evaluated.model.ancestry_
    if not steps:
        return filled("The model is evaluated as it was developed; it was not updated.", study.first_of("model"))
    return filled(f"Updated: {'; '.join(map(str, steps))}.", study.first_of("model"))


def _computing(study: Study) -> Answer:
    file = "" if study.spec.file is None else f" from the file {study.spec.file.name} (SHA-256 is listed)"
    versions = {} if study.trained_on is None else study.trained_on.versions
    made = f", trained with aldsurv {versions['aldsurv']}" if "aldsurv" in versions else ""
    return filled(
        f"By the fitted {study.spec.title}{file}{made}, for all rows in the same way.", study.first_of("model")
    )


def _imbalance(study: Study) -> Answer:
    facts = study.trained_on
    text = "Events and censored rows enter by their likelihood; none is drawn more or less often."
    if facts is not None and facts.total_weight is not None and not np.isclose(facts.total_weight, facts.rows):
        return partly(
            f"Rows had weights, which add up to {number(facts.total_weight, 6)}.", "why, and what follows from them"
        )
    return filled(text)


def _fairness(study: Study) -> Answer:
    if not study.groups:
        return left_open()
    columns = list(dict.fromkeys(group.column for group in study.groups))
    return partly(
        f"Calibration and discrimination are shown by {name_list(columns)}.",
        "what was done for fairness, and why",
        study.first_of("groups"),
    )


def _output(study: Study) -> Answer:
    return filled(
        "For each subject the distribution of the time: probabilities at any time, median and intervals. There are no "
        "classes and no thresholds.",
        study.first_of("use"),
    )


def _differences(study: Study) -> Answer:
    outside = study.findings.outside
    if outside is None:
        return left_open()
    rows = float(np.mean(outside.any(axis=1)))
    return partly(
        f"{percent(rows)} of the rows have a value that did not occur in development.",
        "differences in setting, eligibility and outcome",
        study.first_of("data"),
    )


METHOD_ANSWERS: Mapping[str, Callable[[Study], Answer]] = {
    "1": _title,
    "3b": _users,
    "4": _objectives,
    "5a": _sources,
    "5b": _dates,
    "7": _preparation,
    "8a": _outcome,
    "9a": _choice_of_predictors,
    "9b": _predictors,
    "10": _size,
    "11": _gaps,
    "12a": _use_of_data,
    "12b": _handling,
    "12c": _building,
    "12d": _clusters,
    "12e": _measures,
    "12f": _updating,
    "12g": _computing,
    "13": _imbalance,
    "14": _fairness,
    "15": _output,
    "16": _differences,
}
