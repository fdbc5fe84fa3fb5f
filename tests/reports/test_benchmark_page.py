from __future__ import annotations

import csv
import math
import statistics

import numpy as np
import pytest

from aldsurv.benchmark.paper.ledger import count_agreeing, ledger
from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.paper.published_evaluation import SWITCHES
from aldsurv.benchmark.paper.published_values import as_published
from aldsurv.benchmark.plan import Plan
from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, Result, Series
from aldsurv.benchmark.store import CellOutcome, Store
from aldsurv.benchmark.view import View
from aldsurv.errors import DataError, ParameterError
from aldsurv.reports import write_benchmark_report
from aldsurv.reports.benchmark import benchmark_page
from aldsurv.reports.benchmark.all_results_table import results_table
from aldsurv.reports.benchmark.benchmark_summary import wins
from aldsurv.reports.page.page_figures import Picture
from reports.conftest import FAILED, MISSING, PLAN
from reports.made_up import VERSIONS, made_up_store
from reports.parsed import ParsedPage

SIGNS = {"harrell_c": -1, "uno_c": -1, "log_likelihood": -1}


@pytest.fixture(scope="module")
def parsed(partial_page):
    return ParsedPage(partial_page.read_text(encoding="utf-8"))


def found_values(store, series, metric):
    """From the rows themselves: the paper takes the mean of these two models."""
    point = "mean" if metric in POINT_METRICS else ""
    return [row.value for row in store.results() if (row.series, row.metric, row.point) == (series, metric, point)]


def series_of(record):
    return Series(*(record[name].name for name in ("dataset", "definition", "variant", "model", "recipe")))


def distance(metric, value):
    """How far from perfect, by SPEC section 6."""
    if "slope" in metric:
        return abs(1 - value)
    return abs(value) if "intercept" in metric else SIGNS.get(metric, 1) * value


def test_every_number_of_the_results_stands_in_the_page(parsed, partial_store):
    records = parsed.tables["all_results"].records()
    assert len(records) == len(PLAN.cells()) * 10
    expected = {cell.series for cell in PLAN.cells()}
    assert {series_of(record) for record in records} == expected
    for record in records:
        values = found_values(partial_store, series_of(record), record["metric"].name)
        if not values:
            assert record["mean"].value is None
            assert record["mean"].text == "–"
            continue
        assert record["mean"].value == pytest.approx(statistics.mean(values), rel=1e-8)
        assert record["sd"].value == pytest.approx(statistics.stdev(values), rel=1e-7, abs=1e-12)
        shown = float(record["mean"].text.replace("−", "-"))
        assert shown == pytest.approx(statistics.mean(values), abs=5.0001e-4)
        assert record["runs"].text == "2"


def test_published_numbers_stand_beside_results_of_the_same_data(parsed):
    printed = published_results()
    compared = 0
    for record in parsed.tables["all_results"].records():
        series, metric = series_of(record), record["metric"].name
        same = series.definition != "printed" and series.variant == "row" and metric in PAPER_METRICS
        if not same:
            assert record["published"].value is record["difference"].value is None
            continue
        mean, sd = printed[series.dataset, series.model, metric]
        assert (record["published"].value, record["published_sd"].value) == (mean, sd)
        if record["mean"].value is None:
            assert record["difference"].value is None
            continue
        compared += 1
        difference = (record["mean"].value - mean) / sd
        assert record["difference"].value == pytest.approx(difference, rel=1e-6)
    assert compared == 9 * 5


def test_the_best_mean_of_a_dataset_and_metric_is_bold(parsed):
    groups = {}
    for record in parsed.tables["all_results"].records():
        series = series_of(record)
        groups.setdefault((*series[:3], record["metric"].name), []).append(record)
    for (*_, metric), records in groups.items():
        there = [record for record in records if record["mean"].value is not None]
        best = min(there, key=lambda record: distance(metric, record["mean"].value))
        bold = [record for record in records if "best" in (record["mean"].attributes.get("class") or "").split()]
        assert bold == [best]


def test_what_is_missing_and_what_failed_is_reported(parsed, partial_page):
    failed, missing = (parsed.tables[name].rows for name in ("failed", "missing"))
    assert {"/".join(cell.text for cell in row[:-1]): row[-1].text for row in failed} == FAILED
    assert {"/".join(cell.text for cell in row) for row in missing} == set(MISSING)
    text = " ".join(parsed.texts)
    assert "1 failed and 2 have not been run" in text
    assert f"{len(PLAN.cells()) - 3} of {len(PLAN.cells())}" in text
    assert len(parsed.scripts) == 1
    assert "<script>alert" not in partial_page.read_text(encoding="utf-8")


def test_the_page_says_what_was_run(parsed):
    text = " ".join(parsed.texts)
    for told in (PLAN.hash[:12], *PLAN.datasets, *PLAN.models, "released, printed", "2 (seeds 0 to 1)"):
        assert told in text
    for name, version in VERSIONS.items():
        assert f"{name} {version}" in text


def test_every_table_and_figure_is_there(parsed, partial_page):
    folder = partial_page.parent
    names = {
        "all_results", "failed", "missing", "wins", "ranks", "results", "verdicts_paper", "verdicts_corrected_paper",
        "summaries", "at_zero", "definitions", "grouping", "calibration_columns", "seconds", "datasets", "ledger",
        "deviations", "switches", "agreement",
    }  # fmt: skip
    assert names <= set(parsed.tables)
    for name, table in parsed.tables.items():
        assert table.rows, name
        assert table.caption.strip()
        assert {len(row) for row in table.rows} == {len(table.heads)}
        assert len(set(table.keys)) == len(table.keys)
    for name in names - {"all_results", "failed", "missing", "wins", "ledger"}:
        for ending in ("csv", "md", "tex"):
            assert (folder / "tables" / f"{name}.{ending}").stat().st_size > 0
    figures = {found.removeprefix("figure-") for found in parsed.values("id") if found.startswith("figure-")}
    wanted = {f"{kind}_{metric}" for kind in ("metric", "ranks") for metric in PAPER_METRICS}
    wanted |= {f"calibration_{dataset}" for dataset in PLAN.datasets}
    wanted |= {f"network_{model}" for model in PLAN.models}
    assert figures == wanted | {"calibration_best_and_worst", "ledger"}
    for name in figures:
        assert (folder / "figures" / f"{name}.png").is_file()
        assert "</svg>" in (folder / "figures" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_page_needs_nothing_from_elsewhere_and_leaves_nothing_unfinished(parsed, partial_page):
    folder = partial_page.parent
    assert all(source.startswith("data:image/svg+xml,") for source in parsed.values("src"))
    ids = parsed.values("id")
    assert len(set(ids)) == len(ids)
    for link in parsed.values("href"):
        assert link.removeprefix("#") in ids if link.startswith("#") else (folder / link).is_file(), link
    assert all(len(alt) > 20 for alt in parsed.values("alt"))
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {
        ".html", ".csv", ".md", ".tex", ".png", ".svg",
    }  # fmt: skip
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]


def test_the_ledger_has_a_row_per_published_number(parsed, partial_store, partial_page):
    rows = ledger(partial_store.results())
    records = parsed.tables["ledger"].records()
    assert [tuple(record[name].name for name in ("dataset", "model", "metric")) for record in records] == [
        row[:3] for row in rows
    ]
    assert rows
    for record, row in zip(records, rows, strict=True):
        assert record["published"].value == row.published.mean
        assert record["published_way"].value == pytest.approx(row.published_way.mean, rel=1e-8)
        assert record["published_way_distance"].value == pytest.approx(row.published_way_distance, rel=1e-8)
        assert record["status"].name == row.status
        assert record["because"].name == ("+".join(row.because) or "-")
        assert record["reason"].text == row.reason
    counts = count_agreeing(rows)
    assert f"{counts['agrees']} of {len(rows)}" in " ".join(parsed.texts)
    with (partial_page.parent / "tables" / "ledger.csv").open(encoding="utf-8", newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == [row.status for row in rows]


def test_a_report_the_published_way(tmp_path, monkeypatch):
    # Drawing takes most of the time, and other tests see it.
    monkeypatch.setattr(benchmark_page, "_figure_sections", lambda *_: ())
    store = made_up_store(tmp_path, Plan(("weibull",), ("ald", "deepsurv"), seeds=2))
    with pytest.raises(ParameterError, match="evaluation must be 'definition' or 'published'"):
        write_benchmark_report(store, tmp_path / "x", evaluation="paper")
    with pytest.raises(ParameterError, match="without must be"):
        write_benchmark_report(store, tmp_path / "x", without=["median"])
    best = made_up_store(tmp_path / "best", Plan(("weibull",), ("ald",), ("best",), seeds=2))
    with pytest.raises(DataError, match="no values of the published evaluation"):
        write_benchmark_report(best, tmp_path / "x", evaluation="published")
    assert not (tmp_path / "x").exists()
    path = write_benchmark_report(store, evaluation="published", without=["exchanged_columns"])
    page = ParsedPage(path.read_text(encoding="utf-8"))
    switches = [one for one in SWITCHES if one != "exchanged_columns"]
    shown = as_published(store.results(), switches)
    for record in page.tables["all_results"].records():
        mean = shown.summary(series_of(record), record["metric"].name).mean
        assert record["mean"].value == pytest.approx(mean, rel=1e-8)
    text = " ".join(page.texts)
    assert "wrong on purpose" in text
    assert "grid of each model, LogNorm's mixed rows." in text
    # What is left out is left out of the ledger, too.
    rows = ledger(store.results(), switches)
    assert len(rows) == 18
    assert [record["published_way"].value for record in page.tables["ledger"].records()] == pytest.approx(
        [row.published_way.mean for row in rows], rel=1e-8
    )


def test_the_file_of_all_results_has_all_digits(partial_page, partial_store):
    with (partial_page.parent / "tables" / "all_results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(PLAN.cells()) * 10
    for row in rows:
        series = Series(*(row[name] for name in ("dataset", "definition", "variant", "model", "recipe")))
        values = found_values(partial_store, series, row["metric"])
        assert (row["mean"] == "") == (not values)
        if values:
            assert float(row["mean"]) == pytest.approx(statistics.mean(values), rel=1e-14)


def test_wins_are_counted_over_datasets_with_a_contest(parsed, partial_store):
    results = partial_store.results()
    for row in parsed.tables["wins"].records():
        metric, counted = row["metric"].name, {"ald": 0, "lognormal": 0}
        # GBSG has one model only.
        for dataset, definition in (("weibull", "released"), ("breastmsk", "real")):
            losses = {
                model: statistics.mean(
                    distance(metric, value)
                    for value in found_values(partial_store, Series(dataset, definition, "row", model, "paper"), metric)
                )
                for model in counted
            }
            counted[min(losses, key=losses.__getitem__)] += 1
        assert {model: row[model].value for model in counted} == counted
        assert wins(results, metric, View()) == counted


def test_the_smallest_plan_has_a_page(tmp_path, monkeypatch):
    drawn = []
    # Drawing is tried above; here it would take most of the time.
    for module in ("benchmark_figures", "calibration_figures", "network_figures"):
        monkeypatch.setattr(
            f"aldsurv.reports.benchmark.{module}.picture_of",
            lambda figure, folder, name, *, caption, alt: drawn.append(name) or Picture(name, caption, alt, "", 1, 1),
        )
    store = made_up_store(tmp_path / "store", Plan(("exponential",), ("ald",), definitions=("printed",), seeds=1))
    path = write_benchmark_report(store, tmp_path / "elsewhere")
    assert path == tmp_path / "elsewhere" / "index.html"
    found = ParsedPage(path.read_text(encoding="utf-8"))
    records = found.tables["all_results"].records()
    assert [record["sd"].text for record in records] == ["–"] * 10
    assert all(record["mean"].value is not None for record in records)
    # Nothing in the paper is of this data, and one model is not ranked.
    others = ["calibration_exponential", "network_ald"]
    assert sorted(drawn) == sorted([*(f"metric_{metric}" for metric in PAPER_METRICS), *others])
    assert not {"failed", "missing"} & set(found.tables)
    assert sorted(path.name for path in (tmp_path / "store").iterdir()) == ["results.sqlite"]


def test_every_recipe_has_its_findings(tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.reports.benchmark.benchmark_page._figure_sections", lambda *given: ())
    plan = Plan(("exponential", "gbsg"), ("ald", "deephit", "cox"), recipes=("paper", "best"), seeds=2)
    found = ParsedPage(write_benchmark_report(made_up_store(tmp_path, plan)).read_text(encoding="utf-8"))
    assert {"wins", "wins_best", "ranks", "ranks_best", "verdicts_paper", "verdicts_best", "recipes"} <= set(
        found.tables
    )
    ids = found.values("id")
    assert len(set(ids)) == len(ids)
    recipes = {(row["model"].name, row["recipe"].text) for row in found.tables["all_results"].records()}
    # Cox regression has no recipes, and stands in the findings of both.
    assert recipes == {(model, recipe) for model in ("ald", "deephit") for recipe in plan.recipes} | {("cox", "-")}
    for name in ("wins", "wins_best"):
        assert found.tables[name].keys == ["metric", "ald", "deephit", "cox"]


def test_a_benchmark_without_results_has_a_page(tmp_path):
    plan = Plan(("gbsg", "weibull"), ("ald",), recipes=("best",), seeds=3)
    store = made_up_store(tmp_path, plan, missing=[cell.name for cell in plan.cells()])
    found = ParsedPage(write_benchmark_report(store).read_text(encoding="utf-8"))
    assert len(found.tables["missing"].rows) == 2
    assert all(record["mean"].value is None for record in found.tables["all_results"].records())
    assert not list((tmp_path / "report" / "figures").iterdir())


def test_means_that_are_no_numbers_or_infinite(tmp_path):
    plan = Plan(("gbsg",), ("ald", "lognormal"), seeds=2)
    store = Store(tmp_path)
    store.begin(plan, VERSIONS)
    for cell, value in zip(plan.cells(), (math.inf, math.nan), strict=True):
        rows = [Result(cell.series, seed, "mean", "mae", value) for seed in cell.seeds]
        store.add(CellOutcome(cell, tuple(rows)))
    records = results_table(plan, store.results())
    by_model = {row[2].name: row for row in records.cells if row[1].name == "mae"}
    assert by_model["ald"][3].text == "∞"
    assert np.isinf(by_model["ald"][3].value)
    assert by_model["lognormal"][3].text == "–"


def test_histograms_only_where_the_dataset_is_at_hand(tmp_path, monkeypatch):
    from aldsurv.reports.benchmark.benchmark_figures import time_histograms

    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path / "nothing"))
    assert time_histograms("support", tmp_path) == ()
    assert time_histograms("exponential", tmp_path)[0].name == "times_exponential"
    assert {path.name for path in tmp_path.iterdir()} == {"times_exponential.png", "times_exponential.svg"}
