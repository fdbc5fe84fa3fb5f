"""A metric is one function and one record: then it is known by name everywhere."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Weibull
from aldsurv.errors import CensoringError, ParameterError, UnknownNameError
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.metrics.scorers import scorer_names
from aldsurv.registry import METRICS
from metrics.added_metric import RECORD, root_mean_squared_error
from metrics.definitions import simulated
from metrics.linear_estimator import LinearEstimator


@pytest.fixture
def added():
    METRICS.add(RECORD)
    yield RECORD
    METRICS.remove("rmse")


def test_a_new_metric_is_known_everywhere(added):
    data = simulated(1, 80)
    predicted = Weibull(np.linspace(5.0, 20.0, 80), 1.5)
    expected = root_mean_squared_error(predicted, data)
    assert metrics.evaluate(predicted, data, train=data, metrics=["ibs", "rmse"]) == {
        "ibs": metrics.integrated_brier_score(predicted, data, train=data),
        "rmse": expected,
    }
    drawn = metrics.evaluate(predicted, data, train=data, metrics=["rmse"], bootstrap=50)["rmse"]
    alone = metrics.bootstrap("rmse", predicted, data, samples=50, random_state=0)
    assert drawn == alone
    assert alone.value == expected
    comparison = metrics.compare(predicted, predicted.scaled(2.0), data, metric="rmse", samples=20, random_state=0)
    assert comparison.first == expected
    assert comparison.difference < 0
    scorer = metrics.get_scorer("neg_rmse", unit=2.0)
    x = np.linspace(0, 1, 80)[:, None]
    model = LinearEstimator().fit(x, data)
    assert scorer(model, x, data) == -root_mean_squared_error(model.predict_distribution(x), data, unit=2.0)
    assert pickle.loads(pickle.dumps(scorer)) == scorer  # noqa: S301
    assert "neg_rmse" in scorer_names()


def test_a_new_metric_counts_a_row_of_weight_two_as_two(added):
    data = simulated(1, 40)
    predicted, copies = Weibull(np.linspace(5.0, 20.0, 40), 1.5), np.arange(40) % 3
    rows = np.repeat(np.arange(40), copies)
    by_weight = root_mean_squared_error(predicted, data.with_weight(copies))
    assert by_weight == pytest.approx(root_mean_squared_error(predicted[rows], data[rows]), rel=1e-12)


def test_a_removed_metric_is_unknown():
    METRICS.add(RECORD)
    assert metrics.get_scorer("neg_rmse").name == "neg_rmse"
    METRICS.remove("rmse")
    data = simulated(1, 20)
    with pytest.raises(UnknownNameError, match="unknown metric 'rmse'"):
        metrics.evaluate(Weibull(np.ones(20), 1.0), data, train=data, metrics=["rmse"])
    with pytest.raises(UnknownNameError, match="unknown scorer 'neg_rmse'"):
        metrics.get_scorer("neg_rmse")


@pytest.mark.parametrize("record", METRICS.records(), ids=lambda record: record.name)
def test_records_are_complete(record):
    function = record.load()
    assert callable(function)
    assert function.__name__ == record.function_name
    assert record.title
    assert record.purpose
    assert not record.purpose.endswith(".")
    assert record.hint
    options = find_metric(record.name).option_names
    assert ("train" in options) == (record.train != "unused")
    assert ("truth" in options) == record.uses_truth
    assert ("point" in options) == record.uses_point
    assert record.time_argument is None or record.time_argument in options
    if record.direction == "nearest":
        assert record.score(record.ideal) == 0
    assert (record.score(0.3) > record.score(0.2)) == (
        record.direction == "higher" or (record.ideal is not None and record.ideal > 0.3)
    )


def test_titles_and_scorers_differ():
    records = METRICS.records()
    for names in ([r.title for r in records], [r.short_title for r in records], [r.scorer for r in records]):
        assert len(set(names)) == len(records)


def test_records_say_which_censoring_is_allowed():
    rng = np.random.default_rng(0)
    lower = rng.uniform(1, 5, 60)
    upper = np.where(np.arange(60) < 20, lower, np.where(np.arange(60) < 40, lower + 1, np.inf))
    kinds = [
        SurvivalData.interval(lower, upper),
        SurvivalData.right(lower + 1, np.arange(60) % 2 == 0, entry=0.2 * lower),
    ]
    train = SurvivalData.right(lower, np.arange(60) % 2 == 0)
    predicted = Weibull(rng.uniform(2, 6, 60), 2.0)

    def is_defined(name: str, rows: SurvivalData) -> bool:
        metric = find_metric(name)
        try:
            return math.isfinite(metric(predicted, rows, **metric.options_with(train, {}, train)))
        except CensoringError:
            return False

    for record in METRICS.records():
        assert all(is_defined(record.name, rows) for rows in kinds) == record.any_censoring, record.name


def test_evaluation_by_name():
    data = simulated(1, 80)
    predicted = Weibull(np.linspace(5.0, 20.0, 80), 1.5)
    everything = metrics.evaluate(predicted, data, train=data, metrics=list(METRICS))
    assert list(everything) == list(METRICS)
    usual = metrics.evaluate(predicted, data, train=data)
    assert tuple(usual) == DEFAULT_METRICS
    assert usual == {name: everything[name] for name in DEFAULT_METRICS}
    for name, value in everything.items():
        metric = find_metric(name)
        assert value == metric(predicted, data, **metric.options_with(data, {}, data))
    for wrong in ("ibs", [], ()):
        with pytest.raises(ParameterError, match="metrics must be a list of names") as error:
            metrics.evaluate(predicted, data, train=data, metrics=wrong)
        assert error.value.argument == "metrics"


def test_records_are_read_without_numpy():
    program = "import sys; from aldsurv.registry import METRICS; print(METRICS['ibs'].title, 'numpy' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["integrated", "Brier", "score", "False"]
