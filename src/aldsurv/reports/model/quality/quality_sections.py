"""The sections of a model's report that compare predictions with outcomes: calibration, discrimination, error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv import metrics, plots
from aldsurv.metrics.calibration_summary import CALIBRATION_AT_TIME
from aldsurv.metrics.error.impossible_rows import find_impossible_rows
from aldsurv.registry import METRICS
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.calibration_verdict import calibration_facts, calibration_verdict, describe_slopes
from aldsurv.reports.model.quality.findings import RESAMPLES, Findings
from aldsurv.reports.model.quality.model_verdicts import describe_error, ranking_verdict
from aldsurv.reports.model.quality.subgroups import Subgroup, describe_subgroups, subgroup_table
from aldsurv.reports.page.number_format import fixed, interval, number, p_value, percent, time_with_unit
from aldsurv.reports.page.page import Facts, Section, Text, Verdicts
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = [
    "calibration_gallery",
    "calibration_section",
    "discrimination_section",
    "group_section",
    "negative_section",
    "number_section",
    "observed_section",
]

_MOST_POINTS = 1500
_CURVE_ROWS = 3000
_TIMES = 50


def calibration_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """Both calibration curves and the histogram of D-calibration."""
    lead = Text(
        "Of 100 subjects with a predicted probability of 30 % of an event by some time, about 30 should have had it by "
        "then. Observed/expected is the number of events for each that was predicted: above 1 the predicted risks are "
        "too low. The calibration slope compares subjects: below 1 the predicted differences between them are too "
        "large, as of an over-trained model, above 1 too small. Both are shown with their 95 % intervals."
    )
    curves = Text(
        "In the first two figures calibrated predictions lie on the dashed diagonal. "
        f"{describe_slopes(findings)} These two curves are about all subjects together: they can be right although "
        "the differences between subjects are not."
    )
    verdict = calibration_verdict(evaluated, findings)
    facts = Facts(calibration_facts(evaluated, findings))
    return Section(
        "calibration",
        "Calibration",
        (lead, Verdicts((verdict,)), facts, curves, calibration_gallery(evaluated, findings)),
    )


def calibration_gallery(evaluated: EvaluatedModel, findings: Findings) -> Gallery:
    """The pictures of calibration over all levels of probability, which any censoring allows."""
    data, predicted = evaluated.data, evaluated.predicted
    p, counts = findings.d_calibration.p_value, findings.d_calibration.counts
    shares = ", ".join(f"{100 * share:.1f}" for share in counts / counts.sum())
    pictures = tuple(
        embedded_picture(ax.figure, name, caption=caption, alt=alt, width=4.4, height=4.4)
        for ax, name, caption, alt in (
            (
                plots.plot_calibration(predicted, data, kind="survival"),
                "calibration_survival",
                "First curve, Cal[S]: share of events observed when their predicted probability was 10 %, 20 %, …",
                f"Calibration curve of survival: {_describe_line(findings, 'cal_s')}",
            ),
            (
                plots.plot_calibration(predicted, data, kind="density"),
                "calibration_density",
                "Second curve, Cal[f]: share of events in central prediction intervals of 10 %, 20 %, …",
                f"Calibration curve of central intervals: {_describe_line(findings, 'cal_f')}",
            ),
            (
                plots.plot_d_calibration(predicted, data),
                "d_calibration",
                "D-calibration: each tenth of the predicted probability should contain a tenth of the events.",
                f"Histogram of D-calibration, {p_value(p)}. Bars in percent: {shares}.",
            ),
        )
    )
    return Gallery(pictures)


def discrimination_section(evaluated: EvaluatedModel, findings: Findings, *tables: PageTable) -> Section:
    """Area under the ROC curve and Brier score over time, and tables of both at chosen times."""
    some = evaluated.some_rows(_CURVE_ROWS)
    lead = Text(
        "Discrimination is the ability to separate subjects with early events from those with late ones. The first "
        "figure shows for each time how often a subject with an event by then had a higher predicted risk than one "
        "without (0.5 is chance). The second shows the error of the predicted probabilities beside that of one "
        "Kaplan-Meier curve for all subjects; lower is better."
    )
    first, last = np.quantile(some.data.time[some.data.event], [0.05, 0.95])
    times = np.unique(np.linspace(first, last, _TIMES))
    pictures = (
        embedded_picture(
            plots.plot_auc(some.predicted, some.data, train=evaluated.train, unit=evaluated.unit_label).figure,
            "auc",
            width=WIDTH,
            height=HEIGHT,
            caption="Area under the ROC curve over time, with its 95 % confidence band.",
            alt=f"Time-dependent area under the ROC curve, on average {number(findings.auc)}.",
        ),
        embedded_picture(
            plots.plot_brier(
                some.predicted, some.data, train=evaluated.train, times=times, unit=evaluated.unit_label
            ).figure,
            "brier",
            width=WIDTH,
            height=HEIGHT,
            caption="Squared error of the predicted probabilities (Brier score), and that of Kaplan-Meier.",
            alt=f"Brier score over time; its mean is {number(findings.value('ibs'))}.",
        ),
    )
    verdict = ranking_verdict(evaluated, findings)
    return Section(
        "discrimination", "Discrimination over time", (lead, Verdicts((verdict,)), *tables, Gallery(pictures))
    )


def observed_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """Predicted against observed times, one point per row."""
    some = evaluated.some_rows(_MOST_POINTS)
    sampled = "" if some is evaluated else f" Shown are {_MOST_POINTS:,} rows drawn at random."
    lead = Text(
        "Each point is a subject. Single times scatter widely even if all probabilities are right, since a prediction "
        "is a distribution. Triangles are censored subjects, whose unknown event times are further to the right. "
        f"Typical error: {time_with_unit(findings.error, evaluated.unit)} ({describe_error(evaluated, findings)})."
        f"{sampled}"
    )
    ax = plots.plot_predicted_against_observed(
        some.predicted, some.data, point=findings.error_point, unit=evaluated.unit_label
    )
    picture = embedded_picture(
        ax.figure,
        "observed",
        caption="Predicted against observed time; on the dashed line they agree.",
        alt=f"Predicted against observed times; mean absolute error of the events {number(findings.error)}.",
    )
    return Section("observed", "Predicted and observed", (lead, Gallery((picture,))))


def group_section(evaluated: EvaluatedModel, groups: Sequence[Subgroup], horizon: float) -> Section:
    """Subgroups as a table."""
    lead = Text(
        "A model can be right on average and wrong for a subgroup. Numeric columns are cut into thirds. "
        f"{describe_subgroups(groups, horizon, evaluated.unit)}"
    )
    return Section("groups", "Subgroups", (lead, subgroup_table(groups, horizon, evaluated.unit)))


def negative_section(findings: Findings) -> Section:
    """Predicted probability of times below zero."""
    title, negative = "Times below zero", findings.negative
    if negative.max() == 0:
        text = "No prediction of this model gives any probability to times below zero."
        return Section("negative", title, (Text(text),))
    lead = Text(
        "Times cannot be negative, but these predictions give some probability to times below zero. If it is small it "
        "does no harm; otherwise choose a model of positive times."
    )
    entries = (
        ("Mean of P(T < 0)", percent(float(negative.mean()))),
        ("Largest of any row", percent(float(negative.max()))),
        ("Rows above 1 %", percent(float(np.mean(negative > 0.01)))),
        ("Rows above 5 %", percent(float(np.mean(negative > 0.05)))),
    )
    return Section("negative", title, (lead, Facts(entries)))


def number_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """Every metric with its interval."""
    columns = (
        PageColumn("metric", "Metric"),
        PageColumn("value", "Value", numeric=True),
        PageColumn("interval", "95 % interval"),
        PageColumn("meaning", "Meaning"),
    )
    remarks = _metric_remarks(evaluated, findings)
    infinite = not np.isfinite(findings.value("log_likelihood"))
    rows = tuple(
        (
            PageCell(_sentence_case(METRICS[name].title), name=name),
            PageCell(fixed(findings.value(name)), _finite(findings.value(name))),
            PageCell(_limits(findings, name)),
            PageCell(_describe_metric(name) + remarks.get(name, ""), tone="wraps"),
        )
        for name in METRICS
        if name in findings.scores and (infinite or name != "bounded_log_likelihood")
    )
    by_formula = (
        "; those of calibration slope, observed/expected and calibration in the large follow from their regressions, "
        "or from Greenwood's variance"
        if evaluated.data.group is None
        else ""
    )
    drawn = "rows" if evaluated.data.group is None else f"{evaluated.data.n_groups:,} groups of rows"
    source = "the training rows" if evaluated.has_train else "these rows"
    lead = Text(
        f"For comparisons with other models. Intervals are from {RESAMPLES} bootstrap resamples of the {drawn}"
        f"{by_formula}. The censoring distribution was estimated from {source}."
    )
    return Section("numbers", "All numbers", (lead, PageTable("metrics", "Metrics", columns, rows)))


def _metric_remarks(evaluated: EvaluatedModel, findings: Findings) -> dict[str, str]:
    """What to add to the meaning of some metrics for these predictions."""
    by_chance = metrics.censored_d_calibration_by_chance(evaluated.predicted, evaluated.data)
    remarks = {"cens_dcal": f" Calibrated predictions would have {fixed(by_chance)} by chance on such rows."}
    remarks |= dict.fromkeys(CALIBRATION_AT_TIME, f" Here at {time_with_unit(findings.horizon, evaluated.unit)}.")
    reasons = {name: score.reason for name, score in findings.scores.items() if score.reason}
    remarks |= {name: f" Not defined here: {reason}." for name, reason in reasons.items()}
    if "mae" not in reasons and not np.isfinite(findings.value("mae")):
        remarks["mae"] = (
            " Some curves never fall to one half and have no median: for the mean time within the follow-up it is "
            f"{time_with_unit(findings.error, evaluated.unit)}."
        )
    if not np.isfinite(findings.value("log_likelihood")):
        impossible = find_impossible_rows(evaluated.predicted, evaluated.data)
        remarks["log_likelihood"] = (
            f" It is not finite: {impossible.text((evaluated.rows + 1).tolist())}. Rows are counted from 1."
        )
    return remarks


def _describe_metric(name: str) -> str:
    record = METRICS[name]
    return f"{_sentence_case(record.purpose)} ({record.hint})."


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def _limits(findings: Findings, name: str) -> str:
    lower, upper = (_finite(limit) for limit in findings.limits(name))
    return interval(lower, upper, 3)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.nan


def _describe_line(findings: Findings, key: str) -> str:
    return f"slope {findings.value(f'{key}_slope'):.3f}, intercept {findings.value(f'{key}_intercept'):+.3f}."
