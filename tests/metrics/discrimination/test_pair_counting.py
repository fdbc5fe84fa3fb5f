from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aldsurv.metrics.discrimination import pair_counting
from aldsurv.metrics.discrimination.pair_counting import sum_of_pairs

SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025]


def all_pairs(place: np.ndarray, importance: np.ndarray, weight: np.ndarray | None) -> float:
    """Row by row from the definition, in the order of the ranks."""
    ends = np.ones(place.size) if weight is None else weight
    higher = (place[row + 1 :] for row in range(place.size))
    return sum(importance[i] * ends[j[j > i]].sum() for i, j in zip(place, higher, strict=True))


def shuffled(n: int, order: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    key = {
        "random": rng.random(n),
        "same": np.arange(n),
        "opposite": -np.arange(n),
        "close": np.arange(n) + 5 * rng.normal(size=n),
        "halves": (np.arange(n) + n // 2) % max(n, 1),
    }[order]
    return np.argsort(key).astype(np.int32)


@pytest.mark.parametrize("order", ["random", "same", "opposite", "close", "halves"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_by_definition(n, weighted, order):
    rng, place = np.random.default_rng(n), shuffled(n, order)
    importance = rng.integers(0, 3, n).astype(float)
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    # Whole numbers: to the last one.
    assert sum_of_pairs(place, importance, weight) == all_pairs(place, importance, weight)


@given(st.permutations(range(40)), st.integers(0, 40), st.integers(0, 99), st.booleans())
def test_any_order(order, n, seed, weighted):
    place = np.array([i for i in order if i < n], dtype=np.int32)
    importance, weight = np.random.default_rng(seed).exponential(1, (2, n))
    expected = all_pairs(place, importance, weight if weighted else None)
    assert sum_of_pairs(place, importance, weight if weighted else None) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("limit", "value"), [("_MOST_ROWS", 100), ("_CELLS", 50), ("_PLACES", 64), ("_PLACES", 1)])
def test_in_parts(monkeypatch, limit, value, weighted):
    """What happens to millions of rows, on fewer."""
    monkeypatch.setattr(pair_counting, limit, value)
    rng = np.random.default_rng(7)
    for n in (100, 101, 1500):
        place, importance = shuffled(n, "close", n), rng.integers(0, 3, n).astype(float)
        weight = rng.integers(0, 4, n).astype(float) if weighted else None
        assert sum_of_pairs(place, importance, weight) == all_pairs(place, importance, weight)


@pytest.mark.parametrize("size", [255, 256, 257, 511, 700])
def test_counts_beyond_a_byte(size):
    rising = np.tile(np.arange(size, dtype=np.int32), 3)
    found = pair_counting._sum_in_groups(rising, np.ones(3 * size), None, size)
    assert found == 3 * size * (size - 1) // 2


@pytest.mark.parametrize("n", [5_000, 300_000])
def test_kendall_by_scipy(n):
    rng = np.random.default_rng(n)
    first = rng.normal(size=n)
    second = first + rng.normal(size=n)
    rank = np.argsort(np.argsort(first))
    pairs = n * (n - 1) // 2
    found = sum_of_pairs(rank[np.argsort(second)].astype(np.int32), np.ones(n))
    assert found == round((stats.kendalltau(first, second).statistic + 1) / 2 * pairs)
