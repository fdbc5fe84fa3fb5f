"""All tables of the study as one Markdown text, and all cells as one table of numbers."""

from __future__ import annotations

import csv as csv_format
from pathlib import Path
from typing import Any

from bench.accuracy.bars import bar_table, bars, mean_bars
from bench.accuracy.data import AS_ASKED, DATASETS, DECISION, DISTINCT, KEPT_OUT, REAL, SYNTHETIC
from bench.accuracy.found import Found
from bench.accuracy.models import ALL, COMPARED, STEPS
from bench.accuracy.picture import draw
from bench.accuracy.running import read_kept
from bench.accuracy.tables import against, cell_table, mean_table, rank_table, short_table, truth_table

__all__ = ["CSV", "PAGE", "PICTURE", "README", "filled", "page_tables", "report", "write_csv"]

_DOCS = Path(__file__).parents[2] / "docs"
CSV, PAGE = _DOCS / "results" / "accuracy.csv", _DOCS / "accuracy.md"
README, PICTURE = _DOCS.parent / "README.md", _DOCS / "images" / "accuracy.png"
_COLUMNS = (
    "log_loss", "survival_crps", "ibs", "harrell_c", "uno_c", "cens_dcal", "ici", "mae",
    "cal_s_slope", "cal_s_intercept", "cal_f_slope", "cal_f_intercept",
    "true_crps", "true_distance", "true_mae", "beyond", "seconds", "processor_seconds",
)  # fmt: skip
_DIGITS = 4
# Of the steps on what was kept out.
_STEP_SEEDS = 3


def report(
    folder: Path | str, *, csv: Path | None = None, page: Path | None = None, readme: Path | None = None,
    picture: Path | None = None,
) -> str:  # fmt: skip
    """The tables there are results for; cells of the test stage also go to `csv`, tables into `page` and `readme`."""
    test, validation = Found(folder, "test"), Found(folder, "validation")
    tables = page_tables(test, validation, read_kept(folder, "speed"), read_kept(folder, "chance"))
    text = [f"## {name}\n\n{table}" for name, table in tables.items()]
    text += [f"## {name}\n\n" + mean_table(test, name, [name]) for name in REAL if test.models([name])]
    text += _failures(test, "test") + _failures(validation, "validation")
    if csv is not None:
        write_csv(test, csv)
    if picture is not None:
        draw(test, picture)
    for file, known in ((page, tables), (readme, {"compared": short_table(test)})):
        if file is not None:
            file.write_text(filled(file.read_text(encoding="utf-8"), known), encoding="utf-8", newline="\n")
    return "\n\n".join(text) + "\n"


def page_tables(
    test: Found, validation: Found, speed: dict[str, Any] | None = None, chance: dict[str, Any] | None = None
) -> dict[str, str]:
    """The tables of docs/accuracy.md by the name that stands before each of them there."""
    made = {"bars": bar_table(bars(test, speed))}
    compared, steps = list(COMPARED), _in_steps()
    for kind, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        decided = [name for name in names if name in DECISION]
        kept_out = [name for name in names if name in KEPT_OUT]
        made[kind] = mean_table(test, f"all {len(names)}", names, compared)
        made[f"{kind}, decided on"] = mean_table(test, f"{len(decided)} that choices were made on", decided, compared)
        made[f"{kind}, kept out"] = mean_table(test, f"kept out: {', '.join(kept_out)}", kept_out, compared)
        made[f"steps, {kind}"] = mean_table(validation, f"{len(decided)} {kind} sets, validation", decided, steps)
        title = f"kept out: {', '.join(kept_out)}, test"
        made[f"steps, {kind}, kept out"] = mean_table(test.first(_STEP_SEEDS), title, kept_out, steps)
    made["ranks"] = rank_table(test, "mean rank", REAL)
    made["ranks, kept out"] = rank_table(test, "mean rank, kept out", [name for name in REAL if name in KEPT_OUT])
    made["cells"] = cell_table(against(test))
    made["truth"] = truth_table(test)
    made["distinct, bars"] = bar_table(mean_bars(test, AS_ASKED))
    made["distinct"] = mean_table(test, "all 7, WHAS's distinct rows", AS_ASKED, compared)
    made |= {name: kept["table"] for name, kept in (("seconds", speed), ("chance", chance)) if kept is not None}
    return made


def filled(text: str, tables: dict[str, str]) -> str:
    """The page with the tables of today between ``<!-- name -->`` and ``<!-- end name -->``; what is missing stays."""
    for name, table in tables.items():
        before, after = f"<!-- {name} -->", f"<!-- end {name} -->"
        if table.count("\n") > 1 and before in text and after in text:
            head, rest = text.split(before, 1)
            text = f"{head}{before}\n\n{table}\n\n{after}{rest.split(after, 1)[1]}"
    return text


def _in_steps() -> list[str]:
    """From the paper's model to the default, then each step away from it."""
    from_paper = [name for name in STEPS if name.startswith("paper")]
    return ["paper", *from_paper, "earlier default", "default", *(n for n in STEPS if n.startswith("default"))]


def _failures(found: Found, stage: str) -> list[str]:
    lines = [f"- {' / '.join(map(str, key))}: {error}" for key, error in sorted(found.failures.items())]
    return [f"## Fits that failed, {stage}", "\n".join(lines)] if lines else []


def write_csv(found: Found, file: Path) -> None:
    """Every cell a line, four digits each."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv_format.writer(out, lineterminator="\n")
        writer.writerow(["dataset", "model", "seed", *_COLUMNS])
        for model in ALL:
            for dataset in (*DATASETS, DISTINCT):
                for seed, line in sorted(found.cells.get((model, dataset), {}).items()):
                    values = (f"{line[name]:.{_DIGITS}g}" if name in line else "" for name in _COLUMNS)
                    writer.writerow([dataset, model, seed, *values])
