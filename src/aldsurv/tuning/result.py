"""The result of a search: trials, those tried again, and whether any of them replaces the default."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

__all__ = ["Finalist", "Trial", "Tuning", "Verdict"]

Verdict: TypeAlias = Literal["better", "not better", "ranks worse", "failed"]

_UNITS = {"bounded_log_likelihood": "log-likelihood per row", "ibs": "integrated Brier score"}


@final
@dataclass(frozen=True)
class Trial:
    """One trial of a search.

    Attributes
    ----------
    number
        Counted from 1.
    settings
        Settings of this trial beside the fixed ones; the first trial has none.
    score
        Mean over all rows, each predicted by a model that had not seen it: `metrics.bounded_log_likelihood`, or minus
        the integrated Brier score. None: the training failed. Of a trial that was stopped, that of the default plus
        `gain`.
    gain
        Mean difference of the score from that of the first trial on the same rows. None for the first, and where one
        of the two failed.
    standard_error
        Of `gain`.
    folds
        How many folds were scored: fewer than all if the trial was stopped, being clearly worse than the default.
    concordance
        Mean of Harrell's C within the folds; None if it has no value, as for interval-censored rows.
    """

    number: int
    settings: dict[str, Any]
    score: float | None
    gain: float | None = None
    standard_error: float | None = None
    folds: int = 0
    concordance: float | None = None


@final
@dataclass(frozen=True)
class Finalist:
    """A trial whose settings were tried again beside the default, on fresh folds with other seeds.

    Attributes
    ----------
    trial, settings
        Number and settings of the trial.
    repeats
        How many times all rows were predicted; fewer than planned if it was behind the default.
    score, default_score
        Mean scores of these settings and of the default; None if a training failed.
    gain, standard_error
        Their mean difference, row by row, and its standard error; None if one of them failed.
    needed
        The gain from which on it is more than noise, given how many settings were tried.
    concordance, default_concordance
        Means of Harrell's C within the folds; None if it has no value.
    verdict
        ``"better"``; ``"not better"``: `gain` is less than `needed`; ``"ranks worse"``: `gain` is enough, but C is
        lower by more than noise; ``"failed"``: a training failed.
    """

    trial: int
    settings: dict[str, Any]
    repeats: int
    score: float | None
    default_score: float | None
    gain: float | None
    standard_error: float | None
    needed: float | None
    concordance: float | None
    default_concordance: float | None
    verdict: Verdict


@final
@dataclass(frozen=True)
class Tuning:
    """The result of a search.

    Attributes
    ----------
    best
        Constructor arguments of the settings that replace the default; empty if the default stays.
    metric
        What the score is: ``"bounded_log_likelihood"``, or ``"ibs"`` with its sign turned.
    trials
        All trials in order; the first has the settings as they are.
    finalists
        The best trials, tried again on fresh folds; the one with the greatest gain first.
    """

    best: dict[str, Any]
    metric: str
    trials: tuple[Trial, ...]
    finalists: tuple[Finalist, ...]

    @property
    def confirmed(self) -> bool:
        """Whether settings replace the default."""
        return bool(self.best)

    @property
    def score(self) -> float | None:
        """Mean score of the settings that are taken: on fresh folds if there were finalists, else in the search."""
        if not self.finalists:
            return self.trials[0].score
        first = self.finalists[0]
        return first.score if self.best else first.default_score

    @property
    def gain(self) -> float | None:
        """That of the first finalist, whether it replaces the default or not; None without one."""
        return self.finalists[0].gain if self.finalists else None

    @property
    def standard_error(self) -> float | None:
        """Of `gain`."""
        return self.finalists[0].standard_error if self.finalists else None

    def describe(self) -> str:
        """One or two sentences: how many settings were tried, and whether one of them replaces the default, and why."""
        others = len(self.trials) - 1
        if not others:
            return "No settings were tried beside the default, which stays."
        tried = f"{others} setting{'s' * (others != 1)} tried beside the default"
        if not self.finalists:
            return f"{tried}; none has a better score; the default stays."
        first = self.finalists[0]
        if first.gain is None or first.standard_error is None or first.needed is None:
            if self.best:
                return f"{tried}; the default could not be trained on all folds; trial {first.trial} replaces it."
            return f"{tried}; the best of them could not be trained on all fresh folds; the default stays."
        # Of the Brier score, less is better.
        sign = -1 if self.metric == "ibs" else 1
        gain = f"{sign * first.gain:+.4f} ± {first.standard_error:.4f} {_UNITS[self.metric]}"
        ranking = _ranking_text(first)
        if first.verdict == "better":
            return f"{tried}; trial {first.trial} replaces the default: {gain}{ranking}."
        if first.verdict == "ranks worse":
            return f"{tried}; the best has a better score ({gain}), but ranks worse{ranking}; the default stays."
        return (
            f"{tried}; none is better than the default beyond noise (best: {gain}, where {sign * first.needed:+.4f} is "
            f"needed{ranking}); the default stays."
        )


def _ranking_text(finalist: Finalist) -> str:
    one, other = finalist.concordance, finalist.default_concordance
    if one is None or other is None or math.isnan(one + other):
        return ""
    return f", C {one:.3f} against {other:.3f}"
