"""Maximum likelihood for mixtures of asymmetric Laplace distributions, with closed-form slopes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, final

import numpy as np
import torch
from torch import Tensor

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.censored_likelihood import EXACT, INTERVAL, LEFT, RIGHT, log_likelihood_of_bounds, row_kinds
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import Support
from aldsurv.losses.first_guess import mixture_guess as _guess
from aldsurv.losses.likelihood.family_likelihood import _NARROW, _float, require_readable
from aldsurv.losses.likelihood.mixture_slopes import constant_value_and_slopes as _constant_value_and_slopes
from aldsurv.losses.likelihood.mixture_slopes import value_and_slopes as _value_and_slopes
from aldsurv.losses.objective import (
    ClosedFormLikelihood,
    Device,
    FloatArray,
    Guess,
    IntArray,
    LikelihoodObjective,
    Objective,
    row_shares,
)

__all__ = ["mixture_objective"]

_START_ROWS = 512
# What is left to gain after so many steps is less than the first epoch brings.
_START_STEPS = 30


def mixture_objective(
    outputs: MixtureOutputs,
    support: Support,
    data: SurvivalData,
    least_scale: Any,
    *,
    unit: Any = 1.0,
    device: Device = "cpu",
) -> LikelihoodObjective:
    """Mean negative censored log-likelihood of `data` under a mixture.

    Parameters
    ----------
    outputs
        What the network's outputs are.
    support
        Where the times lie.
    data
        The rows; weights come with each batch.
    least_scale
        What the scale of every component is above, a number or one per row.
    unit
        How many of the user's units of time one unit of `data` has, a number or one per row.
    device
        Where the tensors live.
    """
    kinds, since = row_kinds(data)
    require_readable(support.family, data)
    least = np.broadcast_to(np.asarray(least_scale, np.float64), (len(data),))
    # Cut off at 0, what lies before a time is a difference: no mirror shows it.
    mirrored = (kinds == LEFT) & (not support.cut_at_zero)
    if bool(((kinds == EXACT) | (kinds == RIGHT) | mirrored).all()):
        return _MixtureLikelihood(outputs, support, data, kinds, least, np.log(unit), device)
    return _AnyCensoring(outputs, support, data, kinds, since, least, np.log(unit), device)


@final
class _MixtureLikelihood(ClosedFormLikelihood):
    """Exact, right- and, except with support positive, left-censored rows, by the closed form."""

    start_steps: ClassVar[int] = _START_STEPS

    def __init__(
        self,
        layout: MixtureOutputs,
        support: Support,
        data: SurvivalData,
        kinds: Any,
        least: Any,
        log_unit: Any,
        device: Device,
    ) -> None:
        self.outputs = layout.outputs
        self._layout, self._positive = layout, support.cut_at_zero
        event, left = kinds == EXACT, kinds == LEFT
        time, entry, offset = np.where(left, data.upper, data.lower), data.entry, np.where(event, log_unit, 0.0)
        time, entry, offset = support.inside_rows(time, entry, event, offset)
        # As exact as the fields: the search for a start is the same whatever the user's unit of time rounds to.
        self._middle, self._least, self._event = np.asarray(time, np.float32).astype(np.float64), least, event
        columns = [_float(time, device), torch.from_numpy(np.array(event)).to(device)]
        columns += [_float(offset, device), _float(least, device)]
        self._delayed, self._mirrored = entry is not None, bool(left.any())
        columns += [_float(entry, device)] if self._delayed else []
        columns += [_float(np.where(left, -1.0, 1.0), device)] if self._mirrored else []
        self.fields = tuple(columns)

    def for_start(self) -> Objective:
        # Without what the unit of time adds: many components leave a search in the dark on which last digits decide.
        found = copy(self)
        time, event, offset, *others = self.fields
        found.fields = (time, event, torch.zeros_like(offset), *others)
        return found

    def guess(self, rows: IntArray) -> Guess:
        return _guess(self._layout, self._middle[rows], self._least[rows])

    def start_rows(self, rows: IntArray) -> IntArray:
        return _spread_rows(rows, self._middle, self._event)

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        time, event, offset, least, *others = fields
        rows: Tensor = _RowLogLikelihood.apply(  # type: ignore[no-untyped-call]
            raw, time, event, least, *self._entry_and_sign(others), self._layout, self._positive
        )
        return rows - offset

    def log_likelihoods_and_slopes(self, raw: FloatArray, fields: Sequence[Any]) -> tuple[FloatArray, FloatArray]:
        time, event, offset, least, *others = fields
        rows, slopes = _value_and_slopes(
            np, raw, time, event, least, *self._entry_and_sign(others), self._layout, self._positive, True
        )
        return rows - offset, slopes

    def constant_losses_and_slopes(
        self, outputs: FloatArray, fields: Sequence[Any], weight: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        time, event, offset, least, *others = fields
        if (least != least[:, :1]).any():
            return super().constant_losses_and_slopes(outputs, fields, weight)
        with np.errstate(all="ignore"):
            rows, summed_slopes = _constant_value_and_slopes(
                outputs, time, event, least[:, :1], *self._entry_and_sign(others), self._layout, self._positive
            )
            share = row_shares(rows, weight)
            return ((offset - rows) * share).sum(axis=1), -summed_slopes(share)

    def _entry_and_sign(self, others: Sequence[Any]) -> tuple[Any, Any]:
        return others[0] if self._delayed else None, others[-1] if self._mirrored else None


class _RowLogLikelihood(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, raw: Tensor, *known: Any) -> Tensor:
        wanted = ctx.needs_input_grad[0]
        if raw.device.type == "cpu":
            # A call of numpy costs a fraction of one of torch, and there are dozens on small arrays.
            arrays = [value.detach().numpy() if isinstance(value, Tensor) else value for value in (raw, *known)]
            with np.errstate(all="ignore"):
                value, slopes = _value_and_slopes(np, *arrays, wanted)
            found = torch.from_numpy(value), None if slopes is None else torch.from_numpy(slopes)
        else:
            found = _value_and_slopes(torch, raw, *known, wanted)
        if found[1] is not None:
            ctx.save_for_backward(found[1])
        return found[0]

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        (slopes,) = ctx.saved_tensors
        return slopes * outer[0].unsqueeze(-1), None, None, None, None, None, None, None


@final
class _AnyCensoring(LikelihoodObjective):
    """Rows of every kind, by automatic differentiation of the distribution's own formulas."""

    start_steps: ClassVar[int] = _START_STEPS

    def __init__(
        self,
        layout: MixtureOutputs,
        support: Support,
        data: SurvivalData,
        kinds: Any,
        since: Any,
        least: Any,
        log_unit: Any,
        device: Device,
    ) -> None:
        self.outputs = layout.outputs
        self._layout, self._support, self._least = layout, support, least
        upper = data.upper
        middle = np.where(np.isfinite(since + upper), (since + upper) / 2, np.where(np.isfinite(upper), upper, since))
        self._middle = support.inside_near(middle)
        self._kinds = kinds
        kinds, offset = kinds.copy(), np.where(kinds == EXACT, log_unit, 0.0)
        # An interval too narrow for float32 holds its density times its width.
        narrow = (kinds == INTERVAL) & (upper - since < _NARROW * upper)
        kinds[narrow] = EXACT
        offset[narrow] = -np.log((upper - since)[narrow])
        columns = [_float(column, device) for column in (since, upper, offset, least)]
        entry = [_float(data.entry, device)] if data.entry is not None else []
        self.fields = (*columns, torch.from_numpy(np.array(kinds)).to(device), *entry)

    def guess(self, rows: IntArray) -> Guess:
        return _guess(self._layout, self._middle[rows], self._least[rows])

    def start_rows(self, rows: IntArray) -> IntArray:
        return _spread_rows(rows, self._middle, self._kinds)

    def log_likelihoods(self, raw: Tensor, fields: tuple[Tensor, ...]) -> Tensor:
        lower, upper, offset, least, kinds, *entry = (field.reshape(-1) for field in fields)
        columns = self._layout.columns(raw.reshape(-1, self.outputs), least[:, None])
        mixture = MixedAsymmetricLaplace.from_checked(**columns, support=self._support.name)
        rows = log_likelihood_of_bounds(mixture, lower, upper, kinds, entry[0] if entry else None)
        values: Tensor = (rows - offset).view(raw.shape[:2])
        return values


def _spread_rows(rows: IntArray, middle: FloatArray, kinds: IntArray) -> IntArray:
    """A mixture has many outputs to place, but a few hundred rows that are spread like all of them place it as well."""
    if len(rows) <= _START_ROWS:
        return rows
    ordered = rows[np.lexsort((middle[rows], kinds[rows]))]
    spread = np.linspace(0, len(rows) - 1, _START_ROWS).round().astype(np.intp)
    return np.asarray(ordered[spread])
