from __future__ import annotations

import pytest

from aldsurv.datasets import resuming_download


@pytest.fixture
def no_pauses_and_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming_download, "_FIRST_PAUSE", 0.001)
    monkeypatch.setenv("no_proxy", "*")
