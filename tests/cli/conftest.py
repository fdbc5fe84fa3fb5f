from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from child_process import WARNINGS, without_machine_warnings

import aldsurv

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environment() -> dict[str, str]:
    """What a user's shell would pass on, with this package to be found and warnings as errors."""
    source = str(Path(aldsurv.__file__).parents[1])
    warnings = ",".join(WARNINGS)
    return {
        **os.environ, "PYTHONPATH": source, "PYTHONWARNINGS": warnings, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"
    }  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]) -> Run:
    """Run ``python -m aldsurv`` in an empty folder, as a user would."""

    def start(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "aldsurv", *arguments],
            capture_output=True,
            encoding="utf-8",
            cwd=tmp_path,
            env={**environment, **variables},
            check=False,
        )
        done.stderr = without_machine_warnings(done.stderr)
        return done

    return start
