from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.export.card.markdown_page import markdown_page, markdown_table
from aldsurv.export.card.markdown_text import code_block, markdown_cell, markdown_text
from aldsurv.reports.page.page import Page, Quotation, Section, Text
from aldsurv.reports.page.page_tables import PageCell, PageColumn, PageTable

from .parsed_markdown import KNOWN_TAGS, ParsedMarkdown

NASTY = [
    "<script>alert(1)</script>", "a|b", "**bold**", "_under_", "__init__", "max_epochs", "`code`", "``", "[a](http://x)",
    "![p](q)", "# heading", "- item", "+ item", "1. one", "1) one", "12.5 months", "a\\|b", "\\", "&lt;", "&amp;",
    "$x$", "~~gone~~", "===", "---", "-", "* * *", "<!-- c -->", "a  b", "&#35;", "{: .x }", "[^1]", "*", "**", "|",
    "||", "| a |", "\\*", "__a__b", "_", "a_", "> quote", "<b>|</b>", "1.", "é – ü",
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY)
def test_text_stays_text_in_paragraphs_items_and_cells(text):
    shown = " ".join(text.split())
    paragraph = ParsedMarkdown(markdown_text(text))
    assert paragraph.paragraphs == [shown]
    assert paragraph.tags == {"p"}
    item = ParsedMarkdown(f"- **{markdown_text('Name:')}** {markdown_text(text)}")
    assert item.items == [f"Name: {shown}"]
    assert item.tags == {"ul", "li", "strong"}
    table = PageTable("t", "T", (PageColumn("a", text), PageColumn("b", "b")), ((PageCell(text), PageCell("x")),))
    cells = ParsedMarkdown(markdown_table(table))
    assert cells.tables == [[[shown, "b"], [shown, "x"]]]
    assert cells.tags <= KNOWN_TAGS


@given(st.text(st.sampled_from("ab1_*`[]()<>&|\\#-+.! ~$\n"), max_size=12))
def test_any_text_stays_text_in_a_cell(text):
    shown = " ".join(text.split())
    table = f"| {markdown_cell(text)} | b |\n| --- | --- |\n| {markdown_cell(text)} | x |"
    assert ParsedMarkdown(table).tables == [[[shown, "b"], [shown, "x"]]]


def test_control_characters_and_line_breaks_do_not_leave_their_place():
    assert markdown_text("a\nb\r\n# c") == "a b # c"
    assert "\x1b" not in markdown_text("red \x1b[31m")
    assert markdown_cell("a\n|b") == "a \\|b"


def test_fences_are_longer_than_those_in_the_code():
    page = Page("T", "lead", (Section("s", "S", (Quotation("Code", "echo `x`\n```\n<b>"), Text("after"))),))
    parsed = ParsedMarkdown(markdown_page(page))
    assert code_block("a ``` b").startswith("````\n")
    assert {"pre", "code"} <= parsed.tags <= KNOWN_TAGS
    assert parsed.paragraphs[-1] == "after"


def test_a_file_name_that_is_no_text_can_be_written():
    page = Page(b"caf\xe9".decode("utf-8", "surrogateescape"), "lead", ())
    assert markdown_page(page).encode("utf-8")
