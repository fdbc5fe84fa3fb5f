"""Net benefit against dcurves, against its definition by brute force, and its limits against derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Exponential
from aldsurv.distributions.competing import CumulativeIncidence
from aldsurv.errors import CensoringError, ParameterError, UndefinedMetricWarning
from aldsurv.metrics import bootstrap, decision_curve, net_benefit
from aldsurv.metrics.decision.incidence_influence import incidence_influence
from aldsurv.nonparametric import aalen_johansen, kaplan_meier

THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.75])


def drawn_rows(seed: int, n: int = 300, censored: bool = True) -> tuple[np.ndarray, SurvivalData]:
    """Risks by time 3 that are somewhat wrong, and rows with tied times."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(1, 12, n)
    time = rng.exponential(mean)
    end = rng.uniform(3.2, 9, n) if censored else np.full(n, np.inf)
    end = np.where(rng.random(n) < 0.3, rng.uniform(0, 3, n), end) if censored else end
    observed = np.ceil(10 * np.minimum(time, end)) / 10
    return 1 - np.exp(-3 / mean**0.9), SurvivalData.right(observed, time <= end)


def by_definition(risk, time, kind, weights, until, threshold) -> float:
    """True less weighed false positives, the incidence among the treated by a loop over its times."""
    high = risk >= threshold
    if not high.any():
        return 0.0
    survival, incidence = 1.0, 0.0
    for u in np.unique(time[high]):
        if u > until:
            break
        at_risk = weights[high & (time >= u)].sum()
        own = weights[high & (time == u) & (kind == 1)].sum()
        other = weights[high & (time == u) & (kind == 2)].sum()
        incidence += survival * own / at_risk
        survival *= 1 - (own + other) / at_risk
    share = weights[high].sum() / weights.sum()
    return share * incidence - share * (1 - incidence) * threshold / (1 - threshold)


@pytest.mark.parametrize("seed", [0, 1])
def test_equals_dcurves_under_censoring(seed):
    import dcurves
    import pandas as pd

    risk, data = drawn_rows(seed)
    frame = pd.DataFrame({"time": data.time, "event": data.event.astype(int), "risk": risk})
    table = dcurves.dca(
        data=frame, outcome="event", modelnames=["risk"], thresholds=THRESHOLDS, time=3.0, time_to_outcome_col="time"
    )
    curve = decision_curve(risk, data, 3.0, thresholds=THRESHOLDS)
    by_name = {name: part.sort_values("threshold") for name, part in table.groupby("model")}
    np.testing.assert_allclose(curve.model.value, by_name["risk"]["net_benefit"], atol=1e-12)
    np.testing.assert_allclose(curve.treat_all.value, by_name["all"]["net_benefit"], atol=1e-12)
    np.testing.assert_allclose(curve.treat_none, by_name["none"]["net_benefit"])
    np.testing.assert_allclose(curve.treated, by_name["risk"]["test_pos_rate"])


def test_equals_dcurves_for_a_binary_outcome():
    import dcurves
    import pandas as pd

    risk, data = drawn_rows(2, censored=False)
    frame = pd.DataFrame({"event": (data.time <= 3.0).astype(int), "risk": risk})
    table = dcurves.dca(data=frame, outcome="event", modelnames=["risk"], thresholds=THRESHOLDS)
    avoided = dcurves.dca(data=frame, outcome="event", modelnames=["risk"], thresholds=THRESHOLDS)
    curve = decision_curve(risk, data, 3.0, thresholds=THRESHOLDS)
    expected = table[table["model"] == "risk"].sort_values("threshold")
    np.testing.assert_allclose(curve.model.value, expected["net_benefit"], atol=1e-12)
    per_person = avoided[avoided["model"] == "risk"].sort_values("threshold")["net_intervention_avoided"]
    np.testing.assert_allclose(curve.interventions_avoided.value, per_person, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_equals_the_definition_with_weights_and_causes(seed):
    rng = np.random.default_rng(seed)
    n = 80
    risk = rng.uniform(0.02, 0.95, n)
    time, kind = rng.integers(1, 9, n).astype(float), rng.integers(0, 3, n)
    time[:20], kind[:20] = 9.0, 0
    risk[:20] = np.linspace(0.02, 0.95, 20)
    weights = rng.uniform(0.2, 3, n)
    data = SurvivalData.competing(time, kind, weight=weights)
    incidence = np.stack([risk, np.full(n, 0.01)])[:, :, None]
    predicted = CumulativeIncidence([5.0], incidence, ("1", "2"))
    for cause_risk in (predicted, risk):
        curve = decision_curve(cause_risk, data, 5.0, thresholds=THRESHOLDS, cause=1)
        expected = [by_definition(risk, time, kind, weights, 5.0, p) for p in THRESHOLDS]
        np.testing.assert_allclose(curve.model.value, expected, atol=1e-12)
        everyone = [by_definition(np.ones(n), time, kind, weights, 5.0, p) for p in THRESHOLDS]
        np.testing.assert_allclose(curve.treat_all.value, everyone, atol=1e-12)
    values = [net_benefit(predicted, data, 5.0, threshold=p, cause=1) for p in THRESHOLDS]
    np.testing.assert_allclose(curve.model.value, values)


@pytest.mark.parametrize("causes", [False, True])
def test_influence_is_the_derivative_by_the_weight(causes):
    rng = np.random.default_rng(3)
    time = np.sort(rng.integers(1, 15, 40).astype(float))
    kind = rng.integers(0, 3 if causes else 2, 40)
    weights = rng.uniform(0.5, 2, 40)
    result = incidence_influence(time, kind, weights, 8.0)
    for row in range(40):
        step = np.zeros(40)
        step[row] = 1e-6
        up, down = (incidence_influence(time, kind, weights + sign * step, 8.0) for sign in (1, -1))
        slope = (up.incidence - down.incidence) / 2e-6
        assert result.influence[row] == pytest.approx(slope, abs=1e-7)


def test_squared_influence_is_greenwood():
    _, data = drawn_rows(5)
    order = np.argsort(data.time, kind="stable")
    rows = data[order]
    result = incidence_influence(rows.time, rows.event.astype(np.int64), np.ones(len(rows)), 3.0)
    curve = kaplan_meier(rows)
    place = np.searchsorted(curve.times, 3.0, side="right") - 1
    assert result.incidence == pytest.approx(1 - curve.survival[place])
    assert (result.influence**2).sum() == pytest.approx(curve.variance[place])


def test_incidence_of_a_cause_is_aalen_johansen():
    rng = np.random.default_rng(8)
    time, kind = np.sort(rng.integers(1, 30, 200).astype(float)), rng.integers(0, 3, 200)
    curves = aalen_johansen(SurvivalData.competing(time, kind))
    result = incidence_influence(time, kind, np.ones(200), 12.0)
    assert result.incidence == pytest.approx(float(curves.incidence_at(12.0, 1)))
    place = np.searchsorted(curves.times, 12.0, side="right") - 1
    # Greenwood's type counts shares of a binomial draw: equal up to terms of the order of 1/n².
    assert (result.influence**2).sum() == pytest.approx(curves.variance[0, place], rel=0.02)


def test_limits_without_censoring_are_those_of_a_mean():
    risk, data = drawn_rows(6, censored=False)
    curve = decision_curve(risk, data, 3.0, thresholds=THRESHOLDS, level=0.9)
    for k, p in enumerate(THRESHOLDS):
        each = np.where(risk >= p, np.where(data.time <= 3.0, 1.0, -p / (1 - p)), 0.0)
        error = each.std() / math.sqrt(len(each))
        assert curve.model.upper[k] - curve.model.value[k] == pytest.approx(1.6448536 * error)
        others = np.where(data.time <= 3.0, 1.0, -p / (1 - p))
        spread = (each - others).std() / math.sqrt(len(each))
        assert curve.gain.value[k] - curve.gain.lower[k] == pytest.approx(1.6448536 * spread)


def test_limits_agree_with_the_bootstrap():
    risk, data = drawn_rows(7, n=400)
    curve = decision_curve(Exponential(-3 / np.log1p(-risk)), data, 3.0, thresholds=[0.3])
    result = bootstrap(net_benefit, risk, data, samples=800, random_state=0, time=3.0, threshold=0.3)
    assert curve.model.value[0] == pytest.approx(result.value)
    analytic = (curve.model.upper[0] - curve.model.lower[0]) / (2 * 1.959964)
    assert analytic == pytest.approx(result.standard_error, rel=0.1)


def test_a_weight_is_a_number_of_rows():
    risk, data = drawn_rows(9, n=120)
    counts = np.random.default_rng(0).integers(0, 4, 120)
    copies = np.repeat(np.arange(120), counts)
    weighted = decision_curve(risk, data.with_weight(counts.astype(float)), 3.0, thresholds=THRESHOLDS)
    repeated = decision_curve(risk[copies], data[copies], 3.0, thresholds=THRESHOLDS)
    for name, column in weighted.table().items():
        np.testing.assert_allclose(column, repeated.table()[name], atol=1e-12, err_msg=name)


def test_copies_in_one_group_do_not_narrow_the_limits():
    risk, data = drawn_rows(10, n=120)
    twice = np.repeat(np.arange(120), 2)
    single = decision_curve(risk, data, 3.0, thresholds=THRESHOLDS)
    grouped = decision_curve(risk[twice], data[twice].with_group(twice), 3.0, thresholds=THRESHOLDS)
    np.testing.assert_allclose(grouped.model.lower, single.model.lower, atol=1e-12)
    np.testing.assert_allclose(grouped.gain.upper, single.gain.upper, atol=1e-12)


@given(st.integers(0, 10**6), st.floats(0.01, 0.9))
def test_laws(seed, threshold):
    _, data = drawn_rows(seed, n=60, censored=seed % 2 == 0)
    curve = decision_curve(np.full(60, 0.95), data, 3.0, thresholds=[threshold])
    # Whoever is above the threshold is treated: all of them is treating all.
    assert curve.model.value[0] == curve.treat_all.value[0]
    assert curve.gain.lower[0] == curve.gain.upper[0] == 0
    nobody = decision_curve(np.zeros(60), data, 3.0, thresholds=[threshold])
    assert nobody.model.value[0] == nobody.model.upper[0] == 0
    # At the observed prevalence as threshold treating all is worth nothing.
    prevalence = float(curve.observed[0])
    if 0 < prevalence < 1:
        at = decision_curve(np.ones(60), data, 3.0, thresholds=[prevalence])
        assert at.model.value[0] == pytest.approx(0, abs=1e-12)
    assert curve.model.value[0] <= prevalence + 1e-12


def test_a_perfect_prediction_is_worth_the_prevalence():
    _, data = drawn_rows(11, censored=False)
    known = (data.time <= 3.0).astype(float)
    curve = decision_curve(known, data, 3.0)
    np.testing.assert_allclose(curve.model.value, known.mean())
    assert curve.is_best.sum() == 99
    # All who have no event are spared.
    np.testing.assert_allclose(curve.interventions_avoided.value, 1 - known.mean())
    assert curve.table()["threshold"][0] == 0.01


def test_says_where_follow_up_is_too_short():
    data = SurvivalData.right([1, 2, 3, 9, 9], [1, 0, 1, 0, 0])
    risk = [0.9, 0.8, 0.3, 0.2, 0.1]
    with pytest.warns(UndefinedMetricWarning, match=r"at 1 of 2 thresholds \(first: 0.5\): the last of the treated"):
        curve = decision_curve(risk, data, 5.0, thresholds=[0.15, 0.5])
    assert np.isfinite(curve.model.value[0])
    assert np.isnan([curve.model.value[1], curve.model.lower[1], curve.gain.value[1]]).all()
    with pytest.warns(UndefinedMetricWarning, match="net_benefit is not defined"):
        assert math.isnan(net_benefit(risk, data, 5.0, threshold=0.5))
    with pytest.warns(UndefinedMetricWarning, match="no row has a positive weight"):
        assert np.isnan(decision_curve(risk[1:], data.with_weight([1, 0, 0, 0, 0])[1:], 5.0).model.value).all()


def test_refuses_what_has_no_definition():
    data = SurvivalData.right([1, 2, 3], [1, 0, 1])
    risk = [0.1, 0.5, 0.9]
    with pytest.raises(ParameterError, match="thresholds must be one or more probabilities from 0 to below 1"):
        decision_curve(risk, data, 2.0, thresholds=[0.5, 1.0])
    with pytest.raises(ParameterError, match="thresholds"):
        decision_curve(risk, data, 2.0, thresholds=[])
    with pytest.raises(ParameterError, match=r"probabilities from 0 to 1, but 1 of 3 are not \(row 2\)"):
        decision_curve([0.1, 0.5, 9.0], data, 2.0)
    with pytest.raises(ParameterError, match="threshold must be a number from 0 to below 1"):
        net_benefit(risk, data, 2.0, threshold=1.5)
    with pytest.raises(CensoringError, match="decision_curve is not defined for delayed entry"):
        decision_curve(risk, SurvivalData.right([1, 2, 3], [1, 0, 1], entry=[0, 1, 0]), 2.0)
    with pytest.raises(ParameterError, match="cause"):
        decision_curve(risk, data, 2.0, cause="death")
    assert {"decision_curve", "net_benefit", "DecisionCurve", "NetBenefit"} <= set(metrics.__all__)
