"""What happened while training, epoch by epoch, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["EpochReport", "History"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True)
class EpochReport:
    """One epoch, as callbacks see it.

    Attributes
    ----------
    epoch
        Counted from 1.
    train_loss, validation_loss
        Of each member (members,); the second is None without validation rows.
    best_loss, best_epoch
        Of each member so far.
    training
        Whether each member still trains (members,).
    learning_rate, seconds
        Of this epoch.
    """

    epoch: int
    train_loss: FloatArray
    validation_loss: FloatArray | None
    best_loss: FloatArray
    best_epoch: NDArray[np.int64]
    training: NDArray[np.bool_]
    learning_rate: float
    seconds: float


@final
@dataclass(frozen=True)
class History:
    """Losses of all epochs and how training ended.

    Attributes
    ----------
    train_loss
        (epochs, members): mean over the batches of the epoch, with dropout. After a member has stopped its last
        loss is repeated.
    validation_loss
        (epochs, members) on the validation rows after the epoch; None without them.
    learning_rate
        (epochs,).
    seconds
        (epochs,); NaN of a model that was read from a file, which does not hold them: equal runs give equal files.
    best_epoch
        (members,) epoch, counted from 1, whose weights each member kept.
    trained_epochs
        (members,) epochs until each stopped.
    stopped_by
        ``"patience"``, ``"max_epochs"``, ``"callback"`` or ``"interrupt"``.
    """

    train_loss: FloatArray
    validation_loss: FloatArray | None
    learning_rate: FloatArray
    seconds: FloatArray
    best_epoch: NDArray[np.int64]
    trained_epochs: NDArray[np.int64]
    stopped_by: str

    @property
    def epochs(self) -> int:
        """Number of epochs that were run."""
        return len(self.train_loss)

    @property
    def best_loss(self) -> FloatArray:
        """Loss (members,) that the kept weights had: on the validation rows if there were any."""
        losses = self.train_loss if self.validation_loss is None else self.validation_loss
        kept: FloatArray = losses[self.best_epoch - 1, np.arange(losses.shape[1])]
        return kept

    def members(self, chosen: slice) -> History:
        """The history of some members, up to where the last of them stopped."""
        trained = self.trained_epochs[chosen]
        last = int(trained.max())
        validation = None if self.validation_loss is None else self.validation_loss[:last, chosen]
        return History(
            self.train_loss[:last, chosen],
            validation,
            self.learning_rate[:last],
            self.seconds[:last],
            self.best_epoch[chosen],
            trained,
            self.stopped_by if last == self.epochs else "patience",
        )

    @classmethod
    def joined(cls, histories: Sequence[History]) -> History:
        """One history of the members of several runs, all as long as the longest."""
        longest = max(histories, key=lambda history: history.epochs)

        def padded(losses: Sequence[FloatArray]) -> FloatArray:
            return np.hstack([np.pad(loss, ((0, longest.epochs - len(loss)), (0, 0)), mode="edge") for loss in losses])

        held = [history.validation_loss for history in histories if history.validation_loss is not None]
        return replace(
            longest,
            train_loss=padded([history.train_loss for history in histories]),
            validation_loss=padded(held) if held else None,
            best_epoch=np.concatenate([history.best_epoch for history in histories]),
            trained_epochs=np.concatenate([history.trained_epochs for history in histories]),
        )

    def to_plain(self) -> dict[str, Any]:
        """What JSON can hold, and what a run with the same seed gives again: no seconds."""
        return {
            "train_loss": self.train_loss.tolist(),
            "validation_loss": None if self.validation_loss is None else self.validation_loss.tolist(),
            "learning_rate": self.learning_rate.tolist(),
            "best_epoch": self.best_epoch.tolist(),
            "trained_epochs": self.trained_epochs.tolist(),
            "stopped_by": self.stopped_by,
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> History:
        """The inverse of `to_plain`; files of older versions hold the seconds, too."""
        validation = plain["validation_loss"]
        seconds = plain.get("seconds", [np.nan] * len(plain["learning_rate"]))
        return cls(
            np.asarray(plain["train_loss"], np.float64),
            None if validation is None else np.asarray(validation, np.float64),
            np.asarray(plain["learning_rate"], np.float64),
            np.asarray(seconds, np.float64),
            np.asarray(plain["best_epoch"], np.int64),
            np.asarray(plain["trained_epochs"], np.int64),
            str(plain["stopped_by"]),
        )

    def table(self) -> list[dict[str, float]]:
        """One dict an epoch, losses averaged over members: for a data frame or a plot."""
        rows = []
        for i in range(self.epochs):
            row = {"epoch": i + 1.0, "train_loss": float(self.train_loss[i].mean())}
            if self.validation_loss is not None:
                row["validation_loss"] = float(self.validation_loss[i].mean())
            rows.append({**row, "learning_rate": float(self.learning_rate[i]), "seconds": float(self.seconds[i])})
        return rows

    def __repr__(self) -> str:
        kept = ", ".join(str(epoch) for epoch in self.best_epoch.tolist()[:10])
        return f"History(epochs={self.epochs}, best_epoch=[{kept}], stopped_by={self.stopped_by!r})"
