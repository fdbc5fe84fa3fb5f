"""The members of a stack as users name them: estimators, names of models, or pairs of a name and one of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import quoted
from aldsurv.registry import MODELS

__all__ = ["DEFAULT_MEMBERS", "STACK", "named_members", "prepared_member"]

# All members together, among their scores.
STACK = "stack"
# Different enough to err differently: a network and trees for mixtures, a linear model, networks for one peak and for
# proportional hazards. The ridge is a standard normal prior of the log hazard ratio of one standard deviation.
DEFAULT_MEMBERS: Mapping[str, Mapping[str, Any]] = {
    "ald": {},
    "boosted_ald": {},
    "cox": {"ridge": 1.0},
    "lognormal": {},
    "deepsurv": {},
}


def named_members(estimators: object) -> dict[str, SurvivalEstimator]:
    """Estimators by their names, in order; an error names what is not one.

    Parameters
    ----------
    estimators
        A list, or None for the default members. An estimator without a name has that of its model; a second one of the
        same model is ``"cox_2"``.

    Examples
    --------
    >>> from aldsurv import CoxRegression
    >>> named_members(["cox", CoxRegression(ridge=9.0), ("aft", "weibull_aft")])
    {'cox': CoxRegression(), 'cox_2': CoxRegression(ridge=9.0), 'aft': WeibullAFT()}
    """
    if estimators is None:
        return {name: MODELS.load(name)(**settings) for name, settings in DEFAULT_MEMBERS.items()}
    if not isinstance(estimators, (list, tuple)) or not estimators:
        raise ParameterError(
            f"estimators must be a list of one or more estimators, but is {quoted(estimators, 60)}.",
            argument="estimators",
            advice="Give such as ['ald', CoxRegression()], or None for the default members.",
        )
    given = [entry for entry in estimators if _is_pair(entry)]
    members: dict[str, SurvivalEstimator] = {}
    taken = {STACK, *(name for name, _ in given)}
    for entry in estimators:
        if _is_pair(entry):
            name, value = entry
            _check_name(name, members)
            members[name] = _estimator(value)
        else:
            value = _estimator(entry)
            members[_free_name(_model_name(value), {*taken, *members})] = value
    return members


def prepared_member(member: SurvivalEstimator, settings: Mapping[str, Any]) -> SurvivalEstimator:
    """An unfitted copy with the settings of the stack, except None, that the member has and was not given."""
    defaults, parameters = member.parameter_defaults(), member.get_params(deep=False)
    for name, value in settings.items():
        if value is not None and name in defaults and parameters[name] is defaults[name]:
            parameters[name] = value
    return type(member)(**parameters)


def _is_pair(entry: object) -> bool:
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and isinstance(entry[0], str)


def _estimator(value: object) -> SurvivalEstimator:
    if isinstance(value, str):
        made: SurvivalEstimator = MODELS.load(value)()
        return made
    if isinstance(value, SurvivalEstimator):
        return value
    raise ParameterError(
        f"estimators must be those of aldsurv, such as ALDSurvival(), or names of its models, but one is "
        f"{quoted(value, 60)}.",
        argument="estimators",
    )


def _model_name(estimator: SurvivalEstimator) -> str:
    try:
        return MODELS.name_of(type(estimator))
    except UnknownNameError:
        return type(estimator).__name__.lower()


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free


def _check_name(name: str, members: Mapping[str, Any]) -> None:
    if not name or "__" in name or not name.isprintable():
        raise ParameterError(
            f"names of estimators must be text without '__', but one is {quoted(name, 60)}.", argument="estimators"
        )
    if name == STACK:
        raise ParameterError(
            f"names of estimators must not be {quoted(STACK)}, which stands for all of them.", argument="estimators"
        )
    if name in members:
        raise ParameterError(
            f"names of estimators must differ, but {quoted(name)} occurs twice.", argument="estimators"
        )
