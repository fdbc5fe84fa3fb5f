"""A fit of boosted trees as a straight line: rows are prepared and held out, members grown, a kind of causes chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.columns.row_copies import find_groups
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.support import SUPPORTS
from aldsurv.models.parted.table_summary import TableSummary
from aldsurv.models.rows.member_rows import Rows, member_seeds, split_for_members
from aldsurv.models.rows.time_units import in_unit, time_unit
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, distinct_times, thinned
from aldsurv.models.trees.boosted_outputs import BoostedOutputs
from aldsurv.models.trees.boosted_rounds import require_xgboost
from aldsurv.models.trees.boosting_settings import BoostingSettings
from aldsurv.models.trees.fitted_trees import FittedTrees
from aldsurv.models.trees.grown_members import alternatives, grow_members
from aldsurv.models.trees.member_samples import RowsInMemory
from aldsurv.models.trees.threads import count_threads

__all__ = ["TreesFit", "fit_trees"]

_ROUNDS = ("learning_rate", "max_depth", "min_child_weight", "l2", "subsample", "colsample", "max_rounds", "patience")


@final
class TreesFit(NamedTuple):
    """What was fitted, and which rows members learned from and held out."""

    fitted: FittedTrees
    rows: Rows


def fit_trees(
    parameters: Mapping[str, Any],
    x: NDArray[np.float32],
    observed: SurvivalData,
    features: Features,
    summary: TableSummary | None,
) -> TreesFit:
    """Grow all members.

    Parameters
    ----------
    parameters
        Those of `BoostedALD`.
    x, observed
        Columns as numbers, and what was observed: of all rows, or of a sample of those of the summary.
    features
        How columns became numbers.
    summary
        What was learned of a table that is larger than memory; None of one that is not.
    """
    support, members, causes = str(parameters["support"]), int(parameters["members"]), str(parameters["causes"])
    data = SUPPORTS[support].training_rows(observed)
    scale = time_unit(data, "median")
    scaled = in_unit(data, scale)
    seeds = member_seeds(parameters["random_state"], members)
    folds = np.random.default_rng(seeds[0])
    rows = split_for_members(scaled, float(parameters["validation"]), members, folds, find_groups(x, scaled))
    settings = BoostingSettings.for_rows(len(scaled), **{name: parameters[name] for name in _ROUNDS})
    threads = count_threads(parameters["n_jobs"], len(scaled))
    part = BoostedOutputs.of(support, int(parameters["components"]), scaled)
    samples = RowsInMemory(x, scaled, rows, settings, folds)
    kinds = [
        grow_members(outputs, samples, scale, seeds=seeds, settings=settings, threads=threads)
        for outputs in alternatives(part, scaled, rows, causes=causes, cure=bool(parameters["cure"]))
    ]
    best = min(kinds, key=lambda grown: float(grown.losses.mean()))
    packages = {"xgboost": str(require_xgboost().__version__)}
    if summary is None:
        times, fingerprint = thinned(distinct_times(observed)), data_fingerprint(x, observed)
        facts = TrainedOn.describe(observed, times=times, fingerprint=fingerprint, packages=packages)
    else:
        times, facts = summary.times, summary.trained_on
        facts = replace(facts, versions={**facts.versions, **packages})
    fitted = FittedTrees(
        trees=best.trees,
        outputs=best.outputs,
        start=best.start,
        units=best.units,
        gain=best.gain,
        rounds=best.rounds,
        validation_loss=best.losses,
        held_out=best.held_out,
        time_scale=scale,
        features=features,
        trained_on=facts,
        unique_times=times,
        cause_scores={k.outputs.cause_kind: -float(k.losses.mean()) for k in kinds} if len(kinds) > 1 else {},
    )
    return TreesFit(fitted, rows)
