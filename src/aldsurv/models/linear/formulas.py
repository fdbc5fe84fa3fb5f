"""How the survival follows from coefficients, as text for those who apply a linear model without this library."""

from __future__ import annotations

__all__ = [
    "CAUSE_HAZARD_FORMULA",
    "HAZARD_FORMULA",
    "LOG_NORMAL_FORMULA",
    "SUBDISTRIBUTION_FORMULA",
    "WEIBULL_FORMULA",
    "log_time_formula",
]

_PER_CAUSE = (
    "where for each cause LP is the sum of its coefficients times the columns, H0 its cumulative baseline hazard and c "
    "the linear predictor of the subject that the baseline is of, whose every column is at its mean"
)

HAZARD_FORMULA = (
    "S(t) = exp(−H0(t) · exp(LP − c)), where LP is the sum of the coefficients times the columns, H0 the cumulative "
    "baseline hazard and c the linear predictor of the subject that the baseline is of, whose every column is at its "
    "mean; equally S(t) = S0(t)^exp(LP − c) with S0(t) = exp(−H0(t))."
)
CAUSE_HAZARD_FORMULA = (
    f"The cumulative hazard of a cause is H(t) = H0(t) · exp(LP − c), {_PER_CAUSE}. The probability of being "
    "event-free is S(t) = exp(−ΣH(t)), the sum over the causes, and the incidence of a cause the sum of S before each "
    "time times the step of its H there."
)
SUBDISTRIBUTION_FORMULA = (
    f"The incidence of a cause is F(t) = 1 − exp(−H0(t) · exp(LP − c)), {_PER_CAUSE}. Where incidences of all causes "
    "would add up to more than one, they are multiplied by a factor, the same at all times."
)
WEIBULL_FORMULA = "S(t) = exp(−(t / exp(μ))^shape), where shape is the exponential of log(shape)"
LOG_NORMAL_FORMULA = (
    "S(t) = 1 − Φ((log t − μ) / σ), where σ is the exponential of log(sigma) and Φ the standard normal distribution"
)


def log_time_formula(survival: str, *, cure: bool = False) -> str:
    """How a prediction follows from the coefficients of log time.

    Parameters
    ----------
    survival
        The survival by μ.
    cure
        Whether a share of the rows never has the event.
    """
    text = f"{survival}, and μ the intercept plus the sum of the coefficients times the columns."
    if cure:
        text += (
            " This is the survival of those who can have the event; with the share p who cannot it is p + (1 − p)·S(t),"
            " where log(p / (1 − p)) is the intercept of the cure plus the sum of its coefficients times the columns."
        )
    return text
