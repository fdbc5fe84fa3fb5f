"""The checklist of a report: numbered as TRIPOD+AI is, each item with a status, and links that lead somewhere."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.models import CoxRegression, WeibullAFT
from aldsurv.models.updating.updated_survival import UpdatedSurvival
from aldsurv.reports.model.checklist.checklist_section import answer_items
from aldsurv.reports.model.checklist.items import ITEMS
from aldsurv.reports.model.checklist.study import Study
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.model_page import model_report
from aldsurv.reports.model.quality.findings import compute_findings
from aldsurv.reports.model.specification.specification import specify
from aldsurv.reports.page.page import render_page
from reports.known_model import KnownScale, even_rows
from reports.parsed import ParsedPage
from reports.undrawn import leave_pictures_undrawn, resample_little

# Collins et al., BMJ 2024;385:e078378, table 2: numbers of the items, and whether each is about development (D),
# evaluation (E) or both (B).
PUBLISHED = (
    "1B 2B 3aB 3bB 3cB 4B 5aB 5bB 6aB 6bB 6cB 7B 8aB 8bB 8cB 9aD 9bB 9cB 10B 11B 12aD 12bD 12cD 12dB 12eB 12fE 12gE "
    "13B 14B 15D 16B 17B 18aB 18bB 18cB 18dB 18eB 18fB 19B 20aB 20bB 20cE 21B 22D 23aB 23bB 24E 25B 26B 27aD 27bD 27cB"
)
KINDS = {"D": "D", "E": "E", "D;E": "B"}
# What no table of rows can answer.
FOR_AUTHORS = {
    "2",
    "3a",
    "3c",
    "6a",
    "6b",
    "6c",
    "8b",
    "8c",
    "9c",
    "17",
    "18a",
    "18b",
    "18c",
    "18d",
    "18e",
    "19",
    "27c",
}


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    x = {"age": rng.normal(60, 10, n), "sex": rng.choice(np.array(["f", "m"], object), n)}
    event, censoring = np.exp(3 - 0.04 * (x["age"] - 60)) * rng.weibull(1.5, n), rng.exponential(40, n)
    return x, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture
def undrawn(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    resample_little(monkeypatch)


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        leave_pictures_undrawn(patch)
        resample_little(patch)
        model = WeibullAFT(unit="months").fit(*made_up(200, 1))
        return model_report(model, *made_up(120, 2), source="test.csv", event_name="relapse")


def test_numbers_and_kinds_are_those_published():
    assert " ".join(f"{item.number}{KINDS[item.kind]}" for item in ITEMS) == PUBLISHED
    assert len(ITEMS) == 52
    assert len({int(item.number.rstrip("abcdefg")) for item in ITEMS}) == 27
    assert all(15 < len(item.asks) < 90 and item.asks.endswith(".") for item in ITEMS)


def test_every_item_has_a_status_and_some_are_for_the_author(report):
    answers = {each.item.number: each.answer for each in report.checklist}
    assert list(answers) == [item.number for item in ITEMS]
    assert {answer.status for answer in answers.values()} == {"filled", "partly", "open"}
    assert all(
        (answer.status == "filled") != ("To be written by the author" in answer.text) for answer in answers.values()
    )
    assert all(answers[number].status == "open" for number in FOR_AUTHORS)
    assert {"12b", "12e", "15", "21", "22", "23a"} <= {n for n, answer in answers.items() if answer.status == "filled"}


def test_the_table_on_the_page_is_the_checklist_and_links_to_its_sections(report):
    html = render_page(report.page)
    page = ParsedPage(html)
    records = page.tables["checklist"].records()
    assert [record["item"].text for record in records] == [item.number for item in ITEMS]
    assert [record["status"].text for record in records] == [each.answer.status for each in report.checklist]
    ids = set(page.values("id"))
    linked = [each.answer.anchor for each in report.checklist if each.answer.anchor]
    assert set(linked) <= ids
    assert len(linked) > 25
    for anchor in set(linked):
        assert html.count(f'<a href="#{anchor}">') == linked.count(anchor) + 1


def test_sentences_have_the_numbers_of_the_rows(report):
    answers = {each.item.number: each.answer.text for each in report.checklist}
    _, train = made_up(200, 1)
    _, test = made_up(120, 2)
    development, evaluation = f"200 rows with {train.n_events} events", f"120 rows with {test.n_events} events"
    assert answers["21"] == f"Development: {development}. Evaluation: {evaluation}."
    assert "test.csv" in answers["5a"]
    assert "time to relapse" in answers["8a"]
    assert f"{train.time.max():.3g} months" in answers["8a"]
    assert f"{test.n_events} with and {120 - test.n_events} without" in answers["20a"]
    assert f"C {report.findings.value('harrell_c'):.3f}" in answers["23a"]


def answers_of(model, x, y):
    """The answers alone, without a page."""
    evaluated = EvaluatedModel.on_rows(model, x, y, train=None, unit=None, seed=0)
    study = Study(
        evaluated, compute_findings(evaluated), specify(model, ColumnLabels()), (), 0, None, frozenset(), False
    )
    return {each.item.number: each.answer for each in answer_items(study)}


def test_answers_follow_from_what_was_done(undrawn):
    x, y = made_up(200, 1)
    other, outcome = made_up(120, 2)
    seen = answers_of(CoxRegression().fit(x, y.with_weight(np.full(200, 2.0))), other, outcome)
    assert seen["13"].status == "partly"
    assert "400" in seen["13"].text
    # No page, no sections to link to.
    assert {answer.anchor for answer in seen.values()} == {""}
    own = answers_of(CoxRegression().fit(x, y), x, y)
    assert "apparent" in own["4"].text
    assert "the same rows" in own["12a"].text
    updated = answers_of(UpdatedSurvival(WeibullAFT().fit(x, y), rung="intercept").fit(other, outcome), other, outcome)
    assert "updated by intercept on 120 rows" in updated["12f"].text
    assert updated["22"].status == "partly"
    # A model that keeps no facts about its training rows.
    unknown = answers_of(KnownScale(), *even_rows(120))
    assert (unknown["21"].status, unknown["16"].status) == ("partly", "open")


def test_intended_use_states_the_limits_and_marks_open_places(report):
    use = report.use.to_dict()
    limits = " ".join(entry["text"] for entry in use["limits"])
    assert f"beyond {report.subject.follow_up:.3g} months" in limits
    basis = {entry["about"]: entry["text"] for entry in use["basis"]}
    assert "time to relapse, in months" in basis["What is predicted"]
    assert "2 columns: age, sex" in basis["What it needs to know"]
    html = render_page(report.page)
    assert html.count("To be written by the author.</strong>") == len(use["open_places"]) > 3
