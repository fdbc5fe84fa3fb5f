"""The models that are run on the study's folds, by name; each is a function of the seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aldsurv.models import ALDSurvival, StackedSurvival
from aldsurv.registry import MODELS
from bench.accuracy.composed import WithoutCovariates

__all__ = ["CANDIDATES", "LIBRARY", "SAME_AS", "model_named"]

Maker = Callable[[int], Any]


def _ald(**settings: Any) -> Maker:
    return lambda seed: ALDSurvival(**settings, progress=False, device="cpu", random_state=seed)


def _registered(name: str) -> Maker:
    def make(seed: int) -> Any:
        kind = MODELS.load(name)
        given = {"random_state": seed, "progress": False, "device": "cpu"}
        return kind(**{key: value for key, value in given.items() if key in kind.parameter_defaults()})

    return make


def _beside_ald(name: str, **settings: Any) -> Maker:
    """The default and another model, whose share of the prediction is three tenths."""

    def make(seed: int) -> Any:
        other = MODELS.load(name)(**settings) if settings else _registered(name)(seed)
        return StackedSurvival([_ald()(seed), other], weights=[0.7, 0.3], random_state=seed)

    return make


# Models of the library as they are without any setting.
LIBRARY: dict[str, Maker] = {
    "ald": _ald(),
    "kaplan_meier": lambda _: WithoutCovariates(),
    **{name: _registered(name) for name in ("stack", "cox", "boosted_ald", "lognormal", "deepsurv", "weibull_aft")},
}
# Of these the learner of the study that is the same, except for how columns were prepared.
SAME_AS = {"cox": "CPH", "kaplan_meier": "KM"}
# Settings that were compared on inner splits of the training rows.
_TWO: dict[str, Any] = {"recipe": "small", "varied": False, "shapes": "tied"}
_PLAIN: dict[str, Any] = {**_TWO, "components": 1, "bins": 0}
_LINEAR: dict[str, Any] = {**_PLAIN, "hidden": (), "learning_rate": 0.01, "max_epochs": 300, "members": 10}
CANDIDATES: dict[str, Maker] = {
    "large": _ald(recipe="large"),
    "large, 10 members": _ald(recipe="large", members=10),
    "large, 20 members": _ald(recipe="large", members=20),
    "large, skewed": _ald(recipe="large", shapes="skewed"),
    "large, skewed, varied": _ald(recipe="large", shapes="skewed", varied=True),
    "two layers, 10 members": _ald(**_TWO, members=10),
    "two layers": _ald(**_TWO),
    "two layers, no pieces": _ald(**_TWO, bins=0),
    "two layers, one component, no pieces": _ald(**_PLAIN),
    "two layers, one component, no pieces, 10 members": _ald(**_PLAIN, members=10),
    "two layers, one component, no pieces, 10 members, decay 3": _ald(**_PLAIN, members=10, weight_decay=3.0),
    "two layers, skewed, 10 members": _ald(recipe="small", varied=False, members=10),
    "two layers, skewed, no pieces, 10 members": _ald(recipe="small", varied=False, bins=0, members=10),
    "linear, one component, no pieces, 10 members": _ald(**_LINEAR),
    "small, 10 members": _ald(recipe="small", members=10),
    "small, 64 units": _ald(recipe="small", hidden=(64, 64)),
    "ald 0.7, cox 0.3": _beside_ald("cox", ridge=1.0),
    "ald 0.7, lognormal 0.3": _beside_ald("lognormal"),
    "ald 0.7, deepsurv 0.3": _beside_ald("deepsurv"),
    "ald 0.7, boosted_ald 0.3": _beside_ald("boosted_ald"),
    "stack, equal weights": lambda seed: StackedSurvival(weights="equal", random_state=seed),
    "cox, ridge 1": lambda _: MODELS.load("cox")(ridge=1.0),
}


def model_named(name: str, seed: int) -> Any:
    """A fresh model; raises `KeyError` with the names that there are."""
    known = {**LIBRARY, **CANDIDATES}
    if name not in known:
        raise KeyError(f"unknown model {name!r}; there are {'; '.join(known)}")
    return known[name](seed)
