"""A real browser, and pages at which somebody clicks."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from reports.parsed import ParsedPage

CHROMIUM = shutil.which("chromium")


def opened_page(profile: Path, path: Path, fragment: str = "", *options: str) -> tuple[ParsedPage, list[str]]:
    """What the browser made of a page, and what it complained of."""
    done = subprocess.run(
        [
            CHROMIUM or "", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--enable-logging=stderr", "--virtual-time-budget=5000", f"--user-data-dir={profile}",
            *options, "--dump-dom", path.as_uri() + fragment,
        ],
        capture_output=True, text=True, timeout=120, check=True, encoding="utf-8",
    )  # fmt: skip
    return ParsedPage(done.stdout), [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def clicking(page: Path, folder: Path, script: str) -> Path:
    """A page like the given one, at which somebody clicks: its policy would rightly keep that out."""
    html = page.read_text(encoding="utf-8")
    start, end = html.index('<meta http-equiv="Content-Security-Policy"'), html.index('<meta name="generator"')
    changed = folder / "clicked.html"
    told = "<script>" + script + ";document.title = location.hash;</script></body>"
    changed.write_text((html[:start] + html[end:]).replace("</body>", told), encoding="utf-8")
    return changed
