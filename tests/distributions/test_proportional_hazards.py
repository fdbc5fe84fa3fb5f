"""Baseline and risk against the table of the same curves, and against loops over its times."""

from __future__ import annotations

import math
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv import SurvivalData, metrics
from aldsurv.distributions import LeftTruncated, Mixture, ProportionalHazards, Step, SurvivalDistribution, Weibull
from aldsurv.distributions.wrappers.cause_curves import SummedIncidences
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.distributions.wrappers.scaled_hazard import scaled_hazard
from aldsurv.errors import ImpossibleRowsWarning, ParameterError
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline

ROWS = 7
MAP = LevelMap.through([0.25, 0.5, 0.75], [0.5, 0.75, 0.9])


def drawn(members: int = 1, *, ends: bool = False, start: float = 0.0) -> tuple[ProportionalHazards, Step]:
    """Proportional hazards, and the step function of the same curves, written out."""
    rng = np.random.default_rng(members + 10 * ends)
    times = start + np.cumsum(rng.gamma(2.0, 1.0, 12))
    hazard = rng.gamma(0.5, 0.4, (12, members)).cumsum(axis=0)
    if ends:
        hazard[-2:] = 1e6
    risk = rng.normal(size=(ROWS, members))
    survival = np.exp(-hazard.T[None] * np.exp(risk)[..., None]).mean(axis=1)
    return ProportionalHazards(times, np.log(hazard), risk), Step(times, survival)


CASES = {
    "one": drawn(),
    "members": drawn(3),
    "ends": drawn(ends=True),
    "members that end": drawn(2, ends=True),
    "from below 0": drawn(start=-4.0),
}
every_case = pytest.mark.parametrize(("found", "wanted"), CASES.values(), ids=CASES)


def places(step: Step) -> np.ndarray:
    """Times at, between, before and after those of the grid."""
    grid = step.times[0]
    return np.concatenate([[-9.0, 0.0], grid, np.nextafter(grid, np.inf), (grid[1:] + grid[:-1]) / 2, [99.0]])


def assert_same(found: SurvivalDistribution, wanted: SurvivalDistribution, times: np.ndarray) -> None:
    close = {"rtol": 1e-11, "atol": 1e-13}
    assert_allclose(found.density(times), wanted.density(times), rtol=1e-8, atol=1e-13)
    for name in ("survival", "cdf", "mean_residual_life"):
        assert_allclose(getattr(found, name)(times), getattr(wanted, name)(times), **close, err_msg=name)
    # The logarithm of a table ends where its survival underflows.
    some = wanted.survival(times) > 0
    assert_allclose(found.log_survival(times)[some], wanted.log_survival(times)[some], **close)
    levels = np.array([0.0, 1e-4, 0.2, 0.5, 0.9, 0.999, 1.0])
    assert_array_equal(found.quantile(levels), wanted.quantile(levels))
    assert_array_equal(found.sample(20, random_state=0), wanted.sample(20, random_state=0))
    for name in ("mean", "variance", "mode", "median"):
        assert_allclose(getattr(found, name)(), getattr(wanted, name)(), **close, err_msg=name)
    horizons = times[times >= 0]
    assert_allclose(found.restricted_mean(horizons), wanted.restricted_mean(horizons), **close)
    assert_allclose(found.crps(times), wanted.crps(times), **close)
    assert_allclose(found.crps(times, np.inf), wanted.crps(times, np.inf), **close)
    assert_allclose(found.crps(-np.inf, times), wanted.crps(-np.inf, times), **close)
    assert_allclose(found.probability(times, times + 2), wanted.probability(times, times + 2), **close)


@every_case
def test_it_is_the_step_function_of_the_same_curves(found, wanted):
    times = places(wanted)
    assert_same(found, wanted, times)
    assert_allclose(found.to_step().values, wanted.values, rtol=1e-14)
    assert_allclose(found.smoothed().cdf(times), wanted.smoothed().cdf(times), rtol=1e-12, atol=1e-14)
    chosen = [4, 0, 4]
    assert_same(found[chosen], wanted[chosen], times)
    assert_same(found.scaled(2.5), wanted.scaled(2.5), 2.5 * times)
    assert_same(found.scaled(np.arange(1.0, 8.0)), wanted.scaled(np.arange(1.0, 8.0)), times)
    assert_same(found.shifted(1.0), wanted.shifted(1.0), times + 1)
    later = found.shifted(np.arange(7.0))
    assert_allclose(later.survival(times), wanted.shifted(np.arange(7.0)).survival(times), atol=1e-13)
    assert_same(recalibrated(found, MAP), recalibrated(wanted, MAP), times)
    twice = recalibrated(recalibrated(found, MAP), MAP)
    assert_same(twice, recalibrated(recalibrated(wanted, MAP), MAP), times)
    factor = np.geomspace(0.5, 2.0, ROWS)
    assert_same(scaled_hazard(found, factor), scaled_hazard(wanted, factor), times)
    changed, as_steps = (scaled_hazard(scaled_hazard(recalibrated(one, MAP), factor), 1.5) for one in (found, wanted))
    assert not isinstance(changed, Step)
    assert_same(changed, as_steps, times)
    assert_same(changed[chosen], as_steps[chosen], times)
    assert_same(recalibrated(changed, MAP), recalibrated(as_steps, MAP), times)
    assert_same(scaled_hazard(twice, factor).scaled(2.0), scaled_hazard(twice.to_step(), factor).scaled(2.0), 2 * times)


@every_case
def test_wrapped(found, wanted):
    times = places(wanted)
    since = float(wanted.times[0, 4])
    one, other = found.conditional(since), wanted.conditional(since)
    assert isinstance(one, LeftTruncated)
    for method in ("survival", "cdf", "density", "quantile"):
        asked = np.linspace(0.05, 0.95, 5) if method == "quantile" else times
        # A tiny jump is the difference of two survivals: its density has lost as many digits.
        assert_allclose(getattr(one, method)(asked), getattr(other, method)(asked), rtol=1e-8, atol=1e-12)
    assert_allclose(one.restricted_mean(30.0), other.restricted_mean(30.0), rtol=1e-12)
    weibull = Weibull(np.full(ROWS, 5.0), 2.0)
    one, other = Mixture([found, weibull]), Mixture([wanted, weibull])
    assert_allclose(one.survival(times), other.survival(times), rtol=1e-12)
    assert_allclose(one.restricted_mean(8.0), other.restricted_mean(8.0), rtol=1e-12)
    assert_allclose(one.median(), other.median(), rtol=1e-9)


def test_metrics():
    found, wanted = CASES["one"]
    rng = np.random.default_rng(0)
    grid = wanted.times[0]
    data = SurvivalData.right(rng.choice(grid, ROWS), [True, False, True, True, False, True, True])
    assert_allclose(found.log_likelihood(data), wanted.log_likelihood(data), rtol=1e-11)
    for one, other in zip(metrics.event_levels(found, data), metrics.event_levels(wanted, data), strict=True):
        assert_allclose(one, other, rtol=1e-12)
    for name in ("concordance_antolini", "survival_crps", "average_calibration"):
        metric = getattr(metrics, name)
        assert metric(found, data) == pytest.approx(metric(wanted, data), rel=1e-11)
    score = metrics.integrated_brier_score
    assert score(found, data, train=data) == pytest.approx(score(wanted, data, train=data), rel=1e-12)


def test_by_hand():
    """Sums over the times of the grid, written as loops."""
    d = ProportionalHazards([1.0, 2.0, 4.0], np.log([0.5, 0.8, 1.8]), np.log([1.0, 2.0]))
    for row, risk in enumerate((1.0, 2.0)):
        survival = {1.0: math.exp(-0.5 * risk), 2.0: math.exp(-0.8 * risk), 4.0: math.exp(-1.8 * risk)}
        area = 1.0 + survival[1.0] + 2 * survival[2.0] + 3 * survival[4.0]
        assert d[row].restricted_mean(7.0)[0] == pytest.approx(area, rel=1e-14)
        before = (1 - survival[1.0]) ** 2 + 1.5 * (1 - survival[2.0]) ** 2
        assert d[row].crps(3.5, np.inf)[0] == pytest.approx(before, rel=1e-14)
        assert d[row].density(3.0)[0] == pytest.approx((survival[2.0] - survival[4.0]) / 2, rel=1e-14)
        median = next((time for time, value in survival.items() if value <= 0.5), math.inf)
        assert d[row].median()[0] == median


def test_logarithms_where_a_table_underflows():
    d = ProportionalHazards([1.0, 2.0], np.log([800.0, 900.0]), [0.0])
    assert_allclose(d.log_survival([1.0, 2.0]), [[-800.0, -900.0]], rtol=1e-14)
    assert_allclose(d.log_density(2.0), -800.0, rtol=1e-14)
    tiny = ProportionalHazards([1.0], np.log([1e-30]), [0.0])
    assert_allclose(tiny.cdf(1.0), 1e-30, rtol=1e-14)


def test_strata_have_grids_of_their_own():
    rng = np.random.default_rng(0)
    parts = [
        BaselineHazard(np.cumsum(rng.gamma(2.0, 1.0, size)), np.log(rng.gamma(0.5, 0.4, size).cumsum()))
        for size in (5, 1, 9)
    ]
    silent = BaselineHazard(np.array([3.0]), np.array([-np.inf]))
    baseline = StratifiedBaseline(np.array([2, 3, 5, 8]), (*parts, silent))
    risk, strata = rng.normal(size=12), np.array([2, 5, 3, 8, 2, 2, 5, 5, 3, 8, 2, 5])
    found = baseline.distribution(risk, strata)
    times = np.sort(np.concatenate([part.times for part in parts] + [np.linspace(0, 20, 9)]))
    for level, part in zip(baseline.levels, baseline.baselines, strict=True):
        rows = np.flatnonzero(strata == level)
        wanted = Step(part.times, np.exp(-np.exp(part.log_cumulative + risk[rows, None])))
        assert_same(found[rows], wanted, times)
        assert_allclose(found.survival(times)[rows], wanted.survival(times), rtol=1e-13)
        assert_allclose(found.restricted_mean(9.0)[rows], wanted.restricted_mean(9.0), rtol=1e-13)
        assert_array_equal(found.quantile([0.2, 0.7])[rows], wanted.quantile([0.2, 0.7]))
        assert_allclose(found.density(times)[rows], wanted.density(times), rtol=1e-8, atol=1e-13)


def test_joined():
    one, _ = CASES["one"]
    same = SurvivalDistribution.concatenate([one[:3], one[3:]])
    assert same.times is one.times
    assert_array_equal(same.survival([1.0, 5.0]), one.survival([1.0, 5.0]))
    parts = [one, CASES["ends"][0], one[[1]], CASES["from below 0"][0]]
    joined = SurvivalDistribution.concatenate(parts)
    assert repr(joined) == f"ProportionalHazards(n={3 * ROWS + 1}, times=36, strata=3)"
    times = np.linspace(-3, 30, 50)
    asked = times[times > 0]
    for method in ("survival", "density", "restricted_mean"):
        wanted = np.concatenate([getattr(part, method)(asked) for part in parts])
        assert_allclose(getattr(joined, method)(asked), wanted, rtol=1e-12, atol=1e-15)
    several = CASES["members"][0]
    changed = SurvivalDistribution.concatenate([several, scaled_hazard(several, 2.0)])
    assert_allclose(changed.survival(asked)[ROWS:], changed.survival(asked)[:ROWS] ** 2, rtol=1e-12)
    again = SurvivalDistribution.concatenate([joined, one])
    assert_array_equal(again.median(), np.concatenate([joined.median(), one.median()]))
    with pytest.raises(ParameterError, match="members"):
        SurvivalDistribution.concatenate([one, CASES["members"][0]])
    with pytest.raises(ParameterError, match="different maps"):
        SurvivalDistribution.concatenate([one, recalibrated(one, MAP)])


def test_memory_is_that_of_the_answer():
    """20,000 rows of 20,000 times would be a table of 3.2 GB."""
    n = 20_000
    rng = np.random.default_rng(0)
    d = ProportionalHazards(np.arange(1.0, n + 1), np.log(np.arange(1.0, n + 1) / n), rng.normal(size=n))
    data = SurvivalData.right(rng.integers(1, n, n).astype(float), rng.uniform(size=n) < 0.5)
    tracemalloc.start()
    d.survival(np.linspace(0, n, 20))
    d.log_likelihood(data)
    d.median()
    recalibrated(d, MAP).quantile([0.1, 0.9])
    assert d.crps(data.time[:, None]).shape == (n, 1)
    d[:100].restricted_mean(float(n))
    d.conditional(100.0).median()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64e6


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (([], [], [0.0]), {}, r"times must have shape \(m,\)"),
        (([1.0, 1.0], [0.0, 0.0], [0.0]), {}, "strictly increasing"),
        (([1.0, np.inf], [0.0, 0.0], [0.0]), {}, "times must be finite"),
        (([1.0, 2.0], [0.0, -1.0], [0.0]), {}, "do not fall"),
        (([1.0, 2.0], [0.0, np.nan], [0.0]), {}, "do not fall"),
        (([1.0, 2.0], [0.0], [0.0]), {}, r"log_cumulative must have shape \(2,\)"),
        (([1.0], [0.0], [[0.0, 1.0]]), {}, "each of 1 members"),
        (([1.0], [0.0], [np.nan]), {}, "log_risk must be finite"),
        (([1.0], [0.0], ["a"]), {}, "log_risk must be numbers"),
        (([1.0, 2.0], [0.0, 0.0], [0.0]), {"sizes": [1, 2]}, "add up to the 2 times"),
        (([2.0, 1.0], [0.0, 0.0], [0.0]), {"sizes": [1, 1], "strata": [2]}, "below 2"),
    ],
)
def test_what_is_refused(arguments, options, match):
    with pytest.raises(ParameterError, match=match):
        ProportionalHazards(*arguments, **options)


# ---- never a table

MANY = 20_000


def shared_curves(rows: int, times: int, members: int = 1, *, strata: int = 1) -> ProportionalHazards:
    """Many rows and many times, whose table would not fit into the memory of a test."""
    rng = np.random.default_rng(rows + times)
    grids = [np.cumsum(rng.gamma(2.0, 1.0 / times, times)) for _ in range(strata)]
    heights = [np.log(rng.gamma(0.5, 2.0 / times, (times, members)).cumsum(axis=0)) for _ in range(strata)]
    risk, codes = 2 * rng.normal(size=(rows, members)), rng.integers(0, strata, rows)
    sizes = [times] * strata
    return ProportionalHazards(np.concatenate(grids), np.concatenate(heights), risk, sizes=sizes, strata=codes)


@pytest.mark.parametrize(("members", "strata"), [(1, 1), (2, 3)])
def test_restricted_means_of_many_rows_are_those_of_each(members, strata):
    """Interpolated between log risks, against sums over the grid of one row after the other."""
    many, horizons = shared_curves(600, 50, members, strata=strata), np.array([0.0, 0.3, 1.0, 50.0])
    found = many.restricted_mean(horizons)
    for row in range(0, 600, 7):
        # A single row is not interpolated.
        assert_allclose(found[row], many[row].restricted_mean(horizons)[0], rtol=1e-11)
        grid = many.to_step().times[0] if strata == 1 else many[row].to_step().times[0]
        edges = np.concatenate([[0.0], grid[grid < 1.0], [1.0]])
        area = np.diff(edges) @ many[row].survival(edges[:-1])[0]
        assert found[row, 2] == pytest.approx(area, rel=1e-11)
    assert_allclose(many.approximate_restricted_mean(0.3), found[:, 1], rtol=1e-13)
    weibull = Weibull(np.full(600, 2.0), 1.5)
    both = Mixture([many, weibull], [0.25, 0.75]).restricted_mean(horizons)
    assert_allclose(both, 0.25 * found + 0.75 * weibull.restricted_mean(horizons), rtol=1e-12)


def test_ranks_of_mapped_levels_are_restricted_means():
    """Of many rows interpolated, against the table of their curves."""
    many = recalibrated(recalibrated(shared_curves(3000, 40, strata=2), MAP), MAP)
    for horizon in (0.3, 1.0, 9.0):
        found, wanted = many.approximate_restricted_mean(horizon), many.restricted_mean(horizon)
        assert_allclose(found, wanted, atol=1e-5 * horizon)


def test_extreme_risks_are_interpolated_as_exactly():
    """Where all risk comes at once or never: errors are a share of the horizon, whatever the height of the hazard."""
    risk = np.concatenate([np.linspace(low, low + 1, 200, endpoint=False) for low in (-700.0, -40.0, 3.0, 30.0, 700.0)])
    d = ProportionalHazards([1.0, 2.0, 4.0], np.log([1e-12, 0.5, 9.0]), risk)
    factor = np.exp(risk)
    with np.errstate(under="ignore"):
        area = 1.0 + np.exp(-1e-12 * factor) + 2 * np.exp(-0.5 * factor) + 3 * np.exp(-9.0 * factor)
    assert_allclose(d.restricted_mean(7.0), area, rtol=1e-14, atol=7e-15)


@pytest.mark.parametrize("share", [None, 0.3, 0.8])
def test_restricted_means_of_incidences_that_add_up(share):
    """Against the sum over the grid; shares of the causes add up to 2, 0.6 and 1.6."""
    rng = np.random.default_rng(4)
    times, heights = np.cumsum(rng.gamma(2.0, 1.0, 12)), np.log(0.02 * rng.gamma(1.0, 1.0, (12, 2)).cumsum(axis=0))
    d = SummedIncidences(
        times, heights, rng.normal(size=(ROWS, 2)), None if share is None else np.full((ROWS, 2), share)
    )
    edges = np.concatenate([[0.0], times[times < 9.0], [9.0]])
    assert_allclose(d.restricted_mean(9.0), d.survival(edges[:-1]) @ np.diff(edges), rtol=1e-12)


def test_no_table_is_made():
    """A byte for each pair of a row and a time would be 400 MB."""
    d = shared_curves(MANY, MANY, 2)
    data = SurvivalData.right(np.random.default_rng(0).gamma(2.0, 0.5, MANY), np.arange(MANY) % 2 == 0)
    chosen = ["ibs", "harrell_c", "log_likelihood", "bounded_log_likelihood", "mae"]
    for task in (
        lambda: d.survival([0.5, 1.0, 2.0]),
        lambda: d.quantile([0.1, 0.5, 0.9]),
        lambda: (d.median(), d.mean()),
        lambda: d.restricted_mean([0.5, 1.0]),
        lambda: d.approximate_restricted_mean(1.0),
        lambda: metrics.evaluate(d, data, train=data, metrics=chosen),
    ):
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImpossibleRowsWarning)
            task()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 40e6


def test_ranks_of_recalibrated_curves_take_no_table():
    d = recalibrated(shared_curves(MANY, 4000), MAP)
    tracemalloc.start()
    d.approximate_restricted_mean(1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Survival of the nodes of one stretch and what its mapping takes, whatever the number of rows.
    assert peak < 60e6
