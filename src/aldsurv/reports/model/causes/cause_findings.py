"""The evaluation of the predicted incidence of each cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, final

import numpy as np

from aldsurv import metrics
from aldsurv.metrics.calibration_summary import LimitedValue, calibration_summary
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.metrics.point_estimates import RankingPoint
from aldsurv.nonparametric import aalen_johansen
from aldsurv.plots.incidence_plots import mean_incidence
from aldsurv.registry import METRICS
from aldsurv.reports.model.evaluated_model import EvaluatedModel
from aldsurv.reports.model.quality.findings import RESAMPLES

__all__ = ["CauseFindings", "compute_cause_findings"]


@final
@dataclass(frozen=True, eq=False)
class CauseFindings:
    """The numbers of one cause.

    Attributes
    ----------
    cause, events
        Its name, and its events among the rows.
    scores
        Metrics of its incidence with 95 % limits; empty without events.
    skill
        Share of the integrated Brier score of Aalen-Johansen, which ignores all columns, that the model saves.
    horizon
        The time at which predicted and observed incidence are compared.
    predicted, observed, limits
        Mean predicted incidence by then, the Aalen-Johansen estimate, and its 95 % limits.
    """

    cause: str
    events: int
    scores: dict[str, LimitedValue]
    skill: float
    horizon: float
    predicted: float
    observed: float
    limits: tuple[float, float]


def compute_cause_findings(evaluated: EvaluatedModel, horizon: float) -> tuple[CauseFindings, ...]:
    """Evaluate the incidence of each cause; of a model or rows without causes there are none.

    Parameters
    ----------
    evaluated
        The model and the rows.
    skill
        Share of the integrated Brier score of Aalen-Johansen, which ignores all columns, that the model saves.
    horizon
        The time at which predicted and observed incidence are compared.
    """
    incidence, data = evaluated.incidence, evaluated.data
    if incidence is None:
        return ()
    estimate = aalen_johansen(data)
    expected = mean_incidence(incidence, data.weights, np.array([horizon]))[:, 0]
    observed = estimate.incidence_at(horizon)
    place = int(np.searchsorted(estimate.times, horizon, side="right")) - 1
    lower, upper = estimate.band(0.95)
    names = [name for name in DEFAULT_METRICS if METRICS[name].causes == "each"]
    results = []
    for number, cause in enumerate(incidence.causes):
        events = data.of_cause(cause).n_events
        scores: dict[str, LimitedValue] = {}
        skill = float("nan")
        if events:
            skill = float(metrics.brier_skill_score(incidence, data, train=evaluated.train, cause=cause))
            given = metrics.evaluate(
                incidence,
                data,
                train=evaluated.train,
                metrics=names,
                cause=cause,
                ranking_point=cast("RankingPoint", evaluated.model.ranking_point_),
                bootstrap=RESAMPLES,
                random_state=evaluated.seed,
            )
            scores = {name: LimitedValue.of(result) for name, result in given.items()}
            for time in (None, horizon) if horizon > 0 else (None,):
                scores |= calibration_summary(
                    incidence, data, time, cause=cause, samples=RESAMPLES, random_state=evaluated.seed
                )
        limits = (float(lower[number, place]), float(upper[number, place])) if place >= 0 else (0.0, 0.0)
        results.append(
            CauseFindings(
                cause, events, scores, skill, horizon, float(expected[number]), float(observed[number]), limits
            )
        )
    return tuple(results)
