"""The ensemble: a mixture, validation rows of each member, and fits that share a loop."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.distributions import LogAsymmetricLaplace, Mixture
from aldsurv.errors import ParameterError
from aldsurv.models import fit_together
from aldsurv.models.neural.fitting import train as train_module
from aldsurv.models.rows.member_rows import Rows, member_seeds, split_for_members
from models.rows import data, draw, quick, same_bits

X, TIME, EVENT = draw(200)
Y = SurvivalData.right(TIME, EVENT)


def member(model, k):
    """The weights of one member, as an ensemble of its own."""
    return {name: array[k : k + 1] for name, array in model.fitted_.weights.items()}


def equal(first, second):
    return all(first[name].tobytes() == second[name].tobytes() for name in first)


def test_the_prediction_is_the_mixture_of_the_members():
    model = quick(members=4, max_epochs=8, components=1).fit(X, Y)
    predicted = model.predict_distribution(X)
    assert isinstance(predicted, Mixture)
    alone = []
    for k in range(4):
        one = quick(members=1, components=1)
        one.adopt(dataclasses.replace(model.fitted_, weights=member(model, k)))
        alone.append(one.predict_distribution(X))
        assert isinstance(alone[-1], LogAsymmetricLaplace)
    times = np.linspace(0.5, 60, 30)
    survival = np.mean([d.survival(times) for d in alone], axis=0)
    np.testing.assert_allclose(predicted.survival(times), survival, rtol=1e-12)
    np.testing.assert_allclose(predicted.density(times), np.mean([d.density(times) for d in alone], 0), rtol=1e-12)
    assert np.ptp([d.median() for d in alone], axis=0).min() > 0


@pytest.mark.parametrize("n", [10, 50, 200, 1235])
def test_validation_rows_are_disjoint_and_cover_all(n):
    _, y = data(n, seed=n)
    rows = split_for_members(y, 0.2, 5, np.random.default_rng(0))
    held = np.concatenate(rows.validation)
    np.testing.assert_array_equal(np.sort(held), np.arange(n))
    for train, validation in zip(rows.train, rows.validation, strict=True):
        np.testing.assert_array_equal(np.sort(np.r_[train, validation]), np.arange(n))
        # As many events as their share, to within one row (and one of rounding).
        assert abs(y.exact[validation].sum() - y.exact.mean() * len(validation)) < 2


@pytest.mark.parametrize(("n", "share", "members"), [(203, 0.2, 5), (97, 0.3, 4), (40, 0.1, 12), (11, 0.9, 3)])
def test_validation_rows_of_other_numbers(n, share, members):
    _, y = data(n)
    rows = split_for_members(y, share, members, np.random.default_rng(0))
    for train, validation in zip(rows.train, rows.validation, strict=True):
        assert len(validation) == round(share * n)
        np.testing.assert_array_equal(np.sort(np.r_[train, validation]), np.arange(n))
    counts = np.bincount(np.concatenate(rows.validation), minlength=n)
    assert np.ptp(counts) <= 1


def test_rare_events_are_spread():
    event = np.arange(500) < 10
    y = SurvivalData.right(np.arange(1.0, 501.0), event)
    for seed in range(5):
        rows = split_for_members(y, 0.2, 5, np.random.default_rng(seed))
        assert [int(event[validation].sum()) for validation in rows.validation] == [2] * 5


def test_seeds_of_members_do_not_depend_on_how_many_there_are():
    assert member_seeds(3, 5)[:2] == member_seeds(3, 2)
    assert len({seed for base in range(50) for seed in member_seeds(base, 5)}) == 250


def test_a_member_trains_alone_as_among_others():
    model = quick(members=5, max_epochs=30, learning_rate=0.02, patience=3).fit(X, Y)
    # They end at different times, which must not matter either.
    assert len(set(model.history_.best_epoch)) > 1
    prepared = quick(members=5, max_epochs=30, learning_rate=0.02, patience=3).prepare(X, Y)
    for k in (0, 2, 4):
        rows = Rows([prepared.rows.train[k]], [prepared.rows.validation[k]])
        alone = quick(max_epochs=30, learning_rate=0.02, patience=3)
        alone.adopt(train_module.train([dataclasses.replace(prepared, seeds=[prepared.seeds[k]], rows=rows)])[0])
        assert equal(member(alone, 0), member(model, k))
        assert alone.history_.best_epoch[0] == model.history_.best_epoch[k]
    assert not equal(member(model, 0), member(model, 1))
    # In particular the first member is what an estimator with one member is.
    assert equal(member(quick(max_epochs=30, learning_rate=0.02, patience=3).fit(X, Y), 0), member(model, 0))


@pytest.mark.parametrize("settings", [{}, {"recipe": "paper"}, {"support": "positive", "batch_norm": True}], ids=repr)
def test_seeds_at_once_are_fits_of_their_own(settings):
    sets = [data(150, seed=seed) for seed in range(4)]
    together = [quick(random_state=seed, max_epochs=8, **settings) for seed in range(4)]
    assert fit_together(together, sets) == together
    for seed, (model, (x, y)) in enumerate(zip(together, sets, strict=True)):
        alone = quick(random_state=seed, max_epochs=8, **settings).fit(x, y)
        assert same_bits(model, alone)
        np.testing.assert_array_equal(model.predict(x), alone.predict(x))
        np.testing.assert_array_equal(model.history_.best_loss, alone.history_.best_loss)
        np.testing.assert_array_equal(model.unique_times_, alone.unique_times_)
        assert model.trained_on_ == alone.trained_on_
        assert model.fitted_.time_scale == alone.fitted_.time_scale


def unlike():
    """Data that do not fit into one loop: other numbers of rows and columns, kinds of row, weights, entry."""
    x, y = data(200, seed=1)
    few = data(90, seed=2)
    inspected = SurvivalData.interval(y.lower * 0.9, np.where(y.exact, y.lower * 1.1, np.inf))
    delayed = SurvivalData.right(y.time, y.event, entry=y.time * 0.3)
    weight = np.random.default_rng(0).uniform(0.5, 2, 200)
    return [
        (x, y),
        few,
        (x[:, :2], y),
        (x, inspected),
        (x, delayed),
        (x, y, weight),
        (x[::-1], y[::-1]),
        (x[:9], y[:9]),
    ]


def test_unlike_data_are_fitted_each_as_alone():
    sets = unlike()
    together = fit_together([quick(random_state=k, members=2) for k in range(len(sets))], sets)
    for k, given in enumerate(sets):
        assert same_bits(together[k], quick(random_state=k, members=2).fit(*given)), k


def test_unlike_settings_are_fitted_each_as_alone():
    seen = []
    settings = [
        {},
        {"dropout": 0.5},
        {"support": "real"},
        {"callbacks": [lambda r: seen.append(r.epoch)]},
        {"members": 3},
    ]
    settings += [{"callbacks": [lambda report: True]}, {"hidden": (4,)}, {"point": "mean"}, {"categorical": [0, 1]}]
    x, y = np.round(X), Y
    together = fit_together([quick(**own) for own in settings], [(x, y)] * len(settings))
    for model, own in zip(together, settings, strict=True):
        assert same_bits(model, quick(**own).fit(x, y)), own
    assert seen == [1, 2, 3] * 2
    assert [model.history_.epochs for model in together] == [3, 3, 3, 3, 3, 1, 3, 3, 3]


def test_numbers_that_do_not_match_are_refused():
    for estimators, sets in (([], []), ([quick()], []), ([quick()], [(X, Y)] * 2)):
        with pytest.raises(ParameterError, match="Give one for each"):
            fit_together(estimators, sets)
