"""What a fit learns from: the target of its rows, with the episodes of persons as few as they can be."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from aldsurv.columns.joined_episodes import join_episodes
from aldsurv.data.frame_columns import Column
from aldsurv.data.group_column import group_column, group_numbers
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvWarning, CompetingCausesWarning, DataError, ParameterError
from aldsurv.quoting import quoted, shortened

__all__ = ["first_event", "read_target", "warn_of_causes", "with_joined_episodes"]


def with_joined_episodes(
    X: object, y: object, sample_weight: object = None, groups: object = None
) -> tuple[Any, Any, Any, Any]:
    """The arguments of ``fit``, with episodes joined as `join_episodes` does; all else as it is."""
    if not isinstance(y, SurvivalData) or y.person is None:
        return X, y, sample_weight, groups
    return *join_episodes(X, read_target(y, sample_weight, groups)), None, None


def read_target(y: object, sample_weight: object = None, groups: object = None) -> SurvivalData:
    """The target as `SurvivalData`, its weights multiplied by `sample_weight`, with the groups if some are given.

    A single column of times is taken as times of observed events, with a warning.
    """
    if y is None:
        raise DataError("requires y to be passed, but the target y is None. Give y=(time, event).")
    times = _times_alone(y)
    data = SurvivalData.of(y) if times is None else SurvivalData.right(times, np.ones(len(times), np.bool_))
    if groups is not None:
        data = _with_groups(data, groups)
    if sample_weight is None:
        return data
    try:
        weight = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"sample_weight must be one number per row ({len(data)},): {error}.") from None
    if weight.ndim == 0:
        weight = np.full(len(data), float(weight))
    if weight.shape != (len(data),):
        raise ParameterError(f"sample_weight must be one number per row ({len(data)},), but has shape {weight.shape}.")
    if weight.size and not (weight * data.weights).any():
        raise ParameterError(
            "every weight is zero: no row would count",
            argument="sample_weight",
            advice="Give some rows a positive sample_weight.",
        )
    return data.with_weight(weight * data.weights)


def first_event(data: SurvivalData, owner: str, *, stacklevel: int) -> SurvivalData:
    """The data without their causes, for a model that does not tell them apart, with a warning if there are several.

    Parameters
    ----------
    data
        The rows.
    owner
        The name of the model.
    stacklevel
        Of the warning, so that it is about the line that called ``fit``.
    """
    if data.cause is None or data.causes is None:
        return data
    counts = np.bincount(data.cause, minlength=len(data.causes) + 1)[1:].tolist()
    warn_of_causes(dict(zip(data.causes, counts, strict=True)), owner, stacklevel=stacklevel + 1)
    return data.without_causes()


def warn_of_causes(counts: Mapping[str, int], owner: str, *, stacklevel: int) -> None:
    """Warn that a model does not tell causes apart, if there are events of several; `counts` by cause."""
    seen = [name for name, count in counts.items() if count]
    if len(seen) > 1:
        listed = ", ".join(f"{quoted(name)} ({n})" for name, n in counts.items() if n)
        warnings.warn(
            f"{owner} does not tell causes apart: it learns the time to the first event of any "
            f"of {shortened(listed, 300)}. For one of them, the others as censored, give "
            f"y.of_cause({quoted(seen[0])}); for the incidence of each, use a model that tells them apart, such as "
            "ALDSurvival, CauseSpecificCox or FineGray.",
            CompetingCausesWarning,
            stacklevel=stacklevel,
        )


def _with_groups(data: SurvivalData, groups: object) -> SurvivalData:
    """The data with the groups, which must be those that the data have, if they have some."""
    codes = group_column(Column(groups, "groups"), Column(data.lower, "y"), data.lower)
    if data.group is None:
        return data.with_group(codes)
    if not np.array_equal(group_numbers(data.group), group_numbers(codes)):
        raise ParameterError(
            "groups differs from the groups that y has", argument="groups", advice="Give them in one place."
        )
    return data


def _times_alone(y: object) -> Any:
    """The values of a target that is a single column without names, else None."""
    if isinstance(y, (SurvivalData, dict, tuple)) or hasattr(y, "columns"):
        return None
    if not isinstance(y, list) and not hasattr(y, "__array__"):
        return None
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise DataError(f"y cannot be read as a column of times ({error}). Give y=(time, event).") from None
    if values.dtype.names is not None or values.ndim not in (1, 2) or values.shape[1:] not in ((), (1,)):
        return None
    if values.ndim == 2:
        values = values[:, 0]
        warnings.warn("A column-vector y was passed when a 1d array was expected.", _conversion_warning(), stacklevel=4)
    warnings.warn(
        "y has times only: every row is taken as an observed event. Give y=(time, event) if some are censored.",
        AldsurvWarning,
        stacklevel=4,
    )
    return values


def _conversion_warning() -> type[Warning]:
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        return UserWarning
    found: type[Warning] = DataConversionWarning
    return found
