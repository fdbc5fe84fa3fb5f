"""The sections of a model's report that show what the predictions depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.distributions import SurvivalDistribution
from aldsurv.inspection import Importance, PartialDependence, partial_dependence, permutation_importance
from aldsurv.metrics.checked_arguments import as_numbers
from aldsurv.plots.drawing.appearance import time_label, write_remark
from aldsurv.plots.effect_plots import parameter_figure, plot_importance, plot_partial_dependence
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import counted, name_list, number, time_with_unit, value_text
from aldsurv.reports.page.page import Block, Section, Text
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, Picture, embedded_picture

__all__ = ["column_importance", "effect_sections", "labelled_effect"]

# Predictions for the importance of all columns together, and rows at most and at least.
_BUDGET, _MOST_ROWS, _LEAST_ROWS = 100_000, 1000, 100
_REPEATS = 5
_MOST_COLUMNS = 9
_MOST_PARAMETER_COLUMNS = 4
# Mixtures have more parameters; those of a component have no meaning apart from its weight.
_MOST_PARAMETERS = 3
_GRID, _SAMPLE = 15, 100
# A smaller loss of C is not named as important.
_LEAST_IMPORTANCE = 0.005
_LETTERS = {"theta": "θ", "sigma": "σ", "kappa": "κ", "mu": "μ"}
_MEANINGS = {
    "theta": "the location",
    "sigma": "the scale",
    "kappa": "the asymmetry: below 1 the long tail is at late times",
    "mu": "the location of log time",
}

Summary: TypeAlias = Literal["median"] | Callable[[SurvivalDistribution], NDArray[np.float64]]


@final
@dataclass(frozen=True)
class _PredictedTime:
    """The predicted time whose dependence on a column is drawn: what to compute, and its names."""

    summary: Summary
    label: str
    description: str


def column_importance(evaluated: EvaluatedModel) -> Importance:
    """Importance of each column for discrimination, or for the likelihood, on rows drawn at random."""
    columns = len(evaluated.table.keys)
    most = min(max(_BUDGET // (columns * _REPEATS), _LEAST_ROWS), _MOST_ROWS)
    some = evaluated.some_rows(most)
    # Discrimination is not defined for every kind of censoring, the likelihood is; bounded, it is never infinite.
    metric = "harrell_c" if evaluated.kind.complete else "bounded_log_likelihood"
    result = permutation_importance(
        evaluated.model, some.table.given, some.data, metric=metric, repeats=_REPEATS, random_state=evaluated.seed
    )
    return replace(result, names=evaluated.table.names)


def effect_sections(evaluated: EvaluatedModel, importance: Importance) -> tuple[Section, ...]:
    """Importance and effects on the predicted time, and on the parameters of the predicted distributions."""
    used = [place for place in importance.order if place in evaluated.used_places]
    columns = [place for place in used if _varies(evaluated, place)][:_MOST_COLUMNS]
    predicted = _predicted_time(evaluated)
    effects = [_effect(evaluated, place, predicted.summary) for place in columns]
    lead = Text(
        f"A column is important if {_scored(importance)[0]} decreases when its values are shuffled among the rows. "
        f"{_describe_most_important(importance)} Importance shows what the model uses, not what causes the event."
    )
    blocks: list[Block] = [lead, Gallery((_importance_picture(importance),))]
    if effects:
        sample = counted(min(_SAMPLE, len(evaluated.rows)), "row")
        random = " drawn at random" * (len(evaluated.rows) > _SAMPLE)
        explanation = (
            f"Below: the {predicted.description}, averaged over the subjects, if all had the same value of one column "
            "and kept their values of the others (partial dependence). The band, or the bars, contain 80 % of the "
            f"subjects; ticks at the bottom show the values in the data. Computed from {sample}{random}."
        )
        blocks += [Text(explanation), Gallery(tuple(_effect_picture(evaluated, e, predicted) for e in effects))]
        if len(columns) < len(importance.names):
            blocks.append(Text(f"Effects of the {len(columns)} most important of {len(importance.names)} columns."))
    sections = [Section("effects", "What the predictions depend on", tuple(blocks))]
    if columns and 0 < len(evaluated.model.parameter_names) <= _MOST_PARAMETERS:
        sections.append(_parameter_section(evaluated, columns[:_MOST_PARAMETER_COLUMNS]))
    return tuple(sections)


def _varies(evaluated: EvaluatedModel, place: int) -> bool:
    """Whether a column has more than one value."""
    values = evaluated.table.columns[place].tolist()
    return len({value for value in values if value is not None and value == value}) > 1


def _predicted_time(evaluated: EvaluatedModel) -> _PredictedTime:
    """The median, or the restricted mean time if some curves do not reach one half."""
    if np.isfinite(as_numbers(evaluated.some_rows(_MOST_ROWS).predicted.median())).all():
        return _PredictedTime("median", "predicted median", "predicted median")
    end = evaluated.follow_up

    def restricted_mean(predicted: SurvivalDistribution) -> NDArray[np.float64]:
        return as_numbers(predicted.restricted_mean(end))

    within = f"within the first {time_with_unit(end, evaluated.unit)}"
    description = f"predicted mean time {within} (some medians are not reached)"
    return _PredictedTime(restricted_mean, "predicted mean time", description)


def _effect(evaluated: EvaluatedModel, place: int, summary: Summary | str) -> PartialDependence:
    effect = partial_dependence(
        evaluated.model,
        evaluated.table.given,
        evaluated.table.keys[place],  # type: ignore[arg-type]
        grid=_GRID,
        summary=summary,
        sample=_SAMPLE,
        random_state=evaluated.seed,
    )
    return labelled_effect(evaluated, place, effect)


def labelled_effect(evaluated: EvaluatedModel, place: int, effect: PartialDependence) -> PartialDependence:
    """The effect with the labels of the column and, unless it is one of numbers, of its levels."""
    values = effect.values if effect.numeric else evaluated.labels.values(effect.name, effect.values)
    return replace(effect, name=evaluated.table.names[place], values=values)


def _describe_most_important(importance: Importance) -> str:
    clear = importance.mean > np.maximum(2 * np.nan_to_num(importance.sd), _LEAST_IMPORTANCE)
    names = [importance.names[place] for place in importance.order if clear[place]]
    return f"Most important here: {name_list(names, 3)}." if names else "No single column is important here."


def _scored(importance: Importance) -> tuple[str, str]:
    """What importance is a loss of, in a sentence and at an axis."""
    return ("discrimination", "C") if importance.metric == "harrell_c" else ("the log-likelihood", "log-likelihood")


def _importance_picture(importance: Importance) -> Picture:
    name, short = _scored(importance)
    loss = f"{name} (C)" if short == "C" else name
    losses = ", ".join(f"{importance.names[place]} {importance.mean[place]:.3f}" for place in importance.order[:10])
    return embedded_picture(
        plot_importance(importance, label=f"loss of {short} when the column is shuffled").figure,
        "importance",
        width=WIDTH,
        caption=f"Loss of {loss} when each column is shuffled; bars are one standard deviation.",
        alt=f"Loss of {short} by column: {losses}.",
    )


def _effect_picture(evaluated: EvaluatedModel, effect: PartialDependence, predicted: _PredictedTime) -> Picture:
    ax = plot_partial_dependence(effect, label=time_label(evaluated.unit_label, predicted.label))
    if effect.upper.max() > evaluated.follow_up:
        ax.axhline(evaluated.follow_up, color="0.4", linestyle=":", linewidth=1.2)
        write_remark(ax, "dotted: end of the follow-up in training")
    caption = f"{effect.name}: {_describe_effect(effect, evaluated.unit)}"
    return embedded_picture(
        ax.figure,
        f"effect_{evaluated.table.names.index(effect.name)}",
        width=WIDTH,
        height=HEIGHT,
        caption=caption,
        alt=f"The {predicted.description} by {caption}",
    )


def _describe_effect(effect: PartialDependence, unit: str | None) -> str:
    """The mean prediction at both ends of a numeric column, or at the levels of a categorical one."""
    times = [time_with_unit(float(mean), unit) for mean in effect.mean]
    if effect.numeric:
        first, last = (value_text(float(effect.values[end]), 4) for end in (0, -1))
        return f"{times[0]} at {first}, {times[-1]} at {last}."
    levels = [f"{time} for {value_text(level)}" for level, time in zip(effect.values.tolist(), times, strict=True)]
    return name_list(levels, 4) + "."


def _parameter_section(evaluated: EvaluatedModel, columns: Sequence[int]) -> Section:
    model = evaluated.model
    names = model.parameter_names
    letters = [_LETTERS.get(name, name) for name in names]
    meanings = [f"{letter} is {_MEANINGS.get(name, 'a shape')}" for name, letter in zip(names, letters, strict=True)]
    scale = ", all on the scale of log time" if model.of_log_time else ""
    lead = Text(
        f"This model predicts {counted(len(names), 'parameter')} per subject: {'; '.join(meanings)}{scale}. The "
        "figures show how they change with one column, averaged over the members of the model."
    )
    pictures = []
    for place in columns:
        effects = [_effect(evaluated, place, name) for name in names]
        ends = ", ".join(
            f"{letter} {number(float(effect.mean[0]))} to {number(float(effect.mean[-1]))}"
            for letter, effect in zip(letters, effects, strict=True)
        )
        caption = f"{evaluated.table.names[place]}: {ends}."
        figure = parameter_figure(effects, letters)
        pictures.append(
            embedded_picture(figure, f"parameters_{place}", caption=caption, alt=f"Parameters by {caption}")
        )
    return Section("parameters", f"Effects on {', '.join(letters)}", (lead, Gallery(tuple(pictures), wide=True)))
