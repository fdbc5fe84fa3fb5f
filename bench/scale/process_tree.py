"""What a process and all processes that it starts take: seconds of processors, and the most memory at once."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["GivenUpError", "measured", "processor_seconds", "tree_memory"]

_INTERVAL = 0.25


class GivenUpError(RuntimeError):
    """A process that took more than it may, or failed; the text says which."""


def processor_seconds() -> float:
    """Of this process and of all processes that it started, those that have ended among them."""
    import psutil

    here = psutil.Process()
    return sum(map(_seconds_of, [here, *here.children(recursive=True)]))


def _seconds_of(process: Any) -> float:
    import psutil

    with suppress(psutil.Error):
        return float(sum(process.cpu_times()[:4]))
    return 0.0


def tree_memory(pid: int) -> float:
    """Memory in MB of a process and of all that it started, pages that several share counted once."""
    import psutil

    total = 0
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0.0
    for process in family:
        try:
            text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            continue
        total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    return total / 1024


def measured(
    command: Sequence[str], *, seconds: float, megabytes: float, environment: Mapping[str, str], folder: Path
) -> dict[str, Any]:
    """The JSON that a command prints on its last line, with ``"peak MB"`` of its tree.

    Parameters
    ----------
    command
        Words of a command.
    seconds, megabytes
        What it may take by the clock, and of memory at once; beyond it the whole tree is ended.
    environment
        Variables beside those of this process.
    folder
        Where it runs.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, tempfile.TemporaryFile("w+", encoding="utf-8") as err:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=out, stderr=err, start_new_session=True
        )
        start, peak, reason = time.perf_counter(), 0.0, ""
        while process.poll() is None and not reason:
            peak = max(peak, tree_memory(process.pid))
            if peak > megabytes:
                reason = f"more than {megabytes / 1024:.0f} GB"
            elif time.perf_counter() - start > seconds:
                reason = f"more than {seconds:.0f} s"
            time.sleep(_INTERVAL)
        if reason:
            _end(process)
            raise GivenUpError(reason)
        out.seek(0)
        err.seek(0)
        lines, errors = out.read().splitlines(), err.read().strip().splitlines()
    if process.returncode or not lines:
        raise GivenUpError(f"failed: {errors[-1][:200] if errors else f'exit code {process.returncode}'}")
    found: dict[str, Any] = json.loads(lines[-1])
    return {**found, "peak MB": max(peak, float(found.get("own peak MB", 0.0)))}


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, each by its number."""
    import psutil

    family: list[Any] = []
    with suppress(psutil.Error):
        root = psutil.Process(process.pid)
        family = [*root.children(recursive=True), root]
    for each in family:
        # It may have ended since.
        with suppress(psutil.Error):
            each.kill()
    process.wait()
