"""Tables that several pages of models have: recipes compared, and a model beside another library's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bench.pages.markdown import table
from bench.pages.results import MODELS, origins

__all__ = ["Scores", "dates", "recipe_table", "standard_deviations_apart", "standard_errors_apart", "with_spread"]

# By recipe and metric.
Scores = Mapping[str, Mapping[str, float]]
_TITLES = {"log_loss": "log-loss", "ibs": "IBS", "c": "C", "cens_dcal": "CensDcal"}


def recipe_table(scores: Scores, *, digits: int = 3, head: str = "", titles: Mapping[str, str] | None = None) -> str:
    """A row per recipe, a column per metric of which there is a title."""
    titles = _TITLES if titles is None else titles
    rows = [[recipe, *(f"{own[metric]:.{digits}f}" for metric in titles)] for recipe, own in scores.items()]
    return table([head, *titles.values()], rows)


def dates(model: str) -> dict[str, str]:
    """When each study of a model was run, by names such as ``"date of cqrnn recipes"``."""
    return {f"date of {name}": one.date for name, one in origins(MODELS).items() if name.startswith(model)}


def with_spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.{digits}f} ±{np.std(values, ddof=1):.{digits}f}"


def standard_errors_apart(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """The mean of the differences split by split, in its standard errors."""
    difference = np.subtract(ours, theirs)
    return float(difference.mean() / (difference.std(ddof=1) / np.sqrt(len(difference))))


def standard_deviations_apart(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Our mean less theirs, in their standard deviations."""
    return float((np.mean(ours) - np.mean(theirs)) / np.std(theirs, ddof=1))
