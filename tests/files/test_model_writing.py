"""Writing a model file: all or nothing, whatever fails, and whoever else writes."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aldsurv.files import model_file
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file
from files.model_bytes import (
    ARRAYS,
    DOCUMENT,
    same,
)

POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


class FullDisk(io.BufferedWriter):
    """A file whose disk is full after a few bytes."""

    def write(self, content: Any, /) -> int:
        super().write(bytes(content)[:10])
        raise OSError("no space left")


def failing_with(error: BaseException) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("old", [True, False], ids=["over an old file", "to a new file"])
@pytest.mark.parametrize("error", [OSError("broken"), KeyboardInterrupt(), MemoryError()], ids=repr)
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_what_fails_leaves_no_trace(tmp_path, monkeypatch, whole, step, error, old):
    path = tmp_path / "model"
    if old:
        path.write_bytes(whole)
    with monkeypatch.context() as patch:
        if step == "write":
            error = OSError("no space left")
            patch.setattr(os, "fdopen", lambda descriptor, mode: FullDisk(io.FileIO(descriptor, mode)))
        elif step == "fsync":
            patch.setattr(os, "fsync", failing_with(error))
        else:
            patch.setattr(Path, "replace", failing_with(error))
        with pytest.raises(type(error)) as caught:
            write_model_file(path, {"new": 1}, ARRAYS)
        assert str(caught.value) == str(error)
    assert list(tmp_path.iterdir()) == ([path] if old else [])
    assert not old or path.read_bytes() == whole
    # And the same call succeeds where nothing fails.
    write_model_file(path, {"new": 1}, ARRAYS)
    assert same(read_model_file(path), ({"new": 1}, ARRAYS))
    assert list(tmp_path.iterdir()) == [path]


def test_the_content_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch, whole):
    steps: list[str] = []

    def synced(descriptor: int) -> None:
        assert os.fstat(descriptor).st_size == len(whole)
        steps.append("fsync")

    def replaced(self: Path, target: Path, replace: Any = Path.replace) -> Path:
        assert self.read_bytes() == whole
        assert self.parent == target.parent
        steps.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_model_file(tmp_path / "model", DOCUMENT, ARRAYS)
    assert steps == ["fsync", "replace"]


KILLED = """
import os, sys, time
import numpy as np
from aldsurv.files.model_file import write_model_file

path, how = sys.argv[1:]
arrays = {f"x{n}": np.full(250_000, float(n)) for n in range(4)}
if how == "before the end":
    def wait(descriptor):
        print("waiting", flush=True)
        time.sleep(60)
    os.fsync = wait
turn = 0
while True:
    write_model_file(path, {"turn": turn}, arrays)
    if turn == 0:
        print("waiting", flush=True)
    turn += 1
"""


def killed_writer(path: Path, how: str, seconds: float) -> None:
    source = str(Path(model_file.__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), how], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            time.sleep(seconds)
            assert process.poll() is None
        finally:
            process.kill()


def test_a_killed_writer_leaves_the_old_file(tmp_path, whole):
    path = tmp_path / "model"
    path.write_bytes(whole)
    killed_writer(path, "before the end", 0.0)
    assert path.read_bytes() == whole
    unfinished = set(tmp_path.iterdir()) - {path}
    # It was killed with all written but the name: without the detour, the old file would be gone.
    assert [file.stat().st_size > 8_000_000 for file in unfinished] == [True]


def test_a_writer_killed_at_any_time_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model"
    dice = random.Random(3)
    for _ in range(4):
        killed_writer(path, "at any time", dice.uniform(0.0, 0.1))
        document, arrays = read_model_file(path)
        assert document["turn"] >= 0
        assert all((arrays[f"x{n}"] == n).all() for n in range(4))


def test_writers_at_the_same_time_do_not_mix(tmp_path):
    path = tmp_path / "model"
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                write_model_file(path, {"by": number}, {"x": np.full(20_000, number)})
                document, arrays = read_model_file(path)
                assert (arrays["x"] == document["by"]).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(tmp_path.iterdir()) == [path]


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077], ids=oct)
def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        path = write_model_file(tmp_path / "model", {}, {})
        (tmp_path / "plain").touch()
    finally:
        os.umask(before)
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_paths_may_be_text_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert write_model_file("model", {"a": 1}, {}) == Path("model")
    assert read_model_file("model")[0] == {"a": 1}
    Path("broken").touch()
    with pytest.raises(ModelFileError, match=r"^'broken' is empty\.$"):
        read_model_file("broken")
