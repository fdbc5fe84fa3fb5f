"""How much each column moves the prediction of a row away from the mean prediction: Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import factorial
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, WholeNumber, check
from aldsurv.errors import ParameterError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.inspection.explained_targets import ExplainedTarget, explained_target
from aldsurv.models.base import SurvivalEstimator

__all__ = ["Attributions", "shapley_values"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Method: TypeAlias = Literal["auto", "exact", "sampled"]

# Up to so many columns all subsets are predicted, unless the user decides; and at most so many even then.
_FEW_COLUMNS, _MOST_COLUMNS = 7, 15
# Rows predicted at once: enough to keep the processor busy, few enough for its cache.
_BLOCK = 4096


@final
@dataclass(frozen=True, eq=False)
class Attributions:
    """Shapley values of some rows.

    Attributes
    ----------
    names
        Columns (d,), in the order of the table.
    values
        How much each column adds (n, d, m): to each of m numbers, such as the survival at m times.
    errors
        Standard errors of the values (n, d, m) due to sampling; 0 where all subsets of columns were predicted.
    base
        Mean prediction of the background (m,).
    predicted
        Prediction of each row (n, m): `base` plus the sum of the values over the columns.
    times
        The time of each number (m,); None if the only number is a summary such as the median.
    target
        What is explained.
    columns
        Values of the columns in the rows, one array (n,) per column.
    """

    names: tuple[str, ...]
    values: FloatArray
    errors: FloatArray
    base: FloatArray
    predicted: FloatArray
    times: FloatArray | None
    target: str
    columns: tuple[NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: int | slice | Sequence[int]) -> Attributions:
        """Some of the rows."""
        chosen = np.atleast_1d(np.arange(len(self))[rows])
        return replace(
            self,
            values=self.values[chosen],
            errors=self.errors[chosen],
            predicted=self.predicted[chosen],
            columns=tuple(column[chosen] for column in self.columns),
        )

    @property
    def importance(self) -> FloatArray:
        """Mean absolute value over the rows (d, m)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    @property
    def order(self) -> list[int]:
        """Places of the columns, the one that moves the predictions most first."""
        return [int(place) for place in np.argsort(-self.importance.mean(axis=1), kind="stable")]


def shapley_values(
    model: SurvivalEstimator,
    X: object,
    *,
    times: ArrayLike | None = None,
    summary: str | None = None,
    cause: int | str | None = None,
    since: float | None = None,
    horizon: float | None = None,
    background: object = None,
    sample: int = 30,
    method: Method = "auto",
    repeats: int = 2,
    random_state: Any = 0,
    advance: Callable[[], object] | None = None,
) -> Attributions:
    """How much each column moves the prediction of each row away from the mean prediction (Lundberg & Lee 2017).

    The prediction with some of the columns is the mean over the background rows of the prediction with those columns
    from the row and all others from the background. The value of a column is the mean change of that when the column
    is added, over all orders of the columns. The values of a row add up to its prediction less the mean prediction of
    the background. They say what the model uses, not what causes the event; of columns that go together, rows that
    hardly exist are predicted, too.

    Parameters
    ----------
    model
        A fitted model.
    X
        Rows to explain, columns with names or a 2-D array.
    times
        Explain the survival at these times, all at once. None: at 20 times up to the end of follow-up, the time by
        which 80 % of the training rows have left.
    summary
        In their place ``"median"``, ``"mean"`` or ``"restricted_mean"``.
    cause
        Of a model with causes: explain the probability of an event of this one by the times, by number or name.
    since
        Explain the prediction given that nothing has happened by this time.
    horizon
        End of the restricted mean; None: the end of follow-up.
    background
        Rows with the same columns that say what is usual; None: `X`.
    sample
        Rows of the background that are used: if there are more, those at even steps in the order of their predictions,
        whose mean is close to that of all.
    method
        ``"exact"``: all subsets of the columns, for 15 columns or fewer. ``"sampled"``: for each background row
        `repeats` random orders of the columns, and the same in reverse; the values still add up exactly, and have
        standard errors. ``"auto"``: exact up to 7 columns.
    repeats
        Random orders per background row, 2 or more.
    random_state
        Seed or generator of the orders, which are the same for all rows of `X`.
    advance
        Called after each row.

    Examples
    --------
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = {"age": rng.normal(size=300), "dose": rng.normal(size=300)}
    >>> y = np.exp(x["age"]) * rng.weibull(2.0, 300), np.ones(300, bool)
    >>> model = WeibullAFT().fit(x, y)
    >>> explained = shapley_values(model, {"age": [2.0], "dose": [0.0]}, times=[1.0], background=x)
    >>> explained.values[0, :, 0].round(1)
    array([0.5, 0. ])
    >>> bool(abs(explained.base + explained.values[0].sum(axis=0) - explained.predicted[0]) < 1e-10)
    True
    """
    check("method", method, Choice(("auto", "exact", "sampled")))
    check("repeats", repeats, WholeNumber(2))
    check("sample", sample, WholeNumber(1))
    target = explained_target(model, times=times, summary=summary, cause=cause, since=since, horizon=horizon)
    table = CovariateTable.of(X)
    usual = table if background is None else _background(table, background)
    if not len(table) or not len(usual):
        raise ParameterError("there are no rows to explain.", argument="X" if not len(table) else "background")
    of_background, predicted = _finite(target, usual), _finite(target, table)
    if sample < len(usual):
        chosen = _evenly_spaced(of_background, int(sample))
        usual, of_background = usual.rows(chosen), of_background[chosen]
    count = len(table.keys)
    if method == "exact" and count > _MOST_COLUMNS:
        raise ParameterError(
            f"method='exact' takes at most {_MOST_COLUMNS} columns, but there are {count}. Give method='sampled'.",
            argument="method",
        )
    whole = method == "exact" or (method == "auto" and count <= _FEW_COLUMNS)
    plan = _AllSubsets(count) if whole else _RandomOrders.drawn(random_state, len(usual), count, int(repeats))
    parts = []
    for row in range(len(table)):
        parts.append(plan.values(_Row(target, table, row, usual), of_background, predicted[row]))
        if advance is not None:
            advance()
    values, errors = (np.array(part) for part in zip(*parts, strict=True))
    return Attributions(
        table.names, values, errors, of_background.mean(axis=0), predicted, target.times, target.name, table.columns
    )


def _background(table: CovariateTable, background: object) -> CovariateTable:
    """The background with the columns of the table, in their order."""
    usual = CovariateTable.of(background)
    if table.whole is not None or usual.whole is not None:
        if len(usual.keys) != len(table.keys) or (table.whole is None) != (usual.whole is None):
            raise ParameterError(
                f"background must have the {len(table.keys)} columns of X, but has {len(usual.keys)}, or only one of "
                "the two has names.",
                argument="background",
            )
        return usual
    places = [usual.place(key) for key in table.keys]
    return CovariateTable(table.keys, tuple(usual.columns[place] for place in places))


def _evenly_spaced(predicted: FloatArray, count: int) -> NDArray[np.intp]:
    """Places of `count` rows from the middles of as many parts of equal size, in the order of the mean prediction."""
    order = np.argsort(predicted.mean(axis=1), kind="stable")
    return np.sort(order[((np.arange(count) + 0.5) * len(order) / count).astype(np.intp)])


def _finite(target: ExplainedTarget, table: CovariateTable) -> FloatArray:
    """Predictions of the rows, all of which must be finite: shares of an infinite number are not defined."""
    predicted = np.concatenate(
        [target.predict(table.rows(block).given) for block in _blocks(len(table))],
    )
    wrong = int(np.count_nonzero(~np.isfinite(predicted).all(axis=1)))
    if wrong:
        raise ParameterError(
            f"the {target.name} is infinite for {wrong} of {len(table)} rows and cannot be explained. Explain the "
            "restricted mean, or the survival at times.",
            argument="summary",
        )
    return predicted


def _blocks(count: int) -> list[NDArray[np.intp]]:
    return [np.arange(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK)]


@final
@dataclass(frozen=True, eq=False)
class _Row:
    """One row, and the background that replaces some of its columns."""

    target: ExplainedTarget
    table: CovariateTable
    row: int
    usual: CovariateTable

    def predict(self, present: BoolArray, places: NDArray[np.intp]) -> FloatArray:
        """Predictions (k, m) with the columns that are `present` (k, d), the others from background rows (k,)."""
        blocks = [self._mixed(present[block], places[block]) for block in _blocks(len(places))]
        return np.concatenate([self.target.predict(block.given) for block in blocks])

    def _mixed(self, present: BoolArray, places: NDArray[np.intp]) -> CovariateTable:
        own, other = self.table.columns, self.usual.columns
        columns = []
        for place in range(len(own)):
            values = other[place][places]
            if values.dtype != own[place].dtype:
                values = values.astype(np.result_type(values.dtype, own[place].dtype))
            values[present[:, place]] = own[place][self.row]
            columns.append(values)
        whole = None if self.table.whole is None else np.stack(columns, axis=1)
        return CovariateTable(self.table.keys, tuple(columns), whole)


@final
class _AllSubsets:
    """Values by their definition."""

    def __init__(self, count: int) -> None:
        numbers = np.arange(2**count)
        self._present = ((numbers[:, None] >> np.arange(count)) & 1).astype(bool)
        size = self._present.sum(axis=1)
        weight = np.array([factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)])
        # Each subset counts for the columns in it with the weight of the subset without them, else with a minus.
        joining = weight[np.maximum(size - 1, 0)][:, None]
        leaving = weight[np.minimum(size, count - 1)][:, None]
        self._weights = np.where(self._present, joining, -leaving).T

    def values(self, row: _Row, of_background: FloatArray, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and errors (d, m)."""
        rows, inner = len(of_background), self._present[1:-1]
        places = np.tile(np.arange(rows), len(inner))
        mixed = row.predict(np.repeat(inner, rows, axis=0), places) if len(inner) else np.empty((0, predicted.size))
        means = mixed.reshape(len(inner), rows, predicted.size).mean(axis=1)
        worth = np.concatenate([of_background.mean(axis=0)[None], means, predicted[None]])
        values = self._weights @ worth
        return values, np.zeros_like(values)


@final
@dataclass(frozen=True, eq=False)
class _RandomOrders:
    """Values over random orders of the columns: `rank` (rows, repeats, 2, d) is the place of each column in them."""

    rank: NDArray[np.intp]

    @classmethod
    def drawn(cls, random_state: Any, rows: int, count: int, repeats: int) -> _RandomOrders:
        """Orders for each background row, each with its reverse: what one gets too much of, the other gets too little.

        Each background row has the same number of orders, so that values add up exactly.
        """
        forward = np.argsort(np.random.default_rng(random_state).random((rows, repeats, count)), axis=2)
        return cls(np.stack([forward, count - 1 - forward], axis=2))

    def values(self, row: _Row, of_background: FloatArray, predicted: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Values and errors (d, m)."""
        rows, repeats, _, count = self.rank.shape
        rank = self.rank.reshape(-1, count)
        start = np.repeat(np.arange(rows), 2 * repeats)
        # After each step but the last there is a mixed row; before the first the background row, after the last X's.
        present = rank[:, None, :] <= np.arange(count - 1)[None, :, None]
        mixed = row.predict(present.reshape(-1, count), np.repeat(start, count - 1))
        steps = np.empty((len(rank), count + 1, predicted.size))
        steps[:, 0], steps[:, -1] = of_background[start], predicted
        steps[:, 1:-1] = mixed.reshape(len(rank), count - 1, -1)
        gains = np.take_along_axis(np.diff(steps, axis=1), rank[:, :, None], axis=1)
        pairs = gains.reshape(rows, repeats, 2, count, -1).mean(axis=2)
        # Between the repeats of one background row only the orders differ.
        spread = pairs.var(axis=1, ddof=1).mean(axis=0)
        return pairs.mean(axis=(0, 1)), np.sqrt(spread / (rows * repeats))
