"""What the repository promises about itself."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import aldsurv

ROOT = Path(__file__).parent.parent
if sys.version_info >= (3, 11):
    import tomllib
else:  # pytest brings it on 3.10
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def package_name(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def test_every_public_name_exists():
    for name in aldsurv.__all__:
        assert getattr(aldsurv, name) is not None
    assert set(aldsurv.__all__) <= set(dir(aldsurv))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = aldsurv.nothing


@pytest.mark.parametrize(
    "room",
    [
        "benchmark",
        "columns",
        "data",
        "datasets",
        "distributions",
        "inspection",
        "losses",
        "metrics",
        "models",
        "networks",
        "nonparametric",
        "plots",
        "reports",
        "serving",
        "tables",
        "training",
        "tuning",
    ],
)
def test_every_room_says_what_it_offers(room):
    if room in ("losses", "training"):
        pytest.importorskip("torch")
    module = importlib.import_module(f"aldsurv.{room}")
    # Their order is ruff's business.
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


def test_types_are_shipped():
    assert (Path(aldsurv.__file__).parent / "py.typed").is_file()


def test_version_is_in_the_changelog_and_the_citation():
    assert f"## {aldsurv.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {aldsurv.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_dependency_is_pinned_and_explained():
    pinned = {
        package_name(line)
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
    explained = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8").lower()
    wanted = list(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"].values():
        wanted += extra
    for requirement in wanted:
        name = package_name(requirement)
        if name != "aldsurv":
            assert name in pinned, f"{name} is not in constraints.txt"
            assert f"**{name}**" in explained, f"docs/dependencies.md does not say why {name} is there"


def test_nothing_of_the_gpl_is_needed_at_run_time():
    names = {package_name(requirement) for requirement in PROJECT["dependencies"]}
    for extra in ("torch", "plots", "datasets", "tables", "reports", "benchmark", "cluster", "tune", "trees"):
        names |= {package_name(requirement) for requirement in PROJECT["optional-dependencies"][extra]}
    assert names.isdisjoint({"scikit-survival", "survivaleval", "survset"})


@pytest.mark.parametrize("code", ["import aldsurv", "import aldsurv; aldsurv.AldsurvError"])
def test_importing_is_light(code):
    heavy = ["torch", "matplotlib", "scipy", "numpy", "click"]
    check = f"{code}; import sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_predicting_with_the_ald_needs_numpy_alone():
    code = (
        "import sys; from aldsurv.distributions import AsymmetricLaplace\n"
        "d = AsymmetricLaplace([1.0, 2.0], 1.0, 0.5)\n"
        "d.survival([1.0]); d.quantile(0.5); d.mean(); d.crps(1.0); d.conditional(1.0).mean(); d.restricted_mean(3.0)\n"
        "print([name for name in ('torch', 'scipy', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
