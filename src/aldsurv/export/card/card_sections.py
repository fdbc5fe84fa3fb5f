"""The sections of a model card, of the same blocks as a report has."""

from __future__ import annotations

import shlex

import aldsurv
from aldsurv.export.card.card_evaluation import CardEvaluation
from aldsurv.export.card.model_card import ModelCard
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.reports.model.at_times.time_sections import calibration_table, discrimination_table
from aldsurv.reports.model.causes.cause_sections import cause_metric_table, cause_table
from aldsurv.reports.model.quality.findings import RESAMPLES
from aldsurv.reports.model.quality.quality_sections import group_section, number_section
from aldsurv.reports.model.specification.column_encodings import encoding_table
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.model.specification.specification_section import setting_table, stack_table
from aldsurv.reports.page.number_format import counted, number, p_value, percent, time_with_unit
from aldsurv.reports.page.page import Block, Facts, OpenPlaces, Page, Quotation, Remarks, Section, Text

__all__ = ["card_page"]

_UNKNOWN = "not known"


def card_page(card: ModelCard) -> Page:
    """The whole card."""
    return Page(
        f"Model card: {card.title}",
        "What the file of the model and the evaluated rows show. Places that only its author can fill are marked “To "
        "be filled in”.",
        (
            _details(card.specification),
            _use(card),
            _training(card),
            _columns(card.specification),
            _fit(card.specification),
            *_performance(card.evaluation),
            _limits(card),
            _updates(card.specification),
            _reproduction(card),
        ),
    )


def _details(spec: Specification) -> Section:
    entries = [("Kind", f"{spec.title} ({type(spec.model).__name__})")]
    if spec.purpose:
        entries.append(("For", spec.purpose))
    if spec.structure.formula:
        entries.append(("Formula", spec.structure.formula))
    if spec.model.causes_ is not None:
        entries.append(("Causes", ", ".join(spec.model.causes_)))
    if spec.model.strata_columns_:
        entries.append(("Strata", ", ".join(map(str, spec.model.strata_columns_))))
    entries += [*spec.structure.facts, *_file_facts(spec)]
    blocks: list[Block] = [Facts(tuple(entries))]
    if spec.model.stack_table_ is not None:
        blocks.append(stack_table(spec.model.stack_table_))
    blocks.append(OpenPlaces(("Authors, contact, licence and date of the model, and how to cite it",)))
    return Section("details", "Model details", tuple(blocks))


def _file_facts(spec: Specification) -> list[tuple[str, str]]:
    return (
        []
        if spec.file is None
        else [("File", spec.file.name), ("SHA-256 of the model file’s content", spec.file.sha256)]
    )


def _use(card: ModelCard) -> Section:
    places = tuple(f"{title}: {text}" for title, text in card.open_places)
    return Section("use", "Intended use", (Text(card.predicts.text), OpenPlaces(places)))


def _training(card: ModelCard) -> Section:
    facts = card.specification.model.trained_on_
    blocks: list[Block] = [Text("The model keeps no record of its training rows.")]
    if facts is not None:
        blocks = [Facts(tuple(_training_facts(facts, card)))]
    blocks.append(OpenPlaces(("Where the rows come from: setting, period, who was included, and what was left out",)))
    return Section("training", "Training data", tuple(blocks))


def _training_facts(facts: TrainedOn, card: ModelCard) -> list[tuple[str, str]]:
    unit = card.unit
    entries = [
        ("Rows", f"{facts.rows:,}" if facts.persons is None else facts.rows_text),
        ("Events", f"{facts.known_events:,} ({percent(facts.event_share)})"),
    ]
    if facts.bounded:
        entries.append(("Events known only within bounds", f"{facts.bounded:,}"))
    if facts.groups is not None:
        entries.append(("Groups of rows", f"{facts.groups:,}"))
    if facts.total_weight is not None and abs(facts.total_weight - facts.rows) > 1e-9 * facts.rows:
        entries.append(("Sum of the weights", number(facts.total_weight, 6)))
    entries.append(("Times", f"{number(facts.first_time)} to {time_with_unit(facts.last_time, unit)}"))
    if facts.follow_up is not None:
        entries.append(("Four fifths had left observation by", time_with_unit(facts.follow_up, unit)))
    entries.append(("Unit of time", unit or _UNKNOWN))
    labels = card.specification.labels
    outcome = [f"{role.replace('_', ' ')}: {labels.column(name)}" for role, name in facts.outcome.items()]
    entries.append(("Columns of the outcome", "; ".join(outcome) or _UNKNOWN))
    if facts.missing:
        entries.append(("Values read as gaps", ", ".join(facts.missing)))
    entries.append(("SHA-256 of the training rows, as numbers", facts.fingerprint or _UNKNOWN))
    return entries


def _columns(spec: Specification) -> Section:
    title = "Columns"
    if spec.features is None:
        text = f"An encoder reads {counted(spec.model.n_features_in_, 'column')}; the file does not say which values."
        return Section("columns", title, (Text(text),))
    return Section("columns", title, (encoding_table(spec, spec.features),))


def _fit(spec: Specification) -> Section:
    facts, entries = spec.model.trained_on_, []
    if spec.structure.held_out:
        entries.append(("Held out of training by each member", percent(spec.structure.held_out)))
    changed = [each.name for each in spec.settings if each.changed]
    entries.append(("Settings that differ from their defaults", ", ".join(changed) or "none"))
    if facts is not None and facts.versions:
        entries.append(("Trained with", _versions(facts)))
    blocks: list[Block] = [Facts(tuple(entries))]
    if spec.settings:
        blocks.append(setting_table(spec))
    return Section("fit", "How it was fitted", tuple(blocks))


def _versions(facts: TrainedOn) -> str:
    return ", ".join(f"{name} {version}" for name, version in facts.versions.items())


def _performance(evaluation: CardEvaluation | None) -> tuple[Section, ...]:
    if evaluation is None:
        place = "How well the model predicts rows that it has not seen: aldsurv card MODEL TABLE computes it"
        return (Section("performance", "Performance", (OpenPlaces((place,)),)),)
    sections = [_scores(evaluation)]
    evaluated = evaluation.evaluated
    if evaluation.at_times:
        tables = (
            calibration_table(evaluated, evaluation.at_times),
            discrimination_table(evaluated, evaluation.at_times),
        )
        sections.append(Section("times", "At chosen times", tables))
    if evaluation.causes:
        tables = (cause_table(evaluated, evaluation.causes), cause_metric_table(evaluation.causes, evaluated.unit))
        sections.append(Section("causes", "Several causes", tables))
    return (*sections, _groups(evaluation))


def _scores(evaluation: CardEvaluation) -> Section:
    evaluated, findings = evaluation.evaluated, evaluation.findings
    rows = "" if evaluation.source is None else f" of {evaluation.source}"
    text = (
        f"On {counted(len(evaluated.data), 'row')}{rows} with {counted(evaluated.events, 'event')}, observed for up to "
        f"{time_with_unit(evaluated.longest, evaluated.unit)}."
    )
    blocks: list[Block] = [Text(text)]
    if findings.trained_here:
        warning = "These seem to be the training rows: the numbers are too good. Use rows that the model has not seen."
        blocks.append(Text(warning, warning=True))
    if not evaluated.kind.complete:
        blocks.append(Text(f"A dash means that a measure is not defined: {evaluated.kind.reason}."))
    # The section of a report has text and a table alone.
    blocks += number_section(evaluated, findings).blocks
    blocks.append(Facts((("Test of D-calibration", p_value(findings.d_calibration.p_value)),)))
    if not evaluated.kind.complete:
        return Section("performance", "Performance", tuple(blocks))
    lower, upper = findings.skill_limits
    skill = f"{_percent(findings.skill)} ({_percent(lower)} to {_percent(upper)})"
    blocks.append(Facts((("Brier score saved against one Kaplan-Meier curve for all", skill),)))
    return Section("performance", "Performance", tuple(blocks))


def _percent(share: float) -> str:
    return "–" if share != share else percent(share) if share >= 0 else f"−{percent(-share)}"


def _groups(evaluation: CardEvaluation) -> Section:
    evaluated = evaluation.evaluated
    if evaluation.groups:
        return group_section(evaluated, evaluation.groups, evaluation.horizon)
    if not evaluated.kind.complete:
        text = f"Calibration at one time by subgroup is not defined here: {evaluated.kind.reason}."
        return Section("groups", "Subgroups", (Text(text),))
    place = "For whom the predictions may be worse: --groups COLUMN compares the values of a column"
    return Section("groups", "Subgroups", (OpenPlaces((place,)),))


def _limits(card: ModelCard) -> Section:
    blocks: list[Block] = [Remarks(tuple((f"{title}.", text) for title, text in card.limits))]
    evaluation = card.evaluation
    if evaluation is not None and evaluation.cautions:
        blocks += [Text("What the evaluated rows show:"), Remarks(tuple(evaluation.cautions))]
    blocks.append(OpenPlaces(("Risks of errors, and for whom; what else limits the use of the model",)))
    return Section("limits", "Limits", tuple(blocks))


def _updates(spec: Specification) -> Section:
    steps = spec.model.ancestry_
    if not steps:
        return Section("updates", "Update history", (Text("The model is as it was fitted; it was not updated."),))
    entries = tuple((f"Update {place}", str(step)) for place, step in enumerate(steps, start=1))
    return Section("updates", "Update history", (Facts(entries),))


def _reproduction(card: ModelCard) -> Section:
    spec, evaluation = card.specification, card.evaluation
    entries = [("Card written by", f"aldsurv {aldsurv.__version__}")]
    facts = spec.model.trained_on_
    if facts is not None and facts.versions:
        entries.append(("Model trained with", _versions(facts)))
    entries += _file_facts(spec)
    if evaluation is not None:
        seed = evaluation.evaluated.seed
        entries.append(("Intervals", f"{RESAMPLES} resamples with seed {seed}, or by formula"))
    blocks: list[Block] = [Facts(tuple(entries))]
    if spec.file is not None:
        lines = [f"aldsurv info {shlex.quote(spec.file.name)}", *([] if card.command is None else [card.command])]
        again = "" if card.command is None else ", and this card again"
        blocks.append(Quotation(f"What the file holds{again}", "\n".join(lines)))
    blocks.append(OpenPlaces(("Where the training table is, and the command or program that fitted the model",)))
    return Section("reproduce", "How to reproduce", tuple(blocks))
