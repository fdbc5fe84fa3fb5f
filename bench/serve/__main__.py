"""The service on the loopback: latency, many clients at once, fuzzed bodies.

``python -m bench.serve [--seconds 60] [--clients 1000] [--bodies 10000] [--only latency,load,fuzz]`` serves the Cox
regression and the default ALD of the breast cancer table, and by turns a FastAPI function around scikit-survival's Cox
regression; results are kept in docs/results/serve.json. All traffic stays on 127.0.0.1.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv import ALDSurvival, CoxRegression, datasets
from bench.pages.results import store_section, today
from bench.serve.connections import Process, exchange, free_port, opened, request_bytes, started
from bench.serve.fuzzed_bodies import fuzzed_requests
from bench.serve.peer_app import NAMES, TIMES

FILE = "serve.json"
PARTS = ("latency", "load", "fuzz")
PEER = "FastAPI and scikit-survival's Cox"
# Requests of each size in a round, and rounds by turns.
REQUESTS, ROUNDS = {1: 300, 1000: 10}, 5


def rows(count: int) -> list[dict[str, float]]:
    """Rows of the breast cancer table."""
    x = datasets.load("gbsg").x
    return [dict(zip(NAMES, map(float, x[k % len(x)]), strict=True)) for k in range(count)]


def fit(folder: Path) -> dict[str, Path]:
    """Model files by name."""
    data = datasets.load("gbsg")
    x = {name: np.asarray(data.x[:, k], float) for k, name in enumerate(NAMES)}
    models = {"cox": CoxRegression(unit="months"), "ald": ALDSurvival(unit="months", random_state=0)}
    return {name: model.fit(x, data.y).save(folder / f"{name}.aldsurv") for name, model in models.items()}


async def timed(process: Process, request: bytes, count: int) -> list[float]:
    """Seconds of so many requests, one after the other on one connection."""
    reader, writer = await opened(process.port)
    seconds = []
    for place in range(count + 5):
        begun = time.perf_counter()
        answer = await exchange(reader, writer, request)
        if place >= 5:
            seconds.append(time.perf_counter() - begun)
        assert answer.status == 200, answer.body[:200]
    writer.close()
    return seconds


def latency(ours: Process, peer: Process) -> dict[str, Any]:
    """Percentiles in milliseconds and processor time per request, by service and number of rows, by turns."""
    targets = {
        "cox": (ours, "/models/cox/predict"), "ald": (ours, "/models/ald/predict"), PEER: (peer, "/predict"),
    }  # fmt: skip
    seconds: dict[tuple[str, int], list[float]] = {}
    processor: Counter[tuple[str, int]] = Counter()
    for _ in range(ROUNDS):
        for size, count in REQUESTS.items():
            body = json.dumps({"rows": rows(size)}).encode()
            for name, (process, path) in targets.items():
                before = process.processor_seconds
                seconds.setdefault((name, size), []).extend(
                    asyncio.run(timed(process, request_bytes(path, body), count))
                )
                processor[name, size] += process.processor_seconds - before  # type: ignore[assignment]
    lines = []
    for (name, size), taken in seconds.items():
        p50, p99 = np.percentile(taken, [50, 99]) * 1000
        each = 1000 * processor[name, size] / (ROUNDS * (REQUESTS[size] + 5))
        lines.append({"service": name, "rows": size, "p50": float(p50), "p99": float(p99), "processor": each})
    return {"lines": lines, "load average": os.getloadavg()[0]}


async def crowd(process: Process, clients: int, seconds: float) -> dict[str, Any]:
    """So many clients at once, each with a request under way all the time."""
    request = request_bytes("/models/cox/predict", json.dumps({"rows": rows(1)}).encode())
    statuses: Counter[str] = Counter()
    taken: list[float] = []
    end = time.monotonic() + seconds

    async def client() -> None:
        reader, writer = await opened(process.port)
        while time.monotonic() < end:
            begun = time.perf_counter()
            try:
                answer = await exchange(reader, writer, request)
                statuses[str(answer.status)] += 1
            except (OSError, asyncio.IncompleteReadError) as error:
                statuses[type(error).__name__] += 1
                reader, writer = await opened(process.port)
            taken.append(time.perf_counter() - begun)
        writer.close()

    async def watch() -> list[float]:
        sizes = []
        while time.monotonic() < end:
            await asyncio.sleep(min(5.0, seconds / 6))
            sizes.append(process.megabytes)
        return sizes

    sizes, *_ = await asyncio.gather(watch(), *(client() for _ in range(clients)))
    p50, p99 = np.percentile(taken, [50, 99])
    answered = statuses.pop("200", 0)
    return {
        "clients": clients, "seconds": seconds, "requests": answered + sum(statuses.values()),
        "errors": sum(statuses.values()), "other": dict(statuses), "per second": answered / seconds, "p50": float(p50),
        "p99": float(p99), "MB": sizes,
    }  # fmt: skip


def load(ours: Process, clients: int, seconds: float) -> dict[str, Any]:
    """Many clients; memory before, during and after."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    before = ours.megabytes
    values = asyncio.run(crowd(ours, clients, seconds))
    return {**values, "MB before": before, "MB after": ours.megabytes}


async def fuzz(ours: Process, count: int) -> dict[str, Any]:
    """Statuses of fuzzed bodies; a request without an answer is counted as such."""
    statuses: Counter[str] = Counter()
    for request in fuzzed_requests(count, "ald", rows(1)[0]):
        wire = request_bytes(request.path, request.body, request.content_type)
        # Every request has a connection of its own: one that was closed by the answer before would look like a loss.
        reader, writer = await opened(ours.port)
        try:
            answer = await exchange(reader, writer, wire)
        except (OSError, asyncio.IncompleteReadError):
            statuses["no answer"] += 1
            continue
        finally:
            writer.close()
        statuses[f"{answer.status // 100}xx"] += 1
        assert b"Traceback" not in answer.body
    return {"bodies": count, "statuses": dict(sorted(statuses.items()))}


def main(given: Sequence[str] | None = None) -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--bodies", type=int, default=10_000)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        files = fit(Path(folder))
        port, other = free_port(), free_port()
        times = ",".join(f"{each:g}" for each in TIMES)
        words = ["-m", "aldsurv", "serve", *map(str, files.values()), "--port", str(port), "--times", times]
        with (
            started(words, port) as ours,
            started(["-m", "bench.serve.peer_app", str(other)], other) as peer,
        ):
            run = {
                "latency": lambda: latency(ours, peer),
                "load": lambda: load(ours, options.clients, options.seconds),
                "fuzz": lambda: asyncio.run(fuzz(ours, options.bodies)),
            }
            for part in options.only.split(","):
                values = run[part]()
                print(part, json.dumps(values, indent=1), flush=True)
                store_section(FILE, part, values, today(f"python -m bench.serve --only {part}"))


if __name__ == "__main__":
    main()
