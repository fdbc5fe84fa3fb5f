"""Tables with more columns than rows are learned from, and a model that knows nothing says so."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv import ALDSurvival, DeepHit, SurvivalData, datasets
from aldsurv.cli.fit import held_out_scores
from aldsurv.cli.main import main
from aldsurv.cli.shared.error_text import error_line
from aldsurv.distributions import Exponential, Step
from aldsurv.errors import NoSkillWarning, TrainingError
from aldsurv.metrics import concordance_harrell, integrated_brier_score
from aldsurv.models.neural.fitting import held_out, skill_check, train
from aldsurv.models.neural.fitting.joint_fit import fit_together
from aldsurv.models.neural.fitting.skill_check import Gain, HeldPart, gain_over_kaplan_meier
from aldsurv.models.neural.fitting.train import run_loop
from aldsurv.models.neural.fitting.wide_scores import MemberScores, learn_scores, with_scores_inside
from aldsurv.models.rows.member_rows import split_for_members
from aldsurv.networks import Architecture, forward
from aldsurv.nonparametric import kaplan_meier
from aldsurv.registry import MODELS
from models.rows import same_bits


def wide(n: int, columns: int, seed: int = 0) -> tuple[np.ndarray, SurvivalData]:
    """Columns with a few factors in common, as genes have, of which the first moves the times."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 5))
    x = factors @ rng.normal(size=(5, columns)) + rng.normal(size=(n, columns))
    event, lost = 10 * np.exp(factors[:, 0]) * rng.weibull(2, n), rng.exponential(40, n)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


def test_a_hundred_rows_of_six_thousand_columns():
    """As inputs of a network so many columns made the loss infinite in the third epoch."""
    x, y = wide(120, 6000)
    model = ALDSurvival(members=1, max_epochs=4, random_state=0, progress=False).fit(x, y)
    assert model.features_.width == model.fitted_.network.inputs == 6000
    # Networks see a few scores, for which the usual steps are right.
    assert model.settings_.learning_rate == 0.01
    assert np.isfinite(model.predict_distribution(x).quantile([0.1, 0.5, 0.9])).all()


@pytest.mark.parametrize("kind", [np.asarray, lambda x: {f"x{j}": x[:, j] for j in range(x.shape[1])}])
@pytest.mark.parametrize(
    ("rows", "columns", "inputs"),
    [(1001, 250, 9 * 250), (1001, 251, 251), (145, 29, 9 * 29), (151, 30, 9 * 30), (150, 30, 30)],
)
def test_pieces_of_columns_that_are_not_many(rows, columns, inputs, kind):
    x, y = wide(rows, columns)
    model = ALDSurvival(members=1, max_epochs=1, random_state=0, progress=False).fit(kind(x), y)
    assert model.features_.width == inputs


def test_shorter_steps_only_where_the_recipe_decides():
    """Pieces of columns are inputs, too."""
    x, y = wide(1001, 250)
    rates = {
        name: ALDSurvival(**given, members=1, max_epochs=1, progress=False).fit(x, y).settings_.learning_rate
        for name, given in {"default": {}, "given": {"learning_rate": 0.003}, "paper": {"recipe": "paper"}}.items()
    }
    assert rates == {"default": pytest.approx(0.01 / (9 * 0.25)), "given": 0.003, "paper": 0.01}


def independent(n: int, columns: int) -> tuple[np.ndarray, SurvivalData]:
    """Columns without anything in common, of which the first moves the times."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, columns))
    return x, SurvivalData.right(10 * np.exp(x[:, 0]) * rng.weibull(2, n), rng.random(n) < 0.8)


# ---- many columns for the rows: linear scores in place of the columns

QUICK = {"members": 2, "max_epochs": 3, "random_state": 0, "progress": False}
ONE = {**QUICK, "members": 1}


def awkward(n: int) -> dict[str, np.ndarray]:
    """A wide table with duplicated and nearly constant columns, gaps and text."""
    x = independent(n, 260)[0]
    columns = {f"x{j}": x[:, j].copy() for j in range(260)}
    columns["twice"] = x[:, 0].copy()
    columns["once"] = (np.arange(n) == 3).astype(float)
    columns["x1"][::4] = np.nan
    columns["site"] = np.where(x[:, 2] > 0, "north", "south").astype(object)
    return columns


@pytest.mark.parametrize(("rows", "columns"), [(150, 30), (100, 30), (1000, 200), (40, 251)])
def test_scores_where_columns_are_many(rows, columns):
    x, y = independent(rows, columns)
    assert ALDSurvival(**ONE).prepare(x.tolist(), y).scores is not None
    assert ALDSurvival("large", **ONE).prepare(x, y).scores is None
    fewer = x[:, : min(columns, 250, -(-rows // 5)) - 1]
    assert ALDSurvival(**ONE).prepare(fewer, y).scores is None


@pytest.mark.parametrize("name", ["ald", "lognormal", "deepsurv", "deephit", "cqrnn"])
def test_awkward_wide_tables_are_learned_predicted_and_saved(name, tmp_path):
    x, y = awkward(40), independent(40, 260)[1]
    kind = MODELS.load(name)
    model = kind(**{key: value for key, value in QUICK.items() if key in kind.parameter_defaults()}).fit(x, y)
    survival = model.predict_distribution(x).survival([1.0, 5.0, 20.0])
    assert np.isfinite(survival).all()
    loaded = aldsurv.load(model.save(tmp_path / "m"))
    np.testing.assert_array_equal(loaded.predict_distribution(x).survival([1.0, 5.0, 20.0]), survival)


def test_causes_and_intervals_in_wide_tables():
    x, y = independent(30, 260)
    causes = SurvivalData.competing(y.time, np.where(y.event, 1 + (np.arange(30) % 2), 0))
    task = DeepHit(**ONE).prepare(x, causes)
    assert [score.values.shape for score in task.scores] == [(30, 4)]
    visits = SurvivalData.interval(np.floor(y.time), np.where(y.event, np.floor(y.time) + 1, np.inf))
    model = ALDSurvival(**ONE).fit(x, visits)
    assert np.isfinite(model.predict_distribution(x).median()).all()


def test_scores_are_learned_from_training_rows_only():
    x, y = independent(50, 300)
    rng = np.random.default_rng(0)
    rows, held = np.arange(40), np.arange(40, 50)
    scores = learn_scores(x.astype(np.float32), y, rows, np.random.default_rng(1))
    other = x.astype(np.float32)
    other[held] = rng.normal(size=(10, 300))
    later = SurvivalData.right(np.where(np.arange(50) < 40, y.time, 3 * y.time), y.event)
    again = learn_scores(other, later, rows, np.random.default_rng(1))
    np.testing.assert_array_equal(again.weights, scores.weights)
    np.testing.assert_array_equal(again.values[rows], scores.values[rows])
    np.testing.assert_allclose(again.values[held], other[held] @ scores.weights)


def test_training_rows_have_the_scores_of_fits_without_them():
    x, y = independent(60, 300)
    scores = learn_scores(x.astype(np.float32), y, np.arange(60), np.random.default_rng(1))
    fitted = x @ scores.weights
    # A ridge of so many columns orders the rows that it was fitted to almost wholly, others not.
    inside, held_out = (concordance_harrell(-values[:, 0], y) for values in (fitted, scores.values))
    assert held_out < inside - 0.1
    # An elastic net finds the column that matters.
    assert concordance_harrell(-scores.values[:, 1], y) > 0.7
    # The network sees scores of a spread of 1, or none.
    np.testing.assert_allclose(scores.values.std(axis=0), scores.weights.any(axis=0), atol=1e-9)


def test_networks_of_scores_are_networks_of_columns():
    """Every layout of the first layer, and a level beside the scores."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(7, 30)).astype(np.float32)
    weights = rng.normal(size=(2, 30, 3))
    scores = [MemberScores(weight, x @ weight) for weight in weights]
    inputs = np.stack([score.values for score in scores]).astype(np.float32)
    layouts = [
        {"hidden": (4,), "residual": True},
        {"hidden": (4, 4), "head_hidden": (), "residual": False, "batch_norm": True},
        {"hidden": (), "head_hidden": (4,)},
        {"hidden": (), "head_hidden": ()},
        {"hidden": (), "head_hidden": (4,), "level_units": (3,)},
    ]
    for layout in layouts:
        network = Architecture(inputs=3, outputs=2, **layout)
        members = [network.initial(np.random.default_rng(k)) for k in range(2)]
        arrays = {name: np.stack([member[name] for member in members]) for name in members[0]}
        levels = np.array([0.2, 0.7]) if network.level_units else None
        wider, inside = with_scores_inside(network, arrays, scores)
        wider.check_arrays(inside, 2)
        np.testing.assert_allclose(
            forward(wider, inside, x, levels), forward(network, arrays, inputs, levels), atol=1e-4
        )


def test_noise_predicts_as_kaplan_meier_does_and_a_signal_better():
    rng = np.random.default_rng(0)
    settings = {"members": 2, "random_state": 0, "progress": False}
    noise, flat = rng.normal(size=(240, 400)), SurvivalData.right(rng.weibull(1.5, 240), rng.random(240) < 0.8)
    x, y = independent(240, 400)
    gains = []
    for columns, data in ((noise, flat), (x, y)):
        train, test = data[:120], data[120:]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoSkillWarning)
            model = ALDSurvival(**settings).fit(columns[:120], train)
        curve = kaplan_meier(train).distribution
        without = Step(curve.times, np.repeat(np.atleast_2d(curve.values), len(test), axis=0))
        own, null = (
            integrated_brier_score(each, test, train=train)
            for each in (model.predict_distribution(columns[120:]), without)
        )
        gains.append(null - own)
    assert gains[0] > -0.03
    assert gains[1] > 0.03


def test_tables_that_are_not_wide_and_papers_recipes_have_no_scores():
    x, y = independent(30, 260)
    assert ALDSurvival(**ONE).prepare(x, y).scores is not None
    assert ALDSurvival(**QUICK).prepare(x[:, :29], y).scores is None
    assert ALDSurvival("paper", **QUICK).prepare(x, y).scores is None
    many, times = wide(1001, 260)
    assert ALDSurvival(**QUICK).prepare(many, times).scores is None


def test_fits_of_wide_tables_in_one_loop_are_those_alone():
    x, y = independent(30, 260)

    def models():
        return [ALDSurvival(**{**ONE, "random_state": seed}) for seed in range(2)]

    alone, joint = [model.fit(x, y) for model in models()], fit_together(models(), [(x, y)] * 2)
    assert all(same_bits(one, other) for one, other in zip(alone, joint, strict=True))


def restarting(monkeypatch, highest: float, seeds=(0,)) -> list[float]:
    """Let trainings of these seeds go wrong above a learning rate, and note the rates that were tried."""
    tried = []

    def sometimes(tasks):
        rates = [float(task.model.learning_rate) for task in tasks]
        if any(rate > highest and task.options.seed in seeds for rate, task in zip(rates, tasks, strict=True)):
            tried.append(rates[0])
            raise TrainingError("the loss is no longer a finite number")
        return run_loop(tasks)

    monkeypatch.setattr(train, "run_loop", sometimes)
    return tried


def test_training_that_goes_wrong_starts_anew_with_shorter_steps(monkeypatch):
    x, y = wide(40, 3)
    tried = restarting(monkeypatch, 5e-5)
    quick = {"members": 1, "max_epochs": 2, "random_state": 0, "progress": False}
    model = ALDSurvival(**quick).fit(x, y)
    assert tried == pytest.approx([0.003, 0.0003])
    assert same_bits(model, ALDSurvival(**quick, learning_rate=0.003 / 10 / 10).fit(x, y))
    with pytest.raises(TrainingError):
        ALDSurvival(**quick, learning_rate=0.01).fit(x, y)
    restarting(monkeypatch, 0.0)
    with pytest.raises(TrainingError):
        ALDSurvival(**quick).fit(x, y)


def test_only_who_went_wrong_starts_anew(monkeypatch):
    x, y = wide(40, 3)

    def models():
        return [ALDSurvival(members=1, max_epochs=2, random_state=seed, progress=False) for seed in range(3)]

    alone = [model.fit(x, y) for model in models()]
    restarting(monkeypatch, 2e-3, seeds=(1,))
    joint = fit_together(models(), [(x, y)] * 3)
    assert [model.settings_.learning_rate for model in joint] == pytest.approx([0.003, 0.0003, 0.003])
    assert same_bits(joint[0], alone[0])
    assert same_bits(joint[2], alone[2])


# ---- whether a model knows more than Kaplan-Meier


def known_rates(n: int, spread: float, seed: int = 0) -> tuple[Exponential, SurvivalData]:
    """Rows and the distributions that they were drawn from."""
    rng = np.random.default_rng(seed)
    mean = 10 * np.exp(spread * rng.normal(size=n))
    event, lost = rng.exponential(mean), rng.exponential(30, n)
    return Exponential(mean), SurvivalData.right(np.minimum(event, lost), event <= lost)


def test_kaplan_meier_gains_nothing_over_itself():
    _, data = known_rates(300, 0.5)
    curve = kaplan_meier(data).distribution
    same = Step(curve.times, np.repeat(np.atleast_2d(curve.values), len(data), axis=0))
    gain = gain_over_kaplan_meier([HeldPart(same, data, data)])
    assert gain.mean == pytest.approx(0, abs=1e-12)
    with pytest.warns(NoSkillWarning, match="no better than Kaplan-Meier"):
        skill_check.warn_without_skill(gain, "It")


@pytest.mark.parametrize("kind", ["right", "entry", "interval", "weighted"])
def test_the_truth_gains_and_another_persons_prediction_loses(kind):
    truth, data = known_rates(2000, 1.0)
    truth_of, rows = truth, data
    if kind == "entry":
        entry = np.random.default_rng(1).uniform(0, 5, len(data))
        late = np.flatnonzero(data.time > entry)
        truth_of, rows = truth[late], SurvivalData.right(data.time[late], data.event[late], entry=entry[late])
    elif kind == "interval":
        step = np.floor(data.time / 3) * 3
        rows = SurvivalData.interval(step, np.where(data.event, step + 3, np.inf))
    elif kind == "weighted":
        rows = data.with_weight(np.tile([0.0, 2.0], len(data) // 2))
    half = len(rows) // 2
    held, train = slice(half, None), rows[:half]
    gain = gain_over_kaplan_meier([HeldPart(truth_of[held], rows[held], train)])
    assert gain.mean > 5 * gain.error
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        skill_check.warn_without_skill(gain, "It")
    wrong = np.random.default_rng(2).permutation(np.arange(half, len(rows)))
    lost = gain_over_kaplan_meier([HeldPart(truth_of[wrong], rows[held], train)])
    assert lost.mean < -5 * lost.error


@pytest.mark.parametrize("weighted", [False, True])
def test_ranking_is_in_units_of_what_chance_does(weighted):
    truth, data = known_rates(400, 0.4)
    held, train = data[200:], data[:200]
    if weighted:
        held = held.with_weight(np.tile([1.0, 2.0], 100))
    rng = np.random.default_rng(0)
    by_chance = [
        gain_over_kaplan_meier([HeldPart(truth[200 + rng.permutation(200)], held, train)]).ranking for _ in range(400)
    ]
    # Standard errors are 0.05 and 0.035.
    assert abs(np.mean(by_chance)) < 0.2
    assert np.std(by_chance) == pytest.approx(1, abs=0.15)
    assert gain_over_kaplan_meier([HeldPart(truth[200:], held, train)]).ranking > 3


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (Gain(0.07, 0.02, 0.0), None),
        # As much is gained by stopping at the best epoch where covariates tell nothing.
        (Gain(0.04, 0.02, 1.0), "no better than Kaplan-Meier"),
        # Few rows: the likelihood tells nothing yet, but the order is right.
        (Gain(0.01, 0.02, 6.0), None),
        (Gain(-0.01, 0.02, 6.0), "the right order, but their times no higher likelihood"),
        (None, None),
    ],
)
def test_what_is_said_of_a_gain(gain, message):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        skill_check.warn_without_skill(gain, "It")
    assert len(caught) == (message is not None)
    assert message is None or message in str(caught[0].message)


def test_rows_that_several_members_hold_out_tell_what_they_tell_once():
    truth, data = known_rates(400, 0.4)
    part = HeldPart(truth[200:], data[200:], data[:200])
    once, twice = gain_over_kaplan_meier([part]), gain_over_kaplan_meier([part, part], repeats=2.0)
    assert twice == pytest.approx(once)
    rows = split_for_members(data, 0.2, 10, np.random.default_rng(0))
    assert rows.repeats == 2
    assert split_for_members(data, 0.2, 5, np.random.default_rng(0)).repeats == 1
    assert split_for_members(data, 0.0, 5, np.random.default_rng(0)).repeats == 1


def test_ten_events_are_needed():
    truth, data = known_rates(12, 1.0)
    few = SurvivalData.right(data.time, np.arange(12) < 9)
    assert gain_over_kaplan_meier([HeldPart(truth, few, few)]) is None


@pytest.mark.filterwarnings("ignore:.*leaves out columns")
@pytest.mark.parametrize("name", ["ald", "deepsurv", "boosted_ald"])
def test_models_say_so(name):
    """Covariates that tell the times, or steps that lead astray in a table of chance."""
    kind = MODELS.load(name)
    known = kind.parameter_defaults()
    quick = {"members": 2, "max_epochs": 20, "max_rounds": 20, "components": 2, "random_state": 0, "progress": False}
    data = datasets.load("gbsg")[::4]
    with warnings.catch_warnings():
        warnings.simplefilter("error", NoSkillWarning)
        kind(**{key: value for key, value in quick.items() if key in known}).fit(data.x, data.y)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 8)), (rng.weibull(1.5, 200), rng.random(200) < 0.7)
    # Over seeds this loses 5 to 16 standard errors.
    astray = {"learning_rate": 0.3, "max_epochs": 1, "max_rounds": 1}
    if name == "boosted_ald":
        # Its trees are kept only if they help: without any it predicts the same for all.
        x = np.zeros((200, 1))
    model = kind(**{key: value for key, value in {**quick, **astray}.items() if key in known})
    with pytest.warns(NoSkillWarning, match=f"^{kind.__name__} predicts the rows held out"):
        model.fit(x, y)


def table(path: Path, n: int = 80) -> list[str]:
    x, y = wide(n, 2)
    lines = [f"{a:.4f},{b:.4f},{t:.4f},{int(e)}" for a, b, t, e in zip(*x.T, y.time, y.event, strict=True)]
    path.write_text("\n".join(["a,b,t,e", *lines]) + "\n")
    return ["fit", str(path), "--time", "t", "--event", "e", "--out", str(path.with_suffix(".aldsurv"))]


def test_the_command_line_says_so_once(tmp_path, monkeypatch, capsys):
    for module in (held_out, held_out_scores):
        monkeypatch.setattr(module, "gain_over_kaplan_meier", lambda parts, repeats=1.0: Gain(-0.3, 0.01, 0.0))
    command = [*table(tmp_path / "t.csv"), "--model", "lognormal", "--members", "1"]
    assert main(command) == 0
    notes = capsys.readouterr().err
    assert notes.count("no better than Kaplan-Meier does") == 1
    assert notes.count("worse than by Kaplan-Meier") == 1
    assert main([*command[:-4], "--model", "weibull_aft", "--json"]) == 0
    assert any("0.3 lower" in note for note in json.loads(capsys.readouterr().out)["notes"])


# ---- advice that the command line can follow


def advice(text: str) -> list[str]:
    """Names of Python's arguments that a text speaks of."""
    return re.findall(r"\b[a-z]+_?[a-z]*=|clip_features|\bridge\b|sample_weight|fewer folds|encoding", text)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("größe,t,e\n1,2,1\n2,3,0\n3,4,1\n", "save it as UTF-8"),
        ("a;t;e\n1,5;2;1\n2.5;3;0\n2,5;4;1\n", "Name the mark by --decimal"),
        ("a;t;e\n1,500;2;1\n2,500;3;0\n", "Name the mark by --decimal"),
        ('a,t,e\n"1,5",2,1\n"2,5",3,0\n2.5,4,1\n', "Name the mark by --decimal"),
    ],
)
def test_tables(content, says, tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode("latin-1"))
    main(["fit", str(path), "--time", "t", "--event", "e", "--model", "weibull_aft", "--out", str(tmp_path / "m")])
    told = capsys.readouterr().err
    assert says in told
    assert not advice(told)


def test_searching_with_too_few_rows(tmp_path, capsys):
    pytest.importorskip("optuna")
    command = [*table(tmp_path / "t.csv", 6), "--model", "weibull_aft", "--tune", "2", "--held-out", "0"]
    assert main(command) == 2
    told = capsys.readouterr().err
    assert "fit without --tune" in told
    assert not advice(told)


@pytest.mark.parametrize("columns", ["usual", "huge"])
def test_training_that_cannot_go_on(columns):
    x, y = wide(40, 3)
    huge = {"clip_features": 0.0, "bins": 0}
    if columns == "huge":
        x[np.arange(0, 40, 2)] *= 1e20
    model = ALDSurvival(
        learning_rate=1e16, clip_norm=0.0, members=1, optimizer="sgd", **(huge if columns == "huge" else {})
    )
    with pytest.raises(TrainingError) as error:
        model.fit(x, y)
    assert advice(str(error.value))
    told = error_line(error.value)
    assert not advice(told)
    assert told.endswith(".")
    assert "  " not in told
