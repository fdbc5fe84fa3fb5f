"""Requests to a service in this process, and the rows and predictions of the frozen models."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from aldsurv.serving import ServiceSettings, create_app

FOLDER = Path(__file__).parents[1] / "models" / "frozen"
FROZEN = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
TIMES, LEVELS = tuple(FROZEN["times"]), tuple(FROZEN["levels"])
JSON, CSV, LINES = "application/json", "text/csv", "application/x-ndjson"


def frozen(name: str) -> Path:
    return FOLDER / f"{name}.aldsurv"


def rows_of(kind: str = "right") -> list[dict[str, Any]]:
    columns = FROZEN["rows"][kind]
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


ROWS = rows_of()


class Client:
    """A client without a network; every request is one run of an event loop."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.app = create_app([frozen(name) for name in names], ServiceSettings(**settings))
        self.name = names[0]

    def request(self, method: str, path: str, **parts: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return await client.request(method, path, **parts)

        return asyncio.run(ask())

    def get(self, path: str, **parts: Any) -> httpx.Response:
        return self.request("GET", path, **parts)

    def predict(self, body: Any, **parts: Any) -> httpx.Response:
        """POST to the first model: an object as JSON, bytes as they are."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": JSON} | parts.pop("headers", {})
        path = f"/models/{parts.pop('model', self.name)}/predict"
        return self.request("POST", path, content=content, headers=headers, **parts)

    def csv(self, text: str, **parts: Any) -> httpx.Response:
        return self.predict(text.encode(), headers={"content-type": CSV}, **parts)

    def batch(self, body: bytes, content: str = LINES, query: str = "") -> httpx.Response:
        path = f"/models/{self.name}/batch{query}"
        return self.request("POST", path, content=body, headers={"content-type": content})


def column(answer: httpx.Response, name: str) -> np.ndarray:
    """A predicted column of an answer, infinite where it is null."""
    values = [row["predicted"][name] for row in answer.json()["rows"]]
    return np.array([np.inf if value is None else value for value in values])
