from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sksurv.metrics import concordance_index_censored, concordance_index_ipcw

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics import concordance_harrell, concordance_uno
from aldsurv.metrics.discrimination import pair_order
from aldsurv.metrics.discrimination.pair_order import PairOrder
from metrics import definitions
from metrics.definitions import right_censored, rows_of, simulated, uncensored_until

right = SurvivalData.right


def estimates(data: SurvivalData) -> st.SearchStrategy[list[float]]:
    values = st.sampled_from([0.0, 1.0, 2.0, 3.0, np.inf])
    return st.lists(values, min_size=len(data), max_size=len(data))


@given(right_censored(), st.data())
def test_harrell_by_definition(data, draw):
    estimate = draw.draw(estimates(data))
    expected = definitions.concordance(data, estimate, [Fraction(1)] * len(data))
    if expected is None:
        with pytest.warns(UserWarning, match="concordance_harrell is not defined and NaN"):
            assert np.isnan(concordance_harrell(estimate, data))
    else:
        assert concordance_harrell(estimate, data) == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


@given(right_censored(), right_censored(), st.data())
def test_uno_by_definition(data, train, draw):
    estimate = draw.draw(estimates(data))
    tau = draw.draw(st.sampled_from([None, 1, 2.5, 4]))
    training = [row for row in rows_of(train) if row[2] > 0]
    assume(training)
    positive = [y for y, _, _ in training if uncensored_until(training, y) > 0]
    end = Fraction(tau) if tau else max(positive, default=Fraction(0))
    uncensored = [uncensored_until(training, y) for y in map(Fraction, data.time.tolist())]
    begins = [e and y < end for y, e, _ in rows_of(data)]
    assume(all(g > 0 for g, begin in zip(uncensored, begins, strict=True) if begin))
    importance = [1 / g**2 if begin else Fraction(0) for g, begin in zip(uncensored, begins, strict=True)]
    expected = definitions.concordance(data, estimate, importance)
    if expected is None:
        with pytest.warns(UserWarning, match="concordance_uno is not defined and NaN"):
            assert np.isnan(concordance_uno(estimate, data, train=train, tau=tau))
    else:
        found = concordance_uno(estimate, data, train=train, tau=tau)
        assert found == pytest.approx(float(expected), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("censoring", [4.0, 60.0])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_survival(seed, censoring, ties):
    train, data = simulated(seed, ties=ties, censoring=censoring), simulated(seed + 50, ties=ties, censoring=censoring)
    rng = np.random.default_rng(seed)
    # Well apart or equal: scikit-survival also ties what is within 1e-8.
    estimate = np.round(data.time + rng.normal(0, 10, len(data)), 0 if ties else 6)
    expected = concordance_index_censored(data.event, data.time, -estimate)[0]
    assert concordance_harrell(estimate, data) == pytest.approx(expected, abs=1e-10)
    for tau in (np.median(train.time), np.quantile(train.time[train.event], 0.95)):
        expected = concordance_index_ipcw(train.to_structured(), data.to_structured(), -estimate, tau=tau)[0]
        assert concordance_uno(estimate, data, train=train, tau=tau) == pytest.approx(expected, abs=1e-10)


def tally(data: SurvivalData, estimate: np.ndarray, importance: np.ndarray) -> tuple[float, float]:
    """Twice the concordant and twice the comparable pairs, row by row."""
    concordant = comparable = 0
    weights = data.weights
    for i in np.flatnonzero(data.event):
        later = (data.time > data.time[i]) | ((data.time == data.time[i]) & ~data.event)
        score = (estimate > estimate[i]) * 2 + (estimate == estimate[i])
        concordant += importance[i] * weights[i] * (weights * score)[later].sum()
        comparable += importance[i] * weights[i] * 2 * weights[later].sum()
    return concordant, comparable


def tied_rows(n: int, seed: int, times: int, values: int) -> tuple[np.ndarray, SurvivalData, np.ndarray]:
    """Estimates and rows; at most so many different times and estimates, and weights to go with them."""
    rng = np.random.default_rng(seed)
    time, estimate = rng.exponential(1, n), rng.normal(size=n)
    time, estimate = (np.floor(stats.rankdata(x) * k / (n + 1)) for x, k in ((time, times), (estimate, values)))
    return estimate + time * values / (2 * times) // 1, right(time, rng.random(n) < 0.6), rng.integers(0, 3, n)


@pytest.mark.parametrize("values", [1, 7, 10**9])
@pytest.mark.parametrize("times", [1, 7, 10**9])
@pytest.mark.parametrize("n", [2, 31, 33, 1023, 1025])
def test_row_by_row(n, times, values):
    estimate, data, copies = tied_rows(n, n, times, values)
    weighted = right(data.time, data.event, weight=copies) if copies.any() else data
    for rows in (data, weighted):
        concordant, comparable = tally(rows, estimate, np.ones(n))
        if comparable == 0:
            with pytest.warns(UserWarning, match="is not defined and NaN"):
                assert np.isnan(concordance_harrell(estimate, rows))
        else:
            assert concordance_harrell(estimate, rows) == concordant / comparable


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", [7, 10**9])
@pytest.mark.parametrize("times", [7, 300, 10**9])
def test_uno_row_by_row(times, values, weighted):
    estimate, data, copies = tied_rows(1500, 3, times, values)
    if weighted:
        data = right(data.time, data.event, weight=copies)
    tau = np.quantile(data.time, 0.8)
    before = data.time < tau
    # G at each time, from the definition: at a tie events come first.
    uncensored = np.ones(1500)
    for s in np.unique(data.time[~data.event & before]):
        leaving = data.weights[(data.time == s) & ~data.event].sum()
        uncensored[data.time >= s] *= 1 - leaving / (leaving + data.weights[data.time > s].sum())
    concordant, comparable = tally(data, estimate, np.where(before, 1 / uncensored**2, 0))
    found = concordance_uno(estimate, data, train=data, tau=tau)
    assert found == pytest.approx(concordant / comparable, rel=1e-12)


@pytest.mark.parametrize("times", [7, 10**9])
@pytest.mark.parametrize("values", [7, 10**9])
@pytest.mark.parametrize("n", [12, 300, 1001])
def test_many_weights_at_once(monkeypatch, n, values, times):
    estimate, data, _ = tied_rows(n, n, times, values)
    pairs, rng = PairOrder.of(estimate, data), np.random.default_rng(n)
    importance, weights = data.event * rng.uniform(1, 9, n), rng.integers(0, 3, (9, n)).astype(float)
    weights[0] = 0
    monkeypatch.setattr(pair_order, "_ROWS_PER_TABLE", 10**9)
    found = pairs.shares(importance[pairs.rows], weights[:, pairs.rows])
    monkeypatch.setattr(pair_order, "_MOST_IN_TABLE", 0 if n <= 1000 else n)
    again = pairs.shares(importance[pairs.rows], weights[:, pairs.rows])
    assert np.isnan(found[0])
    for row, one, other in zip(weights[1:], found[1:], again[1:], strict=True):
        concordant, comparable = tally(replace(data, weight=row), estimate, importance)
        assert (one, other) == pytest.approx((concordant / comparable if comparable else np.nan,) * 2, nan_ok=True)


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_many_rows_against_scikit_survival(digits):
    data, rng = simulated(8, n=5000, ties=digits < 2), np.random.default_rng(8)
    estimate = np.round((data.time + rng.normal(0, 10, 5000)) / 10, digits)
    expected = concordance_index_censored(data.event, data.time, -estimate, tied_tol=0)
    assert concordance_harrell(estimate, data) == pytest.approx(expected[0], rel=1e-15)


def test_kendall_by_scipy():
    """Without censoring and ties it is the same as the rank correlation."""
    rng = np.random.default_rng(4)
    time = rng.exponential(1, 200_000)
    estimate = np.log(time) + rng.normal(size=time.size)
    expected = (stats.kendalltau(time, estimate).statistic + 1) / 2
    assert concordance_harrell(estimate, right(time, np.ones(time.size))) == pytest.approx(expected, rel=1e-14)


def test_ties_of_zero_with_either_sign():
    data = right([0.0, -0.0, 1, 2], [1, 1, 0, 1])
    assert concordance_harrell([0.0, 1.0, -0.0, 1.0], data) == (0.5 + 1 + 0 + 0.5) / 4


def test_tau_is_exclusive_and_later_rows_still_count():
    data = right([1, 2, 3], [1, 1, 1])
    assert concordance_uno([1.0, 3.0, 2.0], data, train=data, tau=2) == 1
    assert concordance_uno([1.0, 3.0, 2.0], data, train=data, tau=2.01) == pytest.approx(2 / 3)


def test_default_tau_is_the_last_time_with_somebody_uncensored():
    train = right([1, 2, 3, 4], [1, 0, 1, 0])  # nobody is uncensored from 4 on
    data = right([1, 2.5, 3, 5, 9], [1, 1, 1, 1, 0])
    for estimate in ([1.0, 2.0, 5.0, 4.0, 3.0], [5.0, 2.0, 1.0, 4.0, 3.0]):
        assert concordance_uno(estimate, data, train=train) == concordance_uno(estimate, data, train=train, tau=3)


@given(st.permutations(range(12)), st.lists(st.booleans(), min_size=12, max_size=12))
def test_reversed_ranking(estimate, event):
    data = right(np.arange(12) // 2, event)
    assume(data.event[:-2].any())
    forward, backward = (concordance_harrell(sign * np.array(estimate), data) for sign in (1, -1))
    assert forward + backward == pytest.approx(1, abs=1e-15)
    assert concordance_harrell(np.exp(np.array(estimate) / 3), data) == forward


def test_perfect_constant_and_inverted():
    data = simulated(1)
    assert concordance_harrell(data.time + ~data.event / 2, data) == 1
    assert concordance_harrell(np.zeros(len(data)), data) == 0.5
    assert concordance_harrell(-data.time - ~data.event / 2, data) == 0


def test_weights_are_copies():
    data, rng = simulated(2, n=60), np.random.default_rng(2)
    estimate, copies = rng.integers(0, 20, 60).astype(float), rng.integers(0, 3, 60)
    weighted = right(data.time, data.event, weight=copies)
    rows = np.repeat(np.arange(60), copies)
    # A row and its copy have the same time: as events they are no pair, as censored rows neither.
    assert concordance_harrell(estimate, weighted) == pytest.approx(concordance_harrell(estimate[rows], data[rows]))


def test_many_rows():
    """Beyond 2**16 rows, against a tally over few distinct values."""
    rng = np.random.default_rng(3)
    n = 150_000
    time, event, estimate = rng.integers(0, 12, n), rng.random(n) < 0.4, rng.integers(0, 9, n)
    table = np.zeros((12, 2, 9), dtype=object)
    np.add.at(table, (time, event.astype(int), estimate), 1)
    concordant = comparable = 0
    for t in range(12):
        later = table[t + 1 :].sum(axis=(0, 1)) + table[t, 0]
        for p in range(9):
            comparable += table[t, 1, p] * later.sum()
            concordant += table[t, 1, p] * (2 * later[p + 1 :].sum() + later[p])
    assert concordance_harrell(estimate, right(time, event)) == pytest.approx(concordant / (2 * comparable), rel=1e-14)


def test_points_of_a_distribution():
    data = right([1, 2, 3], [1, 1, 0])
    predicted = AsymmetricLaplace([1.0, 2.0, 3.0], [1.0, 1.0, 20.0], [0.3, 0.2, 3.0])
    for point in ("mean", "median", "mode"):
        expected = concordance_index_censored(data.event, data.time, -getattr(predicted, point)())[0]
        assert concordance_harrell(predicted, data, point=point) == expected
    expected = concordance_index_censored(data.event, data.time, -predicted.restricted_mean(3.0))[0]
    assert concordance_harrell(predicted, data, point="restricted_mean") == expected
    assert len({concordance_harrell(predicted, data, point=p) for p in ("mean", "mode")}) == 2


def test_medians_that_are_never_reached_are_tied():
    data = right([1, 2, 3], [1, 1, 1])
    predicted = Step([1.0, 2.0], [[0.4, 0.3], [0.9, 0.8], [0.9, 0.7]])
    assert concordance_harrell(predicted, data, point="median") == pytest.approx(2.5 / 3)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (right([1, 2], [0, 0]), "no row has an event"),
        (right([3], [1]), "no row is known to outlive one with an event"),
        (right([3, 3], [1, 1]), "no row is known to outlive one with an event"),
        (right([1, 2], [1, 1], weight=[0, 1]), "no row is known to outlive one with an event"),
        (right([1, 2], [1, 0], weight=[0, 1]), "no row has an event"),
    ],
)
def test_without_a_comparable_pair(data, reason):
    estimate = np.ones(len(data))
    with pytest.warns(UserWarning, match=f"^concordance_harrell is not defined and NaN: {reason}.$"):
        assert np.isnan(concordance_harrell(estimate, data))
    with pytest.warns(UserWarning, match=f"^concordance_uno is not defined and NaN: {reason} before tau = 8.$"):
        assert np.isnan(concordance_uno(estimate, data, train=right([1, 8], [1, 1])))


def test_uno_without_any_uncensored_time():
    data = right([1, 2], [1, 1])
    with pytest.warns(UserWarning, match="all training rows are censored at their first time"):
        assert np.isnan(concordance_uno([1, 2], data, train=right([1, 1], [0, 0])))
    with pytest.warns(UserWarning, match="no event can come before tau = 0"):
        assert np.isnan(concordance_uno([1, 2], data, train=right([0, 1], [1, 0])))


def test_uno_beyond_the_censoring_curve():
    data, train = right([1, 5, 6], [1, 1, 1]), right([1, 2, 4], [1, 1, 0])
    with pytest.raises(CensoringError, match=r"largest usable horizon is 1\.0"):
        concordance_uno([1, 2, 3], data, train=train, tau=10)
    # The row as the caller counts, not by time.
    with pytest.raises(CensoringError, match=r"an event at time 6\.0 has no weight.*\(row 1\)"):
        concordance_uno([1, 2, 3], right([1, 6, 5], [1, 1, 1]), train=train, tau=10)


def test_within_the_follow_up_of_the_training_rows():
    rng = np.random.default_rng(0)
    data = right(rng.exponential(8, 60).round(1) + 0.1, rng.random(60) < 0.6)
    train = right(np.arange(1, 101), [1] * 100)
    predicted = Weibull(rng.uniform(2, 30, 60), rng.uniform(0.5, 4, 60))
    # Four in five of the training rows have left by 80, of the rows themselves by the 48th of 60.
    here, there = predicted.restricted_mean(np.sort(data.time)[47]), predicted.restricted_mean(80.0)
    assert concordance_harrell(predicted, data) == concordance_harrell(here, data)
    assert concordance_harrell(predicted, data, train=train) == concordance_harrell(there, data)
    assert concordance_uno(predicted, data, train=train) == concordance_uno(there, data, train=train)
    assert len({concordance_harrell(one, data) for one in (here, there, predicted.median())}) == 3


def test_what_is_refused():
    data = right([1, 2, 3], [1, 1, 0])
    with pytest.raises(
        ParameterError, match="point must be one of 'follow_up', 'mean', 'median', 'mode', 'restricted_mean'"
    ):
        concordance_harrell([1, 2, 3], data, point="middle")
    with pytest.raises(ParameterError, match=r"one number for each of 3 rows, but has shape \(2,\)"):
        concordance_harrell([1, 2], data)
    with pytest.raises(ParameterError, match="predicted has 2 and data 3"):
        concordance_harrell(Exponential([1.0, 2.0]), data)
    with pytest.raises(ParameterError, match=r"1 of 3 values are NaN \(row 1\)"):
        concordance_harrell([1, np.nan, 2], data)
    with pytest.raises(ParameterError, match="predicted must be numbers"):
        concordance_harrell(["a", "b", "c"], data)
    with pytest.raises(ParameterError, match="tau must be a positive number or None"):
        concordance_uno([1, 2, 3], data, train=data, tau=0)
    late = right([1, 2, 3], [1, 1, 0], entry=[0, 1, 0])
    for act in (concordance_harrell, lambda p, d: concordance_uno(p, d, train=data)):
        with pytest.raises(CensoringError, match=r"for delayed entry, but 1 of 3 rows .* first at 1 \(row 1\)"):
            act([1, 2, 3], late)
        with pytest.raises(CensoringError, match="exact and right-censored rows only"):
            act([1, 2], SurvivalData.interval([1, 2], [1, 3]))


def test_entry_from_the_start_is_no_delayed_entry():
    plain, entered = (right([1, 2, 3], [1, 1, 0], entry=entry) for entry in (None, [0, -np.inf, 0]))
    assert concordance_harrell([1, 3, 2], entered) == concordance_harrell([1, 3, 2], plain) == 2 / 3
