from __future__ import annotations

import json
import shlex

import numpy as np
import pytest

from aldsurv.cli.main import main
from aldsurv.export.card import card_json, card_markdown, model_card

from .evaluation_tables import outcome, people, write

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and tables of its training rows and of others."""
    from aldsurv.models import WeibullAFT

    folder = tmp_path_factory.mktemp("card")
    for name, n, seed in (("train", 200, 1), ("test", 150, 2)):
        columns = people(n, seed)
        write(folder / f"{name}.csv", columns)
        if name == "train":
            used = {key: np.array(columns[key]) for key in ("age", "dose")}
            model = WeibullAFT(unit="months").fit(used, outcome(columns))
            model.save(folder / "bare.aldsurv")
            model.set_outcome_columns({"time": "months", "event": "status"})
            model.save(folder / "model.aldsurv")
    (folder / "labels.csv").write_text("column,label,unit\nage,Age,years\n", encoding="utf-8")
    (folder / "foreign.md").write_text("# My notes\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)


def printed(capsys, *words: str) -> str:
    assert main(["card", *words]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_it_prints_markdown_of_a_model_alone(capsys):
    text = printed(capsys, "model.aldsurv")
    assert text.startswith("# Model card: model\n")
    assert "- **Columns of the outcome:** event: status; time: months" in text
    assert "aldsurv card MODEL TABLE" in text


def test_the_card_of_a_table_is_that_of_the_library(folder, capsys):
    import aldsurv

    columns = people(150, 2)
    model = aldsurv.load("model.aldsurv")
    x = {key: np.array(columns[key]) for key in ("age", "dose")}
    made = model_card(
        model, x, outcome(columns), times=[10, 30], groups={"centre": np.array(columns["centre"], float)},
        labels={"age": {"label": "Age", "unit": "years"}}, event_name="relapse", source="test.csv",
        model_file="model.aldsurv",
        command="aldsurv card model.aldsurv test.csv --times 10,30 --groups centre --event-name relapse "
        "--labels labels.csv",
    )  # fmt: skip
    words = [
        "model.aldsurv", "test.csv", "--times", "10,30", "--groups", "centre", "--labels", "labels.csv",
        "--event-name", "relapse",
    ]  # fmt: skip
    assert json.loads(printed(capsys, *words, "--json")) == json.loads(card_json(made))
    assert printed(capsys, *words) == card_markdown(made)
    assert "Age (years)" in card_markdown(made)


def test_the_command_on_a_card_writes_it_again(folder, capsys):
    words = ["model.aldsurv", str(folder / "test.csv"), "--time", "months", "--event", "status", "--seed", "3"]
    text = printed(capsys, *words, "--times", "10,30", "--missing", "-9,not known", "--title", "It's one")
    (line,) = [line for line in text.splitlines() if line.startswith("aldsurv card model.aldsurv")]
    assert str(folder) not in line
    assert printed(capsys, *shlex.split(line)[2:]) == text


@pytest.mark.parametrize("name", ["card.md", "card.json"])
def test_the_ending_decides_and_a_card_is_replaced(name, folder, capsys):
    for _ in range(2):
        assert printed(capsys, "model.aldsurv", "--out", name) == f"{name}\n"
    text = (folder / name).read_text(encoding="utf-8")
    assert text == printed(capsys, "model.aldsurv", *(["--json"] if name.endswith("json") else []))
    assert printed(capsys, "model.aldsurv", "--out", name, "--quiet") == ""
    assert json.loads(printed(capsys, "model.aldsurv", "--out", name, "--json"))["title"] == "model"


def test_front_matter_is_replaced_by_a_card_too(folder, capsys):
    printed(capsys, "model.aldsurv", "--out", "front.md", "--front-matter")
    assert (folder / "front.md").read_text(encoding="utf-8").startswith("---\nlibrary_name: aldsurv\n")
    printed(capsys, "model.aldsurv", "--out", "front.md")


def test_training_rows_are_named_as_such(capsys):
    assert "These seem to be the training rows" in printed(capsys, "model.aldsurv", "train.csv")


def test_a_model_that_does_not_know_its_outcome_takes_options(capsys):
    document = json.loads(
        printed(capsys, "bare.aldsurv", "test.csv", "--time", "months", "--event", "status", "--json")
    )
    assert document["performance"]["rows"] == 150


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.aldsurv"], "there is no file"),
        (["train.csv"], "train.csv"),
        (["model.aldsurv", "missing.csv"], "there is no file"),
        (["model.aldsurv", "--times", "10"], "--times needs a table"),
        (["model.aldsurv", "--groups", "centre"], "--groups needs a table"),
        (["model.aldsurv", "--event", "status"], "--event needs a table"),
        (["model.aldsurv", "test.csv", "--times", "soon"], "--times must be numbers"),
        (["model.aldsurv", "test.csv", "--times", "100000"], "within the follow-up"),
        (["model.aldsurv", "test.csv", "--groups", "center"], "Did you mean 'centre'"),
        (["model.aldsurv", "test.csv", "--groups", ","], "--groups names no column"),
        (["bare.aldsurv", "test.csv"], "does not know the columns of its outcome"),
        (["model.aldsurv", "--labels", "test.csv"], "labels"),
        (["model.aldsurv", "--seed", "-1"], "--seed"),
        (["model.aldsurv", "--event-name", ""], "event"),
        (["model.aldsurv", "--front-matter", "--json"], "--front-matter"),
    ],
)
def test_wrong_input_is_one_line_and_writes_nothing(words, message, folder, capsys):
    before = sorted(folder.iterdir())
    assert main(["card", *words, "--out", "never.md"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("aldsurv: error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ("card.html", "must end in .md or .json"),
        ("foreign.md", "exists and is not a model card"),
        ("none/card.md", "does not exist"),
        ("labels.csv", "must end in .md or .json"),
    ],
)
def test_files_of_others_are_left_alone(out, message, folder, capsys):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["card", "model.aldsurv", "--out", out]) == 2
    assert message in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_force_replaces_a_file_of_another_kind(folder, capsys):
    (folder / "notes.md").write_text("# My notes\n", encoding="utf-8")
    printed(capsys, "model.aldsurv", "--out", "notes.md", "--force")
    assert (folder / "notes.md").read_text(encoding="utf-8").startswith("# Model card: model\n")


def test_a_model_with_an_encoder_is_refused_in_one_line(capsys):
    from pathlib import Path

    file = Path(__file__).parents[1] / "models" / "frozen" / "ald_encoder.aldsurv"
    assert main(["card", str(file)]) == 2
    assert "encoder" in capsys.readouterr().err
