"""The sections of a model's report that give the overview: main results, the data, the average prediction."""

from __future__ import annotations

from collections import Counter

import numpy as np

from aldsurv import plots
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.calibration_verdict import calibration_tiles, calibration_verdict, describe_average
from aldsurv.reports.model.quality.findings import Findings
from aldsurv.reports.model.quality.model_verdicts import coverage_verdict, describe_error, gain_verdict, ranking_verdict
from aldsurv.reports.model.row_kind import known_times
from aldsurv.reports.page.number_format import (
    counted,
    either_of,
    interval,
    name_list,
    number,
    percent,
    time_with_unit,
    value_text,
)
from aldsurv.reports.page.page import Section, Text, Tile, Tiles, Verdicts
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["average_section", "data_section", "glance_section"]

_MOST_COLUMNS = 60
_MOST_LEVELS = 6
# A column of numbers with more distinct values is summarised by its range.
_MOST_DISTINCT = 8


def glance_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """The main numbers and verdicts."""
    data = evaluated.data
    c = findings.limits("harrell_c")
    tiles = (
        Tile("Rows", f"{len(data):,}", "subjects that the model is evaluated on"),
        Tile("Events", f"{data.n_events:,}", f"{percent(data.n_events / len(data))} of the rows; the rest is censored"),
        Tile(
            "Discrimination (C)",
            f"{findings.value('harrell_c'):.3f}",
            f"95 % interval {interval(*c, 3)}; 0.5 is chance",
        ),
        *calibration_tiles(evaluated, findings),
        Tile("Typical error", time_with_unit(findings.error, evaluated.unit), describe_error(evaluated, findings)),
    )
    verdicts = (
        ranking_verdict(evaluated, findings),
        calibration_verdict(evaluated, findings),
        coverage_verdict(evaluated, findings),
        gain_verdict(evaluated, findings),
    )
    lead = Text(
        f"For each subject the model predicts the distribution of the time to {evaluated.the_event}. This report "
        "compares the predictions with the observed outcomes. A subject is censored if no "
        f"{evaluated.event} was observed during its follow-up."
        f"{_describe_causes(evaluated)}"
    )
    return Section("glance", "At a glance", (lead, Tiles(tiles), Verdicts(verdicts)))


def _describe_causes(evaluated: EvaluatedModel) -> str:
    """Which event the page is about, where there are several causes."""
    causes = evaluated.data.causes
    if causes is None:
        return ""
    if evaluated.incidence is None:
        return f" The event is {either_of(causes)}, which this model does not tell apart."
    return f" The event is {either_of(causes)}, whichever comes first; “Several causes” is about each of them."


def data_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """The rows: observed times, and a table of the columns."""
    data, unit, times = evaluated.data, evaluated.unit, known_times(evaluated.data)
    bounded = " An event that is known only within bounds is drawn in grey at their middle." * bool(
        evaluated.kind.bounded
    )
    lead = Text(
        f"{counted(len(data), 'row')}, observed for up to {time_with_unit(float(times.max()), unit)}; half of them "
        f"for {time_with_unit(float(np.median(times)), unit)} or longer. The histogram shows the times of events "
        f"and of censoring.{bounded}"
    )
    quartiles = ", ".join(number(float(value)) for value in np.quantile(times, [0.25, 0.5, 0.75]))
    picture = embedded_picture(
        plots.plot_time_distribution(data, unit=evaluated.unit_label).figure,
        "times",
        width=WIDTH,
        height=HEIGHT,
        caption="Times of events (blue) and of censoring (grey).",
        alt=f"Histogram of the observed times. Quartiles: {quartiles}; {data.n_events} of {len(data)} are events.",
    )
    return Section("data", "The data", (lead, Gallery((picture,)), _column_table(evaluated, findings)))


def average_section(evaluated: EvaluatedModel, findings: Findings) -> Section:
    """Mean prediction beside the Kaplan-Meier curve."""
    comparison = describe_average(evaluated, findings)
    lead = Text(
        "The Kaplan-Meier curve estimates the event-free share over time without a model; its 95 % confidence band is "
        "shaded, and the numbers below the axis count the subjects still under observation. The mean of all "
        f"predictions should follow it. {comparison}"
    )
    picture = embedded_picture(
        plots.plot_mean_survival(evaluated.predicted, evaluated.data, unit=evaluated.unit_label, at_risk=True).figure,
        "average",
        width=WIDTH,
        height=HEIGHT + 0.3,
        caption=f"Share {evaluated.free}: observed (Kaplan-Meier) and expected (mean prediction).",
        alt=comparison,
    )
    return Section("average", "All subjects together", (lead, Gallery((picture,))))


def _column_table(evaluated: EvaluatedModel, findings: Findings) -> PageTable:
    columns = (
        PageColumn("column", "Column"),
        PageColumn("values", "Values"),
        PageColumn("gaps", "Missing", numeric=True),
        PageColumn(
            "outside", "Not in training", numeric=True, meaning="Values outside the range or levels of training"
        ),
    )
    rows, table = [], evaluated.shown_table
    for place in evaluated.used_places:
        name, values = table.names[place], table.columns[place]
        present = [value for value in values.tolist() if value is not None and value == value]
        missing = (len(values) - len(present)) / len(values)
        outside = None if findings.outside is None else float(findings.outside[:, place].mean())
        rows.append(
            (
                PageCell(name),
                PageCell(_describe_values(present), tone="wraps"),
                PageCell(percent(missing), missing),
                PageCell("–") if outside is None else PageCell(percent(outside), outside),
            )
        )
    about = f"The first {_MOST_COLUMNS} of {len(rows)} columns." if len(rows) > _MOST_COLUMNS else ""
    left_out = [name for place, name in enumerate(table.names) if place not in evaluated.used_places]
    if left_out:
        about = f"{about} Left out by the model: {name_list(left_out)}.".strip()
    return PageTable("columns", "Columns of the model", columns, tuple(rows[:_MOST_COLUMNS]), about=about)


def _describe_values(present: list[object]) -> str:
    """Range and median of numbers, or the most frequent levels with their shares."""
    if not present:
        return "none"
    counts = Counter(present)
    numbers = [value for value in present if isinstance(value, (int, float))]
    if len(numbers) == len(present) and len(counts) > _MOST_DISTINCT:
        low, middle, high = np.quantile(np.array(numbers, float), [0.0, 0.5, 1.0])
        return f"{value_text(low, 4)} to {value_text(high, 4)}, median {value_text(middle, 4)}"
    shown = sorted(counts.most_common(_MOST_LEVELS), key=lambda entry: _sort_key(entry[0]))
    texts = [f"{value_text(level)} ({percent(count / len(present))})" for level, count in shown]
    return ", ".join(texts) + (f" and {len(counts) - len(shown)} more" if len(counts) > len(shown) else "")


def _sort_key(level: object) -> tuple[float, str]:
    return (float(level), "") if isinstance(level, (int, float)) else (0.0, str(level))
