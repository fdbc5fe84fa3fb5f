"""What a model says of its outputs, against the network that its fit makes and the predictions that it gives."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.distributions.links import LINKS
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.registry import MODELS

NETWORKS = [record.name for record in MODELS.records() if issubclass(MODELS.load(record.name), NeuralSurvival)]
CASES = [(name, {"recipe": recipe}) for name in NETWORKS for recipe in MODELS.load(name).RECIPES]
CASES += [
    ("ald", {"components": 3, "shapes": "free"}),
    ("ald", {"components": 1, "support": "positive"}),
    ("cqrnn", {"algorithm": "sequential"}),
    ("cqrnn", {"crossing": "sorted", "support": "log"}),
]


def fitted(name, options):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    y = SurvivalData.right(rng.exponential(np.exp(x[:, 0])), rng.random(80) < 0.7)
    return MODELS.load(name)(max_epochs=1, members=1, random_state=0, **options).fit(x, y), x


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_output_of_the_network_is_described(name, options):
    model, _ = fitted(name, options)
    outputs = model.settings_.describe_outputs()
    assert len(outputs) == model.fitted_.network.outputs
    assert len(set(outputs)) == len(outputs)
    assert {output.link for output in outputs} <= {*LINKS, "softmax"}


@pytest.mark.parametrize("name", ["ald", "lognormal"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_parameters_are_the_outputs_through_their_links(name):
    model, x = fitted(name, {"recipe": "paper"})
    raw = model.predict_outputs(x)[0]
    member = model.fitted_.member_distribution(raw, 0, x)
    scale = {"theta": model.time_scale_, "sigma": model.time_scale_} if name == "ald" else {}
    for k, output in enumerate(model.settings_.describe_outputs()):
        by_link = LINKS[output.link](raw[:, k]) * scale.get(output.name, 1.0)
        shift = np.log(model.time_scale_) if output.name == "mu" else 0.0
        np.testing.assert_allclose(getattr(member, output.name)[:, 0], by_link + shift, rtol=1e-9)
