"""Blocks of arrays that are read again and again: in memory as far as they are few, else in files."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
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
    """Where blocks are stored: the first 256 MB in memory, the others in a temporary folder.

    The folder is in the one of the system, which ``TMPDIR`` changes; it is removed with the last of its blocks.
    """

    def __init__(self) -> None:
        self._bytes = 0
        self._folder: _Folder | None = None

    def store(self, blocks: Iterator[Arrays]) -> Blocks:
        """All blocks, to be read in this order as often as wanted."""
        stored = [self._stored(block) for block in blocks]
        return _StoredBlocks(stored)

    def _stored(self, block: Arrays) -> Arrays | _Filed:
        self._bytes += sum(array.nbytes for array in block.values())
        if self._bytes <= _MOST_BYTES:
            return block
        if self._folder is None:
            self._folder = _Folder()
        return _Filed(self._folder, block)


@final
class _Folder:
    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="aldsurv-"))
        self.files = 0
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@final
class _Filed:
    """A block in a file, one array after the other."""

    def __init__(self, folder: _Folder, block: Arrays) -> None:
        # The folder lasts as long as one of its blocks.
        self._folder = folder
        self._path = folder.path / f"{folder.files}.bin"
        folder.files += 1
        self._places: dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]] = {}
        try:
            with self._path.open("wb") as file:
                for name, array in block.items():
                    self._places[name] = file.tell(), array.dtype, array.shape
                    np.ascontiguousarray(array).tofile(file)
                    # The next one begins where numbers of any type may; no file is empty.
                    file.write(bytes(_ALIGNED - file.tell() % _ALIGNED))
        except OSError as error:
            raise DataError(
                f"rows cannot be written to {quoted(str(folder.path))}: {error.strerror or error}",
                advice="Set TMPDIR to a folder with more space.",
            ) from None

    def read(self) -> dict[str, NDArray[Any]]:
        """Arrays of which only those rows come from the disk that are used."""
        content = np.asarray(np.memmap(self._path, np.uint8, "r"))
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
