from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from aldsurv.datasets.catalogue import DATASETS
from aldsurv.datasets.data_folder import data_folder, raw_file
from aldsurv.errors import DataError


@pytest.mark.parametrize("empty", [True, False])
def test_without_the_variable_it_is_the_cache_folder(monkeypatch: pytest.MonkeyPatch, empty: bool) -> None:
    monkeypatch.setenv("ALDSURV_DATA", "")
    if not empty:
        monkeypatch.delenv("ALDSURV_DATA")
    assert data_folder() == Path(platformdirs.user_cache_dir("aldsurv", appauthor=False))


def test_the_variable_names_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path / "nowhere"))
    assert data_folder() == tmp_path / "nowhere"
    monkeypatch.setenv("ALDSURV_DATA", str(Path("~") / "tables"))
    assert data_folder() == Path.home() / "tables"


def test_a_file_that_is_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    (tmp_path / "whas_train_test.h5").write_bytes(b"")
    assert raw_file(DATASETS["whas"]) == tmp_path / "whas_train_test.h5"


@pytest.mark.parametrize("name", [info.name for info in DATASETS.records() if info.file is not None])
def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    info = DATASETS[name]
    assert info.file is not None
    with pytest.raises(DataError) as caught:
        raw_file(info)
    message = str(caught.value)
    assert "\n" not in message
    for word in (repr(name), info.file, str(tmp_path), "ALDSURV_DATA"):
        assert word in message
    if info.url is None:
        assert str(info.page) in message
        assert "fetch" not in message
    else:
        assert f"'aldsurv datasets fetch {name}'" in message
