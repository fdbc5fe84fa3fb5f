"""Times to an event that may be censored: the only module that knows how censoring is encoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.checks import Number, check
from aldsurv.data.dates.date_columns import time_between
from aldsurv.data.episode_columns import episode_outcome
from aldsurv.data.event_columns import CauseNames, EventValues, cause_column, cause_number
from aldsurv.data.frame_columns import Column, FloatArray, IntArray
from aldsurv.data.group_column import group_column
from aldsurv.data.observed_rows import ObservedRows
from aldsurv.data.outcome_columns import (
    Outcome,
    bounded_outcome,
    competing_outcome,
    entry_and_weight,
    left_outcome,
    optional_column,
    right_outcome,
    scaled_outcome,
    weight_column,
)
from aldsurv.data.outcome_reading import frame_outcome, structured_outcome, target_outcome
from aldsurv.data.persons import landmark_rows, person_outcome, require_whole_persons
from aldsurv.data.rows.row_selection import chosen_rows, concatenated_outcome
from aldsurv.errors import DataError, ParameterError

__all__ = ["SurvivalData"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalData(ObservedRows):
    """Times of n subjects in one unit: the event of each lies in (lower, upper].

    Usually made by `right`, `left`, `interval`, `competing`, `episodes`, `from_dates`, `from_frame`, `from_structured`
    or `of`. The data are checked once, when they are made, and copied; the arrays are read-only.

    Parameters
    ----------
    lower, upper
        Bounds (n,). Equal: the event was observed at that time. ``upper = inf``: right-censored at `lower`.
        ``lower = -inf``: left-censored at `upper`. Otherwise interval-censored.
    entry
        Delayed entry (n,): the subject is in the data only because its event came after this time. ``-inf``
        in a row: observed from the start. A left-censored row with an entry has its event in (entry, upper].
    weight
        Weight of each row (n,), not negative. None: one each.
    cause, causes
        What the event was (n,), 0 where none was observed exactly, and the names of the causes from 1 on. None: events
        of one kind. All else sees the time to the first event of any cause.
    group
        Which rows belong together (n,), as those of one person do: equal for rows of one group. Any labels, such as
        text, when the data are made; they become whole numbers, the same label always the same one, and -1 stands for a
        row that belongs to no other. Everything that holds rows out or draws them again keeps a group whole. None:
        every row stands for itself.
    person
        Of which person each row is an episode (n,), if rows are episodes of persons whose covariates change, as
        `episodes` makes them. None: every row is a person, or whatever else was observed.

    Examples
    --------
    >>> data = SurvivalData.right([5, 3, 8, 2], [True, False, True, True])
    >>> print(data)
    n=4, 3 events (75 %), time 2–8
    >>> data[data.event].time
    array([5., 8., 2.])
    """

    lower: FloatArray
    upper: FloatArray
    entry: FloatArray | None = None
    weight: FloatArray | None = None
    cause: IntArray | None = None
    causes: tuple[str, ...] | None = None
    group: IntArray | None = None
    person: IntArray | None = None

    def __post_init__(self) -> None:
        if self.person is not None:
            problem = "person cannot be given to SurvivalData itself"
            raise ParameterError(problem, argument="person", advice="Make episodes by SurvivalData.episodes.")
        checked = SurvivalData.interval(self.lower, self.upper, entry=self.entry, weight=self.weight, group=self.group)
        codes, names = self.cause, self.causes
        if (codes is None) != (names is None):
            problem = "cause and causes must be given together: a number per row, and the names of the causes."
            raise ParameterError(problem, argument="causes")
        if codes is not None and names is not None:
            codes, names = cause_column(Column(codes, "cause"), names=list(names))
            if codes.shape != checked.lower.shape or not np.array_equal(codes > 0, checked.exact):
                problem = "cause must be positive in the rows with an exactly observed event, and 0 in all others."
                raise DataError(problem, argument="cause")
        self._store(Outcome(checked.lower, checked.upper, checked.entry, checked.weight, codes, names, checked.group))

    @classmethod
    def right(
        cls,
        time: ArrayLike,
        event: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        event_value: object = None,
    ) -> SurvivalData:
        """Right-censored data.

        Parameters
        ----------
        time
            Time of the event or of the end of observation, finite and not negative.
        event
            Whether the event was observed: bool, 0/1, or anything else with `event_value`.
        entry, weight, group
            As in the class.
        event_value
            The value of `event` that means observed, such as ``"dead"`` or ``2``; all others are censored.

        Examples
        --------
        >>> print(SurvivalData.right([1, 2, 4], ["dead", "alive", "dead"], event_value="dead"))
        n=3, 2 events (67 %), time 1–4
        """
        columns = Column(time, "time"), Column(event, "event")
        outcome = right_outcome(*columns, *entry_and_weight(entry, weight), event_value)
        return cls.from_checked(*outcome).with_group(group)

    @classmethod
    def left(
        cls,
        time: ArrayLike,
        event: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        event_value: object = None,
    ) -> SurvivalData:
        """Left-censored data: as `right`, but where `event` is False it came at or before `time`."""
        columns = Column(time, "time"), Column(event, "event")
        outcome = left_outcome(*columns, *entry_and_weight(entry, weight), event_value)
        return cls.from_checked(*outcome).with_group(group)

    @classmethod
    def interval(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> SurvivalData:
        """Data of any kind by their bounds, as in the class: exact, right-, left- and interval-censored rows.

        Examples
        --------
        >>> import numpy as np
        >>> print(SurvivalData.interval([1, 2, 4, -np.inf], [1, np.inf, 6, 3]))
        n=4, 1 exact event (25 %), time 1–6, 1 left-censored, 1 interval-censored
        """
        bounds = Column(lower, "lower"), Column(upper, "upper")
        outcome = bounded_outcome(*bounds, *entry_and_weight(entry, weight))
        return cls.from_checked(*outcome).with_group(group)

    @classmethod
    def competing(
        cls,
        time: ArrayLike,
        cause: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        censored: object = None,
        names: CauseNames | None = None,
    ) -> SurvivalData:
        """Right-censored data with events of several causes, of which the first ends the observation.

        Parameters
        ----------
        time
            Time of the first event or of the end of observation, finite and not negative.
        cause
            What happened: whole numbers, 0 for censored and 1, 2, … for the causes, or text.
        entry, weight, group
            As in the class.
        censored
            The value of `cause` that means censored. None: 0 among numbers; among texts a missing value or
            ``"censored"``.
        names
            Names of the causes 1, 2, …; for text the texts in the order in which the causes are to be numbered; or a
            dict from values to names. None: the numbers, or the texts in alphabetical order.

        Examples
        --------
        >>> data = SurvivalData.competing([5, 3, 8, 2], ["relapse", None, "death", "relapse"])
        >>> print(data)
        n=4, 3 events (75 %), time 2–8, causes death (1), relapse (2)
        >>> data.cause, data.of_cause("relapse").event
        (array([2, 0, 1, 2]), array([ True, False, False,  True]))
        """
        columns = Column(time, "time"), Column(cause, "cause")
        outcome = competing_outcome(*columns, *entry_and_weight(entry, weight), censored, names)
        return cls.from_checked(*outcome).with_group(group)

    @classmethod
    def episodes(
        cls,
        id: ArrayLike,  # noqa: A002 - what users of every package call it
        start: ArrayLike,
        stop: ArrayLike,
        event: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        event_value: object = None,
        cause: ArrayLike | None = None,
        censored: object = None,
        names: CauseNames | None = None,
        gaps: str = "refuse",
    ) -> SurvivalData:
        """Episodes of persons whose covariates change: one row per person and stretch of time with the same covariates.

        A row enters at its `start` and is right-censored at its `stop`, unless the person's event ended it. The rows of
        a person are a group. `persons` gives one row per person.

        Parameters
        ----------
        id
            The person of each row: any labels.
        start, stop
            The episode is (start, stop]. A person whose first episode begins at 0 was observed from the start, one
            whose first begins later entered then. Episodes of one person must not overlap.
        event, event_value
            Whether the event came at `stop`, as in `right`; only in the last episode of a person.
        weight
            As in the class.
        cause, censored, names
            In place of `event`: as in `competing`.
        gaps
            ``"refuse"``: each episode of a person begins where the one before stopped. ``"allow"``: a person may be
            absent, and is then not at risk.

        Examples
        --------
        >>> data = SurvivalData.episodes(["ann", "ann", "bob"], [0, 4, 0], [4, 9, 6], [0, 1, 0])
        >>> print(data)
        n=3, 2 persons, 1 event (50 %), time 4–9, entry 4–4
        >>> print(data.persons())
        n=2, 1 event (50 %), time 6–9
        """
        columns = Column(id, "id"), Column(start, "start"), Column(stop, "stop")
        codes: dict[str, Any] = {"event_value": event_value, "censored": censored, "names": names}
        optional = {"event": event, "cause": cause, "weight": weight}
        given = (optional_column(values, name) for name, values in optional.items())
        return cls.from_checked(*episode_outcome(*columns, *given, gaps=gaps, **codes))

    @classmethod
    def from_dates(
        cls,
        start: ArrayLike,
        end: ArrayLike,
        event: ArrayLike,
        *,
        unit: str = "days",
        date_format: str | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        event_value: object = None,
    ) -> SurvivalData:
        """Right-censored data of two dates.

        Parameters
        ----------
        start, end
            Dates of numpy, pandas, polars or Python, or text: ISO as 2020-12-31, day or month first as 31.12.2020 and
            12/31/2020, the month by its English name, each with or without a clock. How a column is written is
            inferred from all of it.
        event
            As in `right`: whether the event was observed at `end`.
        unit
            Of the times: days, weeks, months (of 30.4375 days) or years (of 365.25 days).
        date_format
            ``"day-first"`` or ``"month-first"`` where all dates allow both, or a format as of `datetime.strptime`, such
            as ``"%d.%m.%y"``: years of two digits are read only with one.
        weight, group, event_value
            As in `right`.

        Examples
        --------
        >>> data = SurvivalData.from_dates(["2020-01-31", "2020-03-01"], ["2021-01-31", "2020-03-31"], [1, 0])
        >>> data.time
        array([366.,  30.])
        """
        times = time_between(Column(start, "start"), Column(end, "end"), unit, date_format)
        return cls.right(times, event, weight=weight, group=group, event_value=event_value)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        time: object = None,
        event: object = None,
        event_value: object = None,
        event_values: EventValues | None = None,
        cause: object = None,
        censored: object = None,
        names: CauseNames | None = None,
        lower: object = None,
        upper: object = None,
        entry: object = None,
        weight: object = None,
        group: object = None,
        id: object = None,  # noqa: A002
        start: object = None,
        stop: object = None,
        gaps: str = "refuse",
        end: object = None,
        unit: str | None = None,
        date_format: str | None = None,
    ) -> SurvivalData:
        """Data from named columns of a pandas or polars frame, a dict of arrays or a structured array.

        Parameters
        ----------
        frame
            What holds the columns.
        time, event, event_value
            Columns of right-censored data, and which value of the second is the event; read as by `right`.
        event_values
            In place of `event_value` for events of several causes: the name of the cause by value of `event`, such as
            ``{1: "relapse", 2: "death"}``. All other values are censored, unless some value is named ``"censored"``:
            then others are errors. None as a value stands for gaps.
        cause, censored, names
            Column of causes, in place of `event`; read as by `competing`.
        lower, upper
            Columns of bounds, in place of `time` and `event`; read as by `interval`.
        entry, weight, group
            Further columns.
        id, start, stop, gaps
            Columns of episodes, in place of `time` and `entry`; read as by `episodes`.
        end, unit, date_format
            Column of the date of the end, with `start` that of the start, in place of `time`; read as by `from_dates`.
        """
        roles = {"time": time, "event": event, "cause": cause, "lower": lower, "upper": upper}
        roles |= {"entry": entry, "weight": weight, "group": group, "id": id, "start": start, "stop": stop}
        roles |= {"end": end}
        dates: dict[str, Any] = {"unit": unit, "date_format": date_format}
        codes: dict[str, Any] = {"event_value": event_value, "censored": censored, "names": names}
        return cls.from_checked(*frame_outcome(frame, roles, event_values=event_values, gaps=gaps, **codes, **dates))

    @classmethod
    def from_structured(cls, array: object) -> SurvivalData:
        """Right-censored data from scikit-survival's structured array: one bool field, one of numbers."""
        return cls.from_checked(*structured_outcome(array))

    @classmethod
    def of(cls, y: object, *, event_value: object = None) -> SurvivalData:
        """Whatever ``fit(X, y)`` takes for `y`.

        Parameters
        ----------
        y
            SurvivalData, scikit-survival's structured array, a tuple ``(time, event)``, or a frame (also a
            dict or structured array) of two columns, time and event, distinguished by their names or else values.
        event_value
            As in `right`.
        """
        if isinstance(y, SurvivalData):
            if event_value is not None:
                problem = "event_value cannot be combined with SurvivalData, whose events are already marked."
                raise ParameterError(problem, argument="event_value")
            return y
        return cls.from_checked(*target_outcome(y, event_value))

    @classmethod
    def from_checked(
        cls,
        lower: FloatArray,
        upper: FloatArray,
        entry: FloatArray | None = None,
        weight: FloatArray | None = None,
        cause: IntArray | None = None,
        causes: tuple[str, ...] | None = None,
        group: IntArray | None = None,
        person: IntArray | None = None,
    ) -> SurvivalData:
        """An instance of columns that are not checked again: what is cut out of checked data, or made of it.

        The arrays are taken over without a copy and become read-only.
        """
        data = object.__new__(cls)
        data._store(Outcome(lower, upper, entry, weight, cause, causes, group, person))
        return data

    @staticmethod
    def concatenate(parts: Iterable[SurvivalData]) -> SurvivalData:
        """The rows of all parts, one part after the other."""
        parts = list(parts)
        if not parts or not all(isinstance(part, SurvivalData) for part in parts):
            kinds = sorted({type(part).__name__ for part in parts})
            problem = f"parts must be one or more SurvivalData, but got {', '.join(kinds) or 'none'}."
            raise ParameterError(problem, argument="parts")
        return SurvivalData.from_checked(*concatenated_outcome(parts))

    def __getitem__(self, rows: Any) -> SurvivalData:
        """Rows by slice, integer (one row), integers or bool mask, in the order of numpy."""
        return SurvivalData.from_checked(*chosen_rows(self.columns, rows))

    @property
    def columns(self) -> Outcome:
        """All columns (n,) and the names of the causes as one value."""
        return Outcome(*(getattr(self, name) for name in Outcome._fields))

    def scaled(self, a: float) -> SurvivalData:
        """The same data in another unit: every time multiplied by `a`."""
        check("a", a, Number(0, above=True))
        return SurvivalData.from_checked(*scaled_outcome(self.columns, a))

    def with_weight(self, weight: ArrayLike | None) -> SurvivalData:
        """The same data with other weights; None: one each."""
        weights = (
            None if weight is None else weight_column(Column(weight, "weight"), Column(self.lower, "time"), self.lower)
        )
        return SurvivalData.from_checked(*self.columns._replace(weight=weights))

    def with_group(self, group: ArrayLike | None) -> SurvivalData:
        """The same data with other groups; None: none, and of episodes the persons.

        Examples
        --------
        >>> data = SurvivalData.right([5, 3, 8, 2], [1, 0, 1, 1]).with_group(["ann", "bob", "ann", "cid"])
        >>> data.n_groups, bool(data.group[0] == data.group[2])
        (3, True)
        """
        groups = None if group is None else group_column(Column(group, "group"), Column(self.lower, "time"), self.lower)
        if self.person is not None:
            groups = self.person if groups is None else groups
            require_whole_persons(self.person, groups)
        return SurvivalData.from_checked(*self.columns._replace(group=groups))

    def of_cause(self, cause: int | str) -> SurvivalData:
        """The time to the event of one cause, by number (from 1) or name; events of other causes count as censored."""
        if self.cause is None or self.causes is None:
            raise ParameterError(
                "these data have events of one kind only",
                argument="cause",
                advice="Make data with causes by SurvivalData.competing.",
            )
        number = cause_number(cause, self.causes)
        upper = np.where(self.exact & (self.cause != number), np.inf, self.upper)
        return SurvivalData.from_checked(*self.columns._replace(upper=upper, cause=None, causes=None))

    def without_causes(self) -> SurvivalData:
        """The time to the first event, whatever its cause."""
        return SurvivalData.from_checked(*self.columns._replace(cause=None, causes=None))

    def persons(self) -> SurvivalData:
        """One row per person of episodes, in the order of their first rows; data without episodes as they are.

        A person enters when the first episode begins, and leaves as and when the last one ends; the weight is that of
        the last. Metrics compare these rows with what `predict_path` gives.
        """
        return self if self.person is None else SurvivalData.from_checked(*person_outcome(self))

    def landmark(self, time: float) -> tuple[IntArray, SurvivalData]:
        """Who is at risk at a time, in which episode, and how long from then on.

        Parameters
        ----------
        time
            The landmark, in the unit of the data.

        Returns
        -------
        rows
            The episode (start, stop] of each person with start ≤ time < stop, by row number: its covariates are
            those known at the landmark.
        data
            These persons, their times counted from the landmark.

        Examples
        --------
        >>> data = SurvivalData.episodes([1, 1, 2], [0, 4, 0], [4, 9, 3], [0, 1, 1])
        >>> rows, later = data.landmark(4)
        >>> rows, later.time
        (array([1]), array([5.]))
        """
        check("time", time, Number(0))
        rows, outcome = landmark_rows(self, float(time))
        return rows, SurvivalData.from_checked(*outcome)

    def split(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[SurvivalData, SurvivalData]:
        """A random training and test part; the parameters are those of `split_rows`."""
        train_rows, test_rows = self.split_rows(test, random_state=random_state, stratify=stratify)
        return self[train_rows], self[test_rows]

    def __repr__(self) -> str:
        causes = "" if self.causes is None else f", causes={list(self.causes)}"
        return f"SurvivalData(n={len(self)}{causes})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come back writeable from pickle and copy.
        self._store(Outcome(**{name: state[name] for name in Outcome._fields if name in state}))

    def _store(self, outcome: Outcome) -> None:
        for name, value in outcome._asdict().items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)
