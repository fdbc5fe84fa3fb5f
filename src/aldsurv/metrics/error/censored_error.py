"""Mean absolute error with an estimate of the event times of censored rows: margin and pseudo-observations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.metrics.checked_arguments import FloatArray, Prediction, person_rows, undefined, without_delayed_entry
from aldsurv.metrics.point_estimates import Point, point_estimate
from aldsurv.nonparametric.kaplan_meier import KaplanMeier, kaplan_meier

__all__ = ["mean_absolute_error_margin", "mean_absolute_error_pseudo"]


def mean_absolute_error_margin(
    predicted: Prediction, data: SurvivalData, *, train: SurvivalData, point: Point = "median"
) -> float:
    """Mean distance of the predicted from the event time, or from a guess of it for censored rows; lower is better.

    That guess for a row censored at c is the mean event time after c by the Kaplan-Meier curve of the training rows,
    ``c + ∫_c S/S(c)``, and it counts ``1 - S(c)``: the earlier a row is censored, the less it says (Haider et al.
    2020). An event counts 1; the sum is divided by the total count.

    After the last training time, where the curve may not have come down to 0, it is continued by the straight line
    from ``(0, 1)`` through its end, down to 0. A row censored later than that counts with its censoring time.

    Parameters
    ----------
    predicted
        A distribution, or predicted times (n,).
    data
        Exact and right-censored rows; weights multiply.
    train
        Rows of the curve; their weights and delayed entries count.
    point
        Time that represents a distribution, as in `point_estimate`.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 5], [True, False, True])
    >>> train = SurvivalData.right([1, 2, 3, 5], [True] * 4)
    >>> mean_absolute_error_margin([2.0, 7.0, 3.0], data, train=train)  # the guess is 4 and counts one half
    1.8
    """
    return _censored_error(predicted, data, train, point, pseudo=False)


def mean_absolute_error_pseudo(
    predicted: Prediction, data: SurvivalData, *, train: SurvivalData, point: Point = "median"
) -> float:
    """As `mean_absolute_error_margin`, but with pseudo-observations of the mean for censored rows (Qi et al. 2023).

    That of a row censored at c is ``(N + 1)·μ' - N·μ``: μ is the mean of the Kaplan-Meier curve of the N training rows,
    μ' that of the same rows and this one. It counts ``1 - S(c)``. Both curves are continued after
    their last time as in `mean_absolute_error_margin`. All rows together take O(n log n).

    Pseudo-observations have the right mean over all rows, events included; those of censored rows alone, put beside
    the observed times of the others, are later than the hidden times were. The guesses of
    `mean_absolute_error_margin` are not, where censoring and event do not depend on the covariates.

    Parameters
    ----------
    predicted, data, point
        As in `mean_absolute_error_margin`.
    train
        Rows of the curve, without delayed entry; with weights N is their sum.

    Examples
    --------
    >>> data = SurvivalData.right([1, 2, 5], [True, False, True])
    >>> train = SurvivalData.right([1, 2, 3, 5], [True] * 4)
    >>> mean_absolute_error_pseudo([2.0, 7.0, 3.0], data, train=train)  # 4 again: no training row is censored
    1.8
    """
    without_delayed_entry(SurvivalData.of(train).persons(), "mean_absolute_error_pseudo")
    return _censored_error(predicted, data, train, point, pseudo=True)


def _censored_error(
    predicted: Prediction, data: SurvivalData, train: SurvivalData, point: Point, *, pseudo: bool
) -> float:
    metric = "mean_absolute_error_pseudo" if pseudo else "mean_absolute_error_margin"
    rows = without_delayed_entry(person_rows(data), metric)
    estimate, event = point_estimate(predicted, rows, point=point), rows.event
    censored = np.flatnonzero(~event & (rows.weights > 0))
    target, counted = rows.time.copy(), rows.weights.copy()
    if censored.size:
        curve = kaplan_meier(train)
        if curve.times[-1] == 0 or curve.survival[-1] == 1:
            return undefined(metric, "the training rows have no event after time 0", stacklevel=4)
        area = _Area(curve)
        time = rows.time[censored]
        target[censored] = area.pseudo_observation(time) if pseudo else area.mean_after(time)
        counted[censored] *= 1 - area.survival(time)
    some = counted > 0
    if not some.any():
        reason = "no row has an event, or is censored after one of the training rows"
        return undefined(metric, reason, stacklevel=4)
    return float(counted[some] @ np.abs(estimate[some] - target[some]) / counted[some].sum())


class _Area:
    """Integrals of a Kaplan-Meier curve that is continued to 0 by the line from (0, 1) through its end."""

    def __init__(self, curve: KaplanMeier) -> None:
        self.curve = curve
        self.last, self.level = float(curve.times[-1]), float(curve.survival[-1])
        self.starts = np.append(0.0, curve.times)
        self.widths = np.diff(self.starts)
        self.levels = np.append(1.0, curve.survival)
        self.areas = np.append(0.0, np.cumsum(self.widths * self.levels[:-1]))

    def survival(self, time: FloatArray) -> FloatArray:
        line = np.maximum(1 - time * (1 - self.level) / self.last, 0.0)
        return np.where(time <= self.last, self.curve.survival_at(time), line)

    def until(self, time: FloatArray, levels: FloatArray, areas: FloatArray) -> FloatArray:
        """Integral from 0 to times, the last level being held."""
        index = self._stretch(time)
        return np.asarray(areas[index] + (time - self.starts[index]) * levels[index])

    def mean_after(self, time: FloatArray) -> FloatArray:
        """Mean of the event times after each time; the time itself where none is left."""
        level = self.survival(time)
        after = self.areas[-1] - self.until(time, self.levels, self.areas) + _tail(self.last, self.level)
        # Beyond the end the remaining area is a triangle below the line.
        triangle = level**2 * self.last / (2 * (1 - self.level))
        after = np.where(time <= self.last, after, triangle)
        return time + np.divide(after, level, out=np.zeros(time.shape), where=level > 0)

    def pseudo_observation(self, time: FloatArray) -> FloatArray:
        """``(N + 1)·μ' - N·μ`` for a row censored at each time.

        One more at risk up to the censoring changes the factors up to there; behind it the curve keeps its shape. So
        products and areas of the changed factors, once for all, give the new mean of every row.
        """
        curve, index = self.curve, self._stretch(time)
        raised = np.append(1.0, np.cumprod((curve.at_risk + 1 - curve.events) / (curve.at_risk + 1)))
        areas = np.append(0.0, np.cumsum(self.widths * raised[:-1]))
        # The curve is 0 only at its end, behind which it has no area and no factor.
        ratio = np.divide(raised[index], self.levels[index], out=np.ones(time.shape), where=self.levels[index] > 0)
        rest = np.where(time < self.last, self.areas[-1] - self.until(time, self.levels, self.areas), 0.0)
        level = np.where(time < self.last, ratio * self.level, raised[-1])
        mean = self.until(time, raised, areas) + ratio * rest + _tail(np.maximum(time, self.last), level)
        number = float(curve.at_risk[0])
        return np.asarray((number + 1) * mean - number * (self.areas[-1] + _tail(self.last, self.level)))

    def _stretch(self, time: FloatArray) -> NDArray[np.intp]:
        """Which of the levels holds at a time."""
        return np.searchsorted(self.curve.times, time, side="right")


def _tail(last: FloatArray | float, level: FloatArray | float) -> FloatArray:
    """Area below the line that goes on from the end of a curve, (last, level), to 0."""
    return np.asarray(level**2 * last / (2 * (1 - level)))
