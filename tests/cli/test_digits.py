"""How many digits predictions have: ``aldsurv predict --digits``."""

from __future__ import annotations

import csv
import json
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aldsurv
from aldsurv.cli.main import main
from aldsurv.cli.predict.prediction_files import RowWriter
from aldsurv.cli.predict.significant_digits import rounded
from aldsurv.models import WeibullAFT

NUMBERS = st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=20)
DIGITS = st.integers(1, 17)


def text_of(values: np.ndarray, place: Path, form: str = "csv") -> list[str]:
    """Numbers as the writer of a format writes them."""
    with place.open("wb") as file:
        writer = RowWriter.of(form, file)
        writer.write(pa.record_batch([pa.array(values)], names=["a"]))
        writer.finish()
    lines = place.read_text().splitlines()
    return lines[1:] if form == "csv" else [re.fullmatch(r'\{"a": (.*)\}', line).group(1) for line in lines]


def digits_in(text: str) -> int:
    """Significant digits that are written."""
    return len(Decimal(text).normalize().as_tuple().digits)


@given(values=NUMBERS, digits=DIGITS)
def test_numbers_are_the_nearest_of_so_many_digits(values: list[float], digits: int) -> None:
    found = rounded(np.array(values), digits).tolist()
    for value, near in zip(values, found, strict=True):
        assert near == pytest.approx(value, rel=5.001 * 10.0**-digits, abs=1e-322)
        assert digits_in(repr(near)) <= digits


@given(values=NUMBERS, digits=DIGITS)
def test_the_order_stays(values: list[float], digits: int) -> None:
    assert (np.diff(rounded(np.sort(values), digits)) >= 0).all()


@given(value=st.floats(1e-300, 1e300), sign=st.sampled_from([-1, 1]), digits=st.integers(1, 16))
def test_numbers_agree_with_decimal_arithmetic(value: float, sign: int, digits: int) -> None:
    exact = Decimal(value)
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    error = abs(Decimal(repr(rounded(np.array([sign * value]), digits)[0].item())) - sign * exact)
    assert error <= unit * Decimal("0.5001")


def test_numbers_that_are_not_finite_stay() -> None:
    np.testing.assert_array_equal(rounded(np.array([np.inf, -np.inf, np.nan]), 6), [np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_numbers_read_as_people_write_them(form: str, tmp_path: Path) -> None:
    values = [
        422.0,
        0.0,
        -0.0,
        1 / 3,
        1234567.89,
        0.99999999,
        0.9999996,
        0.000123456789,
        1e-5 / 3,
        2.5e-30,
        1e8,
        999999.96,
    ]
    expected = [
        "422",
        "0",
        "0",
        "0.333333",
        "1234570",
        "1",
        "1",
        "0.000123457",
        "0.00000333333",
        "2.5e-30",
        "100000000",
    ]
    assert text_of(rounded(np.array(values), 6), tmp_path / "numbers", form) == [*expected, "1000000"]


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10))
def test_all_digits_read_back_as_the_same_number(values: list[float], tmp_path_factory) -> None:
    place = tmp_path_factory.getbasetemp() / "all_digits"
    assert [float(text) for text in text_of(rounded(np.array(values), 17), place)] == values
    assert [json.loads(text) for text in text_of(rounded(np.array(values), 17), place, "jsonl")] == values


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 1))
    time = rng.exponential(np.exp(3 + x[:, 0]))
    return WeibullAFT().fit({"x": x[:, 0]}, (time, time < 50)).save(tmp_path_factory.mktemp("digits") / "m.aldsurv")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    place = tmp_path / "in.csv"
    place.write_text("id,x,measured\n007,0.123456789012,0.12345678901234\n008,-1,1.50\n")
    return place


def predicted(model: Path, table: Path, out: Path, *words: str) -> list[list[str]]:
    times = ["--times", "1,20,90", "--keep", "all", "--out", str(out), "--quiet"]
    assert main(["predict", str(model), str(table), *times, *words]) == 0
    if out.suffix == ".jsonl":
        rows = [json.loads(line, parse_float=str, parse_int=str) for line in out.read_text().splitlines()]
        return [[str(value) for value in row.values()] for row in rows]
    return list(csv.reader(out.read_text().splitlines()))[1:]


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_predictions_have_six_digits_and_kept_columns_all_of_theirs(model, table, tmp_path, name: str) -> None:
    truth = aldsurv.load(model).predict_distribution({"x": [0.123456789012, -1.0]}).survival([1.0, 20.0, 90.0])
    for words, most in (([], 6), (["--digits", "3"], 3), (["--digits", "17"], 17)):
        rows = predicted(model, table, tmp_path / name, *words)
        assert [row[:3] for row in rows] == [["007", "0.123456789012", "0.12345678901234"], ["008", "-1", "1.50"]]
        texts = [row[3:6] for row in rows]
        assert max(digits_in(text) for row in texts for text in row) == most
        np.testing.assert_allclose(np.array(texts, float), truth, rtol=5.001 * 10.0**-most)


def test_parquet_has_all_digits(model, table, tmp_path, capfd) -> None:
    out = tmp_path / "out.parquet"
    assert main(["predict", str(model), str(table), "--times", "20", "--out", str(out), "--quiet"]) == 0
    truth = aldsurv.load(model).predict_distribution({"x": [0.123456789012, -1.0]}).survival(20.0)
    np.testing.assert_array_equal(pq.read_table(out)["survival_20"].to_numpy(), truth)
    assert main(["predict", str(model), str(table), "--digits", "6", "--out", str(out)]) == 2
    assert "--digits cannot be combined with Parquet" in capfd.readouterr().err


@pytest.mark.parametrize("digits", ["0", "18", "many"])
def test_digits_that_no_number_has(model, table, capfd, digits: str) -> None:
    assert main(["predict", str(model), str(table), "--digits", digits]) == 2
    (line,) = capfd.readouterr().err.splitlines()
    assert "--digits" in line
