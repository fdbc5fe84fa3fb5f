from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aldsurv.datasets import read_blocks, read_table
from aldsurv.errors import MissingValueWarning
from aldsurv.tables.gap_markers import GapMarkers

NUMBERS = st.sampled_from([-9.0, 3.0, 41.5, 7.0, 99.0])
WORDS = st.sampled_from(["I", "II", "unknown", " unknown", "-9"])


def written(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return path


def gaps(values: np.ndarray) -> list[bool]:
    return pd.isna(values).tolist()


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(rows=st.lists(st.tuples(NUMBERS, WORDS, st.integers(-9, 3)), min_size=1, max_size=12))
def test_numbers_by_the_number_and_text_by_the_text(tmp_path, name, rows):
    frame = pd.DataFrame(rows, columns=["x", "word", "count"])
    path = written(tmp_path / name, frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        table = read_table(path, missing=["-9", "unknown"], categorical=["word"])
    assert gaps(table.x["x"]) == [x == -9 for x, _, _ in rows]
    assert gaps(table.x["word"]) == [word.strip() in ("-9", "unknown") for _, word, _ in rows]
    assert gaps(table.x["count"]) == [count == -9 for _, _, count in rows]
    blocks = list(read_blocks(path, missing=["-9", "unknown"]).blocks(numbers=["x", "count"], text=["word"], rows=5))
    for column in ("x", "word", "count"):
        assert gaps(np.concatenate([block.x[column] for block in blocks])) == gaps(table.x[column])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_value_that_does_not_occur_is_named(tmp_path, name):
    path = written(tmp_path / name, pd.DataFrame({"x": [1.0, -9.0, 3.0], "word": ["a", "unknown", "b"]}))
    with pytest.warns(MissingValueWarning, match=r"does not hold 'unknwon', '-99', named as missing"):
        read_table(path, missing=["-9", "unknown", "unknwon", "-99"])
    file = read_blocks(path, missing=["-9", "unknown", "unknwon"])
    list(file.blocks(numbers=["x"], text=["word"]))
    assert file.missing.unseen == ["unknwon"]


def test_text_among_numbers_becomes_a_gap_and_the_column_numbers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,-9.0\nunknown,4\n3, -9\n")
    table = read_table(path, missing=["unknown", "-9"])
    np.testing.assert_array_equal(table.x["x"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.x["y"], [np.nan, 4, np.nan])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_days_that_stand_for_gaps(tmp_path, name):
    days = pd.to_datetime(["2020-05-01", "1900-01-01", "2021-02-03"])
    path = written(tmp_path / name, pd.DataFrame({"seen": days, "x": [1, 2, 3]}))
    assert gaps(read_table(path, missing=["1900-01-01"]).x["seen"]) == [False, True, False]


def test_true_is_not_one():
    values = np.array([True, None, "1", False], object)
    assert GapMarkers(["1", "0"]).without(values).tolist() == [True, None, None, False]
    assert GapMarkers(["1"]).without(np.array([True, False])).tolist() == [True, False]
