"""Boosted trees as entries and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import LARGEST_NUMBER, require, saved_parameters, with_parameters
from aldsurv.models.linear.linear_survival import finite_floats
from aldsurv.models.training_rows import TrainedOn
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.tree_arrays import Trees

__all__ = ["restored", "written"]

_TREES = "trees."
_ENTRIES = {"parameters", "features", "time_scale", "least_scale", "held_out", "trained_on"}
_ARRAYS = ("start", "units", "gain", "validation_loss", "times")


def written(model: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Entries and arrays from which `restored` makes the same estimator."""
    document = {
        "parameters": saved_parameters(model),
        "features": model.features_.to_plain(),
        "time_scale": model.time_scale_,
        "least_scale": model.outputs_.least_scale,
        "held_out": model.held_out_,
        "trained_on": model.trained_on_.to_dict(),
    }
    arrays: dict[str, NDArray[Any]] = {f"{_TREES}{name}": array for name, array in model.trees_.to_arrays().items()}
    own = (model.start_, model.units_, model.gain_, model.validation_loss_, model.unique_times_)
    arrays |= dict(zip(_ARRAYS, own, strict=True))
    return document, {**arrays, "rounds": model.rounds_}


def restored(kind: Any, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any) -> Any:
    """The estimator of a file; everything in it is checked."""
    if encoder is not None:
        raise ParameterError("encoder has no use: the model was trained without one.")
    require(set(document) == _ENTRIES, "its entries are not those of boosted trees")
    own = {name for name in arrays if not name.startswith(_TREES)}
    require(own == {*_ARRAYS, "rounds"}, "its arrays are not those of boosted trees")
    model = with_parameters(kind, document["parameters"])
    model.check_parameters()
    scale, least = document["time_scale"], document["least_scale"]
    sound = isinstance(scale, float) and 1 / LARGEST_NUMBER <= scale <= LARGEST_NUMBER
    require(sound, f"time_scale must be positive and at most {LARGEST_NUMBER:g}")
    single = model.components == 1
    require(
        isinstance(least, float) and (least == 0 if single else 0 < least <= LARGEST_NUMBER), "least_scale is unclear"
    )
    require(isinstance(document["held_out"], bool), "held_out must be true or false")
    outputs = BoostedOutputs(model.support, model.components, least)
    features = Features.from_plain(document["features"])
    start, units, gain, losses, times = (finite_floats(arrays, name) for name in _ARRAYS)
    members, width = model.members, features.width
    require(start.shape == (members, outputs.count), "its start is not that of its outputs")
    require(units.shape == (members, outputs.boosted) and bool((units > 0).all()), "units must be positive")
    require(gain.shape == (width,) and bool((gain >= 0).all()), "gains are not those of its columns")
    require(losses.shape == (members,), "its losses are not those of its members")
    require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
    named = {name.removeprefix(_TREES): array for name, array in arrays.items() if name.startswith(_TREES)}
    trees = Trees.from_arrays(named, columns=width, outputs=members * outputs.boosted)
    rounds = arrays["rounds"]
    require(rounds.shape == (members,) and rounds.dtype == np.int64, "rounds must be one number a member")
    counts = np.bincount(trees.output, minlength=members * outputs.boosted).reshape(members, outputs.boosted)
    require(bool((counts == rounds[:, None]).all()), "there is not one tree for each round and output")
    model._remember(
        {
            "trees_": trees,
            "outputs_": outputs,
            "start_": start,
            "units_": units,
            "gain_": gain,
            "rounds_": rounds,
            "validation_loss_": losses,
            "held_out_": document["held_out"],
            "time_scale_": scale,
            "features_": features,
            "trained_on_": TrainedOn.from_dict(document["trained_on"]),
            "unique_times_": times,
        }
    )
    return model
