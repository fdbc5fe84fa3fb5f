"""Linear models as SQL answer as in Python, in SQLite and in DuckDB."""

import sqlite3
import warnings

import numpy as np
import pytest

from aldsurv.errors import AldsurvError, UnseenValuesWarning
from aldsurv.export.sql import build_sql
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.elastic_net.elastic_net_aft import ElasticNetAFT
from aldsurv.models.linear.elastic_net.elastic_net_cox import ElasticNetCox
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival

N = 160
TIMES, LEVELS = {"times": [2.0, 3.5]}, {"quantiles": [0.25]}
ROWS = [(None, "II", True), (55, "it's", False), (200, None, True), (61, "III", True)]


def _sqlite(statement):
    database = sqlite3.connect(":memory:")
    functions = {row[0].upper() for row in database.execute("SELECT name FROM pragma_function_list")}
    if not {"EXP", "LN"} <= functions:
        pytest.skip("this SQLite has no mathematical functions")
    database.execute('CREATE TABLE "people" ("age" INTEGER, "grade" TEXT, "smoker" INTEGER)')
    database.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    return database.execute(statement).fetchall()


def _duckdb(statement):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.execute('CREATE TABLE "people" ("age" INTEGER, "grade" VARCHAR, "smoker" BOOLEAN)')
    database.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
    return database.execute(statement).fetchall()


def _fitted(model):
    rng = np.random.default_rng(0)
    age = rng.integers(30, 80, N).astype(float)
    age[::9] = np.nan
    grade = np.array([None if k % 11 == 0 else ("I", "II", "III", "it's")[k % 4] for k in range(N)], object)
    smoker = np.array([bool(k % 3) for k in range(N)], object)
    time = np.exp(0.02 * np.nan_to_num(age, nan=50) + 0.5 * rng.normal(size=N))
    return model.fit({"age": age, "grade": grade, "smoker": smoker}, (time, rng.random(N) < 0.8))


@pytest.mark.filterwarnings("ignore::aldsurv.errors.CureWarning")
@pytest.mark.parametrize("run", [_sqlite, _duckdb])
@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (CoxRegression(), TIMES),
        (CoxRegression(strata=["smoker"]), TIMES),
        (ElasticNetCox(alpha=0.02, l1_ratio=0.5), TIMES),
        (WeibullAFT(), {**TIMES, **LEVELS}),
        (WeibullAFT(cure=True, ridge=1.0), TIMES),
        (LogNormalAFT(), LEVELS),
        (ElasticNetAFT(alpha=0.02, l1_ratio=0.5, family="weibull"), {**TIMES, **LEVELS}),
        (ElasticNetAFT(alpha=0.02, l1_ratio=0.5), LEVELS),
    ],
    ids=repr,
)
def test_a_database_answers_as_python_does(model, arguments, run):
    fitted = _fitted(model)
    statement = build_sql(fitted, **arguments)
    rows = np.array([row[3:] for row in run(statement.text)], float)
    age, grade, smoker = (np.array(column, object) for column in zip(*ROWS, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenValuesWarning)
        predicted = fitted.predict_distribution({"age": age, "grade": grade, "smoker": smoker})
    expected = {
        "survival_2": predicted.survival(2.0), "survival_3.5": predicted.survival(3.5),
        "quantile_0.25": predicted.quantile(0.25), "median": predicted.median(),
    }  # fmt: skip
    inner = rows.shape[1] - len(statement.columns)
    for k, name in enumerate(statement.columns):
        np.testing.assert_allclose(rows[:, inner + k], expected[name], rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "arguments", "problem"),
    [
        (CoxRegression(), {"quantiles": [0.5]}, "quantiles cannot be had from SQL for this CoxRegression"),
        (LogNormalAFT(), {"times": [2.0]}, "times cannot be had from SQL for this LogNormalAFT"),
        (WeibullAFT(), {"quantiles": [1.5]}, "quantiles must lie between 0 and 1"),
        (WeibullAFT(), {"times": [-1.0]}, "times must be finite numbers from 0 on"),
    ],
)
def test_what_a_statement_cannot_have_is_refused(model, arguments, problem):
    fitted = _fitted(model)
    with pytest.raises(AldsurvError, match=problem):
        build_sql(fitted, **arguments)
    # Without it the model has a statement.
    assert build_sql(fitted).columns


def test_other_models_are_refused():
    with pytest.raises(AldsurvError, match="cannot be written as SQL"):
        build_sql(RecalibratedSurvival("cox"), times=[1.0])
