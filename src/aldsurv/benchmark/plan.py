"""The plan of a benchmark: datasets, models, recipes and seeds, fixed before it begins and identified by a hash."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from typing import final

from aldsurv.benchmark.results import Series
from aldsurv.checks import Flag, WholeNumber, check_all, listed
from aldsurv.datasets import describe
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted
from aldsurv.registry import MODELS, PEERS

__all__ = ["DEFINITIONS", "PAPER_MODELS", "RECIPES", "Cell", "Plan"]

# In the order of the paper's tables.
PAPER_MODELS = tuple(record.name for record in MODELS.records() if record.paper)
RECIPES = ("paper", "best")
DEFINITIONS = ("released", "printed")
# Rows of one patient in both parts of a split favour models that memorise: these are also split by patient.
_GROUPED_VARIANTS = {"whas": ("group", "group, without case"), "breastmsk": ("group",)}
_CONSTRAINTS = {"seeds": WholeNumber(1, 10_000), "grouped": Flag()}


@final
@dataclass(frozen=True)
class Cell:
    """All seeds of a model on a dataset, which are trained in one loop."""

    series: Series
    seeds: tuple[int, ...]

    @property
    def name(self) -> str:
        """Unique in a plan."""
        return "/".join(self.series)

    def __str__(self) -> str:
        return self.name


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
        Number of runs, with seeds from 0 on.
    grouped
        Whether WHAS and BreastMSK, which have several rows per patient, are also split by patient.

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
        check_all({"seeds": self.seeds, "grouped": self.grouped}, _CONSTRAINTS)
        # JSON, and so the hash, has no numbers of numpy.
        object.__setattr__(self, "seeds", int(self.seeds))
        object.__setattr__(self, "grouped", bool(self.grouped))
        for name in self.datasets:
            describe(name)
        for name in self.models:
            if name not in PEERS:
                MODELS.load(name)
        for field, allowed in (("recipes", RECIPES), ("definitions", DEFINITIONS)):
            for name in getattr(self, field):
                if name not in allowed:
                    problem = f"{field} must be among {listed(allowed)}, but {quoted(name)} is not."
                    raise ParameterError(problem, argument=field)

    def cells(self) -> list[Cell]:
        """All cells, in the order of datasets and models."""
        cells: dict[Series, Cell] = {}
        for dataset in self.datasets:
            real = describe(dataset).kind != "synthetic"
            variants = ("row", *(_GROUPED_VARIANTS.get(dataset, ()) if self.grouped else ()))
            for definition in ("real",) if real else self.definitions:
                for variant in variants:
                    for model in self.models:
                        for recipe in self.recipes if _has_recipes(model) else ("-",):
                            series = Series(dataset, definition, variant, model, recipe)
                            cells[series] = Cell(series, tuple(range(self.seeds)))
        return list(cells.values())

    @property
    def hash(self) -> str:
        """SHA-256 of the plan, which identifies it."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def to_dict(self) -> dict[str, list[str] | int | bool]:
        """The plan as JSON can hold it."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, document: object) -> Plan:
        """The inverse of `to_dict`; everything is checked."""
        if not isinstance(document, dict) or set(document) != {field.name for field in fields(cls)}:
            raise ParameterError("a plan must have exactly datasets, models, recipes, definitions, seeds and grouped.")
        return cls(**document)


def _has_recipes(model: str) -> bool:
    return model in MODELS and "recipe" in MODELS.load(model).parameter_defaults()


def _distinct(field: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, (tuple, list)) or not values or not all(isinstance(value, str) for value in values):
        problem = f"{field} must be a list of at least one name, but is {quoted(values, 60)}."
        raise ParameterError(problem, argument=field)
    return tuple(dict.fromkeys(values))
