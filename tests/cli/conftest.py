from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from child_process import WARNINGS, without_machine_warnings

import aldsurv
import aldsurv.cli.main as program

from .named_options import OPTIONS, unknown_options

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


@pytest.fixture
def quick_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without drawings and with few resamples: both are tried in tests of the report."""
    pytest.importorskip("matplotlib")
    from reports.undrawn import leave_pictures_undrawn, resample_little

    leave_pictures_undrawn(monkeypatch)
    resample_little(monkeypatch)


@pytest.fixture(autouse=True)
def _errors_name_options_of_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all these tests, no error names an option that the command does not have."""
    run_command, fail = program._run, program._fail
    names: list[str] = []

    def run_and_remember(arguments: Sequence[str] | None) -> int:
        names[:] = list(arguments or ())[:1]
        return run_command(arguments)

    def checked_fail(message: str, code: int) -> int:
        # An option that is not known is quoted as it was typed.
        typed = "No such option" in message or not names or names[0] not in OPTIONS
        assert typed or not unknown_options(message, OPTIONS[names[0]]), message
        return fail(message, code)

    monkeypatch.setattr(program, "_run", run_and_remember)
    monkeypatch.setattr(program, "_fail", checked_fail)
