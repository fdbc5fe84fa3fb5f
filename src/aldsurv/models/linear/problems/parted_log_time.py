"""The likelihood of a location and scale of log time as sums over the parts of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.models.linear.aft_likelihood import LogTimeLikelihood, Standard
from aldsurv.models.linear.newton import Evaluation
from aldsurv.models.linear.problems.log_time_problem import (
    LocationProblem,
    log_times,
    rows_with_information,
    start_at,
)
from aldsurv.models.linear.problems.parted_rows import HeldRows, Moments, outcome_of, summed, too_wide
from aldsurv.models.linear.problems.parted_sandwich import GroupScores, robust_covariance
from aldsurv.models.parted.engine import Blocks

__all__ = ["PartedLogTimeProblem"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class _Informative(NamedTuple):
    """Of the rows with information on a positive time; moments of columns are those of all rows."""

    rows: int
    columns: Moments
    log_times: Moments
    gram: FloatArray


@final
class PartedLogTimeProblem(LocationProblem):
    """The likelihood of the columns of held rows.

    Parameters
    ----------
    rows
        The rows.
    names
        Of their columns.
    standard
        The distribution of ``(log T - μ)/σ``.
    last
        What messages call log σ.
    smallest
        The smallest time above 0: an event at 0 is one at or before it.
    events
        How many rows have an event.
    robust
        Whether to compute a robust covariance: ``True``, ``"auto"`` or ``False``.
    """

    def __init__(
        self,
        rows: HeldRows,
        names: list[str],
        standard: Standard,
        *,
        last: str,
        smallest: float,
        events: int,
        robust: bool | str,
    ) -> None:
        self._rows, self._standard, self._smallest, self._robust = rows, standard, smallest, robust
        parts = list(rows.engine.map(partial(_informative, smallest), rows.parts))
        count = sum(part.rows for part in parts)
        if count < 2:
            raise DataError(
                f"log time needs at least two rows with a time above 0 and a positive weight, but there are {count}",
                argument="y",
            )
        times = Moments.merged(part.log_times for part in parts)
        columns = Moments.merged(part.columns for part in parts)
        super().__init__(names, columns.spread, rows=count, events=events)
        self.last = last
        self.without_columns = start_at(float(times.mean[0]), float(np.sqrt(times.squares[0] / times.weight)))
        (self._gram,) = summed([part.gram] for part in parts)
        self._weight = times.weight

    def select(self, kept: IntArray) -> IntArray:
        """As in the base: numbers of columns."""
        return kept

    def sums(self, columns: IntArray) -> Callable[[FloatArray], Evaluation]:
        """As in the base."""

        def evaluate(point: FloatArray) -> Evaluation:
            value, gradient, information = self._rows.sum(
                partial(_evaluation, self._smallest, self._standard, columns, point)
            )
            return Evaluation(float(value), gradient, information)

        return evaluate

    def robust(self, columns: IntArray, point: FloatArray, covariance: FloatArray) -> FloatArray | None:
        """As in the base."""
        if self._robust is False:
            return None
        function = partial(_group_scores, self._smallest, self._standard, columns, point)
        return robust_covariance(covariance, self._rows.engine.map(function, self._rows.parts), self._robust)

    def gram(self) -> tuple[FloatArray, FloatArray]:
        """As in the base."""
        return self._gram, self._weight * np.append(1.0, self.spread**2)

    def too_many(self, every: IntArray) -> bool:
        """As in the base."""
        return True

    def reduced(self, every: IntArray) -> tuple[IntArray, int, FloatArray | None]:
        """As in the base."""
        raise too_wide(every.size, self.events)


def _rows_of(smallest: float, blocks: Blocks) -> Iterator[tuple[FloatArray, SurvivalData]]:
    """Columns, an intercept first, and outcomes of the rows with information."""
    for block in blocks:
        data, numbers = rows_with_information(outcome_of(block), smallest)
        if numbers.size:
            yield np.column_stack([np.ones(numbers.size), block["x"][numbers]]), data


def _informative(smallest: float, blocks: Blocks) -> _Informative:
    rows, times = 0, []
    columns = [Moments.of(block["x"], outcome_of(block).weights) for block in blocks]
    gram = np.zeros((blocks[0]["x"].shape[1] + 1,) * 2) if len(blocks) else np.zeros(())
    for x, data in _rows_of(smallest, blocks):
        rows += len(x)
        times.append(Moments.of(log_times(data)[:, None], data.weights))
        gram = gram + x.T @ (data.weights[:, None] * x)
    return _Informative(rows, Moments.merged(columns), Moments.merged(times), gram)


def _evaluation(
    smallest: float, standard: Standard, kept: IntArray, point: FloatArray, blocks: Blocks
) -> list[FloatArray]:
    start = [np.zeros(()), np.zeros(point.size), np.zeros((point.size, point.size))]
    columns = np.append(0, 1 + kept)
    values = (LogTimeLikelihood(x[:, columns], data, standard)(point) for x, data in _rows_of(smallest, blocks))
    return summed([start, *([np.asarray(part.value), part.gradient, part.information] for part in values)])


def _group_scores(
    smallest: float, standard: Standard, kept: IntArray, point: FloatArray, blocks: Blocks
) -> GroupScores:
    columns = np.append(0, 1 + kept)
    return GroupScores.merged(
        GroupScores.of(LogTimeLikelihood(x[:, columns], data, standard).scores(point), data.group)
        for x, data in _rows_of(smallest, blocks)
    )
