"""Predictions and rows of one of several causes: who has its event, and who never will."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import listed
from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.errors import DataError, ParameterError
from aldsurv.metrics.checked_arguments import PredictedDistribution, Prediction
from aldsurv.nonparametric.censoring_weights import censoring_distribution
from aldsurv.nonparametric.kaplan_meier import KaplanMeier
from aldsurv.quoting import quoted

__all__ = [
    "Cause",
    "censoring_of_causes",
    "event_of_interest",
    "matched_causes",
    "name_of_cause",
    "others_never",
]

Cause = int | str | None
BoolArray = NDArray[np.bool_]


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
                advice="For the first event of any cause give predicted.overall().",
            )
        return predicted, np.zeros(len(data), np.bool_)
    name = name_of_cause(predicted, data, cause)
    other = data.exact & np.not_equal(data.cause, _causes_of(data).index(name) + 1)
    if isinstance(predicted, CompetingDistribution):
        return predicted.subdistribution(name), other
    return predicted, other


def name_of_cause(predicted: Prediction, data: SurvivalData, cause: int | str) -> str:
    """The name of a cause of the prediction, checked to be one of the data, and every cause seen to be predicted."""
    names = _causes_of(data)
    if isinstance(predicted, SurvivalDistribution):
        raise ParameterError(
            f"cause={quoted(cause)} needs a prediction of each cause, but predicted is {type(predicted).__name__}, the "
            "time to one event",
            argument="predicted",
            advice="Give what predict_incidence predicts.",
        )
    if not isinstance(predicted, CompetingDistribution):
        return names[cause_number(cause, names) - 1]
    matched_causes(predicted, data)
    name = predicted.causes[cause_number(cause, predicted.causes) - 1]
    if name not in names:
        raise DataError(
            f"cause {quoted(name)} of the prediction is not one of the data, which have {listed(names)}",
            argument="data",
            advice="Give SurvivalData.competing the same names=.",
        )
    return name


def matched_causes(predicted: CompetingDistribution, data: SurvivalData) -> SurvivalData:
    """The data, checked to have a row for each row of the prediction, and no event of a cause that it does not have."""
    if len(data) != len(predicted):
        raise ParameterError(
            f"predicted and data must have the same rows, but predicted has {len(predicted)} and data {len(data)}.",
            argument="predicted",
        )
    names = _causes_of(data)
    for k, name in enumerate(names, start=1):
        rows = np.flatnonzero(np.equal(data.cause, k))
        if rows.size and name not in predicted.causes:
            raise DataError(
                f"{rows.size} of {len(data)} rows have an event of cause {quoted(name)}, which is not one of the "
                f"prediction: {listed(predicted.causes)}",
                argument="data",
                row=int(rows[0]),
                advice="Fit with rows of every cause, and name the causes alike.",
            )
    return data


def others_never(data: SurvivalData, other: BoolArray) -> SurvivalData:
    """Time to the event of interest: rows with another event never have it, and are censored after all the others."""
    if not other.any():
        return data
    # At equal times a censored row outlives an event.
    lower = np.where(other, data.time.max(), data.time)
    upper = np.where(other, np.inf, data.upper)
    return SurvivalData.from_checked(lower, upper, data.entry, data.weight, group=data.group)


def censoring_of_causes(train: SurvivalData, cause: Cause) -> KaplanMeier:
    """G, the distribution of the censoring time, of training rows that have causes if one is scored."""
    rows = SurvivalData.of(train)
    if cause is not None and rows.causes is None:
        raise ParameterError(
            "train must have causes as data have: an event of another cause is not a censoring",
            argument="train",
            advice="Make it by SurvivalData.competing.",
        )
    return censoring_distribution(rows)


def _causes_of(data: SurvivalData) -> tuple[str, ...]:
    if data.causes is None:
        raise ParameterError(
            "cause= needs data with causes, but data have events of one kind only",
            argument="data",
            advice="Make them by SurvivalData.competing.",
        )
    return data.causes
