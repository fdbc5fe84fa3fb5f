"""Tables in parts against the same rows read as a whole."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from aldsurv import SurvivalData, datasets
from aldsurv.columns import Features
from aldsurv.data.rows.row_hashes import row_hashes
from aldsurv.errors import AldsurvWarning, DataError, ParameterError, UnknownNameError
from aldsurv.tables.parts import RowSample, table_in_parts

stats = pytest.importorskip("scipy.stats")
arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

N = 40


def columns(n=N):
    generator = np.random.default_rng(0)
    age = generator.normal(50, 10, n)
    return {
        "age": [None if k % 7 == 0 else value for k, value in enumerate(age.tolist())],
        "grade": [None if k % 11 == 0 else f"g{k % 3}" for k in range(n)],
        "stays": [k % 9 for k in range(n)],
        "flag": [k % 3 > 0 for k in range(n)],
        "months": generator.exponential(10, n).tolist(),
        "status": ["dead" if k % 3 else "alive" for k in range(n)],
        "person": [f"p{k // 2}" for k in range(n)],
    }


def rows_of(table, start, stop):
    return {name: values[start:stop] for name, values in table.items()}


@pytest.fixture
def folder(tmp_path):
    """Three files with rows, the first without any event, and one without rows."""
    whole = columns()
    whole["status"][:7] = ["alive"] * 7
    place = tmp_path / "big"
    place.mkdir()
    for name, start, stop in (("a", 0, 7), ("b", 7, 25), ("c", 25, N)):
        parquet.write_table(arrow.table(rows_of(whole, start, stop)), place / f"{name}.parquet", row_group_size=10)
    parquet.write_table(arrow.table(whole), tmp_path / "whole.parquet")
    return place


OUTCOME = {"time": "months", "event": "status", "event_value": "dead", "group": "person"}


def same_outcome(one: SurvivalData, other: SurvivalData) -> bool:
    return all(
        a is None and b is None if a is None or b is None else np.array_equal(a, b)
        for a, b in zip(one.columns, other.columns, strict=True)
    )


@pytest.mark.parametrize("kind", ["folder", "files", "pickled", "dataset", "dask"])
def test_the_rows_are_those_of_the_table_as_a_whole(folder, kind):
    whole = datasets.read_table(folder.parent / "whole.parquet", **OUTCOME)
    source = {"folder": folder, "files": sorted(map(str, folder.iterdir()))}.get(kind, folder)
    if kind == "dataset":
        source = pytest.importorskip("pyarrow.dataset").dataset(folder)
    if kind == "dask":
        frames = pytest.importorskip("dask.dataframe")
        pandas = pytest.importorskip("pandas")
        source = frames.from_pandas(pandas.read_parquet(folder.parent / "whole.parquet"), npartitions=3)
    table = datasets.open_table(source, **OUTCOME)
    if kind == "pickled":
        table = pickle.loads(pickle.dumps(table))  # noqa: S301 - our own bytes
    assert len(table) == N
    assert table.feature_names == whole.feature_names
    x, y = table.collect()
    assert same_outcome(y, whole.y)
    plain, parted = Features.learn(whole.x), Features.learn(x)
    assert plain == parted
    np.testing.assert_array_equal(plain.transform(whole.x), parted.transform(x))
    blocks = [block for part in table.parts for block in part.blocks(4)]
    assert max(map(len, blocks)) <= 4
    np.testing.assert_array_equal(np.concatenate([block.numbers for block in blocks]), np.arange(N))


def test_a_split_keeps_groups_whole_and_does_not_depend_on_the_files(folder):
    table = datasets.open_table(folder, **OUTCOME)
    alone = datasets.open_table(folder.parent / "whole.parquet", **OUTCOME)
    parts = [
        [np.concatenate([block.numbers for block in half.blocks()]) for half in t.split(0.4)] for t in (table, alone)
    ]
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(N))
        assert not set(train // 2) & set(test // 2)
    np.testing.assert_array_equal(parts[0][1], parts[1][1])
    assert [len(half) for half in table.split(0.4)] == [len(rows) for rows in parts[0]]


def test_causes_by_their_values(folder):
    named = {**OUTCOME, "event_value": None, "event_values": {"dead": "death", "alive": "censored"}}
    y = datasets.open_table(folder, **named).y.collect()
    assert same_outcome(y, datasets.read_table(folder.parent / "whole.parquet", **named).y)


def test_an_error_names_the_file_and_its_row(folder):
    table = arrow.table({**rows_of(columns(), 0, 9), "months": [1.0] * 8 + [-2.0]})
    parquet.write_table(table, folder / "b.parquet")
    opened = datasets.open_table(folder, **OUTCOME)
    with pytest.raises(DataError, match="time must") as caught:
        list(opened.blocks(4))
    assert caught.value.file == str(folder / "b.parquet")
    assert caught.value.row == 8
    assert caught.value.column == "months"


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda t: t.drop_columns(["age"]), "has no column 'age'"),
        (lambda t: t.append_column("extra", arrow.array([1] * len(t))), "has the column 'extra'"),
        (lambda t: t.set_column(0, "age", arrow.array(["x"] * len(t))), r"holds string where .* holds double"),
    ],
)
def test_files_whose_columns_differ_are_named(folder, change, match):
    path = folder / "b.parquet"
    parquet.write_table(change(parquet.read_table(path)), path)
    with pytest.raises(DataError, match=match) as caught:
        datasets.open_table(folder, **OUTCOME)
    assert "b.parquet" in str(caught.value)
    assert caught.value.column in ("age", "extra")


def test_whole_numbers_and_columns_without_values_are_no_difference(folder):
    path = folder / "b.parquet"
    rows = parquet.read_table(path)
    rows = rows.set_column(0, "age", arrow.nulls(len(rows))).set_column(2, "stays", rows["stays"].cast("float32"))
    parquet.write_table(rows, path)
    assert len(datasets.open_table(folder, **OUTCOME).x.collect()["age"]) == N


def test_a_damaged_file_in_the_middle(folder):
    path = folder / "b.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=r"b\.parquet.*damaged"):
        datasets.open_table(folder, **OUTCOME)
    # Its end is as it was, which is all that opening reads: the rows are not.
    path.write_bytes(data[:4] + bytes(200) + data[204:])
    with pytest.raises(DataError, match=r"b\.parquet"):
        list(datasets.open_table(folder, time="months", event="flag", drop=["status"]).blocks())


def test_files_without_rows_or_bytes(folder):
    parquet.write_table(parquet.read_table(folder / "a.parquet").slice(0, 0), folder / "d.parquet")
    (folder / "read.txt").write_text("how they were made")
    (folder / "_SUCCESS").write_text("")
    with pytest.warns(AldsurvWarning) as notes:
        table = datasets.open_table(folder, **OUTCOME)
    assert len(table) == N
    assert any("no rows" in str(note.message) and "d.parquet" in str(note.message) for note in notes)
    assert any("read.txt" in str(note.message) for note in notes)
    (folder / "d.parquet").write_bytes(b"")
    (folder / "read.txt").unlink()
    with pytest.raises(DataError, match=r"d\.parquet.*empty"):
        datasets.open_table(folder, **OUTCOME)


def test_what_is_no_table_in_parts(folder, tmp_path):
    csv = tmp_path / "rows.csv"
    csv.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="no Parquet file"):
        datasets.open_table(csv)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(DataError, match="holds no files of Parquet"):
        datasets.open_table(empty)
    named = tmp_path / "hive" / "year=2020"
    named.mkdir(parents=True)
    (named / "a.parquet").write_bytes((folder / "a.parquet").read_bytes())
    with pytest.raises(DataError, match="'year=2020'"):
        datasets.open_table(named.parent)
    with pytest.raises(ParameterError, match="source must be"):
        datasets.open_table(columns())
    dataset = pytest.importorskip("pyarrow.dataset")
    some = dataset.dataset(folder).filter(dataset.field("stays") > 3)
    with pytest.raises(ParameterError, match="source is a dataset with a filter"):
        datasets.open_table(some)


def test_columns_of_the_outcome(folder):
    with pytest.raises(UnknownNameError, match="no column 'month'"):
        datasets.open_table(folder, time="month", event="status")
    with pytest.raises(DataError, match="event_value='gone' does not occur"):
        datasets.open_table(folder, time="months", event="status", event_value="gone")
    with pytest.raises(DataError, match=r"'alive' .*'dead'"):
        datasets.open_table(folder, time="months", event="status")
    with pytest.raises(ParameterError, match="episodes cannot be read in parts"):
        datasets.open_table(folder, id="person", start="age", stop="months", event="status")
    with pytest.raises(ParameterError, match="the dates of start are text"):
        datasets.open_table(folder, start="grade", end="person", event="flag")


def test_both_sides_of_a_table_are_given_together(folder):
    table = datasets.open_table(folder, **OUTCOME)
    assert table_in_parts(table.x, table.y) is table
    assert table_in_parts([[1]], ([1], [1])) is None
    with pytest.raises(DataError, match="of one table in parts"):
        table_in_parts(table.x, ([1], [1]))
    with pytest.raises(ParameterError, match="sample_weight cannot be given"):
        table_in_parts(table.x, table.y, sample_weight=[1])
    with pytest.raises(DataError, match=r"fit\(table\.x, table\.y\)"):
        table_in_parts(table, table.y)
    with pytest.raises(DataError, match="has not read them yet"):
        Features.learn(table.x)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("size", [1, 3, 16, 100])
def test_samples_of_parts_merge_into_that_of_the_whole(folder, grouped, size):
    outcome = {**OUTCOME, "group": "person" if grouped else None, "drop": [] if grouped else ["person"]}
    table = datasets.open_table(folder, **outcome)
    alone = RowSample.of(datasets.open_table(folder.parent / "whole.parquet", **outcome).blocks(), size)
    parts = [RowSample.of(part.blocks(3), size) for part in table.parts]
    merged = parts[2].merged(parts[0].merged(parts[1]))
    np.testing.assert_array_equal(merged.numbers, alone.numbers)
    assert size - grouped <= len(alone) <= size or len(alone) == N
    if len(alone):
        assert same_outcome(merged.y, alone.y)
        np.testing.assert_array_equal(merged.x["stays"], merged.numbers % 9)
    if grouped:
        assert all(count == 2 for count in np.unique(alone.numbers // 2, return_counts=True)[1])


def test_shares_of_hashes_are_shares_of_rows():
    numbers = np.arange(100_000)
    hashes = row_hashes(numbers, None, 3)
    assert len(np.unique(hashes)) == numbers.size
    assert stats.kstest(hashes * 2.0**-64, "uniform").pvalue > 1e-4
    # Neighbours, and other seeds, are independent.
    other = row_hashes(numbers, None, 4) * 2.0**-64
    for one, two in ((hashes[1:] * 2.0**-64, hashes[:-1] * 2.0**-64), (hashes * 2.0**-64, other)):
        assert abs(np.corrcoef(one, two)[0, 1]) < 5 / np.sqrt(numbers.size)
