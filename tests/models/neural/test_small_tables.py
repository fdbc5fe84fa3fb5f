"""Tables of few rows: their recipe, and members of two kinds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import aldsurv
from aldsurv import ALDSurvival, SurvivalData
from aldsurv.columns.covariates import table_size
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.networks import Architecture
from aldsurv.training.marginal_start import best_constant
from aldsurv.training.weights import WeightBlock

SHORT = {"max_epochs": 4, "members": 4, "random_state": 0, "progress": False}


def drawn(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    time = np.exp(0.5 * x[:, 0] + rng.logistic(scale=0.4, size=n))
    return x, SurvivalData.right(time, rng.random(n) < 0.7)


@pytest.fixture(scope="module")
def varied():
    x, y = drawn()
    return ALDSurvival(**SHORT).fit(x, y)


@pytest.mark.parametrize(
    ("size", "recipe"),
    [
        ((1, 1), "small"),
        ((1000, 250), "small"),
        ((1001, 5), "large"),
        ((50, 251), "large"),
        (None, "large"),
        ((50_000, 9), "large"),
        ((50_001, 300), "larger"),
        ((100_001, 9), "huge"),
    ],
)
def test_the_default_recipe_goes_by_rows_and_columns(size, recipe):
    assert ALDSurvival().settings(size) == ALDSurvival.RECIPES[recipe].completed()


def test_recipes_that_are_named_hold_for_any_table():
    assert ALDSurvival("small").settings((10**6, 3)) == ALDSurvival.RECIPES["small"].completed()
    assert ALDSurvival("paper").settings((10, 3)) == ALDSurvival.RECIPES["paper"].completed()


def test_what_is_given_holds_for_any_table():
    model = ALDSurvival(members=3, hidden=(7,), varied=False)
    for rows in (10, 10**6):
        settings = model.settings((rows, 3))
        assert (settings.members, settings.hidden, settings.varied) == (3, (7,), False)


def test_varied_is_a_truth_value():
    with pytest.raises(ParameterError, match="varied must be True or False, but is 3"):
        ALDSurvival(varied=3).settings()


def test_tables_are_counted_without_reading():
    x, _ = drawn(17)
    assert table_size(x) == table_size(x.tolist()) == table_size(dict(zip("abc", x.T, strict=True))) == (17, 3)
    assert [table_size(none) for none in (None, [], {}, x[0], 3)] == [None] * 5


def test_a_fit_has_the_settings_of_its_rows(varied):
    assert varied.settings_.varied
    assert varied.settings_.shapes == "skewed"
    x, y = drawn(1001)
    assert not ALDSurvival(**{**SHORT, "max_epochs": 1, "members": 1}).fit(x, y).settings_.varied


def test_plain_members_have_one_component_and_no_pieces(varied):
    pieces = varied.features_.piece_columns
    assert pieces.sum() == 3 * 8
    assert not pieces[0]
    weights = varied.fitted_.weights["hidden0.weight"]
    for member, part in enumerate(varied.predict_members(drawn(5, seed=1)[0])):
        plain = member % 2 == 1
        assert (np.abs(weights[member][pieces]).max() == 0) == plain
        assert np.abs(weights[member][~pieces]).min() > 0
        spread = max(float(np.ptp(getattr(part, name), axis=1).max()) for name in ("theta", "sigma", "kappa"))
        assert (spread < 1e-12) == plain


def test_a_plain_member_is_one_asymmetric_laplace_distribution(varied):
    part = varied.predict_members(drawn(6, seed=2)[0])[1]
    times = np.array([0.1, 0.5, 1.0, 3.0])
    theta, sigma, kappa = (np.asarray(getattr(part, name))[:, :1] for name in ("theta", "sigma", "kappa"))
    single = stats.laplace_asymmetric(kappa, loc=theta, scale=sigma / np.sqrt(2))
    assert_allclose(part.survival(times), single.sf(np.log(times)), rtol=1e-9)


def test_covariates_move_the_asymmetry(varied):
    part = varied.predict_members(drawn(50, seed=3)[0])[1]
    assert float(np.ptp(np.asarray(part.kappa)[:, 0])) > 1e-6


def test_other_members_learn_what_they_learn_without_plain_ones_beside_them(varied):
    x, y = drawn()
    alike = ALDSurvival(**SHORT, varied=False).fit(x, y)
    for name, array in alike.fitted_.weights.items():
        assert_array_equal(array[::2], varied.fitted_.weights[name][::2], err_msg=name)
        assert not np.array_equal(array[1], varied.fitted_.weights[name][1])


def test_files_hold_varied_members(varied, tmp_path):
    x, _ = drawn(9, seed=4)
    loaded = aldsurv.load(varied.save(tmp_path / "model.aldsurv"))
    assert_array_equal(loaded.predict(x), varied.predict(x))
    assert loaded.settings_ == varied.settings_


def test_the_start_of_a_plain_member_is_the_best_single_distribution():
    _, y = drawn(200, seed=5)
    layout = MixtureOutputs(5, tied=True, exp_theta=False, skewed=True)
    objective = mixture_objective(layout, SUPPORTS["log"], y, 1e-6)
    found = best_constant(objective, np.arange(200), None, layout.one_place)
    assert_allclose(found[3:], layout.one_place[3:], atol=1e-3)

    def log_likelihood(theta, log_sigma, log_kappa):
        shape = {"kappa": np.exp(log_kappa), "loc": theta, "scale": np.exp(log_sigma) / np.sqrt(2)}
        inside = np.log(y.time)
        rows = np.where(
            y.event, stats.laplace_asymmetric.logpdf(inside, **shape), stats.laplace_asymmetric.logsf(inside, **shape)
        )
        return rows.mean()

    best = log_likelihood(*found[:3])
    for step in np.eye(3) * 0.1:
        assert best > log_likelihood(*(found[:3] + step))
        assert best > log_likelihood(*(found[:3] - step))


def test_fixed_weights_get_no_gradient():
    network = Architecture(inputs=3, outputs=2, hidden=(4,), head_hidden=(), residual=False)
    initial = [network.initial(np.random.default_rng(k)) for k in range(2)]
    unused = np.array([[True] * 4, [False] * 4, [True] * 4])
    block = WeightBlock(network, initial, torch.device("cpu"), torch.float64, [{}, {"hidden0.weight": unused}])
    for gradient in block.gradients.values():
        gradient.fill_(1.0)
    block.leave_fixed()
    assert_array_equal(block.gradients["hidden0.weight"].numpy(), np.stack([np.ones((3, 4)), unused]))
    assert bool((block.gradients["output.weight"] == 1).all())
