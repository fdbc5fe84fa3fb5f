"""Which member holds which row out for validation, by a random number of the row or of its group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.rows.row_hashes import row_hashes

__all__ = ["HeldShares"]

# Rows that a member holds out at most, in expectation: their mean log-likelihood is known to a few thousandths, and
# they have to be in memory.
_MOST_HELD = 50_000
_LEAST_FOR_VALIDATION = 10


@final
@dataclass(frozen=True)
class HeldShares:
    """Member k holds out the rows whose random number lies in the k-th stretch.

    Attributes
    ----------
    seed
        From which the random numbers come.
    members
        How many there are.
    share
        Length of a stretch; 0: nothing is held out.
    """

    seed: int
    members: int
    share: float

    @classmethod
    def of(cls, rows: int, members: int, validation: float, seed: int) -> HeldShares:
        """The shares for a table of so many rows: no row is held out twice, and no more rows than are of use."""
        if rows < _LEAST_FOR_VALIDATION or validation <= 0:
            return cls(seed, members, 0.0)
        return cls(seed, members, min(validation, 1 / members, _MOST_HELD / rows))

    def holders(self, numbers: NDArray[np.int64], group: NDArray[np.int64] | None) -> NDArray[np.uint8 | np.uint16]:
        """For each row (n,) the number of the member that holds it out, counted from 1; 0 where none does."""
        kind = np.uint8 if self.members < 256 else np.uint16
        if self.share <= 0:
            return np.zeros(len(numbers), kind)
        stretch = np.floor(row_hashes(numbers, group, self.seed) * 2.0**-64 / self.share)
        return np.where(stretch < self.members, stretch + 1, 0).astype(kind)
