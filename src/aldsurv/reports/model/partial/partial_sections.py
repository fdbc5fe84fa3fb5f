"""The sections of a report of rows whose outcomes are known in part, and what is not defined for them."""

from __future__ import annotations

import numpy as np

from aldsurv.nonparametric import kaplan_meier
from aldsurv.plots.group_curve_plot import GroupCurve, plot_group_curves
from aldsurv.reports.model.at_times.expected_curve import expected_survival
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.calibration_verdict import calibration_facts, calibration_verdict, describe_slopes
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.model_verdicts import ALPHA, TOO_FEW_EVENTS, coverage_verdict, too_few_events
from aldsurv.reports.model.quality.quality_sections import calibration_gallery
from aldsurv.reports.page.number_format import counted, fixed, interval, p_value, percent, signed, time_with_unit
from aldsurv.reports.page.page import Block, Facts, Section, Text, Tile, Tiles, Verdict, Verdicts
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, embedded_picture

__all__ = ["partial_average_section", "partial_calibration_section", "partial_glance_section", "undefined_section"]

_GRID = 201


def undefined_section(anchor: str, title: str, what: str, evaluated: EvaluatedModel) -> Section:
    """A section that says what is not defined for these rows, and why."""
    return Section(anchor, title, (Text(f"{what} not defined here: {evaluated.kind.reason}."),))


def partial_glance_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """The main numbers that are defined, and verdicts."""
    data, kind = evaluated.data, evaluated.kind
    detail = f"{percent(evaluated.events / len(data))} of the rows; the rest is censored"
    if kind.bounded:
        detail = f"known to have come, {kind.bounded:,} of them within bounds only"
    lower, upper = findings.limits("log_likelihood")
    likelihood = f"per row, 95 % interval {interval(lower, upper)}; for comparisons with other models"
    tiles = [
        Tile("Rows", f"{len(data):,}", "subjects that the model is evaluated on"),
        Tile("Events", f"{evaluated.events:,}", detail),
        Tile("Log-likelihood", fixed(findings.value("log_likelihood"), 2), likelihood),
        Tile("D-calibration", p_value(findings.d_calibration.p_value), f"below {ALPHA}: not calibrated"),
    ]
    if kind.has_times:
        tiles += [_tile(findings, "Calibration slope", "calibration_slope", "1 is ideal, below: too extreme")]
        tiles += [_tile(findings, "Observed / expected", "observed_expected_ratio", "1 is ideal, above: risks too low")]
    verdicts = (
        _undefined("Discrimination", "C and AUC compare", evaluated),
        _calibration_verdict(evaluated, findings),
        coverage_verdict(evaluated, findings),
        _undefined("Gain over no model", "The Brier score compares", evaluated),
    )
    reason = kind.reason[0].upper() + kind.reason[1:]
    lead = Text(
        "For each subject the model predicts the distribution of the time to the event. This report compares the "
        f"predictions with the observed outcomes. {reason}: measures that need the time of every event, or all "
        "subjects from time 0 on, are not defined, and their sections say so."
    )
    return Section("glance", "At a glance", (lead, Tiles(tuple(tiles)), Verdicts(verdicts)))


def partial_average_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """The expected curve beside Kaplan-Meier's with delayed entry."""
    anchor, title = "average", "All subjects together"
    if not evaluated.kind.has_times:
        return undefined_section(anchor, title, "A Kaplan-Meier curve to compare predictions with is", evaluated)
    data = evaluated.data
    estimate = kaplan_meier(data)
    grid = np.linspace(0.0, float(estimate.times[-1]), _GRID)
    expected = expected_survival(evaluated.predicted, data, grid)
    lower, upper = estimate.band(0.95)
    curve = GroupCurve("Kaplan-Meier", estimate.times, estimate.survival, lower, upper, estimate, grid, expected)
    difference = signed(100 * (findings.mean_survival - findings.km_survival), 1)
    text = (
        f"At {time_with_unit(findings.horizon, evaluated.unit)} {percent(findings.mean_survival)} are expected to be "
        f"event-free, and Kaplan-Meier estimates {percent(findings.km_survival)} ({difference} percentage points)."
    )
    lead = Text(
        "The Kaplan-Meier curve counts each subject from its entry on; numbers below the axis are those under "
        "observation, which grow as subjects enter. Beside it stands what the model expects of those under observation "
        f"at each time. {text}"
    )
    picture = embedded_picture(
        plot_group_curves([curve], unit=evaluated.unit_label).figure,
        "average",
        width=WIDTH + 0.6,
        height=HEIGHT + 0.5,
        caption="Event-free share: observed (Kaplan-Meier with delayed entry) and expected.",
        alt=text,
    )
    return Section(anchor, title, (lead, Gallery((picture,))))


def partial_calibration_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """Calibration over all levels of probability, which any censoring allows."""
    lead = Text(
        "Whether events come as often as predicted, over all levels of probability: an event that is known only within "
        "bounds counts by the predicted probabilities of the parts in which it may lie, and after a delayed entry "
        "probabilities are those of subjects who are event-free at it. Calibrated predictions lie on the dashed "
        f"diagonal, and their histogram is even. {describe_slopes(findings)}"
    )
    blocks: list[Block] = [lead, Verdicts((_calibration_verdict(evaluated, findings),))]
    if evaluated.kind.has_times:
        overall = [entry for entry in calibration_facts(evaluated, findings) if "over all follow-up" in entry[0]]
        blocks.append(Facts(tuple(overall)))
    return Section("calibration", "Calibration", (*blocks, calibration_gallery(evaluated, findings)))


def _calibration_verdict(evaluated: EvaluatedModel, findings: Findings) -> Verdict:
    if evaluated.kind.has_times:
        return calibration_verdict(evaluated, findings)
    about, events, p = "Calibration", evaluated.events, findings.d_calibration.p_value
    reason = (
        f"Test of D-calibration: {p_value(p)} (below {ALPHA}: not calibrated). Events known only within bounds are "
        "spread over the parts in which they may lie, so that the test has little power where bounds are wide."
    )
    if events < TOO_FEW_EVENTS:
        return Verdict(about, too_few_events(events), reason)
    if p < ALPHA:
        return Verdict(about, "the probabilities are off, by more than chance explains", reason, "bad")
    return Verdict(about, f"no sign of miscalibration in {counted(events, 'event')}", reason)


def _undefined(about: str, what: str, evaluated: EvaluatedModel) -> Verdict:
    needed = f"{what} subjects who were all observed from time 0 on, with events at known times"
    return Verdict(about, "not defined here", f"{needed}, but {evaluated.kind.reason}.")


def _tile(findings: Findings, label: str, name: str, hint: str) -> Tile:
    score = findings.scores[name]
    text = f"not defined: {score.reason}" if score.reason else f"95 % interval {interval(score.lower, score.upper)}"
    return Tile(label, fixed(score.value, 2), f"over all follow-up, {text}; {hint}")
