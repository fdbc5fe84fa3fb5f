"""Estimators whose distribution comes out of a network: the parameters they share, predicting, and files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, check, declared_constraints
from aldsurv.columns.covariates import table_size
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent
from aldsurv.models.neural.fitting.encoding import raw_inputs, require_torch
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork, finite_outputs
from aldsurv.models.neural.fitting.joint_fit import fit_together
from aldsurv.models.neural.fitting.network_structure import network_structure
from aldsurv.models.neural.fitting.output_refit import with_other_outputs
from aldsurv.models.neural.fitting.point_choice import PointScores
from aldsurv.models.neural.fitting.prepare import Prepared, RunOptions, prepare
from aldsurv.models.neural.network_model import NetworkModel, SizedRecipe
from aldsurv.models.neural.neural_file import from_file, to_file
from aldsurv.models.parameter_constraints import UNIT
from aldsurv.models.rows.member_rows import base_seed
from aldsurv.models.sklearn_mixin import with_inherited_parameters
from aldsurv.models.structure import ModelStructure
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.tables.parts.parted_table import table_in_parts
from aldsurv.training.history import EpochReport, History

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["NeuralSurvival"]

FloatArray = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralSurvival(SurvivalEstimator):
    """An estimator with a network. A parameter that is None has the value of the recipe.

    Parameters
    ----------
    recipe
        ``"default"``, or ``"paper"`` for the network and training in Sheng & Henao (2025).
    hidden, head_hidden
        Sizes of the layers that the outputs share, and of the separate layers of each output.
    activation, residual, batch_norm, dropout
        Kind of the units, whether a projection of their input is added to shared layers, normalisation, share dropped.
    encoder
        A torch module, or a function that returns one, in place of the shared layers. Its input is X unchanged, of
        any shape ``(n, ...)``, and its output has the shape ``(n, numbers)``. Every member starts with the module's
        weights.
    members
        Networks of the ensemble; the prediction is the mixture of theirs. Each has different validation rows.
    optimizer, learning_rate, schedule, warmup, batch_size, max_epochs, patience, weight_decay, clip_norm
        As in `aldsurv.training.TrainingSettings`; 0 switches patience, decay or clipping off.
    validation
        Share of validation rows, which determine when training stops; 0 for none. Tables of fewer than ten rows have
        none.
    start
        ``"marginal"``: the best distribution without covariates; or ``"random"``.
    time_scale
        The unit of time inside the network: ``"median"`` or ``"std"`` of the times, ``"none"`` or a number.
        Predictions are always in the unit of the data.
    clip_features
        Largest absolute value of a standardised column; 0 for no limit.
    point
        Summary that is the predicted time, and by which rows are ranked: ``"median"``, ``"mean"``, ``"mode"``,
        ``"restricted_mean"``; ``"follow_up"``: the median as the time, and rows ranked by the restricted mean up to
        `follow_up_`; or ``"auto"``: one for each use, by the members' validation rows.
    categorical
        Columns, by name or number, whose numbers are categories.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model and shown in texts and plots.
    device
        ``"auto"`` (a CUDA device if there is one), ``"cpu"``, …
    random_state
        Seed: the same seed gives the same bits on the same machine.
    progress
        Whether to show a progress bar; ``"auto"``: in a terminal.
    callbacks
        Functions that are called with an `EpochReport` after each epoch; True ends training.
    checkpoint
        A file from which an interrupted fit continues.

    Attributes
    ----------
    settings_
        Every setting that was used.
    error_point_, ranking_point_
        The summary that `predict_time` gives, and the one by which `predict` and `score` rank: `point`, or with
        ``"auto"`` those that were chosen.
    point_scores_
        With ``point="auto"``, for ``"error"`` and ``"ranking"``: the score of each summary, and the standard error of
        its difference from that of ``"median"`` or ``"follow_up"``. Otherwise empty.
    history_
        Losses of each epoch and member; a likelihood is the mean negative log-likelihood in the unit of the data.
    features_
        How columns become numbers; None with an encoder.
    follow_up_
        Time by which 80 % of the training rows had left, within which rows are ranked.
    trained_on_
        Rows, events, range of time, fingerprint of the data, versions.
    """

    recipe: str = field(default="default", kw_only=False)
    hidden: Sequence[int] | None = None
    head_hidden: Sequence[int] | None = None
    activation: str | None = None
    residual: bool | None = None
    batch_norm: bool | None = None
    dropout: float | None = None
    encoder: object = None
    members: int | None = None
    optimizer: str | None = None
    learning_rate: float | None = None
    schedule: str | None = None
    warmup: int | None = None
    batch_size: int | str | None = None
    max_epochs: int | str | None = None
    patience: int | None = None
    weight_decay: float | str | None = None
    clip_norm: float | None = None
    validation: float | None = None
    start: str | None = None
    time_scale: str | float | None = None
    clip_features: float | None = None
    point: str | None = None
    categorical: Sequence[str | int] | None = None
    unit: str | None = None
    device: str = "auto"
    random_state: int | np.random.Generator | np.random.RandomState | None = None
    progress: bool | str = "auto"
    callbacks: Sequence[Callable[[EpochReport], Any]] | None = None
    checkpoint: str | Path | None = None

    SHARES_TRAINING: ClassVar[bool] = True
    RECIPES: ClassVar[Mapping[str, NetworkModel]]
    # By name of a recipe: those that stand in its place, each for tables of up to so many rows and columns. The first
    # that a table fits in is taken; one without a limit has `math.inf`.
    RECIPES_BY_SIZE: ClassVar[Mapping[str, Sequence[SizedRecipe]]] = {}

    fitted_: FittedNetwork = field(init=False)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = with_inherited_parameters(cls.__doc__, cls.__bases__[0].__doc__)

    # ---- settings

    def settings(self, size: tuple[int, int] | None = None) -> NetworkModel:
        """All settings: those given, and the recipe's for the rest; raises `ParameterError` for one not allowed.

        Parameters
        ----------
        size
            Rows and columns of the table, if there is one: a recipe may have others for small and for large tables.
        """
        if not isinstance(self.recipe, str) or self.recipe not in self.RECIPES:
            raise ParameterError(
                f"recipe must be one of {', '.join(self.RECIPES)}, but is {self.recipe!r}.", argument="recipe"
            )
        rows, columns = size or (math.nan, math.nan)
        sized = self.RECIPES_BY_SIZE.get(self.recipe, ())
        suited = [each.recipe for each in sized if rows <= each.most_rows and columns <= each.most_columns]
        recipe = self.RECIPES[(suited or [self.recipe])[0]]
        return recipe.with_given({setting.name: getattr(self, setting.name) for setting in fields(recipe)})

    @classmethod
    def parameter_constraints(cls) -> dict[str, Constraint]:
        """What parameters may be, by name, of those whose values are checked before there are rows."""
        return {
            "recipe": Choice(tuple(cls.RECIPES)),
            "unit": UNIT,
            **declared_constraints(type(cls.RECIPES["default"])),
        }

    @classmethod
    def default_settings(cls, size: tuple[int, int] | None = None) -> dict[str, Any]:
        """Every parameter, and the value that it, or the recipe, has unless another is given."""
        recipe = cls().settings(size)
        settings = {setting.name: getattr(recipe, setting.name) for setting in fields(recipe)}
        return {**cls.parameter_defaults(), **settings}

    def check_parameters(self) -> None:
        """Raise `ParameterError` for what `fit` would refuse whatever the rows are."""
        check("unit", self.unit, UNIT)
        self.settings()

    def run_options(self, model: NetworkModel, task: Prepared | None = None) -> RunOptions:
        """How the training of a model runs; one of several candidates has the seed of the first."""
        checkpoint = self.checkpoint
        if checkpoint is not None and len(self.settings().alternatives()) > 1:
            checkpoint = f"{checkpoint}.{model.alternative_name()}"
        return RunOptions.checked(
            owner=type(self).__name__,
            seed=base_seed(self.random_state) if task is None else task.options.seed,
            encoder=self.encoder,
            categorical=self.categorical,
            device=self.device,
            progress=self.progress,
            callbacks=self.callbacks,
            checkpoint=checkpoint,
            slow_if_wide=self.learning_rate is None and self.recipe == "default",
            scores_if_wide=self.recipe == "default",
            restart=self.learning_rate is None and self.checkpoint is None,
        )

    # ---- fitting

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, as `SurvivalEstimator.fit` says.

        A table in parts, as `aldsurv.datasets.open_table` gives it, is not read as a whole: ``fit(table.x, table.y)``.
        """
        table = table_in_parts(X, y, sample_weight, groups)
        if table is None:
            fit_together([self], [(X, y, sample_weight, groups)])
        else:
            from aldsurv.models.neural.parted.fitting import fit_in_parts

            fit_in_parts(self, table)
        return self

    def read_target_sample(self, y: SurvivalData) -> SurvivalData:
        """Some rows of a target as `fit` reads all of them, with the warnings that it would give."""
        return self._read_training_target(y, None)

    def prepare(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Prepared:
        """What `fit` trains on: columns as numbers, scaled times, rows of each member."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        model = self.settings(table_size(X)).alternatives()[0]
        options = self.run_options(model)
        return prepare(model, options, X, lambda: self._read_training_target(y, sample_weight, groups))

    def adopt(self, fitted: FittedNetwork) -> None:
        """Become fitted: everything is set at once, after all that could fail."""
        self.fitted_, self.trained_on_, self.unique_times_ = fitted, fitted.trained_on, fitted.times
        self.n_features_in_ = fitted.n_features_in
        names = None if fitted.features is None else fitted.features.names_in
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Why `refit_outputs` is not possible; None if it is."""
        fitted = self._fitted()
        return "its encoder cannot be kept as it is" if fitted.encoders else fitted.model.last_layer_obstacle

    def _with_outputs_of(self, X: object, data: SurvivalData, *, pull: float, seed: int | None) -> Self:
        fitted = self._fitted()
        require_torch(type(self).__name__)
        options = self.run_options(fitted.model)
        if seed is not None:
            options = replace(options, seed=seed)
        model = type(self)(**self.get_params(deep=False))
        model.adopt(with_other_outputs(fitted, options, X, data, pull=pull))
        return model

    # ---- what was learned

    @property
    def settings_(self) -> Any:
        """Every setting that was used."""
        return self._fitted().model

    @property
    def features_(self) -> Features | None:  # type: ignore[override]
        """How columns become numbers; None with an encoder."""
        return self._fitted().features

    @property
    def history_(self) -> History:
        """Losses of each epoch and member."""
        return self._fitted().history

    @property
    def time_scale_(self) -> float:
        """How much of the user's time is one unit inside."""
        return self._fitted().time_scale

    @property
    def encoders_(self) -> list[Any]:
        """The trained encoder of each member; empty without one."""
        return self._fitted().encoders

    @property
    def interrupted_(self) -> bool:
        """Whether training was ended early by Ctrl-C."""
        return self.history_.stopped_by == "interrupt"

    def fitted_settings(self) -> dict[str, Any]:
        """The settings that the model was fitted with, those of its recipe among them, as JSON can hold them."""
        return super().fitted_settings() | self._fitted().model.to_dict()

    @property
    def n_members(self) -> int:
        """Networks of the ensemble."""
        return self._fitted().n_members

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        return self._fitted().points.error

    @property
    def ranking_point_(self) -> str:
        """The summary by which rows are ranked."""
        return self._fitted().points.ranking

    @property
    def point_scores_(self) -> PointScores:
        """With ``point="auto"`` the scores by which the summaries were chosen."""
        return self._fitted().points.scores

    def _fitted(self) -> FittedNetwork:
        self._require_fitted()
        return self.fitted_

    # ---- predicting

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of the time to the event for each row of `X`, in the unit of the training times.

        With several members it is their mixture.
        """
        x = self._inputs(X)
        joint = self.fitted_.joint_distribution(x)
        if joint is not None:
            return joint
        raw = finite_outputs(self.fitted_.outputs(x))
        incidence = self._incidence(raw)
        if incidence is not None:
            return incidence.overall()
        parts = self._members(raw, X)
        return parts[0] if len(parts) == 1 else self.fitted_.model.combine(parts, self.fitted_)

    def predict_incidence(self, X: object) -> CompetingDistribution:
        """Which cause the first event has and when it comes, for each row of `X`, in the unit of the training times."""
        return self._incidence(self.predict_outputs(X)) or super().predict_incidence(X)

    def _incidence(self, raw: FloatArray) -> CompetingDistribution | None:
        """What all members predict cause by cause; None without causes or a cure."""
        members = [self.fitted_.member_incidence(outputs) for outputs in raw]
        known = [member for member in members if member is not None]
        if not known:
            return None
        return known[0] if len(known) == 1 else self.fitted_.model.combine_incidences(known)

    def predict_members(self, X: object) -> list[SurvivalDistribution]:
        """What each member predicts for the rows of `X`, in the unit of the training times."""
        return self._members(self.predict_outputs(X), X)

    def _members(self, raw: FloatArray, X: object) -> list[SurvivalDistribution]:
        return [self.fitted_.member_distribution(outputs, k, X) for k, outputs in enumerate(raw)]

    def predict_outputs(self, X: object) -> FloatArray:
        """Outputs (members, n, k) of the networks; of those that take a level (members, n, levels, k)."""
        x = self._inputs(X)
        return finite_outputs(self.fitted_.outputs(x))

    def _inputs(self, X: object) -> NDArray[Any]:
        """What the networks, or their encoders, take."""
        fitted = self._fitted()
        X = fitted.model.covariates(X)
        return raw_inputs(X) if fitted.features is None else fitted.features.transform(X, owner=type(self).__name__)

    def band_stretch(self) -> float:
        """Standard errors of the prediction in one standard deviation between the members."""
        members, share = self.n_members, float(self.fitted_.model.validation)
        if self.history_.validation_loss is None or share == 0:
            return super().band_stretch()
        # Each member leaves a share of the rows out: a delete-d jackknife, whose variance is that of its parts times
        # (n - d)/d, and with folds as many as members the grouped one.
        return float(np.sqrt((1 - share) / share * (members - 1) / members))

    def structure(self) -> ModelStructure:
        """What the outputs of the networks stand for, their layers and weights, and how training ended."""
        return network_structure(self._fitted())

    def summary(self) -> str:
        """What the model is and what it was trained on, in a few lines."""
        fitted, data, history = self._fitted(), self.fitted_.trained_on, self.history_
        unit = f" {self.unit}" if self.unit else ""
        share = percent(data.event_share)
        weights = fitted.n_weights
        epochs = ", ".join(str(epoch) for epoch in history.best_epoch[:10])
        columns = "by the encoder"
        if fitted.features is not None:
            columns = f"{self.n_features_in_}, as {fitted.features.width} numbers"
        kind = fitted.model.describe(fitted.extras)
        which = "training" if history.validation_loss is None else "validation"
        label, loss = fitted.model.format_loss(float(history.best_loss.mean()))
        choices = [f"  {name:<14}  {text}" for name, text in self._describe_choices().items()]
        return "\n".join(
            [
                f"{type(self).__name__}, {kind}, {fitted.n_members} x {weights} weights",
                f"  rows            {data.rows_text}, {data.known_events} events ({share})",
                f"  time            {plain_number(data.first_time, 4)} to {plain_number(data.last_time, 4)}{unit}",
                f"  columns         {columns}",
                f"  epochs          {history.epochs}, kept {epochs}, stopped by {history.stopped_by}",
                f"  {label:<14}  {loss} on {which} rows",
                *choices,
            ]
        )

    def _describe_choices(self) -> dict[str, str]:
        """What was chosen by validation rows."""
        fitted, choices = self.fitted_, {}
        if fitted.support_scores:
            scores = ", ".join(f"{name} {score:.4f}" for name, score in fitted.support_scores.items())
            choices["chosen"] = f"{fitted.model.alternative_name()}, by the log-likelihood: {scores}"
        if fitted.model.point == "auto":
            names = (name.replace("_", " ") for name in (fitted.points.error, fitted.points.ranking))
            choices["summaries"] = "{} for the time, {} for the ranking".format(*names)
        return choices

    # ---- files

    def _to_file(self) -> FileContent:
        return to_file(self, self._fitted())

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> NeuralSurvival:
        estimator, fitted = from_file(cls, cls.RECIPES["default"], document, arrays, encoder)
        estimator.encoder = encoder
        estimator.adopt(fitted)
        return estimator
