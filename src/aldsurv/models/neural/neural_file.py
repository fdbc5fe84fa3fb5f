"""A fitted network as entries and arrays of a model file, and back."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import (
    LARGEST_NUMBER,
    Arrays,
    Document,
    FileContent,
    require,
    saved_parameters,
    with_parameters,
)
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.point_choice import PointChoice, PointScores, given_points
from aldsurv.models.neural.network_model import NetworkModel, with_added_settings
from aldsurv.models.prediction.point_summaries import POINTS, RANKING_POINTS
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.networks import Architecture
from aldsurv.networks.numpy_forward import forward
from aldsurv.training.history import History

__all__ = ["from_file", "to_file"]

EstimatorT = TypeVar("EstimatorT", bound=SurvivalEstimator)

_ENTRIES = {
    "parameters", "settings", "features", "network", "encoders", "members", "time_scale", "history", "trained_on",
    "n_features_in",
}  # fmt: skip
# Only of models that chose something by validation rows, and of models that know texts beside their network.
_CHOICES, _EXTRAS = "choices", "extras"
_NETWORK, _LEARNED = "network.", "learned."


def to_file(estimator: SurvivalEstimator, fitted: FittedNetwork) -> FileContent:
    """Entries and arrays from which `from_file` makes the same estimator."""
    document = {
        "parameters": saved_parameters(estimator),
        "settings": fitted.model.to_dict(),
        "features": None if fitted.features is None else fitted.features.to_dict(),
        "network": fitted.network.to_plain(),
        "encoders": [type(encoder).__name__ for encoder in fitted.encoders],
        "members": fitted.n_members,
        "time_scale": fitted.time_scale,
        "history": fitted.history.to_plain(),
        "trained_on": (estimator.trained_on_ or fitted.trained_on).to_dict(),
        "n_features_in": fitted.n_features_in,
    }
    if choices := _choices(fitted):
        document[_CHOICES] = choices
    if texts := fitted.extras.to_dict():
        document[_EXTRAS] = texts
    arrays: dict[str, NDArray[Any]] = {f"{_NETWORK}{name}": array for name, array in fitted.weights.items()}
    arrays |= {f"{_LEARNED}{name}": array for name, array in fitted.extras.to_arrays().items()}
    arrays["times"] = fitted.times
    for k, encoder in enumerate(fitted.encoders):
        arrays |= {f"encoder{k}.{name}": value.numpy() for name, value in encoder.state_dict().items()}
    return document, arrays


def from_file(
    kind: type[EstimatorT],
    recipe: NetworkModel,
    document: Document,
    arrays: Arrays,
    encoder: object,
) -> tuple[EstimatorT, FittedNetwork]:
    """An estimator with the parameters of a file, and what it had learned; everything in the file is checked.

    Parameters
    ----------
    kind, recipe
        Class of the estimator, and the settings of one of its recipes, whose kind is that of the settings in the file.
    document, arrays
        Entries and arrays of the file.
    encoder
        The module that the model was trained with, or a function that makes it.
    """
    require(set(document) - {_CHOICES, _EXTRAS} == _ENTRIES, "its entries are not those of a model")
    later = [dict.fromkeys(group) for group in recipe.ADDED_LATER]
    require(isinstance(document["parameters"], dict), "parameters must be named")
    estimator: EstimatorT = with_parameters(kind, with_added_settings(document["parameters"], later))
    require(isinstance(document["settings"], dict), "settings must be named")
    model = type(recipe).from_dict(document["settings"])
    network = Architecture.from_plain(document["network"])
    members = document["members"]
    require(isinstance(members, int) and members == model.members, "the number of members is unclear")
    weights = {name.removeprefix(_NETWORK): a for name, a in arrays.items() if name.startswith(_NETWORK)}
    network.check_arrays(weights, members)
    learned = {name.removeprefix(_LEARNED): a for name, a in arrays.items() if name.startswith(_LEARNED)}
    texts = document.get(_EXTRAS, {})
    require(isinstance(texts, dict), "what it knows beside its network is unclear")
    extras = model.EXTRAS.from_file(learned, texts)
    model.check_fitted(network, members, extras)
    features = None if document["features"] is None else Features.from_dict(document["features"])
    encoders = _encoders(document["encoders"], arrays, encoder, members)
    require((features is None) == bool(encoders), "a model has either columns or an encoder")
    require(features is None or features.width == network.inputs, "columns and network do not fit together")
    width = document["n_features_in"]
    require(isinstance(width, int) and width > 0, "n_features_in must be a number of columns")
    require(features is None or features.n_features_in == width, "n_features_in is not that of the columns")
    points, support_scores = _read_choices(model, document.get(_CHOICES, {}))
    fitted = FittedNetwork(
        model=model,
        features=features,
        n_features_in=width,
        network=network,
        weights=weights,
        encoders=encoders,
        history=_read_history(document["history"], members),
        extras=extras,
        time_scale=_read_time_scale(document["time_scale"]),
        times=_read_times(arrays["times"]),
        trained_on=TrainedOn.from_dict(document["trained_on"]),
        points=points,
        support_scores=support_scores,
    )
    if features is not None:
        _check_outputs(fitted)
    return estimator, fitted


def _choices(fitted: FittedNetwork) -> dict[str, Any]:
    """What was chosen by validation rows, and by which scores; empty if all was given."""
    choices: dict[str, Any] = {}
    if fitted.model.point == "auto":
        scores = {
            use: {name: list(pair) for name, pair in by_name.items()} for use, by_name in fitted.points.scores.items()
        }
        choices = {"error_point": fitted.points.error, "ranking_point": fitted.points.ranking, "point_scores": scores}
    if fitted.support_scores:
        choices["support_scores"] = dict(fitted.support_scores)
    return choices


def _read_choices(model: NetworkModel, document: Any) -> tuple[PointChoice, dict[str, float]]:
    """The inverse of `_choices`."""
    names = {"error_point", "ranking_point", "point_scores", "support_scores"}
    require(isinstance(document, dict) and set(document) <= names, "what it chose is unclear")
    given = given_points(model.point)
    error, ranking = given.error, given.ranking
    if model.point == "auto" or {"error_point", "ranking_point"} & set(document):
        error, ranking = document.get("error_point"), document.get("ranking_point")
    allowed = error in POINTS and ranking in RANKING_POINTS
    if not allowed or (model.point != "auto" and (error, ranking) != (given.error, given.ranking)):
        raise ParameterError(
            f"the summaries chosen must be of {', '.join(RANKING_POINTS)}, but are {error}, {ranking}."
        )
    scores: PointScores = {
        use: {name: (float(score), float(spread)) for name, (score, spread) in by_name.items()}
        for use, by_name in document.get("point_scores", {}).items()
    }
    supports = {str(name): float(score) for name, score in document.get("support_scores", {}).items()}
    return PointChoice(error, ranking, scores), supports


def _read_history(document: Any, members: int) -> History:
    history = History.from_plain(document)
    losses = [history.train_loss, *([] if history.validation_loss is None else [history.validation_loss])]
    fits = all(loss.shape == (history.learning_rate.size, members) for loss in losses)
    fits = fits and history.learning_rate.ndim == 1 and history.seconds.shape == history.learning_rate.shape
    best = history.best_epoch
    fits = fits and best.shape == (members,) and bool(((best >= 1) & (best <= history.epochs)).all())
    require(fits, "its history is not that of its members")
    return history


def _read_time_scale(scale: Any) -> float:
    sound = isinstance(scale, float) and 1 / LARGEST_NUMBER <= scale <= LARGEST_NUMBER
    require(sound, f"time_scale must be positive and at most {LARGEST_NUMBER:g}")
    return float(scale)


def _read_times(times: NDArray[Any]) -> NDArray[np.float64]:
    require(times.ndim == 1 and times.dtype == np.float64 and times.size > 0, "times must be a column of numbers")
    require(bool((np.abs(times) <= LARGEST_NUMBER).all()), f"times must be numbers of at most {LARGEST_NUMBER:g}")
    require(bool((np.diff(times) > 0).all()), "times must be ascending")
    return times


def _check_outputs(fitted: FittedNetwork) -> None:
    """Refuse a network whose outputs are not numbers for rows like those of training."""
    # Columns are scaled: an average row, and rows on both sides of it.
    x = np.broadcast_to(np.array([[-2.0], [0.0], [2.0]], np.float32), (3, fitted.network.inputs))
    with np.errstate(all="ignore"):
        raw = forward(fitted.network, fitted.weights, np.ascontiguousarray(x), levels=fitted.model.levels)
    require(bool(np.isfinite(raw).all()), "the outputs of its network are not numbers")


def _encoders(names: Any, arrays: Arrays, given: Any, members: int) -> list[Any]:
    require(isinstance(names, list) and len(names) in (0, members), "the encoders are not one per member")
    if not names:
        if given is not None:
            raise ParameterError("encoder must be None: the model was trained without one.", argument="encoder")
        return []
    if given is None:
        raise ModelFileError(
            f"the model was trained with an encoder ({str(names[0])[:60]}), whose code is not in the file",
            argument="encoder",
            advice="Give it again: aldsurv.load(path, encoder=module).",
        )
    import torch

    modules = []
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
        modules.append(module.eval())
    return modules
