"""Predictions and rows of one of several causes: who has its event, and who never will."""

from __future__ import annotations

from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import listed
from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import PredictedDistribution, Prediction
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.kaplan_meier import KaplanMeier
from aldsurv.quoting import quoted

__all__ = [
    "Cause",
    "cause_of_rows",
    "censoring_of_causes",
    "event_of_interest",
    "matched_causes",
    "others_never",
]

Cause: TypeAlias = int | str | None
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]


@overload
def event_of_interest(
    predicted: PredictedDistribution, data: SurvivalData, cause: Cause
) -> tuple[SurvivalDistribution, BoolArray]: ...
@overload
def event_of_interest(predicted: ArrayLike, data: SurvivalData, cause: Cause) -> tuple[Prediction, BoolArray]: ...
def event_of_interest(predicted: Any, data: SurvivalData, cause: Cause) -> tuple[Any, BoolArray]:
    """The distribution of the time to the event of interest, and which rows (n,) had an event of another cause.

    With a cause that event may never come: the distribution is ``predicted.subdistribution(cause)``, and rows with an
    event of another cause never have it. Without, the prediction is given back, and no event is of another cause.

    Parameters
    ----------
    predicted
        A distribution, with causes if `cause` is given, or predicted times (n,).
    data
        The rows predicted, with causes if `cause` is given.
    cause
        Number or name; None: the event of any cause.
    """
    if cause is None:
        if isinstance(predicted, CompetingDistribution):
            raise ParameterError(
                f"predicted has the causes {listed(predicted.causes)}: say by cause= which of them to score",
                argument="cause",
                advice="evaluate_causes scores all; for the first event of any cause give predicted.overall().",
            )
        return predicted, np.zeros(len(data), np.bool_)
    number, seen = cause_of_rows(predicted, data, cause)
    other = data.exact & (seen != number)
    part = predicted.subdistribution(number) if isinstance(predicted, CompetingDistribution) else predicted
    return part, other


def cause_of_rows(predicted: Prediction, data: SurvivalData, cause: int | str) -> tuple[int, IntArray]:
    """Number of a cause, and the number of the cause of each row (n,), as the prediction counts them; 0: no event.

    Parameters
    ----------
    predicted
        A distribution with causes, or predicted times (n,): then causes are numbered as in the data.
    data
        The rows predicted; causes of data and prediction are matched by their names.
    cause
        Number or name.
    """
    if isinstance(predicted, SurvivalDistribution):
        raise ParameterError(
            f"cause={quoted(cause)} needs a prediction of each cause, but predicted is {type(predicted).__name__}, the "
            "time to one event",
            argument="predicted",
            advice="Give what predict_incidence predicts.",
        )
    if isinstance(predicted, CompetingDistribution):
        number = cause_number(cause, predicted.causes)
        return number, matched_causes(predicted, data)
    if data.cause is None or data.causes is None:
        raise ParameterError(
            f"cause={quoted(cause)} needs data with causes, but data have events of one kind only",
            argument="data",
            advice="Make them by SurvivalData.competing.",
        )
    return cause_number(cause, data.causes), data.cause


def matched_causes(predicted: CompetingDistribution, data: SurvivalData) -> IntArray:
    """Number of the cause of each row (n,) in the prediction, checked to have the same rows and every cause."""
    if len(data) != len(predicted):
        raise ParameterError(
            f"predicted and data must have the same rows, but predicted has {len(predicted)} and data {len(data)}.",
            argument="predicted",
        )
    return predicted.cause_numbers(data)


def others_never(data: SurvivalData, other: BoolArray) -> SurvivalData:
    """Time to the event of interest: rows with another event never have it, and are censored after all the others."""
    if not other.any():
        return data
    # At equal times a censored row outlives an event.
    lower = np.where(other, data.time.max(), data.time)
    upper = np.where(other, np.inf, data.upper)
    return SurvivalData.from_checked(lower, upper, data.entry, data.weight, group=data.group)


def censoring_of_causes(train: SurvivalData, cause: Cause) -> KaplanMeier:
    """G, the distribution of the censoring time, of training rows that have causes if one is scored.

    Without causes their censorings may be events of others.
    """
    rows = SurvivalData.of(train)
    if cause is not None and rows.causes is None:
        raise ParameterError(
            "train must have causes as data have: an event of another cause is not a censoring",
            argument="train",
            advice="Make it by SurvivalData.competing.",
        )
    return censoring_distribution(rows)
