"""A hook of mkdocs: a page of the reference for each public module, and for each model and each distribution.

What is public is read from ``__all__``, without importing anything heavy, so that a new name has its entry. An object
that several modules offer is described once; the others link to it.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mkdocs.structure.files import File

import aldsurv
from aldsurv.registry import MODELS

_SOURCE = Path(aldsurv.__file__).parent
_FOLDER = "reference"
# A page per name, for each is long, or per package in which names are defined.
_SINGLE = ("aldsurv.distributions", "aldsurv.metrics", "aldsurv.models")
_SHARED = (
    "aldsurv.models.neural.neural_survival.NeuralSurvival",
    "aldsurv.models.linear.linear_survival.LinearSurvival",
    "aldsurv.models.linear.ridge_survival.RidgeSurvival",
    "aldsurv.models.linear.elastic_net.elastic_net_survival.ElasticNetSurvival",
    "aldsurv.models.linear.aft.AcceleratedFailureTime",
    "aldsurv.models.wrappers.nested.NestedEstimatorMixin",
    "aldsurv.models.adapters.adapter.PeerSurvival",
    "aldsurv.models.adapters.xgboost_trees.XGBoostSurvival",
    "aldsurv.models.adapters.scikit_survival.ScikitSurvivalEnsemble",
    "aldsurv.distributions.shapes.Rows",
)
# In a table a bar ends the cell, except in code.
_CODE_OR_BAR = re.compile(r"(`+).*?\1|\|")
_INHERITED = "\n    options:\n      inherited_members: true"


class Name(NamedTuple):
    """A public name: the module that offers it, and where it is defined."""

    module: str
    name: str
    defined: tuple[str, str]


def on_config(config: Any, **_: Any) -> Any:
    """List the pages in the navigation, before what it has there."""
    (section,) = (item["Reference"] for item in config.nav if "Reference" in item)
    rooms: list[Any] = []
    for room in [*(room for room in public_modules() if room != "aldsurv"), "shared_parameters"]:
        files = [path for path in pages() if _room(path) == room]
        names = [{path.split(".")[-2]: path} for path in files[1:]]
        rooms.append({room.removeprefix("aldsurv."): [files[0], *names] if names else files[0]})
    section[:0] = [f"{_FOLDER}/index.md", {"Modules": rooms}]
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


@cache
def pages() -> dict[str, str]:
    """The text of each page, by its path below the folder of the pages."""
    described: dict[str, list[str]] = {}
    for defined, path in places().items():
        described.setdefault(path, []).append(_entry(defined))
    result = {}
    for module in public_modules():
        path = _page(module)
        result[path] = _joined(f"# {module}", summary(module), *_table(module), *described.pop(path, []))
        for single in [other for other in described if _room(other) == module]:
            bases = _shared_links([defined for defined, place in places().items() if place == single])
            result[single] = _joined(f"# {single.split('.')[-2]}", bases, *described.pop(single))
    result[_page("aldsurv")] = _index(result[_page("aldsurv")])
    shared = "Base classes, whose parameters and methods several classes have."
    result[_page("shared_parameters")] = _joined("# Shared parameters", shared, *(f"::: {name}" for name in _SHARED))
    return result


def _page(module: str, name: str = "") -> str:
    stem = "index" if module == "aldsurv" else module
    return f"{_FOLDER}/{stem}{name and f'.{name}'}.md"


def _part(name: Name) -> str:
    """What is between the module and the rest in the name of the page: a name or a package in it."""
    if name.module != "aldsurv.metrics":
        return name.name if name.module in _SINGLE else ""
    package, _, module = name.defined[0].removeprefix("aldsurv.metrics").lstrip(".").partition(".")
    return package if module else ""


def _room(path: str) -> str:
    """The module that a page belongs to."""
    stem = path.removeprefix(f"{_FOLDER}/").removesuffix(".md")
    owner = next((room for room in _SINGLE if stem.startswith(f"{room}.") and stem not in public_modules()), stem)
    return "aldsurv" if owner == "index" else owner


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


@cache
def public_modules() -> dict[str, Path]:
    """Packages, and modules of the top level, that have ``__all__``, by name, without those of the command line."""
    found = {}
    for path in [*sorted(_SOURCE.rglob("__init__.py")), *sorted(_SOURCE.glob("*.py"))]:
        parts = path.relative_to(_SOURCE.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if exported(module) and not module.startswith("aldsurv.cli"):
            found[module] = path
    return dict(sorted(found.items()))


@cache
def _tree(module: str) -> ast.Module | None:
    place = _SOURCE.parent.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8")) if path.exists() else None


def exported(module: str) -> list[str]:
    """The names in ``__all__`` of a module."""
    for node in getattr(_tree(module), "body", []):
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return list(ast.literal_eval(node.value))
    return []


@cache
def definition(module: str, name: str) -> tuple[str, str]:
    """The module that defines a name, followed through imports, and the name there."""
    tree = _tree(module)
    if tree is None:
        return module, name
    # Also those for type checkers only, which stand for names that are loaded on use.
    blocks = [node.body for node in tree.body if isinstance(node, ast.If)]
    for node in [*tree.body, *(node for block in blocks for node in block)]:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aldsurv") and node.module != module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return definition(str(node.module), alias.name)
    return module, name


def summary(module: str) -> str:
    """The first paragraph of a module's docstring."""
    tree = _tree(module)
    return "" if tree is None else (ast.get_docstring(tree) or "").partition("\n\n")[0]


@cache
def public_names(module: str) -> list[Name]:
    """Its public names that are not modules themselves."""
    names = [Name(module, name, definition(module, name)) for name in exported(module)]
    return [name for name in names if _tree(".".join(name.defined)) is None]


@cache
def places() -> dict[tuple[str, str], str]:
    """The page of each public object, by where it is defined."""
    found: dict[tuple[str, str], str] = {}
    # What the package itself offers is described where its room offers it, if that does.
    for module in [*(module for module in public_modules() if module != "aldsurv"), "aldsurv"]:
        for name in public_names(module):
            found.setdefault(name.defined, _page(module, _part(name)))
    for record in MODELS.records():
        module, _, name = record.location.partition(":")
        found.setdefault((module, name), _page("aldsurv.models", name))
    return found


def _entry(defined: tuple[str, str]) -> str:
    module, name = defined
    offered = [room for room in public_modules() if Name(room, name, defined) in public_names(room)]
    locations = {record.location for record in MODELS.records()}
    inherited = f"{module}:{name}" in locations or name in ("ConformalLowerBound", "SurvivalDistribution")
    return f"::: {min(offered, key=len) if offered else module}.{name}{_INHERITED if inherited else ''}"


def _table(module: str) -> list[str]:
    """Names of a module that are described on other pages."""
    elsewhere = [name for name in public_names(module) if places()[name.defined] != _page(module)]
    rows = [
        f"| [`{name.name}`]({Path(places()[name.defined]).name}) | {_first_line(name.defined)} |" for name in elsewhere
    ]
    return ["\n".join(["| name | |", "| --- | --- |", *rows])] if rows else []


def _index(own: str) -> str:
    """The first page: what the package itself offers, and its modules."""
    rows = [f"| [`{room}`]({room}.md) | {summary(room)} |" for room in public_modules() if room != "aldsurv"]
    modules = "\n".join(["| module | |", "| --- | --- |", *rows])
    text = (
        "Every public name, module by module. [The command line](cli/index.md) has a page for each command, and "
        "[the model file](../model_file.md) is specified for readers in other languages."
    )
    names = own.partition(summary("aldsurv"))[2]
    return _joined("# Reference", text, "## Modules", modules, "## Names of the package itself", names.strip())


def _shared_links(objects: list[tuple[str, str]]) -> str:
    """Links to the base classes that docstrings name, whose parameters are on a page of their own."""
    texts = " ".join(map(_docstring, objects))
    names = {path.rpartition(".")[2]: path for path in _SHARED}
    links = [f"[`{name}`](shared_parameters.md#{path})" for name, path in names.items() if f"`{name}`" in texts]
    return f"Parameters and methods that several classes share: {', '.join(links)}." if links else ""


def _first_line(defined: tuple[str, str]) -> str:
    """The summary line of an object's docstring, for a cell of a table."""
    line = _docstring(defined).partition("\n")[0]
    return _CODE_OR_BAR.sub(lambda part: "\\|" if part[0] == "|" else part[0], line)


def _docstring(defined: tuple[str, str]) -> str:
    tree = _tree(defined[0])
    for node in () if tree is None else tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == defined[1]:
            return ast.get_docstring(node) or ""
    return ""
