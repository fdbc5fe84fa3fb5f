"""What a neural estimator fits, as one frozen value: every setting, and the formulas that depend on them.

A fit goes straight through three steps that take and give values: `fitting.prepare` makes the rows into numbers,
`fitting.train` gives a `FittedNetwork`, and the estimator adopts it. Each step asks the `NetworkModel` for what differs
between models: the target, the loss, what is known beside the network, and what its outputs stand for.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number, Sizes, WholeNumber, check_all, declared_constraints
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.averaged import AveragedIncidence
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.wrappers.mixture import Mixture
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import Document, from_portable, portable, require
from aldsurv.models.neural.extras import Extras
from aldsurv.models.prediction.point_summaries import RANKING_POINTS
from aldsurv.models.search_space import Entry, OneOf, Range
from aldsurv.networks import Architecture
from aldsurv.networks.architecture import LAYER_CONSTRAINTS
from aldsurv.quoting import quoted
from aldsurv.training.settings import TRAINING_CONSTRAINTS, TrainingSettings

if TYPE_CHECKING:
    from aldsurv.columns.features import Features
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.fitted_network import FittedNetwork, TrainedNetwork
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = [
    "NETWORK_ENTRIES",
    "PAPER_TRAINING",
    "PEARCE_TRAINING",
    "PYCOX_TRAINING",
    "NetworkModel",
    "Output",
    "SizedRecipe",
    "Strategy",
]

FloatArray = NDArray[np.float64]
# Trains several prepared fits of one model in one loop.
Strategy = Callable[[Sequence["Prepared"]], "list[TrainedNetwork]"]
ModelT = TypeVar("ModelT", bound="NetworkModel")

# What a search tries for every network.
NETWORK_ENTRIES: Mapping[str, Entry] = {
    "learning_rate": Range(5e-4, 2e-2, log=True),
    "hidden": OneOf(((16,), (32,), (64,), (128,), (32, 32), (64, 64), (128, 128))),
    "dropout": Range(0.0, 0.5),
    "weight_decay": Range(1e-3, 1.0, log=True),
}
# How the paper trains its own network, as differences from the defaults below.
PAPER_TRAINING: Mapping[str, Any] = {
    "activation": "relu",
    "members": 1,
    "optimizer": "adam",
    "learning_rate": 0.01,
    "batch_size": 128,
    "patience": 10,
    "weight_decay": 0.0,
    "clip_norm": 0.0,
    "start": "random",
}
# The loop that CQRNN and LogNorm come from (Pearce et al., 2022); epochs and dropout differ by dataset:
# aldsurv.models.paper_settings.
PEARCE_TRAINING: Mapping[str, Any] = {
    **PAPER_TRAINING,
    "schedule": "step",
    "weight_decay": 0.0001,
    "hidden": (100, 100),
    "dropout": 0.0,
    "max_epochs": 100,
    "patience": 0,
    "validation": 0.0,
}
# DeepSurv and DeepHit, as released with the paper, which has them from pycox.
PYCOX_TRAINING: Mapping[str, Any] = {**PAPER_TRAINING, "batch_size": 256, "batch_norm": True}


class Output(NamedTuple):
    """What an output of a network stands for: a name, and the link that makes it that."""

    name: str
    link: str = "identity"


class SizedRecipe(NamedTuple):
    """The name of a recipe, and up to how many rows and columns of a table it is for."""

    recipe: str
    most_rows: float = math.inf
    most_columns: float = math.inf


@dataclass(frozen=True, kw_only=True)
class NetworkModel(ABC):
    """Settings of a network, its training and its distribution; `NeuralSurvival` says what each of them means."""

    hidden: tuple[int, ...] = (32, 32)
    head_hidden: tuple[int, ...] = ()
    activation: str = "silu"
    residual: bool = False
    batch_norm: bool = False
    dropout: float = 0.1
    members: int = 5
    optimizer: str = "adamw"
    learning_rate: float = 0.003
    schedule: str = "constant"
    warmup: int = 0
    batch_size: int | str = "auto"
    max_epochs: int | str = 200
    patience: int = 15
    weight_decay: float | str = 0.1
    clip_norm: float = 1.0
    validation: float = 0.2
    start: str = "marginal"
    time_scale: str | float = "median"
    clip_features: float = 5.0
    point: str = "follow_up"

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        **TRAINING_CONSTRAINTS,
        **LAYER_CONSTRAINTS,
        "hidden": Sizes(),
        "head_hidden": Sizes(),
        "time_scale": Number(0, above=True, or_one_of=("median", "std", "none")),
        "members": WholeNumber(1, 1000),
        "validation": Number(0, 1, below=True, meaning="a share of the rows, 0: none"),
        "clip_features": Number(0, meaning="0: no limit"),
        "point": Choice((*RANKING_POINTS, "auto")),
        "start": Choice(("random", "marginal")),
    }
    # Settings that files of earlier versions do not have, with the value that they had then; each group came at once.
    ADDED_LATER: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    EXTRAS: ClassVar[type[Extras]] = Extras
    # Whether something beside the networks, such as a baseline hazard, is learned from the validation rows, too.
    LEARNS_FROM_ALL: ClassVar[bool] = False

    # ---- settings

    def with_given(self: ModelT, given: Mapping[str, Any]) -> ModelT:
        """These settings with those that a user gave, checked.

        Parameters
        ----------
        given
            Settings by name; None keeps the value of the recipe.
        """
        values = {name: _as_python(value) for name, value in given.items() if value is not None}
        for name, value in values.items():
            items = value if isinstance(value, tuple) else (value,)
            if not all(isinstance(item, (str, int, float)) for item in items):
                raise ParameterError(
                    f"{name} must be a number, text or sizes of layers, but is {quoted(value, 60)}.", argument=name
                )
        model = replace(self, **values)
        model.check()
        return model.completed()

    def completed(self: ModelT) -> ModelT:
        """The settings with those filled in that follow from others."""
        return self

    def check(self) -> None:
        """Raise `ParameterError` for a setting that is not allowed, whatever the rows are."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        check_all(values, declared_constraints(type(self)))
        self.training_settings()

    def training_settings(self) -> TrainingSettings:
        """Those that the training loop reads."""
        return TrainingSettings(**{field.name: getattr(self, field.name) for field in fields(TrainingSettings)})

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold them."""
        return {field.name: portable(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls: type[ModelT], document: Document) -> ModelT:
        """The inverse of `to_dict`, for a file that may hold anything; everything is checked."""
        names = {field.name for field in fields(cls)}
        values = {name: from_portable(value) for name, value in with_added_settings(document, cls.ADDED_LATER).items()}
        require(set(values) == names, "its settings are not those of this model")
        model = cls(**values)
        model.check()
        return model

    # ---- before training

    def alternatives(self) -> Sequence[NetworkModel]:
        """Models to train and choose from by validation rows, the one to take without these first."""
        return (self,)

    def for_data(self, data: SurvivalData) -> NetworkModel:
        """The settings with those filled in that follow from the data."""
        return self

    def alternatives_for(self, data: SurvivalData) -> Sequence[NetworkModel]:
        """The alternatives for these data, in the same order."""
        return self.alternatives()

    def alternative_name(self) -> str:
        """What distinguishes this from its alternatives, in one word."""
        return ""

    @property
    def strategy(self) -> Strategy | None:
        """How to train where one run of the loop is not enough."""
        return None

    @property
    def parts_obstacle(self) -> str | None:
        """Why the model cannot be fitted to a table in parts; None if it can."""
        return "what it knows beside its network is learned from all rows at once"

    def for_table(self, X: object) -> NetworkModel:
        """The model with columns that its settings give by number under the names that `X` has for them."""
        return self

    def covariates(self, X: object) -> Any:
        """The part of `X` that is covariates."""
        return X

    def pieces(self, rows: int, columns: int, *, scored: bool = False) -> int:
        """Pieces into which each column of numbers is divided for a table of this size; 0 for none.

        `scored`: whether networks see linear scores in place of the columns.
        """
        return 0

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """The rows as the model's distribution can take them."""
        return data

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """What must be known beside the network before it is trained; the times of `data` are in `unit`."""
        return Extras()

    def row_columns(self, X: object) -> dict[str, NDArray[Any]]:
        """Columns (n,) that the loss needs beside the times."""
        return {}

    # ---- training

    @abstractmethod
    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The loss of the rows of all `prepared`, which are one after the other in `data`.

        `units` has for each row how many of the user's units of time one unit of `data` is.
        """

    def architecture(self, inputs: int, outputs: int, extras: Extras | None = None, *, encoded: bool) -> Architecture:
        """The network; with an encoder it has no shared layers of its own."""
        return Architecture(
            inputs=inputs,
            outputs=outputs,
            hidden=() if encoded else self.hidden,
            head_hidden=self.head_hidden,
            activation=self.activation,
            residual=self.residual,
            batch_norm=self.batch_norm,
            dropout=self.dropout,
        )

    def fixed_outputs(self, member: int, extras: Extras) -> FloatArray | None:
        """Outputs (k,) that are the same for every row in a member, NaN where it learns them; None: all are learned."""
        return None

    def unused_inputs(self, features: Features, member: int) -> NDArray[np.bool_] | None:
        """Which inputs a member does without; None: it has all."""
        return None

    def complete_extras(self, prepared: Prepared, outputs: Callable[[], FloatArray]) -> Extras:
        """What is known beside the network after training; `outputs()` are its outputs (members, n, k) for all rows."""
        return prepared.extras

    @property
    def last_layer_obstacle(self) -> str | None:
        """Why the output layer cannot be learned alone from other rows; None if it can."""
        return "what it knows beside its network belongs to the rows that it was fitted to"

    # ---- after training

    def describe_outputs(self) -> tuple[Output, ...]:
        """What each output of the network stands for, with one cause, for diagrams; empty if that is not described."""
        return ()

    @property
    def levels(self) -> FloatArray | None:
        """Levels at which the network is evaluated, if it takes one; outputs then are (members, n, levels, k)."""
        return None

    @abstractmethod
    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """What the outputs (n, k) of a member's network for the rows of `X` stand for, in the unit inside."""

    def member_incidence(self, raw: FloatArray, extras: Extras) -> CompetingDistribution | None:
        """What the outputs (n, k) of a member stand for cause by cause, in the unit inside; None without causes."""
        return None

    def combine_incidences(self, members: Sequence[CompetingDistribution]) -> CompetingDistribution:
        """The prediction of several members with causes."""
        return AveragedIncidence(members)

    def joins_members(self, extras: Extras) -> bool:
        """Whether `joint_distribution` gives the prediction of all members at once."""
        return False

    def joint_distribution(
        self, blocks: Iterable[FloatArray], constants: FloatArray, fitted: FittedNetwork, rows: int
    ) -> SurvivalDistribution:
        """What all members predict together, in the user's unit: as `combine`, in fewer steps or less memory.

        Here some rows at a time, so that outputs of all members are never there for all rows.

        Parameters
        ----------
        blocks
            Outputs (members, n, heads) that depend on the row, for some rows after the other. Each is valid until the
            next one is taken.
        constants
            Outputs (members, constants) that do not.
        fitted
            What was learned beside them.
        rows
            How many rows all blocks have together.
        """
        width = fitted.network.outputs - constants.shape[1]
        parts = [self._of_block(moving, constants, fitted) for moving in blocks]
        return SurvivalDistribution.concatenate(
            parts or [self._of_block(np.empty((len(constants), 0, width)), constants, fitted)]
        )

    def _of_block(self, moving: FloatArray, constants: FloatArray, fitted: FittedNetwork) -> SurvivalDistribution:
        """What all members predict for some rows, of a model that needs no more than its outputs for that."""
        fixed = np.broadcast_to(constants[:, None], (*moving.shape[:2], constants.shape[1]))
        raw = np.concatenate([moving, fixed], axis=2)
        members = [fitted.member_distribution(outputs, k, None) for k, outputs in enumerate(raw)]
        return members[0] if len(members) == 1 else self.combine(members, fitted)

    def combine(self, parts: list[SurvivalDistribution], fitted: FittedNetwork) -> SurvivalDistribution:
        """The prediction of several members, whose distributions are in the user's unit."""
        return Mixture(parts)

    @abstractmethod
    def describe(self, extras: Extras) -> str:
        """What the predictions are, in a few words."""

    def format_loss(self, loss: float) -> tuple[str, str]:
        """Name and text of a mean loss."""
        return "loss", f"{loss:.4f}"

    @abstractmethod
    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """Raise `ParameterError` unless a network and its extras, as a file has them, suit these settings."""


def with_added_settings(document: Document, groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Entries of a file with the settings that came later; a group of which some are there is not completed."""
    values = dict(document)
    for group in groups:
        if not set(group) & set(values):
            values |= group
    return values


def _as_python(value: object) -> Any:
    """Numbers of numpy as Python's, lists as tuples."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple(_as_python(item) for item in value) if isinstance(value, (list, tuple)) else value
