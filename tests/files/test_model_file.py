"""Model files: what is written comes back, to the bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aldsurv.errors import ParameterError
from aldsurv.files import model_file
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file
from files.model_bytes import (
    ARRAYS,
    DOCUMENT,
    DTYPES,
    entry,
    minimal,
    packed,
    parts,
    same,
    signed,
)

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
    read, arrays = read_model_file(write_model_file(tmp_path / "model", document, {}))
    assert read == document | {"tuple": [1, 2]}
    assert str(read["zero"]) == "-0.0"
    assert read["deep"]["a"] is True
    assert list(read) == sorted(document)
    assert arrays == {}
    assert list(read_model_file(write_model_file(tmp_path / "model", DOCUMENT, ARRAYS)).arrays) == sorted(ARRAYS)


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
