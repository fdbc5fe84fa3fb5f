"""2,000 damaged tables: the exit code is 0 or 2, and 2 comes with one line that says why."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from aldsurv.cli.main import main

pytest.importorskip("pyarrow")

MUTATIONS = 2000
# Each block of so many is a test, so that a failure is found again quickly.
BLOCK = 250
# `fit` takes as long as a dozen times `check`.
EVERY_FIT = 25

Generator = np.random.Generator


def table() -> bytes:
    generator = np.random.default_rng(5)
    n = 24
    time = generator.exponential(10, n).round(2) + 0.01
    rows = [
        f'{k},{generator.normal(60, 9):.1f},"{"north" if k % 3 else "süd, west"}",{t},{k % 3 % 2},2020-01-{k + 1:02d}'
        for k, t in enumerate(time)
    ]
    return "\n".join(["id,age,site,months,died,seen", *rows, ""]).encode()


def fields(content: bytes) -> list[list[bytes]]:
    return [line.split(b",") for line in content.split(b"\n")]


def joined(rows: list[list[bytes]]) -> bytes:
    return b"\n".join(b",".join(row) for row in rows)


def flip_bytes(content: bytes, generator: Generator) -> bytes:
    changed = bytearray(content)
    for place in generator.integers(0, len(changed), generator.integers(1, 12)):
        changed[place] = generator.integers(0, 256)
    return bytes(changed)


def truncate(content: bytes, generator: Generator) -> bytes:
    return content[: generator.integers(0, len(content))]


def repeat_column(content: bytes, generator: Generator) -> bytes:
    column = generator.integers(0, 6)
    return joined([[*row, row[min(column, len(row) - 1)]] for row in fields(content)])


def drop_column(content: bytes, generator: Generator) -> bytes:
    column = generator.integers(0, 6)
    return joined([[field for k, field in enumerate(row) if k != column] for row in fields(content)])


def swap_delimiter(content: bytes, generator: Generator) -> bytes:
    return content.replace(b",", [b";", b"\t", b"|", b" ", b":", b",,"][generator.integers(0, 6)])


def replace_fields(content: bytes, generator: Generator) -> bytes:
    values = (
        b"1e308", b"-1e308", b"9" * 400, b"1e-320", b"inf", b"-inf", b"nan", b"", b"0", b"-1", b"NA", b"1,5", b"1.2.3",
        b"0x10", b"TRUE", b"maybe", b'"', b'""""', b"'", b"\x00", b"\xff", "∞".encode(), b"1_000", b"1e", b"--",
        b"=1+1", b"31.12.2020", b"2020-13-45", b"x" * 5000,
    )  # fmt: skip
    rows = fields(content)
    for _ in range(generator.integers(1, 30)):
        row = rows[generator.integers(0, len(rows))]
        row[generator.integers(0, len(row))] = values[generator.integers(0, len(values))]
    return joined(rows)


def empty_column(content: bytes, generator: Generator) -> bytes:
    column, value = generator.integers(0, 6), [b"", b"NA", b"7", b"?"][generator.integers(0, 4)]
    head, *rows = fields(content)
    return joined([head, *([value if k == column else field for k, field in enumerate(row)] for row in rows)])


def other_encoding(content: bytes, generator: Generator) -> bytes:
    names = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "latin-1", "cp1252", "utf-7", "cp037", "utf-16-be")
    return content.decode("utf-8", "replace").encode(names[generator.integers(0, len(names))], "replace")


def shuffle_lines(content: bytes, generator: Generator) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join(lines[k] for k in generator.integers(0, len(lines), generator.integers(0, 2 * len(lines))))


def zip_it(content: bytes, generator: Generator) -> bytes:
    zipped = gzip.compress(content, mtime=0)
    return flip_bytes(zipped, generator) if generator.random() < 0.7 else zipped[: generator.integers(2, len(zipped))]


def other_format(content: bytes, generator: Generator) -> bytes:
    starts = (
        b"PAR1",
        b"PK\x03\x04",
        b"%PDF",
        b"\x89PNG",
        b"{",
        b"<html>",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\n\n",
        b"#",
    )
    return starts[generator.integers(0, len(starts))] + content


def change_header(content: bytes, generator: Generator) -> bytes:
    names = (b"", b"age", b"months ", b"died", b'"a""b"', b"\xe9", b"--time", b"x" * 300, b"0", b"None", b"nan", b"id")
    head, *rows = fields(content)
    head[generator.integers(0, len(head))] = names[generator.integers(0, len(names))]
    return joined([head, *rows])


def other_line_ends(content: bytes, generator: Generator) -> bytes:
    return content.replace(b"\n", [b"\r\n", b"\r", b"\n\n", b"\x0b", "\u2028".encode(), b""][generator.integers(0, 6)])


KINDS: tuple[Callable[[bytes, Generator], bytes], ...] = (
    flip_bytes, truncate, repeat_column, drop_column, swap_delimiter, replace_fields, empty_column, other_encoding,
    shuffle_lines, zip_it, other_format, change_header, other_line_ends,
)  # fmt: skip


def mutated(seed: int) -> bytes:
    """The table changed in one to three ways."""
    generator = np.random.default_rng(seed)
    content = table()
    for kind in generator.permutation(len(KINDS))[: generator.integers(1, 4)]:
        content = KINDS[kind](content or b"\n", generator) if content or kind else content
    return content


@pytest.mark.parametrize("first", range(0, MUTATIONS, BLOCK))
def test_exit_codes_of_damaged_tables(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes = []
    for seed in range(first, first + BLOCK):
        Path("t.csv").write_bytes(mutated(seed))
        command = ("check",)
        if seed % EVERY_FIT == 0:
            # Scores of held-out rows take longer than the rest: for some.
            held_out = ("--held-out", "0") if seed % (5 * EVERY_FIT) else ()
            command = ("fit", "--model", "cox", "--out", "m.aldsurv", "--force", *held_out)
        output, errors = io.StringIO(), io.StringIO()
        with redirect_stdout(output), redirect_stderr(errors):
            code = main((command[0], "t.csv", "--time", "months", "--event", "died", *command[1:]))
        codes.append(code)
        lines = errors.getvalue().splitlines()
        wrong = [line for line in lines if not line.startswith("aldsurv: note: ")]
        assert code in (0, 2), (seed, code, lines)
        assert all(line.isprintable() for line in lines), (seed, lines)
        assert len(wrong) == (code == 2), (seed, code, lines)
        assert all(line.startswith("aldsurv: error: ") and len(line) < 2500 for line in wrong), (seed, lines)
        assert code == 0 or lines[-1] == wrong[0], (seed, lines)
    # Some are read, some are not: else the tables would say little.
    assert 0.1 < np.mean(np.array(codes) == 2) < 0.9
