from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from aldsurv.distributions.competing.cumulative_incidence import CumulativeIncidence, linear_survival
from aldsurv.errors import ParameterError

TIMES = np.array([1.0, 2.0, 4.0, 7.0])


def draw(n=6, causes=3, seed=0):
    chances = np.random.default_rng(seed).dirichlet(np.ones(causes * 4 + 1), n)[:, :-1]
    return chances.reshape(n, causes, 4).transpose(1, 0, 2).cumsum(axis=2)


@pytest.mark.parametrize("interpolate", [False, True])
def test_values_between_the_times(interpolate):
    table = draw()
    found = CumulativeIncidence(TIMES, table, interpolate=interpolate)
    times = np.array([0.0, 0.5, 1.0, 1.25, 3.0, 6.999, 7.0])
    answer = found.incidence(times)
    assert answer.shape == (3, 6, 7)
    for k in range(3):
        for i in range(6):
            if interpolate:
                expected = np.interp(times, [0, *TIMES], [0, *table[k, i]])
            else:
                expected = [max([0.0, *table[k, i][t >= TIMES]]) for t in times]
            np.testing.assert_allclose(answer[k, i], expected, atol=1e-14)
    np.testing.assert_array_equal(found.incidence(times, cause=2), answer[1])
    np.testing.assert_array_equal(found.incidence(times, cause="2"), answer[1])
    np.testing.assert_array_equal(found.incidence(3.0), answer[:, :, 4])
    own = np.linspace(0, 6, 6)[:, None]
    np.testing.assert_allclose(found.incidence(own)[:, 2, 0], found.incidence(own[2, 0])[:, 2], atol=1e-15)


@pytest.mark.parametrize("interpolate", [False, True])
def test_the_causes_add_up_to_one_minus_survival(interpolate):
    found = CumulativeIncidence(TIMES, draw(), interpolate=interpolate)
    times = np.linspace(0, 60, 400)
    together = found.incidence(times).sum(axis=0)
    np.testing.assert_allclose(together, 1 - found.overall().survival(times), atol=1e-13)
    each = found.incidence(times)
    assert (np.diff(each, axis=2) >= -1e-14).all()
    # After the grid the causes keep their proportions.
    late = each[:, :, times > 7]
    np.testing.assert_allclose(late / late.sum(axis=0), (late / late.sum(axis=0))[:, :, :1] + 0 * late, rtol=1e-12)


def test_the_tail_has_the_mean_hazard_of_the_grid():
    survival = np.array([[0.9, 0.8, 0.7, 0.6], [0.5, 0.2, 0.1, 0.1], [1.0, 1.0, 1.0, 1.0], [0.5, 0.2, 0.1, 0.0]])
    curve = linear_survival(TIMES, survival)
    np.testing.assert_allclose(curve.survival(TIMES), survival, atol=1e-14)
    np.testing.assert_allclose(curve.survival([14.0, 21.0])[:2], survival[:2, -1:] ** [2, 3], rtol=1e-12)
    assert (curve.survival([1e3])[2] > 1 - 1e-6).all()
    assert curve.survival([7.1])[3] == 0
    # Who survives the grid more likely has the later median, whatever its last stretch looks like.
    assert curve.median()[0] > 7 > curve.median()[1]


def test_rows():
    table = draw()
    found = CumulativeIncidence(TIMES, table, ["a", "b", "c"], interpolate=True)
    assert len(found) == 6
    part = found[[4, 1]]
    np.testing.assert_array_equal(part.incidence(3.0, "c"), found.incidence(3.0, "c")[[4, 1]])
    assert len(found[2:5]) == 3
    assert len(found[-1]) == 1
    assert part.causes == ("a", "b", "c")
    assert repr(part) == "CumulativeIncidence(n=2, causes=['a', 'b', 'c'], times=4)"
    one = CumulativeIncidence(TIMES, table[:, 0])
    np.testing.assert_array_equal(one.incidence(3.0), CumulativeIncidence(TIMES, table).incidence(3.0)[:, :1])
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.causes = ()


@pytest.mark.parametrize(
    ("times", "table", "causes", "message"),
    [
        ([1.0, 1.0], [[0.1, 0.2]], None, "times must be a vector of finite numbers above 0, strictly increasing"),
        ([0.0, 1.0], [[0.1, 0.2]], None, "times must be a vector"),
        ([1.0, 2.0], [[0.1, 0.2, 0.3]], None, r"incidence must have shape \(causes, n, 2\)"),
        ([1.0, 2.0], [[0.2, 0.1]], None, "incidence must not fall"),
        ([1.0, 2.0], [[0.2, 0.6], [0.1, 0.5]], None, "together must not exceed 1"),
        ([1.0, 2.0], [[0.1, np.nan]], None, "incidence must not fall"),
        ([1.0, 2.0], [[0.1, 0.2]], ["a", "b"], "causes must be 1 different names"),
    ],
)
def test_what_is_refused(times, table, causes, message):
    with pytest.raises(ParameterError, match=message):
        CumulativeIncidence(times, table, causes)
