"""How predictions of a fitted model are changed for other people: hazards, then levels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.distributions.wrappers.scaled_hazard import ScaledHazard, scaled_hazard
from aldsurv.metrics.error.log_likelihood import log_likelihood_rows
from aldsurv.models.file_entries import LARGEST_NUMBER, Arrays, FileContent, finite_floats, require
from aldsurv.nonparametric.observed_levels import level_map

__all__ = ["MODEL_RUNGS", "RUNGS", "Adjustment", "fit_adjustment"]

FloatArray = NDArray[np.float64]
# Log-likelihood of each row at log factors, its derivative, and minus its second derivative.
Terms: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]

# From the smallest change to the largest.
RUNGS = ("none", "intercept", "slope", "levels", "last_layer", "refit")
# Those that change the model itself, not its predictions.
MODEL_RUNGS = ("last_layer", "refit")

# No hazard is multiplied by more than e^20: such rows are unlike any that the change was learned from.
_LARGEST_LOG = 20.0
# Of log cumulative hazards: survival between these is neither 0 nor 1.
_LOWEST, _HIGHEST = np.log(1e-8), np.log(50.0)
# Distance at which derivatives of the log-likelihood of each row are taken, steps at most, and when they end.
_DISTANCE, _MOST_STEPS, _SMALL_STEP = 1e-4, 50, 1e-7
# Log-likelihood of a row that a factor makes impossible.
_LEAST_LIKELY = -1e6
# Linear predictors closer together than this are the same.
_SAME = 1e-9
_NUMBERS = ("intercept", "slope", "time", "center")
_ARRAYS = ("adjustment.knots", "adjustment.values")


@final
@dataclass(frozen=True)
class Adjustment:
    """A change of predicted distributions: ``S(t|x)**exp(a + (b - 1)·(lp(x) - center))``, then a map of levels.

    Attributes
    ----------
    intercept, slope
        a and b: logarithm of the factor of all hazards, and what the differences between the rows are multiplied by.
    time, center
        The linear predictor ``lp(x) = log(-log S(time|x))``, and its mean over the rows that the change was learned
        from.
    level_map
        What levels become after that; the identity if it has no knots.
    """

    intercept: float = 0.0
    slope: float = 1.0
    time: float = 1.0
    center: float = 0.0
    level_map: LevelMap = field(default_factory=lambda: LevelMap(np.empty(0), np.empty(0)))

    def log_factors(self, predicted: SurvivalDistribution) -> FloatArray:
        """Logarithm of what the hazard of each row is multiplied by (n,)."""
        if self.slope == 1.0:
            return np.full(len(predicted), self.intercept)
        centered = linear_predictor(predicted, self.time) - self.center
        return np.clip(self.intercept + (self.slope - 1) * centered, -_LARGEST_LOG, _LARGEST_LOG)

    def apply(self, predicted: SurvivalDistribution, log_factors: FloatArray | None = None) -> SurvivalDistribution:
        """The changed distributions.

        Parameters
        ----------
        predicted
            The distributions as the model predicts them.
        log_factors
            Those of other distributions of the same rows; None: of these.
        """
        chosen = self.log_factors(predicted) if log_factors is None else log_factors
        changed = scaled_hazard(predicted, np.exp(chosen)) if chosen.any() else predicted
        return recalibrated(changed, self.level_map) if self.level_map.knots.size else changed

    def to_file(self) -> FileContent:
        """Entries and arrays of a model file."""
        arrays = dict(zip(_ARRAYS, (self.level_map.knots, self.level_map.values), strict=True))
        return {name: getattr(self, name) for name in _NUMBERS}, arrays

    @classmethod
    def from_file(cls, entries: Any, arrays: Arrays) -> Adjustment:
        """The inverse of `to_file`, for a file that may hold anything."""
        known = isinstance(entries, Mapping) and set(entries) == set(_NUMBERS) and set(arrays) == set(_ARRAYS)
        require(known, "its adjustment is unclear")
        limits = Number(-LARGEST_NUMBER, LARGEST_NUMBER)
        require(all(limits.allows(entries[name]) for name in _NUMBERS), "its adjustment must be finite numbers")
        require(abs(entries["intercept"]) <= _LARGEST_LOG, f"its intercept must be at most {_LARGEST_LOG:g}")
        levels = LevelMap(*(finite_floats(arrays, name) for name in _ARRAYS))
        return cls(**{name: float(entries[name]) for name in _NUMBERS}, level_map=levels)


def linear_predictor(predicted: SurvivalDistribution, time: float) -> FloatArray:
    """``log(-log S(time))`` of each row (n,), within limits where survival is 0 or 1."""
    with np.errstate(divide="ignore"):
        return np.clip(np.log(np.asarray(predicted.cumulative_hazard(time), np.float64)), _LOWEST, _HIGHEST)


def fit_adjustment(rung: str, predicted: SurvivalDistribution, data: SurvivalData) -> Adjustment:
    """The change of a rung under which rows are most likely.

    Parameters
    ----------
    rung
        One of `RUNGS`; ``"none"``, and those that change the model itself, change nothing here. ``"levels"`` is a map
        of levels after the change of ``"slope"``, of exact and right-censored rows.
    predicted, data
        Predictions of a model that did not learn from these rows, and the rows.
    """
    if rung == "none" or rung in MODEL_RUNGS:
        return Adjustment()
    if rung == "intercept":
        return Adjustment(intercept=float(_most_likely(predicted, data, np.ones((len(data), 1)))[0]))
    time = _middle_event(data)
    scores = linear_predictor(predicted, time)
    center = float(np.average(scores, weights=data.weights))
    centered = scores - center
    if np.abs(centered[data.weights > 0]).max() < _SAME:
        # Rows that are predicted alike have no differences to stretch.
        changed = Adjustment(fit_adjustment("intercept", predicted, data).intercept, 1.0, time, center)
    else:
        a, b = _most_likely(predicted, data, np.column_stack([np.ones(len(data)), centered]))
        changed = Adjustment(float(a), 1 + float(b), time, center)
    if rung == "slope":
        return changed
    levels = level_map([(changed.apply(predicted), data)])
    return Adjustment(changed.intercept, changed.slope, time, center, levels)


def _middle_event(data: SurvivalData) -> float:
    """The median time of the events; of an event within bounds the middle of them."""
    happened = np.isfinite(data.upper) & (data.weights > 0)
    lower, upper = data.lower[happened], data.upper[happened]
    return float(np.median(np.where(np.isfinite(lower), (lower + upper) / 2, upper)))


def _most_likely(predicted: SurvivalDistribution, data: SurvivalData, design: FloatArray) -> FloatArray:
    """Coefficients of log factors, linear in the columns of `design`, that make rows most likely: Newton's steps."""
    rows = with_zero_as_early(data)
    smooth = isinstance(scaled_hazard(predicted, 1.0), ScaledHazard) and (rows.exact | rows.right_censored).all()
    terms = _poisson_terms(predicted, rows) if smooth else _difference_terms(predicted, data)
    weights, coefficients = data.weights, np.zeros(design.shape[1])
    here, slopes, bends = terms(design @ coefficients)
    for _ in range(_MOST_STEPS):
        information = design.T @ ((weights * bends)[:, None] * design)
        step = np.linalg.lstsq(information, design.T @ (weights * slopes), rcond=1e-12)[0]
        step *= min(1.0, 2.0 / max(float(np.abs(design @ step).max()), 1e-300))
        before = float(weights @ here)
        while np.abs(step).max() > _SMALL_STEP:
            here, slopes, bends = terms(np.clip(design @ (coefficients + step), -_LARGEST_LOG, _LARGEST_LOG))
            if weights @ here >= before:
                break
            step = step / 2
        coefficients = coefficients + step
        # The error after a step of Newton's is about the square of the step.
        if np.abs(step).max() <= _SMALL_STEP:
            break
    return np.clip(coefficients, -_LARGEST_LOG, _LARGEST_LOG)


def _poisson_terms(predicted: SurvivalDistribution, data: SurvivalData) -> Terms:
    """Of exact and right-censored rows with a density: Poisson regression, the log cumulative hazard as offset."""
    hazard = np.asarray(predicted.cumulative_hazard(data.lower[:, None]), np.float64)[:, 0]
    if data.entry is not None:
        entered = np.isfinite(data.entry)
        since = predicted.cumulative_hazard(np.where(entered, data.entry, 0.0)[:, None])[:, 0]
        hazard = np.where(entered, hazard - since, hazard)
    # Where survival is 0 it is so whatever the factor: such a row says nothing about it.
    usable = np.isfinite(hazard)
    events, hazard = (data.exact & usable).astype(np.float64), np.where(usable, hazard, 0.0)

    def terms(log_factors: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        expected = np.exp(log_factors) * hazard
        return events * log_factors - expected, events - expected, expected

    return terms


def _difference_terms(predicted: SurvivalDistribution, data: SurvivalData) -> Terms:
    """Of rows and curves of every kind: derivatives are differences, row by row."""

    def rows(log_factors: FloatArray) -> FloatArray:
        return log_likelihood_rows(scaled_hazard(predicted, np.exp(log_factors)), data)

    # A row that the model holds impossible is so whatever the factor: it says nothing about it.
    usable = np.isfinite(rows(np.zeros(len(data))))

    def terms(log_factors: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        below, here, above = (
            np.where(usable, np.maximum(rows(log_factors + distance), _LEAST_LIKELY), 0.0)
            for distance in (-_DISTANCE, 0.0, _DISTANCE)
        )
        # Rounding, and rows within bounds, can bend the wrong way.
        bends = np.maximum((2 * here - above - below) / _DISTANCE**2, 0.0)
        return here, (above - below) / (2 * _DISTANCE), bends

    return terms
