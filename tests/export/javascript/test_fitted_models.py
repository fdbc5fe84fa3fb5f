"""JavaScript predicts what Python does: small models of each kind, rows with gaps and levels never seen."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import aldsurv
from bench.model_cases import CODED, Sample, samples
from export.javascript.comparison import CLOSE, case_of, compare
from export.javascript.node import needs_node
from export.javascript.random_rows import random_rows

pytestmark = needs_node

SMALL: dict[str, Any] = {"members": 2, "hidden": (6,), "max_epochs": 2, "progress": False, "random_state": 0, **CODED}
TREES: dict[str, Any] = {"members": 2, "max_rounds": 4, "random_state": 0, **CODED}
NET: dict[str, Any] = {"folds": 3, "n_alphas": 8, "random_state": 0, **CODED}


def ald(**settings: Any) -> Any:
    return aldsurv.ALDSurvival(**{**SMALL, **settings})


def lognormal(**settings: Any) -> Any:
    return aldsurv.LogNormalSurvival(**{**SMALL, **settings})


# By name: the estimator, the data that it is fitted to, and the number of rows asked for.
FITS: dict[str, tuple[Callable[[], Any], str, int]] = {
    "ald default recipe": (lambda: ald(recipe="small", hidden=None, members=4, varied=True), "right", 1000),
    "ald skewed, positive": (lambda: ald(shapes="skewed", support="positive", components=3), "right", 1000),
    "ald free, real, no pieces": (lambda: ald(shapes="free", support="real", components=2, bins=0), "right", 200),
    "ald positive, identity": (lambda: ald(support="positive", components=1, theta_link="identity"), "right", 200),
    "ald mixture of causes": (lambda: ald(causes="mixture", components=2), "causes", 60),
    "ald hazards of causes": (lambda: ald(causes="hazards", components=2), "causes", 30),
    "ald hazards of causes, real": (lambda: ald(causes="hazards", components=1, support="real"), "causes", 30),
    "ald cure": (lambda: ald(cure=True, components=2), "right", 200),
    "ald causes and cure": (lambda: ald(cure=True, support="positive", components=2), "causes", 30),
    "ald one member, restricted mean": (lambda: ald(members=1, point="restricted_mean"), "right", 60),
    "ald mode": (lambda: ald(point="mode"), "right", 60),
    "ald batch norm, heads, gelu": (
        lambda: ald(batch_norm=True, hidden=(5, 4), head_hidden=(4, 3), activation="gelu", residual=True),
        "right",
        60,
    ),
    "lognormal": (lambda: lognormal(), "right", 1000),
    "lognormal hazards of causes": (lambda: lognormal(causes="hazards"), "causes", 30),
    "lognormal mixture of causes": (lambda: lognormal(causes="mixture", point="mean"), "causes", 30),
    "lognormal cure": (lambda: lognormal(cure=True), "right", 60),
    **{
        f"lognormal {name}": (lambda name=name: lognormal(activation=name, members=1), "right", 20)
        for name in ("relu", "leaky_relu", "elu", "selu", "silu", "tanh", "softplus")
    },
    "boosted_ald": (lambda: aldsurv.BoostedALD(**TREES), "right", 1000),
    "boosted_ald mixture of causes": (lambda: aldsurv.BoostedALD(causes="mixture", **TREES), "causes", 30),
    "boosted_ald hazards of causes": (lambda: aldsurv.BoostedALD(causes="hazards", **TREES), "causes", 30),
    "boosted_ald cure": (lambda: aldsurv.BoostedALD(cure=True, support="positive", **TREES), "right", 60),
    "weibull_aft": (lambda: aldsurv.WeibullAFT(**CODED), "right", 1000),
    "weibull_aft cure": (lambda: aldsurv.WeibullAFT(ridge=1.0, cure=True, **CODED), "right", 200),
    "lognormal_aft": (lambda: aldsurv.LogNormalAFT(point="mean", **CODED), "right", 200),
    "lognormal_aft cure": (lambda: aldsurv.LogNormalAFT(ridge=1.0, cure=True, **CODED), "right", 200),
    "aftnet lognormal": (lambda: aldsurv.ElasticNetAFT(**NET), "right", 200),
    "aftnet weibull": (lambda: aldsurv.ElasticNetAFT(family="weibull", **NET), "right", 200),
}


@cache
def differences() -> dict[str, list[str]]:
    data = samples()
    # Hazards of causes take no event at time 0.
    later = np.flatnonzero(data["causes"].y.time > 0)
    x, y = data["causes"].x, data["causes"].y
    data["causes"] = Sample({name: [column[k] for k in later] for name, column in x.items()}, y[later], None)
    cases = []
    with TemporaryDirectory() as folder:
        for number, (name, (make, sample, rows)) in enumerate(FITS.items()):
            x, y, _ = data[sample]
            model = make().fit(x, y)
            path = model.save(Path(folder, f"{number}.aldsurv"))
            # Few times for many rows: each time is another one.
            cases.append(
                case_of(name, model, path, random_rows(rows, seed=number), seed=number, times=2 if rows > 500 else 4)
            )
        return compare(cases)


@pytest.mark.filterwarnings("ignore::aldsurv.errors.AldsurvWarning")
@pytest.mark.parametrize("name", FITS)
def test_predictions_are_those_of_python(name):
    assert differences()[name] == [], f"to {CLOSE:g}"
