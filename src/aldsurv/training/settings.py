"""How to train: the optimiser, its rate over time, batches, when to stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from aldsurv.errors import ParameterError

__all__ = ["OPTIMIZERS", "SCHEDULES", "TrainingSettings"]

OPTIMIZERS = ("adam", "adamw", "sgd")
SCHEDULES = ("constant", "cosine", "linear", "exponential")
# What is left of the learning rate at the last epoch of an exponential schedule.
_EXPONENTIAL_END = 0.01
# Larger data get larger batches, so that an epoch has about as many updates.
_AUTO_BATCH, _AUTO_LARGEST, _AUTO_UPDATES = 128, 4096, 200
# By rows held out of METABRIC, WHAS, GBSG, BreastMSK and parts of SUPPORT of 700 to 5,700 rows: docs/accuracy.md.
_LARGEST_DECAY, _DECAY_ROWS = 3.0, 1200.0


@final
@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training loop.

    Parameters
    ----------
    optimizer
        ``"adam"`` (weight decay added to the gradient), ``"adamw"`` (decoupled weight decay) or ``"sgd"`` (with
        momentum 0.9).
    learning_rate
        Its highest value.
    schedule
        How the rate goes down over `max_epochs`: ``"constant"``, ``"cosine"`` or ``"linear"`` to 0,
        ``"exponential"`` to a hundredth.
    warmup
        Epochs over which the rate first rises.
    batch_size
        Rows of a batch; ``"auto"`` is 128, more from about 36,000 training rows on.
    max_epochs, patience
        Passes over the training rows at most, and how many without a better validation loss end a member's
        training; 0 for no early stopping.
    weight_decay
        Pull of weights (not of biases) towards 0. ``"auto"`` is 3 up to 400 training rows and 1200 over their number
        from there on: the more rows, the less they need it.
    clip_norm
        Largest norm of a member's gradient; 0 for no limit.
    """

    optimizer: str = "adam"
    learning_rate: float = 0.01
    schedule: str = "constant"
    warmup: int = 0
    batch_size: int | str = 128
    max_epochs: int = 200
    patience: int = 10
    weight_decay: float | str = 0.0
    clip_norm: float = 0.0

    def __post_init__(self) -> None:
        _require_choice("optimizer", self.optimizer, OPTIMIZERS)
        _require_choice("schedule", self.schedule, SCHEDULES)
        require_number("learning_rate", self.learning_rate, above=0.0)
        if self.weight_decay != "auto":
            require_number("weight_decay", self.weight_decay, least=0.0)
        require_number("clip_norm", self.clip_norm, least=0.0)
        require_whole("max_epochs", self.max_epochs, 1)
        require_whole("patience", self.patience, 0)
        require_whole("warmup", self.warmup, 0)
        if self.batch_size != "auto":
            require_whole("batch_size", self.batch_size, 1)

    def rate(self, epoch: int) -> float:
        """Learning rate of an epoch, counted from 0."""
        if epoch < self.warmup:
            return self.learning_rate * (epoch + 1) / (self.warmup + 1)
        done = (epoch - self.warmup) / max(self.max_epochs - self.warmup, 1)
        factors = {
            "constant": 1.0,
            "cosine": 0.5 * (1 + math.cos(math.pi * done)),
            "linear": 1 - done,
            "exponential": _EXPONENTIAL_END**done,
        }
        return float(self.learning_rate * factors[self.schedule])

    def decay(self, n: int) -> float:
        """Weight decay for `n` training rows."""
        if isinstance(self.weight_decay, str):
            return min(_LARGEST_DECAY, _DECAY_ROWS / max(n, 1))
        return float(self.weight_decay)

    def batch_rows(self, n: int) -> int:
        """Rows of a batch for `n` training rows."""
        if isinstance(self.batch_size, str):
            power: int = 2 ** round(math.log2(max(n // _AUTO_UPDATES, 1)))
            return min(n, max(_AUTO_BATCH, min(_AUTO_LARGEST, power)))
        return min(n, int(self.batch_size))


def require_number(name: str, value: Any, *, least: float = -math.inf, above: float = -math.inf) -> None:
    """Raise `ParameterError` unless `value` is a finite number in its range."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
    if not number or not math.isfinite(value) or value < least or value <= above:
        rule = f"above {above:g}" if above > -math.inf else f"of at least {least:g}"
        raise ParameterError(f"{name} must be a number {rule}, but is {value!r}.")


def require_whole(name: str, value: Any, least: int) -> None:
    """Raise `ParameterError` unless `value` is a whole number of at least `least`."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not whole or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, but is {value!r}.")


def _require_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(choices)}, but is {value!r}.")
