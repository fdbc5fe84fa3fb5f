"""What ``aldsurv fit`` is asked for, checked before anything is read or trained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from aldsurv.errors import ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.quoting import quoted
from aldsurv.registry import MODELS

__all__ = ["Plan", "default_target", "planned"]


@final
@dataclass(frozen=True)
class Plan:
    """What is to be done: the model, its settings, and how it is tested and tuned."""

    name: str
    kind: type[SurvivalEstimator]
    settings: dict[str, Any]
    seed: int
    held_out: float
    trials: int | None
    quiet: bool


def planned(
    name: str,
    given: Mapping[str, Any],
    *,
    seed: int,
    held_out: float,
    trials: int | None,
    quiet: bool,
) -> Plan:
    """The request, checked before anything is read.

    Parameters
    ----------
    name
        Registered name of the model.
    given
        Arguments of its constructor that have an option; None where it was not used.
    seed, held_out, trials, quiet
        The other options.
    """
    kind: type[SurvivalEstimator] = MODELS.load(name)
    known = kind.parameter_defaults()
    settings = {key: value for key, value in given.items() if value is not None}
    for key in settings:
        if key not in known:
            takes = " and ".join(f"--{other}" for other in given if other in known) or "none"
            able = [other for other in MODELS if key in MODELS.load(other).parameter_defaults()]
            raise ParameterError(
                f"the model {quoted(name)} has no --{key}. Of {', '.join(f'--{other}' for other in given)} it has "
                f"{takes}; models with --{key}: {', '.join(able)}."
            )
    if not 0 <= held_out < 1:
        raise ParameterError(f"--held-out must be a share from 0 (none) to below 1, but is {held_out:g}.")
    if seed < 0:
        raise ParameterError(f"--seed must be a whole number from 0 on, but is {seed}.")
    if trials is not None and trials < 1:
        raise ParameterError(f"--tune must be a number of trials from 1 on, but is {trials}.")
    # What training would refuse, before a long table is read.
    kind(**settings).check_parameters()
    if trials is not None:
        from aldsurv.tuning.record import import_optuna

        import_optuna()
    return Plan(name, kind, settings, seed, held_out, trials, quiet)


def default_target(table: Path) -> Path:
    """The name of the table with the ending of models, in the current folder."""
    return Path(f"{Path(table.name.removesuffix('.gz')).stem}.aldsurv")
