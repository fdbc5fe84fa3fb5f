"""All tables of the study as one Markdown text, and all cells as one table of numbers."""

from __future__ import annotations

import csv as csv_format
from pathlib import Path

from bench.accuracy.bars import bar_table, bars, mean_bars, read_speed
from bench.accuracy.data import AS_ASKED, DATASETS, DECISION, DISTINCT, KEPT_OUT, REAL, SYNTHETIC
from bench.accuracy.found import Found
from bench.accuracy.models import ALL
from bench.accuracy.tables import against, cell_table, mean_table, rank_table, truth_table

__all__ = ["CSV", "report", "write_csv"]

CSV = Path(__file__).parents[2] / "docs" / "results" / "accuracy.csv"
_COLUMNS = (
    "log_loss", "survival_crps", "ibs", "harrell_c", "uno_c", "cens_dcal", "ici", "mae",
    "cal_s_slope", "cal_s_intercept", "cal_f_slope", "cal_f_intercept",
    "true_crps", "true_distance", "true_mae", "beyond", "seconds", "processor_seconds",
)  # fmt: skip
_DIGITS = 4


def report(folder: Path | str, *, csv: Path | None = None) -> str:
    """The tables there are results for; with `csv`, the cells of the test stage go there."""
    test, validation = Found(folder, "test"), Found(folder, "validation")
    speed = read_speed(folder)
    text = ["## Bars", bar_table(bars(test, speed))]
    if speed is not None:
        text.append(speed["table"])
    text += ["## Bars with WHAS's distinct rows", bar_table(mean_bars(test, AS_ASKED))]
    text.append(mean_table(test, "seven real sets, WHAS's distinct rows", AS_ASKED))
    for title, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        decided = [name for name in names if name in DECISION]
        kept_out = [name for name in names if name in KEPT_OUT]
        text.append(f"## Test rows, {title} data")
        text.append(mean_table(test, f"all {len(names)} {title} sets", names))
        text.append(mean_table(test, f"the {len(decided)} of them that choices were made on", decided))
        text.append(mean_table(test, f"the {len(kept_out)} kept out: {', '.join(kept_out)}", kept_out))
    text.append("## Ranks")
    text.append(rank_table(test, "mean rank over the seven real sets", REAL))
    kept_out = [name for name in REAL if name in KEPT_OUT]
    text.append(rank_table(test, f"mean rank over {' and '.join(kept_out)}", kept_out))
    text += ["## Against the paper's model", cell_table(against(test))]
    text += ["## Against the truth", truth_table(test)]
    text.append("## Validation rows")
    for title, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        decided = [name for name in names if name in DECISION]
        text.append(mean_table(validation, f"{len(decided)} {title} sets", decided))
    text += [f"## {name}\n\n" + mean_table(test, name, [name]) for name in REAL if test.models([name])]
    text += _failures(test, "test") + _failures(validation, "validation")
    if csv is not None:
        write_csv(test, csv)
    return "\n\n".join(text) + "\n"


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
