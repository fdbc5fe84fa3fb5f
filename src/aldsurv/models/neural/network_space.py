"""Settings that a search tries for every network."""

from __future__ import annotations

from aldsurv.models.search_space import Entry, OneOf, Range

__all__ = ["NETWORK_ENTRIES"]

NETWORK_ENTRIES: dict[str, Entry] = {
    "learning_rate": Range(5e-4, 2e-2, log=True),
    "hidden": OneOf(((16,), (32,), (64,), (128,), (32, 32), (64, 64), (128, 128))),
    "dropout": Range(0.0, 0.5),
    "weight_decay": Range(1e-3, 1.0, log=True),
}
