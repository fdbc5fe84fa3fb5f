"""All members of a boosted ensemble: which outputs are boosted together, and by which rows each stops."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.cause_checks import require_known_causes
from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.rows.member_rows import Rows
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.boosted_rounds import Grown, Part, Watched, best_constant, grow
from aldsurv.models.trees.boosting_settings import BoostingSettings
from aldsurv.models.trees.member_outputs import MemberOutputs
from aldsurv.models.trees.member_samples import MemberRows, Sample
from aldsurv.models.trees.threads import Turns
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
            losses=np.array([sum(grown.loss for grown in member) for member in members]),
            held_out=members[0][0].held_out,
        )


def alternatives(
    part: BoostedOutputs, data: SurvivalData, rows: Rows, *, causes: str, cure: bool
) -> list[MemberOutputs]:
    """What the outputs may be: with several causes and ``"auto"`` both kinds, if held-out rows can compare them.

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


@final
@dataclass(frozen=True)
class _MemberTask:
    """What one member grows on: it may be sent to a worker of a cluster."""

    number: int
    seed: int
    train: Sample
    held_out: Sample | None

    def __str__(self) -> str:
        return f"member {self.number + 1}"


def grow_members(
    outputs: MemberOutputs,
    rows: MemberRows,
    unit: float,
    *,
    seeds: Sequence[int],
    settings: BoostingSettings,
    threads: int,
) -> GrownMembers:
    """Boost every member.

    Members are grown at the same time, each by its own thread or, inside a ``with`` block of a cluster's engine, by its
    own worker. None depends on the others, so that it makes no difference how many threads or workers there are.

    Parameters
    ----------
    outputs
        What is to be learned.
    rows
        Where members and the start get their rows from.
    unit
        The time of the user that is one unit inside.
    seeds
        One per member.
    settings
        Those of the rounds.
    threads
        How many compute in this process.
    """
    starts = [best_constant(part) for part in _parts(outputs, rows.start(), unit)]
    engine, count = current_engine(), len(seeds)
    each = 1 if engine.address is not None else max(1, threads // count)
    grow_one = partial(_grow_member, outputs=outputs, unit=unit, starts=starts, settings=settings, threads=each)

    def task(k: int) -> _MemberTask:
        return _MemberTask(k, seeds[k], rows.train(k), rows.held_out(k))

    if engine.address is not None:
        members = list(engine.map(grow_one, [task(k) for k in range(count)]))
    elif threads == 1 or count == 1:
        members = [grow_one(task(k)) for k in range(count)]
    else:
        # As many at the same time as leave no thread without work until the last have begun.
        together, turns = -(-count // max(count // threads, 1)), Turns(threads)
        with ThreadPoolExecutor(together, thread_name_prefix="member") as pool:
            try:
                members = list(pool.map(lambda k: grow_one(task(k), turns=turns), range(count)))
            except BaseException:
                # Of Ctrl-C, or of an error in one member: the pool waits for the others, which end with their round.
                turns.end()
                raise
    return GrownMembers.joined(outputs, members)


def _grow_member(
    task: _MemberTask,
    *,
    outputs: MemberOutputs,
    unit: float,
    starts: Sequence[FloatArray],
    settings: BoostingSettings,
    threads: int,
    turns: Turns | None = None,
) -> list[Grown]:
    """What is boosted together, of one member."""
    sample = task.train if task.held_out is None else task.held_out
    most = settings.constant_rows
    step = 1 if most is None else -(-len(sample.weight) // most)
    watched, some = _parts(outputs, sample, unit), _parts(outputs, sample.every(step), unit)
    judges = [Watched(*both, step, task.held_out is not None) for both in zip(watched, some, strict=True)]
    parts = [_parts(outputs, part, unit) for part in task.train.divided(settings.parts)]
    return [
        grow(train, judge, start, settings, seed=task.seed, threads=threads, turns=turns or Turns(1))
        for *train, judge, start in zip(*parts, judges, starts, strict=True)
    ]


def _parts(outputs: MemberOutputs, sample: Sample, unit: float) -> list[Part]:
    return [Part(sample.x, loss, sample.weight) for loss in outputs.likelihoods(sample.data, unit)]
