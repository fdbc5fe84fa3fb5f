from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.metrics.discrimination.key_order import changes, float_keys, key_order

INF = float("inf")


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=20))
def test_keys_are_in_the_order_of_the_floats(values):
    array = np.array([*values, 0.0, -0.0, INF, -INF, 5e-324, -5e-324])
    keys = float_keys(array).tolist()
    for one, key in zip(array.tolist(), keys, strict=True):
        for other, its in zip(array.tolist(), keys, strict=True):
            assert (one < other, one == other) == (key < its, key == its)


@pytest.mark.parametrize("n", [0, 1, 2, 4095, 4096, 4097, 8192, 10_000, 70_000])
@pytest.mark.parametrize("kind", ["apart", "few", "same", "high", "low", "close", "ends"])
def test_against_numpy(n, kind):
    rng = np.random.default_rng(n)
    keys = {
        "apart": rng.integers(0, 2**64, n, dtype=np.uint64),
        "few": rng.integers(0, 7, n, dtype=np.uint64) << np.uint64(50),
        "same": np.full(n, 2**63 + 5, dtype=np.uint64),
        # Different in bits that are all kept, all left out, or in both.
        "high": rng.integers(0, 1000, n, dtype=np.uint64) << np.uint64(40),
        "low": rng.integers(0, 1000, n, dtype=np.uint64),
        "close": float_keys(1 + rng.integers(0, 2**28, n) * 2.0**-52),
        "ends": rng.choice(np.array([0, 1, 2**64 - 1, 2**64 - 2, 2**32], dtype=np.uint64), n),
    }[kind]
    order, new = key_order(keys)
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    np.testing.assert_array_equal(keys[order], np.sort(keys))
    np.testing.assert_array_equal(new, np.append(True, np.diff(np.sort(keys)) > 0)[:n])


def test_changes():
    assert changes(np.array([1.0, 1.0, 2.0, 2.0, 2.0, 3.0])).tolist() == [True, False, True, False, False, True]
