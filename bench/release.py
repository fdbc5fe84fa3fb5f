"""Builds what is published and tries it: ``python -m bench.release [--draft]``, which ``make release`` runs.

The version is that of ``aldsurv.__version__``. CHANGELOG.md and CITATION.cff must have it, and no entries may be left
under Unreleased (``--draft`` only names them). The sdist and the wheel are built twice from the tracked files and must
be the same to the last byte. ``twine check`` reads them; the sdist must hold every tracked file, and so all that its
tests read; each is installed into an empty environment, where a saved model predicts without torch.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

__all__ = ["changelog_faults", "missing_files"]

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
# Only a checkout has these.
_NOT_SHIPPED = (".gitignore", ".gitattributes", ".ci/")
_TRIAL = """
import sys, numpy as np, aldsurv
model = aldsurv.load(sys.argv[1])
x = {name: np.array([None, None]) for name in model.feature_names_in_}
survival = model.predict_distribution(x).survival([1.0, 2.0])
assert survival.shape == (2, 2) and np.all((0 <= survival) & (survival <= 1))
assert "torch" not in sys.modules
print(aldsurv.__version__, "predicts without torch")
"""


def version() -> str:
    """The version, from the one place that has it."""
    text = (ROOT / "src" / "aldsurv" / "__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    assert match is not None
    return match[1]


def changelog_faults(changelog: str, citation: str, number: str) -> list[str]:
    """What keeps a version from being published, by the list of changes and the citation."""
    sections = dict(re.findall(r"^## (\S+)[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL))
    faults = []
    if not sections.get(number, "").strip():
        faults.append(f"CHANGELOG.md has no entries under '## {number}'")
    if sections.get("Unreleased", "").strip():
        faults.append(f"CHANGELOG.md has entries under Unreleased: move them below a new version, and raise {number}")
    if f"version: {number}\n" not in citation:
        faults.append(f"CITATION.cff has another version than {number}")
    return faults


def missing_files(tracked: list[str], shipped: set[str]) -> list[str]:
    """Tracked files that an sdist does not hold."""
    return [name for name in tracked if name not in shipped and not name.startswith(_NOT_SHIPPED)]


def main(arguments: list[str]) -> int:
    """Check, build, compare and try."""
    parser = argparse.ArgumentParser("python -m bench.release", description="Build the distributions and try them.")
    parser.add_argument("--draft", action="store_true", help="only name what the list of changes lacks")
    draft = parser.parse_args(arguments).draft
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("CHANGELOG.md", "CITATION.cff")]
    faults = changelog_faults(*texts, version())
    for fault in faults:
        print(f"{'note' if draft else 'error'}: {fault}.", file=sys.stderr)
    if faults and not draft:
        return 1
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return _built(Path(folder))


def _built(folder: Path) -> int:
    tools = _environment(folder / "tools", "build", "twine")
    trees = [_exported(folder / name) for name in ("first", "second")]
    # The time of the commit, in every file of both.
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or _git("log", "-1", "--format=%ct").strip()
    builds = []
    for tree in trees:
        command = [tools, "-m", "build", "--outdir", tree / "dist", tree]
        subprocess.run(command, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": seconds}, stdout=subprocess.DEVNULL)
        builds.append({path.name: path for path in sorted((tree / "dist").iterdir())})
    digests = [
        {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in built.items()} for built in builds
    ]
    if digests[0] != digests[1]:
        print("error: two builds of the same files differ.", file=sys.stderr)
        return 1
    files = list(builds[0].values())
    subprocess.run([tools, "-m", "twine", "check", "--strict", *files], check=True)
    (sdist,) = (path for path in files if path.suffixes[-2:] == [".tar", ".gz"])
    with tarfile.open(sdist) as archive:
        shipped = {name.partition("/")[2] for name in archive.getnames()}
    if missing := missing_files(_git("ls-files").splitlines(), shipped):
        print(f"error: the sdist does not hold {', '.join(missing)}.", file=sys.stderr)
        return 1
    model = ROOT / "tests" / "models" / "frozen" / "ald_components-1_log.aldsurv"
    for number, path in enumerate(files):
        python = _environment(folder / f"empty{number}", str(path))
        subprocess.run([python, "-I", "-c", _TRIAL, model], check=True, cwd=folder)
        subprocess.run(
            [python, "-I", "-m", "aldsurv", "info", model], check=True, cwd=folder, stdout=subprocess.DEVNULL
        )
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    for path in files:
        shutil.copy2(path, DIST)
        print(f"{digests[0][path.name]}  dist/{path.name}")
    return 0


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _exported(folder: Path) -> Path:
    """The tracked files as they are, without those that builds and tests left behind."""
    for name in _git("ls-files").splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    return folder


def _environment(folder: Path, *packages: str) -> Path:
    """The interpreter of an empty environment in which some packages are installed."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, "--constraint", ROOT / "constraints.txt", *packages], check=True)
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
