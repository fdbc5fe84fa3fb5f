"""Tables as people have them, with columns that give the outcome away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd


def leaky_frame(n: int = 120) -> pd.DataFrame:
    """Honest covariates beside names, a date of death, the cause of death and the time in another unit."""
    generator = np.random.default_rng(4)
    age = generator.normal(60, 10, n)
    event_time, censoring = 30 * np.exp(-(age - 60) / 15) * generator.weibull(1.5, n), generator.exponential(60, n)
    time, died = np.minimum(event_time, censoring).round(2), event_time <= censoring
    first = np.array(["Ann", "Bob", "Eve", "Joe", "Kim"])[np.arange(n) % 5]
    return pd.DataFrame(
        {
            "name": [f"{name} {chr(65 + k % 26)}. {k // 2}" for k, name in enumerate(first)],
            "age": age.round(1),
            "hospital": [f"hospital {k % 12}" for k in range(n)],
            "death_date": [f"day {k}" if seen else None for k, seen in enumerate(died)],
            "cause": np.where(died, np.array(["heart", "lung"])[np.arange(n) % 2], "none"),
            "follow": (time * 30.4).round(),
            "months": time,
            "status": np.where(died, "dead", "alive"),
        }
    )


def write_leaky(path: str = "people.csv") -> Path:
    leaky_frame().to_csv(path, index=False)
    return Path(path)
