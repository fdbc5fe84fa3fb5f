"""A server on this machine that answers each request as a test says, however wrong."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple


class Request(NamedTuple):
    path: str
    headers: dict[str, str]

    @property
    def start(self) -> int:
        """Where the requested range begins, 0 without one."""
        return int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").rstrip("-"))


@dataclass
class Reply:
    """Bytes to send; what is not given is what an honest server would send."""

    status: str = "200 OK"
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None
    cut: int | None = None
    pause: float = 0.0
    hang: bool = False
    raw: bytes | None = None


Answer = Callable[[Request, int], Reply]


def honest(content: bytes, *, tag: str = '"one"', ranges: bool = True, **changes) -> Answer:
    """Serve the content, ranges too; `changes` are those of the reply."""

    def answer(request: Request, number: int) -> Reply:
        start = request.start if ranges else 0
        if start and request.headers.get("if-range", tag) != tag:
            start = 0
        if start >= len(content):
            return Reply("416 Range Not Satisfiable", headers={"Content-Range": f"bytes */{len(content)}"})
        headers = {"ETag": tag}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        status = "206 Partial Content" if start else "200 OK"
        return Reply(status, content[start:], **{"headers": headers, **changes})

    return answer


def cutting(answer: Answer, size: int, *, times: int) -> Answer:
    """The same answers, of which the first few end after ``size`` bytes."""

    def cut(request: Request, number: int) -> Reply:
        return replace(answer(request, number), cut=size if number < times else None)

    return cut


class Server:
    """Answers in a thread each, until the block of `with` ends."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.sent = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._end = threading.Event()
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        # Wakes the thread that waits for a connection.
        socket.create_connection(self._socket.getsockname()).close()
        self._socket.close()

    def _serve(self) -> None:
        while not self._end.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._reply, args=(connection,), daemon=True).start()

    def _reply(self, connection: socket.socket) -> None:
        with connection:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = connection.recv(4096)
                    if not piece:
                        return
                    head += piece
                lines = head.decode("latin-1").split("\r\n")
                headers = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines[1:])}
                with self._lock:
                    request, number = Request(lines[0].split()[1], headers), len(self.requests)
                    self.requests.append(request)
                self._send(connection, self.answer(request, number))
            except OSError:
                return

    def _send(self, connection: socket.socket, reply: Reply) -> None:
        if reply.raw is not None:
            connection.sendall(reply.raw)
            return
        length = len(reply.body) if reply.length is None else reply.length
        headers = {"Content-Length": str(length), "Connection": "close", **reply.headers}
        lines = [f"HTTP/1.1 {reply.status}", *(f"{key}: {value}" for key, value in headers.items() if value)]
        connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
        body = reply.body if reply.cut is None else reply.body[: reply.cut]
        step = 1000 if reply.pause else 1 << 16
        for start in range(0, len(body), step):
            # Counted first: who has received all of it may ask at once.
            with self._lock:
                self.sent += len(body[start : start + step])
            connection.sendall(body[start : start + step])
            self._end.wait(reply.pause)
        if reply.hang:
            self._end.wait(30)
