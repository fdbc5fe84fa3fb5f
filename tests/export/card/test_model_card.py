from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import (
    CauseSpecificCox,
    CoxRegression,
    ElasticNetAFT,
    ElasticNetCox,
    FineGray,
    StackedSurvival,
    SurvivalData,
    WeibullAFT,
    metrics,
)
from aldsurv.errors import DataError, ParameterError
from aldsurv.export.card import card_json, card_markdown, model_card, write_model_card
from aldsurv.nonparametric import kaplan_meier
from aldsurv.registry import MODELS
from bench.model_cases import encoder

from .parsed_markdown import KNOWN_TAGS, ParsedMarkdown

FROZEN = Path(__file__).parents[2] / "models" / "frozen"
FILES = json.loads((FROZEN / "predictions.json").read_text(encoding="utf-8"))["files"]
EVIL = "<b>a|b</b>"
CAUSES = {1: "relapse", 2: "death"}
ENTRIES = [
    "schema", "schema_version", "written_by", "title", "model", "intended_use", "training", "columns", "performance",
    "subgroups", "limits", "updates",
]  # fmt: skip
SECTIONS = [
    "Model details", "Intended use", "Training data", "Columns", "How it was fitted", "Performance", "Limits",
    "Update history", "How to reproduce",
]  # fmt: skip


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(60, 10, n), EVIL: np.where(rng.random(n) < 0.4, "x|y", "*z*").astype(object)}
    event = np.exp(3 - 0.04 * (columns["age"] - 60)) * rng.weibull(1.5, n)
    censoring = rng.exponential(40, n)
    return columns, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture(scope="module")
def model():
    return WeibullAFT(unit="months").fit(*made_up(300, 1))


@pytest.fixture(scope="module")
def card(model):
    columns, data = made_up(200, 2)
    return model_card(model, columns, data, times=[10, 20], groups={EVIL: columns[EVIL]}, source="test.csv")


@pytest.fixture(scope="module")
def document(card):
    return json.loads(card_json(card))


@pytest.fixture(scope="module")
def parsed(card):
    return ParsedMarkdown(card_markdown(card))


def about(document, title):
    return [entry["text"] for entry in document["limits"] if entry["about"] == title]


@pytest.mark.parametrize("name", FILES)
def test_every_frozen_model_has_a_card(name):
    if FILES[name]["encoder"]:
        pytest.importorskip("torch")
    model = aldsurv.load(FROZEN / name, encoder=encoder if FILES[name]["encoder"] else None)
    made = model_card(model, model_file=FROZEN / name)
    document = json.loads(card_json(made))
    assert list(document) == ENTRIES
    assert document["model"]["class"] == FILES[name]["model"]
    assert document["training"]["rows"] == model.trained_on_.rows
    assert document["training"]["fingerprint"] == model.trained_on_.fingerprint
    assert document["performance"] is None
    parsed = ParsedMarkdown(card_markdown(made))
    assert [head for head in parsed.headings if head in SECTIONS] == SECTIONS
    assert parsed.tags <= KNOWN_TAGS
    for table in parsed.tables:
        assert len({len(row) for row in table}) == 1
    columns = {plan.name for plan in model.innermost.features_.columns} if model.innermost.features_ else set()
    if columns:
        assert {row["Column"] for row in parsed.table("Column", "Input of the model")} == columns
    settings = {row["Setting"] for row in parsed.table("Setting", "Value")}
    assert settings == set(document["model"]["settings"])


LATER = {
    "coxnet": ElasticNetCox(alpha=0.1, l1_ratio=0.5),
    "aftnet": ElasticNetAFT(alpha=0.1, l1_ratio=0.5),
    "fine_gray": FineGray(),
    "cause_specific_cox": CauseSpecificCox(),
    "stack": StackedSurvival([("cox", CoxRegression()), ("aft", WeibullAFT())]),
}


def test_every_registered_model_is_frozen_or_later():
    frozen = {entry["model"] for entry in FILES.values()}
    others = [record.name for record in MODELS.records() if record.location.partition(":")[2] not in frozen]
    assert set(others) == set(LATER), others


@pytest.mark.parametrize("name", LATER)
def test_models_of_later_versions_have_a_card(name):
    rng = np.random.default_rng(7)
    x, time, cause = (
        {"a": rng.normal(size=80), "b": rng.normal(size=80)},
        rng.exponential(9, 80),
        rng.integers(0, 3, 80),
    )
    fitted = copy.deepcopy(LATER[name])
    data = SurvivalData.competing(time, cause, names=CAUSES) if fitted.TAKES_CAUSES else (time, cause > 0)
    parsed = ParsedMarkdown(card_markdown(model_card(fitted.fit(x, data))))
    assert [head for head in parsed.headings if head in SECTIONS] == SECTIONS
    assert parsed.item("Rows:") == "80"


def test_metrics_are_those_that_the_library_computes(model, document):
    columns, data = made_up(200, 2)
    predicted = model.predict_distribution(columns)
    scores = document["performance"]["metrics"]
    c = metrics.bootstrap(
        "harrell_c", -model.predict(columns), data, samples=200, random_state=0
    )  # ranks of predict are those of the metric
    assert scores["harrell_c"]["value"] == pytest.approx(metrics.concordance_harrell(-model.predict(columns), data))
    assert (scores["harrell_c"]["lower"], scores["harrell_c"]["upper"]) == pytest.approx((c.lower, c.upper))
    error = metrics.bootstrap("ibs", predicted, data, train=data, samples=200, random_state=0)
    assert list(scores["ibs"].values()) == pytest.approx([error.value, error.lower, error.upper])
    slope = metrics.calibration_slope(predicted, data)
    assert list(scores["calibration_slope"].values()) == pytest.approx(list(slope[:3]))
    ratio = metrics.observed_expected_ratio(predicted, data, 20.0)
    (at,) = (entry for entry in document["performance"]["times"] if entry["time"] == 20)
    assert list(at["observed_expected_ratio"].values()) == pytest.approx(list(ratio[:3]))
    assert at["events"] == int((data.event & (data.time <= 20)).sum())
    test = metrics.d_calibration(predicted, data)
    assert document["performance"]["d_calibration_p"] == pytest.approx(test.p_value)


def test_the_text_has_the_numbers_of_the_document(parsed, document):
    scores = document["performance"]["metrics"]
    by_name = {row["Metric"]: row for row in parsed.table("Metric", "Value")}
    c, printed = scores["harrell_c"], by_name["Harrell's C"]
    assert printed["Value"] == f"{c['value']:.3f}"
    assert printed["95 % interval"] == f"{c['lower']:.3f} to {c['upper']:.3f}"
    times = parsed.table("By", "Events")
    assert [row["By"] for row in times] == ["10 months", "20 months"]
    assert [row["Events"] for row in times] == [str(entry["events"]) for entry in document["performance"]["times"]]


def test_subgroups_have_their_sizes_and_kaplan_meier_with_limits(document, parsed):
    columns, data = made_up(200, 2)
    groups, horizon = document["subgroups"]["groups"], document["subgroups"]["horizon"]
    assert [group["group"] for group in groups] == ["*z*", "x|y"]
    for group in groups:
        rows = columns[EVIL] == group["group"]
        assert (group["rows"], group["events"]) == (rows.sum(), data.event[rows].sum())
        assert group["observed"] == pytest.approx(float(kaplan_meier(data[rows]).survival_at(horizon)))
        assert group["difference"]["lower"] < group["difference"]["value"] < group["difference"]["upper"]
        assert group["difference"]["value"] == pytest.approx(group["expected"] - group["observed"])
    shown = parsed.table("Column", "Group")
    assert [(row["Column"], row["Group"], row["Rows"]) for row in shown] == [
        (EVIL, group["group"], str(group["rows"])) for group in groups
    ]


def test_several_columns_of_subgroups(model):
    columns, data = made_up(200, 2)
    groups = {EVIL: columns[EVIL], "ward": np.arange(200) % 4}
    made = json.loads(card_json(model_card(model, columns, data, groups=groups)))
    assert [group["column"] for group in made["subgroups"]["groups"]] == [EVIL] * 2 + ["ward"] * 4
    with pytest.raises(DataError, match="one value of 'ward'"):
        model_card(model, columns, data, groups={"ward": np.arange(3)})


def test_open_places_are_marked(card, document):
    text = card_markdown(card)
    places = document["intended_use"]["open"]
    assert len(places) == 6
    for place in places:
        assert f"**To be filled in:** {place['about']}: {place['text']}" in text


def test_without_rows_performance_is_an_open_place(model):
    text = card_markdown(model_card(model))
    performance = text.partition("## Performance")[2].partition("##")[0]
    assert "**To be filled in:**" in performance
    assert "Harrell" not in text


def test_training_rows_are_warned_of(model, parsed):
    columns, data = made_up(300, 1)
    made = model_card(model, columns, data)
    assert json.loads(card_json(made))["performance"]["training_rows"] is True
    assert any(
        text.startswith("These seem to be the training rows") for text in ParsedMarkdown(card_markdown(made)).paragraphs
    )
    assert not any("training rows: the numbers" in text for text in parsed.paragraphs)


def test_what_the_file_knows_of_training_is_there(model, parsed):
    facts = model.trained_on_
    assert parsed.item("Rows:") == "300"
    assert parsed.item("Events:").startswith(f"{facts.events} (")
    assert parsed.item("Unit of time:") == "months"
    assert parsed.item("SHA-256 of the training rows, as numbers:") == facts.fingerprint
    rows = {row["Column"]: row for row in parsed.table("Column", "Input of the model")}
    assert rows[EVIL]["In training"] == "*z*, x|y"


@pytest.mark.parametrize(
    ("events", "outside"), [(True, ["Few events", "Few events for the columns"]), (False, [])], ids=["few", "many"]
)
def test_limits_follow_from_the_training_rows(events, outside):
    n = 12 if events else 400
    rng = np.random.default_rng(3)
    x = {"a": rng.normal(size=n), "b": rng.normal(size=n)}
    fitted = WeibullAFT().fit(x, (rng.weibull(1.5, n) + 0.1, np.ones(n)))
    titles = [entry["about"] for entry in json.loads(card_json(model_card(fitted)))["limits"]]
    assert [title for title in titles if title.startswith("Few")] == outside
    assert {"Times beyond follow-up", "Gaps", "Other events", "No effects of a change"} <= set(titles)


def test_rare_levels_and_gaps_are_named():
    rng = np.random.default_rng(4)
    n = 400
    level = rng.choice(["a", "b"], n).astype(object)
    level[:40] = [f"rare {k}" for k in range(40)]
    age = rng.normal(size=n)
    age[::9] = np.nan
    fitted = WeibullAFT(categorical=["kind"]).fit({"kind": level, "age": age}, (rng.weibull(1.5, n), np.ones(n)))
    plans = {plan.name: plan for plan in fitted.features_.columns}
    document = json.loads(card_json(model_card(fitted, labels={"kind": "Kind of tumour"})))
    assert bool(about(document, "Rare levels")) == plans["kind"].other
    (gaps,) = about(document, "Gaps")
    assert "Kind of tumour" in gaps
    assert "age" not in gaps


def test_causes_have_their_numbers():
    rng = np.random.default_rng(5)
    x = {"a": rng.normal(size=300)}
    data = SurvivalData.competing(rng.exponential(10, 300), rng.integers(0, 3, 300), names=CAUSES)
    fitted = CauseSpecificCox().fit({"a": x["a"][:150]}, data[np.arange(150)])
    made = model_card(fitted, {"a": x["a"][150:]}, data[np.arange(150, 300)], times=[5])
    document = json.loads(card_json(made))
    assert document["model"]["causes"] == ["relapse", "death"]
    counts = [data[np.arange(150, 300)].of_cause(name).n_events for name in ("relapse", "death")]
    assert [entry["events"] for entry in document["performance"]["causes"]] == counts
    assert about(document, "Several causes")
    parsed = ParsedMarkdown(card_markdown(made))
    assert "Several causes" in parsed.headings
    assert parsed.tags <= KNOWN_TAGS


def test_rows_within_bounds_say_what_is_not_defined(model):
    columns, data = made_up(200, 2)
    bounds = SurvivalData.interval(data.time * 0.9, np.where(data.event, data.time * 1.1, np.inf))
    made = model_card(model, columns, bounds, groups={EVIL: columns[EVIL]})
    document = json.loads(card_json(made))
    assert document["performance"]["metrics"]["harrell_c"]["value"] is None
    assert document["performance"]["metrics"]["log_likelihood"]["value"] < 0
    assert document["performance"]["undefined"]
    assert document["subgroups"] is None
    assert "not defined" in card_markdown(made)


def test_updates_are_listed(model):
    columns, data = made_up(150, 6)
    updated = aldsurv.update_model(model, columns, data).model
    steps = json.loads(card_json(model_card(updated)))["updates"]
    assert [step["rows"] for step in steps] == [150]
    assert ParsedMarkdown(card_markdown(model_card(updated))).item("Update 1:") == str(updated.ancestry_[0])


def test_front_matter_is_yaml_before_the_heading(card):
    yaml = pytest.importorskip("yaml")
    text = card_markdown(card, front_matter=True)
    _, header, rest = text.split("---\n", 2)
    assert yaml.safe_load(header) == {
        "library_name": "aldsurv", "license": "unknown", "tags": ["survival-analysis", "tabular", "weibull_aft"]
    }  # fmt: skip
    assert rest.lstrip() == card_markdown(card)


def test_files_by_their_ending(card, tmp_path):
    assert write_model_card(card, tmp_path / "a.md").read_text(encoding="utf-8") == card_markdown(card)
    assert json.loads(write_model_card(card, tmp_path / "a.json").read_text(encoding="utf-8"))["title"] == card.title
    with pytest.raises(ParameterError, match=r"neither in \.md nor in \.json"):
        write_model_card(card, tmp_path / "a.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.md"]


def test_the_same_input_gives_the_same_card(model, card):
    columns, data = made_up(200, 2)
    again = model_card(model, columns, data, times=[20, 10], groups={EVIL: columns[EVIL]}, source="test.csv")
    assert card_json(again) == card_json(card)
    assert card_markdown(replace(again, title="other")) != card_markdown(card)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": [5]}, "times needs rows"), ({"groups": {"a": [1]}}, "groups needs rows"),
        ({"X": {"age": [1.0]}}, "together"), ({"random_state": -1}, "random_state"),
        ({"event_name": "a\nb"}, "event_name"), ({"labels": 3}, "labels"),
    ],
)  # fmt: skip
def test_wrong_arguments(model, options, message):
    with pytest.raises(ParameterError, match=message):
        model_card(model, **options)
