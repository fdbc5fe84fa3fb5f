from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
import torch

from aldsurv.training import batches as batches_module
from aldsurv.training.batches import RowSource
from aldsurv.training.randomness import Purpose, dropout_bits, encoder_seeds, generator_for, shuffled

SIZES = [(10, 1), (10, 3), (10, 5), (10, 10), (10, 32), (1, 4), (257, 16)]


def source(rows, n=300, weight=None):
    """Rows that carry their own number in every column."""
    number = torch.arange(n, dtype=torch.float32)
    return RowSource(torch.stack([number, number + 0.5], 1), (number, number.long() % 7), weight, rows)


def seen_by(found, member):
    """Row numbers a member gets, without those of no weight, batch by batch."""
    numbers = []
    for batch in found:
        row = batch.x[member, :, 0]
        numbers.append((row if batch.weight is None else row[batch.weight[member] > 0]).long().tolist())
    return numbers


@pytest.mark.parametrize(("n", "size"), SIZES)
@pytest.mark.parametrize("chunk", [1, 64, 2**18])
def test_every_row_once_an_epoch(n, size, chunk, monkeypatch):
    monkeypatch.setattr(batches_module, "_CHUNK", chunk)
    rows = [np.random.default_rng(k).permutation(300)[:n] for k in range(3)]
    for epoch in range(2):
        found = list(source(rows).batches([4, 5, 6], epoch, size, 8, 0.1))
        assert [batch.x.shape[:2] for batch in found[:-1]] == [(3, size)] * (-(-n // size) - 1)
        for k in range(3):
            assert sorted(chain(*seen_by(found, k))) == sorted(rows[k].tolist())
        for batch in found:
            assert batch.weight is None
            assert batch.keep.shape == (*batch.x.shape[:2], 8)
            assert torch.equal(batch.x[..., 1], batch.x[..., 0] + 0.5)
            assert torch.equal(batch.fields[0], batch.x[..., 0])
            assert torch.equal(batch.fields[1], batch.x[..., 0].long() % 7)


@pytest.mark.parametrize("chunk", [1, 64, 2**18])
def test_chunks_do_not_change_the_order(chunk, monkeypatch):
    rows = [np.arange(50), np.arange(50, 100)]
    expected = [batch.x for batch in source(rows).batches([1, 2], 3, 7, 4, 0.0)]
    monkeypatch.setattr(batches_module, "_CHUNK", chunk)
    found = [batch.x for batch in source(rows).batches([1, 2], 3, 7, 4, 0.0)]
    assert len(found) == len(expected) == 8
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


def test_order_is_of_the_member_and_the_epoch():
    rows = [np.arange(40)] * 3
    orders = [shuffled(rows, [1, 2, 1], epoch) for epoch in range(3)]
    assert all(not np.array_equal(a, b) for a, b in pairwise(orders))
    assert not np.array_equal(orders[0][0], orders[0][1])
    assert np.array_equal(orders[0][0], orders[0][2])
    assert not np.array_equal(orders[0][0], np.arange(40))


def test_order_does_not_depend_on_how_many_members_there_are():
    rows = [np.random.default_rng(k).permutation(100)[: 30 + 5 * k] for k in range(5)]
    seeds = [9, 8, 7, 6, 5]
    among = shuffled(rows, seeds, 4)
    for k in range(5):
        alone = shuffled(rows[k : k + 1], seeds[k : k + 1], 4)[0]
        assert np.array_equal(among[k, : len(alone)], alone)
        assert (among[k, len(alone) :] == -1).all()


def test_order_is_a_fair_shuffle():
    first = np.array([shuffled([np.arange(4)], [seed], 0)[0] for seed in range(2000)])
    # Each row is at each place a quarter of the times; the standard error is 0.01.
    for place in range(4):
        np.testing.assert_allclose(np.bincount(first[:, place], minlength=4) / 2000, 0.25, atol=0.045)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("size", [1, 4, 7, 20])
def test_members_of_different_size(size, weighted):
    rows = [np.arange(10, 30), np.arange(13), np.array([290])]
    weight = torch.linspace(1, 2, 300) if weighted else None
    found = list(source(rows, weight=weight).batches([1, 2, 3], 0, size, 0, 0.0))
    assert len(found) == -(-20 // size)
    for k, own in enumerate(rows):
        assert sorted(chain(*seen_by(found, k))) == own.tolist()
        for batch in found:
            number = batch.x[k, :, 0].long()
            # Whatever stands where a row is missing is one of the member's own.
            assert set(number.tolist()) <= set(own.tolist())
            if batch.weight is not None and weighted:
                expected = torch.where(batch.weight[k] > 0, weight[number], 0.0)
                assert torch.equal(batch.weight[k], expected)
            elif batch.weight is not None:
                assert set(batch.weight[k].tolist()) <= {0.0, 1.0}
    counted = sum((batch.weight > 0).sum(1) if batch.weight is not None else size for batch in found)
    assert counted.tolist() == [20, 13, 1]


def test_weights_go_with_their_rows():
    weight = torch.arange(300, dtype=torch.float32) * 3
    for batch in source([np.arange(50)] * 2, weight=weight).batches([1, 2], 0, 8, 0, 0.0):
        assert torch.equal(batch.weight, batch.x[..., 0] * 3)


def test_gathered_takes_any_shape_of_row():
    x = torch.arange(5 * 2 * 3, dtype=torch.int64).view(5, 2, 3)
    found = RowSource(x, (), None, [np.arange(5), np.arange(5)])
    chosen = np.array([[4, 0, -1], [1, 1, 2]])
    picked, (fields, weight) = found.inputs(chosen), found.known(chosen)
    assert picked.shape == (2, 3, 2, 3)
    assert torch.equal(picked[0, 0], x[4])
    assert torch.equal(picked[1, 2], x[2])
    assert fields == ()
    assert weight.tolist() == [[1, 1, 0], [1, 1, 1]]
    assert chosen[0, 2] == -1


@pytest.mark.parametrize("dropout", [0.1, 0.2, 0.5, 0.9])
def test_dropout_has_the_right_share_and_scale(dropout):
    found = list(source([np.arange(256)] * 2).batches([1, 2], 0, 64, 200, dropout))
    keep = torch.cat([batch.keep for batch in found], 1)
    assert sorted(set(keep.unique().tolist())) == pytest.approx([0.0, 1 / (1 - dropout)])
    dropped = (keep == 0).double()
    # 51,200 decisions a member: five standard errors.
    bound = 5 * (dropout * (1 - dropout) / dropped[0].numel()) ** 0.5
    np.testing.assert_allclose(dropped.mean((1, 2)), dropout, atol=bound)
    # Neither units nor rows share their luck.
    spread = dropped.mean(1).std(1).numpy(), dropped.mean(2).std(1).numpy()
    np.testing.assert_allclose(spread[0], (dropout * (1 - dropout) / 256) ** 0.5, rtol=0.3)
    np.testing.assert_allclose(spread[1], (dropout * (1 - dropout) / 200) ** 0.5, rtol=0.3)


def test_almost_everything_can_be_dropped():
    (batch,) = source([np.arange(64)]).batches([1], 0, 64, 500, 0.999995)
    assert (batch.keep == 0).double().mean() > 0.999


def test_no_dropout_draws_nothing():
    assert all(batch.keep is None for batch in source([np.arange(20)]).batches([1], 0, 8, 10, 0.0))


@pytest.mark.parametrize("chunk", [1, 500, 2**18])
def test_dropout_is_the_same_alone_and_among_others(chunk, monkeypatch):
    monkeypatch.setattr(batches_module, "_CHUNK", chunk)
    rows = [np.arange(37) + k for k in range(4)]
    seeds = [5, 6, 7, 8]
    among = list(source(rows).batches(seeds, 2, 5, 7, 0.3))
    for k in range(4):
        alone = list(source(rows[k : k + 1]).batches(seeds[k : k + 1], 2, 5, 7, 0.3))
        for one, all_of_them in zip(alone, among, strict=True):
            assert torch.equal(one.keep[0], all_of_them.keep[k])
            assert torch.equal(one.x[0], all_of_them.x[k])
    other = next(iter(source(rows).batches(seeds, 3, 5, 7, 0.3)))
    assert not torch.equal(among[0].keep, other.keep)
    assert not torch.equal(among[0].keep, among[1].keep)
    assert not torch.equal(among[0].keep[0], among[0].keep[1])


@pytest.mark.parametrize("count", [1, 3, 4, 1001])
def test_bits(count):
    bits = dropout_bits([generator_for(seed, Purpose.DROPOUT) for seed in (1, 2)], count)
    assert bits.shape == (2, count)
    assert bits.dtype == np.int16
    if count > 1000:
        assert abs(bits.mean()) < 3000
        assert bits.min() < -32000
        assert bits.max() > 32000


def test_generators_differ_by_seed_purpose_and_epoch():
    drawn = {
        (seed, purpose, epoch): tuple(generator_for(seed, purpose, epoch).integers(2**62, size=2))
        for seed in (0, 1, 2**62)
        for purpose in Purpose
        for epoch in (0, 1)
    }
    assert len(set(drawn.values())) == len(drawn)
    assert drawn[1, Purpose.ORDER, 1] == tuple(generator_for(1, Purpose.ORDER, 1).integers(2**62, size=2))


def test_encoder_seeds_are_of_member_epoch_and_batch():
    seeds = {(epoch, batch): encoder_seeds([1, 2], epoch, batch) for epoch in range(3) for batch in range(3)}
    flat = [seed for pair in seeds.values() for seed in pair]
    assert len(set(flat)) == len(flat)
    assert encoder_seeds([2], 1, 1) == seeds[1, 1][1:]
    assert all(0 <= seed < 2**63 for seed in flat)


def test_fresh_levels_for_every_row_and_epoch():
    rows = [np.arange(250), np.arange(50, 290)]

    def levels(seeds, own, epoch):
        found = list(source(own).batches(seeds, epoch, 32, 8, 0.1, levels=True))
        assert all(batch.level.shape == batch.x.shape[:2] for batch in found)
        return torch.cat([batch.level for batch in found], 1)

    first = levels([4, 5], rows, 0)
    assert first.shape == (2, 250)
    # Uniform: within four standard errors of the moments.
    assert abs(first.mean() - 0.5) < 4 / np.sqrt(12 * 500)
    assert abs(first.square().mean() - 1 / 3) < 4 * np.sqrt(4 / 45 / 500)
    assert len(first.unique()) > 490
    assert not np.isin(levels([4, 5], rows, 1), first).any()
    # A member draws the same alone.
    assert torch.equal(levels([4], rows[:1], 0)[0], first[0])
    # And what else is drawn does not depend on it.
    pair = [list(source(rows).batches([4, 5], 0, 32, 8, 0.1, levels=wanted)) for wanted in (True, False)]
    assert all(torch.equal(one.keep, two.keep) and torch.equal(one.x, two.x) for one, two in zip(*pair, strict=True))
    assert all(batch.level is None for batch in pair[1])
