"""Randomness, units, columns and recipes of a fit."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from aldsurv import ALDSurvival, SurvivalData
from aldsurv.errors import DataError
from models.rows import data, draw, quick, same_bits

X, TIME, EVENT = draw(200)
Y = SurvivalData.right(TIME, EVENT)


def test_same_seed_same_bits():
    fits = [quick(members=3, max_epochs=6, random_state=7).fit(X, Y) for _ in range(2)]
    assert same_bits(*fits)
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X))
    np.testing.assert_array_equal(fits[0].history_.train_loss, fits[1].history_.train_loss)
    # A second fit of one estimator starts anew.
    assert same_bits(fits[0].fit(X, Y), fits[1])


def test_threads_do_not_matter():
    alone, before = quick(max_epochs=6).fit(X, Y), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert same_bits(quick(max_epochs=6).fit(X, Y), alone)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_other_seeds_differ():
    fits = [quick(random_state=seed).fit(X, Y) for seed in (0, 1, 2**40)]
    assert not any(same_bits(fits[i], fits[j]) for i, j in [(0, 1), (0, 2), (1, 2)])


def test_kinds_of_random_state():
    for make in (np.random.default_rng, np.random.RandomState):
        state = make(5)
        first, second = quick(random_state=state).fit(X, Y), quick(random_state=state).fit(X, Y)
        assert same_bits(first, quick(random_state=make(5)).fit(X, Y))
        assert not same_bits(first, second)
    assert not same_bits(*(quick(random_state=None).fit(X, Y) for _ in range(2)))
    assert same_bits(quick(random_state=3).fit(X, Y), quick(random_state=np.int64(3)).fit(X, Y))


def test_global_randomness_is_left_alone():
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
    before, torch_before = np.random.get_state()[1].copy(), torch.get_rng_state()  # noqa: NPY002
    model = quick(members=2, random_state=None).fit(X, Y)
    model.predict_distribution(X).sample(2, random_state=0)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert torch.equal(torch.get_rng_state(), torch_before)
    # Nor does it matter where it stands.
    first = quick().fit(X, Y)
    np.random.seed(99)  # noqa: NPY002
    torch.manual_seed(99)
    assert same_bits(first, quick().fit(X, Y))


@pytest.mark.parametrize("recipe", ["default", "paper"])
@pytest.mark.parametrize("support", ["real", "positive", "log"])
@pytest.mark.parametrize("start", ["random", "marginal"])
def test_answers_are_in_the_unit_of_the_data(recipe, support, start):
    settings = {"recipe": recipe, "support": support, "start": start, "max_epochs": 10, "patience": 0}
    levels = [0.25, 0.5, 0.75]
    plain = quick(**settings).fit(X, Y).predict_distribution(X).quantile(levels)
    for factor in (2.0**8, 365.0, 1e-6):
        model = quick(**settings).fit(X, Y.scaled(factor))
        off = np.abs(model.predict_distribution(X).quantile(levels) / (factor * plain) - 1)
        if start == "random" or recipe == "default":
            assert off.max() < 1e-3
        else:
            # The search for the start ends by the loss, whose constant depends on the unit: a little before or after.
            assert np.median(off) < 0.01
            assert off.max() < 0.2
        assert model.unique_times_[-1] == pytest.approx(factor * TIME.max())


def test_history_is_in_the_unit_of_the_data():
    # A density is per unit of time: in a unit a times as long each event gains log a.
    settings = {"max_epochs": 4, "validation": 0.0, "dropout": 0.0}
    first, second = quick(**settings).fit(X, Y), quick(**settings).fit(X, Y.scaled(64.0))
    gain = np.log(64.0) * EVENT.mean()
    np.testing.assert_allclose(second.history_.train_loss, first.history_.train_loss + gain, atol=0.05)
    held = quick(max_epochs=1, validation=0.3).fit(X, Y)
    assert held.history_.best_loss.shape == (1,)


def test_validation_loss_is_that_of_the_kept_weights():
    for support in ("real", "positive", "log"):
        model = quick(support=support, max_epochs=12, learning_rate=0.02).fit(X, Y)
        from aldsurv.models.rows.member_rows import split_for_members
        from aldsurv.training.randomness import Purpose, generator_for

        seed = _seeds(model, 1)[0]
        rows = split_for_members(Y, 0.2, 1, generator_for(seed, Purpose.VALIDATION)).validation[0]
        loss = -model.predict_distribution(X[rows]).log_likelihood(Y[rows]).mean()
        assert loss == pytest.approx(model.history_.best_loss[0], abs=2e-5)
        assert model.history_.best_loss[0] == model.history_.validation_loss.min()


def _seeds(model, members):
    from aldsurv.models.rows.member_rows import member_seeds

    return member_seeds(model.random_state, members)


def test_times_of_training_are_kept_as_they_were():
    model = quick().fit(X, Y)
    np.testing.assert_array_equal(model.unique_times_, np.unique(TIME))
    assert model.trained_on_.first_time == TIME.min()
    assert model.trained_on_.last_time == TIME.max()
    assert (model.trained_on_.rows, model.trained_on_.events) == (200, EVENT.sum())
    many, target = data(700)
    times = quick(max_epochs=1).fit(many, target).unique_times_
    assert len(times) == 512
    assert (times[0], times[-1]) == (target.time.min(), target.time.max())
    assert np.isin(times, target.time).all()


NAMES = ["age", "dose", "size"]


def test_tables_of_any_sort_give_the_same_bits():
    plain = quick().fit(X, Y)
    for table in (pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES), dict(zip(NAMES, X.T, strict=True))):
        model = quick().fit(table, Y)
        assert same_bits(model, plain)
        np.testing.assert_array_equal(model.predict(table), plain.predict(X))
        assert list(model.feature_names_in_) == NAMES
    assert same_bits(quick().fit(X.tolist(), Y), plain)
    assert not hasattr(plain, "feature_names_in_")


def test_permuted_columns_train_to_the_same_quality():
    # Weights are drawn by position, so bits differ; what is predicted must not depend on the order by more than a seed.
    x, y = data(400)
    settings = {"members": 5, "max_epochs": 25, "learning_rate": 0.01}
    first = quick(**settings).fit(x, y).predict_time(x)
    second = quick(**settings).fit(x[:, ::-1], y).predict_time(x[:, ::-1])
    assert np.corrcoef(np.log(first), np.log(second))[0, 1] > 0.98


def test_columns_are_checked_at_prediction():
    model = quick().fit(pd.DataFrame(X, columns=NAMES), Y)
    for wrong, told in [
        (pd.DataFrame(X, columns=["age", "dose", "sise"]), "Is 'sise' what was 'size' in training"),
        (pd.DataFrame(X[:, :2], columns=NAMES[:2]), "now missing"),
    ]:
        with pytest.raises(DataError, match=told):
            model.predict_distribution(wrong)
    turned = pd.DataFrame(X, columns=NAMES)[NAMES[::-1]]
    np.testing.assert_array_equal(model.predict(turned), model.predict(pd.DataFrame(X, columns=NAMES)))
    with pytest.warns(UserWarning, match="fitted with feature names"):
        model.predict(X)
    plain = quick().fit(X, Y)
    with pytest.raises(DataError, match="X has 2 features, but ALDSurvival is expecting 3"):
        plain.predict(X[:, :2])
    with pytest.warns(UserWarning, match="fitted without feature names"):
        plain.predict(pd.DataFrame(X, columns=NAMES))


def test_names_go_when_a_new_fit_has_none():
    model = quick().fit(pd.DataFrame(X, columns=NAMES), Y).fit(X, Y)
    assert not hasattr(model, "feature_names_in_")


def test_a_row_is_predicted_the_same_alone_and_among_others():
    model = quick(members=2, max_epochs=5).fit(X, Y)
    alone = np.concatenate([model.predict(X[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, model.predict(X)[:20], rtol=1e-12)


# --- recipes


PAPER = {
    "support": "real", "theta_link": "exp", "hidden": (32,), "head_hidden": (32,), "activation": "relu",
    "residual": True, "batch_norm": False, "dropout": 0.1, "members": 1, "optimizer": "adam", "learning_rate": 0.01,
    "schedule": "constant", "warmup": 0, "batch_size": 128, "max_epochs": 200, "weight_decay": 0.0, "clip_norm": 0.0,
    "validation": 0.2, "start": "random", "point": "mean", "clip_features": 5.0,
}  # fmt: skip


def paper_outputs(model, x):
    """The network of the paper, written down once more: h = relu(W x + b) + P x, then a head for each parameter."""
    w = {name: array[0].astype(float) for name, array in model.fitted_.weights.items()}
    x = (x - x.mean(0)) / x.std(0)
    both = np.clip(x, -5, 5) @ w["hidden0.weight"]
    h = np.maximum(both[:, :32] + w["hidden0.bias"], 0) + both[:, 32:]
    outputs = []
    for k in range(3):
        own = slice(32 * k, 32 * (k + 1))
        layer = np.maximum(h @ w["head0.weight"][:, own] + w["head0.bias"][own], 0)
        outputs.append(np.exp(layer @ w["output.weight"][k] + w["output.bias"][k]))
    return outputs


def test_the_paper_s_network_and_training():
    model = ALDSurvival("paper", random_state=0).fit(X, Y)
    assert {name: getattr(model.settings_, name) for name in PAPER} == PAPER
    # W (d, 32) and b, P (d, 32) without bias; three heads (32, 32) with bias; three outputs of 32 and a bias.
    d, count = 3, sum(array.size for array in model.fitted_.weights.values())
    assert count == (d * 32 + 32) + d * 32 + 3 * (32 * 32 + 32) + 3 * (32 + 1)
    theta, sigma, kappa = paper_outputs(model, X)
    predicted, unit = model.predict_distribution(X), np.median(TIME)
    np.testing.assert_allclose(predicted.theta[:, 0], unit * theta, rtol=1e-4)
    np.testing.assert_allclose(predicted.sigma[:, 0], unit * sigma, rtol=1e-4)
    np.testing.assert_allclose(predicted.kappa[:, 0], kappa, rtol=1e-4)
    assert type(predicted).__name__ == "AsymmetricLaplace"
    history = model.history_
    assert history.stopped_by == "patience"
    assert history.epochs == history.best_epoch[0] + model.settings_.patience
    assert set(history.learning_rate) == {0.01}
    np.testing.assert_allclose(model.predict_time(X), predicted.mean())


@pytest.mark.parametrize(
    ("name", "value"),
    [("dropout", 0.3), ("members", 2), ("theta_link", "identity"), ("support", "log"), ("hidden", (8, 8)),
     ("learning_rate", 0.001), ("clip_features", 3.0), ("point", "median"), ("patience", 4), ("dropout", 0)],
)  # fmt: skip
def test_one_parameter_changes_one_setting(name, value):
    plain = asdict(ALDSurvival("paper", max_epochs=1).fit(X, Y).settings_)
    changed = asdict(ALDSurvival("paper", max_epochs=1, **{name: value}).fit(X, Y).settings_)
    assert changed == {**plain, name: value}
    assert plain[name] != value


def test_the_default_recipe_differs_where_it_says():
    settings = asdict(ALDSurvival(max_epochs=1).fit(X, Y).settings_)
    large = asdict(ALDSurvival("large", max_epochs=1).fit(X, Y).settings_)
    differs = {
        "members": (20, 5),
        "varied": (True, False),
        "shapes": ("skewed", "tied"),
        "hidden": ((32, 32), (32,)),
        "residual": (False, True),
        "learning_rate": (0.003, 0.01),
        "patience": (15, 10),
        "weight_decay": (0.1, "auto"),
    }
    assert {name: (settings[name], large[name]) for name in settings if settings[name] != large[name]} == differs
    for each in (settings, large):
        assert (each["support"], each["components"], each["start"]) == ("log", 5, "marginal")
        assert (each["bins"], each["head_hidden"]) == ("auto", ())
    added = {"patience", "time_scale", "components", "shapes", "bins", "calibration", "crps", "varied"}
    added |= {"causes", "cure"}
    assert set(settings) == {*PAPER, *added}


def test_pieces_of_columns_only_where_they_have_a_place(monkeypatch):
    assert quick(max_epochs=1).fit(X, Y).features_.width == 3 * 9
    monkeypatch.setattr("aldsurv.models.neural.ald._MOST_BINNED", 199)
    assert quick(max_epochs=1).fit(X, Y).features_.width == 3
    assert quick(max_epochs=1).fit(X[:199], Y[:199]).features_.width == 3 * 9
    assert quick(max_epochs=1, bins=2).fit(X, Y).features_.width == 3 * 3


def test_callbacks_see_epochs_and_may_stop():
    seen = []
    model = quick(max_epochs=9, callbacks=[lambda report: seen.append(report.epoch) or report.epoch == 4]).fit(X, Y)
    assert seen == [1, 2, 3, 4]
    assert (model.history_.epochs, model.history_.stopped_by) == (4, "callback")


def test_a_broken_fit_goes_on_from_its_checkpoint(tmp_path):
    path, whole = tmp_path / "fit.part", quick(max_epochs=6).fit(X, Y)

    def break_off(report):
        if report.epoch == 3:
            raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning, match="interrupted"):
        part = quick(max_epochs=6, checkpoint=path, callbacks=[break_off]).fit(X, Y)
    assert path.exists()
    assert part.history_.stopped_by == "interrupt"
    with pytest.raises(DataError, match="no checkpoint of this run"):
        quick(max_epochs=6, checkpoint=path, random_state=1).fit(X, Y)
    assert same_bits(quick(max_epochs=6, checkpoint=str(path)).fit(X, Y), whole)
    assert not path.exists()
