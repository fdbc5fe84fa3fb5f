"""Measures of how much a model explains, one from the other: Cox and Snell's R², Nagelkerke's, Royston's D and C."""

from __future__ import annotations

import math

from aldsurv.checks import Number, WholeNumber, check
from aldsurv.errors import ParameterError

__all__ = ["adjusted_cox_snell", "c_from_d", "cox_snell_from_d", "d_from_c", "largest_cox_snell", "spread_from_d"]

_VARIANCE = math.pi**2 / 6


def largest_cox_snell(events_per_person: float) -> float:
    """The largest possible R² of Cox and Snell, that of a model that predicts every time exactly.

    ``1 - exp(2·(e·ln e - e))`` for e events per person: from the likelihood of an exponential distribution without
    covariates, in which time is counted in mean follow-ups so that its unit does not matter.

    Parameters
    ----------
    events_per_person
        Rate of the events times the mean follow-up.

    Examples
    --------
    >>> round(largest_cox_snell(0.065 * 2.07), 3)
    0.555
    """
    check("events_per_person", events_per_person, Number(0, above=True))
    return -math.expm1(2 * (events_per_person * math.log(events_per_person) - events_per_person))


def d_from_c(c_index: float) -> float:
    """Royston and Sauerbrei's D from the concordance C: ``5.50(C - ½) + 10.26(C - ½)³`` (Jinks et al. 2015).

    Examples
    --------
    >>> round(d_from_c(0.69), 3)
    1.115
    """
    check("c_index", c_index, Number(0.5, 1, above=True, below=True))
    above = c_index - 0.5
    return 5.50 * above + 10.26 * above**3


def c_from_d(d_statistic: float) -> float:
    """The concordance that has this D by `d_from_c`.

    Examples
    --------
    >>> round(c_from_d(1.115), 3)
    0.69
    """
    largest = d_from_c(math.nextafter(1.0, 0.0))
    check("d_statistic", d_statistic, Number(0, largest, above=True, below=True))
    low, high = 0.5, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if d_from_c(middle) < d_statistic else (low, middle)
    return high


def spread_from_d(d_statistic: float) -> float:
    """Standard deviation of a normal linear predictor with this D: ``D/√(8/π)``."""
    check("d_statistic", d_statistic, Number(0, above=True))
    return d_statistic / math.sqrt(8 / math.pi)


def cox_snell_from_d(d_statistic: float, events_per_person: float) -> float:
    """R² of Cox and Snell from D, by way of O'Quigley's R² of the events (Riley et al. 2019).

    Parameters
    ----------
    d_statistic
        Royston and Sauerbrei's D, or what `d_from_c` makes of a concordance.
    events_per_person
        Share of the people who had the event in the study that D is from.

    Examples
    --------
    >>> round(cox_snell_from_d(d_from_c(0.69), 0.1345), 3)
    0.052
    """
    check("events_per_person", events_per_person, Number(0, above=True))
    explained = spread_from_d(d_statistic) ** 2
    of_d = explained / (_VARIANCE + explained)
    of_events = _VARIANCE * of_d / (1 - (1 - _VARIANCE) * of_d)
    return -math.expm1(events_per_person * math.log1p(-of_events))


def adjusted_cox_snell(apparent: float, parameters: int, rows: int) -> float:
    """R² less its optimism: times van Houwelingen and le Cessie's shrinkage ``1 + p/(n·ln(1 - R²))``.

    Parameters
    ----------
    apparent
        R² of Cox and Snell on the rows that the model was fitted to.
    parameters, rows
        How many parameters were considered, and how many people there were.
    """
    check("apparent", apparent, Number(0, 1, above=True, below=True))
    check("parameters", parameters, WholeNumber(1))
    check("rows", rows, WholeNumber(1))
    adjusted = apparent * (1 + parameters / (rows * math.log1p(-apparent)))
    if adjusted <= 0:
        raise ParameterError(
            f"an R² of {apparent:g} from {rows} people and {parameters} parameters is no more than chance gives",
            argument="apparent",
            advice="Take an R² from another study.",
        )
    return adjusted
