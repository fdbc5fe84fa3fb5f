"""All tables of the study as one Markdown text; its results as files, which the pages are written from."""

from __future__ import annotations

import csv as csv_format
from pathlib import Path
from typing import Any

from bench.accuracy.bars import bar_table, bars, mean_bars
from bench.accuracy.data import AS_ASKED, DATASETS, DECISION, DISTINCT, KEPT_OUT, REAL, SYNTHETIC
from bench.accuracy.found import Found
from bench.accuracy.models import ALL, COMPARED, STEPS
from bench.accuracy.picture import draw
from bench.accuracy.tables import against, cell_table, mean_table, rank_table, truth_table
from bench.pages import results
from bench.pages.markdown import parsed_table
from bench.pages.results import RESULTS, Origin, comment_lines, store_section, today
from bench.study_runs import read_kept

__all__ = ["CSV", "PICTURE", "STUDY", "page_tables", "report", "store_study", "tables_of_test", "write_csv"]

CSV, STUDY = "accuracy.csv", "accuracy_study.json"
PICTURE = RESULTS.parent / "images" / "accuracy.png"
_COMMAND = "python -m bench.accuracy"
# Of the models that are registered, in COMPARED and STEPS.
_RECIPES = (
    "ald/default", "ald/paper", "boosted_ald/default", "lognormal/default", "cqrnn/default", "deepsurv/default",
    "deephit/default", "cox/default", "weibull_aft/default", "lognormal_aft/default",
)  # fmt: skip
_STEP_RECIPES = ("ald/large", "ald/paper", "recalibrated/default", "icald/paper", "icald_calibrated/default")
_COLUMNS = (
    "log_loss", "survival_crps", "ibs", "harrell_c", "uno_c", "cens_dcal", "ici", "mae",
    "cal_s_slope", "cal_s_intercept", "cal_f_slope", "cal_f_intercept",
    "true_crps", "true_distance", "true_mae", "beyond", "seconds", "processor_seconds",
)  # fmt: skip
_DIGITS = 6
# Of the steps on what was kept out.
_STEP_SEEDS = 3


def report(folder: Path | str, *, store: bool = False, picture: Path | None = None) -> str:
    """The tables there are results for; if `store`, the results also go to docs/results."""
    test, validation = Found(folder, "test"), Found(folder, "validation")
    speed, chance = read_kept(folder, "speed"), read_kept(folder, "chance")
    tables = page_tables(test, validation, speed, chance)
    text = [f"## {name}\n\n{table}" for name, table in tables.items()]
    text += [f"## {name}\n\n" + mean_table(test, name, [name]) for name in REAL if test.models([name])]
    text += _failures(test, "test") + _failures(validation, "validation")
    if store:
        write_csv(test, results.RESULTS / CSV, today(f"{_COMMAND} test FOLDER", {*_RECIPES, *_STEP_RECIPES}))
        store_study(validation, speed, chance)
    if picture is not None:
        draw(test, picture)
    return "\n\n".join(text) + "\n"


def store_study(validation: Found, speed: dict[str, Any] | None, chance: dict[str, Any] | None) -> None:
    """Put what is known apart from the cells of the test stage into docs/results; the rest stays as it is there."""
    steps = {name: parsed_table(table) for name, table in _validation_tables(validation).items()}
    if all(table["rows"] for table in steps.values()):
        store_section(
            STUDY, "steps", steps, today(f'{_COMMAND} validation FOLDER --models "paper;steps"', _STEP_RECIPES)
        )
    if speed is not None:
        values = {"ratio": speed["ratio"], "table": parsed_table(speed["table"])}
        store_section(STUDY, "speed", values, today(f"{_COMMAND} speed FOLDER", ["ald/large", "ald/paper"]))
    if chance is not None:
        values = {"table": parsed_table(chance["table"])}
        store_section(STUDY, "chance", values, today(f"{_COMMAND} chance FOLDER", ["ald/default"]))


def page_tables(
    test: Found, validation: Found, speed: dict[str, Any] | None = None, chance: dict[str, Any] | None = None
) -> dict[str, str]:
    """The tables of docs/accuracy.md by the name that stands before each of them there."""
    made = tables_of_test(test, speed) | _validation_tables(validation)
    return made | {name: kept["table"] for name, kept in (("seconds", speed), ("chance", chance)) if kept is not None}


def tables_of_test(test: Found, speed: dict[str, Any] | None = None) -> dict[str, str]:
    """Those of the cells of the test stage."""
    made = {"bars": bar_table(bars(test, speed))}
    compared, steps = list(COMPARED), _in_steps()
    for kind, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        decided = [name for name in names if name in DECISION]
        kept_out = [name for name in names if name in KEPT_OUT]
        made[kind] = mean_table(test, f"all {len(names)}", names, compared)
        made[f"{kind}, decided on"] = mean_table(test, f"{len(decided)} that choices were made on", decided, compared)
        made[f"{kind}, kept out"] = mean_table(test, f"kept out: {', '.join(kept_out)}", kept_out, compared)
        title = f"kept out: {', '.join(kept_out)}, test"
        made[f"steps, {kind}, kept out"] = mean_table(test.first(_STEP_SEEDS), title, kept_out, steps)
    made["ranks"] = rank_table(test, "mean rank", REAL)
    made["ranks, kept out"] = rank_table(test, "mean rank, kept out", [name for name in REAL if name in KEPT_OUT])
    made["cells"] = cell_table(against(test))
    made["truth"] = truth_table(test)
    made["distinct, bars"] = bar_table(mean_bars(test, AS_ASKED))
    made["distinct"] = mean_table(test, "all 7, WHAS's distinct rows", AS_ASKED, compared)
    return made


def _validation_tables(validation: Found) -> dict[str, str]:
    tables = {}
    for kind, names in (("real", REAL), ("synthetic", SYNTHETIC)):
        decided = [name for name in names if name in DECISION]
        title = f"{len(decided)} {kind} sets, validation"
        tables[f"steps, {kind}"] = mean_table(validation, title, decided, _in_steps())
    return tables


def _in_steps() -> list[str]:
    """From the paper's model to the recipe for larger tables, then each step away from it."""
    return ["paper", *STEPS]


def _failures(found: Found, stage: str) -> list[str]:
    lines = [f"- {' / '.join(map(str, key))}: {error}" for key, error in sorted(found.failures.items())]
    return [f"## Fits that failed, {stage}", "\n".join(lines)] if lines else []


def write_csv(found: Found, file: Path, origin: Origin) -> None:
    """Every cell a line, after where they come from."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(comment_lines(origin))
        writer = csv_format.writer(out, lineterminator="\n")
        writer.writerow(["dataset", "model", "seed", *_COLUMNS])
        for model in ALL:
            for dataset in (*DATASETS, DISTINCT):
                for seed, line in sorted(found.cells.get((model, dataset), {}).items()):
                    values = (f"{line[name]:.{_DIGITS}g}" if name in line else "" for name in _COLUMNS)
                    writer.writerow([dataset, model, seed, *values])
