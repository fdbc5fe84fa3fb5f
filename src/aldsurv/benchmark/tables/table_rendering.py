"""Benchmark tables as CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re

from aldsurv.benchmark.tables.benchmark_table import BenchmarkTable, NumberCell, TableCell, format_cell

__all__ = ["to_csv", "to_latex", "to_markdown"]

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "∞": r"$\infty$",
    "–": "--",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "χ": r"$\chi$",
    "²": "$^2$",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
# Lines of a table that fit on one page.
_LINES_PER_PAGE = 60
_LATEX_SPECIAL = re.compile("[" + re.escape("".join(_LATEX)) + "]")
# A backslash escapes the next character; a bar ends a cell; the others begin emphasis, code or a tag.
_MARKDOWN_SPECIAL = re.compile(r"([\\|*_`<\[\]])")


def to_csv(table: BenchmarkTable) -> str:
    """CSV (RFC 4180) with all digits of the numbers; standard deviations are in separate columns."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\r\n")
    has_sd = table.has_sd
    header: list[str] = []
    for name, sd in zip(table.columns, has_sd, strict=True):
        header += [name, f"{name}, sd"] if sd else [name]
    writer.writerow(header)
    for row in table.rows:
        fields: list[str] = []
        for cell, sd in zip(row, has_sd, strict=True):
            fields.append(cell if isinstance(cell, str) else _exact(cell.value))
            if sd:
                fields.append("" if isinstance(cell, str) or cell.sd is None else _exact(cell.sd))
        writer.writerow(fields)
    return file.getvalue()


def to_markdown(table: BenchmarkTable) -> str:
    """A table in GitHub's Markdown, with its title above and its note below; the best numbers are bold."""
    marks = {"l": ":--", "r": "--:"}
    lines = [
        _markdown_row([_markdown(name) for name in table.columns]),
        _markdown_row([marks[side] for side in table.align]),
        *(_markdown_row([_bold(cell, _markdown(format_cell(cell)), "**", "**") for cell in row]) for row in table.rows),
    ]
    note = f"\n{_markdown(table.note)}\n" if table.note else ""
    return f"**{_markdown(table.title)}**\n\n" + "\n".join(lines) + f"\n{note}"


def to_latex(table: BenchmarkTable) -> str:
    r"""A ``table`` with the rules of booktabs, or a ``longtable`` if it is longer than a page; ``\label{tab:name}``."""
    header = [r"\toprule", _latex_row([_latex(name) for name in table.columns]), r"\midrule"]
    lines: list[str] = []
    for place, row in enumerate(table.shown_rows()):
        if place and table.groups and row[0] != "":
            lines.append(r"\midrule")
        lines.append(_latex_row([_bold(cell, _latex(format_cell(cell)), r"\textbf{", "}") for cell in row]))
    lines.append(r"\bottomrule")
    caption = rf"\caption{{{_latex(table.title)}}}\label{{tab:{table.name}}}"
    note = [rf"\par\smallskip {_latex(table.note)}"] if table.note else []
    if len(lines) > _LINES_PER_PAGE:
        begin = rf"\begin{{longtable}}{{{table.align}}}"
        whole = [begin, caption + r"\\", *header, r"\endhead", *lines, r"\end{longtable}", *note]
    else:
        begin = rf"\begin{{tabular}}{{{table.align}}}"
        body = [begin, *header, *lines, r"\end{tabular}"]
        whole = [r"\begin{table}", r"\centering", caption, *body, *note, r"\end{table}"]
    return "\n".join([*whole, ""])


def _exact(value: float) -> str:
    """The shortest text that reads back as the same number; empty for NaN."""
    if math.isnan(value):
        return ""
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def _bold(cell: TableCell, text: str, before: str, after: str) -> str:
    return f"{before}{text}{after}" if isinstance(cell, NumberCell) and cell.best else text


def _markdown(text: str) -> str:
    return _MARKDOWN_SPECIAL.sub(r"\\\1", text).replace("\n", " ")


def _markdown_row(fields: list[str]) -> str:
    return f"| {' | '.join(fields)} |"


def _latex(text: str) -> str:
    return _LATEX_SPECIAL.sub(lambda match: _LATEX[match[0]], text)


def _latex_row(fields: list[str]) -> str:
    # LaTeX would read a bracket at the start of a line as the option of the line break before it.
    return " & ".join(f"{{}}{field}" if field.startswith("[") else field for field in fields) + r" \\"
