"""The parts of a model's report that say what to be careful about, what the model is, and how to cite it."""

from __future__ import annotations

from typing import Any

from aldsurv.registry import MODELS
from aldsurv.reports.model.subject import Subject
from aldsurv.reports.page.citation import bibtex, in_text
from aldsurv.reports.page.number_words import amount, number, percent
from aldsurv.reports.page.page import Facts, Quotation, Remarks, Section, Text

__all__ = ["caution_section", "citation_section", "footer", "model_section"]


def caution_section(found: list[tuple[str, str]]) -> Section:
    """Titles and texts of what was found, or that nothing was."""
    if not found:
        told = (
            "Nothing in these rows asks for special care. Other subjects, places and times may still differ from these."
        )
        return Section("care", "What to be careful about", (Text(told),))
    lead = Text("These are limits of the data or of the model that one should know before using the predictions.")
    return Section("care", "What to be careful about", (lead, Remarks(tuple(found))))


def model_section(subject: Subject) -> Section:
    """Kind, training and settings of the model."""
    facts, model = subject.facts, subject.model
    entries = [("Kind", f"{MODELS.title_of(type(model))} ({type(model).__name__})")]
    if "rows" in facts:
        share = percent(facts["events"] / facts["rows"])
        entries += [
            ("Learned from", f"{facts['rows']:,} rows, {facts['events']:,} events ({share})"),
            ("Times in training", f"{number(facts['first_time'])} to {amount(facts['last_time'], subject.unit)}"),
        ]
    entries.append(("Columns", f"{len(subject.table.names)}: {', '.join(subject.table.names)}"))
    given = {name: value for name, value in model.get_params().items() if _told(name, value)}
    if given:
        entries.append(("Settings given", ", ".join(f"{name}={value}" for name, value in given.items())))
    versions = facts.get("versions")
    if isinstance(versions, dict):
        entries.append(("Trained with", ", ".join(f"{name} {version}" for name, version in versions.items())))
    lead = Text("What the model is and what it has learned from.")
    return Section("model", "The model", (lead, Facts(tuple(entries))))


def _told(name: str, value: Any) -> bool:
    """Whether a parameter was set and says something about the predictions."""
    apart = ("progress", "device", "callbacks", "checkpoint", "encoder", "categorical")
    return name.split("__")[-1] not in apart and isinstance(value, (str, int, float, tuple, list))


def footer(subject: Subject) -> str:
    """How the page came to be."""
    return (
        f"Made by aldsurv from {len(subject.rows):,} rows with seed {subject.seed}; the same input gives the same page."
    )


def citation_section() -> Section:
    """Paper and software."""
    return Section("cite", "How to cite", (Remarks(in_text()), Quotation("References for BibTeX", bibtex())))
