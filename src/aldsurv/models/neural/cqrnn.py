"""Quantile regression under censoring: a network gives every individual the quantiles of its distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number, Satisfies
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.quantile_knots import QuantileKnots
from aldsurv.distributions.numerics.ordered_quantiles import ordered_quantiles
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.fitting.quantile_stages import CENSORED_LEVEL, train_level_by_level
from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PEARCE_TRAINING, NetworkModel, Output, Strategy
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.neural.parametric import LARGEST_LOG
from aldsurv.models.search_space import SearchSpace
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["CQRNN", "QuantileExtras", "QuantileNetwork"]

FloatArray = NDArray[np.float64]
# A spread of logarithms of times below which all times are one.
_LEAST_SPREAD = 1e-6


@final
@dataclass(frozen=True)
class QuantileExtras(Extras):
    """The time y* beyond all others, in the unit of the data, and with support log the spread of the logarithms."""

    y_star: float | None = None
    log_spread: float | None = None


def _are_levels(levels: object) -> bool:
    if not isinstance(levels, tuple) or len(levels) < 2 or not all(isinstance(q, (int, float)) for q in levels):
        return False
    return all(0 < q < 1 for q in levels) and bool((np.diff(levels) > 0).all())


@final
@dataclass(frozen=True, kw_only=True)
class QuantileNetwork(NetworkModel):
    """Settings and formulas of `CQRNN`: the outputs are quantiles of the time or of its logarithm."""

    quantiles: tuple[float, ...] = tuple(round(0.05 * k, 2) for k in range(1, 20))
    y_star: float = 2.0
    y_star_kind: str = "factor"
    algorithm: str = "grid"
    censored_level: str = "interpolated"
    support: str = "log"
    crossing: str = "never"

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "y_star_kind": Choice(("factor", "value")),
        "algorithm": Choice(("grid", "sequential")),
        "censored_level": Choice(("nearest", "interpolated")),
        "support": Choice(("real", "log")),
        "crossing": Choice(("sorted", "never")),
        "quantiles": Satisfies(_are_levels, "two or more increasing probabilities between 0 and 1"),
        "y_star": Number(0, above=True),
    }
    EXTRAS: ClassVar[type[Extras]] = QuantileExtras

    def check(self) -> None:
        """A factor of the largest time must be above 1."""
        super().check()
        if self.y_star_kind == "factor" and not self.y_star > 1:
            raise ParameterError(
                f"y_star must be a factor above 1 (of the largest time), but is {self.y_star!r}.", argument="y_star"
            )

    def completed(self) -> QuantileNetwork:
        """With the sequential algorithm each quantile has all layers for itself."""
        if self.algorithm == "grid":
            return self
        sizes: list[int] = []
        for layers in (self.hidden, self.head_hidden):
            sizes += layers if isinstance(layers, tuple) else (layers,)
        return replace(self, hidden=(), head_hidden=tuple(sizes), residual=False, crossing="sorted")

    @property
    def strategy(self) -> Strategy | None:
        """The sequential algorithm trains level by level."""
        return None if self.algorithm == "grid" else train_level_by_level

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """Events and right-censored rows; with support log, times above 0."""
        if not bool((data.exact | data.right_censored).all()) or data.entry is not None:
            raise CensoringError(
                "CQRNN takes events and right-censored rows observed from the start, but some rows are left- or "
                "interval-censored or entered late.",
                argument="y",
                advice="Take a model with a likelihood, such as ALDSurvival.",
            )
        time = data.lower
        if self.support == "real" or bool((time > 0).all()):
            return data
        if not bool((time > 0).any()):
            raise DataError(
                "all times are 0: there is nothing to learn.", argument="y", advice="Check the time column."
            )
        # Below all quantiles it does not matter to them where a row lies.
        time = np.maximum(time, time[time > 0].min())
        return SurvivalData.right(time, data.exact, weight=data.weight, group=data.group)

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """y*, and the spread of the logarithms."""
        y_star = self._y_star(data, unit) * unit
        if self.support == "real":
            return QuantileExtras(y_star)
        # A pinball loss pulls as hard near as far: steps suit outputs whose spread is about 1.
        spread = float(np.log(data.lower[data.weights > 0]).std())
        return QuantileExtras(y_star, spread if spread > _LEAST_SPREAD else 1.0)

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The pinball loss with Portnoy's weights."""
        from aldsurv.losses.quantile_objective import QuantileObjective

        levels = None
        if self.algorithm == "sequential":
            levels = np.concatenate([task.row_columns[CENSORED_LEVEL] for task in prepared])
        return QuantileObjective(
            data,
            self.quantiles,
            np.concatenate([np.full(len(task.data), self._y_star(task.data, task.unit)) for task in prepared]),
            rule=self.censored_level,
            log_spread=self._log_spreads(prepared),
            ordered=self.crossing == "never",
            at=levels,
            device=device,
        )

    def describe_outputs(self) -> tuple[Output, ...]:
        """The quantiles; where they cannot cross, the middle one and distances (`ordered_quantiles`)."""
        if self.crossing == "sorted":
            link = "exp" if self.support == "log" else "identity"
            return tuple(Output(f"quantile {q:g}", link) for q in self.quantiles)
        return Output("middle quantile"), *(Output(f"distance to {q:g}", "softplus") for q in self.quantiles[1:])

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """Quantiles joined by straight lines."""
        quantiles = np.asarray(ordered_quantiles(raw)) if self.crossing == "never" else raw
        if self.support == "log":
            quantiles = np.exp(
                np.clip(quantiles * cast("float", QuantileExtras.of(extras).log_spread), -LARGEST_LOG, LARGEST_LOG)
            )
        return QuantileKnots(self.quantiles, quantiles)

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """One output per quantile, y*, and with support log the spread."""
        if network.outputs != len(self.quantiles):
            raise ParameterError(
                f"the network has {network.outputs} outputs, but there are {len(self.quantiles)} quantiles."
            )
        known = QuantileExtras.of(extras)
        if (known.log_spread is None) != (self.support == "real"):
            raise ParameterError("beside the network there must be y_star, and with support log log_spread.")
        for name in ("y_star", "log_spread"):
            value = getattr(known, name)
            if (value is None and name == "y_star") or (value is not None and not 0 < value < np.inf):
                raise ParameterError(f"{name} must be one positive number, but is {value!r:.60}.")

    def describe(self, extras: Extras) -> str:
        """How many quantiles there are."""
        return f"{len(self.quantiles)} quantiles"

    def format_loss(self, loss: float) -> tuple[str, str]:
        """The pinball loss."""
        return "pinball loss", f"{loss:.4f}"

    def _y_star(self, data: SurvivalData, unit: float) -> float:
        """The time beyond all others, in the unit inside."""
        largest = float(data.lower[data.weights > 0].max())
        if self.y_star_kind == "factor":
            return float(self.y_star) * largest
        y_star = float(self.y_star) / unit
        if not y_star > largest:
            raise ParameterError(
                f"y_star must be beyond the largest time, {largest * unit:g}, but is {self.y_star!r}.",
                argument="y_star",
            )
        return y_star

    def _log_spreads(self, prepared: Sequence[Prepared]) -> FloatArray | None:
        """Of each row, or None if outputs are quantiles of the time itself."""
        if self.support == "real":
            return None
        spreads = [QuantileExtras.of(task.extras).log_spread for task in prepared]
        return np.concatenate([np.full(len(task.data), spread) for task, spread in zip(prepared, spreads, strict=True)])


_DEFAULT = QuantileNetwork(hidden=(64, 64), residual=True)
_PAPER = QuantileNetwork(
    **PEARCE_TRAINING,
    point="median",
    quantiles=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    y_star=1.2,
    censored_level="nearest",
    support="real",
    crossing="sorted",
    # The paper does not say in which unit time enters the network.
    time_scale="std",
)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class CQRNN(NeuralSurvival):
    """Individual survival distributions by censored quantile regression (Pearce et al., 2022).

    The network gives quantiles of the time. It is trained with the pinball loss, in which a censored row is split by
    Portnoy's weights between its own time and a time y* beyond all others. The prediction joins the quantiles by
    straight lines: `QuantileKnots` says what is assumed outside them. Takes events and right-censored rows.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``. Beside its own
    parameters and attributes, below, it has those of `NeuralSurvival`.

    The recipe ``"paper"`` is the network and training of the baseline CQRNN in Sheng & Henao (2025), whose epochs and
    dropout differ by dataset: see `aldsurv.models.paper_settings`. With the sequential algorithm there is no
    checkpoint, and a callback ends the training of the quantile at hand.

    Parameters
    ----------
    quantiles
        Probabilities of the quantiles, at least two, increasing, between 0 and 1.
    y_star, y_star_kind
        Where the part of a censored row lies that is beyond all times: at this ``"factor"`` times the largest time,
        or at this ``"value"``, a time in the unit of the data.
    algorithm
        ``"grid"``: one network gives all quantiles, and how much had happened by a censoring time is read off its own
        predictions. ``"sequential"``: a network for each quantile, trained from the lowest to the highest, and it is
        read off those already trained; each has all layers for itself, without a residual.
    censored_level
        How it is read off: the level of the ``"nearest"`` quantile, or ``"interpolated"`` between two.
    support
        Quantiles of the time itself (``"real"``, which may come out below 0) or of its logarithm (``"log"``). With
        the latter a row at time 0 is taken to be at the first later time.
    crossing
        Predicted quantiles that cross are ``"sorted"``, or the network's outputs are distances between neighbours,
        so that they ``"never"`` cross. The networks of the sequential algorithm can only be sorted.

    Attributes
    ----------
    y_star_
        The time beyond all others, in the unit of the data.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, _ = datasets.load("norm_linear").split(seed=0)
    >>> model = CQRNN(random_state=0).fit(train.x, train.y)
    >>> d = model.predict_distribution([[0.2], [1.8]])
    >>> bool(d.median()[0] < d.median()[1]), d.quantile([0.1, 0.5, 0.9]).shape
    (True, (2, 3))
    """

    quantiles: Sequence[float] | None = None
    y_star: float | None = None
    y_star_kind: str | None = None
    algorithm: str | None = None
    censored_level: str | None = None
    support: str | None = None
    crossing: str | None = None

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": _DEFAULT, "paper": _PAPER}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(NETWORK_ENTRIES, "log_likelihood")

    @property
    def y_star_(self) -> float:
        """The time beyond all others, in the unit of the data."""
        return cast("float", QuantileExtras.of(self._fitted().extras).y_star)

    def check_parameters(self) -> None:
        """The sequential algorithm takes neither an encoder nor a checkpoint."""
        super().check_parameters()
        for name in ("encoder", "checkpoint"):
            if getattr(self, name) is not None and self.settings().strategy is not None:
                raise ParameterError(
                    f"{name} must be None with algorithm='sequential'.",
                    argument=name,
                    advice="Take algorithm='grid'.",
                )
