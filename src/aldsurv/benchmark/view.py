"""A view of the results: one series per dataset and model, in the order of the paper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import Results, Series
from aldsurv.datasets import names

__all__ = ["View", "in_order", "sorted_datasets", "sorted_models"]

# Entries of a series of a real dataset, and of a model without recipes.
_REAL = "real"
_NO_RECIPE = "-"


@final
@dataclass(frozen=True)
class View:
    """Which recipe, definition and split are shown: one series per dataset and model.

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
        """The given series that are in this view, by dataset and model."""
        chosen = {
            (series.dataset, series.model): series
            for series in given
            if series.recipe in (self.recipe, _NO_RECIPE)
            and series.definition in (self.definition, _REAL)
            and series.variant == self.variant
        }
        datasets = sorted_datasets(dataset for dataset, _ in chosen)
        models = sorted_models(model for _, model in chosen)
        return {(d, m): chosen[d, m] for d in datasets for m in models if (d, m) in chosen}


def in_order(given: Iterable[str], order: Iterable[str]) -> list[str]:
    """Distinct names: first those in `order`, then the others alphabetically."""
    distinct = set(given)
    first = [name for name in order if name in distinct]
    return [*first, *sorted(distinct - set(first))]


def sorted_datasets(given: Iterable[str]) -> list[str]:
    """Distinct names of datasets in the order of the paper."""
    return in_order(given, names())


def sorted_models(given: Iterable[str]) -> list[str]:
    """Distinct names of models: those of the paper first, beginning with ALD."""
    return in_order(given, PAPER_MODELS)
