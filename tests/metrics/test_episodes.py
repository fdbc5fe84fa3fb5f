"""Metrics count people: episodes are refused, and counted as persons where they only say how rows were censored."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aldsurv import SurvivalData, WeibullAFT, metrics
from aldsurv.distributions import Exponential
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import CensoringError
from aldsurv.inspection import permutation_importance
from aldsurv.metrics import evaluate, get_scorer
from aldsurv.registry import METRICS


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, SurvivalData]:
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(80), 2)
    x = np.column_stack([np.repeat(rng.normal(size=80), 2), rng.integers(0, 3, 160)])
    cut, length = rng.uniform(0.2, 1.0, 80), rng.exponential(np.exp(-x[::2, 0])) + 0.1
    start, stop = np.zeros(160), np.empty(160)
    stop[::2], start[1::2], stop[1::2] = cut, cut, cut + length
    event = np.zeros(160, bool)
    event[1::2] = rng.random(80) < 0.7
    return x, SurvivalData.episodes(who, start, stop, event)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_refuses_episodes_with_advice(name, rows):
    data = rows[1]
    with pytest.raises(CensoringError, match=r"160 rows are episodes of 80 persons.*predict_path"):
        evaluate(Exponential(np.ones(160)), data, train=data, metrics=[name])


def test_functions_refuse_them_too(rows):
    data, times = rows[1], np.ones(160)
    for metric in (metrics.concordance_harrell, metrics.mean_absolute_error):
        with pytest.raises(CensoringError, match="episodes"):
            metric(times, data)
    with pytest.raises(CensoringError, match="episodes"):
        metrics.bootstrap("harrell_c", Exponential(times), data)


def test_censoring_is_that_of_persons(rows):
    x, data = rows
    predicted, persons = along_paths(WeibullAFT().fit(x, data).predict_distribution(x), data)
    assert len(predicted) == len(persons) == 80
    by_rows = evaluate(predicted, persons, train=data)
    by_persons = evaluate(predicted, persons, train=persons)
    assert_allclose(list(by_rows.values()), list(by_persons.values()), rtol=1e-12)


def test_scorers_and_importance_go_along_the_path(rows):
    x, data = rows
    model = WeibullAFT().fit(x, data)
    predicted, persons = along_paths(model.predict_distribution(x), data)
    for name in ("harrell_c", "neg_ibs", "log_likelihood"):
        expected = get_scorer(name).metric(predicted, persons)
        assert get_scorer(name)(model, x, data) == pytest.approx(expected, rel=1e-9)
    importance = permutation_importance(model, x, data, repeats=2, random_state=0)
    assert importance.mean[0] > 0
