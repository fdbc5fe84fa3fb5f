"""Rows to search with, in a module that an interpreter started by a test imports in a moment."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData


def draw(n: int = 61, columns: int = 12, seed: int = 0, **more) -> tuple[np.ndarray, SurvivalData]:
    """Many columns of which one counts: without a penalty it is learned too well."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    event, lost = np.exp(x[:, 0] / 2) * rng.weibull(2, n), rng.exponential(3, n)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost, **more)
