"""Estimators whose distribution may be a mixture of asymmetric Laplace components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.mixed_asymmetric_laplace import MixedAsymmetricLaplace
from aldsurv.distributions.mixture_outputs import MixtureOutputs
from aldsurv.distributions.support import SUPPORTS
from aldsurv.errors import ParameterError
from aldsurv.models.file_entries import LARGEST_NUMBER
from aldsurv.models.neural.fitting.preparation import Rows
from aldsurv.models.neural.neural_survival import Prepared
from aldsurv.models.neural.parametric_survival import ParametricSurvival
from aldsurv.networks import Architecture

if TYPE_CHECKING:
    from aldsurv.losses.objective import Objective

__all__ = ["MixtureSurvival"]

_MOST_COMPONENTS = 100


class MixtureSurvival(ParametricSurvival):
    """With the setting ``components=1`` a family of parameters; with more, a mixture on the same support."""

    def _check_settings(self, settings: dict[str, Any]) -> None:
        super()._check_settings(settings)
        count = settings["components"]
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST_COMPONENTS:
            raise ParameterError(f"components must be a whole number from 1 to {_MOST_COMPONENTS}, but is {count!r}.")
        if settings["shapes"] not in ("free", "tied"):
            raise ParameterError(f"shapes must be 'free' or 'tied', but is {settings['shapes']!r}.")

    def _architecture(self, settings: dict[str, Any], inputs: int, outputs: int) -> Architecture:
        layout = _layout(settings)
        return replace(super()._architecture(settings, inputs, outputs), constants=layout.constants if layout else 0)

    def _learn_before(
        self, X: Any, data: SurvivalData, settings: dict[str, Any], rows: Rows
    ) -> dict[str, NDArray[Any]]:
        if _layout(settings) is None:
            return {}
        from aldsurv.losses.likelihood.tied_times import least_component_scale

        times = data.lower[data.exact & (data.weights > 0)]
        return {"least_scale": np.array([least_component_scale(SUPPORTS[settings["support"]].inside(times))])}

    def _objective(self, prepared: Sequence[Prepared], data: SurvivalData, units: Any, device: Any) -> Objective:
        settings = prepared[0].settings
        layout = _layout(settings)
        if layout is None:
            return super()._objective(prepared, data, units, device)
        from aldsurv.losses.likelihood.mixture_likelihood import mixture_objective

        least = _least_scales(prepared)
        return mixture_objective(layout, SUPPORTS[settings["support"]], data, least, unit=units, device=device)

    def _with_terms(
        self, likelihood: Objective, prepared: Sequence[Prepared], data: SurvivalData, device: Any
    ) -> Objective:
        """The likelihood with what the settings ``calibration`` and ``crps`` add to it."""
        from aldsurv.losses.training_terms import one_component, with_terms

        settings = prepared[0].settings
        layout = _layout(settings)
        return with_terms(
            likelihood,
            one_component(settings["theta_link"] == "exp") if layout is None else layout.columns,
            SUPPORTS[settings["support"]],
            data,
            calibration=settings["calibration"],
            crps=settings["crps"],
            horizon=np.concatenate([np.full(len(own.data), _last_time(own.data)) for own in prepared]),
            least_scale=0.0 if layout is None else _least_scales(prepared),
            device=device,
        )

    def _member_distribution(self, raw: NDArray[np.float64], member: int, X: Any) -> SurvivalDistribution:
        layout = _layout(self.settings_)
        if layout is None:
            return super()._member_distribution(raw, member, X)
        columns = layout.columns(raw, self.learned_["least_scale"])
        return MixedAsymmetricLaplace(**columns, support=self.settings_["support"])

    def _combined(self, parts: list[SurvivalDistribution]) -> SurvivalDistribution:
        mixed = [part for part in parts if isinstance(part, MixedAsymmetricLaplace)]
        return MixedAsymmetricLaplace.joined(mixed) if mixed else super()._combined(parts)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters: ``theta``, ``sigma`` and ``kappa``; of several components with their numbers."""
        self._require_fitted()
        count = self.settings_["components"]
        if count == 1:
            return super().parameter_names
        return tuple(f"{name}_{k}" for name in ("theta", "sigma", "kappa", "weight") for k in range(1, count + 1))

    def predict_parameters(self, X: Any) -> dict[str, NDArray[np.float64]]:
        """Parameters (n,) of each row by name, in the unit of the training times; with support log, of its log.

        With several members it is the mean of theirs: the mixture has no such parameters of its own, but this tells
        what moves them. Of several components, ``theta_1`` belongs to the one that began earliest.
        """
        self._require_fitted()
        if self.settings_["components"] == 1:
            return super().predict_parameters(X)
        parts = [self._member_distribution(own, k, X).scaled(self.time_scale_) for k, own in enumerate(self._raw(X))]
        tables = [
            np.mean([getattr(part, name) for part in parts], axis=0) for name in ("theta", "sigma", "kappa", "weights")
        ]
        return dict(zip(self.parameter_names, np.concatenate(tables, axis=1).T, strict=True))

    def _check_learned(
        self, settings: dict[str, Any], network: Architecture, members: int, learned: dict[str, NDArray[Any]]
    ) -> None:
        layout = _layout(settings)
        if layout is None:
            super()._check_learned(settings, network, members, learned)
            return
        if (network.outputs, network.constants) != (layout.outputs, layout.constants):
            raise ParameterError(f"the network has {network.outputs} outputs, the mixture needs {layout.outputs}.")
        least = learned.get("least_scale", np.zeros(0))
        if (
            set(learned) != {"least_scale"}
            or least.shape != (1,)
            or least.dtype != np.float64
            or not 0 < least[0] <= LARGEST_NUMBER
        ):
            raise ParameterError("a mixture must know the least scale of its components, one positive number.")

    def _kind(self) -> str:
        if self.settings_["components"] == 1:
            return super()._kind()
        return f"mixture of {self.settings_['components']} {super()._kind()} ({self.settings_['shapes']} shapes)"


def _least_scales(prepared: Sequence[Prepared]) -> NDArray[np.float64]:
    return np.concatenate([np.full(len(own.data), own.learned["least_scale"][0]) for own in prepared])


def _last_time(data: SurvivalData) -> float:
    known = np.concatenate([data.lower, data.upper])
    return float(known[np.isfinite(known)].max())


def _layout(settings: dict[str, Any]) -> MixtureOutputs | None:
    """What the outputs of a mixture are; None for a single component."""
    count = settings["components"]
    return None if count == 1 else MixtureOutputs(count, settings["shapes"] == "tied", settings["theta_link"] == "exp")
