"""One file for a trained model: a JSON document and named arrays in the safetensors format, data and never code.

The format is eight bytes of header length, a JSON header and the raw tensors, all little-endian. The document is a
JSON text under `aldsurv` in the header's `__metadata__`, beside `format`, `schema` and `sha256`. That checksum is of
what the file says, not of how it is laid out, so that it outlives another program's rewriting: of the compact JSON
`[metadata without sha256, [[name, dtype, shape], ...]]` with sorted keys and ASCII escapes, followed by the bytes of
the tensors, both in the order of their names. It shows damage; it does not show who wrote the file.

The package safetensors lays out the tensors and checks their layout when it reads them; what it leaves open (limits,
keys that occur twice, the dtypes, the document, the checksum) is checked here, before memory is taken for arrays.
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

from aldsurv.checks import WholeNumber, check
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.files.writing import whole_file
from aldsurv.quoting import printable, shortened

__all__ = ["ModelFile", "ModelFileError", "content_digest", "file_digest", "read_model_file", "write_model_file"]

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
_LONGEST_REASON = 160
_MAGIC = {b"PK\x03\x04": "zip", b"PK\x05\x06": "zip"} | {bytes([0x80, n]): "pickle" for n in range(2, 6)}


class ModelFile(NamedTuple):
    """The content of a model file: the document, and the arrays by name."""

    document: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


class _FlawError(Exception):
    """What is wrong with a file, as the rest of a sentence that begins with the file's name."""


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
    from safetensors.numpy import save

    metadata, values = _signed(document, arrays)
    # safetensors 0.8 writes metadata in random order (its issue 584), so they are put in afterwards.
    tensors = save(values)
    start = 8 + int.from_bytes(tensors[:8], "little")
    header = _header_bytes({"__metadata__": metadata} | json.loads(tensors[8:start]))
    with whole_file(path, durable=True) as file:
        file.write(header)
        file.write(memoryview(tensors)[start:])
    return Path(path)


def content_digest(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """The ``sha256`` of the file that `write_model_file` writes of the same content."""
    return _signed(document, arrays)[0]["sha256"]


def _signed(
    document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> tuple[dict[str, str], dict[str, NDArray[Any]]]:
    """Metadata of a file with its checksum, and its little-endian arrays in the order of their names."""
    values = {name: _little_endian(name, arrays[name]) for name in _sorted_names(arrays)}
    metadata = {"aldsurv": _document_text(document), "format": "aldsurv", "schema": str(_SCHEMA)}
    metadata["sha256"] = _checksum(metadata, values)
    return metadata, values


def read_model_file(path: str | os.PathLike[str], *, most_bytes: int | None = None) -> ModelFile:
    """Document and arrays (read-only, sorted by name) of a file that `write_model_file` wrote.

    Nothing in the file is run, and no memory is taken for arrays that the file is too short for. What is JSON in it,
    at most 10 MB, may take thirty times its size while it is read if it is made to.

    Parameters
    ----------
    path
        The file.
    most_bytes
        The largest file to read, for untrusted files; None reads any.

    Raises
    ------
    ModelFileError
        The file is damaged, no model of aldsurv, or of a newer version; the message is one line that says which.
    OSError
        The file is not there or may not be read.
    """
    check("most_bytes", most_bytes, WholeNumber(0), none=True)
    return _read_checked(Path(path), most_bytes)[1]


def file_digest(path: str | os.PathLike[str]) -> str:
    """The ``sha256`` of a model file, by which all that shows or exports a model names it.

    It is of the content, which is compared with it here, and not of the bytes: `sha256sum` prints another. A file of
    an older version keeps its own, which `content_digest` of the loaded model may not be.
    """
    return _read_checked(Path(path), None)[0]


def _read_checked(source: Path, most_bytes: int | None) -> tuple[str, ModelFile]:
    """Checksum and content."""
    try:
        # Before opening, which has effects on some devices and waits for ever on a pipe without a writer.
        _require_regular(source.stat().st_mode)
        with open(source, "rb", opener=_open_without_waiting) as file:
            status = os.fstat(file.fileno())
            _require_regular(status.st_mode)
            if most_bytes is not None and status.st_size > most_bytes:
                raise _FlawError(f"has {status.st_size} bytes, more than the {most_bytes} that most_bytes allows")
            return _read(file, source, status.st_size)
    except _FlawError as flaw:
        raise ModelFileError(f"{str(source)!r} {flaw}.") from None


def _sorted_names(arrays: Mapping[str, object]) -> list[str]:
    if not isinstance(arrays, Mapping):
        raise ParameterError(
            f"arrays must be a mapping of names to arrays, but is of type {type(arrays).__name__}.", argument="arrays"
        )
    for name in arrays:
        if not isinstance(name, str) or name == "__metadata__" or not _is_unicode(name):
            raise ParameterError(
                f"arrays must have Unicode text other than '__metadata__' as names, but one is {reprlib.repr(name)}.",
                argument="arrays",
            )
    return sorted(arrays)


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can hold the text: half of a surrogate pair is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _little_endian(name: str, value: object) -> NDArray[Any]:
    label = f"arrays[{reprlib.repr(name)}]"
    # The mask of a masked array would be lost.
    if not isinstance(value, np.ndarray) or isinstance(value, np.ma.MaskedArray):
        raise ParameterError(
            f"{label} must be a numpy array, but is of type {type(value).__name__}.", argument="arrays"
        )
    code = _CODES.get((value.dtype.kind, value.dtype.itemsize))
    if code is None:
        raise ParameterError(
            f"{label} must be of float64, float32, int64, int32, uint8 or bool, but is of {value.dtype}.",
            argument="arrays",
            advice="Convert it.",
        )
    if value.ndim > _MOST_AXES:
        raise ParameterError(
            f"{label} must have at most {_MOST_AXES} axes, but has {value.ndim}.",
            argument="arrays",
            advice="Reshape it.",
        )
    return np.asarray(value, dtype=_DTYPES[code], order="C")


def _header_bytes(header: Mapping[str, Any]) -> bytes:
    encoded = json.dumps(header, separators=(",", ":")).encode("ascii")
    # Tensors begin at a multiple of eight bytes, as other readers like it.
    encoded += b" " * (-len(encoded) % 8)
    if len(encoded) > _MOST_HEADER_BYTES:
        raise ParameterError(
            f"document and the names of arrays must fit into {_MOST_HEADER_BYTES} bytes of JSON, "
            f"but take {len(encoded)}.",
            argument="document",
            advice="Put long lists of numbers into arrays.",
        )
    return len(encoded).to_bytes(8, "little") + encoded


def _document_text(document: Mapping[str, Any]) -> str:
    if not isinstance(document, Mapping):
        raise ParameterError(
            f"document must be a mapping, but is of type {type(document).__name__}.", argument="document"
        )
    return json.dumps(_json_value(document, "document", 0), separators=(",", ":"), sort_keys=True, allow_nan=False)


def _json_value(value: object, place: str, level: int) -> object:
    """The value in the types JSON has, so that what is read equals what was written."""
    problem, advice = "", ""
    if level > _MOST_LEVELS:
        problem = f"document must not be nested more than {_MOST_LEVELS} levels deep."
    elif value is None or isinstance(value, (str, bool)):
        return value
    elif isinstance(value, int):
        # Three bits are less than one decimal digit.
        if value.bit_length() <= 3 * _MOST_DIGITS:
            return value
        problem = f"{place} must be an int of at most {3 * _MOST_DIGITS} bits, but is longer."
    elif isinstance(value, float):
        if math.isfinite(value):
            return value
        problem = f"{place} must be finite, since JSON has no other numbers, but is {float(value)}."
    elif isinstance(value, Mapping):
        other = [key for key in value if not isinstance(key, str)]
        if not other:
            return {key: _json_value(item, f"{place}[{reprlib.repr(key)}]", level + 1) for key, item in value.items()}
        problem = f"{place} must have text as keys, but one is {reprlib.repr(other[0])}."
    elif isinstance(value, (list, tuple)):
        return [_json_value(item, f"{place}[{row}]", level + 1) for row, item in enumerate(value)]
    else:
        allowed = "text, a number, a bool, None, a list or a mapping"
        problem = f"{place} must be {allowed}, but is of type {type(value).__name__}."
        advice = "Pass arrays as arrays, and what numpy computed through its tolist()."
    raise ParameterError(problem, argument="document", advice=advice)


def _checksum(metadata: Mapping[str, str], values: Mapping[str, NDArray[Any]]) -> str:
    """The SHA-256 of metadata and little-endian arrays, as this module's docstring defines it."""
    signed = {key: text for key, text in metadata.items() if key != "sha256"}
    names = sorted(values)
    entries = [[name, _CODES[values[name].dtype.kind, values[name].itemsize], values[name].shape] for name in names]
    digest = hashlib.sha256(json.dumps([signed, entries], separators=(",", ":"), sort_keys=True).encode("ascii"))
    for name in names:
        digest.update(_raw(values[name]).data)
    return digest.hexdigest()


def _raw(value: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of a contiguous array, not copied."""
    return value.reshape(-1).view(np.uint8)


def _require_regular(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise _FlawError("is a folder, not a file")
    if not stat.S_ISREG(mode):
        raise _FlawError("is a pipe or a device, not a file")


def _open_without_waiting(path: str, flags: int) -> int:
    # Windows has neither the flag nor pipes with a name in a folder.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(file: BufferedReader, path: Path, size: int) -> tuple[str, ModelFile]:
    length = _header_length(file.read(9), size)
    file.seek(8)
    try:
        text = file.read(length).decode("utf-8")
    except UnicodeDecodeError:
        raise _FlawError("is damaged or not a model file: its header is not UTF-8") from None
    header = _parse_json(text, "header")
    metadata = _checked_metadata(header.pop("__metadata__", None))
    for name, entry in header.items():
        _check_entry(name, entry)
    values = _read_arrays(file, path, header)
    if _checksum(metadata, values) != metadata["sha256"]:
        raise _FlawError("is damaged: its checksum differs. Copy or write it again")
    for value in values.values():
        if value.dtype == np.bool_:
            # Other programs may write any byte for True; numpy must meet only 0 and 1.
            np.minimum(_raw(value), 1, out=_raw(value))
    native = {name: values[name].astype(values[name].dtype.newbyteorder("="), copy=False) for name in sorted(values)}
    for value in native.values():
        value.setflags(write=False)
    return metadata["sha256"], ModelFile(_parse_json(metadata["aldsurv"], "document"), native)


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
            f"is damaged or not a model file: its header would have {length} bytes, over {_MOST_HEADER_BYTES}"
        )
    if length > size - 8:
        raise _FlawError(f"is cut short or not a model file: its header has {length} bytes, but there are {size - 8}")
    if head[8:] != b"{":
        raise _FlawError("is damaged or not a model file: its header is not a JSON object")
    return length


def _parse_json(text: str, part: str) -> dict[str, Any]:
    """The JSON object in an untrusted text."""
    try:
        parsed = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_number, parse_float=_number, parse_int=_whole_number
        )
    except RecursionError:
        raise _FlawError(f"is damaged or not a model file: its {part} is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _FlawError(f"is damaged or not a model file: its {part} is not JSON ({error})") from None
    if not isinstance(parsed, dict):
        raise _FlawError(f"is damaged or not a model file: its {part} is not a JSON object")
    if _levels(parsed) > _MOST_LEVELS + 1:
        raise _FlawError(f"is damaged or not a model file: its {part} is nested more than {_MOST_LEVELS} levels deep")
    return parsed


def _levels(value: object) -> int:
    """How many objects and lists are within each other: nothing may be read deeper than it may be written."""
    levels, within = 0, [value]
    while within:
        levels += 1
        parts = [item.values() if isinstance(item, dict) else item for item in within]
        within = [item for part in parts for item in part if isinstance(item, (dict, list))]  # type: ignore[attr-defined]
    return levels


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    items = dict(pairs)
    if len(items) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise _FlawError(f"is damaged or not a model file: it has the key {reprlib.repr(twice)} twice in an object")
    return items


def _number(text: str) -> float:
    if len(text) > _MOST_DIGITS or not math.isfinite(value := float(text)):
        raise _FlawError(f"is damaged or not a model file: it has the number {reprlib.repr(text)}")
    return value


def _whole_number(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise _FlawError(f"is damaged or not a model file: it has the number {reprlib.repr(text)}")
    return int(text)


def _checked_metadata(metadata: object) -> dict[str, str]:
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
        raise _FlawError(f"is damaged: its schema is {reprlib.repr(schema)}, which is not a version")
    if int(schema) > _SCHEMA:
        raise _FlawError(
            f"was written by a newer aldsurv (schema {int(schema)}, this version reads up to {_SCHEMA}): "
            "upgrade aldsurv"
        )
    return metadata


def _check_entry(name: str, entry: object) -> None:
    """What safetensors would let pass: other keys, other dtypes, and shapes that numpy has no array for."""
    label = f"is damaged: tensor {reprlib.repr(name)}"
    if not isinstance(entry, dict) or set(entry) != _ENTRY:
        raise _FlawError(f"{label} must have dtype, shape and data_offsets and nothing else")
    code, shape = entry["dtype"], entry["shape"]
    if not isinstance(code, str) or code not in _DTYPES:
        raise _FlawError(f"{label} has the dtype {reprlib.repr(code)}, not one of {', '.join(_DTYPES)}")
    if not isinstance(shape, list):
        raise _FlawError(f"{label} has the shape {reprlib.repr(shape)}, which is not a list")
    # numpy multiplies all axes except the empty ones, safetensors all; it refuses axes that are no counts.
    axes = [max(axis, 1) for axis in shape if type(axis) is int]
    if len(shape) > _MOST_AXES or _DTYPES[code].itemsize * math.prod(axes) > sys.maxsize:
        raise _FlawError(f"{label} has the shape {reprlib.repr(shape)}, which is too large")


def _read_arrays(file: BufferedReader, path: Path, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """The tensors, little-endian, each in memory of its own."""
    from safetensors import SafetensorError, safe_open

    try:
        # Read and not mapped into memory: a mapped file that becomes shorter ends the process.
        with safe_open(_path_of(file, path), "numpy", backend="pread") as tensors:
            values = {name: tensors.get_tensor(name) for name in names}
    except SafetensorError as error:
        reason = shortened(printable(error).removeprefix("Error while deserializing header: "), _LONGEST_REASON)
        raise _FlawError(f"is cut short or damaged: {reason}. Copy or write it again") from None
    return {name: np.asarray(value, value.dtype.newbyteorder("<")) for name, value in values.items()}


def _path_of(file: BufferedReader, path: Path) -> str:
    """A path to the file that is open, which stays the same if another file takes its name."""
    descriptor = f"/dev/fd/{file.fileno()}"
    if not Path(descriptor).exists():
        return str(path)
    # Where this path shares the position of the open file, it is read from its start.
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    return descriptor
