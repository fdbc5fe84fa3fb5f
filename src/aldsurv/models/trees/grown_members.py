"""All members of a boosted ensemble: which outputs are boosted together, and by which rows each stops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.cause_checks import require_known_causes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.rows.member_rows import Rows
from aldsurv.models.rows.time_units import even_weights
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.boosted_rounds import Grown, Part, best_constant, grow
from aldsurv.models.trees.boosting_settings import BoostingSettings
from aldsurv.models.trees.member_outputs import MemberOutputs
from aldsurv.models.trees.tree_arrays import Trees

__all__ = ["GrownMembers", "alternatives", "grow_members"]

FloatArray = NDArray[np.float64]
# Held-out events from which on two kinds of causes can be compared.
_LEAST_EVENTS = 10


@final
@dataclass(frozen=True)
class GrownMembers:
    """The members after their last rounds.

    Attributes
    ----------
    outputs
        What their outputs are.
    trees
        The trees of all members.
    start, units
        Of each member the outputs to which trees add, and what one unit of a tree is in each of them.
    gain
        By how much splits on each column (columns,) improved the approximation of the loss.
    rounds
        Rounds kept: (members,), or (members, causes) where each cause stops by itself.
    losses
        Mean loss of each member's validation rows (of its training rows, if none were held out), all causes together.
    held_out
        Whether rows were held out.
    """

    outputs: MemberOutputs
    trees: Trees
    start: FloatArray
    units: FloatArray
    gain: FloatArray
    rounds: NDArray[np.int64]
    losses: FloatArray
    held_out: bool

    @classmethod
    def joined(cls, outputs: MemberOutputs, members: Sequence[Sequence[Grown]]) -> GrownMembers:
        """Of each member what was boosted for each entry of the outputs' columns."""
        start = np.empty((len(members), outputs.count))
        units = np.empty((len(members), outputs.boosted))
        trees = []
        for row, member in enumerate(members):
            for columns, grown in zip(outputs.columns, member, strict=True):
                boosted = columns[: len(grown.units)]
                start[row, columns], units[row, boosted] = grown.start, grown.units
                trees.append(grown.trees.with_outputs(row * outputs.boosted + boosted))
        rounds = np.array([[grown.rounds for grown in member] for member in members], np.int64)
        return cls(
            outputs=outputs,
            trees=Trees.joined(trees),
            start=start,
            units=units,
            gain=np.sum([grown.gain for member in members for grown in member], axis=0),
            rounds=rounds[:, 0] if rounds.shape[1] == 1 else rounds,
            losses=np.array([sum(grown.losses[grown.rounds] for grown in member) for member in members]),
            held_out=members[0][0].held_out,
        )


def alternatives(
    part: BoostedOutputs, data: SurvivalData, rows: Rows, *, causes: str, cure: bool
) -> list[MemberOutputs]:
    """What the outputs may be: with several causes and ``"auto"`` both kinds, if rows held out can compare them.

    Parameters
    ----------
    part
        The outputs of one distribution.
    data
        All rows.
    rows
        Which of them each member holds out.
    causes, cure
        Parameters of `BoostedALD`.
    """
    several = data.causes is not None and len(data.causes) > 1
    if several and causes == "hazards":
        require_known_causes(data)
    mixtures = [causes != "hazards"]
    if several and causes == "auto" and not cure and rows.validation is not None:
        held = np.unique(np.concatenate(rows.validation))
        clear = bool((data.exact | data.right_censored).all())
        if clear and np.count_nonzero(data.exact[held]) >= _LEAST_EVENTS:
            mixtures = [True, False]
    return [MemberOutputs(part, data.causes, mixture, cure) for mixture in mixtures]


def grow_members(
    outputs: MemberOutputs,
    x: NDArray[np.float32],
    data: SurvivalData,
    unit: float,
    *,
    rows: Rows,
    seeds: Sequence[int],
    settings: BoostingSettings,
) -> GrownMembers:
    """Boost every member.

    Parameters
    ----------
    outputs
        What is to be learned.
    x, data
        Columns, and times in the unit inside.
    unit
        The time of the user that is one unit inside.
    rows
        Of each member, to learn from and to stop by.
    seeds
        One per member.
    settings
        Those of the rounds.
    """
    even = even_weights(data)
    weights = np.ones(len(data)) if even is None else even

    def parts(chosen: NDArray[np.int64]) -> list[Part]:
        return [Part(x[chosen], loss, weights[chosen]) for loss in outputs.likelihoods(data[chosen], unit)]

    starts = [best_constant(part) for part in parts(np.flatnonzero(weights > 0))]
    members = []
    for k, seed in enumerate(seeds):
        train = parts(rows.train[k])
        held_out = [None] * len(train) if rows.validation is None else parts(rows.validation[k])
        each = zip(train, held_out, starts, strict=True)
        members.append([grow(part, held, start, settings, seed) for part, held, start in each])
    return GrownMembers.joined(outputs, members)
