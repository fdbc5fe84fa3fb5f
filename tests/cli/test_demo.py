from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from aldsurv.cli.main import main
from aldsurv.distributions import AsymmetricLaplace

PNG = b"\x89PNG\r\n\x1a\n"
NAMES = ["low risk", "medium risk", "high risk"]
ROWS = [
    "theta (location)",
    "sigma (scale)",
    "kappa (asymmetry)",
    "mean",
    "median",
    "mode",
    "80 % interval",
    "P(T < 0)",
    "survival at 12",
    "survival at 36",
    "survival at 60",
    "restricted mean to 60",
    "further months, alive at 24",
]


def columns(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def test_text(run, tmp_path: Path) -> None:
    done = run("demo")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Time to an event of three individuals, in months:"
    blank = [index for index, line in enumerate(lines) if not line]
    assert len(blank) == 4
    head, *body = lines[blank[0] + 1 : blank[1]]
    assert columns(head) == NAMES
    assert [columns(line)[0] for line in body] == ROWS
    assert all(len(columns(line)) == 4 for line in body)
    assert len({len(line) for line in [head, *body]}) == 1
    story, data = lines[blank[1] + 1 : blank[2]]
    assert story == "1000 times drawn from medium risk given T > 0, some censored at random:"
    assert re.fullmatch(r"n=1000, \d+ events \(\d+ %\), time \S+–\S+", data)
    head, *body = lines[blank[2] + 1 : blank[3]]
    assert columns(head) == NAMES
    assert [columns(line)[0] for line in body] == [
        "log-likelihood of the data",
        "median given T > 0",
        "median by Kaplan-Meier",
    ]
    picture = tmp_path / lines[-1]
    assert lines[-1] == str(Path("demo", "distributions.png"))
    assert picture.read_bytes().startswith(PNG)
    assert [entry.name for entry in picture.parent.iterdir()] == ["distributions.png"]


def test_json_agrees_with_the_library(run, tmp_path: Path) -> None:
    done = run("demo", "--json", "--out", "deep/folder")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["unit"] == "months"
    assert (tmp_path / found["picture"]).read_bytes().startswith(PNG)
    people = found["individuals"]
    assert [person["name"] for person in people] == NAMES
    truth = AsymmetricLaplace(*([person[name] for person in people] for name in ("theta", "sigma", "kappa")))
    expected = {
        "mean": truth.mean(),
        "median": truth.quantile(0.5),
        "mode": truth.theta[:, 0],
        "interval_80": truth.quantile([0.1, 0.9]),
        "probability_negative": truth.cdf(0.0),
        "survival_12": truth.survival(12),
        "survival_36": truth.survival(36),
        "survival_60": truth.survival(60),
        "restricted_mean_60": truth.restricted_mean(60),
        "further_months_alive_at_24": truth.conditional(24).mean() - 24,
    }
    for key, values in expected.items():
        np.testing.assert_allclose([person[key] for person in people], values, rtol=1e-12, err_msg=key)
    assert set(people[0]) == {"name", "theta", "sigma", "kappa", *expected}


def test_story_of_the_sample_is_true(run) -> None:
    found = json.loads(run("demo", "--json").stdout)
    sample = found["sample"]
    likelihood = sample["log_likelihood"]
    assert list(likelihood) == NAMES
    assert max(likelihood, key=likelihood.get) == sample["drawn_from"] == "medium risk"
    assert sample["median_kaplan_meier"] == pytest.approx(sample["median_true"], rel=0.08)
    person = found["individuals"][1]
    alone = AsymmetricLaplace(person["theta"], person["sigma"], person["kappa"])
    assert sample["median_true"] == pytest.approx(float(alone.conditional(0).median()[0]), rel=1e-12)


def test_text_and_json_tell_the_same(run) -> None:
    text, found = run("demo").stdout, json.loads(run("demo", "--json").stdout)
    lines = {columns(line)[0]: columns(line)[1:] for line in text.splitlines() if line}
    people = found["individuals"]
    assert lines["mean"] == [f"{person['mean']:.1f}" for person in people]
    assert lines["survival at 36"] == [f"{person['survival_36']:.4f}" for person in people]
    assert lines["80 % interval"] == ["{:.1f} to {:.1f}".format(*person["interval_80"]) for person in people]
    assert lines["median by Kaplan-Meier"] == [f"{found['sample']['median_kaplan_meier']:.1f}"]


def test_within_this_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(f"\n{tmp_path / 'distributions.png'}\n")
    assert main(["demo", "--out", str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["picture"] == str(tmp_path / "distributions.png")


def assert_refused(done) -> None:
    assert done.returncode == 1
    assert done.stdout == ""
    assert re.fullmatch(r"aldsurv: error: [^\n]+\n", done.stderr)


def test_file_in_the_way(run, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for place in ("taken", "taken/below"):
        assert_refused(run("demo", "--out", place))
    (tmp_path / "out" / "distributions.png").mkdir(parents=True)
    assert_refused(run("demo", "--out", "out", "--json"))
    assert (tmp_path / "taken").read_text() == "mine"
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["distributions.png"]


def test_place_that_cannot_be_written(run, tmp_path: Path) -> None:
    place = tmp_path / "closed"
    place.mkdir(mode=0o555)
    if os.access(place, os.W_OK):
        # Permissions do not bind the superuser; the tree of processes takes no folders from anybody.
        place = Path("/proc/closed")
    if not place.parent.exists():
        pytest.skip("no place here that cannot be written")
    assert_refused(run("demo", "--out", str(place)))
    assert_refused(run("demo", "--out", str(place / "below")))
