"""The record of a search: finished trials, in memory or in a file from which a killed search goes on."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from aldsurv.errors import DataError, MissingDependencyError
from aldsurv.models.search_space import Range, SearchSpace
from aldsurv.tuning.score import PartScores

__all__ = ["Draw", "RecordedTrial", "TrialRecord", "import_optuna", "scores_from_json", "scores_to_json"]

# Values drawn by name: a number of a range, the text of a choice.
Draw: TypeAlias = dict[str, "float | str"]

# The first trials after the default are drawn evenly; those after them so many at a time from all before, so that they
# can be scored side by side, and the result does not depend on how many are.
_EVEN, _AT_A_TIME = 10, 5

# Searches before had trials that were not paired with the default, under names without it.
_KIND = "paired-"


def import_optuna() -> Any:
    """Optuna, or an error that says how to get it."""
    try:
        import optuna
    except ImportError:
        raise MissingDependencyError(
            "tuning needs optuna, which is not installed", advice="Install it with: pip install 'aldsurv[tune]'."
        ) from None
    return optuna


class RecordedTrial(NamedTuple):
    """A finished trial: what was drawn, the score, None if it failed, and what else is known of it.

    The first of a search drew nothing.
    """

    draw: Draw
    score: float | None
    facts: Mapping[str, Any]


class TrialRecord:
    """The finished trials of one search, and the scores of settings that were tried again.

    What is tried next depends on the trials of the rounds before and a seed for its number only: a search that was
    killed goes on as if it had not been.

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

    def __init__(self, space: SearchSpace, seed: int, storage: Path | None, name: str) -> None:
        optuna = import_optuna()
        self._optuna, self._seed = optuna, seed
        self._distributions = {
            key: optuna.distributions.FloatDistribution(entry.low, entry.high, log=entry.log)
            if isinstance(entry, Range)
            else optuna.distributions.CategoricalDistribution(entry.names)
            for key, entry in space.entries.items()
        }
        with _quiet(optuna):
            journal = None if storage is None else _journal(optuna, storage)
            self._study = optuna.create_study(
                storage=journal, study_name=f"{_KIND}{name}", direction="maximize", load_if_exists=True
            )

    def __len__(self) -> int:
        return len(self._study.get_trials(deepcopy=False))

    @property
    def trials(self) -> list[RecordedTrial]:
        """All of them, in order."""
        return [
            RecordedTrial(
                dict(trial.params), trial.value if trial.state.name == "COMPLETE" else None, dict(trial.user_attrs)
            )
            for trial in self._study.get_trials(deepcopy=False)
        ]

    def next_draws(self, most: int) -> list[Draw]:
        """What to try next, at most so many: the rest of a round. The first is nothing: every setting as it is."""
        number = len(self)
        if not number:
            return [{}]
        known, end = 1, _EVEN
        if number >= _EVEN:
            known = number - (number - _EVEN) % _AT_A_TIME
            end = known + _AT_A_TIME
        before = self._study.get_trials(deepcopy=False)[:known]
        return [self._draw(number, before) for number in range(number, min(end, number + most))]

    def _draw(self, number: int, before: Sequence[Any]) -> Draw:
        optuna = self._optuna
        # A sampler that went on drawing from one stream would draw differently after a pause.
        seed = int(np.random.SeedSequence([self._seed, number]).generate_state(1)[0])
        with _quiet(optuna):
            sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_EVEN)
            study = optuna.create_study(direction="maximize", sampler=sampler)
            study.add_trials(before)
            draw: Draw = study.ask(self._distributions).params
        return draw

    def add(self, draw: Draw, score: float | None, facts: Mapping[str, Any]) -> None:
        """Add a finished trial.

        Parameters
        ----------
        draw
            What was drawn.
        score
            None: it failed.
        facts
            What else is known of it, as JSON can hold it.
        """
        states = self._optuna.trial.TrialState
        trial = self._optuna.trial.create_trial(
            state=states.COMPLETE if score is not None else states.FAIL,
            value=score,
            params=draw,
            distributions={key: self._distributions[key] for key in draw},
            user_attrs=dict(facts),
        )
        self._study.add_trial(trial)

    def repeated(self) -> dict[str, Any]:
        """Scores of settings that were tried again, as stored, by key."""
        return dict(self._study.user_attrs)

    def store_repeated(self, key: str, scores: Any) -> None:
        """Store the scores of settings that were tried again, as JSON can hold them."""
        self._study.set_user_attr(key, scores)


def scores_to_json(scores: Sequence[PartScores] | None) -> list[list[Any]] | None:
    """Scores of all parts as JSON holds them, to the last bit: a search that goes on has the same result."""
    if scores is None:
        return None
    return [
        [
            base64.b64encode(np.ascontiguousarray(one.rows, "<f8").tobytes()).decode(),
            one.concordance if math.isfinite(one.concordance) else None,
        ]
        for one in scores
    ]


def scores_from_json(stored: list[list[Any]] | None) -> list[PartScores] | None:
    """The scores that `scores_to_json` stored."""
    if stored is None:
        return None
    return [
        PartScores(
            np.frombuffer(base64.b64decode(rows), "<f8").astype(np.float64),
            math.nan if concordance is None else concordance,
        )
        for rows, concordance in stored
    ]


def _journal(optuna: Any, path: Path) -> Any:
    from optuna.storages.journal import JournalFileBackend

    _require_journal(path)
    try:
        journal = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{str(path)!r} is damaged ({error})", advice="Remove it to search again.") from None
    if any(not study.study_name.startswith(_KIND) for study in journal.get_all_studies()):
        raise DataError(
            f"{str(path)!r} is the record of a search by an earlier version, whose trials were not compared with the "
            "default row by row",
            advice="Remove it to search again, or name another file.",
        )
    return journal


def _require_journal(path: Path) -> None:
    """Refuse a file that is something else; remove half a line, which a killed process can leave at the end."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        first, size = file.readline(), path.stat().st_size
        if not size:
            return
        try:
            is_journal = "op_code" in json.loads(first)
        except (ValueError, TypeError):
            is_journal = False
        if not is_journal:
            raise DataError(f"{str(path)!r} is not a record of a search", advice="Remove it, or name another file.")
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        if whole < size:
            file.truncate(whole)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without Optuna's log lines about new studies."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
