"""People needed to validate a model of times to an event: precise calibration, concordance and net benefit."""

from __future__ import annotations

import math

from aldsurv.checks import Number, check_all
from aldsurv.errors import ParameterError
from aldsurv.planning.cox_snell import c_from_d, d_from_c, spread_from_d
from aldsurv.planning.planned_population import PlannedPopulation
from aldsurv.planning.sample_size import NORMAL_QUANTILE, Criterion, SampleSize, whole_rows

__all__ = ["validation_sample_size"]

_SHARE = Number(0, 1, above=True, below=True)
_WIDTH = Number(0.001)
_CONSTRAINTS = {
    "risk": _SHARE,
    "censored": Number(0, 1, below=True),
    "c_index": Number(0.5, 1, above=True, below=True),
    "d_statistic": Number(0, above=True),
    "threshold": _SHARE,
    "ratio_width": _WIDTH,
    "slope_width": _WIDTH,
    "c_width": Number(0.001, 1, below=True),
    "benefit_width": _WIDTH,
}


def validation_sample_size(
    risk: float,
    *,
    c_index: float | None = None,
    d_statistic: float | None = None,
    censored: float = 0.0,
    threshold: float | None = None,
    ratio_width: float = 0.2,
    slope_width: float = 0.2,
    c_width: float = 0.1,
    benefit_width: float = 0.2,
) -> SampleSize:
    """The smallest number of people to validate a model with: 95 % intervals of given widths (Riley et al. 2021, 2022).

    1. ``observed/expected``: events by the horizon, as Kaplan-Meier estimates them, over those predicted.
    2. ``calibration slope``: of pseudo-observations of the event by the horizon, as in Riley et al. (2022), whose
       simulations are replaced by their limit for many people.
    3. ``concordance``: Newcombe's standard error of C, with the people whose event is observed by the horizon as cases.
    4. ``net benefit`` at the threshold over the probability of the event (only if a threshold is given).

    The model is assumed to be calibrated, with a normal linear predictor on the scale of log hazards, whose spread
    follows from the concordance; times to the event given it, and to censoring, are exponential.

    Parameters
    ----------
    risk
        Probability of the event by the horizon for which risks are predicted.
    c_index, d_statistic
        Expected concordance, or Royston and Sauerbrei's D: one of them.
    censored
        Share of the people whose follow-up will end before the horizon.
    threshold
        Predicted risk from which on people are treated; None: net benefit is no criterion.
    ratio_width, slope_width, c_width, benefit_width
        Widths of the intervals.

    Examples
    --------
    >>> size = validation_sample_size(0.17, c_index=0.69, censored=0.715, slope_width=0.4)
    >>> size.deciding.name, [criterion.rows for criterion in size.criteria]
    ('observed/expected', [3782, 3660, 1182])
    """
    settings = {
        "risk": risk, "censored": censored, "c_index": c_index, "d_statistic": d_statistic, "threshold": threshold,
        "ratio_width": ratio_width, "slope_width": slope_width, "c_width": c_width, "benefit_width": benefit_width,
    }  # fmt: skip
    check_all({name: value for name, value in settings.items() if value is not None}, _CONSTRAINTS)
    if (c_index is None) == (d_statistic is None):
        raise ParameterError(
            f"one of c_index and d_statistic is needed, but {'both were' if c_index else 'none was'} given.",
            argument="c_index",
        )
    separation = d_from_c(c_index) if c_index is not None else float(d_statistic or 0.0)
    concordance = c_index if c_index is not None else c_from_d(separation)
    population = PlannedPopulation(risk, spread_from_d(separation), censored, threshold)
    observed = population.observed_share()
    needed = [
        (
            "observed/expected",
            f"ratio: interval of width {ratio_width:g}",
            _for_ratio(population, ratio_width),
        ),
        (
            "calibration slope",
            f"slope: interval of width {slope_width:g}",
            population.slope_variance() / (slope_width / (2 * NORMAL_QUANTILE)) ** 2,
        ),
        ("concordance", f"C: interval of width {c_width:g}", _for_concordance(concordance, observed, c_width)),
    ]
    facts = {
        "risk": risk,
        "censored": censored,
        "c_index": concordance,
        "d_statistic": separation,
        "spread": population.spread,
        "observed_events": observed,
    }
    if threshold is not None:
        benefit, variance = _net_benefit(population, threshold)
        facts |= {"threshold": threshold, "standardised_net_benefit": benefit}
        purpose = f"net benefit over risk: interval of width {benefit_width:g}"
        error = round(_rounded_up(benefit_width / (2 * NORMAL_QUANTILE)), 3) or benefit_width / (2 * NORMAL_QUANTILE)
        needed.append(("net benefit", purpose, variance / error**2))
    criteria = [
        Criterion(name, purpose, whole_rows(rows), whole_rows(rows) * observed) for name, purpose, rows in needed
    ]
    return SampleSize(tuple(criteria), facts)


def _for_ratio(population: PlannedPopulation, width: float) -> float:
    """People for an interval of the ratio around 1, normal on the scale of logarithms, of this width."""
    error = _rounded_up(math.asinh(width / 2) / NORMAL_QUANTILE)
    everyone = population.part()
    return everyone.variance / (everyone.risk * error) ** 2


def _rounded_up(error: float) -> float:
    """A standard error with four digits behind the point, the next above, as pmvalsampsize searches it."""
    return max(math.ceil(error * 10_000 - 1e-9), 1) / 10_000


def _for_concordance(c: float, cases: float, width: float) -> int:
    """The smallest number of people for an interval of this width (Newcombe's formula 4)."""

    def reached(rows: int) -> bool:
        half = rows / 2 - 1
        variance = c * (1 - c) * (1 + half * (1 - c) / (2 - c) + half * c / (1 + c))
        return 2 * NORMAL_QUANTILE * math.sqrt(max(variance, 0.0) / (rows**2 * cases * (1 - cases))) <= width

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _net_benefit(population: PlannedPopulation, threshold: float) -> tuple[float, float]:
    """Net benefit over the probability of the event, and n times its variance.

    By the delta method in the share of the treated and in the risks of both sides, which are independent. Without
    censoring it is the formula of Riley et al. (2021) in sensitivity and specificity.
    """
    high, low = population.part(above=True), population.part(above=False)
    if min(high.share, low.share) < 1e-9:
        side = "below" if high.share < low.share else "above"
        raise ParameterError(
            f"threshold must divide the people, but nearly all predicted risks are {side} {threshold:g}",
            argument="threshold",
            advice="Give one nearer to the probability of the event.",
        )
    odds = threshold / (1 - threshold)
    risk = high.share * high.risk + low.share * low.risk
    each = high.risk * (1 + odds) - odds
    benefit = high.share * each / risk
    by_share = (each - benefit * (high.risk - low.risk)) / risk
    by_high = high.share * (1 + odds - benefit) / risk
    by_low = -benefit * low.share / risk
    variance = high.share * low.share * by_share**2
    variance += by_high**2 * high.variance / high.share + by_low**2 * low.variance / low.share
    return benefit, variance
