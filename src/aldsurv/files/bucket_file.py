"""Rows on disk for the time of a computation: put into buckets as they come, read bucket by bucket.

The file has no name once it is open (or the system removes it when it is closed): nothing is left behind, however the
process ends. It is read by plain reads, not mapped into memory.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BucketFile"]

# Bytes of a bucket that are written at once: few enough for all buckets to wait in memory, and enough for a disk that
# has to look for each of them.
_WRITTEN_AT_ONCE = 1 << 18
# What is to stay free on the disk beside the rows.
_LEFT_FREE = 1 << 26


@final
class BucketFile:
    """Records of one type in buckets.

    Parameters
    ----------
    record
        The type of numpy that a record has.
    buckets
        How many buckets there are.
    expected_rows
        How many records will come: an error says beforehand if there is no room for them.
    """

    def __init__(self, record: np.dtype[Any], buckets: int, expected_rows: int) -> None:
        self.record, self.n_buckets = record, buckets
        self.sizes = np.zeros(buckets, np.int64)
        self._waiting: list[list[bytes]] = [[] for _ in range(buckets)]
        self._waiting_bytes = np.zeros(buckets, np.int64)
        self._places: list[list[tuple[int, int]]] = [[] for _ in range(buckets)]
        self._end = 0
        self._lock = threading.Lock()
        self._folder = tempfile.gettempdir()
        needed, free = expected_rows * record.itemsize, shutil.disk_usage(self._folder).free
        if needed + _LEFT_FREE > free:
            raise self._no_room(f"{_size_text(needed)} are needed, and {_size_text(free)} are free")
        # Without a buffer: what is written comes in large pieces.
        self._file = tempfile.TemporaryFile(prefix="aldsurv-rows-", buffering=0)  # noqa: SIM115 - closed by close()

    def add(self, records: NDArray[Any], numbers: NDArray[np.integer[Any]]) -> None:
        """Append each record to the bucket of that number, in their order."""
        order = np.argsort(numbers, kind="stable")
        counts = np.bincount(numbers, minlength=self.n_buckets)
        ends = np.cumsum(counts)
        ordered = records[order]
        for bucket in np.flatnonzero(counts).tolist():
            piece = ordered[ends[bucket] - counts[bucket] : ends[bucket]].tobytes()
            self._waiting[bucket].append(piece)
            self._waiting_bytes[bucket] += len(piece)
            if self._waiting_bytes[bucket] >= _WRITTEN_AT_ONCE:
                self._write(bucket)
        self.sizes += counts

    def read(self, bucket: int) -> NDArray[Any]:
        """All records of a bucket, in the order in which they came; from any thread."""
        with self._lock:
            if self._waiting[bucket]:
                self._write(bucket)
            records = np.empty(int(self.sizes[bucket]), self.record)
            place = records.view(np.uint8).data
            position = 0
            for start, length in self._places[bucket]:
                self._file.seek(start)
                end = position + length
                while position < end:
                    count = self._file.readinto(place[position:end])
                    if not count:
                        raise OSError(errno.EIO, "a file of rows in the folder for temporary files ended early")
                    position += count
        return records

    def close(self) -> None:
        """Give the room on the disk back."""
        self._file.close()
        self._waiting = [[] for _ in self._waiting]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, bucket: int) -> None:
        content = memoryview(b"".join(self._waiting[bucket]))
        self._waiting[bucket], self._waiting_bytes[bucket] = [], 0
        self._places[bucket].append((self._end, len(content)))
        try:
            self._file.seek(self._end)
            written = 0
            while written < len(content):
                written += self._file.write(content[written:])
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise self._no_room("it is full") from None
            raise
        self._end += len(content)

    def _no_room(self, problem: str) -> DataError:
        return DataError(
            f"there is no room for the rows in the folder for temporary files {self._folder!r}: {problem}",
            advice="Make room, or name another folder by the environment variable TMPDIR.",
        )


def _size_text(count: int) -> str:
    return f"{count / 1e9:.3g} GB" if count >= 1e8 else f"{count / 1e6:.3g} MB"
