"""How failure times with a share without event are fitted: columns left out, a start, a weak penalty where needed."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, FitWarning
from aldsurv.models.linear.aft_likelihood import Standard
from aldsurv.models.linear.cure.cure_likelihood import CureLikelihood
from aldsurv.models.linear.dependent_columns import independent_columns
from aldsurv.models.linear.linear_fit import LinearFit, Penalty, inverse, penalised
from aldsurv.models.linear.newton import Evaluation, NoMaximumError, maximise
from aldsurv.models.linear.sandwich import sandwich
from aldsurv.quoting import quoted

__all__ = ["fit_with_cure"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]

# As a normal prior of standard deviation 2.5, where a parameter would be infinite (Gelman et al. 2008).
_WEAK_RIDGE = 1 / 2.5**2
_LEAST_LOG_SIGMA = -14.0


def fit_with_cure(
    x: FloatArray,
    names: list[str],
    spread: FloatArray,
    rows: SurvivalData,
    standard: Standard,
    *,
    ridge: float,
    plateau: float,
    clusters: IntArray | None,
) -> LinearFit:
    """The maximum of `CureLikelihood`: an intercept, slopes, log σ, then an intercept and slopes of the cure.

    Parameters
    ----------
    x, names, spread
        Columns (n, d), their names and standard deviations.
    rows
        Rows with positive times.
    standard
        The distribution of ``(log t - μ)/σ``.
    ridge
        Penalty of the slopes, of both kinds.
    plateau
        Where the search begins: the share without event.
    clusters
        Number of each row's cluster (n,) for a robust covariance; None for none.
    """
    kept, dropped = _kept_columns(x, names, spread, rows.weights)
    if 2 * kept.size + 3 > len(rows):
        raise DataError(
            f"cure=True has {2 * kept.size + 3} parameters, which must be no more than the {len(rows)} rows",
            argument="cure",
            advice="Leave columns out, or give more rows.",
        )
    columns = np.column_stack([np.ones(len(x)), x[:, kept]])
    likelihood, start = CureLikelihood(columns, rows, standard), _start(rows, kept.size, plateau)
    slopes = np.append(0.0, ridge * spread[kept] ** 2)
    strength = np.concatenate([slopes, [0.0], slopes])
    weak = np.append(1.0, spread[kept] ** 2) * _WEAK_RIDGE
    fallback = np.maximum(strength, np.concatenate([[0.0], weak[1:], [0.0], weak]))
    mu = ["intercept", *(names[k] for k in kept)]
    parameters = [*mu, "spread of log time", *(f"cure: {name}" for name in mu)]
    longest = np.full(start.size, np.inf)
    longest[kept.size + 1] = 1.0
    penalty = None
    try:
        point, best = _maximum(likelihood, strength, start, parameters, longest)
    except NoMaximumError as error:
        point, best = _maximum(likelihood, fallback, start, parameters, longest)
        penalty = Penalty("separation", _WEAK_RIDGE, tuple(names[k] for k in kept))
        infinite = ", ".join(quoted(parameters[k]) for k in error.parameters) or "some coefficients"
        warnings.warn(
            f"the coefficients of the cure would be infinite ({infinite}): the share without event is 0 or 1 for some "
            "rows, or follow-up is too short. A weak penalty keeps them finite; their size has little meaning.",
            FitWarning,
            stacklevel=6,
        )
    covariance = inverse(best.information)
    robust = None if clusters is None else sandwich(covariance, likelihood.scores(point), clusters)
    places = _places(kept, len(names))
    size = 2 * len(names) + 3

    def placed(matrix: FloatArray) -> FloatArray:
        every = np.zeros((size, size))
        every[np.ix_(places, places)] = matrix
        return every

    whole = np.zeros(size)
    whole[places] = point
    return LinearFit(
        standardised=whole,
        standardised_covariance=placed(covariance),
        log_likelihood=likelihood(point).value,
        dropped=dropped,
        penalty=penalty,
        standardised_robust=None if robust is None else placed(robust),
    )


def _maximum(
    likelihood: CureLikelihood, strength: FloatArray, start: FloatArray, names: list[str], longest: FloatArray
) -> tuple[FloatArray, Evaluation]:
    return maximise(penalised(_guarded(likelihood, start.size // 2), strength), start, names=names, longest=longest)


def _guarded(evaluate: CureLikelihood, place: int) -> Callable[[FloatArray], Evaluation]:
    def guarded(point: FloatArray) -> Evaluation:
        if point[place] < _LEAST_LOG_SIGMA:
            raise NoMaximumError(
                "the likelihood grows without end as the spread of log time goes to 0: all times are the same, or the "
                "columns explain them exactly. Check the time column, or leave columns out.",
                collapsed=True,
            )
        return evaluate(point)

    return guarded


def _kept_columns(
    x: FloatArray, names: list[str], spread: FloatArray, weights: FloatArray
) -> tuple[IntArray, dict[str, str]]:
    columns = np.column_stack([np.ones(len(x)), x])
    gram = columns.T @ (weights[:, None] * columns)
    reference = weights.sum() * np.append(1.0, spread**2)
    kept, dropped = independent_columns(gram, ["intercept", *names], reference, fixed=1)
    if dropped:
        shown = "; ".join(f"{quoted(name)}: {reason}" for name, reason in list(dropped.items())[:8])
        many = f"{len(dropped)} columns have" if len(dropped) > 1 else "a column has"
        warnings.warn(f"{many} no coefficient ({shown}).", FitWarning, stacklevel=6)
    return kept, dropped


def _start(rows: SurvivalData, columns: int, plateau: float) -> FloatArray:
    """No effect of any column; mean and spread of log time of those with an event, and the share without."""
    seen = np.isfinite(rows.upper)
    low, high = rows.lower[seen], rows.upper[seen]
    log_times = np.log(np.where(low > 0, (np.maximum(low, 0.0) + high) / 2, high))
    middle = float(np.average(log_times, weights=rows.weights[seen]))
    spread = float(np.sqrt(np.average((log_times - middle) ** 2, weights=rows.weights[seen])))
    share = min(max(plateau, 0.02), 0.98)
    start = np.zeros(2 * columns + 3)
    start[0], start[columns + 1] = middle, np.log(max(spread, 0.1))
    start[columns + 2] = np.log(share / (1 - share))
    return start


def _places(kept: IntArray, columns: int) -> IntArray:
    """Where the parameters of the columns that were kept stand among those of all."""
    mu = np.append(0, 1 + kept)
    return np.concatenate([mu, [columns + 1], columns + 2 + mu]).astype(np.intp)
