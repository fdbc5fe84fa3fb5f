"""Values of a row: JavaScript takes and refuses what Python does, and says what is unusual."""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aldsurv
from aldsurv.errors import DataError
from aldsurv.models.persistence import model_digest
from export.javascript.node import needs_node, run_script

pytestmark = needs_node

FOLDER = Path(__file__).parents[2] / "models" / "frozen"
NETWORK, LINEAR = FOLDER / "ald_default.aldsurv", FOLDER / "cox_strata.aldsurv"
USUAL: dict[str, Any] = {"age": 60.0, "size": 20.0, "grade": "II", "site": "left", "smoker": True, "code": 2}
VALUES = [None, True, False, 0, 1, 2, 2.0, 2.5, -1e300, 1e-300, 1e300, "", "II", "left", "2", "60", "nan", "unknown"]
CASES = [(column, value) for column in USUAL for value in VALUES]


def answer_of(path: Path, rows: list[dict[str, Any]], what: list[str]) -> dict[str, Any]:
    case = {"path": str(path), "rows": rows, "what": what, "asked": [{"times": [5.0]}] * len(rows)}
    [answer] = run_script("predict.mjs", {"cases": [case]})
    return answer


@cache
def answers(path: Path) -> list[dict[str, Any]]:
    rows = [{**USUAL, column: value} for column, value in CASES]
    return answer_of(path, rows, ["survival", "outside", "notes"])["rows"]


@pytest.mark.parametrize("path", [NETWORK, LINEAR], ids=lambda path: path.stem)
@pytest.mark.parametrize("column", USUAL)
def test_a_value_is_taken_or_refused_as_in_python(path, column):
    model = aldsurv.load(path)
    for (name, value), given in zip(CASES, answers(path), strict=True):
        if name != column:
            continue
        row = {key: np.array([entry], object) for key, entry in {**USUAL, name: value}.items()}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                survival = model.predict_distribution(row).survival(5.0)[0]
                outside = model.features_.outside(row)[0]
        except DataError:
            assert name in given["error"], value
            assert "\n" not in given["error"]
            continue
        assert given["survival"] == [pytest.approx(survival, rel=1e-9)], value
        assert given["outside"] == [key for key, far in zip(model.features_.names_in, outside, strict=True) if far]


def test_notes_say_what_is_unusual():
    rows = [
        USUAL,
        {**USUAL, "age": 300.0, "grade": "IV", "size": None},
        {key: value for key, value in USUAL.items() if key != "site"},
    ]
    usual, odd, short = (row["notes"] for row in answer_of(NETWORK, rows, ["notes"])["rows"])
    assert usual == []
    assert {note["column"]: note["kind"] for note in odd} == {"age": "outside", "grade": "unknown level", "size": "gap"}
    assert "300" in odd[0]["text"]
    assert [(note["column"], note["kind"]) for note in short] == [("site", "gap")]


def test_a_stratum_that_training_had_not_is_refused():
    [row] = answer_of(LINEAR, [{**USUAL, "site": "both"}], ["survival"])["rows"]
    assert "site=both" in row["error"]


@pytest.mark.parametrize("name", ["ald_default", "weibull_aft_ridge", "deephit_causes", "recalibrated_ald"])
def test_facts_about_a_model(name):
    path = FOLDER / f"{name}.aldsurv"
    model, facts = aldsurv.load(path), answer_of(path, [], [])["facts"]
    assert facts["unit"] == (getattr(model.innermost, "unit", None) or "")
    assert facts["causes"] == (None if model.causes_ is None else list(model.causes_))
    assert facts["lastTime"] == model.unique_times_[-1]
    assert facts["members"] == model.n_members
    assert facts["digest"] == _digest(path)
    assert [column["name"] for column in facts["columns"]] == list(model.features_.names_in)
    assert {column["kind"] for column in facts["columns"]} <= {"number", "levels", "left out", "stratum"}
    age = next(column for column in facts["columns"] if column["name"] == "age")
    assert age["low"] < age["median"] < age["high"]


def test_the_digest_is_the_one_that_saving_gives(tmp_path):
    model = aldsurv.load(NETWORK)
    path = model.save(tmp_path / "again.aldsurv")
    assert answer_of(path, [], [])["facts"]["digest"] == model_digest(model)


def test_strata_are_offered_with_their_levels():
    columns = {column["name"]: column for column in answer_of(LINEAR, [], [])["facts"]["columns"]}
    assert columns["site"]["kind"] == "stratum"
    assert [level["value"] for level in columns["site"]["levels"]] == ["left", "right"]


def _digest(path: Path) -> str:
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        return file.metadata()["sha256"]
