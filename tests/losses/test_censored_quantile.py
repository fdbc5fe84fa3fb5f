from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.special import expit

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.numerics.ordered_quantiles import ordered_quantiles
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.losses.censored_quantile import (
    censored_levels,
    censored_quantile_loss,
    losses_and_slopes,
    portnoy_weights,
)
from aldsurv.losses.quantile_objective import QuantileObjective
from aldsurv.nonparametric import kaplan_meier

LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
rules = pytest.mark.parametrize("rule", ["nearest", "interpolated"])


def random_rows(members=2, n=30, seed=0, levels=LEVELS, crossing=True, dtype=torch.float64):
    """Quantiles, times on both sides of them, events and y* that differ by row."""
    rng = np.random.default_rng(seed)
    quantiles = rng.exponential(2.0, (members, n, len(levels)))
    quantiles = quantiles if crossing else np.sort(quantiles, axis=-1)
    time, event = rng.exponential(2.0, (members, n)), rng.random((members, n)) < 0.5
    y_star = time.max() * rng.uniform(1.1, 2.0, (members, n))
    return tuple(torch.tensor(array, dtype=kind) for array, kind in zip(
        (quantiles, time, event, y_star), (dtype, dtype, torch.bool, dtype), strict=True
    ))  # fmt: skip


def pinball(y, theta, q):
    return q * (y - theta) if y >= theta else (1 - q) * (theta - y)


def by_definition(quantiles, time, event, y_star, levels):
    """One row, loop by loop, with the level of the nearest quantile."""
    total = 0.0
    nearest = min(range(len(levels)), key=lambda k: (abs(quantiles[k] - time), k))
    q_c = levels[nearest]
    for theta, q in zip(quantiles, levels, strict=True):
        if event:
            total += pinball(time, theta, q)
        else:
            w = (q - q_c) / (1 - q_c) if q > q_c else 0.0
            total += w * pinball(time, theta, q) + (1 - w) * pinball(y_star, theta, q)
    return total / len(levels)


def test_is_the_definition():
    quantiles, time, event, y_star = random_rows()
    found = censored_quantile_loss(quantiles, time, event, y_star, LEVELS)
    assert found.shape == (2, 30)
    for m in range(2):
        for i in range(30):
            row = (quantiles[m, i].tolist(), time[m, i].item(), bool(event[m, i]), y_star[m, i].item())
            assert found[m, i].item() == pytest.approx(by_definition(*row, LEVELS.tolist()), rel=1e-12)


@rules
def test_what_is_left_out_changes_no_quantile(rule):
    quantiles, time, event, y_star = random_rows(seed=9)
    quantiles.requires_grad_()
    whole = censored_quantile_loss(quantiles, time, event, y_star, LEVELS, rule=rule)
    part = censored_quantile_loss(quantiles, time, event, y_star, LEVELS, rule=rule, relative=True)
    grid = torch.tensor(LEVELS)
    weight = portnoy_weights(grid, censored_levels(quantiles.detach(), time, grid, rule=rule), event)
    left_out = (grid * (1 - weight) * (y_star - time).unsqueeze(-1)).mean(-1)
    torch.testing.assert_close(whole - part, left_out)
    slopes = [torch.autograd.grad(rows.sum(), quantiles)[0] for rows in (whole, part)]
    assert torch.equal(*slopes)
    # And what is left needs no y* where no quantile is beyond it.
    farther = censored_quantile_loss(quantiles, time, event, 1e6 + y_star, LEVELS, rule=rule, relative=True)
    inside = (quantiles < y_star.unsqueeze(-1)).all(-1)
    assert inside.any()
    assert torch.equal(part[inside], farther[inside])


@rules
def test_without_censoring_it_is_the_pinball_loss(rule):
    from sklearn.metrics import mean_pinball_loss

    quantiles, time, _, y_star = random_rows()
    found = censored_quantile_loss(quantiles, time, torch.ones_like(time, dtype=torch.bool), y_star, LEVELS, rule=rule)
    wanted = np.mean([mean_pinball_loss(time[0], quantiles[0, :, k], alpha=q) for k, q in enumerate(LEVELS)])
    assert found[0].mean().item() == pytest.approx(wanted, rel=1e-12)


@rules
def test_gradcheck(rule):
    quantiles, time, event, y_star = random_rows(n=12, seed=1)
    # Finite differences must not step over a kink, nor make another quantile the nearest.
    assert (quantiles - time.unsqueeze(-1)).abs().min() > 1e-3
    distance = (quantiles - time.unsqueeze(-1)).abs().sort(-1).values
    assert (distance[..., 1] - distance[..., 0]).min() > 1e-4
    held = censored_levels(quantiles, time, torch.tensor(LEVELS), rule=rule)
    # No gradient goes through the level of the censoring time: it is held where it is.
    assert torch.autograd.gradcheck(
        lambda q: censored_quantile_loss(q, time, event, y_star, LEVELS, at=held),
        quantiles.requires_grad_(),
        eps=1e-6,
        atol=1e-7,
    )
    rows = censored_quantile_loss(quantiles, time, event, y_star, LEVELS, rule=rule)
    known = censored_quantile_loss(quantiles, time, event, y_star, LEVELS, at=held)
    assert torch.equal(rows, known)
    (slopes,) = torch.autograd.grad(rows.sum(), quantiles)
    (wanted,) = torch.autograd.grad(known.sum(), quantiles)
    assert torch.equal(slopes, wanted)


@rules
@pytest.mark.parametrize("log", [True, False])
def test_slopes_in_closed_form(rule, log):
    quantiles, time, event, y_star = random_rows(n=50, seed=2)
    given = [tensor.log() for tensor in (quantiles, time, y_star)] if log else [quantiles, time, y_star]
    given[0].requires_grad_()
    rows = censored_quantile_loss(given[0], given[1], event, given[2], LEVELS, rule=rule, log=log, relative=True)
    (slopes,) = torch.autograd.grad(rows.sum(), given[0])
    arrays = [tensor.detach().numpy() for tensor in given]
    found, by_hand = losses_and_slopes(arrays[0], arrays[1], event.numpy(), arrays[2], LEVELS, rule=rule, log=log)
    np.testing.assert_allclose(found, rows.detach(), rtol=1e-12)
    np.testing.assert_allclose(by_hand, slopes, rtol=1e-12, atol=1e-15)


def test_interpolated_level_is_the_cdf_through_the_quantiles():
    quantiles, time, *_ = random_rows(members=1, n=200, seed=3)
    wanted = QuantileKnots(LEVELS, quantiles[0].numpy()).cdf(time[0].numpy()[:, None])[:, 0]
    wanted = np.minimum(wanted, LEVELS[-1])
    for log in (True, False):
        given = [tensor.log() for tensor in (quantiles, time)] if log else [quantiles, time]
        found = censored_levels(*given, torch.tensor(LEVELS), rule="interpolated", log=log)[0]
        # In log time the lines between two quantiles are others, outside them they are not.
        ends = (time[0] <= quantiles[0].amin(-1)) | (time[0] >= quantiles[0].amax(-1))
        same = ends if log else torch.ones_like(ends)
        assert same.sum() > 20
        np.testing.assert_allclose(found[same], wanted[same.numpy()], rtol=1e-12)
        assert np.abs(found.numpy() - wanted).max() < 0.25


def test_level_of_quantiles_that_are_not_positive_or_equal():
    grid = torch.tensor(LEVELS)
    flat = torch.tensor([[-1.0, -0.5, 0.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
    found = censored_levels(flat, torch.tensor([1.0, 1.0], dtype=torch.float64), grid, rule="interpolated")
    assert found[0].item() == pytest.approx(0.5 + 0.25 / 2)
    assert 0.1 <= found[1].item() <= 0.9
    after = censored_levels(flat, torch.tensor([3.0, 3.0], dtype=torch.float64), grid, rule="interpolated")
    np.testing.assert_allclose(after, [0.9, 0.9])
    before = censored_levels(flat, torch.tensor([0.0, 0.5], dtype=torch.float64), grid, rule="interpolated")
    np.testing.assert_allclose(before, [0.5, 0.05])


def test_weights_are_chances():
    # Of an event that comes after c under the true distribution, that it comes before the true quantile.
    truth, c = stats.weibull_min(1.7, scale=3.0), np.array([0.4, 1.0, 2.5, 6.0])
    theta = truth.ppf(LEVELS)
    chance = np.clip((truth.cdf(theta) - truth.cdf(c)[:, None]) / truth.sf(c)[:, None], 0, None)
    found = portnoy_weights(LEVELS, truth.cdf(c), np.zeros(4, np.bool_))
    np.testing.assert_allclose(found, chance, atol=1e-12)
    np.testing.assert_array_equal(portnoy_weights(LEVELS, truth.cdf(c), np.ones(4, np.bool_)), np.ones((4, 5)))
    # Where all has happened nothing is divided by 0.
    np.testing.assert_array_equal(portnoy_weights(LEVELS, np.ones(1), np.zeros(1, np.bool_)), np.zeros((1, 5)))


def test_a_row_below_its_level_pulls_as_portnoy_has_it():
    quantiles, time, event, y_star = random_rows(members=1, n=400, seed=4, crossing=False)
    at = censored_levels(quantiles, time, torch.tensor(LEVELS), rule="interpolated")
    quantiles.requires_grad_()
    (slopes,) = torch.autograd.grad(
        censored_quantile_loss(quantiles, time, event, y_star, LEVELS, at=at).sum(), quantiles
    )
    grid = torch.tensor(LEVELS)
    early = grid <= at.unsqueeze(-1)
    weight = torch.where(event.unsqueeze(-1) | early, 1.0, (grid - at.unsqueeze(-1)) / (1 - at.unsqueeze(-1)))
    residual, far = (y.unsqueeze(-1) - quantiles for y in (time, y_star))
    loss = weight * residual * (grid - (residual < 0).double()) + (1 - weight) * far * (grid - (far < 0).double())
    (wanted,) = torch.autograd.grad(loss.mean(-1).sum(), quantiles)
    assert (early & ~event.unsqueeze(-1)).sum() > 100
    np.testing.assert_allclose(slopes, wanted, atol=1e-15)


def test_the_true_quantiles_are_where_the_slope_is_zero():
    # Self-consistency: at the truth the expected slope vanishes at every level, with censoring as without.
    rng = np.random.default_rng(5)
    n, levels = 100_000, np.linspace(0.05, 0.95, 19)
    truth = stats.lognorm(0.6)
    event_time, lost = truth.rvs(n, random_state=rng), rng.exponential(2.0, n)
    time, event = np.minimum(event_time, lost), event_time <= lost
    theta = np.broadcast_to(truth.ppf(levels), (n, 19))
    slopes = losses_and_slopes(
        theta, time, event, np.full(n, 1e9), levels, rule="nearest", log=False, at=truth.cdf(time)
    )[1]
    np.testing.assert_allclose(19 * slopes.mean(0), 0, atol=5 * 0.5 / np.sqrt(n))
    # What ignores the censoring is far off.
    ignoring = losses_and_slopes(theta, time, np.ones(n, np.bool_), np.full(n, 1e9), levels, rule="nearest", log=False)[
        1
    ]
    assert (19 * ignoring.mean(0))[9] > 0.1
    # Quantiles on the grid tell the level of a time to half a step; between two, better.
    for rule, most in (("nearest", 0.02), ("interpolated", 0.008)):
        found = losses_and_slopes(theta, time, event, np.full(n, 1e9), levels, rule=rule, log=False)[1]
        assert np.abs(19 * found.mean(0)).max() < most


@rules
def test_a_flag_or_time_touches_its_row_only(rule):
    quantiles, time, event, y_star = random_rows(members=2, n=40, seed=6, dtype=torch.float32)
    quantiles.requires_grad_()

    def answers(*known):
        rows = censored_quantile_loss(quantiles, *known, LEVELS, rule=rule)
        return rows.detach(), torch.autograd.grad(rows.mean(), quantiles)[0]

    rows, slopes = answers(time, event, y_star)
    for changed in (0, 17, 39):
        for which in range(3):
            known = [time.clone(), event.clone(), y_star.clone()]
            known[which][1, changed] = ~event[1, changed] if which == 1 else 1.5 * known[which][1, changed]
            known[1][1, changed] &= which != 2
            others, other_slopes = answers(*known)
            untouched = torch.ones(2, 40, dtype=torch.bool)
            untouched[1, changed] = False
            assert torch.equal(rows[untouched], others[untouched])
            assert torch.equal(slopes[untouched], other_slopes[untouched])
            assert rows[1, changed] != others[1, changed]


def test_columns_that_would_broadcast_are_refused():
    quantiles, time, event, y_star = random_rows(members=1, n=8)
    flat = quantiles[0], time[0], event[0], y_star[0]
    assert censored_quantile_loss(*flat, LEVELS).shape == (8,)
    for which, name in ((1, "time"), (2, "event"), (3, "y_star")):
        wrong = list(flat)
        wrong[which] = wrong[which][:, None]
        with pytest.raises(
            ParameterError, match=rf"{name} must have one value per row, shape \(8,\), but has \(8, 1\)"
        ):
            censored_quantile_loss(*wrong, LEVELS)
    with pytest.raises(ParameterError, match="at must have one value per row"):
        censored_quantile_loss(*flat, LEVELS, at=time[0, :, None])
    with pytest.raises(ParameterError, match="levels must be 5"):
        censored_quantile_loss(*flat, LEVELS[:4])


def test_float32_stays_finite():
    quantiles, time, event, y_star = random_rows(n=60, dtype=torch.float32)
    for factor in (1e-20, 1e20):
        given = [tensor * factor for tensor in (quantiles, time, y_star)]
        for rule in ("nearest", "interpolated"):
            rows = censored_quantile_loss(given[0], given[1], event, given[2], LEVELS, rule=rule)
            assert rows.isfinite().all()
    rows = censored_quantile_loss(0 * quantiles, time, event, 1e30 * y_star, LEVELS, rule="interpolated")
    assert rows.isfinite().all()


# ---- the objective of the loop


def known(n=80, seed=0):
    rng = np.random.default_rng(seed)
    event_time, lost = rng.exponential(2.0, n), rng.exponential(4.0, n)
    return SurvivalData.right(np.minimum(event_time, lost) + 0.01, event_time <= lost)


def objective(data, rule="nearest", **more):
    spread = np.full(len(data), 1.7) if more.pop("log", False) else None
    settings = {"rule": rule, "log_spread": spread, "ordered": False, **more}
    return QuantileObjective(data, LEVELS, np.full(len(data), 1.2 * data.lower.max()), **settings)


def test_ordered_quantiles_are_built_from_the_middle():
    raw = np.random.default_rng(0).normal(size=(4, 7, 5))
    found = ordered_quantiles(raw)
    gaps = np.logaddexp(raw[..., 1:], 0)
    np.testing.assert_allclose(found[..., 2], raw[..., 0])
    np.testing.assert_allclose(np.diff(found, axis=-1), gaps, rtol=1e-12)
    np.testing.assert_allclose(ordered_quantiles(torch.tensor(raw)), found, rtol=1e-12)


@rules
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("known_level", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_objective_by_hand_and_by_autograd(rule, ordered, log, known_level, weighted):
    data = known()
    at = np.random.default_rng(1).uniform(0, 1, len(data)) if known_level else None
    loss = objective(data, rule, ordered=ordered, log=log, at=at)
    rows = torch.tensor(np.stack([np.random.default_rng(k).permutation(80)[:33] for k in range(3)]))
    weight = torch.rand(3, 33, generator=torch.Generator().manual_seed(0)) if weighted else None
    if weight is not None:
        weight[1, 20:] = 0
        weight[2] = 0
    raw = torch.tensor(np.random.default_rng(2).normal(size=(3, 33, 5)), dtype=torch.float32).requires_grad_()
    fields = tuple(field[rows] for field in loss.fields)
    expected = loss.losses(raw, fields, weight)
    (slopes,) = torch.autograd.grad(expected.sum(), raw)
    found, by_hand = loss.losses_and_slopes(
        raw.detach().numpy().copy(), [field.numpy() for field in fields], None if weight is None else weight.numpy()
    )
    assert found.dtype == by_hand.dtype == np.float32
    np.testing.assert_allclose(found, expected.detach(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(by_hand, slopes, rtol=1e-4, atol=1e-7)
    if weight is not None:
        few = loss.losses(raw[1:2, :20], tuple(field[1:2, :20] for field in fields), weight[1:2, :20])
        assert few.item() == pytest.approx(expected[1].item(), rel=1e-6)
        assert expected[2].item() == 0


@rules
def test_a_row_has_the_same_bits_alone_and_among_others(rule):
    data = known(67)
    loss = objective(data, rule, ordered=True, log=True)
    raw = np.random.default_rng(3).normal(size=(1, 67, 5)).astype(np.float32)
    fields = [field.numpy()[None] for field in loss.fields]
    share = np.zeros((1, 67), np.float32)
    share[0, 4] = 1
    value, slopes = loss.losses_and_slopes(raw, fields, share)
    for length in (5, 7, 8, 15, 33):
        part = loss.losses_and_slopes(raw[:, :length], [field[:, :length] for field in fields], share[:, :length])
        assert part[0].tobytes() == value.tobytes()
        assert part[1][0, 4].tobytes() == slopes[0, 4].tobytes()


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("log", [True, False])
def test_the_start_has_the_kaplan_meier_quantiles(ordered, log):
    data = known(500, seed=4)
    loss = objective(data, ordered=ordered, log=log)
    start, scale = loss.guess(np.arange(300))
    quantiles = ordered_quantiles(start) if ordered else start
    curve = kaplan_meier(data[:300])
    wanted = [curve.times[np.flatnonzero(curve.survival <= 1 - q)[0]] for q in LEVELS[:4]]
    np.testing.assert_allclose((np.exp(1.7 * quantiles) if log else quantiles)[:4], wanted, rtol=1e-9)
    np.testing.assert_array_equal(scale, 0)


def test_a_start_beyond_the_data_is_spread_up_to_y_star():
    time = np.arange(1.0, 11.0)
    data = SurvivalData.right(time, time <= 3)
    start, _ = objective(data).guess(np.arange(10))
    np.testing.assert_allclose(start, [1.0, 3.0, 10 + 2 / 3, 10 + 4 / 3, 12.0])


def test_what_the_objective_refuses():
    data = known()
    with pytest.raises(CensoringError, match="events and right-censored rows"):
        objective(SurvivalData.interval(data.lower, data.lower + 1))
    with pytest.raises(CensoringError, match="events and right-censored rows"):
        objective(SurvivalData.right(data.time, data.event, entry=data.time / 2))
    with pytest.raises(DataError, match="no logarithm"):
        objective(SurvivalData.right([0.0, 1.0], [1, 1]), log=True)


def test_slope_of_ordered_quantiles_is_that_of_softplus():
    raw = torch.tensor(np.random.default_rng(5).normal(size=(1, 1, 5)), requires_grad=True)
    (slope,) = torch.autograd.grad(ordered_quantiles(raw)[..., -1].sum(), raw)
    np.testing.assert_allclose(slope[0, 0, 3:], expit(raw.detach().numpy()[0, 0, 3:]), rtol=1e-12)
    np.testing.assert_allclose(slope[0, 0, :3], [1, 0, 0])
