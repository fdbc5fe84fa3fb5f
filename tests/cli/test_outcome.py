from __future__ import annotations

import re
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import aldsurv
from aldsurv.cli.shared.command_options import split_names
from aldsurv.cli.shared.error_text import error_line
from aldsurv.cli.shared.input_files import load_model, read_model_table, read_outcome_table
from aldsurv.cli.shared.notes import warnings_as_notes
from aldsurv.cli.shared.outcome_options import OutcomeColumns, outcome_columns_of, outcome_options
from aldsurv.errors import DataError, ModelFileError, ParameterError, UnknownNameError
from aldsurv.files.model_file import read_model_file, write_model_file

RIGHT = OutcomeColumns(time="months", event="status")
TABLE = """months,status,age,zip,note
3,dead,40,01234,a
5,alive,50,00007,b
8,dead,60,01234,c
9,dead,55,00007,a
4,dead,45,01234,a
6,alive,65,00007,b
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(TABLE)
    return path


def fitted(names: list[str] | None = None) -> aldsurv.CoxRegression:
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(2, 60))
    X = columns.T if names is None else dict(zip(names, columns, strict=True))
    return aldsurv.CoxRegression().fit(X, (rng.exponential(size=60), np.arange(60) % 3 > 0))


def test_options_are_collected() -> None:
    @click.command()
    @click.argument("table")
    @outcome_options
    @click.option("--seed", default=0)
    def command(table: str, outcome: OutcomeColumns, seed: int) -> None:
        """Say what was given."""
        click.echo(f"{table} {outcome.given} {list(outcome.columns.values())} {seed}")

    given = ["t.csv", "--time", "months", "--event", "status", "--event-value", "1", "--weight", "w", "--seed", "3"]
    done = CliRunner().invoke(command, given)
    told = "{'time': 'months', 'event': 'status', 'event_value': '1', 'weight': 'w'}"
    assert done.output == f"t.csv {told} ['months', 'status', 'w'] 3\n"
    help_text = CliRunner().invoke(command, ["--help"]).output
    places = [help_text.index(f"--{role}") for role in ("time", "event", "lower", "upper", "entry", "weight", "seed")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("text", "expected"),
    [(None, ()), ("", ()), ("a", ("a",)), (" a , b,,a", ("a", "b")), ('"Age, years",b', ("Age, years", "b"))],
)
def test_names_with_commas(text: str | None, expected: tuple[str, ...]) -> None:
    assert split_names(text) == expected


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({}, "but got neither"),
        ({"entry": "e"}, "but got neither"),
        ({"time": "t"}, "but got --time"),
        ({"time": "t", "upper": "u"}, "but got --time and --upper"),
        ({"time": "t", "event": "e", "lower": "l", "upper": "u"}, "--time and --event and --lower and --upper"),
        ({"lower": "l", "upper": "u", "event_value": "1"}, "--event-value cannot be combined"),
    ],
)
def test_wrong_pairs(columns: dict[str, str], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        OutcomeColumns(**columns).require_pair()


@pytest.mark.parametrize(
    ("held", "value", "events"),
    [
        ("dead alive dead", "dead", [1, 0, 1]),
        ("1 2 2", "2", [0, 1, 1]),
        ("1 2 2", "2.0", [0, 1, 1]),
        ("0.5 1.5 1.5", "0.5", [1, 0, 0]),
        ("true false true", "False", [0, 1, 0]),
        ("1 2 x", "2", [0, 1, 0]),
        ("0:LIVING 1:DECEASED 0:LIVING", "1:DECEASED", [0, 1, 0]),
        ("0 1 1", None, [0, 1, 1]),
    ],
)
def test_value_of_the_event(tmp_path: Path, held: str, value: str | None, events: list[int]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["months,status,age", *(f"{k + 1},{v},{30 + k}" for k, v in enumerate(held.split()))]))
    read = read_outcome_table(path, OutcomeColumns(time="months", event="status", event_value=value))
    assert read.y is not None
    assert read.y.event.tolist() == [bool(e) for e in events]
    assert read.feature_names == ["age"]


def test_reading(table: Path) -> None:
    columns = OutcomeColumns(time="months", event="status", event_value="dead")
    read = read_outcome_table(table, columns, drop=["note"], categorical=["zip"])
    assert read.feature_names == ["age", "zip"]
    assert read.x["zip"].tolist() == ["01234", "00007"] * 3
    bounds = read_outcome_table(table, OutcomeColumns(lower="months", upper="age"), drop=["status"])
    assert bounds.y is not None
    assert bounds.y.upper.tolist() == [40, 50, 60, 55, 45, 65]
    assert read_outcome_table(table, OutcomeColumns()).y is None


@pytest.mark.parametrize(
    ("columns", "options", "kind", "told"),
    [
        (
            RIGHT,
            {},
            DataError,
            r"people.csv.*event must be True/False or 0/1.*column 'status'.*such as --event-value 'dead'",
        ),
        (OutcomeColumns("months", "status", "gone"), {}, DataError, r"--event-value 'gone' does not occur"),
        (OutcomeColumns("months", "status", "7"), {}, DataError, r"--event-value 7 does not occur"),
        (OutcomeColumns("month", "status"), {}, UnknownNameError, r"Did you mean 'months'"),
        (
            OutcomeColumns("months", "status", "dead"),
            {"drop": ["months"]},
            ParameterError,
            r"both time and dropped. Change --drop",
        ),
        (OutcomeColumns("months"), {}, ParameterError, r"but got --time\."),
        (OutcomeColumns("months", "age"), {}, DataError, r"6 different numbers.*column 'age'.*event by --event-value"),
    ],
)
def test_errors_speak_of_options(table: Path, columns, options, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind) as caught:
        read_outcome_table(table, columns, **options)
    line = error_line(caught.value)
    assert re.search(told, line), line
    assert "event_value" not in line


def test_files_that_are_none(tmp_path: Path, table: Path) -> None:
    for read in (lambda path: read_outcome_table(path, RIGHT), load_model):
        with pytest.raises(DataError, match=r"no file '.*peple.csv'. Did you mean '.*people.csv'"):
            read(tmp_path / "peple.csv")
        with pytest.raises(DataError, match="Check the name"):
            read(tmp_path / "no folder" / "x.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_outcome_table(tmp_path, RIGHT)
    for wrong in (tmp_path, table):
        with pytest.raises(ModelFileError, match=wrong.name):
            load_model(wrong)


def test_a_model_remembers(tmp_path: Path) -> None:
    columns = OutcomeColumns("months", "status", "dead", entry="from", weight="w")
    model = fitted(["a", "b"])
    with pytest.raises(ParameterError, match="does not know the columns"):
        outcome_columns_of(model, OutcomeColumns())
    assert outcome_columns_of(model, RIGHT) == RIGHT
    model.set_outcome_columns(columns.given)
    again = load_model(model.save(tmp_path / "m.aldsurv"))
    assert outcome_columns_of(again, OutcomeColumns()) == columns
    other = outcome_columns_of(again, OutcomeColumns(time="days", weight=""))
    assert other == OutcomeColumns("days", "status", "dead", entry="from")
    assert outcome_columns_of(again, OutcomeColumns(event="died", entry="")) == OutcomeColumns(
        "months", "died", weight="w"
    )
    bounds = outcome_columns_of(again, OutcomeColumns(lower="l", upper="u"))
    assert bounds.given == {"lower": "l", "upper": "u", "entry": "from", "weight": "w"}
    with pytest.raises(ParameterError, match="but got --lower"):
        outcome_columns_of(again, OutcomeColumns(lower="l"))
    again.set_outcome_columns(bounds.given)
    assert outcome_columns_of(again, RIGHT).given == {**RIGHT.given, "entry": "from", "weight": "w"}


@pytest.mark.parametrize("kept", ["months", {"time": 1}, {"tine": "months"}, ["time"]])
def test_outcome_columns_in_a_file_are_checked(kept: object, tmp_path: Path) -> None:
    path = fitted().save(tmp_path / "m.aldsurv")
    document, arrays = read_model_file(path)
    write_model_file(path, {**document, "trained_on": {**document["trained_on"], "outcome": kept}}, arrays)
    with pytest.raises(ModelFileError, match=r"unclear|must be texts by name"):
        outcome_columns_of(aldsurv.load(path), OutcomeColumns())


def test_table_for_a_model(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("b,extra,months,a,status\n1,x,3,10,1\n2,y,4,20,0\n")
    model = fitted(["a", "b"])
    read = read_model_table(path, model, RIGHT)
    assert {name: column.tolist() for name, column in read.x.items()} == {"a": [10, 20], "b": [1, 2]}
    assert list(read.x) == ["a", "b"]
    assert read.y is not None
    assert read_model_table(path, model, OutcomeColumns()).y is None
    assert read_model_table(path, fitted(), OutcomeColumns()).feature_names == ["b", "extra", "months", "a", "status"]
    with pytest.raises(UnknownNameError, match=r"no column 'aa', which the model needs. Is it 'a'"):
        read_model_table(path, fitted(["aa", "b"]), RIGHT)
    with pytest.raises(UnknownNameError, match=r"no column 'age', 'sex'.*of training: 'age', 'sex'"):
        read_model_table(path, fitted(["age", "sex"]), RIGHT)


def test_codes_keep_their_zeros_for_a_model(table: Path) -> None:
    rng = np.random.default_rng(1)
    X = {"zip": np.array(["01234", "00007"] * 30, object), "age": rng.normal(size=60)}
    model = aldsurv.CoxRegression(categorical=["zip"]).fit(X, (rng.exponential(size=60), np.ones(60, bool)))
    read = read_model_table(table, model, OutcomeColumns())
    assert read.x["zip"].tolist() == ["01234", "00007"] * 3
    assert read.categorical == ("zip",)


def test_warnings_become_notes(capsys: pytest.CaptureFixture[str]) -> None:
    with warnings_as_notes() as notes:
        notes.add("before")
        notes.show()
        assert capsys.readouterr().err == "aldsurv: note: before\n"
        notes.show()
        for told in ("first\n  line", "second", "second"):
            warnings.warn(told, stacklevel=1)
        warnings.warn("third", RuntimeWarning, stacklevel=1)
    assert notes == ["before", "first line", "second", "third"]
    assert capsys.readouterr().err == "".join(f"aldsurv: note: {note}\n" for note in notes[1:])
    with warnings_as_notes(quiet=True) as notes:
        warnings.warn("fourth", stacklevel=1)
    assert (notes, capsys.readouterr().err) == (["fourth"], "")
    with pytest.raises(DeprecationWarning), warnings_as_notes():
        warnings.warn("old", DeprecationWarning, stacklevel=1)
