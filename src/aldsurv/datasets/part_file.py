"""The file in which an unfinished download is kept: one process writes to it, and the next goes on from its end."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import final

from aldsurv.files.locks import try_lock

__all__ = ["PartFile", "open_part"]

_TRIES = 20
# In a folder that others may write to, a link of the part's name could lead to any file.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_IS_LINK = {errno.ELOOP, errno.EMLINK}


@final
@dataclass(eq=False)
class PartFile:
    """What has arrived of a file.

    Parameters
    ----------
    file
        Open for reading and writing, without a buffer: what was written is there even if the process is killed.
    path
        Where it is.
    version
        The server's mark of the file that the bytes are of, if this process got them and the server gave one.
    """

    file: FileIO
    path: Path
    version: str | None = None

    @property
    def size(self) -> int:
        """Bytes that are there."""
        return os.fstat(self.file.fileno()).st_size

    def clear(self) -> None:
        """Begin again."""
        self.file.truncate(0)
        self.version = None

    def append(self, data: bytes) -> None:
        """Write at the end."""
        self.file.seek(0, os.SEEK_END)
        view = memoryview(data)
        while view:
            view = view[self.file.write(view) :]

    def rename(self, target: Path) -> None:
        """Give the whole file another name, in the place of what has had it."""
        # Else a power failure could leave a file with the name and nothing in it.
        os.fsync(self.file.fileno())
        if sys.platform == "win32":  # pragma: no cover
            # No open file can be renamed there.
            self.file.close()
        self.path.replace(target)


@contextmanager
def open_part(path: Path, private: Path) -> Iterator[PartFile]:
    """An unfinished file that no other process writes to; it stays if anything has arrived.

    Parameters
    ----------
    path
        Where it is kept for the next download.
    private
        Where to write if another process has it; not there yet, and not kept here.
    """
    file = _locked(path)
    if file is None:
        with FileIO(private, "x+") as file:
            yield PartFile(file, private)
        return
    try:
        yield PartFile(file, path)
    finally:
        # A name that is given away may be that of another process's file by now.
        is_empty = not file.closed and _is_at(file, path) and not os.fstat(file.fileno()).st_size
        if sys.platform == "win32":  # pragma: no cover
            file.close()
        if is_empty:
            path.unlink(missing_ok=True)
        # On POSIX after the name is gone: who waits for the lock sees that the file is not the one it asked for.
        file.close()


def _locked(path: Path) -> FileIO | None:
    """The file, open and locked until it is closed or its process ends; None if another process has it."""
    for _ in range(_TRIES):
        try:
            file = FileIO(os.open(path, _FLAGS, 0o666), "r+")
        except OSError as error:
            if error.errno not in _IS_LINK:
                raise
            path.unlink(missing_ok=True)
            continue
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            # Another name of some other file is removed; the file itself stays as it is.
            path.unlink(missing_ok=True)
        elif not stat.S_ISREG(status.st_mode) or not try_lock(file.fileno()):
            file.close()
            return None
        # Between opening and locking its last owner may have finished: then it has another name by now.
        elif _is_at(file, path):
            return file
        file.close()
    return None


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False
