"""One file for a trained model: a JSON document and named arrays in the safetensors format, data and never code.

The format is eight bytes of header length, a JSON header and the raw tensors, all little-endian. The document is a
JSON text under `aldsurv` in the header's `__metadata__`, beside `format`, `schema` and `sha256`. That checksum is of
what the file says, not of how it is laid out, so that it outlives another program's rewriting: of the compact JSON
`[metadata without sha256, [[name, dtype, shape], ...]]` with sorted keys and ASCII escapes, followed by the bytes of
the tensors, both in the order of their names. It shows damage; it does not show who wrote the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import reprlib
import stat
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.files.writing import whole_file

__all__ = ["ModelFileError", "read_model_file", "write_model_file"]

_SCHEMA = 1
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_CODES = {(dtype.kind, dtype.itemsize): code for code, dtype in _DTYPES.items()}
_ENTRY = {"dtype", "shape", "data_offsets"}
_MOST_HEADER_BYTES = 10_000_000
_MOST_AXES = 32
# Far below where json gives up, which depends on how deep its caller is.
_MOST_LEVELS = 100
# Text becomes an int in quadratic time, and not every Python that runs this has a limit of its own.
_MOST_DIGITS = 1000
_MAGIC = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"} | {bytes([0x80, n]): "pickle" for n in range(2, 6)}


class _FlawError(Exception):
    """What is wrong with a file, as the rest of a sentence that begins with the file's name."""


class _Tensor(NamedTuple):
    """Where an array lies among the tensors and what its bytes mean."""

    name: str
    code: str
    shape: tuple[int, ...]
    begin: int
    end: int


def write_model_file(
    path: str | os.PathLike[str], document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Path:
    """Write a model and return its path, which holds the old file or the whole new one, never a part.

    Equal content gives equal bytes, whatever the order of the keys.

    Parameters
    ----------
    path
        Where to; the folder must exist.
    document
        What JSON can hold: text, finite numbers, bools, None, and lists (tuples become lists) and mappings with text
        as keys of these. It comes back with its keys sorted.
    arrays
        Arrays of float64, float32, int64, int32, uint8 or bool by name, in any byte order and memory layout.
    """
    values = {name: _little_endian(name, arrays[name]) for name in _sorted_names(arrays)}
    # The widest first, so that each tensor begins at a multiple of its item's size, as other readers like it.
    order = sorted(values, key=lambda name: (-values[name].dtype.itemsize, name))
    tensors, begin = [], 0
    for name in order:
        value = values[name]
        tensors.append(_Tensor(name, _code(value.dtype), value.shape, begin, begin + value.nbytes))
        begin += value.nbytes
    head = _header_bytes(_document_text(document), tensors, values)
    with whole_file(path, durable=True) as file:
        file.write(head)
        for name in order:
            file.write(_raw(values[name]).data)
    return Path(path)


def read_model_file(
    path: str | os.PathLike[str], *, most_bytes: int | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Document and arrays (read-only, sorted by name) of a file that `write_model_file` wrote.

    Nothing in the file is run, and no memory is taken for arrays that the file is too short for. What is JSON in it,
    at most 10 MB, may take thirty times its size while it is read if it is made to.

    Parameters
    ----------
    path
        The file.
    most_bytes
        The largest file to read, for files of strangers; None reads any.

    Raises
    ------
    ModelFileError
        The file is damaged, no model of aldsurv, or of a newer version; the message is one line that says which.
    OSError
        The file is not there or may not be read.
    """
    if most_bytes is not None and (type(most_bytes) is not int or most_bytes < 0):
        raise ParameterError(f"most_bytes must be None or an int not below 0, but is {reprlib.repr(most_bytes)}.")
    source = Path(path)
    try:
        # Before opening, which has effects on some devices and waits for ever on a pipe without a writer.
        _require_regular(source.stat().st_mode)
        with open(source, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            _require_regular(status.st_mode)
            if most_bytes is not None and status.st_size > most_bytes:
                raise _FlawError(f"has {status.st_size} bytes, more than the {most_bytes} that most_bytes allows")
            return _read(file, status.st_size)
    except _FlawError as flaw:
        raise ModelFileError(f"{str(source)!r} {flaw}.") from None


def _sorted_names(arrays: Mapping[str, Any]) -> list[str]:
    if not isinstance(arrays, Mapping):
        raise ParameterError(f"arrays must be a mapping of names to arrays, but is of type {type(arrays).__name__}.")
    for name in arrays:
        if not isinstance(name, str) or name == "__metadata__" or not _is_unicode(name):
            raise ParameterError(
                f"arrays must have Unicode text other than '__metadata__' as names, but one is {reprlib.repr(name)}."
            )
    return sorted(arrays)


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text: half of a surrogate pair is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _code(dtype: np.dtype[Any]) -> str:
    return _CODES[dtype.kind, dtype.itemsize]


def _little_endian(name: str, value: Any) -> NDArray[Any]:
    label = f"arrays[{reprlib.repr(name)}]"
    # A mask would be lost without a word.
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise ParameterError(f"{label} must be a numpy array, but is of type {type(value).__name__}.")
    code = _CODES.get((value.dtype.kind, value.dtype.itemsize))
    if code is None:
        raise ParameterError(
            f"{label} must be of float64, float32, int64, int32, uint8 or bool, but is of {value.dtype}. Convert it."
        )
    if value.ndim > _MOST_AXES:
        raise ParameterError(f"{label} must have at most {_MOST_AXES} axes, but has {value.ndim}. Reshape it.")
    return np.asarray(value, dtype=_DTYPES[code], order="C")


def _raw(value: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of a contiguous array, not copied."""
    return value.reshape(-1).view(np.uint8)


def _header_bytes(text: str, tensors: Iterable[_Tensor], values: Mapping[str, NDArray[Any]]) -> bytes:
    metadata = {"aldsurv": text, "format": "aldsurv", "schema": str(_SCHEMA)}
    metadata["sha256"] = _checksum(metadata, tensors, values)
    header: dict[str, Any] = {"__metadata__": metadata}
    for tensor in tensors:
        header[tensor.name] = {
            "dtype": tensor.code,
            "shape": tensor.shape,
            "data_offsets": (tensor.begin, tensor.end),
        }
    encoded = json.dumps(header, separators=(",", ":")).encode("ascii")
    encoded += b" " * (-len(encoded) % 8)
    if len(encoded) > _MOST_HEADER_BYTES:
        raise ParameterError(
            f"document and the names of arrays must fit into {_MOST_HEADER_BYTES} bytes of JSON, "
            f"but take {len(encoded)}. Put long lists of numbers into arrays."
        )
    return len(encoded).to_bytes(8, "little") + encoded


def _document_text(document: Mapping[str, Any]) -> str:
    if not isinstance(document, Mapping):
        raise ParameterError(f"document must be a mapping, but is of type {type(document).__name__}.")
    return json.dumps(_plain(document, "document", 0), separators=(",", ":"), sort_keys=True, allow_nan=False)


def _plain(value: Any, place: str, level: int) -> Any:
    """The value in the types JSON has, so that what is read equals what was written."""
    if level > _MOST_LEVELS:
        raise ParameterError(f"document must not be nested more than {_MOST_LEVELS} levels deep.")
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        # Three bits are less than one decimal digit.
        if value.bit_length() > 3 * _MOST_DIGITS:
            raise ParameterError(f"{place} must be an int of at most {3 * _MOST_DIGITS} bits, but is longer.")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ParameterError(f"{place} must be finite, since JSON has no other numbers, but is {float(value)}.")
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ParameterError(f"{place} must have text as keys, but one is {reprlib.repr(key)}.")
        return {key: _plain(item, f"{place}[{reprlib.repr(key)}]", level + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{row}]", level + 1) for row, item in enumerate(value)]
    raise ParameterError(
        f"{place} must be text, a number, a bool, None, a list or a mapping, but is of type {type(value).__name__}. "
        "Pass arrays as arrays, and what numpy computed through its tolist()."
    )


def _checksum(metadata: Mapping[str, str], tensors: Iterable[_Tensor], values: Mapping[str, NDArray[Any]]) -> str:
    known = {key: text for key, text in metadata.items() if key != "sha256"}
    by_name = sorted(tensors)
    content = [known, [[tensor.name, tensor.code, tensor.shape] for tensor in by_name]]
    digest = hashlib.sha256(json.dumps(content, separators=(",", ":"), sort_keys=True).encode("ascii"))
    for tensor in by_name:
        digest.update(_raw(values[tensor.name]).data)
    return digest.hexdigest()


def _require_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise _FlawError("is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise _FlawError("is a pipe or a device, not a file")


def _open_without_waiting(path: str, flags: int) -> int:
    # Windows has neither the flag nor pipes with a name in a folder.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BufferedReader, size: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    length = _header_length(file.read(9), size)
    file.seek(8)
    try:
        text = file.read(length).decode("utf-8")
    except UnicodeDecodeError:
        raise _FlawError("is damaged or no model file: its header is not UTF-8") from None
    header = _parsed(text, "header")
    metadata = _checked_metadata(header.pop("__metadata__", None))
    tensors = _checked_tensors(header, size - 8 - length)
    values = {tensor.name: _filled(file, tensor) for tensor in tensors}
    if _checksum(metadata, tensors, values) != metadata["sha256"]:
        raise _FlawError("is damaged: its checksum differs. Copy or write it again")
    for value in values.values():
        if value.dtype == np.bool_:
            # Other programs may write any byte for True; numpy must not meet but 0 and 1.
            np.minimum(_raw(value), 1, out=_raw(value))
    native = {name: values[name].astype(values[name].dtype.newbyteorder("="), copy=False) for name in sorted(values)}
    for value in native.values():
        value.setflags(write=False)
    return _parsed(metadata["aldsurv"], "document"), native


def _header_length(head: bytes, size: int) -> int:
    """The length of the header, checked before anything is read by it."""
    if size == 0:
        raise _FlawError("is empty")
    length = int.from_bytes(head[:8], "little")
    if head[8:] != b"{" or length > _MOST_HEADER_BYTES:
        # Not before: a header of 640 bytes makes a file that begins like a pickle.
        for magic, kind in _MAGIC.items():
            if head.startswith(magic):
                raise _FlawError(
                    f"looks like a {kind} file; aldsurv never runs code from a file and reads only its own"
                )
    if len(head) < 9:
        raise _FlawError(f"is too short for a model file: it has {size} bytes")
    if length > _MOST_HEADER_BYTES:
        raise _FlawError(
            f"is damaged or no model file: its header would have {length} bytes, over {_MOST_HEADER_BYTES}"
        )
    if length > size - 8:
        raise _FlawError(f"is cut short or no model file: its header has {length} bytes, of which {size - 8} are there")
    if head[8:] != b"{":
        raise _FlawError("is damaged or no model file: its header is no JSON object")
    return length


def _parsed(text: str, part: str) -> dict[str, Any]:
    """The JSON object in a text of strangers."""
    try:
        found = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_number, parse_float=_number, parse_int=_whole_number
        )
    except RecursionError:
        raise _FlawError(f"is damaged or no model file: its {part} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _FlawError(f"is damaged or no model file: its {part} is not JSON ({error})") from None
    if not isinstance(found, dict):
        raise _FlawError(f"is damaged or no model file: its {part} is no JSON object")
    if _levels(found) > _MOST_LEVELS + 1:
        raise _FlawError(f"is damaged or no model file: its {part} is nested more than {_MOST_LEVELS} levels deep")
    return found


def _levels(value: Any) -> int:
    """How many objects and lists are within each other; what they are made of must not be read deeper than written."""
    found, within = 0, [value]
    while within:
        found += 1
        parts = [item.values() if isinstance(item, dict) else item for item in within]
        within = [item for part in parts for item in part if isinstance(item, (dict, list))]
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _FlawError(f"is damaged or no model file: it has the key {reprlib.repr(twice)} twice in one JSON object")
    return found


def _number(text: str) -> float:
    if len(text) > _MOST_DIGITS or not math.isfinite(value := float(text)):
        raise _FlawError(f"is damaged or no model file: it has the number {reprlib.repr(text)}")
    return value


def _whole_number(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _FlawError(f"is damaged or no model file: it has the number {reprlib.repr(text)}")
    return int(text)


def _checked_metadata(metadata: Any) -> dict[str, str]:
    if not isinstance(metadata, dict) or metadata.get("format") != "aldsurv":
        raise _FlawError("is a safetensors file, but not one of aldsurv")
    for key in ("schema", "aldsurv", "sha256"):
        if key not in metadata:
            raise _FlawError(f"is damaged: {key!r} is missing from its metadata")
    for key, text in metadata.items():
        if not isinstance(text, str):
            raise _FlawError(f"is damaged: {reprlib.repr(key)} in its metadata is not text")
    # First of all checks of the content: a newer version may mean anything by the rest.
    schema = metadata["schema"]
    if not (schema.isascii() and schema.isdecimal() and len(schema) < 10 and int(schema) > 0):
        raise _FlawError(f"is damaged: its schema is {reprlib.repr(schema)}, which is no version")
    if int(schema) > _SCHEMA:
        raise _FlawError(
            f"was written by a newer aldsurv (schema {int(schema)}, this version reads up to {_SCHEMA}): "
            "upgrade aldsurv"
        )
    return metadata


def _checked_tensors(entries: Mapping[str, Any], room: int) -> list[_Tensor]:
    """The tensors in the order of their bytes, which they share out among them without a gap."""
    tensors = sorted((_tensor(*entry) for entry in entries.items()), key=lambda tensor: (tensor.begin, tensor.end))
    end = 0
    for tensor in tensors:
        if tensor.begin != end:
            wrong = "overlaps the one before" if tensor.begin < end else "leaves a gap before it"
            raise _FlawError(f"is damaged: tensor {reprlib.repr(tensor.name)} {wrong}")
        end = tensor.end
    if end > room:
        raise _FlawError(f"is cut short: its tensors have {end} bytes, of which {room} are there")
    if end < room:
        raise _FlawError(f"is damaged: {room - end} bytes follow its last tensor")
    return tensors


def _tensor(name: str, entry: Any) -> _Tensor:
    label = f"is damaged: tensor {reprlib.repr(name)}"
    if not isinstance(entry, dict) or set(entry) != _ENTRY:
        raise _FlawError(f"{label} must have dtype, shape and data_offsets and nothing else")
    code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise _FlawError(f"{label} has the dtype {reprlib.repr(code)}, not one of {', '.join(_DTYPES)}")
    if not _are_counts(shape) or len(shape) > _MOST_AXES:
        raise _FlawError(f"{label} has the shape {reprlib.repr(shape)}, which is none")
    if not _are_counts(offsets) or len(offsets) != 2:
        raise _FlawError(f"{label} has the data_offsets {reprlib.repr(offsets)}, which are none")
    bytes_each = _DTYPES[code].itemsize
    # numpy multiplies all axes but the empty ones.
    if bytes_each * math.prod(max(axis, 1) for axis in shape) > sys.maxsize:
        raise _FlawError(f"{label} has the shape {reprlib.repr(shape)}, which is too large")
    if offsets[1] - offsets[0] != bytes_each * math.prod(shape):
        raise _FlawError(
            f"{label} has {bytes_each * math.prod(shape)} bytes by its shape {reprlib.repr(shape)}, "
            f"but the data_offsets {reprlib.repr(offsets)}"
        )
    return _Tensor(name, code, tuple(shape), offsets[0], offsets[1])


def _are_counts(values: Any) -> bool:
    # The type itself, since True is an int too.
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= sys.maxsize for value in values)


def _filled(file: BufferedReader, tensor: _Tensor) -> NDArray[Any]:
    """The tensor read into memory of its own: a view into one buffer would keep all of it alive."""
    value: NDArray[Any] = np.empty(tensor.shape, _DTYPES[tensor.code])
    if file.readinto(_raw(value).data) != value.nbytes:
        raise _FlawError("is cut short: it became shorter while it was read")
    return value
