"""Publishers' files into the data folder: whole and with the right digest, or not at all."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from aldsurv.checks import Number, Satisfies, WholeNumber, check
from aldsurv.datasets.catalogue import DATASETS
from aldsurv.datasets.data_folder import FOLDER_VARIABLE, data_folder, manual_steps
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.loading import describe
from aldsurv.datasets.resuming_download import ResumingDownload
from aldsurv.datasets.transfer import CutError, FolderError, OfflineError, RefusedError
from aldsurv.errors import AldsurvError, MissingDependencyError, ParameterError

__all__ = ["DownloadError", "fetch", "fetch_file", "names_with_files"]

_PROGRESS = Satisfies(lambda value: value in (True, False, "auto"), "True, False or 'auto'")
_TIMEOUT = Number(0, 1e6, above=True, below=True, meaning="seconds")
_RETRIES = WholeNumber(0)


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
    MissingDependencyError
        pooch is not installed.
    """
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


def names_with_files() -> list[str]:
    """Names of the datasets that need a file which does not come with aldsurv."""
    return [info.name for info in DATASETS.records() if info.file is not None and not info.packaged]


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
        raise ParameterError(
            f"{info.name!r} needs no file.", argument="info", advice=f"Load it by aldsurv.datasets.load({info.name!r})."
        )
    _check_settings(progress, timeout, retries)
    pooch = _import_pooch()
    place = data_folder() if folder is None else Path(folder)
    target = place / info.file
    steps = manual_steps(info, place)
    if info.url is None:
        if target.is_file() and pooch.file_hash(str(target)) == info.sha256:
            return target
        state = "is not what its publisher had" if target.is_file() else "cannot be downloaded by a program"
        raise DownloadError(f"{info.name}: the file {info.file!r} {state}.", advice=steps)
    if urlsplit(info.url).scheme not in ("http", "https"):
        raise ParameterError(f"the address of {info.name!r} must begin with https://, but is {info.url!r}.")
    download = ResumingDownload(target, info.sha256, progress=progress, timeout=timeout, retries=retries)
    try:
        with _muted(pooch.get_logger()):
            pooch.retrieve(info.url, known_hash=info.sha256, fname=info.file, path=place, downloader=download)
    except RefusedError as error:
        raise DownloadError(f"{info.name}: {info.url} cannot be used: {error}.", advice=steps) from None
    except OfflineError as error:
        raise DownloadError(
            f"{info.name}: {error}.",
            advice=f"Without a network, run 'aldsurv datasets fetch {info.name}' where there is one and copy "
            f"{info.file!r} into {str(place)!r}, or set {FOLDER_VARIABLE} to a folder that has it.",
        ) from None
    except CutError as error:
        raise DownloadError(f"{info.name}: the download from {info.url} failed: {error}.", advice=steps) from None
    except (OSError, FolderError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DownloadError(
            f"{info.name}: {str(target)!r} cannot be written ({reason}).",
            advice=f"Set {FOLDER_VARIABLE} to a folder that you may write to and that has room.",
        ) from None
    return target


def _import_pooch() -> ModuleType:
    try:
        import pooch
    except ImportError:
        raise MissingDependencyError(
            'downloading datasets needs pooch, which is not installed: pip install "aldsurv[datasets]"'
        ) from None
    return pooch  # type: ignore[no-any-return]


def _check_settings(progress: bool | str, timeout: float, retries: int) -> None:
    check("progress", progress, _PROGRESS)
    check("timeout", timeout, _TIMEOUT)
    check("retries", retries, _RETRIES)


@contextmanager
def _muted(logger: logging.Logger) -> Iterator[None]:
    """Without the lines that pooch logs for each file; others who use it in the same process still get theirs."""

    def refuse(record: logging.LogRecord) -> bool:
        return False

    logger.addFilter(refuse)
    try:
        yield
    finally:
        logger.removeFilter(refuse)
