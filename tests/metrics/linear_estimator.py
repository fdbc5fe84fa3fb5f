"""An estimator for the scorers: in a module of its own, which a worker process can import."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace


class LinearEstimator(BaseEstimator):
    """Time is `slope` times the first feature, plus the mean of the training times."""

    def __init__(self, slope: float = 1.0, sigma: float = 2.0) -> None:
        self.slope = slope
        self.sigma = sigma

    def fit(self, X: Any, y: Any) -> LinearEstimator:
        self.mean_ = float(SurvivalData.of(y).time.mean())
        return self

    def predict_distribution(self, X: Any) -> AsymmetricLaplace:
        return AsymmetricLaplace(self.mean_ + self.slope * (np.asarray(X)[:, 0] - 5), self.sigma, 1.0)
