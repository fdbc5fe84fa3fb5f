from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aldsurv import datasets
from aldsurv.errors import DataError, ParameterError, UnknownNameError
from aldsurv.tables import text_file

ROWS = 500


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    number = rng.normal(size=ROWS)
    number[::9] = np.nan
    word = rng.choice(np.array(["a", "b, c", 'd"e', "é\nf", None], object), ROWS)
    return pd.DataFrame({"n": number, "w": word, "k": rng.integers(0, 99, ROWS), "f": rng.random(ROWS) < 0.5})


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_LARGEST_PIECE", 200)


def joined(path: Path, rows: int = 37, **reading: str) -> tuple[dict[str, np.ndarray], list[int]]:
    table = datasets.read_blocks(path, **reading)
    found = list(table.blocks(numbers=["n", "k", "f"], text=["w"], kept=["w"], rows=rows))
    sizes = [len(block.x["n"]) for block in found]
    assert [block.start for block in found] == [0, *np.cumsum(sizes)[:-1].tolist()]
    positions = [block.position for block in found]
    assert positions == sorted(positions)
    assert 0 < positions[-1] <= table.size
    kept = [value for block in found for value in block.kept["w"].to_pylist()]
    columns = {name: np.concatenate([block.x[name] for block in found]) for name in ("n", "w", "k", "f")}
    return {**columns, "kept": np.array(kept, object)}, sizes


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "tsv", "parquet"])
def test_blocks_are_the_table(frame, small, tmp_path, ending: str) -> None:
    path = tmp_path / f"t.{ending}"
    if ending == "parquet":
        frame.to_parquet(path, row_group_size=100)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    found, sizes = joined(path)
    whole = datasets.read_table(path).x
    assert max(sizes) <= 37
    assert len(sizes) > 10
    assert np.array_equal(found["n"], whole["n"], equal_nan=True)
    assert np.array_equal(found["k"], whole["k"])
    assert np.array_equal(found["f"].astype(bool), whole["f"])
    written = [None if pd.isna(value) else value for value in frame["w"]]
    assert found["w"].tolist() == whole["w"].tolist() == written
    assert [value or None for value in found["kept"]] == whole["w"].tolist()


def test_decimal_commas_gaps_and_signs(small, tmp_path) -> None:
    written = ["1,5", "+2", " 3,25 ", "NA", "", "-1e2", "?", "7", "true", "FALSE"] * 20
    number = [1.5, 2, 3.25, np.nan, np.nan, -100, np.nan, 7, 1, 0] * 20
    (tmp_path / "t.csv").write_text("n;x\n" + "\n".join(f"{text};0" for text in written))
    blocks = datasets.read_blocks(tmp_path / "t.csv").blocks(numbers=["n"], rows=13)
    assert np.array_equal(np.concatenate([block.x["n"] for block in blocks]), number, equal_nan=True)


def test_further_gaps_and_leading_zeros(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("n,w\n1,007\n-9,-9\n3,NA\n")
    (block,) = datasets.read_blocks(tmp_path / "t.csv", missing=["-9"]).blocks(numbers=["n"], text=["w"], kept=["w"])
    assert np.array_equal(block.x["n"], [1, np.nan, 3], equal_nan=True)
    assert block.x["w"].tolist() == ["007", None, None]
    assert block.kept["w"].to_pylist() == ["007", "-9", "NA"]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("abc", "the column must hold numbers, but this is the text 'abc' (column 'n', line {line}). Correct it"),
        ("1 000", "a point before decimals and no other mark, but this is '1 000' (column 'n', line {line}). Remove"),
        ("0x10", "the column must hold numbers, but this is the text '0x10' (column 'n', line {line})"),
    ],
)
def test_what_is_no_number_is_found_wherever_it_is(small, tmp_path, value: str, told: str) -> None:
    # Below an empty line and a record of two lines.
    rows = ["n,w", "", '1,"a\nb"', *["2,x"] * 300, f"{value},x", "3,x"]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    reading = datasets.read_blocks(tmp_path / "t.csv").blocks(numbers=["n"], rows=7)
    with pytest.raises(DataError) as caught:
        list(reading)
    assert told.format(line=305) in str(caught.value)


def test_an_encoding_that_shows_late(tmp_path) -> None:
    """A letter of Latin 1 far below what is looked at first: all rows are read in the same encoding, with a warning."""
    path = tmp_path / "t.csv"
    path.write_bytes(b"n,w\n" + b"1,plain\n" * 200_000 + "2,Zoë\n".encode("latin-1"))
    with pytest.warns(UserWarning, match="is not UTF-8; it is read as cp1252"):
        table = datasets.read_blocks(path)
    last = list(table.blocks(numbers=["n"], text=["w"], rows=100_000))[-1]
    assert last.x["w"][-1] == "Zoë"
    with pytest.raises(DataError, match="is not text in utf-8"):
        list(datasets.read_blocks(path, encoding="utf-8").blocks(text=["w"]))


def test_a_record_longer_than_a_block(tmp_path, small) -> None:
    long = "x" * 5000
    (tmp_path / "t.csv").write_text("n,w\n" + "1,a\n" * 300 + f"2,{long}\n" + "3,b\n" * 300)
    blocks = list(datasets.read_blocks(tmp_path / "t.csv").blocks(numbers=["n"], text=["w"], rows=50))
    words = [word for block in blocks for word in block.x["w"]]
    assert words == ["a"] * 300 + [long] + ["b"] * 300


def test_refusals(tmp_path, frame) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,b\n1,2,3\n")
    table = datasets.read_blocks(path)
    assert table.names == ["a", "b", "b"]
    with pytest.raises(UnknownNameError, match=r"no column 'A'\. Columns: 'a', 'b'"):
        next(table.blocks(numbers=["A"]))
    with pytest.raises(DataError, match=r"'b' more than once \(columns 2 and 3\)"):
        next(table.blocks(numbers=["b"]))
    with pytest.raises(ParameterError, match="rows must be a whole number from 1 on, but is 0"):
        next(table.blocks(numbers=["a"], rows=0))
    path.write_text("a,b,c\n" + "1,2,3\n" * 400_000 + "1,2\n")
    with pytest.raises(DataError, match="has 2 fields in line 400002, but 3 in its header"):
        list(datasets.read_blocks(path).blocks(numbers=["a"]))
    with pytest.raises(ParameterError, match="missing must be a list of text"):
        datasets.read_blocks(path, missing="x")
    path.write_text("a,b\n")
    with pytest.raises(DataError, match="no rows"):
        list(datasets.read_blocks(path).blocks(numbers=["a"]))
    rng = np.random.default_rng(0)
    lines = "\n".join(map(str, rng.random(300_000)))
    path.write_bytes(gzip.compress(b"a\n" + lines.encode(), compresslevel=1)[:-1_000_000])
    with pytest.raises(DataError, match=r"t\.csv"):
        list(datasets.read_blocks(path).blocks(numbers=["a"]))
    frame.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(DataError, match="is damaged"):
        datasets.read_blocks(path)
    frame.to_parquet(path)
    whole = bytearray(path.read_bytes())
    # The header of the first page.
    whole[4:40] = b"\xff" * 36
    path.write_bytes(whole)
    with pytest.raises(DataError, match="is damaged"):
        list(datasets.read_blocks(path).blocks(numbers=["n"]))
