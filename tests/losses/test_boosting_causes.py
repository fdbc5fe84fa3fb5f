"""The loss that trees take with causes and a cure: against the distributions, slopes against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CauseMixture, LogAsymmetricLaplace
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.losses.likelihood.boosting_causes import CauseMixtureRows
from aldsurv.losses.likelihood.boosting_slopes import AldRows, MixtureRows
from aldsurv.losses.likelihood.tied_mixture_steps import Planes

N = 40
TIED = MixtureOutputs(2, tied=True, exp_theta=False)


def rows(*, entry=False, between=False, seed=0):
    """Exact events of two causes, censored rows, and some events between two times, whose cause is not known."""
    rng = np.random.default_rng(seed)
    time, cause = rng.integers(1, 40, N) / 8.0, rng.integers(0, 3, N)
    upper = np.where(cause > 0, time, np.inf)
    if between:
        unclear = np.flatnonzero(cause == 0)[::2]
        upper[unclear] = time[unclear] + 1.0
    entries = np.where(rng.random(N) < 0.5, time / 4, -np.inf) if entry else None
    return SurvivalData.from_checked(time, upper, entries, None, cause, ("a", "b"))


def in_turn(work, blocks):
    for block in blocks:
        work(block)


def losses_of(layout, data, *, tied=False, unit=1.0):
    log = SUPPORTS["log"]
    if tied:
        return CauseMixtureRows(
            layout, lambda part: MixtureRows(log, part, unit=unit, layout=TIED, least_scale=0.1), data
        )
    return CauseMixtureRows(layout, lambda part: AldRows(log, part, unit=unit, exp_theta=False), data)


@pytest.mark.parametrize("cure", [False, True])
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("between", [False, True])
def test_losses_are_those_of_the_distribution(cure, entry, between):
    data, layout, unit = rows(entry=entry, between=between), CauseOutputs(2, 3, 0, True, cure), 3.0
    raw = 0.5 * np.random.default_rng(1).normal(size=(N, layout.outputs))
    shares = np.exp(raw[:, : layout.logits])
    shares /= shares.sum(axis=1, keepdims=True)
    columns = [raw[:, layout.columns(k)] for k in range(2)]
    parts = [LogAsymmetricLaplace(own[:, 0], np.exp(own[:, 1]), np.exp(own[:, 2])) for own in columns]
    predicted = CauseMixture(parts, shares[:, :2], ["a", "b"])
    # A density is per unit of the user's time, of which one unit inside has three.
    expected = np.where(data.exact, np.log(unit), 0.0) - predicted.log_likelihood(data)
    assert_allclose(losses_of(layout, data, unit=unit).losses(raw), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("cure", [False, True])
@pytest.mark.parametrize("between", [False, True])
def test_slopes_are_finite_differences(tied, cure, between):
    data = rows(entry=True, between=between)
    layout = CauseOutputs(2, TIED.outputs, TIED.constants, True, cure) if tied else CauseOutputs(2, 3, 0, True, cure)
    losses = losses_of(layout, data, tied=tied)
    raw = 0.5 * np.random.default_rng(1).normal(size=(N, layout.outputs))
    values, slopes = losses.losses_and_slopes(raw)
    assert_allclose(values, losses.losses(raw), rtol=1e-12)
    for column, step in enumerate(1e-6 * np.eye(layout.outputs)):
        expected = (losses.losses(raw + step) - losses.losses(raw - step)) / 2e-6
        assert_allclose(slopes[:, column], expected, rtol=1e-4, atol=1e-6)
    # The same outputs for all rows may be given once.
    once = losses.losses_and_slopes(raw[:1])
    for given, repeated in zip(once, losses.losses_and_slopes(np.repeat(raw[:1], N, axis=0)), strict=True):
        assert_allclose(given, repeated, rtol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("cure", [False, True])
@pytest.mark.parametrize("between", [False, True])
def test_the_pass_of_a_round_has_the_same_losses_and_slopes(tied, cure, between):
    data = rows(entry=True, between=between)
    layout = CauseOutputs(2, TIED.outputs, TIED.constants, True, cure) if tied else CauseOutputs(2, 3, 0, True, cure)
    losses, rng = losses_of(layout, data, tied=tied), np.random.default_rng(1)
    constants = 0.3 * rng.normal(size=losses.outputs - losses.boosted)
    planes = Planes(0.5 * rng.normal(size=(losses.boosted, N)), constants, in_turn)
    raw = np.column_stack([planes.boosted.T, np.tile(constants, (N, 1))])
    wanted, slopes = losses.losses_and_slopes(raw)
    assert_allclose(losses.losses_of_planes(planes), wanted, rtol=1e-9)
    found = losses.slopes_and_information(planes)[0]
    assert_allclose(found.T, slopes[:, : losses.boosted], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("cure", [False, True])
def test_information_is_that_of_the_parts(cure):
    """Of an event of cause k all that its part knows, and nothing of the other."""
    data, layout = rows(), CauseOutputs(2, 3, 0, True, cure)
    losses, raw = losses_of(layout, data), 0.3 * np.random.default_rng(2).normal(size=(N, layout.outputs))
    information = losses.slopes_and_information(Planes(raw.T, np.zeros(0), in_turn))[1].T
    assert information.shape == (N, layout.outputs)
    assert (information >= 0).all()
    part = AldRows(SUPPORTS["log"], data.without_causes(), exp_theta=False)
    for k in range(2):
        columns = layout.columns(k)
        known = part.slopes_and_information(Planes(raw[:, columns].T, np.zeros(0), in_turn))[1].T
        assert_allclose(information[data.cause == k + 1][:, columns], known[data.cause == k + 1])
        assert (information[data.cause == 2 - k][:, columns] == 0).all()
    # A logit of probability p: its slope at an event is p - 1 or p, whose variance is p(1 - p).
    share = np.exp(raw[:, : layout.logits])
    share /= share.sum(axis=1, keepdims=True)
    assert_allclose(information[:, : layout.logits], share * (1 - share))


def test_the_start_has_the_causes_as_often_as_they_were_seen():
    data = rows()
    losses = losses_of(CauseOutputs(2, 3, 0), data)
    start, reach = losses.guess(np.ones(N))
    counts = np.bincount(data.cause, minlength=3)[1:] + 1
    assert_allclose(np.exp(start[:2]), counts / counts.sum())
    assert (reach > 0).all()
    assert np.isfinite(losses.losses(start[None])).all()
    # Rows that have no weight have no say, and a cause without any other is guessed from all rows.
    assert np.isfinite(losses.guess(np.where(data.cause == 1, 1.0, 0.0))[0]).all()
