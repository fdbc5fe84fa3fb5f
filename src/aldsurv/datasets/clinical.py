"""The real datasets, from the files of their publishers."""

from __future__ import annotations

import csv
import math
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.datasets.data_folder import raw_file
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.errors import DataError, MissingDependencyError

__all__ = ["Rows", "read_clinical", "read_deepsurv_file", "read_study_table"]

FloatArray = NDArray[np.float64]

_DAYS_PER_MONTH = 30.4375
_TIME, _STATUS, _PATIENT = "Overall Survival (Months)", "Overall Survival Status", "Patient ID"
_GAPS = frozenset({"", "NA"})

# Columns of the features of each study, in order: a number, or whether it has this value.
_STUDIES: dict[str, dict[str, str | None]] = {
    "tmbimmuno": {
        "Age at Which Sequencing was Reported (Days)": None,
        "Sex": "Female",
        "TMB (nonsynonymous)": None,
    },
    "breastmsk": {
        "ER Status of the Primary": "Positive",
        "Overall Patient HER2 Status": "Positive",
        "Overall Patient HR Status": "Positive",
        "Mutation Count": None,
        "TMB (nonsynonymous)": None,
    },
    "lgggbm": {
        "Diagnosis Age": None,
        "Sex": "Female",
        "Absolute Purity": None,
        "Mutation Count": None,
        "TMB (nonsynonymous)": None,
    },
}


class Rows(NamedTuple):
    """What a file holds: covariates, times, events, and whose row it is if the file says so."""

    x: FloatArray
    time: FloatArray
    event: NDArray[np.bool_]
    patient: NDArray[np.str_] | None = None


def _sampled_patients(rows: Rows) -> NDArray[np.intp]:
    # Cases with five controls each, sampled from one cohort: a patient is there once as a case and any number of
    # times as a control, and only the first column, case or control, tells these rows apart.
    same = np.column_stack([rows.x[:, 1:], rows.time, rows.event])
    return np.unique(same, axis=0, return_inverse=True)[1].ravel()


def _named_patients(rows: Rows) -> NDArray[np.intp]:
    return np.unique(np.asarray(rows.patient), return_inverse=True)[1].ravel()


# Datasets in which a patient may have several rows, and how those are found.
_PATIENTS = {"whas": _sampled_patients, "breastmsk": _named_patients}


def read_clinical(info: DatasetInfo) -> Dataset:
    """A real dataset, complete and in the order of its file."""
    if info.packaged:
        rows = _read_packaged(info)
    else:
        path = raw_file(str(info.file), info.name)
        rows = read_study_table(path, _STUDIES[info.name]) if info.name in _STUDIES else read_deepsurv_file(path)
        if rows.x.shape != (info.rows, info.n_features):
            raise DataError(
                f"{path} gives {rows.x.shape[0]} rows of {rows.x.shape[1]} features, but {info.name} has "
                f"{info.rows} of {info.n_features}. The file must have the SHA-256 digest {info.sha256}: get it again, "
                "or read another version of the table with datasets.read_table."
            )
    patients = _PATIENTS.get(info.name)
    y = SurvivalData.right(rows.time, rows.event)
    return Dataset(rows.x, y, info, groups=None if patients is None else patients(rows))


def _read_packaged(info: DatasetInfo) -> Rows:
    text = (resources.files("aldsurv") / "datasets" / "files" / f"{info.name}.csv").read_text(encoding="ascii")
    table = np.loadtxt(text.splitlines(), delimiter=",", skiprows=1)
    return Rows(table[:, :-2], table[:, -2] / _DAYS_PER_MONTH, table[:, -1] > 0)


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
            f"{path} must be an HDF5 file with x, t and e in the groups train and test, but is not ({error}). "
            "Delete it and fetch it again."
        ) from None
    return Rows(x, time, event > 0)


def read_study_table(path: Path, features: dict[str, str | None]) -> Rows:
    """The rows without a gap of a clinical table of cBioPortal.

    Parameters
    ----------
    path
        Tab-separated text with one row a sample.
    features
        Columns to read, each with None for a number or the text that means 1.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            table = csv.DictReader(lines, delimiter="\t")
            wanted = [*features, _TIME, _STATUS, _PATIENT]
            missing = [column for column in wanted if column not in (table.fieldnames or ())]
            if missing:
                raise DataError(
                    f"{path} has no column {', '.join(map(repr, missing))}. Download the clinical data again."
                )
            kept = [row for row in table if _GAPS.isdisjoint(row[column] or "" for column in wanted)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} must be tab-separated text, but is not ({error}). Download it again.") from None
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
        raise DataError(f"column {column!r} of {path} must hold numbers or NA, but holds {text!r}. Correct the file.")
    return value
