"""The time to an event of one cause by hazards of all, beside the table of rows × times that it does not make."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aldsurv.distributions.competing import CauseSpecificHazards
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.wrappers import cause_curves, hazard_curves
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.distributions.wrappers.recalibrated import recalibrated
from aldsurv.errors import ParameterError

ROWS, MANY = 9, 1500


def drawn(rows=ROWS, times=14, seed=0):
    """Two strata; at some times only one of the hazards rises, at some both do."""
    rng = np.random.default_rng(seed)
    rises = rng.gamma(0.5, 2.0 / times, (times, 2)) * (rng.uniform(size=(times, 2)) < 0.7)
    first = times // 3
    rises[[0, first]] += 0.05
    heights = np.log(np.concatenate([rises[:first].cumsum(axis=0), rises[first:].cumsum(axis=0)]))
    grids = {"sizes": [first, times - first], "strata": rng.integers(0, 2, rows)}
    return CauseSpecificHazards(np.arange(1.0, times + 1), heights, rng.normal(size=(rows, 2)), ["a", "b"], **grids)


def table(d: CauseSpecificHazards, cause: int) -> Step:
    """By loops: at each time of a row's grid, what survival loses times the share of the cause."""
    curves, grid = d.curves, np.unique(d.curves.times)
    values = np.empty((len(d), grid.size))
    for row in range(len(d)):
        stratum = int(curves.stratum[row, 0])
        own = slice(int(curves.first[stratum]), int(curves.first[stratum] + curves.size[stratum]))
        hazards = np.exp(curves.log_cumulative[own] + curves.log_risk[row])
        incidence, before, at = 0.0, np.zeros(2), {}
        for time, hazard in zip(curves.times[own].tolist(), hazards, strict=True):
            rise = hazard - before
            if rise.sum():
                incidence += (math.exp(-before.sum()) - math.exp(-hazard.sum())) * rise[cause] / rise.sum()
            before, at[time] = hazard, incidence
        last = 0.0
        for place, time in enumerate(grid.tolist()):
            last = at.get(time, last)
            values[row, place] = 1 - last
    return Step(grid, values)


@pytest.mark.parametrize("cause", [0, 1])
def test_every_value_is_that_of_the_table(cause):
    d = drawn()
    found, wanted = d.subdistribution(cause + 1), table(d, cause)
    times = np.concatenate([np.arange(0.0, 16.0), np.arange(15.0) + 0.5])
    each = np.random.default_rng(1).uniform(0, 15, (ROWS, 3))
    levels = wanted.cdf(5.0)[:, None] * [0.2, 0.5, 0.99] + [0.0, 0.0, 0.003]
    for value in (
        lambda one: one.survival(times),
        lambda one: one.cdf(each),
        lambda one: one.log_survival(each),
        lambda one: one.quantile(levels),
        lambda one: one.restricted_mean([0.5, 4.2, 12.0]),
        lambda one: one.restricted_mean(each),
        lambda one: one.mean(),
        lambda one: one.crps(each[:, :1], np.full((ROWS, 1), np.inf)),
        lambda one: one.crps(each[:, :1]),
        lambda one: one.conditional(3.0).survival(times[4:15]),
        lambda one: one.scaled(2.0).survival(2 * times),
        lambda one: one[[3, 0]].cdf(7.0),
        lambda one: recalibrated(one, LevelMap.through([0.2, 0.5], [0.3, 0.4])).cdf(times),
    ):
        assert_allclose(value(found), value(wanted), rtol=1e-12, atol=1e-12)
    assert_allclose(found.density(each), d.density(each, cause + 1), rtol=1e-12, atol=1e-12)


def test_rows_are_joined():
    one, other = drawn(), drawn(seed=1)
    joined = one.subdistribution("a").concatenate([part.subdistribution("a") for part in (one, other)])
    assert_allclose(joined.cdf([3.0, 9.0]), np.concatenate([part.incidence([3.0, 9.0], "a") for part in (one, other)]))
    with pytest.raises(ParameterError, match="different causes cannot be joined"):
        one.subdistribution(1).concatenate([one.subdistribution(1), one.subdistribution(2)])


def test_no_table_is_made(monkeypatch):
    """One of 1500 rows and 1500 times would be 18 MB."""
    for module in (cause_curves, hazard_curves):
        monkeypatch.setattr(module, "TABLE_VALUES", 1 << 14)
    d = drawn(MANY, MANY)
    for task in (
        lambda: d.subdistribution(1).survival([0.5, 300.0]),
        lambda: d.subdistribution(2).quantile([0.01, 0.02]),
        lambda: d.quantile(0.5, "a"),
        lambda: d.subdistribution("b").restricted_mean(900.0),
    ):
        tracemalloc.start()
        task()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 6e6
