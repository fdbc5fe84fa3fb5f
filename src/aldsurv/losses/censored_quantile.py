"""Quantile regression under right censoring: the pinball loss with Portnoy's weights, on a grid of levels.

With the pinball loss ``ρ(y, θ, q) = (y - θ)·(q - 1[θ > y])`` and a quantile θ for each level q, an event at y costs
``ρ(y, θ, q)``. A row censored at c, of which F(c) = q_c had happened by then, is split in two::

    w·ρ(c, θ, q) + (1 - w)·ρ(y*, θ, q),    w = max(0, (q - q_c)/(1 - q_c))

of which the second part lies at y*, beyond all times. For q > q_c the weight w is the probability that an event which
comes after c comes before θ. For q ≤ q_c Portnoy (2003) puts the whole row at c, here it is at y*: while θ ≤ c, as it
should be then, the two differ by q·(y* - c) and pull θ alike; otherwise only y* pulls θ the right way.

The sum is ``q·(c - θ) + w·(θ - c)₊ + (1 - w)·(θ - y*)₊`` and, beside that, ``q·(1 - w)·(y* - c)``, which pulls at no θ
but changes with w. Losses that are compared, as between epochs, leave it out (`relative`): with y* far away it would
drown all else.

q_c is not known: it is read off the quantiles as they are now predicted, and no gradient goes through it. A loss of one
row needs nothing of another row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.errors import ParameterError

__all__ = ["RULES", "censored_levels", "censored_quantile_loss", "losses_and_slopes", "portnoy_weights"]

# How the level of a censoring time is read off predicted quantiles.
RULES = ("nearest", "interpolated")
# A row censored where all has happened would weigh 0/0.
_MOST = 1 - 1e-6
# Two quantiles nearer than this are one.
_LEAST_WIDTH = 1e-30


def censored_quantile_loss(
    quantiles: Tensor,
    time: Tensor,
    event: Tensor,
    y_star: Tensor,
    levels: Sequence[float] | Tensor,
    *,
    rule: str = "nearest",
    log: bool = False,
    at: Tensor | None = None,
    relative: bool = False,
) -> Tensor:
    """Loss of each row, the mean over levels, in the shape of `time`.

    Parameters
    ----------
    quantiles
        Predicted quantiles ``(..., rows, levels)``; they may cross.
    time, event
        Time ``(..., rows)``, and whether the event came then (otherwise later).
    y_star
        The pseudo value ``(..., rows)`` beyond all times.
    levels
        Increasing probabilities between 0 and 1.
    rule
        How q_c is read off the quantiles: see `censored_levels`.
    log
        Whether times and quantiles are on a logarithmic scale; it matters to the rule ``"interpolated"`` alone.
    at
        q_c of each row ``(..., rows)`` if it is known already; 1 for rows that are censored beyond all that is known.
    relative
        Leave out ``q·(1 - w)·(y* - c)``, which no quantile changes.
    """
    for name, given in (("time", time), ("event", event), ("y_star", y_star), ("at", time if at is None else at)):
        # Shapes that would broadcast, such as (rows, 1) against (rows,), would mix the rows.
        shape = tuple(quantiles.shape[:-1])
        if tuple(given.shape) != shape:
            raise ParameterError(
                f"{name} must have one value per row, shape {shape}, but has {tuple(given.shape)}.",
                argument=name,
            )
    grid = torch.as_tensor(levels, dtype=quantiles.dtype, device=quantiles.device)
    if grid.shape != quantiles.shape[-1:]:
        raise ParameterError(f"levels must be {quantiles.shape[-1]}, one a quantile, but are {tuple(grid.shape)}.")
    held = quantiles.detach()
    found = censored_levels(held, time, grid, rule=rule, log=log) if at is None else at
    weight = portnoy_weights(grid, found, event)
    y, far = time.unsqueeze(-1), y_star.unsqueeze(-1)
    below = grid * (y - quantiles)
    parts = below + weight * (quantiles - y).clamp_min(0) + (1 - weight) * (quantiles - far).clamp_min(0)
    rows: Tensor = (parts if relative else parts + grid * (1 - weight) * (far - y)).mean(-1)
    return rows


def censored_levels(quantiles: Any, time: Any, levels: Any, *, rule: str = "nearest", log: bool = False) -> Any:
    """Which part of the events has come by `time`, in its shape, according to predicted quantiles; numpy or torch.

    Parameters
    ----------
    quantiles, time, levels, log
        As in `censored_quantile_loss`.
    rule
        ``"nearest"``: the level of the quantile nearest to the time. ``"interpolated"``: on a straight line between
        the quantiles on both sides; below the first, the probability is spread evenly down to time 0, or with `log`
        falls exponentially, a power of time. Beyond the last quantile both have its level: more is not needed.
    """
    xp: Any = np if isinstance(quantiles, np.ndarray) else torch
    column = time[..., None]
    if rule == "nearest":
        return levels[xp.argmin(xp.abs(quantiles - column), axis=-1)]
    ordered, width = quantiles, quantiles[..., 1:] - quantiles[..., :-1]
    # To look whether they cross would wait for another device.
    if (xp is torch and quantiles.device.type != "cpu") or bool((width < 0).any()):
        ordered = np.sort(quantiles, axis=-1) if xp is np else torch.sort(quantiles, dim=-1).values
        width = ordered[..., 1:] - ordered[..., :-1]
    first = ordered[..., 0]
    # A quantile at or below 0 has nothing below it that counts.
    share = xp.exp(time - first) if log else xp.where(first > 0, time / xp.where(first > 0, first, 1.0), 1.0)
    inside = xp.clip((column - ordered[..., :-1]) / xp.clip(width, _LEAST_WIDTH, None), 0.0, 1.0)
    return levels[0] * xp.clip(share, 0.0, 1.0) + (inside * (levels[1:] - levels[:-1])).sum(-1)


def portnoy_weights(levels: Any, at: Any, event: Any) -> Any:
    """Weight ``(..., rows, levels)`` of a row at its own time; the rest is at y*. An event has all of it there."""
    xp: Any = np if isinstance(at, np.ndarray) else torch
    before = xp.clip(at, None, _MOST)[..., None]
    weight = xp.clip((levels - before) / (1 - before), 0.0, None)
    return xp.where(event[..., None], 1.0, weight)


def losses_and_slopes(
    quantiles: NDArray[Any],
    time: NDArray[Any],
    event: NDArray[np.bool_],
    y_star: NDArray[Any],
    levels: NDArray[Any],
    *,
    rule: str,
    log: bool,
    at: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The relative losses of `censored_quantile_loss` and their slopes by the quantiles, on numpy."""
    found = censored_levels(quantiles, time, levels, rule=rule, log=log) if at is None else at
    weight = portnoy_weights(levels, found, event)
    over, far = quantiles - time[..., None], quantiles - y_star[..., None]
    losses = weight * np.maximum(over, 0) + (1 - weight) * np.maximum(far, 0) - levels * over
    slopes = weight * (over > 0) + (1 - weight) * (far > 0) - levels
    return losses.mean(-1), slopes / quantiles.dtype.type(len(levels))
