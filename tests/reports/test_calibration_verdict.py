"""What a report says of calibration: slope, observed over expected, and never two things that exclude each other."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import Weibull
from aldsurv.metrics.calibration_summary import LimitedValue
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.calibration_verdict import (
    calibration_problems,
    calibration_tiles,
    calibration_verdict,
    describe_average,
)
from aldsurv.reports.model.quality.cautions import cautions
from aldsurv.reports.model.quality.findings import compute_findings
from reports.known_model import KnownScale, even_rows


class WideCurves(KnownScale):
    """Weibull times of a given scale and shape: wide enough for the noise in their scales."""

    def predict_distribution(self, X):
        return Weibull(np.asarray(X["scale"]), np.asarray(X["shape"]))


def evaluated(model, x, y, unit="months"):
    return EvaluatedModel.on_rows(model, x, y, train=None, unit=unit, seed=0)


def over_trained(n=400, *, extreme=1.0):
    """Rows, and a prediction whose scales are mostly noise; the curves are as much too wide as the noise requires."""
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=n), rng.normal(size=n)
    event, lost = rng.weibull(2.0, n) * np.exp(-0.3 * x), rng.uniform(0.3, 4, n)
    given = {"scale": 1.2 * np.exp(-0.3 * x - extreme * noise), "shape": np.full(n, 1.08 if extreme else 2.0)}
    return given, SurvivalData.right(np.minimum(event, lost), event <= lost)


@pytest.fixture(scope="module")
def even():
    subject = evaluated(KnownScale(), *even_rows())
    return subject, compute_findings(subject)


def test_an_over_trained_model_is_called_so():
    """Its Cal[S] slope is near 1, and so is observed/expected: only the slope on log(-log S) shows it."""
    x, y = over_trained()
    subject = evaluated(WideCurves(), x, y)
    findings = compute_findings(subject)
    assert findings.value("cal_s_slope") == pytest.approx(1, abs=0.1)
    assert findings.value("calibration_slope_at") < 0.5
    slope, ratio = calibration_tiles(subject, findings)
    expected = metrics.calibration_slope(subject.predicted, y, findings.horizon)
    assert (slope.label, slope.value) == ("Calibration slope", f"{expected.slope:.2f}".replace("-", "−"))
    assert f"{expected.lower:.2f} to {expected.upper:.2f}".replace("-", "−") in slope.detail
    assert ratio.label == "Observed / expected"
    verdict = calibration_verdict(subject, findings)
    assert "the predictions are too extreme" in verdict.finding
    assert verdict.tone == "bad"
    assert "typical of a model that was fitted to too few rows or too many columns" in verdict.reason
    caution = dict(cautions(subject, findings, [], []))["Poor calibration."]
    assert "are too extreme" in caution


def test_predictions_that_are_too_alike_are_called_so():
    x, y = even_rows(600)
    middle = np.exp(np.log(x["scale"]).mean())
    findings = compute_findings(
        subject := evaluated(KnownScale(), {**x, "scale": middle * (x["scale"] / middle) ** 0.4}, y)
    )
    assert findings.limits("calibration_slope")[0] > 1
    assert "too alike" in calibration_verdict(subject, findings).finding
    assert "differ more than predicted" in calibration_verdict(subject, findings).reason


@pytest.mark.parametrize(("factor", "word", "side"), [(2.0, "too short", -1), (0.5, "too long", 1)])
def test_what_is_shifted_is_off_on_average(factor, word, side):
    x, y = even_rows()
    findings = compute_findings(subject := evaluated(KnownScale(), x, y.scaled(factor)))
    assert calibration_problems(findings).average == side
    verdict = calibration_verdict(subject, findings)
    assert verdict.finding.startswith("the average is off")
    assert f"On average the predicted times are {word}." in verdict.reason
    assert "They differ by more than chance explains" in describe_average(subject, findings)


def test_reversed_predictions():
    x, y = even_rows()
    findings = compute_findings(subject := evaluated(KnownScale(power=-1.0), x, y))
    assert findings.limits("calibration_slope")[1] < 0
    assert "the other way round" in calibration_verdict(subject, findings).reason


LIMITS = {
    "below": (0.6, 0.9),
    "none": (0.9, 1.1),
    "above": (1.1, 1.4),
    "reversed": (-0.5, -0.1),
    "unknown": (np.nan,) * 2,
}


@pytest.mark.parametrize("ratio", ["below", "none", "above", "unknown"])
def test_no_two_sentences_exclude_each_other(even, ratio):
    """Over all combinations of what the limits can say, and of small and large differences at the horizon."""
    subject, findings = even
    counts = findings.d_calibration.counts
    for overall, slope, slope_at, p, difference in product(
        ("below", "none", "above", "unknown"), LIMITS, ("below", "none", "unknown"), (0.5, 0.001), (0.001, -0.001, 0.2)
    ):
        scores = dict(findings.scores)
        for name, limits in (
            ("observed_expected_ratio_at", ratio),
            ("observed_expected_ratio", overall),
            ("calibration_slope", slope),
            ("calibration_slope_at", slope_at),
        ):
            lower, upper = LIMITS[limits]
            reason = "no row has an event" if np.isnan(lower) else ""
            scores[name] = LimitedValue((lower + upper) / 2, lower, upper, reason)
        changed = replace(
            findings,
            scores=scores,
            d_calibration=findings.d_calibration._replace(p_value=p, counts=counts),
            mean_survival=findings.km_survival + difference,
        )
        verdict = calibration_verdict(subject, changed)
        warned = dict(cautions(subject, changed, [], []))
        said = " ".join(
            [verdict.finding, verdict.reason, describe_average(subject, changed), *warned, *warned.values()]
        )
        off = "average is off" in said or "off on average" in said or "On average the predicted times" in said
        agrees = "The average and the differences between subjects are right" in said
        assert not (off and (agrees or "good, no sign" in said))
        assert not ("Over all follow-up" in said and (off or agrees or "good, no sign" in said))
        assert not (off and ratio == "none")
        assert not ("They agree" in said and ratio != "none")
        assert not ("too long" in said and "too short" in said)
        assert not ("too extreme" in said and "too alike" in said)
        assert not ("too extreme" in said or "too alike" in said) or not agrees
        assert not ("good" in verdict.finding and verdict.tone == "bad")
        assert ("Poor calibration." in warned) == (verdict.tone == "bad")
        assert (verdict.tone == "bad") == calibration_problems(changed).any
        assert "nan" not in said


def test_good_takes_enough_events(even):
    """A model of 43 events with a slope of 0.52 to 2.19 was once called good."""
    subject, findings = even
    assert calibration_verdict(subject, findings).tone == "good"
    for name, limits in (
        ("observed_expected_ratio_at", (0.59, 1.09)),
        ("calibration_slope", (0.52, 2.19)),
    ):
        wide = replace(findings, scores={**findings.scores, name: LimitedValue(1.0, *limits, "")})
        verdict = calibration_verdict(subject, wide)
        assert verdict.finding == "no sign of miscalibration, but too few events to call it good"
        assert verdict.tone == ""
    wide = replace(
        findings, scores={**findings.scores, "observed_expected_ratio_at": LimitedValue(0.8, 0.59, 1.09, "")}
    )
    assert describe_average(subject, wide).startswith("They differ by no more than chance explains")


def test_rows_that_end_at_zero_have_no_horizon():
    x, y = even_rows(60)
    time = np.where(np.arange(60) % 5 < 3, 0.0, y.time)
    findings = compute_findings(subject := evaluated(KnownScale(), x, SurvivalData.right(time, time > 0)))
    assert findings.horizon == 0
    slope, _ = calibration_tiles(subject, findings)
    assert slope.value == "–"
    assert "half of the rows end at time 0" in slope.detail


def test_limits_of_rows_in_groups_are_those_of_groups_drawn():
    """Each row twice: limits of groups are as wide as without copies, and wider than those of rows by themselves."""
    x, y = even_rows(120)
    rows = np.repeat(np.arange(120), 2)
    twice = {name: column[rows] for name, column in x.items()}
    single, doubled, grouped = (
        compute_findings(evaluated(KnownScale(), columns, outcome))
        for columns, outcome in ((x, y), (twice, y[rows]), (twice, y[rows].with_group(rows)))
    )
    for name in ("calibration_slope", "observed_expected_ratio"):
        widths = [np.subtract(*findings.limits(name)[::-1]) for findings in (single, doubled, grouped)]
        assert widths[1] == pytest.approx(widths[0] / np.sqrt(2), rel=0.02)
        assert widths[2] > 1.15 * widths[1]
