"""Writing text to files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["write_text"]


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """Write a text and return its path, which holds the old file or the whole new one, never a part.

    Parameters
    ----------
    path
        Where to; the folder must exist.
    text
        What to write, as UTF-8 with the line ends that it has.
    """
    target = Path(path)
    # In the same folder, since a file can only be renamed within one file system; the name is nobody else's, so that
    # two processes may write the same report.
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with unfinished.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target
