"""Columns learned in parts against the same columns learned as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv.columns import Features, column_summary
from aldsurv.columns.column_learning import learn_column
from aldsurv.columns.column_plans import LeftOut, Levels, Number
from aldsurv.columns.column_summary import ColumnSummary
from aldsurv.errors import DataError
from aldsurv.notices import muted

generator = np.random.default_rng(0)
N = 500


def text(values):
    return np.array(values, object)


COLUMNS = {
    "normal": generator.normal(3, 2, N),
    "single": generator.normal(3, 2, N).astype(np.float32),
    "gaps": np.where(generator.random(N) < 0.3, np.nan, generator.exponential(1e-5, N)),
    "gaps at the start": np.r_[np.full(200, np.nan), generator.normal(size=N - 200)],
    "huge": generator.choice([-1.7e308, 1.7e308, 0.0], N),
    "tiny": generator.normal(size=N) * 1e-300,
    "far": 1e9 + generator.normal(size=N),
    "whole": generator.integers(0, 5, N),
    "flag": generator.random(N) < 0.2,
    "constant": np.full(N, 4.0),
    "ticked": np.where(generator.random(N) < 0.5, 1.0, np.nan),
    "nothing": np.full(N, np.nan),
    "text": text(generator.choice(["a", "b", None, "c"], N)),
    "one text": text(["a"] * N),
    "key": text([f"k{k}" for k in range(N)]),
    "notes": text([f"k{k % 300}" for k in range(N)]),
    "many": text([f"v{int(k)}" for k in generator.exponential(30, N)]),
    "bools and gaps": text(generator.choice([True, False, None], N)),
    "patient": generator.permutation(N) * 3.0,
    "count": np.arange(N, dtype=np.float64),
}


def learned_in_parts(raw, name, cuts, **options):
    parts = [ColumnSummary.of(part, name, as_levels=options["listed"]) for part in np.split(raw, cuts) if len(part)]
    order = generator.permutation(len(parts))
    total = parts[order[0]]
    for k in order[1:]:
        total = total.merged(parts[k], name)
    return total.plan(raw, name, name, **options)


@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_learned_in_parts_is_learned_as_a_whole(name, listed):
    raw, cuts = COLUMNS[name], np.sort(generator.integers(0, N, 6))
    options = {"listed": listed, "categorical": False, "scale": True, "max_levels": 50, "bins": 4, "exact": True}
    if listed and name == "huge":
        options["max_levels"] = 2
    whole = learn_column(raw, name, name, **options)
    parts = learned_in_parts(raw, name, cuts, **options)
    assert parts.looks_like_identifier == whole.looks_like_identifier
    if isinstance(whole.plan, Number):
        # Nothing but the mean and the deviation is rounded.
        same = {**whole.plan.to_dict(), "mean": 0, "scale": 0}
        assert {**parts.plan.to_dict(), "mean": 0, "scale": 0} == same
        rounding = 1e-15 * max(1.0, abs(whole.plan.mean) / whole.plan.scale)
        np.testing.assert_allclose(parts.plan.scale, whole.plan.scale, rtol=100 * rounding)
        assert abs(parts.plan.mean - whole.plan.mean) <= 100 * rounding * whole.plan.scale
    else:
        assert parts.plan == whole.plan
        assert parts.plan.to_dict() == whole.plan.to_dict()


def test_medians_of_a_sample_are_within_the_error_stated():
    values = generator.exponential(1, 200_000)
    sample = values[generator.permutation(len(values))[:5000]]
    plan = ColumnSummary.of(values, "x", as_levels=False).plan(
        sample, "x", "x", listed=False, categorical=False, scale=True, max_levels=50, bins=0
    )
    from aldsurv.tables.parts import rank_error

    assert abs((values <= plan.plan.median).mean() - 0.5) < rank_error(5000, 0.999999)


def test_levels_beyond_those_counted_are_bounded(monkeypatch):
    monkeypatch.setattr(column_summary, "MOST_LEVELS", 10)
    common = [f"c{k % 3}" for k in range(300)]
    rare = [f"r{k}" for k in range(100)]
    raw = text(np.array(common + rare)[np.random.default_rng(1).permutation(400)].tolist())
    total = ColumnSummary.of(raw[:50], "x", as_levels=False)
    for start in range(50, 400, 50):
        total = total.merged(ColumnSummary.of(raw[start : start + 50], "x", as_levels=False), "x")
    assert len(total.levels) <= 10
    assert 0 < total.dropped <= 400 / 11
    for level in ("c0", "c1", "c2"):
        assert 100 - total.dropped <= total.levels[level] <= 100
    options = {"listed": False, "categorical": False, "scale": True, "max_levels": 3, "bins": 0}
    assert total.plan(raw, "x", "x", **options).plan == Levels("x", ("c0", "c1", "c2"), gaps=False, other=True)
    # Of mostly rare levels it is the sample that tells.
    notes = text([f"r{k}" for k in range(400)])
    parts = ColumnSummary.of(notes, "x", as_levels=False)
    assert parts.plan(notes[:100], "x", "x", **options).plan == LeftOut("x", "identifier")


def test_whole_numbers_and_floats_are_the_same_levels():
    one = ColumnSummary.of(np.array([1, 2, 2]), "code", as_levels=True)
    other = ColumnSummary.of(np.array([2.0, np.nan]), "code", as_levels=True)
    options = {"listed": True, "categorical": False, "scale": True, "max_levels": 50, "bins": 0}
    for total in (one.merged(other, "code"), other.merged(one, "code")):
        plan = total.plan(np.array([1.0]), "code", "code", **options).plan
        whole = learn_column(np.array([1, 2, 2, 2.0, np.nan]), "code", "code", **options).plan
        assert plan.to_dict() == whole.to_dict()


def test_numbers_and_text_in_parts_of_one_column_are_refused():
    numbers = ColumnSummary.of(np.array([1.0]), "x", as_levels=False)
    words = ColumnSummary.of(text(["a"]), "x", as_levels=False)
    with pytest.raises(DataError, match="numbers in some parts, and in others such as 'a'") as caught:
        numbers.merged(words, "x")
    assert caught.value.column == "x"
    digits = ColumnSummary.of(text(["1", "2"]), "x", as_levels=False)
    options = {"listed": False, "categorical": False, "scale": True, "max_levels": 50, "bins": 0}
    with pytest.raises(DataError, match="numbers as text"):
        digits.plan(text(["1"]), "x", "x", **options)


def test_features_of_summaries_are_those_of_the_table():
    names = [name for name in COLUMNS if name != "huge"]
    table = {name: COLUMNS[name] for name in names}
    with muted():
        whole = Features.learn(table, categorical=["whole"], clip=5.0, bins=4, exact=True)
        parts = Features.of_summaries(
            {name: ColumnSummary.of(raw, name, as_levels=name == "whole") for name, raw in table.items()},
            table,
            categorical=["whole"],
            clip=5.0,
            bins=4,
            exact=True,
        )
        np.testing.assert_allclose(parts.transform(table), whole.transform(table), atol=1e-6)
    assert parts.names_out == whole.names_out
    assert (parts.named, parts.clip) == (whole.named, whole.clip)
