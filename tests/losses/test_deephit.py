from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import torch
from pycox.models import loss as pycox_loss
from pycox.models.data import pair_rank_mat

from aldsurv.losses.deephit_loss import deephit_log_likelihood, deephit_loss, deephit_objective, deephit_ranking
from aldsurv.losses.deephit_slopes import deephit_losses, deephit_losses_and_slopes


def random_rows(members, rows, causes, bins, seed, dtype=torch.float64, in_part=True):
    """Logits, places, causes, entries and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    raw = torch.tensor(rng.normal(size=(members, rows, causes * bins)), dtype=dtype)
    cause = rng.integers(0, causes + 1, (members, rows))
    passed = rng.uniform(0, bins, (members, rows))
    passed = passed if in_part else np.floor(passed)
    place = np.where(cause > 0, rng.integers(0, bins, (members, rows)), passed)
    entered = np.where(rng.random((members, rows)) < 0.5, place * rng.random((members, rows)), 0.0)
    weight = np.where(rng.random((members, rows)) < 0.2, 0.0, rng.uniform(0.2, 3, (members, rows)))
    place, entered, weight = (torch.tensor(column, dtype=dtype) for column in (place, entered, weight))
    return raw, place, torch.tensor(cause), entered, weight


def by_definition(raw, place, cause, weight, entered, causes, sigma):
    """Log-likelihoods and ranking loss of one member in loops over rows and pairs."""
    n = len(raw)
    chances = np.exp(np.concatenate([raw, np.zeros((n, 1))], axis=1))
    chances /= chances.sum(axis=1, keepdims=True)
    table = chances[:, :-1].reshape(n, causes, -1)
    bins = table.shape[2]

    def survival(row, passed):
        left = 1.0
        for b in range(bins):
            left -= table[row, :, b].sum() * min(max(passed - b, 0.0), 1.0)
        return left

    rows = []
    for i in range(n):
        value = table[i, cause[i] - 1, int(place[i])] if cause[i] else survival(i, place[i])
        rows.append(np.log(value / survival(i, entered[i])))
    total = 0.0
    for i in range(n):
        for j in range(n):
            end = place[i] + 1
            if cause[i] == 0 or place[j] < end or entered[j] >= end:
                continue
            k, b = cause[i] - 1, int(place[i])
            risen = [table[row, k, : b + 1].sum() for row in (i, j)]
            total += weight[i] * weight[j] * np.exp((risen[1] - risen[0]) / sigma)
    return np.array(rows), total / weight.sum() ** 2


@pytest.mark.parametrize("causes", [1, 3])
@pytest.mark.parametrize("delayed", [False, True])
def test_both_parts_are_those_of_the_definition(causes, delayed):
    raw, place, cause, entered, weight = random_rows(2, 25, causes, 6, 0)
    since = entered if delayed else torch.zeros_like(entered)
    rows = deephit_log_likelihood(raw, place, cause, since if delayed else None, causes=causes)
    ranking = deephit_ranking(raw, place, cause, weight, since if delayed else None, causes=causes, sigma=0.3)
    for m in range(2):
        columns = (column[m].numpy() for column in (raw, place, cause, weight, since))
        expected_rows, expected = by_definition(*columns, causes, 0.3)
        np.testing.assert_allclose(rows[m], expected_rows, rtol=1e-12)
        assert ranking[m].item() == pytest.approx(expected, rel=1e-12)


def pycox_places(n, bins, causes, seed):
    """Times as pycox has them, an index into the grid, and as places: who is censored at an index has passed it."""
    rng = np.random.default_rng(seed)
    index, cause = rng.integers(0, bins, n), rng.integers(0, causes + 1, n)
    place = np.where(cause > 0, index, index + 1)
    return torch.tensor(index), torch.tensor(cause), torch.tensor(place, dtype=torch.float32)[None]


@pytest.mark.parametrize("sigma", [0.1, 0.5])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_loss_of_one_cause_is_pycoxs(alpha, sigma):
    index, cause, place = pycox_places(60, 7, 1, 1)
    raw = torch.randn(60, 7, generator=torch.Generator().manual_seed(0)).requires_grad_()
    pairs = torch.tensor(pair_rank_mat(index.numpy(), cause.numpy()))
    expected = pycox_loss.DeepHitSingleLoss(alpha, sigma)(raw, index, cause.float(), pairs)
    found = deephit_loss(raw[None], place, cause[None], alpha=alpha, sigma=sigma)
    assert found.item() == pytest.approx(expected.item(), rel=2e-6)
    slopes, expected_slopes = (torch.autograd.grad(loss.sum(), raw)[0] for loss in (found, expected))
    np.testing.assert_allclose(slopes, expected_slopes, rtol=1e-5, atol=2e-7)


def test_parts_of_one_cause_are_pycoxs():
    index, cause, place = pycox_places(60, 7, 1, 2)
    raw = torch.randn(60, 7, generator=torch.Generator().manual_seed(1))
    rows = deephit_log_likelihood(raw[None], place, cause[None])[0]
    np.testing.assert_allclose(-rows, pycox_loss.nll_pmf(raw, index, cause.float(), "none"), rtol=1e-5, atol=2e-6)
    pairs = torch.tensor(pair_rank_mat(index.numpy(), cause.numpy()))
    expected = pycox_loss.rank_loss_deephit_single(raw, index, cause.float(), pairs, 0.1)
    assert deephit_ranking(raw[None], place, cause[None]).item() == pytest.approx(expected.item(), rel=1e-5)


def test_loss_of_competing_causes_is_pycoxs():
    index, cause, place = pycox_places(80, 6, 3, 3)
    raw = torch.randn(80, 18, generator=torch.Generator().manual_seed(2)).requires_grad_()
    pairs = torch.tensor(pair_rank_mat(index.numpy(), cause.numpy()))
    expected = pycox_loss.DeepHitLoss(0.2, 0.1)(raw.view(80, 3, 6), index, cause, pairs)
    found = deephit_loss(raw[None], place, cause[None], causes=3)
    # pycox adds 1e-7 to each probability before it takes the logarithm.
    assert found.item() == pytest.approx(expected.item(), rel=1e-5)
    slopes, expected_slopes = (torch.autograd.grad(loss.sum(), raw)[0] for loss in (found, expected))
    np.testing.assert_allclose(slopes, expected_slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("causes", [1, 2])
@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_closed_form_is_the_automatic_one(causes, delayed, weighted):
    raw, place, cause, entered, weight = random_rows(3, 40, causes, 5, 4)
    since, own = entered if delayed else None, weight if weighted else None
    raw.requires_grad_()
    found = deephit_loss(raw, place, cause, own, since, causes=causes, alpha=0.3, sigma=0.2)
    rows = deephit_log_likelihood(raw, place, cause, since, causes=causes)
    mean = rows.mean(1) if own is None else (rows * own).sum(1) / own.sum(1)
    expected = 0.7 * deephit_ranking(raw, place, cause, own, since, causes=causes, sigma=0.2) - 0.3 * mean
    np.testing.assert_allclose(found.detach(), expected.detach(), rtol=1e-13)
    outer = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    slopes, automatic = (torch.autograd.grad((outer * loss).sum(), raw)[0] for loss in (found, expected))
    np.testing.assert_allclose(slopes, automatic, atol=1e-14)


@pytest.mark.parametrize("delayed", [False, True])
def test_gradcheck(delayed):
    raw, place, cause, entered, weight = random_rows(2, 9, 2, 4, 5)
    since = entered if delayed else None
    assert torch.autograd.gradcheck(
        lambda r: deephit_loss(r, place, cause, weight, since, causes=2, alpha=0.4, sigma=0.2), raw.requires_grad_()
    )


def test_a_row_without_weight_is_not_there():
    raw, place, cause, entered, weight = random_rows(1, 30, 2, 5, 6)
    counts = weight[0] > 0
    assert 0 < counts.sum() < 30
    constants = {"causes": 2, "alpha": 0.2, "sigma": 0.1}
    whole = [column.numpy() for column in (raw, place, cause, weight, entered)]
    part = [column[:, counts.numpy()] for column in whole]
    (loss, slopes), (expected, expected_slopes) = (deephit_losses_and_slopes(*c, **constants) for c in (whole, part))
    np.testing.assert_allclose(loss, expected, rtol=1e-13)
    np.testing.assert_allclose(slopes[:, counts.numpy()], expected_slopes, atol=1e-15)
    np.testing.assert_array_equal(slopes[:, ~counts.numpy()], 0.0)
    # Nor are all rows, if none has any.
    whole[3] = np.zeros_like(whole[3])
    loss, slopes = deephit_losses_and_slopes(*whole, **constants)
    assert loss == [0.0]
    assert not slopes.any()


def test_weights_count_as_copies():
    raw, place, cause, entered, _ = random_rows(1, 20, 2, 5, 7)
    copies = np.random.default_rng(0).integers(0, 4, 20)
    again = np.repeat(np.arange(20), copies)
    once = deephit_loss(raw, place, cause, torch.tensor(copies, dtype=torch.float64)[None], entered, causes=2)
    columns = [column[:, again] for column in (raw, place, cause)]
    np.testing.assert_allclose(once, deephit_loss(*columns, None, entered[:, again], causes=2), rtol=1e-12)
    equal = deephit_loss(raw, place, cause, torch.full((1, 20), 7.0, dtype=torch.float64), entered, causes=2)
    np.testing.assert_allclose(equal, deephit_loss(raw, place, cause, None, entered, causes=2), rtol=1e-13)


def test_order_of_rows_and_members():
    raw, place, cause, entered, weight = random_rows(3, 50, 2, 5, 8)
    columns = (raw, place, cause, weight, entered)
    expected = deephit_loss(*columns, causes=2)
    order = np.random.default_rng(1).permutation(50)
    np.testing.assert_allclose(deephit_loss(*(c[:, order] for c in columns), causes=2), expected, rtol=1e-13)
    # The last bits too: a member is the same alone and among others.
    for m in range(3):
        alone = deephit_losses_and_slopes(*(c[m : m + 1].numpy() for c in columns), causes=2, alpha=0.2, sigma=0.1)
        among = deephit_losses_and_slopes(*(c.numpy() for c in columns), causes=2, alpha=0.2, sigma=0.1)
        assert alone[0][0] == among[0][m]
        assert alone[1][0].tobytes() == among[1][m].tobytes()


def test_whether_a_row_is_censored_touches_its_own_likelihood_alone():
    raw, place, cause, _, _ = random_rows(1, 20, 1, 5, 9, in_part=False)
    before = deephit_log_likelihood(raw, place, cause)[0]
    for row in range(20):
        other = cause.clone()
        other[0, row] = 1 - other[0, row]
        changed = deephit_log_likelihood(raw, place, other)[0] != before
        assert changed.tolist() == [k == row for k in range(20)]


def test_all_rows_at_once_in_blocks():
    # All pairs of 40,000 rows would be 13 GB.
    raw, place, cause, entered, weight = random_rows(2, 20_000, 1, 50, 10, torch.float32)
    columns = [column.numpy() for column in (raw, place, cause, weight, entered)]
    tracemalloc.start()
    found = deephit_losses(*columns, causes=1, alpha=0.2, sigma=0.1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6
    columns = [column.double() if column.is_floating_point() else column for column in (raw, place, cause)]
    rows = deephit_log_likelihood(*columns, entered.double())
    ranking = deephit_ranking(*columns, weight.double(), entered.double())
    expected = 0.8 * ranking - 0.2 * (rows * weight).sum(1) / weight.double().sum(1)
    np.testing.assert_allclose(found, expected, rtol=2e-5)


def test_extreme_logits_stay_finite():
    raw = torch.tensor([[[60.0, -60.0], [-60.0, 60.0], [-80.0, -80.0], [80.0, 0.0]]])
    place, cause = torch.tensor([[0.0, 2.0, 1.0, 1.0]]), torch.tensor([[1, 0, 0, 0]])
    found = deephit_log_likelihood(raw.double(), place.double(), cause)[0]
    np.testing.assert_allclose(found, [0.0, -60.0, 0.0, np.log(2) - 80], atol=1e-12)
    raw.requires_grad_()
    loss = deephit_loss(raw, place, cause, sigma=0.02)
    (slopes,) = torch.autograd.grad(loss.sum(), raw)
    assert torch.isfinite(loss).all()
    assert torch.isfinite(slopes).all()


def test_the_objective_is_the_loss():
    raw, place, cause, entered, weight = random_rows(2, 30, 2, 5, 11, torch.float32)
    for since in (None, entered):
        objective = deephit_objective(
            place[0].numpy(), cause[0].numpy(), None if since is None else since[0].numpy(),
            bins=5, causes=2, alpha=0.4, sigma=0.2,
        )  # fmt: skip
        assert objective.outputs == 10
        fields = tuple(field.expand(2, -1) for field in objective.fields)
        expected = deephit_loss(raw, *fields[:2], weight, *fields[2:], causes=2, alpha=0.4, sigma=0.2)
        np.testing.assert_array_equal(objective.losses(raw, fields, weight), expected)
        losses, slopes = objective.losses_and_slopes(raw.numpy(), [f.numpy() for f in fields], weight.numpy())
        leaf = raw.clone().requires_grad_()
        (automatic,) = torch.autograd.grad(objective.losses(leaf, fields, weight).sum(), leaf)
        np.testing.assert_allclose(losses, expected, rtol=1e-6)
        np.testing.assert_array_equal(slopes, automatic)
        assert losses.dtype == slopes.dtype == np.float32
