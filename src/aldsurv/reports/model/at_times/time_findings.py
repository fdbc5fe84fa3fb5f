"""The evaluation of predicted probabilities at chosen times, of the first event and of each cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CompetingDistribution, CumulativeIncidence, Step, SurvivalDistribution
from aldsurv.metrics.calibration_summary import LimitedValue, calibration_summary
from aldsurv.metrics.cause_of_interest import event_of_interest
from aldsurv.metrics.checked_arguments import FloatArray, as_numbers
from aldsurv.nonparametric import aalen_johansen, kaplan_meier
from aldsurv.plots.drawing.appearance import plain_label
from aldsurv.plots.drawing.axes_text import collected_warnings
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import RESAMPLES
from aldsurv.reports.page.number_format import time_with_unit

__all__ = ["TimeFindings", "compute_time_findings", "event_label", "event_name", "prediction_of"]


@final
@dataclass(frozen=True, eq=False)
class TimeFindings:
    """The numbers of one event at one time.

    Attributes
    ----------
    time, cause
        When, and which cause; None: the first event of any.
    events, beyond
        Events of it by then, and rows observed beyond.
    calibration
        Calibration slope, observed/expected and calibration in the large with 95 % limits, by the names of metrics.
    index
        ICI, E50 and E90.
    auc, c
        Area under the ROC curve, and Uno's C of the events before the time, with 95 % limits.
    brier, brier_reference
        Brier score, and that of the curve of the training rows without covariates.
    decision
        Net benefit over thresholds.
    """

    time: float
    cause: str | None
    events: int
    beyond: int
    calibration: dict[str, LimitedValue]
    index: metrics.CalibrationIndex
    auc: LimitedValue
    c: LimitedValue
    brier: float
    brier_reference: float
    decision: metrics.DecisionCurve

    @property
    def scaled_brier(self) -> float:
        """Share of the Brier score without covariates that the model saves."""
        return 1 - self.brier / self.brier_reference if self.brier_reference > 0 else float("nan")


def event_name(cause: str | None) -> str:
    """The event in a sentence."""
    return "the event" if cause is None else cause


def event_label(evaluated: EvaluatedModel, findings: TimeFindings) -> str:
    """The event and its time as they are written at an axis."""
    event = "an event" if findings.cause is None else plain_label(findings.cause)
    return f"{event} by {time_with_unit(findings.time, evaluated.unit_label)}"


def prediction_of(evaluated: EvaluatedModel, cause: str | None) -> SurvivalDistribution | CompetingDistribution:
    """Predictions that a metric of this event takes."""
    return evaluated.predicted if cause is None or evaluated.incidence is None else evaluated.incidence


def compute_time_findings(evaluated: EvaluatedModel, times: Sequence[float]) -> tuple[TimeFindings, ...]:
    """Evaluate the predictions at each time: of the first event and, with causes, of each of them that came."""
    causes: list[str | None] = [None]
    if evaluated.incidence is not None:
        causes += [cause for cause in evaluated.incidence.causes if evaluated.data.of_cause(cause).n_events]
    # Measures without a value are dashes on the page, with their reason.
    with collected_warnings():
        return tuple(_at_time(evaluated, time, cause) for cause in causes for time in times)


def _at_time(evaluated: EvaluatedModel, time: float, cause: str | None) -> TimeFindings:
    data, train, predicted = evaluated.data, evaluated.train, prediction_of(evaluated, cause)
    event = data.event if cause is None else data.of_cause(cause).event
    brier, reference = (
        float(metrics.brier_score(each, data, [time], train=train, cause=cause)[0])
        for each in (predicted, _without_covariates(evaluated, time, cause))
    )
    # Ranks are those of the probability at the time, of which curves that cross have different ones.
    ranking = as_numbers(event_of_interest(predicted, data, cause)[0].log_survival(time)).reshape(-1)

    def auc(ranks: FloatArray, rows: SurvivalData) -> float:
        return float(metrics.cumulative_dynamic_auc(ranks, rows, [time], train=train, cause=cause).auc[0])

    resampled = {"samples": RESAMPLES, "random_state": evaluated.seed}
    return TimeFindings(
        time,
        cause,
        int(np.count_nonzero(event & (data.time <= time))),
        int(np.count_nonzero(data.time > time)),
        calibration_summary(predicted, data, time, cause=cause, samples=RESAMPLES, random_state=evaluated.seed),
        metrics.integrated_calibration_index(predicted, data, time, cause=cause),
        _limited(metrics.bootstrap(auc, ranking, data, **resampled)),  # type: ignore[arg-type]
        _limited(metrics.bootstrap("uno_c", ranking, data, train=train, tau=time, cause=cause, **resampled)),  # type: ignore[arg-type]
        brier,
        reference,
        metrics.decision_curve(predicted, data, time, cause=cause),
    )


def _limited(result: metrics.BootstrapResult) -> LimitedValue:
    value = LimitedValue.of(result)
    if np.isnan(value.value):
        return value._replace(reason="no two rows can be compared by then")
    return value


def _without_covariates(
    evaluated: EvaluatedModel, time: float, cause: str | None
) -> SurvivalDistribution | CompetingDistribution:
    """The same probability for every row: Kaplan-Meier's or Aalen-Johansen's of the training rows."""
    train, n = evaluated.train, len(evaluated.data)
    if cause is None or evaluated.incidence is None:
        return Step([time], np.full((n, 1), float(kaplan_meier(train).survival_at(time))))
    causes, curves = evaluated.incidence.causes, aalen_johansen(train)
    share = np.array([float(curves.incidence_at(time, name)) if name in curves.causes else 0.0 for name in causes])
    return CumulativeIncidence([time], np.broadcast_to(share[:, None, None], (len(causes), n, 1)), causes)
