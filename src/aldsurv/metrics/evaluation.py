"""The metrics of one prediction side by side."""

from __future__ import annotations

import warnings
from typing import Any, overload

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.errors import MetricWarning, ParameterError, ResampleWarning
from aldsurv.metrics.calibration.event_levels import event_levels
from aldsurv.metrics.calibration.level_calibration import (
    censored_d_calibration,
    density_calibration,
    survival_calibration,
)
from aldsurv.metrics.catalogue import NAMED, NamedMetric
from aldsurv.metrics.discrimination.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.error.absolute_error import mean_absolute_error
from aldsurv.metrics.error.brier import integrated_brier_score
from aldsurv.metrics.error.log_likelihood import bounded_log_likelihood, log_likelihood, log_likelihood_rows
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.metrics.resampling.bootstrap import BootstrapResult, all_replicates, summary
from aldsurv.metrics.resampling.row_counts import ByCounts, by_counts
from aldsurv.metrics.row_matching import FloatArray, matched_data
from aldsurv.nonparametric.censoring_weights import Ties

__all__ = ["evaluate"]

_BINS = 10


@overload
def evaluate(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    point: Point = ...,
    truth: Any = ...,
    unit: float | None = ...,
    ties: Ties = ...,
    bootstrap: None = ...,
    confidence: float = ...,
    random_state: int | np.random.Generator | None = ...,
) -> dict[str, float]: ...


@overload
def evaluate(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    point: Point = ...,
    truth: Any = ...,
    unit: float | None = ...,
    ties: Ties = ...,
    bootstrap: int,
    confidence: float = ...,
    random_state: int | np.random.Generator | None = ...,
) -> dict[str, BootstrapResult]: ...


def evaluate(
    predicted: SurvivalDistribution,
    data: SurvivalData,
    *,
    train: SurvivalData,
    point: Point = "median",
    truth: Any = None,
    unit: float | None = None,
    ties: Ties = "events_first",
    bootstrap: int | None = None,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> dict[str, float] | dict[str, BootstrapResult]:
    """The nine metrics and the log-likelihood, by name.

    A prediction may hold a row impossible, as a curve that ends with the last event of training does with a later
    event: then ``log_likelihood`` is -inf, a warning says for how many rows, and ``bounded_log_likelihood`` is the
    number to compare by.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed: exact or right-censored, without delayed entry.
    train
        Rows that the censoring is estimated from, for ``ibs`` and ``uno_c``.
    point
        What stands for a distribution in ``mae``, ``harrell_c`` and ``uno_c``, as in `point_estimate`.
    truth, unit
        As in `mean_absolute_error`; a unit of None is that of the data.
    ties
        Of ``ibs``, as in `brier_score`.
    bootstrap
        Number of times to draw the rows again, for confidence limits of every metric from the same draws: those that
        `metrics.bootstrap` gives one by one. None: no limits.
    confidence
        Confidence of the limits.
    random_state
        Seed or generator of the draws.

    Returns
    -------
    dict
        ``mae ibs harrell_c uno_c cens_dcal cal_s_slope cal_s_intercept cal_f_slope cal_f_intercept
        log_likelihood bounded_log_likelihood``, each as the function of its own gives it; with `bootstrap` as a
        `BootstrapResult`.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 3, 5], [True, False, True, True])
    >>> found = evaluate(Exponential([1.0, 2.0, 3.0, 6.0]), data, train=data)
    >>> round(found["ibs"], 4), found["harrell_c"]
    (0.138, 1.0)
    """
    rows = matched_data(predicted, data)
    estimate = point_estimate(predicted, rows, point=point)
    error = {"truth": truth, "unit": 1.0 if unit is None else unit}
    if bootstrap is not None:
        _check_settings(bootstrap, confidence)
    found = _values(predicted, estimate, rows, train, error, ties)
    if found["log_likelihood"] == -np.inf:
        _warn_of_impossible_rows(predicted, rows)
    if bootstrap is None:
        return found
    forms = _forms(predicted, estimate, rows, train, error, ties)
    drawn = all_replicates(
        lambda counts: np.concatenate([form(counts) for form in forms], axis=1), len(rows), bootstrap, random_state
    )
    _warn_of_gaps(list(found), drawn)
    columns = (column[~np.isnan(column), None] for column in drawn.T)
    return {
        name: summary(found[name], column, confidence, bounds=NAMED[name].bounds)
        for name, column in zip(found, columns, strict=True)
    }


def _check_settings(bootstrap: int, confidence: float) -> None:
    if isinstance(bootstrap, bool) or not isinstance(bootstrap, (int, np.integer)) or bootstrap < 2:
        raise ParameterError(f"bootstrap must be None or an integer of 2 or more, but is {bootstrap!r}.")
    if not (isinstance(confidence, (int, float, np.number)) and 0 < confidence < 1):
        raise ParameterError(f"confidence must lie between 0 and 1, but is {confidence!r}.")


def _values(
    predicted: SurvivalDistribution,
    estimate: FloatArray,
    rows: SurvivalData,
    train: SurvivalData,
    error: Any,
    ties: Ties,
) -> dict[str, float]:
    found = {
        "mae": mean_absolute_error(estimate, rows, **error),
        "ibs": integrated_brier_score(predicted, rows, train=train, ties=ties),
        "harrell_c": concordance_harrell(estimate, rows),
        "uno_c": concordance_uno(estimate, rows, train=train),
    }
    levels = event_levels(predicted, rows)
    found["cens_dcal"] = levels.distance_from_uniform(_BINS)
    found["cal_s_slope"], found["cal_s_intercept"] = levels.survival_points(_BINS).line
    found["cal_f_slope"], found["cal_f_intercept"] = levels.density_points(_BINS).line
    found["log_likelihood"] = log_likelihood(predicted, rows)
    found["bounded_log_likelihood"] = bounded_log_likelihood(predicted, rows, train=train)
    return found


def _forms(
    predicted: SurvivalDistribution,
    estimate: FloatArray,
    rows: SurvivalData,
    train: SurvivalData,
    error: Any,
    ties: Ties,
) -> list[ByCounts]:
    """The same metrics in the same order as functions of how often the rows count; a line is two of them."""
    calls: list[tuple[Any, Any, dict[str, Any]]] = [
        (mean_absolute_error, estimate, error),
        (integrated_brier_score, predicted, {"train": train, "ties": ties}),
        (concordance_harrell, estimate, {}),
        (concordance_uno, estimate, {"train": train}),
        (censored_d_calibration, predicted, {"bins": _BINS}),
        (survival_calibration, predicted, {"bins": _BINS}),
        (density_calibration, predicted, {"bins": _BINS}),
        (log_likelihood, predicted, {}),
        (bounded_log_likelihood, predicted, {"train": train}),
    ]
    return [by_counts(NamedMetric(function), given, rows, options) for function, given, options in calls]


def _warn_of_impossible_rows(predicted: SurvivalDistribution, rows: SurvivalData) -> None:
    impossible = np.flatnonzero(np.isneginf(log_likelihood_rows(predicted, rows)) & (rows.weights > 0))
    first = int(impossible[0])
    warnings.warn(
        MetricWarning(
            "log_likelihood",
            f"is -inf: {impossible.size} of {len(rows)} rows have no probability under the prediction (first: row "
            f"{first}, {'event' if rows.event[first] else 'censored'} at {rows.time[first]:g}), as after the last "
            "step of a curve or between two steps. bounded_log_likelihood, with 1 % of an exponential distribution "
            "mixed in, is finite.",
            infinite=True,
        ),
        stacklevel=3,
    )


def _warn_of_gaps(names: list[str], drawn: FloatArray) -> None:
    for name, count in zip(names, np.isnan(drawn).sum(axis=0).tolist(), strict=True):
        if count:
            warnings.warn(ResampleWarning(name, count, len(drawn)), stacklevel=3)
