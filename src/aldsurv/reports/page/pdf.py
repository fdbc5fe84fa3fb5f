"""A page as PDF, printed by an installed browser: Chromium, Chrome or Edge."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from aldsurv.errors import MissingDependencyError, ParameterError
from aldsurv.quoting import quoted

__all__ = ["BROWSER_VARIABLE", "find_browser", "printed_page"]

BROWSER_VARIABLE = "ALDSURV_BROWSER"
_NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
# Places that are not on the path of macOS and Windows.
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
# The page runs only its own script, by its content policy; containers have no room for a sandbox.
_FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-pdf-header-footer")
_SECONDS = 300


def find_browser() -> str:
    """The browser that prints; call it before long work, so that a missing one is reported at once.

    It is the program that ``ALDSURV_BROWSER`` names, or the first of Chromium, Chrome and Edge that is installed.
    """
    given = os.environ.get(BROWSER_VARIABLE, "").strip()
    if given:
        program = shutil.which(given)
        if program is None:
            raise ParameterError(
                f"{BROWSER_VARIABLE} names {quoted(given)}, which is not a program. Name a Chromium, Chrome or Edge."
            )
        return program
    found = next(filter(None, (shutil.which(name) for name in (*_NAMES, *_PLACES))), None)
    if found is None:
        raise MissingDependencyError(
            "a PDF needs Chromium, Chrome or Edge, and none of them is found",
            advice=f"Install one, name it by {BROWSER_VARIABLE}, or print the page from any browser.",
        )
    return found


def printed_page(html: str, browser: str | None = None) -> bytes:
    """The page as PDF.

    Parameters
    ----------
    html
        What `render_page` gives; it needs no network.
    browser
        The program; None: the one that `find_browser` finds.
    """
    program = find_browser() if browser is None else browser
    with TemporaryDirectory(prefix="aldsurv-", ignore_cleanup_errors=True) as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        flags = (*_FLAGS, f"user-data-dir={Path(folder) / 'profile'}", f"print-to-pdf={printed}")
        command = [program, *(f"--{flag}" for flag in flags), page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = f"it took over {_SECONDS} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
            raise _failed(program, reason) from None
        content = printed.read_bytes() if printed.exists() else b""
        if done.returncode or not content.startswith(b"%PDF"):
            lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
            raise _failed(program, lines[-1][:200])
        return content


def _failed(program: str, reason: str) -> ParameterError:
    return ParameterError(
        f"{quoted(program)} could not print the page as PDF ({' '.join(reason.split())}). Name another browser by "
        f"{BROWSER_VARIABLE}, or print the page from any browser."
    )
