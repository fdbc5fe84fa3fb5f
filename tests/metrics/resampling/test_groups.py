"""The cluster bootstrap: rows of one group are drawn together."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Weibull
from aldsurv.errors import ParameterError
from metrics.definitions import simulated

TRAIN = simulated(9)


def rows(n: int = 40, seed: int = 2) -> tuple[Weibull, SurvivalData]:
    rng = np.random.default_rng(seed)
    data = simulated(seed, n)
    return Weibull(rng.uniform(5, 30, n), 1.3), SurvivalData.right(data.time, data.event)


def limits(result) -> list[float]:
    return [result.value, result.lower, result.upper, result.standard_error]


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_mean_of_equal_clusters_as_scipy_has_it(method):
    rng = np.random.default_rng(5)
    mean, time = rng.uniform(1, 9, 60), rng.exponential(3, 60)
    column = -np.log(mean) - time / mean
    data = SurvivalData.right(time, np.ones(60), group=np.repeat(list("abcdefghijklmnopqrst"), 3))
    found = metrics.bootstrap(
        "log_likelihood", Exponential(mean), data, samples=300, level=0.9, method=method, random_state=3
    )
    # A resample of clusters of equal size has the mean of the means of its clusters.
    expected = stats.bootstrap(
        (column.reshape(20, 3).mean(axis=1),), np.mean, n_resamples=300, confidence_level=0.9, method=method,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    assert found.value == pytest.approx(column.mean(), rel=1e-12)
    assert (found.lower, found.upper) == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)


@settings(max_examples=15)
@given(st.lists(st.integers(-1, 6), min_size=40, max_size=40), st.sampled_from(["harrell_c", "ibs", "ici"]))
def test_against_drawing_groups_by_hand(labels, name):
    predicted, data = rows()
    data = data.with_group(labels)
    options = {"ibs": {"train": TRAIN}, "ici": {"time": 8.0}}.get(name, {})
    # Groups in the order of their first rows, a row without one being its own.
    keys = [(label, k if label < 0 else 0) for k, label in enumerate(labels)]
    members = [[k for k, key in enumerate(keys) if key == one] for one in dict.fromkeys(keys)]
    if len(members) < 2:
        with pytest.raises(ParameterError, match="of one group"):
            metrics.bootstrap(name, predicted, data, samples=5, random_state=1, **options)
        return
    assume(np.isfinite(metrics.concordance_harrell(predicted, data)))
    generator, function = np.random.default_rng(1), metrics.catalogue.find_metric(name)
    values = []
    for _ in range(8):
        drawn = np.concatenate([members[k] for k in generator.integers(0, len(members), len(members))])
        with warnings.catch_warnings():
            # No comparable pair among the rows drawn.
            warnings.simplefilter("ignore", UserWarning)
            values.append(float(function(predicted[drawn], data[drawn], **options)))
    assume(np.isfinite(values).all())
    found = metrics.bootstrap(name, predicted, data, samples=8, random_state=1, **options)
    assert found.standard_error == pytest.approx(np.std(values, ddof=1), rel=1e-6, abs=1e-12)
    plain = metrics.bootstrap(name, predicted, data.with_group(None), samples=8, random_state=1, **options)
    assert found.value == plain.value


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_groups_of_one_row_change_nothing(method):
    predicted, data = rows()
    other = Exponential(np.full(40, 12.0))
    for group in (np.arange(40)[::-1], np.full(40, -1)):
        grouped = data.with_group(group)
        arguments = {"samples": 40, "method": method, "random_state": 7}
        assert metrics.bootstrap("harrell_c", predicted, grouped, **arguments) == metrics.bootstrap(
            "harrell_c", predicted, data, **arguments
        )
        assert metrics.compare(
            predicted, other, grouped, metric="ibs", train=TRAIN, **arguments
        ) == metrics.compare(predicted, other, data, metric="ibs", train=TRAIN, **arguments)  # fmt: skip


def test_rows_given_several_times_and_grouped_are_the_rows_once():
    """The draws are the same, and each has every row so many times: no limit moves, and no p-value."""
    predicted, data = rows()
    other, again = Exponential(np.full(40, 12.0)), np.tile(np.arange(40), 3)
    grouped = data[again].with_group(again)
    once = metrics.evaluate(predicted, data, train=TRAIN, bootstrap=60, random_state=4)
    tripled = metrics.evaluate(predicted[again], grouped, train=TRAIN, bootstrap=60, random_state=4)
    for name, result in once.items():
        np.testing.assert_allclose(limits(tripled[name]), limits(result), rtol=1e-7, atol=1e-9, err_msg=name)
    first, second = (
        metrics.compare(
            one, two, three, metric="log_likelihood", samples=60, random_state=4, method="bca"
        )
        for one, two, three in ((predicted, other, data), (predicted[again], other[again], grouped))
    )  # fmt: skip
    assert second.p_value == first.p_value
    assert (second.lower, second.upper) == pytest.approx((first.lower, first.upper), rel=1e-7)
    # One by one they would be taken for three times as much to go by.
    alone = metrics.evaluate(predicted[again], data[again], train=TRAIN, metrics=["ibs"], bootstrap=60, random_state=4)
    assert alone["ibs"].standard_error < 0.8 * once["ibs"].standard_error
