"""A table with gaps, text and bools, new people for it, and the comparison of a graph's answers with Python's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from aldsurv import SurvivalData
from aldsurv.errors import UnseenValuesWarning
from aldsurv.export.onnx import build_onnx
from export.onnx.graph_runs import answers, distance

N = 160
TIMES = [0.4, 1.0, 2.5]
# A gap, a level that training had not shown, one beyond training, and one who is like the others.
NEW = {
    "age": np.array([np.nan, 55.0, 200.0, 61.5]),
    "grade": np.array(["II", "IV", None, "III"], object),
    "smoker": np.array([True, False, None, True], object),
    "survival": np.array([0.1, -0.2, 0.3, 0.0]),
}
# As a column of strata, which has no gap.
KNOWN = np.array([True, False, True, True], object)


def training_table() -> dict[str, Any]:
    """Numbers and text with gaps, bools, and a column with the name of an output."""
    rng = np.random.default_rng(3)
    age = rng.normal(60, 10, N)
    age[::9] = np.nan
    grade = np.array([None if k % 11 == 0 else ["I", "II", "III"][k % 3] for k in range(N)], object)
    smoker = np.array([bool(k % 2) for k in range(N)], object)
    return {"age": age, "grade": grade, "smoker": smoker, "survival": rng.normal(size=N)}


def training_times(seed: int = 4, factor: float = 1.0) -> tuple[Any, Any]:
    """Times that depend on the last column, and whether the event came."""
    rng, table = np.random.default_rng(seed), training_table()
    slow = 0.2 * (table["grade"] == "II") + 0.01 * (np.nan_to_num(table["age"], nan=50.0) - 60)
    return factor * np.exp(0.3 * table["survival"] + slow + 0.5 * rng.normal(size=N)), rng.random(N) < 0.8


def training_causes() -> SurvivalData:
    """The same with two causes."""
    time, event = training_times()
    cause = np.where(event, np.random.default_rng(5).integers(1, 3, N), 0)
    return SurvivalData.competing(time, cause, names=["relapse", "death"])


def compared(model: Any, columns: dict[str, Any] = NEW) -> dict[str, Any]:
    """The answers of the model's graph, which are Python's."""
    found = answers(build_onnx(model, times=TIMES, quantiles=[0.2]), columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenValuesWarning)
        predicted = model.predict_distribution(columns)
        outside = model.innermost.features_ or model.features_
        np.testing.assert_array_equal(found["outside"], outside.outside(columns).any(axis=1))
        for cause in model.causes_ or ():
            expected = model.predict_incidence(columns).incidence(TIMES, cause)
            np.testing.assert_allclose(found[f"incidence_{cause}"], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["survival"], predicted.survival(TIMES), rtol=0, atol=1e-9)
    assert distance(found["quantiles"], predicted.quantile([0.2])) < 1e-9
    assert distance(found["median"], predicted.median()) < 1e-9
    return found
