"""Model files: what is written comes back, what is damaged or foreign is refused in one line, nothing is half there."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
import random
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aldsurv.errors import AldsurvError, ParameterError
from aldsurv.files import model_file
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
DOCUMENT = {
    "model": "ald",
    "members": 2,
    "scale": [0.5, -1e-300],
    "note": 'é "\\ \u2028 😀',
    "deep": {"b": None, "a": True},
}
ARRAYS = {
    "weights": np.linspace(-1.0, 1.0, 12).reshape(2, 2, 3),
    "bias": np.array([1.5, np.nan, -0.0], np.float32),
    "counts": np.array([[2**62, -1]]),
    "index": np.array(7, np.int32),
    "bytes": np.arange(5, dtype=np.uint8),
    "mask": np.array([True, False, True]),
    "none": np.empty((0, 3)),
}
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def same(first: Any, second: Any) -> bool:
    """Whether two contents are equal in every bit, dtype and shape, and in the type of every number."""
    (document, arrays), (other_document, other_arrays) = first, second
    return (
        json.dumps(document, sort_keys=True) == json.dumps(other_document, sort_keys=True)
        and arrays.keys() == other_arrays.keys()
        and all(
            value.shape == other_arrays[name].shape
            and value.dtype.newbyteorder("=") == other_arrays[name].dtype.newbyteorder("=")
            and value.astype(value.dtype.newbyteorder("<")).tobytes()
            == other_arrays[name].astype(value.dtype.newbyteorder("<")).tobytes()
            for name, value in arrays.items()
        )
    )


def parts(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """Header and tensors of a whole file."""
    end = 8 + int.from_bytes(raw[:8], "little")
    return json.loads(raw[8:end]), raw[end:]


def signed(header: dict[str, Any], data: bytes) -> dict[str, Any]:
    """The header with the checksum its tensors have, as the module's docstring defines it.

    What is not there to be summed (a broken entry, a tensor outside the file) is left out: such a file must be
    refused before its checksum is looked at.
    """
    metadata = {key: text for key, text in header["__metadata__"].items() if key != "sha256"}
    entries, content = [], b""
    for name in sorted(header.keys() - {"__metadata__"}):
        with suppress(TypeError, KeyError, ValueError):
            begin, end = header[name]["data_offsets"]
            entries.append([name, header[name]["dtype"], header[name]["shape"]])
            content += data[begin:end]
    text = json.dumps([metadata, entries], separators=(",", ":"), sort_keys=True)
    return header | {"__metadata__": metadata | {"sha256": hashlib.sha256(text.encode() + content).hexdigest()}}


def packed(header: dict[str, Any] | str | bytes, data: bytes = b"") -> bytes:
    if isinstance(header, dict):
        header = json.dumps(header, separators=(",", ":"))
    if isinstance(header, str):
        header = header.encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data


def minimal(entries: dict[str, Any], data: bytes = b"", **metadata: Any) -> bytes:
    """A file whose checksum is right, whatever the entries say."""
    known = {"aldsurv": "{}", "format": "aldsurv", "schema": "1"} | metadata
    return packed(signed({"__metadata__": known} | entries, data), data)


def entry(dtype: Any, shape: Any, begin: Any, end: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file with every dtype, as bytes."""
    return write_model_file(tmp_path_factory.mktemp("whole") / "model", DOCUMENT, ARRAYS).read_bytes()


# What is written comes back.


@pytest.mark.parametrize("shape", [(), (1,), (0,), (0, 3), (3, 0, 2), (4, 5), (1,) * 32], ids=str)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_every_dtype_and_shape_comes_back(tmp_path, dtype, shape):
    value = np.random.default_rng(0).integers(0, 2, shape).astype(dtype)
    path = write_model_file(tmp_path / "model", {}, {"x": value})
    document, arrays = read_model_file(path)
    assert same((document, arrays), ({}, {"x": value}))
    assert arrays["x"].dtype.isnative
    assert not arrays["x"].flags.writeable
    assert arrays["x"].flags.aligned
    assert arrays["x"].flags.c_contiguous
    assert safetensors.numpy.load_file(path)["x"].shape == shape


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6, dtype=">f8").reshape(2, 3),
        np.arange(6, dtype=">i4"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(2, 3, 4)[::-1, :, ::2],
        np.broadcast_to(np.float32(2.5), (3, 4)),
        np.arange(5, dtype=np.longlong),
        np.arange(3.0).view(np.recarray),
    ],
    ids=["big-endian", "big-endian int", "Fortran", "strided", "broadcast", "longlong", "subclass"],
)
def test_byte_order_and_memory_layout_do_not_matter(tmp_path, value):
    before = value.copy()
    path = write_model_file(tmp_path / "model", {}, {"x": value})
    _, arrays = read_model_file(path)
    np.testing.assert_array_equal(arrays["x"], before)
    np.testing.assert_array_equal(safetensors.numpy.load_file(path)["x"], before)
    np.testing.assert_array_equal(value, before)
    assert type(arrays["x"]) is np.ndarray


def test_every_bit_of_a_float_comes_back(tmp_path):
    bits = np.array([0x7FF0000000000001, 0xFFF8000000000123, 0x8000000000000000, 1], dtype=np.uint64)
    _, arrays = read_model_file(write_model_file(tmp_path / "model", {}, {"x": bits.view(np.float64)}))
    assert arrays["x"].view(np.uint64).tolist() == bits.tolist()


def test_the_document_comes_back(tmp_path):
    document = DOCUMENT | {"tuple": (1, 2), "big": 2**128, "small": 5e-324, "zero": -0.0, "half": "\ud800", "": {}}
    found, arrays = read_model_file(write_model_file(tmp_path / "model", document, {}))
    assert found == document | {"tuple": [1, 2]}
    assert str(found["zero"]) == "-0.0"
    assert found["deep"]["a"] is True
    assert list(found) == sorted(document)
    assert arrays == {}


def test_arrays_come_back_sorted_by_name(tmp_path):
    _, arrays = read_model_file(write_model_file(tmp_path / "model", DOCUMENT, ARRAYS))
    assert list(arrays) == sorted(ARRAYS)


LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec=None, exclude_categories=[]), max_size=6)
DOCUMENTS = st.dictionaries(
    TEXTS,
    st.recursive(LEAVES | TEXTS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)),
    max_size=4,
)
VALUES = st.sampled_from([*DTYPES.values(), ">f8", ">f4", ">i8", ">i4"]).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
)
NAMES = st.text(max_size=6).filter(lambda name: name != "__metadata__")


@given(document=DOCUMENTS, arrays=st.dictionaries(NAMES, VALUES, max_size=4))
def test_anything_comes_back_and_safetensors_agrees(tmp_path_factory, document, arrays):
    path = tmp_path_factory.getbasetemp() / "anything"
    write_model_file(path, document, arrays)
    assert same(read_model_file(path), (document, arrays))
    assert same((document, safetensors.numpy.load_file(path)), (document, arrays))
    with safetensors.safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["aldsurv"]) == document


# The bytes.


def test_the_bytes_are_those_of_the_format(tmp_path):
    path = write_model_file(
        tmp_path / "model",
        {"b": [1, 0.5], "a": "é"},
        {"z": np.array([1.0, 2.0]), "a": np.array([True]), "m": np.array([3], np.int32)},
    )
    data = np.array([1.0, 2.0], "<f8").tobytes() + np.array([3], "<i4").tobytes() + b"\x01"
    metadata = {"aldsurv": '{"a":"\\u00e9","b":[1,0.5]}', "format": "aldsurv", "schema": "1"}
    tensors = {"z": entry("F64", [2], 0, 16), "m": entry("I32", [1], 16, 20), "a": entry("BOOL", [1], 20, 21)}
    assert path.read_bytes() == packed(signed({"__metadata__": metadata} | tensors, data), data)


def test_tensors_are_aligned(whole):
    header, _ = parts(whole)
    start = 8 + int.from_bytes(whole[:8], "little")
    assert start % 8 == 0
    for name in ARRAYS:
        assert (start + header[name]["data_offsets"][0]) % np.dtype(DTYPES[header[name]["dtype"]]).itemsize == 0


def test_equal_content_gives_equal_bytes(tmp_path, whole):
    turned = {name: np.asfortranarray(ARRAYS[name]) for name in reversed(ARRAYS)}
    turned["weights"] = turned["weights"].astype(">f8")
    turned["index"] = ARRAYS["index"]
    document = {key: DOCUMENT[key] for key in reversed(DOCUMENT)} | {"deep": {"a": True, "b": None}}
    assert write_model_file(tmp_path / "again", document, turned).read_bytes() == whole
    assert write_model_file(tmp_path / "other", document | {"members": 3}, turned).read_bytes() != whole


def test_safetensors_reads_our_files(tmp_path):
    path = write_model_file(tmp_path / "model", DOCUMENT, ARRAYS)
    assert same(({}, safetensors.numpy.load_file(path)), ({}, ARRAYS))
    with safetensors.safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert metadata.keys() == {"aldsurv", "format", "schema", "sha256"}
    assert (metadata["format"], metadata["schema"]) == ("aldsurv", "1")
    assert json.loads(metadata["aldsurv"]) == DOCUMENT


def test_a_file_that_safetensors_wrote_anew_is_read(tmp_path, whole):
    metadata = parts(whole)[0]["__metadata__"]
    path = tmp_path / "anew"
    safetensors.numpy.save_file(ARRAYS, path, metadata)
    assert same(read_model_file(path), (DOCUMENT, ARRAYS))
    # Its checksum is of its own arrays, and must be there.
    safetensors.numpy.save_file(ARRAYS | {"index": np.array(8, np.int32)}, path, metadata)
    with pytest.raises(ModelFileError, match="damaged: its checksum differs"):
        read_model_file(path)
    del metadata["sha256"]
    safetensors.numpy.save_file(ARRAYS, path, metadata)
    with pytest.raises(ModelFileError, match="damaged: 'sha256' is missing"):
        read_model_file(path)


def test_a_bool_of_another_program_is_0_or_1(tmp_path):
    (tmp_path / "model").write_bytes(minimal({"x": entry("BOOL", [3], 0, 3)}, b"\x00\x02\xff"))
    _, arrays = read_model_file(tmp_path / "model")
    assert arrays["x"].view(np.uint8).tolist() == [0, 1, 1]


# What cannot be written.


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.arange(3, dtype=np.float16), "is of float16"),
        (np.arange(3, dtype=np.uint32), "is of uint32"),
        (np.array([1j]), "is of complex128"),
        (np.array([None, 1], object), "is of object"),
        (np.array(["a"]), "is of <U1"),
        (np.array([b"a"]), "is of |S1"),
        (np.array([0], "M8[D]"), "is of datetime64"),
        (np.zeros(2, [("a", "f8")]), "is of "),
        ([1.0, 2.0], "is of type list"),
        (1.0, "is of type float"),
        (np.ma.masked_array([1.0, 2.0], [True, False]), "is of type MaskedArray"),
        (np.zeros((1,) * 33), "but has 33"),
    ],
    ids=lambda value: str(getattr(value, "dtype", value))[:20],
)
def test_other_arrays_are_refused(tmp_path, value, message):
    with pytest.raises(ParameterError, match=r"arrays\['x'\] must ") as caught:
        write_model_file(tmp_path / "model", {}, {"x": value})
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["__metadata__", 3, b"x", "\ud800"], ids=ascii)
def test_other_names_are_refused(tmp_path, name):
    with pytest.raises(ParameterError, match="arrays must have Unicode text"):
        write_model_file(tmp_path / "model", {}, {name: np.zeros(1)})
    assert list(tmp_path.iterdir()) == []


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


CIRCLE: dict[str, Any] = {}
CIRCLE["again"] = CIRCLE


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"a": [1.0, float("nan")]}, r"document\['a'\]\[1\] must be finite, .* but is nan"),
        ({"a": {"b": float("-inf")}}, r"document\['a'\]\['b'\] must be finite, .* but is -inf"),
        ({"a": np.float64("inf")}, r"must be finite"),
        ({"a": np.int64(1)}, r"document\['a'\] must be text, .* type int64"),
        ({"a": np.zeros(2)}, r"of type ndarray"),
        ({"a": {1, 2}}, r"of type set"),
        ({"a": b"x"}, r"of type bytes"),
        ({1: "a", "1": "b"}, r"document must have text as keys, but one is 1"),
        ({"a": {None: 1}}, r"document\['a'\] must have text as keys, but one is None"),
        ({"a": 10**5000}, r"document\['a'\] must be an int of at most 3000 bits"),
        ({"a": deep(100)}, r"nested more than 100 levels"),
        ({"a": deep(100_000)}, r"nested more than 100 levels"),
        (CIRCLE, r"nested more than 100 levels"),
        ([("a", 1)], r"document must be a mapping, but is of type list"),
        ({"a": "x" * 10_000_000}, r"must fit into 10000000 bytes of JSON"),
    ],
    ids=range(15),
)
def test_other_documents_are_refused(tmp_path, document, message):
    with pytest.raises(ParameterError, match=message):
        write_model_file(tmp_path / "model", document, {})
    assert list(tmp_path.iterdir()) == []


def test_arrays_must_be_a_mapping(tmp_path):
    with pytest.raises(ParameterError, match=r"arrays must be a mapping .* list"):
        write_model_file(tmp_path / "model", {}, [np.zeros(1)])


def test_what_may_be_written_may_be_read(tmp_path):
    document = {"deep": deep(98), "long": 2**3000 - 1, "text": "x" * 9_000_000}
    assert read_model_file(write_model_file(tmp_path / "model", document, {}))[0] == document


# What is refused when it is read.

ONE = {"x": entry("F64", [2], 0, 16)}
DATA = bytes(16)
PICKLES = [
    *(pickle.dumps({"a": [1]}, protocol=protocol) for protocol in (2, 3, 4, 5)),
    *(pickle.dumps(value, protocol=2) for value in (1, "a{" * 9)),
]


def zipped() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, x=np.zeros(3))
    assert zipfile.is_zipfile(buffer)
    return buffer.getvalue()


def edited(**changes: Any) -> bytes:
    return minimal({"x": ONE["x"] | changes}, DATA)


def pair(first: tuple[int, int], second: tuple[int, int]) -> bytes:
    places = {"x": first, "y": second}
    return minimal({name: entry("U8", [end - begin], begin, end) for name, (begin, end) in places.items()}, DATA)


CHECKSUM = "is damaged: its checksum differs"
NOT_ALDSURV = "is a safetensors file, but not one of aldsurv."
ENTRY = "must have dtype, shape and data_offsets and nothing else"
COVERED = "is damaged or cut short: Error while deserializing header: incomplete metadata, file not fully covered"

REFUSALS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty."),
    "one byte": (b"x", "is too short for a model file: it has 1 bytes."),
    "eight bytes": (bytes(8), "is too short"),
    "no header": (bytes(64), "its header is no JSON object"),
    "text": (b"time,event\n1,1\n", "its header would have"),
    "header beyond the file": (minimal(ONE, DATA)[:100], "cut short or no model file: its header has"),
    "header too long": ((10_000_001).to_bytes(8, "little") + b"{", "its header would have 10000001 bytes"),
    "header far too long": (b"\xff" * 8 + b"{}", "its header would have 18446744073709551615 bytes"),
    "header not UTF-8": (packed(b'{"\xff":1}'), "its header is not UTF-8"),
    "header a list": (packed("[]"), "its header is no JSON object"),
    **{
        f"header {text!r}": (packed(text), "its header is not JSON")
        for text in ("{}".encode("utf-16-le"), "{'a': 1}", '{"a": ', "{}{}")
    },
    "header with a key twice": (packed('{"a": 1, "b": 2, "a": 1}'), "the key 'a' twice"),
    "inner key twice": (packed('{"a": {"shape": [], "shape": []}}'), "the key 'shape' twice"),
    "deep": (packed('{"a":' + "[" * 200_000), "its header is nested too deeply"),
    "deep objects": (packed('{"a":' * 200_000), "its header is nested too deeply"),
    **{
        f"number {number[:9]} of {len(number)}": (packed(f'{{"a": {number}}}'), f"the number '{number[:3]}")
        for number in ("NaN", "1e400", "1" * 5000, "1" * 9_000_000, "0." + "1" * 5000)
    },
    "another program": (safetensors.numpy.save({"x": np.zeros(3)}), NOT_ALDSURV),
    "another with metadata": (safetensors.numpy.save({"x": np.zeros(3, np.float16)}, {"format": "pt"}), NOT_ALDSURV),
    "no metadata": (packed({"__metadata__": None}), NOT_ALDSURV),
    "newer": (
        minimal({"x": {"codec": "new"}}, DATA, schema="7"),
        "was written by a newer aldsurv (schema 7, this version reads up to 1): upgrade aldsurv.",
    ),
    **{
        f"schema {text[:4]!a}": (minimal({}, schema=text), "is damaged: its schema is ")
        for text in ("one", "0", "-1", "9" * 5000, "١")
    },
    "schema a number": (minimal({}, schema=1), "'schema' in its metadata is not text"),
    "document a mapping": (minimal({}, aldsurv={}), "'aldsurv' in its metadata is not text"),
    "document not JSON": (minimal({}, aldsurv="{"), "its document is not JSON"),
    "document a list": (minimal({}, aldsurv="[1]"), "its document is no JSON object"),
    "document deep": (minimal({}, aldsurv='{"a":' + "[" * 200_000), "its document is nested too deeply"),
    "document with NaN": (minimal({}, aldsurv='{"a": -Infinity}'), "the number '-Infinity'"),
    "document with a key twice": (minimal({}, aldsurv='{"a": 1, "a": 2}'), "the key 'a' twice"),
    "no document": (packed({"__metadata__": {"format": "aldsurv", "schema": "1"}}), "'aldsurv' is missing"),
    "entry a list": (minimal({"x": []}), ENTRY),
    "entry without shape": (minimal({"x": {"dtype": "F64", "data_offsets": [0, 8]}}, DATA), ENTRY),
    "entry with more": (edited(more=1), ENTRY),
    "unknown dtype": (edited(dtype="F16"), "has the dtype 'F16', not one of F64, F32"),
    "dtype a list": (edited(dtype=["F64"]), "has the dtype ['F64']"),
    "shape a number": (edited(shape=2), "has the shape 2, which is no list"),
    "shape text": (edited(shape="2"), "has the shape '2'"),
    **{
        f"shape {shape}": (edited(shape=shape), "expected usize")
        for shape in ([-2], [-1, -2], [2.0], [2, True], [[2]], [None])
    },
    # The product of the second is 2 in 64 bits, and that of the third 0.
    **{
        f"shape {str(shape)[:30]}": (minimal({"x": entry("F64", shape, 0, end)}, DATA[:end]), "which is too large")
        for shape, end in (([2**64], 16), ([2**62, 4, 2], 16), ([0, 2**40, 2**40], 0), ([1] * 40 + [2], 16))
    },
    "offsets three": (edited(data_offsets=[0, 16, 16]), "invalid length 3, expected 2 elements"),
    **{
        f"offsets {offsets}": (edited(data_offsets=offsets), "expected usize")
        for offsets in ([False, 16], [0.0, 16.0], [-16, 0])
    },
    "offsets backwards": (edited(data_offsets=[16, 0]), "invalid offset for tensor `x`"),
    "offsets too far apart": (edited(shape=[1]), "invalid shape, data type, or offset"),
    "other dtype": (edited(dtype="F32"), "invalid shape, data type, or offset"),
    **{
        f"places {places}": (pair(*places), "invalid offset for tensor")
        for places in (((0, 9), (8, 16)), ((0, 16), (0, 16)), ((0, 7), (8, 16)))
    },
    "gap at the start": (minimal({"x": entry("F64", [1], 8, 16)}, DATA), "invalid offset for tensor `x`"),
    "beyond the file": (minimal(ONE, DATA)[:-1], COVERED),
    "far beyond the file": (minimal({"x": entry("U8", [2**50], 0, 2**50)}), COVERED),
    "trailing bytes": (minimal(ONE, DATA) + b"\x00", COVERED),
    "damaged tensor": (minimal(ONE, DATA)[:-1] + b"\x01", CHECKSUM),
    "renamed tensor": (minimal(ONE, DATA).replace(b'"x"', b'"y"'), CHECKSUM),
    "turned shape": (minimal({"x": entry("U8", [2, 8], 0, 16)}, DATA).replace(b"[2,8]", b"[8,2]"), CHECKSUM),
    "another dtype of the same size": (minimal(ONE, DATA).replace(b"F64", b"I64"), CHECKSUM),
    "changed document": (minimal({}, aldsurv='{"members":5}').replace(b":5}", b":6}"), CHECKSUM),
    "zip": (zipped(), "looks like a zip file; aldsurv never runs code from a file"),
    "empty zip": (b"PK\x05\x06" + bytes(18), "looks like a zip file"),
    **{f"pickle {n}": (raw, "looks like a pickle file; aldsurv never runs code") for n, raw in enumerate(PICKLES)},
    "long names": (minimal({"x" * 5000 + "\n": []}), ENTRY),
    "long names of wrong places": (minimal({"x" * 5000: entry("F64", [1], 8, 16)}, DATA), "invalid offset for tensor"),
    "names with line breaks": (minimal({"a\n\r\u2028\x1b": []}), r"tensor 'a\n\r\u2028\x1b' must"),
    "line breaks of wrong places": (
        minimal({"a\n\r\u2028\x1b": entry("F64", [1], 8, 16)}, DATA),
        r"invalid offset for tensor `a\n\r\u2028\x1b`",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_damaged_and_foreign_files_are_refused(tmp_path, case):
    raw, message = REFUSALS[case]
    path = tmp_path / "model"
    path.write_bytes(raw)
    with pytest.raises(ModelFileError) as caught:
        read_model_file(path)
    line = str(caught.value)
    assert message in line
    assert line.startswith(f"{str(path)!r} ")
    assert line.endswith(".")
    assert len(line.splitlines()) == 1
    assert len(line) < 300 + len(str(path))
    assert isinstance(caught.value, AldsurvError)
    assert isinstance(caught.value, ValueError)


def test_the_refused_files_are_one_step_from_good_ones(tmp_path):
    # Else the refusals above could be for another reason than the one each is about.
    for raw in (minimal(ONE, DATA), pair((0, 8), (8, 16)), minimal({}), minimal({}, aldsurv='{"a": 1e300}')):
        (tmp_path / "model").write_bytes(raw)
        read_model_file(tmp_path / "model")
        safetensors.numpy.load_file(tmp_path / "model")


def test_the_order_in_the_header_is_free(tmp_path):
    # A JSON object has none; safetensors, too, goes by the offsets.
    raw = minimal(
        {"y": entry("U8", [8], 8, 16), "x": entry("U8", [8], 0, 8), "e": entry("U8", [0], 8, 8)}, bytes(range(16))
    )
    (tmp_path / "model").write_bytes(raw)
    document, arrays = read_model_file(tmp_path / "model")
    assert same((document, arrays), (document, safetensors.numpy.load(raw)))
    assert arrays["y"][0] == 8


def test_a_header_may_begin_like_a_pickle(tmp_path):
    # 0x0280 = 640 bytes.
    for size in range(640):
        path = write_model_file(tmp_path / "model", {"pad": "x" * size}, {})
        if path.read_bytes()[:2] == b"\x80\x02":
            break
    else:
        pytest.fail("no header of 640 bytes")
    assert read_model_file(path)[0] == {"pad": "x" * size}


def test_a_file_may_be_too_large(tmp_path, whole):
    path = tmp_path / "model"
    path.write_bytes(whole)
    assert same(read_model_file(path, most_bytes=len(whole)), (DOCUMENT, ARRAYS))
    message = f"has {len(whole)} bytes, more than the {len(whole) - 1} that most_bytes allows"
    with pytest.raises(ModelFileError, match=message):
        read_model_file(path, most_bytes=len(whole) - 1)
    for wrong in (-1, 1.5, True, "9"):
        with pytest.raises(ParameterError, match="most_bytes must be a whole number from 0 on or None"):
            read_model_file(path, most_bytes=wrong)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder, not a file"):
        read_model_file(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_model_file(tmp_path / "nothing")


def refusal_at_once(path: str | os.PathLike[str]) -> str:
    """The message of a refusal, in a thread of its own: who opens a pipe the wrong way waits for ever."""
    messages: list[str] = []

    def read() -> None:
        try:
            read_model_file(path)
        except ModelFileError as error:
            messages.append(str(error))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(10)
    return messages[0] if messages else "no answer"


@POSIX
def test_pipes_and_devices_are_refused_at_once(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        assert refusal_at_once(path) == f"{str(path)!r} is a pipe or a device, not a file."
    # The same if the file becomes a pipe between the look at it and its opening.
    looks: list[int] = []

    def looked(mode: int, check: Any = model_file._require_regular) -> None:
        looks.append(mode)
        if len(looks) > 1:
            check(mode)

    monkeypatch.setattr(model_file, "_require_regular", looked)
    assert "is a pipe or a device" in refusal_at_once(tmp_path / "pipe")


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = write_model_file(tmp_path / "model", {}, {"x": np.zeros(100_000)})

    class Shrinking:
        """A file that becomes shorter between the checks of its layout and the reading of its tensors."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            self.file = safetensors_safe_open(*arguments, **options)

        def __enter__(self) -> Any:
            file = self.file.__enter__()
            os.truncate(path, 100_000)
            return file

        def __exit__(self, *error: Any) -> None:
            self.file.__exit__(*error)

    safetensors_safe_open = safetensors.safe_open
    monkeypatch.setattr(safetensors, "safe_open", Shrinking)
    with pytest.raises(ModelFileError, match=r"is damaged or cut short: Could not read tensor x .*\. Copy"):
        read_model_file(path)


def test_a_file_that_is_replaced_while_it_is_read_is_read_as_it_was(tmp_path, monkeypatch, whole):
    path = tmp_path / "model"
    path.write_bytes(whole)

    def replaced(name: str, item: Any, check: Any = model_file._check_entry) -> None:
        check(name, item)
        write_model_file(path, {"new": 1}, {"y": np.ones(3)})

    monkeypatch.setattr(model_file, "_check_entry", replaced)
    if Path("/dev/fd").exists():
        assert same(read_model_file(path), (DOCUMENT, ARRAYS))
    else:
        with pytest.raises(ModelFileError, match="checksum differs"):
            read_model_file(path)


# Memory.


def peak_of_reading(path: Path) -> int:
    tracemalloc.start()
    try:
        read_model_file(path)
    except ModelFileError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak


def test_reading_takes_the_memory_of_the_file(tmp_path):
    arrays = {f"x{n}": np.zeros(500_000) for n in range(4)} | {"mask": np.zeros(2_000_000, bool)}
    path = write_model_file(tmp_path / "model", {}, arrays)
    size = path.stat().st_size
    assert 0.9 * size < peak_of_reading(path) < 1.02 * size


def test_no_memory_is_taken_for_what_is_not_there(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(minimal({f"x{n}": entry("U8", [2**33], n * 2**33, (n + 1) * 2**33) for n in range(4)}))
    assert peak_of_reading(path) < 100_000
    # Nor for a large file whose header does not speak of that much.
    path.write_bytes(minimal(ONE, DATA))
    os.truncate(path, 300_000_000)
    assert peak_of_reading(path) < 100_000


# Random damage.


def flip(raw: bytes, dice: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(dice.choice([1, 1, 1, 2, 8])):
        changed[dice.randrange(len(raw))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def cut(raw: bytes, dice: random.Random) -> bytes:
    return raw[: dice.randrange(len(raw))]


def insert(raw: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(raw) + 1)
    return raw[:place] + dice.randbytes(dice.choice([1, 1, 8, 40])) + raw[place:]


def splice(raw: bytes, dice: random.Random) -> bytes:
    first, second, third = (dice.randrange(len(raw)) for _ in range(3))
    return raw[:first] + raw[second:third] + raw[max(second, third) :]


def change_length(raw: bytes, dice: random.Random) -> bytes:
    length = int.from_bytes(raw[:8], "little")
    step = dice.choice([-length, -8, -1, 1, 8, 16, len(raw), 10**7, 2**40, 2**63])
    return ((length + step) % 2**64).to_bytes(8, "little") + raw[8:]


JUNK: list[Any] = [
    None, True, -1, 0, 1, 2, 3, 5, 8, 12, 2**31, 2**53, 2**63, 2**64, 1.0, 1e300, "", "F64", "I64", "U8", "BOOL", "F16",
    [], [0], [1], [0, 0], [0, 8], [8, 0], [2**40, 2**40], [3, 2, 2], [12], [0, 2**62], {}, {"a": 1},
]  # fmt: skip


def edit_header(raw: bytes, dice: random.Random) -> bytes:
    """The header changed as JSON and signed anew, so that only the checks of the structure can refuse it."""
    header, data = parts(raw)
    for _ in range(dice.choice([1, 1, 2, 3])):
        names = [name for name in header if name != "__metadata__"]
        name, other = dice.choice(names), dice.choice(names)
        kind = dice.randrange(8)
        if kind == 0 and len(names) > 1:
            del header[name]
        elif kind == 1:
            header[dice.choice(["new", "", "weights2"])] = dice.choice([header[name], *JUNK])
        elif kind == 2:
            header[name], header[other] = header[other], header[name]
        elif kind == 3:
            data = dice.choice([data[:-1], data + b"\x00", data + bytes(64), data[8:]])
        elif isinstance(header[name], dict) and header[name].keys() == entry(0, 0, 0, 0).keys():
            field = dice.choice(["dtype", "shape", "data_offsets", "data_offsets"])
            old = header[name][field]
            if kind == 4:
                header[name] = header[name] | {field: dice.choice(JUNK)}
            elif kind == 5 and isinstance(old, list) and old:
                place, step = dice.randrange(len(old)), dice.choice([-8, -1, 1, 4, 8, 2**63, 0.5])
                new = [item + step if n == place and type(item) is int else item for n, item in enumerate(old)]
                header[name] = header[name] | {field: new}
            elif kind == 6 and isinstance(old, list):
                header[name] = header[name] | {field: dice.choice([old[::-1], [*old, 1], [*old, 0], old[:-1]])}
            elif kind == 7:
                header[name] = {key: item for key, item in header[name].items() if key != field}
    items = list(header.items())
    dice.shuffle(items)
    return packed(signed(dict(items), data), data)


def outcome(path: Path, raw: bytes) -> str | tuple[Any, Any]:
    path.write_bytes(raw)
    try:
        return read_model_file(path)
    except ModelFileError as error:
        return str(error).removeprefix(f"{str(path)!r} ")


def test_random_damage_is_seen(tmp_path, whole):
    dice = random.Random(20)
    path, seen, untouched = tmp_path / "model", Counter(), 0
    for turn in range(3_000):
        raw = dice.choice([flip, flip, cut, insert, splice, change_length])(whole, dice)
        found = outcome(path, raw)
        if isinstance(found, str):
            seen[found[:20]] += 1
        else:
            assert same(found, (DOCUMENT, ARRAYS))
            untouched += 1
        # Measuring takes longer than reading.
        assert turn % 40 or peak_of_reading(path) < 100_000
    # The checksum is what most damage meets, and the padding of the header is all that may change unseen.
    assert untouched < 200
    for start in ("is damaged: its chec", "is damaged or cut sh", "is cut short or no m", "is damaged or no mod"):
        assert seen[start] > 20, seen


def test_random_headers_are_refused_or_mean_what_safetensors_reads(tmp_path, whole):
    dice = random.Random(21)
    path, refused, accepted = tmp_path / "model", [], 0
    for turn in range(3_000):
        raw = edit_header(whole, dice)
        found = outcome(path, raw)
        if isinstance(found, str):
            refused.append(found)
        else:
            accepted += 1
            assert same(found, (DOCUMENT, safetensors.numpy.load(raw)))
        assert turn % 40 or peak_of_reading(path) < 100_000
    # All checks of the structure are reached, and the checksum never stands in for one.
    assert accepted > 100
    assert not any("checksum" in line for line in refused)
    for words in ("invalid offset", "expected usize", "expected 2 elements", "invalid shape", "not fully covered",
                  "the dtype", "no list", "too large", "must have dtype"):  # fmt: skip
        assert sum(words in line for line in refused) > 2, words


@given(raw=st.binary(max_size=200), header=st.booleans())
def test_arbitrary_bytes_are_refused(tmp_path_factory, raw, header):
    path = tmp_path_factory.getbasetemp() / "arbitrary"
    assert isinstance(outcome(path, packed(b"{" + raw) if header else raw), str)


JSON = st.recursive(
    LEAVES | st.text(max_size=3) | st.sampled_from(JUNK), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@given(
    entries=st.dictionaries(
        st.text(max_size=2), st.fixed_dictionaries({"dtype": JSON, "shape": JSON, "data_offsets": JSON}) | JSON
    ),
    data=st.binary(max_size=32),
)
def test_arbitrary_entries_are_refused_or_mean_what_safetensors_reads(tmp_path_factory, entries, data):
    raw = minimal(entries, data)
    found = outcome(tmp_path_factory.getbasetemp() / "entries", raw)
    assert isinstance(found, str) or same(found, ({}, safetensors.numpy.load(raw)))


# Writing is all or nothing.


class FullDisk(io.BufferedWriter):
    """A file whose disk is full after a few bytes."""

    def write(self, content: Any, /) -> int:
        super().write(bytes(content)[:10])
        raise OSError("no space left")


def failing_with(error: BaseException) -> Any:
    def fail(*_: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize("old", [True, False], ids=["over an old file", "to a new file"])
@pytest.mark.parametrize("error", [OSError("broken"), KeyboardInterrupt(), MemoryError()], ids=repr)
@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_what_fails_leaves_no_trace(tmp_path, monkeypatch, whole, step, error, old):
    path = tmp_path / "model"
    if old:
        path.write_bytes(whole)
    with monkeypatch.context() as patch:
        if step == "write":
            error = OSError("no space left")
            patch.setattr(os, "fdopen", lambda descriptor, mode: FullDisk(io.FileIO(descriptor, mode)))
        elif step == "fsync":
            patch.setattr(os, "fsync", failing_with(error))
        else:
            patch.setattr(Path, "replace", failing_with(error))
        with pytest.raises(type(error)) as caught:
            write_model_file(path, {"new": 1}, ARRAYS)
        assert str(caught.value) == str(error)
    assert list(tmp_path.iterdir()) == ([path] if old else [])
    assert not old or path.read_bytes() == whole
    # And the same call succeeds where nothing fails.
    write_model_file(path, {"new": 1}, ARRAYS)
    assert same(read_model_file(path), ({"new": 1}, ARRAYS))
    assert list(tmp_path.iterdir()) == [path]


def test_the_content_is_on_the_disk_before_it_gets_its_name(tmp_path, monkeypatch, whole):
    steps: list[str] = []

    def synced(descriptor: int) -> None:
        assert os.fstat(descriptor).st_size == len(whole)
        steps.append("fsync")

    def replaced(self: Path, target: Path, replace: Any = Path.replace) -> Path:
        assert self.read_bytes() == whole
        assert self.parent == target.parent
        steps.append("replace")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write_model_file(tmp_path / "model", DOCUMENT, ARRAYS)
    assert steps == ["fsync", "replace"]


KILLED = """
import os, sys, time
import numpy as np
from aldsurv.files.model_file import write_model_file

path, how = sys.argv[1:]
arrays = {f"x{n}": np.full(250_000, float(n)) for n in range(4)}
if how == "before the end":
    def wait(descriptor):
        print("waiting", flush=True)
        time.sleep(60)
    os.fsync = wait
turn = 0
while True:
    write_model_file(path, {"turn": turn}, arrays)
    if turn == 0:
        print("waiting", flush=True)
    turn += 1
"""


def killed_writer(path: Path, how: str, seconds: float) -> None:
    source = str(Path(model_file.__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), how], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "waiting\n"
            time.sleep(seconds)
            assert process.poll() is None
        finally:
            process.kill()


def test_a_killed_writer_leaves_the_old_file(tmp_path, whole):
    path = tmp_path / "model"
    path.write_bytes(whole)
    killed_writer(path, "before the end", 0.0)
    assert path.read_bytes() == whole
    unfinished = set(tmp_path.iterdir()) - {path}
    # It was killed with all written but the name: without the detour, the old file would be gone.
    assert [file.stat().st_size > 8_000_000 for file in unfinished] == [True]


def test_a_writer_killed_at_any_time_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model"
    dice = random.Random(3)
    for _ in range(4):
        killed_writer(path, "at any time", dice.uniform(0.0, 0.1))
        document, arrays = read_model_file(path)
        assert document["turn"] >= 0
        assert all((arrays[f"x{n}"] == n).all() for n in range(4))


def test_writers_at_the_same_time_do_not_mix(tmp_path):
    path = tmp_path / "model"
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(10):
                write_model_file(path, {"by": number}, {"x": np.full(20_000, number)})
                document, arrays = read_model_file(path)
                assert (arrays["x"] == document["by"]).all()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(tmp_path.iterdir()) == [path]


@POSIX
@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077], ids=oct)
def test_permissions_are_those_of_any_new_file(tmp_path, mask):
    before = os.umask(mask)
    try:
        path = write_model_file(tmp_path / "model", {}, {})
        (tmp_path / "plain").touch()
    finally:
        os.umask(before)
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_paths_may_be_text_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert write_model_file("model", {"a": 1}, {}) == Path("model")
    assert read_model_file("model")[0] == {"a": 1}
    Path("broken").touch()
    with pytest.raises(ModelFileError, match=r"^'broken' is empty\.$"):
        read_model_file("broken")


@POSIX
def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    longest = tmp_path / ("m" * 255)
    assert read_model_file(write_model_file(longest, {}, {}))[0] == {}


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_model_file(tmp_path / "nothing" / "model", {}, {})
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_model_file(tmp_path / "folder", {}, {})
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


def test_reading_needs_numpy_and_safetensors_alone(tmp_path):
    path = write_model_file(tmp_path / "model", DOCUMENT, ARRAYS)
    code = (
        "import sys; from aldsurv.files.model_file import read_model_file; assert 'safetensors' not in sys.modules;"
        "read_model_file(sys.argv[1]); print([name for name in ('torch', 'scipy') if name in sys.modules])"
    )
    source = str(Path(model_file.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        capture_output=True, text=True, check=True, env=os.environ | {"PYTHONPATH": source},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
