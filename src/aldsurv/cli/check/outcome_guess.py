"""Which columns of a table may be its outcome, by their names and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.table_notes import is_censoring_name, is_person_name

if TYPE_CHECKING:
    from aldsurv.tables.table import Table

__all__ = ["OutcomeGuess", "guess_outcome"]

# What names are worth: that of an outcome is worth more than one that occurs among covariates, too.
_TIMES = {
    **dict.fromkeys(("time", "duration", "survtime", "survivaltime", "futime", "lifetime", "tenure", "lenfol"), 3),
    **dict.fromkeys(("t", "survival", "surv", "followup", "ostime", "pfstime", "rfstime", "dfstime", "rectime"), 3),
    **dict.fromkeys(("days", "months", "weeks", "years", "day", "month", "week", "year", "zeit", "dauer"), 2),
    **dict.fromkeys(("monate", "tage", "wochen", "jahre", "mois", "jours", "annees", "meses", "dias", "semanas"), 2),
    **dict.fromkeys(("temps", "tiempo", "ftime", "follow", "osmonths", "pfsmonths", "survdays", "survmonths"), 2),
}
_EVENTS = {
    **dict.fromkeys(
        ("event", "status", "death", "died", "dead", "deceased", "observed", "fustat", "fstat", "churn"), 3
    ),
    **dict.fromkeys(
        ("e", "cens", "censor", "censors", "censored", "censoring", "censdead", "censrec", "relapse", "fail"), 2
    ),
    **dict.fromkeys(("failed", "failure", "recurrence", "recur", "arrest", "outcome", "delta", "d", "c"), 2),
    **dict.fromkeys(("indicator", "stat", "vital", "churned", "deces", "muerte", "tod", "verstorben"), 2),
}
# Words that make of such a name one of a covariate.
_OTHER_WORDS = {
    "since", "prior", "previous", "birth", "diagnosis", "start", "enrollment", "marital", "smoking", "performance",
    "menopausal", "er", "pr", "her2", "age", "baseline", "history", "employment", "tumor", "tumour", "ecog", "visit",
}  # fmt: skip
_STARTS, _STOPS = {"start", "tstart", "begin", "from"}, {"stop", "tstop", "end", "to"}
_LOWERS, _UPPERS = {"lower", "left", "l"}, {"upper", "right", "u"}
# What may stand beside these.
_PAIR_WORDS = {"bound", "limit", "time", "day", "days", "week", "weeks", "month", "months", "year", "years"}
_FIRST_DATES = {
    "start", "diagnosis", "diagnosed", "diag", "entry", "admission", "admitted", "enrolled", "enrolment", "enrollment",
    "inclusion", "randomised", "randomized", "randomisation", "randomization", "surgery", "transplant", "begin",
}  # fmt: skip
_LAST_DATES = {"end", "last", "exit", "followup", "follow", "discharge", "stop", "death", "censoring", "seen"}
_FEWEST_TIMES, _MOST_EVENT_VALUES, _MOST_SHOWN = 5, 4, 6


class OutcomeGuess(NamedTuple):
    """Columns that may be the outcome.

    Attributes
    ----------
    outcome
        The best guess on top of what was given; as it was given where nothing fits.
    times, events
        Columns that may be those of times and events, the likeliest first.
    guessed
        Roles of which the column is a guess.
    """

    outcome: OutcomeColumns
    times: tuple[str, ...]
    events: tuple[str, ...]
    guessed: tuple[str, ...]


def guess_outcome(table: Table, given: OutcomeColumns) -> OutcomeGuess:
    """Fill in what was not given, as far as names and values of the columns of a table without outcome show it.

    Parameters
    ----------
    table
        All columns as covariates.
    given
        What the user named.
    """
    taken = set(given.columns.values())
    free = {name: values for name, values in table.x.items() if name not in taken}
    times = _ranked({name: _name_score(name, _TIMES) for name, values in free.items() if _may_be_time(values)})
    events = _ranked({name: _name_score(name, _EVENTS) for name, values in free.items() if _may_be_event(values)})
    guess = _guessed(table, free, given, times, events)
    if guess == given:
        # By names alone: reading them then says what is wrong with their values.
        numbers = {name: _name_score(name, _TIMES) for name, values in free.items() if values.dtype.kind in "iuf"}
        named = {name: _name_score(name, _EVENTS) for name, values in free.items() if _has_few_values(values)}
        guess = _guessed(table, free, given, _ranked(numbers), _ranked(named))
    if guess.event and not given.event and is_censoring_name(guess.event) and _is_zero_or_one(free[guess.event]):
        guess = replace(guess, event_value="0")
    guessed = tuple(role for role in guess.given if role not in given.given)
    shown_times = tuple(name for name, score in times.items() if score > 0)[:_MOST_SHOWN]
    return OutcomeGuess(guess, shown_times, tuple(events)[:_MOST_SHOWN], guessed)


def _guessed(
    table: Table,
    free: Mapping[str, NDArray[Any]],
    given: OutcomeColumns,
    times: Mapping[str, float],
    events: Mapping[str, float],
) -> OutcomeColumns:
    if given.lower or given.upper or given.start or given.stop or (given.time and given.event):
        return given
    named_events = {name: score for name, score in events.items() if score > 0}
    if not given.time:
        bounds = _pair(free, _LOWERS, _UPPERS)
        if bounds is not None and not given.event:
            return replace(given, lower=bounds[0], upper=bounds[1])
        episode, person = _pair(free, _STARTS, _STOPS), given.id or _person_column(table)
        event = given.event or next(iter(named_events), None)
        if episode is not None and person is not None and event is not None:
            return replace(given, id=person, start=episode[0], stop=episode[1], event=event)
    best, best_score = (given.time, given.event), 0.0
    for time in [given.time] if given.time else [name for name, score in times.items() if score > 0]:
        for event in [given.event] if given.event else named_events:
            if time == event:
                continue
            score = times.get(time, 0) + events.get(event, 0) + len(_words(time) & _words(event))
            if score > best_score:
                best, best_score = (time, event), score
    if None not in best:
        return replace(given, time=best[0], event=best[1])
    dates = None if given.time else _date_pair(free)
    event = given.event or next(iter(named_events), None)
    if dates is None or event is None:
        return given
    return replace(given, start=dates[0], end=dates[1], event=event)


def _ranked(scores: Mapping[str, float]) -> dict[str, float]:
    """Highest first; of equal ones the first in the table."""
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _words(name: str) -> set[str]:
    from aldsurv.inspection.outcome_names import name_words

    return {word for word in name_words(name) if not word.isdigit()}


def _name_score(name: str, worth: Mapping[str, int]) -> float:
    words = _words(name)
    if words & _OTHER_WORDS:
        return 0.0
    score = max((worth.get(word, 0) for word in words), default=0)
    # Letters are names only where they are the whole of it.
    return score if len(words) == 1 or any(worth.get(word, 0) == score and len(word) > 1 for word in words) else 0.0


def _may_be_time(values: NDArray[Any]) -> bool:
    """Numbers without gaps, none of them negative, and more than a few different ones."""
    if values.dtype.kind not in "iuf":
        return False
    fewest = min(_FEWEST_TIMES, max(values.size - 1, 2))
    return bool((values >= 0).all() and np.isfinite(values).all() and np.unique(values).size >= fewest)


def _may_be_event(values: NDArray[Any]) -> bool:
    """A few different whole numbers or words, and no gaps."""
    if values.dtype == object:
        distinct = _folded(values)
        return None not in distinct and 2 <= len(distinct) <= _MOST_EVENT_VALUES
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        return False
    numbers = np.unique(values)
    few = 2 <= numbers.size <= _MOST_EVENT_VALUES
    return bool(few and (numbers == np.floor(numbers)).all() and numbers.min() >= 0 and numbers.max() <= 10)


def _has_few_values(values: NDArray[Any]) -> bool:
    """A few different values, gaps not counted; one is enough."""
    distinct = _folded(values) if values.dtype == object else set(np.unique(values[values == values]).tolist())
    return 1 <= len(distinct - {None}) <= _MOST_EVENT_VALUES


def _folded(values: NDArray[Any]) -> set[Any]:
    """The different values, text without regard to capital letters and spaces."""
    from aldsurv.data.event_columns import fold_text

    return {fold_text(value) if isinstance(value, str) else value for value in set(values.tolist())}


def _is_zero_or_one(values: NDArray[Any]) -> bool:
    return values.dtype.kind in "biuf" and bool(((values == 0) | (values == 1)).all())


def _pair(x: Mapping[str, NDArray[Any]], first: set[str], second: set[str]) -> tuple[str, str] | None:
    """Two columns of numbers of such names, the first nowhere above the second."""
    numbers = {name: values for name, values in x.items() if values.dtype.kind in "iuf"}
    for low in (name for name in numbers if _without(name, first) is not None):
        for high in (name for name in numbers if _without(name, second) == _without(low, first)):
            if not (numbers[low] > numbers[high]).any() and not (numbers[low] < 0).any():
                return low, high
    return None


def _without(name: str, words: set[str]) -> tuple[str, ...] | None:
    """What a name has beside one of the words, such as a unit; None if it has none of them, or has others, too."""
    from aldsurv.inspection.outcome_names import name_words

    parts = name_words(name)
    present = [word for word in parts if word in words and (len(word) > 1 or len(parts) == 1)]
    rest = tuple(word for word in parts if word != present[0]) if present else ()
    return rest if present and _PAIR_WORDS.issuperset(rest) else None


def _date_pair(x: Mapping[str, NDArray[Any]]) -> tuple[str, str] | None:
    """Two columns of dates without gaps, by their names that of the start and that of the end."""
    dates = [name for name, values in x.items() if _holds_dates(values)]
    first = next((name for name in dates if _words(name) & _FIRST_DATES), None)
    last = next((name for name in dates if _words(name) & _LAST_DATES and name != first), None)
    return None if first is None or last is None else (first, last)


def _holds_dates(values: NDArray[Any]) -> bool:
    from aldsurv.data.dates.date_texts import looks_like_date

    if values.dtype.kind == "M":
        return not np.isnat(values).any()
    distinct = set(values.tolist()) if values.dtype == object else set()
    return all(isinstance(value, str) for value in distinct) and looks_like_date(distinct)


def _person_column(table: Table) -> str | None:
    """A column named like a person's number, some of whose values occur more than once."""
    for name, values in table.x.items():
        if is_person_name(name) and len(set(values.tolist())) < len(table):
            return name
    return None
