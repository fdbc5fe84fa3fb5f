"""Censored quantile regression as the training loop takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.numerics.ordered_quantiles import middle_level, ordered_quantiles
from aldsurv.errors import CensoringError, DataError
from aldsurv.losses.censored_quantile import censored_quantile_loss, losses_and_slopes
from aldsurv.losses.objective import ClosedFormObjective, Device, FloatArray, Guess, IntArray, weighted_mean
from aldsurv.nonparametric import kaplan_meier

__all__ = ["QuantileObjective"]

_LEAST_WEIGHT = np.float32(1e-30)
# Share of the range of the quantiles.
_LEAST_GAP = 1e-2


@final
class QuantileObjective(ClosedFormObjective):
    """Mean over rows and levels of the pinball loss with Portnoy's weights, without what no quantile changes.

    Parameters
    ----------
    data
        Events and right-censored rows; weights come with each batch.
    levels
        Probabilities of the quantiles.
    y_star
        The pseudo value of each row (n,), beyond all times.
    rule
        How the level of a censoring time is read off: see `censored_levels`.
    log_spread
        Of each row (n,): outputs are quantiles of the logarithm of time, divided by this. None: of time itself.
    ordered
        Whether outputs become quantiles by `ordered_quantiles`, or are the quantiles as they are.
    at
        The level of each row's censoring time (n,) if it is known already.
    device
        Where the tensors live.
    """

    def __init__(
        self,
        data: SurvivalData,
        levels: Sequence[float],
        y_star: NDArray[np.float64],
        *,
        rule: str,
        log_spread: NDArray[np.float64] | None,
        ordered: bool,
        at: NDArray[np.float64] | None = None,
        device: Device = "cpu",
    ) -> None:
        if not bool((data.exact | data.right_censored).all()) or data.entry is not None:
            raise CensoringError(
                "quantile regression is defined for events and right-censored rows observed from the start, but some "
                "rows are left- or interval-censored or entered late. Take a model with a likelihood for them."
            )
        self.outputs = len(levels)
        self._data, self._rule, self._ordered = data, rule, ordered
        self._log, self._log_spread = log_spread is not None, log_spread
        self._levels, self._exact_levels = np.array(levels, np.float32), np.array(levels, np.float64)
        self._y_star = np.asarray(y_star, np.float64)
        columns = [self._working(data.lower, log_spread), data.exact, self._working(self._y_star, log_spread)]
        if at is not None:
            columns.append(at)
        self.fields = tuple(_tensor(column, device) for column in columns)

    def _working(self, time: Any, log_spread: Any) -> Any:
        """Times on the scale of the outputs."""
        if log_spread is None:
            return np.array(time)
        if bool(np.any(time <= 0)):
            raise DataError("a row at time 0 has no logarithm. Give it the first later time: no quantile will differ.")
        return np.log(time) / log_spread

    def guess(self, rows: IntArray) -> Guess:
        """The Kaplan-Meier quantiles of the rows (of one estimator), which no search can better; others up to y*."""
        curve = kaplan_meier(self._data[rows])
        reached = np.searchsorted(-curve.survival, self._exact_levels - 1, side="left")
        beyond = reached == len(curve.times)
        spread = None if self._log_spread is None else self._log_spread[rows[0]]
        quantiles = self._working(curve.times[np.minimum(reached, len(curve.times) - 1)], spread)
        last, end = quantiles[-1], self._working(self._y_star[rows].max(), spread)
        quantiles[beyond] = last + (end - last) * np.linspace(0, 1, np.count_nonzero(beyond) + 1)[1:]
        if self._ordered:
            # Levels that share a time still need a distance to learn from.
            gaps = np.maximum(np.diff(quantiles), _LEAST_GAP * max(float(np.ptp(quantiles)), _LEAST_GAP))
            middle = quantiles[middle_level(len(quantiles))]
            quantiles = np.concatenate([[middle], np.log(np.expm1(gaps))])
        return quantiles, np.zeros(len(quantiles))

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        """Loss of each member (members,), for automatic differentiation."""
        quantiles = ordered_quantiles(raw) if self._ordered else raw
        time, event, y_star, *at = fields
        levels = torch.from_numpy(self._levels).to(raw)
        known = at[0] if at else None
        rows = censored_quantile_loss(
            quantiles, time, event, y_star, levels, rule=self._rule, log=self._log, at=known, relative=True
        )
        return weighted_mean(rows, weight)

    def losses_and_slopes(
        self, raw: FloatArray, fields: Sequence[NDArray[Any]], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """The same losses and their slopes by `raw`, on numpy."""
        quantiles = np.asarray(ordered_quantiles(raw)) if self._ordered else raw
        time, event, y_star, *at = fields
        known = at[0] if at else None
        rows, slopes = losses_and_slopes(
            quantiles, time, event, y_star, self._levels, rule=self._rule, log=self._log, at=known
        )
        if self._ordered:
            slopes = _by_outputs(raw, slopes)
        if weight is None:
            slopes /= np.float32(rows.shape[1])
            return rows.mean(axis=1), slopes
        share = weight / np.maximum(weight.sum(axis=1, keepdims=True), _LEAST_WEIGHT)
        slopes *= share[..., None]
        return (rows * share).sum(axis=1), slopes


def _by_outputs(raw: FloatArray, slopes: FloatArray) -> FloatArray:
    """Slopes by the outputs of `ordered_quantiles` from those by the quantiles."""
    from_here = np.cumsum(slopes[..., ::-1], axis=-1)[..., ::-1]
    whole = from_here[..., :1]
    # A distance below the middle moves those below it down, one above the middle those above it up.
    below = np.arange(raw.shape[-1]) <= middle_level(raw.shape[-1])
    moved = np.where(below, from_here - whole, from_here)
    moved /= 1 + np.exp(-raw)
    moved[..., :1] = whole
    return moved


def _tensor(column: NDArray[Any], device: Device) -> Tensor:
    kind = np.bool_ if column.dtype == np.bool_ else np.float32
    return torch.from_numpy(np.array(column, kind)).to(device)
