from __future__ import annotations

import subprocess
import sys

import newest


def test_interpreters_are_asked_for_their_version(tmp_path, monkeypatch):
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert str(newest.interpreter(newest.THIS)) == sys.executable
    assert newest.interpreter("2.0") is None
    if sys.platform == "win32":
        return
    # One that says it is another is passed over.
    for name, said in (("9.8.1", "9.8"), ("9.8.2", "9.7")):
        command = tmp_path / "versions" / name / "bin" / "python"
        command.parent.mkdir(parents=True)
        command.write_text(f"#!/bin/sh\necho {said}\n")
        command.chmod(0o755)
    assert newest.interpreter("9.8") == tmp_path / "versions" / "9.8.1" / "bin" / "python"


def test_torch_stays_where_the_constraints_hold_it():
    assert newest.pinned("torch", "tomli==2.0\ntorchtuples==0.2.2\ntorch==2.13.0\n") == "torch==2.13.0"
    text = (newest.ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert newest.pinned("torch", text).startswith("torch==")


def test_an_interpreter_that_is_not_there_is_left_out(monkeypatch, capsys):
    other = next(version for version in newest.OTHERS if version != newest.THIS)
    monkeypatch.setattr(newest, "interpreter", lambda version: None if version == other else sys.executable)
    monkeypatch.setattr(newest, "set_up", lambda version, source: sys.executable)
    ran = []
    monkeypatch.setattr(newest.subprocess, "run", lambda command, **more: ran.append(command) or done)
    for code in (0, 1):
        done = subprocess.CompletedProcess([], code)
        assert newest.main(["--python", newest.THIS, "--python", other, "tests/test_x.py"]) == code
        printed = capsys.readouterr().out
        assert f"Python {newest.THIS}: {'failed' if code else 'passed'}" in printed
        assert f"Python {other}: left out, there is no python{other} on the path" in printed
    assert next(command for command in ran if "pytest" in command)[-3] == "tests/test_x.py"
