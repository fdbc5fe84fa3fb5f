"""Where a command may write to: one rule for every output, checked before the work begins."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.files.writing import STANDARD_OUTPUT, descriptor_of, is_stream

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "CARDS", "MODEL", "PAGE", "PDF", "PICTURE", "PREDICTIONS", "FileKind", "checked_folder", "checked_output",
    "is_standard_output",
]  # fmt: skip

# Enough for the head of a page.
_START = 4096
_GZIP = b"\x1f\x8b"
_CARD_STARTS = (b"# Model card: ", b"---\nlibrary_name: aldsurv\n")
_FOREIGN = (b"PAR1", b"PK\x03\x04", b"%PDF", b"\x89PNG", b"<", b"{", _GZIP)


@final
@dataclass(frozen=True)
class FileKind:
    """What a command writes.

    Attributes
    ----------
    title
        What it is called in messages, with its article.
    holds
        Whether a file, of which the first bytes are given, too, is of this kind.
    """

    title: str
    holds: Callable[[Path, bytes], bool]


def _is_model(path: Path, start: bytes) -> bool:
    from aldsurv.files.model_file import read_model_file

    try:
        document, _ = read_model_file(path)
    except ModelFileError:
        return False
    return document.get("kind") == "fitted model"


def _is_csv(path: Path, start: bytes) -> bool:
    return path.suffix.lower() in (".csv", ".tsv", ".txt", "") and b"\0" not in start and not start.startswith(_FOREIGN)


MODEL = FileKind("a model of aldsurv", _is_model)
PAGE = FileKind("a page of aldsurv", lambda path, start: b'<meta name="generator" content="aldsurv ' in start)
PDF = FileKind("a PDF", lambda path, start: start.startswith(b"%PDF"))
PICTURE = FileKind("a picture (PNG)", lambda path, start: start.startswith(b"\x89PNG"))
CARDS: Mapping[str, FileKind] = {
    ".md": FileKind("a model card (Markdown)", lambda path, start: start.startswith(_CARD_STARTS)),
    ".json": FileKind("a model card (JSON)", lambda path, start: b'"schema": "aldsurv model card"' in start),
}
PREDICTIONS: Mapping[str, FileKind] = {
    "csv": FileKind("a table (CSV)", _is_csv),
    "parquet": FileKind("a table (Parquet)", lambda path, start: start.startswith(b"PAR1")),
    "jsonl": FileKind("a table (JSON lines)", lambda path, start: start.startswith(b"{")),
    "gz": FileKind("a gzipped table", lambda path, start: start.startswith(_GZIP)),
}


def checked_output(
    path: Path,
    kind: FileKind,
    *,
    inputs: Iterable[str | os.PathLike[str] | None] = (),
    force: bool = False,
    makes_folder: bool = False,
    option: str = "--out",
) -> Path:
    """The path, if the command may write to it; else an error before anything is done.

    Parameters
    ----------
    path
        The file, link, device or pipe.
    kind
        What will be written: a file of the same kind is replaced.
    inputs
        What the command reads, which is never overwritten; None for an input that was not given.
    force
        Replace a file of another kind, too.
    makes_folder
        Whether the command makes the folder if it is missing.
    option
        What names the path on the command line.
    """
    _require_no_input(path, inputs, option)
    if is_stream(path):
        _require_open_stream(path, option)
        return path
    if path.is_dir():
        raise ParameterError(f"{option} {str(path)!r} is a folder. Name a file in it.")
    target = Path(os.path.realpath(path))
    folder = target.parent if path.is_symlink() else path.parent
    if makes_folder:
        checked_folder(folder, option)
    else:
        _require_folder(folder, option)
    if not target.exists():
        return path
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if not force:
        with target.open("rb") as file:
            start = file.read(_START)
        # An empty file holds nothing that could be lost.
        if start and not kind.holds(target, start):
            raise ParameterError(
                f"{str(path)!r} exists and is not {kind.title}: it is not overwritten. "
                f"Name another file by {option}, or give --force."
            )
    return path


def checked_folder(path: Path, option: str = "--out") -> Path:
    """A folder that can be written into, or be made; else an error.

    Parameters
    ----------
    path, option
        The folder, and what names it on the command line.
    """
    nearest = next(place for place in (path, *path.absolute().parents) if place.exists())
    _require_folder(nearest, option)
    return path


def is_standard_output(path: Path | None) -> bool:
    """Whether the rows, the model or the page go to standard output, where messages would go."""
    return path is None or descriptor_of(path) == STANDARD_OUTPUT


def _require_no_input(path: Path, inputs: Iterable[str | os.PathLike[str] | None], option: str) -> None:
    for given in inputs:
        if given is None:
            continue
        try:
            # By what it is, not by its name: through links, and where capitals do not matter.
            same = path.samefile(given)
        except OSError:
            continue
        if same:
            raise ParameterError(
                f"{option} {str(path)!r} is the file {os.fspath(given)!r}, which is read from. Name another."
            )


def _require_open_stream(path: Path, option: str) -> None:
    if is_standard_output(path):
        if sys.stdout is None:
            raise ParameterError(f"{option} {str(path)!r} is closed. Name a file.")
        return
    mode = 0 if descriptor_of(path) is not None else path.stat().st_mode
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        kind = "disk" if stat.S_ISBLK(mode) else "socket"
        raise ParameterError(f"{option} {str(path)!r} is a {kind}, which is not written to. Name a file.")


def _require_folder(folder: Path, option: str) -> None:
    if not folder.is_dir():
        state = "is not a folder" if folder.exists() else "does not exist"
        raise ParameterError(f"the folder {str(folder)!r} of {option} {state}. Make it, or name another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
