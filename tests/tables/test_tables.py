from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exact_csv import read_exact_csv
from hypothesis import given, settings
from hypothesis import strategies as st

from aldsurv.errors import AldsurvError, DataError, MissingDependencyError, ParameterError, UnknownNameError
from aldsurv.models import ALDSurvival
from aldsurv.tables import arrow_columns, table_format, text_file
from aldsurv.tables.table import Table, TableColumn
from aldsurv.tables.table_reading import read_blocks, read_table

PLAIN = "age,grade,days,dead\n40,I,5,1\n50,II,6.5,0\nNA,I,2,1\n"
ROLES = {"time": "days", "event": "dead"}


@pytest.fixture
def write(tmp_path: Path):
    def to_file(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def refusal(path: Path, kind: type[Exception] = DataError, **named) -> str:
    with pytest.raises(kind) as caught:
        read_table(path, **named)
    told = str(caught.value)
    assert "\n" not in told
    return told


def assert_columns(table: Table, **expected) -> None:
    assert table.feature_names == list(expected)
    for name, values in expected.items():
        assert (
            table.x[name].tolist() == pytest.approx(values, nan_ok=True)
            if isinstance(values[0], float)
            else table.x[name].tolist() == list(values)
        )


def test_a_plain_table(write) -> None:
    table = read_table(write(PLAIN), **ROLES)
    assert_columns(table, age=[40.0, 50.0, np.nan], grade=["I", "II", "I"])
    assert table.y is not None
    assert table.y.time.tolist() == [5, 6.5, 2]
    assert table.y.event.tolist() == [True, False, True]
    assert len(table) == 3
    assert repr(table) == "Table(n=3, features=2)"
    assert str(table) == table.summary()
    assert table.summary().splitlines() == [
        "table.csv: 3 rows, 4 columns (text, delimiter comma, decimal point, utf-8)",
        "  n=3, 2 events (67 %), time 2–6.5",
        "  age    feature: numbers, 1 gap",
        "  grade  feature: text, 2 different",
        "  days   time",
        "  dead   event",
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_delimiters_ends_of_lines_and_marks_of_encodings(write, delimiter: str, end: str, encoding: str) -> None:
    text = PLAIN.replace("grade", "größe").replace(",", delimiter).replace("\n", end)
    table = read_table(write(text.encode(encoding)), **ROLES)
    assert_columns(table, age=[40.0, 50.0, np.nan], größe=["I", "II", "I"])
    assert encoding in table.summary()


@pytest.mark.parametrize("name", ["table.csv.gz", "table"])
def test_gzip(write, name: str) -> None:
    path = write(gzip.compress(PLAIN.encode()), name)
    assert read_table(path, **ROLES).feature_names == ["age", "grade"]
    assert "gzipped" in read_table(path, **ROLES).summary()
    whole = gzip.compress(os.urandom(50_000).hex().encode())
    assert "damaged" in refusal(write(whole[:9]))
    assert "damaged" in refusal(write(b"\x1f\x8bnonsense"))
    # What is damaged far from the beginning shows only when all of it is read.
    rows = "".join(f"{k},{k * 7919 % 1000003}\n" for k in range(300_000))
    long = gzip.compress(f"a,b\n{rows}".encode(), compresslevel=1)
    assert "cannot be read" in refusal(write(long[: len(long) - 2000]))


def test_a_western_file_is_read_with_a_warning(write) -> None:
    path = write("name,t\nMüller,1\nSørensen,2\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="is not UTF-8; it is read as cp1252") as caught:
        table = read_table(path)
    assert Path(caught[0].filename) == Path(__file__)
    assert_columns(table, name=["Müller", "Sørensen"], t=[1, 2])
    assert_columns(read_table(path, encoding="cp1252"), name=["Müller", "Sørensen"], t=[1, 2])
    with pytest.warns(UserWarning, match="read as latin-1"):
        assert_columns(read_table(write(b"a,b\n\x81,1\n")), a=["\x81"], b=[1])
    assert "is not text in utf-8" in refusal(path, encoding="utf-8")
    assert "is not text in ascii" in refusal(path, encoding="ascii")


@pytest.mark.parametrize(("byte", "encoding"), [(b"\xfc", "cp1252"), (b"\x81", "latin-1")])
@pytest.mark.parametrize("column", ["text", "numbers"])
def test_letters_that_show_late(write, byte: bytes, encoding: str, column: str) -> None:
    rows = b"1,a\n" * 400_000
    odd = b"1," + byte if column == "text" else byte + b",a"
    path = write(b"x,y\n" + rows + odd + b"\n")
    with pytest.warns(UserWarning, match=f"read as {encoding}") as caught:
        table = read_table(path)
    assert Path(caught[0].filename) == Path(__file__)
    assert table.x["y" if column == "text" else "x"][-1] == byte.decode(encoding)
    assert "is not text in utf-8" in refusal(path, encoding="utf-8")


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_decimal_commas(write, delimiter: str) -> None:
    rows = ["x,days,dead", "1_5,2_25,1", "-0_5,3,0", "NA,1e1,1"]
    path = write("\n".join(row.replace(",", delimiter).replace("_", ",") for row in rows))
    for named in ({}, {"decimal": ","}):
        table = read_table(path, **named, **ROLES)
        assert_columns(table, x=[1.5, -0.5, np.nan])
        assert table.y is not None
        assert table.y.time.tolist() == [2.25, 3, 10]
        assert "decimal comma" in table.summary()
    # Named, the point makes text of it, which has a meaning only as codes.
    assert "'1,5'" in refusal(path, decimal=".", **ROLES)


def test_commas_that_may_be_thousands(write) -> None:
    path = write("x;days;dead\n1,234;1;1\n2;2;0\n")
    assert "may stand for decimals or for thousands" in (told := refusal(path, **ROLES))
    assert "'1,234' (line 2)" in told
    assert_columns(read_table(path, decimal=",", **ROLES), x=[1.234, 2.0])
    assert_columns(read_table(write("x;days;dead\n1,234;1;1\n0,123;2;0\n"), **ROLES), x=[1.234, 0.123])
    assert_columns(read_table(write("x;days;dead\n1,234;1;1\n2,5;2;0\n"), **ROLES), x=[1.234, 2.5])
    told = refusal(write("x;y\n1,24;1\n2;2.5\n"))
    assert "('1,24' in line 2) and with a point ('2.5' in line 3)" in told


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('x,days,dead\n5,1,1\n"1,234",2,0\n', 3),
        ('x,days,dead\n"1,234.5",1,1\n5,2,0\n', 2),
        ("x;days;dead\n1.234,5;1;1\n5,5;2;0\n", 2),
        ("x;days;dead\n1 234,5;1;1\n5,5;2;0\n", 2),
        ("x,days,dead\n1'234,1,1\n5,2,0\n", 2),
    ],
)
@pytest.mark.parametrize("column", ["x", "days"])
def test_marks_of_thousands_are_refused(write, text: str, line: int, column: str) -> None:
    if column == "days":
        text = text.replace("x", "other").replace("days", "y").replace("other", "days")
    told = refusal(write(text), **ROLES)
    assert "before decimals and no other mark, but this is" in told
    assert f"(column {column!r}, line {line})" in told


def test_spellings_of_gaps(write) -> None:
    spellings = ["", "NA", "N/A", "NaN", "null", ".", "?"]
    path = write("x,y\n" + "".join(f"{gap},{gap}\n" for gap in spellings) + "1,a\n-9,none\n")
    table = read_table(path, missing=["-9", "none"])
    assert np.isnan(table.x["x"]).tolist() == [True] * 7 + [False, True]
    assert table.x["y"].tolist() == [None] * 7 + ["a", None]
    assert "x  feature: numbers, 8 gaps" in table.summary()
    assert "y  feature: text, 1 different, 8 gaps" in table.summary()


def test_kinds_of_columns(write) -> None:
    path = write(
        "n,f,b,gap,d,clock,code,plus\n1,1.5,true,True,2020-01-31,12:30,007,+5\n2,inf,false,,2021-02-01,09:00,010,-2\n"
    )
    table = read_table(path, categorical=["code"])
    assert "".join(column.dtype.kind for column in table.x.values()) == "ifbOMOOf"
    assert table.x["gap"].tolist() == [True, None]
    assert table.x["clock"].tolist() == ["12:30", "09:00"]
    assert table.x["code"].tolist() == ["007", "010"]
    assert table.x["plus"].tolist() == [5, -2]
    assert table.categorical == ("code",)
    assert "gap    feature: yes/no, 1 gap" in table.summary()
    assert "d      feature: dates" in table.summary()


def test_named_columns_are_no_features(write) -> None:
    path = write("a,low,high,start,w,b,c\n1,1,inf,0,2,3,x\n2,4,6,1,1,4,y\n3,5,5,2,1,5,z\n")
    table = read_table(path, lower="low", upper="high", entry="start", weight="w", drop=["b"])
    assert table.feature_names == ["a", "c"]
    assert table.y is not None
    start = "n=3, 1 exact event (33 %), time 1–6, 1 interval-censored, entry 0–2, weights 1–2"
    assert table.y.summary().startswith(start)
    uses = ["feature", "lower", "upper", "entry", "weight", "left out", "feature"]
    assert table.columns == tuple(map(TableColumn, ["a", "low", "high", "start", "w", "b", "c"], uses))


def test_event_values(write) -> None:
    path = write("x,days,status\n1,5,1:DECEASED\n2,6,0:LIVING\n")
    table = read_table(path, time="days", event="status", event_value="1:DECEASED")
    assert table.y is not None
    assert table.y.event.tolist() == [True, False]
    assert "event_value='1:DECEASED'" in refusal(path, time="days", event="status")
    assert "does not occur" in refusal(path, time="days", event="status", event_value="dead")


def test_people_to_predict_for(write) -> None:
    table = read_table(write("age\n40\n50\n"))
    assert table.y is None
    assert len(table) == 2
    assert "no times" in table.summary()
    assert len(table[:1]) == 1
    with pytest.raises(DataError, match="Name their columns"):
        table.split()


def test_row_names(write) -> None:
    assert_columns(read_table(write('"","x","y"\n"1",5,a\n"2",6,b\n')), x=[5, 6], y=["a", "b"])
    with pytest.warns(UserWarning, match="column 3 has no name and is left out") as caught:
        table = read_table(write("x,y,\n5,a,\n6,b,\n"))
    assert Path(caught[0].filename) == Path(__file__)
    assert "(no name)  left out" in table.summary()
    told = refusal(write('"x" "y"\n"1" 5 6\n"2" 7 8\n'), delimiter=" ")
    assert "has 3 fields in line 2, but 2 in its header. If rows begin with a name" in told


def test_rows_and_splits(write) -> None:
    text = "x,g,days,dead\n" + "".join(f"{k},{'ab'[k % 2]},{k + 1},{k % 2}\n" for k in range(50))
    table = read_table(write(text), **ROLES)
    train, test = table.split(0.2, random_state=0)
    assert (len(train), len(test)) == (40, 10)
    assert sorted([*train.x["x"], *test.x["x"]]) == list(range(50))
    for part in (train, test, table[[3, 1]], table[table.x["x"] > 40], table[5], table[[]]):
        assert part.y is not None
        assert part.y.time.tolist() == [value + 1 for value in part.x["x"]]
    assert "more" not in table.summary()


def test_a_model_takes_it(write) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{rng.normal():.3f},{'NA' if k % 9 == 0 else rng.integers(30, 80)},{'I' * (k % 2 + 1)},{k % 4:03d},"
        f"{rng.exponential(10):.2f},{'dead' if k % 3 else 'alive'}"
        for k in range(60)
    ]
    path = write("marker,age,grade,site,days,status\n" + "\n".join(rows))
    table = read_table(path, time="days", event="status", event_value="dead", categorical=["site"])
    model = ALDSurvival(members=1, max_epochs=2, random_state=0, categorical=table.categorical)
    model.fit(table.x, table.y)
    assert list(model.feature_names_in_) == table.feature_names == ["marker", "age", "grade", "site"]
    assert model.predict_distribution(table[:5].x).median().shape == (5,)


# ---- refusals ----


@pytest.mark.parametrize(
    ("text", "named", "told"),
    [
        ("x,days,dead\n1,5,1\n2,-6,0\n", {}, "time must be finite and not negative, but 1 of 2 values is not"),
        ("x,days,dead\n1,5,1\n2,-6,0\n", {}, "first -6.0 (column 'days', line 3)"),
        ("x,days,dead\n1,5,1\n\n\n2,-6,0\n", {}, "first -6.0 (column 'days', line 5)"),
        ('x,days,dead\n"1\n2\n3",5,1\nb,-6,0\n', {}, "first -6.0 (column 'days', line 5)"),
        ("x,days,dead\n1,5,1\n2,,0\n", {}, "first nan (column 'days', line 3)"),
        ("x,days,dead\n1,5,1\n2,long,0\n", {}, "1 of 2 values is not, first the text 'long' (column 'days', line 3)"),
        ("x,days,dead\n1,5,1\n2,long,0\n3,1.5e0,0\n", {}, "1 of 3 values is not, first the text 'long' (column 'days'"),
        ("x,days,dead\n1,2020-01-01,1\n", {}, "first the date '2020-01-01' (column 'days', line 2)"),
        ("x,days,dead\n1,5,1\n2,6,\n", {}, "event must be known in every row, but 1 of 2 values is not"),
        ("x,days,dead\n1,5,1\n2,6,2\n", {}, "event_value=2"),
        ("x,days,dead\n1,5,yes\n2,6,\n", {"event_value": "yes"}, "first None (column 'dead', line 3)"),
        ("x,days,dead\n1,5\n", {}, "has 2 fields in line 2, but 3 in its header"),
        ("x,days,dead\n1,5,1\n\n2,3,0,9\n", {}, "has 4 fields in line 4, but 3 in its header"),
        ('x,days,dead\n1,"5,1\n2,3,0\n', {}, "has 2 fields in line 2, but 3 in its header"),
        ("x,days,dead,x\n1,5,1,2\n", {}, "has the column 'x' more than once (columns 1 and 4)"),
        ("x,days,dead\n", {}, "has a header but no rows"),
        ("x,days,dead", {}, "has a header but no rows"),
        ("x,days,dead\n\n\n", {}, "has a header but no rows"),
        ("days,dead\n1,1\n", {"weight": "dead"}, "event and weight must be different columns"),
        ("days,dead\n1,1\n", {"drop": ["days"]}, "column 'days' cannot be both time and dropped"),
    ],
)
def test_refusals_name_column_and_line(write, text: str, named: dict, told: str) -> None:
    path = write(text)
    found = refusal(path, (DataError, ParameterError), **ROLES, **named)
    assert told in found
    assert str(path) in found or "different columns" in found or "dropped" in found


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"time": "Days", "event": "dead"}, "there is no column 'Days'. Did you mean 'days'? Columns: 'age'"),
        ({**ROLES, "drop": ["garde"]}, "there is no column 'garde'. Did you mean 'grade'?"),
        ({**ROLES, "categorical": ["agee"]}, "Did you mean 'age'?"),
        ({**ROLES, "weight": "zzz"}, "there is no column 'zzz'. Columns:"),
    ],
)
def test_unknown_columns(write, named: dict, told: str) -> None:
    path = write(PLAIN)
    found = refusal(path, UnknownNameError, **named)
    assert told in found
    assert str(path) in found
    assert "header" not in found


def test_a_file_without_a_header(write) -> None:
    assert "Has the file no header?" in refusal(write("1,2.5\n3,4\n"), UnknownNameError, **ROLES)


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"time": "days"}, "needs the columns time and event"),
        ({"time": "days", "upper": "dead"}, "but got time and upper"),
        ({"weight": "days"}, "but got none of them"),
        ({"event_value": 1}, "but got none of them"),
        ({"time": 3, "event": "dead"}, "time must be the name of a column"),
        ({"drop": "age"}, "drop must be a list"),
        ({"categorical": [1]}, "categorical must be a list"),
        ({"missing": "-9"}, "missing must be a list"),
        ({"delimiter": ",,"}, "delimiter must be"),
        ({"delimiter": '"'}, "delimiter must be"),
        ({"decimal": "·"}, "decimal must be"),
        ({"delimiter": ",", "decimal": ","}, "must differ"),
        ({"encoding": "klingon"}, "encoding must be"),
        ({"encoding": "base64"}, "encoding must be"),
        ({"encoding": "idna"}, "encoding must be"),
        ({"encoding": "punycode"}, "encoding must be"),
        ({"encoding": "unicode_escape"}, "encoding must be"),
        ({"encoding": "undefined"}, "encoding must be"),
        ({"encoding": 5}, "encoding must be"),
    ],
)
def test_wrong_arguments(write, named: dict, told: str) -> None:
    assert told in refusal(write(PLAIN), ParameterError, **named)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_table(tmp_path / "nothing.csv")
    assert "is a folder" in refusal(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "is a pipe or a device" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n \n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"PK\x03\x04 and so on", "Excel"),
        (b"\x89HDF\r\n\x1a\n and so on", "HDF5"),
        (b"a,b\n1,\x00\n", "is not a table: it holds the character '\\x00' in line 2"),
        ("a,b\n1,2\n".encode("utf-16-le"), "encoding='utf-16-le'"),
        (b"\x7fELF\x02\x01\x01", "is not a table"),
        (b"PAR1 and so on", "begins like a Parquet file, but is damaged"),
        (b"PAR1" + b"\xff" * 100 + b"PAR1", "begins like a Parquet file, but is damaged"),
        ("a,b\n1,2\n".encode("utf-16") + b"\x00", "is not text in utf-16"),
    ],
)
def test_what_is_no_table(write, content: bytes, told: str) -> None:
    assert told in refusal(write(content))


def test_all_left_out(write) -> None:
    assert "Drop fewer" in refusal(write("a,b\n1,2\n"), drop=["a", "b"])


def test_a_delimiter_of_another_kind(write) -> None:
    assert_columns(read_table(write("a:b\n1:x\n"), delimiter=":"), a=[1], b=["x"])
    assert "':'" in read_table(write("a:b\n1:x\n"), delimiter=":").summary()
    assert_columns(read_table(write("a b\n1 2\n", "t.tsv")), **{"a b": ["1 2"]})


def test_encoding_without_a_mark(write) -> None:
    path = write("a,b\n1,ü\n".encode("utf-16-le"))
    assert_columns(read_table(path, encoding="utf-16-le"), a=[1], b=["ü"])
    assert_columns(read_table(write("\ufeffa,b\n1,ü\n"), encoding="UTF8"), a=[1], b=["ü"])


# ---- large and odd files ----


def test_types_that_change_late(write) -> None:
    rows = ["1,1,1,,1,true,1"] * 300_000
    text = "a,b,c,d,e,f,g\n" + "\n".join([*rows, "2.5,x,,7,1,maybe,1", *rows[:10]]) + "\n"
    table = read_table(write(text))
    kinds = {name: column.dtype.kind for name, column in table.x.items()}
    assert kinds == {"a": "f", "b": "O", "c": "f", "d": "f", "e": "i", "f": "O", "g": "i"}
    assert [table.x[name][300_000] for name in "abdef"] == [2.5, "x", 7, 1, "maybe"]
    assert np.isnan(table.x["c"][300_000])
    assert table.x["b"][0] == "1"
    assert len(table) == 300_011


def test_more_surprises_than_passes(write) -> None:
    n = text_file._MOST_PASSES + 2
    rows = [",".join(["1"] * n)] * 120_000
    odd = ",".join(f"w{k}" if k % 2 else "1.5" for k in range(n))
    text = ",".join(f"c{k}" for k in range(n)) + "\n" + "\n".join([*rows, odd]) + "\n"
    table = read_table(write(text))
    assert [table.x[f"c{k}"][-1] for k in range(n)] == [f"w{k}" if k % 2 else 1.5 for k in range(n)]
    assert table.x["c1"][0] == "1"


def test_ten_thousand_columns(write) -> None:
    names = [f"c{k}" for k in range(10_000)]
    path = write(",".join(names) + "\n" + (",".join(map(str, range(10_000))) + "\n") * 3)
    table = read_table(path, time="c5", event="c1", drop=["c7"])
    assert len(table.x) == 9997
    assert table.x["c9999"].tolist() == [9999] * 3
    assert table.summary().endswith("and 9940 more columns")
    path.write_text(",".join([*names, "c3"]) + "\n")
    assert "more than once (columns 4 and 10001)" in refusal(path)


def test_very_long_lines(write) -> None:
    long = "z" * 3_000_000
    assert_columns(read_table(write(f"a,b\n1,{long}\n2,y\n")), a=[1, 2], b=[long, "y"])
    # The limit belongs to the whole process: whatever else was imported may have raised it.
    before = csv.field_size_limit(131_072)
    try:
        told = refusal(write(f"a,b\n1,{long}\n2,y,5\n"))
    finally:
        csv.field_size_limit(before)
    assert "more than 131072 characters" in told
    assert refusal(write(f"{long},b\n1\n"))


def test_lines_too_long_for_any_block(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_PIECES", (1 << 10, 1 << 12))
    assert "a line of more than 4096 bytes" in refusal(write(f"a,b\n1,{'z' * 9000}\n2,y\n"))


def test_quotes(write) -> None:
    table = read_table(write('"a,1","b ""x"""\n"1,5 mg","c\nd"\n"e","f;g"\n'))
    assert_columns(table, **{"a,1": ["1,5 mg", "e"], 'b "x"': ["c\nd", "f;g"]})


# ---- Parquet ----


def to_parquet(path: Path, **columns) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=2)
    return path


def test_parquet(tmp_path: Path) -> None:
    path = to_parquet(
        tmp_path / "table",
        age=pa.array([40, None, 60, 70], pa.int16()),
        dose=pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25"), decimal.Decimal("3.00")]),
        half=pa.array(np.array([1, 2, 3, 4], np.float16)),
        grade=pa.array(["I", None, "II", "I"]).dictionary_encode(),
        level=pa.array([1, 2, 1, 2]).dictionary_encode(),
        empty=pa.nulls(4),
        seen=pa.array([True, None, False, True]),
        on=pa.array([datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]),
        code=pa.array(["1", "2", "1", "2"], pa.large_string()),
        days=pa.array([1.5, 2, 3, 4]),
        dead=pa.array([True, False, True, True]),
        **{"days.x": pa.array([9, 9, 9, 8]), "__index_level_0__": pa.array([0, 1, 2, 3])},
    )
    table = read_table(path, **ROLES)
    assert_columns(
        table,
        age=[40.0, np.nan, 60.0, 70.0],
        dose=[1.5, np.nan, 2.25, 3.0],
        half=[1.0, 2.0, 3.0, 4.0],
        grade=["I", None, "II", "I"],
        level=[1, 2, 1, 2],
        empty=[np.nan] * 4,
        seen=[True, None, False, True],
        on=[datetime.date(2020, 1, day) for day in (1, 2, 3, 4)],
        code=["1", "2", "1", "2"],
        **{"days.x": [9, 9, 9, 8]},
    )
    assert table.y is not None
    assert table.y.time.tolist() == [1.5, 2, 3, 4]
    # Of other categories than text Parquet keeps only the values.
    assert table.categorical == ("grade",)
    assert "(Parquet)" in table.summary()


def test_errors_have_parts(write) -> None:
    path = write("x,days,dead\n1,5,1\n\n2,-6,0\n")
    with pytest.raises(DataError) as caught:
        read_table(path, **ROLES)
    error = caught.value
    assert (error.argument, error.column, error.row) == ("time", "days", 1)
    assert (error.file, error.line, error.advice) == (str(path), 4, "Drop or correct those rows.")
    with pytest.raises(UnknownNameError) as unknown:
        read_table(path, **ROLES, drop=["X"])
    assert (unknown.value.argument, unknown.value.suggestion, unknown.value.file) == ("drop", None, str(path))
    with pytest.raises(DataError) as marks:
        list(read_blocks(write("x\n1\n2 000\n")).blocks(numbers=["x"], rows=1))
    assert (marks.value.argument, marks.value.column, marks.value.row, marks.value.line) == ("decimal", "x", 1, 3)


def test_refusals_of_parquet(tmp_path: Path, write) -> None:
    path = to_parquet(tmp_path / "t.parquet", days=[1.0, -2.0], dead=[1, 0], parts=[[1], [2, 3]])
    assert "(column 'parts')" in (told := refusal(path, **ROLES))
    assert "the column holds list<" in told
    assert "first -2.0 (column 'days', row 1)" in refusal(path, drop=["parts"], **ROLES)
    assert "Did you mean 'days'" in refusal(path, UnknownNameError, time="day", event="dead")
    assert "no rows" in refusal(
        to_parquet(tmp_path / "none.parquet", a=pa.array([], pa.float64()), b=pa.array([], "str"))
    )
    twice = tmp_path / "twice.parquet"
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), twice)
    assert "more than once" in refusal(twice)
    content = bytearray((to_parquet(tmp_path / "d.parquet", a=list(range(1000)))).read_bytes())
    content[4:200] = b"\xff" * 196
    assert "damaged" in refusal(write(bytes(content), "damaged.parquet"))


def test_without_pyarrow(write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "aldsurv\[tables\]"'):
        read_table(write(PLAIN), **ROLES)


# ---- anything at all ----


def attempt(path: Path, **named) -> Table | None:
    """The table, or nothing if it was refused in one line; nothing else may happen."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_table(path, **named)
        except AldsurvError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return None


@given(content=st.binary(max_size=400))
def test_random_bytes(tmp_path_factory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("random") / "table"
    for head in (b"", b"a,b\n", b"PAR1", b"\xff\xfe", b"\x1f\x8b"):
        path.write_bytes(head + content)
        attempt(path)
        attempt(path, time="a", event="b")


PIECES = st.sampled_from([",", ";", "\t", "|", '"', '""', "\n", "\r\n", "\r", " ", "\ufeff", "\0", "é", "€"])
CELLS = st.sampled_from(["1", "2.5", "1,5", "-3", "NA", "a", "x y", "1e999", "0x1", "true", "2020-01-01", "12:30", "∞"])


@given(pieces=st.lists(st.one_of(PIECES, CELLS), max_size=60), encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]))
@settings(max_examples=settings.default.max_examples * 4)
def test_random_tables(tmp_path_factory, pieces: list[str], encoding: str) -> None:
    path = tmp_path_factory.mktemp("random") / "table.csv"
    path.write_bytes("".join(pieces).encode(encoding, errors="replace"))
    table = attempt(path)
    if table is not None:
        assert {column.size for column in table.x.values()} == {len(table)}
    attempt(path, time="1", event="2.5")
    path.write_bytes(b"days,dead,x\n1,1,1\n" + path.read_bytes())
    attempt(path, **ROLES)


NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str), st.floats(-1e6, 1e6).map(repr), st.sampled_from(["", "NA", "NaN"])
)
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp", "Zs", "Nd", "Nl", "No"]), min_size=1)
TEXTS = st.one_of(
    WORDS.map(lambda word: f"w{word}"), st.sampled_from(["", "two words", "a,b", 'a "b" c', "a\nb", "a;b"])
)


@given(data=st.data())
@settings(max_examples=settings.default.max_examples * 2)
def test_well_formed_tables_equal_those_of_pandas(tmp_path_factory, data) -> None:
    width, height = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 12))
    kinds = data.draw(st.lists(st.sampled_from(["number", "text"]), min_size=width, max_size=width))
    names = [f"{kind} {k}" for k, kind in enumerate(kinds)]
    columns = [
        data.draw(st.lists(NUMBERS if kind == "number" else TEXTS, min_size=height, max_size=height)) for kind in kinds
    ]
    delimiter, encoding = (
        data.draw(st.sampled_from([",", ";", "\t", "|"])),
        data.draw(st.sampled_from(["utf-8", "utf-16"])),
    )
    frame = pd.DataFrame(dict(zip(names, columns, strict=True)))
    # Empty lines are no rows, here and there: a single column is quoted throughout.
    text = frame.to_csv(index=False, sep=delimiter, quoting=1 if width == 1 else 0)
    path = tmp_path_factory.mktemp("formed") / "table.csv"
    path.write_bytes(text.encode(encoding))
    table = read_table(path, delimiter=delimiter, decimal=".")
    expected = read_exact_csv(
        io.StringIO(text), sep=delimiter, keep_default_na=False, na_values=list(text_file.MISSING)
    )
    assert table.feature_names == list(expected.columns)
    for name in names:
        found = pd.Series(table.x[name]).astype(object)
        assert found.isna().tolist() == expected[name].isna().tolist()
        assert found.dropna().tolist() == expected[name].dropna().tolist()
    if width > 1 and not any(mark in text for mark in ("a;b", "a,b")):
        assert table_format.text_format(path, delimiter=None, decimal=".", encoding=None).delimiter == delimiter


def test_segments_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_columns, "_FIRST_SEGMENT", 4)
    monkeypatch.setattr(arrow_columns, "_LARGEST_SEGMENT", 16)
    builder = arrow_columns.ColumnBuilder(pa.int64(), "a")
    expected: list[float] = []
    for size in (0, 3, 1, 30, 2, 5):
        values = [*range(len(expected), len(expected) + size)]
        piece = [None if size == 5 and value % 2 else value for value in values]
        builder.add(pa.array(piece, pa.int64()))
        expected += [np.nan if value is None else value for value in piece]
    found = builder.finish()
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
    assert arrow_columns.ColumnBuilder(pa.int64(), "").finish().size == 0


class SlowFile:
    """A file that is long in reading, and notices when it is closed meanwhile."""

    def __init__(self, path: Path, closed_under: list[str]) -> None:
        self._file, self._path, self._reading = io.BytesIO(path.read_bytes()), path, 0
        self._closed_under = closed_under

    def read(self, size: int = -1) -> bytes:
        self._reading += 1
        time.sleep(0.02)
        try:
            return self._file.read(size)
        finally:
            self._reading -= 1

    def close(self) -> None:
        if self._reading:
            self._closed_under.append(self._path.name)
        self._file.close()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._file.tell()


def test_no_file_is_closed_under_a_thread_that_reads_ahead(tmp_path, monkeypatch):
    # Else the thread goes on in the next file that the system gives the same number, and rows are lost there.
    rows = 300_000
    path = tmp_path / "long.csv"
    lines = [f"{k}.5,{k % 7 + 1},{k % 2}" for k in range(rows)]
    # Another type than the first block has: what was begun is given up, and the file is read anew.
    lines[100_000] = "none,3,1"
    path.write_text("\n".join(["x,t,e", *lines]) + "\n")
    closed_under: list[str] = []

    def opened(place: Path) -> pa.PythonFile:
        return pa.PythonFile(SlowFile(place, closed_under), mode="r")

    monkeypatch.setattr("aldsurv.tables.text_file.open_arrow_file", opened)
    table = read_table(path, time="t", event="e")
    assert len(table) == rows
    assert sum(len(block.x["t"]) for block in read_blocks(path).blocks(numbers=["t"], rows=50_000)) == rows
    assert not closed_under
