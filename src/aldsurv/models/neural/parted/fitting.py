"""Fit an estimator with a network to a table in parts: two passes over the table, and training from a file.

The first pass learns columns and outcomes, and samples rows; the second writes the rows, as the network takes them,
into buckets, and keeps those that members hold out. Then they are learned from by the same loop as rows in memory. On a
cluster all workers share the first pass; in the second each writes the rows to its own disk, and they train together.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.follow_up import end_of_follow_up
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.models.neural.fitting.encoding import require_torch
from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.neural.fitting.held_out import held_out_gain
from aldsurv.models.neural.fitting.joint_fit import with_points
from aldsurv.models.neural.fitting.prepare import Prepared, slowed_if_wide
from aldsurv.models.neural.fitting.skill_check import Gain, warn_without_skill
from aldsurv.models.neural.fitting.train import train
from aldsurv.models.neural.network_model import NetworkModel
from aldsurv.models.neural.parted.held_rows import HeldShares
from aldsurv.models.neural.parted.row_encoding import EncodedRows, HeldOutRows, RowEncoder, write_rows
from aldsurv.models.neural.parted.row_progress import RowProgress, ShowLine, status_line
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.parted.table_summary import TableSummary, summarise
from aldsurv.models.rows.member_rows import Rows, member_seeds
from aldsurv.models.rows.time_units import time_unit
from aldsurv.models.rows.training_rows import TrainedOn, distinct_times
from aldsurv.tables.parts import PartedTable
from aldsurv.training.randomness import Purpose, generator_for

if TYPE_CHECKING:
    from aldsurv.models.neural.neural_survival import NeuralSurvival

__all__ = ["fit_in_parts"]

_MOST_SEED = 2**63


def fit_in_parts(estimator: NeuralSurvival, table: PartedTable) -> None:
    """Fit an estimator to a table in parts; it becomes what ``fit`` makes of it.

    On a cluster its workers summarise the parts, and then train together.
    """
    owner = type(estimator).__name__
    require_torch(owner)
    estimator.check_parameters()
    model, engine = _model_for(estimator, table), current_engine()
    show = status_line(estimator.progress)
    with RowProgress(show) as progress:
        progress.begin("columns", len(table))
        summary, codes = summarise(table, estimator.categorical or (), on_rows=progress.advance)
        task = _task_of_sample(estimator, model, summary, codes)
    encoder = _encoder(estimator, task, summary)
    most = _most_processes(task, summary.n_rows)
    fitted, gain = engine.together(_learned, (encoder, table, summary), most=most, show=show)
    estimator.adopt(fitted)
    warn_without_skill(gain, owner)


def _learned(
    encoder: RowEncoder, table: PartedTable, summary: TableSummary, show: ShowLine | None
) -> tuple[FittedNetwork, Gain | None]:
    """The second pass over the table, and training: the fitted network, and how much it gains by held-out rows."""
    task = encoder.task
    with RowProgress(show) as rows_done:
        rows_done.begin("encoding", len(table))
        shares, seed = _held_shares(task, summary.n_rows)
        rows, held = write_rows(
            table, encoder, shares, seed, on_block=rows_done.advance, on_rows=rows_done.advance_epoch
        )
        with rows.file:
            task = replace(_with_held_rows(task, encoder, held, shares, summary), stream=rows)
            by_slices = _with_slices(task, rows)
            rows_done.begin("fit", int(by_slices.model.max_epochs) * summary.n_rows // len(rows.slice_counts))
            (fitted,) = train([by_slices])
    # The rate of learning may have been lowered.
    fitted = replace(fitted, model=replace(task.model, learning_rate=fitted.model.learning_rate))
    fitted = replace(with_points(fitted, task), trained_on=_described(fitted.trained_on, summary))
    return fitted, held_out_gain(fitted, task)


def _most_processes(task: Prepared, rows: int) -> int:
    """By how many processes of a cluster training can be shared: as many as a batch has parts."""
    from aldsurv.training.parted_batches import PART_ROWS

    return -(-task.model.training_settings().batch_rows(rows) // PART_ROWS)


def _model_for(estimator: NeuralSurvival, table: PartedTable) -> NetworkModel:
    """The settings for the table; an error if a model of these cannot be fitted to parts."""
    size = (len(table), len(table.feature_names))
    model: NetworkModel = estimator.settings(size)
    if estimator.encoder is not None:
        raise ParameterError(
            "encoder cannot be used with a table in parts: it takes arrays of numbers", argument="encoder"
        )
    if estimator.callbacks and current_engine().address is not None:
        raise ParameterError(
            "callbacks cannot be used on a cluster: its workers train, and cannot call functions of this process",
            argument="callbacks",
        )
    if model.parts_obstacle is not None:
        raise ParameterError(
            f"this {type(estimator).__name__} cannot be fitted to a table in parts: {model.parts_obstacle}",
            argument="X",
            advice="Fit ALDSurvival or BoostedALD, or some of the rows, read by read_table.",
        )
    return model.alternatives()[0]


def _task_of_sample(
    estimator: NeuralSurvival, model: NetworkModel, summary: TableSummary, codes: tuple[str, ...]
) -> Prepared:
    """The fit of the sample: all that is learned before training, as it is of rows in memory."""
    # A bar of epochs would be in the way of that of rows.
    options = replace(estimator.run_options(model), progress=False)
    if options.checkpoint is not None:
        # Workers of a cluster may be in another folder.
        options = replace(options, checkpoint=options.checkpoint.absolute())
    features = summary.features(
        categorical=codes,
        clip=float(model.clip_features) or None,
        bins=model.pieces(summary.n_rows, len(summary.columns)),
        owner=options.owner,
    )
    model = slowed_if_wide(model, options, features.width)
    sample = estimator.read_target_sample(summary.sampled_y)
    model = model.for_data(sample)
    facts, n = summary.outcomes, len(sample)
    examples = _first_event(facts.examples, takes_causes=estimator.TAKES_CAUSES)
    target = model.prepare_target(SurvivalData.concatenate([sample, examples]))
    unit = time_unit(target[:n], model.time_scale)
    data = target.scaled(1 / unit)[:n]
    x = features.transform(summary.sampled_x)
    return Prepared(
        model=model,
        options=options,
        features=features,
        x=x,
        data=data,
        unit=unit,
        seeds=member_seeds(options.seed, model.members),
        rows=Rows([np.arange(n)] * model.members, None),
        times=distinct_times(target),
        extras=model.prepare_extras(x, data, unit),
        row_columns={},
        observed=sample,
        covariates=x,
    )


def _first_event(y: SurvivalData, *, takes_causes: bool) -> SurvivalData:
    return y if takes_causes else y.without_causes()


def _encoder(estimator: NeuralSurvival, task: Prepared, summary: TableSummary) -> RowEncoder:
    facts = summary.outcomes
    even = facts.least_weight == facts.largest_weight
    first_event = partial(_first_event, takes_causes=estimator.TAKES_CAUSES)
    return RowEncoder(task, first_event(facts.examples), even, first_event)


def _held_shares(task: Prepared, rows: int) -> tuple[HeldShares, int]:
    """Which rows are held out, and the seed by which rows go to buckets."""
    seeds = [
        int(generator_for(task.seeds[0], use).integers(_MOST_SEED)) for use in (Purpose.VALIDATION, Purpose.BUCKETS)
    ]
    return HeldShares.of(rows, task.model.members, float(task.model.validation), seeds[0]), seeds[1]


def _with_held_rows(
    task: Prepared, encoder: RowEncoder, held: HeldOutRows, shares: HeldShares, summary: TableSummary
) -> Prepared:
    """The fit with the rows that members hold out behind those of the sample, which they learn their start from."""
    n, members = len(task.data), range(shares.members)
    holders = shares.holders(summary.sample.numbers, summary.sampled_y.group)
    counting = task.data.weights > 0
    training = [_rows((holders != k + 1) & counting) for k in members]
    validation = [n + _rows(held.holder == k + 1) for k in members]
    usable = [rows for rows in validation if len(rows)]
    if usable:
        # Of few rows chance may give a member none.
        validation = [rows if len(rows) else usable[k % len(usable)] for k, rows in enumerate(validation)]
    x = np.concatenate([task.x, held.x])
    return replace(
        task,
        x=x,
        covariates=x,
        data=SurvivalData.concatenate([task.data, encoder.target(held.observed)]) if len(held.x) else task.data,
        observed=SurvivalData.concatenate([task.observed, encoder.first_event(held.observed)]),
        rows=Rows(training, validation if usable else None),
    )


def _with_slices(task: Prepared, rows: EncodedRows) -> Prepared:
    """The fit with settings for epochs that are slices of a pass, and what follows from the number of all rows."""
    settings = task.model.training_settings()
    n, slices = int(rows.slice_counts.sum(axis=0).max()), len(rows.slice_counts)
    model = replace(
        task.model,
        max_epochs=settings.epochs(n) * slices,
        patience=settings.patience * slices,
        warmup=settings.warmup * slices,
        weight_decay=settings.decay(n),
        batch_size=settings.batch_rows(n),
    )
    return replace(task, model=model)


def _rows(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.flatnonzero(chosen).astype(np.int64)


def _described(facts: TrainedOn, summary: TableSummary) -> TrainedOn:
    """What a model was trained on, of all rows; how many groups there were is not counted."""
    outcome = summary.outcomes
    return replace(
        facts,
        rows=outcome.rows,
        events=outcome.events,
        bounded=outcome.bounded or None,
        total_weight=outcome.total_weight,
        groups=None,
        follow_up=end_of_follow_up(summary.sampled_y),
    )
