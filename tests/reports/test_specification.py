"""The model as the report specifies it: what a reader with the page, or its JSON, and a calculator can do."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from safetensors.numpy import load_file

from aldsurv import ALDSurvival, SurvivalData
from aldsurv.cli.shared.number_text import json_text
from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.files.model_file import file_digest
from aldsurv.models import (
    BoostedALD,
    CauseSpecificCox,
    CoxRegression,
    ElasticNetAFT,
    LogNormalAFT,
    RecalibratedSurvival,
    StackedSurvival,
    WeibullAFT,
)
from aldsurv.models.updating.updated_survival import UpdatedSurvival
from aldsurv.reports.model.specification.specification import specify
from aldsurv.reports.model.specification.specification_section import specification_section
from aldsurv.reports.page.page import Page, render_page
from reports.parsed import ParsedPage


def made_up(n, seed, *, gaps=True):
    rng = np.random.default_rng(seed)
    age = rng.normal(60, 10, n)
    grade = rng.choice(np.array(["I", "II", "III"], object), n)
    event = np.exp(3 - 0.04 * (age - 60) - 0.4 * (grade == "I")) * rng.weibull(1.5, n)
    censoring = rng.exponential(40, n)
    if gaps:
        age[::17] = np.nan
    x = {"age": age, "grade": grade, "year": rng.integers(1990, 2010, n).astype(float)}
    return x, SurvivalData.right(np.minimum(event, censoring), event <= censoring)


@pytest.fixture(scope="module")
def tables():
    return made_up(300, 1), made_up(80, 2)


@pytest.fixture(scope="module", params=[CoxRegression(), WeibullAFT()], ids=["cox", "weibull"])
def reported(request, tables):
    """A linear model, a page of its specification, and its JSON."""
    model = request.param.fit(*tables[0])
    spec = specify(model, ColumnLabels())
    section = specification_section(spec, [plan.name for plan in spec.features.columns], "months")
    return model, ParsedPage(render_page(Page("", "", (section,)))), json.loads(json_text(spec.to_dict()))


def inputs_of(row, columns):
    """The numbers of a row by the names of the coefficients, from what the JSON says of the columns alone."""
    numbers = {}
    for column in columns:
        value, name = row[column["name"]], column["name"]
        if column["kind"] == "number":
            missing = value != value
            numbers[name] = column["median"] if missing else value
            if column["gaps"]:
                numbers[f"{name} missing"] = float(missing)
        else:
            numbers |= {f"{name}={level}": float(level == value) for _, level in column["levels"]}
    return numbers


def survival_by_hand(coefficients, numbers, time, *, baseline=None):
    """The survival by the formula on the page."""
    total = sum(value * numbers[name] for name, value in coefficients.items() if name in numbers)
    if baseline is not None:
        centre, times, hazards = baseline
        reached = [hazard for at, hazard in zip(times, hazards, strict=True) if at <= time]
        return math.exp(-(reached[-1] if reached else 0.0) * math.exp(total - centre))
    mu, shape = coefficients["intercept"] + total, math.exp(coefficients["log(shape)"])
    return math.exp(-((time / math.exp(mu)) ** shape))


def rows_of(x, count):
    return [{name: column[k] for name, column in x.items()} for k in range(count)]


def number_in(text):
    return float(text.replace("−", "-").replace(",", ""))


def test_a_reader_of_the_json_computes_the_same_survival(reported, tables):
    model, _, given = reported
    x = tables[1][0]
    coefficients = {line["name"]: line["coefficient"] for line in given["coefficients"]}
    baseline = None
    if given["baselines"]:
        (one,) = given["baselines"]
        baseline = one["centre"], one["times"], one["cumulative_hazard"]
        np.testing.assert_allclose(one["survival"], np.exp(-np.array(one["cumulative_hazard"])), rtol=1e-12)
    assert given["complete"] is True
    times = [1.0, 5.5, 20.0]
    expected = model.predict_distribution(x).survival(times)
    for row, values in zip(rows_of(x, 30), expected, strict=False):
        numbers = inputs_of(row, given["columns"])
        found = [survival_by_hand(coefficients, numbers, time, baseline=baseline) for time in times]
        np.testing.assert_allclose(found, values, atol=1e-9)


def test_a_reader_of_the_page_computes_it_to_the_printed_digits(reported, tables):
    model, page, given = reported
    x = tables[1][0]
    coefficients = {
        record["name"].text: number_in(record["coefficient"].text) for record in page.tables["coefficients"].records()
    }
    times, baseline = [2.0, 9.0], None
    if "baseline" in page.tables:
        records = page.tables["baseline"].records()
        centre = re.search(r"c = ([−\d.]+)\.", " ".join(page.texts))
        at = [number_in(record["time"].text) for record in records]
        hazards = [number_in(record["cumulative"].text) for record in records]
        baseline = number_in(centre[1]), at, hazards
        # Of a step function the printed times themselves can be computed; they are rounded to seven digits.
        times = [at[3] * (1 + 1e-6), at[-1] * (1 + 1e-6)]
        for record, hazard in zip(records, hazards, strict=True):
            assert number_in(record["survival"].text) == pytest.approx(math.exp(-hazard), abs=1e-6)
    expected = model.predict_distribution(x).survival(times)
    for row, values in zip(rows_of(x, 30), expected, strict=False):
        # What the columns become is printed, too; the JSON is only easier to read for a program.
        numbers = inputs_of(row, given["columns"])
        found = [survival_by_hand(coefficients, numbers, time, baseline=baseline) for time in times]
        np.testing.assert_allclose(found, values, atol=2e-4)


def test_columns_and_their_gaps_are_printed(reported):
    model, page, _ = reported
    records = {record["column"].text: record for record in page.tables["inputs"].records()}
    plans = {plan.name: plan for plan in model.features_.columns}
    assert list(records) == ["age", "grade", "year"]
    assert records["grade"]["encoding"].text == "reference I; 0 or 1 for each of: II, III"
    assert "1 where it is missing" in records["age"]["encoding"].text
    filled = re.search(r"filled with ([\d.]+), with an indicator", records["age"]["gaps"].text)
    assert number_in(filled[1]) == pytest.approx(plans["age"].median, rel=1e-3)
    low, high = (number_in(text) for text in records["year"]["training"].text.split(" to "))
    assert (low, high) == (plans["year"].low, plans["year"].high)


def test_each_stratum_and_cause_has_its_baseline(tables):
    (x, y), (other, _) = tables
    model = CoxRegression(strata="grade").fit(x, y)
    given = specify(model, ColumnLabels()).to_dict()
    assert given["strata"] == ["grade"]
    coefficients = {line["name"]: line["coefficient"] for line in given["coefficients"]}
    baselines = {one["name"]: (one["centre"], one["times"], one["cumulative_hazard"]) for one in given["baselines"]}
    assert set(baselines) == {"grade=I", "grade=II", "grade=III"}
    for row, values in zip(rows_of(other, 10), model.predict_distribution(other).survival([4.0, 15.0]), strict=False):
        numbers = inputs_of(row, given["columns"])
        used = baselines[f"grade={row['grade']}"]
        found = [survival_by_hand(coefficients, numbers, time, baseline=used) for time in (4.0, 15.0)]
        np.testing.assert_allclose(found, values, atol=1e-9)
    rng = np.random.default_rng(0)
    cause = np.where(y.event, rng.choice(["relapse", "death"], len(y)), "censored")
    causes = CauseSpecificCox().fit({"year": x["year"]}, SurvivalData.competing(y.time, cause))
    parts = {one.name: one for one in causes.structure().baselines}
    assert set(parts) == {"relapse", "death"}
    total = np.zeros(3)
    for name, one in parts.items():
        slope = causes.coefficients_[f"{name}: year"].coefficient
        steps = np.concatenate([[0.0], one.cumulative])[np.searchsorted(one.times, [3.0, 9.0, 20.0], side="right")]
        total += steps * np.exp(slope * 2000.0 - one.centre)
    event_free = causes.predict_distribution({"year": [2000.0]}).survival([3.0, 9.0, 20.0])[0]
    # Between the hazards and the product of their steps is what ties and small risk sets make.
    np.testing.assert_allclose(np.exp(-total), event_free, rtol=0.02)


def test_other_linear_models_give_their_formula(tables):
    (x, y), _ = tables
    sigma = LogNormalAFT().fit(x, y)
    mu = sum(
        line.coefficient * {"intercept": 1.0, "year": 2000.0, "age": 50.0, "grade=II": 1.0}.get(line.name, 0.0)
        for line in sigma.coefficients_
        if line.name != "log(sigma)"
    )
    z = (math.log(7.0) - mu) / math.exp(sigma.coefficients_["log(sigma)"].coefficient)
    row = {"age": [50.0], "grade": np.array(["II"], object), "year": [2000.0]}
    assert sigma.predict_distribution(row).survival([7.0])[0, 0] == pytest.approx(math.erfc(z / math.sqrt(2)) / 2)
    assert "Φ" in sigma.structure().formula
    assert "shape" in ElasticNetAFT(family="weibull", alpha=0.01, n_alphas=5, folds=2).fit(x, y).structure().formula


def test_settings_that_were_changed_are_marked(tables):
    (x, y), _ = tables
    settings = {
        each.name: each for each in specify(CoxRegression("breslow", ridge=2.0).fit(x, y), ColumnLabels()).settings
    }
    assert {name for name, each in settings.items() if each.changed} == {"ties", "ridge"}
    assert (settings["ridge"].value, settings["ridge"].default) == (2.0, 0.0)
    inner = RecalibratedSurvival(WeibullAFT(ridge=3.0), folds=2, random_state=4).fit(x, y)
    changed = {each.name for each in specify(inner, ColumnLabels()).settings if each.changed}
    assert changed == {"folds", "random_state", "estimator.ridge"}


def test_wrapped_and_mixed_models_name_what_is_within(tables):
    (x, y), (other, outcome) = tables
    updated = UpdatedSurvival(WeibullAFT().fit(x, y), rung="slope").fit(other, outcome)
    spec = specify(updated, ColumnLabels())
    facts = dict(spec.structure.facts)
    assert facts["Model within"] == "WeibullAFT"
    assert (spec.applies_by_hand, spec.coefficients is not None) == (False, True)
    # The change by hand: a and b of the page on the survival of the model within.
    within, times = updated.estimator_.predict_distribution(other), [5.0, 12.0]
    lp = np.log(-np.log(within.survival([float(facts["t0"])])[:, 0]))
    factor = np.exp(float(facts["a"]) + (float(facts["b"]) - 1) * (lp - float(facts["m"])))
    np.testing.assert_allclose(
        within.survival(times) ** factor[:, None], updated.predict_distribution(other).survival(times), atol=1e-4
    )
    stack = StackedSurvival([CoxRegression(), WeibullAFT()], folds=2, random_state=0).fit(x, y)
    given = specify(stack, ColumnLabels()).to_dict()
    assert sum(member["weight"] for member in given["members"]) == pytest.approx(1)
    assert given["coefficients"] is None
    json_text(given)


def test_networks_and_trees_give_their_size_as_in_the_file(tables, tmp_path):
    (x, y), _ = tables
    quick = {"max_epochs": 2, "members": 2, "hidden": (8,), "head_hidden": (4,), "random_state": 0, "device": "cpu"}
    network = ALDSurvival(**quick).fit(x, y)
    path = network.save(tmp_path / "network.aldsurv")
    spec = specify(network, ColumnLabels(), path)
    facts = dict(spec.structure.facts)
    stored = load_file(path)
    weights = sum(array[0].size for name, array in stored.items() if name.startswith("network."))
    assert number_in(facts["Weights of each network"]) == weights > 0
    assert facts["Members"].startswith("2")
    assert "shared: 8; of each of" in facts["Layers"]
    assert spec.file == ("network.aldsurv", file_digest(path))
    trees = BoostedALD(components=1, members=2, max_rounds=4, random_state=0).fit(x, y)
    facts = dict(trees.structure().facts)
    rounds = [int(text) for text in facts["Rounds kept by each member"].split(", ")]
    assert rounds == trees.rounds_.tolist()
    # Three parameters, a tree of each in every round.
    assert int(facts["Trees"].split()[0]) == 3 * sum(rounds)
    assert trees.structure().held_out == 0.2
