"""The parts of a model's report that hold predictions against outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv import metrics, plots
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.reports.model.findings import Findings
from aldsurv.reports.model.model_verdicts import calibration_verdict, error_words, ranking_verdict, slope_words
from aldsurv.reports.model.row_sections import HEIGHT, WIDTH
from aldsurv.reports.model.subgroups import GroupRow, group_table
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, interval, number, p_value, percent
from aldsurv.reports.page.page import Facts, Section, Text, Verdicts
from aldsurv.reports.page.page_figures import Gallery, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = [
    "calibration_section",
    "discrimination_section",
    "group_section",
    "negative_section",
    "number_section",
    "observed_section",
]

_MOST_POINTS = 1500
_TIMES = 50
_MEANINGS = (
    ("harrell_c", "Harrell's C", "Share of comparable pairs in the right order; 1 is best, 0.5 is chance."),
    ("uno_c", "Uno's C", "The same, corrected for early censoring."),
    ("ibs", "Integrated Brier score", "Mean squared error of the predicted probabilities over time; 0 is best."),
    ("mae", "Mean absolute error", "Distance of the predicted median from the time of events; 0 is best."),
    ("cens_dcal", "CensDcal", "Distance of the ten bars from a tenth each; 0 is best."),
    ("cal_s_slope", "Slope, first curve", "Of expected against observed shares; 1 is best."),
    ("cal_s_intercept", "Intercept, first curve", "Of the same line; 0 is best."),
    ("cal_f_slope", "Slope, second curve", "Of the shares in central intervals; 1 is best."),
    ("cal_f_intercept", "Intercept, second curve", "Of the same line; 0 is best."),
    ("log_likelihood", "Log-likelihood a row", "How probable the model finds what happened; higher is better."),
    (
        "bounded_log_likelihood",
        "Bounded log-likelihood",
        "The same with 1 % of an exponential distribution mixed into every prediction, so that no event is impossible.",
    ),
)


def calibration_section(subject: Subject, findings: Findings) -> Section:
    """Both curves, the histogram, and one time."""
    data, predicted = subject.data, subject.predicted
    lead = Text(
        "If an event is given a probability of 30 % by some time, then of 100 such subjects about 30 should have had "
        f"it by then. In the first three pictures points on the dashed diagonal are right. {slope_words(findings)}"
    )
    p, counts = findings.d_calibration.p_value, findings.d_calibration.counts
    shares = ", ".join(f"{100 * share:.1f}" for share in counts / counts.sum())
    unit = None if subject.unit is None else plain_label(subject.unit)
    # A round time reads better; the middle one of the events is not near the end, where it could leave the data.
    at = float(f"{np.quantile(data.time[data.event], 0.5):.2g}")
    when = amount(at, subject.unit)
    pictures = tuple(
        embedded_picture(ax.figure, name, caption=caption, alt=alt, width=4.4, height=4.4)
        for ax, name, caption, alt in (
            (
                plots.plot_calibration(predicted, data, kind="survival"),
                "calibration_survival",
                "First curve: share of events that had come when their predicted probability was 10 %, 20 %, …",
                f"Calibration curve of survival: {_line(findings, 'cal_s')}",
            ),
            (
                plots.plot_calibration(predicted, data, kind="density"),
                "calibration_density",
                "Second curve: share of events in central intervals of 10 %, 20 %, …: are they wide enough?",
                f"Calibration curve of central intervals: {_line(findings, 'cal_f')}",
            ),
            (
                plots.plot_calibration_at(predicted, data, at, unit=unit),
                "calibration_at",
                f"Predicted and observed probability of the event by {when}; ICI is their mean distance.",
                f"Observed against predicted probability of the event by {when}.",
            ),
            (
                plots.plot_d_calibration(predicted, data),
                "d_calibration",
                "D-calibration: each tenth of the predicted probability should hold a tenth of the events.",
                f"Histogram of D-calibration, {p_value(p)}. Bars in percent: {shares}.",
            ),
        )
    )
    verdict = calibration_verdict(subject, findings)
    return Section("calibration", "Calibration", (lead, Verdicts((verdict,)), Gallery(pictures)))


def discrimination_section(subject: Subject, findings: Findings) -> Section:
    """Order and error over time."""
    unit = None if subject.unit is None else plain_label(subject.unit)
    some = subject.some_rows(3000)
    lead = Text(
        "Discrimination is whether early events are told from late ones. The first picture shows at each time how "
        "often a subject with the event by then had the higher predicted risk than one without (0.5 is guessing); the "
        "second the error of the probabilities beside that of one curve for all: lower is better."
    )
    ends = np.quantile(some.data.time[some.data.event], [0.05, 0.95])
    times = np.unique(np.linspace(ends[0], ends[1], _TIMES))
    told = f"Time-dependent area under the curve, on average {number(findings.auc)}."
    pictures = (
        embedded_picture(
            plots.plot_auc(some.predicted, some.data, train=subject.train, unit=unit).figure,
            "auc",
            width=WIDTH,
            height=HEIGHT,
            caption="How well early events are told from late ones, over time; shaded is the 95 % interval.",
            alt=told,
        ),
        embedded_picture(
            plots.plot_brier(some.predicted, some.data, train=subject.train, times=times, unit=unit).figure,
            "brier",
            width=WIDTH,
            height=HEIGHT,
            caption="Squared error of the predicted probabilities (Brier score), and that of one curve for all.",
            alt=f"Brier score over time; its mean is {number(findings.value('ibs'))}.",
        ),
    )
    verdict = ranking_verdict(subject, findings)
    return Section("discrimination", "Order over time", (lead, Verdicts((verdict,)), Gallery(pictures)))


def observed_section(subject: Subject, findings: Findings) -> Section:
    """A point a row."""
    some = subject.some_rows(_MOST_POINTS)
    sampled = "" if some is subject else f" Shown are {_MOST_POINTS:,} rows drawn at random."
    lead = Text(
        "Each point is a subject. Single times scatter widely even where all probabilities are right, for a prediction "
        "is a distribution and not a promise; triangles are censored subjects, whose event is further to the right, "
        f"nobody knows how far. Typical error: {amount(findings.error, subject.unit)} "
        f"({error_words(subject, findings)}).{sampled}"
    )
    unit = None if subject.unit is None else plain_label(subject.unit)
    ax = plots.plot_predicted_against_observed(some.predicted, some.data, point=findings.error_point, unit=unit)
    picture = embedded_picture(
        ax.figure,
        "observed",
        caption="Predicted against observed time; on the dashed line they agree.",
        alt=f"Predicted against observed times; mean absolute error of the events {number(findings.error)}.",
    )
    return Section("observed", "Predicted and observed", (lead, Gallery((picture,))))


def group_section(subject: Subject, groups: Sequence[GroupRow], horizon: float) -> Section:
    """Subgroups as a table."""
    poor = [group for group in groups if group.poor]
    told = (
        f"{len(poor)} of {len(groups)} groups stand out: their probabilities are off by more than chance explains, "
        "also when one counts how many groups were looked at."
        if poor
        else "No group stands out by more than chance explains, given how many were looked at."
    )
    lead = Text(f"A model can be right on average and wrong for a group. Numbers were cut into thirds. {told}")
    return Section("groups", "Subgroups", (lead, group_table(groups, horizon, subject.unit)))


def negative_section(findings: Findings) -> Section:
    """Probability below zero."""
    mean, largest = float(findings.negative.mean()), float(findings.negative.max())
    if largest == 0:
        text = "No prediction of this model gives any probability to times below zero."
        return Section("negative", "Times below zero", (Text(text),))
    lead = Text(
        "Times cannot be negative, but this kind of prediction gives some probability to it. As long as it is small it "
        "does no harm; where it is not, choose a model of positive times."
    )
    entries = (
        ("Mean of P(T < 0)", percent(mean)),
        ("Largest of any row", percent(largest)),
        ("Rows above 1 %", percent(float(np.mean(findings.negative > 0.01)))),
        ("Rows above 5 %", percent(float(np.mean(findings.negative > 0.05)))),
    )
    return Section("negative", "Times below zero", (lead, Facts(entries)))


def number_section(subject: Subject, findings: Findings) -> Section:
    """Every metric with its interval."""
    columns = (
        PageColumn("metric", "Metric"),
        PageColumn("value", "Value", numeric=True),
        PageColumn("interval", "95 % interval"),
        PageColumn("meaning", "What it says"),
    )
    by_chance = metrics.censored_d_calibration_by_chance(subject.predicted, subject.data)
    also = {"cens_dcal": f" Right predictions would have {_shown(by_chance)} by chance, with rows such as these."}
    if not np.isfinite(findings.value("mae")):
        also["mae"] = (
            " Some curves never fall to one half, and have no median: of the mean time within the follow-up it is "
            f"{amount(findings.error, subject.unit)}."
        )
    bounded = not np.isfinite(findings.value("log_likelihood"))
    if bounded:
        also["log_likelihood"] = " Some events were held impossible, such as those after the last event of training."
    rows = tuple(
        (
            PageCell(title, name=name),
            PageCell(_shown(findings.value(name)), _finite(findings.value(name))),
            PageCell(_limits(findings, name)),
            PageCell(meaning + also.get(name, ""), tone="wraps"),
        )
        for name, title, meaning in _MEANINGS
        if bounded or name != "bounded_log_likelihood"
    )
    whose = "rows of training" if subject.has_train else "these rows themselves"
    lead = Text(
        "For those who compare models. Intervals are from 200 draws of the rows with replacement. What is known of the "
        f"censoring was estimated from {whose}."
    )
    return Section("numbers", "All numbers", (lead, PageTable("metrics", "Metrics", columns, rows)))


def _shown(value: float) -> str:
    return f"{value:.3f}".replace("-", "−") if np.isfinite(value) else number(np.nan)


def _limits(findings: Findings, name: str) -> str:
    lower, upper = (_finite(limit) for limit in findings.limits(name))
    return interval(lower, upper, 3)


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.nan


def _line(findings: Findings, key: str) -> str:
    return f"slope {findings.value(f'{key}_slope'):.3f}, intercept {findings.value(f'{key}_intercept'):+.3f}."
