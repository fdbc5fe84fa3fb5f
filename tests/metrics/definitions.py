"""The metrics in plain loops over fractions, straight from their definitions: what the tests compare with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from aldsurv.data.survival_data import SurvivalData

Row = tuple[Fraction, bool, Fraction]


def rows_of(data: SurvivalData) -> list[Row]:
    columns = data.time.tolist(), data.event.tolist(), data.weights.tolist()
    return [(Fraction(y), e, Fraction(w)) for y, e, w in zip(*columns, strict=True)]


def uncensored_until(train: list[Row], t: Fraction) -> Fraction:
    """Kaplan-Meier of the censoring time; at a tie events come first."""
    found = Fraction(1)
    for s in sorted({y for y, e, _ in train if not e and y <= t}):
        at_risk = sum(w for y, e, w in train if y > s or (y == s and not e))
        censored = sum(w for y, e, w in train if y == s and not e)
        if at_risk:
            found *= 1 - Fraction(censored) / at_risk
    return found


def uncensored_before(train: list[Row], t: Fraction) -> Fraction:
    """The same just before t: censorings at t itself do not count."""
    earlier = [y for y, _, _ in train if y < t]
    return uncensored_until(train, max(earlier)) if earlier else Fraction(1)


def concordance(data: SurvivalData, estimate: Sequence[float], importance: Sequence[Fraction]) -> Fraction | None:
    """`importance` multiplies the pairs that begin at a row; None without a comparable pair."""
    rows = rows_of(data)
    concordant = comparable = Fraction(0)
    for i, (time, event, weight) in enumerate(rows):
        for j, (other_time, other_event, other_weight) in enumerate(rows):
            if event and (time < other_time or (time == other_time and not other_event)):
                pair = importance[i] * weight * other_weight
                comparable += pair
                if estimate[i] < estimate[j]:
                    concordant += pair
                elif estimate[i] == estimate[j]:
                    concordant += pair / 2
    return concordant / comparable if comparable else None


def brier(
    data: SurvivalData, survival: Sequence[float], t: float, train: SurvivalData, *, before: bool = True
) -> float:
    """Brier score at t of one predicted survival a row; G of an event just before its time, or at it."""
    uncensored = uncensored_before if before else uncensored_until
    total = Fraction(0)
    training = rows_of(train)
    for (y, e, w), s in zip(rows_of(data), survival, strict=True):
        if y <= t and e:
            total += w * Fraction(s) ** 2 / uncensored(training, y)
        elif y > t:
            total += w * (1 - Fraction(s)) ** 2 / uncensored_until(training, Fraction(t))
    return float(total / sum(w for _, _, w in rows_of(data)))


def counts(levels: Sequence[tuple[Fraction, Fraction, Fraction]], bins: int) -> list[Fraction]:
    """Mass in the bins (a, b] of rows (low, high, weight), spread over (low, high] or at low = high."""
    found = [Fraction(0)] * bins
    for low, high, weight in levels:
        for j in range(bins):
            a, b = Fraction(j, bins), Fraction(j + 1, bins)
            if low == high:
                found[j] += weight * (a < low <= b or (j == 0 and low == 0))
            else:
                found[j] += weight * max(Fraction(0), min(b, high) - max(a, low)) / (high - low)
    return found


def central(levels: Sequence[tuple[Fraction, Fraction, Fraction]], width: Fraction) -> Fraction:
    """Mass in [0.5 - width/2, 0.5 + width/2]."""
    a, b = (1 - width) / 2, (1 + width) / 2
    found = Fraction(0)
    for low, high, weight in levels:
        if low == high:
            found += weight * (a <= low <= b)
        else:
            found += weight * max(Fraction(0), min(b, high) - max(a, low)) / (high - low)
    return found


@st.composite
def right_censored(draw: st.DrawFn, *, least: int = 1) -> SurvivalData:
    """Few rows with many ties, some with weights that may be 0."""
    n = draw(st.integers(least, 12))
    time = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=n, max_size=n) | st.none())
    # All zero can only come about by choosing rows.
    return SurvivalData.right([*time, 9], [*event, True], weight=[*weight, 1] if weight else None)[:n]


def simulated(seed: int, n: int = 300, *, ties: bool = True, censoring: float = 15.0) -> SurvivalData:
    """Exponential events of mean 20, exponential censorings of mean `censoring`."""
    rng = np.random.default_rng(seed)
    event, lost = rng.exponential(20, n), rng.exponential(censoring, n)
    time = np.minimum(event, lost)
    return SurvivalData.right(np.ceil(time) if ties else time, event <= lost)
