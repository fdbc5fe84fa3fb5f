"""Several models trained for one estimator, of which validation rows choose the one to keep."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from aldsurv.columns.covariates import table_size
from aldsurv.errors import DataError, TrainingError
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.held_out import enough_events, held_out_log_likelihood
from aldsurv.models.neural.fitting.prepare import Prepared, prepare_alternative
from aldsurv.models.neural.fitting.train import train
from aldsurv.models.persistence import load
from aldsurv.models.rows.training_rows import data_fingerprint

if TYPE_CHECKING:
    from aldsurv.models.neural.neural_survival import NeuralSurvival

__all__ = ["Candidate", "choose", "prepare_candidates", "train_candidates"]


@final
@dataclass(eq=False)
class Candidate:
    """One model to train for an estimator, beside its rivals, itself among them."""

    estimator: NeuralSurvival
    task: Prepared
    rivals: list[Candidate]
    fitted: FittedNetwork | None = None
    error: TrainingError | None = None
    interrupted: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether a user ended the training of a rival by Ctrl-C: what is trained by then is kept."""
        return any(rival.interrupted for rival in self.rivals)

    @property
    def finished_file(self) -> Path | None:
        """Where one of several is kept, once trained, until the last is."""
        path = self.task.options.checkpoint
        return None if path is None or len(self.rivals) == 1 else Path(f"{path}.done")


def prepare_candidates(estimator: NeuralSurvival, task: Prepared) -> list[Candidate]:
    """The models that an estimator wants trained: one, or several that are compared on the same validation rows.

    Parameters
    ----------
    estimator
        For whom.
    task
        Prepared with the model to take without validation rows.
    """
    rivals: list[Candidate] = []
    rivals.append(Candidate(estimator, task, rivals))
    models = estimator.settings(table_size(task.covariates)).alternatives_for(task.data)
    if len(models) > 1 and enough_events(task):
        for model in models[1:]:
            rivals.append(
                Candidate(estimator, prepare_alternative(task, model, estimator.run_options(model, task)), rivals)
            )
    return rivals


def train_candidates(candidates: Sequence[Candidate]) -> None:
    """Train those that share a loop; one of several rivals may fail, or be left out after Ctrl-C."""
    if not candidates or (len(candidates) == 1 and _take_up_finished(candidates[0])):
        return
    have_rivals = all(len(candidate.rivals) > 1 for candidate in candidates)
    try:
        fitted = train([candidate.task for candidate in candidates])
    except TrainingError as error:
        if not have_rivals:
            raise
        if len(candidates) > 1:
            for candidate in candidates:
                train_candidates([candidate])
            return
        candidates[0].error = error
        if all(rival.error is not None for rival in candidates[0].rivals):
            raise
        return
    except KeyboardInterrupt:
        trained = [[rival for rival in candidate.rivals if rival.fitted is not None] for candidate in candidates]
        if not all(trained):
            raise
        # Another candidate was trained before Ctrl-C and is kept.
        for rivals in trained:
            rivals[0].interrupted = True
        return
    for candidate, value in zip(candidates, fitted, strict=True):
        candidate.fitted = value
        candidate.interrupted = value.history.stopped_by == "interrupt"
        if candidate.finished_file is not None and not candidate.interrupted:
            _save_finished(candidate, value)


def choose(candidates: Sequence[Candidate]) -> tuple[FittedNetwork, Prepared]:
    """The trained candidate under which validation rows are most likely, and its prepared rows."""
    trained = [(candidate.fitted, candidate.task) for candidate in candidates if candidate.fitted is not None]
    if len(candidates) == 1:
        return trained[0]
    scores = [held_out_log_likelihood(fitted, task) for fitted, task in trained]
    fitted, task = trained[int(np.argmax(scores))]
    if len(trained) > 1:
        names = [value.model.alternative_name() for value, _ in trained]
        fitted = replace(fitted, support_scores=dict(zip(names, scores, strict=True)))
    interrupted = any(candidate.interrupted for candidate in candidates)
    if interrupted:
        fitted = replace(fitted, history=replace(fitted.history, stopped_by="interrupt"))
    for candidate in candidates:
        if candidate.finished_file is not None and not interrupted:
            candidate.finished_file.unlink(missing_ok=True)
    return fitted, task


def _save_finished(candidate: Candidate, fitted: FittedNetwork) -> None:
    trained = copy.copy(candidate.estimator)
    trained.random_state = candidate.task.options.seed
    trained.adopt(fitted)
    trained.save(candidate.finished_file)


def _take_up_finished(candidate: Candidate) -> bool:
    """Whether a run that was killed later had trained this one to the end; then it is read."""
    path, task = candidate.finished_file, candidate.task
    if path is None or not path.exists():
        return False
    trained: NeuralSurvival = load(path, encoder=task.options.encoder)
    same = trained.settings_ == task.model and trained.random_state == task.options.seed
    # The same numbers inside may be other times.
    same = same and trained.fitted_.time_scale == task.unit
    if not same or trained.fitted_.trained_on.fingerprint != data_fingerprint(task.x, task.data):
        raise DataError(
            f"{path} is not a checkpoint of this run: data, settings or random_state differ",
            argument="checkpoint",
            advice="Remove the file to start again, or name another one.",
        )
    candidate.fitted = trained.fitted_
    return True
