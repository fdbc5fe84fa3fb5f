"""A model whose predictions are known: exponential times, the scale of which is a column."""

from __future__ import annotations

import numpy as np

from aldsurv import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential
from aldsurv.models import SurvivalEstimator


class KnownScale(SurvivalEstimator):
    """Predicts an exponential time of scale ``X["scale"]`` to the power `power`."""

    def __init__(self, power=1.0, last=1000.0, unit=None):
        self.power = power
        self.last = last
        self.unit = unit
        self.n_features_in_ = 2
        self.unique_times_ = np.array([0.1, last])

    def fit(self, X, y, sample_weight=None):
        return self

    def predict_distribution(self, X):
        return Exponential(np.asarray(X["scale"]) ** self.power)

    @property
    def error_point_(self):
        return "median"

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError


class BelowZero(KnownScale):
    """Predicts times of which a tenth lies below zero."""

    def predict_distribution(self, X):
        scale = np.asarray(X["scale"])
        # With κ = 1 the share below 0 is exp(-√2·θ/σ)/2.
        return AsymmetricLaplace(theta=scale, sigma=scale * np.sqrt(2) / np.log(5), kappa=np.ones(len(scale)))


def even_rows(n=400, *, seed=0):
    """Rows whose probabilities come true exactly as often as they say: one in each n-th of its distribution."""
    rng = np.random.default_rng(seed)
    scale = np.exp(rng.normal(1.0, 0.8, n))
    level = rng.permutation((np.arange(n) + 0.5) / n)
    time = -scale * np.log1p(-level)
    return {"scale": scale, "sex": np.where(np.arange(n) % 2, "f", "m").astype(object)}, SurvivalData.right(
        time, np.ones(n, bool)
    )
