"""Copies of a row stay on one side of every split that the library makes."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aldsurv import SurvivalData
from aldsurv.cli.main import main
from aldsurv.columns.row_copies import count_extra, find_copies
from aldsurv.data.rows.row_splitting import keep_together, split_rows
from aldsurv.datasets import load, read_table

N = 60


def people(copies: int = 2, seed: int = 0) -> tuple[pd.DataFrame, SurvivalData]:
    """Rows with text and gaps, each of them so many times, in a random order."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, rng.normal(60, 10, N)),
            "dose": rng.exponential(1, N),
            "grade": rng.choice(np.array(["I", "II", None], dtype=object), N),
        }
    )
    time, event = rng.exponential(10, N), rng.random(N) < 0.6
    rows = rng.permutation(np.tile(np.arange(N), copies))
    return frame.iloc[rows].reset_index(drop=True), SurvivalData.right(time[rows], event[rows])


def numbers_by_dict(frame, data):
    """Which rows are alike, by Python's own equality: the oracle."""
    outcomes = [data.lower, data.upper, *([] if data.entry is None else [data.entry])]
    places = defaultdict(list)
    for k in range(len(data)):
        values = [None if pd.isna(value) else value for value in frame.iloc[k]]
        places[(*values, *(float(column[k]) for column in outcomes))].append(k)
    return sorted(rows for rows in places.values() if len(rows) > 1)


def as_lists(groups):
    places = defaultdict(list)
    for k, number in enumerate(groups.tolist()):
        if number >= 0:
            places[number].append(k)
    return sorted(places.values())


def apart(frame, data, first, second):
    """How many rows of one side have a copy on the other."""
    groups = find_copies(frame, data)
    assert groups is not None
    return int(np.isin(groups[first], groups[second][groups[second] >= 0]).sum())


@pytest.mark.parametrize("kind", ["pandas", "dict", "polars", "array"])
def test_copies_are_found(kind):
    frame, data = people()
    single, others = people(1, seed=1)
    frame, data = pd.concat([frame, single], ignore_index=True), SurvivalData.concatenate([data, others])
    given = {
        "pandas": lambda: frame,
        "dict": lambda: {name: frame[name].to_numpy() for name in frame},
        "polars": lambda: pytest.importorskip("polars").from_pandas(frame),
        "array": lambda: frame.to_numpy(),
    }[kind]()
    groups = find_copies(given, data)
    assert as_lists(groups) == numbers_by_dict(frame, data)
    assert count_extra(groups) == N
    assert (groups[2 * N :] == -1).all()


def test_what_tells_rows_apart():
    frame, data = people()
    # Another weight is no other row; another entry, event or covariate is.
    weighted = data.with_weight(np.arange(1.0, len(data) + 1))
    np.testing.assert_array_equal(find_copies(frame, weighted), find_copies(frame, data))
    entered = SurvivalData.right(data.time + 1000, data.event, entry=np.arange(float(len(data))))
    assert find_copies(frame, entered) is None
    assert find_copies(frame.assign(dose=np.arange(float(len(data)))), data) is None
    # A name for each row, which no model uses, hides no copies.
    named = frame.assign(id=[f"row {k}" for k in range(len(data))])
    np.testing.assert_array_equal(find_copies(named, data), find_copies(frame, data))


def test_a_table_of_other_length_or_kind_is_left_to_fit():
    frame, data = people()
    assert find_copies(frame.iloc[:-1], data) is None
    assert find_copies("no table", data) is None
    assert find_copies(frame.iloc[:1], data[:1]) is None


@pytest.mark.parametrize("seed", range(5))
def test_alike_by_chance_is_no_copy(seed):
    """One covariate of two values and times in whole years: people are alike without being the same."""
    rng = np.random.default_rng(seed)
    x, time = rng.integers(0, 2, (400, 1)), rng.integers(1, 12, 400)
    assert find_copies(x, SurvivalData.right(time, rng.random(400) < 0.5)) is None


def test_gbsg_has_no_copies_beyond_chance():
    data = load("gbsg")
    assert find_copies(data.x, data.y) is None


def test_a_group_too_large_to_hold_out_is_left_alone():
    frame, data = people(1)
    rows = np.r_[np.arange(N), np.zeros(N, int), 1, 1]
    groups = find_copies(frame.iloc[rows], data[rows])
    assert as_lists(groups) == [[1, 2 * N, 2 * N + 1]]
    # Five people, twenty times each: nothing can be kept together.
    rows = np.tile(np.arange(5), 20)
    assert find_copies(frame.iloc[rows], data[rows]) is None


@pytest.mark.parametrize("seed", range(8))
def test_parts_keep_their_sizes_and_strata(seed):
    rng = np.random.default_rng(seed)
    n, count = 200, int(rng.integers(2, 6))
    groups = np.full(n, -1)
    for number in range(30):
        free = np.flatnonzero(groups < 0)
        groups[rng.choice(free, rng.integers(2, 5), replace=False)] = number
    stratum = np.where(groups >= 0, groups % 2 == 0, rng.random(n) < 0.5)
    before = rng.integers(0, count, n)
    after = keep_together(before, groups, stratum, rng.permutation(n))
    for number in range(30):
        assert len(set(after[groups == number])) == 1
    for value in (False, True):
        np.testing.assert_array_equal(
            np.bincount(after[stratum == value], minlength=count),
            np.bincount(before[stratum == value], minlength=count),
        )


def test_without_groups_nothing_changes():
    before = np.random.default_rng(0).integers(0, 4, 50)
    for groups in (None, np.full(50, -1)):
        assert keep_together(before, groups, None, np.arange(50)) is before


def test_a_table_given_twice_is_split_into_equal_parts():
    frame, data = people()
    groups = find_copies(frame, data)
    train, test = split_rows(data.exact, len(data), 0.25, 0, groups)
    # To within one copy in each stratum.
    assert abs(len(test) - 0.25 * len(data)) <= 2
    assert apart(frame, data, test, train) == 0
    # As it was before copies were noticed, most of them were apart.
    assert apart(frame, data, *split_rows(data.exact, len(data), 0.25, 0)) > N // 4


@pytest.mark.parametrize(("share", "members"), [(0.2, 5), (0.3, 4), (0.1, 12), (0.5, 1)])
def test_validation_rows_of_members(share, members):
    from aldsurv.models.rows.member_rows import split_for_members

    frame, data = people()
    data = data.with_weight(np.where(np.arange(len(data)) < 10, 0.0, 1.0))
    groups = find_copies(frame, data)
    rows = split_for_members(data, share, members, np.random.default_rng(0), groups)
    for train, held in zip(rows.train, rows.validation, strict=True):
        assert apart(frame, data, held, train) == 0
        np.testing.assert_array_equal(np.sort(np.r_[train, held]), np.arange(10, len(data)))
        assert abs(len(held) - share * (len(data) - 10)) <= 4


def test_without_copies_members_hold_out_the_stretches_of_one_order():
    from aldsurv.models.rows.member_rows import split_for_members

    _, data = people(1)
    rng = np.random.default_rng(3)
    place = np.empty(N)
    for stratum in (data.exact, ~data.exact):
        rows = rng.permutation(np.flatnonzero(stratum))
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    order, held = np.argsort(place, kind="stable"), round(0.3 * N)
    found = split_for_members(data, 0.3, 5, np.random.default_rng(3))
    for k, rows in enumerate(found.validation):
        np.testing.assert_array_equal(rows, np.sort(order[(np.arange(held) + k * held) % N]))


@pytest.mark.parametrize("how", ["folds", "validation", "tuning", "table"])
def test_other_splits(how, tmp_path):
    from aldsurv.models.wrappers.cross_fitting import choose_parts
    from aldsurv.tuning.score import even_folds

    frame, data = people()
    everybody = np.arange(len(data))
    if how == "table":
        path = tmp_path / "people.csv"
        frame.assign(time=data.time, event=data.event.astype(int)).to_csv(path, index=False)
        table = read_table(path, time="time", event="event")
        first, second = table.split(0.2, random_state=0)
        assert abs(len(second) - 0.2 * len(data)) <= 2
        assert not set(first.x["dose"]) & set(second.x["dose"])
        return
    if how == "tuning":
        parts = even_folds(data, 4, 0, frame)
    else:
        parts = choose_parts(data, folds=5, validation=0.3 if how == "validation" else None, seed=0, X=frame)
    assert len(parts) == {"folds": 5, "validation": 1, "tuning": 4}[how]
    for part in parts:
        assert apart(frame, data, part, np.setdiff1d(everybody, part)) == 0
        assert abs(len(part) - len(data) * {"folds": 0.2, "validation": 0.3, "tuning": 0.25}[how]) <= 2


@pytest.mark.parametrize("name", ["ald", "boosted_ald", "recalibrated", "icald_calibrated", "cqrnn"])
def test_models_hold_copies_out_together(name, monkeypatch):
    """Wherever a model holds rows out, whoever copies one of them is held out with it."""
    pytest.importorskip("torch")
    from aldsurv.models.neural.fitting import prepare
    from aldsurv.models.rows import member_rows as preparation
    from aldsurv.models.trees import fit_trees as boosted
    from aldsurv.models.wrappers import cross_fitting, level_correction
    from aldsurv.registry import MODELS

    if name == "boosted_ald":
        pytest.importorskip("xgboost")
    seen = []

    def split_and_note(data, *arguments):
        rows = preparation.split_for_members(data, *arguments)
        seen.append([(data, *pair) for pair in zip(rows.train, rows.validation or rows.train[:0], strict=True)])
        return rows

    for module in (prepare, boosted, level_correction):
        monkeypatch.setattr(module, "split_for_members", split_and_note)

    def choose_and_note(data, **settings):
        parts = cross_fitting.choose_parts(data, **settings)
        seen.append([(data, np.setdiff1d(np.arange(len(data)), part), part) for part in parts])
        return parts

    kind = MODELS.load(name)
    module = __import__(kind.__module__, fromlist=["choose_parts"])
    if "choose_parts" in vars(module):
        monkeypatch.setattr(module, "choose_parts", choose_and_note)
    cheap = {"members": 2, "max_epochs": 2, "max_rounds": 2, "random_state": 0, "progress": False, "folds": 2}
    known = kind.parameter_defaults()
    given = {key: value for key, value in cheap.items() if key in known}
    if "estimator" in known:
        given["estimator"] = MODELS.load("ald")(members=1, max_epochs=1, progress=False)
    frame, data = people()
    kind(**given).fit(frame, data)
    assert seen
    for data, train, held in (part for split in seen for part in split):
        # The times are continuous: a time that is on both sides is that of a copy.
        assert len(held)
        assert not set(data.lower[train]) & set(data.lower[held])


def test_the_command_line_says_so(tmp_path: Path, capsys):
    frame, data = people()
    path = tmp_path / "people.csv"
    table = frame.assign(time=data.time, event=data.event.astype(int))
    table.to_csv(path, index=False)
    command = ["fit", str(path), "--time", "time", "--event", "event", "--model", "weibull_aft", "--out"]
    note = "aldsurv: note: 60 rows are exact copies of others: copies stay on the same side of every split."
    assert main([*command, str(tmp_path / "a.aldsurv")]) == 0
    assert note in capsys.readouterr().err.splitlines()
    table.drop_duplicates().to_csv(path, index=False)
    assert main([*command, str(tmp_path / "b.aldsurv")]) == 0
    assert "cop" not in capsys.readouterr().err
