"""Groups of processes that train together; threads of one process take their place."""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aldsurv.training.ranks import Ranks, open_ranks


def free_port() -> int:
    """A port of this machine that nothing uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_ranks(count: int, work: Callable[[Ranks], Any]) -> list[Any]:
    """What a function gives in each rank, or its error; None in one that was released."""
    url = f"tcp://127.0.0.1:{free_port()}"

    def one(number: int) -> Any:
        try:
            with open_ranks(url, number, count) as ranks:
                return work(ranks)
        except Exception as error:
            return error
        return None

    with ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(one, number) for number in range(count)]
        return [future.result(timeout=120) for future in waiting]
