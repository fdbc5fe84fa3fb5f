"""Whether the default is replaced, by laws that are known: scores are drawn, nothing is trained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from contracts.toy_model import ToySurvival
from scipy import stats

from aldsurv import SurvivalData, WeibullAFT
from aldsurv.distributions.families.exponential import Exponential
from aldsurv.errors import DataError
from aldsurv.models.search_space import OneOf, SearchSpace
from aldsurv.tuning.confirmation import choose_finalists, confirm
from aldsurv.tuning.paired import concordance_gain, critical_value, paired_gain
from aldsurv.tuning.result import Finalist, Trial, Tuning
from aldsurv.tuning.score import Folds, PartScores, mean_score, row_clusters
from aldsurv.tuning.search import tune

N, FOLDS = 80, 5


class DrawnScores:
    """A task whose scores are drawn: an effect of each row that every fold shows, one of each model, and noise."""

    folds = FOLDS

    def __init__(self, seed: int, gains: list[float], ranking: float = 0.0) -> None:
        self.seed, self.rng = seed, np.random.default_rng(seed)
        self.gains, self.ranking = gains, ranking
        self.rows = self.rng.normal(size=(len(gains), N))
        self.data = SurvivalData.right(np.arange(1.0, N + 1), np.ones(N, bool))
        self.calls: list[tuple[int, Folds]] = []

    def draw_folds(self, repeat: int) -> Folds:
        order = np.random.default_rng([self.seed, repeat]).permutation(N)
        return Folds(list(order.reshape(FOLDS, -1)), [0] * FOLDS)

    def clusters(self) -> np.ndarray:
        return row_clusters(None, N)

    def score(self, settings: dict[str, Any], folds: Folds) -> list[PartScores] | None:
        kind = settings.get("kind", 0)
        self.calls.append((kind, folds))
        if math.isnan(self.gains[kind]):
            return None
        return [
            PartScores(
                self.gains[kind] + self.rows[kind][part] + 0.1 * self.rng.normal() + self.rng.normal(size=len(part)),
                0.7 + (self.ranking and kind and self.ranking + 0.01 * self.rng.normal()),
            )
            for part in folds.parts
        ]


class DictRecord:
    def __init__(self) -> None:
        self.scores: dict[str, Any] = {}

    def repeated(self) -> dict[str, Any]:
        return self.scores

    def store_repeated(self, key: str, scores: Any) -> None:
        self.scores[key] = scores


def search(task: DrawnScores, record: DictRecord | None = None) -> tuple[list[Trial], tuple[Finalist, ...]]:
    """A search without a sampler: each kind of settings once."""
    folds, clusters, trials = task.draw_folds(0), row_clusters(None, N), []
    default = task.score({}, folds)
    for kind in range(len(task.gains)):
        scores = task.score({"kind": kind}, folds) if kind else default
        score = None if scores is None else mean_score(scores, folds.parts, task.data.weights)
        gain = None
        if kind and scores is not None and default is not None:
            gain = paired_gain(scores, default, folds.parts, task.data.weights, clusters).mean
        trials.append(Trial(kind + 1, {"kind": kind} if kind else {}, score, gain, 0.0, FOLDS))
    return trials, confirm(task, trials, record or DictRecord(), lambda done, total: None)  # type: ignore[arg-type]


def test_a_default_as_good_as_all_others_stays() -> None:
    """Settings that differ only in which rows they happen to suit, and in luck."""
    replaced = best_of_search = 0
    for seed in range(100):
        trials, finalists = search(DrawnScores(seed, [0.0] * 8))
        replaced += any(one.verdict == "better" for one in finalists)
        best_of_search += max(trial.score for trial in trials) > trials[0].score
    # By the law at most 5 %, give or take three standard errors of 100 searches; the best of a search mostly is not
    # the default.
    assert replaced <= 0.05 * 100 + 3 * math.sqrt(100 * 0.05 * 0.95)
    assert best_of_search > 75


def test_better_settings_are_taken() -> None:
    gains = [0.0] * 8
    gains[5] = 1.2
    found = [search(DrawnScores(seed, gains))[1][0] for seed in range(10)]
    # Rows differ by sqrt(2 + 1) or so: 1.2 is six standard errors.
    taken = [one.trial for one in found if one.verdict == "better"]
    assert len(taken) >= 8
    assert set(taken) == {6}
    assert np.mean([one.gain for one in found]) == pytest.approx(1.2, abs=0.3)


@pytest.mark.parametrize("folds", [2, 5])
def test_finalists_are_the_best_of_the_trials_that_were_not_stopped(folds: int) -> None:
    default = Trial(1, {}, 0.0, None, None, folds)
    gains = [0.3, -0.1, 0.2, 0.4, 0.1]
    others = [Trial(k, {}, gain, gain, 0.1, folds) for k, gain in enumerate(gains, start=2)]
    stopped, failed = Trial(7, {}, 0.9, 0.9, 0.1, 1), Trial(8, {}, None)
    assert [trial.number for trial in choose_finalists([default, *others, stopped, failed])] == [5, 2, 4]
    assert choose_finalists([default, others[1], failed]) == []
    assert choose_finalists([Trial(1, {}, None), others[1]]) == [others[1]]


def test_what_falls_behind_is_not_tried_again() -> None:
    task = DrawnScores(0, [0.0, 2.0, 2.0, 2.0])
    trials = [Trial(1, {}, 0.0, None, None, FOLDS)]
    trials += [Trial(k + 1, {"kind": k}, 1.0, 1.0, 0.1, FOLDS) for k in (1, 2, 3)]
    task.gains[2] = -5.0
    record, steps = DictRecord(), []
    results = confirm(task, trials, record, lambda done, total: steps.append((done, total)))  # type: ignore[arg-type]
    behind = next(one for one in results if one.trial == 3)
    assert (behind.repeats, behind.verdict) == (1, "not better")
    assert sorted(key for key in record.scores if key.startswith("trial 3,")) == ["trial 3, repeat 1"]
    assert steps[-1][0] == steps[-1][1] == len(record.scores)
    # Both settings were scored on the same folds, those of the two repetitions being different.
    first = [folds for kind, folds in task.calls if kind == 0]
    assert any(folds is first[0] for kind, folds in task.calls if kind == 2)
    assert first[0].parts[0].tolist() != first[1].parts[0].tolist()
    # Once more from the record: nothing is scored, and the result is the same.
    calls = len(task.calls)
    assert confirm(task, trials, record, lambda done, total: None) == results  # type: ignore[arg-type]
    assert len(task.calls) == calls


@pytest.mark.parametrize(
    ("gains", "ranking", "verdicts"),
    [
        ([0.0, 3.0], -0.1, ["ranks worse"]),
        ([0.0, 3.0], 0.1, ["better"]),
        ([math.nan, 1.0, 3.0], 0.0, ["better", "better"]),
        ([0.0, math.nan], 0.0, []),
    ],
)
def test_verdicts(gains: list[float], ranking: float, verdicts: list[str]) -> None:
    trials, finalists = search(DrawnScores(1, gains, ranking))
    assert [one.verdict for one in finalists] == verdicts
    best = finalists[0].settings if finalists and finalists[0].verdict == "better" else {}
    text = Tuning(best, "bounded_log_likelihood", tuple(trials), finalists).describe()
    assert ("the default stays" in text) == (best == {})
    assert ("but ranks worse, C 0." in text) == ("ranks worse" in verdicts)
    if math.isnan(gains[0]):
        # Without the default to compare with, the best score counts.
        assert finalists[0].trial == 3
        assert "the default could not be trained on all folds; trial 3 replaces it." in text


def test_settings_that_fail_on_fresh_folds_do_not_replace_the_default() -> None:
    task = DrawnScores(0, [0.0, math.nan])
    trials = [Trial(1, {}, 0.0, None, None, FOLDS), Trial(2, {"kind": 1}, 1.0, 1.0, 0.1, FOLDS)]
    (one,) = confirm(task, trials, DictRecord(), lambda done, total: None)  # type: ignore[arg-type]
    assert (one.verdict, one.score, one.gain, one.repeats) == ("failed", None, None, 1)
    text = Tuning({}, "ibs", tuple(trials), (one,)).describe()
    assert "could not be trained on all fresh folds; the default stays" in text


def test_text_of_a_search_without_a_better_one() -> None:
    trials = (Trial(1, {}, -0.2), Trial(2, {"ridge": 1.0}, -0.1, 0.1, 0.05))
    one = Finalist(2, {"ridge": 1.0}, 2, -0.1, -0.103, 0.003, 0.006, 0.011, None, None, "not better")
    assert Tuning({}, "ibs", trials, (one,)).describe() == (
        "1 setting tried beside the default; none is better than the default beyond noise (best: -0.0030 ± 0.0060 "
        "integrated Brier score, where -0.0110 is needed); the default stays."
    )
    assert Tuning({}, "ibs", trials, ()).describe() == (
        "1 setting tried beside the default; none has a better score; the default stays."
    )


def scores_of(rows: np.ndarray, parts: list[np.ndarray]) -> list[PartScores]:
    return [PartScores(rows[part], math.nan) for part in parts]


def test_standard_error_of_rows_and_of_folds() -> None:
    rng = np.random.default_rng(3)
    parts, alone = list(np.arange(60).reshape(6, 10)), row_clusters(None, 60)
    zero, weights = np.zeros(60), np.ones(60)
    # Within folds all is noise, their means are equal: what rows say alone.
    rows = rng.normal(size=60)
    rows -= np.repeat(rows.reshape(6, 10).mean(axis=1), 10)
    gain = paired_gain(scores_of(rows, parts), scores_of(zero, parts), parts, weights, alone)
    assert (gain.mean, gain.degrees) == (pytest.approx(0, abs=1e-12), 5)
    assert gain.standard_error == pytest.approx(stats.sem(rows), rel=1e-9)
    # All rows of a fold alike: as many observations as folds, whose t test this is.
    shared = rng.normal(size=6)
    gain = paired_gain(scores_of(np.repeat(shared, 10), parts), scores_of(zero, parts), parts, weights, alone)
    test = stats.ttest_1samp(shared, 0, alternative="greater")
    assert gain.mean / gain.standard_error == pytest.approx(test.statistic, rel=1e-9)
    assert stats.t.sf(critical_value(0.05, 1, gain.degrees), 5) == pytest.approx(0.05)
    assert stats.t.sf(critical_value(0.05, 7, 9), 9) == pytest.approx(0.05 / 7)
    # Repetitions of the same differences say nothing new of the rows.
    often = [
        paired_gain(scores_of(rows, parts * k), scores_of(zero, parts * k), parts * k, weights, alone) for k in (1, 3)
    ]
    assert often[0][:2] == pytest.approx(often[1][:2])


def test_copies_and_weights_count_as_the_rows_they_stand_for() -> None:
    rng = np.random.default_rng(4)
    rows, parts = rng.normal(size=40), list(np.arange(40).reshape(4, 10))
    rows -= np.repeat(rows.reshape(4, 10).mean(axis=1), 10)
    single = paired_gain(scores_of(rows, parts), scores_of(0 * rows, parts), parts, np.ones(40), row_clusters(None, 40))
    twice = list(np.arange(80).reshape(4, 20))
    double, groups = np.repeat(rows, 2), np.repeat(np.arange(40), 2)
    given = scores_of(double, twice), scores_of(0 * double, twice), twice
    assert paired_gain(*given, np.ones(80), row_clusters(groups, 80))[:2] == pytest.approx(single[:2], abs=1e-12)
    assert paired_gain(*given, np.tile([1.0, 0.0], 40), row_clusters(groups, 80)).standard_error == pytest.approx(
        single.standard_error
    )
    assert row_clusters(np.array([-1, 0, 0, -1]), 4).tolist() == [0, 4, 4, 3]


def test_ranking_is_compared_where_both_have_one() -> None:
    def ranked(values: list[float]) -> list[PartScores]:
        return [PartScores(np.zeros(1), value) for value in values]

    gain = concordance_gain(ranked([0.7, 0.6, math.nan, 0.8]), ranked([0.6, 0.6, 0.5, 0.75]))
    assert gain is not None
    assert gain.mean == pytest.approx(0.05)
    assert gain.standard_error == pytest.approx(stats.sem([0.1, 0.0, 0.05]))
    assert concordance_gain(ranked([0.7, math.nan]), ranked([0.7, 0.7])) is None


@dataclass(kw_only=True, eq=False, repr=False)
class LuckySurvival(ToySurvival):  # type: ignore[misc]
    """Its setting changes only what chance does, except one value with which the scale is right."""

    luck: str = "a"
    random_state: int | None = None

    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"luck": OneOf(("b", "c", "d"))}, "log_likelihood")
    RIGHT: ClassVar[str] = "right"

    def predict_distribution(self, X: Any) -> Exponential:
        rng = np.random.default_rng([self.random_state or 0, *map(ord, self.luck)])
        off = 0.0 if self.luck == self.RIGHT else 1.5
        return Exponential(super().predict_distribution(X).scale[:, 0] * np.exp(off + 0.2 * rng.normal(size=len(X))))


def lucky_rows(seed: int) -> tuple[np.ndarray, SurvivalData]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(60, 1))
    return x, SurvivalData.right(rng.exponential(np.exp(x[:, 0])), np.ones(60, bool))


def test_a_search_in_which_only_luck_differs() -> None:
    found = [tune(LuckySurvival, *lucky_rows(seed), trials=4, random_state=seed) for seed in range(3)]
    # By the law less than 5 % each.
    assert sum(one.confirmed for one in found) <= 1


def test_a_search_in_which_one_setting_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LuckySurvival, "SEARCH_SPACE", SearchSpace({"luck": OneOf(("right",))}, "log_likelihood"))
    found = tune(LuckySurvival, *lucky_rows(0), trials=2)
    assert (found.best, found.confirmed, found.finalists[0].verdict) == ({"luck": "right"}, True, "better")
    # Where the default is right, the others are clearly worse, and stopped.
    monkeypatch.setattr(LuckySurvival, "SEARCH_SPACE", SearchSpace({"luck": OneOf(("b", "c"))}, "log_likelihood"))
    monkeypatch.setattr(LuckySurvival, "RIGHT", "a")
    found = tune(LuckySurvival, *lucky_rows(0), trials=3)
    assert (found.best, found.finalists) == ({}, ())
    assert [trial.folds for trial in found.trials] == [5, 3, 3]


def test_records_of_earlier_versions_are_refused(tmp_path: Path) -> None:
    optuna = pytest.importorskip("optuna")
    from optuna.storages.journal import JournalFileBackend

    path = tmp_path / "search.journal"
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    optuna.create_study(storage=storage, study_name="f" * 64, direction="maximize")
    with pytest.raises(DataError, match="a search by an earlier version"):
        tune(WeibullAFT, *lucky_rows(0), trials=1, storage=path)
