"""Models whose network gives the parameters of a family, cause by cause, and estimators that can show them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Flag
from aldsurv.data.cause_checks import require_each_cause, require_rows_without_event
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.distributions.competing.averaged import AveragedIncidence
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_hazards import CauseHazards
from aldsurv.distributions.competing.cause_mixture import CauseMixture
from aldsurv.distributions.families.log_time import LogTime
from aldsurv.distributions.links import linked_columns
from aldsurv.errors import ParameterError
from aldsurv.models.neural.extras import Extras
from aldsurv.models.neural.network_model import NetworkModel, Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.networks import Architecture
from aldsurv.nonparametric.plateau import warn_of_short_follow_up
from aldsurv.registry import FAMILIES

if TYPE_CHECKING:
    from aldsurv.losses.objective import Device, LikelihoodObjective, Objective
    from aldsurv.models.neural.fitting.prepare import Prepared

__all__ = ["LARGEST_LOG", "CauseExtras", "ParametricNetwork", "ParametricSurvival"]

FloatArray = NDArray[np.float64]
# Beyond e^80 nothing is known any more, and squares must stay finite.
LARGEST_LOG = 80.0


@dataclass(frozen=True)
class CauseExtras(Extras):
    """Names of the causes if the data had several; None: events are of one kind."""

    causes: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class ParametricNetwork(NetworkModel):
    """A network for the parameters of a family, trained by maximum likelihood under any kind of censoring.

    With competing causes it gives the parameters of the family for each of them.
    """

    causes: str = "auto"
    cure: bool = False

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "causes": Choice(("mixture", "hazards", "auto")),
        "cure": Flag(),
    }
    ADDED_LATER: ClassVar[tuple[Mapping[str, Any], ...]] = ({"causes": "auto", "cure": False},)
    EXTRAS: ClassVar[type[Extras]] = CauseExtras

    @property
    @abstractmethod
    def family(self) -> str:
        """Registered name of the family."""

    @property
    def links(self) -> tuple[str, ...]:
        """For each of its parameters the link from the network's output; those that the family declares."""
        links: tuple[str, ...] = FAMILIES.load(self.family).links()
        return links

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(FAMILIES.load(self.family).parameters())

    # ---- one distribution, of the first event or of one cause

    @property
    def part_outputs(self) -> int:
        """Outputs of one distribution."""
        return len(self.links)

    @property
    def part_constants(self) -> int:
        """How many of them, the last ones, are the same for every row."""
        return 0

    def part_objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> LikelihoodObjective:
        """The likelihood of rows under one distribution."""
        from aldsurv.losses import likelihood_objective

        return likelihood_objective(self.family, self.links, data, unit=units, device=device)

    def part_distribution(self, raw: FloatArray, extras: Extras) -> SurvivalDistribution:
        """The family with the parameters that the outputs (n, part_outputs) stand for."""
        kind = FAMILIES.load(self.family)
        numbers = raw.copy()
        for k, link in enumerate(self.links):
            if link != "identity":
                np.clip(numbers[:, k], -LARGEST_LOG, LARGEST_LOG, out=numbers[:, k])
        distribution: SurvivalDistribution = kind(**linked_columns(numbers, list(kind.parameters()), self.links))
        return distribution

    def fixed_part_outputs(self, member: int) -> FloatArray | None:
        """Outputs of one distribution that a member does not learn, as `NetworkModel.fixed_outputs`."""
        return None

    # ---- causes and cure

    def for_data(self, data: SurvivalData) -> NetworkModel:
        """With the kind of causes to take without validation rows, if the data have any."""
        return replace(self, causes="mixture") if self.causes == "auto" and data.causes is not None else self

    def alternatives_for(self, data: SurvivalData) -> Sequence[NetworkModel]:
        """With ``causes="auto"`` and causes in the data, of each alternative a mixture and hazards."""
        models = self.alternatives()
        clear = bool((data.exact | data.right_censored).all())
        if self.causes != "auto" or data.causes is None or len(data.causes) < 2:
            return models
        kinds = ("mixture",) if self.cure or not clear else ("mixture", "hazards")
        parametric = [model for model in models if isinstance(model, ParametricNetwork)]
        return [replace(model, causes=kind) for model in parametric for kind in kinds]

    def alternative_name(self) -> str:
        """How the causes are modelled."""
        return self.causes

    def cause_outputs(self, extras: Extras) -> CauseOutputs | None:
        """What the outputs are with causes or a cure; None: those of one distribution."""
        names = CauseExtras.of(extras).causes
        count = 1 if names is None else len(names)
        if count == 1 and not self.cure:
            return None
        mixture = self.cure or self.causes != "hazards" or count == 1
        return CauseOutputs(count, self.part_outputs, self.part_constants, mixture, self.cure)

    def prepare_target(self, data: SurvivalData) -> SurvivalData:
        """Rows that have a likelihood under the family; each cause must have an event."""
        require_each_cause(data)
        if self.cure and self.causes == "hazards":
            raise ParameterError(
                "causes must be 'mixture' or 'auto' with cure=True: hazards leave no share without an event.",
                argument="causes",
            )
        rows: SurvivalData = FAMILIES.load(self.family).training_rows(data)
        return rows

    def prepare_extras(self, X: object, data: SurvivalData, unit: float) -> Extras:
        """The names of the causes."""
        return CauseExtras(data.causes)

    def architecture(self, inputs: int, outputs: int, extras: Extras | None = None, *, encoded: bool) -> Architecture:
        """Constants of the parts are outputs that do not depend on the inputs."""
        layout = None if extras is None else self.cause_outputs(extras)
        constants = self.part_constants if layout is None else layout.constants
        return replace(super().architecture(inputs, outputs, extras, encoded=encoded), constants=constants)

    def fixed_outputs(self, member: int, extras: Extras) -> FloatArray | None:
        """What each part of a member does not learn."""
        fixed, layout = self.fixed_part_outputs(member), self.cause_outputs(extras)
        return fixed if fixed is None or layout is None else layout.spread(fixed)

    @property
    def last_layer_obstacle(self) -> str | None:
        """Units that are normalised by batches would change with the rows."""
        if self.strategy is not None or self.levels is not None:
            return super().last_layer_obstacle
        return "its layers have batch normalisation" if self.batch_norm else None

    @property
    def parts_obstacle(self) -> str | None:
        """Training in stages, or several models of which one is chosen, would read all rows as often."""
        if self.strategy is not None or self.levels is not None:
            return super().parts_obstacle
        return "several models would be trained, to choose one" if len(self.alternatives()) > 1 else None

    def objective(
        self, prepared: Sequence[Prepared], data: SurvivalData, units: FloatArray, device: Device
    ) -> Objective:
        """The censored likelihood of the family, or with causes that of all of them."""
        layout = self.cause_outputs(prepared[0].extras)
        if layout is None:
            return self.part_objective(prepared, data, units, device)
        from aldsurv.losses.likelihood.cause_likelihood import cause_objective

        return cause_objective(
            layout, lambda rows: self.part_objective(prepared, rows, units, device), data, device=device
        )

    def member_incidence(self, raw: FloatArray, extras: Extras) -> CompetingDistribution | None:
        """What a member predicts with causes, in the unit inside; None if there are none, nor a cure."""
        layout = self.cause_outputs(extras)
        if layout is None:
            return None
        parts = tuple(self.part_distribution(raw[:, layout.columns(k)], extras) for k in range(layout.causes))
        names = CauseExtras.of(extras).causes or ("1",)
        if not layout.mixture:
            return CauseHazards(parts, names)
        chances, cure = layout.probabilities(np.asarray(raw, np.float64))
        return CauseMixture.from_checked(parts=parts, probabilities=chances, cure=cure, causes=names)

    def combine_incidences(self, members: Sequence[CompetingDistribution]) -> CompetingDistribution:
        """The prediction of several members with causes: closed forms where there are any."""
        mixtures = [member for member in members if isinstance(member, CauseMixture)]
        return CauseMixture.mean_of(mixtures) if mixtures else AveragedIncidence(members)

    def member_distribution(self, raw: FloatArray, extras: Extras, member: int, X: object) -> SurvivalDistribution:
        """The distribution of the first event."""
        incidence = self.member_incidence(raw, extras)
        return self.part_distribution(raw, extras) if incidence is None else incidence.overall()

    def describe_outputs(self) -> tuple[Output, ...]:
        """The parameters of the family."""
        return tuple(map(Output, self.parameter_names, self.links))

    def parameter_columns(self, parts: list[SurvivalDistribution]) -> FloatArray:
        """Parameters (parameters, n) of each row, the mean over the members' distributions."""
        columns = [[np.asarray(getattr(part, name))[:, 0] for part in parts] for name in self.parameter_names]
        return np.asarray(np.mean(columns, axis=1))

    def check_fitted(self, network: Architecture, members: int, extras: Extras) -> None:
        """One output per parameter, of each cause, and logits of the causes."""
        names = CauseExtras.of(extras).causes
        if names is not None and not (names and all(isinstance(name, str) for name in names)):
            raise ParameterError("causes must be names.")
        layout = self.cause_outputs(extras)
        outputs = (self.part_outputs, self.part_constants) if layout is None else (layout.outputs, layout.constants)
        if (network.outputs, network.constants) != outputs:
            raise ParameterError(f"the network has {network.outputs} outputs, its distributions need {outputs[0]}.")

    def describe(self, extras: Extras) -> str:
        """Name of the family, and how many causes there are."""
        names = CauseExtras.of(extras).causes
        cured = ", some never" if self.cure else ""
        if names is None or len(names) == 1:
            return self.describe_part() + cured
        kind = "hazards" if self.causes == "hazards" else "mixture"
        return f"{self.describe_part()} for each of {len(names)} causes ({kind}){cured}"

    def describe_part(self) -> str:
        """Name of the family."""
        return self.family.replace("_", " ")

    def format_loss(self, loss: float) -> tuple[str, str]:
        """The log-likelihood per row."""
        return "log-likelihood", f"{-loss:.4f} per row"


@dataclass(kw_only=True, eq=False, repr=False)
class ParametricSurvival(NeuralSurvival):
    """An estimator whose network gives the parameters of a family.

    With data made by `SurvivalData.competing` it has a distribution for each cause, and `predict_incidence` answers
    cause by cause; `predict_distribution` is that of the time to the first event of any cause.

    Parameters
    ----------
    causes
        With competing causes: ``"mixture"``, a probability for each cause and the distribution of its time given
        that cause; ``"hazards"``, a distribution whose hazard is that of the cause; or ``"auto"``: both are trained,
        and the one under which the members' validation rows are more likely is kept; mixture if too little is held out.
    cure
        Whether a share of the individuals, which depends on their covariates, never has the event: one more weight of
        the mixture, at infinity. Only follow-up well beyond the last events can tell it from late events.
    """

    causes: str | None = None
    cure: bool | None = None

    TAKES_CAUSES: ClassVar[bool] = True
    FITS_PARTS: ClassVar[bool] = True

    def _read_training_target(self, y: object, sample_weight: object, groups: object = None) -> SurvivalData:
        """The target, with a warning if follow-up is too short to estimate a cure share."""
        data = super()._read_training_target(y, sample_weight, groups)
        if self.cure:
            require_rows_without_event(data)
            warn_of_short_follow_up(data, type(self).__name__, stacklevel=8)
        return data

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes; None if the data had none."""
        return CauseExtras.of(self._fitted().extras).causes

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters of the family, such as ``theta``; none with causes or a cure, which have several."""
        fitted = self._fitted()
        model = fitted.model
        if not isinstance(model, ParametricNetwork) or model.cause_outputs(fitted.extras) is not None:
            return ()
        return model.parameter_names

    @property
    def of_log_time(self) -> bool:
        """Whether the parameters are those of the distribution of log time."""
        self._require_fitted()
        return issubclass(FAMILIES.load(self.settings_.family), LogTime)

    def predict_parameters(self, X: object) -> dict[str, FloatArray]:
        """Parameters (n,) of each row by name, in the unit of the training times; of a family of log time, of its log.

        With several members it is the mean of theirs: the mixture has no such parameters of its own, but they show
        what moves it. Of several components, ``theta_1`` belongs to the one that began earliest.
        """
        names = self.parameter_names
        if not names:
            return {}
        return dict(zip(names, self.settings_.parameter_columns(self.predict_members(X)), strict=True))
