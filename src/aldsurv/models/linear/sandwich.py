"""Robust (sandwich) covariance of coefficients: right where rows of a cluster are alike, or weights are no counts."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.group_column import group_numbers
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, FitWarning

__all__ = ["clusters_of", "report_one_group", "sandwich"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def sandwich(covariance: FloatArray, scores: FloatArray, clusters: IntArray) -> FloatArray:
    """``V·(Σ s·s')·V``, s the sum of the scores of a cluster (Lin & Wei 1989): as R has it, without a correction.

    Parameters
    ----------
    covariance
        V (k, k), the inverse of the information.
    scores
        What each row adds to the gradient (n, k).
    clusters
        Number of each row's cluster (n,).
    """
    effects = scores @ covariance
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order], prepend=-1))
    sums = np.add.reduceat(effects[order], starts)
    return np.asarray(sums.T @ sums)


def clusters_of(data: SurvivalData, robust: bool | str) -> IntArray | None:
    """Number of each row's cluster (n,) if robust errors are to be computed, else None.

    Parameters
    ----------
    data
        Rows that are alike belong to one group; without groups each row is a cluster.
    robust
        True, False, or ``"auto"``: with groups or with weights that are no whole numbers, as in R's ``coxph``.
    """
    weights = data.weights
    fractional = bool((weights != np.floor(weights)).any())
    if robust is False or (robust == "auto" and data.group is None and not fractional):
        return None
    clusters = np.arange(len(data)) if data.group is None else group_numbers(data.group)
    if np.unique(clusters[weights > 0]).size > 1:
        return np.asarray(clusters, np.intp)
    if data.group is None:
        return None
    report_one_group(robust)
    return None


def report_one_group(robust: bool | str) -> None:
    """Warn, or with ``robust=True`` raise `DataError`, because all rows of positive weight are of one group."""
    problem = "robust standard errors need two or more groups, but all rows of positive weight are of one"
    if robust == "auto":
        warnings.warn(f"{problem}: standard errors are those of the model.", FitWarning, stacklevel=6)
        return
    raise DataError(problem, argument="groups", advice="Give the groups that rows belong to, or robust=False.")
