"""Which rows are for training and which for testing."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import WholeNumber, check
from aldsurv.errors import ParameterError

__all__ = ["generator_for", "group_test_rows", "row_test_rows"]

RowMask = NDArray[np.bool_]


def generator_for(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers of this seed and purpose, the same on every run and machine, and unlike those of any other."""
    check("seed", seed, WholeNumber(0))
    # Python's own hash of a text differs from run to run.
    return np.random.default_rng([int(seed), crc32(purpose.encode())])


def row_test_rows(n: int, n_test: int, generator: np.random.Generator) -> RowMask:
    """Mask of the test rows, chosen at random."""
    in_test = np.zeros(n, np.bool_)
    in_test[generator.permutation(n)[:n_test]] = True
    return in_test


def group_test_rows(groups: NDArray[np.intp], n_test: int, generator: np.random.Generator) -> RowMask:
    """Mask of the test rows: whole groups in random order, as near to `n_test` rows as whole groups come."""
    numbers, member_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    if len(numbers) < 2:
        raise ParameterError(
            'by="group" needs two groups or more, but all rows are of one.', argument="by", advice='Use by="row".'
        )
    chosen = np.zeros(len(numbers), np.bool_)
    order, missing = generator.permutation(len(numbers)), n_test
    for group in order:
        if sizes[group] <= missing:
            chosen[group] = True
            missing -= int(sizes[group])
        if missing == 0:
            break
    if missing:
        # All groups left are larger than the gap: the smallest may still come nearer than leaving it, and a test
        # part without rows is none.
        left = order[~chosen[order]]
        smallest = left[np.argmin(sizes[left])]
        chosen[smallest] = len(left) > 1 and (sizes[smallest] < 2 * missing or not chosen.any())
    return np.asarray(chosen[member_of.ravel()], np.bool_)
