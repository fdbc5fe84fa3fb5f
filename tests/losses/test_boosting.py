"""Losses, slopes and information of rows, against scipy's distributions, finite differences and integrals."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.stats import laplace_asymmetric

from aldsurv import SurvivalData
from aldsurv.distributions.mixture_outputs import SHARED_OUT, MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.losses.likelihood.ald_information import ald_information
from aldsurv.losses.likelihood.ald_slopes import between_value_and_slopes
from aldsurv.losses.likelihood.boosting_slopes import AldRows, MixtureRows
from aldsurv.losses.likelihood.tied_mixture_steps import Planes


def laplace(theta, log_sigma, log_kappa):
    return laplace_asymmetric(np.exp(log_kappa), loc=theta, scale=np.exp(log_sigma) / np.sqrt(2))


def score(point, of):
    """Slopes of a log-likelihood by θ, log σ and log κ."""
    steps = 1e-5 * np.eye(3)
    return np.array([(of(laplace(*(point + h))) - of(laplace(*(point - h)))) / 2e-5 for h in steps])


@pytest.mark.parametrize("log_kappa", [-1.2, 0.0, 0.9])
@pytest.mark.parametrize("until", [-3.0, -0.2, 0.4, 2.5, np.inf])
def test_information_is_the_expected_square_of_the_slope(log_kappa, until):
    point = np.array([0.3, 0.4, log_kappa])
    whole, end = laplace(*point), point[0] + until
    # Pieces short enough for the nodes of Gauss and Legendre; none of them lies at the peak, where there is no slope.
    cuts = np.unique(np.concatenate([whole.ppf(np.array([1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9])), whole.isf([1e-3])]))
    cuts = np.concatenate([cuts, whole.isf([1e-6, 1e-9, 1e-12]), [point[0], end]])
    cuts = np.unique(cuts[(cuts <= end) & np.isfinite(cuts)])
    nodes, shares = np.polynomial.legendre.leggauss(12)
    half = np.diff(cuts)[:, None] / 2
    t, share = (cuts[:-1, None] + half + half * nodes).ravel(), (half * shares).ravel()
    wanted = (share * whole.pdf(t) * score(point, lambda d: d.logpdf(t)) ** 2).sum(1)
    if np.isfinite(end):
        wanted += whole.sf(end) * score(point, lambda d: d.logsf(end)) ** 2
    event = np.isinf(until)
    found = ald_information(np.array(0.0 if event else until), point[1], point[2], np.array(event))
    np.testing.assert_allclose(np.array(found), wanted, rtol=2e-4)


# Exact, right-, left- and interval-censored rows, some with an entry.
LOW = np.array([0.5, 3.0, 1.0, 2.0, -np.inf, 0.7, 1.5, 4.0])
HIGH = np.array([0.5, 3.0, np.inf, np.inf, 1.2, 2.0, 1.5, np.inf])
ENTRY = np.array([-np.inf, 1.0, -np.inf, 0.5, -np.inf, -np.inf, 0.2, 3.0])


def log_likelihood(law, low, high, entry):
    """From the definition, with a law's cdf, survival and density of the time itself."""
    if low == high:
        value = np.log(law.density(low))
    elif np.isinf(high):
        value = np.log(law.survival(low))
    elif np.isinf(low):
        value = np.log(law.cdf(high))
    else:
        value = np.log(law.cdf(high) - law.cdf(low))
    return value - (np.log(law.survival(entry)) if np.isfinite(entry) else 0.0)


class Law:
    """A mixture of asymmetric Laplace distributions of a support, by scipy."""

    def __init__(self, support, parts, weights):
        self.support, self.parts, self.weights = support, parts, weights

    def _sum(self, name, t):
        values = [getattr(part, name)(np.log(t) if self.support == "log" else t) for part in self.parts]
        if self.support == "positive":
            over = [part.sf(0.0) for part in self.parts]
            below = [part.cdf(0.0) if name == "cdf" else 0.0 for part in self.parts]
            values = [(v - b) / o for v, b, o in zip(values, below, over, strict=True)]
        return sum(w * v for w, v in zip(self.weights, values, strict=True))

    def density(self, t):
        return self._sum("pdf", t) / (t if self.support == "log" else 1.0)

    def survival(self, t):
        return self._sum("sf", t)

    def cdf(self, t):
        return self._sum("cdf", t)


def single(support, raw):
    theta = np.exp(raw[0]) if support == "positive" else raw[0]
    return Law(support, [laplace(theta, raw[1], raw[2])], [1.0])


def several(support, raw, least):
    count = (len(raw) - 2) // 4
    location, log_scale, logits = raw[0], raw[1], raw[2 : 2 + count]
    places, scales, kappas = raw[2 + count :].reshape(3, count)
    places = places + np.linspace(-1, 1, count)
    theta = np.exp(location + places) if support == "positive" else location + np.exp(log_scale) * places
    sigma = np.exp(log_scale + scales) + least
    share = np.exp(logits) / np.exp(logits).sum()
    weights = SHARED_OUT / count + (1 - SHARED_OUT) * share
    return Law(support, [laplace(t, np.log(s), k) for t, s, k in zip(theta, sigma, kappas, strict=True)], weights)


@pytest.mark.parametrize("components", [1, 2])
@pytest.mark.parametrize("support", ["log", "positive", "real"])
def test_losses_and_slopes(support, components):
    data, exp_theta, least = SurvivalData.interval(LOW, HIGH, entry=ENTRY), support == "positive", 0.05
    if components == 1:
        rows, law = AldRows(SUPPORTS[support], data, exp_theta=exp_theta), single
    else:
        layout = MixtureOutputs(components, True, exp_theta)
        rows = MixtureRows(SUPPORTS[support], data, layout=layout, least_scale=least)

        def law(support, raw):
            return several(support, raw, least)

    raw = np.random.default_rng(0).normal(scale=0.4, size=(len(data), rows.outputs))

    def loss(raw):
        laws = [law(support, own) for own in raw]
        given = zip(laws, LOW, HIGH, ENTRY, strict=True)
        return np.array([-log_likelihood(*own) for own in given])

    losses, slopes = rows.losses_and_slopes(raw)
    np.testing.assert_allclose(losses, loss(raw), rtol=1e-9)
    np.testing.assert_array_equal(losses, rows.losses(raw))
    for k, step in enumerate(1e-6 * np.eye(rows.outputs)):
        np.testing.assert_allclose(slopes[:, k], (loss(raw + step) - loss(raw - step)) / 2e-6, rtol=1e-4, atol=1e-7)
    # The same outputs for all rows may be given once.
    once = rows.losses_and_slopes(raw[:1])
    for found, wanted in zip(once, rows.losses_and_slopes(np.repeat(raw[:1], len(data), axis=0)), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def in_turn(work, blocks):
    for block in blocks:
        work(block)


def known_information(layout, least, data, raw, *, of_log):
    """By the table of `ald_information`, for each component, and the rules of differentiation."""
    columns = layout.columns(raw, least)
    theta, sigma, kappa, weights = (np.asarray(columns[name]) for name in ("theta", "sigma", "kappa", "weights"))
    until = np.where(np.isfinite(data.upper), data.upper, data.lower)
    z = (np.log(until) if of_log else until)[:, None] - theta
    on_theta, on_log_sigma, _ = ald_information(z, np.log(sigma), np.log(kappa), np.isfinite(data.upper)[:, None])
    by_location = theta if layout.exp_theta else 1.0
    by_scale = 0.0 if layout.exp_theta else theta - raw[:, :1]
    on_log_scale = by_scale**2 * on_theta + (1 - least / sigma) ** 2 * on_log_sigma
    on_logits = (1 - SHARED_OUT) * weights * (1 - weights) if layout.components > 1 else weights
    location = (weights * by_location**2 * on_theta).sum(1)
    return np.vstack([location, (weights * on_log_scale).sum(1), on_logits.T])


@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("support", ["log", "positive", "real"])
def test_the_single_pass_of_a_round(support, components):
    # Slopes against differences of scipy's laws, losses and information against the functions with every choice.
    data, exp_theta, least = SurvivalData.interval(LOW, HIGH, entry=ENTRY), support == "positive", 0.05
    layout = MixtureOutputs(components, True, exp_theta)
    rows = MixtureRows(SUPPORTS[support], data, layout=layout, least_scale=least)
    rng = np.random.default_rng(1)
    planes, constants = (
        rng.normal(scale=0.4, size=(rows.boosted, len(data))),
        rng.normal(scale=0.3, size=3 * components),
    )

    def whole(planes):
        return np.column_stack([planes.T, np.tile(constants, (len(data), 1))])

    def loss(planes):
        given = zip(whole(planes), LOW, HIGH, ENTRY, strict=True)
        return np.array([-log_likelihood(several(support, raw, least), *row) for raw, *row in given])

    slopes, information = rows.slopes_and_information(Planes(planes, constants, in_turn))
    for k, step in enumerate(1e-6 * np.eye(rows.boosted)[:, :, None]):
        np.testing.assert_allclose(slopes[k], (loss(planes + step) - loss(planes - step)) / 2e-6, rtol=1e-4, atol=1e-7)
    known = known_information(layout, least, data, whole(planes), of_log=support == "log")
    np.testing.assert_allclose(information, known, rtol=1e-9)
    np.testing.assert_allclose(rows.losses_of_planes(Planes(planes, constants, in_turn)), loss(planes), rtol=1e-9)
    # In single precision the same to some digits, and blocks in any order.
    backwards = Planes(planes.astype(np.float32), constants, lambda work, blocks: in_turn(work, blocks[::-1]))
    single = rows.slopes_and_information(backwards)
    for found, wanted in zip(single, (slopes, information), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(("low", "high"), [(-90.0, -80.0), (1.0, 1.0 + 1e-9), (40.0, 41.0), (-np.inf, -60.0)])
def test_the_single_pass_keeps_digits_of_narrow_and_far_intervals(low, high):
    layout = MixtureOutputs(1, True, False)
    data = SurvivalData.interval([np.exp(low) if low > -np.inf else -np.inf], [np.exp(high)])
    rows = MixtureRows(SUPPORTS["log"], data, layout=layout, least_scale=0.0)
    planes, constants = np.array([[0.3], [-0.2], [0.0]]), np.array([0.0, 0.0, 0.4])

    def loss(theta, log_sigma):
        kappa, sigma = mpmath.exp(0.4), mpmath.exp(log_sigma)
        left, right = mpmath.sqrt(2) / (sigma * kappa), mpmath.sqrt(2) * kappa / sigma
        below, centre = kappa**2 / (1 + kappa**2), theta - mpmath.exp(log_sigma)

        def cdf(y):
            if y == -mpmath.inf:
                return mpmath.mpf(0)
            z = y - centre
            return below * mpmath.exp(left * z) if z < 0 else 1 - (1 - below) * mpmath.exp(-right * z)

        return -mpmath.log(cdf(until) - cdf(since))

    with mpmath.workdps(120):
        bounds = [mpmath.mpf(max(float(bound[0]), 0.0)) for bound in (data.lower, data.upper)]
        since, until = (mpmath.log(bound) if bound > 0 else -mpmath.inf for bound in bounds)
        point = mpmath.mpf(0.3), mpmath.mpf(-0.2)
        wanted = [float(mpmath.diff(loss, point, order)) for order in ((1, 0), (0, 1))]
        value = float(loss(*point))

    given = Planes(planes, constants, in_turn)
    slopes, _ = rows.slopes_and_information(given)
    np.testing.assert_allclose(slopes[:2, 0], wanted, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(rows.losses_of_planes(given), value, rtol=1e-6)


# Each between two bounds: on both sides of θ, above and below it, far out in either tail, narrow, and open below.
BOUNDS = [
    *[(-1.0, 2.0), (0.7, 1.1), (-0.9, -0.4), (40.0, 41.0), (-90.0, -80.0), (1.0, 1.0 + 1e-9), (0.3, 500.0)],
    *[(-np.inf, 1.5), (-np.inf, -60.0)],
]


@pytest.mark.parametrize(("low", "high"), BOUNDS)
def test_probability_between_bounds_to_many_digits(low, high):
    point = [0.3, -0.2, 0.4]

    def log_probability(theta, log_sigma, log_kappa):
        kappa, sigma = mpmath.exp(log_kappa), mpmath.exp(log_sigma)
        left, right = mpmath.sqrt(2) / (sigma * kappa), mpmath.sqrt(2) * kappa / sigma
        below = kappa**2 / (1 + kappa**2)

        def cdf(y):
            if y == -mpmath.inf:
                return mpmath.mpf(0)
            z = mpmath.mpf(y) - theta
            return below * mpmath.exp(left * z) if z < 0 else 1 - (1 - below) * mpmath.exp(-right * z)

        return mpmath.log(cdf(high) - cdf(low))

    raw = np.array([point])
    found = between_value_and_slopes(np, raw, np.array([low]), np.array([high]), exp_theta=False, wanted=True)
    with mpmath.workdps(120):
        given = [mpmath.mpf(number) for number in point]
        wanted = float(log_probability(*given))
        slopes = [
            float(mpmath.diff(lambda x, k=k: log_probability(*given[:k], x, *given[k + 1 :]), given[k]))
            for k in range(3)
        ]
    assert found[0][0] == pytest.approx(wanted, rel=1e-7 if high - low < 1e-6 else 1e-12)
    np.testing.assert_allclose(found[1][0], slopes, rtol=1e-7, atol=1e-9)


def test_loss_is_that_of_the_user_s_unit():
    data = SurvivalData.right([3.0, 8.0], [True, False])
    raw = np.array([[0.7, 0.1, 0.2]])
    inside = AldRows(SUPPORTS["log"], data.scaled(0.25), unit=4.0, exp_theta=False)
    moved = raw + np.array([[np.log(4.0), 0.0, 0.0]])
    outside = AldRows(SUPPORTS["log"], data, exp_theta=False)
    np.testing.assert_allclose(inside.losses(raw), outside.losses(moved), rtol=1e-12)


@pytest.mark.parametrize("support", ["log", "positive", "real"])
def test_a_known_component_tells_more_than_the_mixture(support):
    # What the mixture tells is the mean square of the slope at its own times: taken at even quantiles.
    layout = MixtureOutputs(2, True, support == "positive")
    raw = np.array([[0.4, -0.2, 0.3, -0.3, 0.1, -0.1, 0.0, 0.2, 0.1, -0.2]])
    any_row = MixtureRows(SUPPORTS[support], SurvivalData.right([1.0], [True]), layout=layout, least_scale=0.05)
    times = any_row.distribution(raw).quantile((np.arange(2000) + 0.5) / 2000)[0]
    times = times[times > 0]
    rows = MixtureRows(SUPPORTS[support], SurvivalData.interval(times, times), layout=layout, least_scale=0.05)
    told = (rows.losses_and_slopes(raw)[1][:, : rows.boosted] ** 2).mean(0)
    planes = Planes(np.repeat(raw[:, : rows.boosted].T, len(times), axis=1), raw[0, rows.boosted :], in_turn)
    known = rows.slopes_and_information(planes)[1].mean(1)
    assert (told < 1.02 * known).all()
    assert (told > 0.02 * known).all()
