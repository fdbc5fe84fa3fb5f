"""Rounding is no new seed: what moves the last digits of the inputs, or of the arithmetic, moves no prediction."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from aldsurv import ALDSurvival, BoostedALD, SurvivalData
from aldsurv.models import fit_together
from aldsurv.models.rows.time_units import even_weights, in_unit, time_unit

pytest.importorskip("torch")
pytest.importorskip("xgboost")

SEEDS = range(3)
# As old as may be: no fused products, other sums in products of matrices, other exponentials.
OTHER_PROCESSOR = {
    "ATEN_CPU_CAPABILITY": "default",
    "OPENBLAS_CORETYPE": "Nehalem",
    "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
}


def rows(seed):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(150, 3)), 3)
    event = 10 * np.exp(0.9 * x[:, 0] + 0.3 * x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=150))
    lost = rng.exponential(30, 150)
    return x, SurvivalData.right(np.minimum(event, lost), event <= lost)


def survival(model, seed, factor=1.0):
    x, y = rows(seed)
    return model.predict_distribution(x).survival(factor * np.quantile(y.time, np.linspace(0.1, 0.9, 9)))


def boosted(seed, factor=1.0):
    x, y = rows(seed)
    return BoostedALD(members=1, random_state=seed, max_rounds=30).fit(x, y.scaled(factor))


def all_survivals():
    networks = [ALDSurvival(members=1, random_state=seed, max_epochs=25, progress=False) for seed in SEEDS]
    fit_together(networks, [rows(seed) for seed in SEEDS])
    models = [networks, [boosted(seed) for seed in SEEDS]]
    return np.array([[survival(model, seed) for seed, model in zip(SEEDS, each, strict=True)] for each in models])


def test_another_processor(tmp_path):
    # That one number in many millions is rounded the other way is possible: then the fit is a new one.
    there = tmp_path / "there.npy"
    program = f"import numpy as np\nfrom {__name__} import all_survivals\nnp.save({str(there)!r}, all_survivals())"
    environment = {**os.environ, **OTHER_PROCESSOR, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], env=environment, check=True, capture_output=True)
    difference = np.abs(np.load(there) - all_survivals()).max(axis=(2, 3))
    assert (np.sort(difference, axis=1)[:, :-1] < 1e-6).all()


def test_boosting_in_another_unit():
    for seed in SEEDS[:2]:
        found = [survival(boosted(seed, factor), seed, factor) for factor in (1.0, 365.0)]
        np.testing.assert_allclose(*found, rtol=0, atol=1e-6)


def test_times_inside_are_the_same_in_any_unit():
    rng = np.random.default_rng(0)
    time = rng.exponential(10, 500)
    data = SurvivalData.interval(time, np.where(time < 5, time, time * 1.3), entry=time / 2)
    first = in_unit(data, time_unit(data, "median"))
    for factor in (365.0, 1 / 365.25, 7.0):
        other = in_unit(data.scaled(factor), time_unit(data.scaled(factor), "median"))
        for name in ("lower", "upper", "entry"):
            np.testing.assert_array_equal(getattr(other, name), getattr(first, name))
    # Bounds that only more digits tell apart go on to differ.
    narrow = SurvivalData.interval([1.0, 2.0], [1.0 + 1e-13, 2.0])
    assert in_unit(narrow, 1.0).interval_censored.tolist() == [True, False]


@pytest.mark.parametrize("rule", ["median", "std"])
def test_the_unit_of_time_counts_weights_as_repetitions(rule):
    rng = np.random.default_rng(0)
    time, weight = rng.exponential(10, 60), rng.integers(0, 4, 60)
    heavy = SurvivalData.right(time, np.ones(60, bool), weight=weight)
    often = SurvivalData.right(np.repeat(time, weight), np.ones(weight.sum(), bool))
    assert time_unit(heavy, rule) == pytest.approx(time_unit(often, rule), rel=1e-9)


def test_equal_weights_are_none():
    data = SurvivalData.right([1.0, 2.0, 3.0], [True, False, True])
    for weight in (None, np.ones(3), np.full(3, 0.1)):
        assert even_weights(data.with_weight(weight)) is None
    np.testing.assert_allclose(even_weights(data.with_weight([1.0, 2.0, 6.0])), [1 / 3, 2 / 3, 2.0], rtol=1e-9)
