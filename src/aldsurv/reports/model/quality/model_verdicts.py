"""Verdicts on a model in plain words, each with the numbers it rests on."""

from __future__ import annotations

import numpy as np

from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import INTERVAL_LEVEL, Findings
from aldsurv.reports.page.number_format import (
    counted,
    interval,
    per_hundred,
    percent,
)
from aldsurv.reports.page.page import Verdict

__all__ = [
    "ALPHA",
    "FEW_EVENTS",
    "TOO_FEW_EVENTS",
    "coverage_verdict",
    "describe_error",
    "gain_verdict",
    "ranking_verdict",
    "too_few_events",
]

# With fewer events neither discrimination nor calibration can be judged; below a hundred only roughly.
TOO_FEW_EVENTS = 20
FEW_EVENTS = 100
ALPHA = 0.05
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
    if events < TOO_FEW_EVENTS:
        return Verdict(about, too_few_events(events), reason)
    if lower > 0.5:
        strength = "strong" if value >= 0.8 else "good" if value >= 0.7 else "moderate" if value >= 0.6 else "weak"
        return Verdict(about, f"{strength}, better than chance", reason, "good" if value >= 0.6 else "")
    if upper < 0.5:
        return Verdict(about, "worse than chance", reason, "bad")
    return Verdict(about, "not distinguishable from chance", reason, "bad")


def coverage_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    """Whether prediction intervals have their nominal coverage, as far as censoring allows to say."""
    about, coverage, events = "Intervals", findings.coverage, evaluated.events
    reason = (
        f"The interval that should contain {percent(INTERVAL_LEVEL)} of the event times contains an estimated "
        f"{percent(coverage.coverage)} of them (at least {percent(coverage.lower)} and at most "
        f"{percent(coverage.upper)}, since the event times of censored subjects are unknown)."
    )
    if events < TOO_FEW_EVENTS:
        return Verdict(about, too_few_events(events), reason)
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
    if events < TOO_FEW_EVENTS:
        return Verdict(about, too_few_events(events), reason)
    if lower > 0:
        return Verdict(about, f"error reduced by {percent(findings.skill)}", reason, "good")
    if upper < 0:
        return Verdict(about, "worse than no model", reason, "bad")
    return Verdict(about, "not distinguishable from chance", reason, "bad")


def describe_error(evaluated: EvaluatedModel, findings: Findings) -> str:
    """How the typical error is defined."""
    of = "predicted median" if findings.error_point == "median" else "predicted mean time within the follow-up"
    return f"mean distance of the {of} from the observed time, over {counted(evaluated.data.n_events, 'event')}"


def too_few_events(events: int) -> str:
    """The finding where there are too few events for any other."""
    return f"too few events to say ({events})"
