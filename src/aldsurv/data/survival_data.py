"""Times to an event that may be censored: the only module that knows how censoring is encoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Number, check
from aldsurv.data.event_columns import CauseNames, cause_column, cause_number
from aldsurv.data.frame_columns import BoolArray, Column, FloatArray, IntArray
from aldsurv.data.group_column import count_groups, group_column, joined_groups
from aldsurv.data.outcome_columns import (
    Outcome,
    bounded_outcome,
    competing_outcome,
    entry_and_weight,
    left_outcome,
    right_outcome,
    weight_column,
)
from aldsurv.data.outcome_reading import frame_outcome, structured_outcome, target_outcome
from aldsurv.data.row_selection import concatenated_outcome, row_index
from aldsurv.data.row_splitting import split_rows
from aldsurv.data.summary_line import summary_line
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["SurvivalData"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalData:
    """Times of n subjects in one unit: the event of each lies in (lower, upper].

    Usually made by `right`, `left`, `interval`, `competing`, `from_frame`, `from_structured` or `of`. The data are
    checked once, when they are made, and copied; the arrays are read-only.

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

    def __post_init__(self) -> None:
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
        n=4, 1 event (25 %), time 1–6, 1 left-censored, 1 interval-censored
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
    def from_frame(
        cls,
        frame: object,
        *,
        time: object = None,
        event: object = None,
        event_value: object = None,
        cause: object = None,
        censored: object = None,
        names: CauseNames | None = None,
        lower: object = None,
        upper: object = None,
        entry: object = None,
        weight: object = None,
        group: object = None,
    ) -> SurvivalData:
        """Data from named columns of a pandas or polars frame, a dict of arrays or a structured array.

        Parameters
        ----------
        frame
            What holds the columns.
        time, event, event_value
            Columns of right-censored data, and which value of the second is the event; read as by `right`.
        cause, censored, names
            Column of causes, in place of `event`; read as by `competing`.
        lower, upper
            Columns of bounds, in place of `time` and `event`; read as by `interval`.
        entry, weight, group
            Further columns.
        """
        roles = {"time": time, "event": event, "cause": cause, "lower": lower, "upper": upper}
        roles |= {"entry": entry, "weight": weight, "group": group}
        return cls.from_checked(*frame_outcome(frame, roles, event_value=event_value, censored=censored, names=names))

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
    ) -> SurvivalData:
        """An instance of columns that are not checked again: what is cut out of checked data, or made of it.

        The arrays are taken over without a copy and become read-only.
        """
        data = object.__new__(cls)
        data._store(Outcome(lower, upper, entry, weight, cause, causes, group))
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

    def __len__(self) -> int:
        return int(self.lower.size)

    def __getitem__(self, rows: Any) -> SurvivalData:
        """Rows by slice, integer (one row), integers or bool mask, in the order of numpy."""
        rows = row_index(rows, len(self))
        return SurvivalData.from_checked(
            self.lower[rows],
            self.upper[rows],
            None if self.entry is None else self.entry[rows],
            None if self.weight is None else self.weight[rows],
            None if self.cause is None else self.cause[rows],
            self.causes,
            None if self.group is None else self.group[rows],
        )

    @property
    def shape(self) -> tuple[int]:
        """``(n,)``: by this scikit-learn knows that rows can be chosen by their numbers."""
        return (len(self),)

    @property
    def exact(self) -> BoolArray:
        """Rows whose event was observed at a known time."""
        return np.equal(self.lower, self.upper)

    @property
    def right_censored(self) -> BoolArray:
        """Rows whose event came after `lower`."""
        return np.isposinf(self.upper)

    @property
    def left_censored(self) -> BoolArray:
        """Rows whose event came at or before `upper`."""
        return np.isneginf(self.lower)

    @property
    def interval_censored(self) -> BoolArray:
        """Rows whose event came in (lower, upper], both finite and apart."""
        return (self.lower < self.upper) & np.isfinite(self.lower) & np.isfinite(self.upper)

    @property
    def time(self) -> FloatArray:
        """Time of the event or of right-censoring (n,); `CensoringError` for rows that have no such time."""
        bounded = ~(self.exact | self.right_censored)
        if bounded.any():
            row = int(np.argmax(bounded))
            raise CensoringError(
                "time and event exist for exact and right-censored rows only, but "
                f"{np.count_nonzero(bounded)} of {len(self)} rows have left- or interval-censoring, "
                f"first ({self.lower[row]:g}, {self.upper[row]:g}]",
                row=row,
                advice="Use lower and upper, or only the rows data[data.exact | data.right_censored].",
            )
        return self.lower

    @property
    def event(self) -> BoolArray:
        """Whether the event was observed (n,); `CensoringError` as for `time`."""
        _ = self.time
        return self.exact

    @property
    def n_events(self) -> int:
        """Number of rows with an exactly observed event."""
        return int(np.count_nonzero(self.exact))

    @property
    def weights(self) -> FloatArray:
        """Weight of each row (n,), ones when none were given."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """Sum of the weights: the number of rows when none were given."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def n_groups(self) -> int:
        """Number of groups: the number of rows when none were given."""
        return len(self) if self.group is None else count_groups(self.group)

    def scaled(self, a: float) -> SurvivalData:
        """The same data in another unit: every time multiplied by `a`."""
        check("a", a, Number(0, above=True))
        with np.errstate(over="ignore"):
            lower, upper = self.lower * a, self.upper * a
        entry = None if self.entry is None else self.entry * a
        same = ((lower == upper) == self.exact) & (np.isinf(upper) == np.isinf(self.upper))
        if entry is not None:
            same &= entry < np.where(self.right_censored, lower, upper)
        if not same.all():
            raise ParameterError(
                f"a={quoted(a)} takes times beyond what a float can tell apart",
                argument="a",
                advice="Choose another unit.",
            )
        return SurvivalData.from_checked(lower, upper, entry, self.weight, self.cause, self.causes, self.group)

    def with_weight(self, weight: ArrayLike | None) -> SurvivalData:
        """The same data with other weights; None: one each."""
        weights = (
            None if weight is None else weight_column(Column(weight, "weight"), Column(self.lower, "time"), self.lower)
        )
        return SurvivalData.from_checked(
            self.lower, self.upper, self.entry, weights, self.cause, self.causes, self.group
        )

    def with_group(self, group: ArrayLike | None) -> SurvivalData:
        """The same data with other groups; None: none.

        Examples
        --------
        >>> data = SurvivalData.right([5, 3, 8, 2], [1, 0, 1, 1]).with_group(["ann", "bob", "ann", "cid"])
        >>> data.n_groups, bool(data.group[0] == data.group[2])
        (3, True)
        """
        groups = None if group is None else group_column(Column(group, "group"), Column(self.lower, "time"), self.lower)
        return SurvivalData.from_checked(
            self.lower, self.upper, self.entry, self.weight, self.cause, self.causes, groups
        )

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
        return SurvivalData.from_checked(self.lower, upper, self.entry, self.weight, group=self.group)

    def without_causes(self) -> SurvivalData:
        """The time to the first event, whatever its cause."""
        return SurvivalData.from_checked(self.lower, self.upper, self.entry, self.weight, group=self.group)

    def split_rows(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row numbers of a random training and test part, each in ascending order.

        Rows of one group stay on one side.

        Parameters
        ----------
        test
            Share of the rows in the test part, which has ``round(test * n)`` of them, with groups about as many.
        random_state
            Seed or generator.
        stratify
            Keep the share of exactly observed events in both parts to within one row, with groups about the same.
        """
        groups = None if self.group is None else joined_groups(self.group)
        return split_rows(self.exact if stratify else None, len(self), test, random_state, groups, by_lot=True)

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

    def to_structured(self, event: str = "event", time: str = "time") -> NDArray[np.void]:
        """scikit-survival's structured array; entry and weights have no place in it."""
        if event == time:
            problem = f"event and time must have different names, but both are {quoted(time)}."
            raise ParameterError(problem, argument="time")
        array = np.empty(len(self), dtype=[(event, np.bool_), (time, np.float64)])
        array[event], array[time] = self.event, self.time
        return array

    def summary(self) -> str:
        """One line: rows, events, range of time, and what else there is."""
        return summary_line(self)

    __str__ = summary

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
