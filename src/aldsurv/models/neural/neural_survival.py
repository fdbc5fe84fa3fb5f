"""Estimators whose distribution comes out of a network."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.columns.row_copies import find_copies
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.errors import DataError, ParameterError
from aldsurv.models.base import POINTS, SurvivalEstimator
from aldsurv.models.file_entries import portable
from aldsurv.models.neural.fitting.encoding import encoded, raw_inputs, require_torch
from aldsurv.models.neural.fitting.preparation import Rows, member_seeds, rows_of, split_for_members, time_unit
from aldsurv.models.training_rows import TrainedOn, distinct_times, require_same_rows, thinned
from aldsurv.networks import Architecture, forward

if TYPE_CHECKING:
    from typing_extensions import Self

    from aldsurv.losses.objective import Objective
    from aldsurv.models.neural.fitting.point_choice import HeldRows, PointScores
    from aldsurv.training.history import History

__all__ = ["NeuralSurvival", "Prepared"]

# Beyond it nothing is known any more.
_LARGEST_OUTPUT = 1e30
# Pieces of a column, where there are so few rows that the table of all pieces has its place in memory, and so few
# columns that their pieces do not outnumber what rows can tell of them.
_BINS, _MOST_BINNED, _MOST_BINNED_COLUMNS = 8, 100_000, 250
# Inputs from which on the steps that a recipe takes are shortened.
_WIDE = 1000


@final
@dataclass(frozen=True)
class Prepared:
    """One estimator's share of a training run.

    Attributes
    ----------
    settings, features, seeds
        How to train, how columns become numbers, one seed a member.
    x, data
        Inputs and times of all rows, the times in `unit`.
    unit
        How much of the user's time is one unit inside.
    rows
        Rows of each member.
    times
        Distinct times in the user's unit.
    learned
        Arrays the model had to know before training.
    per_row
        Columns (n,) that its objective needs beside the times.
    observed, given
        Times and covariates as the user gave them.
    """

    settings: dict[str, Any]
    features: Features | None
    x: NDArray[Any]
    data: SurvivalData
    unit: float
    seeds: list[int]
    rows: Rows
    times: NDArray[np.float64]
    learned: dict[str, NDArray[Any]]
    per_row: dict[str, NDArray[Any]]
    observed: SurvivalData
    given: Any


class NeuralSurvival(SurvivalEstimator):
    """An estimator with a network: the parameters in its recipe, the training, the files.

    A parameter that is None has the value that the recipe gives it.
    """

    _RECIPES: ClassVar[dict[str, dict[str, Any]]]
    # Whether something beside the networks, such as a baseline hazard, is learned from the validation rows, too.
    _LEARNS_FROM_ALL: ClassVar[bool] = False
    # Whether point="auto" makes sense: rows are ranked by a summary of their distribution.
    _CHOOSES_POINT: ClassVar[bool] = True

    settings_: dict[str, Any]
    features_: Features | None
    network_: Architecture
    weights_: dict[str, NDArray[np.float32]]
    learned_: dict[str, NDArray[Any]]
    encoders_: list[Any]
    time_scale_: float
    history_: History
    trained_on_: TrainedOn
    chosen_points_: tuple[str, str]
    point_scores_: PointScores

    # What users set by the constructor of every model with a network.
    recipe: str
    hidden: Sequence[int] | None
    head_hidden: Sequence[int] | None
    activation: str | None
    residual: bool | None
    batch_norm: bool | None
    dropout: float | None
    encoder: Any
    members: int | None
    optimizer: str | None
    learning_rate: float | None
    schedule: str | None
    warmup: int | None
    batch_size: int | str | None
    max_epochs: int | None
    patience: int | None
    weight_decay: float | str | None
    clip_norm: float | None
    validation: float | None
    start: str | None
    clip_features: float | None
    point: str | None
    categorical: Sequence[str | int] | None
    unit: str | None
    device: str
    random_state: Any
    progress: bool | str
    callbacks: Sequence[Any] | None
    checkpoint: Any

    @abstractmethod
    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        """The loss of the rows of all `prepared`, which are one after the other in `data`.

        `units` has for each row how many of the user's units of time one unit of `data` is.
        """

    @abstractmethod
    def _member_distribution(self, raw: NDArray[np.float64], member: int, X: Any) -> SurvivalDistribution:
        """What the outputs (n, outputs) of a member's network for the rows of `X` stand for, in the unit inside."""

    @abstractmethod
    def _kind(self) -> str:
        """What the predictions are, in a few words."""

    @abstractmethod
    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        """Raise `ParameterError` unless a network and what was learned beside it suit this model."""

    def _columns(self, X: Any) -> Any:
        """The part of `X` that is covariates."""
        return X

    def _per_row(self, X: Any, data: SurvivalData, settings: dict[str, Any]) -> dict[str, NDArray[Any]]:
        """Columns (n,) that the objective needs beside the times."""
        return {}

    def _learn_before(
        self, X: Any, data: SurvivalData, settings: dict[str, Any], rows: Rows
    ) -> dict[str, NDArray[Any]]:
        """Arrays that the model must know of the data before it is trained; the times are in the unit inside."""
        return {}

    def _learn_after(self, prepared: Prepared, outputs: Callable[[], NDArray[np.float64]]) -> dict[str, NDArray[Any]]:
        """Arrays that come from the trained networks, whose outputs (members, n, outputs) for all rows can be had."""
        return {}

    def _combined(self, parts: list[SurvivalDistribution]) -> SurvivalDistribution:
        """The distribution of several members' in the user's unit."""
        return Mixture(parts)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X
            Covariates: array, pandas or polars frame, one row a subject.
        y
            What `SurvivalData.of` takes: SurvivalData, a tuple ``(time, event)``, scikit-survival's structured
            array, or a frame of two columns.
        sample_weight
            A weight for each row; multiplies those of `y`.
        """
        from aldsurv.models.neural.fitting.joint_fit import fit_together

        fit_together([self], [(X, y, sample_weight)])
        return self

    def predict_distribution(self, X: Any) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`, in the unit of the training times.

        With several members it is their mixture.
        """
        parts = self.predict_members(X)
        return parts[0] if len(parts) == 1 else self._combined(parts)

    def predict_members(self, X: Any) -> list[SurvivalDistribution]:
        """What each member predicts for the rows of `X`, in the unit of the training times."""
        raw = self._raw(X)
        return [self._member_distribution(own, k, X).scaled(self.time_scale_) for k, own in enumerate(raw)]

    @property
    def n_members(self) -> int:
        """Networks or other members of an ensemble; 1 without one."""
        return int(self.weights_["output.bias"].shape[0])

    def _band_stretch(self) -> float:
        members, share = self.n_members, float(self.settings_["validation"])
        if self.history_.validation_loss is None or share == 0:
            return super()._band_stretch()
        # Each member leaves a share of the rows out: a delete-d jackknife, whose variance is that of its parts times
        # (n - d)/d, and with folds as many as members the grouped one.
        return float(np.sqrt((1 - share) / share * (members - 1) / members))

    def _raw(self, X: Any) -> NDArray[np.float64]:
        self._require_fitted()
        X = self._columns(X)
        x = raw_inputs(X) if self.features_ is None else self.features_.transform(X, owner=type(self).__name__)
        raw = _outputs(self.network_, self.weights_, self.encoders_, x, self._levels())
        if not np.isfinite(raw).all():
            raw = np.clip(raw, -_LARGEST_OUTPUT, _LARGEST_OUTPUT)
            if np.isnan(raw).any():
                raise DataError(
                    f"the outputs of the network of {type(self).__name__} are no numbers. Look for extreme values in "
                    "X; the model may be damaged."
                )
        return raw

    def _levels(self) -> NDArray[np.float64] | None:
        """Levels at which the network is asked, if it takes one: its outputs then are (members, n, levels, outputs)."""
        return None

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        self._require_fitted()
        return self.chosen_points_[0]

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        self._require_fitted()
        return self.chosen_points_[1]

    def _settings(self) -> dict[str, Any]:
        """All settings: those given, and the recipe's for the rest."""
        if not isinstance(self.recipe, str) or self.recipe not in self._RECIPES:
            raise ParameterError(f"recipe must be one of {', '.join(self._RECIPES)}, but is {self.recipe!r}.")
        recipe = self._RECIPES[self.recipe]
        given = {name: getattr(self, name) for name in recipe}
        settings = {name: recipe[name] if value is None else value for name, value in given.items()}
        settings = {name: _plain(value) for name, value in settings.items()}
        for name, value in settings.items():
            items = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(item, (str, int, float)) for item in items):
                raise ParameterError(f"{name} must be a number, text or sizes of layers, but is {value!r:.60}.")
        self._check_settings(settings)
        return settings

    def _check_parameters(self) -> None:
        self._settings()

    def _check_settings(self, settings: dict[str, Any]) -> None:
        members, share, clip = settings["members"], settings["validation"], settings["clip_features"]
        if not isinstance(members, int) or isinstance(members, bool) or not 1 <= members <= 1000:
            raise ParameterError(f"members must be a whole number from 1 to 1000, but is {members!r}.")
        if not isinstance(share, (int, float)) or isinstance(share, bool) or not 0 <= share < 1:
            raise ParameterError(f"validation must be a share from 0 (none) to below 1, but is {share!r}.")
        if not isinstance(clip, (int, float)) or isinstance(clip, bool) or not 0 <= clip < np.inf:
            raise ParameterError(f"clip_features must be a number from 0 (no limit) on, but is {clip!r}.")
        if self.unit is not None and not isinstance(self.unit, str):
            raise ParameterError(f"unit must be text, such as 'months', but is {self.unit!r}.")
        points = (*POINTS, "auto") if self._CHOOSES_POINT else POINTS
        if settings["point"] not in points:
            raise ParameterError(f"point must be one of {', '.join(points)}, but is {settings['point']!r}.")
        if settings["start"] not in ("random", "marginal"):
            raise ParameterError(f"start must be 'random' or 'marginal', but is {settings['start']!r}.")

    def _architecture(self, settings: dict[str, Any], inputs: int, outputs: int) -> Architecture:
        names = {field.name for field in fields(Architecture)} - {"inputs", "outputs"}
        chosen = {name: value for name, value in settings.items() if name in names}
        if self.encoder is not None:
            chosen["hidden"] = ()
        return Architecture(inputs=inputs, outputs=outputs, **chosen)

    def _candidates(self) -> list[NeuralSurvival]:
        """Estimators to fit and choose from, the one to take without validation rows first; usually this one alone."""
        return [self]

    def _keep_best(self, candidates: Sequence[NeuralSurvival], prepared: Sequence[Prepared]) -> int:
        """Become the best of several candidates that are fitted, and tell which it is."""
        raise NotImplementedError

    def _become(self, fitted: NeuralSurvival) -> None:
        """Have learned what another has."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        vars(self).update({name: value for name, value in vars(fitted).items() if name.endswith("_")})

    def _prepare(self, X: Any, y: Any, sample_weight: Any, rows: Rows | None = None) -> Prepared:
        settings = self._settings()
        if not all(callable(callback) for callback in _sequence("callbacks", self.callbacks)):
            raise ParameterError(f"callbacks must be functions of an EpochReport, but are {self.callbacks!r:.60}.")
        if self.checkpoint is not None and not isinstance(self.checkpoint, (str, os.PathLike)):
            raise ParameterError(f"checkpoint must be the path of a file, but is {self.checkpoint!r:.60}.")
        _sequence("categorical", self.categorical)
        owner = type(self).__name__
        columns = self._columns(X)
        features = None
        if self.encoder is None:
            clip = float(settings["clip_features"]) or None
            bins = settings.get("bins", 0)
            if bins == "auto":
                # Lists are no way to hold many rows, or many columns.
                rows_given, columns_given = (*(getattr(columns, "shape", None) or ()), 0, 0)[:2]
                if isinstance(columns, Mapping):
                    columns_given = len(columns)
                few = rows_given <= _MOST_BINNED and columns_given <= _MOST_BINNED_COLUMNS
                bins = _BINS if few else 0
            features = Features.learn(columns, categorical=self.categorical, clip=clip, bins=bins, owner=owner)
            x: NDArray[Any] = features.transform(columns, owner=owner)
            if self.learning_rate is None and self.recipe == "default" and x.shape[1] > _WIDE:
                # A step moves every weight of the first layer, and the sum over all inputs by their number times as
                # much.
                settings["learning_rate"] = float(settings["learning_rate"]) * _WIDE / x.shape[1]
        else:
            x = raw_inputs(columns)
        data = self._read_training_target(y, sample_weight)
        require_same_rows(len(x), data)
        observed, data = data, self._target(data, settings)
        unit = time_unit(data, settings["time_scale"])
        seeds = member_seeds(self.random_state, settings["members"])
        if rows is None:
            from aldsurv.training.randomness import Purpose, generator_for

            folds = generator_for(seeds[0], Purpose.VALIDATION)
            copies = find_copies(columns, observed)
            rows = split_for_members(data, float(settings["validation"]), settings["members"], folds, copies)
        times = distinct_times(data)
        data = data.scaled(1 / unit)
        learned, per_row = self._learn_before(X, data, settings, rows), self._per_row(X, data, settings)
        return Prepared(settings, features, x, data, unit, seeds, rows, times, learned, per_row, observed, X)

    def _target(self, data: SurvivalData, settings: dict[str, Any]) -> SurvivalData:
        """The data as the family can take them."""
        return data

    def _remember(
        self,
        prepared: Prepared,
        network: Architecture,
        weights: dict[str, NDArray[np.float32]],
        encoders: list[Any],
        history: History,
        fingerprint: str,
    ) -> None:
        """Become fitted: everything is set at once, after all that could fail."""
        data, times = prepared.data, thinned(prepared.times)
        after = self._learn_after(prepared, lambda: _outputs(network, weights, encoders, prepared.x))
        self.settings_, self.features_ = prepared.settings, prepared.features
        self.network_, self.weights_, self.encoders_ = network, weights, encoders
        self.learned_ = {**prepared.learned, **after}
        self.time_scale_, self.history_, self.unique_times_ = prepared.unit, history, times
        point = str(prepared.settings["point"])
        # Until it is chosen: what would be taken without validation rows.
        self.chosen_points_ = ("median", "median") if point == "auto" else (point, point)
        self.point_scores_ = {}
        torch = {"torch": str(require_torch("training").__version__)}
        self.trained_on_ = TrainedOn.describe(data, times=times, fingerprint=fingerprint, packages=torch)
        if prepared.features is None:
            self.n_features_in_ = int(prepared.x.shape[1])
            names = None
        else:
            self.n_features_in_ = prepared.features.n_features_in
            names = prepared.features.names_in
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    def _held_out(self, prepared: Prepared) -> list[HeldRows]:
        """What each member says of its own validation rows, in the user's unit."""
        from aldsurv.models.neural.fitting.point_choice import HeldRows

        raw = _outputs(self.network_, self.weights_, self.encoders_, prepared.x, self._levels())
        held = []
        for k, rows in enumerate(prepared.rows.validation or ()):
            predicted = self._member_distribution(raw[k], k, prepared.given).scaled(self.time_scale_)
            held.append(HeldRows(predicted[rows], prepared.observed[rows], rows))
        return held

    def _check_skill(self, prepared: Prepared) -> None:
        """Warn if the members predict their validation rows no better than Kaplan-Meier does."""
        from aldsurv.models.neural.fitting.skill_check import (
            HeldPart,
            gain_over_kaplan_meier,
            sampled_rows,
            warn_without_skill,
        )

        observed, parts = prepared.observed, []
        for k, (train, held) in enumerate(zip(prepared.rows.train, prepared.rows.validation or (), strict=False)):
            rows = sampled_rows(held)
            own = {name: array[k : k + 1] for name, array in self.weights_.items()}
            raw = _outputs(self.network_, own, self.encoders_[k : k + 1], prepared.x[rows], self._levels())[0]
            predicted = self._member_distribution(raw, k, rows_of(prepared.given, rows)).scaled(self.time_scale_)
            parts.append(HeldPart(predicted, observed[rows], observed if self._LEARNS_FROM_ALL else observed[train]))
        warn_without_skill(gain_over_kaplan_meier(parts, repeats=prepared.rows.repeats), type(self).__name__)

    def _choose_points(self, prepared: Prepared) -> None:
        """Settle ``point="auto"``; without validation rows it is the median."""
        if prepared.settings["point"] != "auto" or prepared.rows.validation is None:
            return
        from aldsurv.models.neural.fitting.point_choice import chosen_points

        last = float(self.unique_times_[-1])
        found = chosen_points(self._held_out(prepared), prepared.observed, last)
        self.chosen_points_, self.point_scores_ = (found.error, found.ranking), found.scores

    def _choices(self) -> dict[str, Any]:
        """What was chosen by validation rows, and by which scores; empty if all was given."""
        if self.settings_["point"] != "auto":
            return {}
        scores = {use: {name: list(pair) for name, pair in own.items()} for use, own in self.point_scores_.items()}
        return {"error_point": self.error_point_, "ranking_point": self.ranking_point_, "point_scores": scores}

    def _restore_choices(self, found: dict[str, Any]) -> None:
        """The inverse of `_choices`; raise `ParameterError` if it is not."""
        point = self.settings_["point"]
        error, ranking = found.pop("error_point", point), found.pop("ranking_point", point)
        if error not in POINTS or ranking not in POINTS or (point != "auto" and {error, ranking} != {point}):
            raise ParameterError(f"the summaries chosen must be of {', '.join(POINTS)}, but are {error}, {ranking}.")
        self.chosen_points_ = error, ranking
        scores = found.pop("point_scores", {})
        self.point_scores_ = {
            use: {name: (float(score), float(error)) for name, (score, error) in own.items()}
            for use, own in scores.items()
        }
        if found:
            raise ParameterError(f"{sorted(found)[0]} is nothing that this model chooses.")

    @property
    def interrupted_(self) -> bool:
        """Whether training was ended early by Ctrl-C."""
        return self.history_.stopped_by == "interrupt"

    def fitted_settings(self) -> dict[str, Any]:
        """The settings that the model was fitted with, those of its recipe among them, as JSON can hold them."""
        return super().fitted_settings() | {name: portable(value) for name, value in self.settings_.items()}

    def summary(self) -> str:
        """What the model is and what it was trained on, in a few lines."""
        self._require_fitted()
        data, history = self.trained_on_, self.history_
        unit = f" {self.unit}" if self.unit else ""
        share = 100 * data.events / data.rows
        weights = sum(array[0].size for array in self.weights_.values())
        members = len(self.weights_["output.bias"])
        kept = ", ".join(str(epoch) for epoch in history.best_epoch[:10])
        columns = "by the encoder"
        if self.features_ is not None:
            columns = f"{self.n_features_in_}, as {self.features_.width} numbers"
        which = "training" if history.validation_loss is None else "validation"
        label, loss = self._told_loss(float(history.best_loss.mean()))
        chosen = [f"  {name:<14}  {words}" for name, words in self._told_choices().items()]
        return "\n".join(
            [
                f"{type(self).__name__}, {self._kind()}, {members} x {weights} weights",
                f"  rows            {data.rows}, {data.events} events ({share:.0f} %)",
                f"  time            {data.first_time:.4g} to {data.last_time:.4g}{unit}",
                f"  columns         {columns}",
                f"  epochs          {history.epochs}, kept {kept}, stopped by {history.stopped_by}",
                f"  {label:<14}  {loss} on {which} rows",
                *chosen,
            ]
        )

    def _told_choices(self) -> dict[str, str]:
        """What was chosen by validation rows, for people."""
        if self.settings_["point"] != "auto":
            return {}
        names = (name.replace("_", " ") for name in (self.error_point_, self.ranking_point_))
        return {"summaries": "{} for the time, {} for the ranking".format(*names)}

    def _told_loss(self, loss: float) -> tuple[str, str]:
        """A mean loss for people: what it is, and the number."""
        return "loss", f"{loss:.4f}"

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        from aldsurv.models.neural.neural_file import written

        return written(self)

    @classmethod
    def _from_file(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None
    ) -> NeuralSurvival:
        from aldsurv.models.neural.neural_file import restored

        return restored(cls, document, arrays, encoder)


def _outputs(
    network: Architecture,
    weights: dict[str, NDArray[np.float32]],
    encoders: list[Any],
    x: NDArray[Any],
    levels: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Outputs (members, rows, outputs) of all members."""
    return forward(network, weights, _encoded(encoders, x) if encoders else x, levels)


def _encoded(encoders: list[Any], x: NDArray[Any]) -> NDArray[np.float32]:
    import torch

    blocks = []
    with torch.no_grad():
        for start in range(0, len(x), 1024):
            block = torch.from_numpy(x[start : start + 1024])
            blocks.append(np.stack([encoded(encoder, block).numpy() for encoder in encoders]))
    return np.concatenate(blocks, axis=1).astype(np.float32)


def _sequence(name: str, value: Any) -> Iterable[Any]:
    if value is not None and not isinstance(value, Iterable):
        raise ParameterError(f"{name} must be a list, but is {value!r:.60}.")
    return () if value is None else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return tuple(_plain(item) for item in value) if isinstance(value, (list, tuple)) else value
