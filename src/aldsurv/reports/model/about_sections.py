"""The sections of a model's report about its limits, the model itself, and how to cite."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.models.wrappers.stack_table import StackTable
from aldsurv.registry import MODELS
from aldsurv.reports.model.cautions import Caution
from aldsurv.reports.model.citation import bibtex, references
from aldsurv.reports.model.coefficient_table import coefficient_table
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.page.number_format import name_list, number, percent, time_with_unit
from aldsurv.reports.page.page import Block, Facts, Quotation, Remarks, Section, Text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

__all__ = ["caution_section", "citation_section", "footer", "model_section"]

# Parameters that do not change the predictions, or are not text or numbers.
_NOT_SHOWN = ("progress", "device", "callbacks", "checkpoint", "encoder", "categorical", "estimators")
_MOST_NAMES = 100


def caution_section(given: Sequence[Caution]) -> Section:
    """The cautions, or that there are none."""
    title = "What to be careful about"
    if not given:
        text = "These rows give no reason for special caution. Other subjects, places and times may still differ."
        return Section("care", title, (Text(text),))
    lead = Text("Limits of the data or of the model to know before the predictions are used.")
    return Section("care", title, (lead, Remarks(tuple(given))))


def model_section(evaluated: EvaluatedModel) -> Section:
    """Kind, training and settings of the model."""
    model, trained_on = evaluated.model, evaluated.model.trained_on_
    entries = [("Kind", f"{MODELS.title_of(type(model))} ({type(model).__name__})")]
    if trained_on is not None:
        groups = "" if trained_on.groups is None else f" of {trained_on.groups:,} groups"
        share = percent(trained_on.event_share)
        first, last = number(trained_on.first_time), time_with_unit(trained_on.last_time, evaluated.unit)
        entries += [
            ("Trained on", f"{trained_on.rows:,} rows{groups}, {trained_on.events:,} events ({share})"),
            ("Times in training", f"{first} to {last}"),
        ]
    names = evaluated.table.names
    entries.append(("Columns", f"{len(names)}: {name_list(names, _MOST_NAMES)}"))
    settings = [f"{name}={value}" for name, value in model.get_params().items() if _is_shown(name, value)]
    if settings:
        entries.append(("Settings", ", ".join(settings)))
    if trained_on is not None and trained_on.versions:
        versions = (f"{name} {version}" for name, version in trained_on.versions.items())
        entries.append(("Trained with", ", ".join(versions)))
    blocks: list[Block] = [Text("The model and its training data."), Facts(tuple(entries))]
    table = model.coefficients_
    if table is not None and len(table):
        blocks.append(coefficient_table(table))
    if model.stack_table_ is not None:
        blocks.append(_stack_table(model.stack_table_))
    return Section("model", "The model", tuple(blocks))


def _stack_table(table: StackTable) -> PageTable:
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
            PageCell(f"{each.weight:.3f}", each.weight),
            PageCell("" if each.score is None else f"{each.score:.4f}", each.score),
            PageCell(f"left out: {each.reason}" if each.reason else "", tone="wraps"),
        )
        for each in table.models
    )
    about = "The prediction is the mixture of those of the members, by their weights."
    return PageTable("members", "Members of the stack", columns, cells, about)


def citation_section() -> Section:
    """Paper and software."""
    return Section("cite", "How to cite", (Remarks(references()), Quotation("References for BibTeX", bibtex())))


def footer(evaluated: EvaluatedModel) -> str:
    """How the page can be reproduced."""
    return (
        f"Made by aldsurv from {len(evaluated.rows):,} rows with seed {evaluated.seed}; the same input gives the same "
        "page."
    )


def _is_shown(name: str, value: object) -> bool:
    """Whether a parameter was set and matters for the predictions."""
    return name.split("__")[-1] not in _NOT_SHOWN and isinstance(value, (str, int, float, tuple, list))
