"""From what a user hands to ``fit`` to what the training loop takes: numbers, scaled times, rows of each member."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError, ParameterError
from aldsurv.survival_data import SurvivalData

__all__ = [
    "Rows",
    "base_seed",
    "data_fingerprint",
    "member_seeds",
    "split_for_members",
    "time_unit",
    "with_log_times",
    "with_zero_as_early",
]

_MOST_SEED = 2**63
# Fewer rows have no validation part worth the name.
_LEAST_FOR_VALIDATION = 10


@final
@dataclass(frozen=True)
class Rows:
    """Row numbers each member learns from, and those that tell it when to stop."""

    train: list[NDArray[np.int64]]
    validation: list[NDArray[np.int64]] | None


def base_seed(random_state: Any) -> int:
    """The number that stands for `random_state`: an integer itself, or one drawn from a generator.

    Parameters
    ----------
    random_state
        An integer, a numpy Generator or RandomState, or None for fresh randomness.
    """
    if random_state is None:
        return int(np.random.default_rng().integers(_MOST_SEED))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_MOST_SEED))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise ParameterError(f"random_state must be an integer from 0, a numpy Generator or None, but is {random_state!r}.")


def member_seeds(random_state: Any, members: int) -> list[int]:
    """One seed a member; that of member k does not depend on how many there are.

    Parameters
    ----------
    random_state
        As for `base_seed`.
    members
        How many.
    """
    base = base_seed(random_state)
    states = [np.random.SeedSequence([base, k]).generate_state(1, np.uint64) for k in range(members)]
    return [int(state[0] >> np.uint64(1)) for state in states]


def split_for_members(data: SurvivalData, share: float, members: int, generator: np.random.Generator) -> Rows:
    """Training and validation rows of each member.

    The rows are put into a random order in which events are spread evenly; member k holds out the k-th stretch of
    it. With five members and a fifth of the rows, each row is held out once.
    """
    # A row without weight has no say, here or there.
    counting = np.flatnonzero(data.weights > 0).astype(np.int64)
    n = len(counting)
    held = round(share * n)
    if share == 0 or n < _LEAST_FOR_VALIDATION or held == 0:
        return Rows([counting] * members, None)
    if held >= n:
        raise ParameterError(f"validation={share!r} leaves no row of {n} to learn from. Choose a smaller share.")
    place = np.empty(n)
    exact = data.exact[counting]
    for stratum in (exact, ~exact):
        rows = generator.permutation(np.flatnonzero(stratum))
        place[rows] = (np.arange(len(rows)) + 0.5) / max(len(rows), 1)
    order = np.argsort(place, kind="stable")
    train, validation = [], []
    for k in range(members):
        out = np.zeros(n, np.bool_)
        out[order[(np.arange(held) + k * held) % n]] = True
        train.append(counting[~out])
        validation.append(counting[out])
    return Rows(train, validation)


def time_unit(data: SurvivalData, rule: Any) -> float:
    """How much of the user's time is one unit for the network.

    Parameters
    ----------
    data
        The training rows.
    rule
        ``"median"`` or ``"std"`` of the times, ``"none"`` for 1, or a number.
    """
    if isinstance(rule, (int, float, np.number)) and not isinstance(rule, (bool, np.bool_)):
        if not 0 < rule < np.inf:
            raise ParameterError(f"time_scale must be positive and finite, but is {rule!r}.")
        return float(rule)
    if rule == "none":
        return 1.0
    if rule not in ("median", "std"):
        raise ParameterError(f"time_scale must be 'median', 'std', 'none' or a number, but is {rule!r}.")
    times = np.where(np.isfinite(data.lower) & (data.lower > 0), data.lower, data.upper)
    times = times[np.isfinite(times) & (times > 0)]
    if not times.size:
        return 1.0
    spread = float(np.std(times)) if rule == "std" else float(np.median(times))
    return spread if np.isfinite(spread) and spread > 1e-9 * times.max() else float(times.max())


def with_zero_as_early(data: SurvivalData) -> SurvivalData:
    """The same data, but an event at 0 is one at or before the smallest time above 0.

    At 0 one family has a density, another none: of the chance of an early event all of them can tell.
    """
    at_zero = data.exact & (data.lower <= 0)
    known = np.concatenate([data.lower, data.upper])
    positive = known[np.isfinite(known) & (known > 0)]
    if not at_zero.any() or not positive.size:
        return data
    lower, upper = np.where(at_zero, -np.inf, data.lower), np.where(at_zero, positive.min(), data.upper)
    return SurvivalData.interval(lower, upper, entry=data.entry, weight=data.weight)


def with_log_times(data: SurvivalData) -> SurvivalData:
    """The same data for a model of log time, under which nothing happens at or before time 0.

    An event at 0 came before the clock could tell: at or before the smallest time above 0 that was seen. An interval
    from 0 on, and an entry at 0, say no more than one from the start.
    """
    data = with_zero_as_early(data)
    if (data.exact & (data.lower <= 0)).any():
        raise DataError("all times are 0: there is nothing to learn. Check the time column.")
    from_zero = data.interval_censored & (data.lower <= 0)
    entered = np.zeros(len(data), np.bool_) if data.entry is None else data.entry == 0
    if not (from_zero | entered).any():
        return data
    entry = None if data.entry is None else np.where(entered, -np.inf, data.entry)
    lower = np.where(from_zero, -np.inf, data.lower)
    return SurvivalData.interval(lower, data.upper, entry=entry, weight=data.weight)


def data_fingerprint(x: NDArray[Any], data: SurvivalData) -> str:
    """SHA-256 of the numbers a model was trained on."""
    digest = hashlib.sha256(repr((x.shape, str(x.dtype))).encode())
    digest.update(np.ascontiguousarray(x).data)
    for column in (data.lower, data.upper, data.entry, data.weight):
        digest.update(b"none" if column is None else np.ascontiguousarray(column).data)
    if data.cause is not None:
        digest.update(repr(data.causes).encode())
        digest.update(np.ascontiguousarray(data.cause).data)
    return digest.hexdigest()
