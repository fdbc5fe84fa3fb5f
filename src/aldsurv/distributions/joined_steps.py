"""Curves of steps as straight lines between a few times, which have a density and an end."""

from __future__ import annotations

from typing import Any

from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.families.step import Step
from aldsurv.distributions.wrappers.hazard_curves import HazardCurves
from aldsurv.distributions.wrappers.mixture import Mixture

__all__ = ["joined_steps"]


def joined_steps(predicted: SurvivalDistribution, times: Any) -> SurvivalDistribution:
    """A distribution without steps: what falls by steps falls linearly between given times, and at these is the same.

    After the last time it goes on exponentially, so that means and quantiles are finite. A distribution that has no
    steps is given back; of a mixture only the components with steps are changed.

    Parameters
    ----------
    predicted
        Distributions of any family.
    times
        Times (m,), positive and strictly increasing.

    Examples
    --------
    >>> d = Step([1.0, 2.0, 3.0], [[0.9, 0.6, 0.3]])
    >>> joined_steps(d, [2.0, 3.0]).survival([1.0, 2.0, 2.5])
    array([[0.8 , 0.6 , 0.45]])
    """
    if isinstance(predicted, Mixture):
        return Mixture([joined_steps(part, times) for part in predicted.components], predicted.weights)
    if not isinstance(predicted, (Step, HazardCurves)):
        return predicted
    return Step(times, predicted.survival(times)).smoothed()
