"""A progress bar on the standard error stream, for people who watch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from aldsurv.errors import ParameterError
from aldsurv.training.history import EpochReport

__all__ = ["progress_bar"]


@contextmanager
def progress_bar(show: bool | str, epochs: int, done: int) -> Iterator[Callable[[EpochReport], None]]:
    """A function to call after each epoch.

    Parameters
    ----------
    show
        True, False, or ``"auto"``: when the standard error stream is a terminal.
    epochs, done
        Epochs at most, and how many were run before.
    """
    if show not in (True, False, "auto"):
        raise ParameterError(f"progress must be True, False or 'auto', but is {show!r}.", argument="progress")
    if not show or (show == "auto" and not (sys.stderr and sys.stderr.isatty())):
        yield lambda report: None
        return
    # Here: predicting and silent training need no command-line package.
    import click

    latest: list[EpochReport] = []

    def show_epoch(_: object) -> str:
        if not latest:
            return ""
        report = latest[-1]
        losses = report.train_loss if report.validation_loss is None else report.validation_loss
        return f"epoch {report.epoch}, loss {losses.mean():.4f}, best {report.best_loss.mean():.4f}"

    # Early stopping mostly ends before the last epoch: the time left is the most it can take.
    with click.progressbar(
        length=epochs, label="fit", item_show_func=show_epoch, file=sys.stderr, show_eta=True
    ) as bar:
        bar.update(done)

        def advance(report: EpochReport) -> None:
            latest.append(report)
            bar.update(1)

        yield advance
