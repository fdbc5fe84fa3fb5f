"""Rows of one person stay on one side of every split that the library makes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from aldsurv import CoxRegression, SurvivalData, WeibullAFT
from aldsurv.columns.row_copies import find_copies, find_groups
from aldsurv.data.rows.row_splitting import keep_together
from aldsurv.datasets import read_table
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.rows.member_rows import split_for_members
from aldsurv.models.wrappers.cross_fitting import choose_parts
from aldsurv.tuning.score import even_folds
from aldsurv.tuning.search import search_fingerprint, tune


def visits(n: int = 60, persons: int = 15, seed: int = 0) -> tuple[np.ndarray, SurvivalData]:
    """Several rows of each person, whose times and columns differ."""
    rng = np.random.default_rng(seed)
    who = rng.permutation(np.arange(n) % persons)
    x = rng.normal(size=(n, 2)) + who[:, None]
    return x, SurvivalData.right(rng.exponential(size=n), rng.random(n) < 0.6, group=who)


def on_both_sides(data: SurvivalData, held: np.ndarray) -> set[int]:
    rest = np.setdiff1d(np.arange(len(data)), held)
    return set(data.group[held].tolist()) & set(data.group[rest].tolist()) - {-1}


@given(st.lists(st.integers(-1, 8), min_size=20, max_size=40), st.lists(st.integers(0, 14), min_size=20, max_size=20))
def test_groups_and_copies_are_joined_as_a_graph_has_it(labels, repeated):
    rng = np.random.default_rng(1)
    n = len(labels)
    row = np.arange(n)
    row[:20] = np.where(np.array(repeated) < 10, np.array(repeated), np.arange(20))
    values, time = rng.random(n), rng.random(n)
    x, data = values[row][:, None], SurvivalData.right(time[row], np.ones(n), group=labels)
    found, copies = find_groups(x, data), find_copies(x, data)
    if copies is None:
        # Chance, or a row that is more than a tenth of all: then groups alone count.
        copies = np.full(n, -1)
    linked = (data.group[:, None] == data.group) & (data.group >= 0)
    known = linked.copy()
    linked |= (copies[:, None] == copies) & (copies >= 0)
    np.fill_diagonal(linked, True)
    _, component = connected_components(csr_array(linked))
    joined = np.arange(n) if found is None else np.where(found < 0, n + np.arange(n), found)
    together = joined[:, None] == joined
    # Never apart what the user put together, and never together what nothing links.
    assert together[known].all()
    equal = row[:, None] == row
    _, largest = connected_components(csr_array(linked | equal))
    assert not together[largest[:, None] != largest].any()
    if not equal[known & ~np.eye(n, dtype=bool)].any() and component.max() > 0:
        # No copies within a group: then it is the graph of both.
        np.testing.assert_array_equal(together, component[:, None] == component)


def test_copies_within_persons_do_not_link_persons_that_are_alike_by_chance():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 4)
    # A sex, an age group and whole years: many persons are alike; each has the same row four times.
    x, time, event = rng.integers(0, 3, (60, 2))[who], rng.integers(1, 9, 60)[who], (rng.random(60) < 0.5)[who]
    found = find_groups(x, SurvivalData.right(time, event, group=who))
    np.testing.assert_array_equal(found, who)


@given(
    st.lists(st.tuples(st.integers(-1, 9), st.booleans()), min_size=6, max_size=60),
    st.integers(2, 6),
    st.integers(0, 9),
)
def test_parts_of_mixed_groups(rows, n_parts, seed):
    groups, events = np.array([label for label, _ in rows]), np.array([event for _, event in rows])
    rng = np.random.default_rng(seed)
    before, order = np.arange(len(rows)) % n_parts, rng.permutation(len(rows))
    after = keep_together(before, groups, events, order)
    for label in set(groups.tolist()) - {-1}:
        assert len(set(after[groups == label])) == 1
    units = len(set(groups.tolist()) - {-1}) + int((groups < 0).sum())
    assert len(set(after)) == min(len(set(before)), units)


def test_parts_have_their_share_of_rows_and_events():
    rng = np.random.default_rng(2)
    groups, events = rng.integers(0, 120, 600), rng.random(600) < 0.25
    order = rng.permutation(600)
    parts = keep_together(np.arange(600) % 5, groups, events, order)
    sizes, observed = np.bincount(parts), np.bincount(parts, events)
    assert np.ptp(sizes) <= 6
    assert np.ptp(observed) <= 6


@pytest.mark.parametrize("persons", [15, 6, 3, 2])
@pytest.mark.parametrize(("share", "members"), [(0.2, 5), (0.3, 4), (0.1, 12), (0.5, 1)])
def test_members_hold_persons_out_whole(persons, share, members):
    for seed in range(3):
        x, data = visits(persons=persons, seed=seed)
        data = data.with_weight(np.where(np.arange(60) < 5, 0.0, 1.0))
        rows = split_for_members(data, share, members, np.random.default_rng(seed), find_groups(x, data))
        assert len(rows.train) == len(rows.validation) == members
        for train, held in zip(rows.train, rows.validation, strict=True):
            np.testing.assert_array_equal(np.sort(np.r_[train, held]), np.arange(5, 60))
            assert not set(data.group[train].tolist()) & set(data.group[held].tolist())
            assert len(held)
            assert data.exact[train].any()
    if persons == 15 and members > 1 and share * members <= 1:
        # Enough persons for every member to hold out others.
        held = np.concatenate(rows.validation)
        assert len(np.unique(held)) == len(held)


@pytest.mark.parametrize("persons", [15, 4, 2])
def test_cross_fitting_and_tuning(persons):
    x, data = visits(persons=persons)
    for parts in (
        choose_parts(data, folds=5, validation=None, seed=0, X=x),
        choose_parts(data, folds=5, validation=0.3, seed=0, X=x),
        even_folds(data, 5, 0, x),
    ):
        assert all(len(part) and not on_both_sides(data, part) for part in parts)
    assert len(parts) == min(persons, 5)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(60))
    if persons == 15:
        assert [len(part) for part in parts] == [12] * 5


def test_a_person_with_most_rows_is_kept_whole():
    x, data = visits()
    who = np.where(np.arange(60) < 40, 99, data.group)
    data = data.with_group(who)
    for parts in (choose_parts(data, folds=5, validation=None, seed=0, X=x), even_folds(data, 5, 0, x)):
        assert len(parts) == 5
        assert not any(on_both_sides(data, part) for part in parts)
    rows = split_for_members(data, 0.2, 5, np.random.default_rng(0), find_groups(x, data))
    assert all(not on_both_sides(data, held) for held in rows.validation)
    assert all(data.exact[train].any() for train in rows.train)


def test_one_group_or_all_events_in_one():
    x, data = visits()
    one = data.with_group(np.zeros(60))
    for split in (
        lambda rows: split_for_members(rows, 0.2, 2, np.random.default_rng(0), find_groups(x, rows)),
        lambda rows: choose_parts(rows, folds=5, validation=None, seed=0, X=x),
        lambda rows: tune(WeibullAFT, x, rows, trials=1),
    ):
        with pytest.raises(DataError, match="group"):
            split(one)
    alone = SurvivalData.right(data.time, data.event, group=np.where(data.event, 0, 1))
    with pytest.raises(DataError, match="all events, are of one group"):
        # Half of the rows out: the part with the events leaves nothing to learn from.
        split_for_members(alone[data.event], 0.5, 1, np.random.default_rng(0), np.zeros(data.n_events, np.int64))
    for _, held in (
        (k, split_for_members(alone, 0.2, 5, np.random.default_rng(k), find_groups(x, alone))) for k in (0, 1)
    ):
        assert all(alone.exact[train].all() for train in held.train)
    with pytest.raises(DataError, match="one has all rows or all events"):
        tune(WeibullAFT, x, alone, trials=1)
    with pytest.raises(DataError, match="events are of one group"):
        choose_parts(alone, folds=5, validation=None, seed=0, X=x)


@pytest.mark.parametrize("name", ["ald", "boosted_ald", "recalibrated", "icald_calibrated", "conformal", "xgboost_cox"])
def test_models_hold_persons_out_whole(name, monkeypatch):
    """Every table that a model within sees, and every part that it holds out, has persons as a whole."""
    pytest.importorskip("torch")
    from aldsurv.models.adapters import xgboost_trees
    from aldsurv.models.neural.fitting import prepare
    from aldsurv.models.rows import member_rows
    from aldsurv.models.trees import fit_trees
    from aldsurv.models.wrappers import level_correction
    from aldsurv.models.wrappers.conformal import ConformalLowerBound
    from aldsurv.registry import MODELS

    if name in ("boosted_ald", "xgboost_cox"):
        pytest.importorskip("xgboost")
    seen = []

    def split_and_note(data, *arguments):
        rows = member_rows.split_for_members(data, *arguments)
        seen.extend((data, held) for held in rows.validation)
        return rows

    for module in (prepare, fit_trees, level_correction, xgboost_trees):
        monkeypatch.setattr(module, "split_for_members", split_and_note)
    kind = {"conformal": ConformalLowerBound, "xgboost_cox": xgboost_trees.XGBoostCox}.get(name) or MODELS.load(name)
    cheap = {"members": 2, "max_epochs": 2, "max_rounds": 2, "n_estimators": 2, "random_state": 0, "progress": False}
    given = {key: value for key, value in (cheap | {"folds": 2}).items() if key in kind.parameter_defaults()}
    if "estimator" in kind.parameter_defaults():
        given["estimator"] = MODELS.load("ald")(members=1, max_epochs=1, progress=False)
        given |= {"censoring": given["estimator"]} if name == "conformal" else {}
    x, data = visits()
    kind(**given).fit(x, data.with_group(None), groups=[f"p{who}" for who in data.group])
    assert seen
    for rows, held in seen:
        assert len(held)
        assert not on_both_sides(rows, held)
        # All rows that a person has, or none.
        whole = np.bincount(data.group)
        sizes = np.unique(rows.group, return_counts=True)[1]
        assert set(sizes.tolist()) <= set(whole.tolist())


def test_groups_in_fit():
    x, data = visits()
    bare = data.with_group(None)
    model = CoxRegression().fit(x, bare, groups=data.group)
    assert model.trained_on_.groups == 15
    assert "60 of 15 groups" in model.summary()
    assert CoxRegression().fit(x, data, groups=data.group * 3 + 1).trained_on_ == model.trained_on_
    np.testing.assert_array_equal(model.standardised_, CoxRegression().fit(x, bare).standardised_)
    with pytest.raises(ParameterError, match="groups differs from the groups that y has"):
        CoxRegression().fit(x, data, groups=data.group[::-1])
    with pytest.raises(DataError, match="y has 60 values, but groups has 2"):
        CoxRegression().fit(x, data, groups=[1, 2])
    first, other = (search_fingerprint(WeibullAFT, x, rows) for rows in (data, bare))
    assert first != other


@settings(max_examples=10)
@given(st.integers(2, 20), st.integers(0, 5))
def test_tables_are_split_by_person(tmp_path_factory, persons, seed):
    x, data = visits(persons=persons, seed=seed)
    path = tmp_path_factory.mktemp("split") / "visits.csv"
    lines = [
        f"{who:03d},{a},{t},{int(e)}" for who, a, t, e in zip(data.group, x[:, 0], data.time, data.event, strict=True)
    ]
    path.write_text("\n".join(["who,a,time,event", *lines]) + "\n")
    table = read_table(path, time="time", event="event", group="who")
    assert list(table.x) == ["a"]
    assert table.y.n_groups == persons
    train, test = table.split(0.3, random_state=seed)
    assert len(train) + len(test) == 60
    assert not set(train.y.group.tolist()) & set(test.y.group.tolist())


def test_leading_zeros_tell_persons_apart(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("id,a,time,event\n01,2,3,1\n1,3,4,0\n01,5,6,1\n")
    assert read_table(path, time="time", event="event", group="id").y.n_groups == 2
