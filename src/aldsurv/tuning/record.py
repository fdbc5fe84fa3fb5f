"""The record of a search: trials that are done, in memory or in a file from which a killed search goes on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv.errors import DataError, MissingDependencyError
from aldsurv.tuning.spaces import Range, Space

__all__ = ["Record", "import_optuna"]


def import_optuna() -> Any:
    """Optuna, or an error that says how to get it."""
    try:
        import optuna
    except ImportError:
        raise MissingDependencyError(
            "tuning needs optuna, which is not installed. Install it with: pip install 'aldsurv[tune]'."
        ) from None
    return optuna


class Record:
    """The trials of one search, which only ever holds trials that are over.

    What is tried next is drawn from the trials before and a seed of its own: a search that was killed goes on as if
    it had not been.

    Parameters
    ----------
    space
        What may be tried.
    seed
        Of the search.
    storage
        The file (Optuna's journal), or None to keep the trials in memory.
    name
        What the search depends on: one file can hold several.
    """

    def __init__(self, space: Space, seed: int, storage: Path | None, name: str) -> None:
        optuna = import_optuna()
        self._optuna, self._seed = optuna, seed
        self._distributions = {
            key: optuna.distributions.FloatDistribution(entry.low, entry.high, log=entry.log)
            if isinstance(entry, Range)
            else optuna.distributions.CategoricalDistribution(entry.names)
            for key, entry in space.entries.items()
        }
        with _quiet(optuna):
            kept = None if storage is None else _journal(optuna, storage)
            self._study = optuna.create_study(storage=kept, study_name=name, direction="maximize", load_if_exists=True)

    def __len__(self) -> int:
        return len(self._study.get_trials(deepcopy=False))

    @property
    def trials(self) -> list[tuple[dict[str, Any], float | None]]:
        """What was drawn and the score, None of a trial that failed; the first of a search drew nothing."""
        found = self._study.get_trials(deepcopy=False)
        return [(dict(trial.params), trial.value if trial.state.name == "COMPLETE" else None) for trial in found]

    def next_draw(self) -> dict[str, Any]:
        """What to try next; at first nothing, which leaves every setting as it is."""
        number = len(self)
        if not number:
            return {}
        optuna = self._optuna
        # A sampler that went on drawing from one stream would draw differently after a pause.
        seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
        with _quiet(optuna):
            study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
            study.add_trials(self._study.get_trials(deepcopy=False))
            drawn: dict[str, Any] = study.ask(self._distributions).params
        return drawn

    def add(self, drawn: dict[str, Any], score: float | None) -> None:
        """Note a trial that is over; a score of None says that it failed."""
        states = self._optuna.trial.TrialState
        trial = self._optuna.trial.create_trial(
            state=states.COMPLETE if score is not None else states.FAIL,
            value=score,
            params=drawn,
            distributions={key: self._distributions[key] for key in drawn},
        )
        self._study.add_trial(trial)


def _journal(optuna: Any, path: Path) -> Any:
    from optuna.storages.journal import JournalFileBackend

    _require_journal(path)
    try:
        return optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{str(path)!r} is damaged ({error}). Remove it to search anew.") from None


def _require_journal(path: Path) -> None:
    """Refuse a file that is something else; take off half a line, which a kill can leave at the end."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        first, size = file.readline(), path.stat().st_size
        if not size:
            return
        try:
            known = "op_code" in json.loads(first)
        except (ValueError, TypeError):
            known = False
        if not known:
            raise DataError(f"{str(path)!r} is no record of a search. Remove it, or name another file.")
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        if whole < size:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without Optuna's own lines about studies that are made."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
