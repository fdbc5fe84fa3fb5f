"""Where to start: the outputs that fit best when no covariate is looked at."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from aldsurv.losses.objective import Objective

__all__ = ["best_constant"]

# Enough rows to place a start; each evaluation stays far below a millisecond.
_MOST_ROWS = 4096
_LARGEST = 12.0


def best_constant(objective: Objective, rows: NDArray[np.int64], weight: torch.Tensor | None) -> NDArray[np.float32]:
    """Outputs (k,), the same for all the given rows, of least loss; zeros if the search goes astray."""
    from scipy.optimize import minimize

    step = -(-len(rows) // _MOST_ROWS)
    chosen = torch.from_numpy(np.ascontiguousarray(rows[::step])).to(objective.fields[0].device)
    fields = tuple(
        (values.double() if values.is_floating_point() else values)[None]
        for values in (field.index_select(0, chosen) for field in objective.fields)
    )
    own_weight = None if weight is None else weight.index_select(0, chosen).double()[None]

    def loss_and_slope(constant: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        raw = torch.tensor(constant, device=chosen.device).requires_grad_()
        loss = objective.losses(raw.expand(1, len(chosen), -1), fields, own_weight).sum()
        (slope,) = torch.autograd.grad(loss, raw)
        return float(loss.detach()), slope.cpu().numpy()

    bounds = [(-_LARGEST, _LARGEST)] * objective.outputs
    found = minimize(loss_and_slope, np.zeros(objective.outputs), jac=True, method="L-BFGS-B", bounds=bounds)
    return np.where(np.isfinite(found.x), found.x, 0.0).astype(np.float32)
