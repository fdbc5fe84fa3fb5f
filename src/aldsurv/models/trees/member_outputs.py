"""What the outputs of a boosted member stand for: one distribution, or one for each of several competing causes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.cause_outputs import CauseOutputs
from aldsurv.distributions.competing.averaged import AveragedIncidence
from aldsurv.distributions.competing.base import CompetingDistribution
from aldsurv.distributions.competing.cause_hazards import CauseHazards
from aldsurv.distributions.competing.cause_mixture import CauseMixture
from aldsurv.models.file_entries import require
from aldsurv.models.trees.boosted_outputs import BoostedOutputs

if TYPE_CHECKING:
    from aldsurv.losses.likelihood.boosting_slopes import RowLosses

__all__ = ["MemberOutputs"]

FloatArray = NDArray[np.float64]
_ENTRY = ("names", "mixture", "cure")


@final
@dataclass(frozen=True)
class MemberOutputs:
    """The outputs of one member, in the order of `CauseOutputs` where there are causes or a cure.

    Parameters
    ----------
    part
        Those of one distribution: of the first event, or of one cause.
    causes
        Names of the causes; None if the data had none.
    mixture
        Whether several causes have probabilities; otherwise hazards.
    cure
        Whether some never have an event.
    """

    part: BoostedOutputs
    causes: tuple[str, ...] | None = None
    mixture: bool = True
    cure: bool = False

    @property
    def layout(self) -> CauseOutputs | None:
        """Which outputs belong to which cause; None: they are those of one distribution."""
        count = 1 if self.causes is None else len(self.causes)
        if count == 1 and not self.cure:
            return None
        constants = self.part.count - self.part.boosted
        return CauseOutputs(count, self.part.count, constants, self.mixture or self.cure or count == 1, self.cure)

    @property
    def count(self) -> int:
        """How many outputs there are."""
        return self.part.count if self.layout is None else self.layout.outputs

    @property
    def boosted(self) -> int:
        """How many of them, the first ones, trees add to; the others are constants."""
        return self.part.boosted if self.layout is None else self.layout.outputs - self.layout.constants

    @property
    def columns(self) -> tuple[NDArray[np.int64], ...]:
        """The outputs that are boosted together: all; with hazards, whose likelihoods are apart, those of a cause."""
        layout = self.layout
        if layout is None or layout.mixture:
            return (np.arange(self.count),)
        return tuple(layout.columns(k) for k in range(layout.causes))

    def likelihoods(self, data: SurvivalData, unit: float) -> list[RowLosses]:
        """For each entry of `columns` the loss of rows, one unit of whose times is so many of the user's."""
        layout = self.layout
        if layout is None:
            return [self.part.likelihood(data, unit)]
        if not layout.mixture:
            return [self.part.likelihood(data.of_cause(k + 1), unit) for k in range(layout.causes)]
        from aldsurv.losses.likelihood.boosting_causes import CauseMixtureRows

        return [CauseMixtureRows(layout, lambda rows: self.part.likelihood(rows, unit), data)]

    def distribution(self, raw: FloatArray) -> SurvivalDistribution:
        """The distribution of the first event that outputs (members, n, count) stand for, members in equal parts."""
        return self.part.mixed(raw) if self.layout is None else self.incidence(raw).overall()

    def incidence(self, raw: FloatArray) -> CompetingDistribution:
        """Which cause the first event has and when it comes, of outputs (members, n, count)."""
        layout, names = self.layout, self.causes or ("1",)
        if layout is None:
            ones = np.ones((raw.shape[1], 1))
            part = self.part.mixed(raw)
            return CauseMixture.from_checked(parts=(part,), probabilities=ones, cure=0 * ones, causes=names)
        parts = [
            tuple(self.part.distribution(member[:, layout.columns(k)]) for k in range(layout.causes)) for member in raw
        ]
        if not layout.mixture:
            hazards = [CauseHazards(member, names) for member in parts]
            return hazards[0] if len(hazards) == 1 else AveragedIncidence(hazards)
        mixtures = []
        for member, outputs in zip(parts, raw, strict=True):
            chances, cure = layout.probabilities(outputs)
            mixtures.append(CauseMixture.from_checked(parts=member, probabilities=chances, cure=cure, causes=names))
        return CauseMixture.mean_of(mixtures)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the distribution's parameters; none with causes or a cure, which have several distributions."""
        return self.part.names if self.layout is None else ()

    @property
    def cause_kind(self) -> str:
        """How several causes are modelled: ``"mixture"`` or ``"hazards"``."""
        return "mixture" if self.mixture else "hazards"

    def describe(self) -> str:
        """Name of the family, and how many causes there are."""
        kind, cured = self.part.describe(), ", some never" if self.cure else ""
        if self.causes is None or len(self.causes) == 1:
            return kind + cured
        return f"{kind} for each of {len(self.causes)} causes ({self.cause_kind}){cured}"

    def to_entry(self) -> dict[str, Any] | None:
        """What a file has of the causes; None if there are none, nor a cure."""
        if self.causes is None and not self.cure:
            return None
        names = None if self.causes is None else list(self.causes)
        return dict(zip(_ENTRY, (names, self.mixture, self.cure), strict=True))

    @classmethod
    def from_entry(cls, part: BoostedOutputs, entry: object) -> MemberOutputs:
        """The inverse of `to_entry`, for a file that may hold anything; raises `ModelFileError`."""
        if entry is None:
            return cls(part)
        values = [entry.get(name) for name in _ENTRY] if isinstance(entry, dict) and set(entry) == set(_ENTRY) else []
        require(bool(values), "causes are unclear")
        names, mixture, cure = values
        texts = isinstance(names, list) and bool(names) and all(isinstance(name, str) for name in names)
        require(names is None or (texts and len(set(names)) == len(names)), "causes must be different names")
        require(isinstance(mixture, bool) and isinstance(cure, bool), "causes must say whether they are a mixture")
        require(mixture or not cure, "hazards of causes leave no share without an event")
        return cls(part, None if names is None else tuple(names), bool(mixture), bool(cure))
