"""The members that still train, as a network of their own: those that have stopped cost nothing any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import torch
from numpy.typing import NDArray

from aldsurv.training.batches import RowSource
from aldsurv.training.member_network import MemberNetwork
from aldsurv.training.settings import TrainingSettings
from aldsurv.training.training_rows import TrainingRows

__all__ = ["StillTraining"]


@final
class StillTraining:
    """All members at first; `drop` removes those that have stopped.

    A member trains the same among fewer others, to the bit or, on some processors, to rounding. The network of all
    members remembers the best weights of each, and is up to date after `collect`.

    Parameters
    ----------
    network
        That of all members.
    train, validation
        Their rows.
    settings
        How to train.
    seeds
        One per member.
    """

    def __init__(
        self,
        network: MemberNetwork,
        train: TrainingRows,
        validation: RowSource | None,
        settings: TrainingSettings,
        seeds: Sequence[int],
    ) -> None:
        self._settings, self._rows = settings, train.most_rows
        self._all = network, network.optimizer(settings, train.most_rows)
        self._all_rows, self._all_seeds = (train, validation), list(seeds)
        self.members = np.arange(network.members)
        self.network, self.optimizer = self._all
        self.train, self.validation, self.seeds = train, validation, list(seeds)

    def drop(self, training: NDArray[np.bool_]) -> bool:
        """Go on without the members that are not `training`; whether any were dropped.

        No member is dropped if that would change the batches of the others: the number of batches is that of the
        member with most rows. With encoders, which each have a pass of their own, all stay.
        """
        left = self.members[training[self.members]]
        if self.network.encoders or not 0 < len(left) < len(self.members):
            return False
        train, validation = self._all_rows
        train, validation = train.of_members(left), None if validation is None else validation.of_members(left)
        if _most(train, validation) != _most(self.train, self.validation):
            return False
        self.collect()
        network, optimizer = self._all
        here, there = torch.arange(len(left)), torch.from_numpy(left)
        small = network.only(there)
        own = small.optimizer(self._settings, self._rows)
        own.take(optimizer, lambda mine, theirs: small.block.take_flat(mine, here, network.block, theirs, there))
        self.members, self.network, self.optimizer = left, small, own
        self.train, self.validation = train, validation
        self.seeds = [self._all_seeds[k] for k in left]
        return True

    def collect(self) -> None:
        """Bring the network of all members, and its optimiser, up to date."""
        network, optimizer = self._all
        if self.network is network:
            return
        here, there = torch.arange(len(self.members)), torch.from_numpy(self.members)
        block, small = network.block, self.network.block
        block.take(there, small, here)
        optimizer.take(self.optimizer, lambda mine, theirs: block.take_flat(mine, there, small, theirs, here))

    def keep(self, improved: NDArray[np.bool_]) -> None:
        """Remember the present weights of these, of all members, as their best."""
        here = np.flatnonzero(improved[self.members])
        self._all[0].keep(torch.from_numpy(self.members[here]), self.network, torch.from_numpy(here))

    def spread(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of the members that are left, in the places of all; NaN for the others."""
        found = np.full(self._all[0].members, np.nan)
        found[self.members] = values
        return found


def _most(train: TrainingRows, validation: RowSource | None) -> tuple[int, int]:
    return train.most_rows, 0 if validation is None else validation.most_rows
