"""Rows on disk in buckets: what is read is what was put in, and nothing is left behind."""

from __future__ import annotations

import shutil
import tempfile
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aldsurv.errors import DataError
from aldsurv.files import bucket_file
from aldsurv.files.bucket_file import BucketFile

RECORD = np.dtype([("x", np.float32, (3,)), ("number", np.int64), ("flag", np.bool_)])


def records(numbers):
    made = np.zeros(len(numbers), RECORD)
    made["number"], made["x"] = numbers, np.asarray(numbers, np.float32)[:, None] + [0, 1, 2]
    made["flag"] = np.asarray(numbers) % 2 == 0
    return made


@given(
    blocks=st.lists(st.integers(0, 60), max_size=8), buckets=st.integers(1, 9), at_once=st.sampled_from([1, 50, 10**6])
)
@settings(max_examples=40, deadline=None)
def test_each_bucket_has_its_rows_in_their_order(blocks, buckets, at_once):
    generator = np.random.default_rng(0)
    before = bucket_file._WRITTEN_AT_ONCE
    bucket_file._WRITTEN_AT_ONCE = at_once
    try:
        with BucketFile(RECORD, buckets, sum(blocks)) as file:
            start, places = 0, []
            for size in blocks:
                numbers = generator.integers(0, buckets, size)
                file.add(records(np.arange(start, start + size)), numbers)
                places.append(numbers)
                start += size
            place = np.concatenate([np.zeros(0, np.int64), *places])
            for bucket in range(buckets):
                expected = np.flatnonzero(place == bucket)
                for _ in range(2):
                    read = file.read(bucket)
                    assert read.dtype == RECORD
                    np.testing.assert_array_equal(read, records(expected))
            np.testing.assert_array_equal(file.sizes, np.bincount(place, minlength=buckets))
    finally:
        bucket_file._WRITTEN_AT_ONCE = before


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def failing():
        with BucketFile(RECORD, 2, 5) as file:
            file.add(records(range(5)), np.zeros(5, np.int64))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        failing()
    assert list(tmp_path.iterdir()) == []


def test_no_room_is_said_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usage = namedtuple("usage", "total used free")(10**12, 0, 2 * 10**9)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)
    with pytest.raises(DataError, match=r"2\.1 GB are needed, and 2 GB are free.*TMPDIR"):
        BucketFile(RECORD, 2, 100_000_000)
    assert list(tmp_path.iterdir()) == []
