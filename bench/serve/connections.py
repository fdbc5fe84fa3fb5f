"""Services in processes of their own, and plain connections to them that cost the client little."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

__all__ = ["Answer", "Process", "exchange", "free_port", "opened", "request_bytes", "started"]


class Process(NamedTuple):
    """A service that answers at a port."""

    port: int
    pid: int

    @property
    def processor_seconds(self) -> float:
        """User and system time so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def megabytes(self) -> float:
        """Memory that it holds."""
        lines = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


class Answer(NamedTuple):
    """Status and body."""

    status: int
    body: bytes


def free_port() -> int:
    """A port of the loopback that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def started(words: Sequence[str], port: int) -> Iterator[Process]:
    """A process that serves, once it is healthy; ended afterwards."""
    process = subprocess.Popen([sys.executable, *words], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        yield Process(port, process.pid)
    finally:
        process.terminate()
        process.wait(60)


def request_bytes(path: str, body: bytes, content_type: str = "application/json") -> bytes:
    """A POST as it goes over the wire."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {content_type}\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body


async def opened(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection."""
    return await asyncio.open_connection("127.0.0.1", port, limit=1 << 26)


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> Answer:
    """Send a request and read the whole answer."""
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    status, lower = int(head[9:12]), head.lower()
    if b"transfer-encoding: chunked" in lower:
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        return Answer(status, body)
    length = int(lower.partition(b"content-length:")[2].partition(b"\r\n")[0])
    return Answer(status, await reader.readexactly(length))
