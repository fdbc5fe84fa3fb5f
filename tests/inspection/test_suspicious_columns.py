"""Columns that give the outcome away are seen, and honest covariates are not, however strong."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines.utils import concordance_index
from scipy.stats import spearmanr

from aldsurv import CoxRegression, SurvivalData, datasets
from aldsurv.errors import DataError
from aldsurv.inspection import suspicious_columns
from aldsurv.inspection.known_outcome import KnownOutcome
from aldsurv.inspection.leak_signs import block_signs

RNG = np.random.default_rng(21)
N = 300


def drawn(n: int, noise: float = 0.8, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Honest covariates, times and events; the marker is the stronger, the less noise."""
    generator = np.random.default_rng(seed)
    marker = generator.normal(size=n)
    event_time = np.exp(2 - marker + noise * generator.normal(size=n))
    censoring = np.exp(2.5 + 1.5 * generator.normal(size=n))
    x = {
        "marker": marker,
        "high": (marker > 0).astype(float),
        "stage": np.array(["I", "II", "III", "IV"], object)[np.digitize(marker, [-1, 0, 1])],
        "lab": np.where(generator.random(n) < 0.3, np.nan, marker + generator.normal(size=n)),
        "age": generator.integers(20, 90, n),
    }
    return x, np.minimum(event_time, censoring), event_time <= censoring


X, TIME, EVENT = drawn(N)
Y = SurvivalData.right(TIME, EVENT)
WORDS = np.array(["no", "yes"], object)
DAY = np.datetime64("2015-03-01") + RNG.integers(0, 2000, N)

LEAKS = {
    "the event": (EVENT.astype(int), "event"),
    "the event reversed": (1 - EVENT.astype(int), "event"),
    "the event as text": (WORDS[EVENT.astype(int)], "event"),
    "what happened": (np.where(EVENT, np.array(["heart", "lung", "kidney"])[np.arange(N) % 3], "alive"), "event"),
    "the event but for two rows": (np.where(np.arange(N) < 2, ~EVENT, EVENT), "event"),
    "the time": (TIME, "time"),
    "the time in months": (np.round(TIME / 3), "time"),
    "the time from the end": (-np.log(TIME), "time"),
    "the time with errors of rounding": (TIME + 1e-4 * RNG.normal(size=N), "time"),
    "days known for events": (np.where(EVENT, RNG.normal(size=N), np.nan), "gaps"),
    "days known for most events": (np.where(EVENT & (np.arange(N) % 10 > 0), RNG.normal(size=N), np.nan), "gaps"),
    "days known for some events": (np.where(EVENT & (np.arange(N) % 2 > 0), RNG.normal(size=N), np.nan), "gaps"),
    "text known for censored rows": (np.where(EVENT, None, "well"), "gaps"),
    "a date known for events": (np.where(EVENT, DAY, np.datetime64("NaT")), "gaps"),
    "a date as text": (np.array([str(d) if e else None for d, e in zip(DAY, EVENT, strict=True)], object), "gaps"),
    "a noisy time": (np.log(TIME) + 0.05 * RNG.normal(size=N), "order"),
    "how long treated": (0.9 * TIME + 0.05 * TIME.max() * RNG.random(N), "order"),
}


def kinds(x: object, y: SurvivalData) -> dict[object, list[str]]:
    return {column.column: [sign.kind for sign in column.signs] for column in suspicious_columns(x, y)}


@pytest.mark.parametrize("case", LEAKS)
def test_every_sort_of_leak_is_seen_and_no_other_column(case):
    values, kind = LEAKS[case]
    suspects = suspicious_columns({**X, "x": values}, Y)
    assert [column.column for column in suspects] == ["x"]
    assert kind in [sign.kind for sign in suspects[0].signs]
    assert suspects[0].is_leak
    assert str(suspects[0]).startswith("column 'x' ")


def test_one_finding_per_column_in_the_order_of_the_table():
    dates = [
        datetime.date(2020, 1, 1) + datetime.timedelta(days=float(t)) if e else None
        for t, e in zip(TIME, EVENT, strict=True)
    ]
    table = {"deathDate": np.array(dates, object), **X, "id": np.arange(N) + 5, "same": np.ones(N), "site": ["A"] * N}
    suspects = suspicious_columns(table, Y)
    assert [column.column for column in suspects] == ["deathDate", "id", "same", "site"]
    assert {"name", "gaps", "time"} <= {sign.kind for sign in suspects[0].signs}
    assert [column.is_leak for column in suspects] == [True, False, False, False]
    assert [column.signs[0].kind for column in suspects[1:]] == ["numbering", "constant", "constant"]


@pytest.mark.parametrize("name", datasets.catalogue.DATASETS)
def test_no_column_of_the_datasets_is_flagged(name):
    try:
        data = datasets.load(name)
    except (DataError, OSError) as error:
        pytest.skip(str(error)[:80])
    assert kinds(data.x, data.y) == {}


@pytest.mark.parametrize("n", [40, 100, 300, 1500])
def test_strong_honest_covariates_are_not_flagged(n):
    for seed in range(15):
        x, time, event = drawn(n, noise=0.69, seed=seed)
        assert kinds(x, SurvivalData.right(time, event)) == {}
    strength = concordance_index(time, -x["marker"], event)
    assert n < 300 or 0.82 < strength < 0.87


def test_chance_alone_flags_none_of_many_columns():
    generator = np.random.default_rng(5)
    for n in (12, 30, 60):
        time, event = generator.exponential(size=n), np.arange(n) % 2 == 0
        wide = generator.normal(size=(n, 3000))
        wide[:, ::3] = generator.integers(0, 2, (n, 1000))
        wide[generator.random(wide.shape) < 0.4] = np.nan
        assert kinds(wide, SurvivalData.right(time, event)) == {}


def test_gaps_that_merely_hint_at_the_event_are_not_flagged():
    generator = np.random.default_rng(3)
    lab = np.where(generator.random(N) < np.where(EVENT, 0.6, 0.2), np.nan, 1.0 + generator.normal(size=N))
    assert kinds({**X, "lab2": lab}, Y) == {}


@given(st.integers(0, 2**32 - 1))
def test_the_concordance_is_that_of_lifelines_and_its_error_the_jackknife(seed):
    generator = np.random.default_rng(seed)
    n = 25
    time, event = generator.integers(1, 12, n).astype(float), np.append(generator.random(n - 3) < 0.6, [True] * 3)
    value = np.round(generator.normal(size=n), 1)
    outcome = KnownOutcome.of(SurvivalData.right(time, event), 1000, generator)
    gaps = np.where(np.arange(n) < 3, np.nan, value)
    known = np.arange(3, n)
    result = outcome.concordance(gaps)
    assert result.share == pytest.approx(concordance_index(time[known], value[known], event[known]))
    try:
        without = [concordance_index(*(a[np.setdiff1d(known, k)] for a in (time, value, event))) for k in known]
    except ZeroDivisionError:
        return
    spread = (known.size - 1) / known.size * np.sum((np.array(without) - np.mean(without)) ** 2)
    assert result.error == pytest.approx(np.sqrt(spread))


def test_the_rank_correlation_is_that_of_scipy():
    time = np.sort(RNG.exponential(size=60))
    value = time.copy()
    value[[10, 11]] = value[[11, 10]]
    expected = spearmanr(time, value).statistic
    outcome = KnownOutcome.of(SurvivalData.right(time, np.ones(60, bool)), 1000, np.random.default_rng(0))
    signs = [sign for _, sign in block_signs(value[None], np.array([True]), outcome, 1) if sign.kind == "time"]
    assert [sign.strength for sign in signs] == pytest.approx([expected])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, dict])
def test_frames_and_arrays_give_the_same(frame):
    table = {"age": X["age"], "death": EVENT.astype(int)}
    assert kinds(frame(table), Y) == {"death": ["name", "event"]}
    assert kinds(np.column_stack(list(table.values())), Y) == {1: ["event"]}


def test_other_censoring_entry_causes_and_episodes():
    assert kinds({"copy": EVENT}, SurvivalData.right(TIME, EVENT, entry=TIME / 2)) == {"copy": ["event"]}
    cause = np.where(EVENT, 1 + np.arange(N) % 2, 0)
    competing = SurvivalData.competing(TIME, cause, names=["relapse", "death"])
    assert kinds({"second": cause == 2, **X}, competing) == {"second": ["event"]}
    interval = SurvivalData.interval(TIME, np.where(EVENT, TIME + 1, np.inf))
    assert kinds({"months": TIME / 30, **X}, interval) == {"months": ["time"]}
    person = np.repeat(np.arange(N), 2)
    start, stop = np.column_stack([np.zeros(N), TIME / 2]).ravel(), np.column_stack([TIME / 2, TIME]).ravel()
    last = np.column_stack([np.zeros(N, bool), EVENT]).ravel()
    episodes = SurvivalData.episodes(person, start, stop, last)
    assert kinds({"copy": last, "marker": np.repeat(X["marker"], 2)}, episodes) == {"copy": ["event"]}


def test_rare_events_of_a_long_table_are_in_the_sample():
    generator = np.random.default_rng(1)
    n = 200_000
    time, event = generator.exponential(size=n), generator.random(n) < 0.002
    table = {
        "copy": np.where(event, "yes", "no"),
        "known": np.where(event, 1.0 * np.arange(n) % 7, np.nan),
        "age": generator.normal(size=n),
        "row": np.arange(n),
    }
    y = SurvivalData.right(time, event)
    assert kinds(table, y) == {"copy": ["event"], "known": ["gaps"], "row": ["numbering"]}
    assert suspicious_columns(table, y, random_state=1) == suspicious_columns(table, y, random_state=1)


def test_all_events_no_events_and_few_rows():
    assert kinds({"a": [1, 2, 3]}, SurvivalData.right([1, 2, 3], [1, 1, 1])) == {}
    assert kinds({"a": [1, 2, 3], "e": [None] * 3}, SurvivalData.right([1, 2, 3], [0, 0, 0])) == {}
    assert kinds({"a": [1.0]}, SurvivalData.right([1], [1])) == {"a": ["constant"]}


def test_rows_must_agree():
    with pytest.raises(DataError, match="X has 2 rows, but y has 3"):
        suspicious_columns({"a": [1, 2]}, SurvivalData.right([1, 2, 3], [1, 1, 1]))


def test_fitting_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CoxRegression().fit({"death_date": X["marker"], "age": X["age"]}, Y)
