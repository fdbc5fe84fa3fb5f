"""A page of text and tables as Markdown; what a page has of pictures is left out."""

from __future__ import annotations

from collections.abc import Iterable

from aldsurv.errors import ParameterError
from aldsurv.export.card.markdown_text import code_block, markdown_cell, markdown_text
from aldsurv.reports.page.page import Block, Facts, OpenPlaces, Page, Quotation, Remarks, Section, Text
from aldsurv.reports.page.page_tables import PageTable

__all__ = ["OPEN_MARK", "markdown_page", "markdown_table"]

# What marks a place that only the author of a page can fill.
OPEN_MARK = "**To be filled in:**"


def markdown_page(page: Page) -> str:
    """Headings, paragraphs, lists and tables, for any reader of Markdown with tables."""
    parts = [f"# {markdown_text(page.title)}", markdown_text(page.lead)]
    for section in page.sections:
        parts += _section(section)
    if page.footer:
        parts.append(markdown_text(page.footer))
    text = "\n\n".join(part for part in parts if part) + "\n"
    # Lone surrogates, as in file names that are not UTF-8, cannot be encoded.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def markdown_table(table: PageTable) -> str:
    """The cells of a table; columns of numbers are set to the right."""
    rows = [
        [markdown_cell(column.title) for column in table.columns],
        ["---:" if column.numeric else "---" for column in table.columns],
        *([markdown_cell(cell.text) for cell in row] for row in table.cells),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _section(section: Section) -> list[str]:
    return [f"## {markdown_text(section.title)}", *(part for block in section.blocks for part in _block(block))]


def _block(block: Block) -> list[str]:
    if isinstance(block, Text):
        text = markdown_text(block.text)
        return [f"**{text}**" if block.warning else text]
    if isinstance(block, Facts):
        return [_items((f"{name}:", value) for name, value in block.entries)]
    if isinstance(block, Remarks):
        return [_items(block.entries)]
    if isinstance(block, OpenPlaces):
        return ["\n".join(f"- {OPEN_MARK} {markdown_text(text)}" for text in block.entries)]
    if isinstance(block, Quotation):
        return [markdown_text(f"{block.name}:"), code_block(block.text)]
    if isinstance(block, PageTable):
        about = [markdown_text(block.about)] if block.about else []
        return [f"### {markdown_text(block.caption)}", markdown_table(block), *about]
    raise ParameterError(f"a {type(block).__name__} has no form in Markdown.")


def _items(entries: Iterable[tuple[str, str]]) -> str:
    lines = [f"- **{markdown_text(title)}** {markdown_text(text)}" for title, text in entries]
    return "\n".join(lines)
