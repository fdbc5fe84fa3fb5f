"""A fitted network as entries and arrays of a model file, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.models.file_entries import (
    LARGEST_NUMBER,
    from_portable,
    portable,
    require,
    saved_parameters,
    with_parameters,
)
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.training_rows import TrainedOn
from aldsurv.networks import Architecture
from aldsurv.networks.numpy_forward import forward
from aldsurv.training.history import History

__all__ = ["restored", "written"]

_ENTRIES = {
    "parameters", "settings", "features", "network", "encoders", "members", "time_scale", "history", "trained_on",
    "n_features_in",
}  # fmt: skip
# Only of models that chose something by themselves.
_CHOICES = "choices"


def written(model: NeuralSurvival) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Entries and arrays from which `restored` makes the same estimator."""
    document = {
        "parameters": saved_parameters(model),
        "settings": {name: portable(value) for name, value in model.settings_.items()},
        "features": None if model.features_ is None else model.features_.to_dict(),
        "network": model.network_.to_plain(),
        "encoders": [type(encoder).__name__ for encoder in model.encoders_],
        "members": int(model.weights_["output.bias"].shape[0]),
        "time_scale": model.time_scale_,
        "history": model.history_.to_plain(),
        "trained_on": model.trained_on_.to_dict(),
        "n_features_in": model.n_features_in_,
    }
    if choices := model._choices():
        document[_CHOICES] = choices
    arrays: dict[str, NDArray[Any]] = {f"network.{name}": array for name, array in model.weights_.items()}
    arrays |= {f"learned.{name}": array for name, array in model.learned_.items()}
    arrays["times"] = model.unique_times_
    for k, encoder in enumerate(model.encoders_):
        arrays |= {f"encoder{k}.{name}": value.numpy() for name, value in encoder.state_dict().items()}
    return document, arrays


def restored(
    kind: type[NeuralSurvival], document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any
) -> NeuralSurvival:
    """The estimator of a file; everything in it is checked."""
    require(set(document) - {_CHOICES} == _ENTRIES, "its entries are not those of a model")
    model: NeuralSurvival = with_parameters(kind, document["parameters"])
    recipe = model._settings()
    settings = {name: from_portable(value) for name, value in document["settings"].items()}
    require(set(settings) == set(recipe), "its settings are not those of this model")
    model._check_settings(settings)
    network = Architecture.from_plain(document["network"])
    members = document["members"]
    require(isinstance(members, int) and members == settings["members"], "the number of members is unclear")
    weights = {name.removeprefix("network."): a for name, a in arrays.items() if name.startswith("network.")}
    network.check_arrays(weights, members)
    learned = {name.removeprefix("learned."): a for name, a in arrays.items() if name.startswith("learned.")}
    model._check_learned(settings, network, members, learned)
    features = None if document["features"] is None else Features.from_dict(document["features"])
    encoders = _encoders(document["encoders"], arrays, encoder, members)
    require((features is None) == bool(encoders), "a model has either columns or an encoder")
    require(features is None or features.width == network.inputs, "columns and network do not fit together")
    scale = document["time_scale"]
    sound = isinstance(scale, float) and 1 / LARGEST_NUMBER <= scale <= LARGEST_NUMBER
    require(sound, f"time_scale must be positive and at most {LARGEST_NUMBER:g}")
    times = arrays["times"]
    require(times.ndim == 1 and times.dtype == np.float64 and times.size > 0, "times must be a column of numbers")
    require(bool((np.abs(times) <= LARGEST_NUMBER).all()), f"times must be numbers of at most {LARGEST_NUMBER:g}")
    require(bool((np.diff(times) > 0).all()), "times must be ascending")
    facts = TrainedOn.from_dict(document["trained_on"])
    history = History.from_plain(document["history"])
    losses = [history.train_loss, *([] if history.validation_loss is None else [history.validation_loss])]
    fits = all(loss.shape == (history.learning_rate.size, members) for loss in losses)
    fits = fits and history.learning_rate.ndim == 1 and history.seconds.shape == history.learning_rate.shape
    best = history.best_epoch
    fits = fits and best.shape == (members,) and bool(((best >= 1) & (best <= history.epochs)).all())
    require(fits, "its history is not that of its members")
    width = document["n_features_in"]
    require(isinstance(width, int) and width > 0, "n_features_in must be a number of columns")
    require(features is None or features.n_features_in == width, "n_features_in is not that of the columns")

    model.encoder = encoder
    model.settings_, model.features_, model.network_, model.encoders_ = settings, features, network, encoders
    model.weights_, model.learned_, model.time_scale_, model.unique_times_ = weights, learned, scale, times
    model.history_, model.trained_on_ = history, facts
    choices = document.get(_CHOICES, {})
    require(isinstance(choices, dict), "what it chose is unclear")
    model._restore_choices(dict(choices))
    model.n_features_in_ = width
    if features is not None:
        _check_outputs(model, network, weights)
    if features is not None and features.names_in is not None:
        model.feature_names_in_ = np.array(features.names_in, dtype=object)
    return model


def _check_outputs(model: NeuralSurvival, network: Architecture, weights: dict[str, NDArray[Any]]) -> None:
    """Refuse a network that gives no numbers for rows like those of training."""
    # Columns are scaled: an average row, and rows on both sides of it.
    x = np.broadcast_to(np.array([[-2.0], [0.0], [2.0]], np.float32), (3, network.inputs))
    with np.errstate(all="ignore"):
        raw = forward(network, weights, np.ascontiguousarray(x), levels=model._levels())
    require(bool(np.isfinite(raw).all()), "the outputs of its network are no numbers")


def _encoders(names: Any, arrays: Mapping[str, NDArray[Any]], given: Any, members: int) -> list[Any]:
    require(isinstance(names, list) and len(names) in (0, members), "the encoders are not one a member")
    if not names:
        if given is not None:
            raise ParameterError("encoder has no use: the model was trained without one.")
        return []
    if given is None:
        raise ModelFileError(
            f"the model was trained with an encoder ({str(names[0])[:60]}), whose code is not in the file. "
            "Give it again: aldsurv.load(path, encoder=module)."
        )
    import copy

    import torch

    found = []
    for k in range(members):
        # What the function draws is overwritten at once: the stream of random numbers is put back as it was.
        with torch.random.fork_rng():
            module = copy.deepcopy(given) if isinstance(given, torch.nn.Module) else given()
        start = f"encoder{k}."
        state = {n.removeprefix(start): torch.from_numpy(a.copy()) for n, a in arrays.items() if n.startswith(start)}
        try:
            module.load_state_dict(state)
        except RuntimeError as error:
            raise ModelFileError(
                f"encoder is not the module of the file: {' '.join(str(error).split())[:200]}"
            ) from None
        found.append(module.eval())
    return found
