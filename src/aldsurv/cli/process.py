"""The process of a command: readers that leave early, closed streams, and signals that end it."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, final

__all__ = ["MessageStream", "SignalledError", "discard", "ended_by_signals", "message_streams"]

# What Slurm, systemd, `timeout` and a terminal that closes send; the last one is that of Windows.
_SIGNALS = ("SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK")
# `timeout` sends its signal twice, to the process and to its group: the second must not disturb the cleaning up.
_SECONDS_OF_ONE_SIGNAL = 3.0
_LAST_STANDARD = 2


@final
class SignalledError(BaseException):
    """A signal ends the process; not an Exception, so that only cleaning up happens on the way."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Signals that would end the process raise `SignalledError`; those that are ignored, as by nohup, stay ignored.

    After the first, later ones are ignored, so that a signal sent twice disturbs neither the cleaning up nor the exit
    code.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    last = -math.inf

    def end(number: int, frame: object) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS_OF_ONE_SIGNAL:
            last = time.monotonic()
            raise SignalledError(number)

    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    caught = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    try:
        for number in caught:
            signal.signal(number, end)
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_IGN if last > -math.inf else signal.SIG_DFL)


@final
class MessageStream:
    """A standard stream for messages: when its reader has left they are dropped, and the work goes on.

    Parameters
    ----------
    stream
        The stream, which gets everything else.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text, unless that has failed before."""
        try:
            self._stream.write(text)
        except OSError as error:
            self._drop(error)
        return len(text)

    def flush(self) -> None:
        """Pass on what was written."""
        try:
            self._stream.flush()
        except OSError as error:
            self._drop(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _drop(self, error: OSError) -> None:
        self.error = self.error or error
        # Otherwise Python tries again, and complains, when it exits.
        with suppress(OSError, ValueError):
            discard(self._stream.fileno())


@contextmanager
def message_streams() -> Iterator[MessageStream]:
    """Standard output and errors as streams whose reader may leave; yields that of standard output."""
    _occupy_closed()
    before = sys.stdout, sys.stderr
    output = MessageStream(sys.stdout)
    if sys.stdout is not None:
        sys.stdout = output
    nowhere = None
    if sys.stderr is None:
        nowhere = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    sys.stderr = MessageStream(sys.stderr)
    try:
        yield output
    finally:
        sys.stdout, sys.stderr = before
        if nowhere is not None:
            nowhere.close()


def discard(descriptor: int) -> None:
    """Discard what is written to a descriptor."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _occupy_closed() -> None:
    """Occupy the descriptors of standard streams that are closed.

    Otherwise the next files that are opened would get them, and what a library prints would end up in the model.
    """
    # Each gets the lowest number that is free.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _LAST_STANDARD:
        pass
    os.close(descriptor)
