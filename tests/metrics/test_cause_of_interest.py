"""Causes in evaluation, bootstrap, comparison and scorers, and what is refused."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import CauseMixture, CumulativeIncidence, Exponential, Weibull
from aldsurv.errors import AldsurvError, DataError, ParameterError, UndefinedMetricWarning
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.registry import METRICS
from metrics import cause_definitions as definitions

EACH = [record for record in METRICS.records() if record.causes == "each"]


@pytest.fixture(scope="module")
def rows():
    truth, data = definitions.drawn(1, 80, weighted=True)
    _, train = definitions.drawn(2, 100)
    return truth.scaled(1.1), data, train


def test_a_metric_of_each_cause_has_the_option():
    for record in METRICS.records():
        assert ("cause" in signature(record.load()).parameters) == (record.causes == "each")


def test_evaluate_gives_what_the_functions_give(rows):
    predicted, data, train = rows
    scores = metrics.evaluate(predicted, data, train=train, cause="death")
    assert list(scores) == [name for name in DEFAULT_METRICS if name != "mae"]
    assert scores["ibs"] == metrics.integrated_brier_score(predicted, data, train=train, cause=2)
    assert scores["harrell_c"] == metrics.concordance_harrell(predicted, data, train=train, cause="death")
    assert scores["uno_c"] == metrics.concordance_uno(predicted, data, train=train, cause="death")
    assert scores["cens_dcal"] == metrics.censored_d_calibration(predicted, data, cause="death")
    assert scores["log_likelihood"] == metrics.log_likelihood(predicted, data)
    assert scores["bounded_log_likelihood"] == metrics.bounded_log_likelihood(predicted, data, train=train)
    both = metrics.evaluate_causes(predicted, data, train=train, metrics=["ibs", "auc", "ici"])
    assert list(both) == ["relapse", "death"]
    assert both["death"] == metrics.evaluate(predicted, data, train=train, cause=2, metrics=["ibs", "auc", "ici"])
    assert both["death"]["ibs"] == scores["ibs"]


def test_causes_are_matched_by_name(rows):
    predicted, data, train = rows
    numbers = np.array([0, 2, 1])
    names = ["death", "relapse"]
    turned = SurvivalData.competing(data.time, numbers[data.cause], names=names, weight=data.weight)
    turned_train = SurvivalData.competing(train.time, numbers[train.cause], names=names)
    chosen = [record.name for record in EACH]
    expected = metrics.evaluate(predicted, data, train=train, cause="death", metrics=chosen)
    found = metrics.evaluate(predicted, turned, train=turned_train, cause="death", metrics=chosen)
    assert found == pytest.approx(expected, rel=1e-12)


def test_steps_have_no_likelihood_by_default_and_say_so_when_asked(rows):
    predicted, data, train = rows
    grid = np.arange(1.0, 20.0)
    table = CumulativeIncidence(grid, predicted.incidence(grid), predicted.causes)
    assert "log_likelihood" not in metrics.evaluate(table, data, train=train, cause=1)
    with pytest.raises(ParameterError, match="has no density"):
        metrics.evaluate(table, data, train=train, cause=1, metrics=["log_likelihood"])


@pytest.mark.parametrize("record", EACH, ids=lambda record: record.name)
def test_resamples_by_counts_are_those_of_drawn_rows(rows, record):
    predicted, data, train = rows
    options = {"time": 5.0} if record.time_argument == "time" else {}
    options |= {"times": [3.0, 6.0]} if record.time_argument == "times" else {}
    more = options | ({} if record.train == "unused" else {"train": train})
    function, part = record.load(), record.part

    def by_rows(predicted, data):
        result = function(predicted, data, cause="relapse", **more)
        return result if part is None else result[part]

    def drawn(metric, **given):
        return metrics.bootstrap(metric, predicted, data, samples=8, random_state=0, **given)

    found, expected = drawn(record.name, train=train, cause="relapse", **options), drawn(by_rows)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    # The slope over all follow-up keeps the parts into which all rows are cut; those of drawn rows differ a little.
    near = 0.2 if record.name == "calibration_slope" else 1e-9
    assert found.standard_error == pytest.approx(expected.standard_error, rel=near)
    by_name = metrics.evaluate(predicted, data, train=train, metrics=[record.name], cause=1, bootstrap=8)
    if not options:
        assert by_name[record.name].lower == pytest.approx(found.lower, rel=1e-12)


def test_rows_of_one_group_are_drawn_together(rows):
    predicted, data, train = rows
    twice = np.repeat(np.arange(len(data)), 2)
    grouped = data[twice].with_group(twice)
    alone = metrics.bootstrap("ibs", predicted, data, train=train, cause=1, samples=50, random_state=3)
    found = metrics.bootstrap("ibs", predicted[twice], grouped, train=train, cause=1, samples=50, random_state=3)
    assert found.standard_error == pytest.approx(alone.standard_error, rel=1e-9)
    nested = metrics.evaluate_causes(
        predicted[twice], grouped, train=train, metrics=["ibs"], bootstrap=50, random_state=3
    )
    assert nested["relapse"]["ibs"].lower == pytest.approx(alone.lower, rel=1e-9)


def test_two_predictions_are_compared_by_cause():
    truth, data = definitions.drawn(4, 400)
    blunt = CauseMixture([Weibull(np.full(400, 6.0), 1.2), Weibull(np.full(400, 7.0), 0.9)], [0.5, 0.5], truth.causes)
    for name in ("ibs", "uno_c", "log_likelihood"):
        options = {} if name == "log_likelihood" else {"cause": "relapse", "train": data}
        result = metrics.compare(truth, blunt, data, metric=name, samples=100, random_state=0, **options)
        assert METRICS[name].score(result.first) > METRICS[name].score(result.second)
        assert result.p_value < 0.1


class Estimator:
    """Predicts what it was given."""

    def __init__(self, predicted):
        self.predicted = predicted

    def predict_distribution(self, X):
        return self.predicted[X].overall()

    def predict_incidence(self, X):
        return self.predicted[X]


def test_scorers_score_a_cause(rows):
    predicted, data, train = rows
    some = np.arange(40)
    scorer = metrics.get_scorer("neg_ibs", cause="death", train=train)
    expected = metrics.integrated_brier_score(predicted[some], data[some], train=train, cause="death")
    assert scorer(Estimator(predicted), some, data[some]) == -expected
    assert metrics.get_scorer("harrell_c")(Estimator(predicted), some, data[some]) == metrics.concordance_harrell(
        predicted[some].overall(), data[some]
    )
    with pytest.raises(ParameterError, match="has no option 'cause'"):
        metrics.get_scorer("neg_mae", cause="death")


def two_causes(n=4):
    return CauseMixture([Exponential([2.0] * n), Exponential([5.0] * n)], [0.3, 0.7], ["relapse", "death"])


DATA = SurvivalData.competing([1, 2, 3, 4], [1, 2, 0, 1], names=["relapse", "death"])
PLAIN = SurvivalData.right([1, 2, 3, 4], [1, 1, 0, 1])


@pytest.mark.parametrize("record", EACH, ids=lambda record: record.name)
@pytest.mark.parametrize(
    ("predicted", "data", "cause", "problem"),
    [
        (two_causes(), DATA, None, "predicted has the causes 'relapse', 'death': say by cause= which"),
        (
            two_causes(),
            DATA,
            "infection",
            "cause must be a number from 1 to 2 or one of 'relapse', 'death', but is 'infection'",
        ),
        (two_causes(), DATA, 0, "cause must be a number from 1 to 2"),
        (two_causes(), PLAIN, "relapse", "the data have no causes"),
        (two_causes().overall(), DATA, "relapse", "needs a prediction of each cause, but predicted is"),
        (two_causes(3), DATA, "relapse", "predicted has 3 and data 4"),
        (
            two_causes(),
            SurvivalData.competing([1, 2, 3, 4], [1, 2, 3, 0], names=["relapse", "death", "infection"]),
            "relapse",
            "no cause 'infection', only 'relapse', 'death'",
        ),
    ],
    ids=[
        "no cause",
        "unknown",
        "zero",
        "data without causes",
        "prediction without causes",
        "rows",
        "only in test rows",
    ],
)
def test_bad_causes_are_refused_in_one_line(record, predicted, data, cause, problem):
    options = (
        {} if record.time_argument is None else {record.time_argument: 2.0 if record.time_argument == "time" else [2.0]}
    )
    if record.train != "unused":
        options["train"] = DATA
    with pytest.raises(AldsurvError, match=problem) as caught:
        record.load()(predicted, data, cause=cause, **options)
    assert "\n" not in str(caught.value)


def test_predicted_times_need_data_with_causes():
    with pytest.raises(ParameterError, match="needs data with causes, but data have events of one kind only"):
        metrics.concordance_harrell([1.0, 2.0, 3.0, 4.0], PLAIN, cause=1)


def test_training_rows_need_causes():
    for function in (metrics.integrated_brier_score, metrics.concordance_uno, metrics.brier_skill_score):
        with pytest.raises(ParameterError, match="train must have causes as data have"):
            function(two_causes(), DATA, train=PLAIN, cause=1)


def test_metrics_of_one_event_are_refused():
    with pytest.raises(
        ParameterError, match="metric 'mae' is not defined by cause; those that are: 'harrell_c', 'uno_c'"
    ):
        metrics.evaluate(two_causes(), DATA, train=DATA, cause=1, metrics=["mae"])
    with pytest.raises(ParameterError, match="no definition by cause"):
        metrics.crps(two_causes(), DATA)
    with pytest.raises(ParameterError, match="must be a CompetingDistribution, but is"):
        metrics.evaluate_causes(two_causes().overall(), DATA, train=DATA)
    with pytest.raises(DataError, match="no cause 'infection'"):
        metrics.log_likelihood(two_causes(1), SurvivalData.competing([1.0], [1], names=["infection"]))


def test_a_cause_without_events_has_no_order_but_a_brier_score():
    never = SurvivalData.competing([1, 2, 3, 4], [2, 2, 0, 2], names=["relapse", "death"])
    unnamed = SurvivalData.competing([1, 2, 3, 4], [1, 1, 0, 1], names=["death"])
    for data in (never, unnamed):
        risk = two_causes().incidence(2.0, "relapse")
        found = metrics.brier_score(two_causes(), data, [2.0], train=data, cause="relapse")
        assert found[0] == pytest.approx((risk**2).mean())
        for name in ("harrell_c", "uno_c", "antolini_c", "ici", "one_calibration", "auc", "brier_skill"):
            with pytest.warns(UndefinedMetricWarning):
                found = metrics.evaluate(two_causes(), data, train=data, cause="relapse", metrics=[name])
            assert np.isnan(found[name])
