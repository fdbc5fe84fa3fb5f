"""Laws of every prediction with causes, over drawn members of each kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
from contracts.families import members
from contracts.quadrature import edges, panels
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

from aldsurv import SurvivalData
from aldsurv.distributions import (
    AsymmetricLaplace,
    CauseHazards,
    CauseMixture,
    CompetingDistribution,
    CumulativeIncidence,
    Exponential,
    LogNormal,
    Weibull,
)
from aldsurv.distributions.competing import AveragedIncidence, CauseSpecificHazards, SubdistributionHazards
from aldsurv.errors import DataError, ParameterError

SMOOTH = ("mixture", "hazards", "averaged", "conditional", "interpolated")
STEPS = ("step", "cause_specific", "subdistribution")
KINDS = (*SMOOTH, *STEPS)
SEED = st.integers(0, 2**32 - 1)
FAMILIES = st.sampled_from(["log_normal", "weibull", "mixed_asymmetric_laplace", "log_asymmetric_laplace"])


def _parts(draw, n):
    return [draw(members(draw(FAMILIES), rows=n)) for _ in range(2)]


@st.composite
def predictions(draw, kind: str, rows: int = 2) -> CompetingDistribution:
    rng = np.random.default_rng(draw(SEED))
    if kind == "mixture":
        chances = rng.dirichlet(np.ones(3), rows)
        chances = chances[:, :2] if draw(st.booleans()) else chances[:, :2] / chances[:, :2].sum(axis=1, keepdims=True)
        return CauseMixture(_parts(draw, rows), chances, ["a", "b"])
    if kind == "hazards":
        return CauseHazards(_parts(draw, rows), ["a", "b"])
    if kind == "averaged":
        inner = [draw(predictions(kind, rows)) for kind in ("mixture", "hazards")]
        return AveragedIncidence(inner, rng.dirichlet(np.ones(2)))
    if kind == "conditional":
        inner = draw(predictions(draw(st.sampled_from(["mixture", "hazards"])), rows))
        since = inner.overall().quantile(draw(st.floats(0.05, 0.4)))
        assume(np.isfinite(since).all() and (inner.survival(since[:, None]) > 1e-3).all())
        return inner.conditional(since)
    times = np.cumsum(rng.gamma(2.0, 1.0, 5))
    if kind in ("cause_specific", "subdistribution"):
        # Two strata; at some times only one of the hazards rises, at some both do.
        rises = rng.gamma(0.5, 0.4, (5, 2)) * (rng.uniform(size=(5, 2)) < 0.7)
        rises[[0, 3]] += 0.05
        heights = np.log(np.concatenate([rises[:3].cumsum(axis=0), rises[3:].cumsum(axis=0)]))
        grids = {"sizes": [3, 2], "strata": rng.integers(0, 2, rows)}
        risk = rng.normal(size=(rows, 2))
        if kind == "cause_specific":
            return CauseSpecificHazards(times, heights, risk, ["a", "b"], **grids)
        return SubdistributionHazards(times, heights, risk, ["a", "b"], share=rng.dirichlet(np.ones(2), rows), **grids)
    table = np.cumsum(rng.dirichlet(np.ones(11), rows)[:, :10].reshape(rows, 2, 5), axis=2).transpose(1, 0, 2)
    return CumulativeIncidence(times, table, ["a", "b"], interpolate=kind == "interpolated")


def times_of(d: CompetingDistribution) -> np.ndarray:
    times = d.overall().quantile([1e-6, 0.01, 0.2, 0.5, 0.77, 0.99])
    times = np.where(np.isfinite(times), times, 50.0)
    return np.sort(np.concatenate([times, np.full((len(d), 1), -1.0), times[:, -1:] * 3 + 1], axis=1), axis=1)


every_kind = pytest.mark.parametrize("kind", KINDS)
smooth = pytest.mark.parametrize("kind", SMOOTH)


@every_kind
@settings(max_examples=6)
@given(data=st.data())
def test_incidences_and_survival_add_up_to_one_and_rise(kind, data):
    d = data.draw(predictions(kind))
    times = times_of(d)
    incidence = d.incidence(times)
    assert_allclose(incidence.sum(axis=0) + d.survival(times), 1.0, atol=1e-12)
    assert (incidence >= 0).all()
    assert (np.diff(incidence, axis=2) >= -1e-7).all()
    ever = d.cause_probability()
    assert_allclose(ever.sum(axis=0) + d.survival(math.inf), 1.0, atol=1e-12)
    assert (ever >= incidence[:, :, -1] - 1e-7).all()
    assert_allclose(d.subdistribution("b").cdf(times), incidence[1], rtol=1e-10, atol=1e-14)


@smooth
@settings(max_examples=4)
@given(data=st.data())
def test_the_density_of_a_cause_integrates_to_its_incidence(kind, data):
    d = data.draw(predictions(kind, rows=1))
    first = d.overall()
    with np.errstate(all="ignore"):
        # Towards 0 by ratios: a hazard may have a pole there, wherever the support begins.
        marks = np.geomspace(1e-45, 1.0, 91)
        places = edges(first, 0.0, *marks, *(d.times if kind == "interpolated" else ()))
    stop = float(first.quantile(0.9)[0])
    assume(1e-3 < stop < math.inf)
    places = np.append(places[(places >= first._lower()[0, 0]) & (places < stop)], stop)
    for cause in (1, 2):
        mass = panels(lambda t, k=cause: d.density(t, k)[0], places, float(first.quantile(0.0)[0]))
        gained = d.incidence(places[[0, -1]], cause)[0]
        assert_allclose(gained[1] - gained[0], mass.sum(), atol=1e-7)


@every_kind
@settings(max_examples=8)
@given(data=st.data(), level=st.floats(0.02, 0.95))
def test_quantiles_of_a_cause_undo_its_share_of_the_incidence(kind, data, level):
    d = data.draw(predictions(kind))
    for cause in d.causes:
        ever, time = d.cause_probability(cause), d.quantile(level, cause)
        assume((ever > 1e-3).all() and np.isfinite(time).all())
        reached = d.incidence(time[:, None], cause)[:, 0]
        if kind in STEPS:
            before = d.incidence(np.nextafter(time, -np.inf)[:, None], cause)[:, 0]
            assert (reached >= level * ever - 1e-12).all()
            assert (before < level * ever + 1e-12).all()
        else:
            assert_allclose(reached, level * ever, atol=1e-7)


@smooth
@settings(max_examples=8)
@given(data=st.data())
def test_likelihood_is_density_of_the_cause_or_survival(kind, data):
    d = data.draw(predictions(kind, rows=2))[[0, 1, 0, 1]]
    times = np.nan_to_num(d.overall().quantile(0.4), posinf=3.0)
    earliest = float(d.overall().quantile(0.02).max())
    assume((times > 1e-6).all() and np.isfinite(times).all() and earliest >= 0)
    cause = np.array([1, 2, 0, 2])
    entry = np.array([-np.inf, -np.inf, -np.inf, 0.9 * times[3]])
    assume(d.survival(0.9 * times[3])[3] > 1e-3)
    y = SurvivalData.competing(times, cause, entry=entry, names=["a", "b"], weight=[1, 1, 2, 1])
    slopes = [float(d.density(times[i], k)[i]) for i, k in ((0, 1), (1, 2), (3, 2))]
    expected = [
        math.log(slopes[0]) if slopes[0] else -math.inf,
        math.log(slopes[1]) if slopes[1] else -math.inf,
        2 * math.log(d.survival(times[2])[2]),
        (math.log(slopes[2]) if slopes[2] else -math.inf) - math.log(d.survival(0.9 * times[3])[3]),
    ]
    likelihood = d.log_likelihood(y)
    # A density that underflows has a logarithm all the same.
    assert_allclose(np.where(likelihood < -700, -math.inf, likelihood), expected, rtol=1e-9, atol=1e-9)


@every_kind
@settings(max_examples=6)
@given(data=st.data())
def test_rows_units_and_conditions(kind, data):
    d = data.draw(predictions(kind, rows=3))
    times = times_of(d)
    whole = d.incidence(times)
    # Products of matrices of another size may round otherwise.
    close = {"rtol": 1e-9, "atol": 1e-13}
    assert_allclose(d[1].incidence(times[1:2]), whole[:, 1:2], **close)
    assert_allclose(d[[2, 0]].incidence(times[[2, 0]]), whole[:, [2, 0]], **close)
    joined = CompetingDistribution.concatenate([d[:1], d[1:]])
    assert_allclose(joined.incidence(times), whole, **close)
    assert_allclose(d.scaled(7.0).incidence(times * 7.0), whole, rtol=1e-7, atol=1e-9)
    since = d.overall().quantile(0.2)
    assume(np.isfinite(since).all() and (d.survival(since[:, None]) > 1e-6).all())
    later = d.conditional(since)
    after = np.maximum(times, since[:, None])
    gain = d.incidence(after) - d.incidence(since[:, None])
    assert_allclose(later.incidence(after), gain / d.survival(since[:, None]), atol=1e-7)
    assert_allclose(later.incidence(after).sum(axis=0) + later.survival(after), 1.0, atol=1e-12)
    assert (later.incidence(since[:, None]) <= 1e-12).all()


@every_kind
@settings(max_examples=4)
@given(data=st.data(), seed=st.integers(0, 99))
def test_draws_have_the_incidences(kind, data, seed):
    d = data.draw(predictions(kind, rows=1))
    count = 3000
    time, cause = d.sample(count, random_state=seed)
    assert_array_equal(np.isinf(time), cause == 0)
    at = float(np.nan_to_num(d.overall().quantile(0.5)[0], posinf=5.0))
    for number in (1, 2):
        share = np.mean((cause == number) & (time <= at))
        # Five standard errors of a share.
        assert abs(share - d.incidence(at, number)[0]) < 2.5 / math.sqrt(count)
    assert_array_equal(d.sample(random_state=seed)[1], d.sample(random_state=seed)[1])
    assert d.sample(random_state=1)[0].shape == (1,)


def test_constant_hazards_have_incidences_in_closed_form():
    d = CauseHazards([Exponential([2.0, 1.0]), Exponential([6.0, 4.0]), Exponential([3.0, 9.0])], ["a", "b", "c"])
    rates = np.array([[1 / 2, 1 / 6, 1 / 3], [1.0, 1 / 4, 1 / 9]]).T
    times = np.array([1e-6, 0.1, 1.0, 5.0, 40.0])
    total = rates.sum(axis=0)
    expected = rates[:, :, None] / total[:, None] * -np.expm1(-total[:, None] * times)
    assert_allclose(d.incidence(times), expected, rtol=1e-9)
    assert_allclose(d.cause_probability(), rates / total, rtol=1e-9)
    assert_allclose(d.quantile([0.1, 0.9], "b"), -np.log1p(-np.array([0.1, 0.9])) / total[:, None], rtol=1e-7)
    assert_allclose(d.cause_specific_hazard(3.0), rates, rtol=1e-9)


def test_members_are_averaged_in_closed_form():
    rng = np.random.default_rng(0)
    mixtures = [
        CauseMixture([LogNormal(rng.normal(size=4), 0.7), Weibull([2.0] * 4, 1.3)], rng.dirichlet(np.ones(3), 4)[:, :2])
        for _ in range(3)
    ]
    times = np.array([0.3, 1.0, 4.0])
    mean = np.mean([one.incidence(times) for one in mixtures], axis=0)
    assert_allclose(CauseMixture.mean_of(mixtures).incidence(times), mean, rtol=1e-12)
    assert_allclose(AveragedIncidence(mixtures).incidence(times), mean, rtol=1e-12)
    assert_allclose(CauseMixture.mean_of(mixtures).overall().survival(times), 1 - mean.sum(axis=0), rtol=1e-12)


def test_what_cannot_be_is_refused_in_one_line():
    parts = [Exponential([1.0, 2.0]), Exponential([1.0, 2.0])]
    with pytest.raises(ParameterError, match="probabilities must not be negative, nor add up to more than 1"):
        CauseMixture(parts, [0.7, 0.4])
    with pytest.raises(ParameterError, match=r"probabilities must have shape \(2,\) or \(2, 2\)"):
        CauseMixture(parts, [0.7])
    with pytest.raises(ParameterError, match="causes must be 2 different names"):
        CauseHazards(parts, ["a", "a"])
    with pytest.raises(ParameterError, match="same rows"):
        CauseHazards([Exponential([1.0]), Exponential([1.0, 2.0])])
    d = CauseMixture(parts, [0.5, 0.4], ["relapse", "death"])
    with pytest.raises(ParameterError, match="cause must be a number from 1 to 2 or one of"):
        d.incidence(1.0, "cure")
    with pytest.raises(ParameterError, match="levels must lie between 0 and 1"):
        d.quantile(50, "death")
    with pytest.raises(DataError, match="the data have no causes"):
        d.log_likelihood(SurvivalData.right([1, 2], [1, 0]))
    with pytest.raises(DataError, match=r"no cause .?accident"):
        d.log_likelihood(SurvivalData.competing([1, 2], ["accident", None]))
    with pytest.raises(ParameterError, match="rises in steps has no density"):
        CumulativeIncidence([1.0], [[0.2], [0.1]]).density(1.0)
    with pytest.raises(ParameterError, match="event-free until 9"):
        CumulativeIncidence([1.0], [[0.6], [0.4]]).conditional(9.0)


def test_causes_of_data_are_matched_by_name():
    d = CauseMixture([Exponential([1.0] * 3), Exponential([9.0] * 3)], [0.5, 0.5], ["relapse", "death"])
    y = SurvivalData.competing([1.0, 2.0, 3.0], ["death", "relapse", None])
    assert y.causes == ("death", "relapse")
    assert_array_equal(d.cause_numbers(y), [2, 1, 0])


def test_real_supports_have_incidence_below_zero():
    d = CauseHazards([AsymmetricLaplace([1.0], 1.0, 0.8), AsymmetricLaplace([2.0], 2.0, 1.2)])
    times = np.array([-2.0, 0.0, 1.0, 3.0])
    expected = [
        [quad(lambda t, k=k: d.density(t, k)[0], -40, x, points=[-5, 0, 1, 2], limit=400)[0] for x in times]
        for k in (1, 2)
    ]
    assert_allclose(d.incidence(times)[:, 0], expected, atol=1e-8)
