"""Values of docs/accuracy.md, from the cells of the study and what it measured beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from bench.accuracy.bars import bars
from bench.accuracy.data import KEPT_OUT, REAL
from bench.accuracy.found import Found
from bench.accuracy.models import COMPARED
from bench.accuracy.report import CSV, STUDY, tables_of_test
from bench.accuracy.tables import against, mean_ranks, true_ratios
from bench.pages import results
from bench.pages.markdown import Table, in_words, parsed_table, table
from bench.pages.results import origins, read_rows, read_section

__all__ = ["compared_models", "study_cells", "values"]

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
# Variants of the default among which the page calls it flat.
_NEAR = (
    "3 components", "8 components", "free shapes", "bins 16", "two layers", "own heads", "learning rate 0.003",
    "weight decay 0.1", "weight decay 3",
)  # fmt: skip
_PIECES = ("as in the study", "10", "15", "30", "60", "own density")


def values() -> dict[str, str]:
    """By name; ``table / row / column .2`` is a cell of a table, here with two decimals."""
    cells = study_cells()
    steps, search = read_section(STUDY, "steps"), read_section(STUDY, "search")
    speed, chance = read_section(STUDY, "speed"), read_section(STUDY, "chance")["table"]
    blocks = tables_of_test(cells, speed)
    stored = {**steps, **search, "seconds": speed["table"], "chance": chance}
    blocks |= {name: table(one["head"], one["rows"]) for name, one in stored.items()}
    blocks["pieces"] = _pieces(read_section(STUDY, "pieces"))
    by_cell = {
        name: text
        for title in ("real", "steps, real", "steps, synthetic", "seconds")
        for name, text in _cells(title, parsed_table(blocks[title]))
    }
    _, _, calibration, _, ibs = next(row for row in chance["rows"] if row[0] == "mean")
    beside = {"CensDcal by chance": calibration, "IBS by chance": ibs}
    dates = {"date of the cells": origins(CSV)[""].date}
    dates |= {f"date of {name}": origin.date for name, origin in origins(STUDY).items()}
    return blocks | by_cell | beside | dates | _comparisons(cells, speed) | _of_steps(steps["steps, real"])


def compared_models(cells: Found) -> list[str]:
    """Those compared that have results on all real sets."""
    return [model for model in cells.models(REAL) if model in COMPARED]


def study_cells() -> Found:
    """The cells of the test stage."""
    file = results.RESULTS / CSV
    return _read_cells(str(file), file.stat().st_mtime_ns)


@cache
def _read_cells(_file: str, _changed: int) -> Found:
    return Found.of_rows(read_rows(CSV))


def _cells(title: str, one: Table) -> Iterator[tuple[str, str]]:
    """Every cell that is a number, with as many decimals as it has or fewer."""
    for row in one["rows"]:
        for column, text in zip(one["head"][1:], row[1:], strict=True):
            for decimals in range(1, len(text.partition(".")[2]) + 1):
                yield f"{title} / {row[0].strip('*')} / {column} .{decimals}", f"{float(text):.{decimals}f}"


def _comparisons(cells: Found, speed: dict[str, Any]) -> dict[str, str]:
    """Sentences about the default among the models compared."""
    missed = [bar for bar in bars(cells, speed) if bar.met is False]
    scores = {
        metric: {model: cells.over(model, REAL, metric) for model in compared_models(cells)}
        for metric in ("ibs", "harrell_c")
    }
    ibs, c = scores["ibs"], scores["harrell_c"]
    gap = max(ibs["default"] - min(ibs.values()), max(c.values()) - c["default"])
    kept_out = mean_ranks(cells, [name for name in REAL if name in KEPT_OUT])
    order = sorted(kept_out, key=lambda model: float(np.mean(kept_out[model])))
    place = order.index("default")
    ratios = [ratio for ratio, _ in true_ratios(cells).values()]
    worse = [cell for cell in against(cells) if cell.difference > 0]
    by_set = {name: [cell.metric for cell in worse if cell.dataset == name] for name in REAL}
    return {
        "bars missed": str(len(missed)),
        "models compared": str(len(compared_models(cells))),
        "IBS and C beside the best": "the best, too" if gap <= 0 else f"within {_rounded_up(gap, 3):.3f} of the best",
        "place by rank, kept out": _ORDINALS[place],
        "percent behind the best on synthetic sets": f"{100 * (max(ratios) - 1):.1f}",
        "models near the lowest IBS": str(sum(value < min(ibs.values()) + 0.001 for value in ibs.values())),
        "lowest IBS": f"{min(ibs.values()):.3f}",
        "IBS below Cox": f"{ibs['cox'] - ibs['default']:.3f}",
        "worse cells": "; ".join(f"{name}: {', '.join(metrics)}" for name, metrics in by_set.items() if metrics),
        "worse cells, significant": in_words([f"{c.dataset} {c.metric}" for c in worse if c.p_value < 0.05]),
    }


def _of_steps(steps: Table) -> dict[str, str]:
    """Sentences about steps on the real sets."""
    rows = {row[0].strip("*"): dict(zip(steps["head"][1:], map(float, row[1:]), strict=True)) for row in steps["rows"]}
    base = rows["large"]
    apart = {
        column: max(abs(rows[f"large, {name}"][column] - base[column]) for name in _NEAR)
        for column in ("log-loss", "C")
    }
    return {
        "log-loss around the default": f"{apart['log-loss']:.3f}",
        "C around the default": f"{apart['C']:.3f}",
        "seconds of support auto": f"{rows['large, support auto']['seconds'] / base['seconds']:.1f}",
        "seconds of crps 0.5": f"{rows['large, crps 0.5']['seconds'] / base['seconds']:.0f}",
    }


def _pieces(means: dict[str, dict[str, float]]) -> str:
    rows = [
        [f"`{model}`", *(f"{scores[count]:.3f}" if count in scores else "" for count in _PIECES)]
        for model, scores in means.items()
    ]
    return table(["pieces", *_PIECES], rows)


def _rounded_up(value: float, decimals: int) -> float:
    return math.ceil(value * 10.0**decimals) / 10.0**decimals
