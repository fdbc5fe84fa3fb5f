"""The model of the paper: a network gives every individual an asymmetric Laplace distribution, or a mixture of some."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Flag, Number, WholeNumber
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import LARGEST_NUMBER
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NETWORK_ENTRIES, PAPER_TRAINING, NetworkModel, Output, SizedRecipe
from aldsurv.models.neural.parametric import CauseExtras, ParametricNetwork, ParametricSurvival
from aldsurv.models.search_space import OneOf, SearchSpace
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.columns.features import Features
    from aldsurv.losses.objective import Device, LikelihoodObjective, Objective
    from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["ALDNetwork", "ALDSurvival", "MixtureExtras"]

FloatArray = NDArray[np.float64]

# In the order in which they are tried; the first is taken if nothing can be compared.
_TRIED = ("log", "positive", "real")
# Pieces of a column, where there are so few rows that the table of all pieces has its place in memory, and so few
# columns that their pieces do not outnumber what rows can determine.
_BINS, _MOST_BINNED, _MOST_BINNED_COLUMNS = 8, 100_000, 250


@final
@dataclass(frozen=True)
class MixtureExtras(CauseExtras):
    """Beside the causes the least scale of a component, in the unit inside; None with one component."""

    least_scale: float | None = None


@final
@dataclass(frozen=True, kw_only=True)
class ALDNetwork(ParametricNetwork):
    """Settings and formulas of `ALDSurvival`: outputs are θ, σ and κ, or what moves the components of a mixture."""

    support: str = "log"
    components: int = 5
    shapes: str = "tied"
    theta_link: str = "auto"
    bins: int | str = "auto"
    calibration: float = 0.0
    crps: float = 0.0
    varied: bool = False

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "support": Choice((*SUPPORTS, "auto")),
        "components": WholeNumber(1, 100),
        "shapes": Choice(("free", "tied", "skewed")),
        "theta_link": Choice(("exp", "identity", "auto")),
        "bins": WholeNumber(0, or_one_of=("auto",), meaning="0: none"),
        "calibration": Number(0, meaning="0: not used"),
        "crps": Number(0, 1, meaning="0: not used"),
        "varied": Flag(),
    }
    ADDED_LATER: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"components": 1, "shapes": "tied"},
        {"bins": 0, "calibration": 0.0, "crps": 0.0},
        {"varied": False},
        *ParametricNetwork.ADDED_LATER,
    )
    EXTRAS: ClassVar[type[Extras]] = MixtureExtras

    @property
    def family(self) -> str:
        """The asymmetric Laplace family on the support."""
        return SUPPORTS[self.support].family_name

    @property
    def links(self) -> tuple[str, ...]:
        """Of θ, σ and κ."""
        return (self.theta_link, "exp", "exp")

    @property
    def layout(self) -> MixtureOutputs | None:
        """What the outputs of a mixture are; None for a single component."""
        if self.components == 1:
            return None
        return MixtureOutputs(
            self.components, self.shapes != "free", self.theta_link == "exp", skewed=self.shapes == "skewed"
        )

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``theta``, ``sigma`` and ``kappa``; of several components with their numbers, and ``weight``."""
        if self.components == 1:
            return super().parameter_names
        numbers = range(1, self.components + 1)
        return tuple(f"{name}_{k}" for name in ("theta", "sigma", "kappa", "weight") for k in numbers)

    def completed(self) -> ALDNetwork:
        """With the link of θ: exp with support positive, where θ would otherwise run below 0, else identity."""
        if self.theta_link != "auto" or self.support == "auto":
            return self
        return replace(self, theta_link=SUPPORTS[self.support].theta_link)

    def alternatives(self) -> Sequence[NetworkModel]:
        """With ``support="auto"`` one model for each support."""
        if self.support != "auto":
            return (self,)
        return tuple(replace(self, support=support).completed() for support in _TRIED)

    def alternative_name(self) -> str:
        """The support, and how causes are modelled if there are any."""
        return self.support if self.causes == "auto" else f"{self.support}, {self.causes}"

    def pieces(self, rows: int, columns: int, *, scored: bool = False) -> int:
        """Pieces of a column."""
        if self.bins != "auto":
            return int(self.bins)
        return _BINS if rows <= _MOST_BINNED and columns <= _MOST_BINNED_COLUMNS and not scored else 0

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """The least scale of a component: how finely times were recorded."""
        if self.layout is None:
            return MixtureExtras(data.causes)
        from aldsurv.losses.likelihood.tied_times import least_component_scale

        times = data.lower[data.exact & (data.weights > 0)]
        return MixtureExtras(data.causes, float(least_component_scale(SUPPORTS[self.support].inside(times))))

    @property
    def part_outputs(self) -> int:
        """θ, σ and κ, or what moves the components of a mixture."""
        return super().part_outputs if self.layout is None else self.layout.outputs

    @property
    def part_constants(self) -> int:
        """With tied shapes, places of the components do not depend on the inputs."""
        return 0 if self.layout is None else self.layout.constants

    def part_objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> LikelihoodObjective:
        """The censored likelihood of one distribution or mixture."""
        from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective

        if self.layout is None:
            return super().part_objective(prepared, data, units, device)
        least = _least_scales(prepared)
        return mixture_objective(self.layout, SUPPORTS[self.support], data, least, unit=units, device=device)

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The censored likelihood, and the terms that the settings add to it."""
        from aldsurv.losses.training_terms import one_component, with_terms

        likelihood, layout = super().objective(prepared, data, units, device), self.layout
        if not self.calibration and not self.crps:
            return likelihood
        if self.cause_outputs(prepared[0].extras) is not None:
            raise ParameterError("calibration and crps must be 0 with competing causes or a cure.", argument="crps")
        return with_terms(
            likelihood,
            one_component(self.theta_link == "exp") if layout is None else layout.columns,
            SUPPORTS[self.support],
            data,
            calibration=self.calibration,
            crps=self.crps,
            horizon=np.concatenate([np.full(len(task.data), _last_time(task.data)) for task in prepared]),
            least_scale=0.0 if layout is None else _least_scales(prepared),
            device=device,
        )

    def fixed_part_outputs(self, member: int) -> FloatArray | None:
        """Of varied members every second has all components in one place."""
        layout = self.layout
        return None if layout is None or not self._is_plain(member) else layout.one_place

    def unused_inputs(self, features: Features, member: int) -> NDArray[np.bool_] | None:
        """Of varied members every second does without the pieces of columns."""
        return features.piece_columns if self._is_plain(member) else None

    def _is_plain(self, member: int) -> bool:
        return self.varied and member % 2 == 1

    def part_distribution(self, raw: FloatArray, extras: Extras) -> SurvivalDistribution:
        """One asymmetric Laplace distribution per row, or a mixture."""
        layout = self.layout
        if layout is None:
            return super().part_distribution(raw, extras)
        columns = layout.columns(raw, np.array([MixtureExtras.of(extras).least_scale]))
        return MixedAsymmetricLaplace(**columns, support=self.support)

    def joins_members(self, extras: Extras) -> bool:
        """Components of all members are one mixture, unless they belong to causes."""
        return self.layout is not None and self.cause_outputs(extras) is None

    def joint_distribution(
        self, blocks: Iterable[FloatArray], constants: FloatArray, fitted: FittedNetwork, rows: int
    ) -> SurvivalDistribution:
        """The mixture of the components of all members."""
        layout = self.layout
        if layout is None:
            return super().joint_distribution(blocks, constants, fitted, rows)
        least = np.array([MixtureExtras.of(fitted.extras).least_scale])
        fixed = constants[:, None] if layout.constants else None
        columns = (layout.columns(moving, least, fixed) for moving in blocks)
        parts = (MixedAsymmetricLaplace.of_members(part, self.support).scaled(fitted.time_scale) for part in columns)
        return MixedAsymmetricLaplace.collected(parts, rows)

    def describe_outputs(self) -> tuple[Output, ...]:
        """θ, σ and κ; of a mixture what `MixtureOutputs` lists, in its order."""
        if self.layout is None:
            return super().describe_outputs()
        numbers = range(1, self.components + 1)
        shared: tuple[Output, ...] = ()
        parts = {"theta": self.theta_link, "sigma": "exp", "kappa": "exp", "weight": "softmax"}
        if self.layout.tied:
            shared = (Output("location"), Output("scale", "exp"), Output("skew", "exp"))[: self.layout.shared]
            parts = {"weight": "softmax", "place": "identity", "scale": "exp", "kappa": "exp"}
        return shared + tuple(Output(f"{name}_{k}", link) for name, link in parts.items() for k in numbers)

    def combine(self, parts: list[SurvivalDistribution], fitted: FittedNetwork) -> SurvivalDistribution:
        """One mixture of the components of all members."""
        mixed = [part for part in parts if isinstance(part, MixedAsymmetricLaplace)]
        return MixedAsymmetricLaplace.joined(mixed) if mixed else super().combine(parts, fitted)

    def parameter_columns(self, parts: list[SurvivalDistribution]) -> FloatArray:
        """Parameters (parameters, n), the mean over the members."""
        if self.components == 1:
            return super().parameter_columns(parts)
        names = ("theta", "sigma", "kappa", "weights")
        tables = [np.mean([getattr(part, name) for part in parts], axis=0) for name in names]
        return np.asarray(np.concatenate(tables, axis=1).T)

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """Outputs of the layout, and a least scale for several components."""
        if self.support not in SUPPORTS:
            raise ParameterError(f"a fitted model has one support, but this has {self.support!r}.")
        super().check_fitted(network, members, extras)
        if self.layout is None:
            return
        least = MixtureExtras.of(extras).least_scale
        if least is None or not 0 < least <= LARGEST_NUMBER:
            raise ParameterError("a mixture must know the least scale of its components, one positive number.")

    def describe_part(self) -> str:
        """Family, and how many components there are."""
        kind = super().describe_part()
        return kind if self.components == 1 else f"mixture of {self.components} {kind} ({self.shapes} shapes)"

    def format_loss(self, loss: float) -> tuple[str, str]:
        """With terms beside it the loss is not a log-likelihood."""
        return ("loss", f"{loss:.4f}") if self.calibration or self.crps else super().format_loss(loss)


# Chosen by rows held out of the training parts of 15 datasets: docs/accuracy.md.
_LARGE = ALDNetwork(
    hidden=(32,), residual=True, learning_rate=0.01, patience=10, weight_decay="auto", support="log", components=5
)
# Few rows say little about many weights, and members that err differently more than larger ones: docs/neutral.md.
_SMALL = replace(
    _LARGE,
    members=20,
    varied=True,
    shapes="skewed",
    hidden=(32, 32),
    residual=False,
    learning_rate=0.003,
    patience=15,
    weight_decay=0.1,
)
_MOST_SMALL_ROWS = 1000
# So many rows need few passes, with a rate that ends at 0, and no dropout: by rows that drawn tables hold out,
# docs/results/scale.json.
_LARGER = replace(_LARGE, dropout=0.0, schedule="one_cycle", batch_size=512, max_epochs=5, patience=3)
# Columns are no longer in pieces: more layers bend their effects.
_HUGE = replace(_LARGER, members=3, hidden=(64, 64), residual=False, max_epochs="auto")
_MOST_LARGE_ROWS = 50_000
_PAPER = ALDNetwork(
    **PAPER_TRAINING,
    hidden=(32,),
    head_hidden=(32,),
    residual=True,
    support="real",
    components=1,
    theta_link="exp",
    # The paper does not say in which unit time enters the network; outputs that start near e⁰ suit times around 1.
    time_scale="median",
    bins=0,
    point="mean",
)


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ALDSurvival(ParametricSurvival):
    """Individual survival distributions by an asymmetric Laplace distribution whose parameters a network gives.

    A parameter that is None has the value of the recipe; ``settings_`` shows all of them after ``fit``. Beside its own
    parameters and attributes, below, it has those of `NeuralSurvival`.

    Parameters
    ----------
    support
        ``"real"`` (the paper's: some mass below 0), ``"positive"`` (the same cut off at 0), ``"log"`` (the logarithm
        of time has the asymmetric Laplace distribution), or ``"auto"``: all three are trained, and the one with the
        highest log-likelihood on the members' validation rows is kept; log if under ten events are held out.
    components
        Asymmetric Laplace components of each row's distribution; 1 is the paper's model, more make it a mixture.
    shapes
        Of several components: ``"free"``, each parameter a function of the covariates, or ``"tied"``: covariates move
        one location, one scale and the weights, and the places of the components around them are the same for all;
        ``"skewed"``: as tied, and covariates move one asymmetry, too.
    theta_link
        How θ comes from its output: ``"exp"``, ``"identity"``, or ``"auto"``: exp with support positive, where θ
        would otherwise run below 0, else identity.
    bins
        Pieces into which quantiles divide a column of numbers. For each piece, an input of the network is the share of
        the piece that lies below the value, beside the column itself. 0 for none. ``"auto"`` is 8 up to 100,000 rows
        and 250 columns, and 0 beyond, or if linear scores of many columns are the inputs.
    calibration
        Weight of X-CAL, a smooth CensDcal of each batch, in the loss; 0 for none.
    varied
        Whether every second member is simpler than the others: with one component (if shapes are skewed) and columns
        without pieces. The errors of two kinds of members are less correlated.
    crps
        Share, from 0 to 1, that the survival-CRPS up to the last training time takes of the loss in place of the
        likelihood, with time in the unit inside.

    Attributes
    ----------
    support_scores_
        With ``support="auto"`` the mean log-likelihood of the held-out rows by support, in the unit of the data; empty
        if the support was given, or too little was held out.

    Examples
    --------
    >>> from aldsurv import datasets
    >>> train, _ = datasets.load("norm_linear").split(seed=0)
    >>> model = ALDSurvival(random_state=0).fit(train.x, train.y)
    >>> d = model.predict_distribution([[0.2], [1.8]])
    >>> bool(d.median()[0] < d.median()[1]), d.survival([10.0, 12.0, 14.0]).shape
    (True, (2, 3))
    """

    support: str | None = None
    components: int | None = None
    shapes: str | None = None
    theta_link: str | None = None
    bins: int | str | None = None
    calibration: float | None = None
    crps: float | None = None
    varied: bool | None = None

    RECIPES: ClassVar[Mapping[str, NetworkModel]] = {
        "default": _LARGE,
        "small": _SMALL,
        "large": _LARGE,
        "larger": _LARGER,
        "huge": _HUGE,
        "paper": _PAPER,
    }
    RECIPES_BY_SIZE: ClassVar[Mapping[str, Sequence[SizedRecipe]]] = {
        "default": (
            SizedRecipe("small", _MOST_SMALL_ROWS, _MOST_BINNED_COLUMNS),
            SizedRecipe("large", _MOST_LARGE_ROWS),
            SizedRecipe("larger", _MOST_BINNED),
            SizedRecipe("huge"),
        )
    }
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace(
        {**NETWORK_ENTRIES, "support": OneOf(("log", "positive", "real")), "components": OneOf((1, 2, 3, 5))},
        "log_likelihood",
    )

    @property
    def support_scores_(self) -> Mapping[str, float]:
        """With ``support="auto"`` the mean log-likelihood of the held-out rows by support; else empty."""
        return self._fitted().support_scores


def _least_scales(prepared: Sequence[Prepared]) -> FloatArray:
    """For each row that of its task; 0 with one component."""
    scales = [MixtureExtras.of(task.extras).least_scale or 0.0 for task in prepared]
    return np.concatenate([np.full(len(task.data), scale) for task, scale in zip(prepared, scales, strict=True)])


def _last_time(data: SurvivalData) -> float:
    times = np.concatenate([data.lower, data.upper])
    return float(times[np.isfinite(times)].max())
