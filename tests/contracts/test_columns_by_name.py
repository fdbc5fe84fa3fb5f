"""Every model finds named columns by their names, whatever holds them and in whatever order."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from aldsurv import ALDSurvival, ConformalLowerBound, CoxRegression, DeepSurv, SurvivalData, WeibullAFT
from aldsurv.errors import AldsurvWarning, ColumnWarning, DataError, IgnoredColumnsWarning
from aldsurv.inspection import permutation_importance
from aldsurv.models.adapters import ForestPeer, XGBoostAFT
from aldsurv.registry import MODELS
from contracts.test_models import make

RNG = np.random.default_rng(7)
COLUMNS = {
    "age": RNG.normal(60, 8, 120),
    "grade": np.array(["I", "II", "III"])[RNG.integers(0, 3, 120)],
    "nodes": RNG.integers(0, 9, 120).astype(float),
}
TIME = 10 * np.exp(0.04 * (COLUMNS["age"] - 60) - 0.1 * COLUMNS["nodes"] + 0.3 * RNG.normal(size=120))
Y = SurvivalData.right(TIME, RNG.random(120) < 0.8)
TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "dict": dict,
    "lists": lambda columns: {name: list(values) for name, values in columns.items()},
    "arrow": pa.table,
    "arrow batch": pa.RecordBatch.from_pydict,
}
# None of the columns is where it was.
ORDER = ("grade", "nodes", "age")


def reordered(table, columns=COLUMNS, *, extra=False):
    chosen = {name: columns[name] for name in ORDER}
    return TABLES[table]({"hospital": np.arange(120.0), **chosen, "note": ["x"] * 120} if extra else chosen)


def quietly(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AldsurvWarning)
        return call(*arguments)


def one_note(call, X):
    """What a call gives, and the one warning that it must give."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call(X)
    assert [warning.category for warning in caught] == [IgnoredColumnsWarning]
    # About the line of the user, not one inside of the library.
    assert caught[0].filename == __file__
    assert "not used: column 'hospital', column 'note'" in str(caught[0].message)
    return result


@pytest.mark.parametrize("name", list(MODELS))
def test_every_registered_model(name):
    model = quietly(make(name).fit, pd.DataFrame(COLUMNS), Y)
    expected = model.predict_distribution(pd.DataFrame(COLUMNS)).median()
    for table in TABLES:
        np.testing.assert_array_equal(model.predict_distribution(reordered(table)).median(), expected)
    for table in ("dict", "arrow"):
        predicted = one_note(model.predict_distribution, reordered(table, extra=True))
        np.testing.assert_array_equal(predicted.median(), expected)
    with pytest.raises(DataError, match=r"now missing:\n- nodes\nIs ' NODES' what was 'nodes' in training\?"):
        model.predict({"age": [1.0], " NODES": [1.0], "grade": ["I"]})
    with pytest.warns(ColumnWarning, match="X does not have valid feature names"):
        # Without names columns go by position.
        by_place = model.predict_distribution(np.array(list(zip(*COLUMNS.values(), strict=True)), object))
    np.testing.assert_allclose(by_place.median(), expected)


@pytest.mark.parametrize(
    "model",
    [
        CoxRegression(strata="grade"),
        CoxRegression(strata=1),
        DeepSurv(strata="grade", members=1, max_epochs=2, random_state=0, progress=False),
        DeepSurv(strata=1, members=1, max_epochs=2, random_state=0, progress=False),
        ForestPeer(n_estimators=3, random_state=0),
        XGBoostAFT(n_estimators=3, random_state=0),
    ],
    ids=["cox", "cox by number", "deepsurv", "deepsurv by number", "forest", "xgboost"],
)
@pytest.mark.parametrize("table", list(TABLES))
def test_strata_and_adapters(model, table, tmp_path):
    if isinstance(model, XGBoostAFT):
        pytest.importorskip("xgboost")
    quietly(model.fit, TABLES[table](COLUMNS), Y)
    expected = model.predict_distribution(TABLES[table](COLUMNS)).survival(10.0)
    np.testing.assert_array_equal(model.predict_distribution(reordered("dict")).survival(10.0), expected)
    predicted = one_note(model.predict_distribution, reordered(table, extra=True))
    np.testing.assert_array_equal(predicted.survival(10.0), expected)


def test_conformal_bounds_and_importance():
    bound = quietly(ConformalLowerBound(WeibullAFT(), random_state=0).fit, pa.table(COLUMNS), Y)
    np.testing.assert_array_equal(bound.predict_lower(reordered("polars")), bound.predict_lower(pa.table(COLUMNS)))
    model = CoxRegression().fit(pa.table(COLUMNS), Y)
    effects = permutation_importance(model, reordered("arrow"), Y, repeats=2, random_state=0)
    assert set(effects.names) == set(COLUMNS)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_pipelines_with_a_column_transformer(output):
    encode = ColumnTransformer(
        [("scaled", StandardScaler(), ["age", "nodes"]), ("levels", OneHotEncoder(sparse_output=False), ["grade"])]
    ).set_output(transform=output)
    model = make_pipeline(encode, CoxRegression(ridge=1.0)).fit(pd.DataFrame(COLUMNS), Y)
    expected = model.predict(pd.DataFrame(COLUMNS))
    np.testing.assert_array_equal(model.predict(reordered("pandas", extra=True)), expected)


def test_categories_of_arrow_are_levels():
    codes = pa.array([1, 2, 1, 3] * 30).dictionary_encode()
    model = CoxRegression().fit(pa.table({"code": codes, "age": COLUMNS["age"]}), Y)
    assert model.features_.names_out == ["code=1", "code=2", "code=3", "age"]


def test_an_encoder_takes_columns_in_their_order():
    torch = pytest.importorskip("torch")
    X = pd.DataFrame({name: COLUMNS[name] for name in ("age", "nodes")})
    model = ALDSurvival(encoder=torch.nn.Linear(2, 3), members=1, max_epochs=1, random_state=0, progress=False)
    with pytest.warns(ColumnWarning, match="gives its encoder the columns of X in their order") as caught:
        model.fit(X, Y)
    assert caught[0].filename == __file__
