"""The section of a model's report about groups by predicted risk."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.metrics.calibration.risk_groups import ObservedRisk
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.plots.group_curve_plot import plot_group_curves
from aldsurv.reports.model.at_times.risk_groups import RiskGroups
from aldsurv.reports.model.at_times.time_findings import event_name
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import fixed, p_value, percent, time_with_unit
from aldsurv.reports.page.page import Block, Section, Text
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, Picture, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["risk_group_section"]

_PARTS = {2: "halves", 3: "thirds", 4: "quarters"}


def risk_group_section(evaluated: EvaluatedModel, divided: Sequence[RiskGroups]) -> Section:
    """Curves and risks of the groups; with causes by the risk of each."""
    title = "Groups by predicted risk"
    if not divided:
        text = "There is no time at which subjects differ enough in their predicted risk to be put into groups by it."
        return Section("risk_groups", title, (Text(text),))
    when, parts = time_with_unit(divided[0].horizon, evaluated.unit), _PARTS[len(divided[0].groups)]
    lead = Text(
        f"Subjects in order of their predicted risk by {when}, cut into {parts}. Steps are what was observed in each "
        "group, with 95 % confidence bands, dashed lines the mean prediction for it: the groups should be apart, and "
        "each dashed line within its band. Numbers below the axis count the subjects still under observation. "
        + " ".join(_describe_test(each) for each in divided)
    )
    blocks: list[Block] = [lead, Gallery(tuple(_picture(evaluated, each, k) for k, each in enumerate(divided)))]
    blocks += [_table(evaluated, each, k) for k, each in enumerate(divided)]
    return Section("risk_groups", title, tuple(blocks))


def _describe_test(divided: RiskGroups) -> str:
    if divided.test is None:
        return ""
    name = "Log-rank test" if divided.cause is None else f"Gray's test for {divided.cause}"
    return f"{name} of the {len(divided.groups)} curves: {p_value(divided.test.p_value)}."


def _picture(evaluated: EvaluatedModel, divided: RiskGroups, place: int) -> Picture:
    quantity = "survival probability" if divided.cause is None else f"probability of {plain_label(divided.cause)}"
    ax = plot_group_curves(
        [group.curve for group in divided.groups],
        quantity=quantity,
        start=1 if divided.cause is None else 0,
        unit=evaluated.unit_label,
    )
    last = divided.times[-1]
    texts = [
        f"{group.name} risk expected {percent(group.predicted[-1])}, observed {percent(group.observed[-1].observed)}"
        for group in divided.groups
    ]
    of = "" if divided.cause is None else f" of {divided.cause}"
    return embedded_picture(
        ax.figure,
        f"risk_groups_{place}",
        width=WIDTH + 0.6,
        height=HEIGHT + 0.3 + 0.2 * len(divided.groups),
        caption=f"Observed and predicted curves of groups by predicted risk{of}.",
        alt=f"By {time_with_unit(last, evaluated.unit)}: {'; '.join(texts)}.",
    )


def _table(evaluated: EvaluatedModel, divided: RiskGroups, place: int) -> PageTable:
    when = time_with_unit(divided.horizon, evaluated.unit)
    columns = (
        PageColumn("time", "By", numeric=True),
        PageColumn("group", "Risk"),
        PageColumn("rows", "Rows", numeric=True),
        PageColumn("events", "Events", numeric=True, meaning="over all follow-up"),
        PageColumn("range", f"Predicted by {when}", meaning="least and largest predicted risk of the group"),
        PageColumn("expected", "Expected", numeric=True, meaning="mean predicted risk by the time"),
        PageColumn("observed", "Observed", numeric=True, meaning=_estimate(divided.cause)),
        PageColumn("limits", "95 % interval"),
    )
    rows = []
    for k, time in enumerate(divided.times):
        for group in divided.groups:
            expected, risk = group.predicted[k], group.observed[k]
            cells = (
                PageCell(time_with_unit(time, evaluated.unit), time),
                PageCell(group.name),
                PageCell(f"{group.rows:,}", group.rows),
                PageCell(f"{group.events:,}", group.events),
                PageCell(f"{_share(group.low)} to {_share(group.high)}"),
                PageCell(_share(expected), expected),
                PageCell(_share(risk.observed), risk.observed),
                PageCell(_limits(risk)),
            )
            rows.append(cells)
    caption = f"Risk of {event_name(divided.cause)} by group"
    about = "A dash: the last subject of the group was censored before the time, or there is no interval."
    return PageTable(f"risk_groups{place or ''}", caption, columns, tuple(rows), about=about)


def _estimate(cause: str | None) -> str:
    return "one less the Kaplan-Meier estimate" if cause is None else "Aalen-Johansen estimate"


def _share(risk: float) -> str:
    text = fixed(100 * risk, 1)
    return text if text == "–" else f"{text} %"


def _limits(risk: ObservedRisk) -> str:
    return "–" if risk.lower != risk.lower else f"{_share(risk.lower)} to {_share(risk.upper)}"
