"""Which of several causes ends the waiting, and when: what every prediction with causes offers."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.data.event_columns import cause_number
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.shapes import Rows
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

    from aldsurv.data.survival_data import SurvivalData

__all__ = ["CompetingDistribution"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
# Functions of time that a frame may hold.
IncidenceKind: TypeAlias = Literal["incidence", "density", "cause_specific_hazard"]
# Values (rows, times, causes) that are in work at once.
_BLOCK_VALUES = 1 << 17


class CompetingDistribution(Rows):
    """For n individuals, the joint distribution of the time to the first event and of its cause.

    The incidence of a cause at a time is the probability that the first event comes by then and is of that cause. At
    every time the incidences of all causes and the survival add up to one.

    Attributes
    ----------
    causes
        Names of the causes, numbered from 1.
    """

    causes: tuple[str, ...]

    # ---- what a kind of prediction provides; arguments have two axes and broadcast against the rows

    @abstractmethod
    def overall(self) -> SurvivalDistribution:
        """The distribution of the time to the first event, whatever its cause."""

    @abstractmethod
    def _incidences(self, t: FloatArray) -> FloatArray:
        """Incidence (causes, n, m) at times (1 or n, m), which may be infinite."""

    @abstractmethod
    def _log_densities(self, t: FloatArray) -> FloatArray:
        """Logarithm of the slope of each incidence (causes, n, m)."""

    @abstractmethod
    def _scaled(self, factor: FloatArray) -> CompetingDistribution:
        """The same with times multiplied by a column (1 or n, 1) of positive numbers."""

    @abstractmethod
    def _join(self, others: Sequence[Self]) -> Self:
        """Rows of self followed by those of others, all of this kind and of the same causes."""

    @property
    def _block_cost(self) -> int:
        """How many values are in work for each incidence; it only sets the size of blocks."""
        return 1

    # ---- what users call

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={len(self)}, causes={list(self.causes)})"

    def _repr_html_(self) -> str:
        from aldsurv.distributions.presentation import incidence_html

        return incidence_html(self)

    def to_frame(self, times: object = None, *, kind: IncidenceKind = "incidence", index: Any = None) -> pd.DataFrame:
        """A pandas frame with one row per individual and columns by cause, which needs pandas.

        Parameters
        ----------
        times
            A number, or a list of times: one column for each cause and time, so that ``frame["relapse"]`` has those of
            a cause. None: for each cause its ``probability``, and the ``median`` time of those who have the event.
        kind
            What is in the columns of `times`: ``"incidence"``, ``"density"`` or ``"cause_specific_hazard"``.
        index
            Labels of the rows, such as ``X.index``; None for their numbers.

        Examples
        --------
        >>> from aldsurv.distributions import CauseMixture, Exponential
        >>> predicted = CauseMixture([Exponential([2.0]), Exponential([4.0])], [0.25, 0.75], ["relapse", "death"])
        >>> predicted.to_frame([1, 4]).round(3)
        cause relapse         death
        time      1.0    4.0    1.0    4.0
        0       0.098  0.216  0.166  0.474
        """
        from aldsurv.distributions.presentation import incidence_frame

        return incidence_frame(self, times, kind, index)

    @staticmethod
    def concatenate(parts: Sequence[CompetingDistribution]) -> CompetingDistribution:
        """All rows of predictions of one kind and the same causes, one after the other."""
        if not parts:
            raise ParameterError("concatenate needs at least one prediction, but got none.")
        first, *others = parts
        if any(type(other) is not type(first) or other.causes != first.causes for other in others):
            raise ParameterError("only predictions of one kind and of the same causes can be joined.")
        return first._join(others) if others else first

    def incidence(self, times: object, cause: int | str | None = None) -> FloatArray:
        """Probability that the first event comes by `times` and is of a cause.

        Parameters
        ----------
        times
            A number, a vector (the same for every row), or an array with one row per individual.
        cause
            Number of a cause, from 1, or its name: the answer is (n, m). None: all causes, (causes, n, m). The axis m
            is missing if `times` is a number.
        """
        return self._by_cause(lambda part, t: part._incidences(t), times, cause)

    def density(self, times: object, cause: int | str | None = None) -> FloatArray:
        """The slope of the incidence at `times`, in the shapes of `incidence`."""
        return np.asarray(np.exp(self._by_cause(lambda part, t: part._log_densities(t), times, cause)))

    def cause_specific_hazard(self, times: object, cause: int | str | None = None) -> FloatArray:
        """Rate of events of a cause among those without any event, in the shapes of `incidence`."""

        def hazards(part: CompetingDistribution, t: FloatArray) -> FloatArray:
            return np.asarray(part._log_densities(t) - part.overall()._log_survival(t))

        return np.asarray(np.exp(self._by_cause(hazards, times, cause)))

    def survival(self, times: object) -> FloatArray:
        """Probability (n, m) of no event of any cause by `times`; (n,) if `times` is a number."""
        return np.asarray(self.overall().survival(times))

    def cause_probability(self, cause: int | str | None = None) -> FloatArray:
        """Probability that the event ever comes and is of a cause: (n,), or for all causes (causes, n).

        They add up to one, except where some never have an event of any cause.
        """
        return self.incidence(math.inf, cause)

    def cure_probability(self) -> FloatArray:
        """Probability (n,) that no event of any cause ever comes."""
        return self.survival(math.inf)

    def subdistribution(self, cause: int | str) -> SurvivalDistribution:
        """The time to an event of one cause, infinite for those who never have it: its cdf is the incidence."""
        from aldsurv.distributions.competing.subdistribution import Subdistribution

        return Subdistribution.from_checked(competing=self, cause=self._number(cause))

    def quantile(self, levels: object, cause: int | str) -> FloatArray:
        """Time by which a share `levels` of those who ever have the event of a cause have had it.

        Parameters
        ----------
        levels
            Shares from 0 to 1: a number, a vector, or an array with one row per individual.
        cause
            Its number, from 1, or its name.
        """
        shares = self._as_array(levels, "levels")
        if not bool(np.all((shares >= 0) & (shares <= 1))):
            raise ParameterError("levels must lie between 0 and 1: quantile(0.9, cause), not quantile(90, cause).")
        ever = self.cause_probability(cause)[:, None]
        times = self.subdistribution(cause).quantile(self._two_axes(shares, "levels") * ever)
        # Who never has the event has no time of it.
        times = np.where(ever > 0, times, np.inf)
        return np.asarray(times[:, 0] if shares.ndim == 0 else times)

    def median(self, cause: int | str) -> FloatArray:
        """Time (n,) by which half of those who ever have the event of a cause have had it."""
        return self.quantile(0.5, cause)

    def conditional(self, since: object) -> CompetingDistribution:
        """The prediction for those known to be without any event at `since`, a number or one per row."""
        column = self._as_column(since, "since")
        self._refuse(column == math.inf, column, "since must be a time before infinity")
        return self._conditional(np.asarray(column + 0 * self._column[:, :1]))

    def _conditional(self, since: FloatArray) -> CompetingDistribution:
        from aldsurv.distributions.competing.conditional import ConditionalIncidence

        return ConditionalIncidence.of(self, since)

    def scaled(self, factor: object) -> CompetingDistribution:
        """The same in another unit of time: times are multiplied by `factor` > 0, a number or one per row."""
        column = self._as_column(factor, "factor")
        self._refuse((column <= 0) | (column == math.inf), column, "factor must be positive and finite")
        return self._scaled(column)

    def sample(self, size: int | None = None, *, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draws of time and cause from every row: both (n,), or (n, size).

        Parameters
        ----------
        size
            How many for each row; None for one, without the second axis.
        random_state
            A seed or a numpy generator.

        Returns
        -------
        time, cause
            The cause as its number; 0, with an infinite time, for no event ever.
        """
        count = 1 if size is None else size
        rng = np.random.default_rng(random_state)
        chances = np.cumsum(self.cause_probability().T, axis=1)
        draws, levels = rng.random((len(self), count)), rng.random((len(self), count))
        # Chances that add up to one may miss it by rounding.
        chances[:, -1] = np.where(chances[:, -1] > 1 - 1e-9, 1.0, chances[:, -1])
        cause = (draws[..., None] >= chances[:, None, :]).sum(axis=2) + 1
        cause[cause > len(self.causes)] = 0
        time = np.full((len(self), count), np.inf)
        for number in range(1, len(self.causes) + 1):
            rows = np.flatnonzero((cause == number).any(axis=1))
            if rows.size:
                drawn = self[rows].quantile(levels[rows], number)
                time[rows] = np.where(cause[rows] == number, drawn, time[rows])
        return (time[:, 0], cause[:, 0]) if size is None else (time, cause)

    def log_likelihood(self, data: SurvivalData) -> FloatArray:
        """Log-likelihood (n,) of each row of `data` under the same row here, times its weight.

        An event counts the logarithm of the slope of its cause's incidence; rows that are censored, and delayed entry,
        count as under ``overall()``.
        """
        if len(data) != len(self):
            raise ParameterError(f"the data have {len(data)} rows, but the prediction has {len(self)}.")
        cause = self.cause_numbers(data)
        total = np.array(self.overall().log_likelihood(data.with_weight(None)), np.float64)
        event = np.flatnonzero(cause)
        if event.size:
            part, rows = self[event], data[event]
            with np.errstate(all="ignore"):
                slopes = part._log_densities(rows.time[:, None])[:, :, 0]
                own = slopes[cause[event] - 1, np.arange(event.size)]
                if rows.entry is not None:
                    delayed = np.isfinite(rows.entry)
                    before = part.overall().log_survival(np.where(delayed, rows.entry, 0.0)[:, None])[:, 0]
                    own = own - np.where(delayed, before, 0.0)
            total[event] = own
        return total if data.weight is None else np.asarray(total * data.weight)

    def cause_numbers(self, data: SurvivalData) -> IntArray:
        """The cause of each row of `data` as its number here, matched by name; 0 without an event.

        Raises a `DataError` for data without causes, unless there is one cause only, and for a cause that is not known
        here.
        """
        if data.cause is None or data.causes is None:
            if len(self.causes) == 1:
                return data.exact.astype(np.int64)
            raise DataError(
                f"the data have no causes, but the prediction has {listed(self.causes)}",
                argument="data",
                advice="Make the data with SurvivalData.competing.",
            )
        numbers = np.array([0, *(self._known(name) for name in data.causes)])
        found = numbers[data.cause]
        if (found < 0).any():
            row = int(np.argmax(found < 0))
            raise DataError(
                f"the prediction has no cause {quoted(data.causes[data.cause[row] - 1])}, only {listed(self.causes)}",
                argument="data",
                row=row,
                advice="Leave such rows out, or fit a model to data with that cause.",
            )
        return np.asarray(found, np.int64)

    def _known(self, name: str) -> int:
        return self.causes.index(name) + 1 if name in self.causes else -1

    def _number(self, cause: int | str) -> int:
        return cause_number(cause, self.causes)

    def _by_cause(self, formula: Any, times: object, cause: int | str | None) -> FloatArray:
        """A formula (causes, n, m) of two-dimensional times, in blocks of rows; its answer in the documented shape."""
        number = None if cause is None else self._number(cause)
        array = self._as_array(times, "times")
        table = self._two_axes(array, "times")
        n, m = len(self), table.shape[1]
        answer = np.empty((len(self.causes) if number is None else 1, n, m))
        step = max(1, _BLOCK_VALUES // max(1, m * len(self.causes) * self._block_cost))
        with np.errstate(all="ignore"):
            for start in range(0, n, step):
                rows = slice(start, start + step)
                values = formula(self[rows], table if table.shape[0] == 1 else table[rows])
                answer[:, rows] = values if number is None else values[number - 1 : number]
        answer = answer[:, :, 0] if array.ndim == 0 else answer
        return answer if number is None else answer[0]
