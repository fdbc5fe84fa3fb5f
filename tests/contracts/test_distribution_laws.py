"""One set of laws for every family of distributions; a family added to the registry is picked up by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv import SurvivalData
from aldsurv.distributions import Mixture, SurvivalDistribution
from aldsurv.distributions.families.parametric import Parametric
from aldsurv.registry import FAMILIES
from contracts.families import BUILDERS, CONDITIONED, DISCRETE, NAMES, members
from contracts.quadrature import edges, integral, panels

LEVELS = np.array([1e-6, 0.01, 0.2, 0.5, 0.77, 0.99, 1 - 1e-6])
LEVEL = st.floats(0.001, 0.999)

every_family = pytest.mark.parametrize("name", NAMES)
continuous = pytest.mark.parametrize("name", [name for name in NAMES if name not in DISCRETE])


def finite_times(d: SurvivalDistribution) -> np.ndarray:
    """Some times of each row, in order, where the distribution lives and around it."""
    times = d.quantile(LEVELS)
    times = np.where(np.isfinite(times), times, 1e3)
    return np.sort(np.concatenate([times, times[:, :1] - 1.0, times[:, -1:] * 1.5 + 1.0], axis=1), axis=1)


def test_every_family_can_be_drawn():
    missing = [n for n in NAMES if n not in BUILDERS and not issubclass(FAMILIES.load(n), Parametric)]
    assert not missing, f"no way to draw members of {missing}: add builders in tests/contracts/families.py"


def test_every_public_family_is_registered():
    import aldsurv.distributions as room

    offered = {getattr(room, name) for name in room.__all__}
    classes = {kind for kind in offered if issubclass(kind, SurvivalDistribution)} - {SurvivalDistribution}
    assert classes == {FAMILIES.load(name) for name in NAMES}


@pytest.mark.parametrize("name", [name for name in NAMES if issubclass(FAMILIES.load(name), Parametric)])
@given(data=st.data())
def test_an_event_at_zero_has_a_density_where_a_family_says_so(name, data):
    d = data.draw(members(name))
    if d.events_at_zero:
        assert np.all(np.isfinite(d.log_density(0.0)))


@every_family
@given(data=st.data())
def test_survival_falls_from_one_to_zero_and_adds_up_with_the_cdf(name, data):
    d = data.draw(members(name))
    times = finite_times(d)
    survival, cdf = d.survival(times), d.cdf(times)
    assert np.all(np.diff(survival, axis=1) <= 1e-15)
    assert np.all((survival >= 0) & (survival <= 1))
    assert_allclose(survival + cdf, 1.0, atol=1e-14)
    assert_allclose(np.exp(d.log_survival(times)), survival, rtol=1e-11, atol=1e-300)
    assert_allclose(np.exp(d.log_cdf(times)), cdf, rtol=1e-11, atol=1e-300)
    assert np.all(d.survival(-1e300) >= 1 - 1e-15)


@continuous
@given(data=st.data(), level=LEVEL)
def test_cdf_undoes_quantile(name, data, level):
    d = data.draw(members(name))
    levels = np.append(LEVELS, level)
    times = d.quantile(levels)
    assume(np.all(np.isfinite(times)))
    assert np.all(np.diff(np.sort(levels)) > 0) or level in LEVELS
    # A quantile cannot be better than the spacing of numbers around it: allow for what one step of it changes.
    slack = np.spacing(np.abs(times)) * d.density(times)
    slack = np.where(np.isfinite(slack), slack, 1e-9) + (1e-15 if name in CONDITIONED else 0.0)
    assert np.all(np.abs(d.cdf(times) - levels) <= 1e-12 * levels + 4 * slack)
    assert np.all(np.abs(d.survival(times) - (1 - levels)) <= 1e-11 * (1 - levels) + 4 * slack)


@pytest.mark.parametrize("name", sorted(DISCRETE))
@given(data=st.data(), level=LEVEL)
def test_a_discrete_quantile_is_the_first_time_that_reaches_the_level(name, data, level):
    d = data.draw(members(name))
    times = d.quantile(level)
    reached = np.isfinite(times)
    at, before = d.cdf(times[:, None])[:, 0], d.cdf(np.nextafter(times, -np.inf)[:, None])[:, 0]
    assert np.all(at[reached] >= level - 1e-12)
    assert np.all(before[reached] < level)
    assert np.all(d.cdf(1e300)[~reached] < level)


@every_family
@given(data=st.data())
def test_density_is_the_slope_of_the_cdf_and_integrates_to_one(name, data):
    d = data.draw(members(name, rows=1))
    # Between neighbouring places the integral of the density is the probability there. (For a step function: between
    # the times of its grid, over which each jump is spread.)
    places = edges(d, *([0.0] if name in DISCRETE else []))
    if name in DISCRETE:
        places = np.unique(np.append(d._kinks()[0], 0.0))
    mass = panels(lambda t: d.density(t)[0], places, float(d._lower()[0, 0]))
    expected = d.cdf(places[1:])[0] - d.cdf(places[:-1])[0]
    accurate = np.isfinite(mass)
    assert_allclose(mass[accurate], expected[accurate], rtol=2e-6, atol=1e-9)
    assert_allclose(
        mass[accurate].sum() + expected[~accurate].sum(),
        d.cdf(places[-1])[0] - d.cdf(places[0])[0],
        rtol=1e-7,
    )


@continuous
@given(data=st.data(), level=LEVEL)
def test_density_is_the_derivative_of_the_cdf(name, data, level):
    d = data.draw(members(name, rows=1))
    time = float(d.quantile(level)[0])
    assume(math.isfinite(time))
    step = 1e-5 * float(min(d.quantile(0.75)[0] - d.quantile(0.25)[0], time - d._lower()[0, 0]))
    assume(step > 1e-9 * abs(time))
    near = np.abs(np.append(d._kinks()[0], d._lower()[0]) - time)
    assume(near.min() > 2 * step)
    slope = d.probability(time - step, time + step)[0] / (2 * step)
    assert_allclose(slope, d.density(time)[0], rtol=1e-4)


@every_family
@given(data=st.data())
def test_hazards_follow_from_density_and_survival(name, data):
    d = data.draw(members(name))
    times = finite_times(d)
    survival = d.survival(times)
    alive = survival > 1e-280
    assert_allclose(d.hazard(times)[alive], d.density(times)[alive] / survival[alive], rtol=1e-10)
    assert_array_equal(d.cumulative_hazard(times), -d.log_survival(times))
    assert_allclose(
        d.log_density(times),
        np.log(d.density(times), where=d.density(times) > 1e-300, out=d.log_density(times)),
        rtol=1e-10,
        atol=1e-13,
    )


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data(), level=st.floats(0.001, 0.9))
def test_conditional_survival_is_a_ratio_of_survivals(name, data, level):
    d = data.draw(members(name))
    since = d.quantile(level)
    assume(np.all(np.isfinite(since)) and np.all(d.survival(since[:, None]) > 1e-6))
    later = d.conditional(since)
    times = np.maximum(finite_times(d), since[:, None])
    assert_allclose(later.survival(times), d.survival(times) / d.survival(since[:, None]), rtol=1e-9, atol=1e-300)
    assert np.all(later.survival(since[:, None] - 0.5) == 1)
    assert np.all(later.quantile(LEVELS) >= since[:, None])
    assert_allclose(later.mean_residual_life(since[:, None]), d.mean_residual_life(since[:, None]), rtol=1e-8)
    mean = later.mean()
    known = np.isfinite(mean)
    assert_allclose((mean - since)[known], d.mean_residual_life(since[:, None])[known, 0], rtol=1e-7, atol=1e-9)


@every_family
@given(data=st.data())
def test_truncation_at_zero_leaves_nothing_below(name, data):
    d = data.draw(members(name))
    assume(np.all(d.survival(0.0) > 0))
    positive = d.conditional(0.0)
    assert np.all(positive.cdf([-1.0, -1e-9, 0.0]) == 0)
    assert np.all(positive.probability_negative() == 0)
    assert np.all(positive.quantile([0.0, 1e-9, 0.1]) >= 0)
    assert np.all(positive.sample(20, random_state=0) >= 0)
    assert np.all(positive.mean() >= 0)


@every_family
@settings(max_examples=settings.default.max_examples // 3)
@given(data=st.data(), factor=st.floats(1e-3, 1e3), offset=st.floats(-20, 20))
def test_change_of_unit_and_origin(name, data, factor, offset):
    d = data.draw(members(name))
    times = finite_times(d)
    scaled = d.scaled(factor)
    assert_allclose(scaled.survival(times * factor), d.survival(times), rtol=1e-8, atol=1e-9)
    assert_allclose(scaled.quantile(LEVELS), factor * d.quantile(LEVELS), rtol=1e-9)
    assert_allclose(scaled.mean(), factor * d.mean(), rtol=1e-9)
    assert_allclose(scaled.std(), factor * d.std(), rtol=1e-7)
    assert_allclose(scaled.mode(), factor * d.mode(), rtol=1e-5, atol=1e-7 * factor)
    moved = d.shifted(offset)
    assert_allclose(moved.quantile(LEVELS), d.quantile(LEVELS) + offset, rtol=1e-9, atol=1e-9)
    assert_allclose(moved.mean(), d.mean() + offset, rtol=1e-9, atol=1e-9)
    assert_allclose(moved.variance(), d.variance(), rtol=1e-7)
    assert_allclose(moved.scaled(factor).median(), factor * (d.median() + offset), rtol=1e-9, atol=1e-9)
    crps, expected = scaled.crps(times[:, 2:5] * factor), factor * d.crps(times[:, 2:5])
    assert_allclose(crps, expected, rtol=1e-7)


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_a_mixture_of_one_is_itself(name, data):
    d = data.draw(members(name))
    one = Mixture([d])
    times = finite_times(d)
    assert_allclose(one.survival(times), d.survival(times), rtol=1e-13)
    assert_allclose(one.log_cdf(times), d.log_cdf(times), rtol=1e-12)
    assert_allclose(one.density(times), d.density(times), rtol=1e-12)
    assert_allclose(one.mean(), d.mean(), rtol=1e-13)
    assert_allclose(one.variance(), d.variance(), rtol=1e-13)
    assert_allclose(one.quantile(LEVELS), d.quantile(LEVELS), rtol=1e-12, atol=1e-300)
    assert_allclose(one.mean_residual_life(times[:, 2:4]), d.mean_residual_life(times[:, 2:4]), rtol=1e-10)
    assert_allclose(one.restricted_mean([0.5, 7.0]), d.restricted_mean([0.5, 7.0]), rtol=1e-10)


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_restricted_mean_and_residual_life_are_areas_under_survival(name, data):
    d = data.draw(members(name, rows=1))
    horizon = float(np.clip(d.quantile(0.8)[0], 0.5, 50.0))
    area = integral(d, lambda t: d.survival(t)[0], 0.0, horizon)
    assert_allclose(d.restricted_mean(horizon), area, rtol=1e-6, atol=1e-12)
    assert d.restricted_mean(0.0)[0] == 0
    since = float(d.quantile(0.3)[0])
    far = float(d.quantile(1 - 1e-12)[0])
    residual = float(d.mean_residual_life(since)[0])
    if math.isfinite(far) and math.isfinite(residual) and float(d.survival(since)[0]) > 0:
        counted = integral(d, lambda t: d.survival(t)[0], since, far)
        beyond = float(d.survival(far)[0] * d.mean_residual_life(far)[0]) if d.survival(far)[0] > 0 else 0.0
        assert_allclose(residual * d.survival(since)[0], counted + beyond, rtol=1e-6)


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data(), level=LEVEL)
def test_crps_is_the_integral_of_squared_distance(name, data, level):
    d = data.draw(members(name, rows=1))
    outcome = float(np.nan_to_num(d.quantile(level)[0], posinf=3.0))
    low, high = float(edges(d)[0]), float(edges(d)[-1])
    assume(math.isfinite(d.crps(outcome)[0]))
    before = integral(d, lambda t: d.cdf(t)[0] ** 2, low, max(outcome, low))
    after = integral(d, lambda t: d.survival(t)[0] ** 2, min(outcome, high), high)
    rest = d.crps(-math.inf, high)[0]
    assert rest <= after + 1e-6 or after == 0
    assert_allclose(d.crps(outcome), before + after + rest, rtol=2e-6)
    assert_allclose(d.crps(outcome, math.inf), before, rtol=2e-6, atol=1e-12)
    assert_allclose(d.crps(-math.inf, outcome), after + rest, rtol=2e-6, atol=1e-12)


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data(), seed=st.integers(0, 1000))
def test_sampling_agrees_with_the_cdf(name, data, seed):
    d = data.draw(members(name, rows=1))
    count = 4000
    drawn = np.sort(d.sample(count, random_state=seed)[0])
    finite = drawn[np.isfinite(drawn)]
    # Kolmogorov-Smirnov; the bound is passed by chance once in about a million.
    empirical = np.searchsorted(drawn, finite, side="right") / count
    assert np.max(np.abs(empirical - d.cdf(finite)[0]), initial=0.0) < 2.7 / math.sqrt(count)
    assert abs(finite.size / count - d.cdf(1e300)[0]) < 2.7 / math.sqrt(count)
    assert_array_equal(d.sample(3, random_state=seed), d.sample(3, random_state=seed))


@every_family
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_rows_are_independent_of_their_company(name, data):
    d = data.draw(members(name, rows=3))
    times = finite_times(d)
    whole = d.survival(times)
    assert_array_equal(d[1].survival(times[1:2]), whole[1:2])
    assert_array_equal(d[[2, 0]].survival(times[[2, 0]]), whole[[2, 0]])
    assert_array_equal(d[np.array([True, False, True])].mean(), d.mean()[[0, 2]])
    assert_array_equal(d[-1].median(), d.median()[-1:])
    parts = list(d.blocks(2))
    assert [len(part) for part in parts] == [2, 1]
    joined = SurvivalDistribution.concatenate(parts)
    assert_allclose(joined.survival(times), whole, rtol=1e-14)
    assert_allclose(joined.quantile(LEVELS), d.quantile(LEVELS), rtol=1e-12)
    assert len(list(d)) == 3
    assert repr(d).startswith(type(d).__name__)


@every_family
@settings(max_examples=settings.default.max_examples // 4)
@given(data=st.data())
def test_shapes(name, data):
    d = data.draw(members(name, rows=3))
    for method in (
        "survival",
        "log_survival",
        "cdf",
        "log_cdf",
        "density",
        "log_density",
        "hazard",
        "cumulative_hazard",
        "restricted_mean",
        "mean_residual_life",
        "crps",
    ):
        call = getattr(d, method)
        assert call(2.0).shape == (3,), method
        assert call([1.0, 2.0]).shape == (3, 2), method
        assert call([[1.0], [2.0], [3.0]]).shape == (3, 1), method
        assert_allclose(call([1.0, 2.0])[:, 1], call(2.0), rtol=1e-12, err_msg=method)
    assert d.quantile([0.1, 0.9]).shape == d.interval(0.8).shape == (3, 2)
    assert_allclose(d.interval(0.8), d.quantile([0.1, 0.9]), rtol=1e-12)
    assert_array_equal(d.median(), d.quantile(0.5))
    for method in ("mean", "median", "mode", "variance", "std", "probability_negative"):
        assert getattr(d, method)().shape == (3,), method
    assert d.probability(1.0, [2.0, 3.0]).shape == (3, 2)
    assert d.sample(random_state=1).shape == (3,)
    assert d.sample(5, random_state=1).shape == (3, 5)


@every_family
@given(data=st.data(), levels=st.tuples(LEVEL, LEVEL))
def test_probability_of_an_interval(name, data, levels):
    d = data.draw(members(name))
    low, high = (d.quantile(level)[:, None] for level in sorted(levels))
    assume(np.all(np.isfinite(high)) and np.all(low < high))
    assert_allclose(d.probability(low, high), d.cdf(high) - d.cdf(low), rtol=1e-7, atol=1e-13)
    assert_allclose(d.probability(-math.inf, high), d.cdf(high), rtol=1e-10)
    assert_allclose(d.probability(low, math.inf) + d.survival(1e300)[:, None], d.survival(low), rtol=1e-10)


# ---- the likelihood


@every_family
@given(data=st.data(), level=LEVEL, split=st.floats(0.05, 0.95), event=st.booleans())
def test_likelihood_is_unchanged_by_episode_splitting(name, data, level, split, event):
    d = data.draw(members(name, rows=1))
    time = float(d.quantile(level)[0])
    assume(0 < time < math.inf)
    cut = split * time
    assume(0 < cut < time and float(d.survival(time)[0]) > 1e-12)
    whole = d.log_likelihood(SurvivalData.right([time], [event]))
    episodes = SurvivalData.right([cut, time], [False, event], entry=[-np.inf, cut])
    split_up = d[[0, 0]].log_likelihood(episodes)
    assert_allclose(split_up.sum(), whole[0], rtol=1e-9, atol=1e-9)


@every_family
@given(data=st.data(), weight=st.floats(0.0, 10.0))
def test_likelihood_of_each_kind_of_row(name, data, weight):
    d = data.draw(members(name, rows=3))[[0, 1, 2, 0, 1]]
    early = d.quantile(0.05)
    d = d.shifted(max(0.0, 1.0 - float(early.min())))  # observed times are not negative
    q = {level: np.nan_to_num(d.quantile(level), posinf=1e4) for level in (0.1, 0.2, 0.3, 0.5, 0.7)}
    lower = np.array([q[0.3][0], q[0.5][1], -np.inf, q[0.2][3], q[0.2][4]])
    upper = np.array([q[0.3][0], np.inf, q[0.5][2], q[0.7][3] + 0.1, q[0.7][4] + 0.1])
    entry = np.array([-np.inf, 0.9 * q[0.1][1], -np.inf, -np.inf, 0.9 * q[0.1][4]])
    weights = [1.0, 2.0, weight, 0.5, 1.0]
    rows = SurvivalData.interval(lower, upper, entry=entry, weight=weights)

    def each(method, times):
        return getattr(d, method)(np.asarray(times)[:, None])[:, 0]

    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.log(each("cdf", upper) - each("cdf", lower))
        since = np.where(np.isfinite(entry), each("log_survival", entry), 0.0)
        kinds = [
            each("log_density", lower)[0],
            each("log_survival", lower)[1],
            each("log_cdf", upper)[2],
            between[3],
            between[4],
        ]
        expected = weights * (kinds - since)
    assume(not np.any(np.isnan(expected)))
    assert_allclose(d.log_likelihood(rows), expected, rtol=1e-7, atol=1e-8)
    assert d.log_likelihood(rows)[2] == 0 or weight > 0
