"""Modules of JavaScript joined into one script, in the order in which they need each other."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from aldsurv.errors import ParameterError

__all__ = ["join_modules", "read_module"]

# Statements of modules: only these forms are used, so that no parser is needed.
_IMPORT = re.compile(r'^import\s*(?:\{[^}]*\}\s*from\s*)?"([^"]+)";[ \t]*\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function\b|class\b|const\b|let\b)", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*? ?|class |const |let )(\w+)", re.MULTILINE)


@final
@dataclass(frozen=True)
class ScriptModule:
    """A module: its code without the statements of modules, and the paths of those that it needs.

    Attributes
    ----------
    code
        What is left of the text.
    needs
        Paths, from the folder of all modules.
    names
        What it declares at the top level.
    """

    code: str
    needs: tuple[str, ...]
    names: tuple[str, ...]


def read_module(path: str, text: str) -> ScriptModule:
    """Split a module into its code and what it needs.

    Parameters
    ----------
    path
        Its path, from the folder of all modules, with slashes.
    text
        Its content.
    """
    folder = posixpath.dirname(path)
    needs = tuple(posixpath.normpath(posixpath.join(folder, name)) for name in _IMPORT.findall(text))
    code = _EXPORT.sub("", _IMPORT.sub("", text))
    left = _LEFT.search(code)
    if left:
        raise ParameterError(f"the module {path!r} has a statement that cannot be joined: {left[0][:80]!r}.")
    return ScriptModule(code.strip("\n"), needs, tuple(_TOP_LEVEL.findall(code)))


def join_modules(texts: Mapping[str, str], start: str) -> str:
    """One script of a module and all that it needs, in a function of its own.

    Parameters
    ----------
    texts
        Content of the modules by their paths; those that are not needed are left out.
    start
        The path of the module that begins.
    """
    ordered: dict[str, ScriptModule] = {}
    _visit(start, texts, ordered, ())
    places: dict[str, str] = {}
    for path, module in ordered.items():
        for name in module.names:
            if places.setdefault(name, path) != path:
                raise ParameterError(f"{name!r} is declared in {places[name]!r} and in {path!r}.")
    parts = [f"// {path}\n{module.code}" for path, module in ordered.items()]
    return '"use strict";\n(() => {\n' + "\n\n".join(parts) + "\n})();\n"


def _visit(path: str, texts: Mapping[str, str], ordered: dict[str, ScriptModule], above: tuple[str, ...]) -> None:
    """Add a module after those that it needs; of modules that need each other, the one asked for last comes first."""
    if path in ordered or path in above:
        return
    if path not in texts:
        raise ParameterError(f"{above[-1]!r} needs {path!r}, which is not there.")
    module = read_module(path, texts[path])
    for needed in module.needs:
        _visit(needed, texts, ordered, (*above, path))
    ordered[path] = module
