"""The likelihood with causes and a cure: against the distributions themselves, slopes against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CauseHazards, CauseMixture, LogNormal, MixedAsymmetricLaplace
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import DataError
from aldsurv.losses import likelihood_objective
from aldsurv.losses.likelihood.cause_likelihood import cause_objective
from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective
from aldsurv.losses.objective import ClosedFormLikelihood

N = 40
TIED = MixtureOutputs(2, tied=True, exp_theta=False)


def rows(*, entry=False, interval=False, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 40, N) / 8.0
    cause = rng.integers(0, 3, N)
    lower, upper = time.copy(), np.where(cause > 0, time, np.inf)
    if interval:
        between = np.flatnonzero(cause == 0)[::2]
        upper[between] = time[between] + 1.0
    entries = np.where(rng.random(N) < 0.5, time / 4, -np.inf) if entry else None
    return SurvivalData.from_checked(lower, upper, entries, None, cause, ("a", "b"))


def parts(family, data_unit=1.0):
    if family == "mixture":
        return lambda data: mixture_objective(TIED, SUPPORTS["log"], data, 0.125, unit=data_unit)
    return lambda data: likelihood_objective("log_normal", None, data, unit=data_unit)


def layout_of(family, *, mixture, cure):
    size, constants = (TIED.outputs, TIED.constants) if family == "mixture" else (2, 0)
    return CauseOutputs(2, size, constants, mixture, cure)


def part_of(family, raw):
    if family == "mixture":
        return MixedAsymmetricLaplace(**TIED.columns(raw, np.array([0.125])), support="log")
    return LogNormal(raw[:, 0], np.logaddexp(0, raw[:, 1]))


def predicted(family, layout, raw):
    distributions = [part_of(family, raw[:, layout.columns(k)]) for k in range(2)]
    if not layout.mixture:
        return CauseHazards(distributions, ["a", "b"])
    shares = np.exp(raw[:, : layout.logits])
    shares /= shares.sum(axis=1, keepdims=True)
    return CauseMixture(distributions, shares[:, :2], ["a", "b"])


every_kind = pytest.mark.parametrize(("mixture", "cure"), [(True, False), (True, True), (False, False)])
every_family = pytest.mark.parametrize("family", ["log_normal", "mixture"])


@every_family
@every_kind
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("interval", [False, True])
def test_losses_are_those_of_the_distribution(family, mixture, cure, entry, interval):
    if interval and not mixture:
        return
    data, layout = rows(entry=entry, interval=interval), layout_of(family, mixture=mixture, cure=cure)
    unit = 3.0
    objective = cause_objective(layout, parts(family, unit), data)
    raw = 0.5 * np.random.default_rng(1).normal(size=(N, layout.outputs))
    fields = tuple(field.double()[None] if field.is_floating_point() else field[None] for field in objective.fields)
    values = objective.log_likelihoods(torch.tensor(raw)[None], fields)[0].numpy()
    # Densities are per unit of the user's time, in which one unit inside is three.
    expected = predicted(family, layout, raw).log_likelihood(data) - np.where(data.exact, np.log(unit), 0)
    assert_allclose(values, expected, rtol=2e-6, atol=2e-6)
    if isinstance(objective, ClosedFormLikelihood):
        known = [field.numpy() for field in fields]
        closed, slopes = objective.log_likelihoods_and_slopes(raw[None], known)
        assert_allclose(closed[0], values, rtol=1e-9, atol=1e-9)
        step = 1e-6
        for column in range(layout.outputs):
            moved = [raw.copy() for _ in range(2)]
            moved[0][:, column] += step
            moved[1][:, column] -= step
            up, down = (objective.log_likelihoods_and_slopes(each[None], known)[0][0] for each in moved)
            assert_allclose(slopes[0, :, column], (up - down) / (2 * step), rtol=1e-4, atol=1e-5)
    else:
        assert interval


def test_one_cause_without_a_cure_share_is_the_plain_likelihood():
    data = SurvivalData.right([1.0, 2.0, 3.0], [True, False, True])
    plain = likelihood_objective("log_normal", None, data)
    objective = cause_objective(CauseOutputs(1, 2), parts("log_normal"), data)
    raw = np.random.default_rng(0).normal(size=(1, 3, 2))
    fields = [field.numpy()[None] for field in objective.fields]
    values = objective.log_likelihoods_and_slopes(np.concatenate([np.zeros((1, 3, 1)), raw], axis=2), fields)[0]
    own = [field.numpy()[None] for field in plain.fields]
    assert_allclose(values, plain.log_likelihoods_and_slopes(raw, own)[0], rtol=1e-6)


def test_outputs_of_all_causes_are_all_outputs_once():
    layout = CauseOutputs(3, 7, 4, mixture=True, cure=True)
    columns = np.concatenate([np.arange(layout.logits), *(layout.columns(k) for k in range(3))])
    assert sorted(columns) == list(range(layout.outputs))
    assert sorted(np.concatenate([layout.columns(k)[3:] for k in range(3)])) == list(range(layout.outputs - 12, 25))
    assert np.isnan(layout.spread(np.arange(7.0))[:4]).all()


def test_hazards_need_known_causes():
    with pytest.raises(DataError, match="hazards of causes need events whose time and cause are known"):
        cause_objective(CauseOutputs(2, 2, mixture=False), parts("log_normal"), rows(interval=True))
