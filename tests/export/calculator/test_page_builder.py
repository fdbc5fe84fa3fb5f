"""What is in a page: the model's own bytes, settings that stay text, a policy without network, and its size."""

from __future__ import annotations

import base64
import hashlib
import re
import zlib

import numpy as np
import pytest
from reports.parsed import ParsedPage

from aldsurv.errors import AldsurvWarning, ColumnWarning, ParameterError
from aldsurv.export.calculator import build_page, page_builder
from aldsurv.export.calculator.page_times import default_times
from aldsurv.models.persistence import load
from export.calculator.conftest import EVIL, settings_of


def test_the_whole_model_file_is_inside(cox_file):
    page = ParsedPage(build_page(cox_file))
    (found,) = (attributes for tag, attributes in page.tags if attributes.get("id") == "model-data")
    content = zlib.decompress(base64.b64decode(page.scripts[1]), -15)
    assert content == cox_file.read_bytes()
    assert int(found["data-size"]) == len(content)


def test_a_model_and_its_file_give_the_same_page(cox_model, cox_file):
    assert build_page(cox_model) == build_page(cox_file)


def test_policy_allows_its_own_script_and_style_only(cox_file):
    html = build_page(cox_file)
    page = ParsedPage(html)
    (policy,) = (found["content"] for tag, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"

    def digest(text):
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    assert rules["script-src"] == digest(page.scripts[-1])
    assert rules["style-src"] == digest(page.styles[0])
    assert page.values("src") == []
    assert set(page.values("href")) == {"#results"}
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", html) == []


def test_names_and_texts_with_html_stay_text(cox_file):
    labels = {EVIL: {"label": EVIL, "unit": EVIL, "levels": {"no": EVIL}}}
    html = build_page(cox_file, labels=labels, title=EVIL, event_name=EVIL, unit=EVIL, use=EVIL)
    page = ParsedPage(html)
    assert [tag for tag, _ in page.tags].count("script") == 3
    assert "img" not in {tag for tag, _ in page.tags}
    assert len(page.scripts) == 3
    assert any(text == EVIL for text in page.texts)
    settings = settings_of(html)
    assert settings["event"] == settings["unit"] == EVIL
    assert settings["labels"][EVIL] == labels[EVIL]


def test_a_column_called_like_a_place_of_the_template_stays_so(cox_file):
    page = build_page(cox_file, title="{{model}} {{script}}")
    assert "<h1>{{model}} {{script}}</h1>" in page


def test_settings_are_those_given_or_of_the_model(cox_file):
    facts = load(cox_file).trained_on_
    settings = settings_of(build_page(cox_file))
    assert settings["unit"] == "months"
    assert settings["event"] is None
    assert 0 < settings["times"][0] <= settings["times"][-1] <= facts.follow_up
    settings = settings_of(build_page(cox_file, times=[60, 12, 12], event_name=" death\n", unit="years"))
    assert settings["times"] == [12, 60]
    assert (settings["event"], settings["unit"]) == ("death", "years")


def test_facts_about_training_are_on_the_page(cox_file):
    page, facts = ParsedPage(build_page(cox_file, use="For nobody yet")), load(cox_file).trained_on_
    text = " ".join(page.texts)
    assert f"{facts.rows} rows, {facts.known_events} events" in text
    assert "For nobody yet." in text
    assert "Not medical advice." in text


@pytest.mark.parametrize("times", [[0.0, 3.0], [-1.0], [np.nan], [np.inf], [], range(1, 14), ["soon"]])
def test_times_that_are_none_are_refused(cox_file, times):
    with pytest.raises(ParameterError, match="times must be"):
        build_page(cox_file, times=times)


def test_times_far_beyond_training_are_refused(cox_model):
    last = cox_model.unique_times_[-1]
    with pytest.raises(ParameterError, match=r"times must be at most .*, 10 times the last time of training"):
        build_page(cox_model, times=[12, 11 * last])
    assert settings_of(build_page(cox_model, times=[9 * last]))["latest"] == pytest.approx(10 * last, rel=1e-3)


def test_labels_of_other_columns_are_noted(cox_file):
    with pytest.warns(ColumnWarning, match="'weight'"):
        build_page(cox_file, labels={"weight": "Weight"})


def test_a_model_with_an_encoder_is_refused(cox_model, monkeypatch):
    monkeypatch.setattr(cox_model, "features_", None)
    with pytest.raises(ParameterError, match="no page can run it"):
        build_page(cox_model)


def test_large_pages_are_noted_with_their_size(cox_file, monkeypatch):
    monkeypatch.setattr(page_builder, "MOST_BYTES", 50_000)
    with pytest.warns(AldsurvWarning, match=r"the page has 0\.\d MB, more than 0\.05"):
        build_page(cox_file)


def test_the_page_of_a_small_model_is_small(cox_file):
    assert len(build_page(cox_file).encode()) < page_builder.MOST_BYTES / 2


@pytest.mark.parametrize("end", [1e-3, 0.37, 1.0, 9.99, 84.0, 2500.0, 1e6])
@pytest.mark.parametrize("unit", [None, "days", "months", "parsecs"])
def test_default_times_are_round_and_within_follow_up(end, unit):
    times = default_times(end, unit)
    assert 1 <= len(times) <= 3
    assert all(0 < time <= end for time in times)
    assert list(times) == sorted(set(times))
    assert times[-1] >= end / 4
