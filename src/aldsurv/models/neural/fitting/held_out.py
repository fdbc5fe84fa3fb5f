"""What the members of a fitted model predict for their own validation rows: the base of every choice made by them."""

from __future__ import annotations

import numpy as np

from aldsurv.columns.covariates import take_rows
from aldsurv.data.group_column import group_numbers
from aldsurv.data.rows.row_selection import spread_rows
from aldsurv.distributions.time_zero import with_zero_as_early
from aldsurv.distributions.wrappers.covariate_path import along_paths
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.point_choice import HeldRows
from aldsurv.models.neural.fitting.prepare import Prepared
from aldsurv.models.neural.fitting.skill_check import Gain, HeldPart, gain_over_kaplan_meier, sampled_rows

__all__ = ["enough_events", "held_out_gain", "held_out_log_likelihood", "held_out_persons", "held_out_rows"]

# Held-out events from which on two models can be compared.
_LEAST_EVENTS = 10
# Rows learned from that a Kaplan-Meier curve is made of.
_MOST_CURVE_ROWS = 50_000


def enough_events(task: Prepared) -> bool:
    """Whether enough events are held out to compare models."""
    if task.rows.validation is None:
        return False
    held = np.unique(np.concatenate(task.rows.validation))
    return int(np.isfinite(task.data.upper[held]).sum()) >= _LEAST_EVENTS


def held_out_rows(fitted: FittedNetwork, task: Prepared) -> list[HeldRows]:
    """For each member its predictions for its validation rows, these rows, and their numbers."""
    raw = fitted.outputs(task.x)
    held = []
    for k, rows in enumerate(task.rows.validation or ()):
        predicted = fitted.member_distribution(raw[k], k, task.covariates)
        held.append(HeldRows(predicted[rows], task.observed[rows], rows))
    return held


def held_out_persons(fitted: FittedNetwork, task: Prepared) -> list[HeldRows]:
    """The same for each person, along its path of covariates; rows that are no episodes stay as they are."""
    held = held_out_rows(fitted, task)
    if task.observed.person is None:
        return held
    number, persons = group_numbers(task.observed.person), []
    for part in held:
        numbers = number[part.numbers]
        first = np.sort(np.unique(numbers, return_index=True)[1])
        persons.append(HeldRows(*along_paths(part.predicted, part.data), numbers[first]))
    return persons


def held_out_log_likelihood(fitted: FittedNetwork, task: Prepared) -> float:
    """Mean log-likelihood of each member's validation rows; a density of time in any support."""
    if task.rows.validation is None:
        return 0.0
    data, total, weight = with_zero_as_early(task.observed), 0.0, 0.0
    raw = fitted.outputs(task.x)
    for k, held in enumerate(task.rows.validation):
        rows, incidence = data[held], fitted.member_incidence(raw[k][held])
        predicted = incidence or fitted.member_distribution(raw[k][held], k, take_rows(task.covariates, held))
        total += float(np.sum(predicted.log_likelihood(rows)))
        weight += rows.total_weight
    return total / weight


def held_out_gain(fitted: FittedNetwork, task: Prepared) -> Gain | None:
    """How much better the members predict some of their validation rows than Kaplan-Meier does."""
    observed, parts = task.observed, []
    for k, (training, held) in enumerate(zip(task.rows.train, task.rows.validation or (), strict=False)):
        rows = sampled_rows(held)
        raw = fitted.outputs(task.x[rows], member=k)[0]
        predicted = fitted.member_distribution(raw, k, take_rows(task.covariates, rows))
        # Of more rows the Kaplan-Meier curve would be no other.
        learned_from = observed if fitted.model.LEARNS_FROM_ALL else observed[spread_rows(training, _MOST_CURVE_ROWS)]
        parts.append(HeldPart(predicted, observed[rows], learned_from))
    return gain_over_kaplan_meier(parts, repeats=task.rows.repeats)
