"""X-CAL: a penalty that training can follow on levels ``u = F(y|x)`` that are not uniform.

What D-calibration counts, made smooth: ten bins of equal width, an event belongs to the bin of its u, but near an edge
of it partly to the next one; a row of which only an interval of levels is known, (u, 1) if it was censored at u, is
spread over it evenly. The penalty is ``100·Σ (share of the bin - 0.1)²``, in the unit of CensDcal.
"""

from __future__ import annotations

import torch
from torch import Tensor

from aldsurv.losses.objective import weighted_mean

__all__ = ["calibration_penalties"]

_BINS = 10
# A level this far inside a bin belongs to it with weight 0.73; ten times as far, except for 1e-4, wholly.
_SOFTNESS = 0.02
# Between levels closer than this a smooth weight does not change, and its mean would only round.
_NO_WIDTH = 1e-6


def calibration_penalties(lower: Tensor, upper: Tensor, weight: Tensor | None) -> Tensor:
    """Penalty of each member (members,).

    Parameters
    ----------
    lower, upper
        Levels (members, rows) between which those of the events lie; equal for an observed event, upper 1 for a row
        that was right-censored.
    weight
        Weight of each row (members, rows), or None when all count the same.
    """
    # All of a bin's rows along the last axis: the sum of a member does not depend on the others.
    before = [weighted_mean(_share_before(k / _BINS, lower, upper), weight) for k in range(1, _BINS)]
    edges = torch.stack([torch.zeros_like(before[0]), *before, torch.ones_like(before[0])])
    penalty: Tensor = 100 * ((edges[1:] - edges[:-1] - 1 / _BINS) ** 2).sum(0)
    # A batch without weight has no penalty.
    return penalty if weight is None else penalty * (weight.sum(1) > 0)


def _share_before(edge: float, lower: Tensor, upper: Tensor) -> Tensor:
    """How much of each row lies before an edge between two bins."""
    width = upper - lower
    wide = width > _NO_WIDTH
    point = _step((edge - (lower + upper) / 2) / _SOFTNESS)
    area = _area((edge - lower) / _SOFTNESS) - _area((edge - upper) / _SOFTNESS)
    mean = _SOFTNESS * area / torch.where(wide, width, torch.ones_like(width))
    return torch.where(wide, mean, point)


def _step(x: Tensor) -> Tensor:
    # torch's own sigmoid rounds differently at the end of an array.
    return 1 / (1 + torch.exp(-x))


def _area(x: Tensor) -> Tensor:
    """Integral of the step up to x."""
    return x.clamp_min(0) + torch.log1p(torch.exp(-x.abs()))
