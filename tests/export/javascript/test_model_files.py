"""JavaScript reads what `write_model_file` wrote, and refuses what Python refuses."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aldsurv.files.model_file import ModelFileError, content_digest, read_model_file, write_model_file
from export.javascript.node import needs_node, run_script

pytestmark = needs_node

TEXTS = [
    "",
    "plain",
    'a "quote" and \\ and /',
    "Ωμέγα ä ß",
    "🧬 \U0010ffff",
    "\n\t\b\f\r\x00\x1f",
    "\x7f\x80\u2028\ufeff",
    "\ud7ff\ue000",
]
NAMES = ["a", "b.weight", "Z", "é", "\uffee", "🧬", "__proto__", "constructor", "\x7f", 'with "quotes"']
DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"texts": TEXTS, **dict.fromkeys(TEXTS, 1)},
    {"numbers": [0.1, -1e-300, 1e308, 5e-324, 3, -(2**53)], "nested": {"z": [[], {}, [None, True, False]]}},
    dict.fromkeys(NAMES, "value"),
]
DTYPES = (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_)


def random_arrays(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    arrays = {}
    for name in NAMES[: rng.integers(len(NAMES) + 1)]:
        shape = tuple(rng.integers(0, 4, rng.integers(4)).tolist())
        arrays[name] = np.array(100 * rng.random(shape)).astype(DTYPES[rng.integers(len(DTYPES))])
    return arrays


def read_by_javascript(contents: list[bytes]) -> list[dict[str, Any]]:
    return run_script("read_files.mjs", {"files": [b64encode(content).decode() for content in contents]})


def test_documents_and_arrays_are_read_as_they_were_written(tmp_path):
    written = [(DOCUMENTS[seed % len(DOCUMENTS)], random_arrays(seed)) for seed in range(40)]
    paths = [write_model_file(tmp_path / str(k), *content) for k, content in enumerate(written)]
    for (document, arrays), answer in zip(written, read_by_javascript([p.read_bytes() for p in paths]), strict=True):
        assert "error" not in answer
        assert answer["document"] == document
        assert answer["sha256"] == content_digest(document, arrays)
        given = dict(answer["arrays"])
        assert given.keys() == arrays.keys()
        for name, array in arrays.items():
            assert given[name]["shape"] == list(array.shape)
            assert np.array_equal(np.array(given[name]["data"], np.float64), array.ravel().astype(np.float64))


def damaged_files(whole: bytes) -> list[bytes]:
    """Cut short, prolonged, with bits flipped in every part, and other kinds of files."""
    rng = np.random.default_rng(0)
    flipped = []
    for place in range(0, len(whole), 4):
        changed = bytearray(whole)
        changed[place] ^= 1 << int(rng.integers(8))
        flipped.append(bytes(changed))
    cut = [whole[:size] for size in range(0, len(whole), 31)]
    others = [b"", b"{}", b"PK\x03\x04" + bytes(60), b"\x80\x04" + bytes(60), bytes(8) + b"{", b"\xff" * 64]
    newer = whole.replace(b'"schema":"1"', b'"schema":"2"')
    return [*flipped, *cut, *others, whole + b"\x00", newer]


def is_read_by_python(content: bytes, path: Path) -> bool:
    path.write_bytes(content)
    try:
        read_model_file(path)
    except ModelFileError:
        return False
    return True


def test_damage_is_refused_wherever_python_refuses_it(tmp_path):
    small = write_model_file(
        tmp_path / "small", {"kind": "ä test"}, {"a": np.arange(4.0), "b": np.ones((2, 3), np.float32)}
    )
    contents = damaged_files(small.read_bytes())
    answers = read_by_javascript(contents)
    for content, answer in zip(contents, answers, strict=True):
        if is_read_by_python(content, tmp_path / "damaged"):
            # A space or a key that is not signed may change without changing what the file says.
            assert answer.get("document") == {"kind": "ä test"}, answer
        else:
            assert "error" in answer, content
            assert "\n" not in answer["error"]
    assert sum("error" in answer for answer in answers) > 0.9 * len(answers)


@pytest.mark.parametrize("place", [100, -40])
def test_a_changed_model_is_not_loaded(place):
    frozen = Path(__file__).parents[2] / "models" / "frozen" / "weibull_aft_ridge.aldsurv"
    content = bytearray(frozen.read_bytes())
    content[place] ^= 1
    case = {"bytes": b64encode(bytes(content)).decode(), "rows": [], "what": [], "asked": []}
    [answer] = run_script("predict.mjs", {"cases": [case]})
    assert "damaged" in answer["error"] or "not a model file" in answer["error"]
