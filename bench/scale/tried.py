"""What was tried before the recipes for large tables were settled, by rows behind those that were learned from.

Settings are differences from the recipe `large`. The loss is that of the log-likelihood per row from that of the truth.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

from aldsurv import ALDSurvival, metrics
from bench.journal import Line, complete_journal
from bench.pages.results import store_section, today
from bench.scale.drawn_rows import block_of

__all__ = ["TRIED", "store_tried"]

SECTION = "settings tried"
_OTHER_ROWS = 40_000
_CYCLE: dict[str, Any] = {"schedule": "one_cycle", "dropout": 0.0}
_TWO_LAYERS: dict[str, Any] = {**_CYCLE, "hidden": (64, 64), "residual": False, "batch_size": 512}
_SMALL_TABLES = ((100_000, 10, "log-normal", 1), (100_000, 10, "two-groups", 2))
_LARGE_TABLES = ((300_000, 20, "two-groups", 2),)
# Tables (rows, columns, law, seed), and what was tried on them.
TRIED: list[tuple[tuple[tuple[int, int, str, int], ...], list[dict[str, Any]]]] = [
    (
        _SMALL_TABLES,
        [
            {},
            {**_CYCLE, "max_epochs": 6, "learning_rate": 0.02},
            {**_CYCLE, "max_epochs": 4, "learning_rate": 0.02},
            {**_CYCLE, "max_epochs": 6, "learning_rate": 0.01},
            {**_CYCLE, "max_epochs": 6, "learning_rate": 0.04},
            {**_CYCLE, "max_epochs": 6, "learning_rate": 0.02, "bins": 0},
            {**_CYCLE, "max_epochs": 6, "learning_rate": 0.02, "hidden": (64,)},
            {**_CYCLE, "max_epochs": 6, "hidden": (32, 32)},
            {**_CYCLE, "max_epochs": 6, "hidden": (64, 64), "bins": 0, "members": 3},
            {**_CYCLE, "max_epochs": 6, "hidden": (32, 32), "bins": 0, "residual": False},
            {**_TWO_LAYERS, "max_epochs": 6},
            {**_TWO_LAYERS, "max_epochs": 5, "members": 3},
            {**_TWO_LAYERS, "max_epochs": 6, "members": 3, "batch_size": 256},
            {**_TWO_LAYERS, "max_epochs": 6, "members": 3, "batch_size": 256, "learning_rate": 0.005},
            {**_TWO_LAYERS, "max_epochs": 5, "hidden": (32, 32)},
            {**_TWO_LAYERS, "max_epochs": 5, "hidden": (32, 32), "residual": True},
            {**_TWO_LAYERS, "max_epochs": 4, "members": 4},
            {**_TWO_LAYERS, "max_epochs": 5, "hidden": (48, 48), "members": 4},
        ],
    ),
    (
        _LARGE_TABLES,
        [
            {**_CYCLE, "max_epochs": 4, "bins": 8},
            {**_CYCLE, "max_epochs": 8, "bins": 8, "hidden": (64, 64)},
            {**_TWO_LAYERS, "max_epochs": 8, "bins": 8, "batch_size": "auto"},
            {**_TWO_LAYERS, "max_epochs": 8, "batch_size": "auto"},
            {**_TWO_LAYERS, "max_epochs": 8, "members": 3},
            {**_TWO_LAYERS, "max_epochs": 8, "members": 2, "hidden": (128, 128), "batch_size": "auto"},
            {**_CYCLE, "max_epochs": 8, "hidden": (32, 32), "batch_size": 512},
            {**_CYCLE, "max_epochs": 5, "hidden": (64, 64), "batch_size": 512, "members": 3},
            {**_TWO_LAYERS, "max_epochs": 5, "members": 3},
            {**_TWO_LAYERS, "max_epochs": 5, "hidden": (32, 32)},
            {**_TWO_LAYERS, "max_epochs": 5},
        ],
    ),
    (((1_000_000, 20, "two-groups", 2),), [{**_TWO_LAYERS, "max_epochs": 8, "members": 3}]),
]


def store_tried(journal: Path) -> None:
    """Fit what the journal does not have, and put all into the results file."""
    plan = {
        (_table_name(*table), _settings_name(settings)): (table, settings)
        for tables, tried in TRIED
        for table in tables
        for settings in tried
    }
    lines = complete_journal(journal, ("table", "settings"), plan, lambda *cell: [_fitted(*plan[cell])])
    store_section("scale.json", SECTION, lines, today("python -m bench.scale tried JOURNAL"))


def _fitted(table: tuple[int, int, str, int], settings: dict[str, Any]) -> Line:
    warnings.simplefilter("ignore")
    rows, columns, law, seed = table
    train = block_of(0, rows, columns, seed, law=law)
    others = block_of(rows, rows + _OTHER_ROWS, columns, seed, law=law)
    start = time.process_time()
    model = ALDSurvival("large", random_state=0, progress=False, **settings).fit(train.x, train.y)
    seconds = time.process_time() - start
    likelihood = float(metrics.log_likelihood(model.predict_distribution(others.x), others.y))
    return {
        "table": _table_name(*table),
        "settings": _settings_name(settings),
        "loss": round(float(others.true_log_likelihood.mean()) - likelihood, 5),
        "processor seconds": round(seconds, 1),
        "passes": int(model.history_.epochs),
    }


def _table_name(rows: int, columns: int, law: str, seed: int) -> str:
    return f"{rows} x {columns}, {law}, seed {seed}"


def _settings_name(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "large"
