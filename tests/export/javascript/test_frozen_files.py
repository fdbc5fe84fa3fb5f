"""JavaScript reads the model files of version 0.1.0 and predicts from them what Python does."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

import aldsurv
from export.javascript.comparison import case_of, compare
from export.javascript.node import needs_node, run_script

pytestmark = needs_node

FOLDER = Path(__file__).parents[2] / "models" / "frozen"
FROZEN = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
PLAIN = [name for name, entry in FROZEN["files"].items() if not entry["encoder"]]
ENCODED = [name for name, entry in FROZEN["files"].items() if entry["encoder"]]


@cache
def differences() -> dict[str, list[str]]:
    cases = []
    for name in PLAIN:
        rows = FROZEN["rows"][FROZEN["files"][name]["rows"]]
        if not isinstance(rows, dict):
            rows = {f"x{j}": [row[j] for row in rows] for j in range(len(rows[0]))}
        cases.append(case_of(name, aldsurv.load(FOLDER / name), FOLDER / name, rows))
    return compare(cases)


@pytest.mark.parametrize("name", PLAIN)
def test_predictions_are_those_of_python(name):
    assert differences()[name] == []


@cache
def encoded_answers() -> list[dict[str, str]]:
    cases = [{"path": str(FOLDER / name), "rows": [], "what": [], "asked": []} for name in ENCODED]
    return run_script("predict.mjs", {"cases": cases})


@pytest.mark.parametrize("name", ENCODED)
def test_an_encoder_is_refused_in_one_line(name):
    complaint = encoded_answers()[ENCODED.index(name)]["error"]
    assert "was trained with an encoder" in complaint
    assert "\n" not in complaint
