"""The cause that is asked for, and models that tell causes apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.quoting import quoted, suggest_names
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["cause_option", "chosen_causes", "count_causes", "models_with_causes"]

Command = TypeVar("Command", bound=Callable[..., Any])


def cause_option(help_text: str) -> Callable[[Command], Command]:
    """``--cause``, the name of one."""
    return click.option("--cause", default=None, metavar="NAME", help=help_text)


def count_causes(data: SurvivalData) -> dict[str, int] | None:
    """How many events each cause has; None for data without causes."""
    if data.cause is None or data.causes is None:
        return None
    numbers = data.cause.tolist()
    return {name: numbers.count(number) for number, name in enumerate(data.causes, start=1)}


def models_with_causes() -> list[str]:
    """Registered names of the models that tell causes apart."""
    return [name for name in MODELS if MODELS.load(name).TAKES_CAUSES]


def chosen_causes(model: SurvivalEstimator, cause: str | None) -> tuple[str, ...]:
    """The causes to look at: the one asked for, or all that the model tells apart.

    Parameters
    ----------
    model
        A fitted model.
    cause
        What was typed: a name; None for all.
    """
    if cause is None:
        return model.causes_ or ()
    if model.causes_ is None:
        raise ParameterError(
            f"--cause needs a model that tells causes apart, but this {type(model).__name__} was fitted to one kind of "
            f'event. Name the causes in training: aldsurv fit --event-values "1=relapse,2=death". Models that do: '
            f"{', '.join(models_with_causes())}."
        )
    if cause not in model.causes_:
        near = suggest_names(cause, model.causes_)
        raise UnknownNameError(f"--cause {quoted(cause)} is not a cause of the model. {near}")
    return (cause,)
