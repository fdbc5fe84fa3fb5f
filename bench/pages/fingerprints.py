"""Which recipe a result is of: a short digest of its settings, kept in results files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from aldsurv.datasets import names
from aldsurv.models.file_entries import portable
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.paper_settings import paper_settings
from aldsurv.registry import MODELS

__all__ = ["fingerprints", "recipe_fingerprint"]

_LENGTH = 12
# Rows and columns.
_LARGE_TABLE = (10**6, 10)


def recipe_fingerprint(model: str, recipe: str = "default") -> str:
    """12 hexadecimal digits that change with any setting of a recipe.

    Parameters
    ----------
    model
        Registered name, such as ``"ald"``.
    recipe
        ``"default"`` or ``"paper"``; models without recipes have the first, and ``"large"`` for large tables.

    Notes
    -----
    A setting that models did not always have, and whose value is that of the files without it, counts as absent: a
    setting that is added and is off changes no result. Likewise the recipe for the largest tables has a digest of its
    own, ``ald/huge``: no result of the default is of a table of that size.
    """
    kind = MODELS.load(model)
    if issubclass(kind, NeuralSurvival):
        settings: dict[str, Any] = {"recipe": _network_settings(kind.RECIPES[recipe])}
        for name, rows, columns in kind.RECIPES_BY_SIZE.get(recipe, ())[:1]:
            settings["small_tables"] = [rows, columns, _network_settings(kind.RECIPES[name])]
    else:
        size = _LARGE_TABLE if recipe == "large" else None
        defaults = {name: portable(v) for name, v in kind.default_settings(size).items()}
        if "n_jobs" in defaults:
            # How many threads compute changes no result.
            defaults["n_jobs"] = 1
        settings = {"recipe": _without_rank({k: v for k, v in defaults.items() if k not in kind.LATER_PARAMETERS})}
    if recipe == "paper":
        settings["datasets"] = {name: paper_settings(model, name) for name in names(paper=True)}
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:_LENGTH]


def fingerprints(recipes: Iterable[str]) -> dict[str, str]:
    """By name, such as ``"ald/paper"``: the digests of today's recipes."""
    return {name: recipe_fingerprint(*name.split("/")) for name in sorted(recipes)}


def _network_settings(recipe: NetworkModel) -> Mapping[str, Any]:
    absent = {name: portable(value) for group in recipe.ADDED_LATER for name, value in group.items()}
    settings = recipe.to_dict()
    return _without_rank({name: v for name, v in settings.items() if name not in absent or v != absent[name]})


def _without_rank(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings in which ``point="follow_up"`` is the median.

    Both predict the same distribution and time; they differ in how rows are ranked, which a study that ranks says.
    """
    return {**settings, "point": "median"} if settings.get("point") == "follow_up" else settings
