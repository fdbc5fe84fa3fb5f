"""Pages in a real browser: the numbers are Python's, names stay text, nothing complains or is too wide."""

from __future__ import annotations

import json
import math
import warnings
from functools import partial
from itertools import combinations, product

import numpy as np
import pytest
from reports.browser import CHROMIUM, clicking, opened_page

from aldsurv import ALDSurvival, SurvivalData
from aldsurv.errors import UnseenValuesWarning
from aldsurv.export.calculator import build_page
from aldsurv.models import BoostedALD, CoxRegression, WeibullAFT
from aldsurv.models.prediction.member_spread import survival_band, time_band
from aldsurv.plain_numbers import percent
from export.calculator.conftest import EVIL, made_up_columns, made_up_times, settings_of

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

PERSON = {"age": 47.0, "dose": 3.5, EVIL: EVIL, "treated": 1.0}
OTHER = {"age": 71.0, "dose": None, EVIL: "maybe", "treated": 0.0}
OUTSIDE = {"age": 101.0, "dose": None, EVIL: None, "treated": 1.0}
QUESTIONS = (
    {"times": [3.0, 12.0, 30.0], "time": 12.0, "since": 0, "level": 0.9, "horizon": 30.0, "cause": None},
    {"times": [12.0, 48.0], "time": 48.0, "since": 7.0, "level": 0.5, "horizon": 24.0, "cause": None},
)
# Of each of many people the page is asked for the survival at these times, and the mean within the last.
TIMES_OF_MANY = (9.0, 30.0)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Opens a page and gives what the browser made of it, and what it complained of."""
    return partial(opened_page, tmp_path_factory.mktemp("browser") / "profile")


@pytest.fixture(scope="module")
def network():
    x = made_up_columns()
    del x["same"]
    model = ALDSurvival(members=3, max_epochs=3, random_state=0, unit="months")
    return model.fit(x, SurvivalData.right(*made_up_times(x)))


@pytest.fixture(scope="module")
def trees():
    pytest.importorskip("xgboost")
    x = made_up_columns()
    del x["same"]
    return BoostedALD(members=2, max_rounds=6, random_state=0).fit(x, SurvivalData.right(*made_up_times(x)))


@pytest.fixture(scope="module")
def early_aft():
    """Times that rise without end where age falls."""
    x = made_up_columns()
    return WeibullAFT(unit="months").fit({"age": x["age"]}, SurvivalData.right(*made_up_times(x)))


@pytest.fixture
def page_of(tmp_path):
    """The page of a model as a file."""

    def write(model, name="page.html", **options):
        path = tmp_path / name
        path.write_text(build_page(model, **options), encoding="utf-8")
        return path

    return write


def rows_of(*people):
    """A table of people; None is a gap."""
    return {
        name: np.array([person[name] for person in people], object if name == EVIL else None).astype(
            object if name == EVIL else float
        )
        for name in people[0]
    }


def random_people(count, seed):
    """People of the made-up table as columns, with gaps, numbers far outside of training and levels never seen."""
    rng = np.random.default_rng(seed)

    def mixed(usual, odd):
        return [odd[rng.integers(len(odd))] if rng.random() < 0.1 else value for value in usual]

    return {
        "age": mixed(rng.normal(60, 15, count).round(1).tolist(), [None, -5.0, 250.0, 1e6]),
        "dose": mixed(rng.normal(5, 2, count).tolist(), [None, 0.0, 1e-300, 40.0]),
        EVIL: mixed(rng.choice(["no", EVIL, "maybe"], count).tolist(), [None, "never seen"]),
        "treated": mixed(rng.integers(0, 2, count).astype(float).tolist(), [None, 0.5]),
        "same": [1.0] * count,
    }


def check_many_people(model, columns, answers):
    """Survival, median and restricted mean of each person, and incidences, are Python's."""
    names = model.columns_
    x = {name: np.array(columns[name], object if name == EVIL else float) for name in names}
    predicted = model.predict_distribution(x)
    horizon = TIMES_OF_MANY[-1]
    expected = [*predicted.survival([*TIMES_OF_MANY]).T, predicted.median(), predicted.restricted_mean(horizon)]
    if model.causes_ is not None:
        expected += [*model.predict_incidence(x).incidence(TIMES_OF_MANY[0])]
    close(answers, np.stack(expected, axis=1))


def asked(opened, page, tmp_path, cases, columns):
    """What the page answers to each case: a person, the one to compare with, a question; and to many people."""
    script = f"""
      const cases = {json.dumps(cases).replace("<", chr(92) + "u003c")};
      const columns = {json.dumps(columns).replace("<", chr(92) + "u003c")};
      const {{ model }} = window.aldsurv;
      const [early, late] = {list(TIMES_OF_MANY)};
      const many = columns.age.map((_, k) => {{
        const row = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[k]]));
        const one = model.predict(row);
        const incidence = model.causes === null ? null : model.predictIncidence(row);
        const causes = (model.causes ?? []).map((cause) => incidence.incidence(cause, early));
        return [one.survival(early), one.survival(late), one.median(), one.restrictedMean(late), ...causes];
      }});
      const {{ answers, gaps, contributions }} = window.aldsurv;
      const told = cases.map(({{ row, other, question }}) => ({{
        answers: answers(row, question), gaps: gaps(row, question), contributions: contributions(row, other, question),
      }}));
      document.body.dataset.told = JSON.stringify([told, many], (_, value) => (value === Infinity ? "inf" : value));
    """
    found, complaints = opened(clicking(page, tmp_path, script))
    assert complaints == []
    (told,) = found.values("data-told")
    return json.loads(told)


def expected_answers(model, row, question):
    """What the page says of a person, by Python's own predictions."""
    x, times, since, level = rows_of(row), question["times"], question["since"], question["level"]
    predicted = model.predict_distribution(x)
    members = model.predict_members(x) if model.n_members > 1 else []
    if since:
        predicted, members = predicted.conditional(since), [one.conditional(since) for one in members]
    answers = {
        "survival": predicted.survival(times)[0],
        "median": predicted.median()[0],
        "interval": predicted.interval(level)[0],
        "restrictedMean": predicted.restricted_mean(question["horizon"])[0],
        "cure": predicted.cure_probability()[0],
    }
    if members:
        options = {"level": level, "stretch": model.band_stretch()}
        band = survival_band(members, predicted, times, **options)
        answers["band"] = {"lower": band.lower[0], "upper": band.upper[0]}
        medians = np.stack([one.median() for one in members])
        limits = time_band(medians, predicted.median(), **options)
        answers["medianBand"] = {"lower": limits.lower[0], "upper": limits.upper[0]}
    if model.causes_ is not None:
        incidence = model.predict_incidence(x)
        answers["incidence"] = (incidence.conditional(since) if since else incidence).incidence(times)[:, 0]
    return answers


def detail(model, people, question):
    """The probability that is looked at closely, of each of some people."""
    x, since, time = rows_of(*people), question["since"], question["time"]
    if question["cause"] is not None:
        incidence = model.predict_incidence(x)
        return (incidence.conditional(since) if since else incidence).incidence(time, question["cause"])
    predicted = model.predict_distribution(x)
    return (predicted.conditional(since) if since else predicted).survival(time)


def shapley_by_force(model, row, other, question):
    """The mean over all subsets, weighted as orders fall, of what each input adds."""
    names = [name for name in row if row[name] != other[name]]
    values = {}
    for name in names:
        rest, total = [each for each in names if each != name], 0.0
        for size in range(len(names)):
            weight = math.factorial(size) * math.factorial(len(names) - size - 1) / math.factorial(len(names))
            for chosen in combinations(rest, size):
                without = {**other, **{each: row[each] for each in chosen}}
                before, after = detail(model, [without, {**without, name: row[name]}], question)
                total += weight * (after - before)
        values[name] = total
    return values


def close(found, expected):
    # JSON has no infinity.
    np.testing.assert_allclose(np.array(found, float), expected, rtol=1e-9, atol=1e-9)


def check_numbers(model, told, cases):
    for (row, other, question), found in zip(cases, told, strict=True):
        for name, expected in expected_answers(model, row, question).items():
            if isinstance(expected, dict):
                for limit, value in expected.items():
                    close(found["answers"][name][limit], value)
            else:
                close(found["answers"][name], expected)
        outside = model.features_.outside(rows_of({**row, **({} if "same" not in model.columns_ else {"same": 1.0})}))
        assert found["answers"]["outside"] == [
            name for name, there in zip(model.columns_, outside[0], strict=True) if there
        ]
        by_force = shapley_by_force(model, row, other, question)
        contributions = found["contributions"]
        assert [name for (name,) in contributions["inputs"]] == list(by_force)
        assert contributions["exact"]
        close(contributions["values"], list(by_force.values()))
        close(sum(contributions["values"]), contributions["to"] - contributions["from"])
        assert [gap["column"] for gap in found["gaps"]["ranges"]] == [
            name for name, value in row.items() if value is None
        ]
        for gap in found["gaps"]["ranges"]:
            values = training_values(model, gap["column"])
            reached = detail(model, [{**row, gap["column"]: value} for value in values], question)
            close([gap["low"]["probability"], gap["high"]["probability"]], [reached.min(), reached.max()])
        check_joint_range(model, row, question, found["gaps"])


def check_joint_range(model, row, question, gaps):
    """It lies within that of all combinations, and is that where no input changes what another one does."""
    names = [gap["column"] for gap in gaps["ranges"]]
    if len(names) < 2:
        assert gaps["joint"] is None
        return
    every = product(*(training_values(model, name) for name in names))
    reached = detail(model, [{**row, **dict(zip(names, values, strict=True))} for values in every], question)
    low, high = gaps["joint"]
    assert reached.min() - 1e-9 <= low <= high <= reached.max() + 1e-9
    if isinstance(model, CoxRegression):
        close([low, high], [reached.min(), reached.max()])


def training_values(model, name):
    plan = model.columns_[name]
    return list(plan.levels) if plan.kind == "levels" else np.linspace(plan.low, plan.high, 41).tolist()


def cases_for(*causes):
    questions = [{**question, "cause": cause} for question in QUESTIONS for cause in (None, *causes)]
    people = ((PERSON, OTHER), (OTHER, PERSON), (OUTSIDE, PERSON))
    return [(row, other, question) for row, other in people for question in questions]


@pytest.mark.parametrize("which", ["cox_model", "cause_model", "network", "trees"])
def test_the_numbers_are_those_of_python(which, request, opened, page_of, tmp_path):
    model = request.getfixturevalue(which)
    cases = cases_for(*(model.causes_ or ()))
    given = [dict(zip(("row", "other", "question"), case, strict=True)) for case in cases]
    people = random_people(1000, seed=3)
    told, many = asked(opened, page_of(model), tmp_path, given, people)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenValuesWarning)
        check_numbers(model, told, cases)
        check_many_people(model, people, many)


def shown(opened, page, tmp_path, script, fragment=""):
    """The page after somebody did something, once the contributions are there."""
    waiting = f"{script}; window.aldsurv.page.update()"
    found, complaints = opened(clicking(page, tmp_path, waiting), fragment)
    assert complaints == []
    assert ("body", "ready") in [(tag, attributes.get("data-state")) for tag, attributes in found.tags]
    return found


def cells(table):
    return [[cell.text for cell in row] for row in table.rows]


ENTER = """
const form = window.aldsurv.page.form;
const enter = (name, person, text) => {
  const line = form.lines.find((each) => each.column.name === name);
  line.fields[person].control.value = text;
}
"""


def test_names_and_levels_with_html_stay_text(opened, page_of, tmp_path, cause_model):
    labels = {"age": {"label": EVIL + "1", "unit": EVIL}, EVIL: {"levels": {"maybe": EVIL + "2"}}}
    page = page_of(cause_model, labels=labels, title=EVIL, event_name=EVIL, use=EVIL)
    script = ENTER + "enter('dose', 0, ''); document.getElementById('compare').click(); enter('age', 1, '99')"
    found = shown(opened, page, tmp_path, script)
    assert "img" not in {tag for tag, _ in found.tags}
    text = "".join(found.texts)
    assert text.count(EVIL) > 5
    assert EVIL + "1" in text
    assert EVIL + "2" in text
    assert any(EVIL in cell for row in cells(found.tables["contributions"]) for cell in row)


def test_a_page_as_it_opens(opened, page_of, cox_model):
    page = page_of(cox_model, times=[12, 36], event_name="death")
    # With its policy, which a test of clicks takes away.
    found, complaints = opened(page)
    assert complaints == []
    assert ("body", "ready") in [(tag, attributes.get("data-state")) for tag, attributes in found.tags]
    typical = {"age": cox_model.columns_["age"].median, "dose": cox_model.columns_["dose"].median}
    typical |= {EVIL: cox_model.columns_[EVIL].levels[0], "treated": cox_model.columns_["treated"].median}
    survival = cox_model.predict_distribution(rows_of(typical)).survival([12.0, 36.0])[0]
    assert [row[1].replace("\u00a0", " ") for row in cells(found.tables["times"])] == [
        percent(float(share)) for share in survival
    ]
    labelled = {attributes["for"] for tag, attributes in found.tags if tag == "label" and "for" in attributes}
    fields = [attributes for tag, attributes in found.tags if tag in ("input", "select")]
    assert all(field["id"] in labelled or "aria-label" in field or field["id"] == "compare" for field in fields)
    assert {"status", "alert", "img"} <= set(found.values("role"))
    names = found.values("id")
    assert len(set(names)) == len(names)
    references = [
        name for key in ("aria-labelledby", "aria-describedby") for text in found.values(key) for name in text.split()
    ]
    assert set(references) <= set(names)


def test_gaps_inputs_outside_and_two_persons_are_shown(opened, page_of, tmp_path, cox_model):
    page = page_of(cox_model, times=[12, 36])
    script = (
        ENTER
        + """
      document.getElementById("compare").click();
      enter("age", 0, "120"); enter("dose", 0, ""); enter("treated", 0, ""); enter("treated", 1, "1");
      document.getElementById("since").value = "6";
    """
    )
    found = shown(opened, page, tmp_path, script)
    text = "".join(found.texts)
    assert "person A: outside the range of training" in text
    assert "given no event by 6\u00a0months" in text
    assert [row[0] for row in cells(found.tables["gaps"])] == ["dose", "treated", "All of them"]
    assert "All inputs of person B are known." in text
    assert len(found.tables["times"].rows[0]) == 4
    contributions = cells(found.tables["contributions"])
    assert {row[0] for row in contributions} == {"age", "dose", "treated"}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("times", "soon", "Times must be"),
        ("times", "12, 1e6", "Times must be at most"),
        ("since", "-3", "must be a number from 0 on"),
    ],
)
def test_what_cannot_be_used_is_said_where_it_was_typed(opened, page_of, tmp_path, cox_model, field, value, problem):
    script = f"document.getElementById('{field}').value = '{value}'; window.aldsurv.page.update()"
    found, complaints = opened(clicking(page_of(cox_model), tmp_path, script))
    assert complaints == []
    assert any(problem in text for text in found.texts)
    (results,) = (attributes for _, attributes in found.tags if attributes.get("id") == "results")
    assert "hidden" in results
    (wrong,) = (attributes for _, attributes in found.tags if "aria-invalid" in attributes)
    assert (wrong["id"], wrong["aria-errormessage"]) == (field, "field-error")
    assert "field-error" in found.values("id")


def test_gaps_of_the_second_person_have_ranges(opened, page_of, tmp_path, cox_model):
    script = ENTER + "document.getElementById('compare').click(); enter('dose', 1, '')"
    found = shown(opened, page_of(cox_model), tmp_path, script)
    assert "All inputs of person A are known." in "".join(found.texts)
    assert [row[0] for row in cells(found.tables["gaps"])] == ["dose"]


def test_times_far_beyond_training_are_not_shown_as_numbers(opened, page_of, tmp_path, early_aft):
    page = page_of(early_aft, times=[12])
    found = shown(opened, page, tmp_path, ENTER + "enter('age', 0, '-1000')")
    text = "".join(found.texts).replace("\u00a0", " ")
    latest = settings_of(page.read_text(encoding="utf-8"))["latest"]
    assert early_aft.predict_distribution({"age": [-1000.0]}).median()[0] > 1e3 * latest
    assert text.count(f"beyond {latest:g} months") > 1
    assert "e+" not in text
    # Within reach of training, but behind its end, it is said that no one was there.
    near = shown(opened, page, tmp_path, ENTER + "enter('age', 0, '20')")
    assert "extrapolated: no one was observed after" in "".join(near.texts)


def test_nothing_is_wider_than_a_phone(opened, page_of, tmp_path, cause_model):
    labels = {"age": "A very long label of a column " * 3, EVIL: {"levels": {"maybe": "W" * 60}}}
    script = (
        ENTER
        + """
      document.getElementById("compare").click(); enter("dose", 0, ""); enter("age", 1, "99");
      window.aldsurv.page.update();
      const root = document.documentElement;
      parent.postMessage(`${root.scrollWidth - root.clientWidth} beyond ${innerWidth}`, "*");
    """
    )
    changed = clicking(page_of(cause_model, labels=labels), tmp_path, script)
    frame = tmp_path / "frame.html"
    listen = "addEventListener('message', (event) => { document.body.dataset.told = event.data; })"
    frame.write_text(f"<body><script>{listen}</script><iframe width=390 height=800 src={changed.name}></iframe>")
    page, complaints = opened(frame)
    assert complaints == []
    assert page.values("data-told") == ["0 beyond 390"]


def test_a_script_that_came_in_is_kept_out(opened, page_of, cox_model):
    page = page_of(cox_model)
    html = page.read_text(encoding="utf-8")
    page.write_text(html.replace("</main>", "<script>document.title = 'evil'</script></main>"), encoding="utf-8")
    found, complaints = opened(page)
    assert any("Content Security Policy" in line for line in complaints)
    assert "evil" not in found.texts
