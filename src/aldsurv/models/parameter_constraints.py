"""Constraints of parameters that many models have."""

from __future__ import annotations

import numpy as np

from aldsurv.checks import Choice, Constraint, OrNone, Satisfies, Text
from aldsurv.models.base import POINTS

__all__ = ["CATEGORICAL", "POINT", "UNIT"]

CATEGORICAL: Constraint = Satisfies(
    lambda value: value is None or isinstance(value, (list, tuple, str, np.ndarray)),
    "a list of columns by name or number, or None",
)
POINT: Constraint = Choice(POINTS)
UNIT: Constraint = OrNone(Text("months"))
