"""One row's survival or cumulative hazard as a function of time, as scikit-survival gives it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions.base import SurvivalDistribution

__all__ = ["RowFunction", "row_functions"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False, repr=False)
class RowFunction:
    """A function of time for one individual: call it with a time or an array of times.

    Attributes
    ----------
    x, y
        A grid of times and the function's values there.
    """

    distribution: SurvivalDistribution
    kind: str
    x: FloatArray
    y: FloatArray

    @property
    def domain(self) -> tuple[float, float]:
        """Times for which the function is defined: all from 0 on."""
        return 0.0, float("inf")

    def __call__(self, times: object) -> Any:
        """Values at `times`, exact and not read off the grid."""
        wanted = np.asarray(times, np.float64)
        values = np.asarray(getattr(self.distribution, self.kind)(wanted.reshape(-1)))[0]
        return float(values[0]) if wanted.ndim == 0 else values.reshape(wanted.shape)

    def __repr__(self) -> str:
        return f"RowFunction({self.kind}, {len(self.x)} times)"


def row_functions(distribution: SurvivalDistribution, kind: str, times: FloatArray) -> NDArray[np.object_]:
    """One function per row."""
    values = np.asarray(getattr(distribution, kind)(times))
    functions = np.empty(len(distribution), dtype=object)
    for row in range(len(distribution)):
        functions[row] = RowFunction(distribution[row : row + 1], kind, times, values[row])
    return functions
