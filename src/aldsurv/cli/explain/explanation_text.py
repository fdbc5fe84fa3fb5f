"""Contributions of the columns as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from aldsurv.cli.shared.number_text import format_number
from aldsurv.cli.shared.text_layout import paragraph, printable

if TYPE_CHECKING:
    from aldsurv.inspection import Attributions

__all__ = ["Explanation", "csv_text", "facts", "text"]

# Of a grid of many times so many are shown, and so many columns; the others are one line together.
_TIMES_SHOWN, _COLUMNS_SHOWN = 4, 15


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """What is shown.

    Attributes
    ----------
    explained
        The contributions.
    rows
        Numbers of the rows in the table, from 1 on.
    unit
        Of time; None if it is unknown.
    single
        Whether the rows were named: each is shown for itself, and not the mean over all.
    """

    explained: Attributions
    rows: Sequence[int]
    unit: str | None
    single: bool


def text(view: Explanation) -> str:
    """Tables of the contributions, and a sentence on how to read them."""
    explained = view.explained
    shown = _shown_places(explained)
    blocks = [_row_block(view, place, shown) for place in range(len(view.rows))] if view.single else []
    if not view.single:
        blocks = [_mean_block(view, shown)]
    return "\n\n".join([*blocks, paragraph(_reading(explained, single=view.single))])


def facts(view: Explanation) -> dict[str, object]:
    """As JSON has it."""
    explained = view.explained
    result: dict[str, object] = {
        "target": explained.target,
        "times": None if explained.times is None else explained.times.tolist(),
        "unit": view.unit,
        "base": explained.base.tolist(),
        "background_rows": explained.background_rows,
        "every_subset": explained.every_subset,
        "mean_absolute": dict(zip(explained.names, explained.importance.tolist(), strict=True)),
    }
    if view.single:
        result["rows"] = [
            {
                "row": number,
                "predicted": explained.predicted[place].tolist(),
                "columns": {
                    name: {
                        "value": _json_value(explained.columns[k][place]),
                        "contribution": explained.values[place, k].tolist(),
                        "standard_error": explained.errors[place, k].tolist(),
                    }
                    for k, name in enumerate(explained.names)
                },
            }
            for place, number in enumerate(view.rows)
        ]
    return result


def csv_text(view: Explanation) -> str:
    """One line per row, column and time."""
    explained = view.explained
    times = [""] if explained.times is None else [f"{time:.6g}" for time in explained.times]
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["row", "column", "value", "time", "contribution", "standard_error", "predicted", "mean_predicted"])
    for place, number in enumerate(view.rows):
        for k, name in enumerate(explained.names):
            for m, time in enumerate(times):
                numbers = (
                    explained.values[place, k, m],
                    explained.errors[place, k, m],
                    explained.predicted[place, m],
                    explained.base[m],
                )
                value = _json_value(explained.columns[k][place])
                writer.writerow([number, name, value, time, *(f"{each:.6g}" for each in numbers)])
    return lines.getvalue()


def _shown_places(explained: Attributions) -> list[int]:
    count = explained.base.size
    if count <= _TIMES_SHOWN:
        return list(range(count))
    return [round((k + 1) * count / _TIMES_SHOWN) - 1 for k in range(_TIMES_SHOWN)]


def _headings(view: Explanation, shown: list[int]) -> list[str]:
    times = view.explained.times
    unit = "" if view.unit is None else f" {view.unit}"
    if times is None:
        return [view.unit or "time"]
    return [f"{times[place]:.4g}{unit if place == shown[-1] else ''}" for place in shown]


def _row_block(view: Explanation, place: int, shown: list[int]) -> str:
    one = view.explained[place]
    order = np.argsort(-np.abs(one.values[0]).mean(axis=1), kind="stable").tolist()
    lines = [["column", "value", *_headings(view, shown)], _numbers("mean prediction", one.base, shown)]
    for k in order[:_COLUMNS_SHOWN]:
        value = printable(_value_text(one.columns[k][0]))
        cells = [_signed(one.values[0, k, m]) for m in shown]
        lines.append([f"  {printable(one.names[k])}", value, *cells])
    rest = order[_COLUMNS_SHOWN:]
    if rest:
        totals = one.values[0, rest].sum(axis=0)
        lines.append([f"  {len(rest)} other columns", "", *(_signed(totals[m]) for m in shown)])
    lines.append(_numbers("prediction", one.predicted[0], shown))
    return "\n".join([f"row {view.rows[place]}: {one.target}", *_aligned(lines)])


def _mean_block(view: Explanation, shown: list[int]) -> str:
    explained = view.explained
    lines = [["column", *_headings(view, shown)]]
    for k in explained.order[:_COLUMNS_SHOWN]:
        cells = [format_number(float(explained.importance[k, m])) for m in shown]
        lines.append([f"  {printable(explained.names[k])}", *cells])
    if len(explained.order) > _COLUMNS_SHOWN:
        lines.append([f"  and {len(explained.order) - _COLUMNS_SHOWN} more", *[""] * len(shown)])
    title = f"{len(view.rows)} rows: mean absolute change of the {explained.target}"
    return "\n".join([paragraph(title), *_aligned(lines, left=1)])


def _reading(explained: Attributions, *, single: bool) -> str:
    largest = float(explained.errors.max())
    orders = "all subsets of the columns" if explained.every_subset else "random orders of the columns"
    accuracy = f"They are of {explained.background_rows} background rows and {orders}"
    accuracy += f", with a standard error of at most {format_number(largest)}." if largest else ": exact."
    if single:
        return f"Contributions add up from the mean prediction to that of the row. {accuracy}"
    return (
        "How far each column moves the predictions away from their mean, up or down, on average over the rows. "
        f"{accuracy.replace('They', 'Contributions', 1)}"
    )


def _numbers(name: str, values: Any, shown: list[int]) -> list[str]:
    return [name, "", *(format_number(float(values[m])) for m in shown)]


def _signed(value: float) -> str:
    # Less than rounding adds is nothing.
    value = 0.0 if abs(value) < 1e-12 else float(value)
    return f"{'+' if value > 0 else ''}{format_number(value)}"


def _value_text(value: object) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    label = str(value)
    return label if len(label) <= 20 else f"{label[:19]}…"


def _json_value(value: Any) -> object:
    """A value of a column as JSON and CSV have it: None for a gap, whole numbers without a point."""
    if value is None or value != value:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _aligned(lines: list[list[str]], left: int = 2) -> list[str]:
    """Cells in columns: the first `left` from the left, the others to the right."""
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join(
            f"{cell:<{width}}" if k < left else f"{cell:>{width}}"
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
