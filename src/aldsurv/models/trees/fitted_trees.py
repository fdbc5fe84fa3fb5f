"""What boosting learns, and its entries and arrays in a model file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.models.file_entries import LARGEST_NUMBER, Arrays, Document, FileContent, finite_floats, require
from aldsurv.models.fitted_state import FittedState
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.tree_arrays import Trees

__all__ = ["FittedTrees"]

FloatArray = NDArray[np.float64]

_TREES = "trees."
_ENTRIES = {"features", "time_scale", "least_scale", "held_out", "trained_on"}
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
        Rounds that each member kept.
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
    """

    trees: Trees
    outputs: BoostedOutputs
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

    def to_file(self) -> FileContent:
        """Entries and arrays from which `from_file` makes the same value."""
        document = {
            "features": self.features.to_dict(),
            "time_scale": self.time_scale,
            "least_scale": self.outputs.least_scale,
            "held_out": self.held_out,
            "trained_on": self.trained_on.to_dict(),
        }
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
    ) -> FittedTrees:
        """Read untrusted entries and arrays of a model with these parameters; raises `ModelFileError`."""
        require(set(document) == _ENTRIES, "its entries are not those of boosted trees")
        tree_arrays = {name.removeprefix(_TREES): array for name, array in arrays.items() if name.startswith(_TREES)}
        others = {name for name in arrays if not name.startswith(_TREES)}
        require(others == {*_ARRAYS, "rounds"}, "its arrays are not those of boosted trees")
        scale, least = document["time_scale"], document["least_scale"]
        in_range = isinstance(scale, float) and 1 / LARGEST_NUMBER <= scale <= LARGEST_NUMBER
        require(in_range, f"time_scale must be positive and at most {LARGEST_NUMBER:g}")
        least_in_range = isinstance(least, float) and (least == 0 if components == 1 else 0 < least <= LARGEST_NUMBER)
        require(least_in_range, "least_scale is unclear")
        require(isinstance(document["held_out"], bool), "held_out must be true or false")
        outputs = BoostedOutputs(support, components, least)
        features = Features.from_dict(document["features"])
        start, units, gain, losses, times = (finite_floats(arrays, name) for name in _ARRAYS)
        require(start.shape == (members, outputs.count), "its start is not that of its outputs")
        require(units.shape == (members, outputs.boosted) and bool((units > 0).all()), "units must be positive")
        require(gain.shape == (features.width,) and bool((gain >= 0).all()), "gains are not those of its columns")
        require(losses.shape == (members,), "its losses are not those of its members")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        trees = Trees.from_arrays(tree_arrays, columns=features.width, outputs=members * outputs.boosted)
        rounds = arrays["rounds"]
        require(rounds.shape == (members,) and rounds.dtype == np.int64, "rounds must be one number per member")
        counts = np.bincount(trees.output, minlength=members * outputs.boosted).reshape(members, outputs.boosted)
        require(bool((counts == rounds[:, None]).all()), "there is not one tree for each round and output")
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
        )
