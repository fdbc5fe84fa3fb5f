"""A model file as bytes, made without aldsurv: whole, or wrong in one place."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv.files.model_file import ModelFileError, read_model_file

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
    texts = {"aldsurv": "{}", "format": "aldsurv", "schema": "1"} | metadata
    return packed(signed({"__metadata__": texts} | entries, data), data)


def entry(dtype: Any, shape: Any, begin: Any, end: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


ONE = {"x": entry("F64", [2], 0, 16)}
DATA = bytes(16)


def peak_of_reading(path: Path) -> int:
    # Memory of other threads of this process counts too: what they take once, a second reading does not see.
    return min(_peak_of_reading(path) for _ in range(2))


def _peak_of_reading(path: Path) -> int:
    tracemalloc.start()
    try:
        read_model_file(path)
    except ModelFileError:
        pass
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return peak
