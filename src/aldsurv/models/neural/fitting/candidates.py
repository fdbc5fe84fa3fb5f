"""Several estimators fitted for one, which becomes the best of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np

from aldsurv.errors import DataError, TrainingError
from aldsurv.models.neural.neural_survival import NeuralSurvival, Prepared
from aldsurv.models.training_rows import data_fingerprint

__all__ = ["Fit", "Plan", "run_all"]

Run: TypeAlias = Callable[[Sequence[NeuralSurvival], Sequence[Prepared]], None]

# Held-out events from which on one model can be told from another.
_LEAST_EVENTS = 10


@final
@dataclass(eq=False)
class Fit:
    """One estimator to fit, and those that are fitted for the same user to choose from, itself among them."""

    estimator: NeuralSurvival
    prepared: Prepared
    rivals: list[Fit]
    # None before it is tried, then whether training was ended by hand, or why it came to nothing.
    ended: bool | TrainingError | None = None

    @property
    def fitted(self) -> bool:
        """Whether there is something to choose."""
        return isinstance(self.ended, bool)

    @property
    def needless(self) -> bool:
        """Whether a user who has had enough has one to keep."""
        return any(rival.ended is True for rival in self.rivals)

    @property
    def finished_file(self) -> Path | None:
        """Where one of several is kept, once trained, until the last is."""
        path = self.estimator.checkpoint
        return None if path is None or len(self.rivals) == 1 else Path(f"{path}.done")


@final
@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be fitted for one estimator: itself, or candidates of which it becomes the best."""

    estimator: NeuralSurvival
    fits: list[Fit]

    @classmethod
    def of(cls, estimator: NeuralSurvival, given: tuple[Any, ...]) -> Plan:
        """Prepare what an estimator wants fitted to the data given."""
        X, y, weight = (*given, None)[:3]
        first, *others = estimator._candidates()
        prepared = first._prepare(X, y, weight)
        rivals: list[Fit] = []
        rivals.append(Fit(first, prepared, rivals))
        if others and _can_compare(prepared):
            # All are compared on the same rows.
            for other in others:
                rivals.append(Fit(other, other._prepare(X, y, weight, prepared.rows), rivals))
        return cls(estimator, rivals)

    def settle(self) -> None:
        """Have the estimator be what was fitted for it."""
        if self.fits[0].estimator is not self.estimator:
            fitted = [fit for fit in self.fits if fit.fitted]
            kept = self.estimator._keep_best([fit.estimator for fit in fitted], [fit.prepared for fit in fitted])
            interrupted = any(fit.ended is True for fit in self.fits)
            if interrupted:
                self.estimator.history_ = replace(self.estimator.history_, stopped_by="interrupt")
            for fit in self.fits:
                if fit.finished_file is not None and not interrupted:
                    fit.finished_file.unlink(missing_ok=True)
            prepared = fitted[kept].prepared
        else:
            prepared = self.fits[0].prepared
        self.estimator._choose_points(prepared)
        self.estimator._check_skill(prepared)


def _can_compare(prepared: Prepared) -> bool:
    """Whether enough events are held out to tell one model from another."""
    if prepared.rows.validation is None:
        return False
    held = np.unique(np.concatenate(prepared.rows.validation))
    return int(np.isfinite(prepared.data.upper[held]).sum()) >= _LEAST_EVENTS


def run_all(fits: list[Fit], run: Run) -> None:
    """Train what shares a loop; one of several candidates may fail, or be left out by a user who has had enough."""
    if len(fits) == 1 and _taken_up(fits[0]):
        return
    several = all(len(fit.rivals) > 1 for fit in fits)
    try:
        if fits:
            run([fit.estimator for fit in fits], [fit.prepared for fit in fits])
    except TrainingError as error:
        if not several:
            raise
        if len(fits) > 1:
            for fit in fits:
                run_all([fit], run)
            return
        fits[0].ended = error
        if all(isinstance(fit.ended, TrainingError) for fit in fits[0].rivals):
            raise
        return
    except KeyboardInterrupt:
        if not all(any(rival.fitted for rival in fit.rivals) for fit in fits):
            raise
        for fit in fits:
            next(rival for rival in fit.rivals if rival.fitted).ended = True
        return
    for fit in fits:
        fit.ended = fit.estimator.history_.stopped_by == "interrupt"
        if fit.finished_file is not None and not fit.ended:
            fit.estimator.save(fit.finished_file)


def _taken_up(fit: Fit) -> bool:
    """Whether a run that was killed later had trained this one to the end; then it is read."""
    path = fit.finished_file
    if path is None or not path.exists():
        return False
    from aldsurv.models.persistence import load

    found, own, wanted = load(path, encoder=fit.estimator.encoder), fit.prepared, fit.estimator
    same = found.settings_ == own.settings and found.random_state == wanted.random_state
    # The same numbers inside may be other times.
    same = same and found.time_scale_ == own.unit
    if not same or found.trained_on_.fingerprint != data_fingerprint(own.x, own.data):
        raise DataError(
            f"{path} is no checkpoint of this run: data, settings or random_state differ. "
            "Remove the file to start anew, or name another one."
        )
    wanted._become(found)
    fit.ended = False
    return True
