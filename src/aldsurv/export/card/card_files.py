"""A model card as Markdown and as JSON, and its file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from aldsurv.errors import ParameterError
from aldsurv.export.card.card_numbers import card_document
from aldsurv.export.card.card_sections import card_page
from aldsurv.export.card.markdown_page import markdown_page
from aldsurv.export.card.model_card import ModelCard
from aldsurv.files.plain_json import json_text
from aldsurv.files.writing import write_text
from aldsurv.quoting import quoted

__all__ = ["card_json", "card_markdown", "write_model_card"]


def card_markdown(card: ModelCard, *, front_matter: bool = False) -> str:
    """The card for people.

    Parameters
    ----------
    card
        The card.
    front_matter
        Begin with a block of YAML that catalogues of models read: library, tags, and an open place for the licence.
    """
    return (_front_matter(card) if front_matter else "") + markdown_page(card_page(card))


def card_json(card: ModelCard) -> str:
    """The card for programs; numbers that are not finite are null."""
    return json_text(card_document(card))


def write_model_card(card: ModelCard, path: str | os.PathLike[str], *, front_matter: bool = False) -> Path:
    """Write the card and return its path: Markdown (``.md``) or JSON (``.json``), by the ending of the name.

    Parameters
    ----------
    card, path
        The card and its file, whose folder must exist.
    front_matter
        As in `card_markdown`; not for JSON.
    """
    ending = Path(path).suffix.lower()
    if ending == ".json":
        return write_text(path, card_json(card) + "\n")
    if ending == ".md":
        return write_text(path, card_markdown(card, front_matter=front_matter))
    raise ParameterError(
        f"a model card is Markdown or JSON, but {quoted(os.fspath(path), 300)} ends neither in .md nor in .json.",
        argument="path",
        advice="Name it card.md or card.json.",
    )


def _front_matter(card: ModelCard) -> str:
    spec = card.specification
    tags = ["survival-analysis", "tabular", *([spec.name] if spec.name else [])]
    lines = ["---", "library_name: aldsurv", "license: unknown  # To be filled in", "tags:"]
    # A JSON text is also one of YAML.
    return "\n".join([*lines, *(f"  - {json.dumps(tag)}" for tag in tags), "---", "", ""])
