"""One member of a boosted ensemble: rounds of trees on the likelihood's slopes, until held-out rows stop it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import MissingDependencyError
from aldsurv.losses.likelihood.boosting_slopes import RowLosses
from aldsurv.losses.likelihood.tied_mixture_steps import MapBlocks, Planes
from aldsurv.losses.rounding import on_grid, rounded
from aldsurv.losses.steady_search import least_point
from aldsurv.models.trees.boosting_settings import BoostingSettings
from aldsurv.models.trees.threads import Turns, run_blocks
from aldsurv.models.trees.tree_arrays import Trees

__all__ = ["Grown", "Part", "Watched", "best_constant", "grow", "require_xgboost"]

FloatArray = NDArray[np.float64]

# In units of the scale of each output: a factor of 150 where the output is a logarithm.
_FARTHEST = 5.0
# Steps of the search for constants: again, from where they were, and at the start.
_REFRESH_STEPS, _START_STEPS = 10, 200
# As many rows are added in favour of the first constants, so that a few held-out rows cannot move them far.
_PULL = 5.0
# Slopes are rounded to multiples of this, where the average row's slope is 1: their sums over any rows are
# exact, so that of two splits that divide the rows alike the same one is taken in whatever order rows are added.
_STEP = 2.0**-20
# A loss that falls by less has not fallen.
_LEAST_GAIN = 1e-9
# Binary digits of the outputs' units, and decimals of their start: more are noise.
_UNIT_DIGITS, _DECIMALS = 20, 6
# Each so many rows one is looked at to find which share of the information they give.
_SOME = 4
# Information on a logit, as a multiple of that if no other logit moved: of steps that all logits take at once.
_OF_LOGITS = 2.0
# Losses that a search without slopes compares are multiples of this.
_POLISH_STEP = 2.0**-40


@final
@dataclass(frozen=True)
class Part:
    """Rows of a member: columns, the likelihood, weights with mean 1."""

    x: NDArray[np.float32]
    rows: RowLosses
    weight: FloatArray


@final
@dataclass(frozen=True)
class Watched:
    """Rows that a member is judged by.

    Attributes
    ----------
    part
        The rows.
    step, some
        Constants are fitted to each step-th of them, which are `some`.
    held_out
        Whether they were held out; otherwise all rounds are done.
    """

    part: Part
    some: Part
    step: int
    held_out: bool


@final
@dataclass(frozen=True)
class Grown:
    """A member after its last round.

    Attributes
    ----------
    trees
        Those of the rounds kept.
    start
        Outputs (outputs,) to which the trees add, and constants.
    units
        What one unit of a tree is in each boosted output (boosted,).
    gain
        By how much splits on each column (columns,) improved the approximation of the loss.
    loss
        Mean loss of the held-out rows (without any, of the training rows) after the rounds kept.
    rounds
        How many rounds were kept.
    held_out
        Whether rows were held out.
    """

    trees: Trees
    start: FloatArray
    units: FloatArray
    gain: FloatArray
    loss: float
    rounds: int
    held_out: bool


def require_xgboost() -> Any:
    """The library, or an error that says how to get it."""
    try:
        import xgboost
    except ImportError:
        raise MissingDependencyError(
            "BoostedALD needs xgboost to be fitted", advice="Install it with: pip install 'aldsurv[trees]'."
        ) from None
    return xgboost


def grow(
    train: Sequence[Part],
    watched: Watched,
    start: FloatArray,
    settings: BoostingSettings,
    *,
    seed: int,
    threads: int,
    turns: Turns,
) -> Grown:
    """Boost until the loss of the held-out rows has not fallen for `patience` rounds.

    Parameters
    ----------
    train, watched
        Rows to learn from, and by which constants are fitted and rounds are counted. Of several parts to learn from
        each round takes the next, and after the last the first again.
    start
        Outputs (outputs,) with which every row begins.
    settings
        Those of the rounds.
    seed
        Decides which rows and columns a tree sees.
    threads
        How many compute.
    turns
        Of members that share them: a round waits for its turn.
    """
    with run_blocks(threads) as each:
        state = _State(train[0], start, settings, each)
        if not train[0].x.shape[1]:
            # No column varies: the best constant is all there is to learn.
            loss = state.loss(watched.part, None)
            return Grown(Trees.none(), start, state.units, np.zeros(0), loss, 0, watched.held_out)
        return _grow(train, watched, state, settings, seed, threads, turns)


def _grow(
    train: Sequence[Part],
    watched: Watched,
    state: _State,
    settings: BoostingSettings,
    seed: int,
    threads: int,
    turns: Turns,
) -> Grown:
    xgboost = require_xgboost()
    first = xgboost.QuantileDMatrix(train[0].x, nthread=threads)
    # All parts have the cuts of the first, which are not looked for again.
    others = [xgboost.QuantileDMatrix(part.x, ref=first, nthread=threads) for part in train[1:]]
    matrices, judge = [first, *others], xgboost.DMatrix(watched.part.x, nthread=threads)
    booster = xgboost.Booster(_options(settings, train[0].rows.boosted, seed, threads), [*matrices, judge])
    losses, best, kept = {0: state.loss(watched.part, None)}, 0, state.start
    for done in range(1, settings.max_rounds + 1):
        part = (done - 1) % len(train)
        with turns:
            margins = booster.predict(matrices[part], output_margin=True)
            slopes, information = state.slopes_and_information(train[part], margins)
            booster.boost(matrices[part], iteration=done - 1, grad=slopes, hess=information)
            if done % settings.look and done < settings.max_rounds:
                continue
            margins = booster.predict(judge, output_margin=True)
            if done % settings.refresh == 0:
                state.refresh(watched.some, margins[:: watched.step])
            losses[done] = state.loss(watched.part, margins)
        if losses[done] < losses[best] - _LEAST_GAIN or not watched.held_out:
            best, kept = done, state.start
        elif settings.patience and done - best >= settings.patience:
            break
    trees, gain = _read(booster, best, train[0].x.shape[1])
    return Grown(trees, kept, state.units, gain, losses[best], best, watched.held_out)


class _State:
    """The outputs' start and units, which turn sums of trees into what the likelihood takes.

    Units are those of the rows given.
    """

    def __init__(self, part: Part, start: FloatArray, settings: BoostingSettings, each: MapBlocks) -> None:
        self._boosted, self._each = part.rows.boosted, each
        self._precision, self._renewed = np.float32 if settings.single else np.float64, settings.renewed
        self.start = self._first = start
        slopes, information = part.rows.slopes_and_information(self._planes(None, np.float64, len(part.weight)))
        self._factor = _share_of_information(part.rows, part.weight, slopes, information)
        mean_information = (part.weight / part.weight.sum() * information).sum(1)
        self.units = rounded(1 / np.sqrt(mean_information * self._factor), _UNIT_DIGITS)

    def raw(self, margins: Any) -> FloatArray:
        sums = np.asarray(margins, np.float64).reshape(-1, self._boosted)
        raw = np.tile(self.start, (len(sums), 1))
        raw[:, : self._boosted] += self.units * sums
        return raw

    def _planes(self, margins: Any, precision: Any, rows: int) -> Planes:
        """Outputs of so many rows, whose trees add up to the margins; None: to 0."""
        boosted = self._boosted
        start = self.start[:boosted, None].astype(precision)
        if margins is None:
            planes = np.repeat(start, rows, axis=1)
        else:
            units = self.units[:, None].astype(precision)
            planes = np.multiply(np.asarray(margins).reshape(rows, boosted).T, units, dtype=precision)
            planes += start
        return Planes(planes, self.start[boosted:], self._each)

    def slopes_and_information(self, part: Part, margins: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        planes = self._planes(margins, self._precision, len(part.weight))
        slopes, information = part.rows.slopes_and_information(planes)
        if self._renewed:
            some = np.s_[:, ::_SOME]
            share = _share_of_information(part.rows, part.weight[::_SOME], slopes[some], information[some])
            self._factor = np.where(part.rows.logits, _OF_LOGITS, 1.0) * share
        factors, even = (self.units, self._factor * self.units**2), bool((part.weight == 1).all())
        for rows, factor in zip((slopes, information), factors, strict=True):
            rows *= factor[:, None].astype(rows.dtype)
            if not even:
                rows *= part.weight.astype(rows.dtype)
            # Multiples of the step, a power of 2.
            rows *= 1 / _STEP
            np.rint(rows, out=rows)
            rows *= _STEP
        # Each row has some information, or a leaf of such rows would divide by 0.
        np.maximum(information, _STEP, out=information)
        return slopes.astype(np.float32, copy=False).T, information.astype(np.float32, copy=False).T

    def loss(self, part: Part, margins: Any) -> float:
        losses = part.rows.losses_of_planes(self._planes(margins, np.float64, len(part.weight)))
        return float((losses * part.weight).sum() / part.weight.sum())

    def refresh(self, part: Part, margins: Any) -> None:
        """Fit start and constants again, to rows that the trees were not grown on.

        Residuals of the training rows are too small, and so would the scales be.
        """
        moved = self.raw(margins) - self.start
        pull = _PULL / part.weight.sum()
        start = _searched(part, self.start, np.ones_like(self.start), moved, self._first, pull, _REFRESH_STEPS)
        self.start = np.round(start, _DECIMALS)


def _share_of_information(
    rows: RowLosses, weight: FloatArray, slopes: FloatArray, information: FloatArray
) -> FloatArray:
    """Which share of the full information rows give: of outputs that fit, the mean square of the slopes."""
    if not rows.full_information:
        return np.ones(rows.boosted)
    share = weight / weight.sum()
    given = (share * slopes**2).sum(1) / (share * information).sum(1)
    return rounded(np.clip(given, 0.05, 1.0), _UNIT_DIGITS)


def best_constant(part: Part) -> FloatArray:
    """Outputs, the same for all rows, of least loss."""
    guess, reach = part.rows.guess(part.weight)
    start = _searched(part, guess, reach, np.zeros_like(guess), guess, 0.0, _START_STEPS)
    if part.rows.outputs == part.rows.boosted:
        start = _polished(part, start, reach)
    return np.round(start, _DECIMALS)


def _polished(part: Part, start: FloatArray, reach: FloatArray) -> FloatArray:
    """Closer to the least loss by a search without slopes, which are discontinuous where θ passes an event."""
    from scipy.optimize import minimize

    weight, before = part.weight / part.weight.sum(), part.rows.losses(start[None])

    def loss(step: FloatArray) -> float:
        value = float(weight @ (part.rows.losses((start + reach * step)[None]) - before))
        return float(on_grid(value, _POLISH_STEP)) if np.isfinite(value) else 1e30

    corners = np.concatenate([np.zeros((1, len(start))), 0.3 * np.eye(len(start))])
    options = {"initial_simplex": corners, "maxiter": _START_STEPS, "xatol": 1e-7, "fatol": 1e-12}
    return np.asarray(start + reach * minimize(loss, corners[0], method="Nelder-Mead", options=options).x)


def _searched(
    part: Part, start: FloatArray, reach: FloatArray, moved: FloatArray, first: FloatArray, pull: float, steps: int
) -> FloatArray:
    """The point of least loss, the outputs being ``point + moved``, with a penalty on the distance to `first`."""
    weight, moved = part.weight / part.weight.sum(), np.atleast_2d(moved)
    # Relative to the start: the constant that the unit of time adds to the loss must not change where the search ends.
    before = part.rows.losses(start + moved)

    def loss_and_slopes(step: FloatArray) -> tuple[float, FloatArray]:
        point = start + reach * step
        losses, slopes = part.rows.losses_and_slopes(point + moved)
        loss = float(weight @ (losses - before) + pull / 2 * ((point - first) ** 2).sum())
        slope = reach * (weight @ slopes + pull * (point - first))
        return (loss, slope) if np.isfinite(loss) else (1e30, np.zeros_like(step))

    return start + reach * least_point(loss_and_slopes, len(start), farthest=_FARTHEST, steps=steps)


def _options(settings: BoostingSettings, outputs: int, seed: int, threads: int) -> dict[str, Any]:
    return {
        "objective": "reg:squarederror",
        "num_class": outputs,
        "base_score": 0.0,
        "tree_method": "hist",
        "learning_rate": settings.learning_rate,
        "max_depth": settings.max_depth,
        "min_child_weight": settings.min_child_weight,
        "reg_lambda": settings.l2,
        "subsample": settings.subsample,
        "colsample_bytree": settings.colsample,
        "nthread": threads,
        "seed": seed % 2**31,
    }


def _read(booster: Any, rounds: int, columns: int) -> tuple[Trees, FloatArray]:
    """The trees of the first rounds, and the gain of each column."""
    gain = np.zeros(columns)
    if not rounds:
        return Trees.none(), gain
    model = json.loads(bytes(booster[:rounds].save_raw("json")))["learner"]["gradient_booster"]["model"]
    parts = model["trees"]

    def nodes(name: str, kind: type) -> NDArray[Any]:
        return np.concatenate([np.asarray(tree[name], kind) for tree in parts])

    left, right = nodes("left_children", np.int32), nodes("right_children", np.int32)
    feature, number = nodes("split_indices", np.int32), nodes("split_conditions", np.float32)
    leaf = left == -1
    np.add.at(gain, feature[~leaf], nodes("loss_changes", np.float64)[~leaf])
    trees = Trees(
        feature=np.where(leaf, np.int32(-1), feature),
        threshold=np.where(leaf, np.float32(0), number),
        left=left,
        right=right,
        default_left=nodes("default_left", np.bool_),
        value=np.where(leaf, number, np.float32(0)),
        first=np.cumsum([0, *(len(tree["left_children"]) for tree in parts)]).astype(np.int64),
        output=np.asarray(model["tree_info"], np.int32),
    )
    trees.check(columns, int(trees.output.max()) + 1)
    return trees, gain
