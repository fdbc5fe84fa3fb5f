"""The model card as a value: what is known of a model, and perhaps how well it predicts some rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from aldsurv.checks import WholeNumber, check
from aldsurv.columns.column_labels import ColumnLabels, warn_of_unknown_labels
from aldsurv.columns.column_plans import ColumnPlan
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.export.card.card_evaluation import CardEvaluation, evaluate_for_card
from aldsurv.export.card.model_limits import model_limits
from aldsurv.models import SurvivalEstimator
from aldsurv.quoting import printable
from aldsurv.reports.model.evaluated_model import unit_of
from aldsurv.reports.model.intended_use import OPEN_PLACES, Statement, describe_prediction
from aldsurv.reports.model.specification.specification import Specification, specify
from aldsurv.reports.model.words.page_words import EVENT_NAME

__all__ = ["ModelCard", "model_card"]


@final
@dataclass(frozen=True, eq=False)
class ModelCard:
    """What a user of a model should know of it.

    Attributes
    ----------
    title
        Heading of the card.
    specification
        The model: kind, settings, columns, file.
    unit
        Unit of time, if it is known.
    predicts
        What is predicted.
    limits
        Limits that the model file shows.
    open_places
        What only the author knows.
    evaluation
        How well the model predicts rows with observed outcomes; None if there are none.
    command
        The command that writes the same card, if there is one.
    """

    title: str
    specification: Specification
    unit: str | None
    predicts: Statement
    limits: tuple[Statement, ...]
    open_places: tuple[Statement, ...]
    evaluation: CardEvaluation | None
    command: str | None = None

    @property
    def columns(self) -> tuple[ColumnPlan, ...]:
        """What was learned of each column; none with an encoder."""
        features = self.specification.features
        return () if features is None else tuple(features.columns)


def model_card(
    model: SurvivalEstimator,
    X: object = None,
    data: object = None,
    *,
    train: object = None,
    times: Sequence[float] | None = None,
    groups: Mapping[str, Any] | None = None,
    title: str | None = None,
    source: str | None = None,
    unit: str | None = None,
    event_name: str | None = None,
    labels: object = None,
    model_file: str | os.PathLike[str] | None = None,
    command: str | None = None,
    random_state: int = 0,
) -> ModelCard:
    """The card of a fitted model, with its performance if rows with observed outcomes are given.

    Parameters
    ----------
    model
        A fitted model.
    X, data
        Covariates and outcome of rows, as for ``fit``, preferably of rows that the model was not trained on; None: the
        card is about the model alone.
    train
        Outcome of the training rows, from which the censoring is estimated; None: from the rows of `data`.
    times
        Times at which predictions are judged, at most six; None: the median observed time and up to two round ones.
    groups
        Subgroups to compare: values (n,) by the name of the column.
    title
        Heading; None: the name of the file or the kind of model.
    source
        Name of the rows, such as that of their file.
    unit, event_name, labels
        Unit of time if the model has none, what the event is called, and what columns are called, as in
        `aldsurv.reports.write_model_report`.
    model_file
        The file of the model, of which the card has name and SHA-256.
    command
        The command that writes this card, for its section on how to reproduce it.
    random_state
        Seed of resamples.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60, 10, 400)
    >>> time, event = 0.3 * age * rng.weibull(2.0, 400), rng.random(400) < 0.8
    >>> model = WeibullAFT(unit="months").fit({"age": age[:200]}, (time[:200], event[:200]))
    >>> card = model_card(model, {"age": age[200:]}, (time[200:], event[200:]))
    >>> card.title, card.unit, len(card.evaluation.evaluated.data)
    ('WeibullAFT', 'months', 200)
    """
    check("random_state", random_state, WholeNumber(0))
    if (X is None) != (data is None):
        raise ParameterError("X and data must be given together, or neither.", argument="X")
    if data is None:
        for name, value in (("times", times), ("groups", groups), ("train", train)):
            if value is not None:
                raise ParameterError(
                    f"{name} needs rows with outcomes", argument=name, advice="Give them, by X and data."
                )
    if event_name is not None:
        check("event_name", event_name, EVENT_NAME)
    event = (event_name or "event").strip()
    titles = ColumnLabels.of(labels)
    spec = specify(model, titles, model_file)
    warn_of_unknown_labels(titles, _known_columns(spec, groups or {}))
    unit = unit if unit and unit.strip() else unit_of(model)
    evaluation = None
    if data is not None:
        evaluation = evaluate_for_card(
            model,
            X,
            SurvivalData.of(data),
            train=None if train is None else SurvivalData.of(train),
            times=times,
            groups=groups,
            unit=unit,
            event=event,
            labels=titles,
            source=source,
            random_state=random_state,
        )
    causes = None if evaluation is None else evaluation.evaluated.data.causes
    predicts = describe_prediction(model, "the event" if event == "event" else event, unit, causes)
    name = type(model).__name__ if model_file is None else printable(Path(model_file).stem)
    return ModelCard(title or name, spec, unit, predicts, model_limits(spec, unit), OPEN_PLACES, evaluation, command)


def _known_columns(spec: Specification, groups: Mapping[str, Any]) -> list[str]:
    outcome = {} if spec.model.trained_on_ is None else spec.model.trained_on_.outcome
    names = () if spec.features is None else [plan.name for plan in spec.features.columns]
    return [*names, *outcome.values(), *groups]
