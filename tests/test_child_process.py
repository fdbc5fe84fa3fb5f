from __future__ import annotations

import os
import subprocess
import sys

import pytest
from child_process import WARNING_OPTIONS, machine_variables, without_machine_warnings

MKL = (
    "Intel MKL WARNING: Support of Intel(R) Streaming SIMD Extensions 4.2 (Intel(R) SSE4.2) enabled only processors "
    "has been deprecated. Intel oneAPI Math Kernel Library 2025.0 will require Intel(R) Advanced Vector Extensions.\n"
)


@pytest.mark.parametrize("ours", ["", "aldsurv: error: no file 'a'\n", "Traceback (most recent call last):\n  MKL\n"])
def test_lines_of_libraries_are_left_out(ours):
    assert without_machine_warnings(ours) == ours
    openblas = "OpenBLAS : Architecture Initialization failed. No initialization function found.\n"
    assert without_machine_warnings(MKL + ours + openblas + MKL) == ours


def test_a_feature_that_numpy_does_not_know_is_no_failure():
    environment = {**os.environ, **machine_variables(), "NPY_DISABLE_CPU_FEATURES": "NO_SUCH_FEATURE"}
    program = "import warnings, numpy\nwarnings.warn('other', ImportWarning)"
    done = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.endswith("ImportWarning: other\n")


def test_children_compute_with_the_instructions_of_this_process(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    monkeypatch.setenv("HOME", "elsewhere")
    passed = machine_variables()
    assert passed["OPENBLAS_CORETYPE"] == "Nehalem"
    assert "HOME" not in passed
