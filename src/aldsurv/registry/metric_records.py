"""The metrics: one record each, read by evaluation, scorers, command line, reports, benchmark and docs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from aldsurv.registry.records import Record, Registry

__all__ = ["METRICS", "Direction", "MetricRecord", "TrainingRows"]

Direction: TypeAlias = Literal["lower", "higher", "nearest"]
TrainingRows: TypeAlias = Literal["unused", "required", "or_data"]

_DISTANCE = (0.0, math.inf)
_P_VALUE = (0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class MetricRecord(Record):
    """A metric: a function ``(predicted, data, **options)`` that gives a number or a tuple of numbers.

    Parameters
    ----------
    short_title
        Title where there is little room; empty: the title.
    hint
        How to read its size, beside the number.
    ideal
        Value of a perfect prediction; None: there is none, as of a likelihood.
    direction
        Whether lower or higher values are better, or those nearest to the ideal.
    part
        Which of the numbers of the function is meant; None: it gives one number.
    train
        Whether the function needs the training rows, or gets the data themselves where there are none (``"or_data"``).
    time_argument
        ``"time"`` or ``"times"`` if the function must be given when to look. By default that is the median, or the
        quartiles, of the event times of the training rows, or without those of the data.
    uses_point
        Whether one predicted time per row is enough, so that ``predicted`` may be an array of times.
    ranks_rows
        Whether only the order of these times counts: then ``"follow_up"`` is one of the points.
    uses_truth
        Whether it has an option ``truth``, the true times of simulated rows; a scorer does not take it.
    any_censoring
        Whether it is defined for left- and interval-censored rows and delayed entry, too.
    bounds
        Least and largest possible value of a metric that moves to one side when rows are drawn again: a resample is
        further from any ideal than the rows are. The limits of a bootstrap are freed of this bias. None: it has none.
    scorer
        Name as a scorer, of which greater is better; empty: the name, with ``neg_`` before it if lower is better.
    fixed_option
        An option that the scorer does not take, for its name says the value.
    """

    hint: str
    ideal: float | None
    direction: Direction
    short_title: str = ""
    part: int | None = None
    train: TrainingRows = "unused"
    time_argument: Literal["time", "times"] | None = None
    uses_point: bool = False
    ranks_rows: bool = False
    uses_truth: bool = False
    any_censoring: bool = False
    bounds: tuple[float, float] | None = None
    scorer: str = ""
    fixed_option: str = ""

    def __post_init__(self) -> None:
        if not self.short_title:
            object.__setattr__(self, "short_title", self.title)
        if not self.scorer:
            object.__setattr__(self, "scorer", f"neg_{self.name}" if self.direction == "lower" else self.name)

    @property
    def function_name(self) -> str:
        """Name of the function, without importing it."""
        return self.location.split(":")[1]

    def score(self, value: float) -> float:
        """A value turned so that greater is better: itself, its negative, or minus its distance from the ideal.

        Examples
        --------
        >>> METRICS["ibs"].score(0.1), METRICS["harrell_c"].score(0.7), METRICS["cal_s_slope"].score(1.5)
        (-0.1, 0.7, -0.5)
        """
        if self.ideal is not None and self.direction == "nearest":
            return -abs(self.ideal - value)
        return -value if self.direction == "lower" else value


METRICS = Registry(
    "metric",
    MetricRecord(
        "harrell_c",
        "aldsurv.metrics.discrimination.concordance:concordance_harrell",
        "Harrell's C",
        "share of comparable pairs in the right order",
        hint="0.5 chance, 1 perfect",
        ideal=1.0,
        direction="higher",
        train="or_data",
        uses_point=True,
        ranks_rows=True,
    ),
    MetricRecord(
        "uno_c",
        "aldsurv.metrics.discrimination.concordance:concordance_uno",
        "Uno's C",
        "share of comparable pairs in the right order, corrected for early censoring",
        hint="0.5 chance, 1 perfect",
        ideal=1.0,
        direction="higher",
        train="required",
        uses_point=True,
        ranks_rows=True,
    ),
    MetricRecord(
        "ibs",
        "aldsurv.metrics.error.brier:integrated_brier_score",
        "integrated Brier score",
        "mean squared error of the predicted probabilities over time",
        short_title="IBS",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
        train="required",
    ),
    MetricRecord(
        "mae",
        "aldsurv.metrics.error.absolute_error:mean_absolute_error",
        "mean absolute error",
        "mean distance of the predicted time from the time of the event, over the uncensored rows",
        short_title="MAE",
        hint="of the events; 0 perfect",
        ideal=0.0,
        direction="lower",
        uses_point=True,
        uses_truth=True,
    ),
    MetricRecord(
        "log_likelihood",
        "aldsurv.metrics.error.log_likelihood:log_likelihood",
        "log-likelihood per row",
        "mean logarithm of the predicted density of events and survival probability of censored rows",
        short_title="log-likelihood",
        hint="higher is better",
        ideal=None,
        direction="higher",
        any_censoring=True,
    ),
    MetricRecord(
        "bounded_log_likelihood",
        "aldsurv.metrics.error.log_likelihood:bounded_log_likelihood",
        "bounded log-likelihood",
        "log-likelihood with 1 % of an exponential distribution mixed in, so that no event is impossible",
        hint="higher is better",
        ideal=None,
        direction="higher",
        train="or_data",
        any_censoring=True,
    ),
    MetricRecord(
        "cens_dcal",
        "aldsurv.metrics.calibration.level_calibration:censored_d_calibration",
        "CensDcal",
        "distance of the shares of events in ten bins of predicted probability from a tenth each",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        any_censoring=True,
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "d_calibration",
        "aldsurv.metrics.calibration.distribution_calibration:d_calibration",
        "D-calibration p-value",
        "chi-square test that events fall evenly into bins of predicted probability",
        hint="small: not calibrated",
        ideal=None,
        direction="higher",
        part=1,
        any_censoring=True,
        bounds=_P_VALUE,
    ),
    MetricRecord(
        "cal_s_slope",
        "aldsurv.metrics.calibration.level_calibration:survival_calibration",
        "Cal[S] slope",
        "slope of expected against observed shares of events",
        hint="1 ideal",
        ideal=1.0,
        direction="nearest",
        part=0,
        any_censoring=True,
    ),
    MetricRecord(
        "cal_s_intercept",
        "aldsurv.metrics.calibration.level_calibration:survival_calibration",
        "Cal[S] intercept",
        "intercept of expected against observed shares of events",
        hint="0 ideal",
        ideal=0.0,
        direction="nearest",
        part=1,
        any_censoring=True,
    ),
    MetricRecord(
        "cal_f_slope",
        "aldsurv.metrics.calibration.level_calibration:density_calibration",
        "Cal[f] slope",
        "slope of expected against observed shares of events in central intervals",
        hint="1 ideal",
        ideal=1.0,
        direction="nearest",
        part=0,
        any_censoring=True,
    ),
    MetricRecord(
        "cal_f_intercept",
        "aldsurv.metrics.calibration.level_calibration:density_calibration",
        "Cal[f] intercept",
        "intercept of expected against observed shares of events in central intervals",
        hint="0 ideal",
        ideal=0.0,
        direction="nearest",
        part=1,
        any_censoring=True,
    ),
    MetricRecord(
        "auc",
        "aldsurv.metrics.discrimination.time_dependent:cumulative_dynamic_auc",
        "AUC",
        "how often a subject with the event by a time had the higher predicted risk than one without; mean over times",
        hint="0.5 chance, 1 perfect",
        ideal=1.0,
        direction="higher",
        part=1,
        train="required",
        time_argument="times",
    ),
    MetricRecord(
        "brier",
        "aldsurv.metrics.error.brier:mean_brier_score",
        "Brier score",
        "mean squared error of the predicted probabilities at given times",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
        train="required",
        time_argument="times",
    ),
    MetricRecord(
        "ici",
        "aldsurv.metrics.calibration.time_calibration:integrated_calibration_index",
        "ICI",
        "integrated calibration index: mean distance of predicted from observed probability at a time",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        part=0,
        time_argument="time",
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "e50",
        "aldsurv.metrics.calibration.time_calibration:integrated_calibration_index",
        "E50",
        "median distance of predicted from observed probability at a time",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        part=1,
        time_argument="time",
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "e90",
        "aldsurv.metrics.calibration.time_calibration:integrated_calibration_index",
        "E90",
        "90 % quantile of the distance of predicted from observed probability at a time",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        part=2,
        time_argument="time",
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "one_calibration",
        "aldsurv.metrics.calibration.time_calibration:one_calibration",
        "1-calibration p-value",
        "Hosmer-Lemeshow test of the predicted probabilities at a time",
        hint="small: not calibrated",
        ideal=None,
        direction="higher",
        part=1,
        time_argument="time",
        bounds=_P_VALUE,
    ),
    MetricRecord(
        "antolini_c",
        "aldsurv.metrics.discrimination.time_dependent:concordance_antolini",
        "Antolini's C",
        "share of pairs in which the subject with the event had the lower predicted survival at that time",
        hint="0.5 chance, 1 perfect",
        ideal=1.0,
        direction="higher",
    ),
    MetricRecord(
        "brier_skill",
        "aldsurv.metrics.error.brier_skill:brier_skill_score",
        "Brier skill score",
        "share of the integrated Brier score of Kaplan-Meier that the prediction saves",
        hint="0 as Kaplan-Meier, 1 perfect",
        ideal=1.0,
        direction="higher",
        train="required",
    ),
    MetricRecord(
        "km_calibration",
        "aldsurv.metrics.calibration.distribution_calibration:km_calibration",
        "distance from Kaplan-Meier",
        "mean squared distance over time of the mean predicted survival from Kaplan-Meier",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "average_calibration",
        "aldsurv.metrics.calibration.individual_calibration:average_calibration",
        "average calibration",
        "mean distance of the predicted probabilities of the observed times from uniform ones",
        hint="0 ideal",
        ideal=0.0,
        direction="lower",
        bounds=_DISTANCE,
    ),
    MetricRecord(
        "coverage",
        "aldsurv.metrics.calibration.prediction_intervals:interval_coverage",
        "coverage of 80 % intervals",
        "share of events within their central prediction interval",
        hint="0.8 ideal",
        ideal=0.8,
        direction="nearest",
        part=0,
        any_censoring=True,
        scorer="coverage_80",
        fixed_option="level",
    ),
    MetricRecord(
        "mae_margin",
        "aldsurv.metrics.error.censored_error:mean_absolute_error_margin",
        "mean absolute error, margin",
        "mean distance of predicted from event times; of censored rows from the mean time beyond their censoring",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
        train="required",
        uses_point=True,
    ),
    MetricRecord(
        "mae_pseudo",
        "aldsurv.metrics.error.censored_error:mean_absolute_error_pseudo",
        "mean absolute error, pseudo-observations",
        "mean distance of predicted from event times; of censored rows from their pseudo-observation of the mean",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
        train="required",
        uses_point=True,
    ),
    MetricRecord(
        "crps",
        "aldsurv.metrics.error.ranked_probability:crps",
        "CRPS",
        "continuous ranked probability score of the uncensored rows",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
        uses_truth=True,
    ),
    MetricRecord(
        "survival_crps",
        "aldsurv.metrics.error.ranked_probability:survival_crps",
        "survival CRPS",
        "continuous ranked probability score, of censored rows up to their censoring",
        hint="0 perfect",
        ideal=0.0,
        direction="lower",
    ),
)
