"""Pages whose code is run when the site is built: what is checked without running it, and that a failure is seen."""

from __future__ import annotations

import json
import re
import subprocess
import warnings
from pathlib import Path

import pytest

from docs_hooks import executed as docs_executed
from docs_hooks.executed import executed_pages, missing_files, python_blocks, references, run_blocks, with_outputs

ROOT = Path(__file__).parents[2]
PAGES = executed_pages(ROOT / "docs")
# What fits beside the navigation without scrolling, and a little more.
WIDEST = 84
PAGE = """# Title

The question.

```python
from pathlib import Path

print(1 + 1)
_ = Path("curve.svg").write_text("<svg/>")
```

![a curve](curve.svg)

```python
x = 1
```
"""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_a_page_can_be_run(page):
    markdown = page.read_text(encoding="utf-8")
    blocks = python_blocks(markdown)
    code = "\n".join(block.code for block in blocks)
    for block in blocks:
        compile(block.code, str(page), "exec")
        wide = [line for line in block.code.splitlines() if len(line) > WIDEST]
        assert not wide, f"{page.name}: lines of code wider than {WIDEST}: {wide}"
    for reference in references(markdown):
        assert f'"{reference.name}"' in code, f"{page.name} shows {reference.name}, which its code does not name"
        assert not reference.is_picture or len(reference.text.split()) > 3
    if page.stem != "index":
        assert markdown.startswith("# ")
        assert any(reference.is_picture for reference in references(markdown)) or page.parent.name == "coming_from"


def test_every_page_is_in_the_navigation_and_every_question_in_the_overview():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.relative_to(ROOT / "docs").as_posix() in navigation
    overview = (ROOT / "docs" / "gallery" / "index.md").read_text(encoding="utf-8")
    named = {name for found in re.findall(r"<!-- cards: (.*) -->", overview) for name in re.split(r",\s*", found)}
    assert named == {page.stem for page in PAGES if page.parent.name == "gallery"} - {"index"}


def test_outputs_follow_their_blocks_and_files_have_places(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outputs = tuple(run_blocks(PAGE, "page.md"))
    assert outputs == ("2\n", "")
    assert missing_files(PAGE, tmp_path) == []
    text = with_outputs(PAGE, "page", outputs)
    assert "```\n\n``` { .text .output }\n2\n```" in text
    assert "![a curve](page/curve.svg)" in text
    assert text.count(".output") == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("print(1 + 1)", "1 / 0"), "ZeroDivisionError"),
        (("print(1 + 1)", "import warnings; warnings.warn('careful')"), "UserWarning: careful"),
        (('"curve.svg"', '"other.svg"'), "curve.svg was not written"),
        (("[a curve]", "[]"), "curve.svg has no text"),
    ],
)
def test_a_page_that_fails_ends_the_build(change, message, tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace(*change), encoding="utf-8")
    # Where the page was run before, main goes to its folder.
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        assert docs_executed.main(page, tmp_path / "run") == 1
    printed = capsys.readouterr().err
    assert message in printed
    assert "page.md" in printed
    assert not (tmp_path / "run" / docs_executed.RESULT).exists()


def test_a_page_is_run_in_a_process_once(tmp_path, monkeypatch):
    page = tmp_path / "pages" / "page.md"
    page.parent.mkdir()
    page.write_text(PAGE, encoding="utf-8")
    monkeypatch.setattr(docs_executed, "CACHE", tmp_path / "cache")
    first = docs_executed.executed(page)
    assert first.outputs == ("2\n", "")
    assert first.files == {"curve.svg": b"<svg/>"}
    monkeypatch.setattr(subprocess, "run", None)
    assert docs_executed.executed(page) == first
    assert len(json.loads(next((tmp_path / "cache").rglob("result.json")).read_text())["outputs"]) == 2
