"""Optional packages that are not installed: what fails for want of one is skipped, and says which."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Generator
from functools import cache

import pytest

# Packages of the extras and peers of the tests, each with the extra of aldsurv that brings it.
OPTIONAL = {
    "dcurves": None,
    "distributed": "cluster",
    "fastapi": "serve",
    "h5py": "datasets",
    "httpx": None,
    "jinja2": "reports",
    "joblib": "benchmark",
    "lifelines": None,
    "matplotlib": "plots",
    "mpmath": None,
    "onnx": "onnx",
    "onnxruntime": None,
    "openpyxl": "excel",
    "optuna": "tune",
    "pandas": None,
    "polars": None,
    "pooch": "datasets",
    "prometheus_client": "serve",
    "pyarrow": "tables",
    "pycox": None,
    "schemathesis": None,
    "sklearn": None,
    "sksurv": "peers",
    "statsmodels": None,
    "SurvivalEVAL": None,
    "threadpoolctl": "benchmark",
    "torch": "torch",
    "torchtuples": None,
    "uvicorn": "serve",
    "xgboost": "trees",
}
_NO_MODULE = re.compile(r"No module named '([\w.]+)'|import of ([\w.]+) halted")
_EXTRAS = re.compile(r"aldsurv\[([\w,]+)\]")
# Files that could not be imported, each with the package it needs; what imports from them fails in another way.
_UNIMPORTED: dict[str, str] = {}
# What aldsurv said of absent packages in the test that runs, whatever the test then made of it.
_MESSAGES: list[str] = []


@cache
def is_absent(name: str) -> bool:
    """Whether an optional package is not installed."""
    return name in OPTIONAL and importlib.util.find_spec(name) is None


def absent_package(text: str) -> str | None:
    """The package that is not installed and of which a failure's text says that it is needed."""
    named = [(first or second).partition(".")[0] for first, second in _NO_MODULE.findall(text)]
    extras = {extra for found in _EXTRAS.findall(text) for extra in found.split(",")}
    named += [name for name, extra in OPTIONAL.items() if extra in extras or (extra == "trees" and "peers" in extras)]
    named += [name for path, name in _UNIMPORTED.items() if f"({path})" in text]
    return next(filter(is_absent, named), None)


def reason(name: str) -> str:
    """Why a test that needs a package was skipped."""
    extra = OPTIONAL[name]
    return f"needs {name}, which is not installed: pip install " + (f"'aldsurv[{extra}]'" if extra else name)


def skipped(report: pytest.TestReport | pytest.CollectReport, where: str) -> None:
    """Make of a failure for want of a package that is not installed a skip that names it."""
    if report.outcome != "failed":
        return
    name = absent_package("\n".join([report.longreprtext, report.capstdout, report.capstderr, *_MESSAGES]))
    if name is not None:
        if isinstance(report, pytest.CollectReport):
            _UNIMPORTED[where] = name
        report.outcome = "skipped"
        report.longrepr = (where, None, f"Skipped: {reason(name)}")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    skipped(report, str(collector.path))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    skipped(report, str(item.path))
    return report


def pytest_configure() -> None:
    if any(map(is_absent, OPTIONAL)):
        from aldsurv.errors import MissingDependencyError

        construct = MissingDependencyError.__init__

        def begin(self: MissingDependencyError, *words: str, **parts: object) -> None:
            construct(self, *words, **parts)
            _MESSAGES.extend(words)

        MissingDependencyError.__init__ = begin  # type: ignore[method-assign]


def pytest_runtest_logstart() -> None:
    _MESSAGES.clear()
