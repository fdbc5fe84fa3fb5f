"""JavaScript reads the model files of version 0.1.0 and predicts from them what Python does."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from export.javascript.comparison import Case, case_of, compare
from export.javascript.node import needs_node, run_script

pytestmark = needs_node

FOLDER = Path(__file__).parents[2] / "models" / "frozen"
FROZEN = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
PLAIN = [name for name, entry in FROZEN["files"].items() if not entry["encoder"]]
ENCODED = [name for name, entry in FROZEN["files"].items() if entry["encoder"]]


@cache
def cases() -> list[Case]:
    found = []
    for name in PLAIN:
        rows = FROZEN["rows"][FROZEN["files"][name]["rows"]]
        if not isinstance(rows, dict):
            rows = {f"x{j}": [row[j] for row in rows] for j in range(len(rows[0]))}
        found.append(case_of(name, aldsurv.load(FOLDER / name), FOLDER / name, rows))
    return found


@cache
def differences() -> dict[str, list[str]]:
    return compare(cases())


@cache
def differences_at_the_ends() -> dict[str, list[str]]:
    what = ("survival", "log_survival", "cdf", "density", "quantile")
    times = np.array([-np.inf, -1.0, 0.0, 1e-300, 1e300, np.inf])
    return compare(
        [
            replace(case, what=what, times=np.tile(times, (len(case.rows), 1)), levels=(0.0, 1e-9, 1.0))
            for case in cases()
        ]
    )


@pytest.mark.parametrize("name", PLAIN)
def test_predictions_are_those_of_python(name):
    assert differences()[name] == []


@pytest.mark.parametrize("name", PLAIN)
def test_predictions_at_the_ends_of_time_are_those_of_python(name):
    assert differences_at_the_ends()[name] == []


@cache
def encoded_answers() -> list[dict[str, str]]:
    cases = [{"path": str(FOLDER / name), "rows": [], "what": [], "asked": []} for name in ENCODED]
    return run_script("predict.mjs", {"cases": cases})


@pytest.mark.parametrize("name", ENCODED)
def test_an_encoder_is_refused_in_one_line(name):
    complaint = encoded_answers()[ENCODED.index(name)]["error"]
    assert "was trained with an encoder" in complaint
    assert "\n" not in complaint
