"""The synthetic datasets against the distributions that the paper and its code state, written here with scipy."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import lru_cache

import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from aldsurv import datasets
from aldsurv.datasets.synthetic import SMALLEST_TIME
from aldsurv.errors import ParameterError

N = 200_000
BETA = [0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0.0, -0.7]
NAMES = [name for name in datasets.names() if datasets.describe(name).kind == "synthetic"]
CASES = [(name, definition) for name in NAMES for definition in ("printed", "released")]


def log_normal(m, s):
    return stats.lognorm(s, scale=np.exp(m))


def many(x, released):
    a, b, c, d = x.T
    wave = np.sin(c * d) if released else 2 * np.sin(c * d)
    return stats.norm(3 * a + b**2 - c**2 + wave + 6, 1.0 if released else a + 0.5)


def many_logs(x):
    return stats.lognorm(1.0, scale=np.exp(x @ BETA) / 10)


def stated(name, definition, x):
    """Event and censoring distribution of rows x (n, d), from the table of the specification."""
    released = definition == "released"
    if name.startswith("lognorm_") or name in ("norm_heavy", "norm_med", "norm_light", "norm_same"):
        event = many_logs(x) if name.startswith("log") else many(x, released)
        ends = {
            "norm_heavy": 12,
            "norm_med": 20,
            "norm_light": 40,
            "lognorm_heavy": 0.4,
            "lognorm_med": 1,
            "lognorm_light": 3.5,
        }
        return event, stats.uniform(0, ends[name]) if name in ends else event
    x = x[:, 0]
    return {
        "norm_linear": lambda: (stats.norm(2 * x + 10, x + 1), stats.norm(4 * x + 10, 0.8 * x + 0.4)),
        "norm_nonlinear": lambda: (stats.norm(x * np.sin(2 * x) + 10, 0.5 * x + 0.5), stats.norm(2 * x + 10, 2)),
        "exponential": lambda: (stats.expon(scale=2 * x + 4), stats.expon(scale=15 - 3 * x)),
        "weibull": lambda: (
            stats.weibull_min(5, scale=(4 if released else 1) * x * np.sin(2 * x - 2) + 10),
            stats.weibull_min(5, scale=20 - 3 * x),
        ),
        "lognorm": lambda: (log_normal((x - 1) ** 2, 1.0 if released else x), stats.uniform(0, 10)),
        "norm_uniform": lambda: (
            stats.norm(2 * x * np.cos(2 * x) + 13, (x**2 if released else x) + 0.5),
            stats.uniform(0, 18),
        ),
    }[name]()


@lru_cache(maxsize=2)
def large(name, definition):
    return datasets.load(name, seed=11, definition=definition, n_train=N // 2, n_test=N // 2)


def probability(distribution, time):
    """What the probability integral makes of the times: uniform, also where a draw at or below 0 was moved."""
    u = distribution.cdf(time)
    moved = time == SMALLEST_TIME
    below = np.broadcast_to(distribution.cdf(0.0), time.shape)
    return np.where(moved, below * np.random.default_rng(5).uniform(size=len(time)), u)


@pytest.mark.parametrize(("name", "definition"), CASES)
def test_both_times_follow_the_stated_distributions(name, definition):
    data = large(name, definition)
    event, censoring = stated(name, definition, data.x)
    u, v = probability(event, data.event_time), probability(censoring, data.censoring_time)
    for values in (u, v):
        assert stats.kstest(values, "uniform", method="asymp").pvalue > 1e-4
    # Given x the two are independent, of each other and of x.
    others = np.corrcoef(np.vstack([u, v, data.x.T]))[np.triu_indices(2 + data.x.shape[1], 1)]
    assert np.abs(others).max() < 5 / np.sqrt(N)


@pytest.mark.parametrize(("name", "definition"), CASES)
def test_the_truth_is_the_distribution_of_every_row(name, definition):
    data = large(name, definition)[:2000]
    event, _ = stated(name, definition, data.x)
    np.testing.assert_allclose(data.truth.cdf(data.event_time[:, None])[:, 0], event.cdf(data.event_time), rtol=1e-9)
    np.testing.assert_allclose(data.truth.mean(), np.broadcast_to(event.mean(), 2000), rtol=1e-9)
    np.testing.assert_allclose(data.truth.quantile(0.9), event.ppf(0.9), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_covariates_are_uniform_between_0_and_2(name):
    x = large(name, "printed").x
    assert x.shape == (N, datasets.describe(name).n_features)
    assert x.min() > 0
    assert x.max() <= 2
    for column in x.T:
        assert stats.kstest(column / 2, "uniform", method="asymp").pvalue > 1e-4


def nodes(features):
    """Points and weights that average over x: Gauss-Legendre in few dimensions, a Sobol sequence in many."""
    if features == 8:
        return 2 * qmc.Sobol(8, rng=1).random_base2(13), np.full(2**13, 2.0**-13)
    at, weight = np.polynomial.legendre.leggauss({1: 80, 4: 8}[features])
    x = np.stack(np.meshgrid(*[at + 1] * features), axis=-1).reshape(-1, features)
    return x, np.prod(np.meshgrid(*[weight / 2] * features), axis=0).ravel()


@pytest.mark.parametrize(("name", "definition"), CASES)
def test_mean_and_censored_share_against_integration(name, definition):
    data, info = large(name, definition), datasets.describe(name, definition=definition)
    x, weight = nodes(info.n_features)
    event, censoring = stated(name, definition, x)
    level, of_level = np.polynomial.legendre.leggauss(120)
    # The mean over x and over the levels of the event time of the probability that censoring came before.
    share = sum(
        w / 2 * (weight @ np.broadcast_to(censoring.cdf(event.ppf((1 + u) / 2)), weight.shape))
        for u, w in zip(level, of_level, strict=True)
    )
    assert info.censored == pytest.approx(share, abs=8e-4)
    assert np.mean(~data.y.event) == pytest.approx(share, abs=5 * 0.5 / np.sqrt(N) + 5e-4)
    mean = weight @ np.broadcast_to(event.mean(), weight.shape)
    assert data.event_time.mean() == pytest.approx(mean, abs=5 * data.event_time.std() / np.sqrt(N) + 1e-3)


@pytest.mark.parametrize(("name", "definition"), CASES)
def test_what_is_observed_is_the_earlier_time(name, definition):
    data = datasets.load(name, definition=definition)
    np.testing.assert_array_equal(data.y.time, np.minimum(data.event_time, data.censoring_time))
    np.testing.assert_array_equal(data.y.event, data.event_time <= data.censoring_time)
    assert min(data.event_time.min(), data.censoring_time.min()) > 0
    assert data.groups is None
    assert data.info == datasets.describe(name, definition=definition)


def test_times_at_or_below_0_are_moved_and_the_truth_is_not():
    data = large("norm_heavy", "printed")
    moved = data.event_time == SMALLEST_TIME
    expected = data.truth.cdf(0.0).mean()
    assert 0 < moved.mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / N))
    assert data.truth.probability_negative()[moved].min() > 0


def test_definitions_differ_where_the_specification_says_so():
    same = {"norm_linear", "norm_nonlinear", "exponential"} | {name for name in NAMES if name.startswith("lognorm_")}
    for name in NAMES:
        printed, released = (datasets.describe(name, definition=d) for d in ("printed", "released"))
        assert (printed.purpose == released.purpose) == (name in same)
        assert (printed.definition, released.definition) == ("printed", "released")


def test_a_seed_gives_the_same_rows_in_every_process():
    code = (
        "from aldsurv import datasets; d = datasets.load('weibull', seed=4); print(d.x[:3, 0].tolist(), d.y.time[-1])"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    here = datasets.load("weibull", seed=4)
    assert printed == [f"{here.x[:3, 0].tolist()} {here.y.time[-1]}\n"] * 2


def test_seeds_datasets_and_definitions_have_rows_of_their_own():
    drawn = {
        (name, seed, definition): datasets.load(name, seed=seed, definition=definition).x[:1500, 0]
        for name in ("norm_linear", "weibull", "norm_heavy", "lognorm_same")
        for seed in (0, 1, 10**12)
        for definition in ("printed", "released")
    }
    correlation = np.corrcoef(list(drawn.values()))[np.triu_indices(len(drawn), 1)]
    assert np.abs(correlation).max() < 5 / np.sqrt(1500)


def test_any_number_of_rows():
    data = datasets.load("lognorm_med", n_train=7, n_test=2)
    assert len(data) == 9
    assert (data.info.n_train, data.info.n_test) == (7, 2)
    assert [len(part) for part in data.split(seed=5)] == [7, 2]
    assert len(datasets.load("lognorm_med", n_test=10)) == 4010


@pytest.mark.parametrize("bad", [0, -1, 2.0, "10", True])
def test_sizes_are_whole_numbers(bad):
    with pytest.raises(ParameterError, match="n_train must be a whole number from 1 on or None, but is"):
        datasets.load("weibull", n_train=bad)
    with pytest.raises(ParameterError, match="n_test must be a whole number from 1 on or None, but is"):
        datasets.load("weibull", n_test=bad)


@pytest.mark.parametrize("bad", [-1, 1.0, None, True, "0"])
def test_seeds_are_whole_numbers(bad):
    with pytest.raises(ParameterError, match="seed must be a whole number from 0 on, but is"):
        datasets.load("weibull", seed=bad)


def test_an_unknown_definition_is_named():
    with pytest.raises(ParameterError, match="definition must be 'printed' or 'released', but is 'published'"):
        datasets.load("weibull", definition="published")
