"""Rows that members learn from in a file, read bucket by bucket.

Rows went to buckets at random. An epoch visits the buckets in random order and shuffles the rows of each: while one is
learned from, a thread reads the next. Of very many rows an epoch is a slice of the buckets, so that checkpoints and
validation losses come often enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.files.bucket_file import BucketFile
from aldsurv.training.batches import RowSource
from aldsurv.training.randomness import Purpose, generator_for
from aldsurv.training.training_rows import Batch, TrainingRows

__all__ = ["HOLDER", "StreamedRows"]

# The name of the entry of a record that says which member holds the row out: its number from 1 on, 0 for none.
HOLDER = "holder"


class _Bucket(NamedTuple):
    """Rows in memory, and which of them each member has."""

    x: Tensor
    fields: tuple[Tensor, ...]
    weight: Tensor | None
    rows: list[NDArray[np.int64]]


@final
@dataclass(frozen=True, eq=False)
class StreamedRows(TrainingRows):
    """Rows in a file.

    Attributes
    ----------
    file
        Records with the entries ``x`` (inputs,), those of `fields`, perhaps ``weight``, and `HOLDER`.
    fields
        Names of the entries that the objective knows of each row.
    members
        The members, by their numbers.
    slice_counts
        Rows of each member (slices, members) in each slice of the buckets; bucket b is in slice b modulo their number.
    seed
        Decides in which order buckets are visited.
    largest
        The largest absolute value of an input.
    on
        Where the batches are to be.
    dtype
        Precision of what is handed out.
    on_rows
        Called with the number of rows after each bucket that was learned from.
    """

    file: BucketFile
    fields: tuple[str, ...]
    members: tuple[int, ...]
    slice_counts: NDArray[np.int64]
    seed: int
    largest: float
    on: torch.device
    dtype: torch.dtype = torch.float32
    on_rows: Callable[[int, int], object] = lambda epoch, rows: None

    @property
    def counts(self) -> Sequence[int]:
        """Rows of each member in an epoch: as many as every slice has."""
        return [int(count) for count in self.slice_counts.min(axis=0)]

    @property
    def device(self) -> torch.device:
        """Where the batches are."""
        return self.on

    def of_members(self, members: NDArray[np.int64]) -> StreamedRows:
        """The rows of some of the members, by their numbers."""
        chosen = members.tolist()
        return replace(
            self,
            members=tuple(self.members[k] for k in chosen),
            slice_counts=self.slice_counts[:, chosen],
        )

    def largest_input(self) -> float:
        """The largest absolute value of an input."""
        return self.largest

    def batches(
        self, seeds: Sequence[int], epoch: int, size: int, units: int, dropout: float, *, levels: bool = False
    ) -> Iterator[Batch]:
        """The batches of an epoch, as `TrainingRows` says."""
        slices = len(self.slice_counts)
        inside = np.arange(epoch % slices, self.file.n_buckets, slices)
        order = generator_for(self.seed, Purpose.BUCKETS, epoch).permutation(inside).tolist()
        orders = [generator_for(seed, Purpose.ORDER, epoch) for seed in seeds]
        dropped = [generator_for(seed, Purpose.DROPOUT, epoch) for seed in seeds]
        drawn = [generator_for(seed, Purpose.LEVEL, epoch) for seed in seeds] if levels else None
        left: _Bucket | None = None
        to_come = np.array(self.counts)
        for number, bucket in enumerate(self._read_ahead(order)):
            # A member's rows come in an order of its own, whatever other members there are.
            rows = [generator.permutation(own) for generator, own in zip(orders, bucket.rows, strict=True)]
            here = _joined(left, bucket._replace(rows=rows))
            last = number == len(order) - 1
            # Slices differ by a few rows, which are left out of the larger ones.
            lengths = np.minimum([len(own) for own in here.rows], to_come)
            # Members hold out different rows: one may have to wait for another until the next bucket is there.
            whole = int(lengths.max() if last else lengths.min() // size * size)
            to_come -= np.minimum(lengths, whole)
            chosen = np.full((len(lengths), whole), -1, np.int64)
            for k, own in enumerate(here.rows):
                taken = min(int(lengths[k]), whole)
                chosen[k, :taken] = own[:taken]
            first = [np.zeros(1, np.int64)] * len(lengths)
            source = RowSource(here.x, here.fields, here.weight, first, self.dtype)
            yield from source.ordered_batches(chosen, dropped, drawn, size, units, dropout)
            left = None if last else _rest(here, whole)
            self.on_rows(epoch, int(self.file.sizes[order[number]]))

    def _read_ahead(self, order: Sequence[int]) -> Iterator[_Bucket]:
        """The buckets in an order; while one is used, the next is read."""
        with ThreadPoolExecutor(1, "aldsurv-rows") as reader:
            waiting = [reader.submit(self._bucket, number) for number in order[:1]]
            try:
                for number in [*order[1:], None]:
                    ready = waiting.pop().result()
                    if number is not None:
                        waiting.append(reader.submit(self._bucket, number))
                    yield ready
                    del ready
            finally:
                for task in waiting:
                    task.cancel()

    def _bucket(self, number: int) -> _Bucket:
        records = self.file.read(number)
        names = records.dtype.names or ()
        holder = records[HOLDER]
        return _Bucket(
            self._tensor(records["x"]),
            tuple(self._tensor(records[name]) for name in self.fields),
            self._tensor(records["weight"]) if "weight" in names else None,
            [np.flatnonzero(holder != member + 1) for member in self.members],
        )

    def _tensor(self, values: NDArray[Any]) -> Tensor:
        return torch.from_numpy(values.copy()).to(self.on)


def _joined(left: _Bucket | None, bucket: _Bucket) -> _Bucket:
    """The rows that are left of buckets before, and those of a bucket."""
    if left is None or not len(left.x):
        return bucket
    start = len(left.x)
    weight = None
    if left.weight is not None and bucket.weight is not None:
        weight = torch.cat([left.weight, bucket.weight])
    return _Bucket(
        torch.cat([left.x, bucket.x]),
        tuple(map(torch.cat, zip(left.fields, bucket.fields, strict=True))),
        weight,
        [np.concatenate([own, more + start]) for own, more in zip(left.rows, bucket.rows, strict=True)],
    )


def _rest(bucket: _Bucket, whole: int) -> _Bucket:
    """What no batch has had yet: of each member the rows from `whole` on."""
    rows = [own[whole:] for own in bucket.rows]
    kept, places = np.unique(np.concatenate(rows), return_inverse=True)
    index = torch.from_numpy(kept).to(bucket.x.device)
    cuts = np.cumsum([len(own) for own in rows])[:-1]
    return _Bucket(
        bucket.x[index],
        tuple(field[index] for field in bucket.fields),
        None if bucket.weight is None else bucket.weight[index],
        [own.astype(np.int64) for own in np.split(places.reshape(-1), cuts)],
    )
