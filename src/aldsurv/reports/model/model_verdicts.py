"""Judgements in plain words, each with the number it rests on; only what the numbers allow."""

from __future__ import annotations

import numpy as np

from aldsurv.reports.model.findings import INTERVAL, Findings
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, counted, interval, number, of_hundred, p_value, percent, signed
from aldsurv.reports.page.page import Verdict

__all__ = ["FEW_EVENTS", "calibration_verdict", "coverage_verdict", "gain_verdict", "ranking_verdict"]

# With fewer, neither order nor calibration can be judged at all; below a hundred, only roughly.
_TOO_FEW = 20
FEW_EVENTS = 100
ALPHA = 0.05
# Differences of survival or of the bars that nobody would act upon.
_SLIGHT = 0.02
# Distance from the promised coverage that nobody would notice.
_NEAR = 0.05


def ranking_verdict(subject: Subject, findings: Findings) -> Verdict:
    """Whether those predicted to have the event early have it early."""
    events = subject.data.n_events
    value, (lower, upper) = findings.value("harrell_c"), findings.limits("harrell_c")
    told = (
        f"Of two subjects, the one with the earlier prediction had the event first in {of_hundred(value)} of 100 pairs "
        f"(C = {value:.3f}, 95 % interval {interval(lower, upper, 3)}). Guessing gives 50, a perfect order 100."
    )
    if np.isnan(value):
        return Verdict("Order", "not defined here", "No two subjects can be compared.")
    if events < _TOO_FEW:
        return Verdict("Order", _few(events), told)
    if lower > 0.5:
        strength = "strong" if value >= 0.8 else "good" if value >= 0.7 else "moderate" if value >= 0.6 else "weak"
        return Verdict("Order", f"{strength}, better than chance", told, "good" if value >= 0.6 else "")
    if upper < 0.5:
        return Verdict("Order", "worse than chance", told, "bad")
    return Verdict("Order", "cannot be told from chance", told, "bad")


def calibration_verdict(subject: Subject, findings: Findings) -> Verdict:
    """Whether predicted probabilities come true as often as they say."""
    events, censored = subject.data.n_events, 1 - subject.data.n_events / len(subject.data)
    p, slope, limits = findings.d_calibration.p_value, findings.value("cal_s_slope"), findings.limits("cal_s_slope")
    told = (
        f"Test of D-calibration: {p_value(p)} (below {ALPHA} speaks against the predictions); calibration slope "
        f"{slope:.2f}, 95 % interval {interval(*limits)} (1 is right); event-free at "
        f"{amount(findings.horizon, subject.unit)}: expected {percent(findings.mean_survival)}, observed "
        f"{percent(findings.km_survival)} (95 % interval "
        f"{of_hundred(findings.km_limits[0])} to {of_hundred(findings.km_limits[1])})."
    )
    if events < _TOO_FEW:
        return Verdict("Calibration", _few(events), told)
    if p < ALPHA:
        off = deviation(findings)
        size = "slightly off" if off < _SLIGHT else "off"
        told = f"{_direction(findings)} The largest bar of the histogram is {100 * off:.1f} points off. {told}"
        return Verdict("Calibration", f"the probabilities are {size}, by more than chance explains", told, "bad")
    if not average_agrees(findings):
        return Verdict("Calibration", "the average is off", f"{_direction(findings)} {told}", "bad")
    lower, upper = findings.limits("cal_s_intercept")
    if not (limits[0] <= 1 <= limits[1] and lower <= 0 <= upper):
        lean = f"The line through the first curve is not the diagonal (intercept {interval(lower, upper)})."
        return Verdict("Calibration", "mostly right, but tilted", f"{lean} {told}")
    lenient = f" With {percent(censored)} of the rows censored the test is lenient." if censored > 0.5 else ""
    return Verdict("Calibration", "good, no sign of error", f"{told}{lenient}", "good")


def coverage_verdict(subject: Subject, findings: Findings) -> Verdict:
    """Whether intervals hold what they promise, as far as censoring lets one know."""
    found, events = findings.coverage, subject.data.n_events
    bounds = f"at least {percent(found.lower)} and at most {percent(found.upper)}"
    told = (
        f"The interval that should hold {percent(INTERVAL)} of the event times holds an estimated "
        f"{percent(found.coverage)} of them (for certain {bounds}, since the times of censored subjects are not known)."
    )
    if events < _TOO_FEW:
        return Verdict("Intervals", _few(events), told)
    if not np.isfinite(found.median_width):
        told = f"Most predicted curves end, with the data, before the interval does: it has no late end. {told}"
        return Verdict("Intervals", "open to the late side", told)
    if found.lower <= INTERVAL <= found.upper and abs(found.coverage - INTERVAL) <= _NEAR:
        return Verdict("Intervals", "about as wide as they should be", told, "good")
    if found.lower <= INTERVAL <= found.upper or abs(found.coverage - INTERVAL) <= _NEAR:
        return Verdict("Intervals", "may be right, the data cannot tell for sure", told)
    return Verdict("Intervals", "too narrow" if found.upper < INTERVAL else "too wide", told, "bad")


def gain_verdict(subject: Subject, findings: Findings) -> Verdict:
    """Whether the columns improve on one curve for all."""
    about, events, (lower, upper) = "Gain over no model", subject.data.n_events, findings.skill_limits
    if np.isnan(findings.skill):
        return Verdict(about, "not defined here", "There is no error to compare with.")
    told = (
        "Compared with giving everybody the same (Kaplan-Meier) curve, the squared error of the predicted "
        f"probabilities is {percent(abs(findings.skill))} {'smaller' if findings.skill >= 0 else 'larger'} (95 % "
        f"interval of the gain {interval(100 * lower, 100 * upper, 1)} %)."
    )
    if events < _TOO_FEW:
        return Verdict(about, _few(events), told)
    if lower > 0:
        return Verdict(about, f"error reduced by {percent(findings.skill)}", told, "good")
    if upper < 0:
        return Verdict(about, "worse than no model", told, "bad")
    return Verdict(about, "none that can be told from chance", told, "bad")


def _few(events: int) -> str:
    return f"too few events to say ({events})"


def deviation(findings: Findings) -> float:
    """How far the bar of the histogram that is furthest off is from its tenth."""
    counts = findings.d_calibration.counts
    return float(np.abs(counts / counts.sum() - 1 / len(counts)).max())


def average_agrees(findings: Findings) -> bool:
    """Whether the mean prediction lies within the limits of the Kaplan-Meier curve at the horizon."""
    lower, upper = findings.km_limits
    return lower <= findings.mean_survival <= upper


def average_words(subject: Subject, findings: Findings) -> str:
    """Mean prediction beside Kaplan-Meier in a sentence."""
    difference = findings.mean_survival - findings.km_survival
    agree = "They agree" if average_agrees(findings) else "They differ by more than chance explains"
    return (
        f"{agree}: at {amount(findings.horizon, subject.unit)} the model expects {percent(findings.mean_survival)} to "
        f"be event-free, the data say {percent(findings.km_survival)} ({signed(100 * difference, 1)} points)."
    )


def error_words(subject: Subject, findings: Findings) -> str:
    """What the typical error is of."""
    of = "predicted median" if findings.error_point == "median" else "predicted mean time within the follow-up"
    return f"mean distance of the {of} from the observed time, of {counted(subject.data.n_events, 'event')}"


def slope_words(findings: Findings) -> str:
    """Slope and intercept of both curves."""
    told = []
    for name, key in (("First curve", "cal_s"), ("second curve", "cal_f")):
        slope, intercept = findings.value(f"{key}_slope"), findings.value(f"{key}_intercept")
        told.append(f"{name}: slope {number(slope)}, intercept {signed(intercept)}")
    return "; ".join(told) + ". A slope of 1 and an intercept of 0 are right."


def _direction(findings: Findings) -> str:
    difference = findings.mean_survival - findings.km_survival
    if difference > _SLIGHT:
        return "On average the predicted times are too long."
    if difference < -_SLIGHT:
        return "On average the predicted times are too short."
    return "The average is right, but single predictions are too wide, too narrow or skewed."
