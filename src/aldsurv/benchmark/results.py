"""What a benchmark found, as rows of one value each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ParameterError

__all__ = ["METRICS", "POINT_METRICS", "Curve", "Result", "Results", "Series", "published_point"]

# The nine of the paper, in the order of its tables.
METRICS = (
    "mae",
    "ibs",
    "harrell_c",
    "uno_c",
    "cens_dcal",
    "cal_s_slope",
    "cal_s_intercept",
    "cal_f_slope",
    "cal_f_intercept",
)
# Those that look at one predicted time a row: recorded for mean, median and mode.
POINT_METRICS = ("mae", "harrell_c", "uno_c", "beyond")
# The paper takes the mean of ALD and LogNorm, the median of the others.
_BY_MEAN = ("ald", "lognormal")


class Series(NamedTuple):
    """A model on a dataset: what has one value for each seed.

    Attributes
    ----------
    dataset
        One of `aldsurv.datasets.names`.
    definition
        ``"released"`` or ``"printed"`` for a synthetic dataset, ``"real"`` for a real one.
    variant
        ``"row"``: split by row, as in the paper; ``"group"``: rows that belong together stay together;
        ``"group, without case"``: so, and without WHAS's column that tells the outcome.
    model, recipe
        Name of a model, and ``"paper"`` or ``"best"``; ``"-"`` for models without recipes.
    """

    dataset: str
    definition: str
    variant: str
    model: str
    recipe: str


class Result(NamedTuple):
    """One value. `point` is the summary that a metric looked at, or ``""`` if it looked at the whole distribution."""

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
    """Results in a fixed order, and looked up by series and metric.

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
        What there are results of, and all seeds, sorted.
    """

    def __init__(self, results: Iterable[Result], curves: Iterable[Curve] = ()) -> None:
        self._rows = sorted(results, key=lambda row: row[:4])
        self._found: dict[tuple[Series, str, str], dict[int, float]] = {}
        for row in self._rows:
            self._found.setdefault((row.series, row.metric, row.point), {})[row.seed] = row.value
        self.curves = sorted(curves)
        self.series = sorted({row.series for row in self._rows})
        self.seeds = sorted({row.seed for row in self._rows})

    def __iter__(self) -> Iterator[Result]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def where(self, **wanted: Any) -> Results:
        """Those results whose series has the given entries, such as ``model="ald"``; a tuple is any of its values."""
        if odd := set(wanted) - set(Series._fields):
            raise ParameterError(f"a series has {', '.join(Series._fields)}, but not {sorted(odd)[0]!r}.")

        def fits(series: Series) -> bool:
            given = ((getattr(series, name), value) for name, value in wanted.items())
            return all(own in value if isinstance(value, tuple) else own == value for own, value in given)

        rows = [row for row in self._rows if fits(row.series)]
        return Results(rows, [curve for curve in self.curves if fits(curve.series)])

    def by_seed(self, series: Series, metric: str, *, point: str | None = None) -> NDArray[np.float64]:
        """Values of the seeds in their order; none where there are no results.

        Parameters
        ----------
        series, metric
            Of what.
        point
            Which summary, for metrics that look at one; None for the one the paper took.
        """
        chosen = ""
        if metric in POINT_METRICS:
            chosen = published_point(series.model) if point is None else point
        found = self._found.get((series, metric, chosen), {})
        return np.array([found[seed] for seed in sorted(found)])


def published_point(model: str) -> str:
    """The summary by which the paper judged a model."""
    return "mean" if model in _BY_MEAN else "median"
