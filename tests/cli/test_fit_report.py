"""`aldsurv fit --report`: a page about the held-out rows and the model fitted without them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from reports.undrawn import leave_pictures_undrawn

from aldsurv.cli.main import main
from aldsurv.errors import DataError

OUTCOME = ("--time", "t", "--event", "e", "--model", "weibull_aft")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    leave_pictures_undrawn(monkeypatch)
    write(150)


def write(n: int) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=n)
    time = np.exp(0.5 * x) * generator.weibull(1.5, n)
    rows = [f"{a:.3f},{t:.3f},{e}" for a, t, e in zip(x, time, generator.random(n) < 0.7, strict=True)]
    Path("people.csv").write_text("\n".join(["x,t,e", *rows, ""]), encoding="utf-8")


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


def test_the_page_is_about_the_rows_held_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fit", "people.csv", *OUTCOME, "--held-out", "0.3", "--seed", "2", "--report")) == 0
    assert names() == ["people.aldsurv", "people.csv", "people.html"]
    output = capsys.readouterr()
    text = " ".join(output.out.split())
    assert "Report people.html: of that model, on the held-out rows" in text
    html = Path("people.html").read_text(encoding="utf-8")
    page = " ".join(re.sub(r"<(script|style|svg|head).*?</\1>|<[^>]+>", " ", html, flags=re.S).split())
    assert "WeibullAFT on 45 rows of people.csv that were held out, fitted to the other 105" in page
    # The same rows and the same model as the scores: by another way, split, fit without held-out rows, and report.
    split = ("split", "people.csv", "--time", "t", "--event", "e", "--test", "0.3", "--seed", "2", "--quiet")
    assert main(split) == 0
    assert main(("fit", "people_train.csv", *OUTCOME, "--held-out", "0", "--out", "part.aldsurv", "--quiet")) == 0
    capsys.readouterr()
    assert main(("report", "part.aldsurv", "people_test.csv", "--train", "people_train.csv", "--json")) == 0
    facts = json.loads(capsys.readouterr().out)
    assert f"{facts['metrics']['harrell_c']['value']:.3f}" in page
    assert facts["events"] == sum(line.endswith("True") for line in Path("people_test.csv").read_text().splitlines())


def test_the_name_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fit", "people.csv", *OUTCOME, "--report", "page.html", "--out", "m.aldsurv", "--json")) == 0
    assert names() == ["m.aldsurv", "page.html", "people.csv"]
    assert json.loads(capsys.readouterr().out)["report"] == "page.html"
    # A page is replaced, any other file is not.
    assert main(("fit", "people.csv", *OUTCOME, "--report", "page.html", "--quiet")) == 0
    Path("notes.html").write_text("my notes", encoding="utf-8")
    assert main(("fit", "people.csv", *OUTCOME, "--report", "notes.html")) == 2
    assert "'notes.html' exists and is not a page of aldsurv" in capsys.readouterr().err
    assert Path("notes.html").read_text(encoding="utf-8") == "my notes"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--held-out", "0"), "--report is about held-out rows, but --held-out is 0. Hold some out, such as 0.2."),
        (
            ("--out", "x.html", "--report", "x.html", "--held-out", "0.5"),
            "must be different files, but both are 'x.html'.",
        ),
        (("--report", "people.csv"), "--report 'people.csv' is the file 'people.csv', which is read from."),
    ],
)
def test_refusals_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: str
) -> None:
    assert main(("fit", "people.csv", *OUTCOME, "--report", *arguments)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert names() == ["people.csv"]


def test_too_few_rows_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    write(6)
    assert main(("fit", "people.csv", *OUTCOME, "--report", "--quiet", "--held-out", "0.2")) == 2
    assert "--report needs held-out rows, and there are too few for that." in capsys.readouterr().err
    assert names() == ["people.csv"]


@pytest.mark.parametrize("failing", [1, 2])
def test_nothing_is_written_if_training_fails(monkeypatch: pytest.MonkeyPatch, failing: int) -> None:
    from aldsurv.models import WeibullAFT

    calls, fit = [], WeibullAFT.fit

    def fails(self: WeibullAFT, *arguments: object) -> WeibullAFT:
        calls.append(arguments)
        if len(calls) == failing:
            raise DataError("the likelihood has no maximum.")
        return fit(self, *arguments)

    monkeypatch.setattr(WeibullAFT, "fit", fails)
    assert main(("fit", "people.csv", *OUTCOME, "--report")) == 2
    assert len(calls) == failing
    assert names() == ["people.csv"]
