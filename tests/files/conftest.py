from __future__ import annotations

import pytest

from aldsurv.files.model_file import write_model_file
from files.model_bytes import ARRAYS, DOCUMENT


@pytest.fixture(scope="package")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with every dtype, as bytes."""
    return write_model_file(tmp_path_factory.mktemp("whole") / "model", DOCUMENT, ARRAYS).read_bytes()
