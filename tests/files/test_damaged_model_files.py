"""Damaged, forged and foreign model files: refused in one line, without code run or memory taken."""

from __future__ import annotations

import io
import os
import pickle
import random
import threading
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from aldsurv.errors import AldsurvError
from aldsurv.files import model_file
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file
from files.model_bytes import (
    ARRAYS,
    DATA,
    DOCUMENT,
    ONE,
    entry,
    minimal,
    packed,
    parts,
    peak_of_reading,
    same,
    signed,
)

LEAVES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


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
COVERED = "is cut short or damaged: incomplete metadata, file not fully covered. Copy or write it again."

REFUSALS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "is empty."),
    "one byte": (b"x", "is too short for a model file: it has 1 bytes."),
    "eight bytes": (bytes(8), "is too short"),
    "no header": (bytes(64), "its header is not a JSON object"),
    "text": (b"time,event\n1,1\n", "its header would have"),
    "header beyond the file": (minimal(ONE, DATA)[:100], "cut short or not a model file: its header has"),
    "header too long": ((10_000_001).to_bytes(8, "little") + b"{", "its header would have 10000001 bytes"),
    "header far too long": (b"\xff" * 8 + b"{}", "its header would have 18446744073709551615 bytes"),
    "header not UTF-8": (packed(b'{"\xff":1}'), "its header is not UTF-8"),
    "header a list": (packed("[]"), "its header is not a JSON object"),
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
    "document a list": (minimal({}, aldsurv="[1]"), "its document is not a JSON object"),
    "document deep": (minimal({}, aldsurv='{"a":' + "[" * 200_000), "its document is nested too deeply"),
    "document with NaN": (minimal({}, aldsurv='{"a": -Infinity}'), "the number '-Infinity'"),
    "document with a key twice": (minimal({}, aldsurv='{"a": 1, "a": 2}'), "the key 'a' twice"),
    "no document": (packed({"__metadata__": {"format": "aldsurv", "schema": "1"}}), "'aldsurv' is missing"),
    "entry a list": (minimal({"x": []}), ENTRY),
    "entry without shape": (minimal({"x": {"dtype": "F64", "data_offsets": [0, 8]}}, DATA), ENTRY),
    "entry with more": (edited(more=1), ENTRY),
    "unknown dtype": (edited(dtype="F16"), "has the dtype 'F16', not one of F64, F32"),
    "dtype a list": (edited(dtype=["F64"]), "has the dtype ['F64']"),
    "shape a number": (edited(shape=2), "has the shape 2, which is not a list"),
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
    with pytest.raises(ModelFileError, match=r"is cut short or damaged: Could not read tensor x .*\. Copy"):
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
    for turn in range(1_500):
        raw = dice.choice([flip, flip, cut, insert, splice, change_length])(whole, dice)
        result = outcome(path, raw)
        if isinstance(result, str):
            seen[result[:20]] += 1
        else:
            assert same(result, (DOCUMENT, ARRAYS))
            untouched += 1
        # Measuring takes longer than reading.
        assert turn % 40 or peak_of_reading(path) < 100_000
    # The checksum is what most damage meets, and the padding of the header is all that may change unseen.
    assert untouched < 200
    for start in ("is damaged: its chec", "is cut short or dama", "is cut short or not ", "is damaged or not a "):
        assert seen[start] > 20, seen


def test_random_headers_are_refused_or_mean_what_safetensors_reads(tmp_path, whole):
    dice = random.Random(21)
    path, refused, accepted = tmp_path / "model", [], 0
    for turn in range(1_500):
        raw = edit_header(whole, dice)
        result = outcome(path, raw)
        if isinstance(result, str):
            refused.append(result)
        else:
            accepted += 1
            assert same(result, (DOCUMENT, safetensors.numpy.load(raw)))
        assert turn % 40 or peak_of_reading(path) < 100_000
    # All checks of the structure are reached, and the checksum never stands in for one.
    assert accepted > 100
    assert not any("checksum" in line for line in refused)
    for words in ("invalid offset", "expected usize", "expected 2 elements", "invalid shape", "not fully covered",
                  "the dtype", "not a list", "too large", "must have dtype"):  # fmt: skip
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
    result = outcome(tmp_path_factory.getbasetemp() / "entries", raw)
    assert isinstance(result, str) or same(result, ({}, safetensors.numpy.load(raw)))
