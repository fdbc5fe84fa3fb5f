"""Columns, causes, stacks, and what a graph cannot do."""

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from scipy import special

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError, UnseenValuesWarning
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
from export.onnx.graph_runs import answers, distance

N = 160
TIMES = [0.4, 1.0, 2.5]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    age = rng.normal(60, 10, N)
    age[::9] = np.nan
    grade = np.array([None if k % 11 == 0 else ["I", "II", "III"][k % 3] for k in range(N)], object)
    smoker = np.array([bool(k % 2) for k in range(N)], object)
    return {"age": age, "grade": grade, "smoker": smoker, "survival": rng.normal(size=N)}


@pytest.fixture(scope="module")
def times(table):
    rng = np.random.default_rng(4)
    return np.exp(0.3 * table["survival"] + 0.5 * rng.normal(size=N)), rng.random(N) < 0.8


@pytest.fixture(scope="module")
def causes(times):
    cause = np.where(times[1], np.random.default_rng(5).integers(1, 3, N), 0)
    return SurvivalData.competing(times[0], cause, names=["relapse", "death"])


# New people: a gap, a level that training had not shown, one beyond training, and one who is like the others.
NEW = {
    "age": np.array([np.nan, 55.0, 200.0, 61.5]),
    "grade": np.array(["II", "IV", None, "III"], object),
    "smoker": np.array([True, False, None, True], object),
    "survival": np.array([0.1, -0.2, 0.3, 0.0]),
}

KNOWN = np.array([True, False, True, True], object)


def compared(model, columns=NEW):
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


@pytest.mark.parametrize("record", MODELS.records(), ids=lambda record: record.name)
def test_every_model_has_a_graph(record):
    assert predict.dispatch(MODELS.load(record.name)) is not predict.dispatch(object)


@pytest.mark.parametrize(
    "model",
    [
        CoxRegression(strata="smoker"),
        WeibullAFT(),
        ElasticNetCox(random_state=0),
        ElasticNetAFT(random_state=0),
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
def test_networks_with_causes(kind, table, causes):
    pytest.importorskip("torch")
    model = aldsurv.ALDSurvival(members=2, max_epochs=2, causes=kind, components=2, random_state=0)
    model.fit({"survival": table["survival"]}, causes)
    columns = {"survival": NEW["survival"]}
    if kind == "mixture":
        compared(model, columns)
        return
    with pytest.raises(AldsurvError, match="quadrature"):
        build_onnx(model, times=TIMES)
    found = answers(build_onnx(model, times=TIMES, outputs=["survival", "median"]), columns)
    predicted = model.predict_distribution(columns)
    np.testing.assert_allclose(found["survival"], predicted.survival(TIMES), rtol=0, atol=1e-9)
    assert distance(found["median"], predicted.median()) < 1e-9


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


def test_an_encoder_is_refused():
    from aldsurv.export.onnx.models.prediction import not_exported

    error = not_exported(CoxRegression(), "an encoder of its own reads the columns")
    assert str(error) == "this CoxRegression cannot be written as ONNX: an encoder of its own reads the columns."
