"""A model and rows of many months, of which the later ones may differ."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData, WeibullAFT

COEFFICIENTS = np.array([0.8, -0.5])
MONTHS = tuple(f"{2023 + k // 12}-{1 + k % 12:02d}" for k in range(18))


def rows(per_month: int, seed: int, *, factor: float = 1.0, slope: float = 1.0, shift: float = 0.0, since: int = 8):
    """Covariates, outcome and month: from `since` on hazards times `factor`, effects times `slope`, and `a` moved."""
    rng = np.random.default_rng(seed)
    month = np.repeat(np.arange(len(MONTHS)), per_month)
    later = month >= since
    a, b = rng.normal(size=(2, month.size))
    a = a + np.where(later, shift, 0.0)
    site = rng.choice(["north", "south"], month.size)
    predictor = COEFFICIENTS[0] * a + COEFFICIENTS[1] * b
    hazard = np.exp(predictor * np.where(later, slope, 1.0)) * np.where(later, factor, 1.0)
    time, censoring = (rng.exponential(size=month.size) / hazard) ** (1 / 1.5), rng.uniform(0.2, 1.5, month.size)
    data = SurvivalData.right(np.minimum(time, censoring), time <= censoring)
    return {"a": a, "b": b, "site": site}, data, np.array(MONTHS)[month]


def fitted():
    """A model of many rows, and these rows."""
    x, y, _ = rows(400, 0)
    return WeibullAFT(unit="years").fit(x, y), x, y
