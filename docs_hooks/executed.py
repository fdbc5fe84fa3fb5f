"""A hook of mkdocs: the Python code of some pages is run when the site is built.

What a block prints is shown below it. A picture of a page, ``![what it shows](curves.svg)``, is the file of that name
that the code of the page has written; so are files that a page links to. An error in the code, a warning, or a picture
that was not written ends the build. Each page runs in a process and an empty folder of its own:

    python docs_hooks/executed.py docs/gallery/when.md folder

runs one page and leaves its files in the folder. Extensions of mkdocs that run code do so in
the process of the build, one page after the other, and know nothing of files that the code writes.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import linecache
import os
import re
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("gallery", "coming_from", "explanations")
# What pages printed and drew, by the text of the page and of everything that it may have used.
CACHE = ROOT / ".docs_cache"
RESULT = "result.json"
# By the clock, for code that hangs: a busy machine takes many times as long as an idle one.
SECONDS_ALLOWED = 900

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([\w-]+\.(?:svg|png|html|csv))\)")
_CARDS = re.compile(r"^<!-- cards: ([\w, ]+) -->$", re.MULTILINE)


class PageError(Exception):
    """The code of a page failed, or did not write what the page shows."""


@dataclass(frozen=True)
class Block:
    """Python code of a page: its text, the line of the page on which it begins, and where the block ends."""

    code: str
    line: int
    end: int


@dataclass(frozen=True)
class Reference:
    """A picture or a link to a file that the code of the page writes."""

    name: str
    text: str
    is_picture: bool


@dataclass(frozen=True)
class Executed:
    """What the blocks of a page printed, the files that it shows, and the processor time."""

    outputs: tuple[str, ...]
    files: Mapping[str, bytes]
    seconds: float


def executed_pages(docs: Path = DOCS) -> list[Path]:
    """The pages whose code is run."""
    return sorted(page for folder in FOLDERS for page in (docs / folder).glob("*.md"))


def python_blocks(markdown: str) -> list[Block]:
    """The blocks of Python code of a page."""
    return [
        Block(found[1], markdown.count("\n", 0, found.start()) + 2, found.end()) for found in _BLOCK.finditer(markdown)
    ]


def references(markdown: str) -> list[Reference]:
    """Pictures and linked files in the page's own folder."""
    return [Reference(name, text, bool(mark)) for mark, text, name in _FILE.findall(_BLOCK.sub("", markdown))]


def run_blocks(markdown: str, name: str, namespace: dict[str, Any] | None = None) -> Iterator[str]:
    """Run the blocks of a page one after the other, in the folder where we are; of each, what it printed."""
    names: dict[str, Any] = {"__name__": "__main__"} if namespace is None else namespace
    for block in python_blocks(markdown):
        # Lines of a traceback are those of the page.
        code = "\n" * (block.line - 1) + block.code
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, name, "exec"), names)  # noqa: S102
        yield printed.getvalue()


def missing_files(markdown: str, folder: Path) -> list[str]:
    """What is wrong with the pictures and files of a page whose code has run in a folder."""
    wrong = []
    for reference in references(markdown):
        path = folder / reference.name
        if not path.is_file() or path.stat().st_size == 0:
            wrong.append(f"{reference.name} was not written by the code of the page")
        if reference.is_picture and not reference.text.strip():
            wrong.append(f"{reference.name} has no text that says what it shows")
    return wrong


def main(page: Path, folder: Path) -> int:
    """Run one page in a folder: the files that it writes, and ``result.json`` with what it printed."""
    markdown, name = page.read_text(encoding="utf-8"), page.as_posix()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    import matplotlib as mpl

    # Names inside an SVG file are then the same in every build.
    mpl.rcParams.update({"svg.hashsalt": "aldsurv", "figure.dpi": 100})
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning, module="lifelines")
    started = time.process_time()
    try:
        outputs = list(run_blocks(markdown, name))
    except Exception:
        print(f"{name}: its code failed\n{traceback.format_exc(limit=-4)}", file=sys.stderr)
        return 1
    wrong = missing_files(markdown, Path())
    if wrong:
        print(f"{name}: {'; '.join(wrong)}", file=sys.stderr)
        return 1
    seconds = time.process_time() - started
    Path(RESULT).write_text(json.dumps({"outputs": outputs, "seconds": seconds}), encoding="utf-8")
    return 0


def executed(page: Path) -> Executed:
    """The page run in a process of its own, or what it gave when it was last run with the same library."""
    markdown = page.read_text(encoding="utf-8")
    folder = CACHE / f"{page.parent.name}_{page.stem}_{_digest(markdown)[:16]}"
    if not (folder / RESULT).is_file():
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path if entry),
            "PYTHONHASHSEED": "0",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "Agg",
        }
        command = [sys.executable, __file__, str(page), str(folder)]
        try:
            ended = subprocess.run(  # noqa: S603
                command, env=environment, capture_output=True, text=True, timeout=SECONDS_ALLOWED, check=False
            )
        except subprocess.TimeoutExpired:
            raise PageError(f"{page}: its code takes over {SECONDS_ALLOWED} s") from None
        if ended.returncode:
            raise PageError(ended.stderr.strip())
    result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    names = {reference.name for reference in references(markdown)}
    return Executed(tuple(result["outputs"]), {name: (folder / name).read_bytes() for name in names}, result["seconds"])


def _digest(markdown: str) -> str:
    """Of the page, this file, the library and the versions of others: with the same digest a page is not run again."""
    sources = [Path(__file__), ROOT / "constraints.txt", *sorted((ROOT / "src").rglob("*.py"))]
    digest = hashlib.sha256(f"{sys.version}{markdown}".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def with_outputs(markdown: str, stem: str, outputs: tuple[str, ...]) -> str:
    """The page with what each block printed below it, and its files where the site has them."""
    parts, start = [], 0
    for block, output in zip(python_blocks(markdown), outputs, strict=True):
        parts.append(_with_places(markdown[start : block.end], stem))
        if output.strip():
            parts.append(f"\n\n``` {{ .text .output }}\n{output.rstrip()}\n```")
        start = block.end
    return "".join([*parts, _with_places(markdown[start:], stem)])


def _with_places(markdown: str, stem: str) -> str:
    return _FILE.sub(lambda found: f"{found[1]}[{found[2]}]({stem}/{found[3]})", markdown)


def cards(page: Path) -> str:
    """For an overview: per page that it names, its first picture, its title and its first paragraph."""

    def grid(found: re.Match[str]) -> str:
        items = [_card(page.with_name(f"{stem.strip()}.md")) for stem in found[1].split(",")]
        return "\n".join(['<div class="gallery" markdown>', "", *items, "", "</div>"])

    return _CARDS.sub(grid, page.read_text(encoding="utf-8"))


def _card(page: Path) -> str:
    markdown = page.read_text(encoding="utf-8")
    title, question = (paragraph.strip().replace("\n", " ") for paragraph in markdown.split("\n\n")[:2])
    picture = next((reference for reference in references(markdown) if reference.is_picture), None)
    image = f"![{picture.text}]({page.stem}/{picture.name})" if picture else ""
    return f"- [{image} **{title.removeprefix('# ')}**]({page.name})\n\n    {question}\n"


_results: dict[str, Executed] = {}


def on_files(files: Any, config: Any) -> Any:
    """Run the pages, two at a time, and add the files that they show to the site."""
    from mkdocs.exceptions import PluginError
    from mkdocs.structure.files import File

    pages = executed_pages(Path(config.docs_dir))
    try:
        with ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(executed, pages))
    except PageError as error:
        raise PluginError(str(error)) from None
    _results.clear()
    for page, result in zip(pages, results, strict=True):
        uri = page.relative_to(config.docs_dir).as_posix()
        _results[uri] = result
        for name, content in result.files.items():
            files.append(File.generated(config, f"{uri.removesuffix('.md')}/{name}", content=content))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put outputs, pictures and cards into a page."""
    result = _results.get(page.file.src_uri)
    if result is None:
        return markdown
    if _CARDS.search(markdown):
        return cards(Path(page.file.abs_src_path))
    return with_outputs(markdown, Path(page.file.src_uri).stem, result.outputs)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2])))
