"""The study of accuracy: who may see which rows, and its scores against their definitions."""

from __future__ import annotations

import csv
import itertools
import json

import numpy as np
import pytest
from scipy import integrate

from aldsurv import SurvivalData, datasets, metrics
from aldsurv.benchmark.results import PAPER_METRICS
from aldsurv.distributions import Exponential, LogNormal, Mixture, Normal, Step, Weibull
from aldsurv.errors import ParameterError
from bench import study_runs
from bench.accuracy import __main__ as command
from bench.accuracy import cells, data, models
from bench.accuracy.bars import bars
from bench.accuracy.cells import Cell, run_cell
from bench.accuracy.chance import redrawn
from bench.accuracy.composed import FoldEnsemble
from bench.accuracy.crps import grid_of, restricted_survival_crps, score_against_truth
from bench.accuracy.found import Found
from bench.accuracy.picture import draw
from bench.accuracy.pieces import EVENTS_A_PIECE, MOST_PIECES, PiecewiseExponential, is_table, pieces_of
from bench.accuracy.report import CSV, STUDY, page_tables, report, store_study, write_csv
from bench.accuracy.scores import log_loss
from bench.accuracy.tables import true_ratios
from bench.pages import results
from bench.pages.listing import ROOT
from bench.pages.markers import marked_names
from bench.pages.results import Origin, origins, read_rows, read_section


def rows(n: int, seed: int = 0) -> SurvivalData:
    """Exponential times, some of them censored."""
    rng = np.random.default_rng(seed)
    event, censoring = rng.exponential(3, n), rng.exponential(6, n)
    return SurvivalData.right(np.minimum(event, censoring), event <= censoring)


# ---- who may see what


def test_nothing_is_decided_on_what_is_kept_out(monkeypatch):
    assert len(data.DATASETS) == 21
    assert len(data.KEPT_OUT) == len(set(data.KEPT_OUT) & set(data.DATASETS)) == 6
    assert sum(name in data.REAL for name in data.KEPT_OUT) == 2
    monkeypatch.setattr(data.datasets, "load", lambda *_, **__: pytest.fail("a dataset that is kept out was read"))
    for name in data.KEPT_OUT:
        with pytest.raises(ParameterError, match="kept out"):
            data.parts("validation", name, 0)
        found = run_cell(Cell.of("validation", "kaplan_meier", name, 0))
        assert "kept out" in found["error"]
        assert "log_loss" not in found


@pytest.mark.parametrize("name", ["gbsg", "norm_linear"])
def test_validation_rows_come_out_of_the_training_part(name):
    learn, held = data.parts("validation", name, 1)
    train, test = data.parts("test", name, 1)
    assert set(learn.rows) | set(held.rows) == set(train.rows)
    assert not set(train.rows) & set(test.rows)
    assert len(held.rows) == pytest.approx(0.2 * len(train.rows), abs=1)
    # The rows that bear the numbers are those rows.
    whole = datasets.load(name, seed=1, definition="released" if name in data.SYNTHETIC else "printed")
    for part in (learn, held, test):
        np.testing.assert_array_equal(part.x, whole.x[part.rows])
        np.testing.assert_array_equal(part.y.time, whole.y.time[part.rows])


def test_the_command_refuses_what_a_stage_may_not_see(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "available", lambda: True)
    assert command.main(["validation", str(tmp_path), "--datasets", "weibull"]) == 2
    assert "unknown dataset 'weibull' at this stage" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# ---- resuming


def study(tmp_path, names=("kaplan_meier", "cox"), compute=run_cell) -> int:
    return study_runs.run(
        [Cell.of("validation", name, "norm_linear", seed) for name in names for seed in (0, 1)], compute, tmp_path
    )


def test_a_study_goes_on_where_it_was(tmp_path, monkeypatch):
    done = []

    def compute(cell):
        done.append(cell)
        return run_cell(cell)

    assert study(tmp_path, ["kaplan_meier"], compute) == 0
    # Killed in the middle of a line.
    file = tmp_path / "validation.jsonl"
    lines = file.read_text().splitlines()
    file.write_text(lines[0] + "\n" + lines[1][:40])
    assert study(tmp_path, compute=compute) == 0
    assert [(cell.model, cell.seed) for cell in done] == [
        *[("kaplan_meier", 0), ("kaplan_meier", 1)],
        *[("kaplan_meier", 1), ("cox", 0), ("cox", 1)],
    ]
    found = study_runs.Lines(tmp_path).read("validation")
    assert len(found) == 4
    assert found[0] == json.loads(lines[0])
    assert all(np.isfinite(line["log_loss"]) for line in found)
    # A model that is set otherwise has results of its own.
    monkeypatch.setitem(models.ALL, "cox", models.ALL["weibull_aft"])
    study(tmp_path, compute=compute)
    assert [(cell.model, cell.seed) for cell in done[5:]] == [("cox", 0), ("cox", 1)]


def test_a_failure_is_kept_and_tried_again(tmp_path, monkeypatch):
    class Broken:
        def fit(self, x, y):
            raise ValueError("one\nline")

        def get_params(self, deep=True):
            return {}

    monkeypatch.setitem(models.ALL, "broken", lambda _: Broken())
    for _ in range(2):
        assert study(tmp_path, ["broken"]) == 2
    errors = [line["error"] for line in study_runs.Lines(tmp_path).read("validation")]
    assert errors == ["ValueError: one line"] * 4


# ---- scores


def test_pieces_are_a_distribution_with_the_survival_of_the_curve_at_the_knots():
    learn = rows(300)
    pieces = learn.event.sum() // EVENTS_A_PIECE
    assert 10 < pieces < MOST_PIECES == pieces_of(Exponential([3.0]), rows(2000)).hazards.shape[1]
    truth = Weibull([2.0, 5.0], [0.7, 1.8])
    steps = Step(np.unique(learn.time[learn.event]), truth.survival(np.unique(learn.time[learn.event])))
    for predicted in (steps, Mixture([steps, steps])):
        assert is_table(predicted)
        found = pieces_of(predicted, learn)
        assert found.hazards.shape == (2, pieces)
        at_knots = np.array([np.exp(-found.cumulative_hazard(np.full(2, knot))) for knot in found.knots[1:]]).T
        np.testing.assert_allclose(at_knots, steps.smoothed().survival(found.knots[1:]), atol=2e-3)
        for row in range(2):
            one = PiecewiseExponential(found.knots, found.hazards[row : row + 1])
            # The likelihood of an exact row is a density: it integrates to what survival says, and to one.
            for stop in (found.knots[3], 40 * found.knots[-1]):
                edges = np.append(found.knots[found.knots < stop], stop)
                mass = sum(
                    integrate.fixed_quad(_density, a, b, args=(one,), n=40)[0] for a, b in itertools.pairwise(edges)
                )
                assert mass == pytest.approx(1 - np.exp(-one.cumulative_hazard(np.array([stop])))[0], abs=1e-6)
            assert mass == pytest.approx(1, abs=1e-6)


def _density(times, one):
    many = PiecewiseExponential(one.knots, np.repeat(one.hazards, len(times), axis=0))
    return np.exp(many.log_likelihood(SurvivalData.right(times, np.ones(len(times)))))


def test_the_likelihood_of_pieces_is_that_of_the_definition():
    found = PiecewiseExponential(np.array([0.0, 1.0, 3.0]), np.array([[0.5, 0.2]] * 5))
    lower, upper = [0.5, 2.0, 9.0, 2.0, -np.inf], [0.5, 2.0, 9.0, np.inf, 1.0]
    expected = [
        np.log(0.5) - 0.25,
        np.log(0.2) - 0.5 - 0.2,
        np.log(0.2) - 0.5 - 0.2 * 8,
        -0.5 - 0.2,
        np.log(1 - np.exp(-0.5)),
    ]
    np.testing.assert_allclose(found.log_likelihood(SurvivalData.interval(lower, upper)), expected)


def test_nothing_is_impossible_to_pieces():
    learn = rows(200)
    last = learn.time.max()
    # Curves that fall at once, never, and to zero before the end.
    predicted = Step([0.01, last / 2, last], [[1e-300, 0.0, 0.0], [1.0, 1.0, 1.0], [0.9, 0.0, 0.0]])
    data = SurvivalData.right([2 * last, 0.2, last], [True] * 3)
    assert np.isfinite(log_loss(predicted, learn, data))


def test_a_model_with_a_density_keeps_it():
    learn, data = rows(200), rows(50, seed=1)
    predicted = LogNormal(np.linspace(0, 1, 50), 0.8)
    assert not is_table(predicted)
    assert not is_table(Mixture([predicted, predicted]))
    scaled = SurvivalData.right(data.time / learn.time.std(), data.event)
    by_hand = -metrics.log_likelihood(predicted.scaled(1 / learn.time.std()), scaled)
    assert log_loss(predicted, learn, data) == pytest.approx(by_hand)


def test_pieces_do_not_judge_a_smooth_model_otherwise_than_its_density():
    # Enough rows that quantiles of their times are near those of the distribution.
    learn, data = rows(4000), rows(4000, seed=1)
    truth = Exponential(np.full(4000, 3.0))
    own = -metrics.log_likelihood(truth, data) - data.event.mean() * np.log(learn.time.std())
    terms = pieces_of(truth, learn).log_likelihood(data)
    assert -terms.mean() - data.event.mean() * np.log(learn.time.std()) == pytest.approx(own, abs=2e-3)


def test_restricted_survival_crps_is_the_library_s_where_nothing_lies_beyond():
    rng = np.random.default_rng(3)
    predicted = Normal(rng.uniform(4, 6, 40), rng.uniform(0.3, 0.8, 40))
    times = rng.uniform(2, 8, 40)
    data = SurvivalData.right(times, rng.random(40) < 0.6)
    grid = np.linspace(0, 12, 600)
    assert restricted_survival_crps(predicted, data, grid) == pytest.approx(
        metrics.survival_crps(predicted, data), rel=1e-4
    )


def test_restricted_survival_crps_by_brute_force():
    learn = rows(200)
    predicted = Weibull([2.0, 5.0, 4.0], [0.7, 1.8, 1.0])
    horizon = learn.time.max()
    data = SurvivalData.right([1.3, 2.2, horizon + 3], [True, False, True])
    t = (np.arange(400_000) + 0.5) * horizon / 400_000
    cdf = predicted.cdf(t)
    expected = [
        (cdf[0, t < 1.3] ** 2).sum() + ((1 - cdf[0, t >= 1.3]) ** 2).sum(),
        (cdf[1, t < 2.2] ** 2).sum(),
        (cdf[2] ** 2).sum(),
    ]
    by_hand = np.mean(expected) * horizon / 400_000
    assert restricted_survival_crps(predicted, data, grid_of(learn)) == pytest.approx(by_hand, rel=2e-4)


def test_expected_crps_is_the_mean_over_drawn_times():
    predicted, truth = LogNormal([0.4, 1.2], [0.9, 0.5]), Weibull([2.0, 4.0], [1.2, 2.0])
    horizon, n = 6.0, 4000
    grid = np.linspace(0, horizon, 512)
    middles = (np.arange(600) + 0.5) * horizon / 600
    drawn = np.asarray(truth.sample(n, random_state=0))
    assert drawn.shape == (2, n)
    # Rows that nobody censors, judged up to the horizon.
    scores = [
        horizon * ((cdf - (middles >= times[:, None])) ** 2).mean(axis=1)
        for cdf, times in zip(predicted.cdf(middles), drawn, strict=True)
    ]
    found = score_against_truth(predicted, truth, grid)
    error = np.sqrt(sum(np.var(each) for each in scores) / n) / 2
    assert abs(found.crps - np.mean(scores)) < 4 * error
    assert error < 0.01 * found.crps
    perfect = score_against_truth(truth, truth, grid)
    assert perfect.distance == 0
    assert found.crps - found.distance == pytest.approx(perfect.crps)
    assert perfect.crps < found.crps


# ---- models


def test_rows_drawn_from_predictions_make_them_perfect():
    """Times of the predictions' own distributions, censored as often as the rows learned from."""
    rng = np.random.default_rng(5)
    scale, learn = rng.uniform(1, 9, 20_000), rows(20_000)
    predicted = Exponential(scale)
    drawn = redrawn(predicted, learn, rng)
    # Exponential censoring at rate 1/6, as `rows` has it, but where it is cut off at the end.
    assert drawn.event.mean() == pytest.approx(np.mean((1 / scale) / (1 / scale + 1 / 6)), abs=0.015)
    assert drawn.time.max() <= learn.time.max()
    assert metrics.d_calibration(predicted, drawn).p_value > 0.01
    assert metrics.d_calibration(Exponential(0.8 * scale), drawn).p_value < 1e-6


def test_an_ensemble_is_the_mean_of_its_members_cdfs():
    pytest.importorskip("xgboost")
    learn, held = data.parts("validation", "norm_linear", 0)
    found = models.COMPARED["xgb_cox x5"](0).fit(learn.x, learn.y)
    assert isinstance(found, FoldEnsemble)
    folds = [member.held_out_ for member in found.members]
    assert sorted(np.concatenate(folds)) == list(range(len(learn.y)))
    grid = np.quantile(learn.y.time, [0.1, 0.5, 0.9])
    mean = np.mean([member.predict_distribution(held.x).cdf(grid) for member in found.members], axis=0)
    np.testing.assert_allclose(found.predict_distribution(held.x).cdf(grid), mean, atol=1e-12)


def test_every_model_can_be_made_and_known():
    marks = {name: models.fingerprint(make(0)) for name, make in models.ALL.items()}
    assert marks == {name: models.fingerprint(make(1)) for name, make in models.ALL.items()}
    assert len(set(marks.values())) >= len(marks) - 6
    assert cells.ALL is models.ALL


# ---- what is told


def made_up(tmp_path, worse: int = 0) -> Found:
    """Ten runs of two models on the real sets and of two on the synthetic ones, with numbers that show what is what."""
    lines = study_runs.Lines(tmp_path)
    rng = np.random.default_rng(5)
    for model, off in (("default", 0.0), ("paper", 0.1)):
        for place, name in enumerate(data.REAL):
            for seed in range(10):
                # On the first sets the paper's is better in one metric, beyond doubt.
                other = 0.5 if model == "default" and place < worse else 0.0
                noise = 0.001 * rng.standard_normal()
                scores = {
                    **dict.fromkeys(PAPER_METRICS, 0.3 + off + noise),
                    **dict.fromkeys(("harrell_c", "uno_c"), 0.7 - off + noise),
                    "log_loss": 0.6 + off,
                    "cens_dcal": 0.15 + off,
                    "cal_s_slope": 1.05 + off + noise,
                    "cal_f_slope": 0.95 - off + noise,
                    "mae": 1.0 + off + other + noise,
                }
                lines.add({**Cell.of("test", model, name, seed)._asdict(), **scores})
    for model, value in (("default", 1.04), ("cox", 1.0)):
        for name in data.SYNTHETIC:
            more = 0.03 if (model, name) == ("default", "weibull") else 0.0
            scores = {"true_crps": value + more, "true_distance": value + more - 0.9}
            for seed in range(10):
                lines.add({**Cell.of("test", model, name, seed)._asdict(), **scores})
    return Found(tmp_path, "test")


@pytest.mark.parametrize("worse", [0, 2])
def test_bars_are_what_was_reached(tmp_path, worse):
    found = made_up(tmp_path, worse)
    told = {bar.asked: bar for bar in bars(found, {"ratio": 4.5})}
    by_word = {word: next(bar for asked, bar in told.items() if word in asked) for word in _BARS}
    assert {word: bar.met for word, bar in by_word.items()} == {
        **_BARS,
        "significantly": worse == 0,
    }
    assert by_word["55 of 63"].reached == f"{63 - worse} of 63"
    assert by_word["5 %"].reached == "13 of 14; beyond: weibull 1.070"
    assert float(by_word["mean C "].reached) == pytest.approx(0.7, abs=1e-3)
    assert by_word["rank"].reached == "1.00 (paper 2.00)"
    if worse:
        assert by_word["significantly"].reached == ", ".join(f"{name} mae" for name in data.REAL[:worse])


_BARS = {
    "log-loss over": True,
    "IBS over": False,
    "CensDcal over": True,
    "mean C ": True,
    "rank": True,
    "SUPPORT's CensDcal": False,
    "SUPPORT's C ": True,
    "55 of 63": True,
    "significantly": True,
    "5 %": False,
    "METABRIC": False,
}


def test_models_are_compared_on_the_draws_that_both_have(tmp_path):
    lines = study_runs.Lines(tmp_path)
    # The first two draws are easy: whoever has only those is no better for it.
    for model, seeds, factor in (("default", 10, 1.0), ("cox", 10, 1.05), ("rsf", 2, 0.98)):
        for seed in range(seeds):
            scores = {"true_crps": factor * (0.1 if seed < 2 else 1.0), "true_distance": 0.01, "log_loss": float(seed)}
            lines.add({**Cell.of("test", model, "weibull", seed)._asdict(), **scores})
    found = Found(tmp_path, "test")
    ratio, best = true_ratios(found)["weibull"]
    assert best == "rsf"
    assert ratio == pytest.approx(1 / 0.98)
    assert found.first(2).mean("default", "weibull", "log_loss") == 0.5
    assert found.first(2).count("cox", ["weibull"]) == 2
    assert found.mean("default", "weibull", "log_loss") == 4.5


def test_the_report_has_every_cell_once(tmp_path):
    found = made_up(tmp_path)
    text = report(tmp_path)
    assert "| paper | 0.700 |" in text
    write_csv(found, tmp_path / "cells.csv", Origin("the study", "2026-01-01", {}, {}))
    with (tmp_path / "cells.csv").open() as file:
        cells = list(csv.DictReader(line for line in file if not line.startswith("#")))
    assert len(cells) == 2 * 21 * 10
    assert len({(cell["model"], cell["dataset"], cell["seed"]) for cell in cells}) == len(cells)
    one = next(cell for cell in cells if cell["model"] == "paper" and cell["dataset"] == "gbsg" and cell["seed"] == "3")
    assert float(one["uno_c"]) == pytest.approx(found.values("paper", "gbsg", "uno_c")[3], abs=5e-5)
    assert one["true_crps"] == ""


def test_the_page_has_a_place_for_every_table(tmp_path):
    tables = page_tables(made_up(tmp_path), Found(tmp_path, "validation"), {"table": "a", "ratio": 1.0}, {"table": "b"})
    assert set(tables) <= marked_names((ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8"))


def test_results_files_hold_what_the_study_found(tmp_path, monkeypatch):
    found = made_up(tmp_path / "study")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    table = "| default | seconds |\n| --- | --: |\n| a | 1.5 |"
    study_runs.keep(tmp_path / "study", "speed", {"ratio": 2.5, "table": table})
    report(tmp_path / "study", store=True)
    again = Found.of_rows(read_rows(CSV))
    assert again.cells.keys() == found.cells.keys()
    for metric in ("mae", "uno_c", "log_loss"):
        for name in data.REAL:
            assert again.mean("paper", name, metric) == pytest.approx(found.mean("paper", name, metric), rel=1e-5)
    assert "true_crps" not in again.cells["paper", "gbsg"][0]
    assert {"ald/paper", "icald/paper", "cox/default"} <= set(origins(CSV)[""].fingerprints)
    # What was not measured, here the steps, is not stored, and what was stays when something else is.
    speed = {"ratio": 2.5, "table": {"head": ["default", "seconds"], "rows": [["a", "1.5"]]}}
    assert read_section(STUDY, "speed") == speed
    store_study(Found(tmp_path / "study", "validation"), None, {"table": table})
    assert list(origins(STUDY)) == ["chance", "speed"]
    assert read_section(STUDY, "speed") == speed


def test_a_picture_of_what_is_there(tmp_path):
    pytest.importorskip("matplotlib")
    assert not draw(Found(tmp_path, "test"), tmp_path / "none.png")
    assert draw(made_up(tmp_path), tmp_path / "some.png")
    assert sorted(file.name for file in tmp_path.glob("*.png")) == ["some.png"]
    assert (tmp_path / "some.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_is_known_before_anything_is_done(tmp_path):
    assert {bar.met for bar in bars(Found(tmp_path, "test"))} == {None}
