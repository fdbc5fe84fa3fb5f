"""Errors of the library as one line, with rows counted as in the file and advice that names options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from aldsurv.errors import AldsurvError, UnknownNameError, compose_message
from aldsurv.quoting import quoted

__all__ = ["error_line", "errors_in_file", "errors_of_model"]


@final
@dataclass(frozen=True)
class _Wording:
    """The option that stands for an argument of the library, and the advice where the library's does not apply."""

    option: str = ""
    advice: str = ""


_WORDINGS: Mapping[str, _Wording] = {
    "without": _Wording("--without"),
    "event_value": _Wording("--event-value", "Name the value that is the event by --event-value."),
    "event_values": _Wording(
        "--event-values",
        'Name each value that is a cause, as in --event-values "1=relapse,2=death", and with "0=censored", or '
        '"=censored" for gaps, what is not an event.',
    ),
    "cause": _Wording("--cause"),
    "drop": _Wording("--drop", "Change --drop, or the columns of the table."),
    "categorical": _Wording(
        "--categorical", "Leave such fields empty, or name the column by --categorical if its values are codes."
    ),
    "encoding": _Wording(advice="Save the file as UTF-8."),
    "decimal": _Wording(advice="Write decimals with a point, and thousands without a mark."),
    "sample_weight": _Wording(advice="Give some rows a positive weight."),
    "learning_rate": _Wording(advice="Leave columns out by --drop, or take another --model."),
    "clip_features": _Wording(advice="Scale the columns, or leave them out by --drop."),
    "ridge": _Wording(advice="Leave columns out by --drop, or take another --model."),
    "folds": _Wording(advice="Give more rows, or fit without --tune."),
    "group": _Wording("--id"),
    "id": _Wording("--id"),
    "start": _Wording("--start"),
    "stop": _Wording("--stop"),
    "gaps": _Wording(advice="Fill the gap with an episode that has the covariates that held then."),
    "groups": _Wording("--id", "Name a column with more persons by --id, or none."),
    "members": _Wording("--members", "Fit an ensemble, as by --members 5."),
    "encoder": _Wording(advice="Use the model from Python: aldsurv.load(path, encoder=module)."),
    "train": _Wording("--train", "Name the table of the training rows by --train."),
    "recipe": _Wording("--recipe"),
    "support": _Wording("--support"),
    "unit": _Wording("--unit"),
}


def error_line(error: AldsurvError) -> str:
    """The file, the problem, where in the table it is, and what to do on the command line."""
    place = [f"column {quoted(error.column)}"] if error.column is not None else []
    if error.line is not None:
        place.append(f"line {error.line}")
    elif error.row is not None:
        place.append(f"row {error.row + 1} below the header")
    problem = _problem(error) if error.file is None else f"{error.file!r}: {_problem(error)}"
    return compose_message(problem, ", ".join(place), _advice(error))


@contextmanager
def errors_in_file(path: str | Path) -> Iterator[None]:
    """Errors within the block name the file, unless they name one."""
    try:
        yield
    except AldsurvError as error:
        if error.file is not None:
            raise
        raise error.in_file(str(path), row=error.row) from None


@contextmanager
def errors_of_model(path: str) -> Iterator[None]:
    """Errors within the block say which of several models they concern; those about a row concern all."""
    try:
        yield
    except AldsurvError as error:
        if error.row is not None:
            raise
        raise type(error)(
            f"model {path!r}: {_problem(error)}",
            argument=error.argument,
            column=error.column,
            row=error.row,
            file=error.file,
            line=error.line,
            suggestion=error.suggestion,
            advice=error.advice,
        ) from None


def _wording(error: AldsurvError) -> _Wording:
    return _WORDINGS.get(error.argument or "", _Wording())


def _problem(error: AldsurvError) -> str:
    """The problem, which begins with the option where it begins with the argument."""
    option, argument = _wording(error).option, error.argument
    if option and argument and error.problem.startswith((f"{argument} ", f"{argument}=")):
        return f"{option} {error.problem[len(argument) + 1 :]}"
    return error.problem


def _advice(error: AldsurvError) -> str:
    wording = _wording(error)
    # An error without advice says all that is needed; names that are not known come with the nearest ones.
    if not error.advice or isinstance(error, UnknownNameError):
        return error.advice
    if wording.option and error.argument == "event_value" and error.suggestion is not None:
        return f"Name the value that is the event, such as {wording.option} {quoted(error.suggestion)}."
    return wording.advice or error.advice
