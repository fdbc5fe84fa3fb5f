"""A real table with causes, from CSV to report by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from aldsurv import datasets
from aldsurv.cli.main import main
from aldsurv.nonparametric import aalen_johansen


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main(list(words))
    done = capsys.readouterr()
    assert code == 0, done.err
    return done.out


@pytest.mark.usefixtures("quick_report")
def test_from_a_table_to_a_report(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    train, test = datasets.load("rotterdam").split(seed=0)
    train[::4].frame(outcome=True).to_csv("women.csv", index=False)
    test[::2].frame(outcome=True).to_csv("unseen.csv", index=False)
    outcome = ["--time", "time", "--event", "event", "--event-values", "recurrence,death"]
    fit = ["fit", "women.csv", *outcome, "--model", "deephit", "--members", "1", "--out", "women.aldsurv", "--json"]
    facts = json.loads(run(capsys, *fit))
    assert facts["causes"] == {cause: train[::4].y.of_cause(cause).n_events for cause in ("recurrence", "death")}
    # Of the women held out the model orders recurrences better than chance; deaths are too few to tell.
    assert facts["held_out"]["causes"]["recurrence"]["metrics"]["harrell_c"]["value"] > 0.55
    run(capsys, "predict", "women.aldsurv", "unseen.csv", "--times", "60", "--out", "p.csv", "--digits", "17")
    predicted = np.loadtxt("p.csv", delimiter=",", skiprows=1, usecols=(0, 1, 2))
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    observed = aalen_johansen(test[::2].y).incidence_at(60.0)
    np.testing.assert_allclose(predicted.mean(axis=0)[:2], observed, atol=0.12)
    assert predicted[:, 0].std() > 0.02
    run(capsys, "report", "women.aldsurv", "unseen.csv", "--train", "women.csv", "--people", "1", "--quiet")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Several causes" in page
    assert "The event is recurrence or death, whichever comes first" in page
