"""The output layer of trained networks, learned from other rows; columns, units of time and hidden layers stay."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from aldsurv.columns.row_copies import find_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.models.neural.fitting.encoding import require_torch
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.prepare import Prepared, RunOptions
from aldsurv.models.neural.fitting.train import OUTPUT_ARRAYS, OutputStart, run_loop
from aldsurv.models.rows.member_rows import member_seeds, split_for_members
from aldsurv.models.rows.training_rows import TrainedOn, distinct_times, require_same_rows, thinned
from aldsurv.training.randomness import Purpose, generator_for

__all__ = ["with_other_outputs"]


def with_other_outputs(
    fitted: FittedNetwork, options: RunOptions, X: object, observed: SurvivalData, *, pull: float
) -> FittedNetwork:
    """The networks with output layers learned from other rows, each stopped early by validation rows of its own.

    A member whose validation rows are predicted best as it was stays as it was.

    Parameters
    ----------
    fitted
        The networks, without encoders.
    options
        How the run goes.
    X, observed
        The rows.
    pull
        Weight of the old output layer, in events: the penalty ``½·pull·Σ(weight - old)²`` beside the log-likelihood of
        all rows.
    """
    task = _prepare(fitted, options, X, observed)
    # The loss is a mean over rows.
    strength = pull / max(len(task.rows.train[0]), 1)
    # Steps as long as the penalty leaves room for.
    rate = float(task.model.learning_rate) / math.sqrt(1 + strength)
    task = replace(task, model=replace(task.model, learning_rate=rate))
    start = OutputStart(replace(fitted.network, dropout=0.0), fitted.weights, strength)
    trained = run_loop([task], start)[0]
    if trained.history.stopped_by == "interrupt":
        # The model as it was is still there: a half-learned one is of no use.
        raise KeyboardInterrupt
    times, before = thinned(task.times), fitted.trained_on
    packages = {"torch": str(require_torch("training").__version__)}
    facts = TrainedOn.describe(observed, times=times, fingerprint=trained.fingerprint, packages=packages)
    return replace(
        fitted,
        weights={**fitted.weights, **{name: trained.weights[name] for name in OUTPUT_ARRAYS}},
        times=times,
        trained_on=replace(facts, outcome=before.outcome, missing=before.missing),
    )


def _prepare(fitted: FittedNetwork, options: RunOptions, X: object, observed: SurvivalData) -> Prepared:
    """The rows as the fitted networks see them."""
    # Hidden units stay, so there is nothing to drop; the pull takes the place of the weight decay.
    model = replace(fitted.model, dropout=0.0, weight_decay=0.0)
    columns = model.covariates(X)
    x = np.zeros((0, 0)) if fitted.features is None else fitted.features.transform(columns, owner=options.owner)
    require_same_rows(len(x), observed)
    data = model.prepare_target(observed)
    seeds = member_seeds(options.seed, fitted.n_members)
    folds = generator_for(seeds[0], Purpose.VALIDATION)
    groups = find_groups(columns, observed)
    return Prepared(
        model=model,
        options=replace(options, callbacks=(), checkpoint=None),
        features=fitted.features,
        x=x,
        data=data.scaled(1 / fitted.time_scale),
        unit=fitted.time_scale,
        seeds=seeds,
        rows=split_for_members(data, float(model.validation), fitted.n_members, folds, groups),
        times=distinct_times(data),
        extras=fitted.extras,
        row_columns=model.row_columns(X),
        observed=observed,
        covariates=X,
    )
