"""Files written by version 0.1.0 load, and predict what they predicted then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from bench.model_cases import encoder

FOLDER = Path(__file__).parent / "frozen"
FROZEN = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
TIMES, LEVELS = FROZEN["times"], FROZEN["levels"]
PREDICTIONS = {
    "survival": lambda model, x: model.predict_distribution(x).survival(TIMES),
    "quantile": lambda model, x: model.predict_distribution(x).quantile(LEVELS),
    "time": lambda model, x: model.predict_time(x),
    "risk": lambda model, x: model.predict(x),
    "incidence": lambda model, x: model.predict_incidence(x).incidence(TIMES),
    "time band lower": lambda model, x: model.predict_time_band(x).lower,
    "time band upper": lambda model, x: model.predict_time_band(x).upper,
}
# Weights are float32, but arithmetic is float64: another processor sums in another order and has another exp. Between
# SSE and AVX-512 predictions differ by 6e-14. An encoder is a module of torch, in float32: there it is 5e-8.
CLOSE, CLOSE_ENCODED = 1e-9, 1e-5


def test_every_file_has_predictions():
    assert {path.name for path in FOLDER.glob("*.aldsurv")} == FROZEN["files"].keys()


@pytest.mark.parametrize("name", FROZEN["files"])
def test_a_frozen_file_predicts_what_it_did(name):
    expected = FROZEN["files"][name]
    if expected["encoder"]:
        pytest.importorskip("torch")
    model = aldsurv.load(FOLDER / name, encoder=encoder if expected["encoder"] else None)
    assert type(model).__name__ == expected["model"]
    x = FROZEN["rows"][expected["rows"]]
    x = x if isinstance(x, dict) else np.array(x)
    asked = [key for key in PREDICTIONS if key in expected]
    assert asked[:4] == ["survival", "quantile", "time", "risk"]
    rtol = CLOSE_ENCODED if expected["encoder"] else CLOSE
    for key in asked:
        values = np.array(expected[key])
        np.testing.assert_allclose(PREDICTIONS[key](model, x), values, rtol=rtol, atol=1e-12, err_msg=key)
