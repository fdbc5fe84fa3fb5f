"""Rows of a model's home and of other places, with a truth that is known."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData

COEFFICIENTS = np.array([0.8, -0.5, 0.4])


def place(n, seed, *, coefficients=COEFFICIENTS, log_factor=0.0, shape=1.5, entry=False, two_peaks=False):
    """Covariates and Weibull times with proportional hazards; with `entry` of those still event-free at a late start.

    With `two_peaks` events come early or late for their hazard, seldom in between, as no Weibull times do.
    """
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    passed = rng.exponential(size=n)
    if two_peaks:
        level = np.where(rng.random(n) < 0.5, rng.beta(8, 24, n), rng.beta(40, 10, n))
        passed = -np.log1p(-level)
    time = (passed / np.exp(x @ coefficients + log_factor)) ** (1 / shape)
    lost = rng.exponential(2.0, n)
    start = rng.uniform(0, 0.4, n)
    seen, happened = np.minimum(time, lost), time <= lost
    if not entry:
        return x, SurvivalData.right(seen, happened)
    there = seen > start
    return x[there], SurvivalData.right(seen[there], happened[there], entry=start[there])
