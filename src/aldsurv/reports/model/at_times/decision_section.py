"""The section of a model's report about decisions: at which thresholds treating by the prediction is worth it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv import metrics, plots
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.reports.model.at_times.time_findings import TimeFindings, event_label, event_name
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import fixed, interval, percent, time_with_unit
from aldsurv.reports.page.page import Remarks, Section, Text
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, Picture, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["SHOWN_THRESHOLDS", "decision_section", "describe_decision", "helpful_range", "shown_places"]

SHOWN_THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)


def decision_section(evaluated: EvaluatedModel, findings: Sequence[TimeFindings]) -> Section:
    """Decision curves of each time, and their values at a few thresholds; with causes those of each cause."""
    title = "Decisions by the predicted risk"
    shown = [each for each in findings if (each.cause is None) == (evaluated.incidence is None)]
    if not shown:
        return Section("decisions", title, (Text("There is no time by which events can be decided on."),))
    lead = Text(
        "Suppose that everyone whose predicted risk reaches a threshold is treated. Net benefit counts, per subject, "
        "the treated who had the event, less those who did not, weighed by the odds of the threshold: who treats from "
        "10 % on holds one missed event to be as bad as nine needless treatments. The prediction is worth using where "
        "its line lies above those of treating all and of treating none. Which threshold is right depends on the "
        "treatment, not on the model."
    )
    remarks = Remarks(tuple((_title(evaluated, each), describe_decision(each.decision)) for each in shown))
    pictures = tuple(_picture(evaluated, each, place) for place, each in enumerate(shown))
    return Section("decisions", title, (lead, remarks, Gallery(pictures), _table(evaluated, shown)))


def describe_decision(curve: metrics.DecisionCurve) -> str:
    """A sentence: at which thresholds the prediction helps."""
    if np.isnan(curve.model.value).all():
        return "Decisions cannot be judged: the rows end before this time."
    best = helpful_range(curve)
    if best is None:
        return "At no threshold is the prediction worth more than treating all and treating none."
    text = f"Treating by the predicted risk is worth most at {_thresholds(best)}"
    certain = helpful_range(curve, certain=True)
    if certain is None:
        return f"{text}, though by no more than chance explains."
    if certain == best:
        return f"{text}, by more than chance explains."
    return f"{text}; by more than chance explains at {_thresholds(certain)}."


def _thresholds(ends: tuple[float, float]) -> str:
    low, high = (percent(end) for end in ends)
    return f"a threshold of {low}" if low == high else f"thresholds from {low} to {high}"


def _title(evaluated: EvaluatedModel, each: TimeFindings) -> str:
    of = "By" if each.cause is None else f"{each.cause} by"
    return f"{of} {time_with_unit(each.time, evaluated.unit)}."


def helpful_range(curve: metrics.DecisionCurve, *, certain: bool = False) -> tuple[float, float] | None:
    """First and last of the longest run of thresholds at which the prediction is best; None if there is none.

    Parameters
    ----------
    curve
        Of the prediction.
    certain
        Only thresholds at which the limits of the gains over treating all and over treating none are above 0.
    """
    best = (curve.gain.lower > 0) & (curve.model.lower > 0) if certain else curve.is_best
    places = np.flatnonzero(best)
    if places.size == 0:
        return None
    runs = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    longest = max(runs, key=len)
    return float(curve.thresholds[longest[0]]), float(curve.thresholds[longest[-1]])


def shown_places(curve: metrics.DecisionCurve) -> NDArray[np.intp]:
    """Places of the thresholds that tables show."""
    return np.flatnonzero(np.isin(curve.thresholds.round(6), SHOWN_THRESHOLDS))


def _picture(evaluated: EvaluatedModel, each: TimeFindings, place: int) -> Picture:
    when = time_with_unit(each.time, evaluated.unit)
    with collected_warnings():
        ax = plots.plot_decision_curve(each.decision, unit=evaluated.unit_label)
    ax.set_xlabel(f"threshold probability of {event_label(evaluated, each)}")
    return embedded_picture(
        ax.figure,
        f"decision_{place}",
        width=WIDTH,
        height=HEIGHT,
        caption=f"Net benefit of treating by the predicted risk of {event_name(each.cause)} by {when}.",
        alt=describe_decision(each.decision),
    )


def _table(evaluated: EvaluatedModel, findings: Sequence[TimeFindings]) -> PageTable:
    by_cause = evaluated.incidence is not None
    columns = (
        PageColumn("time", "By", numeric=True),
        *((PageColumn("event", "Event", filtered=True),) if by_cause else ()),
        PageColumn("threshold", "Threshold", numeric=True),
        PageColumn("treated", "Treated", numeric=True, meaning="share of the rows at or above the threshold"),
        PageColumn("observed", "Observed", numeric=True, meaning="observed risk of the treated"),
        PageColumn("benefit", "Net benefit", numeric=True),
        PageColumn("all", "Treat all", numeric=True, meaning="net benefit of treating all; of treating none it is 0"),
        PageColumn(
            "gain", "Gain", numeric=True, meaning="net benefit less the larger of those of treating all and none"
        ),
        PageColumn("avoided", "Avoided per 100", numeric=True, meaning="treatments avoided without a missed event"),
    )
    rows = []
    for each in findings:
        curve = each.decision
        avoided = curve.interventions_avoided.value
        for k in shown_places(curve).tolist():
            value, everyone = float(curve.model.value[k]), float(curve.treat_all.value[k])
            threshold, treated, observed = (
                float(part[k]) for part in (curve.thresholds, curve.treated, curve.observed)
            )
            limits = interval(float(curve.model.lower[k]), float(curve.model.upper[k]), 3)
            rows.append(
                (
                    PageCell(time_with_unit(each.time, evaluated.unit), each.time),
                    *((PageCell(str(each.cause)),) if by_cause else ()),
                    PageCell(percent(threshold), threshold),
                    PageCell(percent(treated), treated),
                    PageCell(percent(observed), observed),
                    PageCell(f"{fixed(value)} ({limits})", value),
                    PageCell(fixed(everyone), everyone),
                    PageCell(fixed(value - max(everyone, 0.0)), value - max(everyone, 0.0)),
                    PageCell(fixed(100 * float(avoided[k]), 1), 100 * float(avoided[k])),
                )
            )
    about = "Net benefit is per subject, in events treated; in parentheses its 95 % interval."
    return PageTable("decisions", "Net benefit at some thresholds", columns, tuple(rows), about=about)
