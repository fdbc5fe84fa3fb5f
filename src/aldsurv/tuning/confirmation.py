"""The best trials of a search again, beside the default, on fresh folds with other seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from aldsurv.models.parted.engine import current_engine
from aldsurv.tuning.paired import Gain, concordance_gain, critical_value, paired_gain
from aldsurv.tuning.record import TrialRecord, scores_from_json, scores_to_json
from aldsurv.tuning.result import Finalist, Trial, Verdict
from aldsurv.tuning.score import Attempt, Folds, IntArray, PartScores, Task, mean_concordance, mean_score

__all__ = ["FINALISTS", "LEVEL", "REPEATS", "choose_finalists", "confirm", "none_if_nan"]

# At most so many trials are tried again, so many times.
FINALISTS = 3
REPEATS = 2
# Probability of replacing a default that is as good, and of refusing settings that rank as well.
LEVEL = 0.05
# Of log-likelihood per row or integrated Brier score: a smaller gain is no reason to leave the default.
_LEAST_GAIN = 1e-4


def choose_finalists(trials: Sequence[Trial]) -> list[Trial]:
    """The trials with the best scores of those that are better than the default, or of all if it failed."""
    # As many as there are: rows that stay together can make fewer folds than were asked for.
    folds = max(trial.folds for trial in trials)
    whole = [trial for trial in trials[1:] if trial.score is not None and trial.folds == folds]
    better = [trial for trial in whole if trials[0].score is None or (trial.gain or 0.0) > 0]
    return sorted(better, key=lambda trial: (-(trial.score or 0.0), trial.number))[:FINALISTS]


def confirm(
    task: Task, trials: Sequence[Trial], record: TrialRecord, on_scored: Callable[[int, int], None]
) -> tuple[Finalist, ...]:
    """Score finalists and the default on fresh folds; the first of those returned has the greatest gain.

    Parameters
    ----------
    task
        Model, rows and score.
    trials
        All trials of the search.
    record
        Holds what was scored before.
    on_scored
        Called with the number of settings scored so far and that of all that may still be.
    """
    finalists = choose_finalists(trials)
    comparisons = sum(trial.score is not None for trial in trials[1:])
    clusters = task.clusters()
    runs: dict[int, _Run] = {trial.number: _Run(trial) for trial in (trials[0], *finalists)} if finalists else {}
    running, done = list(runs), 0
    parts: list[IntArray] = []
    for repeat in range(1, REPEATS + 1):
        if len(running) < 2:
            break
        folds = task.draw_folds(repeat)
        parts += folds.parts
        scored = _scored(task, [runs[number].trial for number in running], folds, repeat, record)
        for place, (number, scores) in enumerate(zip(running, scored, strict=True), start=1):
            runs[number].add(scores)
            done += 1
            on_scored(done, done + len(running) * (REPEATS - repeat + 1) - place)
        default = runs[trials[0].number]
        running = [number for number in running if runs[number].goes_on(default, parts, task, clusters)]
    if done:
        # Those that were dropped are not awaited any more.
        on_scored(done, done)
    results = [_finalist(task, runs[trial.number], runs[1], parts, clusters, comparisons) for trial in finalists]
    return tuple(sorted(results, key=_place))


class _Run:
    """Scores of the settings of a trial on fresh folds, as far as they are known."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.repeats = 0
        self.failed = False
        self.scores: list[PartScores] = []

    def add(self, scores: list[PartScores] | None) -> None:
        self.repeats += 1
        self.failed = self.failed or scores is None
        self.scores += scores or []

    def gain(self, default: _Run, parts: Sequence[IntArray], task: Task, clusters: IntArray) -> Gain | None:
        """Over the default in as many parts; None if one of them failed."""
        if self.failed or default.failed:
            return None
        count = len(self.scores)
        return paired_gain(self.scores, default.scores[:count], parts[:count], task.data.weights, clusters)

    def goes_on(self, default: _Run, parts: Sequence[IntArray], task: Task, clusters: IntArray) -> bool:
        """Whether it is worth another repetition: what is behind by now will hardly be ahead beyond noise."""
        if self is default:
            return True
        gain = self.gain(default, parts, task, clusters)
        return not self.failed if gain is None else gain.mean > 0


def _finalist(
    task: Task, run: _Run, default: _Run, parts: Sequence[IntArray], clusters: IntArray, comparisons: int
) -> Finalist:
    count, weights = len(run.scores), task.data.weights
    gain = run.gain(default, parts, task, clusters)
    same = default.scores[:count]
    ranking = None if gain is None else concordance_gain(run.scores, same)
    needed: float | None = None
    verdict: Verdict = "failed"
    if gain is not None:
        needed = max(critical_value(LEVEL, comparisons, gain.degrees) * gain.standard_error, _LEAST_GAIN)
        verdict = "better" if gain.mean > needed and run.repeats == REPEATS else "not better"
        if verdict == "better" and ranking is not None:
            noise = critical_value(LEVEL, 1, ranking.degrees) * ranking.standard_error
            verdict = "ranks worse" if ranking.mean < -noise else verdict
    elif not run.failed:
        # Settings that can be trained are better than those that cannot.
        verdict = "better"
    return Finalist(
        run.trial.number,
        run.trial.settings,
        run.repeats,
        None if run.failed else mean_score(run.scores, parts[:count], weights),
        None if default.failed or not same else mean_score(same, parts[:count], weights),
        None if gain is None else gain.mean,
        None if gain is None else gain.standard_error,
        needed,
        none_if_nan(mean_concordance(run.scores)),
        none_if_nan(mean_concordance(same)),
        verdict,
    )


def _place(finalist: Finalist) -> tuple[bool, float, int]:
    """Those that replace the default first, then by gain, or by score if the default failed."""
    value = finalist.gain if finalist.gain is not None else finalist.score
    return finalist.verdict != "better", math.inf if value is None else -value, finalist.trial


def _scored(
    task: Task, trials: Sequence[Trial], folds: Folds, repeat: int, record: TrialRecord
) -> Iterator[list[PartScores] | None]:
    """Scores of each trial on the folds, from the record if they are there."""
    keys = {trial.number: f"trial {trial.number}, repeat {repeat}" for trial in trials}
    known = record.repeated()
    missing = [Attempt(trial.number, trial.settings) for trial in trials if keys[trial.number] not in known]
    scored = current_engine().map(_score, missing, (task, folds))
    for trial in trials:
        key = keys[trial.number]
        if key not in known:
            record.store_repeated(key, scores_to_json(next(scored)))
        yield scores_from_json(record.repeated()[key])


def _score(attempt: Attempt, task: Task, folds: Folds) -> list[PartScores] | None:
    return task.score(attempt.settings, folds)


def none_if_nan(value: float) -> float | None:
    """None for NaN, which JSON cannot hold."""
    return None if math.isnan(value) else value
