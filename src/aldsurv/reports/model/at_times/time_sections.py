"""The sections of a model's report about chosen times: calibration and discrimination at each of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv import plots
from aldsurv.metrics.calibration_summary import LimitedValue
from aldsurv.reports.model.at_times.time_findings import TimeFindings, event_label, event_name, prediction_of
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import fixed, interval, percent, time_with_unit
from aldsurv.reports.page.page import Block, Section, Text
from aldsurv.reports.page.page_figures import Gallery, Picture, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["calibration_at_section", "calibration_table", "discrimination_table"]

# Metrics of calibration in the table, and their decimals.
_SHOWN = (("calibration_slope", 2), ("observed_expected_ratio", 2), ("calibration_in_the_large", 3))


def calibration_at_section(evaluated: EvaluatedModel, findings: Sequence[TimeFindings]) -> Section:
    """A table and a picture of calibration at each time; with causes the pictures are those of each cause."""
    title = "Calibration at chosen times"
    if not findings:
        return Section("calibration_at", title, (Text("Half of the rows end at time 0: there is no time to look at."),))
    lead = Text(
        "Whether predicted probabilities of an event by a time come true as often as they say. In the figures the line "
        "is a smooth estimate of the observed probability by the predicted one, circles are groups of similar "
        "predictions with their Kaplan-Meier estimates and 95 % limits, and the grey bars at the bottom show how the "
        "predictions are distributed; calibrated predictions lie on the dashed diagonal. ICI, E50 and E90 are the "
        "mean, the median and the 90 % point of the distance between predicted and observed probability."
    )
    blocks: list[Block] = [lead, calibration_table(evaluated, findings)]
    reasons = {score.reason for each in findings for score in each.calibration.values() if score.reason}
    if reasons:
        blocks.append(Text(f"A dash means that there is no estimate: {'; '.join(sorted(reasons))}."))
    shown = [each for each in findings if (each.cause is None) == (evaluated.incidence is None)]
    blocks.append(Gallery(tuple(_picture(evaluated, each, place) for place, each in enumerate(shown))))
    return Section("calibration_at", title, tuple(blocks))


def discrimination_table(evaluated: EvaluatedModel, findings: Sequence[TimeFindings]) -> PageTable:
    """AUC, C and Brier score at each time."""
    columns = (
        *_first_columns(evaluated),
        PageColumn("auc", "AUC", numeric=True, meaning="cumulative/dynamic; 0.5 chance, 1 perfect"),
        PageColumn("c", "C", numeric=True, meaning="Uno's C of events before the time; 0.5 chance, 1 perfect"),
        PageColumn("brier", "Brier score", numeric=True, meaning="mean squared error; 0 perfect"),
        PageColumn("reference", "Without covariates", numeric=True, meaning="Brier score of one curve for all rows"),
        PageColumn("scaled", "Scaled Brier", numeric=True, meaning="share of the error without covariates saved"),
    )
    rows = tuple(
        (
            *_first_cells(evaluated, each),
            _limited_cell(each.auc, 3),
            _limited_cell(each.c, 3),
            PageCell(fixed(each.brier), each.brier),
            PageCell(fixed(each.brier_reference), each.brier_reference),
            PageCell("–" if np.isnan(each.scaled_brier) else _signed_percent(each.scaled_brier), each.scaled_brier),
        )
        for each in findings
    )
    about = (
        "AUC: how often a subject with the event by the time had a higher predicted risk than one without. C: the same "
        "of all pairs of which one had the event before the time, corrected for censoring. Both rank by the predicted "
        "probability at the time; in parentheses 95 % intervals from bootstrap resamples."
    )
    return PageTable("discrimination_at", "Discrimination and error at chosen times", columns, rows, about=about)


def calibration_table(evaluated: EvaluatedModel, findings: Sequence[TimeFindings]) -> PageTable:
    """Slope, observed/expected and distances between predicted and observed probabilities at each time."""
    columns = (
        *_first_columns(evaluated),
        PageColumn("events", "Events", numeric=True, meaning="by the time"),
        PageColumn("beyond", "Beyond", numeric=True, meaning="rows observed longer than that"),
        PageColumn("slope", "Slope", numeric=True, meaning="calibration slope; 1 ideal, less: too extreme"),
        PageColumn("ratio", "O / E", numeric=True, meaning="observed/expected; 1 ideal, more: risks too low"),
        PageColumn("large", "In the large", numeric=True, meaning="observed less mean predicted probability; 0 ideal"),
        PageColumn("ici", "ICI", numeric=True),
        PageColumn("e50", "E50", numeric=True),
        PageColumn("e90", "E90", numeric=True),
    )
    rows = []
    for each in findings:
        cells = [PageCell(f"{each.events:,}", each.events), PageCell(f"{each.beyond:,}", each.beyond)]
        for name, decimals in _SHOWN:
            cells.append(_limited_cell(each.calibration[f"{name}_at"], decimals))
        cells += [PageCell(fixed(value), value) for value in each.index]
        rows.append((*_first_cells(evaluated, each), *cells))
    about = "In parentheses 95 % intervals; O / E is observed/expected, in the large observed less mean predicted."
    return PageTable("calibration_at", "Calibration at chosen times", columns, tuple(rows), about=about)


def _first_columns(evaluated: EvaluatedModel) -> tuple[PageColumn, ...]:
    event = () if evaluated.incidence is None else (PageColumn("event", "Event"),)
    return (PageColumn("time", "By", numeric=True), *event)


def _first_cells(evaluated: EvaluatedModel, each: TimeFindings) -> tuple[PageCell, ...]:
    when = PageCell(time_with_unit(each.time, evaluated.unit), each.time)
    return (when,) if evaluated.incidence is None else (when, PageCell(each.cause or "any"))


def _limited_cell(score: LimitedValue, decimals: int) -> PageCell:
    """A value with its 95 % interval in parentheses."""
    if np.isnan(score.lower):
        return PageCell(fixed(score.value, decimals), score.value)
    return PageCell(f"{fixed(score.value, decimals)} ({interval(score.lower, score.upper, decimals)})", score.value)


def _signed_percent(share: float) -> str:
    return percent(share) if share >= 0 else f"−{percent(-share)}"


def _picture(evaluated: EvaluatedModel, each: TimeFindings, place: int) -> Picture:
    when, index = time_with_unit(each.time, evaluated.unit), each.index
    ax = plots.plot_calibration_at(
        prediction_of(evaluated, each.cause), evaluated.data, each.time, cause=each.cause, unit=evaluated.unit_label
    )
    ax.set_xlabel(f"predicted probability of {event_label(evaluated, each)}")
    about = f"probability of {event_name(each.cause)} by {when}"
    return embedded_picture(
        ax.figure,
        f"calibration_at_{place}",
        width=4.4,
        height=4.4,
        caption=f"Predicted and observed {about}.",
        alt=f"Observed against predicted {about}; mean distance {fixed(index.ici)}, 90 % point {fixed(index.e90)}.",
    )
