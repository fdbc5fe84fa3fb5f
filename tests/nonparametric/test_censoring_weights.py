from __future__ import annotations

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sksurv.nonparametric import CensoringDistributionEstimator, kaplan_meier_estimator

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.nonparametric import censoring_distribution, inverse_censoring_weights, kaplan_meier

EXACT = {"rtol": 1e-12, "atol": 0}
right = SurvivalData.right


def simulated(seed: int, n: int = 300, *, ties: bool = True) -> SurvivalData:
    rng = np.random.default_rng(seed)
    event, censoring = rng.exponential(20, n), rng.uniform(5, 60, n)
    time = np.minimum(event, censoring)
    return right(np.ceil(time) if ties else time, event <= censoring)


@st.composite
def small_data(draw: st.DrawFn, entry: bool = True) -> SurvivalData:
    n = draw(st.integers(1, 12))
    time = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), float)
    event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([0.1, 0.7, 1.0, 3.0]), min_size=n, max_size=n) | st.none())
    start = None
    if entry and draw(st.booleans()):
        start = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), float)
        start = np.where(start < time, start, -np.inf)
    return right(time, event, entry=start, weight=weight)


@given(small_data())
def test_censoring_by_definition(data):
    """At a tie events come first: at risk of censoring at t are those at risk at t without an event at t."""
    entry = [-np.inf] * len(data) if data.entry is None else data.entry.tolist()
    rows = list(zip(entry, data.time.tolist(), data.event.tolist(), map(Fraction, data.weights.tolist()), strict=True))
    survival, expected = Fraction(1), []
    for t in sorted({row[1] for row in rows}):
        at_risk = sum(w for a, y, e, w in rows if a < t <= y and not (y == t and e))
        censored = sum(w for _, y, e, w in rows if y == t and not e)
        survival *= 1 - Fraction(censored) / at_risk if at_risk else 1
        expected.append((at_risk, censored, survival))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        curve = censoring_distribution(data)
    for name, values in zip(("at_risk", "events", "survival"), zip(*expected, strict=True), strict=True):
        np.testing.assert_allclose(getattr(curve, name), [float(v) for v in values], **EXACT, err_msg=name)
        np.testing.assert_array_equal(getattr(curve, name) == 0, [v == 0 for v in values], err_msg=name)
    assert np.isfinite(curve.greenwood).all()


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_against_scikit_survival(seed, ties):
    data, test = simulated(seed, ties=ties), simulated(seed + 100, ties=ties)
    curve = censoring_distribution(data)
    times, survival = kaplan_meier_estimator(data.event, data.time, reverse=True)
    np.testing.assert_array_equal(curve.times, times)
    np.testing.assert_allclose(curve.survival, survival, **EXACT)

    reference = CensoringDistributionEstimator().fit(data.to_structured())
    end = data.time[data.event].max()
    inside = test[test.time < end]
    for part in (data[data.time < end], inside):
        expected = reference.predict_ipcw(part.to_structured())
        np.testing.assert_allclose(inverse_censoring_weights(part, curve), expected, **EXACT)
        np.testing.assert_allclose(inverse_censoring_weights(part, data), expected, **EXACT)


def test_ties_matter():
    # Exchanging the flags alone would put the censoring at 2 beside the event at 2: 1/3 of 3, not 1/2 of 2.
    data = right([1, 2, 2, 4], [1, 1, 0, 1])
    assert censoring_distribution(data).survival.tolist() == [1, 0.5, 0.5]
    assert kaplan_meier(right(data.time, ~data.event)).survival.tolist() == [1, 2 / 3, 2 / 3]


@given(small_data(entry=False))
def test_weighted_events_are_the_mass_of_the_event_curve(data):
    # No censoring at the time of an event, where G(t) and G(t-) differ, and none after the last event.
    time = np.append(data.time + np.where(data.event, 0.0, 0.5), 9.0)
    data = right(time, np.append(data.event, True), weight=np.append(data.weights, 1.0))
    mass = inverse_censoring_weights(data, data) * data.weights / data.total_weight
    assert mass.sum() == pytest.approx(1, rel=1e-12)
    for t in (0, 2, 5):
        assert mass[time <= t].sum() == pytest.approx(1 - kaplan_meier(data).survival_at(t), abs=1e-12)


def test_without_censoring_all_weights_are_one():
    data = right([1, 2, 3], [1, 1, 1])
    assert censoring_distribution(data).survival.tolist() == [1, 1, 1]
    assert inverse_censoring_weights(data, data).tolist() == [1, 1, 1]


def test_horizon():
    data = right([1, 2, 3, 4, 5], [1, 0, 1, 1, 1])
    assert inverse_censoring_weights(data, data).tolist() == [1, 0, 4 / 3, 4 / 3, 4 / 3]
    assert inverse_censoring_weights(data, data, horizon=3).tolist() == [1, 0, 4 / 3, 0, 0]
    assert inverse_censoring_weights(data, data, horizon=2.9).tolist() == [1, 0, 0, 0, 0]
    assert inverse_censoring_weights(data, data, horizon=np.inf).tolist() == [1, 0, 4 / 3, 4 / 3, 4 / 3]


def test_after_the_last_time_the_curve_is_held():
    training = right([1, 2, 3], [1, 0, 1])
    assert inverse_censoring_weights(right([0.5, 9], [1, 1]), training).tolist() == [1, 2]


def test_events_where_nobody_is_uncensored():
    training = right([1, 2, 3], [1, 0, 0])
    test = right([0.5, 2.5, 2.75, 3, 7, 8], [1, 1, 0, 1, 1, 0])
    message = (
        "an event at time 3.0 has no weight: by the estimate of the censoring no row is uncensored "
        "from time 3.0 on (row 3). "
        "The largest usable horizon is 2.5: give that, or drop later events."
    )
    with pytest.raises(CensoringError, match=f"^{re.escape(message)}$"):
        inverse_censoring_weights(test, training)
    assert inverse_censoring_weights(test, training, horizon=2.5).tolist() == [1, 2, 0, 0, 0, 0]
    message = (
        "an event at time 4.0 has no weight: by the estimate of the censoring no row is uncensored "
        "from time 3.0 on (row 0). "
        "No event comes before that: estimate the censoring from more rows."
    )
    with pytest.raises(CensoringError, match=f"^{re.escape(message)}$"):
        inverse_censoring_weights(right([4], [1]), censoring_distribution(training))


@pytest.mark.parametrize("horizon", [0, -1, np.nan, "5"])
def test_horizon_that_is_no_time(horizon):
    data = right([1, 2], [1, 0])
    with pytest.raises(ParameterError, match="horizon must be a positive number or None, but is"):
        inverse_censoring_weights(data, data, horizon=horizon)


def test_other_kinds_of_censoring_are_refused():
    data, mixed = right([1, 2], [1, 0]), SurvivalData.interval([1, 2], [1, 3])
    for act in (
        lambda: censoring_distribution(mixed),
        lambda: inverse_censoring_weights(mixed, data),
        lambda: inverse_censoring_weights(data, mixed),
    ):
        with pytest.raises(CensoringError, match="exact and right-censored rows only"):
            act()
