"""Batches: rows in, answers out while rows still arrive, a line per row, and a last line that says all is there."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, final

from aldsurv.serving.requests.problems import ProblemError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from aldsurv.serving.requests.bodies import Records
    from aldsurv.serving.service import Service

__all__ = ["LINES", "BatchAnswer"]

LINES = "application/x-ndjson"
_BLOCK_ROWS = 512
# What may wait to be read by a client that sends all before it reads; beyond that no more is taken from it.
_MOST_WAITING = 16 << 20
_LOOK_AGAIN = 0.25

# Of rows, and of the number of the first: what was predicted and what was refused, each in its order.
Predictor = Callable[[list[Any], int], list[dict[str, Any]]]


@final
class _Input:
    """Pieces of a body, taken from the connection while there is room, also while the answer waits to be read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._pieces: deque[bytes] = deque()
        self._waiting = 0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.ended = self.left = False
        self.error: Exception | None = None

    @property
    def empty(self) -> bool:
        return not self._pieces

    async def fill(self) -> None:
        try:
            while not (self.ended or self.left):
                await self._room.wait()
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    self.left = True
                elif message["type"] == "http.request":
                    self._put(message.get("body", b""))
                    self.ended = not message.get("more_body", False)
                self._changed.set()
        except ProblemError as error:
            self.error = error
            self._changed.set()

    def _put(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._waiting += len(piece)
            if self._waiting > _MOST_WAITING:
                self._room.clear()

    async def next(self, seconds: float) -> bytes | None:
        """The next piece; None if none has come within so many seconds, or the body is at its end."""
        if not self._pieces and not self.ended and not self.left and self.error is None:
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), seconds)
            except (asyncio.TimeoutError, TimeoutError):
                return None
        if not self._pieces:
            return None
        piece = self._pieces.popleft()
        self._waiting -= len(piece)
        if self._waiting <= _MOST_WAITING:
            self._room.set()
        return piece


@final
class BatchAnswer:
    """The answer to a batch, as an application of ASGI.

    Parameters
    ----------
    service
        Its state.
    records
        Makes rows of pieces of the body.
    predict
        Gives a line per row.
    identity
        Which model predicts; stands in the last line and, its digest, in a header.
    """

    def __init__(self, service: Service, records: Records, predict: Predictor, identity: dict[str, Any]) -> None:
        self._service, self._records, self._predict, self._identity = service, records, predict, identity
        self._rows = self._refused = 0
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer while the body arrives."""
        source = _Input(receive)
        reading = asyncio.create_task(source.fill())
        try:
            reason = await self._answer(source, send)
        finally:
            reading.cancel()
            scope["aldsurv"] = {"model": self._identity["name"], "rows": self._rows, "refused_rows": self._refused}
        if source.left:
            return
        end = {
            "end": True,
            "complete": not reason,
            "reason": reason or None,
            "rows": self._rows,
            "predicted": self._rows - self._refused,
            "refused": self._refused,
            "model": self._identity,
        }
        await self._send(send, [end], more=False)

    async def _answer(self, source: _Input, send: Send) -> str:
        """Answer all rows; why not all, if so. Before the first line, problems are raised."""
        waiting: list[Any] = []
        try:
            while True:
                piece = await self._piece(source)
                if source.left:
                    return ""
                waiting += self._records.finish() if piece is None else self._records.push(piece)
                # What is there is answered at once if no more has come; otherwise in blocks.
                while len(waiting) >= _BLOCK_ROWS or (waiting and (piece is None or source.empty)):
                    if self._service.out_of_time:
                        return "the service is stopping"
                    await self._block(waiting[:_BLOCK_ROWS], send)
                    del waiting[:_BLOCK_ROWS]
                if piece is None:
                    break
        except ProblemError as problem:
            if not self._started:
                raise
            return problem.message.removesuffix(".")
        if not self._rows and not source.left:
            raise ProblemError(422, "the body has no rows.")
        return ""

    async def _piece(self, source: _Input) -> bytes | None:
        waited, limit = 0.0, self._service.settings.timeout
        while True:
            piece = await source.next(min(_LOOK_AGAIN, limit))
            if piece is not None or source.left or (source.ended and source.empty):
                return piece
            if source.error is not None:
                raise source.error
            waited += min(_LOOK_AGAIN, limit)
            if self._service.out_of_time:
                raise ProblemError(503, "the service is stopping.")
            if waited > limit:
                raise ProblemError(408, f"no rows were received for {limit:g} s.")

    async def _block(self, rows: list[Any], send: Send) -> None:
        lines = await self._service.in_thread(self._predict, rows, self._rows)
        self._rows += len(lines)
        self._refused += sum(1 for line in lines if "error" in line)
        await self._send(send, lines, more=True)

    async def _send(self, send: Send, lines: list[dict[str, Any]], *, more: bool) -> None:
        if not self._started:
            self._started = True
            headers = [
                (b"content-type", LINES.encode()),
                (b"x-model-digest", self._identity["digest"].encode()),
                # A proxy in between passes lines on as they come.
                (b"x-accel-buffering", b"no"),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        body = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        # Returns when the client has taken enough of what came before; one that takes nothing is left.
        sending = send({"type": "http.response.body", "body": body, "more_body": more})
        await asyncio.wait_for(sending, self._service.settings.timeout)
