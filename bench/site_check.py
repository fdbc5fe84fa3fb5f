"""Walks all pages of the built site in headless Chromium: ``python -m bench.site_check [FOLDER]``.

The exit code is 1 if anything is wrong. Links and anchors are read from the files. In the browser, 390 pixels wide and
from the folder as it is: messages of the console, figures that are not drawn, pages that scroll sideways, headings
that skip a level, pictures without alternative text, and text whose contrast with its ground is below that of the
guidelines (WCAG AA), on light and on dark pages.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

__all__ = ["browser_faults", "link_faults"]

WIDTH = 390
_AT_ONCE, _PER_BROWSER, _SECONDS = 2, 30, 300
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--allow-file-access-from-files",
    "--enable-logging=stderr", "--virtual-time-budget=600000", "--dump-dom",
)  # fmt: skip
# Pages without the theme: the source of modules, with lines as long as they are.
_PLAIN = "source/"
_WALK = """<!doctype html><meta charset="utf-8"><title>walk</title><pre id="found">unfinished</pre>
<iframe id="frame" style="width: WIDTHpx; height: 800px; border: 0"></iframe>
<script>
const pages = PAGES, found = [], frame = document.getElementById("frame");
const luminance = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
  .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (colour) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = (top, below) => top.slice(0, 3).map((v, k) => v * top[3] + below[k] * (1 - top[3])).concat(1);
function contrast(view, element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    layers.push(rgba(view.getComputedStyle(at).backgroundColor));
    if (layers.at(-1)[3] === 1) break;
  }
  const ground = layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  const style = view.getComputedStyle(element), ink = over(rgba(style.color), ground);
  const [low, high] = [luminance(ink), luminance(ground)].sort((a, b) => a - b);
  const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
  return [(high + 0.05) / (low + 0.05), large ? 3 : 4.5];
}
function look(page) {
  const view = frame.contentWindow, root = view.document, faults = [];
  // Colours that change little by little would be read in between.
  const still = new view.CSSStyleSheet();
  still.replaceSync("*, *::before, *::after { transition: none !important; }");
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, still];
  const wide = root.documentElement.scrollWidth;
  if (wide > WIDTH) faults.push(`scrolls sideways: ${wide} pixels`);
  let level = 0;
  for (const heading of root.querySelectorAll("article :is(h1, h2, h3, h4, h5, h6)")) {
    const next = Number(heading.tagName[1]);
    if (next > level + 1) faults.push(`heading skips a level: ${heading.textContent.trim().slice(0, 60)}`);
    level = next;
  }
  for (const image of root.querySelectorAll("article img")) {
    const shown = view.getComputedStyle(image).display !== "none";
    if (shown && !(image.complete && image.naturalWidth)) faults.push(`not drawn: ${image.getAttribute("src")}`);
    if (!image.alt.trim()) faults.push(`no alternative text: ${image.getAttribute("src")}`);
  }
  for (const scheme of ["default", "slate"]) {
    root.body.setAttribute("data-md-color-scheme", scheme);
    const seen = new Set();
    for (const element of root.querySelectorAll("article *, .md-tabs a, .md-footer *")) {
      const says = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!says || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      if (element.matches(".headerlink, .md-clipboard *")) continue;
      const kind = `${element.tagName} ${element.className} ${element.parentElement.className}`;
      if (seen.has(kind)) continue;
      seen.add(kind);
      const [ratio, least] = contrast(view, element);
      if (ratio < least) faults.push(`contrast ${ratio.toFixed(2)} (${scheme}): <${element.tagName.toLowerCase()}` +
        ` class="${element.className}"> ${element.textContent.trim().slice(0, 30)}`);
    }
  }
  return faults;
}
(async () => {
  for (const page of pages) {
    await new Promise((done) => { frame.onload = done; frame.src = page; });
    await new Promise((done) => setTimeout(done, 300));
    try {
      for (const fault of look(page)) found.push([page, fault]);
    } catch (error) {
      found.push([page, String(error)]);
    }
  }
  document.getElementById("found").textContent = JSON.stringify(found);
})();
</script>"""


class _Links(HTMLParser):
    """Addresses that a page names, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := values.get(key)))
        for key in ("href", "src"):
            # Only what a reader is sent to or shown: an address of another host is not fetched.
            if (value := values.get(key)) is not None and tag in ("a", "img", "script", "link", "iframe", "source"):
                self.addresses.append(value)


def link_faults(site: Path) -> list[str]:
    """Links of pages to files and anchors that are not there, and to scripts or pictures of other hosts."""
    pages = {path: _Links() for path in sorted(site.rglob("*.html"))}
    for path, links in pages.items():
        links.feed(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(site).as_posix()}: {fault}"
        for path, links in pages.items()
        for address in dict.fromkeys(links.addresses)
        if path.name != "404.html" and (fault := _link_fault(path, address, pages))
    ]


def _link_fault(path: Path, address: str, pages: dict[Path, _Links]) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return ""
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"dead link {address}"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors and not anchor.startswith("__"):
        return f"dead anchor {address}"
    return ""


def browser_faults(site: Path, chromium: str) -> list[str]:
    """What the browser finds wrong."""
    pages = [path for path in sorted(site.rglob("*.html")) if not path.relative_to(site).as_posix().startswith(_PLAIN)]
    pages = [path for path in pages if path.name != "404.html"]
    parts = [pages[first : first + _PER_BROWSER] for first in range(0, len(pages), _PER_BROWSER)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [
            fault for faults in pool.map(lambda part: list(_walked(site, chromium, part)), parts) for fault in faults
        ]


def _walked(site: Path, chromium: str, pages: Sequence[Path]) -> Iterator[str]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        walk = Path(folder, "walk.html")
        addresses = json.dumps([page.as_uri() for page in pages])
        walk.write_text(_WALK.replace("PAGES", addresses).replace("WIDTH", str(WIDTH)), encoding="utf-8")
        done = subprocess.run(
            [chromium, *_FLAGS, f"--user-data-dir={folder}/profile", walk.as_uri()],
            capture_output=True, text=True, timeout=_SECONDS, check=True, encoding="utf-8",
        )  # fmt: skip
    yield from (f"console: {line.partition('CONSOLE')[2]}" for line in done.stderr.splitlines() if "CONSOLE" in line)
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    found: list[Any] = (
        json.loads(html.unescape(match[1])) if match and match[1] != "unfinished" else [["", "unfinished"]]
    )
    for address, fault in found:
        yield f"{address.removeprefix(site.as_uri()).lstrip('/')}: {fault}"


def main(arguments: Sequence[str]) -> int:
    """Check a site; without Chromium only its links."""
    site = Path(arguments[0] if arguments else "site").resolve()
    if not (site / "index.html").is_file():
        print(f"{site} has no index.html: run make docs first.", file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    faults = link_faults(site)
    if chromium is None:
        print("Chromium is not installed: only links were checked.")
    else:
        faults += browser_faults(site, chromium)
    for fault in faults:
        print(fault)
    print(f"{len(list(site.rglob('*.html')))} pages, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
