"""What may be added to the likelihood of ALD models: calibration, and the continuous ranked probability score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.support import Support
from aldsurv.errors import DataError
from aldsurv.losses.calibration_term import calibration_penalties
from aldsurv.losses.likelihood.family_likelihood import _float
from aldsurv.losses.objective import Device, Objective, weighted_mean

__all__ = ["one_component", "with_terms"]

Columns = Callable[[Tensor, Tensor], dict[str, Tensor]]
# Beyond e^80 nothing is known any more, and squares must stay finite.
_LARGEST_LOG = 80.0


def with_terms(
    likelihood: Objective,
    columns: Columns,
    support: Support,
    data: SurvivalData,
    *,
    calibration: float,
    crps: float,
    horizon: Any,
    least_scale: Any = 0.0,
    device: Device = "cpu",
) -> Objective:
    """``(1 - crps)·likelihood + crps·survival-CRPS + calibration·X-CAL``; the likelihood itself if both are 0.

    The survival-CRPS of a row is ``∫ F²`` up to where it was last seen event-free plus ``∫ S²`` from where its event
    had come, in the unit of `data`, up to the horizon: beyond it no row was observed, and with support log the integral
    for ever may be infinite. X-CAL (`aldsurv.losses.calibration_term`) is a property of all rows that are looked at
    together, of a batch while training: by chance alone it is about 90 divided by their number. The start is that
    of the likelihood alone.

    Parameters
    ----------
    likelihood
        The objective to which the terms are added.
    columns
        Parameters (rows, K) of the components by name, from outputs (rows, outputs) and least scales (rows, 1).
    support
        Where the times lie.
    data
        The rows, censored in any way.
    calibration, crps
        Weights of the terms: from 0, and from 0 to 1.
    horizon, least_scale
        Numbers, or one per row.
    device
        Where the tensors live.
    """
    if not calibration and not crps:
        return likelihood
    if crps and data.entry is not None and bool(np.isfinite(data.entry).any()):
        raise DataError("crps must be 0 for rows that entered late: their score is not defined. Leave the entry out.")
    return _WithTerms(likelihood, columns, support, data, (calibration, crps), horizon, least_scale, device)


def one_component(exp_theta: bool) -> Columns:
    """Parameters of a single component from θ (its logarithm if `exp_theta`), log σ and log κ."""

    def columns(raw: Tensor, least_scale: Tensor) -> dict[str, Tensor]:
        theta, log_sigma, log_kappa = (raw[:, k : k + 1] for k in range(3))
        bounded = [torch.exp(x.clamp(-_LARGEST_LOG, _LARGEST_LOG)) for x in (theta, log_sigma, log_kappa)]
        theta = bounded[0] if exp_theta else theta
        return {"theta": theta, "sigma": bounded[1], "kappa": bounded[2], "weights": torch.ones_like(theta)}

    return columns


@final
class _WithTerms(Objective):
    def __init__(
        self,
        likelihood: Objective,
        columns: Columns,
        support: Support,
        data: SurvivalData,
        weights: tuple[float, float],
        horizon: Any,
        least_scale: Any,
        device: Device,
    ) -> None:
        self.outputs = likelihood.outputs
        self._likelihood, self._columns, self._support = likelihood, columns, support
        self._calibration, self._crps = weights
        entry = np.full(len(data), -np.inf) if data.entry is None else data.entry
        known = (data.lower, data.upper, entry, horizon, least_scale)
        own = [_float(np.broadcast_to(column, (len(data),)), device) for column in known]
        self._given = len(likelihood.fields)
        self.fields = (*likelihood.fields, *own)

    def for_start(self) -> Objective:
        return self._likelihood.for_start()

    def losses(self, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
        given, own = fields[: self._given], fields[self._given :]
        # Differences of exponentials: float32 would have few digits left.
        lower, upper, entry, horizon, least = (field.reshape(-1, 1).double() for field in own)
        columns = self._columns(raw.reshape(-1, self.outputs).double(), least)
        predicted = MixedAsymmetricLaplace.from_checked(**columns, support=self._support.name)
        terms: list[Tensor] = []
        if self._crps < 1:
            terms.append((1 - self._crps) * self._likelihood.losses(raw, given, weight))
        if self._crps:
            scores = predicted.crps_until(lower, upper, horizon).view(raw.shape[:2])
            terms.append(self._crps * weighted_mean(scores, weight))
        if self._calibration:
            first, last = (_levels(predicted, time, entry).view(raw.shape[:2]) for time in (lower, upper))
            terms.append(self._calibration * calibration_penalties(first, last, weight))
        return sum(terms[1:], terms[0]).to(raw.dtype)


def _levels(predicted: MixedAsymmetricLaplace, times: Tensor, entry: Tensor) -> Tensor:
    """Cdf at times that may be infinite, given that the event came after the entry."""
    level = _cdf(predicted, times)
    if not bool(torch.isfinite(entry).any()):
        return level
    before = _cdf(predicted, entry)
    return ((level - before) / (1 - before).clamp_min(1e-12)).clamp(0.0, 1.0)


def _cdf(predicted: MixedAsymmetricLaplace, times: Tensor) -> Tensor:
    finite = torch.isfinite(times)
    level = predicted.cdf(torch.where(finite, times, torch.ones_like(times)))
    return torch.where(finite, level, (times > 0).to(level))
