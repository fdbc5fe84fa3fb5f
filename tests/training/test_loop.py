from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import AsymmetricLaplace
from aldsurv.errors import ParameterError, TrainingError
from aldsurv.losses import likelihood_objective
from aldsurv.networks import Architecture, forward
from aldsurv.training import loop
from training.runs import fit, rows_of, same_bits, scripted, splits, training_of


def expected_stop(losses, patience):
    """Best epoch and epoch of the last step of one member, counted from 1, by the words of the documentation."""
    best, best_epoch = math.inf, 0
    for epoch, loss in enumerate(losses, 1):
        if loss < best:
            best, best_epoch = loss, epoch
        if patience and epoch - best_epoch >= patience:
            return best_epoch, epoch
    return best_epoch, len(losses)


def test_learns_a_linear_problem():
    rng = np.random.default_rng(0)
    n = 3000
    x = rng.normal(size=(n, 2)).astype(np.float32)
    truth = AsymmetricLaplace(12 + 1.5 * x[:, 0] - x[:, 1], np.exp(0.4 * x[:, 1]), 0.7)
    time, censored = truth.quantile(rng.random((n, 1)))[:, 0], rng.uniform(9, 22, n)
    arrays, history = fit(
        x,
        SurvivalData.right(np.minimum(time, censored), time <= censored),
        links=("identity", "exp", "exp"),
        train=[np.arange(n)],
        network={"hidden": (), "head_hidden": ()},
        max_epochs=60,
        learning_rate=0.1,
        schedule="cosine",
        batch_size=64,
    )
    # About three standard errors of the maximum-likelihood estimate.
    weight, bias = arrays["output.weight"][0], arrays["output.bias"][0]
    np.testing.assert_allclose(weight[:, 0], [1.5, -1.0], atol=0.1)
    np.testing.assert_allclose(weight[:, 1], [0.0, 0.4], atol=0.1)
    np.testing.assert_allclose(weight[:, 2], [0.0, 0.0], atol=0.1)
    np.testing.assert_allclose(bias, [12, 0, math.log(0.7)], atol=0.15)
    assert history.train_loss[-1, 0] < history.train_loss[0, 0]


@pytest.mark.parametrize("norm", [False, True])
def test_kept_weights_have_the_loss_that_is_told(norm):
    x, data = rows_of(160, weight=True)
    train, validation = splits(160, [100] * 4, 60)
    arrays, history = fit(
        x,
        data,
        train=train,
        validation=validation,
        seeds=[1, 2, 3, 4],
        network={"dropout": 0.2, "batch_norm": norm},
        learning_rate=0.03,
        batch_size=32,
        max_epochs=60,
        patience=4,
    )
    assert history.stopped_by == "patience"
    assert len(set(history.best_epoch.tolist())) > 1
    raw = forward(Architecture(4, 3, dropout=0.2, batch_norm=norm), arrays, x)
    for k, rows in enumerate(validation):
        theta, sigma, kappa = np.exp(raw[k, rows]).T
        own = data[rows]
        loss = -AsymmetricLaplace(theta, sigma, kappa).log_likelihood(own).sum() / own.total_weight
        assert history.best_loss[k] == pytest.approx(loss, rel=1e-4)
        assert history.best_epoch[k] == expected_stop(history.validation_loss[:, k], 4)[0]


def test_kept_weights_are_those_of_the_best_epoch():
    x, data = rows_of(120)
    train, validation = splits(120, [80] * 3, 40)
    options = {"seeds": [1, 2, 3], "batch_size": 16, "learning_rate": 0.03, "network": {"dropout": 0.1}}
    kept, history = fit(x, data, train=train, validation=validation, max_epochs=40, patience=5, **options)
    assert history.best_epoch.max() < history.epochs
    for k in range(3):
        until, _ = fit(x, data, train=train, max_epochs=int(history.best_epoch[k]), **options)
        for name, array in kept.items():
            assert np.array_equal(array[k], until[name][k])


@pytest.mark.parametrize("patience", [0, 1, 2, 3, 30])
def test_patience(patience):
    rng = np.random.default_rng(patience)
    # Rounded, so that some losses tie with the best: a tie is no improvement.
    losses = np.round(3 - 0.1 * np.arange(20)[:, None] + rng.normal(size=(20, 4)), 1)
    training, _ = scripted(losses, patience=patience)
    history = training.run()
    expected = [expected_stop(np.float32(losses[:, k]), patience) for k in range(4)]
    assert history.best_epoch.tolist() == [best for best, _ in expected]
    assert history.epochs == max(last for _, last in expected)
    assert history.stopped_by == ("patience" if history.epochs < 20 or patience == 1 else "max_epochs")
    assert history.trained_epochs.tolist() == [last for _, last in expected]
    for k, (_, last) in enumerate(expected):
        # The loss with which a member stopped is repeated until the last one stops.
        shown = np.append(losses[:last, k], np.full(history.epochs - last, losses[last - 1, k]))
        np.testing.assert_allclose(history.validation_loss[:, k], shown, rtol=1e-6)
    np.testing.assert_allclose(history.best_loss, [losses[best - 1, k] for k, (best, _) in enumerate(expected)])


def test_a_member_that_stopped_is_not_taken_up_again():
    losses = np.array([[1.0, 9], [2, 8], [2, 7], [0, 6], [0, 5]])
    seen = []
    training, members = scripted(losses, patience=2, callbacks=[seen.append])
    history = training.run()
    assert history.best_epoch.tolist() == [1, 5]
    assert [report.training.tolist() for report in seen] == [[True] * 2] * 2 + [[False, True]] * 3
    # The weights it kept are those of its first epoch.
    first, until = scripted(losses[:1], patience=2)
    first.run()
    for name, array in members.best_arrays().items():
        assert np.array_equal(array[0], until.best_arrays()[name][0])


def test_without_validation_rows_the_last_weights_are_kept():
    training, members = scripted(members=2, max_epochs=7, patience=1)
    history = training.run()
    assert history.epochs == 7
    assert history.stopped_by == "max_epochs"
    assert history.validation_loss is None
    assert history.best_epoch.tolist() == [7, 7]
    np.testing.assert_array_equal(history.best_loss, history.train_loss[-1])
    for name, array in members.best_arrays().items():
        assert np.array_equal(array, members.block.arrays[name].detach())


def test_training_loss_is_the_mean_over_rows():
    x, data = rows_of(50)
    rows = [np.arange(50), np.arange(20, 50), np.arange(9)]
    options = {"train": rows, "seeds": [1, 2, 3], "max_epochs": 1, "learning_rate": 1e-9}
    for size in (8, 64):
        arrays, history = fit(x, data, batch_size=size, **options)
        raw = forward(Architecture(4, 3), arrays, x)
        for k, own in enumerate(rows):
            likelihood = AsymmetricLaplace(*np.exp(raw[k, own]).T).log_likelihood(data[own])
            assert history.train_loss[0, k] == pytest.approx(-likelihood.mean(), rel=1e-4)


def test_callbacks_see_what_happens():
    losses = np.array([[3.0, 3], [2, 4], [5, 1], [6, 6]])
    first, second = [], []
    training, _ = scripted(
        losses,
        patience=0,
        callbacks=[first.append, lambda report: second.append(report.epoch)],
        schedule="linear",
        learning_rate=0.4,
    )
    history = training.run()
    assert [report.epoch for report in first] == second == [1, 2, 3, 4]
    assert [report.best_loss.tolist() for report in first] == [[3, 3], [2, 3], [2, 1], [2, 1]]
    assert [report.best_epoch.tolist() for report in first] == [[1, 1], [2, 1], [2, 3], [2, 3]]
    assert [report.validation_loss.tolist() for report in first] == losses.tolist()
    assert [report.learning_rate for report in first] == pytest.approx([0.4, 0.3, 0.2, 0.1])
    np.testing.assert_array_equal([report.train_loss for report in first], history.train_loss)
    np.testing.assert_array_equal([report.seconds for report in first], history.seconds)
    assert all(report.seconds > 0 for report in first)
    assert all(report.training.all() for report in first)


def test_a_callback_cannot_rewrite_history():
    def spoil(report):
        for array in (report.train_loss, report.validation_loss, report.best_loss, report.best_epoch, report.training):
            array[:] = 0

    losses = np.array([[3.0], [2.0], [5.0]])
    training, _ = scripted(losses, patience=0, callbacks=[spoil])
    history = training.run()
    assert history.epochs == 3
    assert history.best_epoch.tolist() == [2]
    assert history.validation_loss.tolist() == losses.tolist()
    assert (history.train_loss != 0).all()


@pytest.mark.parametrize("answer", [True, 1, np.True_])
def test_a_callback_ends_training(answer):
    calls = []
    training, _ = scripted(
        np.array([[3.0], [2.0], [4.0], [1.0]]),
        callbacks=[lambda report: answer if report.epoch == 3 else None, lambda report: calls.append(report.epoch)],
    )
    history = training.run()
    assert history.stopped_by == "callback"
    assert history.epochs == 3
    assert history.best_epoch.tolist() == [2]
    # Each of them hears of every epoch, also when one before it has had enough.
    assert calls == [1, 2, 3]


def test_a_callback_that_raises_is_heard():
    def fail(report):
        raise LookupError("told")

    training, _ = scripted(members=1, max_epochs=3, callbacks=[fail])
    with pytest.raises(LookupError, match="told"):
        training.run()


@pytest.mark.parametrize("where", ["callback", "batch"])
def test_interrupt(where):
    batches = []

    def in_batch(raw):
        batches.append(0)
        if where == "batch" and len(batches) == 3 * 3 + 2:
            raise KeyboardInterrupt

    def between(report):
        if where == "callback" and report.epoch == 3:
            raise KeyboardInterrupt

    losses = np.array([[3.0], [2.0], [4.0], [1.0], [0.5]])
    training, members = scripted(losses, train=in_batch, callbacks=[between])
    threads = torch.get_num_threads()
    with pytest.warns(RuntimeWarning, match="interrupted in epoch 4"):
        history = training.run()
    assert torch.get_num_threads() == threads
    assert history.stopped_by == "interrupt"
    assert history.epochs == 3
    assert history.best_epoch.tolist() == [2]
    until, expected = scripted(losses[:2])
    until.run()
    assert same_bits(members.best_arrays(), expected.best_arrays())


def test_interrupt_before_there_is_anything_to_return():
    def at_once(raw):
        raise KeyboardInterrupt

    threads = torch.get_num_threads()
    training, _ = scripted(members=1, train=at_once, max_epochs=3)
    with pytest.raises(KeyboardInterrupt):
        training.run()
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_validation_loss_that_is_no_number(bad):
    losses = np.array([[3.0, 3, 3], [2, 2, 2], [1, bad, 1]])
    training, _ = scripted(losses)
    with pytest.raises(TrainingError, match=r"validation loss of member 2 of 3 .* epoch 3 .*learning_rate=0\.001"):
        training.run()


def test_training_loss_that_is_no_number():
    batches = []

    def breaks(raw):
        batches.append(0)
        return raw[..., 0].square().mean(1) * (math.nan if len(batches) > 3 else 1)

    training, _ = scripted(members=1, train=breaks, max_epochs=5)
    with pytest.raises(TrainingError, match=r"training loss is no longer a finite number in epoch 2 .*clip_norm"):
        training.run()


@pytest.mark.parametrize("validated", [True, False])
def test_weights_that_are_no_numbers_are_never_kept(validated):
    batches = []

    def breaks(raw):
        batches.append(0)
        # The loss of the last batch is a number, but has no slope: the square root of 0 times 0.
        last = len(batches) == 6
        return (raw[..., 0] * 0).sqrt().sum(1) + 1 if last else None

    losses = np.ones((2, 2)) if validated else None
    training, members = scripted(losses, members=2, train=breaks, max_epochs=2)
    with pytest.raises(TrainingError, match="epoch 2"):
        training.run()
    assert all(np.isfinite(array).all() for array in members.best_arrays().values())


def test_a_member_that_stopped_may_go_wrong():
    losses = np.array([[1.0, 9], [2, 8], [2, 7], [math.nan, 6], [math.nan, 5]])
    training, members = scripted(losses, patience=2)
    history = training.run()
    assert history.best_epoch.tolist() == [1, 5]
    assert history.best_loss.tolist() == [1.0, 5.0]
    assert all(np.isfinite(array).all() for array in members.best_arrays().values())


def test_wild_steps_end_in_an_error_that_tells_the_cause():
    x, data = rows_of(60)
    with pytest.raises(TrainingError, match=r"epoch 1 .*1e\+16.*Try learning_rate=\S+ and clip_norm"):
        fit(x, data, train=[np.arange(60)], learning_rate=1e16, batch_size=8, optimizer="sgd")
    wide = x.copy()
    wide[3, 1] = 1e30
    with pytest.raises(TrainingError, match=r"covariate reaches 1e\+30.*clip_features"):
        fit(wide, data, train=[np.arange(60)], batch_size=8)


@pytest.mark.parametrize("fails", [False, True])
def test_threads_are_put_back(fails):
    before = torch.get_num_threads()
    inside = []

    def watch(raw):
        inside.append(torch.get_num_threads())
        if fails:
            raise LookupError

    torch.set_num_threads(2)
    try:
        training, _ = scripted(members=1, train=watch, max_epochs=1)
        if fails:
            with pytest.raises(LookupError):
                training.run()
        else:
            training.run()
        assert torch.get_num_threads() == 2
        assert set(inside) == {1}
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("encoded", [False, True])
def test_global_random_numbers_are_not_touched(encoded):
    x, data = rows_of(60)
    encoder = [torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Dropout(0.3))] if encoded else []
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    state, numbers = torch.get_rng_state(), np.random.get_state()  # noqa: NPY002
    training, _ = training_of(
        x,
        likelihood_objective("asymmetric_laplace", ("exp",) * 3, data),
        train=[np.arange(60)],
        network={"dropout": 0.2},
        encoders=encoder,
        inputs=3 if encoded else None,
        max_epochs=2,
    )
    training.run()
    assert torch.equal(torch.get_rng_state(), state)
    after = np.random.get_state()  # noqa: NPY002
    assert np.array_equal(after[1], numbers[1])
    assert after[2] == numbers[2]


def test_global_random_numbers_have_no_influence():
    x, data = rows_of(60)
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        found.append(fit(x, data, train=[np.arange(60)], network={"dropout": 0.2}, max_epochs=3)[0])
    assert same_bits(*found)
    other = fit(x, data, train=[np.arange(60)], network={"dropout": 0.2}, max_epochs=3, seeds=[4])[0]
    assert not same_bits(found[0], other)


def test_validation_in_blocks(monkeypatch):
    x, data = rows_of(100, weight=True)
    options = {"train": [np.arange(40)] * 2, "validation": [np.arange(40, 100), np.arange(50, 73)], "seeds": [1, 2]}
    _, whole = fit(x, data, max_epochs=2, **options)
    monkeypatch.setattr(loop, "_VALIDATION_BLOCK", 1500)
    _, parts = fit(x, data, max_epochs=2, **options)
    np.testing.assert_allclose(parts.validation_loss, whole.validation_loss, rtol=1e-5)


def test_epochs_and_rates_are_those_of_the_settings():
    training, _ = scripted(members=1, max_epochs=6, learning_rate=0.2, schedule="cosine", warmup=2)
    history = training.run()
    expected = [0.2 / 3, 0.4 / 3] + [0.1 * (1 + math.cos(math.pi * i / 4)) for i in range(4)]
    np.testing.assert_allclose(history.learning_rate, expected)


def test_the_rate_is_the_one_that_is_used():
    # Without momentum's past, the first step of sgd is the rate times the slope.
    steps = []
    for rate in (0.1, 0.05):
        training, members = scripted(members=1, max_epochs=1, batch_size=12, optimizer="sgd", learning_rate=rate, n=12)
        before = {name: array.detach().clone() for name, array in members.block.arrays.items()}
        training.run()
        steps.append(members.block.arrays["output.bias"].detach() - before["output.bias"])
    torch.testing.assert_close(steps[0], 2 * steps[1], rtol=1e-4, atol=1e-7)


def test_progress_is_checked():
    training, _ = scripted(members=1, max_epochs=1, progress="yes")
    with pytest.raises(ParameterError, match="progress must be True, False or 'auto'"):
        training.run()
