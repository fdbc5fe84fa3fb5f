"""The steps of the Dockerfile without a container engine: ``make docker``.

Each stage becomes a folder with an empty venv. Files are copied there, commands are run by its Python, with the folders
of the image in their place; then the service is started, asked for its health and for a prediction, and stopped. Only
the standard library is used, so that any Python can run this; packages come from the registry, which takes minutes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import venv
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests" / "models" / "frozen" / "cox_efron.aldsurv"
ROW = {"age": 51.0, "size": 20.0, "grade": "II", "site": "left", "smoker": True, "code": 2}


class Step(NamedTuple):
    """An instruction and what follows it, on one line."""

    instruction: str
    text: str

    @property
    def words(self) -> list[str]:
        """The list of a command in the form of JSON."""
        words: list[str] = json.loads(self.text[self.text.index("[") :])
        return words


def parse(text: str) -> list[list[Step]]:
    """The steps of each stage of a Dockerfile."""
    lines = [line for line in text.replace("\\\n", " ").splitlines() if line.strip() and not line.startswith("#")]
    stages: list[list[Step]] = []
    for line in lines:
        instruction, _, rest = line.partition(" ")
        if instruction == "FROM":
            stages.append([])
        stages[-1].append(Step(instruction, rest.strip()))
    return stages


class Stage:
    """A stage in a folder: its venv, its files, and where its absolute paths are."""

    def __init__(self, folder: Path, stages: dict[str, Path]) -> None:
        self.folder, self._stages, self._place = folder, stages, folder
        venv.create(folder / "venv", with_pip=True)
        tools = folder / "tools"
        tools.mkdir()
        # Users are the image's, not this machine's.
        (tools / "useradd").write_text(f"#!/bin/sh\necho \"$@\" > '{folder}/user'\n")
        (tools / "useradd").chmod(0o755)
        path = os.pathsep.join([str(folder / "venv" / "bin"), str(tools), os.environ["PATH"]])
        self.environment = {**os.environ, "PATH": path, "PYTHONNOUSERSITE": "1"}
        self.environment.pop("PYTHONPATH", None)

    def inside(self, text: str) -> str:
        """A command with the image's folders in their place here."""
        return re.sub(r"(?<![\w.:/])/(wheels|src|models)\b", rf"{self.folder}/\1", text)

    def run(self, step: Step) -> None:
        """Carry out one step."""
        if step.instruction == "WORKDIR":
            self._place = Path(self.inside(step.text))
            self._place.mkdir(parents=True)
        elif step.instruction == "COPY":
            self._copy(step.text.split())
        elif step.instruction == "RUN":
            print(f"RUN {step.text}", flush=True)
            subprocess.run(["sh", "-ec", self.inside(step.text)], cwd=self._place, env=self.environment, check=True)
        elif step.instruction == "ENV":
            self.environment |= dict(pair.split("=", 1) for pair in step.text.split())

    def _copy(self, words: list[str]) -> None:
        source = ROOT
        if words[0].startswith("--from="):
            source = self._stages[words.pop(0).removeprefix("--from=")]
        *names, target = words
        place = Path(self.inside(target)) if target.startswith("/") else self._place / target
        for name in names:
            found = source / name.lstrip("/")
            if found.is_dir():
                shutil.copytree(found, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, place)


def check() -> None:
    """Run all steps, then the service."""
    with tempfile.TemporaryDirectory() as folder:
        places: dict[str, Path] = {}
        for number, steps in enumerate(parse((ROOT / "Dockerfile").read_text(encoding="utf-8"))):
            place = Path(folder) / str(number)
            place.mkdir()
            name = steps[0].text.partition(" AS ")[2] or str(number)
            places[name] = place
            stage = Stage(place, places)
            for step in steps[1:]:
                stage.run(step)
        serve_once(stage, {step.instruction: step for step in steps})


def serve_once(stage: Stage, last: dict[str, Step]) -> None:
    """Start what the image starts, with a model where it is looked for; ask, and stop."""
    python = str(stage.folder / "venv" / "bin" / "python")
    names = (
        "import importlib.util as u; print([n for n in ('torch', 'pandas', 'fastapi', 'aldsurv') if u.find_spec(n)])"
    )
    listed = subprocess.run([python, "-c", names], env=stage.environment, capture_output=True, text=True, check=True)
    print(f"installed of torch, pandas, fastapi, aldsurv: {listed.stdout.strip()}")
    assert listed.stdout.strip() == "['fastapi', 'aldsurv']"
    (stage.folder / "models").mkdir()
    shutil.copy(MODEL, stage.folder / "models" / "model.aldsurv")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])

    def here(words: list[str]) -> list[str]:
        return [stage.inside(word).replace("8000", port).replace("0.0.0.0", "127.0.0.1") for word in words]  # noqa: S104

    command = here([*last["ENTRYPOINT"].words, *last["CMD"].words])
    health = here(last["HEALTHCHECK"].words)
    program = str(stage.folder / "venv" / "bin" / command[0])
    assert subprocess.run(health, env=stage.environment, capture_output=True, check=False).returncode != 0
    service = subprocess.Popen([program, *command[1:]], env=stage.environment)
    try:
        deadline = time.monotonic() + 60
        while subprocess.run(health, env=stage.environment, capture_output=True, check=False).returncode:
            assert service.poll() is None, "the service has ended"
            assert time.monotonic() < deadline, "the service is not healthy"
            time.sleep(0.2)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/models/model/predict",
            data=json.dumps({"rows": [ROW]}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
            print(answer.read().decode())
        service.send_signal(getattr(signal, last["STOPSIGNAL"].text))
        assert service.wait(60) == 0
    finally:
        service.kill()
    print(f"user: {(stage.folder / 'user').read_text().strip()}; all steps done")


if __name__ == "__main__":
    sys.exit(check())
