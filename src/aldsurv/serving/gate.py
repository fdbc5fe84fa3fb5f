"""What every request passes: key, limits on requests and bytes, its line in the log, and errors without a trace."""

from __future__ import annotations

import json
import logging
import re
import secrets
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, final

from aldsurv.serving.logs import log_event
from aldsurv.serving.requests.problems import ProblemError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from aldsurv.serving.service import Service

__all__ = ["ROUTE", "Gate", "problem_body"]

# Where a route leaves its path in the scope of a request.
ROUTE = "aldsurv.route"
_OPEN = ("/healthz", "/readyz")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_NOT_ANSWERED = 499


@final
class Gate:
    """ASGI around the application.

    Parameters
    ----------
    app
        The application.
    service
        Its state.
    """

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app, self._service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and account for it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        service, start = self._service, time.perf_counter()
        passage = _Passage(scope, receive, send, service)
        service.in_flight += 1
        service.metrics.in_flight.set(service.in_flight)
        try:
            self._check(scope, passage.limit)
            await self._app(scope, passage.receive, passage.send)
        except ProblemError as problem:
            await passage.refuse(problem)
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.lineno}"
            log_event("failure", logging.ERROR, request_id=passage.request_id, exception=type(error).__name__, at=where)
            await passage.refuse(ProblemError(500, "the service failed; the log has the request's id."))
        finally:
            service.in_flight -= 1
            service.metrics.in_flight.set(service.in_flight)
            self._account(scope, passage, time.perf_counter() - start)

    def _check(self, scope: Scope, limit: int) -> None:
        service, path = self._service, scope["path"]
        if path in _OPEN:
            return
        if not service.keys.allow(scope["headers"]):
            raise ProblemError(
                401,
                "a key is needed: send Authorization: Bearer KEY or X-API-Key: KEY.",
                headers={"www-authenticate": "Bearer"},
            )
        if service.in_flight > service.settings.max_concurrent:
            raise ProblemError(503, "too many requests are under way; try again.", headers={"retry-after": "1"})
        for name, value in scope["headers"]:
            if name == b"content-length" and value.isdigit() and int(value[:20]) > limit:
                raise _too_large(limit)
            if name == b"content-encoding" and value.lower() != b"identity":
                raise ProblemError(415, "bodies must not be compressed.")

    def _account(self, scope: Scope, passage: _Passage, seconds: float) -> None:
        # Paths of the routes, not those of the request, which may be anything.
        path = scope.get(ROUTE, "other")
        metrics = self._service.metrics
        metrics.requests.labels(path, str(passage.status)).inc()
        metrics.seconds.labels(path).observe(seconds)
        log_event(
            "request",
            request_id=passage.request_id,
            method=scope["method"] if scope["method"] in _METHODS else "other",
            path=path,
            status=passage.status,
            milliseconds=round(1000 * seconds, 2),
            bytes=passage.received,
            **scope.get("aldsurv", {}),
        )


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT")


@final
class _Passage:
    """One request on its way: counts bytes as they arrive, and keeps the status of the answer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, service: Service) -> None:
        self._receive, self._send = receive, send
        settings = service.settings
        batch = scope["path"].endswith("/batch")
        self.limit = settings.max_batch_body if batch else settings.max_body
        self.received, self.status, self._started = 0, _NOT_ANSWERED, False
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        self.request_id = given.decode() if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self.received += len(message.get("body", b""))
            if self.received > self.limit:
                raise _too_large(self.limit)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._started, self.status = True, message["status"]
            headers = [*message.get("headers", ()), (b"x-request-id", self.request_id.encode())]
            message = {**message, "headers": [*headers, (b"cache-control", b"no-store")]}
        await self._send(message)

    async def refuse(self, problem: ProblemError) -> None:
        """Answer with a problem; an answer that was started is cut short, which its reader detects."""
        if self._started:
            raise ConnectionResetError("the answer was cut")
        body = problem_body(problem)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        headers += [(name.encode(), value.encode()) for name, value in problem.headers.items()]
        await self.send({"type": "http.response.start", "status": problem.status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def problem_body(problem: ProblemError) -> bytes:
    """The body of an answer to a request that is refused."""
    return json.dumps(problem.as_json()).encode()


def _too_large(limit: int) -> ProblemError:
    return ProblemError(413, f"the body has more than {limit} bytes, the limit.")
