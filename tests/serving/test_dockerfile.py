"""The Dockerfile: no torch, no root, a health check that works; `make docker` runs all of its steps."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys

import pytest

from .client import frozen
from .dockerfile_steps import ROOT, parse
from .test_process import running

STAGES = parse((ROOT / "Dockerfile").read_text(encoding="utf-8"))
LAST = {step.instruction: step for step in STAGES[-1]}


def test_the_image_is_slim_and_made_of_a_wheel():
    assert [steps[0].text.split()[0] for steps in STAGES] == ["python:3.12-slim"] * 2
    installs = [step.text for step in STAGES[-1] if step.instruction == "RUN" and "pip install" in step.text]
    assert len(installs) == 1
    assert "[serve]" in installs[0]
    assert "--constraint /wheels/constraints.txt" in installs[0]
    assert not any("torch" in step.text for steps in STAGES for step in steps)


def test_the_process_is_not_of_root():
    user = LAST["USER"].text
    assert user.isdigit()
    assert int(user) > 0
    assert any(f"--uid {user} " in step.text for step in STAGES[-1] if step.instruction == "RUN")
    names = [step.instruction for step in STAGES[-1]]
    # Nothing is installed by that user, and everything is started by it.
    assert names.index("USER") > max(place for place, name in enumerate(names) if name in ("RUN", "COPY"))
    assert names.index("USER") < names.index("ENTRYPOINT")


def test_what_is_copied_is_there_and_not_ignored():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for steps in STAGES:
        for step in steps:
            if step.instruction == "COPY" and "--from" not in step.text:
                for name in step.text.split()[:-1]:
                    assert (ROOT / name).exists()
                    assert f"!{name}" in ignored


@pytest.mark.skipif(sys.platform == "win32", reason="the image is one of Linux")
def test_the_command_serves_and_its_health_check_sees_it(tmp_path):
    words = [*LAST["ENTRYPOINT"].words, *LAST["CMD"].words]
    assert words[:2] == ["aldsurv", "serve"]
    assert words[words.index("--port") + 1] == LAST["EXPOSE"].text
    shutil.copy(frozen("cox_efron"), tmp_path / "model.aldsurv")
    program, *rest = LAST["HEALTHCHECK"].words
    assert program == "python"

    def healthy(port: str) -> bool:
        command = [sys.executable, *(word.replace("8000", port) for word in rest)]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    model = words[-1].replace("/models", str(tmp_path))
    # The address of the image is every one; here it is this machine's own.
    with running(model, "--host", "127.0.0.1") as service:
        assert healthy(service.address.rpartition(":")[2])
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    assert not healthy(port)
