"""Rows with the same covariates are tied, whatever the rounding of their predictions."""

from __future__ import annotations

import numpy as np
import pytest
from lifelines.utils import concordance_index

from aldsurv import CoxRegression, SurvivalData, metrics


@pytest.mark.parametrize("n", [163, 200, 331])
def test_copies_of_two_rows_are_tied(n: int) -> None:
    generator = np.random.default_rng(n)
    x = (generator.random((n, 1)) < 0.4).astype(float)
    time = np.exp(0.7 * x[:, 0]) * generator.weibull(3.0, n)
    data = SurvivalData.right(time, generator.random(n) < 0.9)
    predicted = CoxRegression().fit(x, data).predict_distribution(x)
    expected = concordance_index(time, x[:, 0], data.event)
    assert metrics.concordance_harrell(predicted, data) == pytest.approx(expected, abs=1e-12)
