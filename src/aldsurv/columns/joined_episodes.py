"""Episodes at whose boundary nothing changes are one episode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import covariate_arrays, take_rows
from aldsurv.columns.row_copies import value_numbers
from aldsurv.data.episode_columns import entries
from aldsurv.data.persons import episode_order, starts_of
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvError

__all__ = ["join_episodes"]


def join_episodes(X: object, data: SurvivalData) -> tuple[Any, SurvivalData]:
    """Covariates and episodes, those joined that follow each other with the same covariates and weight.

    Cutting an episode in two does not change what is known, nor its likelihood. Joined, it does not change what a model
    makes of the number of rows either: the scaling of columns, batches, held-out rows, the size of a step.

    Parameters
    ----------
    X
        Covariates, as `fit` takes them.
    data
        Episodes. Rows of another kind are given back as they are, and so is what cannot be read as covariates: the
        model that learns from it raises the error.
    """
    if data.person is None:
        return X, data
    order, start = episode_order(data), starts_of(data)
    rows = order.rows
    before, after = rows[:-1], rows[1:]
    same = np.ones(len(after), np.bool_)
    same[order.last[:-1]] = False
    same &= start[after] == data.lower[before]
    for column in (data.weight, data.group):
        if column is not None:
            same &= column[after] == column[before]
    try:
        same = _equal_covariates(X, len(data), before, after, same)
    except AldsurvError:
        return X, data
    if not same.any():
        return X, data
    # Of each run of episodes that are one: where it begins, and where it ends.
    begins = np.flatnonzero(np.append(True, ~same))
    first, last = rows[begins], rows[np.append(~same, True)]
    place = np.argsort(np.minimum.reduceat(rows, begins))
    first, last = first[place], last[place]
    ended = data[last].columns
    joined = SurvivalData.from_checked(*ended._replace(entry=entries(start[first])))
    return take_rows(X, first), joined


def _equal_covariates(
    X: object, n: int, before: NDArray[np.int64], after: NDArray[np.int64], same: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which pairs of rows have the same covariates, of those that may."""
    for column in covariate_arrays(X):
        if not same.any() or len(column) != n:
            return same & (len(column) == n)
        pairs = np.flatnonzero(same)
        numbers = value_numbers(np.concatenate([column[before[pairs]], column[after[pairs]]]))
        same[pairs] = numbers[: len(pairs)] == numbers[len(pairs) :]
    return same
