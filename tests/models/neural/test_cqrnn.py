from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions import LogNormal, Mixture, QuantileKnots
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.losses.quantile_objective import QuantileObjective
from aldsurv.models import fit_together
from aldsurv.models.neural.cqrnn import CQRNN

GRID = np.stack([np.linspace(-0.9, 0.9, 15), np.tile([-0.5, 0.0, 0.5], 5)], 1)
QUICK = {
    "members": 1,
    "learning_rate": 0.01,
    "schedule": "cosine",
    "dropout": 0.0,
    "weight_decay": 0.01,
    "max_epochs": 40,
    "batch_size": 256,
    "random_state": 0,
    "progress": False,
}
SMALL = {**QUICK, "max_epochs": 3, "quantiles": (0.25, 0.5, 0.75), "hidden": (8,)}


def truth(x):
    return LogNormal(1.0 + 0.8 * x[:, 0] - 0.5 * np.sin(2 * x[:, 1]), 0.4 + 0.2 * x[:, 0] ** 2)


def censored(n=2000, seed=0):
    """Covariates, censored times (a third), and the same taken for events."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2))
    time, lost = truth(x).quantile(rng.uniform(size=n)[:, None])[:, 0], rng.exponential(6.0, n)
    seen = np.minimum(time, lost)
    return x, SurvivalData.right(seen, time <= lost), SurvivalData.right(seen, np.ones(n))


def error(model, levels=(0.1, 0.3, 0.5, 0.7)):
    """Mean distance of fitted from true quantiles, in widths of the true central 80 %."""
    wanted, width = truth(GRID).quantile(levels), truth(GRID).quantile([0.1, 0.9])
    found = model.predict_distribution(GRID).quantile(levels)
    return (np.abs(found - wanted) / (width[:, 1:] - width[:, :1])).mean()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"support": "real", "crossing": "sorted", "censored_level": "nearest"},
        {"algorithm": "sequential", "quantiles": (0.1, 0.3, 0.5, 0.7, 0.9), "hidden": (32,), "max_epochs": 12},
    ],
    ids=["default", "paper's loss", "sequential"],
)
def test_quantiles_are_found_and_censoring_counts(settings):
    x, known, careless = censored()
    found = error(CQRNN(**{**QUICK, **settings}).fit(x, known))
    assert found < 0.1
    assert error(CQRNN(**{**QUICK, **settings}).fit(x, careless)) > 2 * found


@pytest.mark.parametrize("algorithm", ["grid", "sequential"])
def test_without_hidden_layers_and_censoring_it_is_linear_quantile_regression(algorithm):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 2))
    time = 20 + 2 * x[:, 0] - x[:, 1] + (1 + 0.3 * np.abs(x[:, 0])) * rng.gumbel(size=500)
    levels = (0.2, 0.7)
    model = CQRNN(
        "paper",
        quantiles=levels,
        algorithm=algorithm,
        hidden=(),
        weight_decay=0.0,
        max_epochs=200,
        schedule="cosine",
        learning_rate=0.05,
        random_state=0,
        progress=False,
    ).fit(x, (time, np.ones(500)))
    found = model.predict_distribution(x).quantile(levels)
    for k, q in enumerate(levels):
        wanted = QuantileRegressor(quantile=q, alpha=0).fit(x, time).predict(x)
        assert np.abs(found[:, k] - wanted).mean() < 0.02 * time.std()


def test_the_sequential_networks_come_one_after_the_other():
    x, known, _ = censored(300)
    settings = {
        **SMALL,
        "algorithm": "sequential",
        "support": "real",
        "members": 2,
        "validation": 0.0,
        "time_scale": 1.0,
        "start": "random",
    }
    model = CQRNN(**settings).fit(x, known)
    network, raw = model.fitted_.network, model.predict_outputs(x)
    assert (network.hidden, network.head_hidden, network.outputs) == ((), (8,), 3)
    assert (model.history_.epochs, model.history_.train_loss.shape) == (9, (9, 2))
    # The first knows nothing of what had happened by the censoring times: those rows lie at y*.
    seen = np.where(known.event, known.time, 2.0 * known.time.max())
    first = CQRNN(**settings).fit(x, (seen, np.ones(300)))
    np.testing.assert_array_equal(first.predict_outputs(x)[..., 0], raw[..., 0])
    assert not np.array_equal(first.predict_outputs(x)[..., 1], raw[..., 1])
    # A later quantile does not touch those before it.
    fewer = CQRNN(**{**settings, "quantiles": (0.25, 0.5)}).fit(x, known)
    np.testing.assert_array_equal(fewer.predict_outputs(x), raw[..., :2])
    # The levels that the second stage was told: that of the first quantile where it is beyond the time.
    from aldsurv.models.neural.fitting.quantile_stages import _levels_of_censoring

    prepared = CQRNN(**settings).prepare(x, known)
    found = _levels_of_censoring(prepared, raw[..., :1])
    beyond = raw[..., 0] > known.time
    np.testing.assert_array_equal(found[~beyond], 1.0)
    np.testing.assert_allclose(found[beyond], (0.25 * known.time / raw[..., 0])[beyond], rtol=1e-12)


def test_sequential_fits_that_share_a_loop():
    settings = {**SMALL, "algorithm": "sequential", "members": 2}
    sets = [censored(120, seed)[:2] for seed in range(2)]
    models = fit_together([CQRNN(**settings) for _ in sets], sets)
    for model, given in zip(models, sets, strict=True):
        alone = CQRNN(**settings).fit(*given)
        np.testing.assert_array_equal(model.predict_outputs(given[0]), alone.predict_outputs(given[0]))


def test_an_interrupt_between_quantiles_leaves_no_half_a_model():
    epochs = []

    def interrupt(report):
        epochs.append(report.epoch)
        if len(epochs) == 5:
            raise KeyboardInterrupt

    x, known, _ = censored(100)
    model = CQRNN(**{**SMALL, "algorithm": "sequential", "callbacks": [interrupt]})
    with pytest.warns(RuntimeWarning, match="interrupted"), pytest.raises(KeyboardInterrupt):
        model.fit(x, known)
    assert epochs == [1, 2, 3, 1, 2]
    with pytest.raises(aldsurv.errors.NotFittedError):
        model.predict(x)


def test_members_of_the_sequential_algorithm_stop_by_themselves():
    x, known, _ = censored(300)
    settings = {
        **SMALL,
        "algorithm": "sequential",
        "members": 3,
        "max_epochs": 30,
        "patience": 3,
        "learning_rate": 0.05,
    }
    model = CQRNN(**settings).fit(x, known)
    assert model.history_.stopped_by == "patience"
    assert model.history_.validation_loss.shape == (model.history_.epochs, 3)
    alone = CQRNN(**{**settings, "members": 2}).fit(x, known)
    # Seeds of members do not depend on how many there are, but which rows are held out goes by the share alone.
    np.testing.assert_array_equal(alone.predict_outputs(x), model.predict_outputs(x)[:2])


@pytest.mark.parametrize("algorithm", ["grid", "sequential"])
def test_saved_and_loaded(algorithm, tmp_path):
    x, known, _ = censored(200)
    model = CQRNN(**{**SMALL, "members": 2, "algorithm": algorithm}).fit(x, known)
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    first, second = (fitted.predict_distribution(x).survival([1.0, 3.0]) for fitted in (model, loaded))
    assert first.tobytes() == second.tobytes()
    assert loaded.y_star_ == pytest.approx(2.0 * known.time.max())
    assert "3 quantiles" in loaded.summary()


def test_a_damaged_file_is_refused(tmp_path):
    x, known, _ = censored(60)
    model = CQRNN(**SMALL).fit(x, known)
    document, arrays = read_model_file(model.save(tmp_path / "model"))
    without = {name: array for name, array in arrays.items() if not name.startswith("learned.")}
    for changed in (without, {**arrays, "learned.y_star": np.array([-1.0])}, {**arrays, "learned.more": np.ones(1)}):
        write_model_file(tmp_path / "broken", document, changed)
        with pytest.raises(aldsurv.errors.ModelFileError):
            aldsurv.load(tmp_path / "broken")


def test_quantiles_never_cross_or_are_sorted():
    x, known, _ = censored(300)
    wild = {**SMALL, "quantiles": tuple(np.linspace(0.05, 0.95, 19)), "learning_rate": 0.3, "max_epochs": 5}
    never = CQRNN(**{**wild, "crossing": "never"}).fit(x, known).predict_distribution(x)
    assert isinstance(never, QuantileKnots)
    assert not never.crossed.any()
    sorted_ = CQRNN(**{**wild, "crossing": "sorted", "start": "random"}).fit(x, known).predict_distribution(x)
    assert sorted_.crossed.any()
    for predicted in (never, sorted_):
        assert (np.diff(predicted.quantile(np.linspace(0.05, 0.95, 19)), axis=1) >= 0).all()


def test_members_are_mixed():
    x, known, _ = censored(200)
    model = CQRNN(**{**SMALL, "members": 3}).fit(x, known)
    predicted = model.predict_distribution(x)
    assert isinstance(predicted, Mixture)
    raw = model.predict_outputs(x)
    gaps = np.logaddexp(raw[..., 1:], 0)
    spread = model.fitted_.extras.log_spread
    quantiles = np.exp(spread * np.stack([raw[..., 0] - gaps[..., 0], raw[..., 0], raw[..., 0] + gaps[..., 1]], -1))
    parts = [QuantileKnots((0.25, 0.5, 0.75), own * model.fitted_.time_scale) for own in quantiles]
    wanted = np.mean([part.cdf([2.0, 5.0]) for part in parts], axis=0)
    np.testing.assert_allclose(predicted.cdf([2.0, 5.0]), wanted, rtol=1e-9)


def test_the_start_is_the_kaplan_meier_curve():
    from lifelines import KaplanMeierFitter
    from lifelines.utils import qth_survival_times

    x, known, _ = censored(400)
    still = {**SMALL, "learning_rate": 1e-9, "max_epochs": 1, "validation": 0.0}
    curve = KaplanMeierFitter().fit(known.time, known.event)
    for support in ("real", "log"):
        for crossing in ("never", "sorted"):
            model = CQRNN(**{**still, "support": support, "crossing": crossing}).fit(x, known)
            found = model.predict_distribution(x[:3]).quantile([0.25, 0.5, 0.75])
            wanted = [qth_survival_times(1 - q, curve.survival_function_) for q in (0.25, 0.5, 0.75)]
            np.testing.assert_allclose(found, np.broadcast_to(wanted, (3, 3)), rtol=5e-3)


def test_y_star_is_a_factor_or_a_time():
    x, known, _ = censored(200)
    largest = known.time.max()
    factor = CQRNN(**{**SMALL, "y_star": 1.5}).fit(x, known)
    value = CQRNN(**{**SMALL, "y_star": 1.5 * largest, "y_star_kind": "value"}).fit(x, known)
    np.testing.assert_allclose(factor.predict(x), value.predict(x), rtol=1e-4)
    assert factor.y_star_ == pytest.approx(1.5 * largest)
    # A row without weight has no say in what the largest time is.
    weight = np.ones(201)
    weight[200] = 0.0
    more = np.append(known.time, 1e6), np.append(known.event, False)
    weighted = CQRNN(**SMALL).fit(np.vstack([x, x[:1]]), more, sample_weight=weight)
    assert weighted.y_star_ == pytest.approx(2.0 * largest)


def test_y_star_matters_only_to_quantiles_beyond_it():
    x, known, _ = censored(400)
    settings = {**QUICK, "max_epochs": 10, "start": "random", "hidden": (16,)}
    near, far = (CQRNN(**{**settings, "quantiles": (0.1, 0.2), "y_star": y}).fit(x, known) for y in (2.0, 1e6))
    np.testing.assert_array_equal(near.predict(x), far.predict(x))
    # After time 3 nobody is seen, and most are alive: what is beyond is where y* is.
    early = SurvivalData.right(np.minimum(known.time, 3.0), known.event & (known.time < 3.0))
    high = {**settings, "start": "marginal", "quantiles": (0.5, 0.95), "y_star_kind": "value"}
    highest = [CQRNN(**{**high, "y_star": y}).fit(x, early).predict_distribution(x).quantile(0.95) for y in (4.0, 40.0)]
    assert np.median(highest[1]) > 2 * np.median(highest[0])


def test_a_row_at_time_0_counts_as_the_first_later_one():
    x, known, _ = censored(150)
    time, event = known.time.copy(), known.event.copy()
    time[:4] = 0.0
    event[:2], event[2:4] = True, False
    moved = np.maximum(time, time[time > 0].min())
    models = [CQRNN(**SMALL).fit(x, (times, event)) for times in (time, moved)]
    np.testing.assert_array_equal(models[0].predict(x), models[1].predict(x))
    assert (CQRNN(**{**SMALL, "support": "real"}).fit(x, (time, event)).predict(x) != models[0].predict(x)).any()
    with pytest.raises(DataError, match="all times are 0"):
        CQRNN(**SMALL).fit(x[:20], (np.zeros(20), np.ones(20)))


def test_a_flag_touches_its_row_only():
    # The training loss of the first epoch, before any step, changes by what the changed row alone says.
    known = censored(64)[1]
    rows = np.arange(64)
    # Above the times: below them a censored row and an event pull alike.
    raw = (known.time[None, :, None] + np.random.default_rng(0).uniform(1, 3, (1, 64, 3))).astype(np.float32)

    def losses(data, weight):
        objective = QuantileObjective(
            data, (0.25, 0.5, 0.75), np.full(64, 99.0), rule="nearest", log_spread=None, ordered=False
        )
        return objective.losses_and_slopes(raw, [field.numpy()[None] for field in objective.fields], weight)

    for changed in (0, 40):
        event = known.event.copy()
        event[changed] = ~event[changed]
        others = (rows != changed).astype(np.float32)[None]
        before, after = losses(known, others), losses(SurvivalData.right(known.time, event), others)
        assert before[0] == after[0]
        np.testing.assert_array_equal(before[1], after[1])
        own = (rows == changed).astype(np.float32)[None]
        assert losses(known, own)[0] != losses(SurvivalData.right(known.time, event), own)[0]


def test_the_paper_s_recipe():
    settings = asdict(CQRNN("paper").settings())
    assert settings["quantiles"] == pytest.approx(np.arange(1, 10) / 10)
    assert (settings["y_star"], settings["y_star_kind"], settings["algorithm"]) == (1.2, "factor", "grid")
    assert (settings["hidden"], settings["activation"], settings["weight_decay"]) == ((100, 100), "relu", 1e-4)
    assert (settings["optimizer"], settings["learning_rate"], settings["batch_size"]) == ("adam", 0.01, 128)
    assert (settings["members"], settings["validation"], settings["patience"]) == (1, 0.0, 0)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"quantiles": (0.5,)}, "two or more increasing probabilities"),
        ({"quantiles": (0.5, 0.2)}, "two or more increasing probabilities"),
        ({"quantiles": (0.0, 0.5)}, "two or more increasing probabilities"),
        ({"quantiles": "many"}, "two or more increasing probabilities"),
        ({"y_star": 1.0}, "factor above 1"),
        ({"y_star": "far"}, "y_star must be a number above 0"),
        ({"y_star": -1.0, "y_star_kind": "value"}, "y_star must be a number above 0"),
        ({"y_star": 1e-3, "y_star_kind": "value"}, "beyond the largest time"),
        ({"y_star_kind": "time"}, "y_star_kind must be 'factor' or 'value'"),
        ({"algorithm": "both"}, "algorithm must be 'grid' or 'sequential'"),
        ({"censored_level": "exact"}, "censored_level must be"),
        ({"support": "positive"}, "support must be 'real' or 'log'"),
        ({"crossing": "always"}, "crossing must be"),
        ({"algorithm": "sequential", "checkpoint": "file"}, "checkpoint must be None"),
    ],
)
def test_what_is_refused(wrong, message):
    x, known, _ = censored(50)
    with pytest.raises(ParameterError, match=message):
        CQRNN(**{**SMALL, **wrong}).fit(x, known)


def test_other_censoring_is_refused():
    x, known, _ = censored(50)
    for data in (
        SurvivalData.left(known.time, known.event),
        SurvivalData.interval(known.time, known.time + 1),
        SurvivalData.right(known.time, known.event, entry=known.time / 2),
    ):
        with pytest.raises(CensoringError, match="takes events and right-censored rows"):
            CQRNN(**SMALL).fit(x, data)
