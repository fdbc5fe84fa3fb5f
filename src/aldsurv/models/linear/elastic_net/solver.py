"""The minimum of a log-likelihood with an elastic-net penalty: Newton steps on the columns with a coefficient.

Within one choice of signs the penalised likelihood is smooth. A step is Newton's for the columns that have a
coefficient, or whose derivative says that they should have one; a coefficient that would change its sign becomes 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.linear.elastic_net.losses import RowLoss, Slopes

__all__ = ["PenalisedFit", "Penalty"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

# How far derivatives may be from where they should be, in units of the penalty's, and beside that.
TOLERANCE, _ROUNDING = 1e-7, 1e-12
_MOST_STEPS, _MOST_HALVINGS = 300, 40
# Of the mean curvature: what is added to it for Newton's step, so that equal columns share a coefficient.
_LEAST_DAMPING = 1e-10
_MOST_DAMPING = 1e6


class Penalty(NamedTuple):
    """``absolute·Σ|β| + ½·square·Σβ²``."""

    absolute: float
    square: float

    @classmethod
    def mixed(cls, alpha: float, l1_ratio: float) -> Penalty:
        """``alpha·(l1_ratio·Σ|β| + ½·(1 - l1_ratio)·Σβ²)``."""
        return cls(alpha * l1_ratio, alpha * (1 - l1_ratio))

    def cost(self, beta: FloatArray) -> float:
        """The penalty of some coefficients."""
        return self.absolute * float(np.abs(beta).sum()) + 0.5 * self.square * float(beta @ beta)

    @property
    def tolerance(self) -> float:
        """How far a derivative may be from where it should be."""
        return TOLERANCE * self.absolute + _ROUNDING


@final
@dataclass(eq=False)
class PenalisedFit:
    """Where the minimum for some rows stands, as a penalty is lowered.

    Attributes
    ----------
    loss
        The log-likelihood.
    rows
        Numbers of its rows (n,) among all rows of the table.
    beta
        Coefficients of all columns (d,).
    free
        Parameters without a penalty (k,).
    slopes
        The log-likelihood there.
    """

    loss: RowLoss
    rows: IntArray
    beta: FloatArray
    free: FloatArray
    slopes: Slopes

    @classmethod
    def without_columns(cls, loss: RowLoss, rows: IntArray, columns: int) -> PenalisedFit:
        """All coefficients 0."""
        free, zeros = loss.start(), np.zeros(rows.size)
        slopes = loss.at(zeros, free)
        if slopes is None:
            raise FloatingPointError("the log-likelihood without columns is not finite.")
        fit = cls(loss, rows, np.zeros(columns), free, slopes)
        fit.minimise(np.zeros((0, rows.size)), np.zeros(0, np.intp), Penalty(np.inf, 0.0))
        return fit

    @property
    def residual(self) -> FloatArray:
        """Derivatives (n,) of the mean log-likelihood by the number of each row."""
        return self.slopes.by_row / self.loss.weight

    def minimise(self, columns: FloatArray, numbers: IntArray, penalty: Penalty) -> bool:
        """Go to the minimum over some columns, others having no coefficient; whether it was reached.

        Parameters
        ----------
        columns
            Their values (s, n) in these rows, column by column.
        numbers
            Which columns of all these are (s,).
        penalty
            What coefficients cost.
        """
        beta = self.beta[numbers]
        reached = False
        for _ in range(_MOST_STEPS):
            gradient = penalty.square * beta - columns @ self.residual
            steepness = _steepness(gradient, beta, penalty)
            active = beta != 0
            lacking = max(_largest(steepness[active]), _largest(self.slopes.by_free / self.loss.weight))
            entering = ~active & (np.abs(steepness) > penalty.tolerance)
            reached = lacking <= penalty.tolerance and not entering.any()
            if reached:
                break
            beta_after = self._step(columns, beta, gradient, entering, penalty, settled=lacking <= penalty.tolerance)
            if beta_after is None:
                # As close as rounding allows.
                reached = max(_largest(steepness), lacking) <= 1e3 * penalty.tolerance
                break
            beta = beta_after
        self.beta[numbers] = beta
        return reached

    def _step(
        self,
        columns: FloatArray,
        beta: FloatArray,
        gradient: FloatArray,
        entering: BoolArray,
        penalty: Penalty,
        *,
        settled: bool,
    ) -> FloatArray | None:
        """Coefficients after a step that lowers the objective, with everything else moved along; None if none does."""
        sign = np.where(beta != 0, np.sign(beta), -np.sign(gradient))
        if not penalty.square:
            # More columns than rows have no unique step: the most promising enter first.
            room = max(self.rows.size - 1 - int(np.count_nonzero(beta)), 1)
            entering = _strongest(entering, gradient, room)
        chosen = np.flatnonzero((beta != 0) | entering)
        system = _NewtonSystem(self, columns[chosen], penalty)
        direction = np.zeros_like(beta)
        inside = np.ones(chosen.size, np.bool_)
        while True:
            part, free = system.direction(gradient[chosen] + penalty.absolute * sign[chosen], inside)
            # A column may only enter with the sign for which it was chosen.
            wrong = inside & (beta[chosen] == 0) & (part * sign[chosen] < 0)
            if not wrong.any():
                break
            inside &= ~wrong
            if settled and not (inside & (beta[chosen] == 0)).any():
                # Alone, the most promising one has the right sign.
                best = _strongest(entering, gradient, 1)[chosen]
                inside = (beta[chosen] != 0) | best
        direction[chosen] = part
        return self._search(columns, beta, sign, direction, free, gradient, penalty)

    def _search(
        self,
        columns: FloatArray,
        beta: FloatArray,
        sign: FloatArray,
        direction: FloatArray,
        free: FloatArray,
        gradient: FloatArray,
        penalty: Penalty,
    ) -> FloatArray | None:
        """The first of shorter and shorter steps that lowers the objective; within it, no coefficient changes sign."""
        here = penalty.cost(beta) - self.slopes.value / self.loss.weight
        by_free = -self.slopes.by_free / self.loss.weight
        crossing = beta * (beta + direction) < 0
        moved = direction != 0
        first = float(np.min(-beta[crossing] / direction[crossing])) if crossing.any() else 1.0
        lengths = [1.0, *([first] if first < 1 else []), *(first * 0.5 ** np.arange(1, _MOST_HALVINGS))]
        for length in lengths:
            after = beta + length * direction
            after[(after * sign < 0) | ((length == first < 1) & crossing & (np.abs(after) < 1e-14))] = 0.0
            step, free_step = after - beta, length * free
            slopes = self.loss.at(after @ columns, self.free + free_step)
            if slopes is None:
                continue
            there = penalty.cost(after) - slopes.value / self.loss.weight
            slope = float((gradient + penalty.absolute * sign)[moved] @ step[moved] + by_free @ free_step)
            if there <= here + 1e-4 * min(slope, 0.0) + 1e-14 * (1 + abs(here)) and (slope < 0 or there < here):
                self.slopes, self.free = slopes, self.free + free_step
                return np.asarray(after)
        return None


@final
class _NewtonSystem:
    """Newton's equations of some columns (a, n); in as many dimensions as rows, where these are fewer."""

    def __init__(self, fit: PenalisedFit, columns: FloatArray, penalty: Penalty) -> None:
        self._columns, self._square = columns, penalty.square
        self._free = -fit.slopes.by_free / fit.loss.weight
        weight = fit.loss.weight
        self._by_rows = columns.shape[0] > columns.shape[1] and penalty.square > 0
        x = np.eye(columns.shape[1]) if self._by_rows else columns.T
        self._information = fit.slopes.information(x) / weight

    def direction(self, gradient: FloatArray, inside: BoolArray) -> tuple[FloatArray, FloatArray]:
        """The step (a,) of the columns that are `inside`, and that of the free parameters (k,)."""
        step = np.zeros(inside.size)
        target = -np.append(gradient[inside], self._free)
        size = target.size - self._free.size
        if not target.size:
            return step, np.zeros(0)
        damping = 0.0 if self._square else _LEAST_DAMPING
        while True:
            found = self._solved(target, inside, damping)
            # Where the likelihood is not concave, as it may be with delayed entry, more damping makes it so.
            if (np.isfinite(found).all() and found @ target > 0) or damping > _MOST_DAMPING or not target.any():
                break
            damping = max(10 * damping, 1e-6)
        step[inside] = found[:size]
        return step, found[size:]

    def _solved(self, target: FloatArray, inside: BoolArray, damping: float) -> FloatArray:
        size = int(np.count_nonzero(inside))
        try:
            if self._by_rows:
                return self._solved_by_rows(target, self._columns[inside], damping)
            every = np.append(inside, np.ones(self._free.size, np.bool_))
            system = self._information[np.ix_(every, every)]
            diagonal = np.einsum("ii->i", system)
            extra = damping * float(np.abs(diagonal).mean())
            diagonal += extra
            diagonal[:size] += self._square
            return np.linalg.solve(system, target)
        except np.linalg.LinAlgError:
            return np.full(target.size, np.nan)

    def _solved_by_rows(self, target: FloatArray, columns: FloatArray, damping: float) -> FloatArray:
        """By Woodbury's identity: ``(c + x'Wx)⁻¹ = (1 - x'(c + WG)⁻¹Wx)/c`` with ``G = xx'``."""
        n, size = columns.shape[1], columns.shape[0]
        row_row, row_free = self._information[:n, :n], self._information[:n, n:]
        square = self._square + damping * float(np.abs(np.diag(row_row)).mean()) * size
        system = row_row @ (columns.T @ columns) + square * np.eye(n)
        sides = np.column_stack([target[:size], columns @ row_free])
        inner = np.linalg.solve(system, row_row @ (columns.T @ sides))
        solved = (sides - columns @ inner) / square
        if not self._free.size:
            return np.asarray(solved[:, 0])
        # What the free parameters add, by Schur's complement.
        coupled = (columns @ row_free).T
        free = np.linalg.solve(
            self._information[n:, n:] - coupled @ solved[:, 1:], target[size:] - coupled @ solved[:, 0]
        )
        return np.append(solved[:, 0] - solved[:, 1:] @ free, free)


def _steepness(gradient: FloatArray, beta: FloatArray, penalty: Penalty) -> FloatArray:
    """The smallest derivative (s,) of the objective: 0 everywhere at the minimum."""
    if np.isinf(penalty.absolute):
        return np.zeros_like(gradient)
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - penalty.absolute, 0.0)
    return np.where(beta != 0, gradient + penalty.absolute * np.sign(beta), at_zero)


def _strongest(entering: BoolArray, gradient: FloatArray, most: int) -> BoolArray:
    numbers = np.flatnonzero(entering)
    if numbers.size <= most:
        return entering
    kept = np.zeros_like(entering)
    kept[numbers[np.argsort(-np.abs(gradient[numbers]), kind="stable")[:most]]] = True
    return kept


def _largest(values: FloatArray) -> float:
    return float(np.abs(values).max(initial=0.0))
