"""Rows for which models of `bench.model_cases` are asked: ordinary, extreme, with gaps and levels never seen."""

from __future__ import annotations

from typing import Any

import numpy as np


def random_rows(count: int, seed: int) -> dict[str, list[Any]]:
    """Columns of the tables of `bench.model_cases.samples`, a tenth of whose values are out of the ordinary."""
    rng = np.random.default_rng(seed)

    def mixed(usual: np.ndarray, odd: list[Any]) -> list[Any]:
        return [odd[rng.integers(len(odd))] if rng.random() < 0.1 else value.item() for value in np.asarray(usual)]

    return {
        "age": mixed(rng.normal(60, 12, count), [None, -5.0, 250.0, 1e9, 60]),
        "size": mixed(rng.lognormal(3, 0.7, count), [None, 0.0, 1e-300, -1e12, 17]),
        "grade": mixed(rng.choice(["I", "II", "III"], count), [None, "IV", "", "grade “Ω” 🧬"]),
        "site": mixed(rng.choice(["left", "right"], count), [None, "both"]),
        "smoker": mixed(rng.random(count) < 0.4, [None, True, False]),
        "code": mixed(rng.integers(1, 4, count), [None, 4, 2.0, 2.5]),
    }
