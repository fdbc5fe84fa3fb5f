"""The folder that publishers' files are kept in, and how to get a file that is not there."""

from __future__ import annotations

import os
from pathlib import Path

from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.errors import DataError

__all__ = ["FOLDER_VARIABLE", "data_folder", "manual_steps", "raw_file"]

FOLDER_VARIABLE = "ALDSURV_DATA"


def data_folder() -> Path:
    """The folder of downloaded files: `ALDSURV_DATA` if that variable is set, else the user's cache folder.

    It need not exist yet: `fetch` makes it.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named).expanduser()
    # With the variable set, or for what needs no file, the package is not needed.
    from platformdirs import user_cache_path

    return user_cache_path("aldsurv", appauthor=False)


def raw_file(info: DatasetInfo) -> Path:
    """Path of a publisher's file in the data folder.

    Parameters
    ----------
    info
        The dataset, which has a file.

    Raises
    ------
    DataError
        The file is not there; the message is one line that says how to get it.
    """
    folder = data_folder()
    path = folder / str(info.file)
    if path.is_file():
        return path
    if info.url is None:
        advice = manual_steps(info, folder)
    else:
        advice = f"Run 'aldsurv datasets fetch {info.name}', or set {FOLDER_VARIABLE} to a folder that has the file."
    raise DataError(
        f"dataset {info.name!r} needs the file {info.file!r}, which is not in {str(folder)!r}.", advice=advice
    )


def manual_steps(info: DatasetInfo, folder: Path) -> str:
    """What to do where no download is possible, in one line."""
    how = info.how or f"Get the file by hand from {info.page or info.url} and put it there as {info.file!r}."
    return f"{how} The data folder is {str(folder)!r}; set {FOLDER_VARIABLE} to have another."
