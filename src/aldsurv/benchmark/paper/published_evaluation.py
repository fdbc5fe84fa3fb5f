"""The nine metrics as the code released with the paper computes them: each deviation from the definition is a switch.

This is evidence of how the published numbers came about, not a way to judge a model.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from aldsurv.benchmark.paper.released_bins import released_bin_shares, released_density_line, released_survival_line
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS, published_point
from aldsurv.benchmark.statistics import FloatArray
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics import (
    censored_d_calibration,
    concordance_harrell,
    concordance_uno,
    density_calibration,
    mean_absolute_error,
    survival_calibration,
)
from aldsurv.metrics.error.brier import default_times
from aldsurv.metrics.point_estimates import point_estimate
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, kaplan_meier

__all__ = ["DEVIATIONS", "SWITCHES", "Deviation", "PublishedEvaluation", "exchanged_metric", "switches_of"]

_CALIBRATION = tuple(metric for metric in PAPER_METRICS if metric.startswith("cal_"))
_BY_POINT = ("mae", "harrell_c", "uno_c")
# Models whose curves are steps at durations of the training rows.
_STEPPED = ("deepsurv", "deephit")
_BINS = 10


class Deviation(NamedTuple):
    """A deviation of the released evaluation from the definition of the metrics.

    Attributes
    ----------
    name
        Name of its switch.
    mark
        Letter that stands for it in pictures.
    title
        A few words.
    meaning
        What is done in place of the definition.
    affected
        Metrics that it changes, by model.
    """

    name: str
    mark: str
    title: str
    meaning: str
    affected: dict[str, tuple[str, ...]]


DEVIATIONS = (
    Deviation(
        "failure_for_survival",
        "F",
        "F in place of S",
        "The Brier score takes F(t|x) for the survival of LogNorm, DeepSurv and DeepHit.",
        dict.fromkeys(("lognormal", *_STEPPED), ("ibs",)),
    ),
    Deviation(
        "events_as_censoring",
        "G",
        "G of the events",
        "The Brier score is weighted by the Kaplan-Meier curve of the events on the test rows, not by that of the "
        "censoring on the training rows.",
        dict.fromkeys(PAPER_MODELS, ("ibs",)),
    ),
    Deviation(
        "nearest_level",
        "N",
        "CQRNN's nearest level",
        "The Brier score takes for CQRNN's curve 0 before its first quantile, and after it the level of the nearest of "
        "its nine quantiles.",
        {"cqrnn": ("ibs",)},
    ),
    Deviation(
        "training_median",
        "M",
        "median not reached",
        "A row whose curve does not reach one half (DeepSurv, DeepHit) is predicted to have its event at the median of "
        "the training times.",
        dict.fromkeys(_STEPPED, _BY_POINT),
    ),
    Deviation(
        "model_grids",
        "B",
        "grid of each model",
        "CQRNN, DeepSurv and DeepHit: F at a censoring time is the level of the nearest of nine quantiles, quantiles "
        "that are not reached lie at the last training time, and Cal[f] has four widths, not nine. DeepHit's median "
        "is read off bins between the smallest and the largest training time.",
        {
            "cqrnn": ("cens_dcal", *_CALIBRATION),
            "deepsurv": ("cens_dcal", *_CALIBRATION),
            "deephit": (*_BY_POINT, "cens_dcal", *_CALIBRATION),
        },
    ),
    Deviation(
        "mixed_rows",
        "R",
        "LogNorm's mixed rows",
        "The loss of LogNorm multiplies a column by a row, so that every row of a batch counts as an event and as "
        "censored, in the proportion of the batch.",
        {"lognormal": PAPER_METRICS},
    ),
    Deviation(
        "exchanged_columns",
        "X",
        "exchanged columns",
        "Cal[S] is printed as Cal[f], and Cal[f] as Cal[S].",
        dict.fromkeys(PAPER_MODELS, _CALIBRATION),
    ),
)
"""The deviations, in the order in which the report shows them."""

SWITCHES = tuple(deviation.name for deviation in DEVIATIONS)
"""Names of their switches."""


def switches_of(model: str, metric: str) -> tuple[str, ...]:
    """The switches that change a metric of a model."""
    return tuple(one.name for one in DEVIATIONS if metric in one.affected.get(model, ()))


def exchanged_metric(metric: str) -> str:
    """Cal[f] for a metric of Cal[S], and the other way round.

    Examples
    --------
    >>> exchanged_metric("cal_s_slope"), exchanged_metric("ibs")
    ('cal_f_slope', 'ibs')
    """
    for column, other in (("cal_s_", "cal_f_"), ("cal_f_", "cal_s_")):
        if metric.startswith(column):
            return metric.replace(column, other)
    return metric


@final
@dataclass(frozen=True)
class PublishedEvaluation:
    """The nine metrics of one prediction, with any switches on.

    Parameters
    ----------
    model
        One of the paper's five: which deviations apply depends on it.
    predicted
        Distribution of each test row.
    train, test
        Training and test rows, exact or right-censored.
    truth
        True mean of each test row (n,); None for a real dataset.
    unit
        Unit of the absolute error.
    mixed
        For LogNorm: distribution of each test row by the network that was trained on `mixed_rows`.
    """

    model: str
    predicted: SurvivalDistribution
    train: SurvivalData
    test: SurvivalData
    truth: FloatArray | None = None
    unit: float = 1.0
    mixed: SurvivalDistribution | None = None

    def value(self, metric: str, switches: Collection[str] = SWITCHES) -> float:
        """A metric with these switches on; those that do not change it for this model are ignored."""
        on = frozenset(switches) & set(switches_of(self.model, metric))
        if "exchanged_columns" in on:
            metric = exchanged_metric(metric)
        if "mixed_rows" in on:
            return self._of_mixed.value(metric, on - {"mixed_rows", "exchanged_columns"})
        if metric == "ibs":
            return self._ibs(on)
        if metric in _BY_POINT:
            return self._of_point(metric, on)
        if metric == "cens_dcal":
            return self._cens_dcal(on)
        column, which = metric.rsplit("_", 1)
        slope, intercept = self._lines["model_grids" in on][column]
        return slope if which == "slope" else intercept

    @cached_property
    def _of_mixed(self) -> PublishedEvaluation:
        if self.mixed is None:
            raise ParameterError("mixed must be given for LogNorm, whose published loss mixes rows.", argument="mixed")
        return replace(self, predicted=self.mixed, mixed=None)

    # ---- the Brier score

    def _ibs(self, on: frozenset[str]) -> float:
        survival = self._survival
        if "nearest_level" in on:
            survival = _nearest_level_survival(self._quantiles, self._times)
        if "failure_for_survival" in on:
            survival = 1 - survival
        weighting = kaplan_meier(self.test) if "events_as_censoring" in on else censoring_distribution(self.train)
        score = _brier_scores(survival, self.test, self._times, weighting)
        return float(np.trapezoid(score, self._times) / (self._times[-1] - self._times[0]))

    @cached_property
    def _times(self) -> FloatArray:
        return default_times(self.train)

    @cached_property
    def _survival(self) -> FloatArray:
        return np.asarray(self.predicted.survival(self._times))

    # ---- one predicted time for each row

    def _of_point(self, metric: str, on: frozenset[str]) -> float:
        times = self._point(on)
        if metric == "mae":
            return mean_absolute_error(times, self.test, truth=self.truth, unit=self.unit)
        if metric == "harrell_c":
            return concordance_harrell(times, self.test)
        return concordance_uno(times, self.test, train=self.train)

    def _point(self, on: frozenset[str]) -> FloatArray:
        point = published_point(self.model)
        times = point_estimate(self.predicted, self.test, point="mean" if point == "mean" else "median")
        if not on:
            return np.where(np.isfinite(times), times, self.train.time.max())
        half = self._failure >= 0.5
        reached = np.asarray(half.any(axis=1))
        if "model_grids" in on:
            edges = np.linspace(self.train.time.min(), self.train.time.max(), len(self._durations) + 1)
            times = np.where(reached, ((edges[:-1] + edges[1:]) / 2)[half.argmax(axis=1)], times)
        beyond = np.median(self.train.time) if "training_median" in on else self.train.time.max()
        return np.where(reached, times, beyond)

    # ---- calibration

    def _cens_dcal(self, on: frozenset[str]) -> float:
        if "model_grids" not in on:
            return censored_d_calibration(self.predicted, self.test)
        shares = released_bin_shares(self.test, self._quantiles, closed=False)
        return float(100 * ((1 / _BINS - shares) ** 2).sum())

    @cached_property
    def _lines(self) -> dict[bool, dict[str, tuple[float, float]]]:
        """Slope and intercept of both columns: by the definition, and on the grid of the model."""
        exact: dict[str, tuple[float, float]] = {
            "cal_s": survival_calibration(self.predicted, self.test),
            "cal_f": density_calibration(self.predicted, self.test),
        }
        if "model_grids" not in switches_of(self.model, "cal_s_slope"):
            return {False: exact}
        return {
            False: exact,
            True: {
                "cal_s": released_survival_line(self.test, self._quantiles),
                "cal_f": released_density_line(self.test, self._quantiles),
            },
        }

    # ---- the grid of a model

    @cached_property
    def _durations(self) -> FloatArray:
        """Times (k,) at which the curves of DeepSurv and DeepHit are given."""
        if self.model == "deephit":
            return np.asarray(self.predicted.kinks())[0, 1:]
        return np.unique(self.train.time)

    @cached_property
    def _failure(self) -> FloatArray:
        """F (n, k) at the durations."""
        return np.asarray(self.predicted.cdf(self._durations))

    @cached_property
    def _quantiles(self) -> FloatArray:
        """Times (n, 9) between ten equal bins of the predicted probability."""
        levels = np.arange(1, _BINS) / _BINS
        if self.model not in _STEPPED:
            return np.asarray(self.predicted.quantile(levels))
        reached = [self._failure >= level for level in levels]
        last = len(self._durations) - 1
        places = [np.where(by.any(axis=1), by.argmax(axis=1), last) for by in reached]
        return np.asarray(self._durations[np.stack(places, axis=1)])


def _brier_scores(survival: FloatArray, data: SurvivalData, times: FloatArray, weighting: KaplanMeier) -> FloatArray:
    """The Brier score (m,) of survival (n, m) at `times`, weighted by 1/G(y) and 1/G(t)."""
    had_event = data.event[:, None] & (data.time[:, None] <= times)
    at_time, at_grid = weighting.survival_at(data.time)[:, None], weighting.survival_at(times)
    with np.errstate(divide="ignore", invalid="ignore"):
        early = np.where(had_event, survival**2 / at_time, 0.0)
        late = np.where(data.time[:, None] > times, (1 - survival) ** 2 / at_grid, 0.0)
    return np.asarray((early + late).mean(axis=0))


def _nearest_level_survival(quantiles: FloatArray, times: FloatArray) -> FloatArray:
    """Survival (n, m) by the nearest of the quantiles (n, k); 0 outside them."""
    count = quantiles.shape[1]
    levels = 1 - np.arange(1, count + 1) / (count + 1)
    survival = np.zeros((len(quantiles), len(times)))
    for k in range(count - 1):
        first, second = quantiles[:, [k]], quantiles[:, [k + 1]]
        nearest = np.where(times - first <= second - times, levels[k], levels[k + 1])
        survival = np.where((first <= times) & (times < second), nearest, survival)
    return survival
