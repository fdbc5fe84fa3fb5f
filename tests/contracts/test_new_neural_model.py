"""A family and a model with a network, each one file and one record: fitted, saved, and seen on the command line."""

from __future__ import annotations

import numpy as np
import pytest
import torch  # noqa: F401

import aldsurv
from aldsurv import SurvivalData
from aldsurv.cli.main import main
from aldsurv.registry import FAMILIES, MODELS
from contracts import log_logistic, log_logistic_model
from contracts.log_logistic import LogLogistic
from contracts.log_logistic_model import LogLogisticSurvival


@pytest.fixture(autouse=True)
def registered():
    FAMILIES.add(log_logistic.RECORD)
    MODELS.add(log_logistic_model.RECORD)
    yield
    MODELS.remove("log_logistic")
    FAMILIES.remove("log_logistic")


def draw(n: int) -> tuple[np.ndarray, SurvivalData, LogLogistic]:
    """Rows with known log-logistic distributions, a few at time 0, a third censored."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 2))
    truth = LogLogistic(np.exp(2 + 0.8 * x[:, 0]), 2.5)
    time, censoring = truth.sample(1, random_state=1)[:, 0], rng.exponential(25.0, n)
    seen = np.minimum(time, censoring)
    seen[:3] = 0.0
    return x, SurvivalData.right(seen, time <= censoring), truth


def test_it_learns_the_distribution(tmp_path):
    x, y, truth = draw(800)
    model = LogLogisticSurvival(members=2, random_state=0).fit(x, y)
    predicted = model.predict_distribution(x)
    # Half of what is lost without covariates would be about 0.2 per row.
    rows = np.arange(3, 800)
    lost = np.mean(truth[rows].log_likelihood(y[rows])) - np.mean(predicted[rows].log_likelihood(y[rows]))
    assert lost < 0.05
    assert np.corrcoef(np.log(predicted.median()), x[:, 0])[0, 1] > 0.9
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert loaded.predict(x).tobytes() == model.predict(x).tobytes()
    assert model.parameter_names == ("scale", "shape")
    assert "log logistic" in model.summary()


def test_the_command_line_knows_it(capsys):
    assert main(["fit", "--help"]) == 0
    assert "Log-logistic: a network gives each individual" in " ".join(capsys.readouterr().out.split())
