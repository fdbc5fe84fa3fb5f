"""How to train: the optimiser, its rate over time, batches, when to stop."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from aldsurv.checks import Choice, Constraint, Number, WholeNumber, check_all

__all__ = ["OPTIMIZERS", "SCHEDULES", "TRAINING_CONSTRAINTS", "TrainingSettings"]

OPTIMIZERS = ("adam", "adamw", "sgd")
SCHEDULES = ("constant", "cosine", "linear", "exponential", "step", "one_cycle")
# What is left of the learning rate at the last epoch of an exponential schedule.
_EXPONENTIAL_END = 0.01
# Shares of the epochs after which a step schedule divides the rate by 10.
_STEPS = (0.7, 0.9)
# Passes over up to so many rows; chosen on drawn tables: docs/results/scale.json.
_AUTO_EPOCHS, _AUTO_EPOCH_ROWS = 8, 400_000
# Share of all steps over which the rate of one cycle rises, and from which share of its highest value.
_RISE, _FIRST = 0.1, 0.04
# Larger data get larger batches, so that an epoch has about as many updates.
_AUTO_BATCH, _AUTO_LARGEST, _AUTO_UPDATES = 128, 4096, 200
# By rows held out of METABRIC, WHAS, GBSG, BreastMSK and parts of SUPPORT of 700 to 5,700 rows: docs/accuracy.md.
_LARGEST_DECAY, _DECAY_ROWS = 3.0, 1200.0

TRAINING_CONSTRAINTS: Mapping[str, Constraint] = {
    "optimizer": Choice(OPTIMIZERS),
    "schedule": Choice(SCHEDULES),
    "learning_rate": Number(0, above=True),
    "weight_decay": Number(0, or_one_of=("auto",)),
    "clip_norm": Number(0, meaning="0: no limit"),
    "max_epochs": WholeNumber(1, or_one_of=("auto",)),
    "patience": WholeNumber(0),
    "warmup": WholeNumber(0),
    "batch_size": WholeNumber(1, or_one_of=("auto",)),
}


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
        ``"exponential"`` to a hundredth, ``"step"`` by a factor of 10 after 70 % and again after 90 % of the epochs;
        ``"one_cycle"`` rises over the first tenth of all steps and then falls to 0 as a cosine, with a new rate in each
        step.
    warmup
        Epochs over which the rate first rises.
    batch_size
        Rows of a batch; ``"auto"`` is 128, more from about 36,000 training rows on.
    max_epochs, patience
        Passes over the training rows at most, and how many without a better validation loss end a member's
        training; 0 for no early stopping. ``max_epochs="auto"`` is 8 up to 400,000 training rows and less from there
        on, as their cube root goes up: what a pass teaches that the ones before did not is less with every row.
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
    max_epochs: int | str = 200
    patience: int = 10
    weight_decay: float | str = 0.0
    clip_norm: float = 0.0

    def __post_init__(self) -> None:
        check_all(vars(self), TRAINING_CONSTRAINTS)

    def for_rows(self, n: int) -> TrainingSettings:
        """The settings for `n` training rows, with the number of epochs that follows from them."""
        return replace(self, max_epochs=self.epochs(n))

    def epochs(self, n: int) -> int:
        """Passes over `n` training rows at most."""
        if isinstance(self.max_epochs, str):
            share = math.pow(_AUTO_EPOCH_ROWS / max(n, _AUTO_EPOCH_ROWS), 1 / 3)
            return max(1, round(_AUTO_EPOCHS * share))
        return int(self.max_epochs)

    def rate(self, epoch: int, share: float = 0.0) -> float:
        """Learning rate of an epoch, counted from 0, of which a share of the steps is done."""
        if self.schedule == "one_cycle":
            done = (epoch + share) / self._passes
            rising = _FIRST + (1 - _FIRST) * done / _RISE
            falling = 0.5 * (1 + math.cos(math.pi * (done - _RISE) / (1 - _RISE)))
            return float(self.learning_rate * min(rising, falling))
        if epoch < self.warmup:
            return self.learning_rate * (epoch + 1) / (self.warmup + 1)
        done = (epoch - self.warmup) / max(self._passes - self.warmup, 1)
        factors = {
            "constant": 1.0,
            "cosine": 0.5 * (1 + math.cos(math.pi * done)),
            "linear": 1 - done,
            "exponential": _EXPONENTIAL_END**done,
            "step": 0.1 ** sum(done >= share for share in _STEPS),
        }
        return float(self.learning_rate * factors[self.schedule])

    @property
    def _passes(self) -> int:
        return self.epochs(0)

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
