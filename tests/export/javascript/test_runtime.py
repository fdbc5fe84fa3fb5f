"""The JavaScript files themselves: every model has a reader, and a page can join them into one script."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache

import pytest

from aldsurv.registry import MODELS
from export.javascript.node import NODE, RUNTIME, needs_node, run_script

FILES = sorted(RUNTIME.rglob("*.js"))
TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class|const|let)\s+([A-Za-z_$][\w$]*)", re.MULTILINE)
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]*)";$', re.MULTILINE)


def test_there_is_a_runtime():
    assert RUNTIME / "model.js" in FILES


@cache
def known_models() -> dict[str, str]:
    names = run_script("known_models.mjs", {})
    return dict(names)


@needs_node
@pytest.mark.parametrize("name", [*MODELS, "updated"])
def test_every_model_has_a_reader(name):
    assert name in known_models(), (
        f"JavaScript cannot read the model {name!r}: write its reader in export/javascript/models and add a line to "
        "export/javascript/readers.js."
    )


@needs_node
def test_titles_are_those_of_the_registry():
    titles = {record.name: record.title for record in MODELS.records()}
    assert {name: title for name, title in known_models().items() if name in titles} == titles


def test_top_level_names_are_unique_over_all_files():
    owner: dict[str, str] = {}
    for path in FILES:
        for name in TOP_LEVEL.findall(path.read_text(encoding="utf-8")):
            assert name not in owner, f"{name} is in {path.name} and in {owner[name]}"
            owner[name] = path.name


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(RUNTIME).as_posix()))
def test_a_file_has_only_named_imports_and_exports(path):
    text = path.read_text(encoding="utf-8")
    for _, source in IMPORT.findall(text):
        assert (path.parent / source).resolve() in FILES, source
    others = IMPORT.sub("", text)
    assert not re.search(r"^\s*import\b", others, re.MULTILINE)
    exports = re.findall(r"^export\b.*$", others, re.MULTILINE)
    assert all(re.match(r"export (function|class|const) ", line) for line in exports), exports
    imported = {name.strip() for names, _ in IMPORT.findall(text) for name in names.split(",") if name.strip()}
    assert not {name for name in imported if " as " in name}
    unused = {name for name in imported if not re.search(rf"\b{re.escape(name)}\b", others)}
    assert not unused


def joined_script() -> str:
    """All files in one script, each after those that it imports, without imports and exports."""
    ordered: list[str] = []
    seen: set[str] = set()

    def add(path):
        if str(path) in seen:
            return
        seen.add(str(path))
        text = path.read_text(encoding="utf-8")
        for _, source in IMPORT.findall(text):
            add((path.parent / source).resolve())
        ordered.append(re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.MULTILINE))

    add(RUNTIME / "model.js")
    return "\n".join(ordered)


def test_files_do_not_import_in_circles():
    open_files: list[str] = []
    done: set[str] = set()

    def visit(path):
        assert str(path) not in open_files, [*open_files, str(path)]
        if str(path) in done:
            return
        open_files.append(str(path))
        for _, source in IMPORT.findall(path.read_text(encoding="utf-8")):
            visit((path.parent / source).resolve())
        open_files.pop()
        done.add(str(path))

    visit(RUNTIME / "model.js")
    assert done == {str(path.resolve()) for path in FILES}, "files that model.js does not reach"


@needs_node
def test_the_joined_script_runs_without_modules():
    script = f'(() => {{ "use strict";\n{joined_script()}\nconsole.log(JSON.stringify(modelNames())); }})();'
    done = subprocess.run(
        [NODE, "--input-type=commonjs", "-"], input=script, capture_output=True, text=True, timeout=60, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert set(json.loads(done.stdout)) >= set(MODELS)
