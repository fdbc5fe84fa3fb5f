from __future__ import annotations

import itertools
import os
import re
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

from aldsurv.errors import ParameterError
from aldsurv.training.progress import progress_bar
from training.runs import scripted

LOSSES = np.array([[3.0, 5.0], [2.0, 1.0], [2.5, 4.0]])


class Terminal:
    """The standard error stream as a terminal, and what was shown on it."""

    def __init__(self) -> None:
        self._screen, keyboard = os.openpty()
        self.stream = os.fdopen(keyboard, "w")

    def shown(self) -> str:
        self.stream.flush()
        os.set_blocking(self._screen, False)
        parts = []
        while True:
            try:
                part = os.read(self._screen, 65536)
            except (BlockingIOError, OSError):
                break
            if not part:
                break
            parts.append(part)
        return b"".join(parts).decode()

    @contextmanager
    def watched(self):
        # Not in the fixture: the stream is set anew between it and the test.
        before, sys.stderr = sys.stderr, self.stream
        try:
            yield
        finally:
            sys.stderr = before

    def close(self) -> None:
        self.stream.close()
        os.close(self._screen)


@pytest.fixture
def terminal():
    pytest.importorskip("pty", reason="no terminals of this kind here")
    found = Terminal()
    yield found
    found.close()


@pytest.mark.parametrize("show", [True, "auto"])
def test_shows_loss_and_time_on_a_terminal(show, terminal, monkeypatch):
    # The time left is told once a second has passed; each look at this clock takes two.
    clock = itertools.count(0, 2.0)
    monkeypatch.setattr(time, "time", lambda: next(clock))
    training, _ = scripted(LOSSES, patience=0, progress=show)
    with terminal.watched():
        training.run()
    text = terminal.shown()
    # Means over members: of the epoch's validation losses, and of the best so far.
    assert "epoch 1, loss 4.0000, best 4.0000" in text
    assert "epoch 2, loss 1.5000, best 1.5000" in text
    assert "epoch 3, loss 3.2500, best 1.5000" in text
    assert re.search(r"\d\d:\d\d:\d\d", text)


def test_shows_the_training_loss_without_validation_rows(terminal):
    training, _ = scripted(members=1, max_epochs=2, progress=True)
    with terminal.watched():
        history = training.run()
    assert f"epoch 1, loss {history.train_loss[0, 0]:.4f}" in terminal.shown()


def test_goes_on_where_a_run_was_left(terminal):
    with terminal.watched(), progress_bar(True, 10, 9):
        pass
    assert "90%" in terminal.shown()


@pytest.mark.parametrize("show", [False, np.False_, 0])
def test_is_silent_when_told_so(show, terminal):
    training, _ = scripted(LOSSES, progress=show)
    with terminal.watched():
        training.run()
    assert terminal.shown() == ""


@pytest.mark.parametrize("show", ["auto", False])
def test_is_silent_without_a_terminal(show, capfd):
    training, _ = scripted(LOSSES, progress=show)
    training.run()
    assert capfd.readouterr() == ("", "")


def test_is_silent_without_a_stream(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    training, _ = scripted(LOSSES, progress="auto")
    assert training.run().epochs == 3


@pytest.mark.parametrize("show", ["yes", "", None, 2, "Auto"])
def test_anything_else_is_refused(show):
    with pytest.raises(ParameterError, match="progress must be True, False or 'auto'"), progress_bar(show, 3, 0):
        pass
