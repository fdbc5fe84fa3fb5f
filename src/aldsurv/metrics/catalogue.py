"""Metrics to be asked for by name: those of `evaluate` and those beside them that come down to one number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.metrics.calibration.distribution_calibration import d_calibration, km_calibration
from aldsurv.metrics.calibration.horizons import event_quantiles
from aldsurv.metrics.calibration.individual_calibration import average_calibration
from aldsurv.metrics.calibration.level_calibration import (
    censored_d_calibration,
    density_calibration,
    survival_calibration,
)
from aldsurv.metrics.calibration.prediction_intervals import interval_coverage
from aldsurv.metrics.calibration.time_calibration import integrated_calibration_index, one_calibration
from aldsurv.metrics.discrimination.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.discrimination.over_time import concordance_antolini, cumulative_dynamic_auc
from aldsurv.metrics.error.absolute_error import mean_absolute_error
from aldsurv.metrics.error.brier import brier_score, integrated_brier_score
from aldsurv.metrics.error.brier_skill import brier_skill_score
from aldsurv.metrics.error.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.error.log_likelihood import bounded_log_likelihood, log_likelihood
from aldsurv.metrics.error.ranked_probability import crps, survival_crps
from aldsurv.nonparametric.censoring_weights import Ties

__all__ = ["NAMED", "NamedMetric", "find_metric"]


@final
@dataclass(frozen=True)
class NamedMetric:
    """A function ``(predicted, data, **options)``, and which of the numbers it gives is meant.

    Parameters
    ----------
    function
        Gives a number or a tuple of numbers.
    part
        Place in the tuple; None: all that the function gives.
    takes_train
        Whether the function needs the training rows, has no use for them, gets them if there are any (None), or gets
        the data themselves where there are none (``"or_data"``).
    looks_at
        ``"time"`` or ``"times"`` if the function asks when to look. Unless it is told: at the median, or the
        quartiles, of the event times of the training rows, or without those of the data.
    bounds
        Least and largest possible value of a metric that moves to one side when rows are drawn again: a resample is
        further from any ideal than the rows are. The limits of a bootstrap are freed of this bias. None: it has none.
    """

    function: Callable[..., Any]
    part: int | None = None
    takes_train: bool | Literal["or_data"] | None = False
    looks_at: Literal["time", "times"] | None = None
    bounds: tuple[float, float] | None = None

    def options_with(self, train: Any, options: dict[str, Any], data: Any) -> dict[str, Any]:
        """The options of a call, with the training rows and the times where the function takes them."""
        if self.takes_train == "or_data" and train is None:
            train = data
        if self.takes_train and train is None:
            raise ParameterError(
                f"{self.function.__name__} estimates the censoring from the training rows, but train is None. "
                "Give them as train=, or train=data if there are no others."
            )
        if self.looks_at is not None and options.get(self.looks_at) is None:
            known = SurvivalData.of(data if train is None else train)
            when = event_quantiles(known, [0.25, 0.5, 0.75] if self.looks_at == "times" else [0.5])
            options = {**options, self.looks_at: when if self.looks_at == "times" else float(when[0])}
        return options if self.takes_train is False or train is None else {**options, "train": train}

    def __call__(self, predicted: Any, data: Any, **options: Any) -> Any:
        """The number, or all of them."""
        found = self.function(predicted, data, **options)
        return found if self.part is None else found[self.part]


def mean_brier_score(
    predicted: Any, data: SurvivalData, times: Any, *, train: SurvivalData, ties: Ties = "events_first"
) -> float:
    """Mean of `brier_score` over the times that have one."""
    score = brier_score(predicted, data, times, train=train, ties=ties)
    known = ~np.isnan(score)
    return float(score[known].mean()) if known.any() else float("nan")


_DISTANCE = (0.0, math.inf)
_P_VALUE = (0.0, 1.0)

NAMED = {
    "mae": NamedMetric(mean_absolute_error),
    "ibs": NamedMetric(integrated_brier_score, takes_train=True),
    "harrell_c": NamedMetric(concordance_harrell),
    "uno_c": NamedMetric(concordance_uno, takes_train=True),
    "cens_dcal": NamedMetric(censored_d_calibration, bounds=_DISTANCE),
    "cal_s_slope": NamedMetric(survival_calibration, part=0),
    "cal_s_intercept": NamedMetric(survival_calibration, part=1),
    "cal_f_slope": NamedMetric(density_calibration, part=0),
    "cal_f_intercept": NamedMetric(density_calibration, part=1),
    "log_likelihood": NamedMetric(log_likelihood),
    "bounded_log_likelihood": NamedMetric(bounded_log_likelihood, takes_train="or_data"),
    "antolini_c": NamedMetric(concordance_antolini),
    "brier_skill": NamedMetric(brier_skill_score, takes_train=True),
    "survival_crps": NamedMetric(survival_crps),
    "km_calibration": NamedMetric(km_calibration, bounds=_DISTANCE),
    "average_calibration": NamedMetric(average_calibration, bounds=_DISTANCE),
    "mae_margin": NamedMetric(mean_absolute_error_margin, takes_train=True),
    "mae_pseudo": NamedMetric(mean_absolute_error_pseudo, takes_train=True),
    "coverage": NamedMetric(interval_coverage, part=0),
    "crps": NamedMetric(crps),
    "d_calibration": NamedMetric(d_calibration, part=1, bounds=_P_VALUE),
    "auc": NamedMetric(cumulative_dynamic_auc, part=1, takes_train=True, looks_at="times"),
    "brier": NamedMetric(mean_brier_score, takes_train=True, looks_at="times"),
    "ici": NamedMetric(integrated_calibration_index, part=0, looks_at="time", bounds=_DISTANCE),
    "e50": NamedMetric(integrated_calibration_index, part=1, looks_at="time", bounds=_DISTANCE),
    "e90": NamedMetric(integrated_calibration_index, part=2, looks_at="time", bounds=_DISTANCE),
    "one_calibration": NamedMetric(one_calibration, part=1, looks_at="time", bounds=_P_VALUE),
}


def find_metric(metric: str | Callable[..., Any]) -> NamedMetric:
    """A metric by its name, or a function as one."""
    if isinstance(metric, str):
        if metric not in NAMED:
            raise UnknownNameError(f"unknown metric {metric!r}. Known: {', '.join(NAMED)}; or give a function.")
        return NAMED[metric]
    if not callable(metric):
        raise ParameterError(f"metric must be a name or a function, but is {type(metric).__name__}.")
    known = [one for one in NAMED.values() if one.function is metric]
    if not known:
        return NamedMetric(metric, takes_train=None)
    return NamedMetric(metric, takes_train=known[0].takes_train, bounds=known[0].bounds)
