"""Parameters of a model on the command line: options of their own, and --set NAME=VALUE for any of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from aldsurv.cli.shared.command_options import split_names
from aldsurv.cli.shared.text_layout import join_names
from aldsurv.errors import AldsurvError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted, suggest_names
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = [
    "OPTION_PARAMETERS",
    "Setting",
    "chosen_parameters",
    "errors_of_settings",
    "settable_parameters",
    "setting_text",
]

Setting = str | int | float | bool | tuple[str | int | float, ...] | None

# Parameters that have an option of the same name.
OPTION_PARAMETERS = ("recipe", "members", "support", "learning_rate", "ridge", "unit")
# Parameters that describe the table or the run, and have options of other names.
_OTHER_OPTIONS = {"random_state": "--seed", "categorical": "--categorical", "progress": "--quiet"}
# What only Python has: functions, networks, estimators, and a file that two fits would share.
_PYTHON_ONLY = ("encoder", "callbacks", "checkpoint", "estimator")
_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}


def settable_parameters(model: str) -> list[str]:
    """Names of the parameters of a model that --set takes."""
    names = MODELS.load(model).parameter_defaults()
    return [name for name in names if name not in _OTHER_OPTIONS and name not in _PYTHON_ONLY]


def chosen_parameters(
    model: str, options: Mapping[str, Setting], assignments: Sequence[str] = ()
) -> dict[str, Setting]:
    """The parameters that were given, each of which must be one of the model.

    Parameters
    ----------
    model
        Registered name.
    options
        Values of the options that parameters have of their own, by name of the parameter; None for one not used.
    assignments
        What was given by --set: ``NAME=VALUE``.
    """
    estimator_type = MODELS.load(model)
    chosen: dict[str, Setting] = {name: value for name, value in options.items() if value is not None}
    for name in chosen:
        _require_option(model, name, options)
    for assignment in assignments:
        name, text = _parts(assignment)
        _require_parameter(model, name)
        if name in chosen:
            other = _option_name(name) if options.get(name) is not None else "another value"
            raise ParameterError(f"--set {name} cannot be combined with {other}. Give one of them.")
        chosen[name] = _value(estimator_type, chosen, name, text)
    return chosen


@contextmanager
def errors_of_settings(parameters: Mapping[str, Setting]) -> Iterator[None]:
    """Errors within the block about parameters that have no option of their own begin with --set.

    Parameters
    ----------
    parameters
        Those that were given.
    """
    try:
        yield
    except ParameterError as error:
        argument = error.argument
        if argument not in parameters or argument in OPTION_PARAMETERS or not error.problem.startswith(f"{argument} "):
            raise
        raise ParameterError(f"--set {error.problem}", advice=error.advice) from None


def setting_text(value: object) -> str:
    """A value as --set takes it."""
    if isinstance(value, (tuple, list)):
        return ",".join(map(setting_text, value)) or "()"
    return str(value)


def _parts(assignment: str) -> tuple[str, str]:
    """The name, with _ for -, and the text of the value."""
    name, equals, text = assignment.partition("=")
    name = name.strip().replace("-", "_")
    if not name or not equals or not text.strip():
        raise ParameterError(f"--set must be NAME=VALUE, such as --set max_epochs=50, but is {quoted(assignment)}.")
    return name, text.strip()


def _option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _require_option(model: str, name: str, options: Mapping[str, Setting]) -> None:
    """Raise `ParameterError` unless the model has the parameter of an option."""
    names = MODELS.load(model).parameter_defaults()
    if name in names:
        return
    option, known = _option_name(name), ", ".join(map(_option_name, options))
    options_of_model = [_option_name(other) for other in options if other in names]
    has = join_names(options_of_model) if options_of_model else "none"
    others = [other for other in MODELS if name in MODELS.load(other).parameter_defaults()]
    raise ParameterError(
        f"the model {quoted(model)} has no {option}. Of {known} it has {has}; models with {option}: "
        f"{', '.join(others)}."
    )


def _require_parameter(model: str, name: str) -> None:
    """Raise unless --set can give the model this parameter."""
    known = settable_parameters(model)
    if name in known:
        return
    if name in MODELS.load(model).parameter_defaults():
        other = _OTHER_OPTIONS.get(name)
        what = f"Give {other} in its place." if other else "Fit the model from Python to give it one."
        raise ParameterError(f"--set cannot give the parameter {quoted(name)}. {what}")
    near = suggest_names(name, known, most=1)
    # Where none is near, all are listed anyway.
    all_names = "" if near.startswith("Known") else f" Known: {', '.join(known)}."
    raise UnknownNameError(f"the model {quoted(model)} has no parameter {quoted(name)}. {near}{all_names}")


def _value(estimator_type: type[SurvivalEstimator], others: Mapping[str, Setting], name: str, text: str) -> Setting:
    """The first reading of a text that the model allows; the likeliest, if it allows none."""
    readings = list(_readings(text))
    for value in readings:
        try:
            estimator_type(**{**others, name: value}).check_parameters()
        except AldsurvError:
            continue
        return value
    return readings[0]


def _readings(text: str) -> Iterator[Setting]:
    """What a text may stand for: a value as Python writes it, a list, itself, yes or no, a list of one."""
    value = _literal(text)
    if value is not None or text == "None":
        yield value
    if "," in text and not isinstance(value, tuple):
        yield tuple(_item(part) for part in split_names(text))
    yield text
    if text.lower() in _WORDS:
        yield _WORDS[text.lower()]
    if not isinstance(value, tuple):
        yield (_item(text),)


def _literal(text: str) -> Setting:
    """A value as Python writes it; None if it is none."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, list):
        value = tuple(value)
    items = value if isinstance(value, tuple) else (value,)
    return value if all(isinstance(item, (str, int, float)) for item in items) else None


def _item(text: str) -> str | int | float:
    value = _literal(text)
    return value if isinstance(value, (str, int, float)) else text
