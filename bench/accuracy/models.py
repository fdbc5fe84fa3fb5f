"""The models of the study by name, each a function of the seed; a new line is all that a further one needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from aldsurv.models import ALDSurvival
from aldsurv.models.neural import NeuralSurvival
from aldsurv.registry import MODELS, PEERS
from bench.accuracy.composed import FoldEnsemble, ScaledAFT, WithoutCovariates

__all__ = ["ALL", "COMPARED", "STEPS", "fingerprint"]

Maker = Callable[[int], Any]
_QUIET: dict[str, Any] = {"progress": False, "device": "cpu"}


def _ald(**settings: Any) -> Maker:
    return lambda seed: ALDSurvival(**settings, **_QUIET, random_state=seed)


def _recalibrated(**settings: Any) -> Maker:
    return lambda seed: MODELS.load("recalibrated")(_ald(**settings)(seed), random_state=seed)


def _network(name: str) -> Maker:
    return lambda seed: MODELS.load(name)(**_QUIET, random_state=seed)


def _peer(name: str) -> Maker:
    return lambda seed: PEERS.load(name)(random_state=seed)


def _folds(name: str) -> Maker:
    return lambda seed: FoldEnsemble(lambda fold: PEERS.load(name)(random_state=seed, fold=fold))


# What stands side by side: the library's model with no arguments, and everything that it must not fall behind.
COMPARED: dict[str, Maker] = {
    "default": _ald(),
    "paper": _ald(recipe="paper"),
    "lognormal": _network("lognormal"),
    "cqrnn": _network("cqrnn"),
    "deepsurv": _network("deepsurv"),
    "deephit": _network("deephit"),
    "cox": lambda _: MODELS.load("cox")(),
    "weibull_aft": lambda _: MODELS.load("weibull_aft")(),
    "lognormal_aft": lambda _: MODELS.load("lognormal_aft")(),
    "rsf": _peer("rsf"),
    "gbsa": _peer("gbsa"),
    "xgb_cox": _peer("xgb_cox"),
    "xgb_cox x5": _folds("xgb_cox"),
    "xgb_aft": _peer("xgb_aft"),
    "xgb_aft x5": _folds("xgb_aft"),
    "xgb_aft scaled x5": lambda seed: FoldEnsemble(lambda fold: ScaledAFT(seed, fold)),
    "kaplan_meier": lambda _: WithoutCovariates(),
}

_LOG: dict[str, Any] = {"support": "log", "theta_link": "auto"}
# Each step from the paper's model towards the default alone, and what was tried together.
STEPS: dict[str, Maker] = {
    "paper, marginal start": _ald(recipe="paper", start="marginal"),
    "paper, log": _ald(recipe="paper", **_LOG),
    "paper, positive": _ald(recipe="paper", support="positive", theta_link="auto"),
    "paper, log, 3 components": _ald(recipe="paper", **_LOG, components=3),
    "paper, log, 3 components, start": _ald(recipe="paper", **_LOG, components=3, start="marginal"),
    "paper, 3 components": _ald(recipe="paper", components=3, start="marginal"),
    "paper, 5 members": _ald(recipe="paper", members=5),
    "paper, log, 5 members": _ald(recipe="paper", **_LOG, members=5),
    "paper, bins 8": _ald(recipe="paper", bins=8),
    "paper, median": _ald(recipe="paper", point="median"),
    "paper, mode": _ald(recipe="paper", point="mode"),
    "paper, restricted mean": _ald(recipe="paper", point="restricted_mean"),
    "paper, calibration 1": _ald(recipe="paper", calibration=1.0),
    "paper, crps 1": _ald(recipe="paper", crps=1.0),
    "paper, recalibrated": _recalibrated(recipe="paper"),
    "default, 1 component": _ald(components=1),
    "default, 3 components": _ald(components=3),
    "default, 5 components": _ald(components=5),
    "default, 3 components, free": _ald(components=3, shapes="free"),
    "default, bins 8": _ald(bins=8),
    "default, 3 components, bins 8": _ald(components=3, bins=8),
    "default, real": _ald(support="real"),
    "default, positive": _ald(support="positive"),
    "default, 1 member": _ald(members=1),
    "default, 10 members": _ald(members=10, validation=0.1),
    "default, mean": _ald(point="mean"),
    "default, restricted mean": _ald(point="restricted_mean"),
    "default, calibration 1": _ald(calibration=1.0),
    "default, crps 1": _ald(crps=1.0),
    "default, recalibrated": _recalibrated(),
}
ALL: dict[str, Maker] = {**COMPARED, **STEPS}


def fingerprint(model: Any) -> str:
    """What a model is set to, in a few characters: results of a recipe that has changed since are not its results.

    A network is known by how it differs from the paper's, so that a setting that did not exist yet, and is off there,
    changes nothing.
    """
    return hashlib.sha256(repr(_described(model)).encode()).hexdigest()[:12]


def _described(model: Any) -> Any:
    if isinstance(model, FoldEnsemble):
        return ["ensemble", *(_described(member) for member in model.members)]
    if isinstance(model, ScaledAFT):
        return "accelerated failure time, scaled"
    if isinstance(model, WithoutCovariates):
        return "without covariates"
    if isinstance(model, NeuralSurvival):
        paper, settings = type(model)._RECIPES["paper"], model._settings()
        found = {name: value for name, value in settings.items() if name not in paper or value != paper[name]}
    else:
        found = {
            name: _described(value) if name == "estimator" and value is not None else value
            for name, value in model.get_params(deep=False).items()
            if name != "random_state" and value is not None
        }
    return [type(model).__name__, *sorted(found.items())]
