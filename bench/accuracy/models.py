"""The models of the study by name, each a function of the seed; a new line is all that a further one needs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from aldsurv.models import ALDSurvival, StackedSurvival
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.wrappers.stack_members import named_members
from aldsurv.registry import MODELS, PEERS
from bench.accuracy.composed import FoldEnsemble, ScaledAFT, WithoutCovariates

__all__ = ["ALL", "COMPARED", "STEPS", "fingerprint"]

Maker = Callable[[int], Any]
_QUIET: dict[str, Any] = {"progress": False, "device": "cpu"}
# The recipe for tables of more than a thousand rows, and the summary by which it ranked when the steps were run.
_LARGE: dict[str, Any] = {"recipe": "large", "point": "median"}


def _ald(**settings: Any) -> Maker:
    return lambda seed: ALDSurvival(**settings, **_QUIET, random_state=seed)


def _large(**settings: Any) -> Maker:
    return _ald(**{**_LARGE, **settings})


def _recalibrated(**settings: Any) -> Maker:
    return lambda seed: MODELS.load("recalibrated")(_ald(**settings)(seed), random_state=seed)


def _network(name: str, **settings: Any) -> Maker:
    return lambda seed: MODELS.load(name)(**settings, **_QUIET, random_state=seed)


def _peer(name: str) -> Maker:
    return lambda seed: PEERS.load(name)(random_state=seed)


def _folds(name: str) -> Maker:
    return lambda seed: FoldEnsemble(lambda fold: PEERS.load(name)(random_state=seed, fold=fold))


# What stands side by side: the library's model with no arguments, and everything that it must not fall behind. Some
# rank by the median, as they all did when these were run.
COMPARED: dict[str, Maker] = {
    "default": _ald(),
    "paper": _ald(recipe="paper"),
    "boosted_ald": lambda seed: MODELS.load("boosted_ald")(point="median", random_state=seed),
    "lognormal": _network("lognormal"),
    "cqrnn": _network("cqrnn", point="median"),
    "deepsurv": _network("deepsurv"),
    "deephit": _network("deephit", point="median"),
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
_MIXED: dict[str, Any] = {"components": 5, "start": "marginal"}
# What ALDSurvival() was before the study.
_EARLIER: dict[str, Any] = {
    "components": 1, "head_hidden": (32,), "learning_rate": 0.003, "patience": 15, "weight_decay": 0.1, "bins": 0,
}  # fmt: skip
# Each step from the paper's model towards the recipe for larger tables alone, and each taken away from it.
STEPS: dict[str, Maker] = {
    "paper, marginal start": _ald(recipe="paper", start="marginal"),
    "paper, log": _ald(recipe="paper", **_LOG),
    "paper, positive": _ald(recipe="paper", support="positive", theta_link="auto"),
    "paper, support auto": _ald(recipe="paper", support="auto", theta_link="auto"),
    "paper, 5 components": _ald(recipe="paper", **_MIXED),
    "paper, log, 5 components": _ald(recipe="paper", **_LOG, **_MIXED),
    "paper, 5 members": _ald(recipe="paper", members=5),
    "paper, log, 5 components, 5 members": _ald(recipe="paper", **_LOG, **_MIXED, members=5),
    "paper, bins 8": _ald(recipe="paper", bins=8),
    "paper, point median": _ald(recipe="paper", point="median"),
    "paper, point auto": _ald(recipe="paper", point="auto"),
    "paper, calibration 1": _ald(recipe="paper", calibration=1.0),
    "paper, crps 1": _ald(recipe="paper", crps=1.0),
    "paper, recalibrated": _recalibrated(recipe="paper"),
    "paper, icald": _network("icald", recipe="paper"),
    "paper, icald after": lambda seed: MODELS.load("icald_calibrated")(_ald(recipe="paper")(seed), random_state=seed),
    "earlier default": _large(**_EARLIER),
    "large": _large(),
    "large, 1 component": _large(components=1),
    "large, 3 components": _large(components=3),
    "large, 8 components": _large(components=8),
    "large, free shapes": _large(shapes="free"),
    "large, bins 0": _large(bins=0),
    "large, bins 16": _large(bins=16),
    "large, weight decay 0.1": _large(weight_decay=0.1),
    "large, weight decay 3": _large(weight_decay=3.0),
    "large, own heads": _large(head_hidden=(32,)),
    "large, two layers": _large(hidden=(32, 32)),
    "large, learning rate 0.003": _large(learning_rate=0.003),
    "large, real": _large(support="real"),
    "large, positive": _large(support="positive"),
    "large, support auto": _large(support="auto"),
    "large, 1 member": _large(members=1),
    "large, 10 members": _large(members=10),
    "large, point auto": _large(point="auto"),
    "large, restricted mean": _large(point="restricted_mean"),
    "large, calibration 1": _large(calibration=1.0),
    "large, crps 0.5": _large(crps=0.5),
    "large, recalibrated": _recalibrated(**_LARGE),
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
        paper = type(model).RECIPES["paper"]
        found = _differences(model.settings(), paper)
        if model.recipe in model.RECIPES_BY_SIZE:
            found["few rows"] = _differences(model.settings((1, 1)), paper)
    elif isinstance(model, StackedSurvival):
        found = {name: _described(member) for name, member in named_members(model.estimators).items()}
    else:
        found = {
            name: _described(value) if name == "estimator" and value is not None else value
            for name, value in model.get_params(deep=False).items()
            if name != "random_state" and value is not None
        }
    return [type(model).__name__, *sorted(found.items())]


def _differences(settings: NetworkModel, paper: NetworkModel) -> dict[str, Any]:
    """Settings that are not those of the paper."""
    usual = paper.to_dict()
    return {name: value for name, value in settings.to_dict().items() if name not in usual or value != usual[name]}
