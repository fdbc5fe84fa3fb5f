"""Writing files: whole or not at all, through links, with the permissions they had, never in the place of a device."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from aldsurv.errors import ParameterError
from aldsurv.files.locks import try_lock

__all__ = ["STANDARD_OUTPUT", "descriptor_of", "is_stream", "whole_file", "write_bytes", "write_text"]

STANDARD_OUTPUT = 1

# A name has at most 255 bytes, of which a part file takes some for itself.
_LONGEST_NAME = 200
_MOST_LINKS = 40
_TRIES = 100
# Unlocked files, of older versions or on file systems without locks, count as left behind when this old: a living
# writer changes its file more often.
_SECONDS_OF_A_DAY = 86_400.0
_NAMED_STREAMS = {"/dev/stdin": 0, "/dev/stdout": STANDARD_OUTPUT, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"(?:/dev|/proc/(self|thread-self|[0-9]+))/fd/([0-9]+)")


@contextmanager
def whole_file(path: str | os.PathLike[str], *, durable: bool = False) -> Iterator[IO[bytes]]:
    """A file to write to, which has its name only if the block ends well; else the old file stays as it was.

    A symbolic link stays one: the file that it leads to is replaced. A file that is replaced hands down its mode, and
    its owner and group where the system allows it. A device, a pipe or ``/dev/stdout`` is written to as a stream.
    Until it is whole the file is hidden, beside its place, and for its owner only; such a file whose writer was killed
    is removed by the next write to the same place.

    Parameters
    ----------
    path
        Where to; the folder must exist.
    durable
        Wait until the content is on the disk before it gets its name: else a power failure could leave an empty file.
    """
    with _errors_named(path):
        if is_stream(path):
            with _stream(path) as stream:
                yield stream
            return
        # In the folder of the file itself: a file can only be renamed within one file system.
        target = Path(os.path.realpath(path))
        before = _status(target)
        if before is not None and stat.S_ISDIR(before.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        _remove_left_behind(target)
        part, descriptor, mode = _new_part(target, private=before is not None)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                if durable:
                    os.fsync(descriptor)
                _set_permissions(descriptor, before, mode)
                # While it is still locked; Windows renames no open file, and needs no lock.
                if sys.platform != "win32":
                    part.replace(target)
            if sys.platform == "win32":  # pragma: no cover
                part.replace(target)
        finally:
            part.unlink(missing_ok=True)


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text as a whole, as UTF-8 with the line ends that it has, and return its path.

    Parameters
    ----------
    path, text
        Where to, and what; the folder must exist.
    """
    return write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> Path:
    """Write a content as a whole, and return its path.

    Parameters
    ----------
    path, content
        Where to, and what; the folder must exist.
    """
    with whole_file(path) as file:
        file.write(content)
    return Path(path)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is written to as it is: a device, a pipe, or a stream that this process has open."""
    if descriptor_of(path) is not None:
        return True
    status = _status(path)
    return status is not None and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)


def descriptor_of(path: str | os.PathLike[str]) -> int | None:
    """The number of the open file that a path such as ``/dev/stdout`` stands for; None for other paths.

    What is behind it may be a file that a shell appends to: it is not to be opened again, nor to be replaced.
    """
    if os.name != "posix":  # pragma: no cover
        return None
    place = os.path.normpath(Path(path).absolute())
    for _ in range(_MOST_LINKS):
        if place in _NAMED_STREAMS:
            return _NAMED_STREAMS[place]
        match = _DESCRIPTOR.fullmatch(place)
        if match and match[1] in (None, "self", "thread-self", str(os.getpid())):
            return int(match[2])
        try:
            link = Path(place).readlink()
        except OSError:
            return None
        place = os.path.normpath(Path(place).parent / link)
    return None


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    try:
        return Path(path).stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def _errors_named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Failures of the system that name the file asked for, not the hidden one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and not str(error.filename).endswith(".part")):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


@contextmanager
def _stream(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    descriptor = descriptor_of(path)
    if descriptor is None:
        mode = Path(path).stat().st_mode
        if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
            kind = "disk" if stat.S_ISBLK(mode) else "socket"
            raise ParameterError(
                f"{os.fspath(path)!r} is a {kind}, which is not written to.", argument="path", advice="Name a file."
            )
        # Neither made nor emptied: it is there.
        opened = os.open(path, os.O_WRONLY)
    else:
        if descriptor == STANDARD_OUTPUT and sys.stdout is not None:
            sys.stdout.flush()
        opened = os.dup(descriptor)
    with os.fdopen(opened, "wb") as file:
        yield file


def _start_of_part(name: str) -> str:
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}."


def _new_part(target: Path, *, private: bool) -> tuple[Path, int, int]:
    """A new hidden file, open and locked, and the mode that a new file has here.

    Parameters
    ----------
    target
        Its name to be.
    private
        Whether no other user may open it even for a moment: the file that it replaces may be secret.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    for _ in range(_TRIES):
        part = target.with_name(f"{_start_of_part(target.name)}{os.getpid()}-{secrets.token_hex(4)}.part")
        descriptor = os.open(part, flags, 0o600 if private else 0o666)
        # Not by os.umask, which would change it for all threads for a moment.
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        if sys.platform == "win32":  # pragma: no cover
            return part, descriptor, mode
        with suppress(OSError):
            os.fchmod(descriptor, 0o600)
        # Else another writer took it for one that was left behind, before it was locked.
        if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return part, descriptor, mode
        os.close(descriptor)
        part.unlink(missing_ok=True)
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _set_permissions(descriptor: int, before: os.stat_result | None, mode: int) -> None:
    """Those of the file that is replaced, else those of any new file."""
    if sys.platform == "win32":  # pragma: no cover
        return
    if before is not None:
        mode = stat.S_IMODE(before.st_mode)
        now = os.fstat(descriptor)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            try:
                os.fchown(descriptor, before.st_uid, before.st_gid)
            except OSError:
                # A program must not run as another user or group than before.
                mode &= ~(stat.S_ISUID | stat.S_ISGID)
                with suppress(OSError):
                    os.fchown(descriptor, -1, before.st_gid)
    # Some file systems have no permissions.
    with suppress(OSError):
        os.fchmod(descriptor, mode)


def _remove_left_behind(target: Path) -> None:
    """Remove hidden files of this name whose writer is gone: they may hold rows about people."""
    start = re.escape(_start_of_part(target.name))
    locked = re.compile(rf"{start}\d+-[0-9a-f]{{8}}\.part")
    older = re.compile(rf"(?:{start}(?:[0-9a-f]{{16}}|\d+)|\.aldsurv-[0-9a-f]{{16}})\.part")
    # A folder that may not be listed can still be written to.
    with suppress(OSError), os.scandir(target.parent) as entries:
        hidden = [target.with_name(entry.name) for entry in entries if _is_part(entry)]
        for part in hidden:
            with suppress(OSError):
                if locked.fullmatch(part.name):
                    _remove_unlocked(part)
                elif older.fullmatch(part.name) and _is_old(part):
                    part.unlink()


def _is_part(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(".") and entry.name.endswith(".part") and entry.is_file(follow_symlinks=False)


def _is_old(path: Path) -> bool:
    return time.time() - path.lstat().st_mtime > _SECONDS_OF_A_DAY


def _remove_unlocked(path: Path) -> None:
    """Remove a file unless a process has its lock; where there are no locks, if it is old."""
    if sys.platform == "win32":  # pragma: no cover
        # No file that is open can be removed there.
        path.unlink()
        return
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        free = try_lock(descriptor)
        # While it is locked: a writer that has just made it then sees that it is gone.
        if free or (free is None and _is_old(path)):
            path.unlink()
    finally:
        os.close(descriptor)
