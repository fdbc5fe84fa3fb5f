"""The parts of a model's report that show what the predictions depend on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from aldsurv.distributions import SurvivalDistribution
from aldsurv.inspection import Importance, PartialDependence, partial_dependence, permutation_importance
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.models.base import SurvivalEstimator
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.plots.effect_plots import parameter_figure, plot_importance, plot_partial_dependence
from aldsurv.reports.model.row_sections import HEIGHT, WIDTH
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.number_words import amount, counted, listed, number
from aldsurv.reports.page.page import Section, Text
from aldsurv.reports.page.page_figures import Gallery, Picture, embedded_picture

__all__ = ["effect_sections", "importance_of"]

# Predictions for the importance of all columns together, and rows at most and at least.
_BUDGET, _MOST_ROWS, _LEAST_ROWS = 100_000, 1000, 100
_REPEATS = 5
_MOST_COLUMNS = 9
_MOST_PARAMETER_COLUMNS = 4
# Mixtures have more; no number of a component says anything by itself, as long as its weight moves too.
_MOST_PARAMETERS = 3
_GRID, _SAMPLE = 15, 100
_LETTERS = {"theta": "θ", "sigma": "σ", "kappa": "κ", "mu": "μ"}
_MEANINGS = {
    "theta": "where the distribution sits",
    "sigma": "how wide it is",
    "kappa": "how it leans: below 1 its long tail is to the late side",
    "mu": "where the distribution of log time sits",
}


def importance_of(subject: Subject) -> Importance:
    """Importance of each column for the order, on rows drawn at random."""
    columns = len(subject.table.keys)
    most = min(max(_BUDGET // (columns * _REPEATS), _LEAST_ROWS), _MOST_ROWS)
    some = subject.some_rows(most)
    return permutation_importance(
        subject.model, some.table.given, some.data, metric="harrell_c", repeats=_REPEATS, random_state=subject.seed
    )


def effect_sections(subject: Subject, importance: Importance) -> tuple[Section, ...]:
    """Importance with effects on the predicted time, and on the parameters where the model has any."""
    columns = [place for place in importance.order if _changes(subject, place)][:_MOST_COLUMNS]
    summary, told = _summary(subject)
    effects = [_effect(subject, place, summary) for place in columns]
    lead = Text(
        "A column matters if the order of the predictions becomes worse when its values are shuffled among the rows. "
        f"{_ranking_words(importance)} This is what the model uses: it does not say what causes the event."
    )
    how = Text(
        f"Below: the {told} on average, if all subjects had the same value of one column and kept all others. Shaded, "
        "or as bars, is where 80 % of the subjects are; ticks at the foot show where the data are. Computed from "
        f"{counted(min(_SAMPLE, len(subject.rows)), 'row')}{' drawn at random' * (len(subject.rows) > _SAMPLE)}."
    )
    shown = (_importance_picture(importance),)
    blocks: list[Any] = [lead, Gallery(shown), how, Gallery(tuple(_effect_picture(subject, e, told) for e in effects))]
    if len(columns) < len(importance.names):
        blocks.append(Text(f"Effects of the {len(columns)} most important of {len(importance.names)} columns."))
    sections = [Section("effects", "What the predictions depend on", tuple(blocks if effects else blocks[:2]))]
    model = subject.model
    if columns and model.parameter_names:
        few = len(model.parameter_names) <= _MOST_PARAMETERS
        sections += [_parameter_section(subject, model, columns[:_MOST_PARAMETER_COLUMNS])] if few else []
    return tuple(sections)


def _changes(subject: Subject, place: int) -> bool:
    """Whether a column has more than one value."""
    return len({value for value in subject.table.columns[place].tolist() if value is not None and value == value}) > 1


def _summary(subject: Subject) -> tuple[Any, str]:
    """What stands for a prediction: the median, or a time that always exists where some have no median."""
    if np.isfinite(as_numbers(subject.some_rows(_MOST_ROWS).predicted.median())).all():
        return "median", "predicted median"
    end = subject.follow_up

    def restricted_mean(predicted: SurvivalDistribution) -> Any:
        return as_numbers(predicted.restricted_mean(end))

    return (
        restricted_mean,
        f"predicted mean time within the first {amount(end, subject.unit)} (some medians are not reached)",
    )


def _effect(subject: Subject, place: int, summary: Any) -> PartialDependence:
    return partial_dependence(
        subject.model,
        subject.table.given,
        subject.table.keys[place],  # type: ignore[arg-type]
        grid=_GRID,
        summary=summary,
        sample=_SAMPLE,
        random_state=subject.seed,
    )


def _ranking_words(importance: Importance) -> str:
    places = [place for place in importance.order if importance.mean[place] > 2 * np.nan_to_num(importance.sd[place])]
    places = [place for place in places if importance.mean[place] >= 0.005]
    if not places:
        return "No single column matters much here."
    return f"Here it is mostly {listed([importance.names[place] for place in places], 3)}."


def _importance_picture(importance: Importance) -> Picture:
    order = importance.order
    told = ", ".join(f"{importance.names[place]} {importance.mean[place]:.3f}" for place in order[:10])
    return embedded_picture(
        plot_importance(importance, label="fall of C when the column is shuffled").figure,
        "importance",
        width=WIDTH,
        caption="How much the order (C) falls without each column; bars are one standard deviation.",
        alt=f"Fall of C without each column: {told}.",
    )


def _effect_picture(subject: Subject, effect: PartialDependence, told: str) -> Picture:
    short = "median" if effect.summary == "median" else "mean time"
    unit = "" if subject.unit is None else f" ({plain_label(subject.unit)})"
    ax = plot_partial_dependence(effect, label=f"predicted {short}{unit}")
    if effect.upper.max() > subject.follow_up:
        ax.axhline(subject.follow_up, color="0.4", linestyle=":", linewidth=1.2)
        ax.set_title("dotted: end of the follow-up in training", loc="right", fontsize="small", color="0.4")
    caption = f"{effect.name}: {_course(effect, subject.unit)}"
    return embedded_picture(
        ax.figure,
        f"effect_{_place(subject, effect)}",
        width=WIDTH,
        height=HEIGHT,
        caption=caption,
        alt=f"The {told} by {caption}",
    )


def _place(subject: Subject, effect: PartialDependence) -> int:
    return subject.table.names.index(effect.name)


def _course(effect: PartialDependence, unit: str | None) -> str:
    """From where to where the average prediction goes."""
    mean = effect.mean
    if effect.numeric:
        first, last = effect.values[0], effect.values[-1]
        return (
            f"{amount(float(mean[0]), unit)} at {number(float(first))}, {amount(float(mean[-1]), unit)} at "
            f"{number(float(last))}."
        )
    told = [f"{amount(float(m), unit)} for {_level(v)}" for v, m in zip(effect.values.tolist(), mean, strict=True)]
    return listed(told, 4) + "."


def _level(value: object) -> str:
    return number(value, 6) if isinstance(value, float) else str(value)


def _parameter_section(subject: Subject, model: SurvivalEstimator, columns: Sequence[int]) -> Section:
    names = model.parameter_names
    told = "; ".join(f"{_LETTERS.get(name, name)} says {_MEANINGS.get(name, 'its shape')}" for name in names)
    told += ", all on the logarithm of time" if model.of_log_time else ""
    lead = Text(
        f"This model describes each subject by {counted(len(names), 'number')}: {told}. The pictures show how they "
        "change with a column, all others kept, averaged over the members of the model."
    )
    pictures = []
    for place in columns:
        effects = [_effect(subject, place, name) for name in names]
        figure = parameter_figure(effects, [_LETTERS.get(name, name) for name in names])
        ends = ", ".join(
            f"{_LETTERS.get(e.summary, e.summary)} {number(float(e.mean[0]))} to {number(float(e.mean[-1]))}"
            for e in effects
        )
        caption = f"{subject.table.names[place]}: {ends}."
        pictures.append(
            embedded_picture(figure, f"parameters_{place}", caption=caption, alt=f"Parameters by {caption}")
        )
    letters = ", ".join(_LETTERS.get(name, name) for name in names)
    return Section("parameters", f"Effects on {letters}", (lead, Gallery(tuple(pictures), wide=True)))
