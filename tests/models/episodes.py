"""Persons whose covariates change, and the same with some of their episodes cut in two."""

from __future__ import annotations

import numpy as np


def drawn(n: int = 60, seed: int = 0):
    """Persons, some of whom are treated after a while, as columns of episodes."""
    rng = np.random.default_rng(seed)
    rows = []
    for who in range(n):
        age, cut, lost = rng.normal(), rng.uniform(0.2, 3), rng.uniform(0.5, 4)
        time = 0.05 + rng.exponential(2 * np.exp(-0.7 * age))
        stop, event = min(time, lost), time <= lost
        if cut < stop:
            rows += [(who, 0, cut, 0, age, 0), (who, cut, stop, event, age, 1)]
        else:
            rows.append((who, 0, stop, event, age, 0))
    table = np.array(rows, float)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3] == 1, table[:, 4:]


def cut(who, start, stop, event, x, *, seed: int = 1):
    """The same episodes, about half of them in two parts, in another order."""
    rng = np.random.default_rng(seed)
    halved = rng.random(len(who)) < 0.5
    middle = start + (stop - start) * rng.uniform(0.2, 0.8, len(who))
    both = np.concatenate([np.arange(len(who)), np.flatnonzero(halved)])
    first = np.append(halved, np.zeros(halved.sum(), bool))
    second = np.append(np.zeros(len(who), bool), np.ones(halved.sum(), bool))
    starts = np.where(second, middle[both], start[both])
    stops = np.where(first, middle[both], stop[both])
    return who[both], starts, stops, event[both] * ~first, x[both]
