"""Rows in a file as the training loop sees them, against the same rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from aldsurv.files.bucket_file import BucketFile
from aldsurv.training.batches import RowSource
from aldsurv.training.streamed_rows import HOLDER, StreamedRows

RECORD = np.dtype([("x", np.float32, (2,)), ("number", np.int64), ("weight", np.float32), (HOLDER, np.uint8)])
N, SEEDS = 211, (5, 6, 7)


def numbered_rows():
    rows = np.zeros(N, RECORD)
    rows["number"] = np.arange(N)
    rows["x"] = np.arange(N)[:, None] * [1.0, -1.0]
    rows["weight"] = 1 + np.arange(N) % 3
    rows[HOLDER] = np.random.default_rng(0).choice([0, 0, 1, 1, 2, 3], N)
    return rows


def streamed(buckets, members=(0, 1, 2), slices=1):
    rows, file = numbered_rows(), BucketFile(RECORD, buckets, N)
    numbers = np.random.default_rng(1).integers(0, buckets, N)
    file.add(rows, numbers)
    parts = [rows[numbers % slices == part] for part in range(slices)]
    counts = np.array([[(part[HOLDER] != member + 1).sum() for member in members] for part in parts])
    return StreamedRows(file, ("number",), members, counts, 9, float(N), torch.device("cpu"))


def batches_of(source, seeds=SEEDS, epoch=0, size=16, dropout=0.3, levels=False):
    return list(source.batches(seeds, epoch, size, 4, dropout, levels=levels))


@pytest.mark.parametrize("buckets", [1, 2, 7, 40])
@pytest.mark.parametrize("size", [1, 16, 500])
def test_every_member_sees_each_of_its_rows_once(buckets, size):
    source, rows = streamed(buckets), numbered_rows()
    with source.file:
        batches = batches_of(source, size=size)
        assert len(batches) == -(-source.most_rows // size)
        for k in range(3):
            numbers = torch.cat([batch.fields[0][k] for batch in batches])
            weight = torch.cat([batch.weight[k] for batch in batches])
            inputs = torch.cat([batch.x[k] for batch in batches])
            # Where a member has no more rows, others have no weight: they are at the end.
            np.testing.assert_array_equal((weight > 0).numpy(), np.arange(len(weight)) < source.counts[k])
            seen = numbers[weight > 0].numpy()
            np.testing.assert_array_equal(np.sort(seen), np.flatnonzero(rows[HOLDER] != k + 1))
            np.testing.assert_array_equal(inputs[weight > 0].numpy(), rows["x"][seen])
            np.testing.assert_array_equal(weight[weight > 0].numpy(), rows["weight"][seen])
        assert {batch.x.shape[1] for batch in batches[:-1]} <= {size}


def test_epochs_differ_and_repeat():
    source = streamed(6)
    with source.file:
        first, again, other = (batches_of(source, epoch=epoch) for epoch in (0, 0, 1))
        assert all(torch.equal(a.x, b.x) and torch.equal(a.keep, b.keep) for a, b in zip(first, again, strict=True))
        assert not torch.equal(first[0].x, other[0].x)


def test_slices_of_an_epoch_have_each_row_at_most_once():
    source, rows = streamed(12, slices=3), numbered_rows()
    with source.file:
        seen = [[], [], []]
        for epoch in range(3):
            batches = batches_of(source, epoch=epoch)
            assert len(batches) == -(-source.most_rows // 16)
            for k in range(3):
                weight = torch.cat([batch.weight[k] for batch in batches])
                numbers = torch.cat([batch.fields[0][k] for batch in batches])[weight > 0].tolist()
                assert len(numbers) == source.counts[k]
                seen[k] += numbers
        for k in range(3):
            assert len(set(seen[k])) == len(seen[k])
            assert set(seen[k]) <= set(np.flatnonzero(rows[HOLDER] != k + 1).tolist())


def test_a_member_sees_the_same_alone_and_among_others():
    source = streamed(6)
    with source.file:
        together = batches_of(source, levels=True)
        alone = batches_of(source.of_members(np.array([1])), seeds=SEEDS[1:2], levels=True)
        for mine, ours in zip(alone, together, strict=False):
            rows = (mine.weight[0] > 0).numpy()
            for one, all_members in ((mine.x, ours.x), (mine.fields[0], ours.fields[0]), (mine.keep, ours.keep)):
                assert torch.equal(one[0][rows], all_members[1][: len(rows)][rows])


def test_one_bucket_is_learned_from_as_rows_in_memory_are():
    source, rows = streamed(1), numbered_rows()
    memory = RowSource(
        torch.from_numpy(np.ascontiguousarray(rows["x"])),
        (torch.from_numpy(np.ascontiguousarray(rows["number"])),),
        torch.from_numpy(np.ascontiguousarray(rows["weight"])),
        [np.flatnonzero(rows[HOLDER] != k + 1) for k in range(3)],
    )
    with source.file:
        for epoch in (0, 3):
            for mine, theirs in zip(batches_of(source, epoch=epoch), batches_of(memory, epoch=epoch), strict=True):
                counted = theirs.weight > 0
                assert torch.equal(mine.weight, theirs.weight)
                assert torch.equal(mine.keep, theirs.keep)
                assert torch.equal(mine.x[counted], theirs.x[counted])
                assert torch.equal(mine.fields[0][counted], theirs.fields[0][counted])
