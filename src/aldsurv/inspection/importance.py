"""How much each column matters to the predictions of a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import WholeNumber, check
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.inspection.covariate_table import CovariateTable
from aldsurv.metrics.scorers import get_scorer
from aldsurv.models.base import SurvivalEstimator
from aldsurv.registry import METRICS

__all__ = ["Importance", "permutation_importance"]

FloatArray = NDArray[np.float64]
ScorerFunction: TypeAlias = Callable[[Any, Any, Any], float]


@final
@dataclass(frozen=True, eq=False)
class Importance:
    """How much worse a score becomes when a column carries no information.

    Attributes
    ----------
    names
        Columns (d,), in the order of the table.
    falls
        Score of the rows as they are less that with the column shuffled (d, repeats); above 0: the column helps.
    score
        Score of the rows as they are, greater is better.
    metric
        Name of the score.
    """

    names: tuple[str, ...]
    falls: FloatArray
    score: float
    metric: str

    @property
    def mean(self) -> FloatArray:
        """Mean fall of the score by column (d,)."""
        return np.asarray(self.falls.mean(axis=1))

    @property
    def sd(self) -> FloatArray:
        """Standard deviation over the repeats (d,); NaN if there is one only."""
        if self.falls.shape[1] < 2:
            return np.full(len(self.names), np.nan)
        return np.asarray(self.falls.std(axis=1, ddof=1))

    @property
    def order(self) -> list[int]:
        """Places of the columns, the most important first."""
        return [int(place) for place in np.argsort(-self.mean, kind="stable")]


def permutation_importance(
    model: SurvivalEstimator,
    X: object,
    y: object,
    *,
    metric: str | ScorerFunction = "harrell_c",
    cause: int | str | None = None,
    time: float | None = None,
    repeats: int = 5,
    random_state: Any = 0,
) -> Importance:
    """How much a score falls when the values of one column are shuffled among the rows (Breiman 2001).

    Of two columns with the same information, each looks dispensable; shuffled values may make rows that do not exist.
    The result shows what the model uses, not what causes the event.

    Parameters
    ----------
    model
        A fitted model.
    X, y
        Rows, preferably not those of training.
    metric
        Name of a metric, as in `aldsurv.metrics.get_scorer` with or without ``neg_``, or a function
        ``scorer(model, X, y)``, greater is better.
    cause
        Of a model with causes: score the incidence of this one, by number or name; None: the first event of any.
    time
        When to look, of a metric that looks at given times, such as ``"auc"`` or ``"brier"``.
    repeats
        How often each column is shuffled.
    random_state
        Seed or generator. The shuffles of a column do not depend on the other columns.

    Examples
    --------
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> x = {"age": rng.normal(size=300), "shoe": rng.normal(size=300)}
    >>> y = np.exp(x["age"]) * rng.weibull(2.0, 300), np.ones(300, bool)
    >>> importance = permutation_importance(WeibullAFT().fit(x, y), x, y)
    >>> importance.names, bool(importance.mean[0] > 0.3), bool(abs(importance.mean[1]) < 0.01)
    (('age', 'shoe'), True, True)
    """
    check("repeats", repeats, WholeNumber(1))
    name, scorer = _scorer(metric, cause, time)
    table, data = CovariateTable.of(X), SurvivalData.of(y)
    if len(table) != len(data):
        raise ParameterError(f"X has {len(table)} rows, but y has {len(data)}. Give one row of X for each time.")
    score = float(scorer(model, table.given, data))
    generators = np.random.default_rng(random_state).spawn(len(table.keys))
    falls = np.array(
        [
            [score - scorer(model, _shuffled(table, place, generator).given, data) for _ in range(repeats)]
            for place, generator in enumerate(generators)
        ]
    )
    return Importance(table.names, falls.reshape(len(table.keys), repeats), score, name)


def _scorer(metric: str | ScorerFunction, cause: int | str | None, time: float | None) -> tuple[str, ScorerFunction]:
    options: dict[str, object] = {} if cause is None else {"cause": cause}
    if not isinstance(metric, str):
        if not callable(metric):
            raise ParameterError(f"metric must be a name or a function, but is {metric!r:.60}.")
        if options or time is not None:
            raise ParameterError(
                "cause and time cannot be combined with a function. Give the name of a metric.", argument="metric"
            )
        return str(getattr(metric, "name", getattr(metric, "__name__", "score"))), metric
    record = next((record for record in METRICS.records() if metric in (record.name, record.scorer)), None)
    if time is not None:
        if record is None or record.time_argument is None:
            raise ParameterError(f"metric {metric!r:.60} does not look at given times.", argument="time")
        options[record.time_argument] = [time] if record.time_argument == "times" else time
    return metric, get_scorer(metric if record is None else record.scorer, **options)


def _shuffled(table: CovariateTable, place: int, generator: np.random.Generator) -> CovariateTable:
    return table.replaced(place, generator.permutation(table.columns[place]))
