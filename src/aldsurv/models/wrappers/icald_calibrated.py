"""A model of asymmetric Laplace distributions, whose parameters a small network corrects at random levels."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number, Sizes, WholeNumber
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.support import SUPPORTS
from aldsurv.distributions.wrappers.corrected import flat_mixture
from aldsurv.errors import FitWarning, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent, require
from aldsurv.models.fitted_state import FittedState, set_fitted_state
from aldsurv.models.neural.fitting.encoding import require_torch
from aldsurv.models.parameter_constraints import LEVEL_CONSTRAINTS
from aldsurv.models.rows.member_rows import member_seeds
from aldsurv.models.rows.time_units import time_unit
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.models.wrappers.cross_fitting import HeldOut, choose_parts, predict_held_out, read_rows, unfitted
from aldsurv.models.wrappers.level_correction import (
    apply_correction,
    correction_network,
    neutral_weights,
    train_correction,
)
from aldsurv.models.wrappers.nested import NestedEstimatorMixin
from aldsurv.models.wrappers.wrapped_survival import WrappedSurvival
from aldsurv.networks import Architecture
from aldsurv.notices import muted
from aldsurv.training.settings import TRAINING_CONSTRAINTS, TrainingSettings

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ICALDCalibrated"]

_NETWORK = "correction."
_ENTRIES = {"parameters", "inner", "features", "correction", "epochs"}
_CLIP = 5.0
# What is not a parameter is as in the default recipe of the networks.
_TRAINING = TrainingSettings(optimizer="adamw", batch_size="auto", weight_decay=0.1, clip_norm=1.0)


@final
@dataclass(frozen=True)
class Correction(FittedState):
    """What is learned about the levels of the model within.

    Attributes
    ----------
    features
        How columns become numbers for the network.
    network, weights
        The small network; weights have a leading axis of members.
    epochs
        After how many passes over the rows each member was best; none if nothing was trained.
    """

    features: Features
    network: Architecture
    weights: dict[str, NDArray[np.float32]]
    epochs: list[int]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ICALDCalibrated(NestedEstimatorMixin, WrappedSurvival):
    """A trained model with individually calibrated levels, as far as its own parameters allow.

    The model within stays as it is. A small network is given the covariates and a random level q, and gives three
    positive factors: of θ, σ and κ (with support log of ``exp(θ)``, σ and κ). It learns from rows that the model did
    not, with the loss of `ICALDSurvival`: ``w·(-log-likelihood) + (1 - w)·|F(y|x, q) - q|``. The prediction is the
    mixture over q. Other than `RecalibratedSurvival` it may change one group of rows and not another.

    Exact and right-censored rows, with delayed entry and weights.

    Parameters
    ----------
    estimator, folds, validation, random_state
        As in `NestedEstimatorMixin`. The predictions of the model within must be asymmetric Laplace distributions or
        mixtures of them.
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

    likelihood_share: float = 0.5
    target: str = "cdf"
    nodes: int = 32
    hidden: Sequence[int] = (32,)
    members: int = 1
    learning_rate: float = 0.003
    max_epochs: int = 200
    patience: int = 10
    stopping: float = 0.2

    features_: Features = field(init=False)
    network_: Architecture = field(init=False)
    weights_: dict[str, NDArray[np.float32]] = field(init=False)
    epochs_: list[int] = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        **LEVEL_CONSTRAINTS,
        "max_epochs": WholeNumber(1),
        **{name: TRAINING_CONSTRAINTS[name] for name in ("learning_rate", "patience")},
        "hidden": Sizes(),
        "members": WholeNumber(1, 1000),
        "stopping": Number(0, 1, below=True, meaning="0: none"),
    }

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, which are as for the model within."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        require_torch(type(self).__name__)
        data = self._read_training_target(read_rows(X, y, sample_weight, groups), None)
        seeds = member_seeds(self.random_state, 2 + self.members)
        parts = choose_parts(data, folds=self.folds, validation=self.validation, seed=seeds[0], X=X)
        held_out = predict_held_out(unfitted(self._inner(), seeds[1]), X, data, parts)
        with warnings.catch_warnings(), muted():
            # The model within has given them.
            warnings.simplefilter("ignore")
            categorical = self._inner().get_params().get("categorical")
            features = Features.learn(X, categorical=categorical, clip=_CLIP, owner=type(self).__name__)
            x = features.transform(X)
        network = correction_network(features.width, self.hidden)
        if held_out.parts:
            weights, epochs = self._train(network, x[np.concatenate(parts)], held_out, seeds[2:])
        else:
            warnings.warn(
                f"{data.n_events} events are too few to calibrate by: predictions stay as they are.",
                FitWarning,
                stacklevel=2,
            )
            neutral = neutral_weights(network, seeds[2:])
            weights, epochs = {name: np.stack([member[name] for member in neutral]) for name in neutral[0]}, []
            _mixture(held_out.model.predict_distribution(X), held_out.model)
        self._set_estimator(held_out.model)
        set_fitted_state(self, Correction(features, network, weights, epochs))
        return self

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`: a mixture over levels."""
        self._require_fitted()
        return self._corrected([self.estimator_.predict_distribution(X)], X)[0]

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member of the model within predicts for the rows of `X`, corrected as the prediction is.

        `predict_distribution` is their mixture, in equal parts.
        """
        self._require_fitted()
        return self._corrected(self.estimator_.predict_members(X), X)

    def _corrected(self, predicted: Sequence[SurvivalDistribution], X: object) -> list[SurvivalDistribution]:
        bases = [_mixture(each, self.estimator_) for each in predicted]
        # The model within has given its notes.
        with muted():
            x = self.features_.transform(X, owner=type(self).__name__)
        return [apply_correction(self.network_, self.weights_, x, base, self.nodes) for base in bases]

    def summary(self) -> str:
        """The model within, and how long its correction was trained."""
        self._require_fitted()
        kept = ", ".join(map(str, self.epochs_)) or "none"
        return f"Individually calibrated {type(self.estimator_).__name__}\n  epochs          kept {kept}"

    def _train(
        self, network: Architecture, x: NDArray[np.float32], held_out: HeldOut, seeds: Sequence[int]
    ) -> tuple[dict[str, NDArray[np.float32]], list[int]]:
        bases = [_mixture(predicted, held_out.model) for predicted, _ in held_out.parts]
        data = SurvivalData.concatenate([rows for _, rows in held_out.parts])
        base = SurvivalDistribution.concatenate(bases)
        unit = time_unit(data, "median")
        if SUPPORTS[base.support].of_log_time:
            # An event at time 0 has no logarithm: it holds no information on the factors.
            later = np.flatnonzero(~data.event | (data.time > 0))
            x, base, data = x[later], base[later], data[later]
        settings = replace(
            _TRAINING, learning_rate=self.learning_rate, max_epochs=self.max_epochs, patience=self.patience
        )
        weights, history = train_correction(
            network,
            x,
            base,
            data,
            share=float(self.likelihood_share),
            target=self.target,
            stopping=float(self.stopping),
            settings=settings,
            seeds=seeds,
            unit=unit,
        )
        return weights, [int(epoch) for epoch in history.best_epoch]

    def _to_file(self) -> FileContent:
        entries, arrays = self._inner_to_file()
        entries |= {
            "features": self.features_.to_dict(),
            "correction": self.network_.to_plain(),
            "epochs": self.epochs_,
        }
        return entries, {**{f"{_NETWORK}{name}": array for name, array in self.weights_.items()}, **arrays}

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> ICALDCalibrated:
        require(set(document) == _ENTRIES, "its entries are not those of a calibrated model")
        model, fitted, others = cls._inner_from_file(document, arrays, encoder)
        epochs = document["epochs"]
        require(isinstance(epochs, list) and all(isinstance(k, int) for k in epochs), "its epochs are unclear")
        require(all(name.startswith(_NETWORK) for name in others), "it holds arrays that are not of this model")
        weights = {name.removeprefix(_NETWORK): array for name, array in others.items()}
        features, network = Features.from_dict(document["features"]), Architecture.from_plain(document["correction"])
        expected = correction_network(features.width, network.hidden)
        require(network == expected, "columns and network do not fit together")
        require(features.n_features_in == fitted.n_features_in_, "its columns are not those of the model within")
        network.check_arrays(weights, model.members)
        model._set_estimator(fitted)
        set_fitted_state(model, Correction(features, network, weights, epochs))
        return model


def _mixture(predicted: SurvivalDistribution, model: SurvivalEstimator) -> MixedAsymmetricLaplace:
    mixture = flat_mixture(predicted)
    if mixture is None:
        raise ParameterError(
            f"estimator must predict asymmetric Laplace distributions, as ALDSurvival does, but "
            f"{type(model).__name__} predicts {type(predicted).__name__}. RecalibratedSurvival takes any model."
        )
    return mixture
