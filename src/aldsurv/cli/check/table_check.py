"""What ``aldsurv check`` finds out: how a table would be read, and what fitting a model to it would meet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, final

from aldsurv.cli.check.gap_values import GapValue, likely_gap_values, words_among_numbers
from aldsurv.cli.check.outcome_guess import OutcomeGuess, guess_outcome
from aldsurv.cli.shared.column_uses import count_gaps, table_columns
from aldsurv.cli.shared.error_text import errors_in_file
from aldsurv.cli.shared.input_files import read_outcome_table, require_events
from aldsurv.cli.shared.outcome_options import OutcomeColumns
from aldsurv.cli.shared.reading_options import ReadingOptions
from aldsurv.errors import AldsurvError, DataError
from aldsurv.quoting import shortened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aldsurv.columns.column_plans import ColumnPlan
    from aldsurv.columns.features import Features
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.inspection.suspicious_columns import SuspiciousColumn
    from aldsurv.tables.table import Table

__all__ = ["CheckRequest", "CheckedColumn", "TableCheck", "check_table"]

# Different values that are shown of a column, how long they may be, and rows in which they are looked for.
_EXAMPLES, _LONGEST, _LOOKED_AT = 3, 24, 1000
_FEW_VALUES = 8


@final
@dataclass(frozen=True)
class CheckRequest:
    """A table, and what the user said about its columns and how it is written down."""

    table: Path
    outcome: OutcomeColumns
    reading: ReadingOptions
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    unit: str | None = None


class CheckedColumn(NamedTuple):
    """A column of the file.

    Attributes
    ----------
    name
        Its name.
    kind
        ``"number"``, ``"category"``, ``"codes"``, ``"outcome"``, ``"left out"`` or ``"refused"``.
    use
        How it is used, in words.
    gaps
        How many values are missing.
    examples
        Its first different values.
    """

    name: str
    kind: str
    use: str
    gaps: int
    examples: tuple[str, ...]


@final
@dataclass(frozen=True)
class TableCheck:
    """What was found out.

    Attributes
    ----------
    request
        What was asked for.
    table
        The rows; with times if the outcome can be read.
    columns
        Every column of the file, in its order.
    guess, outcome
        Columns that may be the outcome, and those that were taken for it.
    event_counts
        How many rows have each value of the column of events; None is a gap.
    features
        What would be learned of the covariates; None if there is nothing to learn.
    suspects
        Columns that give the outcome away or are no covariates.
    refused
        Covariates that no model takes, and why.
    problem
        Why a model cannot be fitted with this outcome; None if it can, or if no outcome is known.
    obstacle
        Why columns that are named like an outcome cannot be read as one, if they were guessed.
    gap_values
        Numbers that may stand for gaps, and the covariates that hold them.
    """

    request: CheckRequest
    table: Table
    columns: list[CheckedColumn]
    guess: OutcomeGuess
    outcome: OutcomeColumns
    event_counts: dict[Any, int]
    features: Features | None
    suspects: list[SuspiciousColumn]
    refused: dict[str, AldsurvError]
    problem: AldsurvError | None
    obstacle: AldsurvError | None = None
    gap_values: Mapping[str, Sequence[GapValue]] = field(default_factory=dict)

    @property
    def data(self) -> SurvivalData | None:
        """The outcome, if it can be read."""
        return self.table.y

    @property
    def gap_words(self) -> tuple[str, ...]:
        """Words that stand among the numbers of some columns, as marks of gaps do."""
        words: dict[str, None] = {}
        for name, error in self.refused.items():
            if error.argument == "categorical":
                words |= dict.fromkeys(words_among_numbers(self.table.x[name]))
        return tuple(words)

    @property
    def unusable(self) -> tuple[str, ...]:
        """Columns that are refused for more than some words among their numbers."""
        return tuple(
            name
            for name, error in self.refused.items()
            if error.argument != "categorical" or not words_among_numbers(self.table.x[name])
        )


def check_table(request: CheckRequest) -> TableCheck:
    """Read the table as ``aldsurv fit`` would, without training anything.

    What cannot be read at all is an error; what only stops fitting is the `problem` of the result.
    """
    from aldsurv.inspection.suspicious_columns import suspicious_columns
    from aldsurv.tables.date_covariates import without_dates

    options: dict[str, Any] = {"categorical": request.categorical, "reading": request.reading}
    kept = [name for name in request.drop if name not in request.outcome.columns.values()]
    whole = read_outcome_table(request.table, OutcomeColumns(), drop=kept, **options)
    if request.outcome.given:
        _require_known(request.outcome, whole)
    guess = guess_outcome(whole, request.outcome)
    read, outcome, problem = _with_outcome(request, guess, whole)
    obstacle = None
    if problem is not None and not request.outcome.columns:
        read, outcome, problem, obstacle = whole, OutcomeColumns(), None, problem
    table = without_dates(read)
    features, refused = _learned(table, request)
    if problem is None and table.y is not None and not refused and (features is None or not features.width):
        problem = DataError(f"{str(table.path)!r}: no column has two values to learn from. Give more rows or columns.")
    event = outcome.event if outcome.event in whole.x else None
    return TableCheck(
        request,
        table,
        _columns(table, whole, features, refused, outcome, request),
        guess,
        outcome,
        {} if event is None else _value_counts(whole.x[event]),
        features,
        [] if read.y is None or not read.x else suspicious_columns(read.x, read.y),
        refused,
        problem,
        obstacle,
        {} if read.y is None else likely_gap_values(table.x),
    )


def _require_known(outcome: OutcomeColumns, whole: Table) -> None:
    """Raise `UnknownNameError` if a column of the outcome is not there."""
    from aldsurv.data.frame_columns import require_column

    names = [column.name for column in whole.columns]
    with errors_in_file(whole.path):
        for role, name in outcome.columns.items():
            require_column(name, names, role)


def _with_outcome(
    request: CheckRequest, guess: OutcomeGuess, whole: Table
) -> tuple[Table, OutcomeColumns, AldsurvError | None]:
    """The table with times, or as it is and what is wrong with the outcome."""
    outcome = guess.outcome
    if outcome.end:
        outcome = replace(outcome, unit=request.unit or "days")
    if not outcome.columns:
        return whole, outcome, None
    while True:
        try:
            table = read_outcome_table(
                request.table,
                outcome,
                drop=request.drop,
                categorical=request.categorical,
                reading=request.reading,
            )
            require_events(table, outcome)
        except AldsurvError as error:
            # What the column holds may suggest which of its values is the event.
            given = outcome.event_value or outcome.event_values
            if error.argument == "event_value" and error.suggestion is not None and not given:
                outcome = replace(outcome, event_value=str(error.suggestion))
                continue
            return whole, outcome, error
        return table, outcome, None


def _learned(table: Table, request: CheckRequest) -> tuple[Features | None, dict[str, AldsurvError]]:
    """What would be learned of the columns that can be used, and the errors about the others."""
    from aldsurv.columns.features import Features

    refused: dict[str, AldsurvError] = {}
    x = dict(table.x)
    while x:
        try:
            codes = [name for name in table.categorical if name in x]
            return Features.learn(x, categorical=codes, owner="the model"), refused
        except DataError as error:  # noqa: PERF203
            name = str(error.column)
            if name not in x:
                raise
            refused[name] = error
            del x[name]
    return None, refused


def _columns(
    table: Table,
    whole: Table,
    features: Features | None,
    refused: dict[str, AldsurvError],
    outcome: OutcomeColumns,
    request: CheckRequest,
) -> list[CheckedColumn]:
    from aldsurv.columns.features import Features

    usable = replace(table, columns=tuple(column for column in table.columns if column.name not in refused))
    texts = iter(table_columns(usable, features or Features((), named=True, clip=None), outcome))
    plans = {} if features is None else {plan.name: plan for plan in features.columns}
    columns = []
    for column in table.columns:
        values = whole.x.get(column.name)
        gaps = 0 if values is None else count_gaps(values)
        examples = () if values is None else _examples(values)
        error = refused.get(column.name)
        if error is not None:
            columns.append(CheckedColumn(column.name, "refused", f"refused: {error.problem}", gaps, examples))
            continue
        text = next(texts)
        if column.use == "left out" and values is not None and column.name not in request.drop:
            text = text._replace(use="left out: dates")
        kind = _kind(plans.get(column.name), column.use, coded=column.name in table.categorical)
        columns.append(CheckedColumn(text.name, kind, text.use, gaps, examples))
    return columns


def _kind(plan: ColumnPlan | None, use: str, *, coded: bool) -> str:
    from aldsurv.columns.column_plans import LeftOut, Number

    if plan is None:
        return "left out" if use == "left out" else "outcome"
    if isinstance(plan, LeftOut):
        return "left out"
    return "number" if isinstance(plan, Number) else "codes" if coded else "category"


def _examples(values: NDArray[Any]) -> tuple[str, ...]:
    from aldsurv.columns.column_entries import format_value

    shown: dict[str, None] = {}
    first = values[:_LOOKED_AT]
    # A day without an hour is written as such.
    items = [str(item).partition(".000000")[0].removesuffix("T00:00:00") for item in first]
    for item, value in zip(items if values.dtype.kind in "Mm" else first.tolist(), first.tolist(), strict=True):
        if value is not None and value == value and item != "NaT":
            shown[f"{item:.6g}" if isinstance(item, float) else shortened(format_value(item), _LONGEST)] = None
        if len(shown) == _EXAMPLES:
            break
    return tuple(shown)


def _value_counts(values: NDArray[Any]) -> dict[Any, int]:
    """How many rows have each value, in order if there are few and else the most frequent first."""
    from aldsurv.data.event_columns import column_values
    from aldsurv.data.frame_columns import Column

    counts = Counter(column_values(Column(values, "event"))).most_common()
    if len(counts) <= _FEW_VALUES:
        counts.sort(key=lambda item: (item[0] is None, isinstance(item[0], str), item[0]))
    return dict(counts)
