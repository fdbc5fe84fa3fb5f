"""The verdict on calibration: average, differences between subjects, and distributions, each judged once."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.model_verdicts import ALPHA, TOO_FEW_EVENTS, too_few_events
from aldsurv.reports.page.number_format import (
    fixed,
    interval,
    number,
    p_value,
    per_hundred,
    percent,
    signed,
    time_with_unit,
)
from aldsurv.reports.page.page import Tile, Verdict

__all__ = [
    "CalibrationProblems",
    "calibration_facts",
    "calibration_problems",
    "calibration_tiles",
    "calibration_verdict",
    "describe_average",
    "describe_slopes",
]

# Limits within which observed/expected and the slope are called good: wider ones could hide errors that matter.
_GOOD_RATIO, _GOOD_SLOPE = (0.8, 1.25), (0.7, 1.3)
# Deviations of the bars of D-calibration without practical importance.
_SLIGHT = 0.02


class CalibrationProblems(NamedTuple):
    """What the limits say: 1 and -1 for more and less than is right, 0 for no sign of either, None if not defined.

    Attributes
    ----------
    average
        Whether more or fewer events came than predicted: by the horizon, or if that has no limits overall.
    overall
        The same over all follow-up.
    differences
        Whether subjects differ more or less than predicted, over all follow-up; if that has no slope, by the horizon.
    uneven
        Whether the test of D-calibration rejects.
    """

    average: int | None
    overall: int | None
    differences: int | None
    uneven: bool

    @property
    def any(self) -> bool:
        """Whether one of them is beyond chance."""
        return bool(self.average or self.differences or self.uneven)


def calibration_problems(findings: Findings) -> CalibrationProblems:
    """Each judged once, so that no two sentences of a report contradict each other."""
    by_horizon, overall = (_side(findings, f"observed_expected_ratio{part}") for part in ("_at", ""))
    slope = _side(findings, "calibration_slope")
    return CalibrationProblems(
        overall if by_horizon is None else by_horizon,
        overall,
        _side(findings, "calibration_slope_at") if slope is None else slope,
        bool(findings.d_calibration.p_value < ALPHA),
    )


def calibration_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether predicted probabilities agree with observed frequencies."""
    about, events = "Calibration", evaluated.data.n_events
    numbers = _describe_numbers(evaluated, findings)
    if events < TOO_FEW_EVENTS:
        return Verdict(about, too_few_events(events), numbers)
    problems = calibration_problems(findings)
    reasons = [*_describe_problems(findings, problems), numbers]
    if problems.any:
        return Verdict(about, _name_problems(findings, problems), " ".join(reasons), "bad")
    if problems.overall:
        horizon = time_with_unit(findings.horizon, evaluated.unit)
        return Verdict(about, f"good by {horizon}, but off later", " ".join(reasons))
    censored = 1 - events / len(evaluated.data)
    if censored > 0.5:
        reasons.append(f"With {percent(censored)} of the rows censored, the test of D-calibration has little power.")
    if _is_precise(findings):
        return Verdict(about, "good, no sign of miscalibration", " ".join(reasons), "good")
    return Verdict(about, "no sign of miscalibration, but too few events to call it good", " ".join(reasons))


def calibration_tiles(evaluated: EvaluatedModel, findings: Findings) -> tuple[Tile, ...]:
    """Calibration slope and observed/expected by the horizon, and overall in their explanation."""
    tiles = []
    for label, name, hint in (
        ("Calibration slope", "calibration_slope", "1 is ideal, below: too extreme"),
        ("Observed / expected", "observed_expected_ratio", "1 is ideal, above: risks too low"),
    ):
        at, overall = f"{name}_at", name
        reason = findings.scores[at].reason
        first = f"not defined: {reason}" if reason else f"95 % interval {interval(*findings.limits(at))}"
        when = time_with_unit(findings.horizon, evaluated.unit)
        detail = f"at {when}, {first}; over all follow-up {_value_with_limits(findings, overall)}; {hint}"
        tiles.append(Tile(label, fixed(findings.value(at), 2), detail))
    return tuple(tiles)


def calibration_facts(evaluated: EvaluatedModel, findings: Findings) -> tuple[tuple[str, str], ...]:
    """Slope, observed/expected and their difference, with limits."""
    when = time_with_unit(findings.horizon, evaluated.unit)
    return (
        (f"Calibration slope at {when}", _value_with_limits(findings, "calibration_slope_at")),
        ("Calibration slope over all follow-up", _value_with_limits(findings, "calibration_slope")),
        (f"Observed/expected at {when}", _value_with_limits(findings, "observed_expected_ratio_at")),
        ("Observed/expected over all follow-up", _value_with_limits(findings, "observed_expected_ratio")),
    )


def describe_average(evaluated: EvaluatedModel, findings: Findings) -> str:
    """Mean prediction beside Kaplan-Meier in a sentence."""
    difference = findings.mean_survival - findings.km_survival
    side = _side(findings, "observed_expected_ratio_at")
    text = (
        f"at {time_with_unit(findings.horizon, evaluated.unit)} the model expects {percent(findings.mean_survival)} to "
        f"be event-free, and Kaplan-Meier estimates {percent(findings.km_survival)} ({signed(100 * difference, 1)} "
        "percentage points)."
    )
    if side is None:
        return text[0].upper() + text[1:]
    if side:
        return f"They differ by more than chance explains: {text}"
    agree = _lies_within(findings.limits("observed_expected_ratio_at"), _GOOD_RATIO)
    return f"{'They agree' if agree else 'They differ by no more than chance explains'}: {text}"


def describe_slopes(findings: Findings) -> str:
    """Slope and intercept of the curves of Cal[S] and Cal[f]."""
    curves = []
    for name, key in (("First curve, Cal[S]", "cal_s"), ("second curve, Cal[f]", "cal_f")):
        slope, intercept = findings.value(f"{key}_slope"), findings.value(f"{key}_intercept")
        curves.append(f"{name}: slope {number(slope)}, intercept {signed(intercept)}")
    return "; ".join(curves) + ". The ideal is a slope of 1 and an intercept of 0."


def _side(findings: Findings, name: str) -> int | None:
    """On which side of 1 both limits of a metric lie; 0 if they hold it, None if there are none."""
    lower, upper = findings.limits(name)
    if math.isnan(lower) or math.isnan(upper):
        return None
    return 1 if lower > 1 else -1 if upper < 1 else 0


def _is_precise(findings: Findings) -> bool:
    """Whether the limits are narrow enough to call the calibration good."""
    ratio = findings.limits("observed_expected_ratio_at")
    if math.isnan(ratio[0]):
        ratio = findings.limits("observed_expected_ratio")
    slope = findings.limits("calibration_slope")
    # Equal predictions have no slope.
    return _lies_within(ratio, _GOOD_RATIO) and (math.isnan(slope[0]) or _lies_within(slope, _GOOD_SLOPE))


def _lies_within(limits: tuple[float, float], bounds: tuple[float, float]) -> bool:
    return bounds[0] <= limits[0] and limits[1] <= bounds[1]


def _value_with_limits(findings: Findings, name: str) -> str:
    reason = findings.scores[name].reason
    if reason:
        return f"not defined: {reason}"
    return f"{fixed(findings.value(name), 2)} ({interval(*findings.limits(name))})"


def _describe_numbers(evaluated: EvaluatedModel, findings: Findings) -> str:
    when = time_with_unit(findings.horizon, evaluated.unit)
    return (
        f"Calibration slope at {when}: {_value_with_limits(findings, 'calibration_slope_at')}, over all follow-up: "
        f"{_value_with_limits(findings, 'calibration_slope')}; observed/expected at {when}: "
        f"{_value_with_limits(findings, 'observed_expected_ratio_at')}, over all follow-up: "
        f"{_value_with_limits(findings, 'observed_expected_ratio')} (in parentheses 95 % intervals; 1 is ideal for "
        f"all). Test of D-calibration: {p_value(findings.d_calibration.p_value)} (below {ALPHA}: not calibrated). "
        f"Event-free at {when}: expected {percent(findings.mean_survival)}, observed {percent(findings.km_survival)} "
        f"(95 % interval {per_hundred(findings.km_limits[0])} to {per_hundred(findings.km_limits[1])} %)."
    )


def _name_problems(findings: Findings, problems: CalibrationProblems) -> str:
    extreme = {-1: "the predictions are too extreme", 1: "the predictions are too alike"}
    if problems.average and problems.differences:
        return f"the average is off, and {extreme[problems.differences]}"
    if problems.average:
        return "the average is off"
    if problems.differences:
        return extreme[problems.differences] + (", as of an over-trained model" if problems.differences < 0 else "")
    size = "slightly off" if _largest_deviation(findings) < _SLIGHT else "off"
    return f"the probabilities are {size}, by more than chance explains"


def _describe_problems(findings: Findings, problems: CalibrationProblems) -> list[str]:
    texts = []
    if problems.average:
        texts.append(f"On average the predicted times are too {'long' if problems.average > 0 else 'short'}.")
    elif problems.overall:
        ratio = fixed(findings.value("observed_expected_ratio"), 2)
        texts.append(f"Over all follow-up {ratio} events came for each that was predicted.")
    if problems.differences:
        texts.append(_describe_differences(findings, problems.differences))
    if problems.uneven:
        if problems.average == 0 and not problems.overall and problems.differences == 0:
            texts.append(
                "The average and the differences between subjects are right, but the predicted distributions are too "
                "wide, too narrow or skewed."
            )
        off = 100 * _largest_deviation(findings)
        texts.append(
            f"The bar of the histogram of D-calibration that is furthest off deviates by {off:.1f} percentage points."
        )
    return texts


def _describe_differences(findings: Findings, side: int) -> str:
    if side > 0:
        return "Subjects differ more than predicted: high risks are predicted too low, and low ones too high."
    slope = findings.limits("calibration_slope")
    lower, upper = findings.limits("calibration_slope_at") if math.isnan(slope[0]) else slope
    if upper < 0:
        return "Where the model predicts high risks, the observed ones are low, and the other way round."
    cause = "as is typical of a model that was fitted to too few rows or too many columns."
    if lower <= 0:
        return f"The predicted differences between subjects are not seen in the outcomes, {cause}"
    return f"Subjects differ less than predicted: high risks are predicted too high, and low ones too low, {cause}"


def _largest_deviation(findings: Findings) -> float:
    """Distance from a tenth of the bar of the D-calibration histogram that is furthest off."""
    counts = findings.d_calibration.counts
    return float(np.abs(counts / counts.sum() - 1 / len(counts)).max())
