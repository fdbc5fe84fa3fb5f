"""Linear models fitted to tables in parts: the coefficients, errors and baselines of the rows in memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from lost_workers import kill_a_worker

from aldsurv.cli.main import main
from aldsurv.datasets import open_table
from aldsurv.errors import DataError, FitWarning
from aldsurv.models import CoxRegression, ElasticNetCox, LogNormalAFT, WeibullAFT, load
from aldsurv.models.linear.problems import parted_partial
from aldsurv.models.parted.dask_engine import DaskEngine
from aldsurv.models.parted.engine import open_engine

pyarrow = pytest.importorskip("pyarrow")
OUTCOME = {"time": "time", "event": "event"}
SPARE = ("entry", "weight", "lower", "upper", "site", "hospital", "cause")


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(3)
    n = 700
    x = rng.normal(size=(n, 3))
    grade = rng.choice(["I", "II", "III"], n)
    event_time = np.exp(1 + x @ [0.5, -0.3, 0.0] + 0.4 * (grade == "II")) * rng.weibull(1.5, n)
    censoring = rng.exponential(8.0, n)
    # Rounded up: many tied events.
    time, event = np.ceil(4 * np.minimum(event_time, censoring)) / 4, event_time <= censoring
    time[:2], event[:2] = 0.0, [True, False]
    entry = np.floor(4 * rng.uniform(0, 0.5, n) * time * (rng.random(n) < 0.5)) / 4
    entry[:2] = -np.inf
    lower = np.where(event, np.maximum(time - 0.5, 0.0), time)
    return {
        "age": x[:, 0],
        "size": np.where(rng.random(n) < 0.1, np.nan, x[:, 1]),
        "dose": x[:, 2],
        "both": x[:, 0] + x[:, 2],
        "grade": grade,
        "time": time,
        "event": event,
        "entry": entry,
        # That of the part of the 301st row alone is 0.
        "weight": np.where(np.arange(n) == 300, 0.0, rng.integers(0, 4, n)),
        "lower": lower,
        "upper": np.where(event, time + 0.25, np.inf),
        "site": rng.choice(["north", "south"], n),
        "hospital": rng.integers(0, 40, n),
        "cause": np.where(event, rng.integers(1, 3, n), 0),
    }


@pytest.fixture(scope="module")
def folders(columns, tmp_path_factory):
    """The same rows in one file and in seven, some of one row and without an event."""
    import pyarrow.parquet

    table, made = pyarrow.table(columns), {}
    for name, cuts in (("one", [0, 700]), ("seven", [0, 1, 2, 90, 91, 300, 301, 700])):
        made[name] = tmp_path_factory.mktemp(name)
        for k, (start, stop) in enumerate(pairwise(cuts)):
            pyarrow.parquet.write_table(table.slice(start, stop - start), made[name] / f"{k}.parquet")
    return made


def opened(folder, kept=(), **roles):
    named = {**({} if "lower" in roles else OUTCOME), **roles}
    unused = [name for name in (*SPARE, *OUTCOME) if name not in (*named.values(), *kept)]
    return open_table(folder, **named, drop=unused)


def assert_same_fit(parted, whole):
    for name in ("standardised_", "standardised_covariance_", "standardised_robust_"):
        first, second = getattr(parted, name), getattr(whole, name)
        assert (first is None) == (second is None)
        if first is not None:
            np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-10)
    assert parted.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-12)
    assert parted.dropped_ == whole.dropped_
    np.testing.assert_array_equal(parted.unique_times_, whole.unique_times_)
    for name in ("rows", "events", "bounded", "total_weight", "first_time", "last_time", "follow_up"):
        assert getattr(parted.trained_on_, name) == pytest.approx(getattr(whole.trained_on_, name)), name


CASES = {
    "weibull": (WeibullAFT(), {}, ()),
    "interval": (LogNormalAFT(), {"lower": "lower", "upper": "upper"}, ()),
    "robust": (LogNormalAFT(robust=True), {"entry": "entry", "weight": "weight"}, ()),
    "groups": (WeibullAFT(ridge=2.0), {"group": "hospital"}, ()),
    "efron": (CoxRegression(), {}, ()),
    "breslow": (CoxRegression(ties="breslow"), {"entry": "entry", "weight": "weight"}, ()),
    "strata": (CoxRegression(strata=["site"]), {"entry": "entry", "weight": "weight"}, ("site",)),
    "ridge": (CoxRegression(ridge=3.0), {"entry": "entry"}, ()),
    "robust efron": (CoxRegression(robust=True), {"entry": "entry", "weight": "weight"}, ()),
    "groups and strata": (CoxRegression(strata=["site"]), {"group": "hospital", "entry": "entry"}, ("site",)),
    "groups, breslow": (CoxRegression(ties="breslow"), {"group": "hospital", "weight": "weight"}, ()),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::aldsurv.errors.FitWarning")
def test_parts_give_what_rows_in_memory_give(folders, monkeypatch, name):
    model, roles, kept = CASES[name]
    # Few slots of time and few steps of tied events at once.
    monkeypatch.setattr(parted_partial, "_MOST_SUMS", 120)
    monkeypatch.setattr(parted_partial, "_MOST_STEPS", 50)
    one = opened(folders["one"], kept, **roles)
    whole = type(model)(**model.get_params()).fit(*one.collect())
    for folder in folders.values():
        table = opened(folder, kept, **roles)
        parted = type(model)(**model.get_params()).fit(table.x, table.y)
        assert_same_fit(parted, whole)
    if isinstance(model, CoxRegression):
        times = whole.unique_times_
        np.testing.assert_allclose(
            parted.baseline_.log_cumulative_at(times), whole.baseline_.log_cumulative_at(times), rtol=0, atol=1e-10
        )
    x = one.collect()[0]
    curves = [fitted.predict_distribution(x).survival([2.0]) for fitted in (parted, whole)]
    np.testing.assert_allclose(*curves, rtol=0, atol=1e-10)


def test_against_lifelines(columns, folders):
    lifelines = pytest.importorskip("lifelines")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({name: columns[name] for name in ("age", "dose", "time", "event", "entry")})
    # What has been there from the start.
    frame["entry"] = frame["entry"].clip(lower=-1.0)
    peer = lifelines.CoxPHFitter().fit(frame, "time", "event", entry_col="entry")
    unused = [name for name in columns if name not in frame]
    table = open_table(folders["seven"], time="time", event="event", entry="entry", drop=unused)
    fitted = CoxRegression().fit(table.x, table.y)
    np.testing.assert_allclose(fitted.standardised_ * fitted.design_.per_unit, peer.params_, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore::aldsurv.errors.FitWarning")
def test_a_cluster_gives_the_same_bits_even_when_it_loses_a_worker(cluster, folders, monkeypatch):
    table = opened(folders["seven"], entry="entry", weight="weight")
    with DaskEngine(cluster.scheduler_address) as engine:
        together = [WeibullAFT(robust=False).fit(table.x, table.y)]
        hold = engine.hold

        def hold_and_lose_a_worker(function, items, shared=()):
            parts = hold(function, items, shared)
            list(engine.map(len, parts))
            kill_a_worker(cluster)
            return parts

        monkeypatch.setattr(engine, "hold", hold_and_lose_a_worker)
        together.append(CoxRegression().fit(table.x, table.y))
    for fitted in together:
        alone = type(fitted)(**fitted.get_params()).fit(table.x, table.y)
        np.testing.assert_array_equal(fitted.standardised_, alone.standardised_)
        np.testing.assert_array_equal(fitted.standardised_covariance_, alone.standardised_covariance_)


@pytest.mark.filterwarnings("ignore::aldsurv.errors.FitWarning")
def test_every_newton_step_is_the_same_with_any_number_of_workers(cluster, folders, monkeypatch):
    table = opened(folders["seven"], entry="entry", weight="weight")
    evaluate, steps = parted_partial.PartedCoxProblem._evaluate, []

    def recorded(self, kept, point):
        found = evaluate(self, kept, point)
        steps.append([point.tobytes(), found.value, found.gradient.tobytes(), found.information.tobytes()])
        return found

    monkeypatch.setattr(parted_partial.PartedCoxProblem, "_evaluate", recorded)
    runs = []
    for workers in (None, "local:1", cluster.scheduler_address):
        steps.clear()
        with open_engine(workers):
            CoxRegression().fit(table.x, table.y)
        runs.append(list(steps))
    assert len(runs[0]) > 3
    assert runs[0] == runs[1] == runs[2]


def test_what_parts_cannot_do_is_said(folders, monkeypatch):
    table = opened(folders["seven"])
    with pytest.raises(DataError, match="WeibullAFT with a cure cannot be fitted to a table in parts"):
        WeibullAFT(cure=True).fit(table.x, table.y)
    with monkeypatch.context() as patch:
        patch.setattr(parted_partial, "_MOST_SCORE_SUMS", 100)
        with pytest.raises(DataError, match="distinct times are too large for memory"):
            CoxRegression(robust=True, ridge=1.0).fit(table.x, table.y)
    with pytest.raises(DataError, match="ElasticNetCox cannot be fitted to a table in parts"):
        ElasticNetCox().fit(table.x, table.y)
    bounded = opened(folders["seven"], lower="lower", upper="upper")
    with pytest.raises(DataError, match="CoxRegression takes exact and right-censored rows only"):
        CoxRegression().fit(bounded.x, bounded.y)
    grouped = opened(folders["seven"], group="hospital")
    monkeypatch.setattr("aldsurv.models.linear.problems.parted_sandwich._MOST_NUMBERS", 10)
    with pytest.raises(DataError, match="groups are too large for memory"):
        WeibullAFT(ridge=1.0).fit(grouped.x, grouped.y)
    few = open_table(Path(folders["seven"]) / "1.parquet", **OUTCOME, drop=[*SPARE, "grade"])
    with pytest.raises(DataError, match="no event was observed in any row"):
        WeibullAFT().fit(few.x, few.y)


@pytest.mark.parametrize("kind", [CoxRegression, WeibullAFT])
@pytest.mark.filterwarnings("ignore:.*combination of:aldsurv.errors.FitWarning")
def test_rows_of_one_group(columns, tmp_path, kind):
    import pyarrow.parquet

    alike = pyarrow.table({**columns, "hospital": np.zeros(700, np.int64)})
    for k, (start, stop) in enumerate([(0, 300), (300, 700)]):
        pyarrow.parquet.write_table(alike.slice(start, stop - start), tmp_path / f"{k}.parquet")
    table = opened(tmp_path, group="hospital")
    with pytest.warns(FitWarning, match="need two or more groups, but all rows of positive weight are of one"):
        fitted = kind().fit(table.x, table.y)
    assert fitted.standardised_robust_ is None
    with pytest.raises(DataError, match="two or more groups"):
        kind(robust=True).fit(table.x, table.y)


def test_warnings_are_those_of_rows_in_memory(folders):
    table = opened(folders["seven"])
    with pytest.warns(FitWarning, match="'both': it is a combination of 'age', 'dose'"):
        WeibullAFT().fit(table.x, table.y)


@pytest.mark.filterwarnings("ignore::aldsurv.errors.FitWarning")
def test_command_on_a_cluster(cluster, folders, tmp_path, capsys):
    drop = ",".join(name for name in SPARE)
    words = [str(folders["seven"]), "--time", "time", "--event", "event", "--drop", drop, "--held-out", "0"]
    target = tmp_path / "m.aldsurv"
    assert main(["fit", *words, "--model", "cox", "--cluster", cluster.scheduler_address, "--out", str(target)]) == 0
    assert "fitted to all 700 rows" in " ".join(capsys.readouterr().out.split())
    table = opened(folders["seven"])
    np.testing.assert_array_equal(load(target).standardised_, CoxRegression().fit(table.x, table.y).standardised_)
