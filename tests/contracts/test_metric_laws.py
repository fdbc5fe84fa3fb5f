"""What holds for every metric: no order of rows, no unit of time, no array library changes the answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from metrics.definitions import simulated

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace
from aldsurv.metrics.calibration.distribution_calibration import d_calibration, km_calibration
from aldsurv.metrics.calibration.group_calibration import calibration_by_group
from aldsurv.metrics.calibration.individual_calibration import worst_group_calibration
from aldsurv.metrics.calibration.prediction_intervals import interval_coverage
from aldsurv.metrics.calibration.time_calibration import integrated_calibration_index, one_calibration
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.discrimination.concordance import concordance_uno
from aldsurv.metrics.discrimination.time_dependent import concordance_antolini, cumulative_dynamic_auc
from aldsurv.metrics.error.brier import brier_score
from aldsurv.metrics.error.brier_skill import brier_skill_score
from aldsurv.metrics.error.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.error.ranked_probability import crps, survival_crps
from aldsurv.metrics.evaluation import evaluate
from aldsurv.registry import METRICS


def repeated(data: SurvivalData, copies: np.ndarray) -> tuple[SurvivalData, SurvivalData, np.ndarray]:
    """Rows with counts as weights, the same rows so often, and which these are."""
    rows = np.repeat(np.arange(len(data)), copies)
    return SurvivalData.right(data.time, data.event, weight=copies), data[rows], rows


@pytest.mark.parametrize("name", METRICS)
def test_a_row_of_weight_two_is_two_rows(name):
    """Of training rows and of those evaluated; where a score begins and ends follows from the weights, too."""
    rng = np.random.default_rng(3)
    plain, learned = simulated(5, 90), simulated(6, 110)
    # Early rows count more, so that every quantile moves.
    weighted, expanded, rows = repeated(plain, np.where(plain.time < 6, 3, 1))
    train, more_train, _ = repeated(learned, np.where(learned.time < 8, 2, rng.integers(0, 2, 110)))
    predicted, metric = AsymmetricLaplace(rng.uniform(5, 30, 90), rng.uniform(4, 12, 90), 0.7), find_metric(name)
    by_weight = metric(predicted, weighted, **metric.options_with(train, {}, weighted))
    by_row = metric(predicted[rows], expanded, **metric.options_with(more_train, {}, expanded))
    assert np.isfinite(by_weight)
    assert by_weight == pytest.approx(by_row, rel=1e-11)
    # And without training rows, as a scorer has them.
    by_weight = metric(predicted, weighted, **metric.options_with(weighted, {}, weighted))
    by_row = metric(predicted[rows], expanded, **metric.options_with(expanded, {}, expanded))
    assert by_weight == pytest.approx(by_row, rel=1e-11)


def test_a_row_of_weight_two_is_two_rows_for_the_rest():
    rng = np.random.default_rng(3)
    weighted, expanded, rows = repeated(simulated(5, 90), rng.integers(1, 4, 90))
    train, more_train, _ = repeated(simulated(6, 110), rng.integers(0, 3, 110))
    predicted, x = AsymmetricLaplace(rng.uniform(5, 30, 90), rng.uniform(4, 12, 90), 0.7), rng.normal(size=(90, 2))
    found = evaluate(predicted, weighted, train=train, point="restricted_mean")
    again = evaluate(predicted[rows], expanded, train=more_train, point="restricted_mean")
    assert found == pytest.approx(again, rel=1e-11)
    found = worst_group_calibration(predicted, weighted, x, least=1)
    again = worst_group_calibration(predicted[rows], expanded, x[rows], least=1)
    assert (found.distance, found.group) == (pytest.approx(again.distance, rel=1e-11), again.group)
    labels = np.arange(90) % 3
    found, again = (
        calibration_by_group(p, d, g, least=1)
        for p, d, g in ((predicted, weighted, labels), (predicted[rows], expanded, labels[rows]))
    )
    assert found.horizon == again.horizon
    for one, other in zip(found.groups, again.groups, strict=True):
        np.testing.assert_allclose(one[3:], other[3:], rtol=1e-11)
    times = [3.0, 6.0, 9.0]
    for ties in ("events_first", "scikit-survival"):
        by_weight, by_row = (
            concordance_uno(p, d, train=t, ties=ties)
            for p, d, t in ((predicted, weighted, train), (predicted[rows], expanded, more_train))
        )
        assert by_weight == pytest.approx(by_row, rel=1e-11)
        by_weight, by_row = (
            brier_score(p, d, times, train=t, ties=ties)
            for p, d, t in ((predicted, weighted, train), (predicted[rows], expanded, more_train))
        )
        np.testing.assert_allclose(by_weight, by_row, rtol=1e-11)


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
