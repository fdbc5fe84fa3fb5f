"""Which results stand beside each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import Results, Series
from aldsurv.datasets import names

__all__ = ["View", "in_order", "sorted_datasets", "sorted_models"]

# What a series has that has no choice of definition or recipe.
_REAL = "real"
_NO_RECIPE = "-"


@final
@dataclass(frozen=True)
class View:
    """One series for each dataset and model.

    Parameters
    ----------
    recipe
        ``"paper"`` or ``"best"``; models without recipes are in both.
    definition
        Of the synthetic datasets; real ones are in every view.
    variant
        How the rows were split.
    """

    recipe: str = "paper"
    definition: str = "released"
    variant: str = "row"

    def series(self, results: Results) -> dict[tuple[str, str], Series]:
        """The series of each dataset and model, in the order of the paper."""
        return self.series_among(results.series)

    def series_among(self, given: Iterable[Series]) -> dict[tuple[str, str], Series]:
        """Those of the given series that are in this view, by dataset and model."""
        found = {
            (series.dataset, series.model): series
            for series in given
            if series.recipe in (self.recipe, _NO_RECIPE)
            and series.definition in (self.definition, _REAL)
            and series.variant == self.variant
        }
        datasets = sorted_datasets(dataset for dataset, _ in found)
        models = sorted_models(model for _, model in found)
        return {(d, m): found[d, m] for d in datasets for m in models if (d, m) in found}


def in_order(found: Iterable[str], order: Iterable[str]) -> list[str]:
    """Distinct names: those of `order` first and in its order, others after them by alphabet."""
    there = set(found)
    known = [name for name in order if name in there]
    return [*known, *sorted(there - set(known))]


def sorted_datasets(found: Iterable[str]) -> list[str]:
    """Distinct names of datasets in the order of the paper."""
    return in_order(found, names())


def sorted_models(found: Iterable[str]) -> list[str]:
    """Distinct names of models: those of the paper first, ALD before all."""
    return in_order(found, PAPER_MODELS)
