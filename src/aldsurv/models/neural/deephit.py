"""DeepHit: a network gives every individual a probability for each bin of time, and for each of competing causes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number, WholeNumber
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing.cumulative_incidence import CumulativeIncidence, linear_survival
from aldsurv.distributions.families.step import Step
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import Arrays, Document
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PYCOX_TRAINING, NetworkModel, Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.neural.time_bins import bin_ends, marginal_chances, places, require_right_censored
from aldsurv.models.search_space import OneOf, Range, SearchSpace
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, Objective
    from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["BinExtras", "BinNetwork", "DeepHit"]

FloatArray = NDArray[np.float64]
# Pairs are weighted by exp of differences of up to 1/sigma, which single precision must be able to hold.
_LEAST_SIGMA = 0.02
_MOST_DURATIONS = 10_000


@final
@dataclass(frozen=True)
class BinExtras(Extras):
    """Ends of the bins (bins,), in the unit inside, and names of the causes if the data had any."""

    bin_ends: FloatArray = field(default_factory=lambda: np.zeros(0))
    causes: tuple[str, ...] | None = None

    @classmethod
    def from_file(cls, arrays: Arrays, document: Document) -> BinExtras:
        """Files of version 0.1 have the names of the causes as an array."""
        if "causes" in arrays:
            document = {**document, "causes": list(_names_from_array(arrays["causes"]))}
            arrays = {name: array for name, array in arrays.items() if name != "causes"}
        return super().from_file(arrays, document)


@final
@dataclass(frozen=True, kw_only=True)
class BinNetwork(NetworkModel):
    """Settings and formulas of `DeepHit`: the outputs are logits of causes and bins."""

    durations: int = 15
    scheme: str = "quantile"
    censoring: str = "interpolated"
    interpolation: str = "linear"
    alpha: float = 0.8
    sigma: float = 0.3

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "durations": WholeNumber(2, _MOST_DURATIONS),
        "scheme": Choice(("equidistant", "quantile")),
        "censoring": Choice(("rounded", "interpolated")),
        "interpolation": Choice(("linear", "step")),
        "alpha": Number(0, 1, meaning="a share of the loss"),
        "sigma": Number(_LEAST_SIGMA),
    }
    EXTRAS: ClassVar[type[Extras]] = BinExtras

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """Exact and right-censored rows."""
        require_right_censored(data, "DeepHit")
        return data

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """Bins of time, and the causes."""
        return BinExtras(bin_ends(data, self.durations, self.scheme), data.causes)

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The likelihood of the bins, and the ranking loss."""
        from aldsurv.losses.deephit_loss import deephit_objective

        in_part = self.censoring == "interpolated"
        found = [places(task.data, BinExtras.of(task.extras).bin_ends, in_part=in_part) for task in prepared]
        place = np.concatenate([each for each, _ in found])
        entered = None
        if data.entry is not None:
            entered = np.concatenate([np.zeros(len(each)) if since is None else since for each, since in found])
        cause = data.exact.astype(np.int64) if data.cause is None else data.cause
        causes = 1 if data.causes is None else len(data.causes)

        def start(rows: NDArray[np.int64]) -> FloatArray:
            chosen = (None if column is None else column[rows] for column in (data.weight, entered))
            return marginal_chances(place[rows], cause[rows], *chosen, causes=causes, bins=self.durations)

        return deephit_objective(
            place,
            cause,
            entered,
            bins=self.durations,
            causes=causes,
            alpha=float(self.alpha),
            sigma=float(self.sigma),
            start=start,
            device=device,
        )

    def describe_outputs(self) -> tuple[Output, ...]:
        """Probabilities of the bins of time."""
        return tuple(Output(f"bin {k + 1}", "softmax") for k in range(self.durations))

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """Survival at the ends of the bins."""
        ends = BinExtras.of(extras).bin_ends
        return self._of_survival(ends, 1 - incidence_of(raw, len(ends)).sum(axis=1))

    def joins_members(self, extras: Extras) -> bool:
        """Without causes: outputs of all members are many times what is left of them, the mean curve."""
        return BinExtras.of(extras).causes is None

    def combine(self, parts: list[Any], fitted: FittedNetwork) -> SurvivalDistribution:
        """The mean of the curves; all have the same grid, so it is their mixture in one table."""
        ends = BinExtras.of(fitted.extras).bin_ends * fitted.time_scale
        curves = [part.values if isinstance(part, Step) else 1 - part.cdf_values[:, 1:] for part in parts]
        return self._of_survival(ends, np.mean(curves, axis=0))

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """One output per cause and bin."""
        ends, names = BinExtras.of(extras).bin_ends, BinExtras.of(extras).causes
        if ends.dtype != np.float64 or ends.shape != (self.durations,):
            raise ParameterError(f"bin_ends must be {self.durations} numbers, but are {ends.dtype} {ends.shape}.")
        if not np.isfinite(ends).all() or (np.diff(ends, prepend=0.0) <= 0).any():
            raise ParameterError("bin_ends must be finite, above 0 and ascending.")
        if names is not None and not (isinstance(names, tuple) and all(isinstance(name, str) for name in names)):
            raise ParameterError("causes must be names.")
        if network.outputs != len(ends) * (1 if names is None else len(names)):
            raise ParameterError(f"the network must have an output for each cause and bin, but has {network.outputs}.")

    def describe(self, extras: Extras) -> str:
        """How many bins there are."""
        return f"{len(BinExtras.of(extras).bin_ends)} bins of time"

    def _of_survival(self, ends: FloatArray, survival: FloatArray) -> SurvivalDistribution:
        survival = np.clip(survival, 0.0, 1.0)
        if self.interpolation == "linear":
            return linear_survival(ends, survival)
        return Step.from_checked(times=ends[None, :], values=survival, tail="hold")


_DEFAULT = BinNetwork()
_PAPER = BinNetwork(
    **PYCOX_TRAINING,
    point="median",
    durations=100,
    scheme="equidistant",
    censoring="rounded",
    alpha=0.2,
    sigma=0.1,
)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class DeepHit(NeuralSurvival):
    """Individual survival distributions by probabilities of bins of time that a network gives (Lee et al., 2018).

    Nothing is assumed about the shape of the distribution. The loss joins the likelihood of the bins with a ranking
    loss: who has the event early should have the larger probability of it by then. With data made by
    `SurvivalData.competing` there is a probability for each cause and bin, and `predict_incidence` answers cause by
    cause; `predict_distribution` is that of the time to the first event of any cause.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``. Beside its own
    parameters and attributes, below, it has those of `NeuralSurvival`.

    The recipe ``"paper"`` is the baseline of Sheng & Henao (2025), which is pycox's. Probabilities of the members are
    averaged; the unit inside (`time_scale`) makes no difference except for rounding.

    Parameters
    ----------
    durations
        Number of bins.
    scheme
        ``"equidistant"`` bins, or ``"quantile"``: about as many events in each.
    censoring
        Of a censored time within a bin: ``"rounded"`` takes it as the end of the bin before, as pycox does;
        ``"interpolated"`` counts the share of the bin that was passed.
    interpolation
        ``"linear"``: survival falls evenly within a bin. ``"step"``: at its end.
    alpha
        Share of the likelihood in the loss, from 0 to 1; the rest is the ranking's.
    sigma
        Differences of probability beyond this matter in the ranking.

    Attributes
    ----------
    bin_ends_
        Ends of the bins, in the unit of the data; the first begins at 0.
    causes_
        Names of the causes; None if the data had none.

    Examples
    --------
    >>> import numpy as np
    >>> from aldsurv import SurvivalData
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> death, relapse = np.exp(x[:, 0] + rng.normal(size=300) / 2), np.exp(x[:, 1] + rng.normal(size=300) / 2)
    >>> first = np.minimum(np.minimum(death, relapse), 3.0)
    >>> cause = np.select([first == death, first == relapse], [1, 2], 0)
    >>> model = DeepHit(random_state=0).fit(x, SurvivalData.competing(first, cause, names=["death", "relapse"]))
    >>> found = model.predict_incidence([[-1.0, 1.0], [1.0, -1.0]])
    >>> chance = found.incidence(1.0)
    >>> chance.shape, bool(chance[0, 0] > 0.6 > chance[1, 0]), bool(chance[1, 1] > 0.6 > chance[0, 1])
    ((2, 2), True, True)
    """

    durations: int | None = None
    scheme: str | None = None
    censoring: str | None = None
    interpolation: str | None = None
    alpha: float | None = None
    sigma: float | None = None

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {"default": _DEFAULT, "paper": _PAPER}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {
            **NETWORK_ENTRIES,
            "durations": OneOf((10, 15, 25, 50)),
            "alpha": Range(0.0, 1.0),
            "sigma": Range(0.1, 1.0),
        },
        "ibs",
    )
    TAKES_CAUSES: ClassVar[bool] = True

    @property
    def bin_ends_(self) -> FloatArray:
        """Ends of the bins (bins,), in the unit of the data."""
        fitted = self._fitted()
        return np.asarray(BinExtras.of(fitted.extras).bin_ends * fitted.time_scale)

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes; None if the data had none."""
        return BinExtras.of(self._fitted().extras).causes

    def predict_incidence(self, X: object) -> CumulativeIncidence:
        """Probability of the event of each cause by any time, for each row of `X`, in the unit of the data."""
        raw = self.predict_outputs(X)
        ends = self.bin_ends_
        return CumulativeIncidence.from_checked(
            times=ends,
            values=np.mean([incidence_of(member, len(ends)) for member in raw], axis=0),
            causes=self.causes_ or ("1",),
            interpolate=self.settings_.interpolation == "linear",
        )


def incidence_of(raw: FloatArray, bins: int) -> FloatArray:
    """Probability of each cause up to the end of each bin (n, causes, bins), from the network's outputs."""
    # The output for what comes after the last bin is always 0.
    top = np.maximum(raw.max(axis=1, keepdims=True), 0.0)
    grown = np.exp(raw - top)
    chances = grown / (grown.sum(axis=1, keepdims=True) + np.exp(-top))
    return np.asarray(np.cumsum(chances.reshape(len(raw), -1, bins), axis=2))


def _names_from_array(numbers: NDArray[Any]) -> tuple[str, ...]:
    """Names that version 0.1 kept as the numbers of their letters, a 0 after each."""
    if numbers.dtype != np.int64 or numbers.ndim != 1 or not numbers.size or numbers[-1] != 0:
        raise ParameterError("causes must be names as numbers of their letters, a 0 after each.")
    if ((numbers < 0) | (numbers > 0x10FFFF)).any():
        raise ParameterError("causes must be numbers of letters, but some are not.")
    return tuple("".join(map(chr, numbers.tolist())).split("\0")[:-1])
