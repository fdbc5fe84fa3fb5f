from __future__ import annotations

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
