"""LogNorm's training rows as its published loss counts them."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets import Dataset

__all__ = ["mixed_rows"]


def mixed_rows(train: Dataset) -> Dataset:
    """Every row once as an event and once as censored, weighted by the shares of both among all rows.

    The published loss multiplies the censoring indicators (B, 1) by log-likelihoods (B,), and takes the mean of the
    table (B, B): each row counts with ``log f`` and ``log S``, weighted by the shares of events and of censored rows
    in its batch. Over batches drawn at random that is the likelihood of these rows.
    """
    share = float(train.y.event.mean())
    n = len(train.y)
    weight = np.concatenate([np.full(n, share), np.full(n, 1 - share)])
    event = np.concatenate([np.ones(n, np.bool_), np.zeros(n, np.bool_)])
    rows = SurvivalData.right(np.tile(train.y.time, 2), event, weight=weight)
    return Dataset(np.tile(train.x, (2, 1)), rows, train.info)
