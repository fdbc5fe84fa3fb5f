"""Run the commands of docs/tutorial.md and store what they print: ``python -m bench.pages.tutorial_run``.

They run in a temporary folder, in the order of the page; the output goes to docs/results/tutorial.json.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile

from bench.pages.listing import ROOT
from bench.pages.results import store_section, today
from bench.pages.tutorial import FILE, SECTION

__all__ = ["commands", "outputs", "script"]

_PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script() -> str:
    """The Python code that makes the tables."""
    (code,) = (code for language, code in _blocks() if language == "python" and ">>>" not in code)
    return code


def commands() -> list[str]:
    """Lines that begin with ``aldsurv``, in the order of the page."""
    lines = "".join(code for language, code in _blocks() if not language).splitlines()
    return [line for line in lines if line.startswith("aldsurv ")]


def outputs(folder: str) -> dict[str, list[str]]:
    """What each command prints on standard output, line by line."""
    subprocess.run([sys.executable, "-c", script()], check=True, cwd=folder)
    printed = {}
    for command in commands():
        words = [sys.executable, "-m", "aldsurv", *shlex.split(command)[1:]]
        done = subprocess.run(words, check=True, cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        printed[command] = done.stdout.splitlines()
    return printed


def _blocks() -> list[tuple[str, str]]:
    """Language and content of each fenced block."""
    return [(match[1], match[2]) for match in _BLOCK.finditer(_PAGE.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        texts = outputs(place)
    origin = today("python -m bench.pages.tutorial_run", ["ald/default", "cox/default"])
    store_section(FILE, SECTION, texts, origin)
