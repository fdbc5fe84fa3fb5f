"""The models that are run on the study's folds, by name; each is a function of the seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aldsurv.models import ALDSurvival
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


# Models of the library as they are without any setting.
LIBRARY: dict[str, Maker] = {
    "ald": _ald(),
    "kaplan_meier": lambda _: WithoutCovariates(),
    **{name: _registered(name) for name in ("stack", "cox", "boosted_ald", "lognormal", "deepsurv", "weibull_aft")},
}
# Of these the learner of the study that is the same, except for how columns were prepared.
SAME_AS = {"cox": "CPH", "kaplan_meier": "KM"}
# Settings that were compared on inner splits of the training rows.
CANDIDATES: dict[str, Maker] = {}


def model_named(name: str, seed: int) -> Any:
    """A fresh model; raises `KeyError` with the names that there are."""
    known = {**LIBRARY, **CANDIDATES}
    if name not in known:
        raise KeyError(f"unknown model {name!r}; there are {'; '.join(known)}")
    return known[name](seed)
