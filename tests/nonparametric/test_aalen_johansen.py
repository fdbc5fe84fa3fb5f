from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lifelines import AalenJohansenFitter

from aldsurv import SurvivalData
from aldsurv.errors import DataError, ParameterError
from aldsurv.nonparametric.aalen_johansen import aalen_johansen
from aldsurv.nonparametric.kaplan_meier import kaplan_meier


def draw(n, seed, *, ties=False, entry=False, weight=False):
    rng = np.random.default_rng(seed)
    time = rng.exponential(5, n) + 0.1
    time = np.ceil(time) if ties else time
    more = {}
    if entry:
        more["entry"] = np.where(rng.random(n) < 0.5, time * rng.uniform(0.1, 0.9, n), -np.inf)
    if weight:
        more["weight"] = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.5, 2, n))
    return SurvivalData.competing(time, rng.integers(0, 4, n), **more)


def by_definition(data):
    """Incidence (causes, times) in a loop: S just before a time, times the share at risk that has the event then."""
    entry = np.full(len(data), -np.inf) if data.entry is None else data.entry
    counts = data.weights > 0
    survival, incidence, found = 1.0, np.zeros(3), []
    times = np.unique(data.time[counts])
    for t in times:
        at_risk = data.weights[(entry < t) & (t <= data.time)].sum()
        events = [data.weights[(data.time == t) & (data.cause == k)].sum() for k in (1, 2, 3)]
        incidence = incidence + survival * np.array(events) / at_risk
        survival *= 1 - sum(events) / at_risk
        found.append(incidence)
    return times, np.transpose(found)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("weight", [False, True])
@pytest.mark.filterwarnings("ignore:survival falls to 0")
def test_incidence_is_that_of_the_definition(ties, entry, weight):
    data = draw(120, 0, ties=ties, entry=entry, weight=weight)
    found = aalen_johansen(data)
    times, expected = by_definition(data)
    np.testing.assert_array_equal(found.times, times)
    np.testing.assert_allclose(found.incidence, expected, rtol=1e-10, atol=1e-14)
    # With the Kaplan-Meier estimate for any event they add up to 1.
    np.testing.assert_allclose(found.incidence.sum(axis=0), 1 - kaplan_meier(data).survival, atol=1e-12)
    assert found.events.sum() == pytest.approx(data.weights[data.event].sum())


def test_incidence_is_that_of_lifelines():
    data = draw(200, 1)
    found = aalen_johansen(data)
    for k in (1, 2, 3):
        fitted = AalenJohansenFitter(calculate_variance=False).fit(data.time, data.cause, event_of_interest=k)
        curve = fitted.cumulative_density_
        np.testing.assert_allclose(found.incidence_at(curve.index.to_numpy(), k), curve.iloc[:, 0], atol=1e-12)


def test_one_cause_is_kaplan_meier():
    data = draw(80, 2, ties=True)
    plain = SurvivalData.right(data.time, data.event)
    found = aalen_johansen(plain)
    assert found.causes == ("1",)
    np.testing.assert_allclose(found.incidence[0], 1 - kaplan_meier(plain).survival, atol=1e-14)


def test_curves_at_any_time_and_as_a_distribution():
    data = draw(60, 3)
    found = aalen_johansen(data)
    times = np.array([0.0, data.time.min(), 3.3, 100.0])
    expected = np.array([[(found.incidence[k, found.times <= t])[-1:].sum() for t in times] for k in range(3)])
    np.testing.assert_array_equal(found.incidence_at(times), expected)
    np.testing.assert_array_equal(found.incidence_at(times, "2"), expected[1])
    np.testing.assert_array_equal(found.distribution.incidence(times)[:, 0, :], expected)
    assert repr(found) == f"AalenJohansen({len(found.times)} times, causes=['1', '2', '3'])"
    with pytest.raises(ValueError, match="read-only"):
        found.incidence[0, 0] = 1
    with pytest.raises(ParameterError, match="times must be numbers, but 1 of 2 are NaN"):
        found.incidence_at([1.0, np.nan])
    with pytest.raises(ParameterError, match="cause must be a number from 1 to 3"):
        found.incidence_at(1.0, 4)
    with pytest.raises(DataError, match="an event at time 0"):
        _ = aalen_johansen(SurvivalData.competing([0, 1], [1, 2])).distribution


FROZEN = json.loads((Path(__file__).parent / "frozen" / "competing.json").read_text(encoding="utf-8"))


@pytest.fixture(params=sorted(FROZEN))
def frozen(request):
    """Rows, and what R computes from them."""
    part = FROZEN[request.param]
    curves = aalen_johansen(SurvivalData.competing(part["rows"]["time"], part["rows"]["cause"]))
    return curves, np.searchsorted(curves.times, part["times"], side="right") - 1, part


def test_standard_errors_and_limits_are_those_of_survfit(frozen):
    curves, places, part = frozen
    expected = part["survfit"]
    np.testing.assert_allclose(curves.incidence[:, places], expected["incidence"], rtol=1e-11)
    np.testing.assert_allclose(curves.std[:, places], expected["std"], rtol=1e-10)
    lower, upper = curves.band()
    np.testing.assert_allclose(lower[:, places], expected["lower"], rtol=1e-10)
    np.testing.assert_allclose(upper[:, places], expected["upper"], rtol=1e-10)


def test_variance_is_near_that_of_cuminc(frozen):
    """cmprsk has another estimate of the same variance, Aalen's."""
    curves, places, part = frozen
    np.testing.assert_allclose(curves.incidence[:, places], part["cuminc"]["incidence"], rtol=1e-11)
    np.testing.assert_allclose(curves.variance[:, places], part["cuminc"]["variance"], rtol=0.05)


def test_variance_is_the_sum_of_squared_influences():
    """The infinitesimal jackknife: how much the incidence moves when one row counts a little more."""
    data = draw(50, 4, ties=True)
    curves, step = aalen_johansen(data), 1e-5
    squares = np.zeros(curves.incidence.shape)
    for row in range(len(data)):
        weight = np.ones(len(data))
        ends = []
        for sign in (1, -1):
            weight[row] = 1 + sign * step
            ends.append(aalen_johansen(data.with_weight(weight)).incidence)
        squares += ((ends[0] - ends[1]) / (2 * step)) ** 2
    np.testing.assert_allclose(curves.variance, squares, rtol=1e-4, atol=1e-9)


@pytest.mark.filterwarnings("ignore:survival falls to 0")
def test_variance_with_delayed_entry_and_weights_is_that_of_the_delta_method():
    """Slopes of the incidence in the shares with an event at each time, which are multinomial draws."""
    curves = aalen_johansen(draw(60, 4, ties=True, entry=True, weight=True))
    shares, step = curves.events / curves.at_risk, 1e-6

    def incidence(given):
        before = np.concatenate([[1.0], np.cumprod(1 - given.sum(axis=0))[:-1]])
        return np.cumsum(before * given, axis=1)

    expected = np.zeros(shares.shape)
    for place in range(curves.times.size):
        slopes = []
        for k in range(3):
            moved = shares.copy()
            moved[k, place] += step
            high = incidence(moved)
            moved[k, place] -= 2 * step
            slopes.append((high - incidence(moved)) / (2 * step))
        share = shares[:, place]
        covariance = (np.diag(share) - np.outer(share, share)) / curves.at_risk[place]
        expected += np.einsum("kct,lct,kl->ct", slopes, slopes, covariance)
    inside = curves.survival > 0
    np.testing.assert_allclose(curves.variance[:, inside], expected[:, inside], rtol=1e-6, atol=1e-12)


def test_with_one_cause_variance_and_limits_are_those_of_kaplan_meier():
    data = draw(80, 5, ties=True, weight=True)
    plain = SurvivalData.right(data.time, data.event, weight=data.weight)
    curves, curve = aalen_johansen(plain), kaplan_meier(plain)
    np.testing.assert_allclose(curves.variance[0], curve.variance, rtol=1e-9, atol=1e-15)
    for ours, theirs in (("complementary", "log-log"), ("plain", "plain")):
        lower, upper = curves.band(0.9, ours, cause=1)
        low, high = curve.band(0.9, theirs)
        np.testing.assert_allclose(lower, 1 - high, atol=1e-12)
        np.testing.assert_allclose(upper, 1 - low, atol=1e-12)


def test_the_table_of_a_cause():
    curves = aalen_johansen(draw(60, 6))
    table = curves.table("2", 0.8)
    np.testing.assert_array_equal(table["incidence"], curves.incidence[1])
    np.testing.assert_array_equal(table["lower"], curves.band(0.8)[0][1])
    assert list(table) == ["time", "at_risk", "events", "incidence", "std", "lower", "upper"]


def test_drawn_errors_have_the_variance_of_the_curve():
    curves = aalen_johansen(draw(40, 7, ties=True))
    drawn = curves._drawn_errors(1, 20_000, 0)
    inside = curves.std[1] > 0
    np.testing.assert_allclose(drawn[:, inside].std(axis=0), curves.std[1, inside], rtol=0.05)


def test_a_simultaneous_band_holds_the_whole_curve_as_often_as_it_says():
    rng = np.random.default_rng(0)
    held = pointwise = 0
    for _ in range(200):
        first, second, lost = rng.exponential(10, 150), rng.exponential(15, 150), rng.uniform(0, 20, 150)
        time = np.minimum(np.minimum(first, second), lost)
        cause = np.where(lost <= np.minimum(first, second), 0, np.where(first <= second, 1, 2))
        curves = aalen_johansen(SurvivalData.competing(time, cause))
        truth = (1 - np.exp(-curves.times / 6)) * 0.6
        lower, upper = curves.simultaneous_band(1, samples=200, random_state=rng)
        inside = ~np.isnan(lower)
        held += ((lower <= truth) & (truth <= upper))[inside].all()
        lower, upper = curves.band(cause=1)
        pointwise += ((lower <= truth) & (truth <= upper))[inside].all()
    assert 0.90 <= held / 200 <= 0.985
    assert pointwise < held - 10


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"cause": "4"}, "cause must be a number from 1 to 3"),
        ({"cause": 1, "level": 1.0}, "level must be"),
        ({"cause": 1, "method": "log"}, "method must be"),
        ({"cause": 1, "start": 500.0}, "has no standard error"),
    ],
)
def test_bad_arguments_of_bands_are_refused(arguments, problem):
    with pytest.raises(ParameterError, match=problem):
        aalen_johansen(draw(40, 8)).simultaneous_band(**arguments)


def test_a_cause_without_events_has_no_simultaneous_band():
    curves = aalen_johansen(SurvivalData.competing([1, 2, 3], [1, 0, 1], names=["death", "relapse"]))
    with pytest.raises(DataError, match="no event of cause 'relapse'"):
        curves.simultaneous_band("relapse")
