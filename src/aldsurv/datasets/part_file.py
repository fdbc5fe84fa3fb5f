"""A file that is not whole yet: kept for going on later, owned by one process, given its name only when whole."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import final

if sys.platform == "win32":  # pragma: no cover
    import msvcrt
else:
    import fcntl

__all__ = ["PartFile", "owned_part"]

# Beyond the end of any download: on Windows a lock on bytes that are there would keep others from reading them.
_LOCKED_BYTE = 2**31 - 2
_TRIES = 20
# In a folder that others may write to, a link of the part's name could lead to any file.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_IS_LINK = {errno.ELOOP, errno.EMLINK}
# No open file can be renamed or removed there.
_WINDOWS = os.name == "nt"


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
    kept
        Whether it stays for the next time when this one ends early.
    version
        The server's mark of the file that the bytes are of, if this process got them and the server gave one.
    """

    file: FileIO
    path: Path
    kept: bool
    version: str | None = None

    @property
    def size(self) -> int:
        """Bytes that are there."""
        return os.fstat(self.file.fileno()).st_size

    def clear(self) -> None:
        """Begin anew."""
        self.file.seek(0)
        self.file.truncate(0)
        self.version = None

    def append(self, data: bytes) -> None:
        """Write at the end."""
        self.file.seek(0, os.SEEK_END)
        view = memoryview(data)
        while view:
            view = view[self.file.write(view) :]

    def become(self, target: Path) -> None:
        """Give the whole file its name, in the place of what has had it."""
        # Else a power failure could leave a file with the name and nothing in it.
        os.fsync(self.file.fileno())
        if _WINDOWS:  # pragma: no cover
            self.file.close()
        _replace(self.path, target)

    def close(self) -> None:
        """Let go of it; what is of no use to anybody goes."""
        if self.file.closed:
            return
        # Only if it is this file that has the name: after `become` the name is free for others.
        idle = (not self.kept or self.size == 0) and _is_at(self.file, self.path)
        if _WINDOWS:  # pragma: no cover
            self.file.close()
        if idle:
            self.path.unlink(missing_ok=True)
        # On POSIX after the name is gone: who waits for the lock sees that the file is not the one it asked for.
        self.file.close()


@contextmanager
def owned_part(target: Path) -> Iterator[PartFile]:
    """The part file of `target`, which no other process writes to.

    If another process has it, a new one under a name of its own, which goes when this process is done with it.
    """
    shared = target.with_name(f"{target.name}.part")
    file = _locked(shared)
    if file is not None:
        part = PartFile(file, shared, kept=True)
    else:
        own = target.with_name(f"{target.name}.{secrets.token_hex(8)}.part")
        part = PartFile(FileIO(own, "x+"), own, kept=False)
    try:
        yield part
    finally:
        part.close()


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
        if not stat.S_ISREG(status.st_mode):
            file.close()
            return None
        if status.st_nlink > 1:
            # Another name of somebody's file is taken away; the file itself stays as it is.
            file.close()
            path.unlink(missing_ok=True)
            continue
        if not _lock(file.fileno()):
            file.close()
            return None
        # Between opening and locking its last owner may have finished: then it has another name by now.
        if _is_at(file, path):
            return file
        file.close()
    return None


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.lstat())
    except OSError:
        return False


def _lock(descriptor: int) -> bool:
    """Take the lock if it is free; a file system without locks counts as one where it is not."""
    try:
        if sys.platform == "win32":  # pragma: no cover
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _replace(source: Path, target: Path) -> None:
    for _ in range(_TRIES if _WINDOWS else 0):  # pragma: no cover
        # There for as long as some other process, such as a virus scanner, looks at one of the two.
        with suppress(PermissionError):
            source.replace(target)
            return
        time.sleep(0.1)
    source.replace(target)
