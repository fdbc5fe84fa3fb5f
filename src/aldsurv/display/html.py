"""Tables, facts and curves as HTML for notebooks: no scripts, no files, and no colours but those of curves.

Text and lines have the colour of the page around them, so that they are readable on light and dark ones. Every text is
escaped: names of columns and levels are those of users.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "fields_html",
    "html_block",
    "html_curves",
    "html_details",
    "html_facts",
    "html_note",
    "html_table",
    "short_number",
]

FloatArray = NDArray[np.float64]

# Pages without a document type give tables their own colour.
_TABLE = "border-collapse:collapse;margin:0.3em 0;color:inherit;font-size:inherit"
_CELL = "padding:0.15em 0.8em;text-align:{};vertical-align:top;border:0"
_LINE = "border:0;border-bottom:1px solid currentColor"
# Of Okabe and Ito's colours those that can be seen on white and on black.
_COLOURS = ("#2b8cc4", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
_WIDTH, _HEIGHT, _MARGIN = 320, 150, 26
_LONGEST_TEXT = 120
# Of a curve: more than there are pixels would only make the notebook larger.
_POINTS = 300


def short_number(value: object) -> str:
    """A number in four digits; anything else as text.

    Examples
    --------
    >>> [short_number(value) for value in (1234.5678, 0.25, 12.0, float("inf"), float("nan"), "text")]
    ['1235', '0.25', '12', '∞', '–', 'text']
    """
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)):
        return "" if value is None else str(value)
    number = float(value)
    if math.isnan(number):
        return "–"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    if float(number).is_integer() and abs(number) < 1e6:
        return f"{number:.0f}"
    text = f"{number:.4g}"
    # Powers of ten are for what is far from one.
    return f"{number:.0f}" if "e" in text and 1 <= abs(number) < 1e6 else text


def html_block(title: str, *parts: str) -> str:
    """Parts below a title."""
    return f"<div><div><strong>{_text(title)}</strong></div>{''.join(parts)}</div>"


def html_note(text: str) -> str:
    """A line of smaller text."""
    return f'<div style="font-size:smaller;opacity:0.75">{_text(text, most=1000)}</div>'


def html_details(summary: str, *parts: str) -> str:
    """Parts that are shown when their summary is clicked."""
    return f"<details><summary>{_text(summary)}</summary>{''.join(parts)}</details>"


def html_facts(facts: Mapping[str, object]) -> str:
    """Names and values, one line each."""
    lines = "".join(
        f"<tr>{_cell('th', name, 'left')}{_cell('td', value, 'left')}</tr>" for name, value in facts.items()
    )
    return f'<table style="{_TABLE}">{lines}</table>'


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, most: int = 30) -> str:
    """A table, the first column and those without a name to the left, the others to the right; of many rows the first.

    Parameters
    ----------
    header
        Names of the columns.
    rows
        Cells: texts, or numbers, which are shortened.
    most
        Rows that are shown.
    """
    lines = list(rows)
    sides = ["right" if place and name else "left" for place, name in enumerate(header)]
    head = "".join(_cell("th", name, side, _LINE) for name, side in zip(header, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(_cell('td', cell, side) for cell, side in zip(line, sides, strict=True))}</tr>"
        for line in lines[:most]
    )
    more = html_note(f"{most} of {len(lines)} rows") if len(lines) > most else ""
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def fields_html(title: str, fields: Mapping[str, object]) -> str:
    """A value's fields below its name: numbers one per line, arrays a column each."""
    lengths = {len(value) for value in fields.values() if isinstance(value, np.ndarray)}
    names = [name.replace("_", " ") for name in fields]
    if len(lengths) != 1:
        return html_block(title, html_facts(dict(zip(names, fields.values(), strict=True))))
    length = lengths.pop()
    columns = [np.broadcast_to(np.asarray(value), (length,)).tolist() for value in fields.values()]
    return html_block(title, html_table(names, zip(*columns, strict=True)))


def html_curves(
    times: FloatArray, curves: FloatArray, *, label: str, names: Sequence[str] = (), steps: bool = False
) -> str:
    """Curves between 0 and 1 over time as a small drawing.

    Parameters
    ----------
    times, curves
        Times (m,) from 0 on, and values (n, m).
    label
        What it shows, for readers who cannot see it and below the axis.
    names
        Of the curves, beside them; empty for a single one.
    steps
        Whether a value holds until the next time.
    """
    if times.size > _POINTS:
        kept = np.linspace(0, times.size - 1, _POINTS).round().astype(np.intp)
        times, curves = times[kept], curves[:, kept]
    last = float(times[-1]) if times.size and times[-1] > 0 else 1.0
    paths = []
    for place, curve in enumerate(curves):
        x = _MARGIN + (_WIDTH - _MARGIN - 8) * times / last
        y = 6 + (_HEIGHT - _MARGIN - 6) * (1 - np.clip(np.nan_to_num(curve), 0.0, 1.0))
        if steps:
            x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        colour = _COLOURS[place % len(_COLOURS)]
        paths.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    bottom, name = _HEIGHT - _MARGIN, _text(label)
    axes = f'<path d="M{_MARGIN} 6V{bottom}H{_WIDTH - 8}" fill="none" stroke="currentColor" opacity="0.5"/>'
    texts = (
        (_MARGIN - 4, 12, "end", "1"),
        (_MARGIN - 4, bottom, "end", "0"),
        (_WIDTH - 8, bottom + 14, "end", short_number(last)),
        (_MARGIN, bottom + 14, "start", name),
    )
    marks = "".join(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>' for x, y, anchor, text in texts)
    marks += "".join(
        f'<text x="{_WIDTH}" y="{14 * place + 12}" fill="{_COLOURS[place % len(_COLOURS)]}">{_text(each, 16)}</text>'
        for place, each in enumerate(names[:8])
    )
    width = _WIDTH + (110 if names else 0)
    return (
        f'<svg role="img" aria-label="{name}" width="{width}" height="{_HEIGHT}" viewBox="0 0 {width} {_HEIGHT}" '
        f'style="max-width:100%" fill="currentColor" font-size="11">{axes}{marks}{"".join(paths)}</svg>'
    )


def _cell(tag: str, value: object, side: str, style: str = "") -> str:
    styles = ";".join(filter(None, [_CELL.format(side), style]))
    return f'<{tag} style="{styles}">{_text(short_number(value))}</{tag}>'


def _text(value: Any, most: int = _LONGEST_TEXT) -> str:
    text = str(value)
    return escape(text if len(text) <= most else f"{text[: most - 1]}…")
