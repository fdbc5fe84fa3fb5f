"""What a search over settings may try, for every model in one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

__all__ = ["OneOf", "Range", "Score", "Space", "space_of"]

Score: TypeAlias = Literal["log_likelihood", "ibs"]


@final
@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, equally likely on the scale of logarithms if `log`."""

    low: float
    high: float
    log: bool = False

    def value(self, drawn: Any) -> Any:
        """The argument that a drawn number stands for; four digits are more than any search can tell apart."""
        return min(max(float(f"{drawn:.4g}"), self.low), self.high)


@final
@dataclass(frozen=True)
class OneOf:
    """One of a few values, which a record of the search knows by their text."""

    values: tuple[Any, ...]

    @property
    def names(self) -> list[str]:
        """Their texts: numbers of units with a cross between layers, as in ``64x64``."""
        return ["x".join(map(str, value)) if isinstance(value, tuple) else str(value) for value in self.values]

    def value(self, drawn: Any) -> Any:
        """The argument that a text stands for."""
        return self.values[self.names.index(drawn)]


Entry: TypeAlias = "Range | OneOf"


@final
@dataclass(frozen=True)
class Space:
    """What may be tried, by the constructor's names, and by what the trials are compared.

    The score is the held-out log-likelihood where predictions have a density at every time. A step function has none,
    and DeepHit's ends with its last bin: one event in the wrong place would be minus infinity. Their score is the
    integrated Brier score, which needs survival probabilities only.
    """

    entries: Mapping[str, Entry]
    score: Score


_RATE, _DECAY = Range(5e-4, 2e-2, log=True), Range(1e-3, 1.0, log=True)
_HIDDEN = OneOf(((16,), (32,), (64,), (128,), (32, 32), (64, 64), (128, 128)))
_NETWORK: dict[str, Entry] = {
    "learning_rate": _RATE,
    "hidden": _HIDDEN,
    "dropout": Range(0.0, 0.5),
    "weight_decay": _DECAY,
}
# From a penalty that nobody notices to one that leaves little of coefficients learned from a thousand events.
_LINEAR: dict[str, Entry] = {"ridge": Range(0.01, 1000.0, log=True)}
_TREES: dict[str, Entry] = {
    "components": OneOf((1, 2, 3, 5)),
    "learning_rate": Range(0.02, 0.3, log=True),
    "max_depth": OneOf((1, 2, 3, 4)),
    "min_child_weight": Range(1.0, 50.0, log=True),
    "l2": Range(0.1, 50.0, log=True),
    "colsample": Range(0.3, 1.0),
    "support": OneOf(("log", "positive", "real")),
}

_SPACES = {
    "ald": Space(
        {**_NETWORK, "support": OneOf(("log", "positive", "real")), "components": OneOf((1, 2, 3, 5))}, "log_likelihood"
    ),
    "boosted_ald": Space(_TREES, "log_likelihood"),
    "lognormal": Space(_NETWORK, "log_likelihood"),
    "cqrnn": Space(_NETWORK, "log_likelihood"),
    "deepsurv": Space(_NETWORK, "ibs"),
    "deephit": Space(
        {**_NETWORK, "durations": OneOf((10, 15, 25, 50)), "alpha": Range(0.0, 1.0), "sigma": Range(0.1, 1.0)}, "ibs"
    ),
    "icald": Space({**_NETWORK, "support": OneOf(("log", "positive", "real"))}, "log_likelihood"),
    "cox": Space(_LINEAR, "ibs"),
    "weibull_aft": Space(_LINEAR, "log_likelihood"),
    "lognormal_aft": Space(_LINEAR, "log_likelihood"),
}


def space_of(name: str, parameters: Mapping[str, Any]) -> Space:
    """The space of a model by its registered name; of another one what it shares with those.

    A model of a model has nothing of its own to search: its score is mostly that of the one within.

    Parameters
    ----------
    name
        Name of the model.
    parameters
        The constructor's parameters, for a model that is not in the table.
    """
    if name in _SPACES:
        return _SPACES[name]
    shared = {} if "estimator" in parameters else {**_NETWORK, **_LINEAR}
    return Space({entry: shared[entry] for entry in shared if entry in parameters}, "ibs")
