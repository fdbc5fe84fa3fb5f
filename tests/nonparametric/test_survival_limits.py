from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.nonparametric import kaplan_meier, survival_limits

right = SurvivalData.right


@pytest.mark.parametrize(("n", "events"), [(1, 0), (1, 1), (20, 0), (20, 1), (20, 20), (81, 11), (5000, 1200)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.999])
def test_without_censoring_they_are_those_of_clopper_and_pearson(n, events, level):
    """Nobody is censored before the time: survival is a binomial share, whether rows end at the time or after it."""
    seen = np.arange(n) < events
    expected = stats.binomtest(n - events, n).proportion_ci(level, method="exact")
    for end in (6.0, 9.0):
        curve = kaplan_meier(right(np.where(seen, 1 + np.arange(n) / n, end), seen))
        assert survival_limits(curve, 6.0, level) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)


def drawn_quantile(events: list[tuple[float, float]], beyond: float, share: float) -> float:
    """Quantile of the product over (number at risk, events) by drawing it."""
    rng = np.random.default_rng(0)
    product = np.ones(400_000)
    for at_risk, deaths in events:
        product *= rng.beta(at_risk - deaths + 1, deaths, product.size)
    if beyond:
        product *= rng.beta(beyond, 1, product.size)
    return float(np.quantile(product, share))


def test_with_censoring_they_are_quantiles_of_the_product():
    rng = np.random.default_rng(4)
    time, end = rng.exponential(10, 60), rng.uniform(0, 12, 60)
    data = right(np.minimum(time, end), time <= end)
    events = [
        (float((data.time >= t).sum()), float((data.event & (data.time == t)).sum()))
        for t in np.unique(data.time[data.event & (data.time <= 6)])
    ]
    lower, upper = survival_limits(kaplan_meier(data), 6.0)
    # The beta distribution has two moments of the product, not all.
    assert lower == pytest.approx(drawn_quantile(events, float((data.time > 6).sum()), 0.025), abs=0.003)
    assert upper == pytest.approx(drawn_quantile(events, 0.0, 0.975), abs=0.003)


def test_of_many_rows_they_are_those_of_greenwood():
    rng = np.random.default_rng(1)
    time, end = rng.exponential(10, 20_000), rng.uniform(0, 20, 20_000)
    curve = kaplan_meier(right(np.minimum(time, end), time <= end))
    place = int(np.searchsorted(curve.times, 8.0, side="right")) - 1
    expected = [float(limit[place]) for limit in curve.band(0.95)]
    assert survival_limits(curve, 8.0) == pytest.approx(expected, abs=3e-4)


@pytest.mark.parametrize(("survival", "tail"), [(0.9, 0.025), (0.9, 0.0025), (0.6, 0.0025)])
def test_they_cover_with_few_events_and_far_out(survival, tail):
    """Limits of Greenwood on the scale of log(-log) end below the truth in up to four times as many samples."""
    rng, misses, runs = np.random.default_rng(2), np.zeros(2), 800
    rate = -np.log(survival)
    for _ in range(runs):
        time, end = rng.exponential(1 / rate, 40), rng.uniform(0, 1.6, 40)
        lower, upper = survival_limits(kaplan_meier(right(np.minimum(time, end), time <= end)), 1.0, 1 - 2 * tail)
        misses += [lower > survival, upper < survival]
    assert (misses <= stats.binom.ppf(0.999, runs, tail)).all()


@given(
    rows=st.lists(st.tuples(st.integers(1, 9), st.booleans(), st.integers(1, 3)), min_size=1, max_size=12),
    time=st.integers(0, 10),
    level=st.floats(0.5, 0.999),
)
def test_laws(rows, time, level):
    times, events, weights = (np.array(column) for column in zip(*rows, strict=True))
    curve = kaplan_meier(right(times.astype(float), events, weight=weights))
    lower, upper = survival_limits(curve, time, level)
    assert 0 <= lower <= float(curve.survival_at(time)) + 1e-12
    assert float(curve.survival_at(time)) <= upper + 1e-12
    assert upper <= 1
    # More confidence, wider limits; a row of weight two is two rows.
    wide = survival_limits(curve, time, (1 + level) / 2)
    assert wide[0] <= lower
    assert upper <= wide[1]
    repeated = kaplan_meier(right(np.repeat(times, weights).astype(float), np.repeat(events, weights)))
    assert survival_limits(repeated, time, level) == pytest.approx((lower, upper), rel=1e-9, abs=1e-12)


def test_a_level_is_a_share():
    with pytest.raises(ParameterError, match="level must be"):
        survival_limits(kaplan_meier(right([1.0], [True])), 1.0, 95)
