"""What a page says of its model: title, statement of use, facts about training."""

from __future__ import annotations

from aldsurv.models.base import SurvivalEstimator
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.registry import MODELS, saved_model_name

__all__ = ["lead_text", "model_facts", "page_title", "use_text", "warning_text"]


def page_title(model: SurvivalEstimator, event: str | None) -> str:
    """The heading of a page that was given none."""
    what = event or ("the event" if model.causes_ is None else "the first event")
    return f"Time to {what}: a calculator"


def lead_text(model: SurvivalEstimator, event: str | None) -> str:
    """What is computed, in a sentence."""
    if model.causes_ is None:
        return f"Predicted time to {event or 'the event'} of one person, with its uncertainty."
    causes = " or ".join(filter(None, [", ".join(model.causes_[:-1]), model.causes_[-1]]))
    return f"Predicted time to the first event of one person, and whether it is {causes}."


def warning_text() -> tuple[str, str]:
    """What the page must not be taken for."""
    return (
        "Not medical advice.",
        "These are the predictions of a statistical model. Do not base decisions on them unless the model was "
        "validated for people like the one you enter, at the place and time of use.",
    )


def use_text(model: SurvivalEstimator, use: str | None, unit: str | None) -> str:
    """Whom the predictions are about."""
    facts = model.trained_on_
    given = "" if not use else f"{use.strip().rstrip('.')}. "
    if facts is None:
        return f"{given}Predictions are valid only for people like those of the training data."
    last = _time(facts.last_time, unit)
    return (
        f"{given}The model was learned from {facts.rows_text} rows with {facts.known_events} events "
        f"({percent(facts.event_share)}), observed for up to {last}. Predictions are valid only for people like "
        "these; beyond that time they are extrapolated. Differences between two persons are not effects of a treatment."
    )


def model_facts(model: SurvivalEstimator, unit: str | None) -> list[tuple[str, str]]:
    """Names and values, side by side."""
    name = saved_model_name(type(model))
    facts = [("Model", MODELS[name].title if name in MODELS else type(model).__name__)]
    trained = model.trained_on_
    if trained is not None:
        facts.append(("Trained on", f"{trained.rows_text} rows, {trained.known_events} events"))
        facts.append(
            ("Times of training", f"{plain_number(trained.first_time, 4)} to {_time(trained.last_time, unit)}")
        )
        if trained.follow_up is not None:
            facts.append(("Follow-up, by which four fifths had left", _time(trained.follow_up, unit)))
        if "aldsurv" in trained.versions:
            facts.append(("Trained with", f"aldsurv {trained.versions['aldsurv']}"))
    if model.n_members > 1:
        facts.append(("Members", str(model.n_members)))
    return facts


def _time(value: float, unit: str | None) -> str:
    return plain_number(value, 4) + (f" {unit}" if unit else "")
