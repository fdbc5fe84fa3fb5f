"""The training loop: the same for one network, an ensemble, or many seeds at once."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.errors import InterruptedTrainingWarning, ParameterError, TrainingError
from aldsurv.losses.objective import ClosedFormObjective, Objective
from aldsurv.networks.level_grid import level_nodes
from aldsurv.training.batches import RowSource
from aldsurv.training.checkpoints import read_checkpoint, write_checkpoint
from aldsurv.training.history import EpochReport, History
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.parted_batches import PART_ROWS, PartedBatches
from aldsurv.training.progress import progress_bar
from aldsurv.training.randomness import encoder_seeds
from aldsurv.training.ranks import current_ranks
from aldsurv.training.settings import TrainingSettings
from aldsurv.training.steps import take_step
from aldsurv.training.still_training import StillTraining
from aldsurv.training.training_rows import TrainingRows

__all__ = ["Callback", "Training"]

Callback = Callable[[EpochReport], "bool | None"]
# Values of one layer held at once while the validation rows pass.
_VALIDATION_BLOCK = 1_000_000
# A checkpoint is written when this much time has passed since the last one.
_SECONDS_BETWEEN_CHECKPOINTS = 10.0
# Standardised columns are far below; beyond, products of float32 soon overflow.
_LARGE_INPUT = 1e4
# Values of one layer in a batch of all members from which more than one thread is worth its while.
_WORK_FOR_THREADS = 2_000_000


@final
@dataclass
class _Progress:
    """Where training is: all that a checkpoint holds beside the network's and the optimiser's tensors."""

    best_loss: NDArray[np.float64]
    best_epoch: NDArray[np.int64]
    training: NDArray[np.bool_]
    trained_epochs: NDArray[np.int64]
    train_loss: list[NDArray[np.float64]] = field(default_factory=list)
    validation_loss: list[NDArray[np.float64]] = field(default_factory=list)
    learning_rate: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    @property
    def epoch(self) -> int:
        return len(self.train_loss)


class _HeldRows(NamedTuple):
    """What is the same in every epoch of the validation rows; their outputs are written into `raw`."""

    order: NDArray[np.int64]
    raw: Tensor
    block: int
    x: Tensor | None
    fields: tuple[Tensor, ...]
    weight: Tensor | None

    @classmethod
    def of(cls, source: RowSource, outputs: int, units: int) -> _HeldRows:
        """Rows in blocks that have their place in memory; the inputs, too, if there is one block."""
        order = source.in_order()
        members, n = order.shape
        block = max(1, _VALIDATION_BLOCK // (members * max(units, source.x[0].numel(), 1)))
        raw = torch.empty(members, n, outputs, device=source.x.device, dtype=source.dtype)
        return cls(order, raw, block, source.inputs(order) if n <= block else None, *source.known(order))


@final
class Training:
    """One training run of all members, in this process or, inside `open_ranks`, in all of a group.

    Parameters
    ----------
    network
        The members' networks.
    objective
        The loss.
    train, validation
        Rows that are learned from, wherever they are, and rows in memory that decide when to stop; None for no such
        rows.
    settings
        How to train.
    seeds
        One per member: decides order and dropout.
    callbacks
        Called with an `EpochReport` after each epoch; True ends the training.
    progress
        Whether to show a bar; ``"auto"``: in a terminal.
    checkpoint
        File from which an interrupted run goes on, and which is removed at the end.
    fingerprint
        What the run depends on: a checkpoint of another one is refused.
    keep_start
        Whether a member keeps the weights with which it begins unless an epoch is better on the validation rows.
    """

    def __init__(
        self,
        network: MemberNetwork,
        objective: Objective,
        train: TrainingRows,
        validation: RowSource | None,
        settings: TrainingSettings,
        *,
        seeds: Sequence[int],
        callbacks: Sequence[Callback] = (),
        progress: bool | str = "auto",
        checkpoint: Path | None = None,
        fingerprint: str = "",
        keep_start: bool = False,
    ) -> None:
        self._network, self._objective = network, objective
        self._settings = settings = settings.for_rows(train.most_rows)
        self._work = StillTraining(network, train, validation, settings, seeds)
        self._optimizer, self._callbacks = self._work.optimizer, list(callbacks)
        self._show, self._checkpoint, self._fingerprint = progress, checkpoint, fingerprint
        self._keep_start = keep_start
        members = network.members
        self._now = _Progress(
            np.full(members, math.inf),
            np.zeros(members, np.int64),
            np.ones(members, np.bool_),
            np.zeros(members, np.int64),
        )
        self._size = settings.batch_rows(train.most_rows)
        self._threads = torch.get_num_threads()
        self._ranks = current_ranks()
        self._units = sum(units for _, units in network.architecture.layers())
        self._written = time.monotonic()
        self._between_epochs = True
        self._held: _HeldRows | None = None

    def run(self) -> History:
        """Train to the end, or to Ctrl-C, and return what happened; the network remembers the best weights."""
        self._join_others()
        self._resume()
        if self._keep_start and (at_start := self._loss_of_validation_rows()) is not None:
            self._now.best_loss = at_start
        stopped_by = "max_epochs"
        most = int(self._settings.max_epochs)
        with (
            self._sensible_threads(),
            self._ranks.interrupted_together(),
            progress_bar(self._show, most, self._now.epoch) as advance,
        ):
            try:
                while self._now.epoch < most and self._now.training.any():
                    report = self._one_epoch()
                    self._save_now_and_then()
                    advance(report)
                    if self._asked_to_stop(report):
                        stopped_by = "callback"
                        break
                else:
                    if not self._now.training.any():
                        stopped_by = "patience"
            except KeyboardInterrupt:
                if self._now.epoch == 0:
                    raise
                stopped_by = "interrupt"
                warnings.warn(
                    f"training was interrupted in epoch {self._now.epoch + 1}: "
                    "the model has the best weights of the epochs before.",
                    InterruptedTrainingWarning,
                    stacklevel=2,
                )
        if self._checkpoint is not None:
            if stopped_by == "interrupt":
                # Half an epoch is no place to go on from: what was last written stays.
                if self._between_epochs:
                    self._save()
            else:
                self._checkpoint.unlink(missing_ok=True)
        return self._history(stopped_by)

    def _join_others(self) -> None:
        """Train together with the other processes, if batches have parts to share; else go on without them."""
        if not self._in_parts:
            self._ranks.leave(
                f"training by several processes needs batches of {2 * PART_ROWS} rows or more, here {self._size}, and "
                "a network and a loss whose gradients are computed in closed form on the CPU"
            )
        self._ranks.require_same(self._fingerprint.encode())
        if not self._ranks.first:
            # One process writes, shows and calls.
            self._checkpoint, self._show, self._callbacks = None, False, []

    def _asked_to_stop(self, report: EpochReport) -> bool:
        """Whether a callback ends the training."""
        answers = [callback(report) for callback in self._callbacks]
        return bool(self._of_first(np.array([float(any(answers))]))[0])

    def _of_first(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the first process has: decisions by losses are the same in all, whatever their processors round."""
        self._ranks.take_from_first(torch.from_numpy(values))
        return values

    @contextmanager
    def _sensible_threads(self) -> Iterator[None]:
        """One thread for each of torch's calls in small networks, and where threads share parts of a batch.

        More would wait for each other longer than they work. It also makes the result independent of how many threads
        there happen to be.
        """
        before = torch.get_num_threads()
        work = self._network.members * self._size * max(self._units, 1)
        if self._work.train.device.type != "cpu" or self._network.encoders:
            yield
            return
        if work > _WORK_FOR_THREADS and not self._in_parts:
            yield
            return
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    @property
    def _in_parts(self) -> bool:
        """Whether batches are so large that threads share them, and of a loss and network that allow for it."""
        by_hand = self._network.passes is not None and isinstance(self._objective, ClosedFormObjective)
        return by_hand and self._size >= 2 * PART_ROWS

    def _parted_batches(self) -> AbstractContextManager[PartedBatches | None]:
        if not self._in_parts:
            return nullcontext()
        network = self._work.network
        threads = min(self._threads, max(len(self._ranks.share(self._size // PART_ROWS)), 1))
        return closing(PartedBatches(network.architecture, network.block, threads, self._ranks))

    def _one_epoch(self) -> EpochReport:
        start, epoch = time.perf_counter(), self._now.epoch
        self._ranks.end_if_stopped()
        self._between_epochs = False
        rate = self._settings.rate(epoch)
        # The same gradients move them by the same steps, except for what other processors round.
        self._ranks.take_from_first(self._work.network.block.values)
        train_loss = self._of_first(self._pass_over_training_rows(epoch))
        self._require_finite(train_loss, epoch, "training loss")
        # The last step may have spoiled weights that no loss has seen yet.
        largest = _as_float64(self._work.network.largest_weights())
        self._require_finite(self._of_first(self._work.spread(largest)), epoch, "largest weight")
        validation_loss = self._loss_of_validation_rows()
        if validation_loss is not None:
            self._require_finite(validation_loss, epoch, "validation loss")
        self._note_epoch(train_loss, validation_loss, rate, time.perf_counter() - start)
        self._between_epochs = True
        now = self._now
        return EpochReport(
            now.epoch,
            train_loss.copy(),
            None if validation_loss is None else validation_loss.copy(),
            now.best_loss.copy(),
            now.best_epoch.copy(),
            now.training.copy(),
            rate,
            now.seconds[-1],
        )

    def _pass_over_training_rows(self, epoch: int) -> NDArray[np.float64]:
        work, objective = self._work, self._objective
        network, source = work.network, work.train
        dropout = network.architecture.dropout
        total = torch.zeros(network.members, device=source.device, dtype=network.dtype)
        # A member with fewer rows than others has none left in the last batches.
        rows = torch.tensor(source.counts)
        first = torch.arange(0, source.most_rows, self._size)[:, None]
        counts = (rows - first).clamp(0, self._size).to(total).unbind()
        levels = objective.level_nodes > 0
        batches = source.batches(work.seeds, epoch, self._size, self._units, dropout, levels=levels)
        # Encoders may draw from torch's own stream: it is put back as it was.
        with self._parted_batches() as parted, torch.random.fork_rng(enabled=bool(network.encoders)):
            for number, batch in enumerate(batches):
                losses = take_step(
                    network,
                    objective,
                    work.optimizer,
                    batch,
                    rate=self._settings.rate(epoch, number / len(counts)),
                    clip_norm=float(self._settings.clip_norm),
                    seeds=encoder_seeds(work.seeds, epoch, number) if network.encoders else (),
                    parted=parted,
                )
                total += losses * counts[number]
        return work.spread(_as_float64(total / rows.to(total)))

    @torch.no_grad()
    def _loss_of_validation_rows(self) -> NDArray[np.float64] | None:
        source, network = self._work.validation, self._work.network
        if source is None:
            return None
        if not self._ranks.first:
            return self._of_first(self._work.spread(np.zeros(network.members)))
        if self._held is None:
            self._held = _HeldRows.of(source, self._objective.outputs, self._units)
        order, raw, rows, x, fields, weight = self._held
        total = np.zeros(len(order))
        # The same levels in every epoch, or a better epoch might only have had the easier ones.
        for node, share in level_nodes(self._objective.level_nodes) if self._objective.level_nodes else [(None, 1.0)]:
            level = None if node is None else torch.full(order.shape, node, device=source.x.device, dtype=network.dtype)
            for start in range(0, order.shape[1], rows):
                block = slice(start, start + rows)
                own = None if level is None else level[:, block]
                raw[:, block] = network.outputs(source.inputs(order[:, block]) if x is None else x, level=own)
            losses = self._objective.losses(raw, fields if level is None else (*fields, level), weight)
            total += share * _as_float64(losses)
        return self._of_first(self._work.spread(total))

    def _note_epoch(
        self, train_loss: NDArray[np.float64], validation_loss: NDArray[np.float64] | None, rate: float, seconds: float
    ) -> None:
        now = self._now
        if now.epoch:
            # Keep the last recorded losses of members that have stopped.
            train_loss[~now.training] = now.train_loss[-1][~now.training]
            if validation_loss is not None:
                validation_loss[~now.training] = now.validation_loss[-1][~now.training]
        now.trained_epochs[now.training] += 1
        now.train_loss.append(train_loss)
        now.learning_rate.append(rate)
        now.seconds.append(seconds)
        if validation_loss is None:
            improved = now.training.copy()
            now.best_loss = train_loss.copy()
        else:
            now.validation_loss.append(validation_loss)
            improved = now.training & (validation_loss < now.best_loss)
            now.best_loss[improved] = validation_loss[improved]
        now.best_epoch[improved] = now.epoch
        if improved.any():
            self._work.keep(improved)
        if validation_loss is not None and self._settings.patience > 0:
            now.training &= now.epoch - now.best_epoch < self._settings.patience
            self._drop_stopped()

    def _drop_stopped(self) -> None:
        if self._work.drop(self._now.training):
            self._held = None

    def _require_finite(self, losses: NDArray[np.float64], epoch: int, which: str) -> None:
        # A member that has stopped keeps its best weights, whatever becomes of those it no longer uses.
        bad = np.flatnonzero(~np.isfinite(losses) & self._now.training)
        if not bad.size:
            return
        member = f" of member {bad[0] + 1} of {len(losses)}" if len(losses) > 1 else ""
        rate = f"learning rate {self._settings.rate(epoch):g}"
        raise self._training_error(f"the {which}{member} is no longer a finite number in epoch {epoch + 1} ({rate})")

    def _training_error(self, problem: str) -> TrainingError:
        """The error with the likely cause: columns of huge numbers, else steps that are too long."""
        largest = self._work.train.largest_input()
        if not largest < _LARGE_INPUT:
            return TrainingError(
                f"{problem}. A covariate reaches {largest:.3g}",
                argument="clip_features",
                advice="Scale the columns, or limit them with clip_features.",
            )
        rate = min(float(self._settings.learning_rate) / 10, 0.001)
        limit = "" if self._settings.clip_norm > 0 else " and clip_norm=1.0"
        return TrainingError(
            f"{problem}. The steps are probably too long",
            argument="learning_rate",
            suggestion=float(f"{rate:.3g}"),
            advice=f"Try learning_rate={rate:g}{limit}.",
        )

    def _history(self, stopped_by: str) -> History:
        now = self._now
        return History(
            np.array(now.train_loss),
            np.array(now.validation_loss) if now.validation_loss else None,
            np.array(now.learning_rate),
            np.array(now.seconds),
            now.best_epoch.copy(),
            now.trained_epochs.copy(),
            stopped_by,
        )

    def _save_now_and_then(self) -> None:
        if self._checkpoint is not None and time.monotonic() - self._written > _SECONDS_BETWEEN_CHECKPOINTS:
            self._save()

    def _save(self) -> None:
        now = self._now
        self._work.collect()
        progress = {
            "train_loss": np.array(now.train_loss),
            "validation_loss": np.array(now.validation_loss),
            "learning_rate": np.array(now.learning_rate),
            "seconds": np.array(now.seconds),
            "best_loss": now.best_loss,
            "best_epoch": now.best_epoch,
            "training": now.training,
            "trained_epochs": now.trained_epochs,
        }
        if self._checkpoint is not None:
            write_checkpoint(self._checkpoint, self._fingerprint, progress, self._state())
            self._written = time.monotonic()

    def _state(self) -> dict[str, Tensor]:
        moments = {f"optimizer.{name}": value for name, value in self._optimizer.state().items()}
        return {**{f"network.{name}": value for name, value in self._network.state().items()}, **moments}

    def _resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        path = self._checkpoint
        if path is not None and not path.parent.is_dir():
            raise ParameterError(
                f"checkpoint must be a file in a folder that exists, but is '{path}'.", argument="checkpoint"
            )
        with self._ranks.file_of_first(path if path is not None and path.exists() else None) as file:
            found = None if file is None else read_checkpoint(file, self._fingerprint, self._state())
        if found is None:
            return
        self._now = _Progress(
            found["best_loss"],
            found["best_epoch"],
            found["training"],
            found["trained_epochs"],
            list(found["train_loss"]),
            list(found["validation_loss"]),
            found["learning_rate"].tolist(),
            found["seconds"].tolist(),
        )
        self._drop_stopped()


def _as_float64(losses: Tensor) -> NDArray[np.float64]:
    return losses.detach().cpu().numpy().astype(np.float64)
