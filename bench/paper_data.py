"""The paper's datasets as the studies here need them: arrays, split by seed; read from the folder in ALDSURV_DATA."""

from __future__ import annotations

import csv
import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
H5 = {
    "metabric": "metabric_IHC4_clinical_train_test.h5",
    "whas": "whas_train_test.h5",
    "support": "support_train_test.h5",
    "gbsg": "gbsg_cancer_train_test.h5",
}
TABLES = {
    "tmbimmuno": (
        "tmb_immuno_mskcc.tsv",
        {"Age at Which Sequencing was Reported (Days)": None, "Sex": "Female", "TMB (nonsynonymous)": None},
    ),
    "breastmsk": (
        "breast_msk_2018_clinical_data.tsv",
        {
            "ER Status of the Primary": "Positive",
            "Overall Patient HER2 Status": "Positive",
            "Overall Patient HR Status": "Positive",
            "Mutation Count": None,
            "TMB (nonsynonymous)": None,
        },
    ),
    "lgggbm": (
        "lgggbm_tcga_pub_clinical_data.tsv",
        {
            "Diagnosis Age": None,
            "Sex": "Female",
            "Absolute Purity": None,
            "Mutation Count": None,
            "TMB (nonsynonymous)": None,
        },
    ),
}
REAL = [*H5, *TABLES]
SYNTHETIC = [
    "norm_linear", "norm_nonlinear", "exponential", "weibull", "lognorm", "norm_uniform",
    "norm_heavy", "norm_med", "norm_light", "norm_same",
    "lognorm_heavy", "lognorm_med", "lognorm_light", "lognorm_same",
]  # fmt: skip
BETA = np.array([0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0.0, -0.7])


class Table(NamedTuple):
    """Covariates, times and events."""

    x: FloatArray
    time: FloatArray
    event: NDArray[np.bool_]

    def rows(self, chosen: NDArray[np.intp]) -> Table:
        """Some of the rows."""
        return Table(self.x[chosen], self.time[chosen], self.event[chosen])


def folder() -> Path:
    """Where the raw files are."""
    return Path(os.environ.get("ALDSURV_DATA", ""))


def available() -> bool:
    return bool(os.environ.get("ALDSURV_DATA")) and (folder() / H5["metabric"]).exists()


def real(name: str, *, leak_free: bool = False) -> Table:
    """A real dataset; leak-free: WHAS and BreastMSK with one row a patient."""
    if name in H5:
        import h5py

        with h5py.File(folder() / H5[name]) as file:
            x, time, event = (
                np.concatenate([file[part][key][()] for part in ("train", "test")]).astype(float) for key in "xte"
            )
        if name == "whas" and leak_free:
            # The first column marks the case of a matched set: one patient has rows with it and without.
            kept = np.sort(np.unique(np.column_stack([x[:, 1:], time, event]), axis=0, return_index=True)[1])
            x, time, event = x[kept], time[kept], event[kept]
        return Table(x, time, event > 0)
    file_name, columns = TABLES[name]
    with (folder() / file_name).open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    known = np.array(
        [
            [
                *(_number(row[column], positive) for column, positive in columns.items()),
                _number(row[TIME], None),
                _event(row),
            ]
            for row in rows
        ]
    )
    complete = np.flatnonzero(~np.isnan(known).any(axis=1))
    if name == "breastmsk" and leak_free:
        patients = np.array([rows[row]["Patient ID"] for row in complete])
        complete = complete[np.sort(np.unique(patients, return_index=True)[1])]
    known = known[complete]
    return Table(known[:, :-2], np.maximum(known[:, -2], 0.0), known[:, -1] > 0)


TIME = "Overall Survival (Months)"


def _number(text: str, positive: str | None) -> float:
    if positive is not None:
        return float(text == positive) if text else math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _event(row: dict[str, str]) -> float:
    status = row["Overall Survival Status"]
    return float(status.startswith("1")) if status[:1] in ("0", "1") else math.nan


def synthetic(name: str, seed: int) -> tuple[Table, int]:
    """A synthetic dataset as the paper's numbers were made with, and how many of its rows are for training."""
    rng = np.random.default_rng([seed, SYNTHETIC.index(name)])
    if name.startswith("lognorm_"):
        n_train, x = 4000, rng.uniform(0, 2, (5000, 8))
        middle = x @ BETA
        event_time = np.exp(middle + rng.normal(size=5000)) / 10
        longest = {"heavy": 0.4, "med": 1.0, "light": 3.5}.get(name[8:])
        other = np.exp(middle + rng.normal(size=5000)) / 10
        censoring = other if longest is None else rng.uniform(0, longest, 5000)
    elif name in ("norm_heavy", "norm_med", "norm_light", "norm_same"):
        n_train, x = 2000, rng.uniform(0, 2, (3000, 4))
        middle = 3 * x[:, 0] + x[:, 1] ** 2 - x[:, 2] ** 2 + np.sin(x[:, 2] * x[:, 3]) + 6
        event_time = middle + rng.normal(size=3000)
        longest = {"heavy": 12, "med": 20, "light": 40}.get(name[5:])
        censoring = middle + rng.normal(size=3000) if longest is None else rng.uniform(0, longest, 3000)
    else:
        n_train, x = 500, rng.uniform(0, 2, (1500, 1))
        event_time, censoring = _one_covariate(name, x[:, 0], rng)
    event_time, censoring = np.maximum(event_time, 1e-3), np.maximum(censoring, 1e-3)
    return Table(x, np.minimum(event_time, censoring), event_time <= censoring), n_train


def _one_covariate(name: str, x: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    a, b, n = rng.normal(size=len(x)), rng.normal(size=len(x)), len(x)
    if name == "norm_linear":
        return 2 * x + 10 + (x + 1) * a, 4 * x + 10 + (0.8 * x + 0.4) * b
    if name == "norm_nonlinear":
        return x * np.sin(2 * x) + 10 + (0.5 * x + 0.5) * a, 2 * x + 10 + 2 * b
    if name == "exponential":
        return rng.exponential(2 * x + 4), rng.exponential(15 - 3 * x)
    if name == "weibull":
        return (4 * x * np.sin(2 * x - 2) + 10) * rng.weibull(5, n), (20 - 3 * x) * rng.weibull(5, n)
    if name == "lognorm":
        return np.exp((x - 1) ** 2 + a), rng.uniform(0, 10, n)
    return 2 * x * np.cos(2 * x) + 13 + (x**2 + 0.5) * a, rng.uniform(0, 18, n)


def split(name: str, seed: int, *, leak_free: bool = False) -> tuple[Table, Table]:
    """Training and test rows of a seed: a random fifth for testing, or new rows of a synthetic dataset."""
    if name in SYNTHETIC:
        table, n_train = synthetic(name, seed)
        order = np.arange(len(table.time))
    else:
        table = real(name, leak_free=leak_free)
        n = len(table.time)
        order = np.random.default_rng([seed, len(SYNTHETIC) + REAL.index(name)]).permutation(n)
        n_train = n - round(0.2 * n)
    return table.rows(order[:n_train]), table.rows(order[n_train:])
