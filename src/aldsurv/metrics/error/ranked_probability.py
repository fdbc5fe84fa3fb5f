"""The continuous ranked probability score, of events and of censored rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.errors import ParameterError
from aldsurv.metrics.checked_arguments import as_numbers, matched_data, number_column, undefined, without_delayed_entry

__all__ = ["crps", "survival_crps"]


def crps(predicted: SurvivalDistribution, data: SurvivalData, *, truth: ArrayLike | None = None) -> float:
    """Weighted mean of ``∫ (F(t|x) - 1(t ≥ y))² dt``, in the unit of time; lower is better.

    A proper score: on average no prediction beats the true distribution, if every row counts. An event at 0 is one at
    or before the smallest time above 0, as in training: it is judged from there on.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed.
    truth
        True times (n,), such as simulated ones before they were censored. None: the observed times of the
        uncensored rows, which are earlier than those of all rows: with censoring the score then favours
        predictions that are too early.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 5], [True, False, True])
    >>> round(crps(Exponential([2.0, 7.0, 3.0]), data), 4)
    1.0297
    """
    rows = matched_data(predicted, data)
    counted, kind = rows.weights > 0, "row"
    if truth is None:
        without_delayed_entry(rows, "crps without truth")
        truth, counted, kind = rows.time, counted & rows.event, "uncensored row"
        early = with_zero_as_early(rows)
        low, high = np.where(rows.event, early.lower, 0.0), np.where(rows.event, early.upper, 0.0)
    else:
        low = high = number_column(truth, "truth", len(rows))
    target = number_column(truth, "truth", len(rows))
    if not np.isfinite(target).all():
        raise ParameterError(
            "truth must be finite, but some of it is infinite.", argument="truth", advice="Leave those rows out."
        )
    if not counted.any():
        return undefined("crps", f"no {kind} has a positive weight")
    score = as_numbers(predicted[counted].crps(low[counted][:, None], high[counted][:, None]))[:, 0]
    return float(rows.weights[counted] @ score / rows.weights[counted].sum())


def survival_crps(predicted: SurvivalDistribution, data: SurvivalData) -> float:
    """Survival-CRPS of Avati et al. (2019): the CRPS as far as each row can be judged; lower is better.

    Weighted mean of ``∫ F² dt`` up to where the row was last seen event-free plus ``∫ S² dt`` from where the event
    is known to have come: for an event at y both meet at y, for a row right-censored at y there is no
    second part. With censoring the score is not proper: events are judged also at times beyond which a row would
    have been censored, and there only for having come early, so that a prediction that ends too soon can beat
    the true one. To rank models use `log_likelihood`, or `integrated_brier_score`.

    Parameters
    ----------
    predicted
        Distribution of each row.
    data
        The same rows as observed, censored in any way.

    Examples
    --------
    >>> from aldsurv.distributions import Exponential
    >>> data = SurvivalData.right([1, 2, 5], [True, False, True])
    >>> round(survival_crps(Exponential([2.0, 7.0, 3.0]), data), 4)
    0.7012
    """
    rows = without_delayed_entry(matched_data(predicted, data), "survival_crps")
    counted = rows.weights > 0
    if not counted.any():
        return undefined("survival_crps", "no row has a positive weight")
    rows = with_zero_as_early(rows)[counted]
    score = as_numbers(predicted[counted].crps(rows.lower[:, None], rows.upper[:, None]))[:, 0]
    return float(rows.weights @ score / rows.total_weight)
