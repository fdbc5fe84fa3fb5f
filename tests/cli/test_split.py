"""`aldsurv split`: rows as they are written, whole persons, the events of both parts, and nothing half-written."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from aldsurv.cli.fit.held_out_scores import split_table
from aldsurv.cli.main import main
from aldsurv.cli.shared.notes import Notes
from aldsurv.datasets import read_table

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

OUTCOME = ("--time", "t", "--event", "e")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def columns(n: int = 200) -> dict[str, list[object]]:
    generator = np.random.default_rng(3)
    return {
        "person": (np.arange(n) // 3).tolist(),
        "x": generator.normal(size=n).round(6).tolist(),
        "t": generator.exponential(5, n).round(3).tolist(),
        "e": (generator.random(n) < 0.3).astype(int).tolist(),
    }


def write_csv(path: str, n: int = 200) -> list[str]:
    table = columns(n)
    lines = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    Path(path).write_text("\n".join([",".join(table), *lines, ""]), encoding="utf-8")
    return lines


def rows_of(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()[1:]


def test_each_row_is_in_one_part_and_events_are_shared(capsys: pytest.CaptureFixture[str]) -> None:
    lines = write_csv("people.csv")
    assert main(("split", "people.csv", *OUTCOME, "--test", "0.25")) == 0
    text = capsys.readouterr().out
    train, test = rows_of("people_train.csv"), rows_of("people_test.csv")
    assert len(test) == 50
    assert sorted(train + test) == sorted(lines)
    # In the order of the table.
    assert [line for line in lines if line in set(test)] == test
    events = [sum(line.endswith(",1") for line in part) for part in (train, test)]
    assert abs(events[1] - 0.25 * sum(events)) <= 1
    assert f"people_train.csv  {len(train)} rows, {events[0]} events" in text
    assert f"people_test.csv   {len(test)} rows, {events[1]} events" in text
    assert "Next: aldsurv fit people_train.csv --time t --event e" in text


def test_the_test_rows_are_those_that_fit_holds_out() -> None:
    write_csv("people.csv")
    assert main(("split", "people.csv", *OUTCOME, "--test", "0.2", "--seed", "7", "--quiet")) == 0
    table = read_table("people.csv", time="t", event="e")
    train, test = split_table(table, 0.2, 7, Notes(quiet=True))
    assert test is not None
    for part, path in ((train, "people_train.csv"), (test, "people_test.csv")):
        written = read_table(path, time="t", event="e")
        np.testing.assert_array_equal(written.x["x"], part.x["x"])
        np.testing.assert_array_equal(written.y.time, part.y.time)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_persons_stay_together(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    if form == "csv":
        write_csv("people.csv")
    else:
        parquet.write_table(arrow.table(columns()), "people.parquet")
    files = ("--out-train", f"a.{form}", "--out-test", f"b.{form}", "--json")
    assert main(("split", f"people.{form}", *OUTCOME, "--id", "person", *files)) == 0
    facts = json.loads(capsys.readouterr().out)
    parts = [read_table(path) for path in (f"a.{form}", f"b.{form}")]
    persons = [set(map(int, part.x["person"])) for part in parts]
    assert not persons[0] & persons[1]
    assert [facts["train"]["persons"], facts["test"]["persons"]] == [len(each) for each in persons]
    assert [facts["train"]["rows"], facts["test"]["rows"]] == [len(part) for part in parts]
    assert facts["rows"] == 200


def test_parquet_keeps_types_and_facts() -> None:
    table = arrow.table({**columns(), "when": arrow.array([1] * 200, arrow.date32())})
    table = table.replace_schema_metadata({"made": "by hand"})
    parquet.write_table(table, "people.parquet")
    assert main(("split", "people.parquet", *OUTCOME, "--quiet")) == 0
    parts = [parquet.read_table(f"people_{name}.parquet") for name in ("train", "test")]
    assert all(part.schema.equals(table.schema, check_metadata=True) for part in parts)
    assert sorted(arrow.concat_tables(parts)["x"].to_pylist()) == sorted(columns()["x"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_is_copied_as_it_is_written(encoding: str, end: str) -> None:
    rows = [f'"{k}; ""Grün""{end}two";{k % 7},50;{k + 1};{k % 2}' for k in range(40)]
    # Empty lines are no rows, and the last row may have no end.
    text = end.join(["note;x;t;e", *rows[:5], "", *rows[5:]])
    Path("people.csv.gz").write_bytes(gzip.compress(text.encode(encoding)))
    named = ("--encoding", encoding) if encoding == "latin-1" else ()
    assert main(("split", "people.csv.gz", *OUTCOME, *named, "--quiet")) == 0
    written = []
    for name in ("train", "test"):
        whole = gzip.decompress(Path(f"people_{name}.csv.gz").read_bytes()).decode(encoding)
        header, *parts = whole.split(f'{end}"')
        assert header == "note;x;t;e"
        assert whole.endswith(end)
        written += [f'"{part.removesuffix(end)}' for part in parts]
    assert sorted(written) == sorted(rows)


def test_the_python_reader_of_csv_reads_the_same_rows() -> None:
    table = columns(60)
    table["note"] = [value for k in range(20) for value in (f"a,{k}", f'say "{k}"', f"one\ntwo {k}")]
    with Path("people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    assert main(("split", "people.csv", *OUTCOME, "--drop", "x")) == 2
    assert main(("split", "people.csv", *OUTCOME, "--quiet")) == 0

    def read(name: str) -> list[list[str]]:
        with Path(name).open(newline="", encoding="utf-8") as file:
            return list(csv.reader(file))[1:]

    assert sorted(read("people_train.csv") + read("people_test.csv")) == sorted(read("people.csv"))


def test_without_strata_events_are_as_they_fall() -> None:
    write_csv("people.csv", 400)
    shares = set()
    for seed in range(6):
        assert main(("split", "people.csv", *OUTCOME, "--no-stratify", "--seed", str(seed), "--quiet")) == 0
        shares.add(sum(line.endswith(",1") for line in rows_of("people_test.csv")))
    assert max(shares) - min(shares) > 1


def test_episodes_of_one_person_stay_together() -> None:
    lines = [
        f"{person},{k},{k + 1},{int(k == 2 and person % 2)},{person * 3 + k}" for person in range(30) for k in range(3)
    ]
    Path("visits.csv").write_text("\n".join(["id,from,to,e,x", *lines, ""]), encoding="utf-8")
    roles = ("--id", "id", "--start", "from", "--stop", "to", "--event", "e")
    assert main(("split", "visits.csv", *roles, "--quiet")) == 0
    persons = [{line.split(",")[0] for line in rows_of(f"visits_{name}.csv")} for name in ("train", "test")]
    assert not persons[0] & persons[1]
    assert len(persons[0] | persons[1]) == 30


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "the outcome needs --time and --event"),
        ((*OUTCOME, "--test", "1"), "--test must be a share between 0 and 1, but is 1."),
        ((*OUTCOME, "--test", "0.001"), "of 200 rows leaves 0 for the test part"),
        ((*OUTCOME, "--seed", "-1"), "--seed must be a whole number from 0 on, but is -1."),
        ((*OUTCOME, "--out-train", "x.csv", "--out-test", "x.csv"), "must be different files, but both are 'x.csv'"),
        ((*OUTCOME, "--out-train", "people.csv"), "--out-train 'people.csv' is the file 'people.csv'"),
        ((*OUTCOME, "--out-test", "x.parquet"), "--out-test must end in .csv, for rows are written as they are"),
        ((*OUTCOME, "--out-test", "no/x.csv"), "the folder 'no' of --out-test does not exist"),
        (("--time", "t", "--event", "x"), "x"),
    ],
)
def test_refusals(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: str) -> None:
    write_csv("people.csv")
    assert main(("split", "people.csv", *arguments)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert [path.name for path in Path().iterdir()] == ["people.csv"]


def test_nothing_is_left_of_a_split_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from aldsurv.tables.table_format import TextFormat

    write_csv("people.csv")
    Path("people_test.csv").write_text("old\n")
    whole = TextFormat.records_as_written

    def damaged(text_format: TextFormat):
        for number, record in enumerate(whole(text_format)):
            if number < 100:
                yield record

    monkeypatch.setattr(TextFormat, "records_as_written", damaged)
    assert main(("split", "people.csv", *OUTCOME)) == 2
    assert sorted(path.name for path in Path().iterdir()) == ["people.csv", "people_test.csv"]
    assert Path("people_test.csv").read_text() == "old\n"
