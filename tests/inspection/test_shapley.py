"""Shapley values against the definition over all subsets, the package shap, and their laws."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError, ParameterError
from aldsurv.inspection import shapley_values
from aldsurv.inspection.background_rows import typical_rows
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.inspection.mixed_rows import _same
from aldsurv.models import CoxRegression, LogNormalAFT
from inspection.known_causes import KnownCauses, drawn_rows
from inspection.known_rates import KnownRates, drawn_table, survival

FROZEN = json.loads((Path(__file__).parent / "frozen" / "shap.json").read_text(encoding="utf-8"))
TIMES = FROZEN["times"]


def by_definition(predict, x, background):
    """Weighted mean gain of each column over all subsets of the others (d, m), subset by subset."""
    count = x.size

    def worth(subset):
        mixed = background.copy()
        mixed[:, list(subset)] = x[list(subset)]
        return predict(mixed).mean(axis=0)

    values = []
    for column in range(count):
        others = [other for other in range(count) if other != column]
        gains = [
            (worth((*subset, column)) - worth(subset)) / (count * comb(count - 1, size))
            for size in range(count)
            for subset in combinations(others, size)
        ]
        values.append(sum(gains))
    return np.array(values)


def test_four_columns_are_exact():
    table = drawn_table(24, 4)
    explained = shapley_values(KnownRates(), table[:4], times=TIMES, background=table[4:], sample=20)
    for row in range(4):
        expected = by_definition(lambda x: survival(x, TIMES), table[row], table[4:])
        np.testing.assert_allclose(explained.values[row], expected, rtol=0, atol=1e-14)
    assert (explained.errors == 0).all()
    # The last column does nothing.
    np.testing.assert_allclose(explained.values[:, -1], 0.0, atol=1e-15)


@pytest.mark.parametrize(("key", "rows", "columns"), [("four_columns", 4, 4), ("ten_columns", 2, 10)])
def test_equal_to_the_package_shap(key, rows, columns):
    table = drawn_table({4: 24, 10: 16}[columns], columns)
    explained = shapley_values(
        KnownRates(columns), table[:rows], times=TIMES, background=table[rows:], method="exact", sample=20
    )
    np.testing.assert_allclose(explained.values, FROZEN[key], rtol=0, atol=1e-12)


def test_sampled_values_are_within_their_errors():
    table = drawn_table(16, 10)
    exact = np.array(FROZEN["ten_columns"])
    missed, stated = [], []
    for seed in range(20):
        explained = shapley_values(KnownRates(10), table[:2], times=TIMES, background=table[2:], random_state=seed)
        missed.append((explained.values - exact) ** 2)
        stated.append(explained.errors**2)
    # Mean squared error and stated variance of each value over the seeds, where an order matters at all.
    missed, stated = np.mean(missed, axis=0), np.mean(stated, axis=0)
    there = stated > 1e-20
    assert there.sum() >= 48
    np.testing.assert_allclose(missed[~there], 0.0, atol=1e-20)
    assert 0.7 < np.median(missed[there] / stated[there]) < 1.4


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 100), st.sampled_from(["exact", "sampled"]))
def test_values_add_up(columns, background, seed, method):
    table = np.random.default_rng(seed).normal(size=(background + 2, max(columns, 3)))
    explained = shapley_values(
        KnownRates(table.shape[1]), table[:2], background=table[2:], method=method, random_state=seed
    )
    np.testing.assert_allclose(explained.base + explained.values.sum(axis=1), explained.predicted, rtol=0, atol=1e-10)
    np.testing.assert_allclose(explained.predicted, survival(table[:2], explained.times), atol=1e-12)
    assert explained.times[-1] == 10.0
    assert len(explained.times) == 20


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    x = {
        "age": rng.normal(60, 9, 150).round(),
        "grade": rng.choice(np.array(["I", "II", "III", None], object), 150),
        "size": np.where(rng.random(150) < 0.1, np.nan, rng.gamma(3, 9, 150)),
    }
    time = rng.weibull(1.4, 150) * np.exp(4 - 0.03 * x["age"] + (x["grade"] == "I"))
    return x, SurvivalData.right(time, rng.random(150) < 0.7)


@pytest.mark.parametrize("model", [CoxRegression(), LogNormalAFT()], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("asked", [{}, {"summary": "restricted_mean"}, {"since": 2.0}, {"times": 3.0, "since": 1.0}])
def test_text_and_gaps_are_explained(people, model, asked):
    x, y = people
    fitted = model.fit(x, y)
    explained = shapley_values(fitted, {name: column[:3] for name, column in x.items()}, background=x, **asked)
    assert explained.names == ("age", "grade", "size")
    total = explained.base + explained.values.sum(axis=1)
    np.testing.assert_allclose(total, explained.predicted, rtol=0, atol=1e-10)
    predicted = fitted.predict_distribution({name: column[:3] for name, column in x.items()})
    if "since" in asked:
        times = explained.times
        expected = predicted.survival(times) / predicted.survival(asked["since"])[:, None]
        np.testing.assert_allclose(explained.predicted, expected, atol=1e-9)


def test_a_row_may_be_a_dict_of_values(people):
    x, y = people
    model = LogNormalAFT().fit(x, y)
    one = shapley_values(model, {"age": 70, "grade": "I", "size": None}, times=[2.0], background=x)
    columns = {"age": np.array([70]), "grade": np.array(["I"], object), "size": np.array([np.nan])}
    np.testing.assert_allclose(one.values, shapley_values(model, columns, times=[2.0], background=x).values, atol=1e-12)
    with pytest.raises(ParameterError, match="background must have the columns of X, but has no column 'grade'"):
        shapley_values(model, columns, background={"age": x["age"]})


def test_median_of_a_known_rate():
    table = drawn_table(10, 4)
    explained = shapley_values(KnownRates(), table[:2], summary="median", background=table[2:])
    expected = by_definition(lambda x: np.log(2) / -np.log(survival(x, [1.0])), table[0], table[2:])
    np.testing.assert_allclose(explained.values[0], expected, rtol=1e-9, atol=1e-12)
    assert explained.times is None
    assert explained.target == "median"


@pytest.mark.parametrize("since", [None, 2.0])
def test_causes_and_survival_add_up(since):
    x, _ = drawn_rows(12)
    parts = [shapley_values(KnownCauses(), x, cause=cause, times=[3.0, 9.0], since=since) for cause in ("relapse", 2)]
    event_free = shapley_values(KnownCauses(), x, times=[3.0, 9.0], since=since)
    np.testing.assert_allclose(sum(part.values for part in parts) + event_free.values, 0.0, atol=1e-10)
    assert parts[0].target.startswith("probability of relapse")


def test_the_sample_of_the_background_has_its_mean():
    table = drawn_table(900, 4)
    explained = shapley_values(KnownRates(), table[:1], times=TIMES, background=table)
    np.testing.assert_allclose(explained.base, survival(table, TIMES).mean(axis=0), atol=0.02)
    assert explained.background_rows == 20


@pytest.mark.parametrize(("columns", "method"), [(4, "exact"), (6, "sampled")])
def test_values_of_a_sample_of_the_background_are_within_their_errors(columns, method):
    table = drawn_table(400, columns)
    rows, model = table[:20], KnownRates(columns)
    truth = shapley_values(model, rows, times=TIMES, background=table, sample=400, method="exact")
    assert (truth.errors == 0).all()
    explained = shapley_values(model, rows, times=TIMES, background=table, method=method)
    missed = np.abs(explained.values - truth.values)
    assert (missed <= 2 * explained.errors + 1e-12).mean() > 0.9
    # Errors that hold because they are far too large would say nothing.
    assert np.sqrt((missed**2).mean()) > 0.2 * np.sqrt((explained.errors**2).mean())
    np.testing.assert_allclose(explained.base + explained.values.sum(axis=1), explained.predicted, rtol=0, atol=1e-10)


def test_chosen_rows_stand_for_all():
    rng = np.random.default_rng(1)
    x = {
        **{f"x{k}": rng.normal(size=500) for k in range(5)},
        "grade": rng.choice(np.array(["I", "II", None], object), 500, p=[0.6, 0.3, 0.1]),
        "same": np.ones(500),
    }
    predicted = 0.1 * x["x0"][:, None] + (x["grade"] == "I")[:, None]
    chosen = typical_rows(predicted, CovariateTable.of(x), 20)
    assert len(set(chosen.tolist())) == 20
    assert (np.diff(predicted[chosen, 0]) >= 0).all()
    assert abs(np.mean(x["grade"][chosen] == "I") - np.mean(x["grade"] == "I")) <= 0.05
    # Means of 20 rows drawn at random have a standard error of 0.22.
    apart = [x[f"x{k}"][chosen].mean() - x[f"x{k}"].mean() for k in range(5)]
    assert np.sqrt(np.mean(np.square(apart))) < 0.12


def test_equal_rows_are_predicted_once():
    class Counting(KnownRates):
        seen = 0

        def predict_distribution(self, X):
            Counting.seen += len(X)
            return super().predict_distribution(X)

    table = (drawn_table(19, 6) > 0).astype(float)
    explained = shapley_values(Counting(6), table[:3], times=TIMES, background=table[3:])
    for row in range(3):
        expected = by_definition(lambda x: survival(x, TIMES), table[row], table[3:])
        np.testing.assert_allclose(explained.values[row], expected, rtol=0, atol=1e-14)
    # 62 subsets of each of 16 background rows for each of 3 rows, if none were equal.
    assert Counting.seen < 62 * 16 * 3 / 2


def test_gaps_of_one_kind_are_equal():
    values = np.array([None, float("nan"), "a", "b"], object)
    assert _same(values, None).tolist() == [True, False, False, False]
    assert _same(values, float("nan")).tolist() == [False, True, False, False]
    assert _same(values, "a").tolist() == [False, False, True, False]
    assert _same(np.array([1.0, np.nan]), np.nan).tolist() == [False, True]


def test_a_model_of_one_column_gives_it_everything():
    table = drawn_table(9, 3)[:, :1]
    x, usual = {"age": table[:2, 0]}, {"age": table[2:, 0]}
    drawn = drawn_table(60, 2)
    model = LogNormalAFT().fit({"age": drawn[:, 0]}, (np.exp(drawn.sum(axis=1)), np.ones(60, bool)))
    for method in ("exact", "sampled"):
        explained = shapley_values(model, x, times=[1.0], background=usual, method=method)
        expected = (
            model.predict_distribution(x).survival([1.0]) - model.predict_distribution(usual).survival([1.0]).mean()
        )
        np.testing.assert_allclose(explained.values[:, 0], expected, atol=1e-12)
        np.testing.assert_allclose(explained.errors, 0.0, atol=1e-15)


def test_rows_can_be_chosen():
    table = drawn_table(9, 4)
    explained = shapley_values(KnownRates(), table, times=TIMES)
    two = explained[[4, 1]]
    np.testing.assert_array_equal(two.values, explained.values[[4, 1]])
    np.testing.assert_array_equal(two.columns[2], table[[4, 1], 2])
    assert len(explained[3]) == 1
    np.testing.assert_allclose(explained.importance, np.abs(explained.values).mean(axis=0))
    assert explained.order[-1] == 3


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"summary": "mode"}, "summary must be"),
        ({"summary": "median", "times": [1.0]}, "cannot be combined"),
        ({"times": [-1.0]}, "times must be numbers from 0 on"),
        ({"times": [1.0], "since": 2.0}, "times must be numbers from 2"),
        ({"since": 50.0}, "before the end of follow-up"),
        ({"horizon": 3.0}, "horizon"),
        ({"summary": "median", "horizon": 3.0}, "horizon"),
        ({"method": "kernel"}, "method must be"),
        ({"repeats": 0}, "repeats must be"),
        ({"repeats": 1, "method": "sampled"}, "repeats must be 2 or more"),
        ({"sample": 1}, "sample must be"),
        ({"cause": 1}, "cause"),
        ({"background": np.zeros((3, 2))}, "background must have the 4 columns"),
        ({"background": np.zeros((0, 4))}, "no rows"),
        ({"times": "soon"}, "times must be numbers, but are 'soon'"),
        ({"summary": "restricted_mean", "since": 3.0, "horizon": 2.0}, "horizon must be after since"),
    ],
)
def test_bad_requests(asked, message):
    with pytest.raises(AldsurvError, match=message):
        shapley_values(KnownRates(), drawn_table(4, 4), **asked)


def test_exact_of_many_columns_is_refused():
    with pytest.raises(ParameterError, match="at most 15 columns"):
        shapley_values(KnownRates(16), drawn_table(4, 16), method="exact")


def test_an_infinite_median_is_refused(people):
    x = {"age": people[0]["age"]}
    time = np.r_[np.arange(1.0, 11.0), np.full(140, 12.0)]
    model = CoxRegression().fit(x, SurvivalData.right(time, time < 11))
    with pytest.raises(ParameterError, match=r"infinite for .* rows"):
        shapley_values(model, x, summary="median")
