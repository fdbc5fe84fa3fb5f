"""DeepHit's loss and its slopes by the logits in closed form, on numpy.

Automatic differentiation would keep a dozen arrays of rows and outputs. Here the softmax, the incidence and the sums
over rows at risk are made once and serve the value and the slopes; the value alone is made in blocks of rows, for
validation rows may be many. Sums over rows go row by row in order, so that a member trains to the same bits alone and
among others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["deephit_losses", "deephit_losses_and_slopes"]

Array = NDArray[Any]
# Numbers of one array held at once while the value alone is wanted.
_BLOCK = 1_000_000


class _Rows(NamedTuple):
    """What both parts of the loss need: the first two (members, rows, outputs), all others (members, rows)."""

    chances: Array
    """Probability of each cause and bin."""
    grown: Array
    """exp(F/σ), centred, where the row is at risk after the bin, else 0."""
    own: Array
    """Output of the cause and bin of the row's event."""
    in_memory: Array
    """Where that output is in an array of all."""
    shrunk: Array
    """exp(-F/σ), centred, at the row's own event, else 0."""
    log_likelihood: Array
    left: Array
    """Probability of an event after the place of the row."""
    left_at_entry: Array | None


def deephit_losses(
    raw: Array,
    place: Array,
    cause: Array,
    weight: Array | None = None,
    entered: Array | None = None,
    *,
    causes: int,
    alpha: float,
    sigma: float,
) -> Array:
    """Loss of each member (members,); the parameters are those of `aldsurv.losses.deephit_loss.deephit_loss`."""
    members, n, outputs = raw.shape
    share = _shares(weight, members, n, raw.dtype)
    others = np.zeros((members, outputs), raw.dtype)
    found: list[tuple[Array, Array, Array]] = []
    step = max(1, _BLOCK // (members * outputs))
    for start in range(0, n, step):
        block = slice(start, start + step)
        since = None if entered is None else entered[:, block]
        rows = _rows(raw[:, block], place[:, block], cause[:, block], since, causes=causes, sigma=sigma)
        others += (rows.grown * share[:, block, None]).sum(axis=1)
        found.append((rows.log_likelihood, rows.shrunk, rows.own))
    log_likelihood, shrunk, own = (np.concatenate(column, axis=1) for column in zip(*found, strict=True))
    pairs = shrunk * np.take_along_axis(others, own, 1)
    return np.asarray((((1 - alpha) * pairs - alpha * log_likelihood) * share).sum(axis=1), raw.dtype)


def deephit_losses_and_slopes(
    raw: Array,
    place: Array,
    cause: Array,
    weight: Array | None = None,
    entered: Array | None = None,
    *,
    causes: int,
    alpha: float,
    sigma: float,
) -> tuple[Array, Array]:
    """Loss of each member (members,) and its slopes by `raw`."""
    members, n, outputs = raw.shape
    share = _shares(weight, members, n, raw.dtype)
    rows = _rows(raw, place, cause, entered, causes=causes, sigma=sigma)
    chances = rows.chances

    # The ranking is Σᵢ sᵢ·Σⱼ gⱼ, with g at every cause and bin and s at the event of i: each incidence is in it once as
    # that of a row at risk, once as that of a row with an event.
    by_incidence = rows.grown
    by_incidence *= share[..., None]
    others = by_incidence.sum(axis=1)
    shrunk = rows.shrunk * share
    pairs = shrunk * np.take_along_axis(others, rows.own, 1)
    where = rows.own + outputs * np.arange(members)[:, None]
    events = np.bincount(where.ravel(), shrunk.ravel(), members * outputs)
    by_incidence *= events.reshape(members, 1, outputs).astype(raw.dtype)
    by_incidence.reshape(-1)[rows.in_memory] -= pairs
    # An incidence is a running sum of chances.
    by_cause = torch.from_numpy(by_incidence).view(members, n, causes, -1)
    slopes = by_cause.flip(-1).cumsum(-1).flip(-1).numpy().reshape(members, n, outputs)
    slopes *= raw.dtype.type((1 - alpha) / sigma)

    # Through the softmax; -log p has the slope p - 1 at the event's own output and p elsewhere, -log S the slope
    # p·(1 - 1/S) at the outputs after the place and p elsewhere.
    scale = raw.dtype.type(alpha) * share
    inner = np.einsum("mro,mro->mr", slopes, chances)
    event = cause > 0
    slopes -= _after(place, causes, outputs, np.where(event, 0, scale / rows.left))
    if entered is None or rows.left_at_entry is None:
        inner -= scale
    else:
        slopes += _after(entered, causes, outputs, scale / rows.left_at_entry)
    slopes -= inner[..., None]
    slopes *= chances
    slopes.reshape(-1)[rows.in_memory] -= scale * event
    losses = (1 - alpha) * pairs.sum(axis=1) - alpha * (rows.log_likelihood * share).sum(axis=1)
    return losses.astype(raw.dtype), slopes


def _rows(raw: Array, place: Array, cause: Array, entered: Array | None, *, causes: int, sigma: float) -> _Rows:
    members, n, outputs = raw.shape
    bins, kind = outputs // causes, raw.dtype.type
    # Own outputs are looked up by their places in memory.
    raw = np.ascontiguousarray(raw)
    # The logit of what comes after the last bin is 0.
    top = np.maximum(raw.max(axis=2), 0)
    chances = raw - top[..., None]
    np.exp(chances, out=chances)
    after = np.exp(-top)
    whole = chances.sum(axis=2) + after
    chances /= whole[..., None]
    after /= whole

    event = cause > 0
    bin_ = np.where(event, np.floor(place), 0).astype(np.int64)
    own = np.where(event, (cause - 1) * bins + bin_, 0)
    in_memory = own + outputs * np.arange(members * n).reshape(members, n)
    at_own = raw.reshape(-1)[in_memory] - top - np.log(whole)
    left = _sum_after(chances, place, causes) + after
    log_likelihood = np.where(event, at_own, np.log(left))
    left_at_entry = None
    if entered is not None:
        left_at_entry = _sum_after(chances, entered, causes) + after
        log_likelihood -= np.log(left_at_entry)

    # Running sums of torch take a third of the time of numpy's.
    incidence = torch.from_numpy(chances).view(members, n, causes, bins).cumsum(-1).numpy()
    reached = incidence.reshape(-1)[in_memory]
    # Centred, so that neither factor of a pair overflows where the pair does not.
    shrunk = np.where(event, np.exp((kind(0.5) - reached) / kind(sigma)), 0).astype(raw.dtype)
    incidence -= kind(0.5)
    incidence *= kind(1 / sigma)
    grown = np.exp(incidence, out=incidence)
    ends = np.arange(1, bins + 1, dtype=raw.dtype)
    at_risk = place[..., None] >= ends
    if entered is not None:
        at_risk &= entered[..., None] < ends
    grown *= at_risk[:, :, None, :]
    return _Rows(chances, grown.reshape(raw.shape), own, in_memory, shrunk, log_likelihood, left, left_at_entry)


def _sum_after(chances: Array, passed: Array, causes: int) -> Array:
    """Probability of the bins after those passed, of all causes; a bin passed in part counts for its rest."""
    members, n, outputs = chances.shape
    rest = _rest(passed, outputs // causes, chances.dtype)
    found = np.einsum("mrkb,mrb->mr", chances.reshape(members, n, causes, -1), rest)
    return np.asarray(np.maximum(found, np.finfo(chances.dtype).tiny))


def _after(passed: Array, causes: int, outputs: int, value: Array) -> Array:
    """`value` of each row at the outputs after the bins passed, in part where a bin is."""
    rest = _rest(passed, outputs // causes, value.dtype) * value[..., None]
    return rest if causes == 1 else np.tile(rest, (1, 1, causes))


def _rest(passed: Array, bins: int, dtype: Any) -> Array:
    rest: Array = np.arange(1, bins + 1, dtype=dtype) - passed[..., None]
    np.clip(rest, 0, 1, out=rest)
    return rest


def _shares(weight: Array | None, members: int, n: int, dtype: Any) -> Array:
    """Weights of the rows with sum 1 for each member; 0 where no row has any."""
    if weight is None:
        return np.full((members, n), 1 / n, dtype)
    share: Array = weight / np.maximum(weight.sum(axis=1, keepdims=True), dtype.type(1e-30))
    return share
