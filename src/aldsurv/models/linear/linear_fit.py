"""How a linear model is fitted to real tables: dependent columns, separation, more columns than events."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.errors import DataError, FitWarning
from aldsurv.models.fitted_state import FittedState
from aldsurv.models.linear.dependent_columns import independent_columns, rank_of_rows
from aldsurv.models.linear.newton import Evaluation, NoMaximumError, maximise
from aldsurv.models.linear.sandwich import sandwich
from aldsurv.plain_numbers import plain_number
from aldsurv.quoting import quoted

__all__ = ["InMemoryProblem", "LinearFit", "LinearProblem", "Penalty", "solve"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Function = Callable[[FloatArray], Evaluation]

# With separation: a normal prior of standard deviation 2.5 for the effect of one standard deviation of a column, which
# is weak (hazard ratios of up to about 100 are likely) and always gives a maximum (Gelman et al. 2008).
_SEPARATION_RIDGE = 1 / 2.5**2
# After so many searches, each with further separated columns, all columns get the ridge.
_MOST_ATTEMPTS = 10
# Prior variances of the sum of all columns among which a ridge is chosen, from negligible to larger than plausible.
_VARIANCES = np.geomspace(1e-3, 16.0, 7)


class Penalty(NamedTuple):
    """A ridge that a fit needed without having been given one.

    Attributes
    ----------
    reason
        ``"separation"`` or ``"columns outnumber events"``.
    ridge
        Its strength, for columns divided by their standard deviation.
    columns
        Names of the columns that it applies to.
    """

    reason: str
    ridge: float
    columns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LinearFit(FittedState):
    """What a linear model learns: parameters of all columns, 0 where a column was dropped.

    Attributes
    ----------
    standardised
        Parameters (k,) of centred and scaled columns: those before the slopes, the slopes, those after.
    standardised_covariance
        Their covariance (k, k), 0 for dropped columns; None where there are more columns than rows.
    log_likelihood
        Of the parameters, without any penalty.
    dropped
        Columns without a coefficient, by name, and why.
    penalty
        A ridge that the fit needed without having been given one; else None.
    standardised_robust
        The robust covariance (k, k), as the other one; None if it was not computed.
    """

    standardised: FloatArray
    standardised_covariance: FloatArray | None
    log_likelihood: float
    dropped: Mapping[str, str]
    penalty: Penalty | None
    standardised_robust: FloatArray | None = None


class LinearProblem(ABC):
    """A log-likelihood of the sum of columns times slopes, and of some further parameters before and after these.

    Parameters
    ----------
    names
        Of the columns (d,).
    spread
        Standard deviation of each column (d,).
    rows, events
        How many rows count, and how many of them have an event.
    """

    # Parameters before the slopes (an intercept) and after them (the logarithm of a scale).
    before: int = 0
    after: int = 0

    def __init__(self, names: list[str], spread: FloatArray, *, rows: int, events: int) -> None:
        self.names, self.spread, self.rows, self.events = names, spread, rows, events

    @abstractmethod
    def select(self, kept: IntArray) -> Any:
        """Some of the columns, as `likelihood` and `robust` take them."""

    @abstractmethod
    def likelihood(self, columns: Any, ridge: float = 0.0) -> Function:
        """The log-likelihood with these columns; `ridge` is what they are penalised by."""

    @abstractmethod
    def robust(self, columns: Any, point: FloatArray, covariance: FloatArray) -> FloatArray | None:
        """The robust covariance with these columns at the parameters, None if it is not asked for."""

    @abstractmethod
    def too_many(self, every: IntArray) -> bool:
        """Whether these columns outnumber the events even after combinations of others were left out."""

    @abstractmethod
    def reduced(self, every: IntArray) -> tuple[Any, int, FloatArray | None]:
        """Combinations of these scaled columns, at most as many as rows, and the directions (k, r) of which they are.

        The directions are None if the columns are no more than the rows, and the combinations these columns.
        """

    @abstractmethod
    def start(self, columns: int) -> FloatArray:
        """Where a search for the maximum begins."""

    @abstractmethod
    def gram(self) -> tuple[FloatArray, FloatArray]:
        """Products of the columns, after those `before`, and what the squares would be if a column varied freely."""

    def longest(self, columns: int) -> FloatArray:
        """Bounds on the length of a step."""
        return np.full(self.before + columns + self.after, np.inf)

    def parameters(self, names: list[str]) -> list[str]:
        """Names of all parameters."""
        return names


class InMemoryProblem(LinearProblem):
    """One whose rows are in memory.

    Parameters
    ----------
    x
        Columns (n, d) of the rows that count.
    clusters
        Number of each row's cluster (n,) for a robust covariance; None for none.
    names, spread, events
        As in `LinearProblem`.
    """

    def __init__(
        self, x: FloatArray, names: list[str], spread: FloatArray, events: int, clusters: IntArray | None
    ) -> None:
        super().__init__(names, spread, rows=len(x), events=events)
        self.x, self._clusters = x, clusters

    @abstractmethod
    def scores(self, columns: FloatArray, point: FloatArray) -> FloatArray:
        """What each row adds to the gradient with these columns (n, k) at the parameters, with its weight."""

    def select(self, kept: IntArray) -> FloatArray:
        """As in the base: columns (n, k)."""
        return self.x[:, kept]

    def robust(self, columns: FloatArray, point: FloatArray, covariance: FloatArray) -> FloatArray | None:
        """As in the base."""
        if self._clusters is None:
            return None
        return sandwich(covariance, self.scores(columns, point), self._clusters)

    def too_many(self, every: IntArray) -> bool:
        """As in the base."""
        rank = rank_of_rows(self.x[:, every])
        # As many as rows allow: only the order of the columns would decide which of them to leave out.
        return rank > self.events or rank >= len(self.x) - 1

    def reduced(self, every: IntArray) -> tuple[FloatArray, int, FloatArray | None]:
        """As in the base."""
        scaled = self.x[:, every] / self.spread[every]
        if every.size <= len(scaled):
            return scaled, every.size, None
        squares, vectors = np.linalg.eigh(scaled @ scaled.T)
        some = squares > 1e-12 * squares[-1]
        root = np.sqrt(squares[some])
        return vectors[:, some] * root, root.size, scaled.T @ (vectors[:, some] / root)


def solve(problem: LinearProblem, ridge: float) -> LinearFit:
    """The maximum, after leaving out columns or adding a penalty where there would be none, with warnings.

    Parameters
    ----------
    problem
        The likelihood.
    ridge
        The penalty that the user gave; 0 for none.
    """
    d, dropped = len(problem.names), _without_spread(problem)
    if dropped and len(dropped) == d:
        _warn_of_dropped(dropped, none_left=True)
        none = np.zeros(0, np.intp)
        return _placed(problem, _search(problem, none, np.zeros(0)), none, dropped)
    every = np.array([k for k, name in enumerate(problem.names) if name not in dropped], np.intp)
    wide = not ridge and every.size > problem.events and problem.too_many(every)
    if wide or (ridge and every.size > problem.rows):
        if dropped:
            _warn_of_dropped(dropped)
        fit = _placed(problem, _with_ridge(problem, every, ridge), every, dropped)
        if fit.penalty is not None:
            _warn_of_many(fit.penalty, problem.events)
        return fit
    kept = every
    if not ridge:
        gram, reference = problem.gram()
        kept, dropped = independent_columns(
            gram, problem.parameters(problem.names)[: len(gram)], reference, fixed=problem.before
        )
    if dropped:
        _warn_of_dropped(dropped, none_left=not kept.size)
    return _placed(problem, _search(problem, kept, np.full(kept.size, ridge)), kept, dropped)


class _Maximum(NamedTuple):
    """What `LinearFit` has for all columns, for those that were kept."""

    point: FloatArray
    covariance: FloatArray | None
    log_likelihood: float
    penalty: Penalty | None = None
    robust: FloatArray | None = None


def _search(problem: LinearProblem, kept: IntArray, ridges: FloatArray) -> _Maximum:
    """Newton's method; columns along which the likelihood has no maximum get a ridge."""
    columns, size = problem.select(kept), kept.size
    names = problem.parameters([problem.names[k] for k in kept])
    needed: set[int] = set()
    collapsed = False
    barrier = float(ridges.max(initial=0.0))
    for attempt in range(_MOST_ATTEMPTS + 3):
        strength = np.where(np.isin(np.arange(size), list(needed)), np.maximum(ridges, _SEPARATION_RIDGE), ridges)
        penalty = np.zeros(problem.before + size + problem.after)
        penalty[problem.before : problem.before + size] = strength * problem.spread[kept] ** 2
        likelihood = problem.likelihood(columns, barrier)
        try:
            point, best = maximise(
                penalised(likelihood, penalty), problem.start(size), names=names, longest=problem.longest(size)
            )
        except NoMaximumError as error:
            slopes = {k - problem.before for k in error.parameters if problem.before <= k < problem.before + size}
            # Where no slope is the cause, or a ridge on those was not enough, all get one.
            more = (slopes if attempt < _MOST_ATTEMPTS else set()) - needed or set(range(size)) - needed
            if not more and barrier:
                raise
            needed |= more
            collapsed |= error.collapsed
            if error.collapsed or not more:
                needed, barrier = set(range(size)), _SEPARATION_RIDGE
            continue
        penalty_ = None
        if needed or barrier > ridges.max(initial=0.0):
            named = tuple(problem.names[kept[k]] for k in sorted(needed))
            penalty_ = Penalty("separation", _SEPARATION_RIDGE, named)
            _warn_of_separation(named, collapsed=collapsed)
        covariance = inverse(best.information)
        robust = problem.robust(columns, point, covariance)
        return _Maximum(point, covariance, problem.likelihood(columns)(point).value, penalty_, robust)
    raise DataError("the likelihood has no maximum, not even with a penalty", advice="Look for extreme values.")


# ---- more columns than events


def _without_spread(problem: LinearProblem) -> dict[str, str]:
    constant = ~(problem.spread > 0)
    return {problem.names[k]: "it holds one value only" for k in np.flatnonzero(constant)}


def _with_ridge(problem: LinearProblem, every: IntArray, ridge: float) -> _Maximum:
    """A ridge on all columns, chosen by the data if it is 0, in as many dimensions as there are rows.

    With a ridge the slopes are combinations of rows, so that d columns of n < d rows are n combinations of columns.
    """
    spread = problem.spread[every]
    scores, size, directions = problem.reduced(every)
    names = problem.parameters([f"combination {k + 1} of columns" for k in range(size)])
    strength = ridge
    if ridge:
        penalty = _slopes_only(problem, size, ridge)
        likelihood = penalised(problem.likelihood(scores, ridge), penalty)
        point, best = maximise(likelihood, problem.start(size), names=names, longest=problem.longest(size))
    else:
        strength, point, best = _chosen(problem, scores, size, every.size, names)
    slopes = point[problem.before : problem.before + size]
    parameters = np.concatenate(
        [
            point[: problem.before],
            (slopes if directions is None else directions @ slopes) / spread,
            point[problem.before + size :],
        ]
    )
    covariance = robust = None
    if directions is None:
        factor = np.ones(parameters.size)
        factor[problem.before : problem.before + size] = 1 / spread
        covariance = inverse(best.information)
        robust = problem.robust(scores, point, covariance)
        robust = None if robust is None else robust * factor * factor[:, None]
        covariance = covariance * factor * factor[:, None]
    value = problem.likelihood(scores)(point).value
    named = tuple(problem.names[k] for k in every)
    penalty_ = None if ridge else Penalty("columns outnumber events", strength, named)
    return _Maximum(parameters, covariance, value, penalty_, robust)


def _chosen(
    problem: LinearProblem, scores: Any, size: int, columns: int, names: list[str]
) -> tuple[float, FloatArray, Evaluation]:
    """The ridge under which the data are most likely, by Laplace's approximation, and the maximum with it.

    A ridge is a normal prior of the slopes; their integral is that of a Gauss curve around the maximum. With a scale
    σ the prior is that of slopes over σ, else a σ close to 0 and slopes that fit every time would be the likeliest.
    """
    evaluate, relative = problem.likelihood(scores), problem.after > 0
    slopes = slice(problem.before, problem.before + size)
    start = problem.start(size)

    def at(ridge: float) -> tuple[float, FloatArray, Evaluation]:
        function = penalised(evaluate, _slopes_only(problem, size, ridge), relative=relative)
        point, best = maximise(function, start, names=names, longest=problem.longest(size))
        scale = 2 * float(point[-1]) if relative else 0.0
        curvature = float(np.linalg.slogdet(best.information[slopes, slopes])[1])
        return best.value + 0.5 * (size * (np.log(ridge) - scale) - curvature), point, best

    values = []
    for variance in _VARIANCES:
        value, start, _ = at(columns / variance)
        values.append(value)
    ridge = columns / float(np.exp(_vertex(np.log(_VARIANCES), np.array(values))))
    _, point, best = at(ridge)
    return ridge, point, best


def _vertex(places: FloatArray, values: FloatArray) -> float:
    """Where the parabola through the highest value and its neighbours is highest; at an end, that end."""
    top = int(values.argmax())
    if top in (0, len(values) - 1):
        return float(places[top])
    low, middle, high = values[top - 1 : top + 2]
    bend = low - 2 * middle + high
    share = 0.0 if bend >= 0 else 0.5 * (low - high) / bend
    return float(places[top] + share * (places[top + 1] - places[top]))


def _slopes_only(problem: LinearProblem, size: int, ridge: float) -> FloatArray:
    return np.concatenate([np.zeros(problem.before), np.full(size, ridge), np.zeros(problem.after)])


# ---- what both have in common


def penalised(evaluate: Function, penalty: FloatArray, *, relative: bool = False) -> Function:
    """The function less ``½·Σ penalty·parameter²``; `relative` to ``σ²``, where log σ is the last parameter."""

    def less(point: FloatArray) -> Evaluation:
        value, gradient, information = evaluate(point)
        weight = penalty * np.exp(-2 * point[-1]) if relative else penalty
        cost = float(weight @ point**2)
        gradient, information = gradient - weight * point, information + np.diag(weight)
        if relative:
            gradient[-1] += cost
            information[-1] -= 2 * weight * point
            information[:, -1] -= 2 * weight * point
            information[-1, -1] += 2 * cost
        return Evaluation(value - 0.5 * cost, gradient, information)

    return less


def inverse(information: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix, symmetric to the bit."""
    inverted = np.linalg.inv(information)
    return np.asarray((inverted + inverted.T) / 2)


def _placed(problem: LinearProblem, maximum: _Maximum, kept: IntArray, dropped: Mapping[str, str]) -> LinearFit:
    """The parameters of all columns."""
    size = problem.before + len(problem.names) + problem.after
    last = problem.before + len(problem.names)
    places = np.concatenate([np.arange(problem.before), problem.before + kept, np.arange(last, size)]).astype(np.intp)
    point = np.zeros(size)
    point[places] = maximum.point

    def placed(matrix: FloatArray | None) -> FloatArray | None:
        if matrix is None or places.size == size:
            return matrix
        every = np.zeros((size, size))
        every[np.ix_(places, places)] = matrix
        return every

    return LinearFit(
        standardised=point,
        standardised_covariance=placed(maximum.covariance),
        log_likelihood=maximum.log_likelihood,
        dropped=dropped,
        penalty=maximum.penalty,
        standardised_robust=placed(maximum.robust),
    )


def _warn_of_dropped(dropped: dict[str, str], *, none_left: bool = False) -> None:
    shown = "; ".join(f"{quoted(name)}: {reason}" for name, reason in list(dropped.items())[:8])
    more = f"; and {len(dropped) - 8} more" if len(dropped) > 8 else ""
    many = f"{len(dropped)} columns have" if len(dropped) > 1 else "a column has"
    end = " No column is left, so that every row gets the same prediction." if none_left else ""
    warnings.warn(f"{many} no coefficient ({shown}{more}).{end}", FitWarning, stacklevel=5)


def _warn_of_separation(names: tuple[str, ...], *, collapsed: bool) -> None:
    message = (
        f"the coefficient{'s' * (len(names) != 1)} of {listed(names, 8)} would be infinite: "
        f"{'these columns separate' if len(names) != 1 else 'this column separates'} early from late times perfectly, "
        "or a level has no event. A weak penalty keeps the estimate finite; its size has little meaning."
        if not collapsed
        else "the spread of log time would be 0: all times are the same, or the columns explain them exactly. A weak "
        "penalty keeps it off 0."
    )
    warnings.warn(message, FitWarning, stacklevel=6)


def _warn_of_many(penalty: Penalty, events: int) -> None:
    counted = f"{events} event{'s' * (events != 1)}"
    warnings.warn(
        f"{len(penalty.columns)} columns outnumber the {counted}: all coefficients are shrunk by a ridge of "
        f"{plain_number(penalty.ridge, 4)}, chosen by the data. Where few columns matter, an elastic net (models "
        "coxnet and aftnet) leaves the others out.",
        FitWarning,
        stacklevel=5,
    )
