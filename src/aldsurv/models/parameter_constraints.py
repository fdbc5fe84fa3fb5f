"""Constraints of parameters that many models have."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from aldsurv.checks import Choice, Constraint, Number, OrNone, Satisfies, Text, WholeNumber
from aldsurv.models.prediction.point_summaries import RANKING_POINTS

__all__ = ["CATEGORICAL", "LEVEL_CONSTRAINTS", "POINT", "UNIT"]

CATEGORICAL: Constraint = Satisfies(
    lambda value: value is None or isinstance(value, (list, tuple, str, np.ndarray)),
    "a list of columns by name or number, or None",
)
POINT: Constraint = Choice(RANKING_POINTS)
UNIT: Constraint = OrNone(Text("months"))
# Of models that are trained with a random level.
LEVEL_CONSTRAINTS: Mapping[str, Constraint] = {
    # Without any likelihood every distribution would do that is wide enough.
    "likelihood_share": Number(0, 1, above=True),
    "target": Choice(("cdf", "pinball")),
    "nodes": WholeNumber(1, 1000),
}
