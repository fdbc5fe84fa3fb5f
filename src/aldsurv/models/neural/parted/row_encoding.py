"""Rows of a table as numbers for a network and its loss, block by block, and all of them in a file of buckets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.data.rows.row_hashes import row_hashes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.files.bucket_file import BucketFile
from aldsurv.models.neural.fitting.prepare import Prepared, RowStream
from aldsurv.models.neural.parted.held_rows import HeldShares
from aldsurv.notices import muted
from aldsurv.tables.parts import Block, PartedTable

if TYPE_CHECKING:
    import torch

    from aldsurv.training.training_rows import TrainingRows

__all__ = ["EncodedRows", "HeldOutRows", "RowEncoder", "write_rows"]

# Bytes of a bucket: two of them are in memory at a time, and what a batch is gathered from.
_BUCKET_BYTES = 1 << 25
_MOST_BUCKETS = 400
# Rows of an epoch of very many: after each of them there is a validation loss, and a checkpoint.
EPOCH_ROWS = 1 << 22


@final
@dataclass(frozen=True, eq=False)
class RowEncoder:
    """What makes numbers of the rows of a block.

    Attributes
    ----------
    task
        The fit, of rows in memory: its model, columns and unit.
    examples
        Rows of every sort in the table, as they are observed.
    even
        Whether all rows count the same.
    first_event
        The outcome of rows as the model reads it.
    """

    task: Prepared
    examples: SurvivalData
    even: bool
    first_event: Callable[[SurvivalData], SurvivalData]

    @property
    def features(self) -> Features:
        """How columns become numbers."""
        if self.task.features is None:
            raise ValueError("rows in parts have no encoder")
        return self.task.features

    def target(self, y: SurvivalData) -> SurvivalData:
        """The outcome of rows as the model learns it, in the unit inside."""
        with_examples = SurvivalData.concatenate([self.first_event(y), self.examples])
        return self.task.model.prepare_target(with_examples).scaled(1 / self.task.unit)[: len(y)]

    def fields(self, y: SurvivalData) -> list[NDArray[Any]]:
        """What the loss knows of each row (n,).

        The form of a loss depends on the sorts of rows: with an example of each it is that of all rows.
        """
        with_examples = SurvivalData.concatenate([self.first_event(y), self.examples])
        data = self.task.model.prepare_target(with_examples).scaled(1 / self.task.unit).with_weight(None)
        units = np.full(len(data), self.task.unit)
        objective = self.task.model.objective([replace(self.task, data=data)], data, units, "cpu")
        return [field.numpy()[: len(y)] for field in objective.fields]

    def record(self, fields: list[NDArray[Any]]) -> np.dtype[Any]:
        """The type of a record, all that is known of a row."""
        entries: list[Any] = [("x", np.float32, (self.features.width,))]
        entries += [(f"field {k}", field.dtype) for k, field in enumerate(fields)]
        entries += [] if self.even else [("weight", np.float32)]
        return np.dtype([*entries, ("holder", np.uint8 if self.task.model.members < 256 else np.uint16)])


class HeldOutRows(NamedTuple):
    """Rows that members hold out: inputs (n, width), outcomes as observed, and the member of each, from 1 on."""

    x: NDArray[np.float32]
    observed: SurvivalData
    holder: NDArray[Any]


@final
@dataclass(frozen=True, eq=False)
class EncodedRows(RowStream):
    """All rows in a file.

    Attributes
    ----------
    file, fields
        The file, and the names of its entries that the loss knows.
    digest
        Of all numbers.
    slice_counts
        Rows that each member learns from (slices, members), in each of the slices that an epoch is.
    seed
        Decides in which order buckets are visited.
    largest
        The largest absolute value of an input.
    on_rows
        Called with the epoch and the number of rows after each bucket.
    """

    file: BucketFile
    fields: tuple[str, ...]
    digest: str
    slice_counts: NDArray[np.int64]
    seed: int
    largest: float
    on_rows: Callable[[int, int], object]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the rows in their order."""
        return self.digest

    def rows(self, device: torch.device, dtype: torch.dtype) -> TrainingRows:
        """What the training loop reads."""
        from aldsurv.training.streamed_rows import StreamedRows

        members = tuple(range(self.slice_counts.shape[1]))
        return StreamedRows(
            self.file, self.fields, members, self.slice_counts, self.seed, self.largest, device, dtype, self.on_rows
        )


def bucket_count(rows: int, record: np.dtype[Any]) -> tuple[int, int]:
    """How many buckets rows are divided into, and how many slices those are, each of as many buckets."""
    slices = max(round(rows / EPOCH_ROWS), 1)
    buckets = min(max(-(-rows * record.itemsize // _BUCKET_BYTES), 1), _MOST_BUCKETS)
    return -(-buckets // slices) * slices, slices


def write_rows(
    table: PartedTable,
    encoder: RowEncoder,
    shares: HeldShares,
    seed: int,
    *,
    on_block: Callable[[int], object],
    on_rows: Callable[[int, int], object],
) -> tuple[EncodedRows, HeldOutRows]:
    """Read a table once and put its rows into a file, all but those without weight, and those held out in memory, too.

    Parameters
    ----------
    table
        The table.
    encoder
        What makes numbers of its rows.
    shares
        Which rows are held out.
    seed
        Decides to which bucket a row goes.
    on_block
        Called with the number of rows of each block that was read.
    on_rows
        As in `EncodedRows`.
    """
    fields = encoder.fields(encoder.examples)
    record = encoder.record(fields)
    names = tuple(name for name in record.names or () if name.startswith("field "))
    buckets, n_slices = bucket_count(table.n_rows, record)
    file = BucketFile(record, buckets, table.n_rows)
    digest = hashlib.sha256(repr(record).encode())
    # By bucket and by who holds a row out.
    counts = np.zeros((buckets, shares.members + 1), np.int64)
    kept: list[HeldOutRows] = []
    largest = 0.0
    try:
        for part in table.parts:
            for block in part.blocks():
                with part.located(block.numbers), muted():
                    records, y = _records(encoder, record, names, block)
                group = y.group
                counting = y.weights > 0
                records["holder"] = shares.holders(block.numbers, group)
                digest.update(records.tobytes())
                largest = max(largest, float(np.abs(records["x"]).max(initial=0.0)))
                bucket = (row_hashes(block.numbers, group, seed) % np.uint64(buckets)).astype(np.int64)
                if not counting.all():
                    records, y, bucket = records[counting], y[counting], bucket[counting]
                file.add(records, bucket)
                places = bucket * counts.shape[1] + records["holder"]
                counts += np.bincount(places, minlength=counts.size).reshape(counts.shape)
                out = records["holder"] > 0
                if out.any():
                    kept.append(HeldOutRows(records["x"][out].copy(), y[out], records["holder"][out]))
                on_block(len(block))
    except BaseException:
        file.close()
        raise
    slices = _slice_counts(counts, n_slices)
    rows = EncodedRows(file, names, digest.hexdigest(), slices, seed, largest, on_rows)
    return rows, _joined_held(kept, encoder)


def _slice_counts(counts: NDArray[np.int64], slices: int) -> NDArray[np.int64]:
    """Rows that each member learns from (slices, members), of rows (buckets, who holds them out, from 1 on)."""
    learned = counts.sum(axis=1, keepdims=True) - counts[:, 1:]
    found = np.zeros((slices, learned.shape[1]), np.int64)
    np.add.at(found, np.arange(len(counts)) % slices, learned)
    return found


def _records(
    encoder: RowEncoder, record: np.dtype[Any], names: tuple[str, ...], block: Block
) -> tuple[NDArray[Any], SurvivalData]:
    y = block.outcome
    records = np.zeros(len(block), record)
    records["x"] = encoder.features.transform(block.x)
    for name, field in zip(names, encoder.fields(y), strict=True):
        records[name] = field
    if "weight" in (record.names or ()):
        records["weight"] = y.weights
    return records, y


def _joined_held(kept: list[HeldOutRows], encoder: RowEncoder) -> HeldOutRows:
    if not kept:
        none = encoder.examples[np.zeros(len(encoder.examples), np.bool_)]
        return HeldOutRows(np.zeros((0, encoder.features.width), np.float32), none, np.zeros(0, np.uint8))
    return HeldOutRows(
        np.concatenate([rows.x for rows in kept]),
        SurvivalData.concatenate([rows.observed for rows in kept]),
        np.concatenate([rows.holder for rows in kept]),
    )
