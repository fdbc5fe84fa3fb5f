"""The last layer of a fitted model, learned again from other rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from aldsurv.checks import Number, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.models.rows.training_rows import require_events
from aldsurv.models.training_target import first_event, read_target, with_joined_episodes

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["OUTPUT_PULL", "OutputRefit"]

# Events that the old weights of a last layer count as when it is learned from other rows.
OUTPUT_PULL = 20.0


class OutputRefit(ABC):
    """The part of an estimator that learns its last layer from other rows, if it has one that can be learned alone."""

    @property
    @abstractmethod
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes that the model tells apart."""

    @abstractmethod
    def _require_fitted(self) -> None: ...

    @property
    def last_layer_obstacle_(self) -> str | None:
        """Why `refit_outputs` is not possible; None if it is."""
        return f"{type(self).__name__} has no last layer that can be fitted alone"

    def refit_outputs(
        self, X: object, y: object, *, pull: float = OUTPUT_PULL, random_state: int | None = None
    ) -> SurvivalEstimator:
        """A model whose last layer is learned from other rows, pulled towards what it was; the rest is kept.

        Of a network it is the output layer, of a linear model the linear predictor. Columns become numbers as in the
        fitted model, which is left as it is.

        Parameters
        ----------
        X, y
            The other rows, as for ``fit``.
        pull
            How much the old weights count, in events; 0: not at all.
        random_state
            Seed of validation rows and batches, if there are any.
        """
        check("pull", pull, Number(0, meaning="0: none"))
        self._require_fitted()
        obstacle = self.last_layer_obstacle_
        if self.causes_ is not None:
            obstacle = f"this {type(self).__name__} tells the causes {', '.join(self.causes_)} apart"
        if obstacle is not None:
            raise ParameterError(f"the last layer cannot be refitted: {obstacle}", advice="Fit the whole model.")
        X, y, weight, groups = with_joined_episodes(X, y, None, None)
        data = first_event(read_target(y, weight, groups), type(self).__name__, stacklevel=3)
        require_events(data)
        return self._with_outputs_of(X, data, pull=float(pull), seed=random_state)

    def _with_outputs_of(self, X: object, data: SurvivalData, *, pull: float, seed: int | None) -> SurvivalEstimator:
        """What `refit_outputs` gives, of a model without an obstacle."""
        raise TypeError(f"{type(self).__name__} has no last layer")
