"""Batches: a line per row in order, bad rows beside good ones, and a last line that says that all is there."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from .client import CSV, LINES, ROWS, Client, column


@pytest.fixture(scope="module")
def client():
    return Client("ald_default")


def in_lines(rows: list[Any]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def read(text: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    *lines, end = [json.loads(line) for line in text.splitlines()]
    assert end["end"]
    return lines, end


class Exchange:
    """One request driven by hand: pieces go in when the test says so, and messages come out."""

    def __init__(self, client: Client, content: str = LINES) -> None:
        self.sent: list[dict[str, Any]] = []
        self.pieces: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.taken = 0
        self.open = asyncio.Event()
        self.open.set()
        scope = {
            "type": "http", "method": "POST", "path": f"/models/{client.name}/batch", "query_string": b"",
            "headers": [(b"content-type", content.encode())], "root_path": "", "http_version": "1.1", "scheme": "http",
        }  # fmt: skip
        self.task = asyncio.create_task(client.app(scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        message = await self.pieces.get()
        self.taken += 1
        return message

    async def _send(self, message: dict[str, Any]) -> None:
        await self.open.wait()
        self.sent.append(message)

    def give(self, body: bytes, more: bool = True) -> None:
        self.pieces.put_nowait({"type": "http.request", "body": body, "more_body": more})

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.sent).decode()

    async def lines(self, count: int) -> None:
        """Wait for so many lines."""
        while self.text.count("\n") < count:
            await asyncio.wait_for(asyncio.sleep(0.005), 10)


@pytest.mark.parametrize("content", [LINES, CSV])
def test_a_batch_gives_what_a_request_gives(client, content):
    rows = [{**row, "age": 40.0 + k} for k, row in enumerate(ROWS * 200)]
    names = list(ROWS[0])
    table = [
        ",".join(names),
        *(",".join("" if row[name] is None else str(row[name]) for name in names) for row in rows),
    ]
    body = in_lines(rows) if content == LINES else "\n".join(table).encode()
    answer = client.batch(body, content, "?times=3")
    lines, end = read(answer.text)
    assert [line["row"] for line in lines] == list(range(len(rows)))
    expected = client.predict({"rows": rows, "times": [3]})
    for name in ("median", "survival_3"):
        values = [line["predicted"][name] for line in lines]
        np.testing.assert_allclose(values, column(expected, name), rtol=1e-9)
    assert (end["complete"], end["rows"], end["predicted"], end["refused"]) == (True, len(rows), len(rows), 0)
    assert end["model"] == expected.json()["model"]
    assert answer.headers["x-model-digest"] == end["model"]["digest"]


def test_bad_rows_are_lines_and_do_not_end_the_batch(client):
    bad = b'{"age": \n' + in_lines([3, {**ROWS[0], "age": "x"}, {"age": 1}, {**ROWS[0], "size": float("nan")}])
    lines, end = read(client.batch(in_lines(ROWS[:2]) + bad + b"\n" + in_lines(ROWS[:1])).text)
    assert [line["row"] for line in lines] == list(range(8))
    assert ["error" in line for line in lines] == [False, False, True, True, True, True, True, False]
    assert [line["column"] for line in lines[2:7]] == [None, None, "age", "size", "size"]
    assert (end["complete"], end["rows"], end["predicted"], end["refused"]) == (True, 8, 3, 5)
    alone = client.predict({"rows": ROWS[:1]}).json()["rows"][0]["predicted"]["median"]
    np.testing.assert_allclose([lines[0]["predicted"]["median"], lines[7]["predicted"]["median"]], alone, rtol=1e-9)


def test_what_is_wrong_before_the_first_row_is_a_status(client):
    assert client.batch(b"").status_code == 422
    assert client.batch(b"\n\n").json()["error"] == "the body has no rows."
    assert client.batch(b"age,age\n1,2\n", CSV).status_code == 400
    assert client.batch(in_lines(ROWS), LINES, "?times=x").status_code == 422
    assert client.batch(in_lines(ROWS), "application/json").status_code == 415


def test_rows_are_answered_before_the_body_is_at_its_end(client):
    async def run() -> None:
        exchange = Exchange(client)
        exchange.give(in_lines(ROWS[:3]))
        await exchange.lines(3)
        # Half a row is not answered before the other half has come.
        whole = in_lines(ROWS[3:4])
        exchange.give(whole[:20])
        await asyncio.sleep(0.05)
        assert exchange.text.count("\n") == 3
        exchange.give(whole[20:])
        await exchange.lines(4)
        exchange.give(b"", more=False)
        await exchange.task
        lines, end = read(exchange.text)
        assert len(lines) == end["rows"] == 4
        # Every message holds whole lines: what has arrived can be relied on.
        bodies = [message["body"] for message in exchange.sent if message.get("body")]
        assert all(body.endswith(b"\n") for body in bodies)

    asyncio.run(run())


def test_a_client_that_does_not_read_holds_up_the_input(client, monkeypatch):
    monkeypatch.setattr("aldsurv.serving.batch._MOST_WAITING", 1000)

    async def run() -> None:
        exchange = Exchange(client)
        exchange.open.clear()
        for _ in range(50):
            exchange.give(in_lines(ROWS[:5]))
        exchange.give(b"", more=False)
        await asyncio.sleep(0.2)
        assert exchange.taken < 20
        exchange.open.set()
        await exchange.task
        assert read(exchange.text)[1]["rows"] == 250

    asyncio.run(run())


def test_a_body_beyond_the_limit_ends_with_a_line_that_says_so():
    client = Client("ald_default", max_batch_body=3000)

    async def run() -> None:
        exchange = Exchange(client)
        exchange.give(in_lines(ROWS[:3]))
        await exchange.lines(3)
        exchange.give(in_lines(ROWS * 10))
        await exchange.task
        lines, end = read(exchange.text)
        assert (len(lines), end["complete"], end["rows"]) == (3, False, 3)
        assert end["reason"] == "the body has more than 3000 bytes, the limit"

    asyncio.run(run())


def test_a_row_without_an_end_is_not_collected_for_ever(client):
    assert client.batch(b'{"age": "' + b"x" * (2 << 20)).status_code == 413
    assert client.batch(b'age,size\n"' + b"\n" * (2 << 20), CSV).status_code == 413


def test_silence_ends_a_batch():
    client = Client("ald_default", timeout=0.3)

    async def run() -> None:
        exchange = Exchange(client)
        exchange.give(in_lines(ROWS[:2]))
        await exchange.task
        lines, end = read(exchange.text)
        assert (len(lines), end["complete"], end["reason"]) == (2, False, "no rows were received for 0.3 s")

    asyncio.run(run())


def test_a_stop_ends_a_batch_with_a_line_that_says_so():
    client = Client("ald_default", grace=0)

    async def run() -> None:
        exchange = Exchange(client)
        exchange.give(in_lines(ROWS[:2]))
        await exchange.lines(2)
        client.app.state.service.stop()
        await exchange.task
        lines, end = read(exchange.text)
        assert (len(lines), end["complete"], end["reason"]) == (2, False, "the service is stopping")

    asyncio.run(run())


def test_a_client_that_leaves_ends_a_batch(client):
    async def run() -> None:
        exchange = Exchange(client)
        exchange.give(in_lines(ROWS[:2]))
        await exchange.lines(2)
        exchange.pieces.put_nowait({"type": "http.disconnect"})
        await exchange.task
        assert '"end"' not in exchange.text

    asyncio.run(run())
