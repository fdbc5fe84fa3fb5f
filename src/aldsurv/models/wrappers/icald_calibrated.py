"""A model of asymmetric Laplace distributions, whose parameters a small network puts right at random levels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.wrappers.corrected import flat_mixture
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import from_portable, portable, require, text
from aldsurv.models.neural.fitting.encoding import require_torch
from aldsurv.models.neural.fitting.preparation import member_seeds, time_unit
from aldsurv.models.neural.level_settings import check_level_settings
from aldsurv.models.training_rows import TrainedOn
from aldsurv.models.wrappers.level_correction import (
    apply_correction,
    correction_network,
    neutral_weights,
    train_correction,
)
from aldsurv.models.wrappers.nested import (
    HeldOut,
    NestedHabits,
    check_parts,
    choose_parts,
    held_out,
    read_rows,
    unfitted,
)
from aldsurv.networks import Architecture
from aldsurv.registry import MODELS

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ICALDCalibrated"]

_INNER, _NETWORK = "inner.", "correction."
_ENTRIES = {"parameters", "inner", "features", "correction", "epochs"}
_CLIP = 5.0
# What is not a parameter: steps as calm as those of the models' default recipe.
_TRAINING: dict[str, Any] = {"optimizer": "adamw", "batch_size": "auto", "weight_decay": 0.1, "clip_norm": 1.0}


@final
class ICALDCalibrated(NestedHabits, SurvivalEstimator):
    """A trained model with individually calibrated levels, as far as its own parameters allow.

    The model within stays as it is. A small network is given the covariates and a random level q, and gives three
    positive factors: of θ, σ and κ (with support log of ``exp(θ)``, σ and κ). It learns from rows that the model did
    not, with the loss of `ICALDSurvival`: ``w·(-log-likelihood) + (1 - w)·|F(y|x, q) - q|``. The prediction is the
    mixture over q. Other than `RecalibratedSurvival` it may change one group of rows and not another.

    Exact and right-censored rows, with delayed entry and weights.

    Parameters
    ----------
    estimator
        The model, whose predictions must be asymmetric Laplace distributions or mixtures of them; None for
        ``ALDSurvival()``. It is not fitted itself, but ``estimator_``.
    folds
        Cross-fitting: each row is predicted by a model that learned from the other folds; the model that predicts
        later has learned from all rows.
    validation
        In place of `folds` the share of the rows to hold out, as 0.2: the model is fitted once, to the others.
    likelihood_share
        w, above 0 and up to 1.
    target
        ``"cdf"`` for ``|F(y|x, q) - q|``, or ``"pinball"`` for the pinball loss ``ρ_q(y - θ(x, q))`` in its place.
    nodes
        Levels whose distributions make up the prediction.
    hidden
        Sizes of the layers of the small network.
    members
        Small networks, whose predictions are mixed.
    learning_rate, max_epochs, patience
        Of the small network's training.
    stopping
        Share of the rows that decides when it stops, at fixed levels; 0 for none.
    random_state
        An integer, a numpy Generator, or None for fresh randomness. It is the seed of an `estimator` that has none,
        too.

    Attributes
    ----------
    estimator_
        The fitted model as it was before.
    network_, weights_
        The small network.
    epochs_
        After how many passes over the rows each member was best.
    trained_on_
        What `estimator_` was fitted to.

    Examples
    --------
    >>> from aldsurv import ALDSurvival, datasets
    >>> train, test = datasets.load("norm_linear", seed=0).split(seed=0)
    >>> model = ICALDCalibrated(ALDSurvival("paper", max_epochs=20), validation=0.3, random_state=0)
    >>> model.fit(train.x, train.y).predict_distribution(test.x[:2])
    MixedAsymmetricLaplace(n=2, components=32, support='real')
    """

    estimator_: SurvivalEstimator
    features_: Features
    network_: Architecture
    weights_: dict[str, NDArray[np.float32]]
    epochs_: list[int]
    trained_on_: TrainedOn | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        folds: int = 5,
        validation: float | None = None,
        likelihood_share: float = 0.5,
        target: str = "cdf",
        nodes: int = 32,
        hidden: Sequence[int] = (32,),
        members: int = 1,
        learning_rate: float = 0.003,
        max_epochs: int = 200,
        patience: int = 10,
        stopping: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.folds = folds
        self.validation = validation
        self.likelihood_share = likelihood_share
        self.target = target
        self.nodes = nodes
        self.hidden = hidden
        self.members = members
        self.learning_rate = learning_rate
        self.max_epochs = max_epochs
        self.patience = patience
        self.stopping = stopping
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X, y
            As for the model within.
        sample_weight
            A weight for each row; multiplies those of `y`.
        """
        self.check_parameters()
        require_torch(type(self).__name__)
        data = read_rows(X, y, sample_weight)
        seeds = member_seeds(self.random_state, 2 + self.members)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        found = held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        with warnings.catch_warnings():
            # The model within has said it.
            warnings.simplefilter("ignore")
            categorical = self._inner().get_params().get("categorical")
            features = Features.learn(X, categorical=categorical, clip=_CLIP, owner=type(self).__name__)
            x = features.transform(X)
        network = correction_network(features.width, self.hidden)
        if found.parts:
            weights, epochs = self._train(network, x[np.concatenate(parts)], found, seeds[2:])
        else:
            warnings.warn(
                f"{data.n_events} events are too few to calibrate by: predictions stay as they are.", stacklevel=2
            )
            neutral = neutral_weights(network, seeds[2:])
            weights, epochs = {name: np.stack([own[name] for own in neutral]) for name in neutral[0]}, []
            _mixture(found.model.predict_distribution(X), found.model)
        self._remember(found.model, features, network, weights, epochs)
        return self

    def predict_distribution(self, X: Any) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`: a mixture over levels."""
        self._require_fitted()
        return self._corrected([self.estimator_.predict_distribution(X)], X)[0]

    def predict_members(self, X: Any) -> list[SurvivalDistribution]:
        """What each member of the model within predicts for the rows of `X`, put right as the prediction is.

        `predict_distribution` is their mixture, in equal parts.
        """
        self._require_fitted()
        return self._corrected(self.estimator_.predict_members(X), X)

    def _corrected(self, predicted: Sequence[SurvivalDistribution], X: Any) -> list[SurvivalDistribution]:
        bases = [_mixture(each, self.estimator_) for each in predicted]
        with warnings.catch_warnings():
            # The model within has said it.
            warnings.simplefilter("ignore")
            x = self.features_.transform(X, owner=type(self).__name__)
        return [apply_correction(self.network_, self.weights_, x, base, self.nodes) for base in bases]

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return self.estimator_.n_members

    def band_stretch(self) -> float:
        return self.estimator_.band_stretch()

    def summary(self) -> str:
        """What was trained, after what the model within has to say."""
        self._require_fitted()
        kept = ", ".join(map(str, self.epochs_)) or "none"
        return f"Individually calibrated {type(self.estimator_).__name__}\n  epochs          kept {kept}"

    def _train(
        self, network: Architecture, x: NDArray[np.float32], found: HeldOut, seeds: Sequence[int]
    ) -> tuple[dict[str, NDArray[np.float32]], list[int]]:
        bases = [_mixture(predicted, found.model) for predicted, _ in found.parts]
        data = SurvivalData.concatenate([rows for _, rows in found.parts])
        base = SurvivalDistribution.concatenate(bases)
        unit = time_unit(data, "median")
        if base.support == "log":
            # An event at time 0 has no logarithm: of the factors it can tell nothing.
            later = np.flatnonzero(~data.event | (data.time > 0))
            x, base, data = x[later], base[later], data[later]
        settings = {name: getattr(self, name) for name in ("learning_rate", "max_epochs", "patience")}
        weights, history = train_correction(
            network,
            x,
            base,
            data,
            share=float(self.likelihood_share),
            target=self.target,
            stopping=float(self.stopping),
            settings={**_TRAINING, **settings},
            seeds=seeds,
            unit=unit,
        )
        return weights, [int(epoch) for epoch in history.best_epoch]

    def _inner(self) -> SurvivalEstimator:
        if self.estimator is None:
            from aldsurv.models.neural.ald import ALDSurvival

            return ALDSurvival()
        inner: SurvivalEstimator = self.estimator
        return inner

    def set_outcome_columns(self, columns: Mapping[str, str]) -> None:
        """Keep with the model within which columns of a table held the outcome."""
        self.estimator_.set_outcome_columns(columns)
        self.trained_on_ = self.estimator_.trained_on_

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        self._require_fitted()
        return self.estimator_.error_point_

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        self._require_fitted()
        return self.estimator_.ranking_point_

    def check_parameters(self) -> None:
        check_parts(self.folds, self.validation)
        check_level_settings(self.likelihood_share, self.target, self.nodes)
        members, share = self.members, self.stopping
        if not isinstance(members, (int, np.integer)) or isinstance(members, bool) or not 1 <= members <= 1000:
            raise ParameterError(f"members must be a whole number from 1 to 1000, but is {members!r}.")
        if not isinstance(share, (int, float, np.number)) or isinstance(share, bool) or not 0 <= share < 1:
            raise ParameterError(f"stopping must be a share from 0 (none) to below 1, but is {share!r}.")

    def _remember(
        self,
        model: SurvivalEstimator,
        features: Features,
        network: Architecture,
        weights: dict[str, NDArray[np.float32]],
        epochs: list[int],
    ) -> None:
        self.estimator_, self.features_, self.network_, self.weights_ = model, features, network, weights
        self.epochs_, self.trained_on_ = epochs, model.trained_on_
        self.unique_times_, self.n_features_in_ = model.unique_times_, model.n_features_in_
        if "feature_names_in_" in vars(model):
            self.feature_names_in_ = model.feature_names_in_
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        document, arrays = self.estimator_._to_file()
        own = self.get_params(deep=False)
        entries = {
            "parameters": {name: portable(value) for name, value in own.items() if name != "estimator"},
            "inner": {"model": MODELS.name_of(type(self.estimator_)), "entries": document},
            "features": self.features_.to_plain(),
            "correction": self.network_.to_plain(),
            "epochs": self.epochs_,
        }
        weights = {f"{_NETWORK}{name}": array for name, array in self.weights_.items()}
        return entries, {**weights, **{f"{_INNER}{name}": array for name, array in arrays.items()}}

    @classmethod
    def _from_file(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None
    ) -> ICALDCalibrated:
        require(set(document) == _ENTRIES, "its entries are not those of a calibrated model")
        parameters, inner, epochs = document["parameters"], document["inner"], document["epochs"]
        known = set(cls.parameter_defaults()) - {"estimator"}
        require(isinstance(parameters, dict) and set(parameters) == known, "its parameters are unclear")
        require(isinstance(inner, dict) and set(inner) == {"model", "entries"}, "the model within is unclear")
        require(isinstance(inner["entries"], dict), "the model within is unclear")
        require(isinstance(epochs, list) and all(isinstance(k, int) for k in epochs), "its epochs are unclear")
        starts = (_NETWORK, _INNER)
        require(all(name.startswith(starts) for name in arrays), "it holds arrays that are not of this model")
        weights, within = (
            {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
            for start in starts
        )
        features, network = Features.from_plain(document["features"]), Architecture.from_plain(document["correction"])
        fitted = MODELS.load(text(inner["model"], "model"))._from_file(inner["entries"], within, encoder)
        model = cls(unfitted(fitted), **{name: from_portable(value) for name, value in parameters.items()})
        model.check_parameters()
        wanted = correction_network(features.width, network.hidden)
        require(network == wanted, "columns and network do not fit together")
        require(features.n_features_in == fitted.n_features_in_, "its columns are not those of the model within")
        network.check_arrays(weights, model.members)
        model._remember(fitted, features, network, weights, epochs)
        return model


def _mixture(predicted: SurvivalDistribution, model: SurvivalEstimator) -> MixedAsymmetricLaplace:
    found = flat_mixture(predicted)
    if found is None:
        raise ParameterError(
            f"estimator must predict asymmetric Laplace distributions, as ALDSurvival does, but "
            f"{type(model).__name__} predicts {type(predicted).__name__}. RecalibratedSurvival takes any model."
        )
    return found
