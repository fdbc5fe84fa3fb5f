"""Verdicts on a model in plain words, each with the numbers it rests on."""

from __future__ import annotations

import numpy as np

from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.findings import INTERVAL_LEVEL, Findings
from aldsurv.reports.page.number_format import (
    counted,
    interval,
    number,
    p_value,
    per_hundred,
    percent,
    signed,
    time_with_unit,
)
from aldsurv.reports.page.page import Verdict

__all__ = [
    "ALPHA",
    "FEW_EVENTS",
    "average_agrees",
    "calibration_verdict",
    "coverage_verdict",
    "describe_average",
    "describe_error",
    "describe_slopes",
    "gain_verdict",
    "ranking_verdict",
]

# With fewer events neither discrimination nor calibration can be judged; below a hundred only roughly.
_TOO_FEW = 20
FEW_EVENTS = 100
ALPHA = 0.05
# Differences of survival, or of the bars of D-calibration, without practical importance.
_SLIGHT = 0.02
# Distance from the nominal coverage without practical importance.
_NEAR = 0.05


def ranking_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether subjects with earlier predicted events have earlier events."""
    about, events = "Discrimination", evaluated.data.n_events
    value, (lower, upper) = findings.value("harrell_c"), findings.limits("harrell_c")
    if np.isnan(value):
        return Verdict(about, "not defined here", "No two subjects can be compared.")
    reason = (
        f"Of two subjects, the one with the earlier prediction had the event first in {per_hundred(value)} of 100 "
        f"pairs (C = {value:.3f}, 95 % interval {interval(lower, upper, 3)}). Chance gives 50, a perfect ranking 100."
    )
    if events < _TOO_FEW:
        return Verdict(about, _too_few(events), reason)
    if lower > 0.5:
        strength = "strong" if value >= 0.8 else "good" if value >= 0.7 else "moderate" if value >= 0.6 else "weak"
        return Verdict(about, f"{strength}, better than chance", reason, "good" if value >= 0.6 else "")
    if upper < 0.5:
        return Verdict(about, "worse than chance", reason, "bad")
    return Verdict(about, "not distinguishable from chance", reason, "bad")


def calibration_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether predicted probabilities agree with observed frequencies."""
    about, events = "Calibration", evaluated.data.n_events
    p, slope, limits = findings.d_calibration.p_value, findings.value("cal_s_slope"), findings.limits("cal_s_slope")
    reason = (
        f"Test of D-calibration: {p_value(p)} (below {ALPHA}: not calibrated); calibration slope {slope:.2f}, 95 % "
        f"interval {interval(*limits)} (ideal: 1); event-free at {time_with_unit(findings.horizon, evaluated.unit)}: "
        f"expected {percent(findings.mean_survival)}, observed {percent(findings.km_survival)} (95 % interval "
        f"{per_hundred(findings.km_limits[0])} to {per_hundred(findings.km_limits[1])} %)."
    )
    if events < _TOO_FEW:
        return Verdict(about, _too_few(events), reason)
    if p < ALPHA:
        off = _largest_deviation(findings)
        size = "slightly off" if off < _SLIGHT else "off"
        reason = (
            f"{_describe_direction(findings)} The bar of the histogram that is furthest off deviates by "
            f"{100 * off:.1f} percentage points. {reason}"
        )
        return Verdict(about, f"the probabilities are {size}, by more than chance explains", reason, "bad")
    if not average_agrees(findings):
        return Verdict(about, "the average is off", f"{_describe_direction(findings)} {reason}", "bad")
    lower, upper = findings.limits("cal_s_intercept")
    if not (limits[0] <= 1 <= limits[1] and lower <= 0 <= upper):
        tilt = f"The line through the calibration curve is not the diagonal (intercept {interval(lower, upper)})."
        return Verdict(about, "mostly good, but the curve is tilted", f"{tilt} {reason}")
    censored = 1 - events / len(evaluated.data)
    power = f" With {percent(censored)} of the rows censored, the test has little power." if censored > 0.5 else ""
    return Verdict(about, "good, no sign of miscalibration", f"{reason}{power}", "good")


def coverage_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether prediction intervals have their nominal coverage, as far as censoring allows to say."""
    about, coverage, events = "Intervals", findings.coverage, evaluated.data.n_events
    reason = (
        f"The interval that should contain {percent(INTERVAL_LEVEL)} of the event times contains an estimated "
        f"{percent(coverage.coverage)} of them (at least {percent(coverage.lower)} and at most "
        f"{percent(coverage.upper)}, since the event times of censored subjects are unknown)."
    )
    if events < _TOO_FEW:
        return Verdict(about, _too_few(events), reason)
    if not np.isfinite(coverage.median_width):
        reason = f"Most predicted curves end with the data, before the upper limit is reached. {reason}"
        return Verdict(about, "without upper limit", reason)
    possible = coverage.lower <= INTERVAL_LEVEL <= coverage.upper
    near = abs(coverage.coverage - INTERVAL_LEVEL) <= _NEAR
    if possible and near:
        return Verdict(about, "about as wide as they should be", reason, "good")
    if possible or near:
        return Verdict(about, "may be right; the data do not decide it", reason)
    return Verdict(about, "too narrow" if coverage.upper < INTERVAL_LEVEL else "too wide", reason, "bad")


def gain_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether the covariates improve on one Kaplan-Meier curve for all subjects."""
    about, events, (lower, upper) = "Gain over no model", evaluated.data.n_events, findings.skill_limits
    if np.isnan(findings.skill):
        return Verdict(about, "not defined here", "There is no error to compare with.")
    reason = (
        "Compared with the same Kaplan-Meier curve for every subject, the squared error of the predicted probabilities "
        f"is {percent(abs(findings.skill))} {'smaller' if findings.skill >= 0 else 'larger'} (95 % interval of the "
        f"gain {interval(100 * lower, 100 * upper, 1)} %)."
    )
    if events < _TOO_FEW:
        return Verdict(about, _too_few(events), reason)
    if lower > 0:
        return Verdict(about, f"error reduced by {percent(findings.skill)}", reason, "good")
    if upper < 0:
        return Verdict(about, "worse than no model", reason, "bad")
    return Verdict(about, "not distinguishable from chance", reason, "bad")


def average_agrees(findings: Findings) -> bool:
    """Whether the mean prediction lies within the limits of the Kaplan-Meier curve at the horizon."""
    lower, upper = findings.km_limits
    return lower <= findings.mean_survival <= upper


def describe_average(evaluated: EvaluatedModel, findings: Findings) -> str:
    """Mean prediction beside Kaplan-Meier in a sentence."""
    difference = findings.mean_survival - findings.km_survival
    agree = "They agree" if average_agrees(findings) else "They differ by more than chance explains"
    return (
        f"{agree}: at {time_with_unit(findings.horizon, evaluated.unit)} the model expects "
        f"{percent(findings.mean_survival)} to be event-free, and Kaplan-Meier estimates "
        f"{percent(findings.km_survival)} ({signed(100 * difference, 1)} percentage points)."
    )


def describe_error(evaluated: EvaluatedModel, findings: Findings) -> str:
    """How the typical error is defined."""
    of = "predicted median" if findings.error_point == "median" else "predicted mean time within the follow-up"
    return f"mean distance of the {of} from the observed time, over {counted(evaluated.data.n_events, 'event')}"


def describe_slopes(findings: Findings) -> str:
    """Slope and intercept of both calibration curves."""
    curves = []
    for name, key in (("First curve", "cal_s"), ("second curve", "cal_f")):
        slope, intercept = findings.value(f"{key}_slope"), findings.value(f"{key}_intercept")
        curves.append(f"{name}: slope {number(slope)}, intercept {signed(intercept)}")
    return "; ".join(curves) + ". The ideal is a slope of 1 and an intercept of 0."


def _too_few(events: int) -> str:
    return f"too few events to say ({events})"


def _largest_deviation(findings: Findings) -> float:
    """Distance from a tenth of the bar of the D-calibration histogram that is furthest off."""
    counts = findings.d_calibration.counts
    return float(np.abs(counts / counts.sum() - 1 / len(counts)).max())


def _describe_direction(findings: Findings) -> str:
    difference = findings.mean_survival - findings.km_survival
    if difference > _SLIGHT:
        return "On average the predicted times are too long."
    if difference < -_SLIGHT:
        return "On average the predicted times are too short."
    return "The average is right, but the predicted distributions are too wide, too narrow or skewed."
