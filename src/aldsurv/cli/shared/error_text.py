"""Errors of the library as one line, with rows counted as in the file and advice that names options."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from aldsurv.errors import AldsurvError, UnknownNameError, compose_message
from aldsurv.quoting import quoted

__all__ = ["error_line", "errors_in_file", "errors_of_model", "worded_arguments"]


@final
@dataclass(frozen=True)
class _Wording:
    """The option that stands for an argument of the library, and the advice where the library's does not apply.

    Attributes
    ----------
    option, advice
        For commands that have the options named in them.
    otherwise
        The advice for others.
    suggests
        What to do, before the option and a value that would probably do, if the error has one.
    """

    option: str = ""
    advice: str = ""
    otherwise: str = ""
    suggests: str = ""

    def for_command(self, options: Collection[str] | None) -> _Wording:
        """The wording for a command with these options; None: whatever it has."""
        if options is None or set(_OPTION.findall(f"{self.option} {self.advice}")) <= set(options):
            return self
        return _Wording(advice=self.otherwise)


_OPTION = re.compile(r"--[a-z][a-z0-9-]*")


_WORDINGS: Mapping[str, _Wording] = {
    "without": _Wording("--without"),
    "event_value": _Wording(
        "--event-value",
        "Name the value that is the event by --event-value.",
        suggests="Name the value that is the event, such as",
    ),
    "event_values": _Wording(
        "--event-values",
        'Name each value that is a cause, as in --event-values "1=relapse,2=death", and with "0=censored", or '
        '"=censored" for gaps, what is not an event.',
    ),
    "cause": _Wording("--cause"),
    "by": _Wording("--by"),
    "period": _Wording("--period"),
    "alpha": _Wording("--alpha"),
    "reference_periods": _Wording("--reference", "Take fewer by --reference, or name the training rows by --train."),
    "drop": _Wording("--drop", "Change --drop, or the columns of the table.", "Change the columns of the table."),
    "categorical": _Wording(
        "--categorical",
        "Name such text by --missing if it stands for a gap, or the column by --categorical if its values are codes.",
        "Leave such fields empty.",
    ),
    "encoding": _Wording(
        "--encoding",
        "Name its encoding by --encoding, or save the file as UTF-8.",
        "Save the file as UTF-8.",
        suggests="If it is text, name its encoding, such as",
    ),
    "decimal": _Wording(
        "--decimal",
        "Name the mark by --decimal, and write thousands without a mark.",
        "Write decimals with a point, and thousands without a mark.",
    ),
    "delimiter": _Wording("--delimiter"),
    "missing": _Wording("--missing"),
    "sheet": _Wording("--sheet"),
    "sample_weight": _Wording(advice="Give some rows a positive weight."),
    "learning_rate": _Wording(
        "--learning-rate",
        "Take shorter steps by --learning-rate, or another --model.",
        suggests="Take shorter steps, such as",
    ),
    "clip_features": _Wording(
        advice="Scale the columns, leave them out by --drop, or limit them, as by --set clip_features=5."
    ),
    "ridge": _Wording("--ridge", "Give a penalty, as by --ridge 1, or leave columns out by --drop."),
    "folds": _Wording(advice="Give more rows, or fit without --tune."),
    "settings": _Wording(advice="Set less by --set, or fit without --tune."),
    "estimator_class": _Wording(advice="Fit it without --tune, or take another --model."),
    "group": _Wording("--id"),
    "id": _Wording("--id"),
    "start": _Wording("--start"),
    "stop": _Wording("--stop"),
    "end": _Wording("--end"),
    "date_format": _Wording(
        "--date-format", "Say how dates are written by --date-format: day-first, month-first, or as in %d.%m.%Y."
    ),
    "gaps": _Wording(advice="Fill the gap with an episode that has the covariates that held then."),
    "groups": _Wording("--id", "Name a column with more persons by --id, or none."),
    "members": _Wording(
        "--members", "Fit an ensemble, as by --members 5.", "Fit an ensemble: aldsurv fit --members 5."
    ),
    "encoder": _Wording(advice="Use the model from Python: aldsurv.load(path, encoder=module)."),
    "train": _Wording("--train", "Name the table of the training rows by --train."),
    "recipe": _Wording("--recipe"),
    "since": _Wording("--since"),
    "summary": _Wording("--summary"),
    "support": _Wording("--support"),
    "times": _Wording("--times"),
    "unit": _Wording("--unit"),
    "event_name": _Wording("--event-name"),
}


def error_line(error: AldsurvError, options: Collection[str] | None = None) -> str:
    """The file, the problem, where in the table it is, and what to do on the command line.

    Parameters
    ----------
    error
        The error.
    options
        Those of the command that shows it: no other is named. None: all that stand for arguments.
    """
    place = [f"column {quoted(error.column)}"] if error.column is not None else []
    if error.line is not None:
        place.append(f"line {error.line}")
    elif error.row is not None:
        place.append(f"row {error.row + 1} below the header")
    wording = _WORDINGS.get(error.argument or "", _Wording()).for_command(options)
    problem = _problem(error, wording.option)
    named = problem if error.file is None else f"{error.file!r}: {problem}"
    return compose_message(named, ", ".join(place), _advice(error, wording))


def worded_arguments() -> list[str]:
    """Arguments of the library for which there are words of the command line."""
    return list(_WORDINGS)


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
            f"model {path!r}: {_problem(error, _WORDINGS.get(error.argument or '', _Wording()).option)}",
            argument=error.argument,
            column=error.column,
            row=error.row,
            file=error.file,
            line=error.line,
            suggestion=error.suggestion,
            advice=error.advice,
        ) from None


def _problem(error: AldsurvError, option: str) -> str:
    """The problem, which begins with the option where it begins with the argument."""
    argument = error.argument
    if option and argument and error.problem.startswith((f"{argument} ", f"{argument}=")):
        return f"{option} {error.problem[len(argument) + 1 :]}"
    return error.problem


def _advice(error: AldsurvError, wording: _Wording) -> str:
    # An error without advice says all that is needed; names that are not known come with the nearest ones.
    if not error.advice or isinstance(error, UnknownNameError):
        return error.advice
    if wording.suggests and error.suggestion is not None:
        return f"{wording.suggests} {wording.option} {quoted(error.suggestion)}."
    return wording.advice or error.advice
