"""What the report has of the paper's tables and figures, against the results, the data files and actual fits."""

from __future__ import annotations

import csv
import re

import numpy as np
import pytest

from aldsurv.benchmark.plan import PAPER_MODELS, Plan
from aldsurv.benchmark.view import View
from aldsurv.datasets import describe, load
from aldsurv.datasets.data_folder import raw_file
from aldsurv.errors import AldsurvError
from aldsurv.models.paper_settings import paper_settings
from aldsurv.registry import MODELS
from aldsurv.reports import write_benchmark_report
from aldsurv.reports.benchmark.calibration_figures import calibration_pictures, extreme_calibration_pictures
from aldsurv.reports.benchmark.network_figures import network_pictures, paper_network
from aldsurv.reports.benchmark.paper_notes import NOTES
from reports.conftest import PLAN
from reports.made_up import made_up_store
from reports.parsed import ParsedPage
from reports.undrawn import leave_pictures_undrawn, leave_png_empty


@pytest.fixture(scope="module")
def parsed(partial_page):
    return ParsedPage(partial_page.read_text(encoding="utf-8"))


def csv_rows(page, name):
    with (page.parent / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["verdicts_paper", "verdicts_corrected_paper"])
def test_verdicts_have_three_numbers_in_a_cell_and_nine_columns_in_the_file(parsed, partial_page, name):
    table, rows = parsed.tables[name], csv_rows(partial_page, name)
    assert table.keys == ["metric", "versus", "ours", "published", "recomputed"]
    assert len(table.rows) == len(rows)
    for record, row in zip(table.records(), rows, strict=True):
        assert (record["metric"].text, record["versus"].text) == (row["Metric"], row["Versus"])
        for source in ("ours", "published", "recomputed"):
            numbers = [float(row[f"{count}, {source}"] or "nan") for count in ("better", "worse", "same")]
            if np.isnan(numbers).all():
                assert record[source].text == "–"
                continue
            shown = [float(text) for text in record[source].text.split(" / ")]
            assert shown == pytest.approx(numbers, abs=5.0001e-4)
            assert record[source].value == pytest.approx(numbers[0], rel=1e-8)
    titles = [row["Metric"] for row in rows]
    assert titles[-4:] == ["Proportion"] * 4
    assert [record["published"].text for record in table.records()][-4] == "0.228 / 0.116 / 0.656"


def test_datasets_stand_beside_the_papers(parsed, partial_page):
    records = {record["dataset"].text: record for record in parsed.tables["datasets"].records()}
    assert list(records) == ["Weibull", "GBSG", "BreastMSK"]
    gbsg = records["GBSG"]
    assert [gbsg[key].text for key in ("kind", "features", "training", "test", "censored", "copies", "patients")] == [
        "clinical, months", "7 / 7", "1785 / 1785", "447 / 447", "0.432 / 0.42", "2", "–",
    ]  # fmt: skip
    assert records["Weibull"]["kind"].text == "synthetic"
    rows = {row["Dataset"]: row for row in csv_rows(partial_page, "datasets")}
    assert (rows["GBSG"]["Unit"], rows["GBSG"]["Training rows"], rows["GBSG"]["Test rows, published"]) == (
        "months", "1785", "447",
    )  # fmt: skip


def lines_of(store, dataset, kind, model):
    """Mean slope and intercept of the runs."""
    curves = [
        curve for curve in store.results().curves
        if (curve.series.dataset, curve.series.model, curve.kind, curve.series.variant) == (dataset, model, kind, "row")
    ]  # fmt: skip
    return np.mean([np.polyfit(curve.expected, curve.observed, 1) for curve in curves], axis=0)


def as_text(pair):
    return " and ".join(f"{value:.2f}".replace("-", "−") for value in pair).replace("−0.00", "0.00")


def test_calibration_is_described_by_slopes_and_intercepts(partial_store, tmp_path, monkeypatch):
    leave_png_empty(monkeypatch)
    pictures = {picture.name: picture for picture in calibration_pictures(partial_store.results(), View(), tmp_path)}
    assert list(pictures) == ["calibration_weibull", "calibration_gbsg", "calibration_breastmsk"]
    alt = pictures["calibration_breastmsk"].alt
    for kind in ("survival", "density"):
        for model, title in (("ald", "ALD"), ("lognormal", "LogNorm")):
            pair = lines_of(partial_store, "breastmsk", kind, model)
            assert f"{title} {as_text(pair)}" in alt
    drawn = (tmp_path / "calibration_breastmsk.svg").read_text(encoding="utf-8")
    assert "slope" in drawn


def test_best_and_worst_calibration(partial_store, tmp_path, monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    (picture,) = extreme_calibration_pictures(partial_store.results(), View(), tmp_path)
    titles = {"gbsg": "GBSG", "breastmsk": "BreastMSK"}
    for kind, name in (("survival", "Cal[S]"), ("density", "Cal[f]")):
        pairs = {dataset: lines_of(partial_store, dataset, kind, "ald") for dataset in titles}
        ordered = sorted(pairs, key=lambda dataset: abs(1 - pairs[dataset][0]) + abs(pairs[dataset][1]))
        assert f"best {name}: {titles[ordered[0]]}:" in picture.alt
        assert f"worst {name}: {titles[ordered[1]]}:" in picture.alt
    assert "|1 − slope| + |intercept|" in picture.caption
    # One real dataset has no best and worst.
    alone = partial_store.results().where(dataset=("gbsg", "weibull"))
    assert extreme_calibration_pictures(alone, View(), tmp_path) == ()


@pytest.mark.parametrize("model", PAPER_MODELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_network_drawn_is_the_network_trained(model):
    network, outputs = paper_network(model, "gbsg")
    data = load("gbsg")[np.arange(200)]
    settings = {**paper_settings(model, "gbsg"), "max_epochs": 1}
    fitted = MODELS.load(model)(recipe="paper", random_state=0, **settings).fit(data.x, data.y)
    assert fitted.fitted_.network == network
    assert len(outputs) == network.outputs


def test_networks_are_those_of_the_papers_recipe(tmp_path):
    pictures = network_pictures(Plan(("weibull", "gbsg"), (*PAPER_MODELS, "cox"), seeds=1), tmp_path)
    assert [picture.name for picture in pictures] == [f"network_{model}" for model in PAPER_MODELS]
    assert pictures[0].caption == "The network of ALD, recipe “paper”, as for GBSG."
    assert f"{describe('gbsg').n_features} inputs; shared layers of 32 units with a residual" in pictures[0].alt
    assert "3 outputs through exp" in pictures[0].alt
    assert network_pictures(Plan(("gbsg",), ("ald",), recipes=("best",)), tmp_path) == ()


def test_the_note_on_the_age_of_tmbimmuno_is_what_its_file_says():
    try:
        path = raw_file(describe("tmbimmuno"))
    except (AldsurvError, OSError):
        pytest.skip("the file of tmbimmuno is not available")
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    column, group = "Age at Which Sequencing was Reported (Days)", "Age Group at Diagnosis in Years"
    pairs = [(float(row[column]), row[group]) for row in rows if row[column] != "NA"]
    ages = np.array([age for age, _ in pairs])
    np.testing.assert_array_equal(np.sort(ages), np.sort(load("tmbimmuno").x[:, 0]))
    assert (ages == ages.round()).all()

    def within(age, years):
        limit = [float(number) for number in re.findall(r"\d+", years)]
        return age < limit[0] if years[0] == "<" else age > limit[0] if years[0] == ">" else limit[0] <= age <= limit[1]

    (note,) = [text for title, text in NOTES.entries if title == "TMBImmuno."]
    inside = sum(within(age, years) for age, years in pairs)
    numbers = [len(ages), ages.min(), ages.max(), np.median(ages), inside]
    assert [int(number) for number in re.findall(r"\d+", note)] == numbers


def test_no_sentence_ends_twice(tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.reports.page.page_figures.save_figure", lambda figure, path, **options: path)
    plan = Plan(("norm_med", "lognorm_med"), ("ald", "cqrnn"), seeds=2)
    monkeypatch.setattr("aldsurv.reports.page.page_figures._picture", _described)
    page = write_benchmark_report(made_up_store(tmp_path, plan)).read_text(encoding="utf-8")
    assert "Norm med" in page
    text = " ".join([*ParsedPage(page).texts, *ParsedPage(page).values("alt")])
    assert re.findall(r".{20}(?<!\.)\.\.(?!\.)", text) == []


def _described(path, name, caption, alt):
    from aldsurv.reports.page.page_figures import Picture

    return Picture(name, caption, alt, "", 1, 1)


def test_sections_of_the_paper_are_listed(parsed):
    anchors = {value.removeprefix("#") for value in parsed.values("href") if value.startswith("#")}
    assert {"datasets", "verdicts", "calibration", "networks"} <= anchors
    assert PLAN.recipes == ("paper",)
