"""Mixtures of asymmetric Laplace components in one array, against scipy, mpmath and mixtures one by one."""

from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from aldsurv.distributions import (
    AsymmetricLaplace,
    LogAsymmetricLaplace,
    MixedAsymmetricLaplace,
    Mixture,
    PositiveAsymmetricLaplace,
)
from aldsurv.errors import ParameterError

FAMILIES = {"real": AsymmetricLaplace, "positive": PositiveAsymmetricLaplace, "log": LogAsymmetricLaplace}
every_support = pytest.mark.parametrize("support", FAMILIES)


def columns(n=40, k=3, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.normal(1.0, 1.0, (n, k))
    return (
        theta,
        np.exp(rng.normal(-1.0, 0.4, (n, k))),
        np.exp(rng.normal(0.0, 0.4, (n, k))),
        rng.dirichlet(np.ones(k), n),
    )


def on_the_line(theta, sigma, kappa):
    return stats.laplace_asymmetric(kappa=kappa, loc=theta, scale=sigma / math.sqrt(2))


def definition(support, row, time):
    """Cdf, density and survival of one row at times (m,), from scipy's components and the definition."""
    theta, sigma, kappa, weight = (column[:, None] for column in row)
    part, time = on_the_line(theta, sigma, kappa), np.asarray(time)
    if support == "log":
        found = part.cdf(np.log(time)), part.pdf(np.log(time)) / time, part.sf(np.log(time))
    else:
        found = part.cdf(time), part.pdf(time), part.sf(time)
    if support == "positive":
        found = (found[0] - part.cdf(0)) / part.sf(0), found[1] / part.sf(0), found[2] / part.sf(0)
    return [(weight * value).sum(0) for value in found]


@every_support
def test_cdf_and_density_are_the_sums_of_the_definition(support):
    given = columns()
    d = MixedAsymmetricLaplace(*given, support=support)
    times = np.array([0.1, 0.7, 1.5, 4.0, 9.0])
    expected = np.array([definition(support, [column[i] for column in given], times) for i in range(len(d))])
    assert_allclose(d.cdf(times), expected[:, 0], rtol=1e-9, atol=1e-14)
    assert_allclose(d.density(times), expected[:, 1], rtol=1e-12)
    assert_allclose(d.survival(times), expected[:, 2], rtol=1e-9)


@every_support
def test_moments_and_restricted_means_are_integrals_of_the_definition(support):
    given = columns(n=6)
    d = MixedAsymmetricLaplace(*given, support=support)
    for i in range(len(d)):
        row = [column[i] for column in given]
        # Gauss-Legendre between the kinks, where the survival is smooth.
        peaks = np.exp(row[0]) if support == "log" else row[0]
        marks = np.unique(np.concatenate([np.geomspace(1e-9, 3, 60), [0.0], np.clip(peaks, 0, 3)]))
        nodes, shares = np.polynomial.legendre.leggauss(20)
        width = np.diff(marks)[:, None] / 2
        times = (marks[:-1, None] + width * (1 + nodes)).ravel()
        survival = definition(support, row, times)[2]
        assert_allclose(d.restricted_mean(3.0)[i], (survival * (width * shares).ravel()).sum(), rtol=1e-8)
    # Moments as expectations over the components: sums of closed forms of one-component distributions, of which
    # scipy knows those on the line.
    if support == "real":
        theta, sigma, kappa, weight = given
        parts = on_the_line(theta, sigma, kappa)
        mean = (weight * parts.mean()).sum(1)
        assert_allclose(d.mean(), mean, rtol=1e-12)
        second = (weight * (parts.var() + parts.mean() ** 2)).sum(1)
        assert_allclose(d.variance(), second - mean**2, rtol=1e-9)


@every_support
def test_is_a_mixture_of_its_components(support):
    given = columns(n=5)
    d = MixedAsymmetricLaplace(*given, support=support)
    parts = [FAMILIES[support](*(column[:, k] for column in given[:3])) for k in range(3)]
    same = Mixture(parts, given[3])
    times = np.array([-1.0, 0.0, 0.3, 2.0, 50.0])
    for name, arguments in {
        "survival": (times,),
        "cdf": (times,),
        "log_survival": (times,),
        "log_cdf": (times,),
        "log_density": (times,),
        "hazard": (times[1:],),
        "log_probability": (0.2, times[3:]),
        "quantile": ([1e-9, 0.01, 0.5, 0.99, 1 - 1e-9],),
        "mean": (),
        "variance": (),
        "mode": (),
        "restricted_mean": ([0.5, 5.0],),
        "mean_residual_life": ([0.5, 3.0],),
        "crps": ([0.5, 5.0],),
    }.items():
        assert_allclose(
            getattr(d, name)(*arguments), getattr(same, name)(*arguments), rtol=1e-8, atol=1e-12, err_msg=name
        )
    for own, other in zip(d.components, parts, strict=True):
        assert type(own) is FAMILIES[support]
        assert_array_equal(own.median(), other.median())


@every_support
def test_the_mode_is_where_no_other_time_is_likelier(support):
    d = MixedAsymmetricLaplace(*columns(n=60, seed=3), support=support)
    mode = d.mode()
    grid = np.concatenate([np.linspace(0 if support != "real" else -5, 12, 4001), np.geomspace(1e-6, 1, 200)])
    highest = d.density(mode[:, None])[:, 0]
    assert np.all((highest == np.inf) | (d.density(grid).max(axis=1) <= highest * (1 + 1e-12)))


def test_far_tails_keep_their_digits():
    theta, sigma, kappa, weight = [0.0, 3.0], [1.0, 0.5], [0.5, 2.0], [0.25, 0.75]
    d = MixedAsymmetricLaplace(theta, sigma, kappa, weight)
    with mpmath.workdps(60):
        for time in (-900.0, -40.0, -3.0, 2.9999, 40.0, 5000.0):
            below = above = mpmath.mpf(0)
            for t, s, k, w in zip(theta, sigma, kappa, weight, strict=True):
                t, s, k, w = map(mpmath.mpf, (t, s, k, w))
                if time < t:
                    low = k**2 / (1 + k**2) * mpmath.exp(mpmath.sqrt(2) / (s * k) * (time - t))
                    high = 1 - low
                else:
                    high = mpmath.exp(-mpmath.sqrt(2) * k / s * (time - t)) / (1 + k**2)
                    low = 1 - high
                below, above = below + w * low, above + w * high
            assert_allclose(d.log_cdf(time)[0], float(mpmath.log(below)), rtol=1e-13)
            assert_allclose(d.log_survival(time)[0], float(mpmath.log(above)), rtol=1e-13)


@every_support
def test_joining_members_is_the_mean_of_their_cdfs(support):
    parts = [MixedAsymmetricLaplace(*columns(n=7, k=2, seed=seed), support=support) for seed in range(4)]
    whole = MixedAsymmetricLaplace.joined(parts)
    assert whole.weights.shape == (7, 8)
    assert_allclose(whole.weights.sum(1), 1.0, rtol=1e-14)
    times = np.linspace(0.1, 8, 9)
    assert_allclose(whole.cdf(times), np.mean([part.cdf(times) for part in parts], axis=0), rtol=1e-13)


@every_support
@pytest.mark.parametrize("cuts", [[7], [1, 6], [3, 3, 1]])
def test_members_at_once_are_their_mixture(support, cuts):
    """By blocks of rows, with a parameter that is the same for all rows."""
    given, names = [columns(n=7, k=2, seed=seed) for seed in range(4)], ("theta", "sigma", "kappa", "weights")
    named = {name: np.stack([member[j] for member in given]) for j, name in enumerate(names)}
    named["kappa"] = named["kappa"][:, :1]
    ends = np.cumsum([0, *cuts])
    blocks = [
        {name: values[:, low:high] if values.shape[1] > 1 else values for name, values in named.items()}
        for low, high in pairwise(ends)
    ]
    parts = (MixedAsymmetricLaplace.of_members(block, support).scaled(3.0) for block in blocks)
    whole = MixedAsymmetricLaplace.collected(parts, 7)
    members = [
        MixedAsymmetricLaplace(*(named[name][k] for name in named), support=support).scaled(3.0) for k in range(4)
    ]
    joined = MixedAsymmetricLaplace.joined(members)
    for name in named:
        assert_allclose(getattr(whole, name), getattr(joined, name), rtol=1e-14)
    times = np.linspace(0.1, 20, 9)
    assert_allclose(whole.survival(times), np.mean([one.survival(times) for one in members], axis=0), rtol=1e-13)
    assert_allclose(whole[2:5].quantile([0.1, 0.9]), joined[2:5].quantile([0.1, 0.9]), rtol=1e-12)


def test_infinite_means_of_log_time():
    d = MixedAsymmetricLaplace([[0.0, 0.0], [0.0, 0.0]], [0.5, 2.0], 1.0, [[1.0, 0.0], [0.5, 0.5]], support="log")
    assert np.isfinite(d.mean()[0])
    assert d.mean()[1] == np.inf
    assert d.variance()[1] == np.inf
    assert np.isfinite(d.restricted_mean(100.0)).all()


def test_shapes_and_rows():
    d = MixedAsymmetricLaplace([1.0, 2.0], 1.0, 1.0)
    assert (len(d), d.theta.shape) == (1, (1, 2))
    assert_array_equal(d.weights, [[0.5, 0.5]])
    d = MixedAsymmetricLaplace(*columns(n=9))
    assert_allclose(d[3:5].median(), d.median()[3:5], rtol=1e-12)
    assert "components=3" in repr(d)
    again = MixedAsymmetricLaplace.concatenate([d[:4], d[4:]])
    assert_array_equal(again.mean(), d.mean())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (([1.0], [0.0], [1.0]), "sigma must be positive"),
        (([1.0], [1.0], [-1.0]), "kappa must be positive"),
        (([np.nan], [1.0], [1.0]), "theta must be finite"),
        (([1.0, 2.0], [1.0], [1.0], [0.0, 0.0]), "not all zero"),
        (([1.0, 2.0], [1.0, 1.0, 1.0], 1.0), "one shape"),
        (([], 1.0, 1.0), "at least one component"),
        (("a", 1.0, 1.0), "theta must be numbers"),
        ((np.ones((2, 2, 2)), 1.0, 1.0), r"\(n, K\)"),
    ],
)
def test_errors_name_what_is_wrong(arguments, complaint):
    with pytest.raises(ParameterError, match=complaint):
        MixedAsymmetricLaplace(*arguments)
    with pytest.raises(ParameterError, match="support must be one of"):
        MixedAsymmetricLaplace(1.0, 1.0, 1.0, support="positve")


def test_only_the_same_kind_can_be_joined():
    one, two = MixedAsymmetricLaplace([1.0, 2.0], 1.0, 1.0), MixedAsymmetricLaplace([1.0, 2.0, 3.0], 1.0, 1.0)
    with pytest.raises(ParameterError, match="as many components"):
        MixedAsymmetricLaplace.concatenate([one, two])
