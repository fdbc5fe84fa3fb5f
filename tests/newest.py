"""Run the tests with the newest release of every package, and on other interpreters without torch.

``python tests/newest.py`` sets up an environment for each interpreter under ``.venv-newest``, prints the versions and
runs the tests there: on this interpreter with torch as pinned, on others without. One that is not installed is left out
with a line that says so. ``--python 3.12`` takes one of them; paths of tests replace the whole suite.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-newest"
THIS = f"{sys.version_info[0]}.{sys.version_info[1]}"
OTHERS = ("3.12", "3.13")
SHOWN = ("numpy", "scipy", "pandas", "scikit-learn", "matplotlib", "pyarrow", "polars", "torch", "lifelines")
_VERSION = "import sys; print('%d.%d' % sys.version_info[:2])"
_VERSIONS = """
import importlib.metadata as metadata, sys
for name in sys.argv[1:]:
    try:
        print(f"   {name} {metadata.version(name)}")
    except metadata.PackageNotFoundError:
        print(f"   {name}: not installed")
"""


def interpreter(version: str) -> Path | None:
    """An interpreter of a version like ``3.12``: this one, on the path, or of pyenv."""
    if version == THIS:
        return Path(sys.executable)
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    # pyenv puts a command for every version on the path, which fails for those that are not chosen.
    places = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for place in filter(None, places):
        done = subprocess.run([str(place), "-c", _VERSION], capture_output=True, text=True, check=False)
        if done.stdout.strip() == version:
            return Path(place)
    return None


def pinned(name: str, constraints: str) -> str:
    """The line of a file of constraints that holds a package where it is."""
    return next(line for line in constraints.splitlines() if line.startswith(f"{name}=="))


def set_up(version: str, source: Path) -> Path:
    """An interpreter of a version with the newest of everything."""
    folder = FOLDER / version
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    ready, project = folder / ".ready", ROOT / "pyproject.toml"
    if ready.exists() and ready.stat().st_mtime > project.stat().st_mtime:
        return python
    subprocess.run([str(source), "-m", "venv", "--clear", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade"]
    if version == THIS:
        torch = pinned("torch", (ROOT / "constraints.txt").read_text(encoding="utf-8"))
        subprocess.run([*install, torch, "--editable", f"{ROOT}[test]"], check=True)
    else:
        subprocess.run([*install, "--editable", f"{ROOT}[test-without-torch]"], check=True)
    # lifelines holds it below 3, and works with later ones.
    subprocess.run([*install, "--no-deps", "pandas"], check=True)
    ready.touch()
    return python


def main(words: Sequence[str] | None = None) -> int:
    """Run the tests in each environment; 1 if any fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    versions = [THIS, *(version for version in OTHERS if version != THIS)]
    parser.add_argument("--python", choices=versions, action="append")
    parser.add_argument("paths", nargs="*", help="tests to run in place of all")
    chosen = parser.parse_args(words)
    lines = []
    code = 0
    for version in chosen.python or versions:
        source = interpreter(version)
        if source is None:
            lines.append(
                f"Python {version}: left out, there is no python{version} on the path or among pyenv's versions"
            )
            continue
        print(f"\n== Python {version}, the newest packages" + ("" if version == THIS else ", no torch"), flush=True)
        python = set_up(version, source)
        subprocess.run([str(python), "-c", _VERSIONS, *SHOWN], check=True)
        start = time.monotonic()
        command = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "worksteal", "--tb=short", *chosen.paths]
        # A cache of bytecode and of what failed belongs to one interpreter.
        command += ["-o", f"cache_dir={FOLDER / version / 'cache'}"]
        failed = subprocess.run(command, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False).returncode
        minutes = (time.monotonic() - start) / 60
        lines.append(f"Python {version}: {'failed' if failed else 'passed'}, {minutes:.1f} minutes")
        code = code or int(failed != 0)
    print("", *lines, sep="\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
