"""The folder that publishers' files are kept in, and how to get a file that is not there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aldsurv.errors import DataError

if TYPE_CHECKING:
    from aldsurv.datasets.dataset_info import DatasetInfo

__all__ = ["by_hand", "data_folder", "raw_file"]

_VARIABLE = "ALDSURV_DATA"


def data_folder() -> Path:
    """The folder of downloaded files: `ALDSURV_DATA` if that variable is set, else the user's cache folder.

    It need not exist yet: `fetch` makes it.
    """
    named = os.environ.get(_VARIABLE)
    if named:
        return Path(named).expanduser()
    # Here: with the variable set, or for what needs no file, the package is not asked.
    from platformdirs import user_cache_path

    return user_cache_path("aldsurv", appauthor=False)


def raw_file(file_name: str, dataset: str) -> Path:
    """Path of a publisher's file in the data folder.

    Parameters
    ----------
    file_name
        Name of the file.
    dataset
        The dataset it belongs to; the message for a file that is not there names it.

    Raises
    ------
    DataError
        The file is not there; the message is one line that says how to get it.
    """
    folder = data_folder()
    path = folder / file_name
    if path.is_file():
        return path
    from aldsurv.datasets.catalogue import CATALOGUE

    info = CATALOGUE[dataset]
    if info.url is None:
        remedy = by_hand(info, folder)
    else:
        remedy = f"Run 'aldsurv datasets fetch {dataset}', or set {_VARIABLE} to a folder that has the file."
    raise DataError(f"dataset {dataset!r} needs the file {file_name!r}, which is not in {str(folder)!r}. {remedy}")


def by_hand(info: DatasetInfo, folder: Path) -> str:
    """What to do where no download is possible, in one line."""
    how = info.how or f"Get the file by hand from {info.page or info.url} and put it there as {info.file!r}."
    return f"{how} The data folder is {str(folder)!r}; set {_VARIABLE} to have another."
