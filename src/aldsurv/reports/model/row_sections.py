"""The parts of a model's report that show the rows, the average, and single subjects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import plots
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.reports.model.findings import INTERVAL, Findings
from aldsurv.reports.model.model_verdicts import (
    average_words,
    calibration_verdict,
    coverage_verdict,
    error_words,
    gain_verdict,
    ranking_verdict,
)
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, counted, interval, number, percent
from aldsurv.reports.page.page import Section, Text, Tile, Tiles, Verdicts
from aldsurv.reports.page.page_figures import Gallery, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["average_section", "chosen_people", "data_section", "glance_section", "people_section"]

# Of pictures, in inches: their text can be read on a phone.
WIDTH, HEIGHT = 5.0, 3.4
# Level of the limits between the members of an ensemble.
_BAND = 0.9
_MOST_COLUMNS = 60
_MOST_PEOPLE = 10
_BAND_MEANING = f"{100 * _BAND:g} % limits from the distance between the members of the model"
_SHOWN_COLUMNS = 8
_MOST_LEVELS = 6


def glance_section(subject: Subject, findings: Findings) -> Section:
    """The numbers and judgements that one would tell first."""
    data = subject.data
    lower, upper = findings.limits("harrell_c")
    slope = interval(*findings.limits("cal_s_slope"))
    tiles = (
        Tile("Rows", f"{len(data):,}", "subjects that the model is tried on"),
        Tile("Events", f"{data.n_events:,}", f"{percent(data.n_events / len(data))} of the rows; the rest is censored"),
        Tile(
            "Order (C)",
            f"{findings.value('harrell_c'):.3f}",
            f"95 % interval {interval(lower, upper, 3)}; 0.5 is chance",
        ),
        Tile("Calibration slope", f"{findings.value('cal_s_slope'):.2f}", f"95 % interval {slope}; 1 is right"),
        Tile("Typical error", amount(findings.error, subject.unit), error_words(subject, findings)),
    )
    verdicts = (
        ranking_verdict(subject, findings),
        calibration_verdict(subject, findings),
        coverage_verdict(subject, findings),
        gain_verdict(subject, findings),
    )
    lead = Text(
        "For each subject the model predicts when the event may come, as a whole curve of probabilities. Here these "
        "predictions stand beside what happened. A subject is censored if its event was not seen while it was observed."
    )
    return Section("glance", "At a glance", (lead, Tiles(tiles), Verdicts(verdicts)))


def data_section(subject: Subject, findings: Findings) -> Section:
    """The rows: times, and the columns one by one."""
    data, unit = subject.data, subject.unit
    lead = Text(
        f"{counted(len(data), 'row')}, observed for up to {amount(float(data.time.max()), unit)}; half of them for "
        f"{amount(float(np.median(data.time)), unit)} or longer. The bars show when events came and when observation "
        "ended without one."
    )
    ax = plots.plot_time_distribution(data, unit=_drawn(unit))
    quarters = ", ".join(number(float(value)) for value in np.quantile(data.time, [0.25, 0.5, 0.75]))
    picture = embedded_picture(
        ax.figure,
        "times",
        width=WIDTH,
        height=HEIGHT,
        caption="When events came (blue) and when observation ended without one (grey).",
        alt=f"Histogram of the observed times. Quartiles: {quarters}; {data.n_events} of {len(data)} are events.",
    )
    return Section("data", "The data", (lead, Gallery((picture,)), _column_table(subject, findings)))


def average_section(subject: Subject, findings: Findings) -> Section:
    """Mean prediction beside the Kaplan-Meier curve."""
    told = average_words(subject, findings)
    lead = Text(
        "The Kaplan-Meier curve shows which share of the subjects was event-free over time, without any model; shaded "
        f"is where it may lie. The mean of all predictions should follow it. {told}"
    )
    some = subject.some_rows(5000)
    ax = plots.plot_mean_survival(some.predicted, some.data, unit=_drawn(subject.unit))
    picture = embedded_picture(
        ax.figure,
        "average",
        width=WIDTH,
        height=HEIGHT,
        caption="Share event-free: observed (Kaplan-Meier) and expected (mean prediction).",
        alt=told,
    )
    return Section("average", "All subjects together", (lead, Gallery((picture,))))


def chosen_people(subject: Subject, findings: Findings, people: int | Sequence[int]) -> NDArray[np.intp]:
    """Numbers in the whole table of the rows to show: those asked for, or some from early to late predictions."""
    if not isinstance(people, (int, np.integer)):
        return np.asarray(people, np.intp)
    order = np.argsort(findings.median, kind="stable")
    shares = (np.arange(min(people, _MOST_PEOPLE, len(order))) + 0.5) / min(people, _MOST_PEOPLE, len(order))
    return np.asarray(subject.rows[order[(shares * len(order)).astype(np.intp)]], np.intp)


def people_section(subject: Subject, people: NDArray[np.intp], outcome: SurvivalData) -> Section:
    """Curves and intervals of a few rows, and what happened to them; `outcome` is that of the whole table."""
    given, model = subject.everything.rows(people).given, subject.model
    predicted = model.predict_distribution(given)
    several = model.n_members > 1
    names = [f"row {row + 1}" for row in people]
    # Beyond what was ever observed a curve is a continuation of others, and would fill the picture.
    times = np.linspace(0.0, max(subject.follow_up, float(outcome.time.max())), 201)
    ax = plots.plot_individuals(
        predicted,
        times=times,
        level=INTERVAL,
        labels=names,
        band=(lambda at: model.predict_survival_band(given, at, level=_BAND)) if several else None,
        unit=_drawn(subject.unit),
    )
    # Below the lines are the intervals: nothing is free there.
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.4)
    medians = [number(float(median)) for median in as_numbers(predicted.median())]
    picture = embedded_picture(
        ax.figure,
        "people",
        width=WIDTH + 0.6,
        height=HEIGHT + 0.5,
        caption=f"Probability to be event-free over time{', shaded: limits by the members of the model' * several}; "
        f"below, the median and the {percent(INTERVAL)} interval.",
        alt="Predicted medians: " + ", ".join(f"{name} {median}" for name, median in zip(names, medians, strict=True)),
    )
    lead = Text(
        "Each line is one subject: how likely it is to be event-free as time goes on. The median is the time by which "
        f"the event has come with probability one half; {percent(INTERVAL)} of the events should fall into the "
        "interval. One outcome cannot prove a probability wrong."
    )
    if several:
        lead = Text(
            f"{lead.text} The model is an ensemble: the shade around a line, {percent(_BAND)} limits from the distance "
            "between its members, tells how far the line itself might move with other rows of training like those "
            "seen, but not what all members get wrong alike."
        )
    table = _people_table(subject, people, predicted, outcome)
    return Section("people", "Single subjects", (lead, Gallery((picture,)), table))


def _people_table(
    subject: Subject, people: NDArray[np.intp], predicted: SurvivalDistribution, outcome: SurvivalData
) -> PageTable:
    table, seen, unit, end = subject.everything.rows(people), outcome[people], subject.unit, subject.follow_up
    medians, ends = as_numbers(predicted.median()), as_numbers(predicted.interval(INTERVAL))
    at = np.unique(np.quantile(outcome.time[outcome.event], [0.25, 0.75]))
    survival, shown = as_numbers(predicted.survival(at)), range(min(len(table.names), _SHOWN_COLUMNS))
    band = None
    if subject.model.n_members > 1:
        band = np.stack(subject.model.predict_time_band(table.given, point="median", level=_BAND), axis=1)
    columns = (
        PageColumn("row", "Row"),
        PageColumn("median", "Predicted median", numeric=True),
        *(() if band is None else (PageColumn("band", "Median by the members", meaning=_BAND_MEANING),)),
        PageColumn("interval", f"{percent(INTERVAL)} interval"),
        PageColumn("seen", "What happened"),
        *(PageColumn(f"at{k}", f"Event-free at {amount(float(t), unit)}", numeric=True) for k, t in enumerate(at)),
        *(PageColumn(f"x{k}", table.names[k]) for k in shown),
    )
    rows = tuple(
        (
            PageCell(f"row {row + 1}"),
            PageCell(_within(medians[k], end), float(medians[k])),
            *(() if band is None else (PageCell(" to ".join(_within(limit, end) for limit in band[k])),)),
            PageCell(" to ".join(_within(limit, end) for limit in ends[k])),
            PageCell(f"{'event at' if seen.event[k] else 'event-free until'} {number(float(seen.time[k]))}"),
            *(PageCell(percent(float(share)), float(share)) for share in survival[k]),
            *(PageCell(_plain(table.columns[j][k])) for j in shown),
        )
        for k, row in enumerate(people)
    )
    about = (
        f"Rows are counted from 1. “over {number(end)}” lies beyond the last time that the model has seen in training."
    )
    return PageTable("people", "The same in numbers, and what happened", columns, rows, about=about)


def _column_table(subject: Subject, findings: Findings) -> PageTable:
    columns = (
        PageColumn("column", "Column"),
        PageColumn("values", "Values"),
        PageColumn("gaps", "Missing", numeric=True),
        PageColumn(
            "outside", "Not in training", numeric=True, meaning="Values outside the range or levels of training"
        ),
    )
    rows = []
    for place, (name, values) in enumerate(zip(subject.table.names, subject.table.columns, strict=True)):
        known = [value for value in values.tolist() if value is not None and value == value]
        gaps = len(values) - len(known)
        outside = None if findings.outside is None else int(findings.outside[:, place].sum())
        rows.append(
            (
                PageCell(name),
                PageCell(_spread(known), tone="wraps"),
                PageCell(percent(gaps / len(values)), gaps / len(values)),
                PageCell("–") if outside is None else PageCell(percent(outside / len(values)), outside / len(values)),
            )
        )
    about = f"The first {_MOST_COLUMNS} of {len(rows)} columns." if len(rows) > _MOST_COLUMNS else ""
    return PageTable(
        "columns", "Columns that the predictions rest on", columns, tuple(rows[:_MOST_COLUMNS]), about=about
    )


def _spread(known: list[Any]) -> str:
    """Values of a column in a few words."""
    if not known:
        return "none"
    levels = set(known)
    if all(isinstance(value, (int, float)) for value in levels) and len(levels) > 8:
        low, middle, high = np.quantile(np.array(known, float), [0.0, 0.5, 1.0])
        return f"{number(low)} to {number(high)}, median {number(middle)}"
    counts = Counter(known)
    shown = sorted(counts.most_common(_MOST_LEVELS), key=lambda entry: _sortable(entry[0]))
    told = [f"{_plain(level)} ({percent(count / len(known))})" for level, count in shown]
    return ", ".join(told) + (f" and {len(counts) - len(shown)} more" if len(counts) > len(shown) else "")


def _sortable(level: Any) -> tuple[float, str]:
    return (float(level), "") if isinstance(level, (int, float)) else (0.0, str(level))


def _within(time: float, end: float) -> str:
    """A time, or that it lies beyond what training can tell."""
    return number(float(time)) if time <= end else f"over {number(end)}"


def _plain(value: Any) -> str:
    if value is None or value != value:
        return "–"
    return number(float(value), 6) if isinstance(value, (float, np.floating)) else str(value)


def _drawn(unit: str | None) -> str | None:
    return None if unit is None else plain_label(unit)
