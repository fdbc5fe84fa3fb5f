"""Every model of the frozen files answers through onnxruntime as it does in Python."""

import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import aldsurv
from aldsurv.errors import ColumnWarning
from aldsurv.export.onnx import build_onnx
from export.onnx.graph_runs import answers, as_table, distance, rows_for

FROZEN = Path(__file__).parents[2] / "models" / "frozen"
# Those that differ in how they were trained only have the graphs of others.
ALIKE = ("_encoder", "_point-auto", "_training", "_crps", "_entry", "_pinball", "lognormal_interval", "_grid_real")
NAMES = sorted(path.stem for path in FROZEN.glob("*.aldsurv") if not path.stem.endswith(ALIKE))
# One of each kind, and of each support.
SINGLE = [
    "ald_default", "ald_components-1_positive", "ald_components-1_real", "boosted_ald_components-1", "cox_strata",
    "cqrnn_default", "deephit_causes", "deephit_step", "deepsurv_strata", "icald_default", "icald_calibrated_log",
    "lognormal_aft_entry", "recalibrated_ald", "weibull_aft_ridge",
]  # fmt: skip
LEVELS = (0.1, 0.75)


def _compared(name, precision, tolerance):
    model = aldsurv.load(FROZEN / f"{name}.aldsurv")
    last = float(np.float32(model.unique_times_[-1]))
    times = [last / 8, last / 2, 1.5 * last]
    columns = rows_for(model)
    found = answers(build_onnx(model, times=times, quantiles=LEVELS, precision=precision), columns, precision)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        warnings.simplefilter("ignore", aldsurv.errors.UnseenValuesWarning)
        table = as_table(columns)
        predicted = model.predict_distribution(table)
        parameters = model.predict_parameters(table)
        incidence = None if model.causes_ is None else model.predict_incidence(table)
    np.testing.assert_allclose(found["survival"], predicted.survival(times), rtol=0, atol=tolerance)
    assert distance(found["quantiles"], predicted.quantile(LEVELS)) < tolerance
    assert distance(found["median"], predicted.median()) < tolerance
    for parameter, values in parameters.items():
        np.testing.assert_allclose(found[f"parameter_{parameter}"], values, rtol=tolerance, atol=tolerance)
    for cause in model.causes_ or ():
        expected = incidence.incidence(times, cause)
        np.testing.assert_allclose(found[f"incidence_{cause}"], expected, rtol=0, atol=tolerance)
    assert found["outside"].dtype == bool


@pytest.mark.parametrize("name", NAMES)
def test_a_graph_in_double_precision_answers_as_python_does(name):
    _compared(name, "float64", 1e-9)


@pytest.mark.parametrize("name", SINGLE)
def test_a_graph_in_single_precision_keeps_six_digits(name):
    _compared(name, "float32", 1e-6)
