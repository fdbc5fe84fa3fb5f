"""Seconds of the processor, which other work on the machine changes little."""

from __future__ import annotations

import resource

__all__ = ["seconds_of_children"]


def seconds_of_children() -> float:
    """Of all processes that this one started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
