"""Pages printed through a browser, and what is said where there is none."""

from __future__ import annotations

import re
import stat
import sys
import zlib

import pytest

from aldsurv.errors import MissingDependencyError, ParameterError
from aldsurv.reports.page import pdf
from aldsurv.reports.page.page import Page, Section, Text, render_page
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable
from reports.browser import CHROMIUM

LONG = PageTable(
    "long", "A long table", (PageColumn("n", "Number", filtered=True),), tuple((PageCell(str(k)),) for k in range(300))
)
PAGE = render_page(Page("A title", "About it", (Section("a", "First", (Text("Some words."), LONG)),)))
unix = pytest.mark.skipif(sys.platform == "win32", reason="scripts of a shell")


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_printed_page_has_text_on_several_sheets():
    content = pdf.printed_page(PAGE)
    assert content.startswith(b"%PDF")
    assert b"/Font" in content
    shown = [inflated(content[match.end() :]) for match in re.finditer(rb"stream\r?\n", content)]
    # Text is between BT and ET.
    assert sum(b"BT" in part and b"ET" in part for part in shown) > 1
    # 300 lines are not cut off where the screen would scroll.
    assert len(re.findall(rb"/Type /Page\b", content)) > 2


def inflated(part):
    """A compressed stream; empty for other things."""
    try:
        return zlib.decompressobj().decompress(part)
    except zlib.error:
        return b""


def script(folder, text):
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_without_a_browser_the_message_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.delenv(pdf.BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pdf, "_PLACES", ())
    with pytest.raises(MissingDependencyError, match=r"needs Chromium, Chrome or Edge.*ALDSURV_BROWSER"):
        pdf.find_browser()
    monkeypatch.setenv(pdf.BROWSER_VARIABLE, "nowhere/chromium")
    with pytest.raises(ParameterError, match=r"ALDSURV_BROWSER names 'nowhere/chromium', which is not a program"):
        pdf.find_browser()


@unix
def test_a_named_browser_comes_first(monkeypatch, tmp_path):
    named = script(tmp_path, "exit 0")
    monkeypatch.setenv(pdf.BROWSER_VARIABLE, str(named))
    assert pdf.find_browser() == str(named)


@unix
@pytest.mark.parametrize("text", ["echo no display >&2; exit 3", "exit 0", "echo nothing > page.pdf"])
def test_a_browser_that_fails_is_named_in_one_line(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match="could not print the page as PDF") as caught:
        pdf.printed_page(PAGE, str(script(tmp_path, text)))
    assert "\n" not in str(caught.value)
    assert ("no display" in str(caught.value)) == ("display" in text)
