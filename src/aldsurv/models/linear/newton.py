"""Maximum of a smooth log-likelihood by Newton's method, and errors for likelihoods without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = ["Evaluation", "NoMaximumError", "maximise"]

FloatArray = NDArray[np.float64]

_MOST_STEPS = 300
# A coefficient of a scaled column that went this far goes to infinity.
_FAR = 20.0


class NoMaximumError(DataError):
    """A likelihood that has no maximum, or none that could be found.

    Attributes
    ----------
    parameters
        Numbers of the parameters along which it grows; none, if it is not clear which.
    collapsed
        Whether it grows as a scale goes to 0.
    """

    def __init__(self, message: str, parameters: Sequence[int] = (), *, collapsed: bool = False) -> None:
        super().__init__(message)
        self.parameters, self.collapsed = tuple(parameters), collapsed


class Evaluation(NamedTuple):
    """A function's value, gradient (k,) and negative matrix of second derivatives (k, k)."""

    value: float
    gradient: FloatArray
    information: FloatArray

    @property
    def usable(self) -> bool:
        """Whether all of it is finite."""
        parts = (self.value, self.gradient, self.information)
        return all(bool(np.isfinite(part).all()) for part in parts)


def maximise(
    evaluate: Callable[[FloatArray], Evaluation],
    start: FloatArray,
    *,
    names: Sequence[str],
    longest: FloatArray | float = np.inf,
) -> tuple[FloatArray, Evaluation]:
    """The point of the largest value, and the function there.

    Parameters
    ----------
    evaluate
        The function; must be usable at the start.
    start
        Where to begin (k,); parameters should be on scales of about one.
    names
        What messages call the parameters.
    longest
        Bound on the length of a step, for all parameters or each.
    """
    point, here, before, damping = start, evaluate(start), np.inf, 0.0
    if not start.size:
        return point, here
    for _ in range(_MOST_STEPS):
        step, damping = _newton_step(here, damping)
        decrement, length = float(step @ here.gradient), float(np.abs(step).max())
        if damping < 1e-6:
            if decrement < 1e-8 and length < 1e-3:
                return _polished(evaluate, point, here)
            # At a maximum steps shrink by squares; where the likelihood only levels off they never do.
            if decrement < 1e-5 and length > 0.05 and length > 0.7 * before:
                raise _no_maximum(step, names)
        step = step * min(1.0, float(np.min(longest / np.maximum(np.abs(step), 1e-300))))
        expected = float(step @ here.gradient - 0.5 * step @ here.information @ step)
        there = evaluate(point + step)
        # The value's rounding must not forbid a step that gains less.
        if there.usable and there.value - here.value >= 0.1 * expected - 1e-12 * (1 + abs(here.value)):
            point, here, before = point + step, there, length
            damping = 0.0 if damping < 1e-9 else damping / 10
        else:
            damping = max(8 * damping, 1e-8)
    if np.abs(point - start).max() > _FAR:
        raise _no_maximum(point - start, names)
    steepest = names[int(np.abs(here.gradient).argmax())]
    raise NoMaximumError(
        f"the likelihood has no maximum that Newton's method could find (it stopped at {here.value:.6g}, where "
        f"{quoted(steepest)} has the largest derivative). Look for extreme values."
    )


def _newton_step(here: Evaluation, damping: float) -> tuple[FloatArray, float]:
    """The step to the maximum of the quadratic approximation, bent towards the gradient by a damping from 0 on.

    Where that approximation has no maximum the damping is raised until it has; the one that was used is returned.
    """
    squares = np.abs(np.diag(here.information))
    # A parameter whose curvature is lost must not make the step infinite.
    spread = np.sqrt(np.maximum(squares, max(1e-16 * float(squares.max()), 1e-200)))
    scaled = here.information / spread / spread[:, None]
    while True:
        try:
            root = np.linalg.cholesky(scaled + damping * np.eye(len(scaled)))
        except np.linalg.LinAlgError:
            damping = max(1e-3, 4 * damping)
            continue
        half = np.linalg.solve(root, here.gradient / spread)
        return np.asarray(np.linalg.solve(root.T, half) / spread), damping


def _polished(
    evaluate: Callable[[FloatArray], Evaluation], point: FloatArray, here: Evaluation
) -> tuple[FloatArray, Evaluation]:
    """Full steps as long as each leaves less to be gained than the one before: down to rounding."""
    step, _ = _newton_step(here, 0.0)
    for _ in range(10):
        there = evaluate(point + step)
        if not there.usable:
            break
        following, _ = _newton_step(there, 0.0)
        # By the information, not by the gradient: a steep direction's rounding would hide what a flat one still lacks.
        if following @ there.gradient > 0.5 * (step @ here.gradient):
            break
        point, here, step = point + step, there, following
    return point, here


def _no_maximum(step: FloatArray, names: Sequence[str]) -> NoMaximumError:
    size = np.abs(step)
    running = np.flatnonzero(size > 0.3 * size.max()).tolist()
    return NoMaximumError(
        f"the likelihood grows without end with the coefficient{'s' * (len(running) > 1)} of "
        f"{listed([names[k] for k in running], 8)}: these columns separate early from late times perfectly, or a level "
        "has no event. Join levels or leave columns out.",
        running,
    )
