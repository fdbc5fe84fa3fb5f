"""Fits by this library and by peers on drawn tables of growing size, by turns, each in a process of its own.

What is measured is stored after each fit; a run that was ended goes on where it was. Who takes more than the limits at
one size is not tried at larger ones.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aldsurv import ALDSurvival
from bench.pages.results import RESULTS, ResultsError, read_section, store_section, today
from bench.scale.drawn_rows import LAWS
from bench.scale.parquet import write_parquet
from bench.scale.peer_models import OURS, PEERS, THREADS
from bench.scale.process_tree import GivenUpError, measured

__all__ = ["FILE", "SECTION", "SIZES", "run"]

FILE, SECTION = "scale.json", "peers"
ROOT = RESULTS.parents[1]
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS, SEED, LAW = 20, 1, LAWS[0]
# A fit of fewer rows is measured several times by turns, of which the fastest counts.
_ROUNDS = {1_000: 3, 10_000: 3, 100_000: 2}
_COMMAND = "python -m bench.scale peers"


def run(
    folder: Path,
    *,
    sizes: Sequence[int] = SIZES,
    models: Sequence[str] = (*OURS, *PEERS),
    seconds: float = 600.0,
    gigabytes: float = 12.0,
    again: bool = False,
) -> None:
    """Measure what is not stored yet.

    Parameters
    ----------
    folder
        Where tables are written, each removed after its size is done.
    sizes, models
        Rows, and titles of models.
    seconds, gigabytes
        What a fit may take.
    again
        Whether to forget first what is stored of these sizes and models.
    """
    values = _stored()
    values |= {"columns": COLUMNS, "law": LAW, "threads": THREADS, "seconds": seconds, "GB": gigabytes}
    fits: dict[str, dict[str, Any]] = values.setdefault("fits", {})
    if again:
        for title in models:
            fits[title] = {size: fit for size, fit in fits.get(title, {}).items() if int(size) not in sizes}
    limits = {"seconds": seconds, "megabytes": 1024 * gigabytes}
    for rows in sizes:
        size = f"{rows}"
        todo = [title for title in models if not _is_done(fits.get(title, {}).get(size), limits)]
        todo = [title for title in todo if not _given_up_before(fits.get(title, {}), rows, limits)]
        if not todo:
            continue
        table = folder / size
        write_parquet(table, rows, COLUMNS, SEED, rows_per_file=min(2**20, -(-rows // 4)), law=LAW)
        best: dict[str, dict[str, Any]] = {}
        for _ in range(_ROUNDS.get(rows, 1)):
            for title in todo:
                if "given up" in best.get(title, {}):
                    continue
                found = _measured(title, table, limits)
                best[title] = _better(best.get(title), found)
                fits.setdefault(title, {})[size] = best[title]
                store_section(FILE, SECTION, values, today(_COMMAND, _recipes()))
                print(f"{rows:>9} {title:<26} {_described(found)}", flush=True)
        shutil.rmtree(table)


def _measured(title: str, table: Path, limits: dict[str, float]) -> dict[str, Any]:
    words = [title, str(table.resolve()), str(COLUMNS), str(SEED), LAW]
    command = [sys.executable, "-W", "ignore", "-m", "bench.scale.peer_cell", *words]
    variables = {"PYTHONPATH": f"{ROOT / 'src'}", "OMP_NUM_THREADS": str(THREADS)}
    try:
        return measured(command, **limits, environment=variables, folder=ROOT)
    except GivenUpError as reason:
        return {"given up": str(reason), **limits}


def _better(first: dict[str, Any] | None, second: dict[str, Any]) -> dict[str, Any]:
    """Of two measurements of one fit the one that took less of the processor; one that was given up does not count."""
    if first is None or "given up" in first:
        return second
    if "given up" in second:
        return first
    return min(first, second, key=lambda each: float(each["processor"]))


def _is_done(fit: dict[str, Any] | None, limits: dict[str, float]) -> bool:
    """Whether there is nothing to measure; what failed, or was given up under smaller limits, is tried again."""
    if fit is None or "given up" not in fit:
        return fit is not None
    return all(fit.get(name, 0.0) >= limit for name, limit in limits.items()) and "failed" not in fit["given up"]


def _given_up_before(fits: dict[str, Any], rows: int, limits: dict[str, float]) -> bool:
    return any("given up" in fit and _is_done(fit, limits) and int(size) < rows for size, fit in fits.items())


def _stored() -> dict[str, Any]:
    try:
        return dict(read_section(FILE, SECTION))
    except ResultsError:
        return {}


def _recipes() -> list[str]:
    large = "huge" if "huge" in ALDSurvival.RECIPES else "large"
    return [f"ald/{large}", "boosted_ald/default", "cox/default", "weibull_aft/default"]


def _described(found: dict[str, Any]) -> str:
    if "given up" in found:
        return str(found["given up"])
    return (
        f"{found['clock']:8.1f} s {found['processor']:8.1f} s of the processor {found['peak MB']:8.0f} MB"
        f" {found['log-likelihood']:9.4f}"
    )
