from __future__ import annotations

import absent_packages
import pytest
from absent_packages import absent_package, reason, skipped


@pytest.fixture
def without_torch(monkeypatch):
    monkeypatch.setattr(absent_packages, "is_absent", lambda name: name == "torch")


@pytest.mark.parametrize(
    "text",
    [
        "ModuleNotFoundError: No module named 'torch'",
        "ModuleNotFoundError: No module named 'torch.nn'",
        "import of torch halted; None in sys.modules",
        "aldsurv: error: training needs torch: pip install 'aldsurv[torch]'",
        "the models ald are trained by torch: pip install 'aldsurv[benchmark,torch]'",
    ],
)
def test_the_package_is_named(text, without_torch):
    assert absent_package(text) == "torch"
    assert reason("torch") == "needs torch, which is not installed: pip install 'aldsurv[torch]'"


def failure(text):
    return pytest.TestReport("test_it", ("test_it.py", 1, "test_it"), {}, "failed", text, "call")


def test_a_failure_for_want_of_a_package_is_a_skip(without_torch):
    report, other = failure("E   No module named 'torch'"), failure("E   assert 3 == 4")
    skipped(report, "test_it.py")
    assert report.skipped
    assert report.longrepr == ("test_it.py", None, f"Skipped: {reason('torch')}")
    skipped(other, "test_it.py")
    assert other.failed


def test_what_imports_from_a_file_that_was_skipped_is_skipped(without_torch, monkeypatch):
    monkeypatch.setattr(absent_packages, "_UNIMPORTED", {})
    text = "ImportError: cannot import name 'scripted' from 'training.runs' (tests/training/runs.py)"
    assert absent_package(text) is None
    skipped(pytest.CollectReport("runs.py", "failed", "No module named 'torch'", None), "tests/training/runs.py")
    assert absent_package(text) == "torch"


OTHER = ["assert 3 == 4", "No module named 'aldsurv.torch'", "pip install 'aldsurv[plots]'", "No module named 'h5py'"]


@pytest.mark.parametrize("text", OTHER)
def test_other_failures_stay(text, without_torch):
    assert absent_package(text) is None


def test_what_is_installed_is_not_absent():
    assert absent_package("No module named 'pytest'") is None
    assert not absent_packages.is_absent("hypothesis")
