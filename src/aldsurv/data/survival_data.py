"""Times to an event that may be censored: the only module that knows how censoring is encoded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.data.outcome_columns import (
    BoolArray,
    Column,
    FloatArray,
    IntArray,
    bound_columns,
    cause_column,
    cause_number,
    column_names,
    entry_column,
    frame_column,
    time_and_event_columns,
    time_and_event_names,
    weight_column,
)
from aldsurv.data.row_splitting import split_rows
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["SurvivalData"]


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalData:
    """Times of n subjects in one unit; what is known of each is that its event lies in (lower, upper].

    Usually made by `right`, `left`, `interval`, `competing`, `from_frame`, `from_structured` or `of`. The data are
    checked once, when they are made, and copied: the arrays are read-only and no later change of the input shows.

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

    def __post_init__(self) -> None:
        checked = SurvivalData.interval(self.lower, self.upper, entry=self.entry, weight=self.weight)
        codes, names = self.cause, self.causes
        if (codes is None) != (names is None):
            raise ParameterError(
                "cause and causes must be given together: a number a row, and the names of the causes."
            )
        if codes is not None and names is not None:
            codes, names = cause_column(Column(codes, "cause"), names=list(names))
            if codes.shape != checked.lower.shape or not np.array_equal(codes > 0, checked.exact):
                raise DataError(
                    "cause must be positive in the rows with an exactly observed event, and 0 in all others."
                )
        self._store(checked.lower, checked.upper, checked.entry, checked.weight, codes, names)

    @classmethod
    def right(
        cls,
        time: ArrayLike,
        event: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        event_value: Any = None,
    ) -> SurvivalData:
        """Right-censored data.

        Parameters
        ----------
        time
            Time of the event or of the end of observation, finite and not negative.
        event
            Whether the event was observed: bool, 0/1, or anything else with `event_value`.
        entry, weight
            As in the class.
        event_value
            The value of `event` that means observed, such as ``"dead"`` or ``2``; all others are censored.

        Examples
        --------
        >>> print(SurvivalData.right([1, 2, 4], ["dead", "alive", "dead"], event_value="dead"))
        n=3, 2 events (67 %), time 1–4
        """
        times, events = time_and_event_columns(Column(time, "time"), Column(event, "event"), event_value)
        upper = np.where(events, times, np.inf)
        return cls._checked(times, upper, Column(entry, "entry"), Column(weight, "weight"))

    @classmethod
    def left(
        cls,
        time: ArrayLike,
        event: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        event_value: Any = None,
    ) -> SurvivalData:
        """Left-censored data: as `right`, but where `event` is False it came at or before `time`."""
        times, events = time_and_event_columns(Column(time, "time"), Column(event, "event"), event_value)
        lower = np.where(events, times, -np.inf)
        return cls._checked(lower, times, Column(entry, "entry"), Column(weight, "weight"))

    @classmethod
    def interval(
        cls,
        lower: ArrayLike,
        upper: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
    ) -> SurvivalData:
        """Data of any kind by their bounds, as in the class: exact, right-, left- and interval-censored rows.

        Examples
        --------
        >>> import numpy as np
        >>> print(SurvivalData.interval([1, 2, 4, -np.inf], [1, np.inf, 6, 3]))
        n=4, 1 event (25 %), time 1–6, 1 left-censored, 1 interval-censored
        """
        bounds = bound_columns(Column(lower, "lower"), Column(upper, "upper"))
        labels = ("lower", "upper")
        return cls._checked(*bounds, Column(entry, "entry"), Column(weight, "weight"), labels)

    @classmethod
    def competing(
        cls,
        time: ArrayLike,
        cause: ArrayLike,
        *,
        entry: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        censored: Any = None,
        names: Sequence[Any] | Mapping[Any, Any] | None = None,
    ) -> SurvivalData:
        """Right-censored data with events of several causes, of which the first ends the observation.

        Parameters
        ----------
        time
            Time of the first event or of the end of observation, finite and not negative.
        cause
            What happened: whole numbers, 0 for censored and 1, 2, … for the causes, or text.
        entry, weight
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
        return cls._competing(
            Column(time, "time"),
            Column(cause, "cause"),
            Column(entry, "entry"),
            Column(weight, "weight"),
            censored,
            names,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        time: Any = None,
        event: Any = None,
        event_value: Any = None,
        cause: Any = None,
        censored: Any = None,
        names: Sequence[Any] | Mapping[Any, Any] | None = None,
        lower: Any = None,
        upper: Any = None,
        entry: Any = None,
        weight: Any = None,
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
        entry, weight
            Further columns.
        """
        given = {"time": time, "event": event, "cause": cause, "lower": lower, "upper": upper}
        pair = [key for key, name in given.items() if name is not None]
        if pair not in (["time", "event"], ["time", "cause"], ["lower", "upper"]):
            raise ParameterError(
                "from_frame needs the columns time and event (or cause), or lower and upper, but got "
                f"{' and '.join(pair) or 'neither'}. Name one pair, such as time='months', event='status'."
            )
        first, second, entries, weights = (
            Column(None if name is None else frame_column(frame, name), f"column {quoted(name)}")
            for name in (given[pair[0]], given[pair[1]], entry, weight)
        )
        if event_value is not None and event is None:
            raise ParameterError(f"event_value has no use with {' and '.join(pair)}, which say where events were seen.")
        if (censored is not None or names is not None) and cause is None:
            raise ParameterError("censored and names have no use without cause. For the event use event_value.")
        if cause is not None:
            return cls._competing(first, second, entries, weights, censored, names)
        if pair == ["time", "event"]:
            low, events = time_and_event_columns(first, second, event_value)
            high = np.where(events, low, np.inf)
        else:
            low, high = bound_columns(first, second)
        return cls._checked(low, high, entries, weights, (first.label, second.label))

    @classmethod
    def from_structured(cls, array: Any) -> SurvivalData:
        """Right-censored data from scikit-survival's structured array: one bool field, one of numbers."""
        names = column_names(array) if _is_structured(array) else []
        roles = ["event" if array.dtype[name].kind == "b" else "time" for name in names]
        if sorted(roles) != ["event", "time"]:
            raise DataError(
                "a structured array must have one field of bool and one of numbers, but "
                f"{getattr(array, 'dtype', type(array).__name__)} was given. "
                "Use SurvivalData.from_frame(array, time=..., event=...) to name the two."
            )
        return cls.from_frame(array, **dict(zip(roles, names, strict=True)))

    @classmethod
    def of(cls, y: Any, *, event_value: Any = None) -> SurvivalData:
        """Whatever ``fit(X, y)`` takes for `y`.

        Parameters
        ----------
        y
            SurvivalData, scikit-survival's structured array, a tuple ``(time, event)``, or a frame (also a
            dict or structured array) of two columns whose names, or else values, tell time from event.
        event_value
            As in `right`.
        """
        if isinstance(y, SurvivalData):
            if event_value is not None:
                raise ParameterError("event_value has no use here: SurvivalData already knows its events.")
            return y
        if isinstance(y, tuple) and len(y) == 2:
            return cls.right(*y, event_value=event_value)
        if event_value is None and _is_structured(y) and "b" in [y.dtype[name].kind for name in y.dtype.names]:
            return cls.from_structured(y)
        try:
            column_names(y)
        except DataError:
            shape = f" of shape {y.shape}" if isinstance(y, np.ndarray) else ""
            raise DataError(
                f"y must say what is time and what is event, but {type(y).__name__}{shape} does not. "
                "Give SurvivalData.right(time, event), a tuple (time, event) such as (y[:, 0], y[:, 1]), "
                "or a frame of two named columns (a lazy one collected)."
            ) from None
        time, event = time_and_event_names(y, event_value)
        return cls.from_frame(y, time=time, event=event, event_value=event_value)

    @staticmethod
    def concatenate(parts: Iterable[SurvivalData]) -> SurvivalData:
        """The rows of all parts, one part after the other."""
        found = list(parts)
        if not found or not all(isinstance(part, SurvivalData) for part in found):
            kinds = sorted({type(part).__name__ for part in found})
            raise ParameterError(f"parts must be one or more SurvivalData, but got {', '.join(kinds) or 'none'}.")
        entry = weight = None
        if any(part.entry is not None for part in found):
            entry = np.concatenate(
                [np.full(len(part), -np.inf) if part.entry is None else part.entry for part in found]
            )
        if any(part.weight is not None for part in found):
            weight = np.concatenate([part.weights for part in found])
        names = {part.causes for part in found}
        if len(names) > 1:
            told = " and ".join("none" if each is None else repr(each) for each in sorted(names, key=str))
            raise ParameterError(
                f"parts must have the same causes, but have {told}. Give the same names=, or of_cause."
            )
        cause = None
        if found[0].cause is not None:
            cause = np.concatenate([part.cause for part in found if part.cause is not None])
        lower, upper = (np.concatenate([getattr(part, name) for part in found]) for name in ("lower", "upper"))
        return SurvivalData._trusted(lower, upper, entry, weight, cause, found[0].causes)

    def __len__(self) -> int:
        return int(self.lower.size)

    def __getitem__(self, rows: Any) -> SurvivalData:
        """Rows by slice, integer (one row), integers or bool mask, in the order of numpy."""
        if isinstance(rows, tuple) and len(rows) == 2 and rows[1] is Ellipsis:
            # How scikit-learn asks for rows of anything that has a shape.
            rows = rows[0]
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if rows.size == 0 and rows.dtype.kind == "f":
                rows = rows.astype(np.intp)
            if rows.ndim > 1:
                raise ParameterError(f"rows must be one column of integers or bools, but have shape {rows.shape}.")
            if rows.dtype.kind == "b" and rows.shape != self.lower.shape:
                raise ParameterError(f"a mask must have one value a row, but it has {rows.size} for {len(self)} rows.")
            rows = np.atleast_1d(rows)
        columns = (self.lower, self.upper, self.entry, self.weight)
        cause = None if self.cause is None else self.cause[rows]
        chosen = (None if column is None else column[rows] for column in columns)
        return SurvivalData._trusted(*chosen, cause, self.causes)

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
        known = self.exact | self.right_censored
        if not known.all():
            row = int(np.flatnonzero(~known)[0])
            raise CensoringError(
                "time and event exist for exact and right-censored rows only, but "
                f"{np.count_nonzero(~known)} of {len(self)} rows have left- or interval-censoring "
                f"(first: row {row}, ({self.lower[row]:g}, {self.upper[row]:g}]). "
                "Use lower and upper, or only the rows data[data.exact | data.right_censored]."
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

    def scaled(self, a: float) -> SurvivalData:
        """The same data in another unit: every time multiplied by `a`."""
        if not (isinstance(a, (int, float, np.number)) and 0 < a < np.inf):
            raise ParameterError(f"a must be finite and positive, but is {quoted(a)}.")
        with np.errstate(over="ignore"):
            lower, upper = self.lower * a, self.upper * a
        entry = None if self.entry is None else self.entry * a
        same = ((lower == upper) == self.exact) & (np.isinf(upper) == np.isinf(self.upper))
        if entry is not None:
            same &= entry < np.where(self.right_censored, lower, upper)
        if not same.all():
            raise ParameterError(f"a={quoted(a)} takes times beyond what a float can tell apart. Choose another unit.")
        return SurvivalData._trusted(lower, upper, entry, self.weight, self.cause, self.causes)

    def with_weight(self, weight: ArrayLike | None) -> SurvivalData:
        """The same data with other weights; None: one each."""
        weights = None if weight is None else weight_column(Column(weight, "weight"), self.lower, "time")
        return SurvivalData._trusted(self.lower, self.upper, self.entry, weights, self.cause, self.causes)

    def of_cause(self, cause: int | str) -> SurvivalData:
        """The time to the event of one cause, by number (from 1) or name; events of other causes count as censored."""
        if self.cause is None or self.causes is None:
            raise ParameterError(
                "these data have events of one kind only. Make data with causes by SurvivalData.competing."
            )
        number = cause_number(cause, self.causes)
        upper = np.where(self.exact & (self.cause != number), np.inf, self.upper)
        return SurvivalData._trusted(self.lower, upper, self.entry, self.weight)

    def split_rows(
        self,
        test: float = 0.2,
        *,
        random_state: int | np.random.Generator | None = None,
        stratify: bool = True,
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Row numbers of a random training and test part, each in ascending order.

        Parameters
        ----------
        test
            Share of the rows in the test part, which has ``round(test * n)`` of them.
        random_state
            Seed or generator.
        stratify
            Keep the share of exactly observed events in both parts to within one row.
        """
        return split_rows(self.exact if stratify else None, len(self), test, random_state)

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
            raise ParameterError(f"event and time must have different names, but both are {quoted(time)}.")
        array = np.empty(len(self), dtype=[(event, np.bool_), (time, np.float64)])
        array[event], array[time] = self.event, self.time
        return array

    def summary(self) -> str:
        """One line: rows, events, range of time, and what else there is."""
        n = len(self)
        if n == 0:
            return "n=0"
        bounds = np.concatenate([self.lower, self.upper])
        events = f"{self.n_events} {'event' if self.n_events == 1 else 'events'}"
        parts = [f"n={n}", f"{events} ({100 * self.n_events / n:.0f} %)", f"time {_range(bounds)}"]
        kinds = {"left-censored": self.left_censored, "interval-censored": self.interval_censored}
        parts += [f"{rows.sum()} {kind}" for kind, rows in kinds.items() if rows.any()]
        if self.cause is not None and self.causes is not None:
            counts = np.bincount(self.cause, minlength=len(self.causes) + 1)[1:]
            parts.append("causes " + ", ".join(f"{name} ({n})" for name, n in zip(self.causes, counts, strict=True)))
        if self.entry is not None and np.isfinite(self.entry).any():
            parts.append(f"entry {_range(self.entry)}")
        if self.weight is not None:
            parts.append(f"weights {_range(self.weight)} (total {_compact(self.total_weight)})")
        return ", ".join(parts)

    __str__ = summary

    def __repr__(self) -> str:
        causes = "" if self.causes is None else f", causes={list(self.causes)}"
        return f"SurvivalData(n={len(self)}{causes})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays come back writeable from pickle and copy.
        self._store(**{name: state[name] for name in ("lower", "upper", "entry", "weight", "cause", "causes")})

    @classmethod
    def _checked(
        cls,
        lower: FloatArray,
        upper: FloatArray,
        entry: Column,
        weight: Column,
        labels: tuple[str, str] = ("time", "time"),
    ) -> SurvivalData:
        """An instance of checked bounds, once entry and weight are checked against them."""
        entries = None if entry.values is None else entry_column(entry, lower, upper, labels)
        weights = None if weight.values is None else weight_column(weight, lower, labels[0])
        return cls._trusted(lower, upper, entries, weights)

    @classmethod
    def _competing(
        cls, time: Column, cause: Column, entry: Column, weight: Column, censored: Any, names: Any
    ) -> SurvivalData:
        codes, labels = cause_column(cause, censored=censored, names=names)
        times, events = time_and_event_columns(time, Column(codes > 0, cause.label))
        data = cls._checked(times, np.where(events, times, np.inf), entry, weight, (time.label, time.label))
        return cls._trusted(data.lower, data.upper, data.entry, data.weight, codes, labels)

    @classmethod
    def _trusted(cls, *columns: Any) -> SurvivalData:
        """An instance of columns known to be right: what is cut out of checked data needs no check."""
        data = object.__new__(cls)
        data._store(*columns)
        return data

    def _store(
        self,
        lower: FloatArray,
        upper: FloatArray,
        entry: FloatArray | None,
        weight: FloatArray | None,
        cause: IntArray | None = None,
        causes: tuple[str, ...] | None = None,
    ) -> None:
        columns = {"lower": lower, "upper": upper, "entry": entry, "weight": weight, "cause": cause}
        for name, column in columns.items():
            if column is not None:
                column.flags.writeable = False
            object.__setattr__(self, name, column)
        object.__setattr__(self, "causes", causes)


def _is_structured(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.dtype.names is not None


def _range(values: FloatArray) -> str:
    finite = values[np.isfinite(values)]
    return f"{_compact(finite.min())}–{_compact(finite.max())}"


def _compact(value: float) -> str:
    """Three digits, but never fewer than those before the point."""
    return f"{value:.0f}" if 100 <= abs(value) < 1e9 else f"{value:.3g}"
