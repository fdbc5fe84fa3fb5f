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
from export.javascript.comparison import CLOSE, case_of, case_of_many, compare
from export.javascript.node import needs_node
from export.javascript.random_rows import random_rows

pytestmark = needs_node

# As many rows of all models, which are asked for their curves; of some more, and of others everything for fewer rows.
MANY = 1000
OF_MANY_ROWS = ("survival", "hazard", "quantile", "restricted_mean", "conditional_survival", "time", "risk", "outside")
SMALL: dict[str, Any] = {"members": 2, "hidden": (6,), "max_epochs": 2, "progress": False, "random_state": 0, **CODED}
TREES: dict[str, Any] = {"members": 2, "max_rounds": 4, "random_state": 0, **CODED}
NET: dict[str, Any] = {"folds": 3, "n_alphas": 8, "random_state": 0, **CODED}


def ald(**settings: Any) -> Any:
    return aldsurv.ALDSurvival(**{**SMALL, **settings})


def lognormal(**settings: Any) -> Any:
    return aldsurv.LogNormalSurvival(**{**SMALL, **settings})


# By name: the estimator, the data that it is fitted to, and the number of rows asked for.
FITS: dict[str, tuple[Callable[[], Any], str, int]] = {
    "ald default recipe": (lambda: ald(recipe="small", hidden=None, members=4, varied=True), "right", MANY),
    "ald skewed, positive": (lambda: ald(shapes="skewed", support="positive", components=3), "right", 40),
    "ald free, real, no pieces": (lambda: ald(shapes="free", support="real", components=2, bins=0), "right", 40),
    "ald positive, identity": (lambda: ald(support="positive", components=1, theta_link="identity"), "right", 40),
    "ald mixture of causes": (lambda: ald(causes="mixture", components=2), "causes", 30),
    "ald hazards of causes": (lambda: ald(causes="hazards", components=2), "causes", 12),
    "ald hazards of causes, real": (lambda: ald(causes="hazards", components=1, support="real"), "causes", 12),
    "ald cure": (lambda: ald(cure=True, components=2), "right", 40),
    "ald causes and cure": (lambda: ald(cure=True, support="positive", components=2), "causes", 12),
    "ald one member, restricted mean": (lambda: ald(members=1, point="restricted_mean"), "right", 40),
    "ald mode": (lambda: ald(point="mode"), "right", 40),
    "ald batch norm, heads, gelu": (
        lambda: ald(batch_norm=True, hidden=(5, 4), head_hidden=(4, 3), activation="gelu", residual=True),
        "right",
        40,
    ),
    "lognormal": (lambda: lognormal(), "right", MANY),
    "lognormal hazards of causes": (lambda: lognormal(causes="hazards"), "causes", 12),
    "lognormal mixture of causes": (lambda: lognormal(causes="mixture", point="mean"), "causes", 12),
    "lognormal cure": (lambda: lognormal(cure=True), "right", 40),
    **{
        f"lognormal {name}": (lambda name=name: lognormal(activation=name, members=1), "right", 20)
        for name in ("relu", "leaky_relu", "elu", "selu", "silu", "tanh", "softplus")
    },
    "boosted_ald": (lambda: aldsurv.BoostedALD(**TREES), "right", MANY),
    "boosted_ald mixture of causes": (lambda: aldsurv.BoostedALD(causes="mixture", **TREES), "causes", 12),
    "boosted_ald hazards of causes": (lambda: aldsurv.BoostedALD(causes="hazards", **TREES), "causes", 12),
    "boosted_ald cure": (lambda: aldsurv.BoostedALD(cure=True, support="positive", **TREES), "right", 40),
    "weibull_aft": (lambda: aldsurv.WeibullAFT(**CODED), "right", MANY),
    "weibull_aft cure": (lambda: aldsurv.WeibullAFT(ridge=1.0, cure=True, **CODED), "right", 40),
    "lognormal_aft": (lambda: aldsurv.LogNormalAFT(point="mean", **CODED), "right", 40),
    "lognormal_aft cure": (lambda: aldsurv.LogNormalAFT(ridge=1.0, cure=True, **CODED), "right", 40),
    "aftnet lognormal": (lambda: aldsurv.ElasticNetAFT(**NET), "right", 40),
    "aftnet weibull": (lambda: aldsurv.ElasticNetAFT(family="weibull", **NET), "right", 40),
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
            what = OF_MANY_ROWS if rows == MANY else None
            cases.append(case_of(name, model, path, random_rows(rows, seed=number), seed=number, what=what))
            if rows < MANY:
                people = random_rows(MANY, seed=100 + number)
                cases.append(case_of_many(f"{name}, many rows", model, path, people, seed=number))
        return compare(cases)


@pytest.mark.filterwarnings("ignore::aldsurv.errors.AldsurvWarning")
@pytest.mark.parametrize("name", FITS)
def test_predictions_are_those_of_python(name):
    assert differences()[name] == [], f"to {CLOSE:g}"
    assert differences().get(f"{name}, many rows", []) == [], f"to {CLOSE:g}"
