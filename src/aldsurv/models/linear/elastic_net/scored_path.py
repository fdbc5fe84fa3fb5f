"""A path of falling penalties, scored on rows that were held out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.linear.elastic_net.losses import RowLoss
from aldsurv.models.linear.elastic_net.path import follow_path
from aldsurv.models.linear.elastic_net.ridge import Components, follow_ridge_path
from aldsurv.models.linear.elastic_net.solver import PenalisedFit

__all__ = ["PathProblem", "RegularisationPath", "score_path"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# A path ends if held-out rows have been predicted worse for so many alphas, by more than a standard error.
_PATIENCE = 10
# It ends, too, if a smaller alpha adds less than this share to the gain in the training rows.
_LEAST_SHARE, _LEAST_ALPHAS = 1e-5, 5
# In place of minus infinity, where a held-out row is impossible.
_WORST = -1e30


class PathProblem(ABC):
    """The log-likelihood of any of some rows, and what rows that were held out say for a fit.

    Attributes
    ----------
    n
        How many rows there are.
    """

    n: int

    @abstractmethod
    def loss(self, rows: IntArray) -> RowLoss:
        """The log-likelihood of some rows, by their numbers."""

    @abstractmethod
    def held_out(self, fit: PenalisedFit, u: FloatArray, part: IntArray) -> float:
        """Log-likelihood of the rows of a part, not among those of the fit, which gives u to all rows (n,)."""

    @abstractmethod
    def held_out_weight(self, part: IntArray) -> float:
        """By what the log-likelihood of a part is divided."""

    @abstractmethod
    def effects(self, fit: PenalisedFit) -> FloatArray:
        """What one standard deviation of each column (d,) does: to the log hazard, or to log time."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class RegularisationPath:
    """Fits to all rows along a falling penalty, and how fits to parts of the rows predict the others.

    Attributes
    ----------
    l1_ratio
        Share of the penalty on absolute values.
    alphas
        The penalties (m,), falling.
    gains
        By how much the log-likelihood of the training rows exceeds that of a model without columns (m,).
    scores, standard_errors
        The same of held-out rows, per event (`ElasticNetCox`) or per row (`ElasticNetAFT`), with the standard error
        between folds (m,); empty if no rows were held out.
    starts, columns, values
        Effects of one standard deviation of a column: at alpha k those of ``columns[starts[k]:starts[k + 1]]``.
    """

    l1_ratio: float
    alphas: FloatArray
    gains: FloatArray
    scores: FloatArray
    standard_errors: FloatArray
    starts: IntArray
    columns: IntArray
    values: FloatArray

    def __repr__(self) -> str:
        return f"RegularisationPath({self.alphas.size} alphas, l1_ratio={self.l1_ratio:g})"

    @property
    def nonzero(self) -> IntArray:
        """How many columns have a coefficient (m,)."""
        return np.diff(self.starts)

    def effects(self, k: int, size: int) -> FloatArray:
        """Effects of all `size` columns at alpha k."""
        effects, part = np.zeros(size), slice(self.starts[k], self.starts[k + 1])
        effects[self.columns[part]] = self.values[part]
        return effects

    def best(self, choose: str) -> int:
        """Number of the alpha with the highest score, or of the largest within one standard error of it."""
        top = int(self.scores.argmax())
        # At the first alpha no column has a coefficient.
        if not self.scores[top] > 0:
            return 0
        if choose == "best":
            return top
        return int(np.argmax(self.scores >= self.scores[top] - self.standard_errors[top]))


def score_path(
    problem: PathProblem, columns: FloatArray, parts: Sequence[IntArray], alphas: FloatArray, l1_ratio: float
) -> tuple[RegularisationPath, list[FloatArray]]:
    """The path of all rows, and after each alpha its free parameters.

    Parameters
    ----------
    problem
        The log-likelihood.
    columns
        Standardised columns (d, n), column by column.
    parts
        Rows to hold out in turn; none: the path is not scored.
    alphas
        Falling; the path may end before the last of them.
    l1_ratio
        Share of the penalty on absolute values; 0: a ridge.
    """
    components = Components.of(columns) if l1_ratio == 0 else None
    if components is not None:
        columns = components.values
    every = np.arange(problem.n)
    fits = [
        PenalisedFit.without_columns(problem.loss(rows), rows, len(columns))
        for rows in (every, *(np.setdiff1d(every, part) for part in parts))
    ]
    null = fits[0].slopes.value
    weights = np.array([problem.held_out_weight(part) for part in parts])
    null_scores = _held_out(problem, columns, fits[1:], parts)
    gains: list[float] = []
    scores: list[float] = []
    errors: list[float] = []
    sizes, numbers, values, free = [0], [], [], []
    steps = alphas.tolist()
    followed: Iterator[float] = follow_path(columns, fits, steps, l1_ratio)
    if components is not None:
        # No alpha of a ridge leaves all coefficients at 0: the first of several stands for a model without columns.
        without = steps[:1] if len(steps) > 1 else []
        followed = chain(without, follow_ridge_path(columns, fits, steps[len(without) :]))
    for _ in followed:
        effects = problem.effects(fits[0])
        if components is not None:
            effects = components.loadings @ effects
        numbers.append(np.flatnonzero(effects))
        values.append(effects[numbers[-1]])
        sizes.append(numbers[-1].size)
        gains.append(fits[0].slopes.value - null)
        free.append(fits[0].free)
        if parts:
            score, error = _mean_gain(_held_out(problem, columns, fits[1:], parts) - null_scores, weights)
            scores.append(score)
            errors.append(error)
            top = int(np.argmax(scores))
            if len(scores) - 1 - top >= _PATIENCE and score + error < scores[top]:
                break
            if len(gains) > _LEAST_ALPHAS and gains[-1] - gains[-2] < _LEAST_SHARE * gains[-1]:
                break
    path = RegularisationPath(
        l1_ratio=l1_ratio,
        alphas=alphas[: len(gains)].copy(),
        gains=np.array(gains),
        scores=np.array(scores),
        standard_errors=np.array(errors),
        starts=np.cumsum(sizes).astype(np.int64),
        columns=np.concatenate([*numbers, np.zeros(0, np.int64)]).astype(np.int64),
        values=np.concatenate([*values, np.zeros(0)]),
    )
    return path, free


def _held_out(
    problem: PathProblem, columns: FloatArray, fits: Sequence[PenalisedFit], parts: Sequence[IntArray]
) -> FloatArray:
    """Log-likelihood of each part by the fit to the other rows."""
    scores = []
    for fit, part in zip(fits, parts, strict=True):
        some = np.flatnonzero(fit.beta)
        scores.append(problem.held_out(fit, fit.beta[some] @ columns[some], part))
    return np.array(scores)


def _mean_gain(gains: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The mean gain per weight, and its standard error between parts."""
    if not np.isfinite(gains).all():
        return _WORST, 0.0
    share = weights / weights.sum()
    mean = float(gains.sum() / weights.sum())
    each = gains / np.maximum(weights, 1e-12)
    error = math.sqrt(float(share @ (each - mean) ** 2) / (len(gains) - 1))
    return max(mean, _WORST), error
