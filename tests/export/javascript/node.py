"""Node, which runs the JavaScript of the library as a browser does."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
RUNTIME = Path(str(files("aldsurv.export"))) / "javascript"
needs_node = pytest.mark.skipif(NODE is None, reason="needs node")
_SCRIPTS = Path(__file__).parent
_INFINITE = {"Infinity": float("inf"), "-Infinity": float("-inf"), "NaN": float("nan")}


def run_script(name: str, asked: dict[str, Any]) -> Any:
    """What a script beside this file answers: JSON in, JSON out; infinities come as text."""
    done = subprocess.run(
        [NODE or "node", str(_SCRIPTS / name)],
        input=json.dumps({"runtime": str(RUNTIME), **asked}),
        capture_output=True,
        text=True,
        timeout=300,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return _with_infinities(json.loads(done.stdout))


def _with_infinities(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_infinities(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_infinities(item) for key, item in value.items()}
    return _INFINITE.get(value, value) if isinstance(value, str) else value
