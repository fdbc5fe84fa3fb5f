"""What holds for every metric: no order of rows, no unit of time, no array library changes the answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aldsurv.distributions import AsymmetricLaplace
from aldsurv.metrics.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.discrimination import concordance_antolini, cumulative_dynamic_auc
from aldsurv.metrics.distribution_calibration import d_calibration, km_calibration
from aldsurv.metrics.groups import calibration_by_group
from aldsurv.metrics.intervals import interval_coverage
from aldsurv.metrics.ranked_probability import crps, survival_crps
from aldsurv.metrics.skill import brier_skill_score
from aldsurv.metrics.time_calibration import integrated_calibration_index, one_calibration
from aldsurv.survival_data import SurvivalData
from metrics.definitions import simulated

TRAIN = simulated(1, 150)
METRICS = {
    "d_calibration": lambda p, d, unit: d_calibration(p, d),
    "km_calibration": lambda p, d, unit: km_calibration(p, d),
    "ici": lambda p, d, unit: integrated_calibration_index(p, d, 7.5 * unit),
    "one_calibration": lambda p, d, unit: one_calibration(p, d, 7.5 * unit, bins=5),
    "auc": lambda p, d, unit: cumulative_dynamic_auc(p, d, [3.5 * unit, 8.5 * unit], train=TRAIN.scaled(unit)),
    "antolini": lambda p, d, unit: concordance_antolini(p, d),
    "skill": lambda p, d, unit: brier_skill_score(p, d, train=TRAIN.scaled(unit)),
    "margin": lambda p, d, unit: mean_absolute_error_margin(p, d, train=TRAIN.scaled(unit)) / unit,
    "pseudo": lambda p, d, unit: mean_absolute_error_pseudo(p, d, train=TRAIN.scaled(unit)) / unit,
    "coverage": lambda p, d, unit: np.array(interval_coverage(p, d)) / [1, 1, 1, unit, unit],
    "crps": lambda p, d, unit: crps(p, d) / unit,
    "survival_crps": lambda p, d, unit: survival_crps(p, d) / unit,
    "groups": lambda p, d, unit: calibration_by_group(p, d, d.weights > 1, horizon=5 * unit).groups,
}


@pytest.mark.parametrize("name", METRICS)
def test_answers_do_not_depend_on_what_does_not_matter(name):
    rng = np.random.default_rng(0)
    theta, sigma = rng.uniform(5, 30, 200), rng.uniform(4, 12, 200)
    plain = simulated(2, 200)
    data = SurvivalData.right(plain.time, plain.event, weight=rng.choice([0.0, 0.5, 1.0, 2.0], 200))
    predicted = AsymmetricLaplace(theta, sigma, 0.7)

    def found(p, d, unit=1.0):
        answer = METRICS[name](p, d, unit)
        if not isinstance(answer, tuple):
            return np.ravel(answer)
        return np.concatenate([np.ravel(np.asarray(part, dtype=float)) for part in answer])

    expected = found(predicted, data)
    assert np.isfinite(expected).all()
    mixed = rng.permutation(200)
    np.testing.assert_allclose(found(predicted[mixed], data[mixed]), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found(predicted.scaled(4.0), data.scaled(4.0), 4.0), expected, rtol=1e-9, atol=1e-12)
    tensors = AsymmetricLaplace(torch.tensor(theta, requires_grad=True), torch.tensor(sigma), 0.7)
    np.testing.assert_allclose(found(tensors, data), expected, rtol=1e-9, atol=1e-12)
    # Rows of weight 0 count as absent.
    counted = data.weights > 0
    np.testing.assert_allclose(found(predicted[counted], data[counted]), expected, rtol=1e-9, atol=1e-12)
