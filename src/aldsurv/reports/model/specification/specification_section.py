"""The section of a model's report that specifies the model in full."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.models.rows.training_rows import thinned
from aldsurv.models.structure import Baseline
from aldsurv.models.wrappers.stack_table import StackTable
from aldsurv.reports.model.coefficient_table import DIGITS, coefficient_table
from aldsurv.reports.model.specification.column_encodings import encoding_table
from aldsurv.reports.model.specification.specification import Specification
from aldsurv.reports.page.number_format import name_list, number, percent, time_with_unit
from aldsurv.reports.page.page import Block, Facts, Section, Text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["setting_table", "specification_section", "stack_table"]

_MOST_NAMES = 100
# Of each baseline, and how many baselines; the JSON of the report has all.
_MOST_TIMES, _MOST_BASELINES = 30, 6


def specification_section(spec: Specification, names: Sequence[str], unit: str | None) -> Section:
    """Kind, training, settings, columns, and what the predictions are computed from.

    Parameters
    ----------
    spec
        The model.
    names
        What its columns are called.
    unit
        Unit of time.
    """
    lead = (
        "Everything that is needed to apply the model by hand is in this section."
        if spec.applies_by_hand
        else "What the model is, how it was trained, and how its inputs are made. Its predictions need the model file."
    )
    blocks: list[Block] = [Text(lead), Facts((*_kind_facts(spec, names, unit), *spec.structure.facts))]
    if spec.structure.formula:
        blocks.append(Text(f"Formula: {spec.structure.formula}"))
    if spec.coefficients is not None:
        blocks.append(coefficient_table(spec.coefficients, spec.coefficient_titles))
    if spec.structure.baselines:
        blocks.append(_baseline_table(spec.structure.baselines, unit))
    if spec.model.stack_table_ is not None:
        blocks.append(stack_table(spec.model.stack_table_))
    if spec.features is not None:
        blocks.append(encoding_table(spec, spec.features))
    if spec.settings:
        blocks.append(setting_table(spec))
    return Section("model", "The model", tuple(blocks))


def _kind_facts(spec: Specification, names: Sequence[str], unit: str | None) -> list[tuple[str, str]]:
    """Kind, training rows, columns, versions, digests and updates."""
    model, trained_on = spec.model, spec.model.trained_on_
    entries = [("Kind", f"{spec.title} ({type(model).__name__})")]
    if trained_on is not None:
        groups = "" if trained_on.groups is None else f" of {trained_on.groups:,} groups"
        share = percent(trained_on.event_share)
        first, last = number(trained_on.first_time), time_with_unit(trained_on.last_time, unit)
        rows = f"{trained_on.rows:,} rows" if trained_on.persons is None else trained_on.rows_text
        entries += [
            ("Trained on", f"{rows}{groups}, {trained_on.events:,} events ({share})"),
            ("Times in training", f"{first} to {last}"),
        ]
    entries.append(("Columns", f"{len(names)}: {name_list(names, _MOST_NAMES)}"))
    if trained_on is not None:
        if trained_on.missing:
            entries.append(("Values read as gaps", name_list(trained_on.missing, _MOST_NAMES)))
        if trained_on.versions:
            versions = (f"{name} {version}" for name, version in trained_on.versions.items())
            entries.append(("Trained with", ", ".join(versions)))
        if trained_on.fingerprint:
            entries.append(("SHA-256 of the training rows, as numbers", trained_on.fingerprint))
    if spec.file is not None:
        entries += [("Model file", spec.file.name), ("SHA-256 of the model file’s content", spec.file.sha256)]
    if spec.structure.held_out:
        entries.append(("Held out of training by each member", percent(spec.structure.held_out)))
    entries += [(f"Update {k}", str(step)) for k, step in enumerate(model.ancestry_, start=1)]
    return entries


def _baseline_table(baselines: Sequence[Baseline], unit: str | None) -> PageTable:
    """Cumulative hazard and survival at times of events, of each baseline."""
    several = len(baselines) > 1
    columns = (
        *((PageColumn("name", "Baseline"), PageColumn("centre", "c", numeric=True)) if several else ()),
        PageColumn("time", "Time" if unit is None else f"Time ({unit})", numeric=True),
        PageColumn("cumulative", "H0(t)", numeric=True, meaning="cumulative baseline hazard"),
        PageColumn("survival", "S0(t)", numeric=True, meaning="exp(−H0(t))"),
    )
    cells = []
    for one in baselines[:_MOST_BASELINES]:
        which = (PageCell(one.name), _all_digits(one.centre)) if several else ()
        for place in thinned(np.arange(one.times.size, dtype=np.float64), _MOST_TIMES).astype(int).tolist():
            hazard = float(one.cumulative[place])
            cells.append(
                (*which, _all_digits(float(one.times[place])), _all_digits(hazard), _all_digits(float(np.exp(-hazard))))
            )
    centre = "" if several else f"c = {number(baselines[0].centre, DIGITS)}. "
    fewer = max(one.times.size for one in baselines) > _MOST_TIMES or len(baselines) > _MOST_BASELINES
    about = (
        f"{centre}The baseline is constant between two times of events"
        f"{'; shown are some of them, the JSON of this report has all' if fewer else ''}."
    )
    return PageTable("baseline", "Baseline", columns, tuple(cells), about)


def _all_digits(value: float) -> PageCell:
    return PageCell(number(value, DIGITS), value)


def setting_table(spec: Specification) -> PageTable:
    """Every setting beside its default."""
    columns = (
        PageColumn("setting", "Setting"),
        PageColumn("value", "Value"),
        PageColumn("default", "Default"),
        PageColumn("changed", "Changed", meaning="Whether another value than the default was set"),
    )
    cells = tuple(
        (
            PageCell(each.name),
            PageCell(_setting_text(each.value), tone="wraps"),
            PageCell(_setting_text(each.default), tone="wraps"),
            PageCell("yes" if each.changed else ""),
        )
        for each in spec.settings
    )
    return PageTable("settings", "Settings", columns, cells, "All settings that matter for the predictions.")


def _setting_text(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_setting_text, value)) or "none"
    if isinstance(value, float):
        return number(value, 6)
    return "none" if value is None else "yes" if value is True else "no" if value is False else str(value)


def stack_table(table: StackTable) -> PageTable:
    """Members of a stack with their weights."""
    columns = (
        PageColumn("member", "Member"),
        PageColumn("model", "Model"),
        PageColumn("weight", "Weight", numeric=True, meaning="share of the prediction"),
        PageColumn("score", "Log-likelihood", numeric=True, meaning="per row that the member had not learned from"),
        PageColumn("note", "Note"),
    )
    cells = tuple(
        (
            PageCell(each.name),
            PageCell(each.title),
            PageCell(f"{each.weight:.4f}", each.weight),
            PageCell("" if each.score is None else f"{each.score:.4f}", each.score),
            PageCell(f"left out: {each.reason}" if each.reason else "", tone="wraps"),
        )
        for each in table.models
    )
    about = "The prediction is the mixture of those of the members, by their weights."
    return PageTable("members", "Members of the stack", columns, cells, about)
