"""The server of a service: one process that finishes running requests before it stops."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, final

import uvicorn

from aldsurv.errors import ParameterError

if TYPE_CHECKING:
    from fastapi import FastAPI

__all__ = ["bound_socket", "serve"]

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGBREAK") if hasattr(signal, name))


@final
class _Server(uvicorn.Server):
    """Says when it has started and when it is to stop, and returns after a signal rather than raise it again."""

    def __init__(self, config: uvicorn.Config, started: Callable[[], None], stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start, self._on_stop = started, stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._on_stop()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[Any, Any] = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket at an address; raises `ParameterError` if that is not to be had."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError:
        raise ParameterError(
            f"host {host!r:.72} is not an address of this machine.", argument="host", advice="Give 127.0.0.1."
        ) from None
    bound = socket.socket(family, kind, protocol)
    try:
        if hasattr(signal, "SIGHUP"):
            # Elsewhere, on Windows, this would let a second service take the port.
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(2048)
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"port {port} of {host} cannot be used: {(error.strerror or str(error)).lower()}",
            argument="port",
            advice="Give another port, or 0 for any that is free.",
        ) from None
    return bound


def serve(app: FastAPI, bound: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Serve until a signal comes, then finish what is running.

    Parameters
    ----------
    app
        What `create_app` gives.
    bound
        What `bound_socket` gives.
    started
        Called when requests are taken.
    """
    service = app.state.service
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=max(1, round(service.settings.grace)),
        backlog=2048,
    )
    try:
        _Server(config, started, service.stop).run(sockets=[bound])
    finally:
        service.close()
        bound.close()
