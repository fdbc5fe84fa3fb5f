"""The table of the GBSG2 trial that comes with the package."""

from __future__ import annotations

import csv
from importlib import resources
from pathlib import Path

import pandas as pd
import pytest
from lifelines.datasets import load_gbsg2

import aldsurv

TABLE = Path(aldsurv.__file__).parent / "data" / "gbsg2.csv"
COLUMNS = ["horTh", "age", "menostat", "tsize", "tgrade", "pnodes", "progrec", "estrec", "time", "cens"]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def test_it_is_where_an_installed_package_finds_it():
    found = resources.files("aldsurv") / "data" / "gbsg2.csv"
    assert found.read_bytes() == TABLE.read_bytes()


def test_it_is_plain_csv(rows):
    raw = TABLE.read_bytes()
    assert raw.startswith(b"horTh,age,menostat,tsize,tgrade,pnodes,progrec,estrec,time,cens\nno,70,Post,21,")
    assert b"\r" not in raw
    assert b'"' not in raw
    assert raw.endswith(b"\n")
    assert raw.count(b"\n") == 687
    assert all(list(row) == COLUMNS for row in rows)


def test_it_equals_the_table_of_lifelines(rows):
    theirs = load_gbsg2()
    assert list(theirs.columns) == COLUMNS
    assert len(rows) == len(theirs) == 686
    for ours, (_, other) in zip(rows, theirs.iterrows(), strict=True):
        assert ours == {name: str(other[name]) for name in COLUMNS}
    pd.testing.assert_frame_equal(pd.read_csv(TABLE), theirs)


def test_the_events_are_those_of_the_publication(rows):
    assert sum(row["cens"] == "1" for row in rows) == 299
    assert {row["cens"] for row in rows} == {"0", "1"}
    assert {row["horTh"] for row in rows} == {"no", "yes"}
    assert {row["tgrade"] for row in rows} == {"I", "II", "III"}
    # Days: the last patient left after seven years.
    assert max(int(row["time"]) for row in rows) == 2659


def test_its_source_is_named():
    text = TABLE.with_name("README.md").read_text(encoding="utf-8")
    assert "2086–2093" in text
    assert all(f"`{name}`" in text for name in COLUMNS)
