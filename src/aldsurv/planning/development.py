"""People needed to develop a model of times to an event, by the criteria of Riley et al. (2019, 2020)."""

from __future__ import annotations

import math

from aldsurv.checks import Number, WholeNumber, check_all
from aldsurv.errors import ParameterError
from aldsurv.planning.cox_snell import cox_snell_from_d, d_from_c, largest_cox_snell
from aldsurv.planning.sample_size import NORMAL_QUANTILE, Criterion, SampleSize, whole_rows

__all__ = ["development_sample_size"]

_CONSTRAINTS = {
    "parameters": WholeNumber(1),
    "rate": Number(0, above=True),
    "follow_up": Number(0, above=True),
    "horizon": Number(0, above=True),
    "shrinkage": Number(0, 1, above=True, below=True),
    "optimism": Number(0, 1, above=True, below=True),
    "margin": Number(0, 1, above=True, below=True),
}
_SHARE = Number(1e-6, 1, below=True)
_MEASURES = {"cox_snell": _SHARE, "nagelkerke": _SHARE, "c_index": Number(0.5, 1, above=True, below=True)}
_MEASURES |= {"d_statistic": Number(0, above=True)}


def development_sample_size(
    parameters: int,
    *,
    rate: float,
    follow_up: float,
    horizon: float,
    cox_snell: float | None = None,
    nagelkerke: float | None = None,
    c_index: float | None = None,
    d_statistic: float | None = None,
    shrinkage: float = 0.9,
    optimism: float = 0.05,
    margin: float = 0.05,
) -> SampleSize:
    """The smallest number of people to develop a model with, by three criteria.

    1. ``shrinkage``: coefficients are too large by so little that they must be shrunk by 10 % at most:
       ``n = p/((S - 1)·ln(1 - R²/S))``.
    2. ``optimism``: Nagelkerke's R² looks better by 0.05 at most than it is: the same with the shrinkage
       ``S = R²/(R² + 0.05·max R²)``.
    3. ``overall risk``: the probability of the event by the horizon, from an exponential distribution without
       covariates, has 95 % limits within 0.05 of it.

    Parameters
    ----------
    parameters
        Candidate parameters, all that are tried: of a category with k levels k - 1, of a spline one per term.
    rate
        Events per person and unit of time.
    follow_up
        Mean time under observation, until the event or censoring.
    horizon
        Time for which risks are predicted.
    cox_snell, nagelkerke, c_index, d_statistic
        How well the model is expected to predict new people: one of R² of Cox and Snell, that of Nagelkerke, the
        concordance (turned into D as Jinks et al. 2015 do) or Royston and Sauerbrei's D. Take it from a model of the
        field, less its optimism; 0.15 of Nagelkerke's R² is usual where nothing is known.
    shrinkage, optimism, margin
        What the criteria require.

    Examples
    --------
    >>> size = development_sample_size(30, rate=0.065, follow_up=2.07, horizon=2, cox_snell=0.051)
    >>> size.rows, size.deciding.name
    (5143, 'shrinkage')
    >>> [(criterion.name, criterion.rows) for criterion in size.criteria]
    [('shrinkage', 5143), ('optimism', 1039), ('overall risk', 158)]
    """
    given = {"parameters": parameters, "rate": rate, "follow_up": follow_up, "horizon": horizon}
    check_all({**given, "shrinkage": shrinkage, "optimism": optimism, "margin": margin}, _CONSTRAINTS)
    measures = {"cox_snell": cox_snell, "nagelkerke": nagelkerke, "c_index": c_index, "d_statistic": d_statistic}
    events_per_person = rate * follow_up
    if events_per_person > 1:
        raise ParameterError(
            f"rate times follow_up is the number of events per person, at most 1, but is {events_per_person:.4g}",
            argument="rate",
            advice="Give both in the same unit of time, and the follow-up until event or censoring.",
        )
    largest = largest_cox_snell(_rounded_events(rate, follow_up))
    explained = _explained(measures, events_per_person, largest)
    if explained >= shrinkage:
        raise ParameterError(
            f"shrinkage must be above the R² of Cox and Snell, {explained:.4g}, but is {shrinkage:g}",
            argument="shrinkage",
            advice="Check R²: it is far above what models of times to an event reach.",
        )
    second = explained / (explained + optimism * largest)
    if explained >= second:
        raise ParameterError(
            f"optimism must be below {(1 - explained) / largest:.3g} with this R², but is {optimism:g}.",
            argument="optimism",
        )
    rows = (
        _rows_for_shrinkage(parameters, explained, shrinkage),
        _rows_for_shrinkage(parameters, explained, second),
        _rows_for_overall_risk(rate, follow_up, horizon, margin),
    )
    purposes = (
        ("shrinkage", f"coefficients shrunk by {100 * (1 - shrinkage):.3g} % at most"),
        ("optimism", f"Nagelkerke's R² optimistic by {optimism:g} at most"),
        ("overall risk", f"risk by the horizon within {margin:g}"),
    )
    criteria = tuple(
        Criterion(name, purpose, count, count * events_per_person)
        for (name, purpose), count in zip(purposes, rows, strict=True)
    )
    lower, upper = _risk_limits(rate, follow_up, horizon, max(rows))
    facts = {
        **given,
        "cox_snell": explained,
        "largest_cox_snell": largest,
        "nagelkerke": explained / largest,
        "events_per_parameter": max(rows) * events_per_person / parameters,
        "overall_risk": -math.expm1(-rate * horizon),
        "overall_risk_lower": lower,
        "overall_risk_upper": upper,
    }
    return SampleSize(criteria, facts)


def _explained(measures: dict[str, float | None], events_per_person: float, largest: float) -> float:
    """R² of Cox and Snell from the one measure that is given."""
    named = {name: value for name, value in measures.items() if value is not None}
    if len(named) != 1:
        raise ParameterError(
            f"one of cox_snell, nagelkerke, c_index and d_statistic is needed, but {', '.join(named) or 'none'} "
            "was given.",
            argument="cox_snell",
        )
    check_all(named, _MEASURES)
    ((name, value),) = named.items()
    if name == "nagelkerke":
        return value * largest
    if name == "cox_snell":
        if value >= largest:
            raise ParameterError(
                f"cox_snell must be below the largest possible with these events, {largest:.4g}, but is {value:g}",
                argument="cox_snell",
                advice="Check R², the rate and the follow-up.",
            )
        return value
    return cox_snell_from_d(d_from_c(value) if name == "c_index" else value, events_per_person)


def _rounded_events(rate: float, follow_up: float) -> float:
    """Events per person, of 10,000 people rounded up to whole events as in pmsampsize: sizes equal its to the person.

    Of an event that fewer than one of 10,000 have, nothing is rounded.
    """
    people = 10_000
    events = rate * (follow_up * people)
    return math.ceil(events) / people if events >= 1 else events / people


def _rows_for_shrinkage(parameters: int, explained: float, shrinkage: float) -> int:
    return whole_rows(parameters / ((shrinkage - 1) * math.log1p(-explained / shrinkage)))


def _rows_for_overall_risk(rate: float, follow_up: float, horizon: float, margin: float) -> int:
    """People for limits of the risk, of which the lower is further away, within the margin.

    The rate has the standard error ``√(rate/T)`` in T of person-time.
    """
    # Beyond 700 all have had the event, and the exponential would overflow.
    error = math.log1p(margin * math.exp(min(rate * horizon, 700.0))) / (NORMAL_QUANTILE * horizon)
    return whole_rows(rate / (error**2 * follow_up))


def _risk_limits(rate: float, follow_up: float, horizon: float, rows: int) -> tuple[float, float]:
    reach = NORMAL_QUANTILE * math.sqrt(rate / (follow_up * rows))
    return -math.expm1(-(rate - reach) * horizon), -math.expm1(-(rate + reach) * horizon)
