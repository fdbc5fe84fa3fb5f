"""From what a user hands to ``fit`` to what the training loop takes: numbers, scaled times, rows of each member."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.rows.row_splitting import keep_together
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError

__all__ = ["Rows", "base_seed", "member_seeds", "split_for_members"]

_MOST_SEED = 2**63
# Fewer rows have no validation part worth the name.
_LEAST_FOR_VALIDATION = 10


@final
@dataclass(frozen=True)
class Rows:
    """Row numbers each member learns from, and those that decide when it stops."""

    train: list[NDArray[np.int64]]
    validation: list[NDArray[np.int64]] | None

    @property
    def repeats(self) -> float:
        """How many members hold out the same row, on average over rows that any holds out."""
        held = np.concatenate(self.validation or [np.zeros(1, np.int64)])
        return len(held) / np.count_nonzero(np.bincount(held))


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
    """One seed per member; that of member k does not depend on how many there are.

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


def split_for_members(
    data: SurvivalData,
    share: float,
    members: int,
    generator: np.random.Generator,
    groups: NDArray[np.int64] | None = None,
) -> Rows:
    """Training and validation rows of each member.

    The rows are put into a random order in which events are spread evenly; member k holds out the k-th stretch of
    it. With five members and a fifth of the rows, each row is held out once.

    Parameters
    ----------
    data
        The rows.
    share
        How many of them each member holds out; 0 for none.
    members
        How many there are.
    generator
        Decides the order.
    groups
        What `aldsurv.columns.row_copies.find_groups` gives: rows that belong together are held out together. With fewer
        groups than members several members hold out the same ones.
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
    # Stretches of the order that each member holds out either whole or not at all.
    cuts = np.unique(np.arange(members + 1) * held % n)
    stretch = np.empty(n, np.int64)
    stretch[order] = np.searchsorted(cuts, np.arange(n), side="right")
    inside = None if groups is None else groups[counting]
    together = keep_together(stretch, inside, exact, order, by_lot=data.group is not None)
    own = [stretch[order[(np.arange(held) + k * held) % n]] for k in range(members)]
    masks = [np.isin(together, stretches) for stretches in own]
    if data.group is not None and groups is not None:
        masks = _usable(masks, np.isfinite(data.upper[counting]))
    elif not all(0 < np.count_nonzero(out) < n for out in masks):
        # Copies of a few rows only: there is no other way to part them.
        masks = [np.isin(stretch, stretches) for stretches in own]
    return Rows([counting[~out] for out in masks], [counting[out] for out in masks])


def _usable(masks: list[NDArray[np.bool_]], events: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
    """The rows that members hold out; those that leave nothing to learn from, or hold none, in place of another's."""
    usable = [out for out in masks if out.any() and (events & ~out).any()]
    if not usable:
        raise DataError(
            "no rows can be held out for validation: all rows, or all events, are of one group, and groups stay whole",
            argument="groups",
            advice="Give more groups, fit with validation=0, or leave groups out.",
        )
    return [out if out.any() and (events & ~out).any() else usable[k % len(usable)] for k, out in enumerate(masks)]
