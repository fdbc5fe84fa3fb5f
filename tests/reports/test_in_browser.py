"""The page in a real browser: what the script does with the address, with clicks, and that nothing complains."""

from __future__ import annotations

import math
from functools import partial

import pytest

from aldsurv.benchmark.plan import Plan
from aldsurv.reports import write_benchmark_report
from reports.browser import CHROMIUM, clicking, opened_page
from reports.made_up import made_up_store
from reports.parsed import ParsedPage

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Opens a page and gives what the browser made of it, and what it complained of."""
    # One profile: a browser takes a while to make a new one, and pages keep nothing in it.
    return partial(opened_page, tmp_path_factory.mktemp("browser") / "profile")


def test_the_address_filters_and_sorts(opened, partial_page):
    whole = ParsedPage(partial_page.read_text(encoding="utf-8")).tables["all_results"]
    fragment = "#results&dataset=weibull;breastmsk&model=lognormal&sort=-difference"
    page, complaints = opened(partial_page, fragment)
    assert complaints == []
    found = page.tables["all_results"]
    expected = [
        row for row in whole.records()
        if row["dataset"].name in ("weibull", "breastmsk") and row["model"].name == "lognormal"
    ]  # fmt: skip
    # Python sorts without knowledge of the script: largest first, then those without a number in their old order.
    expected.sort(key=lambda row: -row["difference"].value if row["difference"].value is not None else math.inf)
    assert any(row["difference"].value is None for row in expected)
    assert [texts(row) for row in found.records()] == [texts(row) for row in expected]
    assert len(found.rows) == len(whole.rows)
    sorts = {key: head.attributes["aria-sort"] for key, head in zip(found.keys, found.heads, strict=True)}
    assert sorts.pop("difference") == "descending"
    assert set(sorts.values()) == {"none"}
    assert f"{len(expected)} of {len(whole.rows)} rows" in page.texts


def test_what_is_no_number_comes_last_upwards_too(opened, partial_page):
    page, complaints = opened(partial_page, "#sort=published")
    assert complaints == []
    values = [row["published"].value for row in page.tables["all_results"].records()]
    there = [value for value in values if value is not None]
    assert 0 < len(there) < len(values)
    assert values[: len(there)] == there == sorted(there)


def test_words_are_searched_in_titles_and_names(opened, partial_page):
    page, complaints = opened(partial_page, "#search=Harrell%20breastmsk&metric=harrell_c;nonsense&sort=nonsense")
    assert complaints == []
    records = page.tables["all_results"].records()
    assert {(row["dataset"].name, row["metric"].name) for row in records} == {("breastmsk", "harrell_c")}
    # By row and by patient, two models each.
    assert len(records) == 4


def test_other_tables_have_an_address_of_their_own(opened, partial_page):
    page, complaints = opened(partial_page, "#ranks.sort=ald&wins.sort=-lognormal")
    assert complaints == []
    ranks = [row["ald"].value for row in page.tables["ranks"].records()]
    assert ranks == sorted(ranks)
    won = [row["lognormal"].value for row in page.tables["wins"].records()]
    assert won == sorted(won, reverse=True)
    order = [[cell.text for cell in row] for row in page.tables["all_results"].rows]
    plain = ParsedPage(partial_page.read_text(encoding="utf-8")).tables["all_results"]
    assert order == [[cell.text for cell in row] for row in plain.rows]


def test_clicks_change_the_table_and_the_address(opened, partial_page, tmp_path):
    script = """
      const table = document.querySelector("table[data-main]");
      const head = table.querySelector("th[data-key=mean] button");
      head.click(); head.click();
      const bar = table.closest(".table").querySelector(".filters");
      bar.querySelector("input[name=model][value=ald]").click();
      const field = bar.querySelector("input[type=search]");
      field.value = "ibs"; field.dispatchEvent(new Event("input"));
    """
    page, complaints = opened(clicking(partial_page, tmp_path, script))
    assert complaints == []
    records = page.tables["all_results"].records()
    assert {(row["model"].name, row["metric"].name) for row in records} == {("ald", "ibs")}
    values = [row["mean"].value for row in records if row["mean"].value is not None]
    assert values == sorted(values, reverse=True)
    assert len(values) > 2
    assert "#model=ald&search=ibs&sort=-mean" in page.texts


def test_a_third_click_and_show_all_bring_everything_back(opened, partial_page, tmp_path):
    script = """
      const table = document.querySelector("table[data-main]");
      const head = table.querySelector("th[data-key=mean] button");
      head.click(); head.click(); head.click();
      const bar = table.closest(".table").querySelector(".filters");
      bar.querySelector("input[name=model][value=ald]").click();
      [...bar.querySelectorAll("button")].find((button) => button.textContent === "Show all").click();
    """
    page, complaints = opened(clicking(partial_page, tmp_path, script), "#run")
    assert complaints == []
    plain = ParsedPage(partial_page.read_text(encoding="utf-8")).tables["all_results"]
    assert [texts(row) for row in page.tables["all_results"].records()] == [texts(row) for row in plain.records()]
    assert "#run" in page.texts


def test_a_link_to_a_section_keeps_what_was_chosen(opened, partial_page, tmp_path):
    script = """
      location.hash = "#notes";
      addEventListener("hashchange", () => { document.title = location.hash; })
    """
    page, complaints = opened(clicking(partial_page, tmp_path, script), "#model=ald")
    assert complaints == []
    assert {row["model"].name for row in page.tables["all_results"].records()} == {"ald"}
    assert "#notes&model=ald" in page.texts


def test_no_column_of_verdicts_and_datasets_is_hidden_on_a_wide_screen(opened, tmp_path, monkeypatch):
    monkeypatch.setattr("aldsurv.reports.benchmark.benchmark_page._figure_sections", lambda *given: ())
    # The longest titles of datasets, and all models of the paper.
    datasets = ("norm_nonlinear", "lognorm_heavy", "metabric", "tmbimmuno")
    page = write_benchmark_report(made_up_store(tmp_path / "store", Plan(datasets, seeds=2)))
    script = """
      for (const table of document.querySelectorAll("table")) {
        const room = table.closest(".scroll");
        table.dataset.hidden = room.scrollWidth - room.clientWidth;
      }
    """
    found, complaints = opened(clicking(page, tmp_path, script), "", "--window-size=1400,1000")
    assert complaints == []
    hidden = {name: int(table.attributes["data-hidden"]) for name, table in found.tables.items()}
    # The measure can fail: the table of all results is wider than the screen, and scrolls.
    assert hidden["all_results"] > 0
    for name in ("datasets", "deviations", "verdicts_paper", "verdicts_corrected_paper"):
        assert hidden[name] == 0, name


def test_nothing_is_wider_than_a_phone(opened, partial_page, tmp_path):
    script = """
      const root = document.documentElement;
      parent.postMessage(`${root.scrollWidth - root.clientWidth} beyond ${innerWidth}`, "*");
    """
    changed = clicking(partial_page, tmp_path, script)
    # No window is as narrow as a phone, but a frame can be.
    frame = tmp_path / "frame.html"
    listen = "addEventListener('message', (event) => { document.body.dataset.told = event.data; })"
    frame.write_text(f"<body><script>{listen}</script><iframe width=360 height=640 src={changed.name}></iframe>")
    page, complaints = opened(frame)
    assert complaints == []
    assert page.values("data-told") == ["0 beyond 360"]


def test_complaints_would_be_seen(opened, partial_page, tmp_path):
    _, complaints = opened(clicking(partial_page, tmp_path, "nothing.of.the.kind()"))
    assert any("nothing is not defined" in line for line in complaints)
    # And the policy of the page keeps out a script that came in with a text.
    html = partial_page.read_text(encoding="utf-8")
    evil = tmp_path / "evil.html"
    evil.write_text(html.replace("</main>", "<script>document.title = 'evil'</script></main>"), encoding="utf-8")
    page, complaints = opened(evil)
    assert any("Content Security Policy" in line for line in complaints)
    assert "evil" not in page.texts


def texts(row):
    return [cell.text for cell in row.values()]
