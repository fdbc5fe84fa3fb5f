"""The sections of a model's report about several causes: how often each came, and how well each is predicted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv import plots
from aldsurv.data.survival_data import SurvivalData
from aldsurv.inspection import Importance, PartialDependence, partial_dependence
from aldsurv.metrics.calibration_summary import CALIBRATION_AT_TIME, LimitedValue
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.plots.effect_plots import parameter_figure
from aldsurv.registry import METRICS
from aldsurv.reports.model.causes.cause_findings import CauseFindings
from aldsurv.reports.model.effect_sections import labelled_effect
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.individual_sections import describe_outcome
from aldsurv.reports.model.quality.cautions import Caution
from aldsurv.reports.model.quality.model_verdicts import FEW_EVENTS
from aldsurv.reports.model.row_kind import known_times
from aldsurv.reports.page.number_format import either_of, fixed, interval, name_list, number, percent, time_with_unit
from aldsurv.reports.page.page import Block, Section, Text
from aldsurv.reports.page.page_figures import HEIGHT, WIDTH, Gallery, Picture, embedded_picture
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = [
    "cause_cautions",
    "cause_effect_section",
    "cause_metric_table",
    "cause_people_section",
    "cause_section",
    "cause_table",
]

_AVERAGE_ROWS = 5000
# Columns, the most important first, of which those are shown that move the incidence of a cause most.
_MOST_CANDIDATES, _COLUMNS_PER_CAUSE = 9, 2
_GRID, _SAMPLE = 12, 100


def cause_section(evaluated: EvaluatedModel, findings: Sequence[CauseFindings]) -> Section:
    """Rows by cause, mean predicted incidence beside Aalen-Johansen, and metrics by cause."""
    names = [each.cause for each in findings]
    lead = Text(
        f"The event is {either_of(names)}, and only the first counts. For each of them the model predicts the "
        "probability that it has come by any time (its incidence); the incidences and the probability of no event add "
        "up to 1. Sections that do not name causes are about the first event of any cause."
    )
    blocks: list[Block] = [lead, cause_table(evaluated, findings), Gallery(_mean_pictures(evaluated, findings))]
    if any(each.scores for each in findings):
        blocks += [cause_metric_table(findings, evaluated.unit), Text(_not_defined())]
    return Section("causes", "Several causes", tuple(blocks))


def cause_people_section(evaluated: EvaluatedModel, people: NDArray[np.intp], outcome: SurvivalData) -> Section:
    """Stacked incidence of a few rows; `outcome` is that of the whole table."""
    predicted = evaluated.model.predict_incidence(evaluated.everything.rows(people).given)
    times = np.linspace(0.0, max(evaluated.follow_up, float(known_times(outcome).max())), 201)
    pictures = []
    for place, row in enumerate(people.tolist()):
        ax = plots.plot_stacked_incidence(predicted, times, row=place, unit=evaluated.unit_label)
        at_end = predicted[place].incidence(float(times[-1]))[:, 0].tolist()
        shares = [f"{cause} {percent(share)}" for cause, share in zip(predicted.causes, at_end, strict=True)]
        pictures.append(
            embedded_picture(
                ax.figure,
                f"stacked_{place}",
                width=WIDTH,
                height=HEIGHT - 0.4,
                caption=f"Row {row + 1}. Observed: {describe_outcome(outcome[row], unit=evaluated.unit)}.",
                alt=f"Predicted for row {row + 1} by {number(float(times[-1]))}: {', '.join(shares)}.",
            )
        )
    lead = Text(
        "What may have happened to single subjects by each time: the height of a coloured area is the predicted "
        "probability that the event has come by then and was of that cause; the grey area, that no event has come. "
        "They are the subjects of “Single subjects”."
    )
    return Section("cause_people", "Single subjects by cause", (lead, Gallery(tuple(pictures))))


def cause_effect_section(
    evaluated: EvaluatedModel, findings: Sequence[CauseFindings], importance: Importance
) -> Section:
    """How the incidence of each cause changes with the most important columns."""
    at = findings[0].horizon
    when = time_with_unit(at, evaluated.unit)
    used = [place for place in importance.order if place in evaluated.used_places]
    candidates = [place for place in used if _varies(evaluated, place)][:_MOST_CANDIDATES]
    effects = {place: [_effect(evaluated, place, each.cause, at) for each in findings] for place in candidates}
    shown: list[int] = []
    for spans in zip(*([effect.span for effect in effects[place]] for place in candidates), strict=True):
        order = sorted(range(len(candidates)), key=lambda place: -spans[place])
        shown += [candidates[place] for place in order[:_COLUMNS_PER_CAUSE]]
    pictures = []
    for place in dict.fromkeys(shown):
        ends = "; ".join(
            f"{each.cause} {percent(float(effect.mean.min()))} to {percent(float(effect.mean.max()))}"
            for each, effect in zip(findings, effects[place], strict=True)
        )
        caption = f"{evaluated.table.names[place]}: {ends}."
        figure = parameter_figure(effects[place], [plain_label(f"P({each.cause})") for each in findings])
        pictures.append(
            embedded_picture(figure, f"cause_effect_{place}", caption=caption, alt=f"Incidence by {when} by {caption}")
        )
    lead = Text(
        f"The predicted probability of each cause by {when}, averaged over the subjects, if all had the same value of "
        "one column and kept their values of the others (partial dependence), for the columns that move each cause "
        "most. The band, or the bars, contain 80 % of the subjects. Where a column raises one probability, another may "
        "fall for that reason alone: who has one event never has the other."
    )
    return Section("cause_effects", "Effects by cause", (lead, Gallery(tuple(pictures), wide=True)))


def cause_cautions(evaluated: EvaluatedModel, findings: Sequence[CauseFindings]) -> list[Caution]:
    """Causes with few events, and predictions that are off on average."""
    given = []
    few = [f"{each.cause} ({each.events})" for each in findings if each.events < FEW_EVENTS]
    if few:
        text = (
            f"Fewer than {FEW_EVENTS} events of {name_list(few)}: such estimates are imprecise, and without events "
            "there are none."
        )
        given.append(Caution("Few events of a cause.", text))
    off = [each for each in findings if each.events and not each.limits[0] <= each.predicted <= each.limits[1]]
    if off:
        parts = [
            f"{each.cause} (expected {percent(each.predicted)}, observed {percent(each.observed)})" for each in off
        ]
        when = time_with_unit(off[0].horizon, evaluated.unit)
        text = f"By {when} the mean predicted incidence is outside the 95 % limits of the observed one: "
        given.append(Caution("Incidence off on average.", f"{text}{name_list(parts)}."))
    return given


def cause_table(evaluated: EvaluatedModel, findings: Sequence[CauseFindings]) -> PageTable:
    """Events of each cause, and its expected and observed incidence."""
    data, when = evaluated.data, time_with_unit(findings[0].horizon, evaluated.unit)
    columns = (
        PageColumn("cause", "Cause"),
        PageColumn("events", "Events", numeric=True),
        PageColumn("share", "Of the rows", numeric=True),
        PageColumn("expected", f"Expected by {when}", numeric=True, meaning="mean predicted incidence"),
        PageColumn("observed", f"Observed by {when}", numeric=True, meaning="Aalen-Johansen estimate"),
        PageColumn("limits", "95 % interval"),
    )
    rows = [
        (
            PageCell(each.cause),
            PageCell(f"{each.events:,}", each.events),
            PageCell(percent(each.events / len(data)), each.events / len(data)),
            PageCell(percent(each.predicted), each.predicted),
            PageCell(percent(each.observed), each.observed),
            PageCell(" to ".join(percent(limit) for limit in each.limits)),
        )
        for each in findings
    ]
    censored = len(data) - data.n_events
    share = censored / len(data)
    blank = (PageCell("–"), PageCell("–"), PageCell("–"))
    rows.append((PageCell("censored"), PageCell(f"{censored:,}", censored), PageCell(percent(share), share), *blank))
    return PageTable("causes", "Rows by cause", columns, tuple(rows))


def _mean_pictures(evaluated: EvaluatedModel, findings: Sequence[CauseFindings]) -> tuple[Picture, ...]:
    """Mean incidence beside Aalen-Johansen, where causes are predicted."""
    some = evaluated.some_rows(_AVERAGE_ROWS)
    if some.incidence is None:
        return ()
    texts = [f"{each.cause} expected {percent(each.predicted)}, observed {percent(each.observed)}" for each in findings]
    when = time_with_unit(findings[0].horizon, evaluated.unit)
    picture = embedded_picture(
        plots.plot_mean_incidence(some.incidence, some.data, unit=evaluated.unit_label).figure,
        "mean_incidence",
        width=WIDTH + 0.6,
        height=HEIGHT,
        caption="Probability of each cause over time: observed (Aalen-Johansen, with 95 % confidence bands) and "
        "expected (mean prediction, dashed).",
        alt=f"By {when}: {'; '.join(texts)}.",
    )
    return (picture,)


def cause_metric_table(findings: Sequence[CauseFindings], unit: str | None) -> PageTable:
    """Metrics of the incidence of each cause that came."""
    scored = [each for each in findings if each.scores]
    columns = (
        PageColumn("metric", "Metric"),
        *(
            column
            for k, each in enumerate(scored)
            for column in (
                PageColumn(f"value{k}", each.cause, numeric=True),
                PageColumn(f"limits{k}", "95 % interval", meaning=each.cause),
            )
        ),
        PageColumn("meaning", "Meaning"),
    )
    rows = []
    for name in METRICS:
        if name not in scored[0].scores:
            continue
        cells = [PageCell(_sentence_case(METRICS[name].title), name=name)]
        for each in scored:
            score = each.scores[name]
            cells += [PageCell(fixed(score.value), score.value), PageCell(_limits(score))]
        meaning = f"{_sentence_case(METRICS[name].purpose)} ({METRICS[name].hint})."
        if name == "ibs":
            meaning += _describe_references(scored)
        if name in CALIBRATION_AT_TIME:
            meaning += f" Here at {time_with_unit(scored[0].horizon, unit)}."
        cells.append(PageCell(meaning, tone="wraps"))
        rows.append(tuple(cells))
    about = (
        "Who has had another event never has this one. In the weights for the censoring, events of all causes are "
        "events."
    )
    return PageTable("cause_metrics", "Metrics by cause", columns, tuple(rows), about=about)


def _describe_references(scored: Sequence[CauseFindings]) -> str:
    """The integrated Brier score of Aalen-Johansen for each cause."""
    parts = [
        f"{fixed(each.scores['ibs'].value / (1 - each.skill))} for {each.cause}"
        for each in scored
        if np.isfinite(each.skill) and each.skill < 1
    ]
    return f" One Aalen-Johansen curve for all subjects has {name_list(parts, len(parts))}." if parts else ""


def _not_defined() -> str:
    """Which of the metrics on this page have no definition by cause."""
    titles = [METRICS[name].title for name in DEFAULT_METRICS if METRICS[name].causes == "none"]
    if not titles:
        return "All metrics of this page are defined by cause."
    return (
        f"Not defined by cause: {name_list(titles, len(titles))}. Who has another event never has this one, so that "
        "its time has no mean or median to compare with."
    )


def _effect(evaluated: EvaluatedModel, place: int, cause: str, at: float) -> PartialDependence:
    effect = partial_dependence(
        evaluated.model,
        evaluated.table.given,
        evaluated.table.keys[place],  # type: ignore[arg-type]
        grid=_GRID,
        cause=cause,
        time=at,
        sample=_SAMPLE,
        random_state=evaluated.seed,
    )
    return labelled_effect(evaluated, place, effect)


def _varies(evaluated: EvaluatedModel, place: int) -> bool:
    values = evaluated.table.columns[place].tolist()
    return len({value for value in values if value is not None and value == value}) > 1


def _limits(score: LimitedValue) -> str:
    finite = np.isfinite(score.lower) and np.isfinite(score.upper)
    return interval(score.lower, score.upper, 3) if finite else "–"


def _sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]
