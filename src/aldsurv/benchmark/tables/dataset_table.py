"""The table of datasets: measured from the data as loaded, beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aldsurv.benchmark.display_names import dataset_title
from aldsurv.benchmark.paper.published_datasets import published_datasets
from aldsurv.benchmark.tables.benchmark_table import NO_VALUE, BenchmarkTable, NumberCell, TableCell
from aldsurv.benchmark.view import sorted_datasets
from aldsurv.datasets import Dataset, describe, load
from aldsurv.errors import AldsurvError

__all__ = ["datasets_table"]

_COLUMNS = (
    "Dataset", "Kind", "Unit", "Features", "Features, published", "Training rows", "Training rows, published",
    "Test rows", "Test rows, published", "Censored", "Censored, published", "Copies", "Patients", "At time 0",
)  # fmt: skip


def datasets_table(datasets: Sequence[str], *, definition: str = "released", seeds: int = 1) -> BenchmarkTable:
    """Features, sizes and censoring of datasets, measured and published.

    Parameters
    ----------
    datasets
        Names; one whose file is not available has dashes.
    definition
        Of the synthetic datasets: ``"printed"`` or ``"released"``.
    seeds
        Number of draws of a synthetic dataset, with seeds from 0 on, over which censored rows are counted.
    """
    rows = tuple(_row(name, definition, seeds) for name in sorted_datasets(datasets))
    draws = "seed 0" if seeds == 1 else f"seeds 0 to {seeds - 1}"
    note = (
        f"Counted in the data as loaded; synthetic ones as {definition}, their censored rows over {draws}. Copies: "
        "rows equal to an earlier one in covariates, time and event. Patients: where rows are known not to be "
        "independent."
    )
    return BenchmarkTable("datasets", "Datasets", _COLUMNS, rows, note)


def _row(name: str, definition: str, seeds: int) -> tuple[TableCell, ...]:
    info, printed = describe(name), published_datasets().get(name)
    synthetic = info.kind == "synthetic"
    # Rows of a real dataset are the same for every seed, only parted otherwise.
    draws = _loaded(name, definition, seeds if synthetic else 1)
    measured: list[float] = [np.nan] * 7
    if draws:
        first = draws[0]
        train, test = first.split(0)
        table = np.column_stack([first.x, first.y.time, first.y.event])
        censored = np.concatenate([~data.y.event for data in draws])
        measured = [
            first.x.shape[1], len(train.y), len(test.y), float(censored.mean()),
            len(table) - len(np.unique(table, axis=0)),
            np.nan if first.groups is None else len(np.unique(first.groups)),
            int((first.y.time <= 0).sum()),
        ]  # fmt: skip
    features, n_train, n_test, share, copies, patients, at_zero = measured
    unit = NO_VALUE if synthetic else info.unit
    return (
        dataset_title(name), info.kind, unit,
        _count(features), _count(np.nan if printed is None else printed.features),
        _count(n_train), _count(np.nan if printed is None else printed.n_train),
        _count(n_test), _count(np.nan if printed is None else printed.n_test),
        NumberCell(share), NumberCell(np.nan if printed is None else printed.censored, digits=2),
        _count(copies), _count(patients), _count(at_zero),
    )  # fmt: skip


def _loaded(name: str, definition: str, seeds: int) -> list[Dataset]:
    try:
        return [load(name, seed=seed, definition=definition) for seed in range(seeds)]
    except (AldsurvError, OSError):
        return []


def _count(value: float) -> NumberCell:
    return NumberCell(float(value), digits=0)
