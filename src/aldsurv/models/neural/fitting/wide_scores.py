"""Tables with many columns for their rows: each member's network sees a few linear scores in place of the columns.

The scores are learned from the member's training rows alone: a ridge, which finds signals spread over many columns, and
an elastic net, which finds those of a few; with several causes both for each cause. A row that a score was fitted to is
predicted too well by it. So the network learns from the scores that fits without the row give it, in folds, as it will
later see rows that no fit has seen. Scores are linear: once the network is trained, they are put into its first layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.linear.elastic_net.losses import PartialLoss
from aldsurv.models.linear.elastic_net.path import follow_path, largest_alpha
from aldsurv.models.linear.elastic_net.ridge import Components, follow_ridge_path, ridge_alphas
from aldsurv.models.linear.elastic_net.solver import PenalisedFit
from aldsurv.models.neural.fitting.skill_check import right_censored_rows
from aldsurv.models.rows.member_rows import Rows, split_for_members
from aldsurv.networks import Architecture

__all__ = ["MemberScores", "is_wide", "learn_scores", "many_columns_for_rows", "with_scores_inside"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Follow = Callable[[FloatArray, Sequence[PenalisedFit], Sequence[float]], Iterator[float]]

# Columns from which on a table can be wide; fewer are learned from as they are.
_LEAST_COLUMNS = 250
# Up to so many rows fewer columns are many, if there is one for so many rows: by rows that drawn tables hold out.
_MOST_FEW_ROWS, _LEAST_FOR_FEW_ROWS, _ROWS_PER_COLUMN = 1000, 30, 5
_FOLDS = 5
# Penalties that are tried, and after how many worse ones no smaller one is.
_RIDGE_ALPHAS, _RIDGE_PATIENCE = 10, 2
_NET_ALPHAS, _NET_PATIENCE = 20, 6
# The elastic net's share of absolute values, and its last penalty as a share of the first.
_L1_RATIO, _NET_LAST = 0.9, 0.05


def many_columns_for_rows(rows: int, columns: int) -> bool:
    """Whether a table of few rows has too many columns to learn from them as they are."""
    return rows <= _MOST_FEW_ROWS and columns >= max(_LEAST_FOR_FEW_ROWS, rows / _ROWS_PER_COLUMN)


def is_wide(rows: int, columns: int, inputs: int) -> bool:
    """Whether a table has too many columns to learn from them as they are.

    Parameters
    ----------
    rows
        Rows to learn from.
    columns, inputs
        Columns of the table, and as how many numbers.
    """
    return many_columns_for_rows(rows, columns) or (columns > _LEAST_COLUMNS and inputs > rows)


@final
@dataclass(frozen=True)
class MemberScores:
    """Linear scores that a member learned from its training rows.

    Attributes
    ----------
    weights
        What each input (d,) adds to each score: (d, s).
    values
        Scores of all rows (n, s): of training rows by fits without them, of others by `weights`.
    """

    weights: FloatArray
    values: FloatArray


def learn_scores(
    x: NDArray[np.float32],
    data: SurvivalData,
    rows: IntArray,
    generator: np.random.Generator,
    groups: IntArray | None = None,
) -> MemberScores:
    """Scores of a member's training rows.

    Parameters
    ----------
    x, data
        Inputs and times of all rows.
    rows
        The member's training rows.
    generator
        Draws the folds.
    groups
        As for `split_for_members`: rows that belong together.
    """
    columns = np.array(x[rows].T, np.float64, order="C")
    spread = columns.std(axis=1)
    factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    columns *= factor[:, None]
    inside = right_censored_rows(data[rows])
    folds = split_for_members(inside, 1 / _FOLDS, _FOLDS, generator, None if groups is None else groups[rows])
    events = [inside] if inside.causes is None else [inside.of_cause(name) for name in inside.causes]
    scores = [score for outcome in events for score in _scores_of(columns, outcome, folds)]
    weights = np.stack([weight * factor for weight, _ in scores], axis=1)
    values = x.astype(np.float64) @ weights
    values[rows] = np.stack([held_out for _, held_out in scores], axis=1)
    return MemberScores(weights, values)


def _scores_of(columns: FloatArray, data: SurvivalData, folds: Rows) -> list[tuple[FloatArray, FloatArray]]:
    """Weights (d,) and held-out values (n,) of the two scores, which have a spread of 1, or are 0."""
    if folds.validation is None or not data.exact.any():
        return [(np.zeros(len(columns)), np.zeros(len(data)))] * 2
    components = Components.of(columns)
    alphas = ridge_alphas(components.values, _RIDGE_ALPHAS)
    beta, ridge = _best_fit(components.values, data, folds, alphas, follow_ridge_path, _RIDGE_PATIENCE)

    def follow_net(columns: FloatArray, fits: Sequence[PenalisedFit], alphas: Sequence[float]) -> Iterator[float]:
        return follow_path(columns, fits, alphas, _L1_RATIO)

    every = np.arange(len(data))
    null = PenalisedFit.without_columns(PartialLoss(data, "breslow", None), every, len(columns))
    alphas = largest_alpha(columns, null, _L1_RATIO) * np.geomspace(1.0, _NET_LAST, _NET_ALPHAS)
    net = _best_fit(columns, data, folds, alphas, follow_net, _NET_PATIENCE)
    return [_with_unit_spread(*score) for score in ((components.loadings @ beta, ridge), net)]


def _best_fit(
    columns: FloatArray, data: SurvivalData, folds: Rows, alphas: FloatArray, follow: Follow, patience: int
) -> tuple[FloatArray, FloatArray]:
    """Coefficients and held-out values at the penalty whose held-out values say most about the rows; 0 if none does.

    What they say is by how much the partial log-likelihood would grow with the best multiple of them, as one Newton
    step estimates it: the network gives scores their size, only their order and proportions are chosen here.
    """
    every = np.arange(len(data))
    fits = [
        PenalisedFit.without_columns(PartialLoss(data[rows], "breslow", None), rows, len(columns))
        for rows in (every, *folds.train)
    ]
    null = fits[0].slopes
    best, worse, chosen = 0.0, 0, (fits[0].beta.copy(), np.zeros(len(data)))
    for _ in follow(columns, fits, alphas.tolist() if alphas[0] > 0 else []):
        held_out = np.zeros(len(data))
        for fit, part in zip(fits[1:], folds.validation or (), strict=True):
            held_out[part] = fit.beta @ columns[:, part]
        slope, curvature = float(null.by_row @ held_out), float(null.information(held_out[:, None])[0, 0])
        gain = slope * abs(slope) / (2 * curvature) if curvature > 0 else 0.0
        if gain > best:
            best, worse, chosen = gain, 0, (fits[0].beta.copy(), held_out)
        elif (worse := worse + 1) > patience:
            break
    return chosen


def _with_unit_spread(weights: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    spread = float(values.std())
    if not (weights.any() and spread > 0):
        return np.zeros_like(weights), np.zeros_like(values)
    return weights / spread, values / spread


def with_scores_inside(
    network: Architecture, weights: dict[str, NDArray[np.float32]], scores: Sequence[MemberScores]
) -> tuple[Architecture, dict[str, NDArray[np.float32]]]:
    """The same networks as functions of the inputs that the members' scores are made of.

    Parameters
    ----------
    network, weights
        Networks of scores, with a leading axis of members.
    scores
        Of each member.
    """
    inputs, count = scores[0].weights.shape
    first = network.input_slot
    # Beyond the scores there may be a level.
    inside = [
        np.concatenate([score.weights @ weight[:count], weight[count:]])
        for score, weight in zip(scores, weights[first].astype(np.float64), strict=True)
    ]
    return replace(network, inputs=network.inputs - count + inputs), {
        **weights,
        first: np.stack(inside).astype(np.float32),
    }
