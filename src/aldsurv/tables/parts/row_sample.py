"""A sample of the rows of a table in parts, for what a fit learns from some of them: quantiles, starts, checks.

The sample has the rows with the smallest random numbers of their own, or of their groups. So samples of parts merge
into that of the whole, whatever the parts are and in whatever order they come.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.rows.row_hashes import UIntArray, row_hashes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.tables.parts.parted_table import Block, IntArray

__all__ = ["SAMPLE_ROWS", "RowSample", "rank_error"]

SAMPLE_ROWS = 1 << 16
# Of the random numbers that choose the sample: not those that choose rows for validation.
_SEED = 20_240_024
_LARGEST = 2**64 - 1


def rank_error(rows: int, confidence: float = 0.99) -> float:
    """How far the rank of any quantile of a sample may be off, as a share of all rows.

    By the inequality of Dvoretzky, Kiefer & Wolfowitz with the constant of Massart (1990), it is less for all quantiles
    of a column at once with this confidence.

    Examples
    --------
    >>> round(rank_error(SAMPLE_ROWS), 4)
    0.0064
    """
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * rows))


@final
@dataclass(frozen=True, eq=False)
class RowSample:
    """Rows chosen by their random numbers, in the order of these.

    Attributes
    ----------
    most
        How many rows there may be.
    hashes, numbers
        The random number of each row (n,), and its number in the whole table.
    x, y
        Covariates and outcomes of these rows; None before any were seen.
    cutoff
        All rows seen whose random number is below it are here, and no others.
    """

    most: int
    hashes: UIntArray
    numbers: IntArray
    x: dict[str, NDArray[Any]] | None
    y: SurvivalData | None
    cutoff: int = 2**64

    @classmethod
    def empty(cls, most: int = SAMPLE_ROWS) -> RowSample:
        """No rows yet."""
        return cls(most, np.zeros(0, np.uint64), np.zeros(0, np.int64), None, None)

    @classmethod
    def of(cls, blocks: Iterable[Block], most: int = SAMPLE_ROWS) -> RowSample:
        """The sample of the rows of some blocks."""
        return reduce(RowSample.with_block, blocks, cls.empty(most))

    def __len__(self) -> int:
        return len(self.hashes)

    def with_block(self, block: Block) -> RowSample:
        """The sample of these rows and those of a block."""
        return RowSample.joined([self, self.candidates(block)])

    def candidates(self, block: Block) -> RowSample:
        """The rows of a block that may come into the sample, to be joined with it: those below the cutoff."""
        hashes = row_hashes(block.numbers, None if block.y is None else block.y.group, _SEED)
        chosen = np.flatnonzero(hashes < np.uint64(min(self.cutoff, _LARGEST)))
        x = {name: column[chosen] for name, column in block.x.items()}
        y = None if block.y is None else block.y[chosen]
        return RowSample(self.most, hashes[chosen], block.numbers[chosen], x, y)

    def merged(self, other: RowSample) -> RowSample:
        """The sample of the rows of both."""
        return RowSample.joined([self, other])

    @staticmethod
    def joined(samples: Sequence[RowSample]) -> RowSample:
        """The sample of the rows of all, of which the first says how many there may be."""
        some = [sample for sample in samples if sample.x is not None]
        if not some:
            return samples[0]
        most, cutoff = samples[0].most, min(sample.cutoff for sample in some)
        hashes = np.concatenate([sample.hashes for sample in some])
        numbers = np.concatenate([sample.numbers for sample in some])
        order = np.lexsort((numbers, hashes))
        order = order[hashes[order] < np.uint64(min(cutoff, _LARGEST))]
        if order.size > most:
            # Rows of one group have one number: they stay or go as a whole.
            cutoff = int(hashes[order[most]])
            order = order[hashes[order] < np.uint64(cutoff)]
        tables = [sample.x or {} for sample in some]
        x = {name: np.concatenate([table[name] for table in tables])[order] for name in tables[0]}
        outcomes = [sample.y for sample in some if sample.y is not None]
        y = SurvivalData.concatenate(outcomes)[order] if outcomes else None
        return RowSample(most, hashes[order], numbers[order], x, y, cutoff)
