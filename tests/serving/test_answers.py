"""What is answered is what the model predicts, for every frozen model, with flags of the values that came in."""

from __future__ import annotations

import json

import numpy as np
import pytest

import aldsurv
from aldsurv.files.model_file import file_digest
from aldsurv.serving import ServedModel, ServiceSettings, create_app

from .client import FROZEN, LEVELS, ROWS, TIMES, Client, column, frozen, rows_of

NAMES = [
    name.removesuffix(".aldsurv") for name, expected in FROZEN["files"].items() if not expected["encoder"]
]  # fmt: skip


@pytest.fixture(scope="module")
def ald():
    return Client("ald_default")


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_the_predictions_of_the_frozen_file(name):
    expected = FROZEN["files"][f"{name}.aldsurv"]
    client = Client(name)
    rows = rows_of(expected["rows"])
    # Columns in another order, and one that the model does not have.
    shuffled = [{"id": k, **dict(reversed(row.items()))} for k, row in enumerate(rows)]
    answer = client.predict({"rows": shuffled, "times": TIMES, "quantiles": LEVELS})
    assert answer.status_code == 200, answer.text
    survival = np.stack([column(answer, f"survival_{time:g}") for time in TIMES], 1)
    quantile = np.stack([column(answer, f"q{100 * level:g}") for level in LEVELS], 1)
    np.testing.assert_allclose(survival, np.array(expected["survival"]), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(quantile, np.array(expected["quantile"]), rtol=1e-9, atol=1e-12)
    causes = aldsurv.load(frozen(name)).causes_
    if causes is not None:
        by_cause = [[column(answer, f"incidence_{cause}_{time:g}") for time in TIMES] for cause in causes]
        incidence = np.moveaxis(np.array(by_cause), -1, 0)
        np.testing.assert_allclose(incidence.sum(1) + survival, 1, atol=1e-9)
    assert answer.json()["ignored_columns"] == ["id"]
    assert answer.json()["model"]["digest"] == file_digest(frozen(name))


def test_csv_and_json_give_the_same_answer(ald):
    names = ["code", "smoker", "grade", "age", "size", "site"]
    fields = [["" if row[name] is None else str(row[name]) for name in names] for row in ROWS]
    for mark in (",", ";", "\t"):
        text = "\n".join(mark.join(line) for line in [names, *fields])
        answer = ald.csv(text, params={"times": "1,3", "given_survived": "0.5"})
        assert answer.json() == ald.predict({"rows": ROWS, "times": [1, 3], "given_survived": 0.5}).json()


def test_fields_in_quotes_may_hold_lines_and_gaps_have_their_usual_texts(ald):
    head = "grade,age,size,site,smoker,code,note\n"
    answer = ald.csv(head + 'II,NA,20,left,TRUE,2,"two\nlines, ""quoted"""\r\nII,,20,left,1,2,\r\n')
    assert answer.status_code == 200
    assert [row["gap_filled"] for row in answer.json()["rows"]] == [["age"], ["age"]]
    assert answer.json()["rows"][0] == answer.json()["rows"][1]


def test_flags_name_the_columns_of_each_row(ald):
    strange = {**ROWS[0], "age": 1e6, "grade": "IX", "size": None}
    first, second = ald.predict({"rows": [ROWS[0], strange]}).json()["rows"]
    assert (first["outside_training"], first["unknown_level"], first["gap_filled"]) == ([], [], [])
    assert (second["outside_training"], second["unknown_level"], second["gap_filled"]) == (["age"], ["grade"], ["size"])


def test_flags_agree_with_what_the_features_say():
    served = ServedModel.load(frozen("ald_default"))
    draw = np.random.default_rng(0)
    rows = [{**row, "age": float(draw.normal(60, 40)), "grade": str(draw.choice(["I", "II", "X"]))} for row in ROWS * 5]
    client = Client("ald_default")
    answers = client.predict({"rows": rows}).json()["rows"]
    x = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    outside = served.model.features_.outside(x)
    names = served.model.features_.names_in
    for answer, marks in zip(answers, outside, strict=True):
        flagged = {*answer["outside_training"], *answer["unknown_level"]}
        assert flagged == {name for name, mark in zip(names, marks, strict=True) if mark}
    assert outside.any(axis=0)[names.index("age")]
    assert outside.any(axis=0)[names.index("grade")]


def test_a_quantile_that_is_never_reached_is_null():
    answer = Client("cox_strata").predict({"rows": ROWS, "quantiles": [0.999]})
    assert None in [row["predicted"]["q99.9"] for row in answer.json()["rows"]]
    assert "NaN" not in answer.text
    assert "Infinity" not in answer.text


def test_all_options_are_those_of_the_library(ald):
    body = {"rows": ROWS, "times": [2], "quantiles": [], "summaries": ["mean"], "interval": 0.8, "given_survived": 1.5}
    answer = ald.predict(body)
    model = aldsurv.load(frozen("ald_default"))
    known = model.predict_distribution(FROZEN["rows"]["right"]).conditional(np.full(len(ROWS), 1.5))
    np.testing.assert_allclose(column(answer, "mean"), known.mean(), rtol=1e-9)
    np.testing.assert_allclose(column(answer, "lower_80"), known.quantile(0.1).ravel(), rtol=1e-9)
    np.testing.assert_allclose(column(answer, "survival_2"), known.survival([2]).ravel(), rtol=1e-9)
    assert list(answer.json()["rows"][0]["predicted"]) == ["mean", "lower_80", "upper_80", "survival_2"]


def test_limits_between_members_hold_the_prediction(ald):
    rows = ald.predict({"rows": ROWS, "times": [3], "band": 0.9, "given_survived": 4}).json()["rows"]
    for row in rows:
        predicted = row["predicted"]
        assert predicted["median_lower"] <= predicted["median"] <= predicted["median_upper"]
        assert predicted["survival_3_lower"] == predicted["survival_3"] == predicted["survival_3_upper"] == 1


def test_a_column_may_say_how_long_a_row_is_event_free(ald):
    rows = [{**row, "so_far": k} for k, row in enumerate(ROWS)]
    answer = ald.predict({"rows": rows, "given_survived": "so_far"})
    alone = [ald.predict({"rows": [row], "given_survived": k}) for k, row in enumerate(ROWS)]
    np.testing.assert_allclose(column(answer, "median"), [column(one, "median")[0] for one in alone], rtol=1e-9)
    assert answer.json()["ignored_columns"] == []


def test_times_beyond_training_are_named(ald):
    last = float(aldsurv.load(frozen("ald_default")).unique_times_[-1])
    answer = ald.predict({"rows": ROWS[:1], "times": [1, last, last + 1]})
    assert answer.json()["extrapolated_times"] == [last + 1]


def test_nothing_asked_for_is_an_answer_with_flags_only(ald):
    answer = ald.predict({"rows": ROWS[:2], "times": [], "quantiles": [], "summaries": []})
    assert [row["predicted"] for row in answer.json()["rows"]] == [{}, {}]


def test_large_requests_go_through_threads_and_come_out_the_same(ald):
    rows = ROWS * 400
    answer = ald.predict({"rows": rows, "times": [1]})
    few = ald.predict({"rows": ROWS, "times": [1]})
    np.testing.assert_allclose(column(answer, "median"), np.tile(column(few, "median"), 400), rtol=1e-9)


def test_the_description_has_ranges_levels_and_training_rows():
    described = Client("cox_strata").get("/models/cox_strata").json()
    by_name = {each["name"]: each for each in described["columns"]}
    model = aldsurv.load(frozen("cox_strata"))
    plan = model.columns_["age"]
    assert by_name["age"]["range"] == [plan.low, plan.high]
    assert by_name["grade"]["levels"] == list(model.columns_["grade"].levels)
    assert by_name["site"]["strata"]
    assert described["trained_on"]["rows"] == model.trained_on_.rows
    assert described["version"] == model.trained_on_.versions["aldsurv"]


def test_several_models_have_addresses_of_their_own():
    client = Client("cox_efron", "ald_default")
    names = [each["name"] for each in client.get("/models").json()["models"]]
    assert names == ["cox_efron", "ald_default"]
    answers = [client.predict({"rows": ROWS}, model=name).json() for name in names]
    assert [answer["model"]["name"] for answer in answers] == names
    assert answers[0]["rows"] != answers[1]["rows"]


def test_the_same_name_twice_and_names_that_no_address_has_are_refused():
    with pytest.raises(aldsurv.errors.ParameterError, match="two models have the name 'ald_default'"):
        create_app([frozen("ald_default"), frozen("ald_default")])
    with pytest.raises(aldsurv.errors.ParameterError, match="cannot stand in an address"):
        create_app({"a/b": frozen("ald_default")})
    with pytest.raises(aldsurv.errors.ParameterError, match="no model"):
        create_app([], ServiceSettings())


def test_a_model_without_names_of_columns_has_x0_x1(tmp_path):
    draw = np.random.default_rng(0)
    x = draw.normal(size=(60, 2))
    model = aldsurv.WeibullAFT().fit(x, (draw.exponential(size=60), np.ones(60)))
    path = model.save(tmp_path / "plain.aldsurv")
    client = Client.__new__(Client)
    client.app, client.name = create_app([path]), "plain"
    answer = client.predict({"rows": [{"x1": 0.5, "x0": 0.1}]})
    np.testing.assert_allclose(column(answer, "median"), model.predict_distribution([[0.1, 0.5]]).median(), rtol=1e-9)
    assert json.loads(answer.text)["ignored_columns"] == []


def fitted_models():
    """Kinds of models that no frozen file has, on a table with a category and two causes."""
    draw = np.random.default_rng(0)
    x = {"age": draw.normal(60, 10, 150), "site": draw.choice(["left", "right"], 150)}
    times, cause = draw.exponential(10, 150), draw.choice(["none", "relapse", "death"], 150)
    competing = aldsurv.SurvivalData.competing(times, np.where(cause == "none", None, cause))
    one = aldsurv.SurvivalData.right(times, cause != "none")
    stack = aldsurv.StackedSurvival(["cox", "weibull_aft"], folds=2, random_state=0)
    yield "stack", stack.fit(x, one)
    yield "fine_gray", aldsurv.FineGray().fit(x, competing)
    yield "cause_cox", aldsurv.CauseSpecificCox().fit(x, competing)


def test_stacks_and_models_by_cause_answer_as_in_python(tmp_path):
    rows = [{"site": "left", "age": 55.0}, {"site": "right", "age": 71.0}]
    x = {name: np.array([row[name] for row in rows]) for name in ("age", "site")}
    for name, model in fitted_models():
        client = Client.__new__(Client)
        client.app, client.name = create_app([model.save(tmp_path / f"{name}.aldsurv")]), name
        answer = client.predict({"rows": rows, "times": [5.0], "summaries": [], "quantiles": []})
        assert answer.status_code == 200, answer.text
        survival = model.predict_distribution(x).survival([5.0])[:, 0]
        np.testing.assert_allclose(column(answer, "survival_5"), survival, rtol=1e-9)
        for cause in model.causes_ or ():
            incidence = model.predict_incidence(x).incidence([5.0], cause)[:, 0]
            np.testing.assert_allclose(column(answer, f"incidence_{cause}_5"), incidence, rtol=1e-9)
