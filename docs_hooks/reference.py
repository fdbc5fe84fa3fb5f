"""A hook of mkdocs: the reference lists every model that has a record."""

from __future__ import annotations

from typing import Any

import aldsurv
from aldsurv.registry import MODELS

_PLACE = "<!-- models: every registered model, put here by docs_hooks/reference.py -->"
_ENTRY = "::: {}\n    options:\n      inherited_members: true"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put an entry per model where a page asks for them."""
    return markdown.replace(_PLACE, model_entries())


def model_entries() -> str:
    """The entries, each by the public name of the model."""
    locations = [record.location.split(":") for record in MODELS.records()]
    names = [f"aldsurv.{name}" if name in aldsurv.__all__ else f"{module}.{name}" for module, name in locations]
    return "\n\n".join(map(_ENTRY.format, names))
