from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import CauseSpecificCox, SurvivalData, WeibullAFT, predict_frame
from aldsurv.cli.main import main
from aldsurv.errors import DataError, ParameterError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"id": np.arange(80), "age": rng.normal(60, 10, 80), "sex": rng.choice(["f", "m"], 80)})


@pytest.fixture(scope="module")
def model(rows):
    rng = np.random.default_rng(1)
    time = 0.3 * rows["age"].to_numpy() * rng.weibull(2.0, len(rows))
    return WeibullAFT().fit(rows[["age", "sex"]], (time, np.ones(len(rows))))


@pytest.fixture(scope="module")
def with_causes(rows):
    rng = np.random.default_rng(2)
    time, cause = rng.exponential(10, len(rows)), rng.integers(0, 3, len(rows))
    data = SurvivalData.competing(time, cause, names={1: "relapse", 2: "death"})
    return CauseSpecificCox().fit(rows[["age", "sex"]], data)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, []),
        ({"times": [12, 36.5]}, ["--times", "12,36.5"]),
        (
            {"times": [5], "quantiles": [0.25], "summaries": ["restricted_mean", "mode"], "interval": 0.8},
            ["--times", "5", "--quantiles", "0.25", "--summary", "restricted_mean,mode", "--interval", "0.8"],
        ),
        ({"summaries": ["restricted_mean"]}, ["--summary", "restricted_mean"]),
    ],
)
@pytest.mark.parametrize("kind", ["model", "with_causes"])
def test_it_has_the_columns_and_values_that_the_command_writes(kind, options, words, rows, tmp_path, request):
    fitted = request.getfixturevalue(kind)
    if kind == "with_causes" and "quantiles" in options:
        options = {"times": [5]}
        words = ["--times", "5"]
    table, file, out = (str(tmp_path / name) for name in ("t.parquet", "m.aldsurv", "out.parquet"))
    rows.to_parquet(table)
    fitted.save(file)
    assert main(["predict", file, table, *words, "--out", out, "--quiet"]) == 0
    written = pd.read_parquet(out)
    predicted = predict_frame(fitted, rows, **options)
    assert predicted.columns.tolist() == written.columns[-len(predicted.columns) :].tolist()
    assert predicted["outside"].tolist() == written["outside"].tolist()
    for name in predicted.columns[:-1]:
        np.testing.assert_allclose(predicted[name], written[name], rtol=1e-9, err_msg=name)


def test_other_columns_are_ignored_and_the_index_is_kept(model, rows):
    moved = rows.set_index(pd.Index([f"r{k}" for k in range(len(rows))]))
    predicted = predict_frame(model, moved, times=[12])
    assert predicted.index.equals(moved.index)
    expected = model.predict_distribution(rows[["age", "sex"]]).survival([12.0])[:, 0]
    np.testing.assert_array_equal(predicted["survival_12"], expected)
    columns = {name: rows[name].to_numpy() for name in rows}
    np.testing.assert_array_equal(predict_frame(model, columns, times=[12])["survival_12"], expected)


def test_values_beyond_training_are_marked(model):
    predicted = predict_frame(model, {"age": [60.0, 200.0], "sex": ["f", "m"]})
    assert predicted["outside"].tolist() == [False, True]
    assert predicted.columns.tolist() == ["median", "q10", "q90", "outside"]


@pytest.mark.parametrize("kind", ["model", "with_causes"])
def test_no_rows_have_the_columns_and_types_of_some_rows(kind, rows, request):
    fitted = request.getfixturevalue(kind)
    some, none = (predict_frame(fitted, frame, times=[6, 12]) for frame in (rows, rows[:0]))
    assert none.empty
    pd.testing.assert_series_equal(some.dtypes, none.dtypes)
    pd.testing.assert_frame_equal(pd.concat([some, none]), some)
    assert predict_frame(fitted, pd.DataFrame(), times=[6, 12]).columns.tolist() == some.columns.tolist()


def test_incidences_and_survival_add_up_to_one(with_causes, rows):
    predicted = predict_frame(with_causes, rows, times=[5])
    parts = ["incidence_relapse_5", "incidence_death_5", "survival_5"]
    assert predicted.columns.tolist() == [*parts, "outside"]
    np.testing.assert_allclose(predicted[parts].sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"times": [-1]}, "times"), ({"times": [np.nan]}, "times"), ({"times": ["a"]}, "times"),
        ({"quantiles": [1.0]}, "quantiles"), ({"summaries": ["modus"]}, "summaries"),
        ({"summaries": "mean"}, "summaries"), ({"interval": 1.0}, "interval"),
        ({"band": 0.0}, "band"), ({"band": 0.9}, "band needs an ensemble"),
    ],
)  # fmt: skip
def test_wrong_requests_name_their_argument(model, rows, options, name):
    with pytest.raises(ParameterError, match=name):
        predict_frame(model, rows, **options)


def test_limits_between_members_lie_around_the_prediction():
    frozen = Path(__file__).parents[1] / "frozen"
    ensemble = aldsurv.load(frozen / "ald_default.aldsurv")
    made = json.loads((frozen / "predictions.json").read_text(encoding="utf-8"))
    given = made["rows"][made["files"]["ald_default.aldsurv"]["rows"]]
    x = given if isinstance(given, dict) else np.array(given)
    predicted = predict_frame(ensemble, x, times=[1.0], summaries=["median"], band=0.9)
    assert predicted.columns.tolist() == [
        "median", "median_lower", "median_upper", "survival_1", "survival_1_lower", "survival_1_upper", "outside"
    ]  # fmt: skip
    for name in ("median", "survival_1"):
        assert (predicted[f"{name}_lower"] <= predicted[name]).all()
        assert (predicted[name] <= predicted[f"{name}_upper"]).all()


def test_a_missing_column_is_named(model, rows):
    with pytest.raises(DataError, match="sex"):
        predict_frame(model, rows[["age"]], times=[12])


def test_it_is_a_name_of_the_package():
    assert aldsurv.predict_frame is predict_frame
