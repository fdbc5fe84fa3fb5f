"""Where to start: the outputs that fit best when no covariate is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from aldsurv.data.rows.row_selection import spread_rows
from aldsurv.losses.objective import ClosedFormObjective, Objective
from aldsurv.losses.steady_search import least_points

__all__ = ["best_constant", "best_constants"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# In units of the scale of each output: a factor of 150 where the output is a logarithm.
_FARTHEST = 5.0
# Rows of a member that are looked at: quantiles of more would be no other start.
_MOST_ROWS = 50_000
# Outputs of all rows that are looked at together.
_MOST_OUTPUTS = 2**20


class _Start(NamedTuple):
    """From where and by which rows a member looks for its outputs, and how far each of them may be off."""

    rows: IntArray
    guess: FloatArray
    reach: FloatArray


def best_constant(
    objective: Objective, rows: IntArray, weight: torch.Tensor | None, fixed: FloatArray | None = None
) -> NDArray[np.float32]:
    """Outputs (k,), the same for all the given rows, of least loss; the guess if the search goes astray.

    Those that are not NaN in `fixed` (k,) are as given there.
    """
    return best_constants(objective, [rows], weight, [fixed])[0]


def best_constants(
    objective: Objective,
    member_rows: Sequence[IntArray],
    weight: torch.Tensor | None,
    fixed: Sequence[FloatArray | None],
) -> list[NDArray[np.float32]]:
    """The same for the rows of each member; members with as many rows as others are looked at together."""
    objective = objective.for_start()
    starts = [_start(objective, rows, weight, given) for rows, given in zip(member_rows, fixed, strict=True)]
    found: dict[int, NDArray[np.float32]] = {}
    for members in _together([len(start.rows) for start in starts], objective.outputs):
        found |= zip(members, _searched(objective, [starts[k] for k in members], weight), strict=True)
    return [found[k] for k in range(len(starts))]


def _start(objective: Objective, rows: IntArray, weight: torch.Tensor | None, fixed: FloatArray | None) -> _Start:
    if weight is not None:
        # A row that does not count has no say in where to begin.
        counting = rows[weight.cpu().numpy()[rows] > 0]
        rows = counting if len(counting) else rows
    rows = spread_rows(rows, _MOST_ROWS)
    guess, reach = objective.guess(rows)
    if fixed is not None:
        guess, reach = np.where(np.isnan(fixed), guess, fixed), np.where(np.isnan(fixed), reach, 0.0)
    return _Start(objective.start_rows(rows), guess, reach)


def _together(lengths: Sequence[int], outputs: int) -> Iterator[list[int]]:
    """Members that have as many rows, no more of them at once than memory has a place for."""
    for length in sorted(set(lengths)):
        members = [k for k, own in enumerate(lengths) if own == length]
        most = max(1, _MOST_OUTPUTS // (length * outputs))
        yield from (members[k : k + most] for k in range(0, len(members), most))


def _searched(objective: Objective, starts: Sequence[_Start], weight: torch.Tensor | None) -> list[NDArray[np.float32]]:
    rows, guess, reach = (np.stack(column) for column in zip(*starts, strict=True))
    index = torch.from_numpy(rows).to(objective.fields[0].device)
    fields = [field[index] for field in objective.fields]
    fields = [field.double() if field.is_floating_point() else field for field in fields]
    weights = None if weight is None else weight[index].double()

    def losses_and_slopes(which: IntArray, moved: FloatArray) -> tuple[FloatArray, FloatArray]:
        at = guess[which] + reach[which] * moved
        everyone = len(which) == len(starts)
        own = fields if everyone else [field[which] for field in fields]
        counts = weights if everyone or weights is None else weights[which]
        losses, slopes = _losses_and_slopes(objective, at, own, counts)
        return losses - base[which], slopes * reach[which]

    # Relative to the start, so that the search ends where it does whatever the unit of time adds to the loss.
    base = np.zeros(len(starts))
    base = losses_and_slopes(np.arange(len(starts)), np.zeros_like(guess))[0]
    steps = objective.start_steps
    moved = least_points(losses_and_slopes, len(starts), objective.outputs, farthest=_FARTHEST, steps=steps)
    best = guess + reach * moved
    # Rounded: the last digits of a start are noise, and would grow while training.
    return list(np.round(np.where(np.isfinite(best), best, guess), 3).astype(np.float32))


def _losses_and_slopes(
    objective: Objective, outputs: FloatArray, fields: Sequence[torch.Tensor], weight: torch.Tensor | None
) -> tuple[FloatArray, FloatArray]:
    """Losses of members (m,) whose rows all have the same outputs (m, k), and their slopes (m, k)."""
    if isinstance(objective, ClosedFormObjective):
        known = [field.numpy(force=True) for field in fields]
        counts = None if weight is None else weight.numpy(force=True)
        found = objective.constant_losses_and_slopes(outputs, known, counts)
        return np.asarray(found[0], np.float64), np.asarray(found[1], np.float64)
    raw = torch.tensor(outputs, device=fields[0].device).requires_grad_()
    losses = objective.losses(raw[:, None].expand(-1, fields[0].shape[1], -1), tuple(fields), weight)
    (slopes,) = torch.autograd.grad(losses.sum(), raw)
    return losses.numpy(force=True), slopes.numpy(force=True)
