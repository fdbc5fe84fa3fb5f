"""Several processes train what one trains, bit for bit, and end together; here they are threads."""

from __future__ import annotations

import sys
import time
from functools import partial

import numpy as np
import pytest
import torch

from aldsurv import ALDSurvival
from aldsurv.errors import (
    DataError,
    FitWarning,
    InterruptedTrainingWarning,
    MissingDependencyError,
    ParameterError,
    TrainingError,
)
from aldsurv.models.neural.fitting import train
from aldsurv.training import loop
from aldsurv.training.ranks import LostRankError, Ranks, current_ranks, open_ranks
from training.groups import run_ranks
from training.runs import rows_of

# Of 1,200 training rows: two batches of three parts, and one that is smaller than a part.
QUICK = {
    "members": 2,
    "hidden": (6,),
    "components": 2,
    "batch_size": 560,
    "max_epochs": 5,
    "validation": 0.2,
    "random_state": 3,
    "progress": False,
}
X, Y = rows_of(1500, weight=True)


class EndedError(Exception):
    """What ends a process in the middle."""


def fitted(**options):
    return ALDSurvival(**{**QUICK, **options}).fit(X, Y)


def fitted_together(count, **options):
    def work(ranks):
        return fitted(**{name: value(ranks) if callable(value) else value for name, value in options.items()})

    return run_ranks(count, work)


def assert_same(model, expected):
    assert model.history_.epochs == expected.history_.epochs
    np.testing.assert_array_equal(model.history_.train_loss, expected.history_.train_loss)
    np.testing.assert_array_equal(model.history_.validation_loss, expected.history_.validation_loss)
    for name, array in expected.fitted_.weights.items():
        np.testing.assert_array_equal(model.fitted_.weights[name], array, err_msg=name)


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize("count", [2, 4])
def test_several_train_what_one_trains(precise, count, monkeypatch):
    if not precise:
        monkeypatch.setattr(train, "_MOST_PRECISE", 0)
    expected = fitted()
    models = fitted_together(count)
    assert_same(models[0], expected)
    # The others have the same weights; losses are those of the first.
    for model in models[1:]:
        np.testing.assert_array_equal(model.history_.train_loss, expected.history_.train_loss)


@pytest.mark.parametrize("items", [0, 1, 2, 3, 7, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_shares_are_stretches_and_the_first_process_has_some(items, count):
    shares = [Ranks.share(_numbered(number, count), items) for number in range(count)]
    assert [number for share in shares for number in share] == list(range(items))
    lengths = [len(share) for share in shares]
    assert max(lengths) - min(lengths) <= 1
    assert lengths[0] == max(lengths)


def _numbered(number, count):
    ranks = Ranks()
    ranks.number, ranks.count = number, count
    return ranks


@pytest.mark.parametrize("items", [1, 3, 7])
def test_what_each_has_goes_to_all_in_order(items):
    def work(ranks):
        like = torch.zeros(2, dtype=torch.float64)
        mine = [torch.full_like(like, 10.0 * number) for number in ranks.share(items)]
        return [float(value) for tensor in ranks.exchange(items, mine, like) for value in tensor]

    assert run_ranks(3, work) == [[10.0 * number for number in range(items) for _ in range(2)]] * 3


@pytest.mark.parametrize("later", [1, 3])
def test_a_checkpoint_of_two_goes_on_with_any_number(later, tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "_SECONDS_BETWEEN_CHECKPOINTS", -1)
    path, expected = tmp_path / "run", fitted()

    def end(report):
        if report.epoch == 3:
            raise EndedError

    # Each process has a folder of its own: the first one's checkpoint is that of all.
    def place(ranks):
        return path if ranks.first else tmp_path / "none" / "run"

    first, second = fitted_together(2, checkpoint=place, callbacks=lambda ranks: [end])
    assert isinstance(first, EndedError)
    assert isinstance(second, LostRankError)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    seen = []
    models = fitted_together(
        later, checkpoint=place, callbacks=lambda ranks: [lambda report: seen.append(report.epoch)]
    )
    assert_same(models[0], expected)
    # Callbacks are called once, and not for epochs that were run before.
    assert seen == [4, 5]
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_lost_ends_the_others(monkeypatch):
    exchange, calls = Ranks.exchange, []

    def lost_in_the_middle(ranks, *given):
        if ranks.number == 1:
            calls.append(ranks)
            if len(calls) == 5:
                raise EndedError
        return exchange(ranks, *given)

    monkeypatch.setattr(Ranks, "exchange", lost_in_the_middle)
    first, second, third = fitted_together(3)
    assert isinstance(second, EndedError)
    for error in (first, third):
        assert isinstance(error, LostRankError)
        assert "ended or does not answer" in str(error)
    assert current_ranks().count == 1


def test_of_a_failure_one_says_what_is_wrong():
    assert sorted(run_ranks(3, lambda ranks: ranks.fails_first())) == [False, False, True]
    assert Ranks().fails_first()


def test_of_an_error_and_those_who_notice_it_the_error_is_said(monkeypatch):
    close = Ranks.close

    def close_slowly(ranks):
        close(ranks)
        time.sleep(0.5)

    def work(ranks):
        try:
            if not ranks.first:
                monkeypatch.setattr(ranks, "close", partial(close_slowly, ranks), raising=False)
                raise EndedError
            ranks.exchange(2, [torch.zeros(1)], torch.zeros(1))
        except (EndedError, LostRankError) as error:
            return type(error), ranks.fails_first()

    assert run_ranks(2, work) == [(LostRankError, False), (EndedError, True)]


@pytest.mark.parametrize("batch_size", [560, 64])
def test_one_that_is_alone_stops_too(batch_size, tmp_path):
    def work(ranks):
        def stop(report):
            if report.epoch == 2:
                ranks.stop()

        return fitted(callbacks=[stop], batch_size=batch_size, checkpoint=tmp_path / "run")

    with pytest.warns(InterruptedTrainingWarning, match="interrupted in epoch 3"):
        (model,) = run_ranks(1, work)
    assert model.history_.stopped_by == "interrupt"
    assert_same(fitted(batch_size=batch_size, checkpoint=tmp_path / "run"), fitted(batch_size=batch_size))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.filterwarnings("error")
def test_training_whose_result_nobody_needs_ends_without_a_word(count):
    def work(ranks):
        def stop(report):
            ranks.stop(unwanted=True)

        return fitted(callbacks=[stop])

    assert run_ranks(count, work) == [None] * count


def test_a_build_of_torch_without_processes(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_available", lambda: False)
    monkeypatch.setitem(sys.modules, "torch.distributed.distributed_c10d", None)
    (error,) = run_ranks(1, lambda ranks: open_ranks("env://", 0, 2).__enter__())
    assert isinstance(error, ParameterError)
    assert "no gloo" in str(error)
    monkeypatch.setitem(sys.modules, "torch", None)
    (error,) = run_ranks(1, lambda ranks: open_ranks("env://", 0, 2).__enter__())
    assert isinstance(error, MissingDependencyError)


def test_all_stop_after_the_same_batch(monkeypatch):
    exchange, calls = Ranks.exchange, []

    def stopped_in_the_middle(ranks, *given):
        if ranks.number == 1:
            calls.append(ranks)
            # In the second epoch: each has two batches with parts, and there is one call to join.
            if len(calls) == 5:
                ranks.stop()
        return exchange(ranks, *given)

    monkeypatch.setattr(Ranks, "exchange", stopped_in_the_middle)
    with pytest.warns(InterruptedTrainingWarning, match="interrupted in epoch"):
        models = fitted_together(2)
    histories = [model.history_ for model in models]
    assert [history.stopped_by for history in histories] == ["interrupt"] * 2
    assert histories[0].epochs == histories[1].epochs < QUICK["max_epochs"]


def test_an_early_end_by_a_callback_is_that_of_all():
    models = fitted_together(2, callbacks=lambda ranks: [lambda report: ranks.first and report.epoch == 2])
    assert [model.history_.epochs for model in models] == [2, 2]


def test_an_error_of_the_loss_is_that_of_all():
    errors = fitted_together(2, learning_rate=1e30, clip_features=0.0, optimizer="sgd")
    assert [type(error) for error in errors] == [TrainingError] * 2
    assert len({str(error) for error in errors}) == 1


def test_batches_too_small_to_share_are_the_work_of_one():
    with pytest.warns(FitWarning, match="batches of 512 rows or more, here 64.*: one of 2 does the work") as caught:
        model, nothing = fitted_together(2, batch_size=64)
    assert len(caught) == 1
    assert nothing is None
    assert_same(model, fitted(batch_size=64))


@pytest.mark.parametrize("number", [-1, 2, 5])
def test_a_process_beyond_the_last_is_refused(number):
    with pytest.raises(ParameterError, match=r"of 2 was given, but their numbers are from 0 to 1\."):
        open_ranks("env://", number, 2).__enter__()


def test_another_run_is_refused():
    first, second = fitted_together(2, random_state=lambda ranks: ranks.number)
    assert isinstance(first, LostRankError)
    assert isinstance(second, DataError)
    assert "process 2 of 2 has other rows or settings" in str(second)
