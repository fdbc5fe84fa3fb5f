from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import CauseMixture, Exponential
from aldsurv.metrics.evaluation_table import Evaluation

RNG = np.random.default_rng(3)
ROWS = Exponential(RNG.uniform(1, 5, 60))
DATA = SurvivalData.right(ROWS.sample(random_state=1), RNG.random(60) < 0.8)
NAMES = ["harrell_c", "ibs"]
CAUSES = SurvivalData.competing(DATA.time, np.where(DATA.event, RNG.integers(1, 3, 60), 0), names=["<b>", "death"])
INCIDENCE = CauseMixture([ROWS, ROWS], [0.5, 0.5], ["<b>", "death"])


def test_it_is_a_dict_in_every_respect():
    scores = metrics.evaluate(ROWS, DATA, train=DATA, metrics=NAMES)
    plain = dict(scores)
    assert isinstance(scores, dict)
    assert scores == plain
    assert repr(scores) == repr(plain)
    assert json.loads(json.dumps(scores)) == plain
    for again in (pickle.loads(pickle.dumps(scores)), copy.deepcopy(scores)):  # noqa: S301 - our own bytes
        assert type(again) is Evaluation
        assert again == plain


def test_frames_have_a_row_per_metric():
    scores = metrics.evaluate(ROWS, DATA, train=DATA, metrics=NAMES)
    frame = scores.to_frame()
    assert frame["value"].to_dict() == scores
    limits = metrics.evaluate(ROWS, DATA, train=DATA, metrics=NAMES, bootstrap=30)
    frame = limits.to_frame()
    assert list(frame) == ["value", "lower", "upper", "standard_error", "samples"]
    assert frame.index.name == "metric"
    assert frame.loc["ibs", "upper"] == limits["ibs"].upper


def test_a_notebook_shows_titles_and_limits():
    limits = metrics.evaluate(ROWS, DATA, train=DATA, metrics=NAMES, bootstrap=30)
    text = limits._repr_html_()
    for expected in ("Harrell&#x27;s C", "integrated Brier score", "0.5 chance", f"{limits['ibs'].lower:.4g}"):
        assert expected in text
    # What a user adds has no title.
    limits["my <own>"] = 3.0
    assert "my &lt;own&gt;" in limits._repr_html_()
    assert np.isnan(limits.to_frame().loc["my <own>", "upper"])


@pytest.mark.parametrize("bootstrap", [None, 20])
def test_causes(bootstrap):
    scores = metrics.evaluate_causes(INCIDENCE, CAUSES, train=CAUSES, metrics=NAMES, bootstrap=bootstrap)
    assert repr(scores) == repr({cause: dict(each) for cause, each in scores.items()})
    frame = scores.to_frame()
    value = scores["death"]["ibs"]
    assert frame.loc["ibs", ("death", "value")] == (value if bootstrap is None else value.value)
    text = scores._repr_html_()
    assert "&lt;b&gt;" in text
    assert "<b>" not in text


def test_other_results():
    result = metrics.bootstrap("harrell_c", ROWS, DATA, samples=20, random_state=0)
    assert "standard error" in result._repr_html_()
    several = metrics.bootstrap(metrics.survival_calibration, ROWS, DATA, samples=20, random_state=0)
    assert several._repr_html_().count("<tr>") == 1 + len(several.value)
    both = metrics.compare(ROWS, Exponential(np.full(60, 3.0)), DATA, metric="harrell_c", train=DATA, samples=20)
    assert f"{both.difference:.4g}" in both._repr_html_()
    groups = metrics.calibration_by_group(ROWS, DATA, ["<i>a</i>"] * 30 + ["b"] * 30, least=10)
    text = groups._repr_html_()
    assert "&lt;i&gt;a" in text
    assert "<i>" not in text
    assert text.count("<tr>") == 3
