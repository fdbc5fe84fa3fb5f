"""Metrics by cause: against R, loops over their definitions, and with one cause the metrics of one event."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import CauseHazards, CauseMixture, CumulativeIncidence, Exponential, Weibull
from aldsurv.metrics.point_estimates import ranking_time
from aldsurv.nonparametric import aalen_johansen
from aldsurv.registry import METRICS
from metrics import cause_definitions as definitions

FROZEN = json.loads((Path(__file__).parent / "frozen" / "competing.json").read_text(encoding="utf-8"))
TIMES = [1.0, 3.0, 6.5, 10.0]


@pytest.fixture(scope="module")
def frozen():
    rows = {name: np.array(column) for name, column in FROZEN["rows"].items()}
    predicted = CauseHazards([Exponential(1 / rows["rate1"]), Exponential(1 / rows["rate2"])])
    return predicted, SurvivalData.competing(rows["time"], rows["cause"])


@pytest.fixture(scope="module", params=["fine", "coarse and weighted"])
def rows(request):
    """A prediction that is not quite right, with equal values, test rows and others for the censoring."""
    special = request.param != "fine"
    truth, data = definitions.drawn(1, 60, coarse=special, weighted=special)
    _, train = definitions.drawn(2, 70, coarse=special, weighted=special)
    grid = np.arange(1.0, 19.0)
    predicted = CumulativeIncidence(grid, np.round(truth.scaled(1.3).incidence(grid), 2), truth.causes)
    return predicted, data, train


@pytest.mark.parametrize("cause", [1, 2])
def test_brier_auc_and_skill_are_those_of_risk_regression(frozen, cause):
    predicted, data = frozen
    expected, times = FROZEN["causes"][str(cause)], FROZEN["times"]
    found = metrics.brier_score(predicted, data, times, train=data, cause=cause)
    np.testing.assert_allclose(found, expected["brier"], rtol=1e-10)
    found = metrics.cumulative_dynamic_auc(predicted, data, times, train=data, cause=cause)
    np.testing.assert_allclose(found.auc, expected["auc"], rtol=1e-10)
    width = np.diff(times)
    ibs, without = (
        (width * (np.array(score)[1:] + np.array(score)[:-1]) / 2).sum() / width.sum()
        for score in (expected["brier"], expected["brier_null"])
    )
    found = metrics.integrated_brier_score(predicted, data, train=data, times=times, cause=cause)
    assert found == pytest.approx(ibs, rel=1e-10)
    found = metrics.brier_skill_score(predicted, data, train=data, times=times, cause=cause)
    assert found == pytest.approx(1 - ibs / without, rel=1e-10)


@pytest.mark.parametrize("cause", [1, 2])
def test_concordance_is_that_of_pec(frozen, cause):
    predicted, data = frozen
    later = -predicted.incidence(6.0, cause)
    for tau, expected in zip(FROZEN["tau"], FROZEN["causes"][str(cause)]["cindex"], strict=True):
        found = metrics.concordance_uno(later, data, train=data, tau=tau, cause=cause)
        assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("cause", [1, 2])
def test_the_calibration_curve_is_that_of_fine_and_gray(frozen, cause):
    predicted, data = frozen
    risk, observed = predicted.incidence(5.0, cause), np.array(FROZEN["causes"][str(cause)]["observed"])
    order = np.argsort(risk, kind="stable")
    curve = metrics.calibration_curve(predicted, data, 5.0, cause=cause)
    np.testing.assert_allclose(curve.predicted, risk[order], rtol=1e-12)
    np.testing.assert_allclose(curve.observed, observed[order], rtol=1e-8)
    index = metrics.integrated_calibration_index(predicted, data, 5.0, cause=cause)
    distance = np.abs(risk - observed)
    assert index.ici == pytest.approx(distance.mean(), rel=1e-8)
    assert index.e50 == pytest.approx(np.quantile(distance, 0.5, method="inverted_cdf"), rel=1e-8)
    assert index.e90 == pytest.approx(np.quantile(distance, 0.9, method="inverted_cdf"), rel=1e-8)


@pytest.mark.parametrize("cause", ["relapse", "death"])
@pytest.mark.parametrize("ties", ["events_first", "scikit-survival"])
def test_brier_and_auc_are_those_of_the_definition(rows, cause, ties):
    predicted, data, train = rows
    number, before = predicted.causes.index(cause) + 1, ties == "events_first"
    found = metrics.brier_score(predicted, data, TIMES, train=train, cause=cause, ties=ties)
    auc = metrics.cumulative_dynamic_auc(predicted, data, TIMES, train=train, cause=cause, ties=ties)
    for place, t in enumerate(TIMES):
        risk = predicted.incidence(t, cause)
        expected = definitions.brier(data, number, risk, t, train, before=before)
        assert found[place] == pytest.approx(expected, rel=1e-10)
        assert auc.auc[place] == pytest.approx(definitions.auc(data, number, risk, t, train, before=before), rel=1e-10)
    rise = np.diff(aalen_johansen(data).incidence_at(TIMES, cause), prepend=0.0)
    assert auc.mean == pytest.approx((auc.auc * rise).sum() / rise.sum(), rel=1e-10)


@pytest.mark.parametrize("cause", ["relapse", "death"])
def test_concordances_are_those_of_the_definition(rows, cause):
    predicted, data, train = rows
    number = predicted.causes.index(cause) + 1
    later = 1 - predicted.incidence(5.0, cause)
    found = metrics.concordance_harrell(later, data, cause=cause)
    assert found == pytest.approx(definitions.concordance(data, number, later), rel=1e-10)
    for tau in (4.0, 9.0):
        found = metrics.concordance_uno(later, data, train=train, tau=tau, cause=cause)
        assert found == pytest.approx(definitions.concordance(data, number, later, train, tau), rel=1e-10)
    found = metrics.concordance_antolini(predicted, data, cause=cause)
    assert found == pytest.approx(definitions.antolini(data, number, predicted), rel=1e-10)


def test_rows_are_ranked_by_the_time_lost_to_the_cause(rows):
    predicted, data, train = rows
    end = 1e-9 + np.sort(train.time[train.weights > 0])[-1]
    grid = np.append(predicted.times[predicted.times < end], end)
    edges = np.append(0.0, grid)
    risk = np.concatenate([np.zeros((len(data), 1)), predicted.incidence(edges[1:-1], 1)], axis=1)
    free = (1 - risk) @ np.diff(edges)
    ranked = predicted.subdistribution(1).restricted_mean(end)
    np.testing.assert_allclose(ranked, free, rtol=1e-12)
    by_time = metrics.concordance_harrell(predicted, data, train=data, cause=1)
    later = ranking_time(predicted.subdistribution(1), data)
    assert by_time == pytest.approx(metrics.concordance_harrell(later, data, cause=1), rel=1e-12)


@pytest.mark.parametrize("cause", [1, 2])
def test_levels_are_those_of_the_definition(rows, cause):
    truth, data = definitions.drawn(3, 60, weighted=True)
    expected = definitions.counts(data, cause, truth, 7)
    np.testing.assert_allclose(metrics.calibration_counts(truth, data, bins=7, cause=cause), expected, rtol=1e-9)
    share = expected / expected.sum()
    found = metrics.censored_d_calibration(truth, data, bins=7, cause=cause)
    assert found == pytest.approx(100 * ((share - 1 / 7) ** 2).sum(), rel=1e-8)
    test = metrics.d_calibration(truth, data, bins=7, cause=cause)
    assert test.statistic == pytest.approx(7 * expected.sum() * ((share - 1 / 7) ** 2).sum(), rel=1e-8)
    line = metrics.survival_calibration(truth, data, bins=7, cause=cause)
    slope, intercept = np.polyfit(np.arange(1, 8) / 7, np.cumsum(share), 1)
    assert line == pytest.approx((slope, intercept), rel=1e-8)


def test_delayed_entry_conditions_the_levels():
    truth, data = definitions.drawn(4, 50)
    entry = 0.4 * data.time
    delayed = SurvivalData.competing(data.time, data.cause, entry=entry, names=list(data.causes))
    found = metrics.event_levels(truth, delayed, cause=1)
    expected = metrics.event_levels(truth.conditional(entry), data, cause=1)
    np.testing.assert_allclose(found.low, expected.low, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=1e-6)


def test_an_event_at_zero_is_an_early_one():
    predicted = CauseMixture([Exponential([2.0] * 4), Exponential([3.0] * 4)], [0.4, 0.6])
    data = SurvivalData.competing([0, 0, 1, 2], [1, 2, 1, 0])
    levels = metrics.event_levels(predicted, data, cause=1)
    assert (levels.low[0], levels.high[0]) == (0.0, pytest.approx(1 - np.exp(-1 / 2)))
    assert levels.weight[:3].tolist() == [1.0, 0.0, 1.0]
    expected = [0.4 * (1 - np.exp(-1 / 2)), 0.6 * (1 - np.exp(-1 / 3)), 0.4 * np.exp(-1 / 2) / 2]
    expected.append(0.4 * np.exp(-1) + 0.6 * np.exp(-2 / 3))
    assert metrics.log_likelihood(predicted, data) == pytest.approx(np.log(expected).mean(), rel=1e-10)


def test_likelihoods_are_of_time_and_cause():
    truth, data = definitions.drawn(5, 70, weighted=True)
    _, train = definitions.drawn(6, 50)
    density, survival = truth.density(data.time[:, None])[:, :, 0], truth.survival(data.time[:, None])[:, 0]
    likelihood = np.where(data.cause > 0, density[np.maximum(data.cause - 1, 0), np.arange(70)], survival)
    found = metrics.log_likelihood(truth, data)
    assert found == pytest.approx(np.average(np.log(likelihood), weights=data.weights), rel=1e-8)
    rate = np.array([np.nan, *((train.cause == k).sum() / train.time.sum() for k in (1, 2))])
    usual = np.exp(-np.nansum(rate) * data.time) * np.where(data.cause > 0, rate[data.cause], 1.0)
    found = metrics.bounded_log_likelihood(truth, data, train=train)
    assert found == pytest.approx(np.average(np.log(0.99 * likelihood + 0.01 * usual), weights=data.weights), rel=1e-8)


def test_calibration_in_the_large_and_by_groups_compare_with_aalen_johansen():
    truth, data = definitions.drawn(7, 300)
    curves, risk = aalen_johansen(data), truth.incidence(6.0, "relapse")
    found = metrics.calibration_in_the_large(truth, data, 6.0, cause="relapse")
    observed = float(curves.incidence_at(6.0, "relapse"))
    assert found.difference == pytest.approx(observed - risk.mean(), rel=1e-9)
    assert found[3:] == pytest.approx((observed, risk.mean(), observed / risk.mean()), rel=1e-9)
    assert found.lower < found.difference < found.upper
    test = metrics.one_calibration(truth, data, 6.0, bins=3, least=0, cause="relapse", variance="greenwood")
    rank = np.unique(risk, return_inverse=True)[1]
    tied = np.bincount(rank)
    group = np.minimum((3 * (np.cumsum(tied) - tied / 2) / 300).astype(int), 2)[rank]
    statistic = 0.0
    for g in range(3):
        part = aalen_johansen(data[group == g])
        place = np.searchsorted(part.times, 6.0, side="right") - 1
        assert test.observed[g] == pytest.approx(part.incidence[0, place], rel=1e-12)
        statistic += (risk[group == g].mean() - part.incidence[0, place]) ** 2 / part.variance[0, place]
    assert test.statistic == pytest.approx(statistic, rel=1e-9)
    assert metrics.one_calibration(truth, data, 6.0, cause="relapse").p_value > 1e-4
    at = np.linspace(1e-9, 6, 4001)
    distance = (truth.incidence(at, 1).mean(axis=0) - curves.incidence_at(at, 1)) ** 2
    found = metrics.km_calibration(truth, data, horizon=6.0, cause="relapse")
    assert found == pytest.approx(np.trapezoid(distance, at) / 6, rel=0.02)


EACH = [record.name for record in METRICS.records() if record.causes == "each"]


def test_no_order_of_rows_unit_of_time_or_copy_of_a_row_changes_a_metric(rows):
    predicted, data, train = rows

    def scores(predicted, data, train):
        return metrics.evaluate(predicted, data, train=train, cause="death", metrics=EACH)

    expected = scores(predicted, data, train)
    assert np.isfinite(list(expected.values())).all()
    order = np.random.default_rng(0).permutation(len(data))
    assert scores(predicted[order], data[order], train[::-1]) == pytest.approx(expected, rel=1e-9)
    assert scores(predicted.scaled(4.0), data.scaled(4.0), train.scaled(4.0)) == pytest.approx(expected, rel=1e-9)
    copies = np.random.default_rng(1).integers(0, 3, len(data))
    more = np.repeat(np.arange(len(data)), copies)
    weighted = scores(predicted, data.with_weight(data.weights * copies), train)
    assert scores(predicted[more], data[more], train) == pytest.approx(weighted, rel=1e-9)


whole_times = st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2), st.integers(1, 4)), min_size=4, max_size=12)


@given(whole_times, whole_times)
def test_weighted_scores_of_any_rows_are_those_of_the_definition(some, others):
    (time, cause, level), (train_time, train_cause, _) = (
        np.array(list(zip(*part, strict=True))) for part in (some, others)
    )
    data = SurvivalData.competing(time, cause, names=["relapse", "death"])
    train = SurvivalData.competing(train_time, train_cause, names=["relapse", "death"])
    share = level / 5
    incidence = np.stack([share * 0.5, 1 - share])[:, :, None] * np.array([0.2, 0.5, 0.9])
    predicted = CumulativeIncidence([2.0, 3.0, 5.0], incidence, ["relapse", "death"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        score = metrics.brier_score(predicted, data, [3.0], train=train, cause="relapse")[0]
        auc = metrics.cumulative_dynamic_auc(predicted, data, [3.0], train=train, cause="relapse").auc[0]
        uno = metrics.concordance_uno(1 - share, data, train=train, cause="relapse", tau=3.5)
    risk = predicted.incidence(3.0, "relapse")
    if not np.isnan(score):
        assert score == pytest.approx(definitions.brier(data, 1, risk, 3.0, train), rel=1e-9)
    if not np.isnan(auc):
        assert auc == pytest.approx(definitions.auc(data, 1, risk, 3.0, train), rel=1e-9)
    if not np.isnan(uno):
        assert uno == pytest.approx(definitions.concordance(data, 1, 1 - share, train, 3.5), rel=1e-9)


@pytest.mark.parametrize("name", [record.name for record in METRICS.records() if record.causes != "none"])
@pytest.mark.parametrize("coarse", [False, True])
def test_with_one_cause_a_metric_is_that_of_the_event(name, coarse):
    rng = np.random.default_rng(8)
    curve = Weibull(rng.choice([4.0, 6.0, 9.0, 13.0], 80), 1.4)
    event, lost = curve.sample(random_state=rng), rng.uniform(0, 15, 80)
    time = np.ceil(np.minimum(event, lost)) if coarse else np.minimum(event, lost)
    data = SurvivalData.right(time, event <= lost, weight=rng.integers(0, 3, 80))
    with_causes = SurvivalData.competing(time, (event <= lost).astype(int), names=["death"], weight=data.weight)
    predicted = CauseMixture([curve.scaled(1.1)], [1.0], ["death"])
    expected = metrics.evaluate(curve.scaled(1.1), data, train=data, metrics=[name])
    found = metrics.evaluate(predicted, with_causes, train=with_causes, metrics=[name], cause="death")
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)


def test_the_truth_scores_best_and_is_calibrated():
    truth, data = definitions.drawn(9, 2000)
    moved = truth.scaled(1.4)
    swapped = CauseMixture(tuple(reversed(truth.parts)), truth.probabilities[:, ::-1], truth.causes)
    rows = metrics.evaluate_causes(truth, data, train=data)
    for wrong in (moved, swapped):
        scores = metrics.evaluate_causes(wrong, data, train=data)
        for cause in truth.causes:
            assert rows[cause]["ibs"] < scores[cause]["ibs"]
            assert rows[cause]["log_likelihood"] > scores[cause]["log_likelihood"]
    for cause in truth.causes:
        assert metrics.d_calibration(truth, data, cause=cause).p_value > 0.01
        assert metrics.one_calibration(truth, data, 6.0, cause=cause).p_value > 0.01
        assert abs(metrics.calibration_in_the_large(truth, data, 6.0, cause=cause).difference) < 0.03
        assert metrics.integrated_calibration_index(truth, data, 6.0, cause=cause).ici < 0.03
        assert metrics.brier_skill_score(truth, data, train=data, cause=cause) > 0
    assert metrics.d_calibration(moved, data, cause="relapse").p_value < 1e-3
    assert metrics.integrated_calibration_index(swapped, data, 6.0, cause="relapse").ici > 0.05
