"""Figures of the source's shape, one column per tree: ``python -m bench.house OLD NEW``.

A tree is a checkout, with the package in ``src/aldsurv``; without one it is this checkout. The figures are signs, not
aims: a shorter module that is harder to read is worse.

- A *room* is a folder directly below the package, or a module beside it. A *module* is a file, also
  ``__init__.py``.
- *Lines of code* are those with anything on them except comments and docstrings.
- *Any in signatures* counts the arguments and results of functions whose annotation names ``Any``, however often. An
  alias of it, such as ``Array = Any``, hides some: those are counted apart.
- *Private accesses* are reads of ``_name`` from another room (see `private_accesses`).
- *Traced* are the distinct functions of the package that a call runs, without what modules run while they are imported
  and without comprehensions; the depth is the largest number of them on the stack at once.
"""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "aldsurv"
ROOT = Path(__file__).resolve().parents[1]
CROWDED = 12
SHOWN = 8

TRACER = """
import json, os, sys, threading
from pathlib import Path

package = str(Path(sys.argv[1]) / "src" / "aldsurv") + os.sep
functions, state = set(), threading.local()
deepest = 0
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}

def profile(frame, event, argument):
    global deepest
    code = frame.f_code
    if event not in ("call", "return") or not code.co_filename.startswith(package):
        return
    if not hasattr(state, "depth"):
        state.depth = state.importing = 0
    step = 1 if event == "call" else -1
    # Not a function but the body of a module or a class.
    if not code.co_flags & 1:
        state.importing += step * (frame.f_globals["__name__"] != "__main__")
    elif not state.importing and code.co_name not in COMPREHENSIONS:
        state.depth += step
        deepest = max(deepest, state.depth)
        if event == "call":
            functions.add((code.co_filename, code.co_firstlineno, code.co_name))

def trace(call):
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        return call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)

def report():
    modules = len({file for file, line, name in functions})
    Path("trace.json").write_text(json.dumps([len(functions), modules, deepest]))
"""
ROWS = """
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(60, 2))
time, event = rng.exponential(np.exp(x[:, 0])), rng.uniform(size=60) < 0.7
"""
MODEL = f"{TRACER}{ROWS}import aldsurv\nmodel = aldsurv.ALDSurvival(max_epochs=2, random_state=0)\n"
PREDICT = "model.fit(x, (time, event))\ntrace(lambda: model.predict_distribution(x))\nreport()\n"
COMMAND = """
import runpy
text = ["age,marker,time,event"]
text += [f"{a},{b},{t},{int(e)}" for (a, b), t, e in zip(x, time, event)]
Path("rows.csv").write_text("\\n".join(text) + "\\n")
sys.argv = ["aldsurv", "fit", "rows.csv", "--time", "time", "--event", "event", "--quiet"]
try:
    trace(lambda: runpy.run_module("aldsurv", run_name="__main__"))
except SystemExit as done:
    assert not done.code, done.code
report()
"""
TRACES = {
    "fit": f"{MODEL}trace(lambda: model.fit(x, (time, event)))\nreport()\n",
    "predict_distribution": f"{MODEL}{PREDICT}",
    "aldsurv fit": f"{TRACER}{ROWS}{COMMAND}",
}


@dataclass(frozen=True)
class Module:
    """One file of the package: its path below it, its text and its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def folder(self) -> str:
        """Folder below the package; the package itself is ``.``."""
        return self.path.parent.as_posix()

    @property
    def room(self) -> str:
        """Folder directly below the package, or the module's own name."""
        return self.path.parts[0].removesuffix(".py")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree, which takes longer to walk than to look through."""
        return list(ast.walk(self.tree))

    @property
    def lines(self) -> int:
        """Lines of the file."""
        return len(self.text.splitlines())


@dataclass(frozen=True)
class PrivateAccess:
    """A read of another room's private name."""

    path: Path
    line: int
    name: str

    @property
    def room(self) -> str:
        """Room that reads it."""
        return self.path.parts[0].removesuffix(".py")


def read_modules(package: Path) -> list[Module]:
    """Modules of a package, by path."""
    modules = []
    for path in sorted(package.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        modules.append(Module(path.relative_to(package), text, ast.parse(text)))
    return modules


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Public, whatever their underscore: named tuples keep their fields' names free.
NAMED_TUPLE = {"_asdict", "_fields", "_field_defaults", "_make", "_replace"}
ACCESSORS = {"delattr", "getattr", "hasattr", "setattr"}


def is_private(name: str) -> bool:
    """Whether a name has one leading underscore."""
    return name.startswith("_") and not name.startswith("__") and name != "_" and name not in NAMED_TUPLE


def code_lines(module: Module) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    passed = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in passed:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in module.nodes:
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node) is not None:
            lines.difference_update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return len(lines)


def signature_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr]:
    """Annotations of a function's arguments and result."""
    given = function.args
    arguments = [*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg]
    found = [argument.annotation for argument in arguments if argument is not None]
    return [annotation for annotation in [*found, function.returns] if annotation is not None]


def names_in(annotation: ast.expr) -> Iterator[str]:
    """Names in an annotation, with those of quoted parts."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                yield from names_in(ast.parse(node.value, mode="eval").body)
            except SyntaxError:  # a value of Literal
                continue


def aliases_of_any(modules: Sequence[Module]) -> set[str]:
    """Names that stand for ``Any``: ``Array = Any``."""
    found = set()
    for module in modules:
        for node in module.tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if isinstance(value, ast.Name) and value.id == "Any":
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def local_imports(module: Module) -> int:
    """Imports of the package's own modules inside functions."""
    found: set[ast.AST] = set()
    for function in module.nodes:
        if isinstance(function, FUNCTIONS):
            for node in ast.walk(function):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or ""]
                if any(name.partition(".")[0] == PACKAGE for name in names):
                    found.add(node)
    return len(found)


def private_definitions(module: Module) -> set[str]:
    """Private names that a module defines: functions, classes, variables, attributes that its classes set."""
    found: set[str] = set()
    for node in module.nodes:
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            found.add(node.attr)
        # object.__setattr__(self, "_name", value) of frozen classes, and __slots__
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__setattr__":
            found |= {str(word.value) for word in node.args if isinstance(word, ast.Constant)}
        elif isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__slots__" for target in node.targets):
            found |= {str(word.value) for word in ast.walk(node.value) if isinstance(word, ast.Constant)}
    return {name for name in found if is_private(name)}


def is_own(node: ast.expr) -> bool:
    """Whether an expression is the object or the class that a method belongs to."""
    if isinstance(node, ast.Name):
        return node.id in ("self", "cls")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id == "super" or (node.func.id == "type" and len(node.args) == 1 and is_own(node.args[0]))
    return isinstance(node, ast.Attribute) and node.attr == "__class__" and is_own(node.value)


@dataclass(frozen=True)
class Imported:
    """A name that an import binds, and where it comes from."""

    line: int
    name: str
    path: str
    room: str


def imported_names(module: Module) -> Iterator[Imported]:
    """Names that a module imports; the room of another package's is that package."""
    for node in module.nodes:
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        # Relative imports, which hide the direction, are ruled out by tests/test_layers.py.
        start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for alias in node.names:
            path = start + alias.name
            package, *parts = path.split(".")
            room = package if package != PACKAGE else parts[0] if parts else "__init__"
            yield Imported(node.lineno, alias.asname or alias.name, path, room)


def attribute_reads(module: Module) -> Iterator[tuple[int, ast.expr, str]]:
    """Attributes of anything but the method's own object or class, also by ``getattr``: line, owner and name."""
    for node in module.nodes:
        if isinstance(node, ast.Attribute):
            owner, name = node.value, node.attr
        elif isinstance(node, ast.Call) and getattr(node.func, "id", None) in ACCESSORS:
            owner, name = node.args[0], str(getattr(node.args[1], "value", ""))
        else:
            continue
        if not is_own(owner):
            yield node.lineno, owner, name


def private_accesses(modules: Sequence[Module]) -> list[PrivateAccess]:
    """Reads of private names that belong to another room.

    They are names that are imported (or parts of an imported module's path), attributes of imported modules, classes
    and functions, and attributes of any other object (also by ``getattr``) where the reading room does not define a
    private name like it. ``self``, ``cls`` and ``super()`` may read what they inherit.
    """
    defined: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        defined[module.room] |= private_definitions(module)
    found = []
    for module in modules:
        foreign = {item.name: item for item in imported_names(module) if item.room != module.room}
        found += [
            PrivateAccess(module.path, item.line, item.path)
            for item in foreign.values()
            if any(map(is_private, item.path.split(".")))
        ]
        for line, owner, name in attribute_reads(module):
            of_another = isinstance(owner, ast.Name) and owner.id in foreign
            if is_private(name) and (of_another or name not in defined[module.room]):
                found.append(PrivateAccess(module.path, line, f"{ast.unparse(owner)}.{name}"))
    return sorted(found, key=lambda access: (access.path, access.line, access.name))


def trace(tree: Path, program: str) -> tuple[int, int, int] | None:
    """Functions, modules and depth of one call, in an interpreter of its own; None where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", program, str(tree)],
            env={**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{tree}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
            return None
        functions, modules, depth = json.loads((Path(folder) / "trace.json").read_text())
        return functions, modules, depth


def figures(tree: Path) -> dict[str, int | str]:
    """All figures of one tree, by what they count."""
    modules = read_modules(tree / "src" / PACKAGE)
    folders = Counter(module.folder for module in modules)
    signatures = [signature_of(node) for module in modules for node in module.nodes if isinstance(node, FUNCTIONS)]
    annotated = [set(names_in(annotation)) for signature in signatures for annotation in signature]
    aliases = aliases_of_any(modules)
    dictionaries = sum(any("dict[str, Any]" in ast.unparse(part) for part in signature) for signature in signatures)
    names = [module.path.name for module in modules if not module.path.name.startswith("__")]
    rooms = Counter(name for name, _ in {(module.path.name, module.room) for module in modules})
    accesses = private_accesses(modules)
    result: dict[str, int | str] = {
        "modules": len(modules),
        "lines": sum(module.lines for module in modules),
        "lines of code": sum(map(code_lines, modules)),
        "folders": len(folders),
        f"folders above {CROWDED} modules": sum(count > CROWDED for count in folders.values()),
    }
    result |= {f"  modules in {folder}": count for folder, count in folders.most_common(SHOWN)}
    result |= {
        "functions": len(signatures),
        "Any in signatures": sum("Any" in names for names in annotated),
        "aliases of Any in signatures": sum(not aliases.isdisjoint(names) for names in annotated),
        "signatures with dict[str, Any]": dictionaries,
        "private accesses across rooms": len(accesses),
    }
    result |= {f"  from {room}": count for room, count in Counter(access.room for access in accesses).most_common()}
    result |= {
        "file names in several rooms": sum(rooms[name] > 1 for name in set(names)),
        "file names in several folders": sum(count > 1 for count in Counter(names).values()),
        "imports of aldsurv inside functions": sum(map(local_imports, modules)),
        "modules above 450 lines": sum(module.lines > 450 for module in modules),
    }
    longest = sorted(modules, key=lambda module: module.lines, reverse=True)[:SHOWN]
    result |= {
        f"  longest module {place}": f"{module.lines} {module.path.as_posix()}"
        for place, module in enumerate(longest, start=1)
    }
    for name, program in TRACES.items():
        counts = trace(tree, program)
        for place, what in enumerate(("functions", "modules", "depth")):
            result[f"{name}: {what}"] = "failed" if counts is None else counts[place]
    return result


def print_table(columns: dict[str, dict[str, int | str]]) -> None:
    """One line per figure, one column per tree; a figure that a tree does not have is a dash."""
    rows: list[str] = []
    for column in columns.values():
        previous = -1
        for key in column:
            if key not in rows:
                rows.insert(previous + 1, key)
            previous = rows.index(key)
    cells = [[str(column.get(row, "-")) for row in rows] for column in columns.values()]
    widths = [max(map(len, [name, *column])) for name, column in zip(columns, cells, strict=True)]
    first = max(map(len, rows))
    for row, *values in [("", *columns), *zip(rows, *cells, strict=True)]:
        print(f"{row:<{first}}", *(f"{value:>{width}}" for value, width in zip(values, widths, strict=True)), sep="  ")


def main(words: Sequence[str]) -> int:
    """Print the figures of the trees named, or of this one."""
    trees = [Path(word) for word in words] or [ROOT]
    for tree in trees:
        if not (tree / "src" / PACKAGE).is_dir():
            print(f"{tree} has no src/{PACKAGE}", file=sys.stderr)
            return 2
    print_table({str(tree) if words else ".": figures(tree.resolve()) for tree in trees})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
