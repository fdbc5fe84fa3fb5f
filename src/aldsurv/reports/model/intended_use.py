"""What a model is for and what not: what the data show, and places that only its author can fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, final

import numpy as np

from aldsurv.columns.column_plans import LeftOut
from aldsurv.models import SurvivalEstimator
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.page.number_format import counted, either_of, name_list, number, percent, time_with_unit
from aldsurv.reports.page.page import OpenPlaces, Remarks, Section, Text

__all__ = [
    "OPEN_PLACES",
    "IntendedUse",
    "Statement",
    "describe_follow_up",
    "describe_no_effects",
    "describe_prediction",
    "describe_training",
    "intended_use",
    "use_section",
]


class Statement(NamedTuple):
    """A title and a sentence or two."""

    title: str
    text: str


# What only the author knows.
OPEN_PLACES = (
    Statement("Purpose", "which decision the predictions are for, who makes it, and at which moment"),
    Statement("Population", "who may be predicted for: inclusion, place, period, and where time begins"),
    Statement("Event", "how the event is defined and found out"),
    Statement(
        "Measurements", "how the columns have to be measured, in which units, and how long before the prediction"
    ),
    Statement("Action", "from which probability on something is done, and what an error costs"),
    Statement("Care", "who may use the model, under which licence, who watches over it, and when it is reviewed"),
)


@final
@dataclass(frozen=True)
class IntendedUse:
    """What the data show about the use of a model.

    Attributes
    ----------
    basis
        What is predicted, and from which rows that was learned.
    limits
        What the model must not be used for.
    open_places
        What only the author knows.
    """

    basis: tuple[Statement, ...]
    limits: tuple[Statement, ...]
    open_places: tuple[Statement, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            entry.name: [{"about": title, "text": text} for title, text in getattr(self, entry.name)]
            for entry in fields(self)
        }


def intended_use(evaluated: EvaluatedModel, findings: Findings, spec: Specification) -> IntendedUse:
    """What the training rows and the evaluated rows say about the use of the model."""
    model, unit = evaluated.model, evaluated.unit
    predicted = describe_prediction(model, evaluated.the_event, unit, evaluated.data.causes)
    basis = (predicted, *describe_training(model, unit), _evaluation(evaluated, findings), *_inputs(spec))
    limits = (
        describe_follow_up(model, unit),
        _range(evaluated, findings),
        _elsewhere(findings),
        describe_no_effects(),
    )
    return IntendedUse(basis, limits, OPEN_PLACES)


def use_section(use: IntendedUse) -> Section:
    """The statements and the open places."""
    return Section(
        "use",
        "Intended use and limits",
        (
            Text("What the model and its training rows say about where its predictions hold."),
            Remarks(tuple((f"{title}.", text) for title, text in use.basis)),
            Text("It must not be used:"),
            Remarks(tuple((f"{title}.", text) for title, text in use.limits)),
            OpenPlaces(tuple((f"{title}: {text}") for title, text in use.open_places)),
        ),
    )


def describe_prediction(
    model: SurvivalEstimator, event: str, unit: str | None, causes: Sequence[str] | None = None
) -> Statement:
    """What the model predicts.

    Parameters
    ----------
    model
        A fitted model.
    event, unit
        The event in a sentence, and the unit of time, if it is known.
    causes
        Causes of events that rows have, whether or not the model tells them apart.
    """
    what = f"the time to {event}"
    if model.causes_ is not None:
        what = f"the time to the first event, and the probability that it is {either_of(model.causes_)}"
    elif causes is not None:
        what = f"the time to the first event of any kind ({either_of(causes)}), which are not distinguished"
    of_time = "" if unit is None else f", in {unit}"
    return Statement(
        "What is predicted",
        f"The distribution of {what}{of_time}, for each subject: the probability of being free of it at any time, the "
        "median, and intervals.",
    )


def describe_training(model: SurvivalEstimator, unit: str | None) -> tuple[Statement, ...]:
    """The rows that the model was learned from; none if it keeps no record of them."""
    facts = model.trained_on_
    if facts is None:
        return ()
    whom = f"{counted(facts.rows, 'row')}" if facts.persons is None else f"{facts.rows_text}"
    text = (
        f"{whom} with {counted(facts.known_events, 'event')} ({percent(facts.event_share)}), observed from "
        f"{number(facts.first_time)} to {time_with_unit(facts.last_time, unit)}."
    )
    if facts.follow_up is not None and facts.follow_up < facts.last_time:
        text += f" By {time_with_unit(facts.follow_up, unit)} four fifths of them had left observation."
    return (Statement("Whom it was learned from", text),)


def _evaluation(evaluated: EvaluatedModel, findings: Findings) -> Statement:
    data = evaluated.data
    which = "the training rows, as it seems" if findings.trained_here else "the rows of this report"
    longest = time_with_unit(evaluated.longest, evaluated.unit)
    counts = f"{counted(len(data), 'row')} with {counted(evaluated.events, 'event')}"
    return Statement("Where it was evaluated", f"On {which}: {counts}, observed for up to {longest}.")


def _inputs(spec: Specification) -> tuple[Statement, ...]:
    if spec.features is None:
        return ()
    used = [spec.labels.column(plan.name) for plan in spec.features.columns if not isinstance(plan, LeftOut)]
    text = f"{counted(len(used), 'column')}: {name_list(used, 30)}. “The model” has their ranges and levels."
    return (Statement("What it needs to know", text),)


def describe_follow_up(model: SurvivalEstimator, unit: str | None) -> Statement:
    """From when on predictions are extrapolated."""
    last = time_with_unit(float(model.unique_times_[-1]), unit)
    text = f"No training row was observed beyond {last}. Later probabilities, medians and means are extrapolated."
    return Statement("For times beyond follow-up", text)


def _range(evaluated: EvaluatedModel, findings: Findings) -> Statement:
    text = "Values of columns that training had not shown lead to predictions that no data support."
    if findings.outside is not None:
        share = float(np.mean(findings.outside.any(axis=1)))
        text += f" Of the rows of this report {percent(share)} have such a value."
    return Statement("Outside the range of the columns", text)


def _elsewhere(findings: Findings) -> Statement:
    seen = (
        "This report does not show how it does on rows that it has not seen."
        if findings.trained_here
        else "This report is about its rows alone."
    )
    return Statement(
        "In other populations, places or periods without validation",
        f"{seen} Elsewhere the share of events and the effects of the columns may differ: evaluate the model there "
        "first, and update it if it is off.",
    )


def describe_no_effects() -> Statement:
    """That differences between predictions are not effects."""
    return Statement(
        "To say what would happen if a column were changed",
        "Differences between predictions describe subjects; they are not effects of a treatment or an intervention.",
    )
