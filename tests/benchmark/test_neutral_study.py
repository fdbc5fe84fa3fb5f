"""The neutral benchmark: its scores, splits, ranks and report against definitions, on a small folder of its layout."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from aldsurv import SurvivalData
from aldsurv.benchmark.ranking import nemenyi_critical_difference, rank_scores
from bench.neutral import __main__ as command
from bench.neutral import proof, report
from bench.neutral.cells import INNER_PARTS, Cell, inner_split, run_cell
from bench.neutral.models import model_named
from bench.neutral.ranks import dataset_means, place, published_means, versus
from bench.neutral.scores import concordance, score_times, weighted_scores
from bench.neutral.study import Study
from bench.neutral.tried import tried_settings
from bench.pages import results
from bench.pages.listing import ROOT
from bench.study_runs import Lines

FOLDER = Path(os.environ.get("ALDSURV_NEUTRAL", ROOT.parent / "shared" / "neutral"))


def rows(n: int, seed: int = 0) -> SurvivalData:
    """Whole times with many ties, four in ten censored."""
    rng = np.random.default_rng(seed)
    return SurvivalData.right(rng.integers(1, 12, n).astype(float), rng.random(n) < 0.6)


# ---- scores


def censoring_survival(train: SurvivalData, t: float) -> float:
    """Kaplan-Meier's product over the censoring times up to t."""
    value = 1.0
    for at in sorted(set(train.time[~train.event])):
        if at <= t:
            value *= 1 - np.sum((train.time == at) & ~train.event) / np.sum(train.time >= at)
    return max(value, 0.001)


def test_scores_are_those_of_a_loop_over_rows_and_times():
    train, test = rows(60), rows(25, seed=1)
    times = score_times(test.time)
    survival = np.sort(np.random.default_rng(2).random((25, len(times))), axis=1)[:, ::-1]
    survival[0], survival[1] = 0.0, 1.0
    brier, losses = [], []
    for place_of_t, t in enumerate(times):
        squares, logs = [], []
        for row, (y, event) in enumerate(zip(test.time, test.event, strict=True)):
            s = survival[row, place_of_t]
            if y > t:
                weight, square, log = 1 / censoring_survival(train, t), (1 - s) ** 2, -np.log(max(s, 0.001))
            elif event:
                weight, square, log = 1 / censoring_survival(train, y), s**2, -np.log(max(1 - s, 0.001))
            else:
                weight, square, log = 0.0, 0.0, 0.0
            squares.append(weight * square)
            logs.append(weight * log)
        brier.append(np.mean(squares))
        losses.append(np.mean(logs))

    def mean(values: list[float]) -> float:
        areas = [(values[k] + values[k + 1]) / 2 * (times[k + 1] - times[k]) for k in range(len(times) - 1)]
        return sum(areas) / (times[-1] - times[0])

    assert weighted_scores(survival, times, test, train) == pytest.approx((mean(brier), mean(losses)))


def test_times_end_when_four_in_five_rows_have_left():
    assert score_times(np.arange(1.0, 11.0)).tolist() == list(np.arange(1.0, 11.0))
    assert score_times(np.array([5.0] * 17 + [3.0, 8.0, 9.0])).tolist() == [3, 5, 8]
    for seed in range(20):
        time = rows(23, seed).time
        times = score_times(time)
        left = [np.mean(time < t) for t in times]
        assert left == sorted(left)
        assert all(share <= 0.8 for share in left[:-1])
        assert left[-1] > 0.8 or times[-1] == time.max()


@pytest.mark.parametrize("seed", range(3))
def test_concordance_counts_strictly_earlier_events(seed):
    test = rows(40, seed)
    risk = np.random.default_rng(seed).integers(0, 6, 40).astype(float)
    won = pairs = 0.0
    for i in np.flatnonzero(test.event):
        for j in np.flatnonzero(test.time > test.time[i]):
            pairs += 1
            won += 1.0 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0.0
    assert concordance(risk, test) == pytest.approx(won / pairs)


# ---- splits


@pytest.mark.parametrize("count", INNER_PARTS.values())
def test_inner_parts_are_of_training_rows_alone(count):
    y, train = rows(90), np.arange(0, 90, 2) + 1
    parts = [inner_split(y, train, 4, fold + 1, count) for fold in range(count)]
    for learn, held in parts:
        assert sorted([*learn, *held]) == train.tolist()
        assert abs(y.event[held].sum() - y.event[train].sum() / count) <= 1
        assert abs(len(held) - len(train) / count) <= 1
    assert sorted(np.concatenate([held for _, held in parts])) == train.tolist()
    again, other = inner_split(y, train, 4, 1, count)[1], inner_split(y, train, 5, 1, count)[1]
    assert again.tolist() == parts[0][1].tolist()
    assert other.tolist() != again.tolist()


# ---- ranks


def test_ranks_are_scipys():
    rng = np.random.default_rng(0)
    learners = pd.DataFrame(rng.random((6, 4)).round(1), index=list("uvwxyz"), columns=list("ABCD"))
    own = pd.Series(rng.random(6).round(1), index=learners.index)
    for measure, sign in (("isbs", 1), ("harrell_c", -1)):
        found = place("ours", own, learners, measure)
        expected = stats.rankdata(sign * np.column_stack([learners, own]), axis=1).mean(axis=0)
        assert found.rank == pytest.approx(expected[-1])
        assert found.mean_ranks == pytest.approx(dict(zip([*"ABCD", "ours"], expected, strict=True)))
    # By hand: who has no score is not ranked, and the others close up.
    learners.loc[:, :] = [[1.0, 2.0, np.nan, 4.0]] * 6
    assert place("ours", own * 0 + 3.0, learners, "isbs").mean_ranks == {"A": 1, "B": 2, "ours": 3, "D": 4}
    assert place("ours", own.iloc[:2], learners, "isbs").datasets == 2


def test_versus_is_scipys_on_the_datasets_of_both():
    own = pd.Series([0.1, 0.25, 0.3, 0.4, 0.9], index=list("abcde"))
    other = pd.Series([0.2, 0.21, 0.37, 0.55, 0.5], index=list("abcdf"))
    lower, higher = versus(own, other, "isbs"), versus(own, other, "harrell_c")
    assert (lower.wins, higher.wins, lower.datasets) == (3, 1, 4)
    expected = stats.wilcoxon(own[:4], other[:4]).pvalue
    assert lower.p_value == pytest.approx(expected)
    assert higher.p_value == pytest.approx(expected)
    assert versus(own, own, "isbs").p_value == 1


def test_scores_of_any_table_are_ranked():
    losses = np.random.default_rng(1).random((9, 4))
    found = rank_scores(["a", "b", "c", "d"], np.vstack([losses, [np.nan, 1, 1, 1]]), "ibs")
    expected = stats.rankdata(losses, axis=1).mean(axis=0)
    assert dict(zip(found.models, found.mean_ranks, strict=True)) == pytest.approx(
        dict(zip("abcd", expected, strict=True))
    )
    assert (found.statistic, found.p_value) == pytest.approx(tuple(stats.friedmanchisquare(*losses.T)))
    assert found.n_datasets == 9
    assert found.critical_difference == nemenyi_critical_difference(4, 9)


# ---- a folder of the study's layout


@pytest.fixture(scope="module")
def study(tmp_path_factory) -> Study:
    """Two small datasets; published are the scores that the proof has of Cox and Kaplan-Meier, and worse ones."""
    folder = tmp_path_factory.mktemp("neutral")
    for part in ("datasets", "folds"):
        (folder / part).mkdir()
    published = []
    for place_of_name, name in enumerate(("one", "two")):
        rng = np.random.default_rng(place_of_name)
        n = 90
        x, levels = rng.normal(size=n), rng.choice(list("abcdefgh"), n, p=[0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.04, 0.04])
        event, censoring = np.exp(rng.normal(size=n) - x), rng.exponential(3, n)
        frame = {"x": x, "level": levels, "time": np.minimum(event, censoring), "status": (event <= censoring) * 1}
        pd.DataFrame(frame).to_csv(folder / "datasets" / f"{name}.csv", index=False)
        # Of a level with three rows or more some are in each part.
        held = {f"iteration {k}": (np.argsort(np.argsort(levels, kind="stable")) % 3 == k) * 1 for k in range(3)}
        pd.DataFrame(held).to_csv(folder / "folds" / f"{name}.csv.gz", index=False)
        for iteration in range(1, 4):
            found = proof.fold_scores(Study(folder).table(name), iteration)
            worse = {key: value + (0.2 if key != "harrell_c" else -0.2) for key, value in found["CPH"].items()}
            for learner, scores in {**found, "ORSF": worse}.items():
                for tuned in ("harrell_c", "isbs") if learner == "ORSF" else ("harrell_c,isbs",):
                    line = {"dataset": name, "learner": learner, "tune_measure": tuned, "iteration": iteration}
                    published.append({**line, **scores})
    pd.DataFrame(published).to_csv(folder / "scores.csv.gz", index=False)
    return Study(folder)


@pytest.fixture(scope="module")
def run_folder(study, tmp_path_factory) -> Path:
    """Our Cox and Kaplan-Meier on all folds and on inner splits, and a model of which a fit is missing."""
    folder = tmp_path_factory.mktemp("lines")
    for stage in ("folds", "inner"):
        arguments = [stage, str(folder), "--data", str(study.folder), "--models", "cox;kaplan_meier"]
        assert command.main([*arguments, "--iterations", "2"]) == 0
    line = Lines(folder).read("folds")[0]
    Lines(folder).add({**line, **Cell.of("folds", "weibull_aft", "one", 1, 0, "")._asdict(), "isbs": 0.1})
    return folder


def test_a_folder_is_read_as_it_is(study):
    table = study.table("one")
    assert (study.names, table.iterations, table.x.shape) == (["one", "two"], 3, (90, 2))
    assert table.x["level"].dtype == "category"
    train, test = table.split(2)
    assert sorted([*train, *test]) == list(range(90))
    part, y = table.part(test)
    assert part["x"].tolist() == table.x["x"].to_numpy()[test].tolist()
    assert y.time.tolist() == table.y.time[test].tolist()
    with pytest.raises(FileNotFoundError, match="--data or ALDSURV_NEUTRAL"):
        Study(study.folder / "nowhere")


@pytest.mark.parametrize(("stage", "count"), INNER_PARTS.items())
def test_a_cell_judges_the_rows_of_its_stage(study, stage, count):
    """Inner splits never see the test rows: with other outcomes there the scores are the same."""
    table = study.table("one")
    cell = Cell.of(stage, "kaplan_meier", "one", 1, 2, study.folder)
    learn, held = inner_split(table.y, table.split(1)[0], 1, 2, count)
    y, test = table.y[learn], table.y[held]
    times = score_times(test.time)
    curve = model_named("kaplan_meier", 0).fit(None, y).predict_distribution(held).survival(times)
    assert run_cell(cell)["isbs"] == pytest.approx(weighted_scores(curve, times, test, y)[0])
    error = run_cell(cell._replace(dataset="none"))
    assert "FileNotFoundError" in error["error"]
    assert "isbs" not in error


def test_only_complete_models_stand_in_the_report(study, run_folder):
    found = report.standing(run_folder, study, 2)
    assert found.models == ["kaplan_meier", "cox"]
    assert found.missing == {"weibull_aft": 3}
    lines = Lines(run_folder).read("folds")
    for measure in ("isbs", "harrell_c"):
        by_hand = np.mean([line[measure] for line in lines if (line["model"], line["dataset"]) == ("cox", "two")])
        assert found.own[measure].loc["two", "cox"] == pytest.approx(by_hand)
        assert dataset_means(lines, "cox", measure, 1).loc["two"] != pytest.approx(by_hand)
    # Kaplan-Meier needs no columns, so ours is theirs.
    np.testing.assert_allclose(found.own["isll"]["kaplan_meier"], found.published["isll"]["KM"], rtol=1e-6)
    assert report.standing(run_folder, study, 3).models == []


def test_a_report_needs_the_default(study, run_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    assert command.main(["report", str(run_folder), "--data", str(study.folder), "--iterations", "2"]) == 2
    left_out, missing = capsys.readouterr().err.splitlines()
    assert left_out == "weibull_aft is left out: 3 fits of the first 2 iterations are missing"
    assert "has not all fits of ald" in missing
    assert not list(tmp_path.iterdir())


def test_published_means_are_of_the_learners_tuned_for_the_measure(study):
    scores = study.published.copy()
    tuned_for_c = (scores["learner"] == "ORSF") & (scores["tune_measure"] == "harrell_c")
    scores.loc[tuned_for_c, ["isbs", "isll"]] = 9.0
    scores.loc[scores["iteration"] == 3, "isbs"] = 7.0
    means = published_means(scores, "isbs", 2)
    assert sorted(means.columns) == ["CPH", "KM", "ORSF"]
    assert means.to_numpy().max() < 1


def test_results_hold_what_was_run(study, run_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "tried_settings", lambda lines: {"lines": len(lines)})
    report.store(report.standing(run_folder, study, 2), study, run_folder)
    fits = results.read_rows(report.CSV)
    assert len(fits) == 2 * 2 * 2
    assert set(results.origins(report.CSV)[""].fingerprints) == {"cox/default"}
    assert results.outdated(report.CSV) == results.outdated(report.STUDY) == []
    sections = {name: results.read_section(report.STUDY, name) for name in results.origins(report.STUDY)}
    assert set(sections) == {"places", "versus", "seconds", "datasets", "ranking", "tried"}
    assert sections["tried"] == {"lines": 2 * 2 * 2 * 3}
    places, against = sections["places"], sections["versus"]
    assert (places["datasets"], places["learners"]["isbs"]) == (2, 3)
    for measure, ranks in places["ranks"]["cox"].items():
        assert sum(ranks.values()) == pytest.approx(1 + 2 + 3 + 4), measure
    assert against["kaplan_meier"]["isbs"]["cox"]["wins"] == 0
    assert against["cox"]["isbs"]["forest"]["wins"] == 2
    assert against["kaplan_meier"]["harrell_c"]["best"]["learner"] == "CPH"
    one = sections["datasets"]["one"]
    assert (one["rows"], one["columns"], one["isbs"]["best"]["learner"]) == (90, 2, "CPH")
    mean = np.mean([float(fit["isbs"]) for fit in fits if (fit["model"], fit["dataset"]) == ("cox", "one")])
    assert one["isbs"]["own"]["cox"] == pytest.approx(mean, rel=1e-5)
    # Twins of published learners are not ranked together with them.
    assert sorted(sections["ranking"]["isbs"]["models"]) == ["CPH", "KM", "ORSF"]
    # No published score of a fold is copied.
    text = (tmp_path / report.STUDY).read_text(encoding="utf-8")
    folds = study.published.query("learner == 'ORSF'")["isbs"]
    assert not [value for value in folds if f"{value:.6g}" in text]


def test_what_was_tried_is_stored_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(report, "tried_settings", lambda lines: {"lines": len(lines)})
    monkeypatch.setattr(command.listing, "write", lambda: None)
    (tmp_path / "results").mkdir()
    assert command.main(["tried", str(tmp_path / "runs")]) == 2
    assert "no results on inner splits" in capsys.readouterr().err
    Lines(tmp_path / "runs").add({**Cell.of("eighths", "cox", "one", 1, 8, "")._asdict(), "isbs": 0.1})
    assert command.main(["tried", str(tmp_path / "runs")]) == 0
    assert dict(results.origins(report.STUDY)).keys() == {"tried, eighths"}
    assert results.read_section(report.STUDY, "tried, eighths") == {"lines": 1}


def test_settings_tried_are_compared_on_the_splits_of_both():
    def lines(model, settings, isbs, c, splits):
        return [
            {"model": model, "settings": settings, "dataset": name, "iteration": 1, "fold": fold, "seconds": 1.0}
            | {"isbs": value, "harrell_c": c}
            for name, value in zip(("u", "v"), isbs, strict=True)
            for fold in splits
        ]

    made = [
        *lines("kaplan_meier", "k", (0.2, 0.4), 0.5, (1, 2, 3)),
        *lines("ald", "old", (0.2, 0.2), 0.6, (1,)),
        *lines("ald", "new", (0.1, 0.3), 0.7, (1, 2, 3)),
        *lines("wide", "w", (0.15, 0.2), 0.8, (1, 2)),
        {**lines("wide", "w", (0.0, 0.0), 0.0, (3,))[0], "error": "no"},
    ]
    found = tried_settings(made)
    assert list(found) == ["ald, old", "ald", "wide"]
    assert [one["isbs"] for one in found.values()] == pytest.approx([(1 + 0.5) / 2, (0.5 + 0.75) / 2, (0.75 + 0.5) / 2])
    assert [one["wins_isbs"] for one in found.values()] == [1, 0, 1]
    assert [one["wins_harrell_c"] for one in found.values()] == [0, 0, 2]
    assert [one["splits"] for one in found.values()] == [2, 6, 4]
    with pytest.raises(ValueError, match="no results of kaplan_meier"):
        tried_settings(made[6:])


# ---- the proof


def test_rare_levels_become_the_rarest_that_is_kept():
    train = pd.DataFrame({"code": [7] * 40 + [3] * 30 + [2] * 9 + [5] * 8 + [6] * 6 + [4] * 5 + [1] * 2, "x": 1.0})
    test = pd.DataFrame({"code": [1, 4, 7, 9], "x": 1.0})
    both = proof.with_few_levels(train, test, ["code"])
    assert both[0]["code"].value_counts().to_dict() == {"7": 40, "3": 30, "2": 9, "5": 8, "4": 7, "6": 6}
    assert both[1]["code"].tolist() == ["4", "4", "7", "4"]
    # Of equally frequent levels the last in their own order is the rarest.
    tied = pd.DataFrame({"code": [9] * 50 + [2, 1, 3, 5, 4, 8]})
    assert proof.with_few_levels(tied, tied, ["code"])[0]["code"].tolist()[50:] == ["2", "1", "3", "4", "4", "4"]


def test_the_proof_fails_where_scores_are_others(study, tmp_path, capsys):
    assert command.main(["proof", "--data", str(study.folder)]) == 0
    assert "two" in capsys.readouterr().out
    for part in ("datasets", "folds"):
        shutil.copytree(study.folder / part, tmp_path / part)
    scores = study.published.copy()
    scores.loc[(scores["dataset"] == "two") & (scores["learner"] == "CPH"), "isll"] += 3e-4
    scores.to_csv(tmp_path / "scores.csv.gz", index=False)
    table, found = study.table("two"), proof.compare(Study(tmp_path), "two")
    # One level has a single row: where that is a test row, no training row has the level.
    (alone,) = np.flatnonzero(table.x.groupby("level", observed=True)["x"].transform("size") == 1)
    assert found.left_out == [int(np.argmax(table.held[alone])) + 1]
    assert found.iterations == found.beyond == [one for one in (1, 2, 3) if one not in found.left_out]
    assert proof.compare(Study(tmp_path), "one").beyond == []
    assert command.main(["proof", "--data", str(tmp_path), "--iterations", "1"]) == 1
    assert capsys.readouterr().err.endswith(": two\n")


@pytest.mark.skipif(not (FOLDER / "datasets").is_dir(), reason="needs the study's data: see docs/neutral.md")
@pytest.mark.parametrize("name", ["lung", "grace"])
def test_the_scores_are_the_studys(name):
    found = proof.compare(Study(FOLDER), name, 1)
    assert found.iterations == [1]
    assert found.differences.to_numpy().max() < 1e-5
    assert found.agrees
    assert found.beyond == []


# ---- what the repository has


def test_the_stored_sections_are_of_the_stored_fits():
    fits = pd.DataFrame(results.read_rows(report.CSV)).astype({"isbs": float, "harrell_c": float, "iteration": int})
    places = results.read_section(report.STUDY, "places")
    datasets = results.read_section(report.STUDY, "datasets")
    assert fits["iteration"].max() == places["iterations"]
    assert set(fits["dataset"]) == set(datasets)
    assert len(datasets) == places["datasets"]
    assert set(fits["model"]) == set(places["ranks"])
    for measure in ("isbs", "harrell_c"):
        for (name, model), mean in fits.groupby(["dataset", "model"])[measure].mean().items():
            assert datasets[name][measure]["own"][model] == pytest.approx(mean, rel=1e-5)
    proved = results.read_section(report.STUDY, "proof")["differences"]
    assert set(proved) == set(datasets)
    assert json.dumps(proved).count("NaN") == 0
