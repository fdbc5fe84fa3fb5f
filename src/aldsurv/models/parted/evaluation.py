"""Metrics of a model on a table in parts: computed where the parts are, and merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvWarning, DataError
from aldsurv.metrics.block_scores import (
    PAIR_METRICS,
    BlockScores,
    RankedRows,
    ScoreSettings,
    condensed,
    ranked_rows,
)
from aldsurv.metrics.evaluation import DEFAULT_METRICS
from aldsurv.metrics.evaluation_table import Evaluation
from aldsurv.metrics.point_estimates import RankingPoint
from aldsurv.models.parted.engine import current_engine
from aldsurv.models.parted.scoring import names_of_model
from aldsurv.models.rows.training_rows import require_events
from aldsurv.nonparametric.censoring_weights import Ties
from aldsurv.notices import muted, warn
from aldsurv.tables.parts.parted_table import PartedTable, RowChoice, TablePart

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["MOST_ROWS", "PartedEvaluation", "evaluate_parts"]

# Rows that metrics of pairs see, and distinct outcomes from which the censoring is estimated: of more a sample.
MOST_ROWS = 5_000_000
_ROWS = 1 << 14
# Parts of a sample by whose values its standard error is estimated.
_FOLDS = 20


class PartedEvaluation(Evaluation[float]):
    """Values of metrics by name.

    Attributes
    ----------
    rows, events
        How many rows were scored, and how many of them have an event.
    standard_errors
        Of metrics that were computed from a sample of the rows, by name: what the sampling adds. Others are exact.
    """

    rows: int
    events: int
    standard_errors: dict[str, float]


def evaluate_parts(
    model: SurvivalEstimator,
    table: PartedTable,
    *,
    train: PartedTable | SurvivalData | None = None,
    metrics: Sequence[str] | None = None,
    point: RankingPoint = "follow_up",
    ranking_point: RankingPoint | None = None,
    ties: Ties = "events_first",
    on_rows: Callable[[int], object] = lambda rows: None,
) -> PartedEvaluation:
    """Metrics of a model on a table in parts, on the engine that is current: the numbers of `aldsurv.metrics.evaluate`.

    Means over rows and counts of levels are merged, which is exact. ``harrell_c`` and ``uno_c`` compare all pairs of up
    to five million rows; of more rows they compare those of a sample of so many, drawn by the numbers of the rows, and
    the standard error that this adds is stated.

    Parameters
    ----------
    model
        A fitted model.
    table
        The rows, with their outcomes; exact or right-censored ones without delayed entry, except for calibration and
        log-likelihood.
    train
        Rows that the censoring is estimated from; None: the rows themselves.
    metrics
        Names of metrics; None: the default ones of `aldsurv.metrics.evaluate`, and ``d_calibration``.
    point, ranking_point, ties
        As in `aldsurv.metrics.evaluate`.
    on_rows
        Called with the number of rows of each part that was scored.

    Examples
    --------
    >>> import pyarrow, pyarrow.parquet
    >>> from aldsurv import WeibullAFT, datasets
    >>> folder = getfixture("tmp_path")
    >>> rows = pyarrow.table({"age": [61, 48, 55, 70], "time": [3.0, 12.5, 8.0, 2.0], "died": [True] * 4})
    >>> pyarrow.parquet.write_table(rows, folder / "rows.parquet")
    >>> table = datasets.open_table(folder, time="time", event="died")
    >>> model = WeibullAFT().fit(table.x, table.y)
    >>> evaluate_parts(model, table, metrics=["harrell_c", "mae"])
    {'harrell_c': 1.0, 'mae': 0.648}
    """
    names = tuple(dict.fromkeys((*DEFAULT_METRICS, "d_calibration") if metrics is None else metrics))
    seen = _outcomes(table)
    require_events(seen.rows)
    training = seen.rows if train is None else train if isinstance(train, SurvivalData) else _outcomes(train).rows
    settings = ScoreSettings.of(names, training, seen.smallest, point=point, ranking_point=ranking_point, ties=ties)
    paired = [name for name in names if name in PAIR_METRICS]
    share = min(1.0, MOST_ROWS / max(len(table), 1)) if paired else 0.0
    scores: list[BlockScores] = []
    ranked: list[RankedRows] = []
    for part in current_engine().map(_score_part, _with_model_columns(table, model), (model, settings, share)):
        # One merged value after the other: the parts may be many.
        scores = [BlockScores.merged([*scores, part.scores])]
        ranked += part.ranked
        on_rows(part.rows)
    total = BlockScores.merged(scores)
    result = PartedEvaluation({name: total.value(name) for name in names if name not in PAIR_METRICS})
    result.rows, result.events, result.standard_errors = seen.n_rows, seen.events, {}
    if paired:
        rows = RankedRows.joined(ranked)
        for name in paired:
            result[name] = rows.value(name, training)
            if share < 1:
                result.standard_errors[name] = _standard_error(rows, name, training)
    values = {name: result[name] for name in names}
    result.clear()
    result.update(values)
    return result


def _standard_error(rows: RankedRows, name: str, train: SurvivalData) -> float:
    """By the values of random parts of the sample, which vary as often as they are smaller."""
    numbers = np.random.default_rng(0).permutation(len(rows.time)) % _FOLDS
    values = [rows[numbers == fold].value(name, train) for fold in range(_FOLDS)]
    return float(np.std(values, ddof=1) / np.sqrt(_FOLDS))


class _Outcomes(NamedTuple):
    """The outcomes of some rows, condensed; the smallest time above 0 of those that count; how many there are."""

    rows: SurvivalData
    smallest: float
    n_rows: int
    events: int


def _outcomes(table: PartedTable) -> _Outcomes:
    found: list[_Outcomes] = []
    for part in current_engine().map(_outcomes_of_part, table.parts):
        if not part:
            continue
        found = [_merged([*found, *part])]
        if len(found[0].rows) > MOST_ROWS:
            warn(
                f"there are more than {MOST_ROWS:,} distinct times: the censoring is estimated from a sample of the "
                "rows.",
                AldsurvWarning,
            )
            choice = RowChoice(0, 0.0, 0.9 * MOST_ROWS / len(table))
            sampled = tuple(replace(part, choices=(*part.choices, choice)) for part in table.parts)
            return _outcomes(replace(table, parts=sampled))
    if not found:
        raise DataError(f"{table.label!r} has no rows", argument="table", advice="Give at least one.")
    return found[0]


def _outcomes_of_part(part: TablePart) -> list[_Outcomes]:
    part = replace(part, reading=replace(part.reading, covariates=()))
    found: list[_Outcomes] = []
    for block in part.blocks():
        data = block.outcome
        bounds = np.concatenate([data.lower, data.upper])
        positive = bounds[np.isfinite(bounds) & (bounds > 0)]
        one = _Outcomes(condensed([data]), float(positive.min(initial=np.inf)), len(data), data.n_events)
        found = [_merged([*found, one])]
    return found


def _merged(parts: Sequence[_Outcomes]) -> _Outcomes:
    return _Outcomes(
        condensed([part.rows for part in parts]),
        min(part.smallest for part in parts),
        sum(part.n_rows for part in parts),
        sum(part.events for part in parts),
    )


@final
@dataclass(frozen=True)
class _ScoredPart:
    scores: BlockScores
    ranked: list[RankedRows]
    rows: int


def _score_part(part: TablePart, model: SurvivalEstimator, settings: ScoreSettings, share: float) -> _ScoredPart:
    ranked: list[RankedRows] = []
    rows = 0
    choice = RowChoice(0, 0.0, share)
    names = names_of_model(model)

    def scores() -> Any:
        nonlocal rows
        for block in part.blocks(_ROWS):
            rows += len(block)
            data = block.outcome.without_causes()
            with part.located(block.numbers):
                x = {name: values for name, values in block.x.items() if name in names}
                predicted = model.predict_distribution(x)
            chosen = choice.of(block.numbers, data.group) if share < 1 else np.ones(len(block), np.bool_)
            if share and chosen.any():
                ranked.append(ranked_rows(predicted[chosen], data[chosen], settings))
            yield BlockScores.of(predicted, data, settings)

    with muted():
        merged = BlockScores.merged(scores())
    return _ScoredPart(merged, [RankedRows.joined(ranked)] if ranked else [], rows)


def _with_model_columns(table: PartedTable, model: SurvivalEstimator) -> tuple[TablePart, ...]:
    """The parts with only those covariates that the model reads."""
    names = names_of_model(model)
    covariates = tuple(name for name in table.reading.covariates if name in names)
    reading = replace(table.reading, covariates=covariates)
    return tuple(replace(part, reading=reading) for part in table.parts)
