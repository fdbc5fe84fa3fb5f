from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pycox.evaluation.concordance import concordance_td
from sksurv import metrics as reference

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Step, Weibull
from aldsurv.errors import CensoringError, ParameterError
from aldsurv.metrics import concordance_harrell
from aldsurv.metrics.discrimination import time_dependent
from aldsurv.metrics.discrimination.time_dependent import concordance_antolini, cumulative_dynamic_auc
from metrics.definitions import right_censored, rows_of, simulated, uncensored_before, uncensored_until

right = SurvivalData.right


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("censoring", [8.0, 60.0])
@pytest.mark.parametrize("seed", range(3))
def test_auc_against_scikit_survival(seed, censoring, ties):
    train, data = simulated(seed, ties=ties, censoring=censoring), simulated(seed + 50, ties=ties, censoring=censoring)
    data = data[data.time < train.time.max()]
    # Curves of different shape, so that the order changes with time; some of them alike.
    rng = np.random.default_rng(seed)
    predicted = AsymmetricLaplace(rng.integers(1, 30, len(data)), rng.integers(5, 9, len(data)), 0.6)
    times = np.quantile(data.time, [0.11, 0.3, 0.5, 0.7, 0.9])
    rows = train.to_structured(), data.to_structured()
    expected = reference.cumulative_dynamic_auc(*rows, predicted.cumulative_hazard(times), times, tied_tol=0)
    found = cumulative_dynamic_auc(predicted, data, times, train=train, ties="scikit-survival")
    np.testing.assert_allclose(found.auc, expected[0], atol=1e-10)
    assert found.mean == pytest.approx(expected[1], abs=1e-10)

    median = predicted.median()
    expected = reference.cumulative_dynamic_auc(*rows, -median, times, tied_tol=0)
    found = cumulative_dynamic_auc(median, data, times, train=train, ties="scikit-survival")
    np.testing.assert_allclose(found.auc, expected[0], atol=1e-10)
    one = cumulative_dynamic_auc(median, data, times[2:3], train=train, ties="scikit-survival")
    assert one.mean == pytest.approx(expected[0][2], abs=1e-10)


def auc_by_pairs(data, survival, t, train):
    above = total = 0.0
    for (y, e, w), s in zip(rows_of(data), survival, strict=True):
        if not (e and y <= t and w):
            continue
        case = float(w / uncensored_before(rows_of(train), y))
        for (other, _, v), r in zip(rows_of(data), survival, strict=True):
            if other > t:
                total += case * float(v)
                above += case * float(v) * ((r > s) + 0.5 * (r == s))
    return above / total if total else np.nan


@given(right_censored(), right_censored(), st.sampled_from([0.0, 1.0, 2.5, 4.0]), st.data())
def test_auc_by_definition(data, train, t, draw):
    training = [row for row in rows_of(train) if row[2] > 0]
    assume(training and data.total_weight > 0)
    scale = np.array(draw.draw(st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=len(data), max_size=len(data))))
    known = t <= max(y for y, _, _ in training) and uncensored_until(training, t) > 0
    expected = auc_by_pairs(data, scale, t, train) if known else np.nan
    if np.isnan(expected):
        with pytest.warns(UserWarning, match="NaN at 1 of 1 times .* no time is left, the mean is NaN"):
            found = cumulative_dynamic_auc(scale, data, [t], train=train)
        assert np.isnan(found.mean)
    else:
        found = cumulative_dynamic_auc(scale, data, [t], train=train)
        assert found.mean == found.auc[0]
    np.testing.assert_allclose(found.auc, [expected], rtol=1e-12)


def test_auc_of_times_without_an_answer():
    data = right([1, 2, 3, 4, 5], [True, True, False, True, True])
    train = right([1, 2, 3, 4], [True, False, True, True])
    predicted = Weibull([1.0, 2.0, 3.0, 2.0, 4.0], 2.0)
    with pytest.warns(UserWarning, match=r"at 2 of 4 times \(first: 4.5\).*the horizon used is 3"):
        found = cumulative_dynamic_auc(predicted, data, [4.5, 3, 0.5, 1], train=train)
    alone = cumulative_dynamic_auc(predicted, data, [1, 3], train=train)
    np.testing.assert_array_equal(found.auc, [np.nan, alone.auc[1], np.nan, alone.auc[0]])
    assert found.mean == alone.mean


def antolini_by_pairs(data, survival):
    """`survival[i, j]` at the time of row i of row j; the share with ties as one half, and as nothing."""
    rows, above, equal, total = rows_of(data), 0.0, 0.0, 0.0
    for i, (y, e, w) in enumerate(rows):
        for j, (other, other_event, v) in enumerate(rows):
            if e and (y < other or (y == other and not other_event)):
                total += float(w * v)
                above += float(w * v) * (survival[i, i] < survival[i, j])
                equal += float(w * v) * (survival[i, i] == survival[i, j])
    return ((above + equal / 2) / total, above / total) if total else (np.nan, np.nan)


@given(right_censored(), st.data())
def test_antolini_by_definition(data, draw):
    n = len(data)
    column = st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=n, max_size=n)
    predicted = Weibull(np.array(draw.draw(column)), np.array(draw.draw(column)))
    expected = antolini_by_pairs(data, predicted.log_survival(data.time).T)[0]
    if np.isnan(expected):
        with pytest.warns(UserWarning, match="concordance_antolini is not defined and NaN: no row"):
            assert np.isnan(concordance_antolini(predicted, data))
    else:
        assert concordance_antolini(predicted, data) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("ties", [False, True])
def test_antolini_against_pycox(ties):
    data = simulated(3, 150, ties=ties)
    grid = np.unique(data.time)
    rng = np.random.default_rng(0)
    curves = Weibull(rng.uniform(5, 40, 150), rng.uniform(0.5, 3, 150)).survival(grid)
    predicted = Step(grid, curves)
    index = np.searchsorted(grid, data.time)
    # No two curves are equal at a time: there it counts ties as nothing.
    expected = concordance_td(data.time, data.event.astype(int), np.ascontiguousarray(curves.T), index, "antolini")
    assert concordance_antolini(predicted, data) == pytest.approx(expected, abs=1e-12)


def test_antolini_of_curves_that_do_not_cross_is_harrells():
    data, scale = simulated(5), np.random.default_rng(2).integers(5, 40, 300).astype(float)
    predicted = Exponential(scale)
    assert concordance_antolini(predicted, data) == pytest.approx(concordance_harrell(scale, data), abs=1e-12)


def test_antolini_in_blocks(monkeypatch):
    data = simulated(6, 120)
    rng = np.random.default_rng(2)
    predicted = Weibull(rng.uniform(5, 40, 120), rng.uniform(0.5, 3, 120))
    expected = concordance_antolini(predicted, data)
    for pairs in (1, 300, 2000):
        monkeypatch.setattr(time_dependent, "_BLOCK_PAIRS", pairs)
        assert concordance_antolini(predicted, data) == pytest.approx(expected, rel=1e-13)


def test_the_truth_orders_best():
    rng = np.random.default_rng(0)
    truth = Weibull(rng.uniform(5, 40, 1500), rng.uniform(0.5, 3, 1500))
    event, lost = truth.sample(random_state=1), rng.exponential(30, 1500)
    data = right(np.minimum(event, lost), event <= lost)
    noisy = truth.scaled(np.exp(rng.normal(0, 0.5, 1500)))
    assert concordance_antolini(truth, data) > concordance_antolini(noisy, data) + 0.02
    times = [3.0, 10.0, 20.0]
    auc = [cumulative_dynamic_auc(p, data, times, train=data).mean for p in (truth, noisy)]
    assert auc[0] > auc[1] + 0.02
    # Turned around, every pair is.
    scores = rng.normal(size=1500)
    forth, back = (cumulative_dynamic_auc(sign * scores, data, times, train=data) for sign in (1, -1))
    np.testing.assert_allclose(forth.auc + back.auc, 1, rtol=1e-12)


def test_edges():
    predicted, data = Exponential([1.0, 2.0]), right([1, 2], [True, True])
    late = right([1, 2], [True, True], entry=[0, 1])
    with pytest.raises(CensoringError, match="cumulative_dynamic_auc is not defined for delayed entry"):
        cumulative_dynamic_auc(predicted, late, [1], train=data)
    with pytest.raises(CensoringError, match="concordance_antolini is not defined for delayed entry"):
        concordance_antolini(predicted, late)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        concordance_antolini(predicted, SurvivalData.interval([1, 2], [2, 3]))
    for times in ([], [[1.0]], [np.nan], "soon"):
        with pytest.raises(ParameterError, match="times must be"):
            cumulative_dynamic_auc(predicted, data, times, train=data)
    with pytest.raises(ParameterError, match="predicted must have one number for each of 2 rows"):
        cumulative_dynamic_auc([1.0], data, [1], train=data)
    with pytest.warns(UserWarning, match="no row is known to outlive"):
        assert np.isnan(concordance_antolini(predicted[:1], data[:1]))
    nothing = right([1, 2, 3], [True] * 3, weight=[0, 0, 1])[:2]
    with pytest.warns(UserWarning, match="no row has a positive weight"):
        assert np.isnan(cumulative_dynamic_auc(predicted, nothing, [1], train=data).auc).all()
    with pytest.warns(UserWarning, match="no row has an event"):
        assert np.isnan(concordance_antolini(predicted, nothing))
