"""What a benchmark is to do: fixed before it begins, and known by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, final

from aldsurv.benchmark.results import Series
from aldsurv.datasets import describe, names
from aldsurv.errors import ParameterError
from aldsurv.registry import MODELS, PEERS

__all__ = ["DEFINITIONS", "PAPER_MODELS", "RECIPES", "Cell", "Plan"]

PAPER_MODELS = ("ald", "cqrnn", "lognormal", "deepsurv", "deephit")
RECIPES = ("paper", "best")
DEFINITIONS = ("released", "printed")
# Rows of one patient on both sides of a split flatter what memorises: these are also split by patient.
_GROUPED = {"whas": ("group", "group, without case"), "breastmsk": ("group",)}


@final
@dataclass(frozen=True)
class Cell:
    """All seeds of a model on a dataset: they train in one loop."""

    series: Series
    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """Unique in a plan."""
        return "/".join(self.series)


@final
@dataclass(frozen=True)
class Plan:
    """Datasets × models × recipes, each with all seeds.

    Parameters
    ----------
    datasets, models
        Names; a model may also be a peer, such as ``"rsf"``.
    recipes
        ``"paper"``, ``"best"`` or both.
    definitions
        Of synthetic datasets: ``"released"``, ``"printed"`` or both.
    seeds
        Number of the runs: seed 0 to one below.
    grouped
        Whether WHAS and BreastMSK, which have several rows of one patient, are also split by patient.

    Examples
    --------
    >>> plan = Plan(("gbsg", "weibull"), ("ald", "deepsurv"), seeds=3)
    >>> len(plan.cells()), plan.cells()[0].name
    (4, 'gbsg/real/row/ald/paper')
    """

    datasets: tuple[str, ...]
    models: tuple[str, ...] = PAPER_MODELS
    recipes: tuple[str, ...] = ("paper",)
    definitions: tuple[str, ...] = ("released",)
    seeds: int = 10
    grouped: bool = True

    def __post_init__(self) -> None:
        for field in ("datasets", "models", "recipes", "definitions"):
            object.__setattr__(self, field, _distinct(field, getattr(self, field)))
        for name in self.datasets:
            describe(name)
        for name in self.models:
            if name not in PEERS:
                MODELS.load(name)
        for field, known in (("recipes", RECIPES), ("definitions", DEFINITIONS)):
            for name in getattr(self, field):
                if name not in known:
                    raise ParameterError(f"{field} must be among {', '.join(known)}, but {name!r} is not.")
        if not isinstance(self.seeds, int) or isinstance(self.seeds, bool) or not 1 <= self.seeds <= 10_000:
            raise ParameterError(f"seeds must be a whole number from 1 to 10000, but is {self.seeds!r}.")
        if not isinstance(self.grouped, bool):
            raise ParameterError(f"grouped must be True or False, but is {self.grouped!r}.")

    def cells(self) -> list[Cell]:
        """All cells, in the order of datasets and models."""
        found: dict[Series, Cell] = {}
        for dataset in self.datasets:
            real = describe(dataset).kind != "synthetic"
            variants = ("row", *(_GROUPED.get(dataset, ()) if self.grouped else ()))
            for definition in ("real",) if real else self.definitions:
                for variant in variants:
                    for model in self.models:
                        for recipe in self.recipes if _has_recipes(model) else ("-",):
                            series = Series(dataset, definition, variant, model, recipe)
                            found[series] = Cell(series, tuple(range(self.seeds)))
        return list(found.values())

    @property
    def hash(self) -> str:
        """Tells this plan from every other."""
        return hashlib.sha256(json.dumps(self.to_plain(), sort_keys=True).encode()).hexdigest()

    def to_plain(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_plain(cls, plain: Any) -> Plan:
        """The inverse of `to_plain`; everything is checked."""
        if not isinstance(plain, dict) or set(plain) != {field.name for field in fields(cls)}:
            raise ParameterError("a plan must have exactly datasets, models, recipes, definitions, seeds and grouped.")
        return cls(**plain)

    @classmethod
    def of_the_paper(cls, recipes: Sequence[str] = ("paper",)) -> Plan:
        """All datasets and models of the paper."""
        return cls(tuple(names(paper=True)), recipes=tuple(recipes))


def _has_recipes(model: str) -> bool:
    return model in MODELS and "recipe" in MODELS.load(model).parameter_defaults()


def _distinct(field: str, values: Any) -> tuple[str, ...]:
    if not isinstance(values, (tuple, list)) or not values or not all(isinstance(value, str) for value in values):
        raise ParameterError(f"{field} must be a list of names, at least one, but is {values!r:.60}.")
    return tuple(dict.fromkeys(values))
