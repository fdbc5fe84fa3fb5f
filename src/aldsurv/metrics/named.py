"""Metrics to be asked for by name: those of `evaluate`, and those beside them that need no more than the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.metrics.brier import integrated_brier_score
from aldsurv.metrics.calibration import censored_d_calibration, density_calibration, survival_calibration
from aldsurv.metrics.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from aldsurv.metrics.concordance import concordance_harrell, concordance_uno
from aldsurv.metrics.discrimination import concordance_antolini
from aldsurv.metrics.distribution_calibration import km_calibration
from aldsurv.metrics.error import mean_absolute_error
from aldsurv.metrics.intervals import interval_coverage
from aldsurv.metrics.likelihood import log_likelihood
from aldsurv.metrics.ranked_probability import survival_crps
from aldsurv.metrics.skill import brier_skill_score

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
        Whether the function needs the training rows, has no use for them, or (None) gets them if there are any.
    """

    function: Callable[..., Any]
    part: int | None = None
    takes_train: bool | None = False

    def options_with(self, train: Any, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a call, with the training rows where the function takes them."""
        if self.takes_train and train is None:
            raise ParameterError(
                f"{self.function.__name__} estimates the censoring from the training rows, but train is None. "
                "Give them as train=, or train=data if there are no others."
            )
        return options if self.takes_train is False or train is None else {**options, "train": train}

    def __call__(self, predicted: Any, data: Any, **options: Any) -> Any:
        """The number, or all of them."""
        found = self.function(predicted, data, **options)
        return found if self.part is None else found[self.part]


NAMED = {
    "mae": NamedMetric(mean_absolute_error),
    "ibs": NamedMetric(integrated_brier_score, takes_train=True),
    "harrell_c": NamedMetric(concordance_harrell),
    "uno_c": NamedMetric(concordance_uno, takes_train=True),
    "cens_dcal": NamedMetric(censored_d_calibration),
    "cal_s_slope": NamedMetric(survival_calibration, part=0),
    "cal_s_intercept": NamedMetric(survival_calibration, part=1),
    "cal_f_slope": NamedMetric(density_calibration, part=0),
    "cal_f_intercept": NamedMetric(density_calibration, part=1),
    "log_likelihood": NamedMetric(log_likelihood),
    "antolini_c": NamedMetric(concordance_antolini),
    "brier_skill": NamedMetric(brier_skill_score, takes_train=True),
    "survival_crps": NamedMetric(survival_crps),
    "km_calibration": NamedMetric(km_calibration),
    "mae_margin": NamedMetric(mean_absolute_error_margin, takes_train=True),
    "mae_pseudo": NamedMetric(mean_absolute_error_pseudo, takes_train=True),
    "coverage": NamedMetric(interval_coverage, part=0),
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
    return NamedMetric(metric, takes_train=known[0].takes_train if known else None)
