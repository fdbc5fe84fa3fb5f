"""Labels of columns and levels, and the name of the event, everywhere on the page."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.errors import ColumnWarning, ParameterError
from aldsurv.models import CoxRegression, WeibullAFT
from aldsurv.reports import ColumnLabels, read_labels, write_model_report
from aldsurv.reports.model.model_page import model_report
from aldsurv.reports.page import page_figures
from aldsurv.reports.page.page import render_page
from reports.parsed import ParsedPage
from reports.undrawn import leave_pictures_undrawn, resample_little

LABELS = {
    "qage": {"label": "Age at entry", "unit": "years"},
    "qsex": {"label": "Sex", "levels": {"qf": "woman", "qm": "man"}},
    "qflag": {"label": "Smoker", "levels": {"0": "never", "1": "ever"}},
    "qward": {"levels": {"qn": "north"}, "label": "Ward"},
}
CSV = """column,label,unit,level
qage,Age at entry,years,
qsex,Sex,,
qsex,woman,,qf
qsex,man,,qm
qflag,Smoker,,
qflag,never,,0
qflag,ever,,1
qward,north,,qn
qward,Ward,,
"""


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    x = {
        "qage": rng.normal(60, 10, n),
        "qsex": rng.choice(np.array(["qf", "qm"], object), n),
        "qflag": rng.integers(0, 2, n).astype(float),
    }
    event = np.exp(3 - 0.04 * (x["qage"] - 60) - 0.5 * x["qflag"]) * rng.weibull(1.5, n)
    censoring = rng.exponential(40, n)
    return x, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture(scope="module")
def tables():
    return made_up(250, 1), made_up(150, 2)


@pytest.fixture
def undrawn(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    resample_little(monkeypatch)


def test_labels_appear_and_raw_names_do_not(tables, tmp_path, monkeypatch):
    texts = []

    def saved(figure, path, **given):
        texts.extend(text.get_text() for text in figure.findobj(match=lambda part: "get_text" in dir(part)))
        path.write_text("<svg viewBox='0 0 1 1'></svg>", encoding="utf-8")
        return path

    monkeypatch.setattr(page_figures, "save_figure", saved)
    resample_little(monkeypatch)
    model = CoxRegression(unit="months").fit(*tables[0])
    labels = {name: label for name, label in LABELS.items() if name != "qward"}
    path = write_model_report(model, *tables[1], tmp_path / "report.html", labels=labels, event_name="relapse")
    html = re.sub(r'src="[^"]*"', "", path.read_text(encoding="utf-8"))
    # Not those of the script and the style.
    page = html[html.index("<body") : html.rindex("<script>")]
    for raw in ("qage", "qsex", "qflag", "qf", "qm"):
        assert re.search(rf"\b{raw}\b", page) is None, raw
        assert not any(re.search(rf"\b{raw}\b", text) for text in texts), raw
    tables_ = ParsedPage(html).tables
    assert [row["column"].text for row in tables_["columns"].records()] == ["Age at entry (years)", "Sex", "Smoker"]
    assert {row["name"].text for row in tables_["coefficients"].records()} == {
        "Age at entry (years)", "Sex=man", "Smoker",
    }  # fmt: skip
    assert {row["group"].text for row in tables_["groups"].records()} >= {"woman", "man", "never", "ever"}
    for title in ("Age at entry (years)", "Sex", "Smoker", "woman", "ever"):
        assert title in texts
    assert "time to relapse" in page
    assert "without relapse until" in page
    assert any("probability of relapse by" in text for text in texts)
    assert "probability without relapse" in texts
    assert "relapse" in texts
    heads = [head.text for head in tables_["people"].heads]
    assert {"Predicted median (months)", "Observed (months)"} <= set(heads)


def test_a_file_of_either_kind_says_the_same(tmp_path):
    (tmp_path / "labels.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "labels.json").write_text(json.dumps(LABELS), encoding="utf-8")
    expected = ColumnLabels.of(LABELS)
    assert read_labels(tmp_path / "labels.csv") == expected
    assert ColumnLabels.of(tmp_path / "labels.json") == expected
    assert expected.column("qage") == "Age at entry (years)"
    assert expected.level("qflag", 1.0) == "ever"
    assert expected.level("qsex", "other") == "other"
    assert ColumnLabels.of({"a": "A", "b": {"levels": {"true": "yes"}}}).level("b", True) == "yes"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", "{", "is not JSON"),
        ("a.json", "[1]", "must be labels by column"),
        ("a.json", '{"x": 3}', "must give 'x' a text"),
        ("a.json", '{"x": {"titel": "X"}}', "has 'titel' for 'x'"),
        ("a.json", '{"x": {"label": 3}}', "that are text"),
        ("a.json", '{"x": {"levels": ["a"]}}', "a text for each value"),
        ("a.json", '{"x": "A", "y": "A"}', "the same label 'A'"),
        ("a.csv", "name,label\nx,X\n", "must have the columns column and label"),
        ("a.csv", "column,label,note\nx,X,n\n", "has the column 'note'"),
        ("a.csv", "column,label\n,X\n", "names no column in line 2"),
        ("a.csv", "column,label\nx,X\nx,Y\n", "labels 'x' twice, again in line 3"),
        ("a.csv", "column,label\nx,X,Y\n", "more fields than columns in line 2"),
        ("a.csv", b"column,label\nx,\xe9\n", "is not text in UTF-8"),
        ("nowhere.csv", None, "cannot be read"),
        ("", None, "cannot be read"),
    ],
)
def test_bad_files_of_labels_are_refused_in_one_line(tmp_path, name, content, problem):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ParameterError) as caught:
        read_labels(path)
    text = str(caught.value)
    assert problem in text
    assert str(path) in text
    assert "\n" not in text


def test_labels_of_other_columns_are_noted_and_those_of_groups_used(undrawn, tables):
    model = WeibullAFT().fit(*tables[0])
    ward = np.where(np.arange(150) % 2, "qn", "qs")
    with pytest.warns(ColumnWarning, match="labels names 'zzz', which the model does not use: this label is not shown"):
        report = model_report(model, *tables[1], labels={**LABELS, "zzz": "Z"}, group=("qward", ward))
    groups = ParsedPage(render_page(report.page)).tables["groups"].records()
    assert [(row["column"].text, row["group"].text) for row in groups] == [("Ward", "north"), ("Ward", "qs")]
    with pytest.raises(ParameterError, match="two columns the title 'qsex'"):
        model_report(model, *tables[1], labels={"qage": "qsex"})


@pytest.mark.parametrize("name", ["", "  ", "two\nlines", "x" * 61, 3])
def test_names_of_events_that_cannot_be(undrawn, tables, name):
    with pytest.raises(ParameterError, match="event_name must be a few words in one line"):
        model_report(WeibullAFT().fit(*tables[0]), *tables[1], event_name=name)
