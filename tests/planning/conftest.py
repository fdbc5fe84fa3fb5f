from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="package")
def frozen_sizes() -> dict[str, Any]:
    """Sample sizes of pmsampsize and pmvalsampsize, by the R script beside them."""
    path = Path(__file__).parent / "frozen" / "sample_sizes.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
