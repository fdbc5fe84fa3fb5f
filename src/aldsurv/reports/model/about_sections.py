"""The sections of a model's report about its limits, and how to cite."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.cautions import Caution
from aldsurv.reports.model.words.citation import bibtex, references
from aldsurv.reports.page.page import Quotation, Remarks, Section, Text

__all__ = ["caution_section", "citation_section", "footer"]


def caution_section(given: Sequence[Caution]) -> Section:
    """The cautions, or that there are none."""
    title = "What to be careful about"
    if not given:
        text = "These rows give no reason for special caution. Other subjects, places and times may still differ."
        return Section("care", title, (Text(text),))
    lead = Text("Limits of the data or of the model to know before the predictions are used.")
    return Section("care", title, (lead, Remarks(tuple(given))))


def citation_section() -> Section:
    """Paper and software."""
    return Section("cite", "How to cite", (Remarks(references()), Quotation("References for BibTeX", bibtex())))


def footer(evaluated: EvaluatedModel) -> str:
    """How the page can be reproduced."""
    return (
        f"Made by aldsurv from {len(evaluated.rows):,} rows with seed {evaluated.seed}; the same input gives the same "
        "page."
    )
