"""``aldsurv explain``: contributions in text, JSON, CSV and as a picture."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

from aldsurv import SurvivalData, load
from aldsurv.cli.main import main
from aldsurv.inspection import shapley_values
from aldsurv.models import CauseSpecificCox, WeibullAFT

NAMES = ["age", "grade", "size"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(5)
    n = 260
    columns = {
        "age": rng.normal(60, 9, n).round(),
        "grade": rng.choice(np.array(["I", "II", "III"], object), n),
        "size": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(3, 9, n).round(1)),
    }
    time = (rng.weibull(1.4, n) * np.exp(4 - 0.04 * (columns["age"] - 60))).round(2) + 0.01
    with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*NAMES, "ward"])
        for row in zip(*columns.values(), strict=True):
            writer.writerow([*("" if value != value else value for value in row), "north"])
    WeibullAFT(unit="months").fit(columns, SurvivalData.right(time, rng.random(n) < 0.8)).save(folder / "m.aldsurv")
    causes = SurvivalData.competing(time, rng.integers(0, 3, n), names=["relapse", "death"])
    CauseSpecificCox().fit(columns, causes).save(folder / "causes.aldsurv")
    return folder


def ran(capsys, *arguments, code=0):
    assert main(["explain", *map(str, arguments)]) == code
    return capsys.readouterr()


def test_a_row_adds_up_on_the_screen(folder, capsys):
    text = ran(capsys, folder / "m.aldsurv", folder / "people.csv", "--row", 7, "--times", "12,36").out
    lines = text.splitlines()
    assert lines[0] == "row 7: survival"
    assert lines[1].split() == ["column", "value", "12", "36", "months"]
    numbers = {line.split()[0]: [float(word) for word in line.split()[-2:]] for line in lines[2:7]}
    assert next(iter(numbers)) == "mean"
    assert sorted(list(numbers)[1:4]) == NAMES
    for place in (0, 1):
        total = numbers["mean"][place] + sum(numbers[name][place] for name in NAMES)
        assert abs(total - numbers["prediction"][place]) < 0.003
    assert "20\nbackground rows and all subsets of the columns, with a standard error" in text


def test_json_equals_python(folder, capsys):
    found = json.loads(ran(capsys, folder / "m.aldsurv", folder / "people.csv", "--rows", "3,9", "--json").out)
    model = load(folder / "m.aldsurv")
    with (folder / "people.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    x = {
        "age": np.array([float(row["age"]) for row in rows]),
        "grade": np.array([row["grade"] for row in rows], object),
        "size": np.array([float(row["size"] or "nan") for row in rows]),
    }
    expected = shapley_values(model, {name: column[[2, 8]] for name, column in x.items()}, background=x)
    assert [row["row"] for row in found["rows"]] == [3, 9]
    for place in (0, 1):
        values = [found["rows"][place]["columns"][name]["contribution"] for name in NAMES]
        np.testing.assert_allclose(values, expected.values[place], atol=1e-12)
    assert found["unit"] == "months"


def test_table_of_all_rows(folder, capsys, tmp_path):
    out = tmp_path / "why.csv"
    shown = ran(capsys, folder / "m.aldsurv", folder / "people.csv", "--summary", "median", "--out", out)
    rows = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert len(rows) == 200 * 3
    assert "mean absolute change of the median" in shown.out
    first = [row for row in rows if row["row"] == rows[0]["row"]]
    total = float(first[0]["mean_predicted"]) + sum(float(row["contribution"]) for row in first)
    assert total == pytest.approx(float(first[0]["predicted"]), rel=1e-4)


@pytest.mark.parametrize("further", [["--row", "2"], ["--row", "2", "--summary", "restricted_mean"], []])
def test_a_picture(folder, capsys, tmp_path, further):
    picture = tmp_path / "why.png"
    ran(capsys, folder / "m.aldsurv", folder / "people.csv", "--plot", picture, "--quiet", *further)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_causes_and_survivors(folder, capsys):
    arguments = [folder / "causes.aldsurv", folder / "people.csv", "--row", 1, "--cause", "relapse", "--since", "5"]
    text = ran(capsys, *arguments).out
    assert "row 1: probability of relapse, event-free at 5" in text


@pytest.mark.parametrize(
    ("further", "message"),
    [
        (["--row", "0"], "--row must be from 1 on"),
        (["--row", "261"], "--row must be a whole number from 1 to 260"),
        (["--row", "1.5"], "--row must be a whole number"),
        (["--times", "soon"], "--times must be numbers"),
        (["--summary", "modus"], "--summary must be one of"),
        (["--since", "-1"], "--since must be"),
        (["--times", "3", "--since", "5"], "--times must be numbers from 5 on"),
        (["--cause", "relapse"], "--cause needs a model"),
        (["--seed", "-1"], "--seed must be"),
        (["--plot", "why.txt"], "--plot must end in .png"),
        (["--background", "absent.csv"], "there is no file 'absent.csv'"),
    ],
)
def test_bad_requests_are_one_line(folder, capsys, further, message):
    shown = ran(capsys, folder / "m.aldsurv", folder / "people.csv", *further, code=2)
    assert message in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


def test_a_time_after_training_has_a_note(folder, capsys):
    shown = ran(capsys, folder / "m.aldsurv", folder / "people.csv", "--row", 2, "--times", "5000")
    assert "--times 5000 is after" in shown.err
    assert "the last time of training" in shown.err
    assert "5000" in shown.out
