from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from sksurv import metrics as reference

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace, Exponential, Normal, Weibull
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.metrics import brier_score, integrated_brier_score
from aldsurv.metrics.error import brier
from aldsurv.metrics.evaluation_times import weighted_quantiles
from aldsurv.metrics.row_blocks import row_blocks
from metrics import definitions
from metrics.definitions import right_censored, rows_of, simulated, uncensored_until

right = SurvivalData.right


@given(right_censored(), right_censored(), st.sampled_from([0.0, 1.0, 2.5, 4.0, 6.0]))
def test_by_definition(data, train, t):
    training = [row for row in rows_of(train) if row[2] > 0]
    assume(training and data.total_weight > 0)
    predicted = Exponential(np.linspace(1, 9, len(data)))
    known = t <= max(y for y, _, _ in training) and uncensored_until(training, t) > 0
    if not known:
        with pytest.warns(UserWarning, match="1 of 1 times have no estimate of the censoring"):
            assert np.isnan(brier_score(predicted, data, [t], train=train)).all()
        return
    expected = definitions.brier(data, predicted.survival(t).tolist(), t, train)
    np.testing.assert_allclose(brier_score(predicted, data, [t], train=train), [expected], rtol=1e-12)
    expected = definitions.brier(data, predicted.survival(t).tolist(), t, train, before=False)
    found = brier_score(predicted, data, [t], train=train, ties="scikit-survival")
    np.testing.assert_allclose(found, [expected], rtol=1e-12)


@pytest.mark.parametrize("shape", [1.0, 1.5])
def test_the_truth_is_best_of_coarsely_rounded_times(shape):
    """Events and censorings recorded in fives: many are tied, and the weights decide which prediction is best."""
    rng = np.random.default_rng(0)
    truth = Weibull(np.exp(rng.normal(2.4, 0.5, 20_000)), shape)
    event, lost = (np.ceil(t / 5) * 5 for t in (truth.sample(random_state=1), rng.exponential(12, 20_000)))
    data, full = right(np.minimum(event, lost), event <= lost), right(event, np.full(20_000, True))
    times = np.array([5.0, 10.0, 15.0, 20.0])
    found = brier_score(truth, data, times, train=data)
    np.testing.assert_allclose(found, brier_score(truth, full, times, train=full), atol=0.004)
    for factor in (0.8, 1.25):
        assert (brier_score(truth.scaled(factor), data, times[:3], train=data) > found[:3] + 0.002).all()
        better = integrated_brier_score(truth, data, train=data, times=times)
        assert integrated_brier_score(truth.scaled(factor), data, train=data, times=times) > better + 0.002
    # What the other weights give, and why they are not the default: too early a prediction wins.
    early, true = (
        brier_score(p, data, times[1:3], train=data, ties="scikit-survival") for p in (truth.scaled(0.8), truth)
    )
    assert (early < true - 0.002).all()
    assert (true > found[1:3] + 0.02).all()


def test_range_of_weighted_training_rows():
    """Rows of weight k are k rows, also for where the score begins and ends."""
    train, data = simulated(9, n=40), simulated(8, n=50)
    copies = np.where(train.time < np.median(train.time), 4, 1)
    predicted = Exponential(np.linspace(5, 40, 50))
    weighted = right(train.time, train.event, weight=copies)
    repeated = train[np.repeat(np.arange(40), copies)]
    expected = integrated_brier_score(predicted, data, train=repeated)
    assert integrated_brier_score(predicted, data, train=weighted) == pytest.approx(expected, rel=1e-13)
    assert abs(expected - integrated_brier_score(predicted, data, train=train)) > 1e-3
    # Weights that are no counts: their unit does not matter, and equal ones are none.
    shares = [
        integrated_brier_score(predicted, data, train=right(train.time, train.event, weight=copies * unit))
        for unit in (0.3, 1e-6, 0.7)
    ]
    np.testing.assert_allclose(shares, shares[0], rtol=1e-12)
    even = right(train.time, train.event, weight=np.full(40, 0.25))
    unweighted = integrated_brier_score(predicted, data, train=train)
    assert integrated_brier_score(predicted, data, train=even) == pytest.approx(unweighted, rel=1e-12)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 1.0, 2.5, 7.0]), st.integers(1, 5)), min_size=1, max_size=9),
    st.floats(0, 1),
)
def test_quantiles_of_counts_are_those_of_repeated_values(rows, share):
    values, counts = (np.array(column) for column in zip(*rows, strict=True))
    found = weighted_quantiles(values, [share], counts.astype(float))
    assert found[0] == np.quantile(np.repeat(values, counts), share)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("censoring", [8.0, 60.0])
@pytest.mark.parametrize("seed", range(4))
def test_against_scikit_survival(seed, censoring, ties):
    train, data = simulated(seed, ties=ties, censoring=censoring), simulated(seed + 50, ties=ties, censoring=censoring)
    predicted = AsymmetricLaplace(np.random.default_rng(seed).uniform(1, 30, len(data)), 8.0, 0.6)
    # Its times must lie within those of both parts, and so must the rows.
    end = train.time.max()
    data, predicted = data[data.time < end], predicted[data.time < end]
    last = np.sort(data.time)[-2]
    times = np.unique(np.append(np.linspace(data.time.min(), last, 30, endpoint=False), np.quantile(data.time, 0.5)))
    rows = train.to_structured(), data.to_structured()
    options = {"train": train, "ties": "scikit-survival"}
    expected = reference.brier_score(*rows, predicted.survival(times), times)[1]
    np.testing.assert_allclose(brier_score(predicted, data, times, **options), expected, atol=1e-10)
    expected = reference.integrated_brier_score(*rows, predicted.survival(times), times)
    assert integrated_brier_score(predicted, data, times=times, **options) == pytest.approx(expected, abs=1e-10)

    times = np.linspace(np.quantile(train.time, 0.1), np.quantile(train.time, 0.9), 100)
    expected = reference.integrated_brier_score(*rows, predicted.survival(times), times)
    assert integrated_brier_score(predicted, data, **options) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("event", "censoring", "expected"),
    [
        (lambda x: Normal(2 * x + 10, x + 1), lambda x: Normal(4 * x + 10, 0.8 * x + 0.4), 0.162),
        (lambda x: Weibull(4 * x * np.sin(2 * x - 2) + 10, 5.0), lambda x: Weibull(20 - 3 * x, 5.0), 0.119),
        (lambda x: Exponential(2 * x + 4), lambda x: Exponential(15 - 3 * x), 0.206),
    ],
)
def test_value_of_the_true_distribution(event, censoring, expected):
    """The values that the true distribution reaches on three of the simulated data sets."""
    parts = []
    for seed in (0, 1):
        x = np.random.default_rng(seed).uniform(0, 2, 4000)
        true, lost = event(x).sample(random_state=seed + 10), censoring(x).sample(random_state=seed + 20)
        parts.append((x, right(np.maximum(np.minimum(true, lost), 0), true <= lost)))
    (_, train), (x, data) = parts
    assert integrated_brier_score(event(x), data, train=train) == pytest.approx(expected, abs=0.006)


def test_the_true_distribution_is_best():
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 2, 6000)
    true = Weibull(6 + 4 * x, 2.0)
    event, lost = true.sample(random_state=1), rng.uniform(0, 25, 6000)
    data, full = right(np.minimum(event, lost), event <= lost), right(event, np.full(6000, True))
    times = np.linspace(2, 15, 20)
    found = brier_score(true, data, times, train=data)
    # E(1(T > t) - S)² = S(1 - S), and the weights give what would be found without censoring.
    survival = true.survival(times)
    np.testing.assert_allclose(found, (survival * (1 - survival)).mean(axis=0), atol=0.01)
    np.testing.assert_allclose(found, brier_score(true, full, times, train=full), atol=0.01)
    best = integrated_brier_score(true, data, train=data)
    wrong = [
        true.scaled(1.2),
        true.scaled(0.8),
        true.shifted(1.5),
        Weibull(6 + 4 * x, 3.0),
        Weibull(np.full(6000, 10.0), 2.0),
    ]
    assert all(integrated_brier_score(other, data, train=data) > best for other in wrong)


def test_blocks_do_not_show(monkeypatch):
    data = simulated(7, n=203)
    predicted = Exponential(np.linspace(5, 40, 203))
    times = np.linspace(1, 10, 7)
    whole = brier_score(predicted, data, times, train=data)
    monkeypatch.setattr(brier, "row_blocks", partial(row_blocks, values=70))
    np.testing.assert_allclose(brier_score(predicted, data, times, train=data), whole, rtol=1e-13)


def test_weights_are_copies():
    data, copies = simulated(8, n=50), np.random.default_rng(8).integers(0, 3, 50)
    rows = np.repeat(np.arange(50), copies)
    predicted = Exponential(np.linspace(5, 40, 50))
    weighted = right(data.time, data.event, weight=copies)
    train = simulated(9)
    expected = integrated_brier_score(predicted[rows], data[rows], train=train)
    assert integrated_brier_score(predicted, weighted, train=train) == pytest.approx(expected, rel=1e-12)


def test_cut_off_where_the_censoring_curve_ends():
    train = right([1, 2, 3, 4, 5], [1, 1, 1, 0, 0])  # nobody is uncensored from 5 on
    data = right([1, 3, 5, 7], [1, 0, 1, 1])
    predicted = Exponential([2.0, 3.0, 5.0, 6.0])
    message = "1 of 4 times .* the training rows end at 5, .* the horizon used is 4.5."
    with pytest.warns(UserWarning, match=message):
        found = brier_score(predicted, data, [1, 4.5, 5, 3], train=train)
    assert np.isnan(found).tolist() == [False, False, True, False]
    with pytest.warns(UserWarning, match="2 of 4 times .* the horizon used is 4.5."):
        cut = integrated_brier_score(predicted, data, train=train, times=[1, 4.5, 5, 6])
    assert cut == pytest.approx((found[0] + found[1]) / 2)
    # The last training row an event: the curve stays positive, but nothing is known after it.
    with pytest.warns(UserWarning, match=r"1 of 2 times .* the horizon used is 5\."):
        assert np.isnan(brier_score(predicted, data, [5, 5.1], train=right([1, 5], [1, 1]))).tolist() == [False, True]
    with (
        pytest.warns(UserWarning, match="2 of 2 times have no estimate of the censoring: .* no time is left"),
        pytest.warns(UserWarning, match="integrated_brier_score is not defined and NaN: fewer than two times"),
    ):
        assert np.isnan(integrated_brier_score(predicted, data, train=train, times=[5, 6]))


def test_without_censoring_and_with_one_row():
    data = right([2.0], [1])
    predicted = Exponential([2.0])
    np.testing.assert_allclose(
        brier_score(predicted, data, [1, 2], train=right([5], [1])), [(1 - np.exp(-0.5)) ** 2, np.exp(-2)]
    )


def test_tensors():
    data = simulated(3, n=40)
    scale = torch.linspace(5, 40, 40, dtype=torch.float64, requires_grad=True)
    expected = integrated_brier_score(Exponential(np.linspace(5, 40, 40)), data, train=data)
    assert integrated_brier_score(Exponential(scale), data, train=data) == pytest.approx(expected, rel=1e-12)


def test_what_has_no_value():
    data, predicted = right([1, 2, 3], [1, 1, 1], weight=[0, 0, 1])[:2], Exponential([1.0, 2.0])
    train = right([1, 2, 3], [1, 1, 1])
    with pytest.warns(UserWarning, match="brier_score is not defined and NaN: no row has a positive weight"):
        assert np.isnan(brier_score(predicted, data, [1, 2], train=train)).tolist() == [True, True]
    with pytest.warns(UserWarning, match="integrated_brier_score is not defined and NaN: no row has a positive"):
        assert np.isnan(integrated_brier_score(predicted, data, train=train))
    data = right([1, 2], [1, 1])
    with pytest.warns(UserWarning, match="most training times are 3, which leaves no range"):
        assert np.isnan(integrated_brier_score(predicted, data, train=right([3, 3, 3], [1, 1, 0])))


def test_what_is_refused():
    data, predicted = right([1, 2], [1, 1]), Exponential([1.0, 2.0])
    for times in ([2, 1], [1, 1], [1]):
        with pytest.raises(ParameterError, match="two or more in strictly increasing order"):
            integrated_brier_score(predicted, data, train=data, times=times)
    for times in (1.0, [[1.0]], [np.nan], [np.inf]):
        with pytest.raises(ParameterError, match="times must be a vector of one or more finite numbers"):
            brier_score(predicted, data, times, train=data)
    with pytest.raises(ParameterError, match="ties must be 'events_first' or 'scikit-survival', but is 'sksurv'"):
        brier_score(predicted, data, [1], train=data, ties="sksurv")
    with pytest.raises(ParameterError, match="times must be numbers"):
        brier_score(predicted, data, ["soon"], train=data)
    with pytest.raises(ParameterError, match="predicted has 2 and data 3"):
        brier_score(predicted, right([1, 2, 3], [1, 1, 1]), [1], train=data)
    with pytest.raises(ParameterError, match="predicted must be a SurvivalDistribution, but is ndarray"):
        integrated_brier_score(predicted.survival([1, 2]), data, train=data)
    with pytest.raises(CensoringError, match="not defined for delayed entry"):
        brier_score(predicted, right([1, 2], [1, 1], entry=[0.5, 0]), [1], train=data)
    with pytest.raises(CensoringError, match="exact and right-censored rows only"):
        brier_score(predicted, SurvivalData.interval([1, 2], [1, 3]), [1], train=data)
    with pytest.raises(DataError, match="at least one row of positive weight"):
        brier_score(predicted, data, [1], train=data[:0])


def test_training_rows_may_have_entered_late():
    train = right([2, 3, 4, 5], [0, 1, 0, 1], entry=[0, 2.5, 0, 0])
    data = right([1, 4.5], [1, 1])
    # At 2 three are at risk of censoring (one has not entered), at 4 two.
    expected = (np.exp(-4.2 / 2) ** 2 + (1 - np.exp(-4.2 / 3)) ** 2 / (2 / 3 * 1 / 2)) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = brier_score(Exponential([2.0, 3.0]), data, [4.2], train=train)
    assert found[0] == pytest.approx(expected, rel=1e-12)
