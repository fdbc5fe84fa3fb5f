"""Results are looked up by series, metric and summary."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv.benchmark import Result, Results, Series
from aldsurv.errors import ParameterError

ALD, HIT = (Series("gbsg", "real", "row", model, "paper") for model in ("ald", "deephit"))
OTHER = Series("weibull", "released", "row", "ald", "paper")


@pytest.fixture
def results():
    rows = [
        Result(series, seed, point, "mae", 100 * k + 10 * seed + p)
        for k, series in enumerate((ALD, HIT, OTHER))
        for seed in (2, 0, 1)
        for p, point in enumerate(("mean", "median", "mode"))
    ]
    return Results([*rows, Result(ALD, 0, "", "ibs", 0.2)])


def test_the_summary_is_the_paper_s_unless_asked_for(results):
    # The paper took the mean of ALD and the median of DeepHit.
    np.testing.assert_array_equal(results.by_seed(ALD, "mae"), [0, 10, 20])
    np.testing.assert_array_equal(results.by_seed(HIT, "mae"), [101, 111, 121])
    np.testing.assert_array_equal(results.by_seed(ALD, "mae", point="mode"), [2, 12, 22])
    np.testing.assert_array_equal(results.by_seed(ALD, "ibs"), [0.2])
    assert results.by_seed(HIT, "ibs").size == 0


def test_parts(results):
    assert results.series == [ALD, HIT, OTHER]
    assert results.seeds == [0, 1, 2]
    assert results.where(dataset="gbsg").series == [ALD, HIT]
    assert results.where(dataset="gbsg", model=("ald", "cox")).series == [ALD]
    assert len(results.where(model="cox")) == 0
    with pytest.raises(ParameterError, match="but not 'metric'"):
        results.where(metric="mae")


def test_the_order_does_not_depend_on_how_rows_came(results):
    rows = list(results)
    assert list(Results(rows[::-1])) == rows
