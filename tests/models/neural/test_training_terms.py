"""Terms beside the likelihood: what they do to a fit, and that without them nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from aldsurv import ALDSurvival, SurvivalData, load, metrics
from aldsurv.errors import ParameterError
from aldsurv.models import fit_together

QUICK = {"members": 2, "max_epochs": 3, "hidden": (8,), "head_hidden": (8,), "progress": False}


def two_groups(n=400, seed=0):
    """Early and late events that no covariate tells apart: one asymmetric Laplace distribution cannot fit them."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (n, 2))
    event = np.where(rng.random(n) < 0.5, 1.0, 6.0) * np.exp(0.1 * x[:, 0] + 0.05 * rng.normal(size=n))
    censoring = rng.exponential(12.0, n)
    return x, (np.minimum(event, censoring), event <= censoring)


# As wrong as it may be: one component, as it was in the paper, and nothing that holds the weights back.
WRONG = {
    "components": 1, "head_hidden": (32,), "bins": 0, "weight_decay": 0.1, "members": 1, "batch_size": 400,
    "patience": 0, "max_epochs": 100, "validation": 0.0, "learning_rate": 0.01, "random_state": 0, "progress": False,
}  # fmt: skip


def test_terms_improve_on_the_training_rows_of_a_wrong_model_what_they_are():
    x, y = two_groups()

    def predicted(**terms):
        return ALDSurvival(**WRONG, **terms).fit(x, y).predict_distribution(x)

    data = SurvivalData.right(*y)
    plain = {support: predicted(support=support) for support in ("real", "log")}
    for support, without in plain.items():
        found = metrics.censored_d_calibration(predicted(support=support, calibration=30.0), data)
        assert found < 0.6 * metrics.censored_d_calibration(without, data), support
    assert metrics.survival_crps(predicted(support="real", crps=1.0), data) < metrics.survival_crps(plain["real"], data)


@pytest.mark.parametrize("components", [1, 2])
def test_alone_together_and_from_a_file_are_the_same_bits(tmp_path, components):
    (x, y), (z, w) = two_groups(120), two_groups(120, seed=1)
    given = {**QUICK, "components": components, "calibration": 0.5, "crps": 0.25}
    alone = ALDSurvival(**given, random_state=1).fit(z, w)
    _, together = fit_together([ALDSurvival(**given, random_state=k) for k in (0, 1)], [(x, y), (z, w)])
    expected = alone.predict_distribution(z).survival([1.0, 5.0])
    assert_array_equal(together.predict_distribution(z).survival([1.0, 5.0]), expected)
    alone.save(tmp_path / "model.aldsurv")
    again = load(tmp_path / "model.aldsurv")
    assert_array_equal(again.predict_distribution(z).survival([1.0, 5.0]), expected)
    assert (again.settings_.calibration, again.settings_.crps) == (0.5, 0.25)


def test_zero_is_as_if_there_were_none_and_more_is_not():
    x, y = two_groups(120)
    times = np.array([1.0, 3.0, 6.0])
    plain, zero, more = (
        ALDSurvival(**QUICK, **terms, random_state=0).fit(x, y).predict_distribution(x).survival(times)
        for terms in ({}, {"calibration": 0, "crps": 0.0}, {"calibration": 1.0})
    )
    assert_array_equal(plain, zero)
    assert np.abs(more - plain).max() > 1e-6


def test_the_summary_does_not_call_it_a_log_likelihood():
    x, y = two_groups(120)
    assert "log-likelihood" in ALDSurvival(**QUICK, random_state=0).fit(x, y).summary()
    assert "log-likelihood" not in ALDSurvival(**QUICK, crps=0.5, random_state=0).fit(x, y).summary()


@pytest.mark.parametrize(
    "wrong", [{"crps": 1.5}, {"crps": -0.1}, {"crps": True}, {"calibration": -1.0}, {"calibration": np.inf}]
)
def test_weights_must_make_sense(wrong):
    (name,) = wrong
    with pytest.raises(ParameterError, match=f"{name} must be"):
        ALDSurvival(**wrong).fit(*two_groups(50))
