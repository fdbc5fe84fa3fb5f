"""The lock of an open file, which ends with its process."""

from __future__ import annotations

import os
import sys

if sys.platform == "win32":  # pragma: no cover
    import msvcrt
else:
    import fcntl

__all__ = ["try_lock"]

# Beyond the end of what is locked here: on Windows a lock on bytes that are there would keep others from reading them.
_LOCKED_BYTE = 2**31 - 2


def try_lock(descriptor: int) -> bool | None:
    """Take the lock of an open file; False if another process has it, None on a file system without locks."""
    if sys.platform == "win32":  # pragma: no cover
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
