"""The errors aldsurv raises: one root, and each child also the builtin a caller would expect; and its warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AldsurvError",
    "AldsurvWarning",
    "CensoringError",
    "ClusterError",
    "ColumnWarning",
    "CompetingCausesWarning",
    "CureWarning",
    "DataError",
    "EventValueWarning",
    "FitWarning",
    "IgnoredColumnsWarning",
    "ImpossibleRowsWarning",
    "InterruptedTrainingWarning",
    "LeftOutWarning",
    "MissingDependencyError",
    "MissingValueWarning",
    "ModelFileError",
    "NoSkillWarning",
    "NotFittedError",
    "ParameterError",
    "SheetWarning",
    "SkippedResamplesWarning",
    "TrainingError",
    "UndefinedMetricWarning",
    "UnknownNameError",
    "UnseenValuesWarning",
    "compose_message",
]


class AldsurvError(Exception):
    """Root of every error that aldsurv raises on purpose.

    What went wrong is said in parts, so that nothing has to parse the text: the command line shows the same problem
    with its own option names and advice, and counts rows as people do.

    Parameters
    ----------
    problem
        What is wrong: names the value and what is allowed.
    argument
        The argument of a function or the parameter of a model that is to be changed.
    column, row
        Where in a table: the name of a column or its position, and the number of a row, both counted from 0.
    file, line
        The file of the table, and the line in which the row begins, counted from 1.
    suggestion
        A value of `argument` that would probably do.
    advice
        What to do, in the words of Python; one or more sentences.

    Examples
    --------
    >>> error = DataError("time must not be negative, but is -1.0", column="months", row=3, advice="Correct the table.")
    >>> print(error)
    time must not be negative, but is -1.0 (column 'months', row 3). Correct the table.
    >>> error.row
    3
    """

    def __init__(
        self,
        problem: str = "",
        *,
        argument: str | None = None,
        column: str | int | None = None,
        row: int | None = None,
        file: str | None = None,
        line: int | None = None,
        suggestion: object = None,
        advice: str = "",
    ) -> None:
        self.problem, self.advice, self.suggestion = problem, advice, suggestion
        self.argument, self.column, self.row = argument, column, row
        self.file, self.line = file, line
        place = [f"column {column!r:.72}"] if column is not None else []
        place += [f"line {line}"] if line is not None else [f"row {row}"] if row is not None else []
        named = problem if file is None else f"{file!r}: {problem}"
        super().__init__(compose_message(named, ", ".join(place), advice))

    def in_file(self, file: str, *, row: int | None = None, line: int | None = None) -> Self:
        """The same error, with the file and the place in it: the row of the whole table, and its line."""
        return type(self)(
            self.problem,
            argument=self.argument,
            column=self.column,
            row=row,
            file=file,
            line=line,
            suggestion=self.suggestion,
            advice=self.advice,
        )


def compose_message(problem: str, place: str = "", advice: str = "") -> str:
    """The problem, where it is in parentheses, a full stop, and the advice."""
    if not place and not advice:
        return problem
    sentence = problem.removesuffix(".")
    return " ".join(filter(None, [f"{sentence} ({place})." if place else f"{sentence}.", advice]))


class DataError(AldsurvError, ValueError):
    """Times, events, bounds, entries or weights that cannot be what they claim to be."""


class CensoringError(AldsurvError, ValueError):
    """Valid data whose kind of censoring the requested computation has no definition for."""


class ClusterError(AldsurvError, RuntimeError):
    """The workers of a cluster cannot go on: they were killed, ran out of memory or do not answer."""


class ModelFileError(AldsurvError, ValueError):
    """A file that is not a saved model, or a damaged, foreign or newer one."""


class NotFittedError(AldsurvError, ValueError, AttributeError):
    """An estimator was asked to predict before it was fitted."""


class ParameterError(AldsurvError, ValueError):
    """A parameter or argument outside its allowed range or shape."""


class TrainingError(AldsurvError, ArithmeticError):
    """Training cannot go on: the loss is not finite; the message names the epoch and the likely cause."""


class UnknownNameError(AldsurvError, KeyError):
    """A name that is not registered; the message suggests the nearest ones."""

    def __str__(self) -> str:
        """Plain message: KeyError would show it in quotation marks."""
        return str(self.args[0]) if self.args else ""


class AldsurvWarning(UserWarning):
    """Root of every warning that aldsurv gives; `aldsurv.log_warnings` sends them to a logger."""


class ColumnWarning(AldsurvWarning):
    """Columns of covariates that a model does not use, or that look as if it should not."""


class IgnoredColumnsWarning(ColumnWarning):
    """Rows to predict for have columns that the model was not fitted to, which are not used."""


class UnseenValuesWarning(ColumnWarning):
    """Rows to predict for have gaps or levels that the training rows did not have."""


class FitWarning(AldsurvWarning):
    """A model was fitted, but not as it was asked for: columns were left out, or a penalty was needed."""


class LeftOutWarning(ColumnWarning):
    """Columns of text that a model leaves out, though it could use them as categories.

    Parameters
    ----------
    problem
        Which columns they are, and why they are left out.
    columns
        Their names or positions.
    """

    def __init__(self, problem: str, columns: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem, columns)
        self.problem, self.columns = problem, columns

    def __str__(self) -> str:
        return f"{self.problem} To keep one, list it in categorical."


class SheetWarning(AldsurvWarning):
    """An Excel file has several sheets, and none was named.

    Parameters
    ----------
    problem
        Which one is read, and which others there are.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.problem} To read another, give its name or number as sheet."


class MissingValueWarning(AldsurvWarning):
    """A value that was named as a gap does not occur in the table."""


class CompetingCausesWarning(AldsurvWarning):
    """A model that knows one kind of event was given data with several causes."""


class CureWarning(AldsurvWarning):
    """A model with a share that never has the event was fitted to rows whose follow-up may be too short for it."""


class EventValueWarning(AldsurvWarning):
    """Values of an event column that look like the event, and count as censored."""


class InterruptedTrainingWarning(AldsurvWarning, RuntimeWarning):
    """Training was ended by Ctrl-C: the model has the best weights of the epochs before."""


class MissingDependencyError(AldsurvError, ImportError):
    """An optional package is needed; the message says how to install it."""


class NoSkillWarning(AldsurvWarning):
    """A model was fitted, but predicts rows that it did not learn from no better than Kaplan-Meier does."""


class UndefinedMetricWarning(AldsurvWarning):
    """A metric has no value for these rows, and is NaN.

    Parameters
    ----------
    message
        The text of the warning.
    metric
        Name of the metric's function.
    reason
        Why it has no value.
    where
        At which times it has none, such as ``"at 2 of 3 times (first: 12)"``; empty: it has no value at all.
    """

    def __init__(self, message: str = "", *, metric: str = "", reason: str = "", where: str = "") -> None:
        self.metric, self.reason, self.where = metric, reason, where
        super().__init__(message)


class ImpossibleRowsWarning(AldsurvWarning):
    """A prediction gives some observed rows a probability of 0: their log-likelihood is -inf.

    Parameters
    ----------
    message
        The text of the warning.
    rows
        The rows, counted from 0.
    """

    def __init__(self, message: str = "", *, rows: tuple[int, ...] = ()) -> None:
        self.rows = rows
        super().__init__(message)


class SkippedResamplesWarning(AldsurvWarning):
    """Resamples of a bootstrap on which a metric has no value are left out.

    Parameters
    ----------
    message
        The text of the warning.
    skipped, samples
        How many resamples were left out, of how many.
    """

    def __init__(self, message: str = "", *, skipped: int = 0, samples: int = 0) -> None:
        self.skipped, self.samples = skipped, samples
        super().__init__(message)
