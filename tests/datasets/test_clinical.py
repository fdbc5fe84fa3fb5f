"""The real datasets: the table that comes with the package, and the publishers' files where ALDSURV_DATA has them."""

from __future__ import annotations

import hashlib
import os
import sys
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
from lifelines.datasets import load_gbsg2

import aldsurv
from aldsurv import datasets
from aldsurv.datasets.clinical import read_deepsurv_file, read_study_table
from aldsurv.errors import DataError, MissingDependencyError

REAL = [name for name in datasets.names(paper=True) if datasets.describe(name).kind == "clinical"]
GBSG = Path(aldsurv.__file__).parent / "datasets" / "files" / "gbsg.csv"
CENSORED = {
    "metabric": 801,
    "whas": 948,
    "support": 2837,
    "gbsg": 965,
    "tmbimmuno": 829,
    "breastmsk": 1423,
    "lgggbm": 394,
}
AT_ZERO = {"metabric": 1, "tmbimmuno": 30, "lgggbm": 5}


def published(name: str) -> Path:
    """The publisher's file, or a skip that says what is missing."""
    info, folder = datasets.describe(name), os.environ.get("ALDSURV_DATA")
    if not folder:
        pytest.skip(f"ALDSURV_DATA is not set; it names the folder of the publishers' files, here {info.file}")
    path = Path(folder) / info.file
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    return path


def loaded(name: str) -> datasets.Dataset:
    published(name)
    return datasets.load(name)


# ---- with the publishers' files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", REAL)
def test_the_files_are_those_the_catalogue_means(name):
    assert hashlib.sha256(published(name).read_bytes()).hexdigest() == datasets.describe(name).sha256


@pytest.mark.parametrize("name", REAL)
def test_rows_features_and_censored_share(name):
    data = loaded(name)
    info = data.info
    assert data.x.shape == (info.rows, info.n_features)
    assert data.x.dtype == np.float64
    assert np.isfinite(data.x).all()
    assert np.sum(~data.y.event) == CENSORED[name]
    assert info.censored == pytest.approx(CENSORED[name] / info.rows, abs=1e-12)
    assert np.sum(data.y.time == 0) == AT_ZERO.get(name, 0)
    assert (data.truth, data.event_time, data.censoring_time) == (None, None, None)
    assert [len(part) for part in data.split(seed=4)] == [info.n_train, info.n_test]
    raised = data.with_positive_times()
    assert raised.y.time.min() > 0
    # Half a step is not later than the first time that was recorded.
    assert raised.y.time.min() <= data.y.time[data.y.time > 0].min()


@pytest.mark.parametrize("name", ["metabric", "tmbimmuno", "lgggbm"])
def test_times_were_recorded_in_the_steps_that_the_catalogue_says(name):
    data = loaded(name)
    steps = data.y.time / data.info.time_step
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-3)


@pytest.mark.parametrize("name", REAL)
def test_columns_hold_what_their_names_say(name):
    data = loaded(name)
    column = dict(zip(data.feature_names, data.x.T, strict=True))
    indicators = {"female", "hormone", "radio", "chemo", "diabetes", "dementia", "case", "heart_failure", "recurrent"}
    indicators |= {"postmenopausal", "er_positive", "her2_positive", "hr_positive"}
    ranges = {
        "age": (14, 105),
        "temperature": (30, 43),
        "sodium": (100, 190),
        "bmi": (13, 50),
        "race": (0, 5),
        "comorbidities": (0, 9),
        "cancer": (0, 2),
        "purity": (0, 1),
        "size": (0, 2),
    }
    for feature, values in column.items():
        assert (set(np.unique(values)) == {0.0, 1.0}) == (feature in indicators)
        low, high = ranges.get(feature, (0, np.inf))
        assert low <= values.min() < values.max() <= high


def test_the_genes_of_metabric():
    data = loaded("metabric")
    column = dict(zip(data.feature_names, data.x.T, strict=True))
    positive = column["er_positive"] == 1
    gap = {
        gene: np.median(column[gene][positive]) - np.median(column[gene][~positive]) for gene in data.feature_names[:4]
    }
    # The progesterone receptor is made under the oestrogen receptor's control; EGFR and Ki-67 mark the other tumours.
    assert gap["PGR"] > 0.5
    assert gap["EGFR"] < -0.5
    assert gap["MKI67"] < -0.2
    # Amplified HER2 gives a second hump far above the rest.
    assert np.quantile(column["ERBB2"], 0.9) - np.median(column["ERBB2"]) > 2


def test_the_columns_of_whas_against_the_cohort_that_its_patients_are_from():
    from sksurv.datasets import load_whas500

    data = loaded("whas")
    cohort, outcome = load_whas500()
    cohort = cohort.astype(float)
    matched = []
    for row, (_, age, _, bmi, _, _) in enumerate(data.x):
        same = np.flatnonzero((cohort["age"] == age) & (np.abs(cohort["bmi"] - bmi) < 1e-4))
        # The other cohort has patients of its own: those with another end of follow-up are not the same.
        matched += [(row, one) for one in same if 0 <= outcome["lenfol"][one] - data.y.time[row] <= 1]
    rows, others = np.array(matched).T
    assert len(rows) > 200
    column = dict(zip(data.feature_names, data.x[rows].T, strict=True))
    for ours, theirs in {"female": "gender", "heart_failure": "chf", "recurrent": "miord"}.items():
        assert np.mean(column[ours] == cohort[theirs].to_numpy()[others]) > 0.99
    np.testing.assert_array_equal(data.y.event[rows], outcome["fstat"][others])


def test_whas_is_a_sample_of_cases_and_controls():
    data = loaded("whas")
    case = data.x[:, 0] == 1
    # Five controls a case; every case has its event, every event was a case once, and 557 patients make all rows.
    assert 6 * case.sum() == len(data)
    assert data.y.event[case].all()
    assert len(np.unique(data.groups)) == 557
    assert np.bincount(data.groups[case]).max() == 1
    assert set(data.groups[case]) == set(data.groups[data.y.event])
    whole = np.column_stack([data.x, data.y.time, data.y.event])
    assert len(np.unique(whole, axis=0)) == 735
    for group in range(0, 557, 25):
        assert len(np.unique(whole[data.groups == group, 1:], axis=0)) == 1


@pytest.mark.parametrize(("name", "groups"), [("whas", 557), ("breastmsk", 1683)])
def test_patients_stay_on_one_side(name, groups):
    data = loaded(name)
    assert sorted(set(data.groups)) == list(range(groups))
    for seed in range(10):
        train, test = data.split(seed, by="group")
        assert not set(train.groups) & set(test.groups)
        assert abs(len(test) - data.info.n_test) <= 1
        assert set(data.split(seed)[0].groups) & set(data.split(seed)[1].groups)


@pytest.mark.parametrize("name", sorted(set(REAL) - {"whas", "breastmsk"}))
def test_other_tables_have_a_row_a_patient(name):
    assert loaded(name).groups is None


def test_gbsg_equals_the_published_file():
    rows = read_deepsurv_file(published("gbsg"))
    ours = datasets.load("gbsg")
    np.testing.assert_array_equal(ours.x, rows.x)
    np.testing.assert_array_equal(ours.y.event, rows.event)
    np.testing.assert_allclose(ours.y.time, rows.time, rtol=0, atol=5e-6)


# ---- GBSG, which comes with the package -----------------------------------------------------------------------


def test_gbsg_needs_neither_files_nor_h5py(monkeypatch, tmp_path):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert len(datasets.load("gbsg")) == 2232


def test_gbsg_is_plain_csv_of_whole_numbers():
    lines = GBSG.read_text(encoding="ascii").splitlines()
    assert lines[0] == ",".join([*datasets.describe("gbsg").feature_names, "days", "event"])
    assert len(lines) == 2233
    assert {field for line in lines[1:] for field in line.split(",") if not field.isdigit()} == {"2556.75"}
    assert "`2556.75`" in GBSG.with_name("README.md").read_text(encoding="utf-8")


def test_the_second_part_of_gbsg_is_the_trial():
    data, trial = datasets.load("gbsg")[1546:], load_gbsg2()
    column = dict(zip(data.feature_names, data.x.T, strict=True))
    np.testing.assert_array_equal(column["hormone"], trial["horTh"] == "yes")
    np.testing.assert_array_equal(column["size"], (trial["tsize"] > 20).astype(int) + (trial["tsize"] > 50))
    np.testing.assert_array_equal(column["postmenopausal"], trial["menostat"] == "Post")
    for ours, theirs in {"age": "age", "nodes": "pnodes", "progesterone": "progrec", "oestrogen": "estrec"}.items():
        np.testing.assert_array_equal(column[ours], trial[theirs])
    np.testing.assert_allclose(data.y.time, trial["time"] / 30.4375, rtol=1e-12)
    np.testing.assert_array_equal(data.y.event, trial["cens"] == 1)


def test_the_first_part_of_gbsg_is_of_rotterdam():
    data = datasets.load("gbsg")[:1546]
    assert data.y.n_events == 968
    assert data.y.time.max() == 84
    assert not data.y.event[data.y.time == 84].any()
    assert data.x[:, 4].min() == 1


# ---- files that are not what they should be -------------------------------------------------------------------

COLUMNS = {"Age": None, "Sex": "Female"}
HEADER = "Patient ID\tAge\tSex\tOverall Survival (Months)\tOverall Survival Status\n"


def table(folder, *rows, header=HEADER):
    path = folder / "table.tsv"
    path.write_text(header + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_rows_with_a_gap_are_left_out(tmp_path):
    complete = "P1\t40\tFemale\t1.5\t1:DECEASED"
    gaps = [
        "P2\tNA\tMale\t1\t0:LIVING",
        "P3\t40\t\t1\t0:LIVING",
        "P4\t40\tNA\t1\t0:LIVING",
        "P5\t4\tMale\tNA\t0:LIVING",
    ]
    gaps += ["P6\t40\tMale\t1\tNA", "NA\t40\tMale\t1\t0:LIVING", "P7\t40\tMale"]
    rows = read_study_table(table(tmp_path, *gaps, complete, "P1\t50.5\tMale\t0\t0:LIVING"), COLUMNS)
    np.testing.assert_array_equal(rows.x, [[40, 1], [50.5, 0]])
    np.testing.assert_array_equal(rows.time, [1.5, 0])
    np.testing.assert_array_equal(rows.event, [True, False])
    assert list(rows.patient) == ["P1", "P1"]


def test_a_table_without_rows_and_one_with_a_byte_order_mark(tmp_path):
    assert read_study_table(table(tmp_path), COLUMNS).x.shape == (0, 2)
    marked = table(tmp_path, "P1\t40\tFemale\t1.5\t1:DECEASED", header="\ufeff" + HEADER)
    assert read_study_table(marked, COLUMNS).x.shape == (1, 2)


def test_what_is_wrong_with_a_table_is_named(tmp_path):
    with pytest.raises(DataError, match=r"table.tsv has no column 'Age', 'Overall Survival Status'"):
        read_study_table(table(tmp_path, header="Patient ID\tSex\tOverall Survival (Months)\n"), COLUMNS)
    with pytest.raises(DataError, match="has no column"):
        read_study_table(table(tmp_path, header=""), COLUMNS)
    for bad in ("old", "inf", "nan"):
        with pytest.raises(DataError, match=f"column 'Age' of .*table.tsv must hold numbers or NA, but holds '{bad}'"):
            read_study_table(table(tmp_path, f"P1\t{bad}\tMale\t1\t0:LIVING"), COLUMNS)
    binary = tmp_path / "binary.tsv"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(DataError, match=r"binary.tsv must be tab-separated text, but is not"):
        read_study_table(binary, COLUMNS)


def hdf5(path, parts=("train", "test"), keys="xte", rows=3):
    with h5py.File(path, "w") as file:
        for part in parts:
            for key in keys:
                file[f"{part}/{key}"] = np.ones((rows, 6)) if key == "x" else np.ones(rows)
    return path


def test_both_parts_of_an_hdf5_file_are_read(tmp_path):
    rows = read_deepsurv_file(hdf5(tmp_path / "a.h5"))
    assert rows.x.shape == (6, 6)
    assert rows.event.all()


@pytest.mark.parametrize("wrong", [{"parts": ("train",)}, {"keys": "xt"}])
def test_what_is_wrong_with_an_hdf5_file_is_named(tmp_path, wrong):
    with pytest.raises(DataError, match=r"a.h5 must be an HDF5 file with x, t and e .* Delete it and fetch it again"):
        read_deepsurv_file(hdf5(tmp_path / "a.h5", **wrong))
    other = tmp_path / "a.h5"
    other.write_bytes(b"not HDF5")
    with pytest.raises(DataError, match=r"a.h5 must be an HDF5 file"):
        read_deepsurv_file(other)


def test_a_file_with_other_rows_is_not_taken_for_the_dataset(monkeypatch, tmp_path):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    hdf5(tmp_path / "whas_train_test.h5")
    with pytest.raises(DataError, match=r"gives 6 rows of 6 features, but whas has 1638 of 6. .* digest 2ed86f07"):
        datasets.load("whas")


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    hdf5(tmp_path / "whas_train_test.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingDependencyError, match=r'needs h5py, which is not installed: pip install "aldsurv\[data'):
        datasets.load("whas")


@pytest.mark.parametrize("name", sorted(set(REAL) - {"gbsg"}))
def test_a_missing_file_is_named(monkeypatch, tmp_path, name):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    with pytest.raises(DataError, match=datasets.describe(name).file):
        datasets.load(name)


# ---- Rotterdam, with causes, which comes with the package -----------------------------------------------------


def test_rotterdam_has_its_causes(monkeypatch, tmp_path):
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    data = datasets.load("rotterdam")
    # The counts that are published with the table: 2982 women, 1518 recurrences.
    assert np.bincount(data.y.cause).tolist() == [1269, 1518, 195]
    assert data.y.causes == ("recurrence", "death")
    assert data.info.censored == pytest.approx(1 - data.y.n_events / len(data))
    assert [len(part) for part in data.split(seed=0)] == [data.info.n_train, data.info.n_test]
    lines = GBSG.with_name("rotterdam.csv").read_text(encoding="ascii").splitlines()
    assert lines[0] == ",".join([*data.feature_names, "days", "event"])
    assert all(field.isdigit() for line in lines[1:] for field in line.split(","))


def test_node_positive_women_of_rotterdam_are_those_of_gbsg():
    def counted(data, time, event):
        column = dict(zip(data.feature_names, data.x.T, strict=True))
        names = ("hormone", "size", "postmenopausal", "age", "nodes", "progesterone", "oestrogen")
        return Counter(zip(*(column[name].tolist() for name in names), time.tolist(), event.tolist(), strict=True))

    gbsg, all_rows = datasets.load("gbsg")[:1546], datasets.load("rotterdam")
    whole = all_rows[all_rows.x[:, all_rows.feature_names.index("nodes")] > 0]
    assert len(whole) == 1546
    days = np.round(np.minimum(whole.y.time, 84) * 30.4375)
    ours = counted(whole, days, whole.y.event & (whole.y.time <= 84))
    theirs = counted(gbsg, np.round(gbsg.y.time * 30.4375), gbsg.y.event)
    # There a death counts at the end of the follow-up for recurrence, here when it came.
    assert (ours - theirs).total() <= 43


def test_frames_of_causes_have_their_names():
    frame = datasets.load("rotterdam")[-3:].frame(outcome=True)
    assert list(frame.columns)[-2:] == ["time", "event"]
    assert set(datasets.load("rotterdam").frame(outcome=True)["event"]) == {"censored", "recurrence", "death"}
