from __future__ import annotations

import csv
import json
import subprocess
import sys

import numpy as np
import pytest
from reports.browser import CHROMIUM
from reports.parsed import ParsedPage
from reports.undrawn import leave_pictures_undrawn

from aldsurv import SurvivalData, metrics
from aldsurv.cli.main import main
from aldsurv.files.model_file import file_digest
from aldsurv.models import WeibullAFT

EVIL = "<script>x</script>"


def made_up(n, seed):
    rng = np.random.default_rng(seed)
    columns = {"age": rng.normal(60, 10, n), EVIL: rng.normal(size=n)}
    event = np.exp(3 - 0.04 * (columns["age"] - 60)) * rng.weibull(1.5, n)
    censoring = rng.exponential(40, n)
    return columns, np.minimum(event, censoring), event <= censoring


def write_table(path, columns, **further):
    table = {**columns, **further}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in table.values()), strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and tables; one has another order of columns, and a column that the model does not know."""
    folder = tmp_path_factory.mktemp("report")
    for name, n, seed in (("train", 300, 1), ("test", 200, 2)):
        columns, time, event = made_up(n, seed)
        ward = np.where(np.arange(n) % 2, "north", "south")
        write_table(folder / f"{name}.csv", dict(reversed(columns.items())), ward=ward, months=time, died=event * 1)
        if name == "train":
            model = WeibullAFT(unit="months").fit(columns, SurvivalData.right(time, event))
            model.save(folder / "bare.aldsurv")
            model.set_outcome_columns({"time": "months", "event": "died"})
            model.save(folder / "model.aldsurv")
    return folder


@pytest.fixture
def here(folder, tmp_path, monkeypatch):
    """In an empty folder, with pages that have no pictures: these are tried elsewhere."""
    monkeypatch.chdir(tmp_path)
    leave_pictures_undrawn(monkeypatch)
    return folder


def test_a_page_as_a_person_makes_it(folder, run, tmp_path):
    (tmp_path / "pages").mkdir()
    done = run("report", str(folder / "model.aldsurv"), str(folder / "test.csv"), "--out", "pages/report.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "pages/report.html\n"
    page = ParsedPage((tmp_path / "pages" / "report.html").read_text(encoding="utf-8"))
    assert len(page.values("src")) > 10
    assert len(page.scripts) == 1
    assert [path.name for path in (tmp_path / "pages").iterdir()] == ["report.html"]


def test_numbers_as_json_are_those_of_the_metrics(here, capsys):
    arguments = ["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--train", str(here / "train.csv")]
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    columns, time, event = made_up(200, 2)
    _, seen, seen_event = made_up(300, 1)
    data, train = SurvivalData.right(time, event), SurvivalData.right(seen, seen_event)
    predicted = WeibullAFT().fit(made_up(300, 1)[0], train).predict_distribution(columns)
    assert (found["rows"], found["rows_used"], found["events"]) == (200, 200, data.n_events)
    expected = dict(metrics.evaluate(predicted, data, train=train))
    horizon = float(np.quantile(time, 0.5, method="inverted_cdf"))
    for name in ("calibration_slope", "observed_expected_ratio", "calibration_in_the_large"):
        expected[name] = getattr(metrics, name)(predicted, data)[0]
        expected[f"{name}_at"] = getattr(metrics, name)(predicted, data, horizon)[0]
    assert set(found["metrics"]) == set(expected)
    for name, value in expected.items():
        assert found["metrics"][name]["value"] == pytest.approx(value, rel=1e-6)
        assert found["metrics"][name]["lower"] <= value <= found["metrics"][name]["upper"]
    assert found["d_calibration_p"] == pytest.approx(metrics.d_calibration(predicted, data).p_value, rel=1e-6)
    assert found["page"] == "report.html"


def test_json_has_what_authors_report(here, capsys, tmp_path):
    arguments = ["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--event-name", "death", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["unit"], found["event_name"]) == ("months", "death")
    page = ParsedPage((tmp_path / "report.html").read_text(encoding="utf-8"))
    statuses = {record["item"].text: record["status"].text for record in page.tables["checklist"].records()}
    assert {entry["item"]: entry["status"] for entry in found["checklist"]} == statuses
    specified, model = found["specification"], WeibullAFT().fit(made_up(300, 1)[0], made_up(300, 1)[1:])
    values = {line["name"]: line["coefficient"] for line in specified["coefficients"]}
    np.testing.assert_allclose([values[name] for name in model.coefficients_.names], model.coefficients_.coefficient)
    digest = file_digest(here / "model.aldsurv")
    assert specified["file"] == {"name": "model.aldsurv", "sha256": digest}
    assert digest in " ".join(page.texts)
    assert specified["trained_on"]["outcome"]["event"] == "died"
    assert found["intended_use"]["open_places"]


def test_labels_reach_the_page_and_unknown_ones_are_noted(here, capsys, tmp_path):
    (tmp_path / "labels.csv").write_text("column,label,unit\nage,Years of life,years\nagee,Other,\n", encoding="utf-8")
    arguments = [
        "report",
        str(here / "model.aldsurv"),
        str(here / "test.csv"),
        "--labels",
        str(tmp_path / "labels.csv"),
    ]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "'agee', which the model does not use" in captured.err
    page = ParsedPage((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Years of life (years)" in {record["column"].text for record in page.tables["inputs"].records()}


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_pdf_beside_the_page(here, capsys, tmp_path):
    arguments = ["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--pdf", "page.pdf"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "report.html\npage.pdf\n"
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    # A PDF is replaced, another file is not.
    (tmp_path / "page.pdf").write_text("mine")
    assert main(arguments) == 2
    assert "exists and is not a PDF" in capsys.readouterr().err
    assert (tmp_path / "page.pdf").read_text() == "mine"


def test_json_has_participants_times_and_risk_groups(here, capsys):
    arguments = ["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--train", str(here / "train.csv")]
    assert main([*arguments, "--times", "30,10", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    columns, time, event = made_up(200, 2)
    seen_columns, seen, seen_event = made_up(300, 1)
    data, train = SurvivalData.right(time, event), SurvivalData.right(seen, seen_event)
    predicted = WeibullAFT().fit(seen_columns, train).predict_distribution(columns)
    assert [each["time"] for each in found["times"]] == [10.0, 30.0]
    for each in found["times"]:
        at = each["time"]
        assert each["events"] == np.count_nonzero(event & (time <= at))
        for name in ("calibration_slope", "observed_expected_ratio", "calibration_in_the_large"):
            given = [each[f"{name}_at"][part] for part in ("value", "lower", "upper")]
            assert given == pytest.approx(getattr(metrics, name)(predicted, data, at)[:3], rel=1e-6)
        auc = metrics.cumulative_dynamic_auc(predicted, data, [at], train=train).auc[0]
        assert each["auc"]["value"] == pytest.approx(auc, abs=1e-9)
        assert each["auc"]["lower"] <= auc <= each["auc"]["upper"]
        assert each["ici"] == pytest.approx(metrics.integrated_calibration_index(predicted, data, at).ici, rel=1e-6)
        assert each["brier"] == pytest.approx(metrics.brier_score(predicted, data, [at], train=train)[0], rel=1e-6)
        curve = metrics.decision_curve(predicted, data, at, thresholds=each["decision"]["threshold"])
        assert each["decision"]["net_benefit"] == pytest.approx(curve.model.value, abs=1e-9)
    people = found["participants"]
    assert (people["training"]["rows"], people["training"]["events"]) == (300, int(seen_event.sum()))
    ages = next(column for column in people["columns"] if column["name"] == "age")
    assert ages["train"]["median"] == pytest.approx(np.median(seen_columns["age"]))
    assert ages["test"]["median"] == pytest.approx(np.median(columns["age"]))
    (groups,) = found["risk_groups"]
    assert sum(group["rows"] for group in groups["groups"]) == 200
    assert sum(group["events"] for group in groups["groups"]) == event.sum()


def test_a_table_of_training_rows_may_have_the_outcome_alone(here, capsys, tmp_path):
    _, seen, seen_event = made_up(300, 1)
    write_table(tmp_path / "outcome.csv", {}, months=seen, died=seen_event * 1)
    arguments = [
        "report",
        str(here / "model.aldsurv"),
        str(here / "test.csv"),
        "--train",
        str(tmp_path / "outcome.csv"),
    ]
    assert main(arguments) == 0
    capsys.readouterr()
    page = ParsedPage((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Only the outcome of the training rows was given" in " ".join(page.texts)
    rows = {record["what"].text: record["train"].text for record in page.tables["participants"].records()}
    assert rows["Rows"] == "300"
    assert "range" in rows["age"]


def test_bounds_and_delayed_entry_make_a_page(here, capsys, tmp_path):
    columns, time, event = made_up(300, 5)
    lower = np.where(event, np.floor(time), time)
    upper = np.where(event, np.floor(time) + 1, np.inf)
    write_table(tmp_path / "bounds.csv", columns, low=lower, high=upper)
    late = np.where(np.arange(300) % 2, 0.5 * time, 0.0)
    write_table(tmp_path / "late.csv", columns, months=time, died=event * 1, since=late)
    for name, options in (
        ("bounds", ["--lower", "low", "--upper", "high"]),
        ("late", ["--time", "months", "--event", "died", "--entry", "since"]),
    ):
        path = str(tmp_path / f"{name}.csv")
        assert main(["report", str(here / "bare.aldsurv"), path, *options, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["metrics"]["log_likelihood"]["value"] < 0
        assert found["metrics"]["harrell_c"]["value"] is None
        assert found["times"] == []
        assert bool(found["risk_groups"]) == (name == "late")


def test_options_reach_the_page(here, capsys, tmp_path):
    arguments = ["report", str(here / "bare.aldsurv"), str(here / "test.csv"), "--time", "months", "--event", "died"]
    arguments += ["--group", "ward", "--rows", "3, 200", "--title", "A <b>title</b>", "--out", "x.html"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "x.html\n"
    html = (tmp_path / "x.html").read_text(encoding="utf-8")
    page = ParsedPage(html)
    assert [record["row"].text for record in page.tables["people"].records()] == ["row 3", "row 200"]
    groups = [(record["column"].text, record["group"].text) for record in page.tables["groups"].records()]
    assert groups == [("ward", "north"), ("ward", "south")]
    assert "A <b>title</b>" in page.texts
    assert "<b>title" not in html


def test_quiet_prints_nothing_and_the_number_of_people_is_heeded(here, capsys, tmp_path):
    assert main(["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--people", "4", "--quiet"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    page = ParsedPage((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert len(page.tables["people"].rows) == 4


def test_the_unit_is_the_models_or_given_or_the_name_of_the_column(here, tmp_path, capsys):
    columns, time, event = made_up(300, 1)
    model = WeibullAFT().fit(columns, SurvivalData.right(time, event))
    model.save(tmp_path / "unitless.aldsurv")
    arguments = [str(here / "test.csv"), "--time", "months", "--event", "died", "--out", "x.html"]
    for name, options, unit in (
        (here / "bare.aldsurv", [], "months"),
        (tmp_path / "unitless.aldsurv", [], "months"),
        (tmp_path / "unitless.aldsurv", ["--unit", "moons"], "moons"),
    ):
        assert main(["report", str(name), *arguments, *options]) == 0
        text = " ".join(ParsedPage((tmp_path / "x.html").read_text(encoding="utf-8")).texts)
        assert f"observed for up to {made_up(200, 2)[1].max():.3g} {unit}" in text
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--rows", "0,3"], "--rows must lie between 1 and 200, the rows of the table, but one is 0."),
        (["--rows", "3;4"], "--rows must be row numbers with commas, such as 3,17, but is '3;4'."),
        (["--rows", ","], "--rows must be 1 to 10 row numbers, but are 0."),
        (["--times", "12,soon"], "--times must be numbers separated by commas, but holds 'soon'."),
        (["--times", "0,12"], "--times must be"),
        (["--times", "12,900"], "--times must lie after 0 and within the follow-up of the rows, which ends at"),
        (["--people", "11"], "--people must be a number from 1 to 10, but is 11."),
        (["--group", "wrad"], "--group names 'wrad', which is not a column"),
        (["--event", "dead"], "there is no column 'dead'"),
        (["--out", "."], "--out '.' is a folder. Name a file in it."),
        (["--seed", "-1"], "random_state must be a whole number from 0 on, but is -1."),
        (["--labels", "nowhere.csv"], "the file of labels 'nowhere.csv' cannot be read"),
        (["--labels", __file__], "must have the columns column and label"),
        (["--event-name", ""], "--event-name must be a few words in one line, but is ''."),
        (["--pdf", "."], "--pdf '.' is a folder. Name a file in it."),
        (["--pdf", "nowhere/page.pdf"], "the folder 'nowhere' of --pdf does not exist"),
        (["--out", "x.html", "--pdf", "x.html"], "--pdf and --out are the same file 'x.html'. Name another by --pdf."),
    ],
)
def test_what_is_wrong_is_said_in_one_line_and_leaves_no_file(here, capsys, tmp_path, options, told):
    assert main(["report", str(here / "model.aldsurv"), str(here / "test.csv"), *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("aldsurv: error: ")
    assert told in captured.err
    assert captured.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_pdf_without_a_browser_is_refused_before_the_work(here, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("ALDSURV_BROWSER", "no-such-browser")
    assert main(["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--pdf", "x.pdf"]) == 2
    captured = capsys.readouterr()
    assert "ALDSURV_BROWSER names 'no-such-browser', which is not a program" in captured.err
    assert captured.err.count("\n") == 1
    # One that fails leaves neither file.
    monkeypatch.setenv("ALDSURV_BROWSER", sys.executable)
    assert main(["report", str(here / "model.aldsurv"), str(here / "test.csv"), "--pdf", "x.pdf"]) == 2
    assert "could not print the page as PDF" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_table_without_its_outcome_or_columns_is_refused(here, capsys, tmp_path):
    columns, time, event = made_up(50, 3)
    write_table(tmp_path / "people.csv", columns)
    assert main(["report", str(here / "model.aldsurv"), str(tmp_path / "people.csv")]) == 2
    assert "no column 'months'" in capsys.readouterr().err
    write_table(tmp_path / "narrow.csv", {"age": columns["age"]}, months=time, died=event * 1)
    assert main(["report", str(here / "model.aldsurv"), str(tmp_path / "narrow.csv")]) == 2
    assert EVIL in capsys.readouterr().err
    assert main(["report", str(here / "bare.aldsurv"), str(here / "test.csv")]) == 2
    assert "--time" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nowhere.aldsurv"), str(here / "test.csv")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_without_matplotlib_the_advice_is_that_of_reports(folder, tmp_path, environment):
    program = (
        "import sys; sys.modules['matplotlib'] = None\nfrom aldsurv.cli.main import main\nsys.exit(main(sys.argv[1:]))"
    )
    words = ["report", str(folder / "model.aldsurv"), str(folder / "test.csv")]
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "aldsurv: error: reports need matplotlib, which is not installed. Install it with: "
        'pip install "aldsurv[reports]"\n'
    )
    assert list(tmp_path.iterdir()) == []
