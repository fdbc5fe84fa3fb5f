"""What the tests of downloads share: a record whose file a server of this machine has, and how to fetch it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.download import DownloadError, fetch_file
from aldsurv.errors import AldsurvError
from datasets.loopback import Server

CONTENT = bytes(range(256)) * 400
FILE = "table.h5"


def info(url: str | None, content: bytes = CONTENT, **changes) -> DatasetInfo:
    record = {
        "name": "table",
        "location": "nowhere:load",
        "title": "Table",
        "purpose": "A table",
        "kind": "clinical",
        "n_train": 8,
        "n_test": 2,
        "feature_names": ("x",),
        "censored": 0.5,
        "censored_in_paper": 0.5,
        "unit": "days",
        "source": "here",
        "licence": "none needed",
        "citation": "none",
        "file": FILE,
        "sha256": hashlib.sha256(content).hexdigest(),
        "url": url,
        "page": "https://example.org/about",
    }
    return DatasetInfo(**{**record, **changes})


def get(server: Server, folder: Path, path: str = "/f", **changes) -> Path:
    settings = {"timeout": 5.0, "retries": 3, **changes}
    return fetch_file(info(server.url + path), folder=folder, **settings)


def refusal(server: Server, folder: Path, **changes) -> str:
    with pytest.raises(DownloadError) as caught:
        get(server, folder, **changes)
    message = str(caught.value)
    assert "\n" not in message
    assert isinstance(caught.value, (AldsurvError, OSError))
    assert not (folder / FILE).exists()
    return message


def only_the_file(folder: Path) -> bool:
    return [path.name for path in folder.iterdir()] == [FILE] and (folder / FILE).read_bytes() == CONTENT
