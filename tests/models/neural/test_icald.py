"""Individually calibrated models: the mixture over levels, what is learned, what is put right, and files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from child_process import machine_variables
from numpy.testing import assert_allclose, assert_array_equal

import aldsurv
from aldsurv import ALDSurvival, SurvivalData, WeibullAFT, metrics
from aldsurv.distributions import AsymmetricLaplace, MixedAsymmetricLaplace, Mixture, SurvivalDistribution, Weibull
from aldsurv.distributions.wrappers.corrected import flat_mixture
from aldsurv.errors import CensoringError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models import ICALDCalibrated, ICALDSurvival, RecalibratedSurvival, SurvivalEstimator
from aldsurv.networks import forward
from models.rows import data as small_data

QUICK = {"max_epochs": 4, "members": 2, "progress": False, "random_state": 0}


@pytest.fixture(scope="module", params=["real", "positive", "log"])
def fitted(request):
    x, y = small_data(200)
    return x, ICALDSurvival("paper", support=request.param, theta_link="auto", nodes=48, **QUICK).fit(x, y)


def test_the_prediction_is_the_mean_over_random_levels(fitted):
    x, model = fitted
    predicted = model.predict_distribution(x[:5])
    assert isinstance(predicted, MixedAsymmetricLaplace)
    assert predicted.theta.shape == (5, 2 * 48)
    levels = np.random.default_rng(0).random(20_000)
    raw = forward(model.fitted_.network, model.fitted_.weights, model.features_.transform(x[:5]), levels)
    times = np.quantile(small_data(200)[1].time, [0.1, 0.3, 0.5, 0.7, 0.9])
    theta = np.exp(raw[..., 0]) if model.settings_.theta_link == "exp" else raw[..., 0]
    drawn = []
    for own, place in zip(raw, theta, strict=True):
        sigma, kappa = np.exp(own[..., 1:]).transpose(2, 0, 1)
        each = MixedAsymmetricLaplace(place, sigma, kappa, support=model.settings_.support)
        parts = np.stack([part.survival(times / model.fitted_.time_scale) for part in each.components[::200]])
        drawn.append((each.survival(times / model.fitted_.time_scale), parts.std(axis=0) / np.sqrt(20_000)))
    wanted = np.mean([mean for mean, _ in drawn], axis=0)
    error = np.sqrt(np.sum([error**2 for _, error in drawn], axis=0)) / 2
    assert (np.abs(predicted.survival(times) - wanted) < 5 * error + 1e-6).all()
    # Quantiles are those of the mixture itself.
    assert_allclose(predicted.cdf(predicted.quantile([0.2, 0.5, 0.8])), np.tile([0.2, 0.5, 0.8], (5, 1)), atol=1e-9)


def ald_rows(n, seed, scale=1.0):
    """Times that are asymmetric Laplace, with a location and a scale that depend on columns; a quarter censored."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    truth = AsymmetricLaplace(10 + 2 * x[:, 0], scale * np.exp(0.4 * x[:, 1]), 0.8)
    time, lost = truth.sample(random_state=seed), rng.uniform(4, 30, n)
    return x, SurvivalData.right(np.clip(np.minimum(time, lost), 0.01, None), time <= lost), truth


def test_distributions_of_individuals_are_found():
    (x, y, _), (fresh, seen, truth) = ald_rows(800, 0), ald_rows(400, 1)
    settings = {"likelihood_share": 0.5, "max_epochs": 20, "nodes": 8, "progress": False, "random_state": 0}
    shuffled = ICALDSurvival("paper", **settings).fit(x[np.random.default_rng(0).permutation(800)], y)
    control = shuffled.predict_distribution(fresh)
    far, worst = metrics.individual_calibration(control, truth), metrics.worst_group_calibration(control, seen, fresh)
    # Who learned from shuffled columns is calibrated on average, but not for anybody.
    assert metrics.average_calibration(control, seen) < 0.1
    for target in ("cdf", "pinball"):
        found = ICALDSurvival("paper", target=target, **settings).fit(x, y).predict_distribution(fresh)
        assert metrics.average_calibration(found, seen) < 0.1
        assert metrics.individual_calibration(found, truth) < 0.5 * far
        assert metrics.worst_group_calibration(found, seen, fresh).distance < 0.7 * worst.distance


class WideForSome(SurvivalEstimator):
    """The truth of `ald_rows`, but three times as wide where the third column is positive; nothing is learned."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_, self.unique_times_ = X.shape[1], np.array([1.0, 20.0])
        return self

    def predict_distribution(self, X) -> SurvivalDistribution:
        wide = np.where(X[:, 2] > 0, 3.0, 1.0)
        return AsymmetricLaplace(10 + 2 * X[:, 0], wide * np.exp(0.4 * X[:, 1]), 0.8)

    @property
    def error_point_(self):
        return "median"

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError


def test_what_is_wrong_in_one_group_is_put_right_there():
    (x, y, _), (fresh, seen, truth) = ald_rows(2000, 2), ald_rows(600, 3)
    given = {"validation": 0.9, "random_state": 0}
    settings = {"likelihood_share": 0.9, "learning_rate": 0.02, "max_epochs": 20, "nodes": 8, "members": 3}
    model = ICALDCalibrated(WideForSome(), **settings, **given).fit(x, y)
    one_map = RecalibratedSurvival(WideForSome(), **given).fit(x, y)
    before, after, control = (each.predict_distribution(fresh) for each in (model.estimator_, model, one_map))
    distances = [metrics.individual_calibration(each, truth) for each in (before, after, control)]
    worst = [metrics.worst_group_calibration(each, seen, fresh).distance for each in (before, after, control)]
    # One map for all rows cannot tell the group apart; a network that sees the columns can.
    # Six seeds of training had ratios of 0.60 to 0.64, 0.39 to 0.54, 0.29 to 0.35 and 0.44 to 0.54,
    assert worst[2] > 0.5 * worst[0]
    assert worst[1] < 0.6 * worst[0]
    assert distances[1] < 0.5 * distances[0]
    assert distances[1] < 0.7 * distances[2]
    # Those who were right stay nearly so, while one map does to them what only the others need.
    right = fresh[:, 2] < -0.3
    after_right, control_right = (metrics.individual_calibration(d[right], truth[right]) for d in (after, control))
    # and here of 0.39 to 0.48.
    assert after_right < 0.7 * control_right
    assert metrics.log_likelihood(after, seen) > metrics.log_likelihood(before, seen)


def test_factors_of_one_leave_everything_as_it_was():
    x, y = small_data(8)
    inner = ALDSurvival("paper", max_epochs=2, progress=False)
    with pytest.warns(UserWarning, match="too few to calibrate by"):
        model = ICALDCalibrated(inner, validation=0.05, random_state=0).fit(x, y)
    times = np.array([1.0, 5.0, 20.0])
    before, after = (each.predict_distribution(x).survival(times) for each in (model.estimator_, model))
    assert_allclose(after, before, rtol=1e-12)
    assert model.summary().splitlines() == ["Individually calibrated ALDSurvival", "  epochs          kept none"]


def test_mixtures_as_one():
    rng = np.random.default_rng(0)
    several = MixedAsymmetricLaplace(np.full((3, 2), [4.0, 6.0]), 1.0, [1.0, 2.0])
    parts = [AsymmetricLaplace(rng.normal(5, 1, 3), 1.0, 0.8), several]
    mixture, times = Mixture(parts, [0.2, 0.8]), np.array([2.0, 4.0, 6.0, 9.0])
    assert_allclose(flat_mixture(mixture).survival(times), mixture.survival(times), rtol=1e-13)
    assert flat_mixture(Weibull([1.0], 2.0)) is None
    assert flat_mixture(Mixture([parts[0], Weibull([1.0] * 3, 2.0)])) is None
    mixed = Mixture([parts[0], MixedAsymmetricLaplace(np.ones((3, 1)), 1.0, 1.0, support="log")])
    assert flat_mixture(mixed) is None


def test_early_stopping_sees_the_same_levels_in_every_epoch():
    x, y = small_data(200)
    settings = {**QUICK, "members": 1, "max_epochs": 3, "dropout": 0.0}
    model = ICALDSurvival("paper", learning_rate=1e-12, **settings).fit(x, y)
    history = model.history_
    # Weights that stand still: the validation loss does, too, while fresh levels move the training loss.
    assert_allclose(history.validation_loss, np.full((3, 1), history.validation_loss[0]), rtol=1e-6)
    assert np.ptp(history.train_loss) > 1e-4


def test_rows_without_weight_are_as_if_they_were_not_there():
    x, y = small_data(100)
    weight = np.where(np.arange(100) < 60, 1.0, 0.0)
    changed = SurvivalData.right(np.where(weight > 0, y.time, 7.0), y.event)
    inner = ALDSurvival("paper", time_scale=5.0, **QUICK)
    for model in (
        ICALDSurvival(**QUICK, time_scale=5.0),
        ICALDCalibrated(inner, validation=0.4, max_epochs=3, nodes=4, random_state=0),
    ):
        first, second = (model.fit(x, rows, weight).predict(x[:50]) for rows in (y, changed))
        assert_allclose(first, second, rtol=1e-4)
        # One that has weight makes a difference.
        assert not np.allclose(model.fit(x, changed).predict(x[:50]), first, rtol=1e-3)


def test_every_kind_of_row_an_encoder_and_a_checkpoint(tmp_path):
    x, y = small_data(120)
    lower, upper = y.time.copy(), y.time.copy()
    upper[:40], lower[40:60], upper[60:80] = np.inf, -np.inf, y.time[60:80] * 1.2
    entry = np.where(np.arange(120) % 3 == 0, 0.3 * y.time, -np.inf)
    rows = SurvivalData.interval(lower, upper, entry=np.where(np.isfinite(lower), entry, -np.inf))
    assert np.isfinite(ICALDSurvival(**QUICK).fit(x, rows).predict(x)).all()
    model = ICALDSurvival(encoder=lambda: torch.nn.Linear(3, 5), **QUICK).fit(x.astype(np.float32), y)
    assert model.fitted_.network.inputs == 5
    assert np.isfinite(model.predict(x.astype(np.float32))).all()

    def stop(report):
        if report.epoch == 3:
            raise TimeoutError

    # An epoch after a resume is the epoch it would have been: its levels do not come out of a stream.
    from aldsurv.training import loop

    settings = {**QUICK, "max_epochs": 5}
    whole = ICALDSurvival(**settings).fit(x, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", 0.0)
        with pytest.raises(TimeoutError):
            ICALDSurvival(**settings, checkpoint=tmp_path / "c", callbacks=[stop]).fit(x, y)
    assert (tmp_path / "c").exists()
    resumed = ICALDSurvival(**settings, checkpoint=tmp_path / "c").fit(x, y)
    assert_array_equal(resumed.predict(x), whole.predict(x))


@pytest.fixture(scope="module", params=["icald", "calibrated"])
def saved(request, tmp_path_factory):
    x, y = small_data(150)
    x = pd.DataFrame(x, columns=["a", "b", "c"])
    if request.param == "icald":
        model = ICALDSurvival(**QUICK)
    else:
        inner = ALDSurvival(**{**QUICK, "random_state": None})
        model = ICALDCalibrated(inner, folds=2, members=2, max_epochs=3, hidden=[6], random_state=0)
    model.fit(x, y)
    return x, model, model.save(tmp_path_factory.mktemp("saved") / "model.aldsurv")


ALONE = """
import sys, warnings

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
warnings.simplefilter("ignore")
import numpy as np, aldsurv
predicted = aldsurv.load(sys.argv[1]).predict_distribution(np.load(sys.argv[2]))
print(predicted.median().tobytes().hex(), end="")
"""


def test_saved_as_data_and_read_with_numpy_alone(saved, tmp_path):
    x, model, path = saved
    loaded = aldsurv.load(path)
    assert loaded.predict(x).tobytes() == model.predict(x).tobytes()
    assert loaded.summary() == model.summary()
    np.save(tmp_path / "x.npy", x.to_numpy())
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), str(tmp_path / "x.npy")],
        env={"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == model.predict_distribution(x).median().tobytes().hex()


@pytest.mark.parametrize("damage", ["weights", "missing", "more", "nodes", "network", "share"])
def test_a_damaged_file_is_refused(saved, tmp_path, damage):
    _, model, path = saved
    document, arrays = read_model_file(path)
    arrays, inner = dict(arrays), isinstance(model, ICALDSurvival)
    start, settings = ("network.", "settings") if inner else ("correction.", "parameters")
    if damage == "weights":
        arrays[f"{start}output.bias"] = arrays[f"{start}output.bias"][:, :2].copy()
    elif damage == "missing":
        del arrays[f"{start}output.bias"]
    elif damage == "more":
        arrays[f"{start}further"] = np.zeros(3, np.float32)
    elif damage == "nodes":
        document[settings]["nodes"] = 0
    elif damage == "share":
        document[settings]["likelihood_share"] = "much"
    elif inner:
        del document["network"]["level_units"]
    else:
        document["correction"]["inputs"] = 9
    with pytest.raises(ModelFileError):
        aldsurv.load(write_model_file(tmp_path / "damaged", document, arrays))


@pytest.mark.filterwarnings("ignore:.*too few")
def test_what_is_refused():
    x, y = small_data(60)
    for settings, message in (
        ({"likelihood_share": 0.0}, "likelihood_share must be a number above 0"),
        ({"likelihood_share": 1.5}, "likelihood_share must be a number above 0 and at most 1"),
        ({"target": "quantile"}, "target must be 'cdf' or 'pinball'"),
        ({"nodes": 0}, "nodes must be a whole number"),
        ({"level_units": ()}, "level_units must be sizes"),
        ({"level_units": (0,)}, "level_units must be"),
        ({"support": "whole"}, "support must be one of"),
    ):
        with pytest.raises(ParameterError, match=message):
            ICALDSurvival(**{**QUICK, **settings}).fit(x, y)
    for settings, message in (
        ({"likelihood_share": "much"}, "likelihood_share must be a number above 0"),
        ({"folds": 1}, "folds must be"),
        ({"members": 0}, "members must be"),
        ({"stopping": 1.0}, "stopping must be"),
        ({"hidden": (0,)}, "hidden must be"),
        ({"max_epochs": 0}, "max_epochs must be"),
        ({"estimator": WeibullAFT()}, "must predict asymmetric Laplace.*but WeibullAFT predicts Weibull"),
        ({"estimator": "ald"}, "estimator must be one of aldsurv's"),
    ):
        inner = ALDSurvival("paper", max_epochs=1, progress=False)
        with pytest.raises(ParameterError, match=message):
            ICALDCalibrated(**{"estimator": inner, "folds": 2, **settings}).fit(x, y)
    with pytest.raises(CensoringError, match="exact and right-censored"):
        ICALDCalibrated(ALDSurvival("paper")).fit(x, SurvivalData.interval(y.lower, y.lower + 1))


def test_numpy_numbers_are_parameters_too(tmp_path):
    x, y = small_data(120)
    inner = ALDSurvival("paper", max_epochs=1, progress=False)
    plain = {"nodes": 4, "members": 2, "hidden": (8,), "max_epochs": 2, "stopping": 0.25, "likelihood_share": 0.5}
    odd = {"nodes": np.int64(4), "members": np.int32(2), "hidden": (np.int64(8),), "max_epochs": np.int64(2)}
    odd |= {"stopping": np.float32(0.25), "likelihood_share": np.float32(0.5)}
    first, second = (ICALDCalibrated(inner, validation=0.4, random_state=0, **own).fit(x, y) for own in (plain, odd))
    assert_array_equal(first.predict(x), second.predict(x))
    assert_array_equal(aldsurv.load(second.save(tmp_path / "model")).predict(x), second.predict(x))
