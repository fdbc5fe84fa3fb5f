"""What boosting learns, and its entries and arrays in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number
from aldsurv.columns.features import Features
from aldsurv.models.file_entries import LARGEST_NUMBER, Arrays, Document, FileContent, finite_floats, require
from aldsurv.models.fitted_state import FittedState
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.member_outputs import MemberOutputs
from aldsurv.models.trees.tree_arrays import Trees

__all__ = ["FittedTrees"]

FloatArray = NDArray[np.float64]

_TREES = "trees."
_ENTRIES = {"features", "time_scale", "least_scale", "held_out", "trained_on"}
# Files of earlier versions, and those without causes, do not have them.
_CAUSE_ENTRIES = {"causes", "cause_scores"}
_ARRAYS = ("start", "units", "gain", "validation_loss", "times")


@final
@dataclass(frozen=True, eq=False, kw_only=True)
class FittedTrees(FittedState):
    """The trees of all members, and what turns their sums into distributions.

    Attributes
    ----------
    trees
        The trees of all members, as arrays.
    outputs
        What the sums of trees stand for.
    start, units
        Of each member the outputs to which trees add, and what one unit of a tree is in each of them.
    gain
        By how much splits on each column of numbers improved the approximation of the loss.
    rounds
        Rounds that each member kept (members,); with hazards of causes for each of them (members, causes).
    validation_loss
        Mean negative log-likelihood of each member's validation rows, in the unit of the data.
    held_out
        Whether rows were held out.
    time_scale
        The time of the user that is one unit to the trees.
    features
        How columns become numbers.
    trained_on
        Facts about the training rows.
    unique_times
        Times of the training rows, at most 512.
    cause_scores
        Log-likelihood per validation row of each kind of causes that was tried; empty if one was.
    """

    trees: Trees
    outputs: MemberOutputs
    start: FloatArray
    units: FloatArray
    gain: FloatArray
    rounds: NDArray[np.int64]
    validation_loss: FloatArray
    held_out: bool
    time_scale: float
    features: Features
    trained_on: TrainedOn
    unique_times: FloatArray
    cause_scores: Mapping[str, float] = field(default_factory=dict)

    def to_file(self) -> FileContent:
        """Entries and arrays from which `from_file` makes the same value."""
        document: dict[str, Any] = {
            "features": self.features.to_dict(),
            "time_scale": self.time_scale,
            "least_scale": self.outputs.part.least_scale,
            "held_out": self.held_out,
            "trained_on": self.trained_on.to_dict(),
        }
        if (causes := self.outputs.to_entry()) is not None:
            document |= {"causes": causes, "cause_scores": dict(self.cause_scores)}
        arrays: dict[str, NDArray[Any]] = {f"{_TREES}{name}": array for name, array in self.trees.to_arrays().items()}
        numbers = (self.start, self.units, self.gain, self.validation_loss, self.unique_times)
        return document, {**arrays, **dict(zip(_ARRAYS, numbers, strict=True)), "rounds": self.rounds}

    @classmethod
    def from_file(
        cls,
        document: Document,
        arrays: Arrays,
        *,
        support: str,
        components: int,
        members: int,
        cure: bool,
    ) -> FittedTrees:
        """Read untrusted entries and arrays of a model with these parameters; raises `ModelFileError`."""
        with_causes = set(document) == _ENTRIES | _CAUSE_ENTRIES
        require(with_causes or set(document) == _ENTRIES, "its entries are not those of boosted trees")
        tree_arrays = {name.removeprefix(_TREES): array for name, array in arrays.items() if name.startswith(_TREES)}
        others = {name for name in arrays if not name.startswith(_TREES)}
        require(others == {*_ARRAYS, "rounds"}, "its arrays are not those of boosted trees")
        scale, least = document["time_scale"], document["least_scale"]
        in_range = isinstance(scale, float) and 1 / LARGEST_NUMBER <= scale <= LARGEST_NUMBER
        require(in_range, f"time_scale must be positive and at most {LARGEST_NUMBER:g}")
        least_in_range = isinstance(least, float) and (least == 0 if components == 1 else 0 < least <= LARGEST_NUMBER)
        require(least_in_range, "least_scale is unclear")
        require(isinstance(document["held_out"], bool), "held_out must be true or false")
        outputs = MemberOutputs.from_entry(BoostedOutputs(support, components, least), document.get("causes"))
        require(outputs.cure == cure, "its causes are not those of its parameters")
        scores = document.get("cause_scores", {})
        numbers = isinstance(scores, dict) and all(Number().allows(score) for score in scores.values())
        require(numbers and set(scores) <= {"mixture", "hazards"}, "cause_scores must be numbers by the kind of causes")
        features = Features.from_dict(document["features"])
        start, units, gain, losses, times = (finite_floats(arrays, name) for name in _ARRAYS)
        require(start.shape == (members, outputs.count), "its start is not that of its outputs")
        require(units.shape == (members, outputs.boosted) and bool((units > 0).all()), "units must be positive")
        require(gain.shape == (features.width,) and bool((gain >= 0).all()), "gains are not those of its columns")
        require(losses.shape == (members,), "its losses are not those of its members")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        trees = Trees.from_arrays(tree_arrays, columns=features.width, outputs=members * outputs.boosted)
        rounds = arrays["rounds"]
        together = outputs.columns
        shape = (members,) if len(together) == 1 else (members, len(together))
        require(rounds.shape == shape and rounds.dtype == np.int64, "rounds must be one number per member and cause")
        counts = np.bincount(trees.output, minlength=members * outputs.boosted).reshape(members, outputs.boosted)
        for kept, columns in zip(rounds.reshape(members, -1).T, together, strict=True):
            each = counts[:, columns[columns < outputs.boosted]]
            require(bool((each == kept[:, None]).all()), "there is not one tree for each round and output")
        return cls(
            trees=trees,
            outputs=outputs,
            start=start,
            units=units,
            gain=gain,
            rounds=rounds,
            validation_loss=losses,
            held_out=document["held_out"],
            time_scale=scale,
            features=features,
            trained_on=TrainedOn.from_dict(document["trained_on"]),
            unique_times=times,
            cause_scores=scores,
        )
