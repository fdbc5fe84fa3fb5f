"""A family is one file and one record: it then keeps the laws of all, and has a likelihood to train a network by."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy import stats

import aldsurv.distributions
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError
from aldsurv.losses import likelihood_objective
from aldsurv.registry import FAMILIES
from contracts import test_distribution_laws as laws
from contracts.log_logistic import RECORD, LogLogistic

LAWS = [
    name for name, law in vars(laws).items() if name.startswith("test_") and "name" in inspect.signature(law).parameters
]
LAWS = [name for name in LAWS if "discrete" not in name]
TIMES = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 4.0, 0.75, 3.0])
ROWS = {
    "exact": SurvivalData.right(TIMES, np.ones(8, bool)),
    "right": SurvivalData.right(TIMES, np.arange(8) % 2 == 0),
    "entry": SurvivalData.right(TIMES, np.arange(8) % 2 == 0, entry=np.where(np.arange(8) % 3, TIMES / 2, -np.inf)),
    "left": SurvivalData.interval(np.full(8, -np.inf), TIMES),
    "interval": SurvivalData.interval(TIMES, TIMES * 1.5),
    "interval from 0": SurvivalData.interval(np.zeros(8), TIMES),
    "censored at 0": SurvivalData.right(np.r_[0.0, TIMES[1:]], np.arange(8) > 3),
    "all": SurvivalData.interval(
        np.where(np.arange(8) % 4 == 2, -np.inf, TIMES),
        np.choose(np.arange(8) % 4, [TIMES, np.full(8, np.inf), TIMES, TIMES + 1.0]),
        entry=np.where(np.arange(8) > 4, TIMES / 4, -np.inf),
    ),
}


@pytest.fixture(autouse=True)
def registered():
    FAMILIES.add(RECORD)
    yield
    FAMILIES.remove(RECORD.name)


def loss(data: SurvivalData, raw: torch.Tensor, unit: float = 1.0) -> torch.Tensor:
    """Mean loss by the links that the family declares, in float64."""
    objective = likelihood_objective("log_logistic", None, data, unit=unit)
    fields = tuple((f.double() if f.is_floating_point() else f)[None] for f in objective.fields)
    return objective.losses(raw[None], fields, None)[0]


def outputs(n: int) -> torch.Tensor:
    # Shapes below and above 1: the density at time 0 is infinite, or 0.
    return torch.tensor(0.6 * np.random.default_rng(2).normal(size=(n, 2)))


@pytest.mark.parametrize("law", LAWS)
def test_it_keeps_every_law(law):
    getattr(laws, law)(name="log_logistic")


def test_it_is_scipys():
    scale, shape = np.array([[0.5], [2.0]]), np.array([[0.7], [3.0]])
    ours, theirs = LogLogistic(scale, shape), stats.fisk(shape, scale=scale)
    assert_allclose(ours.survival(TIMES), theirs.sf(TIMES), rtol=1e-12)
    assert_allclose(ours.log_density(TIMES), theirs.logpdf(TIMES), rtol=1e-12)


def test_it_is_public_by_its_record():
    assert aldsurv.distributions.LogLogistic is LogLogistic


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("unit", [1.0, 365.25])
def test_its_loss_is_minus_the_mean_log_likelihood(kind, unit):
    data = ROWS[kind]
    raw = outputs(len(data))
    predicted = LogLogistic(*np.exp(raw.numpy()).T).scaled(unit)
    expected = -predicted.log_likelihood(data.scaled(unit)).mean()
    assert loss(data, raw, unit).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ROWS)
def test_its_gradient_is_a_ratio_of_differences(kind):
    data = ROWS[kind]
    raw = outputs(len(data)).requires_grad_()
    (gradient,) = torch.autograd.grad(loss(data, raw), raw)
    with torch.no_grad():
        for index in np.ndindex(*raw.shape):
            step = torch.zeros_like(raw)
            step[index] = 1e-6
            ratio = (loss(data, raw + step) - loss(data, raw - step)).item() / 2e-6
            assert gradient[index].item() == pytest.approx(ratio, rel=1e-5, abs=1e-8)


def test_an_event_at_zero_is_refused_and_not_an_infinite_loss():
    data = SurvivalData.right([0.0, 1.0, 2.0], [True, True, False])
    with pytest.raises(DataError, match=r"event at time 0 .* left-censored"):
        likelihood_objective("log_logistic", None, data)
    readable = LogLogistic.training_rows(data)
    assert readable.upper.tolist() == [1.0, 1.0, np.inf]
    assert loss(readable, outputs(3)).isfinite()
