"""How much each column moves the prediction of a row away from the mean prediction: Shapley values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Choice, OrNone, WholeNumber, check
from aldsurv.errors import ParameterError
from aldsurv.inspection.background_rows import even_steps, typical_rows
from aldsurv.inspection.column_orders import AllSubsets, RandomOrders
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.inspection.explained_targets import ExplainedTarget, explained_target
from aldsurv.inspection.mixed_rows import BLOCK, MixedRows, row_blocks
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import quoted

__all__ = ["Attributions", "shapley_values"]

FloatArray = NDArray[np.float64]
Method: TypeAlias = Literal["auto", "exact", "sampled"]

# Up to so many columns all subsets are predicted, unless the user decides; and at most so many even then.
_FEW_COLUMNS, _MOST_COLUMNS = 7, 15
# Background rows among which those that are used are chosen.
_MOST_BACKGROUND = 2000


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
        Standard errors of the values (n, d, m) due to sampling, of background rows and of orders; 0 where all
        background rows and all subsets of the columns were used.
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
    background_rows
        Rows of the background that were used.
    every_subset
        Whether all subsets of the columns were predicted.
    """

    names: tuple[str, ...]
    values: FloatArray
    errors: FloatArray
    base: FloatArray
    predicted: FloatArray
    times: FloatArray | None
    target: str
    columns: tuple[NDArray[Any], ...]
    background_rows: int
    every_subset: bool

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
    sample: int = 20,
    method: Method = "auto",
    repeats: int | None = None,
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
        Rows to explain, columns with names or a 2-D array; or one row as a dict of values by name.
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
        Rows of the background that are used, 2 or more: if there are more, some from the lowest prediction to the
        highest whose predictions and columns have nearly the means of all.
    method
        ``"exact"``: all subsets of the columns, for 15 columns or fewer. ``"sampled"``: for each background row
        `repeats` random orders of the columns, and the same in reverse; the values still add up exactly.
        ``"auto"``: exact up to 7 columns.
    repeats
        Random orders per background row. None: one if the background has more rows than `sample`, whose differences
        then show the error of the orders, too; else two, the least that have an error.
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
    check("repeats", repeats, OrNone(WholeNumber(1)))
    check("sample", sample, WholeNumber(2))
    target = explained_target(model, times=times, summary=summary, cause=cause, since=since, horizon=horizon)
    table = CovariateTable.of(_as_rows(X))
    usual = table if background is None else _background(table, background)
    if not len(table) or not len(usual):
        raise ParameterError("there are no rows to explain.", argument="X" if not len(table) else "background")
    if len(usual) > max(_MOST_BACKGROUND, sample):
        usual = usual.rows(even_steps(len(usual), max(_MOST_BACKGROUND, int(sample))))
    of_background, predicted = _finite(target, usual), _finite(target, table)
    share = 1.0
    if sample < len(usual):
        share = int(sample) / len(usual)
        chosen = typical_rows(of_background, usual, int(sample))
        usual, of_background = usual.rows(chosen), of_background[chosen]
    count = len(table.keys)
    if method == "exact" and count > _MOST_COLUMNS:
        raise ParameterError(
            f"method='exact' takes at most {_MOST_COLUMNS} columns, but there are {count}. Give method='sampled'.",
            argument="method",
        )
    whole = method == "exact" or (method == "auto" and count <= _FEW_COLUMNS)
    plan: AllSubsets | RandomOrders
    if whole:
        plan = AllSubsets(len(usual), count)
    else:
        orders = _orders_per_row(repeats, every_row=share == 1)
        plan = RandomOrders(np.random.default_rng(random_state), len(usual), count, orders)
    mixed, parts = MixedRows(target.predict, table, usual), []
    # As many rows as fill a block are predicted together.
    together = max(1, BLOCK // max(1, len(plan.places)))
    for start in range(0, len(table), together):
        rows = range(start, min(start + together, len(table)))
        for row, each in zip(rows, mixed.predict(rows, plan.present, plan.places), strict=True):
            parts.append(plan.values(each, of_background, predicted[row], share))
            if advance is not None:
                advance()
    values, errors = (np.array(part) for part in zip(*parts, strict=True))
    return Attributions(
        table.names, values, errors, of_background.mean(axis=0), predicted, target.times, target.name, table.columns,
        len(usual), whole,
    )  # fmt: skip


def _as_rows(X: Any) -> Any:
    """A dict of single values as columns of one row; anything else as it is."""
    if isinstance(X, Mapping) and X and all(value is None or np.ndim(value) == 0 for value in X.values()):
        texts = {name: isinstance(value, str) or value is None for name, value in X.items()}
        return {name: np.array([value], object if texts[name] else None) for name, value in X.items()}
    return X


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
    missing = [key for key in table.keys if key not in usual.keys]
    if missing:
        raise ParameterError(
            f"background must have the columns of X, but has no column {quoted(missing[0])}.", argument="background"
        )
    places = [usual.place(key) for key in table.keys]
    return CovariateTable(table.keys, tuple(usual.columns[place] for place in places))


def _orders_per_row(repeats: int | None, *, every_row: bool) -> int:
    if repeats is None:
        return 2 if every_row else 1
    if every_row and repeats < 2:
        raise ParameterError(
            "repeats must be 2 or more where all background rows are used: one order has no standard error.",
            argument="repeats",
        )
    return int(repeats)


def _finite(target: ExplainedTarget, table: CovariateTable) -> FloatArray:
    """Predictions of the rows, all of which must be finite: shares of an infinite number are not defined."""
    predicted = np.concatenate(
        [target.predict(table.rows(block).given) for block in row_blocks(len(table))],
    )
    wrong = int(np.count_nonzero(~np.isfinite(predicted).all(axis=1)))
    if wrong:
        raise ParameterError(
            f"the {target.name} is infinite for {wrong} of {len(table)} rows and cannot be explained. Explain the "
            "restricted mean, or the survival at times.",
            argument="summary",
        )
    return predicted
