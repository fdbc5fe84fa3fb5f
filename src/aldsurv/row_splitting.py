"""Random parts of rows, the same for everything that holds rows out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ParameterError

__all__ = ["split_rows"]


def split_rows(
    stratum: NDArray[np.bool_] | None,
    n: int,
    test: float,
    random_state: int | np.random.Generator | None,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of a random training and test part, each in ascending order.

    Parameters
    ----------
    stratum
        A bool for each row whose share is kept in both parts to within one row; None: as it falls.
    n
        Number of rows.
    test
        Share of the rows in the test part, which has ``round(test * n)`` of them.
    random_state
        Seed or generator.
    """
    if not (isinstance(test, (float, np.floating)) and 0 < test < 1):
        raise ParameterError(f"test must be a share between 0 and 1, but is {test!r}.")
    n_test = round(float(test) * n)
    if not 0 < n_test < n:
        raise ParameterError(
            f"test={test!r} of {n} rows leaves {n_test} for the test part and {n - n_test} for training. "
            "Choose a share that leaves both some rows."
        )
    try:
        generator = np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state must be an integer from 0, a numpy Generator or None, but is {random_state!r}."
        ) from None
    shuffled = generator.permutation(n)
    in_test = np.zeros(n, np.bool_)
    if stratum is None:
        in_test[shuffled[:n_test]] = True
    else:
        inside = stratum[shuffled]
        n_inside = round(n_test * int(inside.sum()) / n)
        in_test[shuffled[inside][:n_inside]] = True
        in_test[shuffled[~inside][: n_test - n_inside]] = True
    return np.flatnonzero(~in_test), np.flatnonzero(in_test)
