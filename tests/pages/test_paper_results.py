"""What the results of the paper's benchmark show, and that the files hold what a benchmark has."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv.benchmark import Cell, Plan, Store
from aldsurv.benchmark.cells import run_cell
from aldsurv.benchmark.paper.ledger import count_agreeing, ledger
from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.paper.reasons import NO_REASON
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.running import versions
from bench import export_results
from bench.neutral.report import STUDY
from bench.pages import pictures, results
from bench.pages.paper_results import PAPER_FILE, benchmark_results


@pytest.fixture(scope="module")
def rows():
    return ledger(benchmark_results(PAPER_FILE))


def test_all_published_numbers_are_in_the_ledger(rows):
    assert {row[:3] for row in rows} == set(published_results())
    assert all(row.definition.runs == row.published_way.runs == 10 for row in rows)


def test_the_published_way_gives_the_published_numbers_back(rows):
    assert count_agreeing(rows)["agrees"] >= 850
    for model in PAPER_MODELS:
        gaps = {
            metric: np.mean(
                [abs(row.published_way.mean - row.published.mean) for row in rows if row[1:3] == (model, metric)]
            )
            for metric in ("ibs", "harrell_c")
        }
        assert gaps["ibs"] <= 0.03, model
        assert model != "deepsurv" or gaps["harrell_c"] <= 0.012


def test_what_is_left_has_a_sentence(rows):
    left = [row for row in rows if not row.agrees]
    assert all(row.reason for row in left)
    assert sum(row.reason == NO_REASON for row in left) < 5


def test_the_picture_shows_the_results(rows):
    assert pictures.drawn_digest(pictures.LEDGER) == pictures.digest(rows), "run python -m bench.pages"
    changed = [rows[0]._replace(status="unexplained", because=()), *rows[1:]]
    assert pictures.digest(changed) != pictures.digest(rows)


def test_the_picture_of_growing_tables_shows_the_results():
    growth = results.read_section("scale.json", "peers")
    assert pictures.drawn_digest(pictures.SCALE) == pictures.growth_digest(growth), "run python -m bench.pages"


def test_the_picture_of_ranks_shows_the_results():
    ranking = results.read_section(STUDY, "ranking")
    assert pictures.drawn_digest(pictures.NEUTRAL) == pictures.ranks_digest(ranking), "run python -m bench.pages"
    ranking["isbs"]["mean_ranks"][0] += 0.01
    assert pictures.drawn_digest(pictures.NEUTRAL) != pictures.ranks_digest(ranking)


def test_an_exported_benchmark_reads_back(tmp_path, monkeypatch):
    plan = Plan(("norm_linear",), ("cox", "weibull_aft"), seeds=2, grouped=False)
    store = Store(tmp_path / "store")
    store.begin(plan, versions())
    for cell in plan.cells():
        store.add(run_cell(Cell(cell.series, (0, 1))))
    export_results.main(str(store.folder), str(tmp_path / "cox.csv"))
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    read, wanted = benchmark_results("cox.csv"), store.results()
    assert read.series == wanted.series
    for series in wanted.series:
        for metric in ("ibs", "harrell_c", "mae", "log_likelihood"):
            np.testing.assert_allclose(read.by_seed(series, metric), wanted.by_seed(series, metric), rtol=1e-5)
    (origin,) = results.origins("cox.csv").values()
    assert "--models cox,weibull_aft" in origin.command
    assert set(origin.fingerprints) == {"cox/default", "weibull_aft/default"}
    assert results.outdated("cox.csv") == []
