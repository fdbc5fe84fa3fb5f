"""Blocks of arrays that are read again and again: in memory as far as they are few, else in files."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, final, overload

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import DataError
from aldsurv.quoting import quoted

__all__ = ["Arrays", "Blocks", "ScratchBlocks"]

# Arrays by name; what depends on them reads them block by block.
Arrays: TypeAlias = Mapping[str, NDArray[Any]]
Blocks: TypeAlias = Sequence[Arrays]

_MOST_BYTES = 1 << 28
_ALIGNED = 16


@final
class ScratchBlocks:
    """Where blocks are stored: the first 256 MB in memory, the others in a temporary file.

    The file is in the folder of the system, which ``TMPDIR`` changes. It has no name once it is open (or the system
    removes it when it is closed): nothing is left behind, however the process ends.
    """

    def __init__(self) -> None:
        self._bytes = 0
        self._file: _File | None = None

    def store(self, blocks: Iterator[Arrays]) -> Blocks:
        """All blocks, to be read in this order as often as wanted."""
        stored = [self._stored(block) for block in blocks]
        return _StoredBlocks(stored)

    def _stored(self, block: Arrays) -> Arrays | _Filed:
        self._bytes += sum(array.nbytes for array in block.values())
        if self._bytes <= _MOST_BYTES:
            return block
        with _errors_of_the_disk():
            if self._file is None:
                self._file = _File()
            return _Filed(self._file, block)


@contextmanager
def _errors_of_the_disk() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"rows cannot be written to {quoted(tempfile.gettempdir())}: {error.strerror or error}",
            advice="Set TMPDIR to a folder with more space.",
        ) from None


@final
class _File:
    """A file that is closed with the last of its blocks."""

    def __init__(self) -> None:
        # Without a buffer, whose rest could not be written to a full disk when it is closed.
        self.content = tempfile.TemporaryFile(prefix="aldsurv-", buffering=0)  # noqa: SIM115 - closed by the finalizer
        weakref.finalize(self, self.content.close)

    def append(self, content: bytes) -> int:
        """Where in the file it begins."""
        start = self.content.seek(0, os.SEEK_END)
        left = memoryview(content)
        while left:
            left = left[self.content.write(left) :]
        return start


@final
class _Filed:
    """A block in a file, one array after the other."""

    def __init__(self, file: _File, block: Arrays) -> None:
        # The file lasts as long as one of its blocks.
        self._file, self._bytes = file, 0
        self._places: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]] = {}
        pieces = []
        for name, array in block.items():
            self._places[name] = self._bytes, array.dtype, array.shape
            # The next one begins where numbers of any type may; no block is empty.
            pieces += [array.tobytes(), bytes(_ALIGNED - array.nbytes % _ALIGNED)]
            self._bytes += len(pieces[-2]) + len(pieces[-1])
        self._start = file.append(b"".join(pieces))

    def read(self) -> dict[str, NDArray[Any]]:
        """Arrays of which only those rows come from the disk that are used."""
        content = np.asarray(np.memmap(self._file.content, np.uint8, "r", self._start, self._bytes))
        return {name: np.ndarray(shape, dtype, content, start) for name, (start, dtype, shape) in self._places.items()}


@final
class _StoredBlocks(Sequence[Arrays]):
    def __init__(self, blocks: list[Arrays | _Filed]) -> None:
        self._blocks = blocks

    def __len__(self) -> int:
        return len(self._blocks)

    @overload
    def __getitem__(self, index: int) -> Arrays: ...
    @overload
    def __getitem__(self, index: slice) -> Blocks: ...
    def __getitem__(self, index: int | slice) -> Arrays | Blocks:
        if isinstance(index, slice):
            return _StoredBlocks(self._blocks[index])
        block = self._blocks[index]
        return block.read() if isinstance(block, _Filed) else block
