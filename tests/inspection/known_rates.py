"""A model whose survival is known: a constant rate with an interaction and a level of text."""

from __future__ import annotations

import numpy as np

from aldsurv.distributions import Exponential
from aldsurv.models import SurvivalEstimator


def rates(x: np.ndarray) -> np.ndarray:
    """A rate per row: the first columns interact, the last does nothing."""
    return 0.2 * np.exp(0.6 * x[:, 0] - 0.5 * x[:, 1] * (x[:, 0] > 0) + 0.3 * np.sin(x[:, 2:-1]).sum(axis=1))


def survival(x: np.ndarray, times) -> np.ndarray:
    return np.exp(-rates(x)[:, None] * np.asarray(times))


def drawn_table(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=(rows, columns)).round(2)


class KnownRates(SurvivalEstimator):
    def __init__(self, columns=4):
        self.n_features_in_ = columns
        self.columns = columns

    def fit(self, X, y, sample_weight=None, groups=None):
        return self

    @property
    def causes_(self):
        return None

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError

    @property
    def error_point_(self):
        return "median"

    @property
    def follow_up_(self):
        return 10.0

    def predict_distribution(self, X):
        x = np.stack(list(X.values()), axis=1) if isinstance(X, dict) else np.asarray(X)
        return Exponential(1 / rates(x))
