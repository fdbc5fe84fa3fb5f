"""What the public methods take and refuse: shapes, kinds of input, messages, immutability, blocks of rows."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from aldsurv import SurvivalData
from aldsurv.distributions import (
    AsymmetricLaplace,
    Exponential,
    LeftTruncated,
    LogAsymmetricLaplace,
    LogNormal,
    Mixture,
    Normal,
    PositiveAsymmetricLaplace,
    QuantileKnots,
    Shifted,
    Step,
    SurvivalDistribution,
    Weibull,
)
from aldsurv.errors import ParameterError


def make(name: str, n: int) -> SurvivalDistribution:
    """A distribution of n different rows."""
    up = np.linspace(1.0, 3.0, n)
    if name == "AsymmetricLaplace":
        return AsymmetricLaplace(up, 1.5, 0.5 * up)
    if name == "PositiveAsymmetricLaplace":
        return PositiveAsymmetricLaplace(up, 1.5, 0.5 * up)
    if name == "LogAsymmetricLaplace":
        return LogAsymmetricLaplace(up / 3, 0.4, up)
    if name == "Normal":
        return Normal(up, up)
    if name == "LogNormal":
        return LogNormal(up / 3, up / 4)
    if name == "Weibull":
        return Weibull(up, 0.7 * up)
    if name == "Exponential":
        return Exponential(up)
    if name == "Step":
        return Step([0.5, 1.0, 4.0], np.stack([1 - up / 4, 1 - up / 3.5, 1 - up / 3.2], axis=1))
    if name == "StepByRow":
        return Step(up[:, None] * [0.5, 1.0, 4.0], np.tile([0.8, 0.5, 0.1], (n, 1)))
    if name == "QuantileKnots":
        return QuantileKnots([0.1, 0.5, 0.8], up[:, None] * [1.0, 2.0, 5.0] - 2.0)
    if name == "Smoothed":
        return make("Step", n).smoothed()
    if name == "Mixture":
        return Mixture([make("Weibull", n), make("AsymmetricLaplace", n)], np.stack([up, 4 - up], axis=1))
    if name == "LeftTruncated":
        return LeftTruncated(make("Normal", n), up / 2)
    return Shifted(make("Weibull", n), up)


NAMES = [
    "AsymmetricLaplace", "PositiveAsymmetricLaplace", "LogAsymmetricLaplace", "Normal", "LogNormal", "Weibull",
    "Exponential", "Step", "StepByRow", "QuantileKnots", "Smoothed", "Mixture", "LeftTruncated", "Shifted",
]  # fmt: skip
every_family = pytest.mark.parametrize("name", NAMES)
OF_TIMES = [
    "survival", "log_survival", "cdf", "log_cdf", "density", "log_density", "hazard", "cumulative_hazard",
    "mean_residual_life", "restricted_mean", "crps",
]  # fmt: skip
WITHOUT_ARGUMENT = ["mean", "median", "mode", "variance", "std", "probability_negative"]


# ---- shapes


@every_family
@pytest.mark.parametrize("n", [1, 4])
def test_shapes_of_every_answer(name, n):
    d = make(name, n)
    assert len(d) == n
    for method in OF_TIMES:
        call = getattr(d, method)
        assert call(1.2).shape == (n,), method
        assert call([1.2]).shape == (n, 1), method
        assert call([0.5, 1.2, 3.0]).shape == (n, 3), method
        assert call([[0.5, 1.2, 3.0]]).shape == (n, 3), method
        assert call(np.ones((n, 2))).shape == (n, 2), method
        assert call([]).shape == (n, 0), method
        assert call(1.2).dtype == np.float64
    for method in WITHOUT_ARGUMENT:
        assert getattr(d, method)().shape == (n,), method
    assert d.quantile(0.3).shape == (n,)
    assert d.quantile([]).shape == (n, 0)
    assert d.quantile([[0.1, 0.2]]).shape == (n, 2)
    assert d.interval(0.5).shape == (n, 2)
    assert d.probability(0.0, 1.0).shape == (n,)
    assert d.probability([0.0], 1.0).shape == (n, 1)
    assert d.probability(0.0, [1.0, 2.0]).shape == (n, 2)
    assert d.probability(np.zeros((n, 1)), [1.0, 2.0]).shape == (n, 2)
    assert d.crps(1.0, math.inf).shape == (n,)
    assert d.crps([0.5, 1.0], np.full((n, 2), 5.0)).shape == (n, 2)
    assert d.sample(random_state=0).shape == (n,)
    assert d.sample(0, random_state=0).shape == (n, 0)
    assert d.sample(1, random_state=0).shape == (n, 1)


@every_family
def test_no_rows(name):
    empty = make(name, 3)[:0]
    assert len(empty) == 0
    for method in OF_TIMES:
        assert getattr(empty, method)(1.2).shape == (0,), method
        assert getattr(empty, method)([0.5, 1.2]).shape == (0, 2), method
        assert getattr(empty, method)(np.ones((0, 4))).shape == (0, 4), method
    for method in WITHOUT_ARGUMENT:
        assert getattr(empty, method)().shape == (0,), method
    assert empty.quantile([0.1, 0.5, 0.9]).shape == (0, 3)
    assert empty.sample(5, random_state=0).shape == (0, 5)
    assert list(empty) == []
    assert list(empty.blocks(3)) == []
    assert "n=0" in repr(empty)
    assert len(empty.conditional(0.5)) == 0
    assert len(empty.scaled(2.0)) == len(empty.shifted(2.0)) == 0
    assert len(SurvivalDistribution.concatenate([empty, make(name, 3)])) == 3


@every_family
def test_one_row_that_is_sliced_away_or_repeated(name):
    one = make(name, 1)
    assert one[:0].survival([1.0, 2.0]).shape == (0, 2)
    thrice = one[[0, 0, 0]]
    assert len(thrice) == 3
    assert_array_equal(thrice.survival([1.0, 2.0]), np.tile(one.survival([1.0, 2.0]), (3, 1)))
    assert_array_equal(thrice.median(), np.repeat(one.median(), 3))
    assert_allclose(thrice.scaled([1.0, 2.0, 3.0]).median(), one.median() * [1.0, 2.0, 3.0], rtol=1e-12)


@every_family
@pytest.mark.parametrize("times", [np.ones((3, 1)), np.ones((2, 5)), np.ones((1, 1, 1)), np.ones((4, 1, 2))])
def test_shapes_that_do_not_fit(name, times):
    d = make(name, 4)
    for method in ("survival", "mean_residual_life", "crps"):
        with pytest.raises(ParameterError) as caught:
            getattr(d, method)(times)
        assert "times" in str(caught.value)
        assert "4 individuals" in str(caught.value)
        assert str(times.shape) in str(caught.value)
    with pytest.raises(ParameterError, match="levels"):
        d.quantile(times / 2)
    with pytest.raises(ParameterError, match="horizon"):
        d.restricted_mean(times)


def test_vectors_that_do_not_fit_each_other():
    d = Exponential([1.0, 2.0])
    with pytest.raises(ValueError):
        d.probability([0.0, 1.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError):
        d.crps([0.0, 1.0], [1.0, 2.0, 3.0])


# ---- times, levels, horizons


@pytest.mark.parametrize("times", ["noon", ["a", "b"], [[1.0], [1.0, 2.0]], {"a": 1}, object(), 1 + 2j])
def test_times_that_are_no_numbers(times):
    with pytest.raises(ParameterError, match="times must be numbers"):
        Exponential([1.0, 2.0]).survival(times)


@pytest.mark.parametrize("method", OF_TIMES)
def test_times_must_not_be_missing(method):
    d = Exponential([1.0, 2.0])
    with pytest.raises(ParameterError, match=r"must not be NaN, but 1 of 3 values"):
        getattr(d, method)([1.0, math.nan, 2.0])
    with pytest.raises(ParameterError, match="NaN"):
        getattr(d, method)(math.nan)


def test_bounds_must_not_be_missing():
    d = Exponential([1.0, 2.0])
    for method in ("probability", "log_probability"):
        with pytest.raises(ParameterError, match="lower must not be NaN"):
            getattr(d, method)(math.nan, 1.0)
        with pytest.raises(ParameterError, match="upper must not be NaN"):
            getattr(d, method)(1.0, math.nan)
    with pytest.raises(ParameterError, match="upper must not be NaN"):
        d.crps(1.0, math.nan)


@every_family
@pytest.mark.parametrize("level", [90, -0.1, 1.0000001, math.inf, [0.5, 1.5]])
def test_levels_are_probabilities(name, level):
    with pytest.raises(ParameterError) as caught:
        make(name, 2).quantile(level)
    assert "quantile(0.9), not quantile(90)" in str(caught.value)


def test_levels_must_not_be_missing():
    with pytest.raises(ParameterError, match="levels must not be NaN"):
        Exponential(1.0).quantile([0.5, math.nan])


@every_family
@pytest.mark.parametrize("horizon", [-1.0, [3.0, -1e-9], -math.inf])
def test_horizons_are_not_negative(name, horizon):
    with pytest.raises(ParameterError, match="horizon must not be negative"):
        make(name, 2).restricted_mean(horizon)


@pytest.mark.parametrize("level", [0, 1, 90, -0.5, math.nan, 0.0, 1.0])
def test_the_level_of_an_interval(level):
    with pytest.raises(ParameterError, match="level must lie between 0 and 1"):
        Exponential(1.0).interval(level)


def test_an_outcome_cannot_end_before_it_begins():
    for d in (Exponential(1.0), Normal(0.0, 1.0), Step([1.0, 2.0], [0.5, 0.0])):
        with pytest.raises(ParameterError, match="upper"):
            d.crps(5.0, 3.0)


@every_family
def test_nothing_happens_in_an_empty_interval(name):
    d = make(name, 2)
    assert_array_equal(d.probability([1.0, 3.0], [1.0, 2.0]), 0.0)
    assert_array_equal(d.log_probability(1.0, 1.0), -math.inf)


# ---- change of unit and origin


@every_family
@pytest.mark.parametrize("factor", [0.0, -1.0, math.inf, [1.0, 0.0], "two", math.nan, [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_impossible_factors(name, factor):
    with pytest.raises(ParameterError, match="factor"):
        make(name, 2).scaled(factor)


@every_family
@pytest.mark.parametrize("offset", [math.inf, -math.inf, [0.0, math.inf], "two", math.nan, [1.0, 2.0, 3.0]])
def test_impossible_offsets(name, offset):
    with pytest.raises(ParameterError, match="offset"):
        make(name, 2).shifted(offset)


@pytest.mark.parametrize(("action", "wrong"), [("scaled", 0.0), ("shifted", math.inf), ("conditional", math.inf)])
def test_messages_about_many_rows_name_one(action, wrong):
    values = np.ones(1000)
    values[[700, 800]] = wrong
    with pytest.raises(ParameterError) as caught:
        getattr(Exponential(np.ones(1000)), action)(values)
    assert "row 700" in str(caught.value)
    assert f"{wrong:g}" in str(caught.value)
    assert len(str(caught.value)) < 300


# ---- rows


@every_family
def test_rows_as_numpy_takes_them(name):
    d = make(name, 5)
    medians = d.median()
    for row in (2, -1, np.int64(3)):
        assert_array_equal(d[row].median(), medians[[row]])
    for rows in (slice(1, 4), slice(None, None, -2), [0, 4, 4], np.array([3, 1])):
        assert_array_equal(d[rows].median(), medians[rows])
    assert_array_equal(d[0, 2].median(), medians[[0, 2]])
    mask = np.array([True, False, False, True, True])
    assert_array_equal(d[mask].median(), medians[mask])
    assert_array_equal(d[list(mask)].median(), medians[mask])
    assert len(d[np.zeros(5, bool)]) == 0
    assert len(d[[]]) == 0


@every_family
@pytest.mark.parametrize("row", [5, -6, 100])
def test_rows_that_are_not_there(name, row):
    with pytest.raises(IndexError):
        make(name, 5)[row]
    with pytest.raises(IndexError):
        make(name, 5)[[0, row]]


@pytest.mark.parametrize("rows", [1.5, "first", [0.0, 1.0], ["a"], None, [[0, 1]], np.zeros((2, 2), int)])
def test_rows_of_the_wrong_kind(rows):
    with pytest.raises(ParameterError, match="rows"):
        Exponential([1.0, 2.0])[rows]


@pytest.mark.parametrize("size", [1, 4, 6])
def test_masks_of_the_wrong_length(size):
    with pytest.raises(ParameterError, match=f"mask of {size} values.*5 rows"):
        make("Weibull", 5)[np.ones(size, bool)]


def test_a_mask_without_values_is_of_the_wrong_length_too():
    with pytest.raises(ParameterError, match="mask of 0 values"):
        make("Weibull", 5)[np.ones(0, bool)]


def test_masks_and_indices_of_numpy_choose_rows_of_tensors():
    d = AsymmetricLaplace(torch.tensor([1.0, 2.0, 3.0]), 1.0, 1.0)
    for rows in ([2, 0], np.array([2, 0]), torch.tensor([2, 0])):
        assert d[rows].theta[:, 0].tolist() == [3.0, 1.0]
    for mask in ([True, False, True], np.array([True, False, True]), torch.tensor([True, False, True])):
        assert d[mask].theta[:, 0].tolist() == [1.0, 3.0]
    assert len(d[np.zeros(3, bool)]) == 0
    assert d[1:].theta[:, 0].tolist() == [2.0, 3.0]
    assert d[-1].theta[:, 0].tolist() == [3.0]


def test_indices_stay_exact_in_single_precision():
    n = 2**24 + 4
    d = Exponential(torch.arange(1, n + 1, dtype=torch.float32))
    row = n - 2  # odd numbers beyond 2²⁴ do not exist in single precision
    assert d[np.array([row - 1])].scale.item() == d.scale[row - 1, 0].item()
    assert d[np.array([row])].scale.item() == d.scale[row, 0].item()


@every_family
def test_blocks_hold_every_row_once(name):
    d = make(name, 5)
    for rows in (1, 2, 3, 5, 100):
        parts = list(d.blocks(rows))
        assert sum(len(part) for part in parts) == 5
        assert max(len(part) for part in parts) <= rows
        assert_array_equal(np.concatenate([part.median() for part in parts]), d.median())


@pytest.mark.parametrize("rows", [0, -3])
def test_blocks_of_no_rows(rows):
    with pytest.raises(ParameterError, match="rows must be at least 1"):
        Exponential([1.0]).blocks(rows)


def test_concatenation_refuses_nothing_and_strangers():
    with pytest.raises(ParameterError, match="at least one"):
        SurvivalDistribution.concatenate([])
    with pytest.raises(ParameterError, match="one family") as caught:
        SurvivalDistribution.concatenate([Exponential(1.0), Normal(0.0, 1.0), Exponential(2.0)])
    assert "Exponential, Normal" in str(caught.value)
    with pytest.raises(ParameterError, match="one family"):
        SurvivalDistribution.concatenate([Exponential(1.0).shifted(1.0), Normal(0.0, 1.0).conditional(1.0)])
    with pytest.raises(ParameterError, match="one family"):
        SurvivalDistribution.concatenate([Exponential(1.0).shifted(1.0), Weibull(1.0, 1.0).shifted(1.0)])
    one = Exponential(1.0)
    assert SurvivalDistribution.concatenate([one]) is one
    assert len(SurvivalDistribution.concatenate(iter([one, one]))) == 2


@pytest.mark.parametrize("name", [name for name in NAMES if name != "StepByRow"])
def test_concatenation_keeps_order(name):
    d = make(name, 5)
    joined = SurvivalDistribution.concatenate([d[3:], d[:1], d[1:3]])
    assert_allclose(joined.survival([0.7, 2.0]), d.survival([0.7, 2.0])[[3, 4, 0, 1, 2]], rtol=1e-14)


def test_data_with_another_number_of_rows():
    with pytest.raises(ParameterError, match=r"3 rows.*2"):
        Exponential([1.0, 2.0]).log_likelihood(SurvivalData.right([1.0, 2.0, 3.0], [True, True, False]))


# ---- parameters


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Exponential([1.0, math.nan, 2.0]), ["scale", "positive", "1 of 3", "row 1", "NaN"]),
        (lambda: Exponential([1.0, -2.0, -3.0]), ["scale", "positive", "2 of 3", "row 1", "-2"]),
        (lambda: Exponential(0.0), ["scale", "positive", "row 0", "0"]),
        (lambda: Exponential(math.inf), ["scale", "finite", "inf"]),
        (lambda: Normal([0.0, math.inf], 1.0), ["mu", "finite", "row 1", "inf"]),
        (lambda: Normal(math.nan, 1.0), ["mu", "finite", "NaN"]),
        (lambda: Normal(0.0, [1.0, 0.0]), ["sigma", "positive", "row 1"]),
        (lambda: LogNormal(0.0, -1.0), ["sigma", "positive", "-1"]),
        (lambda: Weibull(1.0, 0.0), ["shape", "positive"]),
        (lambda: Weibull(-1.0, 1.0), ["scale", "positive"]),
        (lambda: AsymmetricLaplace(1.0, 1.0, [1.0, 1.0, -0.5]), ["kappa", "positive", "1 of 3", "row 2", "-0.5"]),
        (lambda: AsymmetricLaplace(math.inf, 1.0, 1.0), ["theta", "finite"]),
        (lambda: PositiveAsymmetricLaplace(1.0, 0.0, 1.0), ["sigma", "positive"]),
        (lambda: LogAsymmetricLaplace(1.0, 1.0, math.nan), ["kappa", "NaN"]),
        (lambda: Normal([1.0, 2.0], [1.0, 2.0, 3.0]), ["one length", "mu 2", "sigma 3"]),
        (lambda: AsymmetricLaplace([1.0] * 3, [1.0] * 2, 1.0), ["theta 3", "sigma 2", "kappa 1"]),
        (lambda: Exponential("slow"), ["scale", "numbers", "slow"]),
        (lambda: Exponential([[1.0, 2.0]]), ["scale", "shape", "(1, 2)"]),
        (lambda: Exponential(np.ones((2, 2, 2))), ["scale", "shape", "(2, 2, 2)"]),
        (lambda: Exponential([[1.0], [1.0, 2.0]]), ["scale", "numbers"]),
        (lambda: Exponential(torch.tensor([1.0, -1.0])), ["scale", "positive", "row 1", "-1"]),
    ],
)
def test_parameters_out_of_their_domain(build, words):
    with pytest.raises(ParameterError) as caught:
        build()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda v: np.array(v, np.float32), lambda v: np.array(v, int)])
def test_numbers_of_every_kind_become_double_precision(kind):
    d = AsymmetricLaplace(kind([1, 2]), kind([1, 3]), 1)
    for column in (d.theta, d.sigma, d.kappa):
        assert column.dtype == np.float64
        assert column.shape == (2, 1)
    expected = AsymmetricLaplace([1.0, 2.0], [1.0, 3.0], 1.0)
    assert_array_equal(d.survival(kind([1, 2])), expected.survival([1.0, 2.0]))
    assert d.survival(kind([1, 2])).dtype == np.float64
    assert d.quantile(np.float32(0.5)).dtype == np.float64
    assert Step(kind([1, 2]), kind([1, 0])).survival(kind([1, 2])).dtype == np.float64
    assert QuantileKnots([0.25, 0.5], [kind([1, 2])]).mean().dtype == np.float64
    assert Mixture([d, d], kind([1, 3])).weights.dtype == np.float64


def test_tensors_keep_their_precision():
    d = Weibull(torch.tensor([1.0, 2.0]), 1.5)
    assert d.survival([1.0, 2.0]).dtype == torch.float32
    assert d.mean().dtype == torch.float32
    assert Weibull(torch.tensor([1, 2]), 1.5).mean().dtype == torch.float64
    assert_allclose(d.median().numpy(), Weibull([1.0, 2.0], 1.5).median(), rtol=1e-6)


def test_columns_and_vectors_are_the_same():
    vector, column = Normal([1.0, 2.0], 3.0), Normal([[1.0], [2.0]], [[3.0]])
    assert_array_equal(vector.survival([0.0, 1.0]), column.survival([0.0, 1.0]))
    assert_array_equal(vector.survival([[0.0], [1.0]]), vector.survival([0.0, 1.0])[[0, 1], [0, 1]][:, None])


def test_no_parameters_no_rows():
    assert len(Exponential([])) == 0
    assert Exponential([]).survival([1.0, 2.0]).shape == (0, 2)
    assert len(Normal([], 1.0)) == 0


# ---- immutability


@every_family
def test_fields_cannot_be_set(name):
    d = make(name, 2)
    for field in dataclasses.fields(d):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(d, field.name, getattr(d, field.name))
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(d, field.name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        d.note = 1


@pytest.mark.parametrize("shape", [(3,), (3, 1)])
def test_parameters_are_not_aliased(shape):
    theta = np.array([1.0, 2.0, 3.0]).reshape(shape)
    d = AsymmetricLaplace(theta, 1.0, 1.0)
    before = d.survival([1.0, 2.0])
    theta[:] = 99.0
    assert_array_equal(d.survival([1.0, 2.0]), before)


def test_since_and_offset_are_not_aliased():
    column = np.array([[1.0], [2.0]])
    later, moved = Exponential([1.0, 2.0]).conditional(column), Exponential([1.0, 2.0]).shifted(column)
    before = later.survival([2.5]), moved.survival([2.5])
    column[:] = 2.2
    assert_array_equal(later.survival([2.5]), before[0])
    assert_array_equal(moved.survival([2.5]), before[1])


@every_family
def test_arguments_are_not_changed(name):
    d = make(name, 3)
    times = np.array([[0.5, 1.2, 3.0]] * 3)
    kept = times.copy()
    for method in OF_TIMES:
        getattr(d, method)(times)
        assert_array_equal(times, kept, err_msg=method)
    levels = np.array([0.1, 0.9])
    d.quantile(levels)
    assert_array_equal(levels, [0.1, 0.9])


@every_family
def test_answers_can_be_written_to_without_harm(name):
    d = make(name, 3)
    for method in WITHOUT_ARGUMENT:
        expected = getattr(d, method)().copy()
        getattr(d, method)()[:] = -1.0
        assert_array_equal(getattr(d, method)(), expected, err_msg=method)
    expected = d.survival([0.7, 2.0]).copy()
    d.survival([0.7, 2.0])[:] = -1.0
    assert_array_equal(d.survival([0.7, 2.0]), expected)


# ---- many rows go through in blocks


@every_family
def test_many_rows_at_once_equal_rows_one_by_one(name):
    n, m = 5000, 300
    d = make(name, n)
    times = np.linspace(-1.0, 12.0, m)
    whole = d.survival(times)
    assert whole.shape == (n, m)
    by_row = np.broadcast_to(times, (n, m)) * np.linspace(0.5, 1.5, n)[:, None]
    whole_by_row = d.density(by_row)
    chosen = [0, 1, 108, 109, 110, 2500, n - 1]
    for row in chosen:
        assert_allclose(whole[row : row + 1], d[row].survival(times), rtol=1e-12, atol=1e-300)
        assert_allclose(whole_by_row[row : row + 1], d[row].density(by_row[row : row + 1]), rtol=1e-12, atol=1e-300)
    for method in ("mean", "median", "variance"):
        together = getattr(d, method)()
        apart = np.concatenate([getattr(d[row], method)() for row in chosen])
        assert_allclose(together[chosen], apart, rtol=1e-11, err_msg=method)


@every_family
def test_numerical_answers_in_blocks(name):
    d = make(name, 150)
    times = np.linspace(0.1, 8.0, 7)
    chosen = [0, 8, 9, 77, 149]
    for method in ("crps", "restricted_mean", "mean_residual_life"):
        together = getattr(d, method)(times)
        apart = np.concatenate([getattr(d[row], method)(times) for row in chosen])
        assert_allclose(together[chosen], apart, rtol=1e-10, atol=1e-14, err_msg=method)
    # One time a row, and bounds of which one is shared.
    own = np.linspace(0.5, 4.0, 150)[:, None]
    together = d.crps(own, math.inf)
    apart = np.concatenate([d[row].crps(own[row], math.inf) for row in chosen])
    assert_allclose(together[chosen], apart, rtol=1e-10, atol=1e-14)
