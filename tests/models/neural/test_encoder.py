"""A module of the user's own before the heads: images, sequences, saving, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import DataError, ParameterError
from aldsurv.files.model_file import ModelFileError
from models.rows import Convolution, Recurrent, quick, same_bits

RNG = np.random.default_rng(0)
EVENT = RNG.uniform(size=160) < 0.8
LEVEL = RNG.normal(size=160)
# What the time depends on: how bright an image is, which of two tokens a sequence begins with.
IMAGES = RNG.normal(size=(160, 1, 8, 8)) * 0.3 + LEVEL[:, None, None, None]
TOKENS = np.c_[np.where(LEVEL > 0, 7, 2), RNG.integers(0, 10, (160, 5))]
TIME = 10 * np.exp(0.8 * LEVEL + 0.2 * RNG.normal(size=160))
Y = SurvivalData.right(TIME, EVENT)
# Small batches: with few steps some seeds learn nothing from sequences.
LEARNING = {"max_epochs": 25, "learning_rate": 0.02, "batch_size": 32}


def same_encoders(first, second):
    states = [[e.state_dict() for e in model.encoders_] for model in (first, second)]
    return all(all(torch.equal(a[name], b[name]) for name in a) for a, b in zip(*states, strict=True))


@pytest.mark.parametrize(("encoder", "x"), [(Convolution, IMAGES), (Recurrent, TOKENS)], ids=["images", "sequences"])
def test_it_learns_and_repeats(encoder, x):
    assert quick(encoder=encoder, members=2, **LEARNING).fit(x, Y).score(x, Y) > 0.65
    fits = [quick(encoder=encoder, members=2, **{**LEARNING, "max_epochs": 3}).fit(x, Y) for _ in range(2)]
    assert same_bits(*fits)
    assert same_encoders(*fits)
    np.testing.assert_array_equal(fits[0].predict(x), fits[1].predict(x))
    # Each member has an encoder of its own, which was trained.
    first, second = (encoder.state_dict() for encoder in fits[0].encoders_)
    assert not all(torch.equal(first[name], second[name]) for name in first)
    assert len(fits[0].predict_distribution(x)) == 160


def test_a_module_is_where_every_member_starts():
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, 4), nn.Tanh())
    before = {name: value.clone() for name, value in module.state_dict().items()}
    frozen = quick(encoder=module, members=2, max_epochs=1, learning_rate=1e-12).fit(IMAGES, Y)
    for own in frozen.encoders_:
        assert all(torch.allclose(value, own.state_dict()[name], atol=1e-9) for name, value in before.items())
    quick(encoder=module, members=2).fit(IMAGES, Y)
    assert all(torch.equal(value, module.state_dict()[name]) for name, value in before.items())
    # A function makes a new one for each.
    made = quick(encoder=lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 4)), members=2, learning_rate=1e-12)
    weights = [own[1].weight for own in made.fit(IMAGES, Y).encoders_]
    assert not torch.allclose(*weights)


def test_global_randomness_is_left_alone(tmp_path):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    model = quick(encoder=Convolution).fit(IMAGES, Y)
    path = model.save(tmp_path / "model")
    aldsurv.load(path, encoder=Convolution).predict(IMAGES)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(5)
    assert same_encoders(quick(encoder=Convolution).fit(IMAGES, Y), model)


def test_prediction_does_not_depend_on_the_rows_beside():
    # Neither dropout nor statistics of the batch are at work any more.
    model = quick(encoder=Convolution).fit(IMAGES, Y)
    np.testing.assert_allclose(model.predict(IMAGES[:3]), model.predict(IMAGES)[:3], rtol=1e-5)
    np.testing.assert_array_equal(model.predict(IMAGES), model.predict(IMAGES))


@pytest.mark.parametrize(("encoder", "x"), [(Convolution, IMAGES), (Recurrent, TOKENS)], ids=["images", "sequences"])
@pytest.mark.parametrize("again", ["function", "module"])
def test_saved_and_loaded(tmp_path, encoder, x, again):
    model = quick(encoder=encoder, members=2).fit(x, Y)
    path = model.save(tmp_path / "a")
    loaded = aldsurv.load(path, encoder=encoder if again == "function" else encoder())
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    assert loaded.save(tmp_path / "b").read_bytes() == path.read_bytes()
    assert same_bits(loaded.set_params(encoder=encoder).fit(x, Y), model)


def test_loading_with_the_wrong_module(tmp_path):
    path = quick(encoder=Convolution).fit(IMAGES, Y).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"trained with an encoder .Convolution.*Give it again"):
        aldsurv.load(path)
    with pytest.raises(ModelFileError, match="encoder is not the module of the file"):
        aldsurv.load(path, encoder=Recurrent)
    for wrong in (5, lambda: 5):
        with pytest.raises(ModelFileError):
            aldsurv.load(path, encoder=wrong)
    plain = quick().fit(LEVEL[:, None], Y).save(tmp_path / "plain")
    with pytest.raises(ModelFileError, match="encoder must be None"):
        aldsurv.load(plain, encoder=Convolution)


class RowsLost(nn.Module):
    def forward(self, x):
        return x[:1]


@pytest.mark.parametrize(
    ("encoder", "x", "told"),
    [
        (lambda: 5, IMAGES, "encoder must make a torch module, but made int"),
        (nn.Conv2d(1, 2, 3), IMAGES, r"encoder must give \(rows, numbers\), but gives shape"),
        (nn.GRU(8, 3, batch_first=True), IMAGES[:, 0], "encoder must give one tensor .*tuple"),
        (nn.Flatten(0), IMAGES, "encoder must give"),
        (RowsLost(), LEVEL[:, None], "encoder must give"),
    ],
)
def test_modules_that_are_refused(encoder, x, told):
    with pytest.raises(ParameterError, match=told):
        quick(encoder=encoder).fit(x, Y)


def test_inputs_that_are_refused():
    model = quick(encoder=Convolution)
    for x, told in [
        (LEVEL, r"X must have shape \(n, ...\)"),
        (IMAGES[:0], "at least one row"),
        (np.full(IMAGES.shape, np.nan), "must be finite"),
        (np.full((160, 2), "a"), "must be numbers"),
        (IMAGES[:50], "X has 50 rows, but y has 160"),
    ]:
        with pytest.raises(DataError, match=told):
            model.fit(x, Y)
    with pytest.raises(DataError, match="must be finite"):
        model.fit(IMAGES, Y).predict(IMAGES * np.inf)


def test_copies():
    model = quick(encoder=nn.Sequential(nn.Flatten(), nn.Linear(64, 2))).fit(IMAGES, Y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(again.predict(IMAGES), model.predict(IMAGES))
    assert same_bits(clone(model).fit(IMAGES, Y), model)


def test_weights_of_rows_with_an_encoder():
    weight = (np.arange(160) % 4 > 0).astype(float)
    other = SurvivalData.right(np.where(weight > 0, TIME, TIME[::-1]), EVENT, weight=weight)
    settings = {"encoder": Recurrent, "time_scale": 10.0}
    fits = [quick(**settings).fit(TOKENS, y) for y in (SurvivalData.right(TIME, EVENT, weight=weight), other)]
    assert same_encoders(*fits)


def test_inputs_that_the_encoder_cannot_take():
    convolution = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten())
    images = np.random.default_rng(0).normal(size=(160, 1, 8, 8)).astype(np.float32)
    with pytest.raises(DataError, match=r"cannot take X of type int64 and shape \(2, 1, 8, 8\).*floats to compute"):
        quick(encoder=convolution).fit((images > 0).astype(np.uint8), (TIME, EVENT))
    model = quick(encoder=convolution).fit(images, (TIME, EVENT))
    with pytest.raises(DataError, match="cannot take X of type float32"):
        model.predict(images[:, 0])
    tokens = quick(encoder=Recurrent).fit(TOKENS, (TIME, EVENT))
    with pytest.raises(DataError, match="cannot take X"):
        tokens.predict(TOKENS + 1000)
