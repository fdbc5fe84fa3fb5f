"""What more rows would bring: a model fitted to growing parts of a table, scored on held-out rows."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number, WholeNumber, check
from aldsurv.columns.covariates import take_rows
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.rows.row_splitting import split_rows
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.errors import AldsurvError, CensoringError, ParameterError
from aldsurv.metrics import bounded_log_likelihood, evaluate
from aldsurv.metrics.point_estimates import RankingPoint
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.wrappers.cross_fitting import balanced_order, unfitted
from aldsurv.planning.power_law import Extrapolation, extrapolate, missed_last
from aldsurv.registry import METRICS

__all__ = ["CURVE_METRICS", "LearningCell", "LearningCurve", "LearningPoint", "curve_sizes", "learning_curve"]

IntArray = NDArray[np.int64]

CURVE_METRICS = ("bounded_log_likelihood", "ibs", "harrell_c")
# Numbers of rows by default, and events that the smallest part should have.
_SIZES, _LEAST_EVENTS, _LEAST_ROWS = 6, 20, 30
# Fewer sizes or repetitions cannot tell a power law from noise.
_LEAST_FOR_LAW = 4, 3
# Times the rows at hand up to which anything is said.
_FURTHEST = (2, 4)


class LearningCell(NamedTuple):
    """One fit: the repetition, the number of training rows and their events, and the scores on the held-out rows.

    A score is NaN where it has no definition, or where the fit failed.
    """

    repeat: int
    rows: int
    events: int
    scores: Mapping[str, float]


class LearningPoint(NamedTuple):
    """A score at one number of training rows: its mean over the repetitions and the standard error of that."""

    rows: int
    value: float
    standard_error: float


@final
@dataclass(frozen=True)
class LearningCurve:
    """Scores of a model by the number of rows that it learned from.

    Attributes
    ----------
    cells
        One per repetition and number of rows.
    sizes
        The numbers of rows, ascending.
    repeats
        Number of repetitions.
    random_state
        Seed.
    """

    cells: tuple[LearningCell, ...]
    sizes: tuple[int, ...]
    repeats: int
    random_state: int

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics that have a value in every cell of two sizes or more."""
        return tuple(name for name in CURVE_METRICS if len(self.points(name)) > 1)

    def points(self, metric: str) -> list[LearningPoint]:
        """The curve of a metric, without sizes at which a fit failed.

        The standard error is over random parts of this table: that of a mean of repetitions, which share rows. Another
        table may have another curve.
        """
        sizes, scores = self._scores(metric)
        return [
            LearningPoint(rows, float(column.mean()), float(column.std(ddof=1) / math.sqrt(column.size)))
            if column.size > 1
            else LearningPoint(rows, float(column.mean()), math.nan)
            for rows, column in zip(sizes, scores.T, strict=True)
        ]

    def extrapolation(self, metric: str) -> list[Extrapolation]:
        """The metric at two and four times the largest number of rows; empty where too little is known to say it.

        The mean is taken to be a power law, ``a ± b·n^(-c)``, which no data can confirm beyond the rows at hand;
        hence no further.
        """
        sizes, scores = self._scores(metric)
        if len(sizes) < _LEAST_FOR_LAW[0] or len(scores) < _LEAST_FOR_LAW[1]:
            return []
        sign = 1.0 if METRICS[metric].direction == "higher" else -1.0
        rows = np.array(sizes, np.float64)
        found = extrapolate(rows, sign * scores, [factor * sizes[-1] for factor in _FURTHEST], self.random_state)
        return [
            Extrapolation(one.rows, sign * one.value, sign * one.change, *sorted([sign * one.lower, sign * one.upper]))
            for one in found
        ]

    def missed(self, metric: str) -> tuple[float, float] | None:
        """What the smaller sizes alone predict for the largest, less what it is, and the standard error of that.

        The one check that the data allow. None where the metric has too few sizes for it.
        """
        sizes, scores = self._scores(metric)
        if len(sizes) <= _LEAST_FOR_LAW[0] or len(scores) < _LEAST_FOR_LAW[1]:
            return None
        sign = 1.0 if METRICS[metric].direction == "higher" else -1.0
        difference, error = missed_last(np.array(sizes, np.float64), sign * scores, self.random_state)
        return sign * difference, error

    def _scores(self, metric: str) -> tuple[list[int], NDArray[np.float64]]:
        """Sizes at which every repetition has a score, and the scores (r, k)."""
        table = np.full((self.repeats, len(self.sizes)), np.nan)
        for cell in self.cells:
            table[cell.repeat, self.sizes.index(cell.rows)] = cell.scores.get(metric, math.nan)
        defined = np.isfinite(table).all(axis=0)
        return [rows for rows, kept in zip(self.sizes, defined, strict=True) if kept], table[:, defined]


def learning_curve(
    estimator: SurvivalEstimator,
    X: object,
    y: object,
    *,
    sizes: Sequence[int] | None = None,
    repeats: int = 5,
    held_out: float = 0.25,
    random_state: int = 0,
    done: Iterable[LearningCell] = (),
    on_cell: Callable[[LearningCell], None] | None = None,
) -> LearningCurve:
    """Fit a model to growing parts of the rows, and score it on held-out rows.

    In each repetition a random part is held out; of the rest, in a random order over which events are spread evenly,
    the first rows are the training rows: each part holds the smaller ones. Rows of one group stay together.

    Parameters
    ----------
    estimator
        Any model of aldsurv; it stays as it is.
    X, y
        Covariates and times, as `fit` takes them.
    sizes
        Numbers of training rows. None: six, each by the same factor larger, up to all rows that are not held out.
    repeats
        Repetitions, each with rows of its own held out.
    held_out
        Share of the rows that are.
    random_state
        Seed of parts and models.
    done
        Cells of the same call before, which are not computed again.
    on_cell
        Called with each new cell.

    Examples
    --------
    >>> from aldsurv import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 3))
    >>> y = SurvivalData.right(rng.weibull(1.5, 300) * np.exp(x[:, 0]), np.ones(300, bool))
    >>> curve = learning_curve(WeibullAFT(), x, y, sizes=[30, 200], repeats=2)
    >>> small, large = curve.points("ibs")
    >>> large.value < small.value
    True
    """
    check("repeats", repeats, WholeNumber(1))
    check("held_out", held_out, Number(0, 1, above=True, below=True))
    check("random_state", random_state, WholeNumber(0))
    data = SurvivalData.of(y)
    places = curve_sizes(data, held_out) if sizes is None else _checked_sizes(sizes, len(data), held_out)
    known = {(cell.repeat, cell.rows): cell for cell in done}
    groups, cells = find_groups(X, data), []
    for repeat in range(repeats):
        train, test, seed = _parts(data, groups, held_out, random_state, repeat)
        # The largest part first: what fails there is an error, and what takes long is known early.
        for size in reversed(places):
            cell = known.get((repeat, size))
            if cell is None:
                parts = _Parts(_first_rows(train, groups, size), train, test)
                cell = _cell(estimator, X, data, parts, seed, (repeat, size), may_fail=size < places[-1])
                if on_cell is not None:
                    on_cell(cell)
            cells.append(cell)
    return LearningCurve(tuple(sorted(cells, key=lambda cell: cell[:2])), places, repeats, random_state)


def curve_sizes(data: SurvivalData, held_out: float) -> tuple[int, ...]:
    """Six numbers of training rows, each by the same factor larger, from about 20 events on."""
    most = len(data) - round(held_out * len(data))
    share = max(int(np.isfinite(data.upper).sum()), 1) / len(data)
    least = min(max(_LEAST_ROWS, math.ceil(_LEAST_EVENTS / share)), most)
    return tuple(sorted({round(size) for size in np.geomspace(least, most, _SIZES)}))


def _checked_sizes(sizes: Sequence[int], n: int, held_out: float) -> tuple[int, ...]:
    most = n - round(held_out * n)
    for size in sizes:
        check("sizes", size, WholeNumber(2, most))
    if not len(sizes):
        raise ParameterError("sizes must be one number of rows or more, but there is none.", argument="sizes")
    return tuple(sorted({int(size) for size in sizes}))


def _parts(
    data: SurvivalData, groups: IntArray | None, held_out: float, random_state: int, repeat: int
) -> tuple[IntArray, IntArray, int]:
    """Training rows in the order in which they are added, held-out rows, and the seed of the models."""
    seeds = np.random.SeedSequence([random_state, repeat]).generate_state(3) // 2
    events = np.isfinite(data.upper)
    train, test = split_rows(events, len(data), held_out, int(seeds[0]), groups, by_lot=data.group is not None)
    order = balanced_order(data[train], np.random.default_rng(int(seeds[1])))
    train = train[order]
    if groups is not None:
        # Rows of one group come where its first one does.
        unit = np.where(groups[train] >= 0, len(data) + groups[train], train)
        first = dict[int, int]()
        for place, one in enumerate(unit.tolist()):
            first.setdefault(one, place)
        train = train[np.argsort([first[one] for one in unit.tolist()], kind="stable")]
    return train, test, int(seeds[2])


def _first_rows(train: IntArray, groups: IntArray | None, size: int) -> IntArray:
    """The first rows, with all of the last group of them."""
    end = min(size, train.size)
    if groups is not None and groups[train[end - 1]] >= 0:
        while end < train.size and groups[train[end]] == groups[train[end - 1]]:
            end += 1
    return train[:end]


class _Parts(NamedTuple):
    """Rows to fit, all training rows of the repetition, and held-out rows."""

    fitted: IntArray
    train: IntArray
    test: IntArray


def _cell(
    estimator: SurvivalEstimator,
    X: object,
    data: SurvivalData,
    parts: _Parts,
    seed: int,
    place: tuple[int, int],
    *,
    may_fail: bool,
) -> LearningCell:
    rows = parts.fitted
    events = int(np.isfinite(data[rows].upper).sum())
    with warnings.catch_warnings():
        # Few rows may give models without skill, penalties, metrics without a value: the scores show it.
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = unfitted(estimator, seed).fit(take_rows(X, rows), data[rows])
            # The censoring is that of all training rows, so that scores of all sizes are on one scale.
            scores = _scores(model, take_rows(X, parts.test), data[parts.test], data[parts.train])
        except AldsurvError:
            if not may_fail:
                raise
            scores = dict.fromkeys(CURVE_METRICS, math.nan)
    return LearningCell(*place, events, scores)


def _scores(model: SurvivalEstimator, X: Any, data: SurvivalData, train: SurvivalData) -> dict[str, float]:
    predicted, rows = along_paths(model.predict_distribution(X), data)
    try:
        point = cast("RankingPoint", model.ranking_point_)
        return evaluate(predicted, rows, train=train, metrics=list(CURVE_METRICS), ranking_point=point)
    except CensoringError:
        # Of delayed entry, bounds and episodes only the likelihood has a definition.
        return {"bounded_log_likelihood": float(bounded_log_likelihood(predicted, rows, train=train))}
