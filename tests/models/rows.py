"""Small data and encoders for the tests of estimators: in a module of its own, which a worker process can import."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from aldsurv import ALDSurvival, SurvivalData


def draw(n=200, seed=0, columns=3):
    """Covariates, times and events: the first column makes times longer."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, columns))
    event, lost = 10 * np.exp(0.8 * x[:, 0] + 0.3 * rng.normal(size=n)), rng.exponential(30, n)
    return x, np.minimum(event, lost), event <= lost


def data(n=200, seed=0, **more):
    x, time, event = draw(n, seed)
    return x, SurvivalData.right(time, event, **more)


def quick(**settings):
    """An estimator that is fitted in a tenth of a second."""
    return ALDSurvival(**{"members": 1, "max_epochs": 3, "random_state": 0, **settings})


def same_bits(first, second):
    """Whether two fitted estimators have the same weights."""
    return first.fitted_.weights.keys() == second.fitted_.weights.keys() and all(
        array.tobytes() == second.fitted_.weights[name].tobytes() for name, array in first.fitted_.weights.items()
    )


class Convolution(nn.Module):
    """With all that is awkward: running statistics, a counter, dropout."""

    def __init__(self):
        super().__init__()
        self.convolution, self.norm, self.dropout = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.2)

    def forward(self, x):
        return self.dropout(torch.relu(self.norm(self.convolution(x)))).amax((2, 3))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.unit = nn.Embedding(10, 4), nn.GRU(4, 6, batch_first=True)

    def forward(self, x):
        return self.unit(self.embedding(x))[1][0]
