"""Columns to numbers: against scikit-learn's transformers, by laws, and every refusal and warning."""

from __future__ import annotations

import copy
import datetime
import itertools
import json
import tracemalloc
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils import estimator_checks

from aldsurv.columns.column_plans import LeftOut, Levels, Number
from aldsurv.columns.features import Features
from aldsurv.errors import DataError, LeftOutWarning, ParameterError, UnknownNameError

RNG = np.random.default_rng(20)
LEVELS = ["I", "II", "III", "IV"]


def table(n: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(60, 10, n).round(1),
            "nodes": rng.poisson(4, n),
            "grade": rng.choice(LEVELS, n),
            "treated": rng.random(n) < 0.3,
            "size": rng.gamma(2.0, 10.0, n),
        }
    )
    frame.loc[rng.random(n) < 0.2, "size"] = np.nan
    return frame


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


# ---- numbers ----

moderate = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@given(arrays(np.float64, st.tuples(st.integers(2, 30), st.integers(1, 4)), elements=moderate), st.floats(0.1, 5))
def test_numbers_are_scaled_as_by_standard_scaler(X, clip):
    assume((np.ptp(X, axis=0) > 1e-3 * (1 + np.abs(X).max())).all())
    expected = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(quietly(Features.learn, X).transform(X), expected, rtol=1e-5, atol=1e-5)
    clipped = quietly(Features.learn, X, clip=clip).transform(X)
    np.testing.assert_allclose(clipped, np.clip(expected, -clip, clip), rtol=1e-5, atol=1e-5)
    assert np.abs(clipped).max() <= np.float32(clip)


def test_unscaled_numbers_stay_as_they_are():
    X = RNG.normal(50, 10, (40, 3))
    np.testing.assert_array_equal(Features.learn(X, scale=False).transform(X), X.astype(np.float32))
    clipped = Features.learn(X, scale=False, clip=55).transform(X)
    np.testing.assert_array_equal(clipped, np.clip(X, -55, 55).astype(np.float32))


def test_gaps_are_filled_and_marked_as_by_simple_imputer():
    X = RNG.normal(3, 5, (51, 4))
    X[RNG.random(X.shape) < 0.2] = np.nan
    X[:, 2] = RNG.integers(0, 9, 51)
    imputed = SimpleImputer(strategy="median", add_indicator=True).fit_transform(X)
    values = (imputed[:, :4] - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
    features = Features.learn(X)
    assert features.names_out == ["x0", "x0 missing", "x1", "x1 missing", "x2", "x3", "x3 missing"]
    found = features.transform(X)
    np.testing.assert_allclose(found[:, [0, 2, 4, 5]], values, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[:, [1, 3, 6]], imputed[:, 4:])


def test_every_sort_of_gap():
    X = np.array([[1, "a"], [None, None], [np.nan, np.nan], [pd.NA, pd.NA], [pd.NaT, pd.NaT], [3, "b"]], object)
    found = Features.learn(X, scale=False).transform(X)
    assert found.tolist() == [[1, 0, 1, 0, 0], *[[2, 1, 0, 0, 1]] * 4, [3, 0, 0, 1, 0]]


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, object])
def test_every_dtype_of_numbers(dtype):
    X = (RNG.random((30, 2)) < 0.4).astype(dtype)
    expected = StandardScaler().fit_transform(X.astype(float))
    np.testing.assert_allclose(Features.learn(X).transform(X), expected, rtol=1e-5)


def test_exact_objects_are_numbers():
    X = np.array([[Decimal("0.5"), Fraction(1, 3)], [Decimal("1.5"), 2], [None, True], [Decimal("NaN"), 0.5]], object)
    found = Features.learn(X, scale=False).transform(X)
    expected = [[0.5, 0, 1 / 3], [1.5, 0, 2], [1.0, 1, 1], [1.0, 1, 0.5]]
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize(
    "values",
    [
        [-1.7e308, 1.7e308, 1e308],
        [0.0, 5e-324, 1e-323],
        [0.0] * 9 + [5e-324],
        [1e16, 1e16 + 2, 1e16 + 4],
        [1e-200, 2e-200, 3e-200],
    ],
)
def test_extreme_numbers_stay_finite(values):
    X = np.array(values)[:, None]
    features = Features.learn(X)
    assert np.isfinite(features.transform(X)).all()
    assert np.isfinite(features.transform([[1.7e308], [-1.7e308], [0.0]])).all()
    assert Features.from_dict(json.loads(json.dumps(features.to_dict(), allow_nan=False))) == features


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_scaling_does_not_depend_on_the_unit(unit):
    X = RNG.normal(2, 3, (40, 1))
    np.testing.assert_allclose(
        Features.learn(X * unit).transform(X * unit), StandardScaler().fit_transform(X), rtol=1e-5, atol=1e-6
    )


@given(
    values=arrays(np.float64, st.integers(4, 40), elements=st.floats(-1e6, 1e6) | st.integers(0, 3).map(float)),
    bins=st.integers(2, 6),
)
def test_pieces_are_a_broken_line_through_the_quantiles(values, bins):
    assume(len(np.unique(values)) > 2)
    features = quietly(Features.learn, values[:, None], bins=bins)
    (plan,) = features.columns
    assert isinstance(plan, Number)
    new = np.linspace(values.min() - 1, values.max() + 1, 33)
    pieces = features.transform(new[:, None])[:, 1:]
    assert pieces.shape[1] == max(len(plan.knots) - 1, 0)
    if plan.knots:
        # What has been passed of all pieces, each as long as it is, is how far along the range a value lies.
        assert set(plan.knots) <= {*values.tolist(), *values.astype(np.float32).tolist()}
        expected = np.clip(new, plan.knots[0], plan.knots[-1]) - plan.knots[0]
        np.testing.assert_allclose(pieces @ np.diff(plan.knots), expected, rtol=1e-5, atol=1e-5 * np.ptp(plan.knots))
        # No piece begins before the one below it has ended.
        assert np.all((pieces[:, 1:] == 0) | (pieces[:, :-1] == 1))


@pytest.mark.parametrize("centre", [0.0, 300.0])
def test_a_column_in_float32_is_the_same_column(centre):
    values = centre + np.random.default_rng(0).normal(size=(200, 2))
    values[::9, 1] = np.nan
    short = values.astype(np.float32)
    first, second = (Features.learn(each, bins=4) for each in (values, short))
    np.testing.assert_array_equal(first.transform(values), second.transform(short))
    np.testing.assert_array_equal(first.transform(short), second.transform(values))
    # What has a coefficient for each column keeps all digits.
    exact = Features.learn(values, exact=True).transform_exactly(values)
    assert exact[:, 0].mean() == pytest.approx(0.0, abs=1e-13)


def test_numbers_far_from_0_keep_the_digits_they_need():
    # Dates as seconds: float32 has steps of two minutes there.
    values = 1.7e9 + np.arange(100.0)[:, None] ** 1.01
    found = Features.learn(values).transform(values)[:, 0]
    np.testing.assert_allclose(found, (values[:, 0] - values.mean()) / values.std(), rtol=1e-4, atol=1e-6)


def test_pieces_hold_about_as_many_rows():
    values = np.random.default_rng(0).exponential(size=8000)
    (plan,) = Features.learn(values[:, None], bins=8).columns
    assert isinstance(plan, Number)
    counts = np.histogram(values, plan.knots)[0]
    assert len(counts) == 8
    assert counts.min() >= 999
    assert counts.max() <= 1002


def test_two_values_make_no_pieces_and_gaps_are_filled_before():
    features = Features.learn({"flag": [0, 1, 1, 0], "size": [1.0, None, 3.0, 8.0]}, bins=4)
    assert features.names_out == ["flag", "size", "size missing", "size piece 1", "size piece 2"]
    np.testing.assert_array_equal(
        features.transform({"flag": [0, 1], "size": [None, 5.5]})[:, 2:], [[1, 1, 0], [0, 1, 0.5]]
    )


def test_far_ends_make_pieces_without_overflow():
    features = Features.learn([[-1.7e308], [0.0], [1.7e308]], bins=2)
    np.testing.assert_array_equal(features.transform([[-1.7e308], [0.0], [8.5e307]])[:, 1:], [[0, 0], [1, 0], [1, 0.5]])


def test_values_too_large_for_float32_are_cut():
    for clip in (None, 1e200):
        found = Features.learn([[0.0], [1.0]], scale=False, clip=clip).transform([[1e300], [-1e300]])
        np.testing.assert_array_equal(found[:, 0], [np.finfo(np.float32).max, np.finfo(np.float32).min])


# ---- levels ----

words = st.lists(st.sampled_from([*"abcdefg", "é", ""]), min_size=2, max_size=30)


@given(words, words)
def test_levels_are_coded_as_by_one_hot_encoder(train, test):
    train = ["a", "z", *train]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(np.array(train, object)[:, None])
    features = quietly(Features.learn, {"word": train})
    assert features.names_out == [f"word={level}" for level in encoder.categories_[0]]
    found = quietly(features.transform, {"word": test})
    np.testing.assert_array_equal(found, encoder.transform(np.array(test, object)[:, None]))


def test_listed_numbers_are_levels_and_floats_match_integers():
    features = Features.learn({"site": [3, 1, 2, 3], "age": [1.0, 2.0, 3.0, 4.0]}, categorical=["site"])
    assert features.names_out == ["site=1", "site=2", "site=3", "age"]
    found = features.transform({"site": [2.0, 3.0], "age": [2.5, 2.5]})
    np.testing.assert_array_equal(found, [[0, 1, 0, 0], [0, 0, 1, 0]])
    by_position = Features.learn([[3, 1.0], [1, 2.0], [2, 3.0], [3, 4.0]], categorical=[0])
    np.testing.assert_array_equal(by_position.transform([[2.0, 2.5], [3.0, 2.5]]), found)


def test_the_type_of_a_column_can_say_that_numbers_are_levels():
    frame = pd.DataFrame({"stage": pd.Categorical([2, 1, 4, 1]), "code": pd.Categorical(["10", "2", "10", "2"])})
    assert Features.learn(frame).names_out == ["stage=1", "stage=2", "stage=4", "code=10", "code=2"]
    polars = pl.DataFrame({"code": pl.Series(["10", "2", "10"], dtype=pl.Enum(["2", "10"]))})
    assert Features.learn(polars).names_out == ["code=10", "code=2"]


def test_unused_categories_give_no_columns():
    frame = pd.DataFrame({"grade": pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"])})
    assert Features.learn(frame).names_out == ["grade=a", "grade=b"]


def test_gaps_in_training_are_a_level():
    features = Features.learn({"grade": ["I", None, "II", float("nan")]})
    assert features.names_out == ["grade=I", "grade=II", "grade missing"]
    np.testing.assert_array_equal(features.transform({"grade": [None, "II"]}), [[0, 0, 1], [0, 1, 0]])


def test_rare_levels_share_one():
    values = ["d"] * 4 + ["b"] * 3 + ["c"] * 2 + ["a"] * 2 + ["e"] + [None]
    features = Features.learn({"x": values}, max_levels=3)
    assert features.names_out == ["x=a", "x=b", "x=d", "x other", "x missing"]
    found = features.transform({"x": ["a", "c", "e", "never seen", None]})
    np.testing.assert_array_equal(found.argmax(axis=1), [0, 3, 3, 3, 4])
    np.testing.assert_array_equal(found.sum(axis=1), np.ones(5))
    assert not features.outside({"x": ["c", "never seen"]}).any()


def test_one_value_or_a_gap_is_kept():
    features = Features.learn({"ticked": [1.0, np.nan, 1.0], "word": ["yes", None, None]})
    assert features.names_out == ["ticked=1", "ticked missing", "word=yes", "word missing"]
    np.testing.assert_array_equal(features.transform({"ticked": [np.nan], "word": ["yes"]}), [[0, 1, 1, 0]])


def test_mixed_numbers_and_text_are_levels_when_most_are_text():
    X = np.array([[0], ["low"], ["high"], ["low"]], object)
    assert Features.learn(X).names_out == ["x0=0", "x0=high", "x0=low"]


# ---- tables of all sorts ----


def forms(frame: pd.DataFrame) -> dict[str, object]:
    nullable = frame.convert_dtypes()
    return {
        "nullable": nullable,
        "category": frame.assign(grade=frame["grade"].astype("category")),
        "dict": {name: frame[name].tolist() for name in frame},
        "dict of arrays": {name: frame[name].to_numpy() for name in frame},
        "polars": pl.DataFrame({name: frame[name].to_list() for name in frame}, nan_to_null=True),
        "polars categorical": pl.DataFrame({name: frame[name].to_list() for name in frame}).with_columns(
            pl.col("grade").cast(pl.Categorical)
        ),
        "polars enum": pl.DataFrame({name: frame[name].to_list() for name in frame}).with_columns(
            pl.col("grade").cast(pl.Enum(LEVELS[::-1]))
        ),
    }


@pytest.mark.parametrize("form", list(forms(table())))
def test_one_table_in_all_forms_gives_the_same_bits(form):
    features, expected = Features.learn(table()), Features.learn(table()).transform(table())
    other = forms(table())[form]
    assert Features.learn(other) == features
    np.testing.assert_array_equal(features.transform(other), expected)


def test_tables_without_names_give_the_same_bits():
    frame = table()
    expected = Features.learn(frame).transform(frame)
    numbers = frame[["age", "size"]].to_numpy()
    masked = np.ma.masked_array(np.nan_to_num(numbers, nan=999.0), np.isnan(numbers))
    for X in (frame.to_numpy(object), frame.to_numpy(object).tolist(), frame.set_axis(range(5), axis=1)):
        features = Features.learn(X)
        assert features.names_in is None
        assert features.n_features_in == 5
        np.testing.assert_array_equal(features.transform(X), expected)
    columns = [Features.learn(frame).names_out.index(name) for name in ("age", "size", "size missing")]
    np.testing.assert_array_equal(Features.learn(masked).transform(masked), expected[:, columns])


def test_pyarrow_columns_give_the_same_bits():
    pytest.importorskip("pyarrow")
    frame = table()
    other = frame.convert_dtypes(dtype_backend="pyarrow")
    np.testing.assert_array_equal(Features.learn(other).transform(other), Features.learn(frame).transform(frame))


class OnlyAnArray:
    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


@pytest.mark.parametrize("make", [np.asfortranarray, np.asmatrix, OnlyAnArray, np.ndarray.tolist, lambda X: X[:, :]])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_arrays_of_all_sorts(make):
    X = RNG.normal(size=(20, 3))
    X.setflags(write=False)
    before = X.copy()
    np.testing.assert_array_equal(Features.learn(make(X)).transform(make(X)), Features.learn(X).transform(X))
    np.testing.assert_array_equal(X, before)


def test_text_arrays():
    for X in (np.array([["a", "x"], ["b", "y"]]), np.array([["a", "x"], ["b", "y"]], np.dtypes.StringDType())):
        np.testing.assert_array_equal(Features.learn(X).transform(X), [[1, 0, 1, 0], [0, 1, 0, 1]])


# ---- laws ----


@given(st.lists(st.integers(0, 59), min_size=1, max_size=80), st.sampled_from([None, 1.0]))
def test_a_row_does_not_depend_on_the_others(rows, clip):
    frame = table()
    features = Features.learn(frame, clip=clip)
    np.testing.assert_array_equal(features.transform(frame.iloc[rows]), features.transform(frame)[rows])
    X = frame[["age", "nodes"]].to_numpy()
    numbers = Features.learn(X)
    np.testing.assert_array_equal(numbers.transform(np.asfortranarray(X)[rows]), numbers.transform(X)[rows])


@given(st.permutations(range(60)))
def test_the_order_of_training_rows_does_not_matter(rows):
    one, other = Features.learn(table()), Features.learn(table().iloc[rows])
    assert one.names_out == other.names_out
    np.testing.assert_allclose(one.transform(table()), other.transform(table()), rtol=1e-6, atol=1e-6)


def test_shapes_names_and_types_agree():
    features = Features.learn(table())
    found = features.transform(table())
    assert found.dtype == np.float32
    assert found.flags.c_contiguous
    assert found.shape == (60, features.width) == (60, len(features.names_out))
    assert features.names_in == tuple(table().columns)
    assert features.names_out == [
        "age",
        "nodes",
        *(f"grade={level}" for level in LEVELS),
        "treated",
        "size",
        "size missing",
    ]


def test_summary_says_how_columns_are_used():
    frame = table().assign(same=1.0)
    with pytest.warns(UserWarning, match="hold one value only: column 'same'"):
        features = Features.learn(frame)
    uses = {line.name: (line.use, line.gaps) for line in features.summary()}
    assert uses["age"][0] == "number, scaled"
    assert uses["grade"] == ("4 levels", "none of the levels")
    assert uses["size"][1] == f"filled with {frame['size'].median():g}, with an indicator"
    assert uses["same"] == ("left out: constant", "")
    assert Features.learn(frame[["age"]], scale=False).summary()[0].use == "number"
    assert Features.learn(frame[["grade"]], max_levels=2).summary()[0].use == "2 levels and the rest as one"


def test_outside_marks_what_training_had_not_shown():
    features = Features.learn({"age": [40, 70, None], "grade": ["I", "II", "I"]})
    found = features.outside({"age": [39.9, 40, 70, 71, None], "grade": ["I", "III", None, "II", "I"]})
    expected = [[True, False], [False, True], [False, False], [True, False], [False, False]]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == bool
    assert not Features.learn(table()).outside(table()).any()


def test_outside_of_a_column_left_out_is_nothing():
    features = quietly(Features.learn, {"same": [1, 1], "age": [1, 2]})
    np.testing.assert_array_equal(features.outside({"same": [5, 5], "age": [0, 1]}), [[False, True], [False, False]])


def test_little_memory_beyond_the_result():
    X = RNG.normal(size=(100_000, 20))
    tracemalloc.start()
    try:
        features = Features.learn(X)
        learning = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        out = features.transform(X)
        transforming = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    column = X.nbytes / 20
    assert learning < 5 * column
    assert transforming < out.nbytes + 5 * column


# ---- warnings of training ----


def test_columns_left_out_are_told_once_a_kind():
    frame = table().assign(a=1, b="same", c=np.nan, d=None, e=[f"patient {row}" for row in range(60)])
    with pytest.warns(UserWarning, match="leaves out") as caught:
        features = Features.learn(frame, owner="Model")
    assert [str(warning.message) for warning in caught] == [
        "Model leaves out columns that hold one value only: column 'a', column 'b'.",
        "Model leaves out columns that hold no values: column 'c', column 'd'.",
        "Model leaves out columns that hold text that differs in every row, as identifiers do: column 'e'. "
        "To keep one, list it in categorical.",
    ]
    assert [type(plan) for plan in features.columns[-5:]] == [LeftOut] * 5
    expected = Features.learn(table()).transform(table())
    np.testing.assert_array_equal(features.transform(frame.assign(a=2, e=datetime.date(2020, 1, 1))), expected)
    assert caught[0].filename == __file__


NAMES = [f"Person {row}" for row in range(95)]
NEARLY_UNIQUE = {
    "names, some twice": [*NAMES, *NAMES[:5]],
    "names with gaps": [*NAMES[:60], *NAMES[:10], *[None] * 30],
    "notes, mostly empty": [*["none"] * 60, *(f"note of visit {row}" for row in range(40))],
}
CATEGORIES = {
    "hospitals of ten rows": [f"hospital {row % 10}" for row in range(100)],
    "forty hospitals of ten rows": [f"hospital {row % 40}" for row in range(400)],
    "a long tail of rare codes": [*(f"code {row % 30}" for row in range(240)), *(f"rare {row}" for row in range(60))],
    "twenty rare levels": [*(f"level {row % 19}" for row in range(19)), "level 19", "level 19"],
}


@pytest.mark.parametrize("case", NEARLY_UNIQUE)
def test_nearly_unique_text_is_left_out_and_can_be_kept(case):
    frame = {"text": NEARLY_UNIQUE[case], "age": np.arange(100.0) % 7}
    with pytest.warns(LeftOutWarning, match="as names and notes do: column 'text'. To keep one, list it in cat") as w:
        features = Features.learn(frame, owner="Model")
    assert [warning.message.columns for warning in w] == [("text",)]
    assert features.names_out == ["age"]
    assert features.summary()[0].use == "left out: nearly unique"
    assert Features.from_dict(json.loads(json.dumps(features.to_dict()))) == features
    kept = Features.learn(frame, categorical=["text"])
    assert kept.width > 20


@pytest.mark.parametrize("case", CATEGORIES)
def test_categories_with_rare_levels_stay(case):
    text = CATEGORIES[case]
    features = Features.learn({"text": text})
    assert features.width == min(len(set(text)), 51)


def test_a_column_that_is_left_out_need_not_be_there_later():
    frame = {"name": NEARLY_UNIQUE["names, some twice"], "age": np.arange(100.0) % 7, "same": np.ones(100)}
    features = quietly(Features.learn, frame)
    expected = features.transform(frame)
    np.testing.assert_array_equal(features.transform({"age": frame["age"]}), expected)
    np.testing.assert_array_equal(features.outside({"age": frame["age"]}), np.zeros((100, 3), bool))
    with pytest.raises(DataError, match="missing:\n- age\n") as refused:
        features.transform({"name": frame["name"]})
    assert "- same" not in str(refused.value)


def test_numbers_that_look_like_identifiers_are_kept_and_told():
    frame = table().assign(number=RNG.permutation(60) + 1000, patientId=RNG.permutation(1000)[:60])
    with pytest.warns(
        UserWarning, match="look like identifiers: column 'number', column 'patientId'. If they are, drop them"
    ):
        features = Features.learn(frame)
    assert isinstance(features.columns[-1], Number)


def test_few_rows_or_repeats_are_no_identifiers():
    Features.learn({"id": range(19)})
    Features.learn({"id": [*range(30), 3]})
    Features.learn({"x": np.arange(30) * 2.0})
    Features.learn({"name": [f"n{row}" for row in range(19)]})
    Features.learn({"name": [f"n{row % 30}" for row in range(60)]})
    assert Features.learn({"name": [f"n{row}" for row in range(30)]}, categorical=["name"]).width == 30


def test_nothing_left_is_no_error():
    with pytest.warns(UserWarning, match="one value only: column 0, column 1"):
        features = Features.learn(np.ones((5, 2)))
    assert features.width == 0
    assert features.transform(np.zeros((3, 2))).shape == (3, 0)


def test_all_gaps_in_a_listed_column_leave_it_out():
    with pytest.warns(UserWarning, match="hold no values: column 1"):
        features = Features.learn([[1, np.nan], [2, np.nan]], categorical=[1])
    assert features.width == 1


# ---- warnings of prediction ----


def test_unknown_levels_are_told_once():
    features = Features.learn({"grade": ["I", "II", "I"], "site": ["x", "y", "x"], "age": [1, 2, 3]})
    new = {"grade": ["V", "I", "VI"], "site": ["x", "z", "x"], "age": [1, 2, 3]}
    with pytest.warns(UserWarning, match="levels") as caught:
        found = features.transform(new)
    assert [str(warning.message) for warning in caught] == [
        "levels that training had not shown, read as none of the levels: "
        "column 'grade' in 2 of 3 rows ('V', 'VI'); column 'site' in 1 of 3 rows ('z')."
    ]
    np.testing.assert_array_equal(found[:, :4], [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
    with pytest.warns(UserWarning, match=r"4 of 4 rows \('a', 'b', 'c', …\)"):
        features.transform({"grade": ["a", "b", "c", "d"], "site": ["x"] * 4, "age": [1] * 4})


def test_new_gaps_are_told_once():
    features = Features.learn({"grade": ["I", "II", "I"], "age": [1.0, 4.0, 2.0]}, scale=False)
    with pytest.warns(UserWarning, match="gaps") as caught:
        found = features.transform({"grade": ["I", None], "age": [None, 3.0]})
    assert [str(warning.message) for warning in caught] == [
        "gaps where training had none: column 'grade' in 1 of 2 rows (none of the levels); "
        "column 'age' in 1 of 2 rows (filled with 2)."
    ]
    np.testing.assert_array_equal(found, [[1, 0, 2], [0, 0, 3]])
    assert caught[0].filename == __file__


def test_names_on_one_side_only_are_told():
    named, unnamed = Features.learn({"a": [1, 2]}), Features.learn([[1], [2]])
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Model was fitted with feature names"
    ):
        named.transform([[1]], owner="Model")
    with pytest.warns(UserWarning, match="X has feature names, but Model was fitted without feature names"):
        unnamed.transform({"a": [1]}, owner="Model")


# ---- refusals ----


def deep() -> list:
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def mixed(entry: object) -> np.ndarray:
    X = RNG.normal(size=(6, 2)).astype(object)
    X[3, 1] = entry
    return X


class UnknownFrame:
    columns = ([1, 2], [3, 4])

    def __len__(self):
        return 2


REFUSED_TABLES = {
    "one dimension": ([1, 2], r"Expected 2D array, got 1D array instead.*Reshape your data"),
    "series": (pd.Series([1, 2]), "Reshape your data"),
    "no dimension": (3.0, "Expected 2D array, got scalar array instead"),
    "three dimensions": (np.zeros((2, 2, 2)), "Found array with dim 3"),
    "no rows": (
        np.zeros((0, 3)),
        r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.",
    ),
    "no columns": (np.zeros((4, 0)), r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required\."),
    "frame without rows": (pd.DataFrame({"a": []}), r"Found array with 0 sample\(s\)"),
    "empty dict": ({}, r"0 feature\(s\)"),
    "ragged": ([[1, 2], [3]], "X cannot be read as a table.*equal length"),
    "structured": (np.zeros(3, [("a", float)]), "must not be a structured array"),
    "sparse matrix": (scipy.sparse.csr_matrix(np.eye(3)), "X must be dense, but is a sparse matrix"),
    "sparse array": (scipy.sparse.coo_array(np.eye(3)), "X must be dense, but is a sparse matrix"),
    "lazy": (pl.LazyFrame({"a": [1, 2]}), "is a LazyFrame, which has not read them yet. Collect it first"),
    "unknown frame": (UnknownFrame(), "X must be a frame of a known kind"),
    "same name twice": (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a' occurs twice"),
    "unequal columns": ({"a": [1, 2], "b": [1]}, r"a column of X has 1 values, but column 'a' has 2 \(column 'b'\)"),
    "nested columns": (
        {"a": np.zeros((3, 2))},
        r"a column of X must be one column, but its shape is \(3, 2\) .*\(column 'a'\)",
    ),
    "complex": (np.ones((3, 2), complex), r"Complex data not supported: .*\(column 0\)"),
    "complex entry": (mixed(2j), r"Complex data not supported: .*\(column 1\)"),
    "inf": (
        np.array([[1.0, 2.0], [3.0, -np.inf]]),
        r"covariates must be finite, but 1 of 2 values is not, first -inf \(column 1, row 1\)",
    ),
    "inf and NaN": ([[np.nan], [np.inf], [np.inf]], r"2 of 3 values are not, first inf \(column 0, row 1\)"),
    "too large": (mixed(10**400), r"covariates must be finite, but no float can hold 1000.*\(column 1, row 3\)"),
    "signalling": (mixed(Decimal("sNaN")), r"no float can hold sNaN \(column 1, row 3\)"),
    "date entry": (
        mixed(datetime.date(2020, 1, 2)),
        r"this is the date 2020-01-02 \(column 1, row 3\). Subtract a start date",
    ),
    "numpy date entry": (mixed(np.datetime64("NaT", "D")), r"this is the date .*\(column 1, row 3\)"),
    "clock entry": (mixed(datetime.time(3)), r"this is the date 03:00:00 \(column 1, row 3\)"),
    "span entry": (
        mixed(datetime.timedelta(2)),
        r"this is the time span 2 days.*\(column 1, row 3\).*Divide by one unit",
    ),
    "numpy span entry": (mixed(np.timedelta64(2, "D")), r"this is the time span 2 days \(column 1, row 3\)"),
    "dates": (
        pd.DataFrame({"seen": pd.date_range("2020", periods=3)}),
        r"this is the date 2020-01-01.*\(column 'seen', row 0\)",
    ),
    "zoned": (
        pd.DataFrame({"seen": pd.date_range("2020", periods=3, tz="UTC")}),
        r"this is the date .*\(column 'seen', row 0\)",
    ),
    "spans": (
        pl.DataFrame({"wait": [datetime.timedelta(3)] * 2}),
        r"this is the time span 259200000000 microseconds \(column 'wait', row 0\)",
    ),
    "bytes": (np.array([[b"a"], [b"b"]]), r"this is the bytes b'a' \(column 0, row 0\). Decode"),
    "bytes entry": (mixed(b"a"), r"this is the bytes b'a' \(column 1, row 3\). Decode"),
    "dict entry": (mixed({"foo": "bar"}), r"argument must be a string or a number.*\(column 1, row 3\)"),
    "list entry": (mixed([1]), r"this is .1. of type list .*\(column 1, row 3\)"),
    "array entry": (mixed(np.ones(2)), r"this is .* of type ndarray .*\(column 1, row 3\)"),
    "deep entry": (mixed({"a": deep()}), r"this is a value of type dict .*\(column 1, row 3\)"),
    "interval": (pd.DataFrame({"band": pd.cut([1.0, 2.0, 9.0], 2)}), "of type Interval.*such as its text"),
    "numbers as text": (
        {"a": ["1.5", "2", "n/a"]},
        r"the column holds numbers mixed with text, first 'n/a' \(column 'a', row 2\)",
    ),
    "only numbers as text": (
        {"a": ["1.5", "2", None]},
        r"the column holds numbers as text, first '1.5' \(column 'a', row 0\). Convert",
    ),
    "text among numbers": (mixed("1.5"), r"the column holds numbers as text, first '1.5' \(column 1, row 3\)"),
    "a word among numbers": (mixed("unknown"), r"holds numbers mixed with text, first 'unknown' \(column 1, row 3\)"),
}


@pytest.mark.parametrize("case", REFUSED_TABLES)
def test_tables_that_are_refused(case):
    X, message = REFUSED_TABLES[case]
    with pytest.raises(DataError, match=f"(?s){message}"):
        Features.learn(X)


def test_what_scikit_learn_calls_a_type_error_is_one():
    for X in (mixed({"foo": "bar"}), pd.DataFrame({"a": [1, 2], 3: [4, 5]})):
        with pytest.raises(TypeError, match=r"argument must be .* string.* number|Feature names are only supported"):
            Features.learn(X)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"categorical": "age"}, ParameterError, r"Give \['age'\]"),
        ({"categorical": ["agee"]}, UnknownNameError, "Did you mean 'age'"),
        ({"categorical": [2]}, ParameterError, "positions from 0 to 1, but lists 2"),
        ({"categorical": [-1]}, ParameterError, "lists -1"),
        ({"categorical": [True]}, ParameterError, "lists True"),
        ({"clip": 0}, ParameterError, "clip must be a number above 0 or None, but is 0"),
        ({"clip": np.inf}, ParameterError, "but is inf"),
        ({"clip": np.nan}, ParameterError, "but is nan"),
        ({"clip": "5"}, ParameterError, "but is '5'"),
        ({"max_levels": 0}, ParameterError, "max_levels must be a whole number from 1 on, but is 0"),
        ({"max_levels": 2.5}, ParameterError, "but is 2.5"),
        ({"bins": -1}, ParameterError, r"bins must be a whole number from 0 to 1000 \(0: none\), but is -1"),
        ({"bins": 8.0}, ParameterError, "but is 8.0"),
        ({"bins": True}, ParameterError, "but is True"),
    ],
)
def test_settings_that_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Features.learn({"age": [1, 2], "size": [3, 4]}, **settings)


def test_a_name_for_a_table_without_names_is_refused():
    with pytest.raises(UnknownNameError, match="without names; give positions"):
        Features.learn([[1, 2], [3, 4]], categorical=["age"])


@pytest.mark.parametrize("value", [np.inf, 2**64, Decimal("Infinity")])
def test_levels_must_be_finite(value):
    with pytest.raises(DataError, match=r"covariates must be finite, but this is .* \(column 'a', row 1\)"):
        Features.learn({"a": np.array([1, value, 1], object)}, categorical=["a"])


def test_columns_that_changed_their_kind_are_refused():
    features = Features.learn({"age": [1, 2, 3], "grade": ["I", "II", "I"], "site": [1, 2, 2]}, categorical=["site"])
    good = {"age": [1, 2], "grade": ["I", "I"], "site": [1, 1]}
    for change, message in (
        (
            {"age": [1, "old"]},
            r"the column held numbers in training, but now holds the text 'old' \(column 'age', row 1\)\. Put a gap",
        ),
        (
            {"age": ["1", "2"]},
            r"the column held numbers in training, but now holds the text '1' \(column 'age', row 0\)\. Convert",
        ),
        (
            {"age": ["1", "old"]},
            r"the column held numbers in training, but now holds the text 'old' \(column 'age', row 1\)\. Put a gap",
        ),
        (
            {"grade": ["I", 2]},
            r"the column held text in training, but now holds the number 2 \(column 'grade', row 1\)\.",
        ),
        (
            {"grade": [1.5, 2]},
            r"the column held text in training, but now holds the number 1.5 \(column 'grade', row 0\)\.",
        ),
        (
            {"site": [1, "1"]},
            r"the column held numbers in training, but now holds the text '1' \(column 'site', row 1\)\.",
        ),
        ({"age": [1, np.inf]}, r"covariates must be finite, .*\(column 'age', row 1\)"),
    ):
        for method in (features.transform, features.outside):
            with pytest.raises(DataError, match=message):
                method(good | change)


def test_other_columns_than_in_training_are_refused():
    features = Features.learn({"age": [1, 2], "size": [3, 4]})
    start = "The feature names should match those that were passed during fit.\n"
    for names, message in (
        (
            ["age"],
            "Feature names seen at fit time, yet now missing:\n- size\nGive the columns of training: 'age', 'size'.",
        ),
        (
            ["age", "Size"],
            "Feature names unseen at fit time:\n- Size\nFeature names seen at fit time, yet now missing:\n- size\n"
            "Is 'Size' what was 'size' in training? ",
        ),
        (["age", *"abcdef"], "Feature names unseen at fit time:\n- a\n- b\n- c\n- d\n- e\n- ...\nFeature names seen"),
    ):
        with pytest.raises(DataError) as caught:
            features.transform(pd.DataFrame(1, index=range(2), columns=names))
        assert str(caught.value).startswith(start + message)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_columns_go_by_name(frame):
    rows = {"age": [1.0, 2.0, 5.0], "grade": ["I", "II", "I"], "size": [3.0, 4.0, 9.0]}
    features = Features.learn(frame(rows))
    expected = features.transform(frame(rows))
    for order in itertools.permutations(rows):
        given = frame({name: rows[name] for name in order})
        np.testing.assert_array_equal(features.transform(given), expected)
        np.testing.assert_array_equal(features.transform_exactly(given), features.transform_exactly(frame(rows)))
        assert not features.outside(given).any()
    more = {"id": ["x", "y", "z"], **dict(reversed(rows.items())), "time": [1.0, 2.0, 3.0]}
    with pytest.warns(UserWarning, match="X has columns that Model was not fitted to, which are not used: column 'id'"):
        found = features.transform(frame(more), owner="Model")
    np.testing.assert_array_equal(found, expected)


def test_another_number_of_columns_is_refused():
    features = Features.learn(np.eye(3)[:, :2])
    with pytest.raises(DataError, match="X has 3 features, but Model is expecting 2 features as input"):
        features.transform(np.eye(3), owner="Model")


# ---- scikit-learn's own checks ----


class Sum(RegressorMixin, BaseEstimator):
    """The least estimator that reads its covariates by Features."""

    def fit(self, X, y):
        self.features_ = Features.learn(X, owner="Sum")
        self.n_features_in_ = self.features_.n_features_in
        if self.features_.named:
            self.feature_names_in_ = np.array(self.features_.names_in, object)
        return self

    def predict(self, X):
        return self.features_.transform(X, owner="Sum").sum(axis=1)


@pytest.mark.parametrize(
    "check",
    [
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_dtypes",
        "check_estimators_empty_data_messages",
        "check_fit1d",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in_after_fitting",
        "check_readonly_memmap_input",
    ],
)
def test_estimators_pass_the_checks_of_scikit_learn(check):
    quietly(getattr(estimator_checks, check), "Sum", Sum())


# ---- plain data ----


def rich_features() -> Features:
    frame = table().assign(same=1, site=RNG.integers(1, 9, 60), flag=[True, None] * 30, score=[0.5, 1.5, 2.5] * 20)
    frame["city"] = [f"city {row // 2}" for row in range(60)]
    return quietly(Features.learn, frame, categorical=["site", "score"], clip=4, max_levels=6)


def test_plain_data_gives_the_same_bits():
    frame = table(500, seed=3)
    for settings in (
        {},
        {"clip": 2.5},
        {"max_levels": 2},
        {"categorical": ["nodes", "treated"]},
        {"scale": False},
        {"bins": 5},
    ):
        features = Features.learn(frame, **settings)
        back = Features.from_dict(json.loads(json.dumps(features.to_dict(), allow_nan=False)))
        assert back == features
        assert Features.from_dict(features.to_dict()) == features
        np.testing.assert_array_equal(back.transform(frame), features.transform(frame))
        assert back.summary() == features.summary()


def test_levels_keep_their_types():
    X = np.array([["1"], [2], [2.5], [True], ["x"], ["y"], ["z"]], object)
    features = Features.learn(X, categorical=[0])
    back = Features.from_dict(json.loads(json.dumps(features.to_dict())))
    (plan,) = back.columns
    assert isinstance(plan, Levels)
    assert [(type(level), level) for level in plan.levels] == [
        (bool, True),
        (int, 2),
        (float, 2.5),
        (str, "1"),
        (str, "x"),
        (str, "y"),
        (str, "z"),
    ]


def test_whole_numbers_may_lose_their_point():
    features = Features.learn([[0.0], [2.0]], clip=3.0)
    text = json.dumps(features.to_dict()).replace(".0", "")
    assert "." not in text
    assert Features.from_dict(json.loads(text)) == features


def plain_number(**changes):
    column = Features.learn({"a": [1.0, 2.0, 4.0]}).to_dict()["columns"][0]
    return {"named": True, "clip": None, "columns": [column | changes]}


def plain_levels(**changes):
    column = Features.learn({"a": ["x", "y"]}).to_dict()["columns"][0]
    return {"named": True, "clip": None, "columns": [column | changes]}


REFUSED_PLAIN = {
    "no object": ([], "features must be an object, but are of type list"),
    "nothing": ({}, "features lacks 'clip', 'columns', 'named'"),
    "unknown key": (plain_number() | {"x" * 500: 1}, "features has the unknown key 'x{59}…'"),
    "named": (plain_number() | {"named": 1}, "named must be true or false, but is of type int"),
    "clip": (plain_number() | {"clip": -1.0}, "clip must be positive, but is -1"),
    "clip text": (plain_number() | {"clip": "1"}, "clip must be a finite number, but is of type str"),
    "no columns": (plain_number() | {"columns": []}, "columns must be a list that is not empty"),
    "columns no list": (plain_number() | {"columns": {"a": 1}}, "columns must be a list"),
    "column no object": (plain_number() | {"columns": [3]}, "column 0 must be an object whose kind is"),
    "kind": (plain_number(kind="code"), "column 0 must be an object whose kind is one of 'number'"),
    "kind no text": (plain_number(kind=["number"]), "kind is one of"),
    "twice": (plain_number() | {"columns": plain_number()["columns"] * 2}, "names of columns must differ"),
    "unnamed": (plain_number() | {"named": False}, "must be called x0, x1"),
    "key": (plain_number(extra=1), "column 0 has the unknown key 'extra'"),
    "name": (plain_number(name=None), "name must be text, but is of type NoneType"),
    "NaN": (plain_number(mean=float("nan")), "mean must be a finite number, but is nan"),
    "inf": (plain_number(high=float("inf")), "high must be a finite number, but is inf"),
    "huge": (plain_number(high=10**5000), "high must be a finite number, but is of type int"),
    "bool": (plain_number(mean=True), "mean must be a finite number, but is of type bool"),
    "deep": (plain_number(mean=deep()), "mean must be a finite number, but is of type list"),
    "scale": (plain_number(scale=0.0), "scale must be positive, but is 0"),
    "order": (plain_number(low=5.0), "low < high with the median between them"),
    "median": (plain_number(median=9.0), "low < high with the median between them"),
    "knots no list": (plain_number(knots="123"), "knots must be a list of 3 to 1001 numbers"),
    "few knots": (plain_number(knots=[1.0, 2.0]), "knots must be a list of 3 to 1001 numbers"),
    "knot text": (plain_number(knots=[1.0, 2.0, "4"]), "knots must be a finite number, but is of type str"),
    "knots fall": (plain_number(knots=[1.0, 4.0, 2.0]), "knots must increase"),
    "knots meet": (plain_number(knots=[1.0, 1.0, 2.0]), "knots must increase"),
    "gaps": (plain_number(gaps=None), "gaps must be true or false, but is of type NoneType"),
    "levels": (plain_levels(levels=[]), "levels must be a list that is not empty"),
    "levels no list": (plain_levels(levels="xy"), "levels must be a list"),
    "level no pair": (plain_levels(levels=[["text"]]), "level 0 must be a pair"),
    "level type": (plain_levels(levels=[["code", "x"]]), "level 0 must have a type out of 'text'"),
    "level type deep": (plain_levels(levels=[[deep(), "x"]]), "level 0 must be a pair"),
    "level value": (plain_levels(levels=[["text", 3]]), "level 0 must be text, but is of type int"),
    "level bool": (plain_levels(levels=[["bool", 1]]), "level 0 must be true or false"),
    "level integer": (plain_levels(levels=[["integer", 1.5]]), "level 0 must be an integer of 64 bits, but is 1.5"),
    "level large": (plain_levels(levels=[["integer", 2**64]]), "level 0 must be an integer of 64 bits"),
    "level NaN": (plain_levels(levels=[["number", float("nan")]]), "level 0 must be a finite number, but is nan"),
    "level twice": (plain_levels(levels=[["integer", 1], ["number", 1.0]]), "levels must differ"),
    "other": (plain_levels(other="no"), "other must be true or false"),
    "reason": (
        {"named": True, "clip": None, "columns": [{"kind": "left out", "name": "a", "reason": "dull"}]},
        "reason must be one of 'constant'",
    ),
}


@pytest.mark.parametrize("case", REFUSED_PLAIN)
def test_plain_data_that_is_refused(case):
    plain, message = REFUSED_PLAIN[case]
    with pytest.raises(DataError, match=message) as caught:
        Features.from_dict(plain)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(2**70),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def places(plain: object, path: tuple = ()) -> list[tuple]:
    inner = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))][0 if path else 1 :]


RICH = rich_features().to_dict()
PLACES = places(RICH)


@given(st.sampled_from(PLACES), st.sampled_from(["replace", "remove", "repeat"]), anything)
def test_damaged_plain_data_is_refused_or_read(place, damage, value):
    plain = copy.deepcopy(RICH)
    inside = plain
    for key in place[:-1]:
        inside = inside[key]
    if damage == "replace":
        inside[place[-1]] = value
    elif damage == "remove":
        del inside[place[-1]]
    elif isinstance(inside, list):
        inside.append(inside[place[-1]])
    else:
        inside[f"{place[-1]} again"] = inside[place[-1]]
    try:
        features = Features.from_dict(plain)
    except DataError:
        return
    # What is read is whole: it transforms to finite numbers and can be written again.
    row = {plan.name: [plan.levels[0]] if isinstance(plan, Levels) else [1.0] for plan in features.columns}
    found = quietly(features.transform, row)
    assert found.shape == (1, len(features.names_out))
    assert np.isfinite(found).all()
    assert Features.from_dict(json.loads(json.dumps(features.to_dict(), allow_nan=False))) == features


@given(anything)
def test_any_other_plain_data_is_refused(plain):
    with pytest.raises(DataError):
        Features.from_dict(plain)


def test_widths_are_counts_of_names():
    table = {
        "age": [40, 50, None, 60],
        "grade": ["I", "II", None, "III"],
        "site": ["a", "b", "c", "a"],
        "same": [1, 1, 1, 1],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        features = Features.learn(table, max_levels=2, bins=2)
    assert [plan.width for plan in features.columns] == [len(plan.names_out) for plan in features.columns]
    assert features.width == len(features.names_out)
