"""Bodies that nobody should send: valid requests with something changed, cut, repeated or replaced."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["FuzzedRequest", "fuzzed_requests"]

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1e308, -1e308, 5e-324, 10**30, 10**400, "", " ", "x", "51", "NaN", "é", "\x00", "\ud800",
    "x" * 5000, [], [1], {}, {"a": {"b": []}}, float("nan"), float("inf"), float("-inf"), 2**64, -0.0,
)  # fmt: skip
RAW = (
    b"", b" ", b"null", b"[]", b"{}", b"0", b'"rows"', b"{", b"[" * 50_000, b'{"a":' * 20_000, b"\xff\xfe",
    b"\x00" * 64, b'{"rows":' + b"9" * 6000 + b"}", b'{"rows": [{}]}', b'{"rows": {}}', b'{"rows": [null]}',
    b'{"rows": [[1]]}', b"\xef\xbb\xbf{}", b'{"rows": [], "rows": []}', b"a,b\n1,2\n", b'"', b"\n\n\n",
    b",,,\n,,,\n", b'"a\n"b,c\n',
)  # fmt: skip
OPTIONS: tuple[Any, ...] = (*VALUES, [0.5], [0, 1], [2], [-1], [1, 2, 3], ["median"], ["mode"], "age", 0.9, 1, 1e300)
NAMES = ("times", "quantiles", "summaries", "interval", "band", "given_survived", "rows", "more")
TYPES = ("application/json", "text/csv", "application/x-ndjson", "application/json; charset=utf-8", "", "text/plain")
QUERIES = ("", "", "", "", "?times=1,2", "?times=x", "?quantiles=0.5&quantiles=0.1", "?band=0.9", "?given_survived=age",
           "?given_survived=-1", "?summaries=mean,mode", "?interval=nan", "?more=1", "?times=",
           "?times=1e999")  # fmt: skip


class FuzzedRequest(NamedTuple):
    """A request: path with query, content type and body."""

    path: str
    content_type: str
    body: bytes


def fuzzed_requests(count: int, model: str, row: Mapping[str, Any], seed: int = 0) -> Iterator[FuzzedRequest]:
    """So many requests to a model, the same for the same seed.

    Parameters
    ----------
    count
        How many.
    model
        Its name.
    row
        A row that the model takes.
    seed
        Of the choice.
    """
    draw = random.Random(seed)  # noqa: S311
    for _ in range(count):
        kind = draw.random()
        end, content = (
            ("predict", draw.choice(TYPES[:2])) if draw.random() < 0.7 else ("batch", draw.choice(TYPES[1:3]))
        )
        if kind < 0.15:
            body = draw.choice(RAW)
        elif kind < 0.65:
            body = _encoded(_changed(row, draw), content, draw)
        else:
            body = _mutilated(_encoded({"rows": [dict(row)] * draw.randint(1, 4)}, content, draw), draw)
        if draw.random() < 0.1:
            content = draw.choice(TYPES)
        yield FuzzedRequest(f"/models/{model}/{end}{draw.choice(QUERIES)}", content, body)


def _changed(row: Mapping[str, Any], draw: random.Random) -> dict[str, Any]:
    rows = [dict(row) for _ in range(draw.randint(1, 3))]
    for _ in range(draw.randint(1, 3)):
        each, name = draw.choice(rows), draw.choice([*row, "more"])
        if draw.random() < 0.2:
            each.pop(name, None)
        else:
            each[name] = draw.choice(VALUES)
    document: dict[str, Any] = {"rows": rows}
    if draw.random() < 0.5:
        document[draw.choice(NAMES)] = draw.choice(OPTIONS)
    return document


def _encoded(document: Mapping[str, Any], content: str, draw: random.Random) -> bytes:
    rows = document.get("rows")
    if content == "application/json" or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return json.dumps(document).encode()
    if content == "application/x-ndjson":
        return "\n".join(json.dumps(row) for row in rows).encode()
    names = list(dict.fromkeys(name for row in rows for name in row))
    mark = draw.choice(",,,;\t")
    lines = [mark.join(names), *(mark.join(_field(row.get(name)) for name in names) for row in rows)]
    return "\n".join(lines).encode("utf-8", "replace")


def _field(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, str) else json.dumps(value)


def _mutilated(body: bytes, draw: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(draw.randint(1, 6)):
        place = draw.randrange(len(changed) + 1) if changed else 0
        what = draw.random()
        if what < 0.3:
            del changed[place : place + draw.randint(1, 20)]
        elif what < 0.6:
            changed[place:place] = draw.randbytes(draw.randint(1, 4))
        elif what < 0.8:
            changed[place:place] = draw.choice(
                [b'"', b"{", b"}", b"[", b"]", b",", b":", b"\n", b"NaN", b"1e999", b"\\u"]
            )
        elif what < 0.9:
            changed = changed[:place]
        else:
            changed = changed + changed[:place]
    return bytes(changed)
