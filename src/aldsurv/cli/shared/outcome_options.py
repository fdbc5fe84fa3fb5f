"""The columns of the outcome: named by options, or known to a fitted model."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, final

import click

from aldsurv.cli.causes.event_values import in_order_of, parse_event_values
from aldsurv.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["OutcomeColumns", "outcome_columns_of", "outcome_options"]

_METAVARS = {"event_value": "VALUE", "event_values": "V=NAME,…", "date_format": "FORMAT"}
# What is kept with the names of columns, but is none.
_NO_COLUMNS = ("event_value", "event_values", "date_format", "unit")
_HELP = {
    "time": "Column of times.",
    "event": "Column that shows whether the event was observed.",
    "event_value": "Value of --event that is the event; others are censored.",
    "event_values": 'Its values that are causes, as in "1=relapse,2=death"; others are censored.',
    "lower": "Column of lower bounds, in place of --time.",
    "upper": "Column of upper bounds, in place of --event.",
    "entry": "Column of delayed entry.",
    "weight": "Column of weights.",
    "id": "Column of persons: rows of one stay together.",
    "start": "Column of the start of a person's episode; or, with --end, of a date.",
    "stop": "Column of the end of the episode, in place of --time.",
    "end": "Column of the date of the event or of the last visit, in place of --time.",
    "date_format": "How dates are written, if unclear: day-first, month-first, or as in %d.%m.%Y.",
}


@final
@dataclass(frozen=True)
class OutcomeColumns:
    """Names of the columns of a table that hold the outcome; None where there is none.

    Attributes
    ----------
    time, event, event_value
        Columns of right-censored data, and the value of the second, as it was typed, that is the event.
    event_values
        In its place the values that are causes, and their names, as `parse_event_values` reads them.
    lower, upper
        Columns of bounds, in place of time and event.
    entry, weight
        Columns of delayed entry and of weights.
    id
        Column that says of which person a row is.
    start, stop
        Columns of the episodes of persons whose covariates change, in place of time.
    end
        Column of the date of the end, with start that of the start, in place of time.
    date_format, unit
        How dates are written, if that was said, and the unit of the times between them.
    """

    time: str | None = None
    event: str | None = None
    event_value: str | None = None
    lower: str | None = None
    upper: str | None = None
    entry: str | None = None
    weight: str | None = None
    id: str | None = None
    start: str | None = None
    stop: str | None = None
    event_values: str | None = None
    end: str | None = None
    date_format: str | None = None
    unit: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Those that are named, by role."""
        return {role: name for role, name in asdict(self).items() if name}

    @property
    def columns(self) -> dict[str, str]:
        """Names of columns by role: without the values of the event, and the format and unit of dates."""
        return {role: name for role, name in self.given.items() if role not in _NO_COLUMNS}

    @property
    def dates(self) -> dict[str, str]:
        """Format and unit of dates, if there are any."""
        return {role: name for role, name in self.given.items() if role in ("date_format", "unit") and self.end}

    def require_pair(self) -> None:
        """Raise `ParameterError` unless there are time and event, or lower and upper, and not both."""
        if self.end:
            self._require_dates()
        elif self.date_format:
            raise ParameterError("--date-format can only be combined with dates, named by --start and --end.")
        elif self.start or self.stop:
            self._require_episodes()
        else:
            self._require_times()

    def _require_times(self) -> None:
        """Raise `ParameterError` unless the columns are those of times or bounds."""
        pair = [role for role in ("time", "event", "lower", "upper") if role in self.given]
        if pair not in (["time", "event"], ["lower", "upper"]):
            options = " and ".join(f"--{role}" for role in pair) or "neither"
            raise ParameterError(
                f"the outcome needs --time and --event, or --lower and --upper, but got {options}. "
                "Name the columns of the table, such as --time months --event status."
            )
        for option, values in (("--event-value", self.event_value), ("--event-values", self.event_values)):
            if values and self.event is None:
                raise ParameterError(
                    f"{option} cannot be combined with --lower and --upper, which say where events were observed."
                )
        self._require_event_values()

    def _require_event_values(self) -> None:
        if self.event_values and self.event_value:
            raise ParameterError("--event-values cannot be combined with --event-value. Give one of them.")
        if self.event_values:
            parse_event_values(self.event_values)

    def _require_dates(self) -> None:
        """Raise `ParameterError` unless the columns are those of two dates and an event."""
        from aldsurv.data.dates.date_columns import check_unit
        from aldsurv.data.dates.date_texts import check_date_format

        missing = [role for role in ("start", "event") if role not in self.given]
        others = [role for role in ("time", "lower", "upper", "stop") if role in self.given]
        if missing or others:
            problem = f"--{missing[0]} is missing" if missing else f"--{others[0]} is none of them"
            raise ParameterError(
                f"dates need --start, --end and --event, but {problem}. Name the columns of the table, such as --start "
                "diagnosis --end last_seen --event died."
            )
        check_date_format(self.date_format)
        check_unit(self.unit or "days")
        self._require_event_values()

    def _require_episodes(self) -> None:
        """Raise `ParameterError` unless the columns are those of episodes, and no others."""
        needed = ("id", "start", "stop", "event")
        missing = [role for role in needed if role not in self.given]
        others = [role for role in self.given if role not in (*needed, "event_value", "weight")]
        if missing or others:
            problem = f"--{missing[0]} is missing" if missing else f"--{others[0]} is none of them"
            raise ParameterError(
                f"episodes of persons need --id, --start, --stop and --event, but {problem}. Name the columns of the "
                "table, such as --id person --start from --stop to --event status; for dates, --start, --end and "
                "--event."
            )


def outcome_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the columns of the outcome; the command gets them as ``outcome``, an `OutcomeColumns`."""

    @functools.wraps(command)
    def with_outcome(*arguments: Any, **options: Any) -> Any:
        outcome = OutcomeColumns(**{role: options.pop(role) for role in _HELP})
        return command(*arguments, outcome=outcome, **options)

    for role, help_text in reversed(_HELP.items()):
        name, metavar = f"--{role.replace('_', '-')}", _METAVARS.get(role, "COLUMN")
        option = click.option(name, default=None, metavar=metavar, help=help_text)
        with_outcome = option(with_outcome)
    return with_outcome


def outcome_columns_of(model: SurvivalEstimator, given: OutcomeColumns) -> OutcomeColumns:
    """The columns of the outcome: those given, and for the rest those that the model was trained with.

    A name that is given as empty text takes the column away. Causes are in the order of those that the model tells
    apart.
    """
    columns = _columns_of_training(model)
    if given.lower or given.upper:
        columns = replace(columns, time=None, event=None, event_value=None, event_values=None, start=None, stop=None)
        columns = replace(columns, end=None, date_format=None, unit=None)
    if given.time or given.stop:
        columns = replace(columns, end=None, date_format=None, unit=None)
    if given.time:
        columns = replace(columns, start=None, stop=None)
    if given.start or given.stop or given.end:
        columns = replace(columns, time=None, entry=columns.entry if columns.end else None)
    if given.end:
        columns = replace(columns, stop=None)
    if given.time or given.event or given.end:
        columns = replace(columns, lower=None, upper=None)
    if (given.event and given.event != columns.event) or given.event_value or given.event_values:
        columns = replace(columns, event_value=None, event_values=None)
    named = {role: name for role, name in asdict(given).items() if name is not None}
    columns = replace(columns, **{role: name or None for role, name in named.items()})
    if not columns.columns:
        raise ParameterError(
            "the model does not know the columns of its outcome: it was not made by 'aldsurv fit'. "
            "Name them, such as --time months --event status."
        )
    if columns.end and not columns.unit:
        columns = replace(columns, unit=_unit_of(model))
    columns.require_pair()
    if columns.event_values and model.causes_ is not None:
        columns = replace(columns, event_values=in_order_of(model.causes_, columns.event_values))
    return columns


def _unit_of(model: SurvivalEstimator) -> str:
    """The unit of a model that was not trained with dates."""
    unit = model.innermost.get_params().get("unit")
    if unit is None:
        raise ParameterError(
            "the model was not trained with dates, and its unit of time is not known: --end cannot be used. Give the "
            "times as numbers, by --time."
        )
    return str(unit)


def _columns_of_training(model: SurvivalEstimator) -> OutcomeColumns:
    columns = model.trained_on_.outcome if model.trained_on_ is not None else {}
    # The file is untrusted input.
    if not set(columns) <= {field.name for field in fields(OutcomeColumns)}:
        raise ModelFileError("the model's columns of the outcome are unclear. Name them by --time and --event.")
    return OutcomeColumns(**columns)
