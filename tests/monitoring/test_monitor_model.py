"""Numbers by period against the metrics and scipy, alarms against what was changed, and what is refused."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from aldsurv import CauseSpecificCox, SurvivalData, metrics
from aldsurv.columns.covariates import take_rows
from aldsurv.errors import AldsurvWarning, DataError, ParameterError
from aldsurv.monitoring import monitor_model
from aldsurv.monitoring.column_drift import _homogeneity
from monitoring.watched import MONTHS, fitted, rows


@pytest.fixture(scope="module")
def trained():
    return fitted()


@pytest.fixture(scope="module")
def model(trained):
    return trained[0]


@pytest.fixture(scope="module")
def quiet(trained):
    model, train, _ = trained
    x, y, month = rows(40, 1)
    return monitor_model(model, x, y, by=month, reference=train, samples=20), x, y, month


def test_numbers_of_a_period(model, quiet):
    result, x, y, month = quiet
    assert [period.period for period in result.periods] == list(MONTHS)
    predicted = model.predict_distribution(x)
    for name, period in zip(MONTHS, result.periods, strict=True):
        here = np.flatnonzero(month == name)
        ratio = metrics.observed_expected_ratio(predicted[here], y[here])
        assert (period.rows, period.events) == (here.size, ratio.observed)
        assert period.expected == pytest.approx(ratio.expected, rel=1e-9)
        assert period.ratio == pytest.approx(ratio.ratio, rel=1e-9)
        # The exact interval of a Poisson mean: each limit leaves 2.5 % beyond what was seen.
        low, high = (limit * period.expected for limit in (period.ratio_lower, period.ratio_upper))
        assert stats.poisson.sf(period.events - 1, low) == pytest.approx(0.025, rel=1e-6)
        assert stats.poisson.cdf(period.events, high) == pytest.approx(0.025, rel=1e-6)
        slope = metrics.calibration_slope(predicted[here], y[here])
        assert (period.slope, period.slope_lower) == pytest.approx((slope.slope, slope.lower), rel=1e-9)
        assert period.concordance == pytest.approx(
            metrics.concordance_harrell(-model.predict(take_rows(x, here)), y[here]), abs=1e-9
        )
        assert period.concordance_lower <= period.concordance <= period.concordance_upper


def test_nothing_changed_and_nothing_is_said(quiet):
    result = quiet[0]
    assert (result.alarms, result.verdict) == ((), "No alarm in 18 months")
    assert math.isclose(sum(result.alphas.values()), result.alpha)
    assert result.rows == 18 * 40
    frame = result.to_frame()
    assert list(frame.index) == list(MONTHS)
    assert frame.loc["2023-03", "events"] == result.periods[2].events
    assert len(result.drift_frame()) == 18 * 3
    assert {each.name for each in dataclasses.fields(result)} <= set(result.to_dict())


def test_more_events_are_found_and_dated(model, trained):
    x, y, month = rows(60, 2, factor=2.0)
    result = monitor_model(model, x, y, by=month, reference=trained[1], samples=20)
    (alarm,) = result.alarms
    assert alarm.test == "observed/expected"
    assert "2023-08" <= alarm.since <= "2023-10"
    assert alarm.since <= alarm.period <= "2024-02"
    here = np.flatnonzero((month >= alarm.since) & (month <= alarm.period))
    ratio = metrics.observed_expected_ratio(model.predict_distribution(take_rows(x, here)), y[here])
    assert alarm.value == pytest.approx(ratio.ratio, rel=1e-9)
    assert alarm.evidence >= alarm.limit == pytest.approx(1 / 0.025)
    assert result.verdict.startswith(f"Alarm in {alarm.period}: observed/expected {alarm.value:.2f} (")
    # The same in numbers of another kind: fewer events.
    fewer = monitor_model(model, *rows(60, 3, factor=0.5)[:2], by=month, samples=2)
    assert fewer.alarms[0].test == "observed/expected"
    assert fewer.alarms[0].value < 1


def test_smaller_differences_between_people_are_found(model):
    x, y, month = rows(150, 4, slope=0.2)
    result = monitor_model(model, x, y, by=month, samples=2)
    alarms = {alarm.test: alarm for alarm in result.alarms}
    assert alarms["calibration slope"].period >= "2023-09"
    assert alarms["calibration slope"].value < 0.7
    assert "covariate drift" not in alarms


def test_covariates_that_moved_are_found(model, trained):
    x, y, month = rows(80, 5, shift=0.8)
    x["site"] = np.where(month >= "2024-01", "east", x["site"])
    with pytest.warns(AldsurvWarning, match="levels that training had not shown"):
        result = monitor_model(model, x, y, by=month, reference=trained[1], samples=2)
    first = {alarm.column: alarm for alarm in result.alarms if alarm.test == "covariate drift"}
    assert {name: alarm.period for name, alarm in first.items()} == {"a": "2023-09", "site": "2024-01"}
    drift = {(each.period, each.column): each for each in result.drift}
    assert drift["2024-02", "site"].outside == 1.0
    assert drift["2023-02", "site"].outside == 0.0
    here = month == "2024-02"
    spread = math.sqrt((x["a"][here].var() + trained[1]["a"].var()) / 2)
    expected = (x["a"][here].mean() - trained[1]["a"].mean()) / spread
    assert drift["2024-02", "a"].difference == pytest.approx(expected, rel=1e-9)
    assert drift["2024-02", "a"].outside == pytest.approx(np.mean(x["a"][here] > trained[1]["a"].max()), abs=1e-12)


def smoothed(counts: np.ndarray) -> np.ndarray:
    """Shares, with half a row of the smaller sample in each bin."""
    half = 0.5 / counts.sum(1).min()
    shares = counts / counts.sum(1, keepdims=True) + half
    return shares / shares.sum(1, keepdims=True)


def test_the_test_of_drift_and_the_stability_index_are_those_of_their_definitions(model, trained):
    x, y, month = rows(200, 6)
    x["a"] = np.where(np.arange(month.size) % 50 == 0, np.nan, x["a"])
    with pytest.warns(AldsurvWarning, match="gaps where training had none"):
        result = monitor_model(model, x, y, by=month, reference=trained[1], samples=2)
    drift = {(each.period, each.column): each for each in result.drift}
    here, train = month == "2023-05", trained[1]
    found, k = drift["2023-05", "site"], 5
    counts = np.array(
        [[np.sum(values == name) for name in ("north", "south")] for values in (train["site"], x["site"][here])]
    )
    assert found.p_value == pytest.approx(doubled_tail(counts[:, 0], counts.sum(1)), rel=1e-9)
    shares = smoothed(counts)
    assert found.psi == pytest.approx(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum(), rel=1e-9)
    assert found.limit == pytest.approx(0.05 / 4 / (k * (k + 1)) / 3)
    assert sum(each.limit for each in result.drift) < 0.05 / 4
    pooled = np.concatenate([train["b"], x["b"][here]])
    cuts = np.quantile(pooled, np.arange(1, 10) / 10)
    sizes = train["b"].size, here.sum()
    below = [[np.sum(values <= cut) for values in (train["b"], x["b"][here])] for cut in cuts]
    by_cut = min(doubled_tail(part, sizes) for part in below)
    assert drift["2023-05", "b"].p_value == pytest.approx(min(1, 9 * by_cut), rel=1e-9)
    numbers = drift["2023-05", "a"]
    assert numbers.gaps == pytest.approx(np.isnan(x["a"][here]).mean())
    cuts = np.quantile(train["a"], np.arange(1, 10) / 10)
    table = np.array(
        [
            np.bincount(np.searchsorted(cuts, v), minlength=10)
            for v in (train["a"], x["a"][here][~np.isnan(x["a"][here])])
        ]
    )
    known = np.column_stack([table, [0, np.isnan(x["a"][here]).sum()]])
    shares = smoothed(known)
    assert numbers.psi == pytest.approx(((shares[1] - shares[0]) * np.log(shares[1] / shares[0])).sum(), rel=1e-9)


def doubled_tail(part, sizes) -> float:
    """Twice the smaller tail of the number of rows of a part in the second of two samples."""
    drawn = stats.hypergeom(int(sum(sizes)), int(sum(part)), int(sizes[1]))
    return min(1.0, 2 * min(drawn.cdf(part[1]), drawn.sf(part[1] - 1)))


def test_levels_are_tested_each_against_the_rest():
    base, other = np.array([500.0, 480.0, 3.0, 0.0]), np.array([40.0, 45.0, 9.0, 0.0])
    sizes = base.sum(), other.sum()
    each = min(doubled_tail((base[k], other[k]), sizes) for k in range(3))
    assert _homogeneity(base, other, ordered=False) == pytest.approx(3 * each, rel=1e-9)
    # Gaps count as a level, and also beside numbers.
    gaps = np.array([500.0, 480.0, 3.0]), np.array([40.0, 45.0, 9.0])
    for ordered in (False, True):
        assert _homogeneity(*gaps, ordered=ordered) <= 3 * doubled_tail((3, 9), sizes) + 1e-12
    assert math.isnan(_homogeneity(np.array([500.0, 0.0, 0.0]), np.array([40.0, 0.0, 0.0]), ordered=False))


def test_p_values_are_never_too_small():
    """Under equal distributions at most a share p of the p-values is at most p, also with few rows."""
    rng = np.random.default_rng(0)
    shares, p_values = np.array([0.6, 0.3, 0.06, 0.04]), []
    for _ in range(1500):
        base, other = (np.append(rng.multinomial(n, shares), 0.0) for n in (60, 15))
        p_values.append([_homogeneity(base, other, ordered=ordered) for ordered in (False, True)])
    for level in (0.01, 0.05, 0.2):
        assert np.all(np.mean(np.array(p_values) <= level, axis=0) <= level + 3 * math.sqrt(level / 1500))


def test_first_periods_as_reference(model):
    x, y, month = rows(30, 7)
    result = monitor_model(model, x, y, by=month, reference_periods=3, samples=2)
    assert result.reference == "the first periods, 2023-01 to 2023-03"
    known = {each.period for each in result.drift if math.isfinite(each.psi)}
    assert known == set(MONTHS[3:])
    with pytest.raises(ParameterError, match="reference_periods must be fewer"):
        monitor_model(model, x, y, by=month, reference_periods=18)


def test_person_time_may_be_cut_into_periods(model):
    """Rows cut in two parts, the later with delayed entry, expect in sum what the whole rows did."""
    x, y, _ = rows(20, 8)
    cut = 0.3
    late = y.time > cut
    time = np.concatenate([np.minimum(y.time, cut), y.time[late]])
    event = np.concatenate([y.event & ~late, y.event[late]])
    entry = np.concatenate([np.zeros(len(y)), np.full(late.sum(), cut)])
    person = np.concatenate([np.arange(len(y)), np.flatnonzero(late)])
    both = {name: np.concatenate([values, values[late]]) for name, values in x.items()}
    by = np.repeat([2023, 2024], [len(y), late.sum()])
    parts = SurvivalData.right(time, event, entry=entry, group=person)
    result = monitor_model(model, both, parts, by=by, samples=2)
    whole = metrics.observed_expected_ratio(model.predict_distribution(x), y)
    assert result.expected == pytest.approx(whole.expected, rel=1e-9)
    assert result.events == whole.observed
    assert math.isnan(result.periods[1].concordance)
    assert "C is not defined for delayed entry" in result.periods[1].notes
    # The same rows as episodes of persons.
    episodes = SurvivalData.episodes(person, entry, time, event)
    again = monitor_model(model, both, episodes, by=by, samples=2)
    assert [period.expected for period in again.periods] == pytest.approx([p.expected for p in result.periods])
    with pytest.warns(AldsurvWarning, match="times overlap"):
        monitor_model(model, both, SurvivalData.right(time, event, group=person), by=by, samples=2)


def test_weights_count_in_the_estimates_and_not_in_the_tests(model):
    x, y, month = rows(30, 9)
    weight = np.where(np.arange(len(y)) % 2 == 0, 2.0, 0.0)
    heavy = monitor_model(model, x, y.with_weight(weight), by=month, samples=2)
    kept = np.flatnonzero(weight)
    plain = monitor_model(model, take_rows(x, kept), y[kept], by=month[kept], samples=2)
    for one, other in zip(heavy.periods, plain.periods, strict=True):
        assert (one.rows, one.events) == (other.rows, 2 * other.events)
        assert one.ratio == pytest.approx(other.ratio, rel=1e-9)
        assert one.ratio_evidence == pytest.approx(other.ratio_evidence, rel=1e-9)
        assert one.slope_evidence == pytest.approx(other.slope_evidence, rel=1e-9)


def test_a_period_without_an_event(model):
    x, y, month = rows(30, 10)
    none = month == "2023-05"
    result = monitor_model(model, x, SurvivalData.right(y.time, y.event & ~none), by=month, samples=2)
    period = result.periods[4]
    assert (period.events, period.ratio, period.ratio_lower) == (0, 0, 0)
    assert period.ratio_upper == pytest.approx(-math.log(0.025) / period.expected)
    assert math.isnan(period.slope)
    assert period.notes == ("fewer than 10 events",)


def test_causes():
    x, y, month = rows(25, 11)
    rng = np.random.default_rng(0)
    codes = np.where(y.event, 1 + (rng.random(len(y)) < 0.4), 0)
    data = SurvivalData.competing(y.time, codes, names=("relapse", "death"))
    model = CauseSpecificCox().fit(x, data)
    one = monitor_model(model, x, data, by=month, cause="death", samples=2)
    assert one.cause == "death"
    assert one.events == (codes == 2).sum()
    # A Cox model expects as many events of its training rows as it saw; the hazard of a step is cut in stretches.
    assert one.expected == pytest.approx(one.events, rel=0.05)
    both = monitor_model(model, x, data, by=month, samples=2)
    assert (both.cause, both.events) == (None, (codes > 0).sum())
    assert both.notes == ("Events are the first of any cause.",)
    with pytest.raises(ParameterError, match="rows with causes"):
        monitor_model(model, x, y, by=month, cause="death")


def test_what_is_refused(model):
    x, y, month = rows(10, 12)
    with pytest.raises(DataError, match="by has 5 values"):
        monitor_model(model, x, y, by=["2024", "2024", "2024", "2024", "2025"])
    with pytest.raises(DataError, match="exact or right-censored"):
        monitor_model(model, x, SurvivalData.interval(y.time, y.time + 1), by=month)
    with pytest.raises(ParameterError, match="alpha must be"):
        monitor_model(model, x, y, by=month, alpha=1.5)
    with pytest.raises(ParameterError, match="needs a model that tells causes apart"):
        monitor_model(model, x, y, by=month, cause="death")
    with pytest.raises(ParameterError, match="fitted model"):
        monitor_model("model", x, y, by=month)
