from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from aldsurv.distributions.links import LINKS, linked_columns
from aldsurv.errors import ParameterError

EXPECTED = {"identity": lambda x: x, "exp": math.exp, "softplus": lambda x: math.log1p(math.exp(x))}


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_values(link, backend):
    raw = np.linspace(-5, 5, 11)
    given = raw if backend == "numpy" else torch.tensor(raw)
    np.testing.assert_allclose(LINKS[link](given), [EXPECTED[link](x) for x in raw], rtol=1e-14)


def test_every_link_has_an_expectation():
    assert set(LINKS) == set(EXPECTED)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_softplus_far_out(backend):
    raw = np.array([-700.0, -40.0, 0.0, 40.0, 1e6])
    found = LINKS["softplus"](raw if backend == "numpy" else torch.tensor(raw))
    np.testing.assert_allclose(found, [math.exp(-700), math.exp(-40), math.log(2), 40.0, 1e6], rtol=1e-12)


@pytest.mark.parametrize("link", LINKS)
def test_slopes_and_precision_on_torch(link):
    raw = torch.tensor([[-90.0], [-3.0], [0.0], [3.0], [60.0]], dtype=torch.float64, requires_grad=True)
    LINKS[link](raw).sum().backward()
    slope = {"identity": torch.ones_like, "exp": torch.exp, "softplus": torch.sigmoid}[link](raw.detach())
    torch.testing.assert_close(raw.grad, slope, rtol=1e-12, atol=0)
    assert LINKS[link](raw.detach().float()).dtype == torch.float32


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_columns(backend):
    raw = np.arange(12.0).reshape(4, 3) / 10
    given = raw if backend == "numpy" else torch.tensor(raw)
    found = linked_columns(given, ["theta", "sigma", "kappa"], ["identity", "exp", "softplus"])
    assert list(found) == ["theta", "sigma", "kappa"]
    assert all(tuple(column.shape) == (4, 1) for column in found.values())
    np.testing.assert_allclose(found["theta"], raw[:, :1])
    np.testing.assert_allclose(found["sigma"], np.exp(raw[:, 1:2]))
    np.testing.assert_allclose(found["kappa"], np.log1p(np.exp(raw[:, 2:])))


@pytest.mark.parametrize("link", ["logit", "", "Exp", None])
def test_unknown_link(link):
    with pytest.raises(ParameterError, match="identity, exp, softplus"):
        linked_columns(np.zeros((2, 1)), ["theta"], [link])


def test_one_link_a_parameter():
    with pytest.raises(ValueError):
        linked_columns(np.zeros((2, 2)), ["mu", "sigma"], ["exp"])
