from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Weibull
from aldsurv.errors import CensoringError
from aldsurv.metrics import mean_absolute_error
from aldsurv.metrics.error.censored_error import mean_absolute_error_margin, mean_absolute_error_pseudo
from metrics.definitions import Row, right_censored, rows_of, simulated

right = SurvivalData.right


def steps(train: list[Row]) -> list[tuple[Fraction, Fraction]]:
    """Kaplan-Meier: times and the survival from each on."""
    found, level = [(Fraction(0), Fraction(1))], Fraction(1)
    for t in sorted({y for y, _, w in train if w}):
        at_risk = sum(w for y, _, w in train if y >= t)
        level *= 1 - Fraction(sum(w for y, e, w in train if y == t and e)) / at_risk
        found.append((t, level))
    return found


def curve_at(train: list[Row], t: Fraction) -> Fraction:
    points = steps(train)
    last, level = points[-1]
    if t > last:
        return max(Fraction(0), 1 - t * (1 - level) / last)
    return [s for u, s in points if u <= t][-1]


def area_after(train: list[Row], c: Fraction) -> Fraction:
    points = steps(train)
    last, level = points[-1]
    if c > last:
        return curve_at(train, c) ** 2 * last / (1 - level) / 2
    ends = [*[u for u, _ in points], last]
    total = sum((max(ends[k + 1], c) - max(ends[k], c)) * points[k][1] for k in range(len(points)))
    # A triangle from the end of the curve to where the line from (0, 1) through it meets 0.
    return total + level * (last / (1 - level) - last) / 2


def by_definition(estimate, data: SurvivalData, train: SurvivalData, *, pseudo: bool) -> float | None:
    training, total, counted = rows_of(train), Fraction(0), Fraction(0)
    number = sum(w for _, _, w in training)
    for (y, e, w), guess in zip(rows_of(data), estimate, strict=True):
        target, importance = y, w
        if not e and w:
            level = curve_at(training, y)
            importance = w * (1 - level)
            if pseudo:
                longer = [*training, (y, False, Fraction(1))]
                target = (number + 1) * area_after(longer, Fraction(0)) - number * area_after(training, Fraction(0))
            elif level:
                target = y + area_after(training, y) / level
        total += importance * abs(Fraction(guess) - target)
        counted += importance
    return float(total / counted) if counted else None


@pytest.mark.parametrize(
    ("metric", "pseudo"), [(mean_absolute_error_margin, False), (mean_absolute_error_pseudo, True)]
)
@given(right_censored(), right_censored())
def test_by_definition(metric, pseudo, data, train):
    assume((train.event & (train.time > 0) & (train.weights > 0)).any())
    estimate = np.linspace(1, 9, len(data))
    expected = by_definition(estimate.tolist(), data, train, pseudo=pseudo)
    if expected is None:
        with pytest.warns(UserWarning, match="no row has an event, or is censored after one"):
            assert np.isnan(metric(estimate, data, train=train))
    else:
        assert metric(estimate, data, train=train) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("metric", [mean_absolute_error_margin, mean_absolute_error_pseudo])
def test_larger_data(metric):
    train, data = simulated(0, 60, ties=True), simulated(1, 40, ties=True)
    predicted = Weibull(np.random.default_rng(0).uniform(5, 40, 40), 1.3)
    for point in ("median", "mean"):
        estimate = getattr(predicted, point)()
        expected = by_definition(estimate.tolist(), data, train, pseudo=metric is mean_absolute_error_pseudo)
        assert metric(predicted, data, train=train, point=point) == pytest.approx(expected, rel=1e-10)


def test_without_censoring_all_are_the_plain_error():
    data = right([1, 2, 5], [True] * 3, weight=[1, 2, 3])
    expected = mean_absolute_error([2.0, 7.0, 3.0], data)
    for metric in (mean_absolute_error_margin, mean_absolute_error_pseudo):
        assert metric([2.0, 7.0, 3.0], data, train=data) == pytest.approx(expected)


def test_what_stands_for_the_times_that_censoring_hides():
    """On average the margin is right; the pseudo-observations, of censored rows alone, are too late."""
    rng = np.random.default_rng(0)
    event, lost = rng.uniform(0, 10, (2, 4000)), rng.uniform(0, 25, (2, 4000))
    train, data = (right(np.minimum(e, c), e <= c) for e, c in zip(event, lost, strict=True))
    # Below any target the error is the mean target less the guess.
    only = data[~data.event & (data.time > 2)]
    true = event[1][~data.event & (data.time > 2)]
    below = np.full(len(only), -1000.0)
    share = only.time / 10
    truth = share @ true / share.sum()
    assert mean_absolute_error_margin(below, only, train=train) - 1000 == pytest.approx(truth, abs=0.1)
    assert mean_absolute_error_pseudo(below, only, train=train) - 1000 > truth + 0.3
    # Where no training row is censored, they are the same.
    train = right(event[0], np.ones(4000, bool))
    margin, pseudo = (f(below, only, train=train) for f in (mean_absolute_error_margin, mean_absolute_error_pseudo))
    assert margin == pytest.approx(pseudo, rel=1e-9)


def test_edges():
    train = right([1, 2, 3], [True, True, False])
    data = right([1, 2], [True, False])
    late = right([1, 2], [True, False], entry=[0, 1])
    for metric in (mean_absolute_error_margin, mean_absolute_error_pseudo):
        with pytest.warns(UserWarning, match="the training rows have no event after time 0"):
            assert np.isnan(metric([1.0, 2.0], data, train=right([1, 2], [False, False])))
        # Without a censored row the curve is not needed.
        assert metric([2.0], data[:1], train=right([1], [False])) == 1
        with pytest.warns(UserWarning, match="no row has an event"):
            assert np.isnan(metric([2.0], right([0.5], [False]), train=train))
        with pytest.raises(CensoringError, match=f"{metric.__name__} is not defined for delayed entry"):
            metric([1.0, 2.0], late, train=train)
        with pytest.raises(CensoringError, match="exact and right-censored"):
            metric([1.0, 2.0], SurvivalData.interval([1, 2], [2, 3]), train=train)
    with pytest.raises(CensoringError, match="delayed entry"):
        mean_absolute_error_pseudo([1.0, 2.0], data, train=late)
    # At risk from 1 on, the second row has its event at 2: the curve is that of the first until there.
    entered = right([3, 2, 4], [True, True, True], entry=[0, 1, 0])
    plain = right([3, 2, 4], [True, True, True])
    censored = right([2.5], [False])
    assert mean_absolute_error_margin([0.0], censored, train=entered) == pytest.approx(
        mean_absolute_error_margin([0.0], censored, train=plain)
    )
