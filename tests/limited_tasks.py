"""Predictions and fits within a limit of memory: ``python -m limited_tasks NAME FOLDER``, started by a test.

Each function prepares itself without a limit, and then works within `limited`: so much more memory than the process has
by then, far less than a table of all rows would take.
"""

from __future__ import annotations

import resource
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from aldsurv import SurvivalData, evaluate_parts, metrics, predict_parts
from aldsurv.datasets import open_table
from aldsurv.distributions.wrappers import cause_curves, hazard_curves
from aldsurv.models import (
    ALDSurvival,
    BoostedALD,
    CauseSpecificCox,
    CoxRegression,
    DeepHit,
    StackedSurvival,
    WeibullAFT,
)
from aldsurv.models.neural.parted import held_rows, row_encoding
from aldsurv.models.parted import scratch_blocks, table_summary
from aldsurv.models.trees import boosting_settings
from aldsurv.tables.parts import TablePart

MEGABYTE = 10**6
OUTCOME = {"time": "time", "event": "event"}


@contextmanager
def limited(megabytes: float, table: float) -> Iterator[None]:
    """Within so many more megabytes of memory, where a table of `table` megabytes has no place."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    used = 1024 * int(status.partition("VmData:")[2].split()[0])
    assert table >= 1.5 * megabytes, "the table must be well beyond the limit"
    resource.setrlimit(resource.RLIMIT_DATA, (used + int(megabytes * MEGABYTE), before[1]))
    try:
        try:
            np.ones(int(table * MEGABYTE) // 8)
        except MemoryError:
            yield
        else:
            raise AssertionError("the limit has no effect")
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def rows_and_times(n: int, causes: int = 0) -> tuple[np.ndarray, SurvivalData]:
    """Rows with as many distinct times of events."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    time = np.arange(1.0, n + 1)[np.argsort(np.exp(x[:, 0]) * rng.exponential(size=n))] / n
    if causes:
        return x, SurvivalData.competing(time, rng.integers(1, causes + 1, n))
    return x, SurvivalData.right(time, np.ones(n, bool))


def cox(folder: Path) -> None:
    """Curves of 30,000 rows with 30,000 times: 7,200 MB."""
    n = 30_000
    x, y = rows_and_times(n)
    model = CoxRegression().fit(x, y)
    model.predict_distribution(x[:10]).restricted_mean(0.5)
    with limited(100, 8e-6 * n * n):
        predicted = model.predict_distribution(x)
        predicted.survival([0.2, 0.5, 0.8])
        predicted.quantile([0.25, 0.5])
        predicted.restricted_mean(0.5)
        model.predict(x)
        metrics.evaluate(predicted, y, train=y, metrics=["harrell_c", "brier", "log_likelihood", "mae"])


def causes(folder: Path) -> None:
    """Curves of 3,000 rows with 1,000 times: 24 MB for each cause."""
    n, times = 3_000, 1_000
    cause_curves.TABLE_VALUES = hazard_curves.TABLE_VALUES = 1 << 16
    x, y = rows_and_times(times, causes=2)
    model = CauseSpecificCox("breslow").fit(x, y)
    model.predict_incidence(x[:10]).median(1)
    many = np.resize(x, (n, 2))
    with limited(16, 8e-6 * n * times):
        predicted = model.predict_incidence(many)
        predicted.incidence([0.2, 0.5])
        predicted.median(1)
        predicted.subdistribution(2).restricted_mean(0.5)


def stack(folder: Path) -> None:
    """Curves of one of the models within: 3,200 MB."""
    n = 20_000
    x, y = rows_and_times(n)
    model = StackedSurvival([CoxRegression(), WeibullAFT()], folds=2).fit(x, y)
    model.predict_distribution(x[:10]).median()
    with limited(150, 8e-6 * n * n):
        predicted = model.predict_distribution(x)
        predicted.survival([0.2, 0.5, 0.8])
        predicted.median()
        predicted.restricted_mean(0.5)


def deephit(folder: Path) -> None:
    """Outputs of eight members for 200,000 rows and 20 bins: 256 MB."""
    n, members, bins = 200_000, 8, 20
    x, y = rows_and_times(400)
    network = {"members": members, "durations": bins, "hidden": (4,), "max_epochs": 1, "random_state": 0}
    model = DeepHit(**network, progress=False).fit(x, y)
    many = np.resize(x, (n, 2))
    model.predict_distribution(x[:10]).survival(0.5)
    with limited(120, 8e-6 * n * members * bins):
        model.predict_distribution(many).survival([0.2, 0.5])


def with_small_blocks() -> None:
    """Blocks, samples and what is kept in memory are so much smaller that a table of 67 MB is a large one."""
    TablePart.blocks.__defaults__ = (1 << 12,)
    table_summary.summarise.__kwdefaults__["sample_rows"] = 1 << 12
    scratch_blocks._MOST_BYTES >>= 5
    row_encoding._BUCKET_BYTES >>= 5
    held_rows._MOST_HELD = 3_000
    boosting_settings._TRAIN_ROWS = boosting_settings._LARGE["train_rows"] = 6_000
    boosting_settings._LARGE["watched_rows"] = 1_000


def parts(folder: Path, model: object, megabytes: float) -> None:
    """Fit to the rows of a folder, predict for them and score them."""
    with_small_blocks()
    table = open_table(folder / "rows", **OUTCOME)
    small = open_table(folder / "few", **OUTCOME)
    # What the first fit imports and keeps is no part of what rows take.
    fitted = type(model)(**model.get_params()).fit(small.x, small.y)
    predict_parts(fitted, small, folder / "warm", times=[1.0])
    with limited(megabytes, 8e-6 * len(table) * len(table.columns)):
        model.fit(table.x, table.y)
        predict_parts(model, table, folder / "scored", times=[1.0])
        evaluate_parts(model, table, metrics=["log_likelihood", "brier"])
    assert len(list((folder / "scored").iterdir())) == len(table.parts)


def cox_parts(folder: Path) -> None:
    """Cox's regression."""
    parts(folder, CoxRegression("breslow"), 44)


def ald_parts(folder: Path) -> None:
    """The network."""
    parts(folder, ALDSurvival(members=2, hidden=(8,), max_epochs=1, random_state=0, progress=False), 44)


def boosted_parts(folder: Path) -> None:
    """Boosted trees."""
    parts(folder, BoostedALD(members=2, max_rounds=3, random_state=0), 44)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    globals()[sys.argv[1]](Path(sys.argv[2]))
