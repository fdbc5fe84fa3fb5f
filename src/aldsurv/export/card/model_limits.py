"""Limits of a model that its file shows, without any rows to evaluate it on."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.columns.column_plans import ColumnPlan, LeftOut, Levels, Number
from aldsurv.models import SurvivalEstimator
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.reports.model.intended_use import Statement, describe_follow_up, describe_no_effects
from aldsurv.reports.model.quality.model_verdicts import FEW_EVENTS
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.page.number_format import counted, either_of, name_list, number, time_with_unit

__all__ = ["model_limits"]

_MOST_NAMES = 12
# With fewer events per input coefficients and risks tend to be too extreme.
_LEAST_EVENTS_PER_INPUT = 10


def model_limits(spec: Specification, unit: str | None) -> tuple[Statement, ...]:
    """What a user of the model should know: follow-up, events, columns, causes, and what predictions are not."""
    model = spec.model
    return (
        describe_follow_up(model, unit)._replace(title="Times beyond follow-up"),
        *_about_training(spec, model.trained_on_, unit),
        *_about_columns(spec),
        *_about_causes(model),
        *_about_fit(model),
        describe_no_effects()._replace(title="No effects of a change"),
    )


def _about_training(spec: Specification, facts: TrainedOn | None, unit: str | None) -> list[Statement]:
    if facts is None:
        text = "The model keeps no record of its training rows: how many they were and whom they describe is not known."
        return [Statement("Training rows", text)]
    limits = []
    if facts.follow_up is not None and facts.follow_up < facts.last_time:
        end, last = time_with_unit(facts.follow_up, unit), time_with_unit(facts.last_time, unit)
        text = f"By {end} four fifths of the training rows had left observation: from then to {last} few rows speak."
        limits.append(Statement("Short follow-up", text))
    if facts.known_events < FEW_EVENTS:
        text = (
            f"Training had {counted(facts.known_events, 'event')}: with fewer than {FEW_EVENTS} predictions are rough."
        )
        limits.append(Statement("Few events", text))
    inputs = 0 if spec.features is None else spec.features.width
    if inputs and facts.known_events < _LEAST_EVENTS_PER_INPUT * inputs:
        share = number(facts.known_events / inputs, 2)
        text = (
            f"{share} events for each of {counted(inputs, 'input')} that the columns become: with fewer than "
            f"{_LEAST_EVENTS_PER_INPUT} predictions tend to be too extreme, unless the model shrinks them."
        )
        limits.append(Statement("Few events for the columns", text))
    return limits


def _about_columns(spec: Specification) -> list[Statement]:
    if spec.features is None:
        text = "An encoder reads the columns: the model has no record of their values in training."
        return [Statement("Outside the range of the columns", text)]
    used = [plan for plan in spec.features.columns if not isinstance(plan, LeftOut)]
    text = "Values of columns that training had not shown lead to predictions that no data support."
    limits = [Statement("Outside the range of the columns", text)]
    rare = [plan for plan in used if isinstance(plan, Levels) and plan.other]
    if rare:
        text = f"Levels that few training rows had share one input: {_names(spec, rare)}."
        limits.append(Statement("Rare levels", text))
    without_gaps = [plan for plan in used if isinstance(plan, (Number, Levels)) and not plan.gaps]
    if without_gaps:
        text = (
            f"Training had none in {_names(spec, without_gaps)}. They are filled in there (see “Columns”), but what "
            "they mean was not learned."
        )
        limits.append(Statement("Gaps", text))
    return limits


def _about_causes(model: SurvivalEstimator) -> list[Statement]:
    if model.causes_ is None:
        text = (
            "The model knows one kind of event. Where other events, such as death, make it impossible, its probability "
            "is too high: it is that of subjects who are free of those."
        )
        return [Statement("Other events", text)]
    text = (
        f"The probability of {either_of(model.causes_)} is that of having it as the first event, while the other "
        "causes act as they did in training. It is not what would happen if another cause were prevented."
    )
    return [Statement("Several causes", text)]


def _about_fit(model: SurvivalEstimator) -> list[Statement]:
    if not model.interrupted_:
        return []
    return [Statement("Ended early", "Training was ended by the user before it was done.")]


def _names(spec: Specification, plans: Sequence[ColumnPlan]) -> str:
    return name_list([spec.labels.column(plan.name) for plan in plans], _MOST_NAMES)
