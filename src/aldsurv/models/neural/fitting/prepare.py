"""The first step of a fit: from what a user gives to numbers, scaled times, and the rows of each member."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.covariates import table_size
from aldsurv.columns.features import Features
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.frame_columns import table_names
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ColumnWarning, ParameterError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.fitting.encoding import raw_inputs
from aldsurv.models.neural.fitting.wide_scores import (
    MemberScores,
    is_wide,
    learn_scores,
    many_columns_for_rows,
)
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.rows.member_rows import Rows, member_seeds, split_for_members
from aldsurv.models.rows.time_units import time_unit
from aldsurv.models.rows.training_rows import distinct_times, require_same_rows
from aldsurv.notices import warn
from aldsurv.quoting import quoted
from aldsurv.training.history import EpochReport
from aldsurv.training.randomness import Purpose, generator_for

if TYPE_CHECKING:
    import torch

    from aldsurv.training.training_rows import TrainingRows

__all__ = ["Prepared", "RowStream", "RunOptions", "prepare", "prepare_alternative", "slowed_if_wide"]

# Inputs from which on the steps that the default recipe takes are shortened.
_WIDE = 1000


@final
@dataclass(frozen=True)
class RunOptions:
    """Where and how training runs; none of it is part of the model.

    Attributes
    ----------
    owner
        Class of the estimator, for messages.
    seed
        From which those of the members come.
    encoder
        A torch module, or a function that makes one, in place of the shared layers.
    categorical
        Columns whose numbers are categories.
    device, progress, callbacks, checkpoint
        As in `NeuralSurvival`.
    slow_if_wide
        Whether the learning rate is the default recipe's, which goes down for wide tables.
    scores_if_wide
        Whether networks see linear scores in place of the columns, where these are many for the rows.
    restart
        Whether training that diverges may start again with a smaller learning rate.
    """

    owner: str
    seed: int
    encoder: object = None
    categorical: Sequence[str | int] | None = None
    device: str = "auto"
    progress: bool | str = "auto"
    callbacks: tuple[Callable[[EpochReport], Any], ...] = ()
    checkpoint: Path | None = None
    slow_if_wide: bool = False
    scores_if_wide: bool = False
    restart: bool = False

    @classmethod
    def checked(
        cls, *, encoder: object, categorical: Any, callbacks: Any, checkpoint: Any, device: str, **others: Any
    ) -> RunOptions:
        """The options that a user gave; raises `ParameterError` for what cannot be one."""
        functions = tuple(_sequence("callbacks", callbacks))
        if not all(callable(callback) for callback in functions):
            raise ParameterError(
                f"callbacks must be functions of an EpochReport, but are {quoted(callbacks, 60)}.", argument="callbacks"
            )
        if checkpoint is not None and not isinstance(checkpoint, (str, os.PathLike)):
            raise ParameterError(
                f"checkpoint must be the path of a file, but is {quoted(checkpoint, 60)}.", argument="checkpoint"
            )
        _sequence("categorical", categorical)
        return cls(
            encoder=encoder,
            categorical=categorical,
            callbacks=functions,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            device=device,
            **others,
        )


class RowStream(ABC):
    """Rows in a file, of which a fit has only some in memory."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Of all rows, as they are encoded."""

    @abstractmethod
    def rows(self, device: torch.device, dtype: torch.dtype) -> TrainingRows:
        """What the training loop reads."""


@final
@dataclass(frozen=True)
class Prepared:
    """One fit, ready to be trained.

    Attributes
    ----------
    model, options
        What to fit, and how the run goes.
    features, seeds
        How columns become numbers (None with an encoder), and one seed per member.
    x, data
        Inputs and times of all rows, the times in `unit`.
    unit
        How much of the user's time is one unit inside.
    rows
        Training and validation rows of each member.
    times
        Distinct times in the user's unit.
    extras
        What the model must know before training.
    row_columns
        Columns (n,) that its loss needs beside the times.
    observed, covariates
        Times and covariates as the user gave them.
    scores
        What each member's network sees of a wide table; None: the inputs.
    stream
        The rows to learn from if they are in a file: those in memory are a sample of them, and validation rows.
    """

    model: NetworkModel
    options: RunOptions
    features: Features | None
    x: NDArray[Any]
    data: SurvivalData
    unit: float
    seeds: list[int]
    rows: Rows
    times: NDArray[np.float64]
    extras: Extras
    row_columns: Mapping[str, NDArray[Any]]
    observed: SurvivalData
    covariates: Any
    scores: Sequence[MemberScores] | None = None
    stream: RowStream | None = None

    @property
    def inputs(self) -> NDArray[Any]:
        """What the networks see of all rows (n, inputs), or for each member (members, n, scores)."""
        return self.x if self.scores is None else np.stack([score.values for score in self.scores])


def prepare(
    model: NetworkModel,
    options: RunOptions,
    X: object,
    read_target: Callable[[], SurvivalData],
    *,
    rows: Rows | None = None,
    scores: Sequence[MemberScores] | None = None,
) -> Prepared:
    """Make covariates and times into what the training loop takes.

    Parameters
    ----------
    model, options
        What to fit, and how the run goes.
    X
        Covariates.
    read_target
        Gives the checked target; called after the columns, so that an error is about what the user gave first.
    rows, scores
        Rows of each member and their scores, if they are those of another fit; else drawn by the seed and learned.
    """
    model = model.for_table(X)
    columns = model.covariates(X)
    features, x = _read_columns(model, options, columns)
    wide = options.scores_if_wide and features is not None and is_wide(len(x), features.n_features_in, x.shape[1])
    if features is not None and not wide:
        model = slowed_if_wide(model, options, x.shape[1])
    observed = read_target()
    require_same_rows(len(x), observed)
    model = model.for_data(observed)
    data = model.prepare_target(observed)
    unit = time_unit(data, model.time_scale)
    seeds = member_seeds(options.seed, model.members)
    groups = find_groups(columns, observed) if rows is None else None
    if rows is None:
        folds = generator_for(seeds[0], Purpose.VALIDATION)
        rows = split_for_members(data, float(model.validation), model.members, folds, groups)
    scaled = data.scaled(1 / unit)
    if wide and scores is None:
        parts = zip(rows.train, seeds, strict=True)
        scores = [learn_scores(x, scaled, part, generator_for(seed, Purpose.SCORES), groups) for part, seed in parts]
    return Prepared(
        model=model,
        options=options,
        features=features,
        x=x,
        data=scaled,
        unit=unit,
        seeds=seeds,
        rows=rows,
        times=distinct_times(data),
        extras=model.prepare_extras(X, scaled, unit),
        row_columns=model.row_columns(X),
        observed=observed,
        covariates=X,
        scores=scores,
    )


def slowed_if_wide(model: NetworkModel, options: RunOptions, width: int) -> NetworkModel:
    """The model with shorter steps for many inputs, if they are the default recipe's."""
    if not options.slow_if_wide or width <= _WIDE:
        return model
    # A step moves every weight of the first layer, and the sum over all inputs by their number times as much.
    return replace(model, learning_rate=float(model.learning_rate) * _WIDE / width)


def prepare_alternative(first: Prepared, model: NetworkModel, options: RunOptions) -> Prepared:
    """The same rows, split for the members in the same way, for another model."""
    return prepare(model, options, first.covariates, lambda: first.observed, rows=first.rows, scores=first.scores)


def _read_columns(model: NetworkModel, options: RunOptions, columns: Any) -> tuple[Features | None, NDArray[Any]]:
    if options.encoder is not None:
        if table_names(columns) is not None:
            warn(
                f"{options.owner} gives its encoder the columns of X in their order: their names are not kept. Rows to "
                "predict for need the same order.",
                ColumnWarning,
            )
        return None, raw_inputs(columns)
    n_rows, n_columns = table_size(columns) or (0, 0)
    scored = options.scores_if_wide and many_columns_for_rows(n_rows, n_columns)
    features = Features.learn(
        columns,
        categorical=options.categorical,
        clip=float(model.clip_features) or None,
        bins=model.pieces(n_rows, n_columns, scored=scored),
        owner=options.owner,
    )
    return features, features.transform(columns, owner=options.owner)


def _sequence(name: str, value: object) -> Iterable[Any]:
    if value is not None and not isinstance(value, Iterable):
        raise ParameterError(f"{name} must be a list, but is {quoted(value, 60)}.", argument=name)
    return () if value is None else value
