"""Errors of the library as one line, with rows counted as in the file and advice that names options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from aldsurv.errors import AldsurvError, compose_message
from aldsurv.quoting import quoted

__all__ = ["error_line", "errors_name_file"]


@final
@dataclass(frozen=True)
class _Wording:
    """The option that stands for an argument of the library, and the advice where the library's does not apply."""

    option: str = ""
    advice: str = ""


_WORDINGS: Mapping[str, _Wording] = {
    "event_value": _Wording("--event-value", "Name the value that is the event by --event-value."),
    "drop": _Wording("--drop"),
    "categorical": _Wording("--categorical"),
    "encoding": _Wording(advice="Save the file as UTF-8."),
    "decimal": _Wording(advice="Write decimals with a point, and thousands without a mark."),
    "sample_weight": _Wording(advice="Give some rows a positive weight."),
    "learning_rate": _Wording(advice="Leave columns out by --drop, or take another --model."),
    "clip_features": _Wording(advice="Scale the columns, or leave them out by --drop."),
    "ridge": _Wording(advice="Leave columns out by --drop, or take another --model."),
    "folds": _Wording(advice="Give more rows, or fit without --tune."),
    "members": _Wording("--members", "Fit an ensemble, as by --members 5."),
    "encoder": _Wording(advice="Use the model from Python: aldsurv.load(path, encoder=module)."),
    "train": _Wording("--train", "Name the table of the training rows by --train."),
    "recipe": _Wording("--recipe"),
    "support": _Wording("--support"),
    "unit": _Wording("--unit"),
}


def error_line(error: AldsurvError) -> str:
    """The problem, where in the table it is, and what to do on the command line."""
    place = [f"column {quoted(error.column)}"] if error.column is not None else []
    place += [f"row {error.row + 1} below the header"] if error.row is not None else []
    # An error without advice of its own says all that is needed.
    advice = (_wording(error).advice or error.advice) if error.advice else ""
    return compose_message(_problem(error), ", ".join(place), advice)


@contextmanager
def errors_name_file(path: str | Path) -> Iterator[None]:
    """Errors within the block begin with the name of the file, unless they have it."""
    try:
        yield
    except AldsurvError as error:
        if str(path) in error.problem:
            raise
        problem = f"{str(path)!r}: {_problem(error)}"
        raise type(error)(
            problem, argument=error.argument, column=error.column, row=error.row, advice=error.advice
        ) from None


def _wording(error: AldsurvError) -> _Wording:
    return _WORDINGS.get(error.argument or "", _Wording())


def _problem(error: AldsurvError) -> str:
    """The problem, which begins with the option where it begins with the argument."""
    option, argument = _wording(error).option, error.argument
    if option and argument and error.problem.startswith((f"{argument} ", f"{argument}=")):
        return f"{option} {error.problem[len(argument) + 1 :]}"
    return error.problem
