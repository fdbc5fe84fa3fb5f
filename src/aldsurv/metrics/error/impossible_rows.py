"""Rows to which a prediction gives no probability: which they are, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.metrics.checked_arguments import PredictedDistribution, as_numbers
from aldsurv.metrics.error.log_likelihood import log_likelihood_rows
from aldsurv.plain_numbers import plain_number

__all__ = ["ImpossibleRows", "find_impossible_rows"]

_SHOWN = 3
_LATEST = 1e300


@final
@dataclass(frozen=True)
class ImpossibleRows:
    """Rows whose log-likelihood is -inf.

    Attributes
    ----------
    rows
        Their places in the data, counted from 0.
    total
        Number of rows of the data.
    reasons
        What was observed in the first few of them, and why the prediction does not allow it.
    """

    rows: NDArray[np.int64]
    total: int
    reasons: tuple[str, ...]

    def text(self, numbers: Sequence[int] | None = None, noun: str = "row") -> str:
        """How many they are, the first of them, and why.

        Parameters
        ----------
        numbers
            By which number each row of the data goes; None: its place, counted from 0.
        noun
            What a row is, such as "person".
        """
        shown = []
        for row, reason in zip(self.rows.tolist(), self.reasons, strict=False):
            shown.append(f"{noun} {row if numbers is None else int(numbers[row])} ({reason})")
        left = self.rows.size - len(shown)
        verb = "has" if self.rows.size == 1 else "have"
        more = f" and {left} more" if left else ""
        return (
            f"{self.rows.size} of {self.total} {noun}s {verb} no probability under the prediction: "
            f"{', '.join(shown)}{more}"
        )


def find_impossible_rows(predicted: PredictedDistribution, data: SurvivalData) -> ImpossibleRows:
    """The rows with weight to which a prediction gives no probability.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, censored in any way.
    """
    rows = np.flatnonzero(np.isneginf(log_likelihood_rows(predicted, data)) & (data.weights > 0))
    first = rows[:_SHOWN]
    if isinstance(predicted, CompetingDistribution):
        reasons = tuple(f"{_observed(data, row)}, where the prediction has no probability" for row in first.tolist())
    else:
        early = with_zero_as_early(data)
        reasons = tuple(f"{_observed(data, row)}, {_reason(predicted[[row]], early[[row]])}" for row in first.tolist())
    return ImpossibleRows(rows, len(data), reasons)


def _observed(data: SurvivalData, row: int) -> str:
    low, high = plain_number(float(data.lower[row])), plain_number(float(data.upper[row]))
    if data.exact[row]:
        return f"event at {low}"
    if data.right_censored[row]:
        return f"censored at {low}"
    return f"event by {high}" if data.left_censored[row] else f"event between {low} and {high}"


def _reason(predicted: PredictedDistribution, row: SurvivalData) -> str:
    """Why one row has no probability under its prediction."""
    lower, upper = float(row.lower[0]), float(row.upper[0])
    times = np.array([max(lower, 0.0), min(upper, _LATEST), _LATEST])
    begin, end, last = as_numbers(predicted.survival(times))[0].tolist()
    if row.right_censored[0]:
        return "when its predicted survival is 0"
    if end == 1:
        return "before the first step of its curve"
    # A curve may end above 0: then nothing is predicted for later.
    return "after the last step of its curve" if begin == last else "between two steps of its curve"
