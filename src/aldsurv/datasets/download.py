"""Publishers' files into the data folder: whole and with the right digest, or not at all."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aldsurv.datasets.data_folder import by_hand, data_folder
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.part_file import PartFile, owned_part
from aldsurv.datasets.transfer import CutError, FolderError, OfflineError, RefusedError, Told, receive
from aldsurv.errors import AldsurvError, ParameterError

__all__ = ["DownloadError", "fetch", "fetch_file", "with_files"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class DownloadError(AldsurvError, OSError):
    """A file could not be had from its publisher, or not be written; the message says what to do."""


def fetch(
    names: str | Iterable[str],
    *,
    folder: str | Path | None = None,
    progress: bool | str = "auto",
    timeout: float = 30.0,
    retries: int = 4,
) -> list[Path]:
    """Download the files of datasets from their publishers, and give back where they are.

    A file that is there is checked by its digest and not downloaded again. A download that was cut goes on where
    it stopped. A file has its name only when it is whole: other bytes than expected never get it.

    Parameters
    ----------
    names
        One dataset or several. One that needs no file is passed over.
    folder
        Where to; None for `data_folder`. It is made if missing.
    progress
        True, False, or ``"auto"``: a bar when the standard error stream is a terminal.
    timeout
        Seconds without a byte after which a connection counts as cut.
    retries
        How often to try again after a connection that was cut or a server that is busy, with growing pauses.

    Raises
    ------
    DownloadError
        A file could not be had. All others have been fetched by then.
    """
    from aldsurv.datasets.loading import describe

    infos = [describe(name) for name in ([names] if isinstance(names, str) else names)]
    _check_settings(progress, timeout, retries)
    paths, failed = [], []
    for info in infos:
        if info.file is None:
            continue
        try:
            paths.append(fetch_file(info, folder=folder, progress=progress, timeout=timeout, retries=retries))
        except DownloadError as error:
            failed.append(error)
    if len(failed) == 1:
        raise failed[0]
    if failed:
        raise DownloadError(f"{len(failed)} of {len(infos)} datasets: {' '.join(map(str, failed))}")
    return paths


def with_files() -> list[str]:
    """Names of the datasets that need a file which does not come with aldsurv."""
    from aldsurv.datasets.catalogue import CATALOGUE

    return [name for name, info in CATALOGUE.items() if info.file is not None and not info.packaged]


def fetch_file(
    info: DatasetInfo,
    *,
    folder: str | Path | None = None,
    progress: bool | str = "auto",
    timeout: float = 30.0,
    retries: int = 4,
) -> Path:
    """Download the file of one dataset; the parameters are those of `fetch`."""
    if info.file is None or info.sha256 is None:
        raise ParameterError(f"{info.name!r} needs no file: load it by aldsurv.datasets.load({info.name!r}).")
    place = data_folder() if folder is None else Path(folder)
    target = place / info.file
    if _has_digest(target, info.sha256):
        return target
    manual = by_hand(info, place)
    if info.url is None:
        state = "is not what its publisher had" if target.is_file() else "cannot be downloaded by a program"
        raise DownloadError(f"{info.name}: the file {info.file!r} {state}. {manual}")
    if urlsplit(info.url).scheme not in ("http", "https"):
        raise ParameterError(f"the address of {info.name!r} must begin with https://, but is {info.url!r}.")
    try:
        place.mkdir(parents=True, exist_ok=True)
        with owned_part(target) as part, _bar(progress, info.file) as told:
            # Another process may have been faster.
            if not _has_digest(target, info.sha256):
                _complete(part, info.url, info.sha256, timeout=timeout, retries=retries, told=told)
                part.become(target)
    except RefusedError as error:
        raise DownloadError(f"{info.name}: {info.url} cannot be used: {error}. {manual}") from None
    except OfflineError as error:
        raise DownloadError(
            f"{info.name}: {error}. Without a network, run 'aldsurv datasets fetch {info.name}' where there is one "
            f"and copy {info.file!r} into {str(place)!r}, or set ALDSURV_DATA to a folder that has it."
        ) from None
    except CutError as error:
        raise DownloadError(f"{info.name}: the download from {info.url} failed: {error}. {manual}") from None
    except (OSError, FolderError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DownloadError(
            f"{info.name}: {str(target)!r} cannot be written ({reason}). "
            "Set ALDSURV_DATA to a folder that you may write to and that has room."
        ) from None
    return target


def _complete(part: PartFile, url: str, sha256: str, *, timeout: float, retries: int, told: Told) -> None:
    """Bring the part to the digest that is wanted."""
    tries = 0
    while not _is_whole(part, sha256):
        begun = part.size > 0
        try:
            receive(url, part, timeout=timeout, told=told)
        except CutError as error:
            if _is_whole(part, sha256):
                # The length that was announced is wrong, and the file right.
                return
            if tries == retries:
                times = f", {tries + 1} times" if tries else ""
                left = f"; {part.size} bytes are kept, and the next fetch goes on from there" if part.size else ""
                raise CutError(f"{error}{times}{left}") from None
            time.sleep(min(max(_FIRST_PAUSE * 2**tries, error.wait), _LONGEST_PAUSE))
            tries += 1
        else:
            if not _is_whole(part, sha256):
                # The part that was there before may be of another version: then, once, all of it anew.
                part.clear()
                if not begun:
                    raise RefusedError(
                        "its bytes are not those expected (the SHA-256 differs): the publisher may have changed it"
                    )


def _has_digest(path: Path, sha256: str) -> bool:
    """Whether the file is there and right."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _sha256(file) == sha256


def _is_whole(part: PartFile, sha256: str) -> bool:
    part.file.seek(0)
    return part.size > 0 and _sha256(part.file) == sha256


def _sha256(file: Any) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()


def _check_settings(progress: bool | str, timeout: float, retries: int) -> None:
    if progress not in (True, False, "auto"):
        raise ParameterError(f"progress must be True, False or 'auto', but is {progress!r}.")
    if not isinstance(timeout, (int, float)) or isinstance(timeout, bool) or not 0 < timeout < 1e6:
        raise ParameterError(f"timeout must be a number of seconds above 0, but is {timeout!r}.")
    if type(retries) is not int or retries < 0:
        raise ParameterError(f"retries must be an int not below 0, but is {retries!r}.")


@contextmanager
def _bar(show: bool | str, label: str) -> Iterator[Told]:
    """A function to call with the bytes that are there and those there will be."""
    if not show or (show == "auto" and not (sys.stderr and sys.stderr.isatty())):
        yield lambda done, total: None
        return
    # Here: who watches nothing needs no command-line package.
    import click

    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def told(done: int, total: int | None) -> None:
            # Of an unknown length only the end is known to be one.
            bar.length = max(total or 0, done + 1 if total is None else 1)
            bar.update(done - bar.pos)

        yield told
