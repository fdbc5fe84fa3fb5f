"""On the synthetic datasets the true distribution must come out calibrated, and no other may be better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from aldsurv import datasets, metrics

NAMES = [name for name in datasets.names() if datasets.describe(name).kind == "synthetic"]
# Censoring is uniform, whatever the covariates. Elsewhere the weights of the Brier score, which come from one curve for
# all, are biased: on lognorm_same a prediction that is 10 % off comes out 0.0002 better than the truth.
INDEPENDENT = {
    "lognorm", "norm_uniform", "norm_heavy", "norm_med", "norm_light", "lognorm_heavy", "lognorm_med", "lognorm_light",
}  # fmt: skip


@pytest.mark.parametrize("definition", ["printed", "released"])
@pytest.mark.parametrize("name", NAMES)
def test_truth_is_calibrated_and_best(name, definition):
    data = datasets.load(name, definition=definition, n_train=4000, n_test=16_000, seed=1)
    train, test = data[:4000], data[4000:]
    found = metrics.evaluate(test.truth, test.y, train=train.y)
    # Sampling error of a slope through ten shares of 16,000 rows is a few thousandths.
    assert found["cal_s_slope"] == pytest.approx(1, abs=0.02)
    assert found["cal_s_intercept"] == pytest.approx(0, abs=0.012)
    assert found["cal_f_slope"] == pytest.approx(1, abs=0.03)
    assert found["cal_f_intercept"] == pytest.approx(0, abs=0.015)
    assert found["cens_dcal"] < 0.02
    # Too late, too early; spread too wide would move the same way: nothing beats the truth in a proper score.
    for factor in (0.9, 1.1):
        other = test.truth.scaled(factor)
        assert metrics.log_likelihood(other, test.y) < found["log_likelihood"]
        if name in INDEPENDENT:
            assert metrics.integrated_brier_score(other, test.y, train=train.y) > found["ibs"]
        assert metrics.censored_d_calibration(other, test.y) > found["cens_dcal"]


def test_p_values_of_the_truth_are_uniform_without_censoring():
    values = []
    for seed in range(150):
        data = datasets.load("norm_linear", n_train=400, n_test=1, seed=seed)
        events = metrics.d_calibration(data.truth, type(data.y).right(data.event_time, np.ones(len(data))))
        values.append(events.p_value)
    assert stats.kstest(values, "uniform").pvalue > 0.01
