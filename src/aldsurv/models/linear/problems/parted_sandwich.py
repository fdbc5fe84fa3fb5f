"""Robust covariances of coefficients from the parts of a table, whose groups may be in several parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.models.linear.sandwich import report_one_group

__all__ = ["GroupScores", "robust_covariance"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Sums of scores of all groups are in memory together: at most so many numbers, 800 MB.
_MOST_NUMBERS = 10**8


class GroupScores(NamedTuple):
    """Sums over the clusters of some rows.

    Attributes
    ----------
    products
        Products ``Σ s·s'`` (k, k) of the scores of rows that are clusters of their own.
    groups
        The other clusters (g,), ascending.
    sums
        The sum of the scores of each of them (g, k).
    """

    products: FloatArray
    groups: IntArray
    sums: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, group: IntArray | None) -> GroupScores:
        """Of the scores of rows (n, k) and their groups (n,), -1 for none."""
        alone = np.ones(len(scores), np.bool_) if group is None else group < 0
        singles = scores[alone]
        groups, place = np.unique(np.zeros(0, np.int64) if group is None else group[~alone], return_inverse=True)
        return cls(singles.T @ singles, groups, _sums_at(place, scores[~alone], groups.size))

    @classmethod
    def merged(cls, parts: Iterable[GroupScores]) -> GroupScores:
        """Of the rows of all parts."""
        total: GroupScores | None = None
        for part in parts:
            if total is None or not total.products.size:
                total = part
            elif part.products.size:
                groups, place = np.unique(np.concatenate([total.groups, part.groups]), return_inverse=True)
                sums = _sums_at(place, np.concatenate([total.sums, part.sums]), groups.size)
                total = cls(total.products + part.products, groups, sums)
            if total.sums.size > _MOST_NUMBERS:
                raise DataError(
                    f"robust standard errors of {total.sums.shape[1]} parameters by more than {total.groups.size} "
                    "groups are too large for memory",
                    argument="robust",
                    advice="Give robust=False.",
                )
        return cls(np.zeros((0, 0)), np.zeros(0, np.int64), np.zeros((0, 0))) if total is None else total


def robust_covariance(covariance: FloatArray, parts: Iterable[GroupScores], robust: bool | str) -> FloatArray | None:
    """``V·(Σ s·s')·V``, s the sum of the scores of a cluster, as `aldsurv.models.linear.sandwich` has it.

    If all rows are of one group an error is raised, or with ``robust="auto"`` a warning given and None returned.
    """
    total = GroupScores.merged(parts)
    if total.groups.size == 1 and not total.products.any():
        report_one_group(robust)
        return None
    found = covariance @ (total.products + total.sums.T @ total.sums) @ covariance
    return np.asarray((found + found.T) / 2)


def _sums_at(place: NDArray[np.intp], values: FloatArray, size: int) -> FloatArray:
    sums = np.zeros((size, values.shape[1]))
    order = np.argsort(place, kind="stable")
    if order.size:
        sums[:] = np.add.reduceat(values[order], np.flatnonzero(np.diff(place[order], prepend=-1)))
    return sums
