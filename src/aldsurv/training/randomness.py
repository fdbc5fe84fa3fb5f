"""Random numbers of training, each a function of the member's seed, the epoch and the purpose.

Nothing is drawn from a stream that others use as well: a member trains the same alone and among others, and
an epoch after a resume is the epoch it would have been.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Purpose", "dropout_bits", "encoder_seeds", "generator_for", "shuffled"]


class Purpose(enum.IntEnum):
    """What random numbers are for; part of the seed, so the values never change."""

    WEIGHTS = 0
    ORDER = 1
    DROPOUT = 2
    ENCODER = 3
    VALIDATION = 4
    LEVEL = 5
    SCORES = 6
    BUCKETS = 7


def generator_for(seed: int, purpose: Purpose, epoch: int = 0) -> np.random.Generator:
    """A generator of its own for one member, purpose and epoch."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, int(purpose), epoch])))


def shuffled(rows: Sequence[NDArray[np.int64]], seeds: Sequence[int], epoch: int) -> NDArray[np.int64]:
    """Each member's rows in the order of this epoch (members, most rows); -1 where a member has no more."""
    most = max(len(own) for own in rows)
    order = np.full((len(rows), most), -1, np.int64)
    for k, (own, seed) in enumerate(zip(rows, seeds, strict=True)):
        order[k, : len(own)] = generator_for(seed, Purpose.ORDER, epoch).permutation(own)
    return order


def dropout_bits(generators: Sequence[np.random.Generator], count: int) -> NDArray[np.int16]:
    """Sixteen random bits (members, count) for each decision: four decisions from one raw draw."""
    draws = -(-count // 4)
    raw = np.empty((len(generators), draws), np.uint64)
    for k, generator in enumerate(generators):
        raw[k] = generator.bit_generator.random_raw(draws)
    return raw.view(np.int16)[:, :count]


def encoder_seeds(seeds: Sequence[int], epoch: int, batch: int) -> list[int]:
    """A seed per member for what an encoder draws in one batch."""
    sources = [np.random.SeedSequence([seed, int(Purpose.ENCODER), epoch, batch]) for seed in seeds]
    return [int(source.generate_state(1, np.uint64)[0] >> np.uint64(1)) for source in sources]
