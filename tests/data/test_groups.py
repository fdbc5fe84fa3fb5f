"""Groups of rows: labels of any kind, carried through everything that makes data of data."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import SurvivalData
from aldsurv.data.group_column import group_numbers
from aldsurv.errors import DataError, ParameterError

LABELS = st.one_of(st.text(max_size=3), st.integers(0, 3), st.sampled_from([-7, 2.5, 1.0, True, 2**70, b"x"]))


def of(labels, **columns) -> SurvivalData:
    n = len(labels)
    return SurvivalData.right(np.arange(1.0, n + 1), np.arange(n) % 2, group=labels, **columns)


@given(st.lists(LABELS, min_size=1, max_size=12))
def test_rows_are_of_one_group_where_labels_are_equal(labels):
    column = np.empty(len(labels), object)
    column[:] = labels
    data = of(column)
    expected = [[one == other for other in labels] for one in labels]
    np.testing.assert_array_equal(data.group[:, None] == data.group, expected)
    assert data.n_groups == len(set(labels))
    # The numbers are those of any other table, and are labels of themselves.
    np.testing.assert_array_equal(of(column[::-1]).group, data.group[::-1])
    np.testing.assert_array_equal(data.with_group(data.group).group, data.group)
    # Numbered in the order of their first rows.
    order = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    assert group_numbers(data.group).tolist() == [order[label] for label in labels]


def test_every_constructor_takes_groups():
    labels, time, event = list("abca"), [1, 2, 3, 4], [1, 0, 1, 1]
    frame = pd.DataFrame({"t": time, "e": event, "who": labels})
    for data in (
        SurvivalData.right(time, event, group=labels),
        SurvivalData.left(time, event, group=labels),
        SurvivalData.interval(time, np.inf * np.ones(4), group=pd.Series(labels, dtype="category")),
        SurvivalData.competing(time, [1, 0, 2, 1], group=labels),
        SurvivalData.from_frame(frame, time="t", event="e", group="who"),
        SurvivalData(np.array(time, float), np.array(time, float), group=labels),
    ):
        assert data.n_groups == 3
        assert data.summary().endswith(", 3 groups")
        assert data.group[0] == data.group[3]
    assert SurvivalData.right(time, event).n_groups == 4


def test_groups_go_with_the_rows():
    data = SurvivalData.competing([1, 2, 3, 4], [1, 0, 2, 1], group=list("abca"), entry=[0] * 4)
    codes = data.group
    pickled = pickle.loads(pickle.dumps(data))  # noqa: S301
    for same in (data.scaled(2), data.with_weight([1, 0, 1, 1]), data.of_cause(1), copy.deepcopy(data), pickled):
        np.testing.assert_array_equal(same.group, codes)
        assert not same.group.flags.writeable
    np.testing.assert_array_equal(data[[3, 1]].group, codes[[3, 1]])
    np.testing.assert_array_equal(SurvivalData.concatenate([data[:1], data[1:]]).group, codes)
    assert data.with_group(None).group is None
    # Rows of data without groups stand for themselves beside those that have some.
    joined = SurvivalData.concatenate([of(["a", "a"]), of(["a", "a"]).with_group(None)])
    assert joined.n_groups == 3
    np.testing.assert_array_equal(joined.group < 0, [False, False, True, True])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels_are_refused_with_their_row(missing):
    with pytest.raises(DataError, match="group must be known in every row, but 1 of 3 values is not") as caught:
        of(np.array(["a", missing, "b"], object))
    assert caught.value.row == 1


def test_wrong_labels():
    with pytest.raises(DataError, match="time has 2 values, but group has 3"):
        of([1, 2]).with_group([1, 2, 3])
    with pytest.raises(DataError, match="group must hold plain labels"):
        of(np.array([[1], {}, "b"], object))


@given(st.lists(st.integers(-1, 6), min_size=4, max_size=40), st.floats(0.05, 0.9), st.integers(0, 9))
def test_a_split_keeps_groups_whole(labels, share, seed):
    labels = np.array(labels)
    data = of(labels)
    if not 0 < round(share * len(data)) < len(data):
        return
    if data.n_groups == 1:
        with pytest.raises(ParameterError, match="rows are of one group"):
            data.split_rows(share, random_state=seed)
        return
    train, test = data.split_rows(share, random_state=seed)
    assert len(train)
    assert len(test)
    assert sorted([*train, *test]) == list(range(len(data)))
    assert not set(labels[train]) & set(labels[test]) - {-1}
    largest = np.bincount(group_numbers(data.group)).max()
    assert abs(len(test) - share * len(data)) <= max(largest, 1)


def test_groups_of_one_row_change_nothing():
    data = of(np.arange(30) * 5)
    for rows, others in zip(data.split_rows(random_state=3), data.with_group(None).split_rows(random_state=3)):  # noqa: B905
        np.testing.assert_array_equal(rows, others)


def test_events_are_spread_over_both_sides():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 150, 600)
    data = SurvivalData.right(rng.exponential(size=600), rng.random(600) < 0.3, group=group)
    for seed in range(5):
        train, test = data.split(0.25, random_state=seed)
        assert abs(len(test) - 150) <= 4
        assert abs(test.n_events - 0.25 * data.n_events) <= 4
        assert not set(train.group) & set(test.group)


def test_large_groups_are_as_often_held_out_as_small_ones():
    """The mean size of the groups on the smaller side is that of all, to within what chance does."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(100), np.tile([1, 2, 3, 14], 25))
    data = SurvivalData.right(rng.exponential(size=500), rng.random(500) < 0.5, group=group)
    of_large = [np.bincount(np.bincount(data.split(0.2, random_state=k)[1].group), minlength=15)[14] for k in range(40)]
    # A fifth of 25.
    assert 4 < np.mean(of_large) < 6
