"""What a dataset is, the catalogue, and splits."""

from __future__ import annotations

import pickle
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv import datasets
from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets import Dataset
from aldsurv.datasets.splitting import generator_for, group_test_rows
from aldsurv.errors import DataError, MissingDependencyError, ParameterError, UnknownNameError

# The paper's table: features, rows for training and testing, censored share.
PAPER = """
norm_linear,1,500,1000,0.20
norm_nonlinear,1,500,1000,0.24
exponential,1,500,1000,0.30
weibull,1,500,1000,0.22
lognorm,1,500,1000,0.21
norm_uniform,1,500,1000,0.62
norm_heavy,4,2000,1000,0.80
norm_med,4,2000,1000,0.49
norm_light,4,2000,1000,0.25
norm_same,4,2000,1000,0.50
lognorm_heavy,8,4000,1000,0.75
lognorm_med,8,4000,1000,0.52
lognorm_light,8,4000,1000,0.23
lognorm_same,8,4000,1000,0.50
metabric,9,1523,381,0.42
whas,6,1310,328,0.57
support,14,7098,1775,0.32
gbsg,7,1785,447,0.42
tmbimmuno,3,1328,332,0.49
breastmsk,5,1467,367,0.77
lgggbm,5,510,128,0.60
"""
TABLE = [line.split(",") for line in PAPER.split()]


def made(groups, *, name="gbsg", n_test=1, n_train=4):
    """A dataset of rows that can be told apart, in groups."""
    n = len(groups)
    info = replace(datasets.describe(name), n_train=n_train, n_test=n_test, feature_names=("row",))
    y = SurvivalData.right(np.arange(n) + 1.0, np.arange(n) % 2)
    return Dataset(np.arange(n, dtype=float)[:, None], y, info, groups=np.asarray(groups))


def test_the_datasets_are_those_of_the_paper_in_its_order():
    assert datasets.names(paper=True) == [row[0] for row in TABLE]
    assert datasets.names() == [*datasets.names(paper=True), "rotterdam"]
    for name, features, n_train, n_test, censored in TABLE:
        info = datasets.describe(name)
        assert (info.n_features, info.n_train, info.n_test) == (int(features), int(n_train), int(n_test))
        assert info.censored_in_paper == float(censored)


@pytest.mark.parametrize("name", datasets.names())
def test_every_dataset_is_described(name):
    info = datasets.describe(name)
    assert info.name == name
    assert info.rows == info.n_train + info.n_test
    assert 0 < info.censored < 1
    text = str(info)
    assert text.startswith(f"{name}: ")
    for words in (f"{info.rows} (", info.unit, info.feature_names[0], "licence", "cite", "source"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 110
    assert info.source
    assert info.licence
    if info.kind == "synthetic":
        assert (info.unit, info.file, info.definition) == ("no unit", None, "printed")
    else:
        assert info.unit in ("days", "months")
        assert info.definition is None
        assert info.file is not None or info.packaged
    if info.file is not None:
        assert len(info.sha256) == 64
        assert (info.url is None) == (info.how is not None) == (info.page is not None)
        assert (info.url or info.page).startswith("https://")
        assert (info.file in text) == (not info.packaged)


@pytest.mark.parametrize("call", [datasets.load, datasets.describe, datasets.load_split])
def test_an_unknown_name_gets_a_suggestion(call):
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'metabrick'. Did you mean 'metabric'\?"):
        call("metabrick")
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'zzz'\. Known: norm_linear, norm_nonlinear, "):
        call("zzz")
    with pytest.raises(UnknownNameError, match="unknown dataset 3"):
        call(3)


def test_real_data_have_the_rows_they_have():
    with pytest.raises(ParameterError, match="n_train and n_test are for synthetic datasets, but gbsg is real"):
        datasets.load("gbsg", n_test=10)


def test_rows_are_chosen_together():
    data = datasets.load("norm_linear")
    mask = data.y.event
    for rows in (slice(3, 9), [5, 2, 2], mask, 7, -1, np.array([]), []):
        part = data[rows]
        numbers = np.atleast_1d(np.arange(len(data))[rows if len(np.atleast_1d(rows)) else slice(0)])
        assert len(part) == len(numbers)
        np.testing.assert_array_equal(part.x, data.x[numbers])
        np.testing.assert_array_equal(part.y.time, data.y.time[numbers])
        np.testing.assert_array_equal(part.truth.mean(), data.truth.mean()[numbers])
        np.testing.assert_array_equal(part.event_time, data.event_time[numbers])
        np.testing.assert_array_equal(part.censoring_time, data.censoring_time[numbers])
        assert part.info is data.info
    np.testing.assert_array_equal(made([4, 4, 1])[1:].groups, [4, 1])
    with pytest.raises(ParameterError, match="mask"):
        data[[True, False]]
    with pytest.raises(IndexError):
        data[1500]


def test_a_dataset_cannot_be_changed():
    data = made([0, 1, 2])
    with pytest.raises(FrozenInstanceError):
        data.x = data.x
    for array in (data.x, data.groups, data.y.time, datasets.load("weibull").event_time):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    own = np.ones((3, 1))
    Dataset(own, data.y, data.info)
    own[0] = 2.0


def test_every_row_has_all_its_parts():
    data = made([0, 1, 2])
    with pytest.raises(DataError, match="x must have one row for each of 3 times, but has 2"):
        Dataset(np.ones((2, 1)), data.y, data.info)
    with pytest.raises(DataError, match="truth must have one row for each of 3 times, but has 1500"):
        replace(data, truth=datasets.load("weibull").truth)


def test_words_about_a_dataset():
    data = datasets.load("gbsg")
    assert str(data) == "gbsg: n=2232, 1267 events (57 %), time 0.263–87.4 (months), 7 features"
    assert repr(data) == "Dataset('gbsg', n=2232)"
    assert data.feature_names[3] == "age"
    again = pickle.loads(pickle.dumps(datasets.load("weibull")[:5]))  # noqa: S301
    np.testing.assert_array_equal(again.truth.mean(), datasets.load("weibull")[:5].truth.mean())


def test_frames_have_named_columns(monkeypatch):
    data = datasets.load("gbsg")[:4]
    frame = data.frame()
    assert list(frame.columns) == data.feature_names
    np.testing.assert_array_equal(frame.to_numpy(), data.x)
    whole = data.frame(outcome=True)
    assert list(whole.columns) == [*data.feature_names, "time", "event"]
    assert whole["event"].dtype == bool
    np.testing.assert_array_equal(whole["time"], data.y.time)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        data.frame()


def test_what_reads_files_is_loaded_on_first_use():
    assert datasets.fetch.__name__ == "fetch"
    assert {"fetch", "read_table", "load"} <= set(dir(datasets))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = datasets.nothing


# ---- splits ---------------------------------------------------------------------------------------------------


def row_numbers(part):
    return set(part.x[:, 0].astype(int).tolist())


@given(st.integers(2, 400), st.integers(0, 2**40))
def test_a_split_by_row_parts_the_rows(n, seed):
    data = made(np.arange(n))
    train, test = data.split(seed)
    assert row_numbers(train) | row_numbers(test) == set(range(n))
    assert len(train) + len(test) == n
    assert len(test) == int(np.ceil(n / 5))
    assert (np.diff(train.x[:, 0]) > 0).all()
    again = data.split(seed)
    np.testing.assert_array_equal(again[1].x, test.x)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=200).filter(lambda g: len(set(g)) > 1), st.integers(0, 999))
def test_a_group_is_never_on_both_sides(groups, seed):
    data = made(groups)
    train, test = data.split(seed, by="group")
    assert row_numbers(train) | row_numbers(test) == set(range(len(groups)))
    assert not set(train.groups) & set(test.groups)
    assert 0 < len(test) < len(groups)
    largest = np.bincount(groups).max()
    assert abs(len(test) - np.ceil(len(groups) / 5)) <= max(largest / 2, min(np.bincount(groups)[list(set(groups))]))


def test_the_test_part_comes_as_near_as_whole_groups_allow():
    for seed in range(20):
        generator = generator_for(seed, "any")
        # Two of ten rows: one group of three is nearer than none, and one of four is not nearer than one of one.
        assert group_test_rows(np.repeat([0, 1, 2], [3, 3, 4]), 2, generator).sum() == 3
        assert group_test_rows(np.repeat([0, 1, 2], [1, 4, 5]), 2, generator).sum() == 1
        assert group_test_rows(np.repeat([0, 1], [5, 5]), 2, generator).sum() == 5
        assert group_test_rows(np.repeat([0, 1], [1, 9]), 6, generator).sum() == 1
    with pytest.raises(ParameterError, match='by="group" needs two groups or more'):
        made([3, 3, 3]).split(by="group")


def test_without_groups_every_row_is_its_own():
    data = datasets.load("gbsg")
    for one, other in zip(data.split(3), data.split(3, by="group"), strict=True):
        np.testing.assert_array_equal(one.x, other.x)


def test_every_row_is_as_likely_to_be_tested():
    groups = np.repeat(np.arange(200), 5)
    for by in ("row", "group"):
        hits = np.zeros(1000)
        for seed in range(200):
            hits[made(groups).split(seed, by=by)[1].x[:, 0].astype(int)] += 1
        per_group = hits.reshape(200, 5).sum(axis=1) / 5
        # Binomial counts of 200 draws at 0.2, averaged over five rows or over one group.
        assert hits.mean() == 40
        assert per_group.std() < (4 if by == "row" else 8)
        assert per_group.min() > 12


def test_events_fall_as_they_fall():
    data = datasets.load("gbsg")
    shares = [data.split(seed)[1].y.event.mean() for seed in range(100)]
    # Hypergeometric: a stratified split would have a spread of less than 0.001.
    expected = np.sqrt(0.5677 * 0.4323 / 447 * (2232 - 447) / 2231)
    assert 0.75 < np.std(shares) / expected < 1.25


def test_the_sizes_of_the_paper_also_for_parts_of_a_dataset():
    data = datasets.load("norm_med")
    assert [len(part) for part in data.split(9)] == [2000, 1000]
    assert [len(part) for part in data[:30].split(9)] == [20, 10]
    with pytest.raises(ParameterError, match="1 rows cannot be split"):
        data[:1].split()


def test_runs_of_the_paper():
    first, second = (datasets.load_split("weibull", seed=seed, definition="released") for seed in (0, 1))
    assert [len(part) for part in first] == [500, 1000]
    assert not set(first[0].x[:, 0]) & set(second[0].x[:, 0])
    assert first[0].info.definition == "released"
    for one, other in zip(datasets.load_split("gbsg", seed=2), datasets.load("gbsg").split(2), strict=True):
        np.testing.assert_array_equal(one.x, other.x)


def test_how_a_split_is_asked_for():
    data = made([0, 1, 2])
    with pytest.raises(ParameterError, match="by must be 'row' or 'group', but is 'patient'"):
        data.split(by="patient")
    with pytest.raises(ParameterError, match="seed must be a whole number from 0 on, but is None"):
        data.split(None)


# ---- times at 0 -----------------------------------------------------------------------------------------------


def test_times_at_0_can_be_raised_by_a_stated_rule():
    info = replace(datasets.describe("gbsg"), time_step=1.0)
    y = SurvivalData.right([0.0, 2.0, 0.0], [1, 0, 0], weight=[1.0, 2.0, 3.0])
    data = Dataset(np.ones((3, 7)), y, info)
    raised = data.with_positive_times()
    np.testing.assert_array_equal(raised.y.time, [0.5, 2.0, 0.5])
    np.testing.assert_array_equal(raised.y.event, y.event)
    np.testing.assert_array_equal(raised.y.weight, y.weight)
    assert raised.with_positive_times() is raised
    with pytest.raises(DataError, match="2 of 3 times are 0, but it is not known in which steps gbsg was recorded"):
        replace(data, info=datasets.describe("gbsg")).with_positive_times()


def test_the_table_of_the_docs_is_that_of_the_records():
    lines = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == datasets.names()
    for name, (_, size, features, censored, in_paper, unit, _) in zip(datasets.names(), rows, strict=True):
        info, released = (datasets.describe(name, definition=which) for which in ("printed", "released"))
        both = "" if info.purpose == released.purpose or name == "norm_same" else f"; released {released.censored:.3f}"
        assert (size, features) == (f"{info.n_train} + {info.n_test}", str(info.n_features))
        published = "" if info.censored_in_paper is None else f"{info.censored_in_paper:.2f}"
        assert (censored, in_paper) == (f"{info.censored:.3f}{both}", published)
        assert unit == ("" if info.kind == "synthetic" else info.unit)
