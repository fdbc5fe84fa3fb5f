from __future__ import annotations

import json
import subprocess

import portable
import pytest
from portable import ALONE, ENVIRONMENTS, blamed, chosen_environments, numpy_features

BY_NAME = {environment.name: environment for environment in ENVIRONMENTS}
GROUPED = ["X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"]  # numpy 2.4
SINGLE = ["SSE41", "SSE42", "AVX", "F16C", "FMA3", "AVX2", "AVX512F", "AVX512_SKX"]  # numpy before


@pytest.mark.parametrize(
    ("name", "grouped", "single"),
    [
        ("sse", GROUPED, SINGLE[2:]),
        ("avx", GROUPED, SINGLE[4:]),
        ("avx2", GROUPED[1:], SINGLE[6:]),
        ("avx512", [], []),
    ],
)
def test_numpy_is_kept_from_later_instructions_that_it_knows(name, grouped, single):
    for dispatched, disabled in ((GROUPED, grouped), (SINGLE, single)):
        variables = BY_NAME[name].variables(dispatched)
        assert variables.get("NPY_DISABLE_CPU_FEATURES", "").split() == disabled


def test_a_processor_gets_what_it_can_compute():
    every = dict.fromkeys(("SSE42", "AVX", "AVX2", "AVX512_SKX"), True)
    names = [environment.name for environment in chosen_environments(every)[0]]
    assert names == ["sse", "avx2", "avx512"]
    chosen, reasons = chosen_environments({**every, "AVX512_SKX": False})
    assert [environment.name for environment in chosen] == ["sse", "avx2", "avx"]
    assert [environment.seed for environment in chosen] == [1, 2, 3]
    (reason,) = reasons
    assert reason.startswith("avx512: left out, this processor has no AVX512_SKX: OPENBLAS_CORETYPE=SkylakeX")


def test_numpy_tells_what_the_processor_has():
    features, dispatched = numpy_features()
    assert {environment.needs for environment in ENVIRONMENTS} <= set(features)
    assert set(dispatched) <= set(features)


def test_the_variable_that_makes_a_test_fail_is_named():
    causes = {ALONE: {"always"}, "A=1": {"always", "a", "both"}, "B=2": {"both"}}
    names = ("always", "a", "both", "neither")
    assert [blamed(name, causes) for name in names] == [ALONE, "A=1", "A=1, B=2", "only all together"]


@pytest.mark.parametrize("fails", [True, False])
def test_what_fails_is_run_again_and_printed(fails, monkeypatch, capsys):
    asked = []

    def run(variables, arguments, cache):
        asked.append((variables, arguments))
        (cache / "v").mkdir(parents=True, exist_ok=True)
        bad = fails and "ATEN_CPU_CAPABILITY" in variables
        return int(bad), {"tests/test_x.py::test_y"} if bad else set()

    monkeypatch.setattr(portable, "run_pytest", run)
    monkeypatch.setattr(portable, "numpy_features", lambda: ({"SSE42": True, "AVX2": True}, GROUPED))
    assert portable.main(["--environment", "sse", "tests/test_x.py"]) == int(fails)
    printed = capsys.readouterr().out
    variables, arguments = asked[0]
    assert variables.items() >= portable.SEARCH.items()
    assert arguments[:2] == ["--hypothesis-seed", "1"]
    assert arguments[-1] == "tests/test_x.py"
    assert ("FAILED tests/test_x.py::test_y\n       under sse: ATEN_CPU_CAPABILITY=default\n" in printed) == fails
    assert len(asked) == (8 if fails else 1)


def test_failures_are_read_from_pytest(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    monkeypatch.setenv("ALDSURV_HYPOTHESIS", "search")

    def run(command, *, env, **more):
        # What is set outside would be blamed on nothing.
        assert "OPENBLAS_CORETYPE" not in env
        assert "ALDSURV_HYPOTHESIS" not in env
        assert env["MKL_CBWR"] == "AVX"
        folder = tmp_path / "v" / "cache"
        folder.mkdir(parents=True)
        (folder / "lastfailed").write_text(json.dumps({"a.py::b": True}))
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr(portable.subprocess, "run", run)
    assert portable.run_pytest({"MKL_CBWR": "AVX"}, ["a.py"], tmp_path) == (1, {"a.py::b"})


def test_names_of_what_is_left_out_are_names_of_tests():
    sources = "".join(path.read_text(encoding="utf-8") for path in (portable.ROOT / "tests").rglob("test_*.py"))
    assert all(name in sources for name in portable.INSENSITIVE)
    assert all((portable.ROOT / path).exists() for path in portable.SENSITIVE)
