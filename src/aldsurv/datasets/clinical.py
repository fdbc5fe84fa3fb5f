"""The real datasets, from the files of their publishers: one function per dataset, named by its record."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import listed
from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets.data_folder import data_folder, raw_file
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.errors import DataError, MissingDependencyError

__all__ = [
    "Rows",
    "load_breastmsk",
    "load_deepsurv",
    "load_gbsg",
    "load_lgggbm",
    "load_rotterdam",
    "load_tmbimmuno",
    "load_whas",
    "read_deepsurv_file",
    "read_study_table",
]

FloatArray = NDArray[np.float64]

_DAYS_PER_MONTH = 30.4375
_TIME, _STATUS, _PATIENT = "Overall Survival (Months)", "Overall Survival Status", "Patient ID"
_GAPS = frozenset({"", "NA"})


class Rows(NamedTuple):
    """What a file holds: covariates, times, events, and whose row it is if the file says so."""

    x: FloatArray
    time: FloatArray
    event: NDArray[np.bool_]
    patient: NDArray[np.str_] | None = None


def load_deepsurv(info: DatasetInfo) -> Dataset:
    """METABRIC and SUPPORT."""
    return _dataset(info, read_deepsurv_file(raw_file(info)))


def load_whas(info: DatasetInfo) -> Dataset:
    """WHAS, whose rows are grouped by patient.

    Cases with five controls each were sampled from one cohort: a patient is there once as a case and any number of
    times as a control, and only the first column, case or control, tells these rows apart.
    """
    rows = read_deepsurv_file(raw_file(info))
    patients = np.unique(np.column_stack([rows.x[:, 1:], rows.time, rows.event]), axis=0, return_inverse=True)[1]
    return _dataset(info, rows, patients)


def load_gbsg(info: DatasetInfo) -> Dataset:
    """GBSG, which comes with aldsurv."""
    text = (resources.files("aldsurv") / "datasets" / "files" / "gbsg.csv").read_text(encoding="ascii")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    return _dataset(info, Rows(table[:, :-2], table[:, -2] / _DAYS_PER_MONTH, table[:, -1] > 0))


def load_rotterdam(info: DatasetInfo) -> Dataset:
    """The Rotterdam tumour bank with its causes, which comes with aldsurv."""
    text = (resources.files("aldsurv") / "datasets" / "files" / "rotterdam.csv").read_text(encoding="ascii")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    names = ["recurrence", "death"]
    return Dataset(
        table[:, :-2], SurvivalData.competing(table[:, -2] / _DAYS_PER_MONTH, table[:, -1], names=names), info
    )


def load_tmbimmuno(info: DatasetInfo) -> Dataset:
    """TMBImmuno."""
    columns = {"Age at Which Sequencing was Reported (Days)": None, "Sex": "Female", "TMB (nonsynonymous)": None}
    return _dataset(info, read_study_table(raw_file(info), columns))


def load_breastmsk(info: DatasetInfo) -> Dataset:
    """BreastMSK, whose rows are grouped by patient."""
    columns = {
        "ER Status of the Primary": "Positive",
        "Overall Patient HER2 Status": "Positive",
        "Overall Patient HR Status": "Positive",
        "Mutation Count": None,
        "TMB (nonsynonymous)": None,
    }
    rows = read_study_table(raw_file(info), columns)
    return _dataset(info, rows, np.unique(np.asarray(rows.patient), return_inverse=True)[1])


def load_lgggbm(info: DatasetInfo) -> Dataset:
    """LGGGBM."""
    columns = {
        "Diagnosis Age": None,
        "Sex": "Female",
        "Absolute Purity": None,
        "Mutation Count": None,
        "TMB (nonsynonymous)": None,
    }
    return _dataset(info, read_study_table(raw_file(info), columns))


def _dataset(info: DatasetInfo, rows: Rows, patients: NDArray[np.intp] | None = None) -> Dataset:
    """Complete and in the order of the file."""
    if rows.x.shape != (info.rows, info.n_features):
        raise DataError(
            f"{data_folder() / str(info.file)} gives {rows.x.shape[0]} rows of {rows.x.shape[1]} features, "
            f"but {info.name} has {info.rows} of {info.n_features}.",
            advice=f"The file must have the SHA-256 digest {info.sha256}: get it again, or read another version of "
            "the table with datasets.read_table.",
        )
    y = SurvivalData.right(rows.time, rows.event)
    return Dataset(rows.x, y, info, groups=None if patients is None else patients.ravel())


def read_deepsurv_file(path: Path) -> Rows:
    """Both parts of an HDF5 file of DeepSurv, its test rows after its training rows."""
    try:
        import h5py
    except ImportError:
        raise MissingDependencyError(
            f'reading {path.name} needs h5py, which is not installed: pip install "aldsurv[datasets]"'
        ) from None
    try:
        with h5py.File(path, "r") as file:
            x, time, event = (
                np.concatenate([file[part][key][()] for part in ("train", "test")]).astype(np.float64) for key in "xte"
            )
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} must be an HDF5 file with x, t and e in the groups train and test, but is not ({error}).",
            advice="Delete it and fetch it again.",
        ) from None
    return Rows(x, time, event > 0)


def read_study_table(path: Path, features: Mapping[str, str | None]) -> Rows:
    """The rows without a gap of a clinical table of cBioPortal.

    Parameters
    ----------
    path
        Tab-separated text with one row per sample.
    features
        Columns to read, each with None for a number or the text that means 1.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t")
            wanted = [*features, _TIME, _STATUS, _PATIENT]
            missing = [column for column in wanted if column not in (table.fieldnames or ())]
            if missing:
                raise DataError(f"{path} has no column {listed(missing)}.", advice="Download the clinical data again.")
            kept = [row for row in table if _GAPS.isdisjoint(row[column] or "" for column in wanted)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path} must be tab-separated text, but is not ({error}).", advice="Download it again."
        ) from None
    columns = [
        [_number(row[column], column, path) if one is None else float(row[column] == one) for row in kept]
        for column, one in [*features.items(), (_TIME, None)]
    ]
    numbers = np.array(columns, dtype=np.float64).T.reshape(len(kept), len(columns))
    event = np.array([row[_STATUS].startswith("1") for row in kept], dtype=np.bool_)
    return Rows(numbers[:, :-1], numbers[:, -1], event, np.array([row[_PATIENT] for row in kept], dtype=np.str_))


def _number(text: str, column: str, path: Path) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(
            f"column {column!r} of {path} must hold numbers or NA, but holds {text!r}.", advice="Correct the file."
        )
    return value
