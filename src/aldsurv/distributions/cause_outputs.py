"""Which of a network's outputs belong to which of several competing causes, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = ["CauseOutputs"]

FloatArray = NDArray[np.float64]


@final
@dataclass(frozen=True)
class CauseOutputs:
    """The outputs of a network for C causes, each of which has the outputs of one distribution.

    A mixture of causes has first a logit for each cause, and one for never having an event if there is a cure. Then
    come the outputs of the first cause's distribution that depend on the covariates, those of the second, and so on,
    and last their constants in the same order.

    Parameters
    ----------
    causes
        C.
    part_outputs, part_constants
        How many outputs the distribution of one cause has, and how many of them, the last ones, are constants.
    mixture
        Whether causes have probabilities; otherwise hazards, which need none.
    cure
        Whether some never have an event.
    """

    causes: int
    part_outputs: int
    part_constants: int = 0
    mixture: bool = True
    cure: bool = False

    @property
    def logits(self) -> int:
        """How many outputs, the first ones, are logits of the causes and of no event."""
        return self.causes + self.cure if self.mixture else 0

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return self.logits + self.causes * self.part_outputs

    @property
    def constants(self) -> int:
        """How many of them, the last ones, are the same for every row."""
        return self.causes * self.part_constants

    def columns(self, cause: int) -> NDArray[np.int64]:
        """Which outputs are those of the distribution of a cause, counted from 0, in its own order."""
        moved = self.part_outputs - self.part_constants
        first = self.logits + cause * moved + np.arange(moved)
        constants = self.logits + self.causes * moved + cause * self.part_constants + np.arange(self.part_constants)
        return np.concatenate([first, constants])

    def spread(self, part: FloatArray, logit: float = np.nan) -> FloatArray:
        """Values (outputs,) that are `part` (part_outputs,) for every cause, and `logit` for the logits."""
        values = np.full(self.outputs, logit)
        for cause in range(self.causes):
            values[self.columns(cause)] = part
        return values

    def probabilities(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities of the causes (n, causes) and of no event (n, 1) from outputs (n, outputs) of a mixture."""
        logits = raw[:, : self.logits]
        share = np.exp(logits - logits.max(axis=1, keepdims=True))
        share = share / share.sum(axis=1, keepdims=True)
        cure = share[:, self.causes :] if self.cure else np.zeros((len(raw), 1))
        return share[:, : self.causes], cure
