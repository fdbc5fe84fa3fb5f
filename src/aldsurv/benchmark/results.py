"""The results of a benchmark, one value per series, seed, metric and summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.benchmark.statistics import RunSummary, run_summary
from aldsurv.errors import ParameterError
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.registry import METRICS

__all__ = [
    "MASS_BELOW_ZERO",
    "PAPER_METRICS",
    "POINTS",
    "POINT_METRICS",
    "REFERENCE_MODEL",
    "Curve",
    "Result",
    "Results",
    "Series",
    "published_point",
]

# The nine of the paper, in the order of its tables.
PAPER_METRICS = tuple(name for name in DEFAULT_METRICS if not name.endswith("log_likelihood"))
# Summaries of a distribution that may be taken as its predicted time.
POINTS = ("mean", "median", "mode")
# Metrics of one predicted time per row: recorded for each of the summaries.
POINT_METRICS = (*(name for name in PAPER_METRICS if METRICS[name].uses_point), "beyond")
# Percentiles over the test rows of F(0|x), the probability of a time below 0.
MASS_BELOW_ZERO = ("f0_p50", "f0_p75", "f0_p95")
# The paper's model, which the others are compared with.
REFERENCE_MODEL = "ald"
# The paper takes the mean of ALD and LogNorm, the median of the others.
_BY_MEAN = ("ald", "lognormal")


class Series(NamedTuple):
    """A model on a dataset: what has one value per seed.

    Attributes
    ----------
    dataset
        One of `aldsurv.datasets.names`.
    definition
        ``"released"`` or ``"printed"`` for a synthetic dataset, ``"real"`` for a real one.
    variant
        ``"row"``: split by row, as in the paper; ``"group"``: rows of one patient stay together;
        ``"group, without case"``: the same without WHAS's column that reveals the outcome.
    model, recipe
        Name of a model, and ``"paper"`` or ``"best"``; ``"-"`` for models without recipes.
    """

    dataset: str
    definition: str
    variant: str
    model: str
    recipe: str


class Result(NamedTuple):
    """One value. `point` is the summary that a metric is of, or ``""`` for metrics of the whole distribution."""

    series: Series
    seed: int
    point: str
    metric: str
    value: float


class Curve(NamedTuple):
    """A calibration curve: shares expected and observed, kind ``"survival"`` or ``"density"``."""

    series: Series
    seed: int
    kind: str
    expected: tuple[float, ...]
    observed: tuple[float, ...]


@final
class Results:
    """Results in a fixed order, looked up by series and metric.

    Beside the nine metrics there are ``log_likelihood``, ``f0_p50``, ``f0_p75``, ``f0_p95`` (percentiles of F(0|x)),
    ``epochs``, and ``beyond``: the share of rows whose summary is infinite, which count with the largest training time.

    Parameters
    ----------
    results
        In any order.
    curves
        Calibration curves, if there are any.

    Attributes
    ----------
    series, seeds
        All series and seeds that have results, sorted.
    """

    def __init__(self, results: Iterable[Result], curves: Iterable[Curve] = ()) -> None:
        self._rows = sorted(results, key=lambda row: row[:4])
        self._values: dict[tuple[Series, str, str], dict[int, float]] = {}
        for row in self._rows:
            self._values.setdefault((row.series, row.metric, row.point), {})[row.seed] = row.value
        self.curves = sorted(curves)
        self.series = sorted({row.series for row in self._rows})
        self.seeds = sorted({row.seed for row in self._rows})

    def __iter__(self) -> Iterator[Result]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, **wanted: str | tuple[str, ...]) -> Results:
        """The results whose series has the given entries, such as ``model="ald"``; a tuple is any of its values."""
        if unknown := sorted(set(wanted) - set(Series._fields)):
            raise ParameterError(f"a series has {', '.join(Series._fields)}, but not {unknown[0]!r}.")

        def fits(series: Series) -> bool:
            pairs = ((getattr(series, name), value) for name, value in wanted.items())
            return all(entry in value if isinstance(value, tuple) else entry == value for entry, value in pairs)

        rows = [row for row in self._rows if fits(row.series)]
        return Results(rows, [curve for curve in self.curves if fits(curve.series)])

    def by_seed(self, series: Series, metric: str, *, point: str | None = None) -> NDArray[np.float64]:
        """Values in the order of the seeds; an empty array if there are no results.

        Parameters
        ----------
        series, metric
            Which values.
        point
            Which summary, for metrics of one; None for the summary that the paper takes.
        """
        chosen = ""
        if metric in POINT_METRICS:
            chosen = published_point(series.model) if point is None else point
        values = self._values.get((series, metric, chosen), {})
        return np.array([values[seed] for seed in sorted(values)])

    def summary(self, series: Series | None, metric: str, *, point: str | None = None) -> RunSummary:
        """Mean, standard deviation and number of the values of `by_seed`; of no runs if `series` is None."""
        return run_summary([] if series is None else self.by_seed(series, metric, point=point))


def published_point(model: str) -> str:
    """The summary that the paper takes as the predicted time of a model."""
    return "mean" if model in _BY_MEAN else "median"
