"""Weights of the members of a stack: those under which rows that no member learned from are most likely."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.joined_steps import joined_steps
from aldsurv.models.neural.fitting.skill_check import interval_log_likelihood, predicted_survival

__all__ = ["effective_counts", "event_knots", "likelihoods", "most_likely_weights"]

FloatArray = NDArray[np.float64]

# Of an interval of time: the hazard of ten events is known to a third, and thirty intervals follow any curve.
_EVENTS_A_PIECE, _MOST_PIECES = 10, 30
_MOST_STEPS = 2000
# Weights that differ by less are the same.
_PRECISION = 1e-12
# A Newton step leaves out weights below, and goes no further than this share of the way to a weight of 0.
_NEARLY_NONE, _SHARE_OF_ROOM = 1e-8, 0.9


def event_knots(data: SurvivalData) -> FloatArray:
    """Times (m,) between which curves of steps are joined by lines, and events are looked for: quantiles of events.

    They are times of events themselves: there steps fall, and not a rounding later. The last of them is the last event.
    """
    counted = data.weights > 0
    times = data.lower[data.exact & counted]
    if not times.size:
        times = data.upper[np.isfinite(data.upper) & counted]
    pieces = int(np.clip(times.size // _EVENTS_A_PIECE, 1, _MOST_PIECES))
    knots = np.unique(np.quantile(times, np.arange(1, pieces + 1) / pieces, method="lower"))
    later = knots[knots > 0]
    # All events at 0 leave no time to join: the end of the observation stands for it.
    return later if later.size else np.array([max(float(data.lower.max()), 1.0)])


def likelihoods(parts: Sequence[tuple[SurvivalDistribution, SurvivalData]], knots: FloatArray) -> FloatArray:
    """Log-likelihood (n,) of the rows of all parts, in order, events being known to the interval between two knots.

    A density and a curve of steps cannot be compared by their likelihoods as such: between all event times the density
    of a step is one event over a risk set, here high and there low by chance. So every member is asked for the same
    probabilities.
    """
    return np.concatenate(
        [interval_log_likelihood(predicted_survival(joined_steps(each, knots)), rows, knots) for each, rows in parts]
    )


def effective_counts(weights: FloatArray) -> FloatArray:
    """Weights of rows (n,) whose sum is the effective number of rows, ``(Σw)²/Σw²``: n, if they are equal."""
    return np.asarray(weights * (weights.sum() / (weights**2).sum()))


def most_likely_weights(log_likelihood: FloatArray, counts: FloatArray, *, prior: float) -> FloatArray:
    """Weights (k,) of a mixture of fixed components, by maximum likelihood with a Dirichlet prior.

    The maximum of ``Σᵢ cᵢ log Σₖ wₖLᵢₖ + prior·mean log w``, a concave function, over weights that are not negative and
    add up to 1. An EM step shares every row out among components, ``rᵢₖ = wₖLᵢₖ / Σⱼ wⱼLᵢⱼ``, and takes the share of
    all rows, ``wₖ ∝ Σᵢ cᵢrᵢₖ + prior/k``: it always gains. A Newton step is taken in its place where it gains more.

    Parameters
    ----------
    log_likelihood
        Of each row under each component (n, k); -inf where a component holds a row impossible. Rows that are
        impossible under all of them have no influence.
    counts
        How often each row counts (n,).
    prior
        Rows in favour of equal weights, above 0; the smaller, the more steps it takes.

    Examples
    --------
    >>> most_likely_weights(np.log([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]), np.ones(3), prior=2.0).round(3)
    array([0.594, 0.406])
    """
    best = log_likelihood.max(axis=1)
    counted = np.isfinite(best) & (counts > 0)
    share, c = np.exp(log_likelihood[counted] - best[counted, None]), counts[counted]
    k = share.shape[1]
    pull, total = prior / k, c.sum() + prior
    weights = np.full(k, 1 / k)

    def objective(w: FloatArray) -> float:
        with np.errstate(divide="ignore"):
            return float(c @ np.log(share @ w) + pull * np.log(w).sum())

    for _ in range(_MOST_STEPS):
        ratio = share / (share @ weights)[:, None]
        following = (weights * (c @ ratio) + pull) / total
        following /= following.sum()
        newton = _newton_weights(ratio, c, weights, pull)
        if objective(newton) >= objective(following):
            following = newton
        moved = float(np.abs(following - weights).max())
        weights = following
        if moved < _PRECISION:
            break
    return weights


def _newton_weights(ratio: FloatArray, counts: FloatArray, weights: FloatArray, pull: float) -> FloatArray:
    """Weights on the way to the maximum of the objective's parabola; those that are nearly 0 stay."""
    free = np.flatnonzero(weights > _NEARLY_NONE)
    k, w, ratio = len(free), weights[free], ratio[:, free]
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = -(ratio.T * counts) @ ratio - np.diag(pull / w**2)
    system[:k, k] = system[k, :k] = 1.0
    # Components that are alike leave the parabola flat: the shortest of the steps to its maximum.
    step = np.linalg.lstsq(system, np.append(-(counts @ ratio) - pull / w, 0.0), rcond=None)[0][:k]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.min(np.where(step < 0, -w / step, np.inf))
    moved = weights.copy()
    moved[free] = w + min(1.0, _SHARE_OF_ROOM * room) * step
    return np.asarray(moved / moved.sum())
