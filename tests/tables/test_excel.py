"""Excel files beside what pandas reads of them, and what people do to sheets."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aldsurv.datasets import read_blocks, read_table
from aldsurv.errors import DataError, ParameterError, UnknownNameError

FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
TEXT = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=6)
NUMBER = st.floats(-1e6, 1e6, allow_subnormal=False) | st.integers(-(10**9), 10**9)
DAY = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2090, 1, 1)).map(
    lambda day: day.replace(microsecond=0)
)


def sheet(path: Path, rows: list[list[object]], title: str = "Sheet1") -> Path:
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


@FEW
@given(
    rows=st.lists(
        st.tuples(NUMBER | st.none(), TEXT.map(lambda text: f"w{text}") | st.none(), st.booleans(), DAY | st.none()),
        min_size=1,
        max_size=20,
    )
)
def test_what_was_written_is_read_as_pandas_reads_it(tmp_path, rows):
    path = sheet(tmp_path / "t.xlsx", [["x", "word", "yes", "day"], *map(list, rows)])
    table, frame = read_table(path), pd.read_excel(path)
    assert table.feature_names == list(frame.columns)
    np.testing.assert_array_equal(table.x["x"].astype(float), frame["x"].to_numpy(float))
    assert [None if pd.isna(value) else value for value in table.x["word"].tolist()] == [word for _, word, _, _ in rows]
    assert table.x["yes"].tolist() == frame["yes"].tolist()
    days = pd.to_datetime(pd.Series(table.x["day"]))
    assert all((pd.isna(a) and pd.isna(b)) or a == pd.Timestamp(b) for a, b in zip(days, frame["day"], strict=True))
    # In blocks the same.
    blocks = list(read_blocks(path).blocks(numbers=["x", "yes"], text=["word"], kept=["day", "x"], rows=7))
    np.testing.assert_array_equal(np.concatenate([block.x["x"] for block in blocks]), table.x["x"].astype(float))
    np.testing.assert_array_equal(np.concatenate([block.x["yes"] for block in blocks]), table.x["yes"])
    words = np.concatenate([block.x["word"] for block in blocks]).tolist()
    assert words == [word for _, word, _, _ in rows]
    kept = [text for block in blocks for text in block.kept["day"].to_pylist()]
    expected = [None if day is None else day for *_, day in rows]
    assert [None if text is None else datetime.datetime.fromisoformat(text) for text in kept] == expected


def test_a_table_with_times(tmp_path):
    rows = [["age", "months", "status"], [50, 3.5, "dead"], [61, 7, "alive"], [44, 2, "dead"]]
    table = read_table(sheet(tmp_path / "t.xlsx", rows, "Data"), time="months", event="status", event_value="dead")
    assert table.y.time.tolist() == [3.5, 7, 2]
    assert table.y.event.tolist() == [True, False, True]
    assert table.x["age"].dtype == np.int64
    assert table.summary().splitlines()[0] == "t.xlsx: 3 rows, 3 columns (Excel, sheet 'Data')"


def test_the_name_of_the_file_does_not_matter(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["a", "b"], [1, 2]])
    assert read_table(path.rename(tmp_path / "t.data")).x["a"].tolist() == [1]


def test_errors_of_excel_are_gaps(tmp_path):
    rows = [["x", "word"], [1, "a"], ["#N/A", "#REF!"], ["#DIV/0!", "NA"], [4, " "], ["#VALUE!", "b"]]
    path = sheet(tmp_path / "t.xlsx", rows)
    table = read_table(path)
    np.testing.assert_array_equal(table.x["x"], [1, np.nan, np.nan, 4, np.nan])
    assert table.x["word"].tolist() == ["a", None, None, None, "b"]
    (block,) = read_blocks(path).blocks(numbers=["x"], text=["word"])
    np.testing.assert_array_equal(block.x["x"], table.x["x"])
    assert block.x["word"].tolist() == table.x["word"].tolist()


def test_codes_and_numbers_that_are_text(tmp_path):
    rows = [
        ["zip", "x", "mixed", "price"],
        ["01234", "12", 5, "1,5"],
        ["00007", "3.5", "6", "2,25"],
        [None, None, 7, None],
    ]
    path = sheet(tmp_path / "t.xlsx", rows)
    table = read_table(path, decimal=",", drop=["x"])
    assert table.x["zip"].tolist() == ["01234", "00007", None]
    np.testing.assert_array_equal(table.x["mixed"], [5, 6, 7])
    np.testing.assert_array_equal(table.x["price"], [1.5, 2.25, np.nan])
    np.testing.assert_array_equal(read_table(path, drop=["price"]).x["x"], [12, 3.5, np.nan])
    with pytest.raises(DataError, match="must have a point before decimals") as caught:
        read_table(path)
    assert (caught.value.column, caught.value.line) == ("price", 2)
    (block,) = read_blocks(path, decimal=",").blocks(numbers=["mixed", "price"], text=["zip"])
    np.testing.assert_array_equal(block.x["price"], [1.5, 2.25, np.nan])
    assert block.x["zip"].tolist() == ["01234", "00007", None]


def test_codes_as_numbers_are_text_without_decimals(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["id", "x"], [7, 1], [7.0, 2], [8.5, 3], ["a", 4]])
    assert read_table(path, categorical=["id"]).x["id"].tolist() == ["7", "7", "8.5", "a"]
    (block,) = read_blocks(path).blocks(text=["id"])
    assert block.x["id"].tolist() == ["7", "7", "8.5", "a"]


def test_empty_rows_and_columns_around_and_within(tmp_path):
    rows = [
        [],
        [None, None],
        [None, "x", None, "y"],
        [None, 1, None, 2],
        [],
        [None, 3, None, "oops"],
        [None, None, " "],
    ]
    path = sheet(tmp_path / "t.xlsx", rows)
    table = read_table(path)
    assert table.feature_names == ["x", "y"]
    assert table.x["x"].tolist() == [1, 3]
    with pytest.raises(DataError) as caught:
        list(read_blocks(path).blocks(numbers=["y"]))
    assert (caught.value.line, caught.value.column) == (6, "y")


def test_a_title_above_the_header_is_named(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["Patients of 2020"], [], ["age", "months", "died"], [50, 3, 1]])
    with pytest.raises(
        DataError, match=r"row 1, cannot be the header: it has 1 cell \('Patients of 2020'\), but row 3 has 3"
    ):
        read_table(path)


def test_a_column_without_a_name_is_left_out(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["age", None, "died"], [50, "note", 1], [60, None, 0]])
    with pytest.warns(UserWarning, match="column 2 has no name and is left out"):
        assert read_table(path).feature_names == ["age", "died"]


def test_merged_cells_hold_for_all_their_rows(tmp_path):
    book = openpyxl.Workbook()
    for row in [["site", "x", "y"], ["Bonn", 1, 1], [None, 2, 1], [None, 3, 0], ["Köln", 4, 0]]:
        book.active.append(row)
    book.active.merge_cells("A2:A4")
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(UserWarning, match=r"merged cells \(A2:A4\): the value of each holds for all its rows"):
        table = read_table(tmp_path / "t.xlsx")
    assert table.x["site"].tolist() == ["Bonn", "Bonn", "Bonn", "Köln"]
    book.active.merge_cells("A1:B1")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(DataError, match=r"merged cells in its header \(A1:B1\)"):
        read_table(tmp_path / "t.xlsx")


def test_formulas(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["x", "y"], [1, "=A2*2"], [2, "=A3*2"]])
    with pytest.raises(DataError, match="formulas without their values"):
        read_table(path)
    # As Excel saves them.
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(tmp_path / "c.xlsx", "w") as target:
        for name in source.namelist():
            text = source.read(name)
            for formula, value in ((b"A2*2", b"2"), (b"A3*2", b"4")):
                for empty in (b"<v />", b"<v/>", b"<v></v>"):
                    text = text.replace(
                        b"<f>" + formula + b"</f>" + empty, b"<f>" + formula + b"</f><v>" + value + b"</v>"
                    )
            target.writestr(name, text)
    assert read_table(tmp_path / "c.xlsx").x["y"].tolist() == [2, 4]


@pytest.fixture
def book(tmp_path) -> Path:
    book = openpyxl.Workbook()
    book.active.title = "Empty"
    for title, start in (("Data", 0), ("Codes", 10), ("3", 20)):
        each = book.create_sheet(title)
        each.append(["x"])
        each.append([start + 1])
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_sheets(book):
    with pytest.warns(UserWarning, match=r"has 4 sheets, of which 'Data' is read; not read: 'Empty', 'Codes', '3'"):
        assert read_table(book).x["x"].tolist() == [1]
    for chosen, value in (("Codes", 11), (2, 1), ("2", 1), ("3", 21), (3, 11)):
        assert read_table(book, sheet=chosen).x["x"].tolist() == [value]
    with pytest.raises(UnknownNameError, match=r"no sheet 'Dta'. Did you mean 'Data'\? Sheets: 'Empty', 'Data'"):
        read_table(book, sheet="Dta")
    with pytest.raises(UnknownNameError, match="no sheet 5: they are numbered from 1 to 4"):
        read_table(book, sheet=5)
    with pytest.raises(ParameterError, match="sheet must be a name or a number"):
        read_table(book, sheet=1.5)
    with pytest.raises(DataError, match="the sheet 'Empty' is empty"):
        read_table(book, sheet="Empty")


def test_values_for_gaps(tmp_path):
    path = sheet(tmp_path / "t.xlsx", [["x", "word"], [-9, "a"], [3, "unknown"], ["unknown", "b"]])
    table = read_table(path, missing=["-9", "unknown"])
    np.testing.assert_array_equal(table.x["x"], [np.nan, 3, np.nan])
    assert table.x["word"].tolist() == ["a", None, "b"]
    file = read_blocks(path, missing=["-9", "unknown", "none"])
    (block,) = file.blocks(numbers=["x"], text=["word"])
    np.testing.assert_array_equal(block.x["x"], table.x["x"])
    assert block.x["word"].tolist() == table.x["word"].tolist()
    assert file.missing.unseen == ["none"]


def test_rows_without_values(tmp_path):
    with pytest.raises(DataError, match="is empty"):
        read_table(sheet(tmp_path / "t.xlsx", []))
    with pytest.raises(DataError, match="has a header but no rows"):
        read_table(sheet(tmp_path / "t.xlsx", [["a", "b"]]))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_damaged_file_is_one_line(tmp_path, share):
    path = sheet(tmp_path / "t.xlsx", [["a", "b"], *([k, k] for k in range(200))])
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(DataError, match="damaged") as caught:
        read_table(path)
    assert "\n" not in str(caught.value)


@FEW
@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused(tmp_path, place, byte):
    path = sheet(tmp_path / "t.xlsx", [["a", "b"], *([k, f"w{k}"] for k in range(50))])
    data = bytearray(path.read_bytes())
    data[place % len(data)] = byte
    path.write_bytes(data)
    with warnings.catch_warnings(), suppress(DataError, UnknownNameError):
        warnings.simplefilter("ignore")
        assert len(read_table(path)) <= 50


def with_sheet(path: Path, text: bytes) -> Path:
    """The file with another text of its only sheet."""
    sheet(path, [["a"]])
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    parts["xl/worksheets/sheet1.xml"] = text
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, part in parts.items():
            target.writestr(name, part)
    return path


HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


def test_files_made_to_fill_the_memory(tmp_path):
    path = with_sheet(tmp_path / "bomb.xlsx", HEAD + b" " * (1 << 26) + b"</sheetData></worksheet>")
    assert path.stat().st_size < 1 << 20
    with pytest.raises(DataError, match="67 MB when it is unpacked, which is too much"):
        read_table(path)
    long = b"".join(
        b'<row r="%d"><c t="inlineStr"><is><t>%s</t></is></c></row>' % (k, b"x" * n) for k, n in ((1, 3), (2, 40_000))
    )
    with pytest.raises(DataError, match="a cell of 40000 characters, and Excel allows 32768"):
        read_table(with_sheet(tmp_path / "long.xlsx", HEAD + long + b"</sheetData></worksheet>"))
    far = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c><v>1</v></c></row>'
    with pytest.raises(DataError, match="cells below row 1048576"):
        read_table(with_sheet(tmp_path / "far.xlsx", HEAD + far + b"</sheetData></worksheet>"))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"a.csv": "x"}, "is not a table but a zip file. Unpack it first."),
        ({"xl/workbook.bin": ""}, "is not a table but a binary Excel file. Save the table as .xlsx or CSV."),
        ({"mimetype": "", "content.xml": ""}, "is not a table but an OpenDocument file. Save the table as .xlsx"),
    ],
)
def test_other_archives(tmp_path, parts, message):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "t.zip")


def test_old_excel_files(tmp_path):
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(DataError, match=r"an old or encrypted Excel file. Save the table as .xlsx or CSV"):
        read_table(tmp_path / "t.xls")
