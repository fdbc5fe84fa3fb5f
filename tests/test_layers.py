"""The direction of imports, read off the syntax trees: a room imports only from rooms above it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import aldsurv

SOURCE = Path(aldsurv.__file__).parent

# From the ground up; rooms in one line do not know each other.
LAYERS = [
    ["errors", "plain_numbers", "quoting"],
    ["checks", "registry"],
    ["notices", "display"],
    ["files"],
    ["data"],
    ["columns"],
    ["tables"],
    ["distributions"],
    ["nonparametric"],
    ["metrics", "datasets"],
    ["losses", "networks"],
    ["training"],
    ["models"],
    ["inspection", "monitoring", "planning", "tuning"],
    ["benchmark", "plots"],
    ["reports"],
    ["export"],
    ["serving"],
    ["cli"],
    ["__main__"],
]
LEVEL = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
TORCH_ROOMS = {"losses", "networks", "training", "models"}
# Only from inside a function: reached when somebody asks for what needs it.
LAZY_ONLY = {
    "scipy", "sklearn", "pandas", "polars", "pyarrow", "platformdirs", "h5py", "joblib", "threadpoolctl", "distributed",
    "xgboost", "sksurv", "jinja2", "onnx", "onnxruntime", "prometheus_client",
}  # fmt: skip
WEB_FRAMEWORKS = {"fastapi", "starlette", "pydantic", "uvicorn"}
GPL = {"sksurv", "SurvivalEVAL", "SurvSet"}
# Adapters of other libraries' models, which people may have installed: nothing else touches them.
GPL_ADAPTERS = SOURCE / "models" / "adapters"

MODULES = sorted(SOURCE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def imports(tree: ast.AST) -> list[tuple[str, bool]]:
    """Imported modules, each with whether it is imported when the file is (not in a function or for types only)."""
    found: list[tuple[str, bool]] = []

    def visit(node: ast.AST, at_start: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend((alias.name, at_start) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the direction"
            module = node.module or ""
            found.extend(
                (f"{module}.{alias.name}" if module == "aldsurv" else module, at_start) for alias in node.names
            )
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for_types = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in ast.iter_child_nodes(node):
            visit(child, at_start and not inside and not for_types)

    visit(tree, True)
    return found


def violations(path: Path, tree: ast.AST) -> list[str]:
    room, wrong = room_of(path), []
    for module, at_start in imports(tree):
        package = module.split(".")[0]
        if package == "aldsurv" and room != "__init__":
            other = ([*module.split("."), "__init__"])[1]
            if other in {"__init__", "__version__"} or other == room:
                continue
            if LEVEL[other] >= LEVEL[room]:
                wrong.append(f"{room} imports {other}, which is not above it")
        if package == "torch" and room not in TORCH_ROOMS:
            wrong.append(f"{room} imports torch")
        if package == "matplotlib" and room != "plots":
            wrong.append(f"{room} imports matplotlib")
        if package in WEB_FRAMEWORKS and room != "serving":
            wrong.append(f"{room} imports {package}")
        if package in GPL and GPL_ADAPTERS not in path.parents:
            wrong.append(f"{room} imports {package}, whose licence is the GPL")
        if package in LAZY_ONLY and at_start:
            wrong.append(f"{room} imports {package} when it is imported itself")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_upwards(path):
    assert violations(path, ast.parse(path.read_text(encoding="utf-8"))) == []


def test_every_room_has_its_place():
    assert {room_of(path) for path in MODULES} - set(LEVEL) == {"__init__"}


@pytest.mark.parametrize(
    ("room", "code"),
    [
        ("data", "from aldsurv.distributions import Step"),
        ("data", "from aldsurv import metrics"),
        ("distributions", "import torch"),
        ("metrics", "def f():\n    import torch"),
        ("cli", "import matplotlib.pyplot"),
        ("cli", "import fastapi"),
        ("metrics", "from sksurv.metrics import brier_score"),
        ("distributions", "import scipy.special"),
        ("metrics", "from aldsurv.datasets import load"),
    ],
)
def test_the_check_can_fail(room, code):
    assert violations(SOURCE / room / "module.py", ast.parse(code)) != []


def test_adapters_import_what_they_adapt_only_on_use():
    path = GPL_ADAPTERS / "module.py"
    assert violations(path, ast.parse("def f():\n    import sksurv")) == []
    assert violations(path, ast.parse("import sksurv")) != []
