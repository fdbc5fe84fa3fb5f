"""What commands share: the columns that hold the outcome, tables read with them, and models that remember them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import click

from aldsurv.cli.shared.option_words import in_options
from aldsurv.errors import AldsurvError, DataError, ModelFileError, ParameterError, UnknownNameError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator
    from aldsurv.tables.table import Table

__all__ = [
    "OutcomeColumns",
    "innermost",
    "load_model",
    "outcome_of",
    "outcome_options",
    "read_model_table",
    "read_outcome_table",
    "remember_outcome",
    "told_in_options",
    "words",
]

_WORDS_FOR_BOOL = {"true": True, "false": False}


@final
@dataclass(frozen=True)
class OutcomeColumns:
    """Names of the columns of a table that are no covariates; None where there is none.

    Attributes
    ----------
    time, event, event_value
        Columns of right-censored data, and the value of the second, as it was typed, that is the event.
    lower, upper
        Columns of bounds, in place of time and event.
    entry, weight
        Columns of delayed entry and of weights.
    """

    time: str | None = None
    event: str | None = None
    event_value: str | None = None
    lower: str | None = None
    upper: str | None = None
    entry: str | None = None
    weight: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Those that are named."""
        return {role: name for role, name in asdict(self).items() if name}

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [name for role, name in self.given.items() if role != "event_value"]

    def require_pair(self) -> None:
        """Raise `ParameterError` unless there are time and event, or lower and upper, and not both."""
        pair = [role for role in ("time", "event", "lower", "upper") if role in self.given]
        if pair not in (["time", "event"], ["lower", "upper"]):
            found = " and ".join(f"--{role}" for role in pair) or "neither"
            raise ParameterError(
                f"the outcome needs --time and --event, or --lower and --upper, but got {found}. "
                "Name the columns of the table, such as --time months --event status."
            )
        if self.event_value and self.event is None:
            raise ParameterError("--event-value has no use with --lower and --upper, which say where events were seen.")


def outcome_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the columns of the outcome; the command gets them as ``outcome``, an `OutcomeColumns`."""

    @functools.wraps(command)
    def collected(*arguments: Any, **options: Any) -> Any:
        named = {role: options.pop(role) for role in OutcomeColumns.__dataclass_fields__}
        return command(*arguments, outcome=OutcomeColumns(**named), **options)

    for name, told in reversed(
        {
            "--time": "Column of times.",
            "--event": "Column that says whether the event was seen.",
            "--event-value": "Its value that is the event; others are censored.",
            "--lower": "Column of lower bounds, in place of --time.",
            "--upper": "Column of upper bounds, in place of --event.",
            "--entry": "Column of delayed entry.",
            "--weight": "Column of weights.",
        }.items()
    ):
        metavar = "VALUE" if name == "--event-value" else "COLUMN"
        collected = click.option(name, default=None, metavar=metavar, help=told)(collected)
    return collected


def words(text: str | None) -> tuple[str, ...]:
    """Names with commas between them, as options take them; one that holds a comma is put in double quotes."""
    import csv

    found = next(csv.reader([text or ""], skipinitialspace=True), [])
    return tuple(dict.fromkeys(name.strip() for name in found if name.strip()))


def read_outcome_table(
    path: Any, columns: OutcomeColumns, *, drop: Sequence[str] = (), categorical: Sequence[str] = ()
) -> Table:
    """Read a table with its outcome; with no columns named, without one.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file.
    columns
        The columns of the outcome.
    drop, categorical
        Columns to leave out, and columns whose values are codes.
    """
    from aldsurv.datasets import read_table

    if columns.given:
        columns.require_pair()
    named = {role: name for role, name in columns.given.items() if role != "event_value"}
    first: AldsurvError | None = None
    with told_in_options(path):
        for value in _meanings(columns.event_value):
            try:
                return read_table(path, **named, event_value=value, drop=drop, categorical=categorical)
            except DataError as error:  # noqa: PERF203
                # The value may be the text of a number where the column holds text.
                first = first or error
        raise first or DataError(f"{str(path)!r} cannot be read.")


def remember_outcome(model: SurvivalEstimator, columns: OutcomeColumns) -> None:
    """Keep the names with a fitted model, and in its file, so that they need not be given again."""
    model.set_outcome_columns(columns.given)


def outcome_of(model: SurvivalEstimator, given: OutcomeColumns) -> OutcomeColumns:
    """The columns of the outcome: those given, and for the rest those that the model was trained with.

    A name that is given as empty text takes the column away.
    """
    kept = _remembered(model)
    if given.lower or given.upper:
        kept = replace(kept, time=None, event=None, event_value=None)
    if given.time or given.event:
        kept = replace(kept, lower=None, upper=None)
    if given.event and given.event != kept.event:
        kept = replace(kept, event_value=None)
    named = {role: name for role, name in asdict(given).items() if name is not None}
    found = replace(kept, **{role: name or None for role, name in named.items()})
    if not found.names:
        raise ParameterError(
            "the model does not know the columns of its outcome: it was not made by 'aldsurv fit'. "
            "Name them, such as --time months --event status."
        )
    found.require_pair()
    return found


def load_model(path: Any) -> SurvivalEstimator:
    """The model of a file; whatever is wrong with the file is said in one sentence that names it."""
    from aldsurv.models.persistence import load

    with told_in_options(path):
        model: SurvivalEstimator = load(path)
    return model


def read_model_table(path: Any, model: SurvivalEstimator, columns: OutcomeColumns) -> Table:
    """Read a table for a model that is fitted: its covariates in its order, whatever else the table has left aside.

    Parameters
    ----------
    path
        A CSV, TSV or Parquet file.
    model
        The model.
    columns
        The columns of the outcome; with none named the table has no times.
    """
    listed = innermost(model).get_params().get("categorical") or ()
    table = read_outcome_table(path, columns, categorical=[name for name in listed if isinstance(name, str)])
    wanted = getattr(model, "feature_names_in_", None)
    if wanted is None:
        return table
    missing = [name for name in wanted if name not in table.x]
    if missing:
        near = get_close_matches(missing[0], table.x, n=1, cutoff=0.6)
        hint = f"Is it {quoted(near[0])}? Rename it." if near else f"Give the columns of training: {_listed(wanted)}."
        raise UnknownNameError(f"{str(path)!r} has no column {_listed(missing)}, which the model needs. {hint}")
    kept = tuple(name for name in table.categorical if name in set(wanted))
    return replace(table, x={name: table.x[name] for name in wanted}, categorical=kept)


def innermost(model: SurvivalEstimator) -> SurvivalEstimator:
    """The model that learns from the columns: a fitted model itself, or the one within a model of a model."""
    inner = vars(model).get("estimator_")
    return model if inner is None else innermost(inner)


def _remembered(model: SurvivalEstimator) -> OutcomeColumns:
    kept = model.trained_on_.outcome if model.trained_on_ is not None else {}
    roles = OutcomeColumns.__dataclass_fields__
    # The file may be a stranger's.
    if not set(kept) <= set(roles):
        raise ModelFileError("the model's columns of the outcome are unclear. Name them by --time and --event.")
    return OutcomeColumns(**kept)


def _meanings(text: str | None) -> list[Any]:
    """What a value that was typed can be: a number or truth value first, else the text itself."""
    if not text:
        return [None]
    found: list[Any] = []
    try:
        number = float(text)
        found.append(int(number) if number.is_integer() else number)
    except (ValueError, OverflowError):
        pass
    if text.lower() in _WORDS_FOR_BOOL:
        found.append(_WORDS_FOR_BOOL[text.lower()])
    return [*found, text]


@contextmanager
def told_in_options(path: Any) -> Iterator[None]:
    """Errors in the words of the command line; a file that is not there is bad input, not a failing system."""
    try:
        yield
    except (DataError, ParameterError, UnknownNameError) as error:
        raise type(error)(in_options(str(error))) from None
    except FileNotFoundError:
        folder = Path(path).parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
        near = get_close_matches(Path(path).name, names, n=1, cutoff=0.6)
        hint = f"Did you mean {str(folder / near[0])!r}?" if near else "Check the name."
        raise DataError(f"there is no file {str(path)!r}. {hint}") from None
    except IsADirectoryError:
        raise DataError(f"{str(path)!r} is a folder. Name a file in it.") from None


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(quoted(str(name)) for name in names[:5]) + (
        f" and {len(names) - 5} more" if len(names) > 5 else ""
    )
