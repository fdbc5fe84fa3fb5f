"""A fitted model as one file, and back: data only, read with numpy alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import __version__
from aldsurv.errors import AldsurvError, ModelFileError, ParameterError
from aldsurv.features import Features
from aldsurv.model_file import read_model_file, write_model_file
from aldsurv.models.neural import NeuralSurvival
from aldsurv.networks import Architecture
from aldsurv.registry import MODELS
from aldsurv.training.history import History

__all__ = ["load", "save"]

_KIND = "fitted model"
_ENTRIES = {
    "kind", "model", "version", "parameters", "settings", "features", "network", "encoders", "members",
    "time_scale", "history", "trained_on", "n_features_in",
}  # fmt: skip
# Not part of a model: where and how it happened to be trained.
_NOT_SAVED = {"encoder", "callbacks", "checkpoint", "progress", "device"}


def save(model: NeuralSurvival, path: Any) -> Path:
    """Write a fitted model; the file is replaced as a whole."""
    parameters = {name: _portable(value) for name, value in model.get_params().items() if name not in _NOT_SAVED}
    document = {
        "kind": _KIND,
        "model": model._NAME,
        "version": __version__,
        "parameters": parameters,
        "settings": {name: _portable(value) for name, value in model.settings_.items()},
        "features": None if model.features_ is None else model.features_.to_plain(),
        "network": model.network_.to_plain(),
        "encoders": [type(encoder).__name__ for encoder in model.encoders_],
        "members": int(model.weights_["output.bias"].shape[0]),
        "time_scale": model.time_scale_,
        "history": model.history_.to_plain(),
        "trained_on": model.trained_on_,
        "n_features_in": model.n_features_in_,
    }
    arrays: dict[str, NDArray[Any]] = {f"network.{name}": array for name, array in model.weights_.items()}
    arrays["times"] = model.unique_times_
    for k, encoder in enumerate(model.encoders_):
        arrays |= {f"encoder{k}.{name}": value.numpy() for name, value in encoder.state_dict().items()}
    return write_model_file(path, document, arrays)


def load(path: Any, *, encoder: Any = None) -> Any:
    """Read a model that was saved; predicting with it needs numpy alone.

    Parameters
    ----------
    path
        The file.
    encoder
        If the model was trained with an encoder: the module, or the function that makes it, again. Its weights come
        from the file.

    Returns
    -------
    SurvivalEstimator
        The estimator, fitted; its predictions are the same bits as those of the one that was saved.
    """
    document, arrays = read_model_file(path)
    try:
        return _restored(document, arrays, encoder)
    except ModelFileError:
        raise
    except (AldsurvError, KeyError, TypeError, ValueError, AttributeError, OverflowError, IndexError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ModelFileError(
            f"{path} does not hold a model that can be used: {reason or type(error).__name__}"
        ) from None


def _restored(document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any) -> NeuralSurvival:
    _require(document.get("kind") == _KIND, f"it is a {document.get('kind')!r}, not a {_KIND}")
    _require(set(document) == _ENTRIES, "its entries are not those of a model")
    kind = MODELS.load(_text(document["model"], "model"))
    _require(isinstance(document["parameters"], dict), "parameters must be named")
    # A file of strangers names no path to write to and no device.
    known = set(kind._parameter_defaults()) - _NOT_SAVED
    _require(set(document["parameters"]) == known, "its parameters are not those of this model")
    model: NeuralSurvival = kind(**{name: _from_portable(value) for name, value in document["parameters"].items()})
    recipe = model._settings()
    settings = {name: _from_portable(value) for name, value in document["settings"].items()}
    _require(set(settings) == set(recipe), "its settings are not those of this model")
    model._check_settings(settings)
    network = Architecture.from_plain(document["network"])
    members = document["members"]
    _require(isinstance(members, int) and members == settings["members"], "the number of members is unclear")
    weights = {name.removeprefix("network."): a for name, a in arrays.items() if name.startswith("network.")}
    network.check_arrays(weights, members)
    family, links = model._family(settings)
    _require(network.outputs == len(links), f"the network has {network.outputs} outputs, {family} has {len(links)}")
    features = None if document["features"] is None else Features.from_plain(document["features"])
    encoders = _encoders(document["encoders"], arrays, encoder, members)
    _require((features is None) == bool(encoders), "a model has either columns or an encoder")
    _require(features is None or features.width == network.inputs, "columns and network do not fit together")
    scale = document["time_scale"]
    _require(isinstance(scale, float) and 0 < scale < np.inf, "time_scale must be positive")
    times = arrays["times"]
    _require(times.ndim == 1 and times.dtype == np.float64 and times.size > 0, "times must be a column of numbers")
    _require(bool(np.isfinite(times).all() and (np.diff(times) > 0).all()), "times must be finite and ascending")
    facts = document["trained_on"]
    numbers = [facts[name] for name in ("rows", "events", "first_time", "last_time")]
    _require(all(isinstance(number, (int, float)) for number in numbers) and numbers[0] >= 1, "trained_on is unclear")
    history = History.from_plain(document["history"])
    losses = [history.train_loss, *([] if history.validation_loss is None else [history.validation_loss])]
    fits = all(loss.shape == (history.seconds.size, members) for loss in losses)
    fits = fits and history.seconds.ndim == 1 and history.learning_rate.shape == history.seconds.shape
    best = history.best_epoch
    fits = fits and best.shape == (members,) and bool(((best >= 1) & (best <= history.epochs)).all())
    _require(fits, "its history is not that of its members")
    width = document["n_features_in"]
    _require(isinstance(width, int) and width > 0, "n_features_in must be a number of columns")
    _require(features is None or features.n_features_in == width, "n_features_in is not that of the columns")

    model.encoder = encoder
    model.settings_, model.features_, model.network_, model.encoders_ = settings, features, network, encoders
    model.weights_, model.time_scale_, model.unique_times_ = weights, scale, times
    model.history_, model.trained_on_ = history, facts
    model.n_features_in_ = width
    if features is not None and features.names_in is not None:
        model.feature_names_in_ = np.array(features.names_in, dtype=object)
    return model


def _encoders(names: Any, arrays: Mapping[str, NDArray[Any]], given: Any, members: int) -> list[Any]:
    _require(isinstance(names, list) and len(names) in (0, members), "the encoders are not one a member")
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


def _portable(value: Any) -> Any:
    """A parameter as JSON can hold it; a random generator has no place in a file."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_portable(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else None


def _from_portable(value: Any) -> Any:
    return tuple(_from_portable(item) for item in value) if isinstance(value, list) else value


def _require(holds: bool, complaint: str) -> None:
    if not holds:
        raise ModelFileError(f"the file cannot be used: {complaint}.")


def _text(value: Any, name: str) -> str:
    _require(isinstance(value, str), f"{name} must be text")
    return str(value)
