"""Where to start: the outputs that fit best when no covariate is looked at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from aldsurv.losses.objective import ClosedFormObjective, Objective
from aldsurv.losses.steady_search import least_point

__all__ = ["best_constant"]

# In units of the scale of each output: a factor of 150 where the output is a logarithm.
_FARTHEST = 5.0


def best_constant(
    objective: Objective,
    rows: NDArray[np.int64],
    weight: torch.Tensor | None,
    fixed: NDArray[np.float64] | None = None,
) -> NDArray[np.float32]:
    """Outputs (k,), the same for all the given rows, of least loss; the guess if the search goes astray.

    Those that are not NaN in `fixed` (k,) are as given there.
    """
    objective = objective.for_start()
    if weight is not None:
        # A row that does not count has no say in where to begin.
        counting = rows[weight.cpu().numpy()[rows] > 0]
        rows = counting if len(counting) else rows
    chosen = torch.from_numpy(np.ascontiguousarray(objective.start_rows(rows))).to(objective.fields[0].device)
    fields = tuple(
        (values.double() if values.is_floating_point() else values)[None]
        for values in (field.index_select(0, chosen) for field in objective.fields)
    )
    own_weight = None if weight is None else weight.index_select(0, chosen).double()[None]
    known = [field.cpu().numpy() for field in fields]
    counts = None if own_weight is None else own_weight.cpu().numpy()

    start, scale = objective.guess(rows)
    if fixed is not None:
        start, scale = np.where(np.isnan(fixed), start, fixed), np.where(np.isnan(fixed), scale, 0.0)

    def loss_and_slope(moved: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        at = start + scale * moved
        if isinstance(objective, ClosedFormObjective):
            every = np.broadcast_to(at, (1, len(chosen), len(at)))
            losses, slopes = objective.losses_and_slopes(every, known, counts)
            return float(losses[0]) - base, slopes.sum(axis=(0, 1), dtype=np.float64) * scale
        raw = torch.tensor(at, device=chosen.device).requires_grad_()
        loss = objective.losses(raw.expand(1, len(chosen), -1), fields, own_weight).sum()
        (slope,) = torch.autograd.grad(loss, raw)
        return float(loss.detach()) - base, slope.cpu().numpy() * scale

    # Relative to the start, so that the search ends where it does whatever the unit of time adds to the loss.
    base = 0.0
    base = loss_and_slope(np.zeros(objective.outputs))[0]
    moved = least_point(loss_and_slope, objective.outputs, farthest=_FARTHEST, steps=objective.start_steps)
    best = start + scale * moved
    # Rounded: the last digits of a start are noise, and would grow while training.
    return np.round(np.where(np.isfinite(best), best, start), 3).astype(np.float32)
