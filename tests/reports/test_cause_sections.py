"""What a model's report says of several causes."""

from __future__ import annotations

import numpy as np
import pytest
from inspection.known_causes import KnownCauses, drawn_rows

from aldsurv import SurvivalData
from aldsurv.nonparametric import aalen_johansen
from aldsurv.reports.model.causes import cause_findings
from aldsurv.reports.model.causes.cause_findings import compute_cause_findings
from aldsurv.reports.model.causes.cause_sections import cause_cautions, cause_people_section, cause_section
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.individual_sections import describe_outcome
from aldsurv.reports.page.number_format import either_of
from aldsurv.reports.page.page_figures import Gallery
from aldsurv.reports.page.page_tables import PageTable


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> EvaluatedModel:
    monkeypatch.setattr(cause_findings, "RESAMPLES", 4)
    x, y = drawn_rows(300)
    return EvaluatedModel.on_rows(KnownCauses(), x, y, train=None, unit="months", seed=0)


def test_findings_of_a_true_model(evaluated):
    findings = compute_cause_findings(evaluated, 5.0)
    data = evaluated.data
    observed = aalen_johansen(data).incidence_at(5.0)
    predicted = KnownCauses().predict_incidence(evaluated.table.given).incidence(5.0).mean(axis=1)
    for number, each in enumerate(findings):
        assert each.cause == ("relapse", "death")[number]
        assert each.events == np.count_nonzero(data.cause == number + 1)
        assert (each.predicted, each.observed) == pytest.approx((predicted[number], observed[number]))
        assert each.limits[0] < each.observed < each.limits[1]
        assert each.scores["harrell_c"].value > 0.6
        assert 0 < each.skill < 1
    assert compute_cause_findings(EvaluatedModel.on_rows(
        KnownCauses(), evaluated.table.given, data.of_cause(1), train=None, unit=None, seed=0
    ), 5.0) == ()  # fmt: skip


def test_tables_and_pictures(evaluated):
    findings = compute_cause_findings(evaluated, 5.0)
    section = cause_section(evaluated, findings)
    counts, scores = (block for block in section.blocks if isinstance(block, PageTable))
    assert [row[0].text for row in counts.cells] == ["relapse", "death", "censored"]
    assert sum(row[1].value for row in counts.cells) == len(evaluated.data)
    assert counts.columns[3].title == "Expected by 5 months"
    assert [column.title for column in scores.columns][1::2] == ["relapse", "death", "Meaning"]
    assert "cal_s_slope" in [row[0].name for row in scores.cells]
    people = cause_people_section(evaluated, np.array([4, 7]), evaluated.data)
    (gallery,) = (block for block in people.blocks if isinstance(block, Gallery))
    assert [picture.caption.split(".")[0] for picture in gallery.pictures] == ["Row 5", "Row 8"]
    assert describe_outcome(evaluated.data[4]) in gallery.pictures[0].caption


def test_cautions(evaluated):
    findings = compute_cause_findings(evaluated, 5.0)
    few = [each for each in findings if each.events < 100]
    assert any("Few events" in caution.title for caution in cause_cautions(evaluated, findings)) == bool(few)
    wrong = cause_findings.CauseFindings("death", 500, {}, np.nan, 5.0, 0.9, 0.2, (0.1, 0.3))
    (caution,) = cause_cautions(evaluated, [wrong])
    assert caution.text.endswith("death (expected 90 %, observed 20 %).")
    assert cause_cautions(evaluated, ()) == []


def test_outcomes_and_names_in_words():
    data = SurvivalData.competing([3, 4, 5], [1, 0, 2], names=["relapse", "death"])
    assert [describe_outcome(data[row]) for row in range(3)] == ["relapse at 3", "event-free until 4", "death at 5"]
    assert describe_outcome(SurvivalData.right([3], [True])) == "event at 3"
    assert (either_of(["a"]), either_of(["a", "b"]), either_of(["a", "b", "c"])) == ("a", "a or b", "a, b or c")
