"""A model of two causes whose rates are known: relapse by ``grade``, death by ``age``."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData
from aldsurv.distributions import CauseMixture, Exponential
from aldsurv.models import SurvivalEstimator

CAUSES = ("relapse", "death")


class KnownCauses(SurvivalEstimator):
    """Constant rates ``0.1·exp(grade)`` and ``0.05·exp(age)``."""

    def __init__(self, last=60.0):
        self.last = last
        self.n_features_in_ = 2
        self.unique_times_ = np.array([0.1, last])

    def fit(self, X, y, sample_weight=None, groups=None):
        return self

    @property
    def causes_(self):
        return CAUSES

    def predict_distribution(self, X):
        return Exponential(1 / _rates(X).sum(axis=0))

    def predict_incidence(self, X):
        rates = _rates(X)
        total = rates.sum(axis=0)
        return CauseMixture([Exponential(1 / total)] * 2, (rates / total).T, list(CAUSES))

    @property
    def error_point_(self):
        return "median"

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError


def drawn_rows(n: int, seed: int = 0) -> tuple[dict[str, np.ndarray], SurvivalData]:
    """Rows of which the model is true."""
    rng = np.random.default_rng(seed)
    x = {"grade": rng.normal(size=n), "age": rng.normal(size=n)}
    first = rng.exponential(1 / _rates(x))
    end = rng.uniform(2, 40, n)
    time = np.minimum(first.min(axis=0), end)
    cause = np.where(time < end, 1 + first.argmin(axis=0), 0)
    return x, SurvivalData.competing(time, cause, names=list(CAUSES))


def _rates(X) -> np.ndarray:
    return np.stack([0.1 * np.exp(np.asarray(X["grade"])), 0.05 * np.exp(np.asarray(X["age"]))])
