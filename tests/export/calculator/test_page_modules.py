"""Modules of the page without a page, run by Node: unpacking, Shapley values, numbers as text."""

from __future__ import annotations

import base64
import json
import math
import shutil
import subprocess
import zlib
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.plain_numbers import percent

NODE = shutil.which("node")
SCRIPT = Path(aldsurv.__file__).parent / "export" / "calculator" / "script"

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")


@pytest.fixture
def node(tmp_path):
    """Runs statements with modules of the page, and gives what they put into ``told``."""

    def run(imports, statements, given=None):
        lines = [
            f"import {{ {names} }} from {json.dumps((SCRIPT / name).as_uri())};" for name, names in imports.items()
        ]
        (tmp_path / "given.json").write_text(json.dumps(given), encoding="utf-8")
        lines += [
            'import { readFileSync } from "node:fs";',
            'const given = JSON.parse(readFileSync("given.json", "utf-8"));',
            statements,
            "process.stdout.write(JSON.stringify(told));",
        ]
        (tmp_path / "run.mjs").write_text("\n".join(lines), encoding="utf-8")
        done = subprocess.run([NODE, "run.mjs"], cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def packed(content, level, strategy):
    packer = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS, 9, strategy)
    return base64.b64encode(packer.compress(content) + packer.flush()).decode()


def test_bytes_that_zlib_packed_come_back(node):
    rng = np.random.default_rng(0)
    contents = [
        b"", b"a", b"abc" * 50_000, rng.bytes(70_000), rng.normal(size=9000).astype("<f4").tobytes() + b"\0" * 70_000,
        json.dumps({str(k): [k, k / 7] for k in range(4000)}).encode(),
    ]  # fmt: skip
    kinds = [(0, zlib.Z_DEFAULT_STRATEGY), (9, zlib.Z_DEFAULT_STRATEGY), (6, zlib.Z_FIXED), (9, zlib.Z_HUFFMAN_ONLY)]
    given = [{"packed": packed(content, *kind), "size": len(content)} for content in contents for kind in kinds]
    told = node(
        {"inflate.js": "bytesOfBase64, inflateBytes"},
        "const told = given.map(({ packed, size }) =>"
        " Buffer.from(inflateBytes(bytesOfBase64(packed), size)).toString('base64'));",
        given,
    )
    expected = [base64.b64encode(content).decode() for content in contents for _ in kinds]
    assert told == expected


def test_damaged_bytes_are_refused(node):
    content = b"abcdefgh" * 1000
    whole = base64.b64decode(packed(content, 9, zlib.Z_DEFAULT_STRATEGY))
    given = [
        {"packed": base64.b64encode(part).decode(), "size": size}
        for part, size in ((whole[: len(whole) // 2], 8000), (whole, 8001), (b"\xff\xff\xff", 3))
    ]
    told = node(
        {"inflate.js": "bytesOfBase64, inflateBytes"},
        "const told = given.map(({ packed, size }) => { try { inflateBytes(bytesOfBase64(packed), size); return ''; }"
        " catch (error) { return error.message; } });",
        given,
    )
    assert all("is damaged" in message for message in told)


MODEL = """
const model = { columns: given.names.map((name) => ({ name, kind: given.kinds[name] ?? "number" })) };
const value = (row) => {
  const x = given.names.map((name) => row[name] ?? -1);
  return x.reduce((sum, v, k) => sum + (k + 1) * v, 0) + given.mixed * x[0] * x[1] * x[2];
};
"""
ONCE = MODEL + "const told = shapleyValues(model, value, given.row, given.other);"


def described(d, mixed=0.0, kinds=None):
    names = [f"x{k}" for k in range(d)]
    row = {name: (k % 3) + 1.0 for k, name in enumerate(names)}
    other = dict.fromkeys(names, 0.0)
    return {"names": names, "row": row, "other": other, "mixed": mixed, "kinds": kinds or {}}


def worth(given, chosen):
    x = [given["row"][name] if k in chosen else given["other"][name] for k, name in enumerate(given["names"])]
    return sum((k + 1) * v for k, v in enumerate(x)) + given["mixed"] * x[0] * x[1] * x[2]


def test_shapley_values_are_means_over_all_orders(node):
    given = described(5, mixed=1.7)
    told = node({"shapley.js": "shapleyValues"}, ONCE, given)
    expected = np.zeros(5)
    for order in permutations(range(5)):
        for turn, place in enumerate(order):
            expected[place] += worth(given, order[: turn + 1]) - worth(given, order[:turn])
    assert told["exact"]
    np.testing.assert_allclose(told["values"], expected / math.factorial(5), rtol=1e-12)


def test_many_inputs_are_sampled_the_same_way_every_time(node):
    additive, mixed = described(13), described(13, mixed=2.0)
    statements = MODEL + "const told = [1, 2].map(() => shapleyValues(model, value, given.row, given.other));"
    first, second = node({"shapley.js": "shapleyValues"}, statements, additive)
    assert first == second
    assert not first["exact"]
    # What inputs add by themselves no order changes.
    np.testing.assert_allclose(first["values"], [(k + 1) * ((k % 3) + 1.0) for k in range(13)], rtol=1e-12)
    sampled, _ = node({"shapley.js": "shapleyValues"}, statements, mixed)
    np.testing.assert_allclose(sum(sampled["values"]), sampled["to"] - sampled["from"], rtol=1e-12)
    # Three inputs share equally in their product, 12 by 80 orders: three standard errors of the last in an order.
    shares = np.array(sampled["values"][:3]) - np.array(first["values"][:3])
    np.testing.assert_allclose(shares, 4.0, atol=3 * 12 * math.sqrt(2 / 9 / 80))


def test_too_many_inputs_are_refused(node):
    statements = (
        MODEL
        + """
    let told = "";
    try { shapleyValues(model, value, given.row, given.other); } catch (error) { told = error.message; }
    """
    )
    assert "61 inputs differ" in node({"shapley.js": "shapleyValues"}, statements, described(61))


def test_columns_of_strata_change_together(node):
    given = described(4, kinds={"x1": "stratum", "x3": "stratum"})
    told = node({"shapley.js": "shapleyValues"}, ONCE, given)
    assert told["inputs"] == [["x0"], ["x2"], ["x1", "x3"]]
    np.testing.assert_allclose(told["values"], [1.0, 9.0, 2 * 2.0 + 4 * 1.0])


def test_percentages_are_written_as_in_python(node):
    shares = [0, 0.0004, 0.001, 0.034, 0.05, 0.09949, 0.0996, 0.614, 0.99, 0.996, 0.9996, 1]
    told = node({"number_text.js": "percentText"}, "const told = given.map(percentText);", shares)
    assert [text.replace("\u00a0", " ") for text in told] == [percent(share) for share in shares]


def test_times_that_are_typed(node):
    typed = {
        "12, 36,60": [12, 36, 60], "60;12 12": [12, 60], "0.5": [0.5], "": None, "0": None, "-3": None, "soon": None,
        "1e400": None, ",".join(map(str, range(1, 14))): None,
    }  # fmt: skip
    told = node({"number_text.js": "readTimes"}, "const told = given.map(readTimes);", list(typed))
    assert dict(zip(typed, told, strict=True)) == typed


def test_a_typical_person_has_a_stratum_that_training_had(node):
    statements = """
    const column = (name, kind, extra) => ({ name, kind, levels: [], ...extra });
    const model = {
      columns: [
        column("age", "number", { median: Math.fround(4.7) }),
        column("sex", "levels", { levels: [{ value: "f" }, { value: "m" }] }),
        column("note", "left out", {}),
        column("site", "stratum", { levels: [{ value: 1 }, { value: 2 }] }),
        column("ward", "stratum", { levels: [{ value: "a" }, { value: "b" }] }),
      ],
      predict: (row) => { if (row.site !== 2 || row.ward !== "a") { throw new Error("no such stratum"); } },
    };
    const told = typicalRow(model);
    """
    told = node({"questions.js": "typicalRow"}, statements)
    assert told == {"age": 4.7, "sex": "f", "site": 2, "ward": "a"}
