"""The section of a model's report about single subjects: their curves, intervals and outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv import plots
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import SurvivalDistribution
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.reports.model.evaluated_model import EvaluatedModel, free_of
from aldsurv.reports.model.quality.findings import INTERVAL_LEVEL, Findings
from aldsurv.reports.model.row_kind import known_times
from aldsurv.reports.model.words.titled_tables import printed_table
from aldsurv.reports.page.number_format import number, percent, time_with_unit, value_text
from aldsurv.reports.page.page import Section, Text
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["MOST_PEOPLE", "chosen_people", "describe_outcome", "people_section"]

MOST_PEOPLE = 10
# Level of the limits between the members of an ensemble.
_BAND_LEVEL = 0.9
_BAND_MEANING = f"{percent(_BAND_LEVEL)} limits from the spread of the members of the ensemble"
_SHOWN_COLUMNS = 8


def chosen_people(evaluated: EvaluatedModel, findings: Findings, people: int | Sequence[int]) -> NDArray[np.intp]:
    """Numbers in the whole table of the rows to show: those given, or some from early to late predictions."""
    if not isinstance(people, (int, np.integer)):
        return np.asarray(people, np.intp)
    order = np.argsort(findings.median, kind="stable")
    shown = min(people, MOST_PEOPLE, len(order))
    shares = (np.arange(shown) + 0.5) / shown
    return np.asarray(evaluated.rows[order[(shares * len(order)).astype(np.intp)]], np.intp)


def people_section(evaluated: EvaluatedModel, people: NDArray[np.intp], outcome: SurvivalData) -> Section:
    """Curves, intervals and outcomes of a few rows; `outcome` is that of the whole table."""
    given, model = evaluated.everything.rows(people).given, evaluated.model
    predicted = model.predict_distribution(given)
    ensemble = model.n_members > 1
    names = [f"row {row + 1}" for row in people]
    # Extrapolation beyond all observed times would fill most of the picture.
    times = np.linspace(0.0, max(evaluated.follow_up, float(known_times(outcome).max())), 201)
    ax = plots.plot_individuals(
        predicted,
        times=times,
        level=INTERVAL_LEVEL,
        labels=names,
        band=(lambda at: model.predict_survival_band(given, at, level=_BAND_LEVEL)) if ensemble else None,
        unit=evaluated.unit_label,
    )
    # Beside the axes: the intervals take the room under the curves.
    ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.4)
    medians = [number(float(median)) for median in as_numbers(predicted.median())]
    picture = embedded_picture(
        ax.figure,
        "people",
        width=WIDTH + 0.6,
        height=HEIGHT + 0.5,
        caption=f"Probability of being {evaluated.free} over time"
        f"{', shaded: limits from the members of the ensemble' * ensemble}; below, the median and the "
        f"{percent(INTERVAL_LEVEL)} prediction interval.",
        alt="Predicted medians: " + ", ".join(f"{name} {median}" for name, median in zip(names, medians, strict=True)),
    )
    text = (
        f"Each line is the predicted probability that one subject is still {evaluated.free}. The median is the time by "
        f"which {evaluated.the_event} has happened with probability one half; {percent(INTERVAL_LEVEL)} of the events "
        "should fall into the interval. A single outcome cannot prove a probability wrong."
    )
    if ensemble:
        text += (
            f" The model is an ensemble. The shaded {percent(_BAND_LEVEL)} limits, from the spread of its members, "
            "show how far the curve might move with other training rows of the same kind; they do not show errors that "
            "all members have in common."
        )
    table = _people_table(evaluated, people, predicted, outcome)
    return Section("people", "Single subjects", (Text(text), Gallery((picture,)), table))


def _people_table(
    evaluated: EvaluatedModel, people: NDArray[np.intp], predicted: SurvivalDistribution, outcome: SurvivalData
) -> PageTable:
    table, observed, end = evaluated.everything.rows(people), outcome[people], evaluated.follow_up
    printed, free = printed_table(table, evaluated.labels), evaluated.free.capitalize()
    unit = "" if evaluated.unit is None else f" ({evaluated.unit})"
    medians, limits = as_numbers(predicted.median()), as_numbers(predicted.interval(INTERVAL_LEVEL))
    times = np.unique(np.quantile(known_times(outcome)[np.isfinite(outcome.upper)], [0.25, 0.75]))
    survival, shown = as_numbers(predicted.survival(times)), evaluated.used_places[:_SHOWN_COLUMNS]
    band = None
    if evaluated.model.n_members > 1:
        band = np.stack(evaluated.model.predict_time_band(table.given, point="median", level=_BAND_LEVEL), axis=1)
    columns = (
        PageColumn("row", "Row"),
        PageColumn("median", f"Predicted median{unit}", numeric=True),
        *(() if band is None else (PageColumn("band", f"Limits of the median{unit}", meaning=_BAND_MEANING),)),
        PageColumn("interval", f"{percent(INTERVAL_LEVEL)} interval{unit}"),
        PageColumn("seen", f"Observed{unit}"),
        *(
            PageColumn(f"at{k}", f"{free} at {time_with_unit(float(time), evaluated.unit)}", numeric=True)
            for k, time in enumerate(times)
        ),
        *(PageColumn(f"x{k}", printed.names[k]) for k in shown),
    )
    rows = tuple(
        (
            PageCell(f"row {row + 1}"),
            PageCell(_within(medians[k], end), float(medians[k])),
            *(() if band is None else (PageCell(" to ".join(_within(limit, end) for limit in band[k])),)),
            PageCell(" to ".join(_within(limit, end) for limit in limits[k])),
            PageCell(describe_outcome(observed[k], evaluated.event)),
            *(PageCell(percent(float(share)), float(share)) for share in survival[k]),
            *(PageCell(value_text(printed.columns[j][k])) for j in shown),
        )
        for k, row in enumerate(people)
    )
    about = f"Rows are counted from 1. “over {number(end)}” is beyond the last time in training."
    return PageTable("people", "Predictions and outcomes of single subjects", columns, rows, about=about)


def describe_outcome(one: SurvivalData, event: str = "event", unit: str | None = None) -> str:
    """What was observed of one subject, the event by its name."""
    lower, upper = float(one.lower[0]), float(one.upper[0])
    time = time_with_unit(upper, unit)
    if np.isinf(upper):
        return f"{free_of(event)} until {time_with_unit(lower, unit)}"
    if lower < upper:
        return f"{event} by {time}" if np.isinf(lower) else f"{event} between {number(lower)} and {time}"
    if one.cause is not None and one.causes is not None:
        event = one.causes[int(one.cause[0]) - 1]
    return f"{event} at {time}"


def _within(time: float, end: float) -> str:
    """A time, or that it lies beyond the last time in training."""
    return number(float(time)) if time <= end else f"over {number(end)}"
