"""Columns, causes, stacks, and what a graph cannot do."""

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from scipy import special

import aldsurv
from aldsurv.errors import UnseenValuesWarning
from aldsurv.export.onnx import build_onnx
from aldsurv.export.onnx.functions import erfc, expm1, log1p
from aldsurv.export.onnx.graph import Graph
from aldsurv.export.onnx.models import linear, neural, trees, wrappers  # noqa: F401 - they register themselves
from aldsurv.export.onnx.models.prediction import predict
from aldsurv.models.linear.aft import WeibullAFT
from aldsurv.models.linear.competing.cause_specific_cox import CauseSpecificCox
from aldsurv.models.linear.competing.fine_gray import FineGray
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.elastic_net.elastic_net_aft import ElasticNetAFT
from aldsurv.models.linear.elastic_net.elastic_net_cox import ElasticNetCox
from aldsurv.models.wrappers.stacked import StackedSurvival
from aldsurv.registry import MODELS
from export.onnx.graph_runs import answers
from export.onnx.new_people import KNOWN, NEW, TIMES, compared, training_causes, training_table, training_times


@pytest.fixture(scope="module")
def table():
    return training_table()


@pytest.fixture(scope="module")
def times():
    return training_times()


@pytest.fixture(scope="module")
def causes():
    return training_causes()


@pytest.mark.parametrize("record", MODELS.records(), ids=lambda record: record.name)
def test_every_model_has_a_graph(record):
    assert predict.dispatch(MODELS.load(record.name)) is not predict.dispatch(object)


@pytest.mark.parametrize(
    "model",
    [
        CoxRegression(strata="smoker"),
        WeibullAFT(),
        ElasticNetCox(alpha=0.02, l1_ratio=0.5),
        ElasticNetAFT(alpha=0.02, l1_ratio=0.5),
        StackedSurvival(estimators=["cox", "weibull_aft"], random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_columns_as_people_have_them(model, table, times):
    columns = {**NEW, "smoker": KNOWN} if model.get_params().get("strata") else NEW
    model.fit(table, times)
    assert compared(model, columns)["outside"].tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    "model", [CauseSpecificCox(), CauseSpecificCox(strata="smoker"), FineGray(), FineGray("death")]
)
def test_incidences_of_regressions(model, table, causes):
    columns = {**NEW, "smoker": KNOWN}
    compared(model.fit(table, causes), columns)


def test_a_cure_leaves_some_quantiles_infinite(table, times):
    time, event = np.minimum(times[0], 1.5), times[1] & (times[0] < 1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = WeibullAFT(cure=True).fit({"survival": table["survival"]}, (time, event))
    compared(model, {"survival": NEW["survival"]})


def test_a_stratum_that_training_had_not_shown_has_no_survival(table, times):
    model = CoxRegression(strata="grade").fit(table, times)
    found = answers(build_onnx(model, times=TIMES), NEW)
    assert np.isnan(found["survival"]).all(axis=1).tolist() == [False, True, False, False]


@pytest.mark.parametrize("kind", ["mixture", "hazards"])
@pytest.mark.parametrize("settings", [{"components": 2}, {"components": 1, "support": "positive"}], ids=str)
def test_networks_with_causes(settings, kind, table, causes):
    pytest.importorskip("torch")
    model = aldsurv.ALDSurvival(members=2, max_epochs=2, causes=kind, random_state=0, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit({"survival": table["survival"]}, causes)
    compared(model, {"survival": NEW["survival"]})


def test_other_times_may_be_asked_for(table, times):
    model = WeibullAFT().fit(table, times)
    graph = build_onnx(model, times=TIMES)
    found = answers(graph, {**NEW, "grade": ["I"] * 4}, times=np.array([3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenValuesWarning)
        expected = model.predict_distribution({**NEW, "grade": ["I"] * 4}).survival([3.0])
    np.testing.assert_allclose(found["survival"], expected, rtol=0, atol=1e-9)
    properties = {entry.key: entry.value for entry in graph.model.metadata_props}
    assert properties["model"] == "weibull_aft"
    # A column that has the name of an output is an input under another.
    assert "column_survival" in [one.name for one in graph.model.graph.input]


@pytest.mark.parametrize(
    ("function", "oracle", "places"),
    [
        (log1p, np.log1p, [-0.999, -1e-12, 0.0, 1e-300, 1e-9, 3.0]),
        (expm1, np.expm1, [-745.0, -30.0, -1.0, -1e-9, -1e-300, 0.0]),
        (erfc, special.erfc, [-9.0, -1.0, 0.0, 1e-9, 0.5, 2.0, 5.0, 9.0, 25.0]),
    ],
)
def test_functions_keep_their_digits(function, oracle, places):
    import onnxruntime

    graph = Graph()
    graph.output("y", function(graph.input("x", "float64", ["n"])), ["n"])
    session = onnxruntime.InferenceSession(graph.model("f", {}).SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, {"x": np.array(places)})[0]
    np.testing.assert_allclose(found, oracle(np.array(places)), rtol=1e-12)
