"""Validation rows as our networks draw them, for other libraries' training."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData
from aldsurv.columns.row_copies import find_copies
from aldsurv.models.rows.member_rows import split_for_members

__all__ = ["held_with_copies"]


def held_with_copies(x: Any, data: SurvivalData, generator: np.random.Generator) -> NDArray[np.int64]:
    """A fifth of the rows, with all copies of each."""
    validation = split_for_members(data, 0.2, 1, generator, find_copies(x, data)).validation
    assert validation is not None  # there are rows enough
    return np.asarray(validation[0])
