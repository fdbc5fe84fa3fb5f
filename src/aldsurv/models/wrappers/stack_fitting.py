"""The fits of the members of a stack, and the weights that held-out rows give them."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import (
    AldsurvError,
    CensoringError,
    CompetingCausesWarning,
    DataError,
    MissingDependencyError,
    NoSkillWarning,
    TrainingError,
)
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.wrappers.cross_fitting import HeldOut, predict_held_out
from aldsurv.models.wrappers.stack_members import STACK
from aldsurv.models.wrappers.stacking_weights import effective_counts, likelihoods, most_likely_weights
from aldsurv.notices import muted

__all__ = ["SMALL_WEIGHT", "MemberFits", "fit_members", "weights_of_fits"]

FloatArray = NDArray[np.float64]

# Rows in favour of equal weights, per member. In simulations of five members with errors of their own, thirty events
# without it do worse than equal weights, and with it better; from a few hundred events on it hardly matters. Half as
# much and twice as much do about as well.
_PRIOR = 1.0
# A member with less weight is left out: it would cost as much as the others in every prediction.
_LEAST_WEIGHT = 0.01
SMALL_WEIGHT = f"its weight is below {_LEAST_WEIGHT:g}"
# What one member may fail by, and not the others: rows that it cannot take, or a package that is not installed.
_FAILURES = (DataError, CensoringError, TrainingError, MissingDependencyError)


@final
@dataclass(frozen=True)
class MemberFits:
    """The members after their fits.

    Attributes
    ----------
    held_out
        Fitted members by name, with their predictions for rows that were held out.
    failed
        Why others could not be fitted.
    seconds
        How long each took.
    """

    held_out: dict[str, HeldOut]
    failed: dict[str, str]
    seconds: dict[str, float]


def fit_members(
    members: Mapping[str, SurvivalEstimator],
    X: object,
    data: SurvivalData,
    parts: Sequence[NDArray[np.int64]],
    *,
    show: bool,
) -> MemberFits:
    """Fit every member to all rows, and to those outside of each part.

    If none can be fitted, the error of the first is raised.

    Parameters
    ----------
    members
        Unfitted.
    X, data
        The rows.
    parts
        Rows that are held out; none for a single fit of each.
    show
        Whether to say on the standard error stream which member is fitted.
    """
    held_out: dict[str, HeldOut] = {}
    errors: dict[str, AldsurvError] = {}
    seconds: dict[str, float] = {}
    for name, member in members.items():
        if show:
            sys.stderr.write(f"member {len(seconds) + 1} of {len(members)}: {name}\n")
        start = time.perf_counter()
        try:
            held_out[name] = _fit_quietly(member, X, data, parts, quiet=bool(held_out))
        except _FAILURES as error:
            errors[name] = error
        seconds[name] = time.perf_counter() - start
    if not held_out:
        raise next(iter(errors.values()))
    return MemberFits(held_out, {name: str(error) for name, error in errors.items()}, seconds)


def weights_of_fits(fits: Mapping[str, HeldOut], knots: FloatArray) -> tuple[dict[str, float], dict[str, float]]:
    """Weights that add up to 1, 0 for those that would be small, and mean log-likelihoods per held-out row, by name.

    Without such rows weights are equal, and there are no scores.
    """
    names, parts = list(fits), [fit.parts for fit in fits.values()]
    if not parts[0]:
        return dict.fromkeys(names, 1 / len(names)), {}
    rows = np.concatenate([held.weights for _, held in parts[0]])
    table = np.stack([likelihoods(part, knots) for part in parts], axis=1)
    weights = most_likely_weights(table, effective_counts(rows), prior=_PRIOR * len(names))
    weights = np.where(weights >= min(_LEAST_WEIGHT, float(weights.max())), weights, 0.0)
    weights = weights / weights.sum()
    scores = (rows / rows.sum()) @ np.column_stack([table, np.log(np.exp(table) @ weights)])
    by_name = dict(zip(names, weights.tolist(), strict=True))
    return by_name, dict(zip([*names, STACK], scores.tolist(), strict=True))


def _fit_quietly(
    member: SurvivalEstimator, X: object, data: SurvivalData, parts: Sequence[NDArray[np.int64]], *, quiet: bool
) -> HeldOut:
    """The fits of one member, without the warnings that the stack gives itself."""
    with warnings.catch_warnings(), muted() if quiet else nullcontext():
        warnings.simplefilter("ignore", CompetingCausesWarning)
        if parts:
            # Whether the stack has skill is judged on all held-out rows.
            warnings.simplefilter("ignore", NoSkillWarning)
        if quiet:
            # About the same columns; another member has given them.
            warnings.simplefilter("ignore")
        held_out = predict_held_out(member, X, data, parts)
    if held_out.interrupted:
        # A stack of half-trained members is no answer; those before it are complete, but have no weights.
        raise KeyboardInterrupt
    return held_out
