"""Values of docs/log_normal.md: recipes compared."""

from __future__ import annotations

from bench.pages.model_studies import Scores, dates, recipe_table
from bench.pages.results import MODELS, read_section

__all__ = ["values"]


def values() -> dict[str, str]:
    """By name."""
    recipes: Scores = read_section(MODELS, "lognormal recipes")
    return {"recipes": recipe_table(recipes), **dates("lognormal")}
