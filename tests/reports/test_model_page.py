from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import ALDSurvival, SurvivalData, metrics
from aldsurv.distributions import Step
from aldsurv.errors import DataError, ParameterError
from aldsurv.models import BoostedALD, CoxRegression, ElasticNetCox, WeibullAFT
from aldsurv.nonparametric import kaplan_meier, survival_limits
from aldsurv.reports import write_model_report
from aldsurv.reports.model import evaluated_model
from aldsurv.reports.model.model_page import model_report
from aldsurv.reports.model.words import citation
from aldsurv.reports.page import number_format
from aldsurv.reports.page.page import render_page
from aldsurv.reports.page.page_tables import PageTable
from reports.browser import CHROMIUM, clicking, opened_page
from reports.known_model import BelowZero, KnownScale, even_rows
from reports.parsed import ParsedPage
from reports.undrawn import leave_pictures_undrawn, resample_little

EVIL = "<script>alert('x')</script> & \"quoted\" $\\frac{"
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    x = {
        "age": rng.normal(60, 10, n),
        EVIL: rng.normal(size=n),
        "grade": rng.choice(np.array(["I", "<b>II</b>"], object), n),
        "flag": rng.integers(0, 2, n).astype(float),
    }
    event = np.exp(3 - 0.04 * (x["age"] - 60) - 0.3 * x[EVIL] - 0.4 * (x["grade"] == "I")) * rng.weibull(1.5, n)
    censoring = rng.exponential(40, n)
    return x, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture(scope="module")
def tables():
    return made_up(300, 1), made_up(240, 2)


@pytest.fixture(scope="module")
def model(tables):
    return WeibullAFT(unit="months <i>").fit(*tables[0])


@pytest.fixture(scope="module")
def page(model, tables, tmp_path_factory):
    (_, train), (x, y) = tables
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert write_model_report(model, x, y, path, train=train, people=[0, 7, 239], title=f"Title {EVIL}") == path
    return path


@pytest.fixture(scope="module")
def parsed(page):
    return ParsedPage(page.read_text(encoding="utf-8"))


@pytest.fixture
def undrawn(monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    resample_little(monkeypatch)


def marginal(train, n):
    """The Kaplan-Meier curve of the training rows for everybody."""
    curve = kaplan_meier(train)
    return Step(curve.times, np.tile(curve.survival, (n, 1)))


def page_text(page):
    return " ".join(" ".join(page.texts).split())


def judged(report):
    """Findings of the verdicts at a glance by what they are about."""
    found = report.page.sections[0].blocks[2].verdicts
    return {verdict.about: verdict for verdict in found}


def test_the_numbers_are_those_of_the_metrics(parsed, model, tables):
    (_, train), (x, y) = tables
    predicted = model.predict_distribution(x)
    expected = {
        "harrell_c": metrics.concordance_harrell(predicted, y),
        "uno_c": metrics.concordance_uno(predicted, y, train=train),
        "ibs": metrics.integrated_brier_score(predicted, y, train=train),
        "mae": metrics.mean_absolute_error(predicted, y),
        "cens_dcal": metrics.censored_d_calibration(predicted, y),
        "cal_s_slope": metrics.survival_calibration(predicted, y).slope,
        "cal_s_intercept": metrics.survival_calibration(predicted, y).intercept,
        "cal_f_slope": metrics.density_calibration(predicted, y).slope,
        "cal_f_intercept": metrics.density_calibration(predicted, y).intercept,
        "log_likelihood": metrics.log_likelihood(predicted, y),
    }
    at = float(np.sort(y.time)[(len(y) - 1) // 2])
    by_formula = {}
    for function in (metrics.calibration_slope, metrics.observed_expected_ratio, metrics.calibration_in_the_large):
        by_formula[function.__name__] = function(predicted, y)
        by_formula[f"{function.__name__}_at"] = function(predicted, y, at)
    expected |= {name: result[0] for name, result in by_formula.items()}
    records = {record["metric"].name: record for record in parsed.tables["metrics"].records()}
    assert set(records) == set(expected)
    for name, value in expected.items():
        assert records[name]["value"].value == pytest.approx(value, rel=1e-8)
        assert float(records[name]["value"].text.replace("−", "-")) == pytest.approx(value, abs=5.0001e-4)
        if name in by_formula:
            shown = [float(text) for text in records[name]["interval"].text.replace("−", "-").split(" to ")]
            assert shown == pytest.approx(by_formula[name][1:3], abs=5.0001e-4)
            continue
        limits = metrics.bootstrap(
            name, predicted, y, train=train if name in ("ibs", "uno_c") else None, samples=200, random_state=0
        )
        shown = [float(text) for text in records[name]["interval"].text.replace("−", "-").split(" to ")]
        assert shown == pytest.approx([limits.lower, limits.upper], abs=5.0001e-4)
    text = page_text(parsed)
    assert f"Rows {len(y)}" in text
    assert f"Events {y.n_events}" in text
    assert f"Discrimination (C) {expected['harrell_c']:.3f}" in text
    for label, name in (
        ("Calibration slope", "calibration_slope"),
        ("Observed / expected", "observed_expected_ratio"),
    ):
        value, lower, upper = by_formula[f"{name}_at"][:3]
        assert f"{label} {value:.2f} at {at:.3g} months <i>, 95 % interval {lower:.2f} to {upper:.2f}; over" in text
        value, lower, upper = by_formula[name][:3]
        assert f"over all follow-up {value:.2f} ({lower:.2f} to {upper:.2f})" in text
    assert f"First curve, Cal[S]: slope {expected['cal_s_slope']:.3g}" in text
    assert f"Typical error {expected['mae']:.3g} months <i>" in text


def test_verdicts_and_averages_rest_on_these_numbers(parsed, model, tables):
    (_, train), (x, y) = tables
    predicted, text = model.predict_distribution(x), page_text(parsed)
    p = metrics.d_calibration(predicted, y).p_value
    assert f"p = {p:.3f}" in text
    coverage = metrics.interval_coverage(predicted, y, level=0.8)
    assert f"contains an estimated {100 * coverage.coverage:.0f} % of them" in text
    skill = metrics.brier_skill_score(predicted, y, train=train)
    gain = metrics.compare(
        predicted, marginal(train, len(y)), y, metric="ibs", train=train, samples=200, random_state=0
    )
    assert f"{100 * skill:.0f} % smaller" in text
    assert f"interval of the gain {-100 * gain.upper / gain.second:.1f} to" in text
    assert ("error reduced by" in text) == (gain.upper < 0)
    at = np.sort(y.time)[(len(y) - 1) // 2]
    mean, observed = predicted.survival(at).mean(), kaplan_meier(y).survival_at(at)
    assert (
        f"the model expects {100 * mean:.0f} % to be event-free, and Kaplan-Meier estimates {100 * observed:.0f} %"
        in text
    )


def test_people_are_shown_with_their_predictions(parsed, model, tables):
    x, y = tables[1]
    records = parsed.tables["people"].records()
    assert [record["row"].text for record in records] == ["row 1", "row 8", "row 240"]
    assert "band" not in records[0]
    rows = [0, 7, 239]
    predicted = model.predict_distribution({name: column[rows] for name, column in x.items()})
    at = np.quantile(y.time[y.event], [0.25, 0.75])
    for k, (row, record) in enumerate(zip(rows, records, strict=True)):
        assert record["median"].value == pytest.approx(predicted.median()[k], rel=1e-8)
        low, high = predicted.interval(0.8)[k]
        end = tables[0][1].time.max()
        shown = [f"over {end:.3g}" if limit > end else f"{limit:.3g}" for limit in (low, high)]
        assert record["interval"].text == " to ".join(shown)
        for j in range(2):
            assert record[f"at{j}"].value == pytest.approx(predicted.survival(at)[k, j], rel=1e-8)
        seen = "event at" if y.event[row] else "event-free until"
        assert record["seen"].text == f"{seen} {y.time[row]:.3g}"
        assert record["x2"].text == x["grade"][row]


def test_groups_are_those_of_the_rows(parsed, model, tables):
    x, y = tables[1]
    predicted = model.predict_distribution(x)
    records = parsed.tables["groups"].records()
    low, high = np.quantile(x["age"], [1 / 3, 2 / 3], method="inverted_cdf")
    masks = {
        ("grade", "I"): x["grade"] == "I",
        ("flag", "0"): x["flag"] == 0,
        ("age", f"up to {low:.4g}"): x["age"] <= low,
        ("age", f"over {high:.4g}"): x["age"] > high,
    }
    found = {(record["column"].text, record["group"].text): record for record in records}
    assert set(masks) <= set(found)
    horizon = np.sort(y.time)[(len(y) - 1) // 2]
    for name, mask in masks.items():
        here, rows = predicted[mask], y[mask]
        assert found[name]["rows"].value == mask.sum()
        assert found[name]["events"].value == rows.n_events
        assert found[name]["c"].value == pytest.approx(metrics.concordance_harrell(here, rows), rel=1e-8)
        difference = here.survival(horizon).mean() - kaplan_meier(rows).survival_at(horizon)
        assert found[name]["difference"].value == pytest.approx(100 * difference, rel=1e-6)
        assert found[name]["p"].value == pytest.approx(metrics.d_calibration(here, rows).p_value, rel=1e-7)
        assert found[name]["cens_dcal"].value == pytest.approx(metrics.censored_d_calibration(here, rows), rel=1e-6)
        assert found[name]["expected"].value == pytest.approx(here.survival(horizon).mean(), rel=1e-7)
        low, high = survival_limits(kaplan_meier(rows), horizon)
        limits = [100 * (found[name]["expected"].value - limit) for limit in (high, low)]
        shown = f"{100 * difference:+.1f} ({limits[0]:+.1f} to {limits[1]:+.1f})".replace("-", "−")
        assert found[name]["difference"].text == shown


def group_parts(report):
    """The sentences about subgroups, and their rows by name."""
    section = next(section for section in report.page.sections if section.anchor == "groups")
    table = section.blocks[1]
    keys = [column.key for column in table.columns]
    return section.blocks[0].text, {row[1].text: dict(zip(keys, row, strict=True)) for row in table.cells}


def test_the_worst_subgroup_is_the_worst(undrawn):
    """In ward b events come at half their predicted times, in c a little early, in d only 40 rows much earlier."""
    x, y = even_rows(2000)
    ward = np.repeat(["a", "b", "c", "d"], [660, 660, 640, 40]).astype(object)
    factor = np.select([ward == "b", ward == "c", ward == "d"], [0.5, 0.7, 0.2], 1.0)
    early = SurvivalData.right(y.time * factor, y.event)
    report = model_report(KnownScale(), x, early, group=("ward", ward))
    text, rows = group_parts(report)
    assert [rows[name]["verdict"].tone for name in "abcd"] == ["", "bad", "bad", ""]
    assert rows["d"]["verdict"].text == "too few rows"
    figures = {
        name: float(match[1])
        for name, row in rows.items()
        if (match := re.fullmatch(r"off by ([\d.]+) or more", row["verdict"].text))
    }
    assert max(figures, key=lambda name: figures[name]) == "b"
    by_ward = metrics.calibration_by_group(report.subject.predicted, early, ward)
    worst = next(group for group in by_ward.groups if group.group == "b")
    assert by_ward.worst == "b"
    assert worst.verdict.startswith("too high by ")
    assert "2 of 3 groups are off by more than chance explains, given their number; the worst is ward = b: " in text
    assert worst.verdict in text
    caution = dict(report.cautions)["Subgroups."]
    assert "off in ward = b, ward = c" in caution
    assert worst.verdict in caution


def test_subgroups_that_are_right_or_too_few_to_tell(undrawn):
    x, y = even_rows(2000)
    text, rows = group_parts(model_report(KnownScale(), x, y, group=("ward", np.arange(2000) % 2)))
    assert {row["verdict"].text for row in rows.values()} == {"right within 5 points"}
    assert "none of 2 groups are off by more than chance explains" in text
    few = {name: column[:160] for name, column in x.items()}
    report = model_report(KnownScale(), few, y[:160], group=("ward", np.arange(160) % 2))
    text, rows = group_parts(report)
    assert {row["verdict"].text for row in rows.values()} == {"too few to tell"}
    largest = max(rows, key=lambda name: abs(rows[name]["difference"].value))
    assert f", is that of ward = {largest}: too few to tell (" in text
    assert "Subgroups." not in dict(report.cautions)
    _, rows = group_parts(model_report(KnownScale(), few, y[:160], group=("ward", np.arange(160) % 4)))
    assert {row["verdict"].text for row in rows.values()} == {"too few rows"}


def test_text_of_others_is_text(page, parsed):
    html = page.read_text(encoding="utf-8")
    assert len(parsed.scripts) == 1
    assert "<script>alert" not in html
    assert "<b>II" not in html
    assert "months <i>" not in html
    assert EVIL in page_text(parsed)
    assert any(EVIL in cell.text for row in parsed.tables["columns"].rows for cell in row)


def test_the_page_needs_nothing_from_elsewhere(page, parsed):
    sources, ids = parsed.values("src"), parsed.values("id")
    assert len(sources) > 10
    assert all(source.startswith("data:image/svg+xml,") for source in sources)
    assert len(set(ids)) == len(ids)
    assert all(link.startswith("#") and link[1:] in ids for link in parsed.values("href"))
    assert all(len(alt) > 20 for alt in parsed.values("alt"))
    assert [path.name for path in page.parent.iterdir()] == ["report.html"]
    titles = ["At a glance", "What to be careful about", "Intended use and limits", "Participants", "The data"]
    titles += ["All subjects together", "Single subjects", "Calibration", "Calibration at chosen times"]
    titles += ["Groups by predicted risk", "Discrimination over time", "Decisions by the predicted risk"]
    titles += ["Predicted and observed", "What the predictions depend on", "Subgroups", "Times below zero"]
    titles += ["All numbers", "The model", "Checklist", "How to cite"]
    assert re.findall(r"<h2[^>]*>([^<]*)</h2>", page.read_text(encoding="utf-8")) == titles


def test_the_same_input_gives_the_same_page(undrawn, model, tables):
    first, again, other = (render_page(model_report(model, *tables[1], random_state=seed).page) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_parameters_of_mixtures_have_none(undrawn, tables):
    (x, y), (other, outcome) = tables
    for components in (1, 2):
        fitted = BoostedALD(components=components, members=2, max_rounds=3, random_state=0).fit(x, y)
        found = ParsedPage(render_page(model_report(fitted, other, outcome, people=[4, 9]).page))
        assert ("parameters" in found.values("id")) == (components == 1)


def test_parameters_of_an_ald_model_have_their_section(undrawn, tables):
    (x, y), (other, outcome) = tables
    small = {"max_epochs": 5, "members": 2, "hidden": (8,), "head_hidden": (4,), "random_state": 0, "device": "cpu"}
    fitted = ALDSurvival(support="real", components=1, **small).fit(x, y)
    found = ParsedPage(render_page(model_report(fitted, other, outcome, people=[4, 9]).page))
    assert "parameters" in found.values("id")
    assert {"figure-parameters_0", "figure-effect_0", "figure-importance"} <= set(found.values("id"))
    negative = fitted.predict_distribution(other).probability_negative()
    shown = re.search(r"Largest of any row ([\d.]+) %", page_text(found))
    assert shown is not None
    assert float(shown[1]) == pytest.approx(100 * negative.max(), abs=0.5)
    # Its members are shown apart, too.
    people = {name: column[[4, 9]] for name, column in other.items()}
    limits, end = np.stack(fitted.predict_time_band(people, point="median"), axis=1), y.time.max()
    shown = [record["band"].text for record in found.tables["people"].records()]
    assert shown == [" to ".join(f"over {end:.3g}" if t > end else f"{t:.3g}" for t in pair) for pair in limits]
    assert "how far the curve might move" in page_text(found)


def test_probabilities_that_come_true_are_called_right(undrawn):
    x, y = even_rows()
    report = model_report(KnownScale(), x, y)
    verdicts = judged(report)
    assert verdicts["Calibration"].finding == "good, no sign of miscalibration"
    assert {verdict.tone for verdict in verdicts.values()} == {"good"}
    assert report.findings.d_calibration.p_value == 1.0
    assert report.cautions == ()


@pytest.mark.parametrize(("factor", "direction"), [(2.0, "too short"), (0.5, "too long")])
def test_probabilities_that_do_not_come_true_are_called_wrong(undrawn, factor, direction):
    x, y = even_rows()
    report = model_report(KnownScale(), x, y.scaled(factor))
    verdict = judged(report)["Calibration"]
    assert verdict.tone == "bad"
    assert f"On average the predicted times are {direction}" in verdict.reason
    titles = [title for title, _ in report.cautions]
    assert "Poor calibration." in titles
    assert "Subgroups." in titles


def test_an_average_that_is_off_is_not_called_right(undrawn):
    # Hardly any event is seen, so that the histogram is spread evenly; the curve is off nevertheless.
    x, y = even_rows(2000)
    late = SurvivalData.right(np.minimum(y.time, 0.2), y.time <= 0.2)
    report = model_report(KnownScale(), x, SurvivalData.right(late.time, late.event & (np.arange(2000) % 2 == 0)))
    assert judged(report)["Calibration"].tone == "bad"
    assert "Poor calibration." in [title for title, _ in report.cautions]


def test_an_order_that_is_wrong_or_unknown_is_called_so(undrawn):
    x, y = even_rows()
    assert judged(model_report(KnownScale(power=-1.0), x, y))["Discrimination"].finding == "worse than chance"
    # All predictions alike: C is one half, and so are its limits.
    alike = judged(model_report(KnownScale(power=0.0), x, y))
    assert alike["Discrimination"].finding == "not distinguishable from chance"
    assert judged(model_report(KnownScale(power=-1.0), x, y))["Gain over no model"].finding == "worse than no model"
    few = slice(0, 15)
    short = model_report(KnownScale(), {name: column[few] for name, column in x.items()}, y[few])
    assert {verdict.finding for verdict in judged(short).values()} == {"too few events to say (15)"}
    same = judged(model_report(KnownScale(), x, SurvivalData.right(np.full(400, 3.0), np.ones(400, bool))))
    assert same["Discrimination"].finding == same["Gain over no model"].finding == "not defined here"
    assert "Few events." in [title for title, _ in short.cautions]


def test_what_lies_beyond_training_is_reported(undrawn, model, tables):
    x, y = even_rows()
    last = float(np.quantile(y.time, 0.9))
    found = dict(model_report(KnownScale(last=last, unit="days"), x, y).cautions)
    assert "10 % of the rows were observed beyond" in found["Beyond the follow-up of training."]
    late = 100 * np.mean(x["scale"] * np.log(2) > last)
    assert f"For {late:.1f} % of the rows" in found["Late medians."]
    (seen, _), (other, outcome) = tables
    age = other["age"].copy()
    age[:12] = 500.0
    cautions = dict(model_report(model, {**other, "age": age}, outcome).cautions)
    outside = (age < seen["age"].min()) | (age > seen["age"].max())
    assert f"age ({outside.sum()})" in cautions["Outside the range of training."]


def test_training_rows_are_recognised(undrawn, model, tables):
    train, test = tables
    assert "Training rows." in dict(model_report(model, *train).cautions)
    assert "Training rows." not in dict(model_report(model, *test).cautions)


def test_mass_below_zero_is_reported(undrawn):
    x, y = even_rows()
    report = model_report(BelowZero(), x, y)
    assert "a probability of 10 % on average" in dict(report.cautions)["Negative times."]
    sections = {section.anchor: section for section in model_report(KnownScale(), x, y).page.sections}
    assert "no" in sections["negative"].blocks[0].text.lower()


def test_coefficients_of_a_linear_model(undrawn, tables):
    (x, y), (other, outcome) = tables
    for model, keys in (
        (CoxRegression(), ["name", "coefficient", "ratio", "lower", "upper", "p"]),
        (ElasticNetCox(alpha=0.01), ["name", "coefficient", "ratio"]),
    ):
        report = model_report(model.fit(x, y), other, outcome)
        blocks = next(section for section in report.page.sections if section.anchor == "model").blocks
        table = next(block for block in blocks if isinstance(block, PageTable) and block.name == "coefficients")
        assert [column.key for column in table.columns] == keys
        assert [row[0].text for row in table.cells] == list(model.coefficients_.names)
        assert [row[2].value for row in table.cells] == model.coefficients_.ratio.tolist()


def test_curves_that_do_not_come_down(undrawn, tables):
    (x, y), (other, outcome) = tables
    cut = SurvivalData.right(np.minimum(y.time, 8.0), y.event & (y.time < 8.0))
    report = model_report(CoxRegression().fit(x, cut), other, outcome)
    predicted = report.subject.predicted
    assert np.isinf(predicted.median()).any()
    expected = metrics.mean_absolute_error(predicted, outcome, point="restricted_mean")
    assert report.findings.error == pytest.approx(expected)
    assert np.isfinite(expected)
    assert judged(report)["Intervals"].finding == "without upper limit"
    # No infinity among the numbers: events after those of training have a bounded log-likelihood.
    section = next(section for section in report.page.sections if section.anchor == "numbers")
    cells = {row[0].name: row for row in section.blocks[1].cells}
    for name in ("mae", "log_likelihood"):
        assert [cell.text for cell in cells[name][1:3]] == ["–", "–"]
    assert np.isfinite(cells["bounded_log_likelihood"][1].value)
    assert "∞" not in "".join(cell.text for row in section.blocks[1].cells for cell in row)


def test_many_rows_are_sampled_and_the_page_says_so(undrawn, monkeypatch):
    monkeypatch.setattr(evaluated_model, "_MOST_ROWS", 150)
    x, y = even_rows()
    report = model_report(KnownScale(), x, y, people=[399], group=("ward", np.arange(400) % 3))
    assert "400 rows" in dict(report.cautions)["A sample."]
    assert len(report.subject.data) == 150
    np.testing.assert_array_equal(report.subject.data.time, y.time[report.subject.rows])
    groups = next(section for section in report.page.sections if section.anchor == "groups").blocks[1]
    sizes = np.bincount(report.subject.rows % 3).tolist()
    assert [row[2].value for row in groups.cells] == sizes
    people = next(section for section in report.page.sections if section.anchor == "people").blocks[2]
    assert people.cells[0][0].text == "row 400"
    assert people.cells[0][1].value == pytest.approx(x["scale"][399] * np.log(2))


def test_what_is_refused(undrawn):
    x, y = even_rows(60)
    with pytest.raises(DataError, match="none of the 60 rows has an event"):
        model_report(KnownScale(), x, SurvivalData.right(y.time, np.zeros(60, bool)))
    for times in ([], [-1.0], [0.0], [1e9], ["soon"], [1, 2, 3, 4, 5, 6, 7]):
        with pytest.raises(ParameterError, match="times must"):
            model_report(KnownScale(), x, y, times=times)
    with pytest.raises(DataError, match="X has 60 rows, but data has 59"):
        model_report(KnownScale(), x, y[:59])
    for people in (0, 11, [60], [-1], [], list(range(11)), True):
        with pytest.raises(ParameterError, match="people must be"):
            model_report(KnownScale(), x, y, people=people)
    with pytest.raises(ParameterError, match="random_state"):
        model_report(KnownScale(), x, y, random_state=None)


def test_the_citation_is_that_of_the_file():
    file = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    paper = file.split("preferred-citation:")[1]
    assert re.search(r'title: "(.*)"', paper)[1] == citation.TITLE
    assert int(re.search(r"year: (\d+)", paper)[1]) == citation.YEAR
    names = tuple(zip(re.findall(r"family-names: (.*)", paper), re.findall(r"given-names: (.*)", paper), strict=True))
    assert names == citation.AUTHORS
    assert re.search(r'collection-title: "(.*)"', paper)[1] == citation.COLLECTION
    assert re.search(r'value: "(.*)"', paper)[1] == citation.IDENTIFIER
    software = file.split("preferred-citation:")[0]
    assert re.search(r"\nversion: (.*)", software)[1] == aldsurv.__version__
    assert re.search(r"- name: (.*)", software)[1] in dict(citation.references())["The software."]
    for part in (citation.TITLE, "Sheng, Deming and Henao, Ricardo", "2025", citation.IDENTIFIER):
        assert part in citation.bibtex()


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    # One profile: a browser takes a while to make a new one, and pages keep nothing in it.
    return partial(opened_page, tmp_path_factory.mktemp("browser") / "profile")


@in_browser
def test_every_figure_is_drawn_and_nothing_complains(opened, page, tmp_path):
    plain, complaints = opened(page)
    assert complaints == []
    script = """
      const told = [...document.images].map((image) => `${image.naturalWidth > 0 && image.complete}`);
      document.body.dataset.told = told.join(" ")
    """
    script = f"addEventListener('load', () => {{ {script} }})"
    found, complaints = opened(clicking(page, tmp_path, script))
    assert complaints == []
    assert found.values("data-told") == [" ".join(["true"] * len(plain.values("src")))]


@in_browser
def test_it_can_be_used_with_the_keyboard(opened, page, tmp_path):
    script = """
      const usable = [...document.querySelectorAll("a[href], button, [tabindex]")];
      const reached = usable.filter((element) => { element.focus(); return document.activeElement === element; });
      const scrolled = [...document.querySelectorAll("*")].filter((element) =>
        /auto|scroll/.test(getComputedStyle(element).overflowX) && element.scrollWidth > element.clientWidth + 1);
      const stuck = scrolled.filter((element) => element.tabIndex < 0);
      document.querySelector("#table-metrics th[data-key=value] button").click();
      document.body.dataset.told = `${reached.length} of ${usable.length}, stuck ${stuck.length}`
    """
    found, complaints = opened(clicking(page, tmp_path, script))
    assert complaints == []
    (counts,) = found.values("data-told")
    reached, usable = re.match(r"(\d+) of (\d+), stuck 0", counts).groups()
    assert reached == usable
    assert int(usable) > 30
    values = [record["value"].value for record in found.tables["metrics"].records()]
    assert values == sorted(values)


@in_browser
def test_nothing_is_wider_than_a_phone(opened, page, tmp_path):
    script = """
      const root = document.documentElement;
      parent.postMessage(`${root.scrollWidth - root.clientWidth} beyond ${innerWidth}`, "*");
    """
    changed = clicking(page, tmp_path, script)
    frame = tmp_path / "frame.html"
    listen = "addEventListener('message', (event) => { document.body.dataset.told = event.data; })"
    frame.write_text(f"<body><script>{listen}</script><iframe width=360 height=640 src={changed.name}></iframe>")
    found, complaints = opened(frame)
    assert complaints == []
    assert found.values("data-told") == ["0 beyond 360"]


def test_columns_that_the_model_leaves_out_are_not_shown(tables, tmp_path, monkeypatch):
    leave_pictures_undrawn(monkeypatch)
    resample_little(monkeypatch)
    x, y = tables[0]
    x = {"name": np.array([f"Person {k}" for k in range(len(y))], object), **x}
    with pytest.warns(UserWarning, match="leaves out columns"):
        model = WeibullAFT().fit(x, y)
    text = write_model_report(model, x, y, tmp_path / "page.html", train=y).read_text(encoding="utf-8")
    assert "Person 1" not in text
    assert "Left out by the model: name." in text


@pytest.mark.parametrize("value", [-0.004, 0.0])
def test_no_negative_zero(value):
    assert number_format.fixed(value, 2) == "0.00"
    assert number_format.signed(value, 2) == "+0.00"
    assert number_format.interval(value, 1) == "0.00 to 1.00"
