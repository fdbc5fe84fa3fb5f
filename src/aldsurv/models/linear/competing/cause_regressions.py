"""What models with one regression per cause share: fitting, the table of coefficients by cause, files."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number, WholeNumber, listed
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions.base import SurvivalDistribution
from aldsurv.distributions.competing import CompetingDistribution
from aldsurv.errors import DataError, FitWarning, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import (
    Arrays,
    Document,
    FileContent,
    finite_floats,
    require,
    saved_parameters,
    with_parameters,
)
from aldsurv.models.fitted_state import set_columns
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.cox_baseline import require_right_censored
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.proportional_hazards_survival import HazardRegression
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT, UNIT
from aldsurv.models.point_parameter import PointParameterMixin
from aldsurv.models.rows.strata import Stratum, stratum_names
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, distinct_times, require_same_rows, thinned
from aldsurv.models.structure import ModelStructure, baselines_of
from aldsurv.models.training_target import with_joined_episodes
from aldsurv.nonparametric.breslow import BaselineHazard, StratifiedBaseline
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CauseRegressions", "SharedGrid"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ENTRIES = {"parameters", "design", "trained_on", "causes", "events", "regressions"}
# Of a regression these stand once in the file.
_SHARED = ("parameters", "design")


@dataclass(frozen=True)
class SharedGrid:
    """Baselines of several causes at the times of all of them.

    Attributes
    ----------
    times, sizes
        The times of each stratum, one after the other, and how many each has.
    log_cumulative
        Logarithm of each cause's cumulative hazard from each time on (m, causes).
    strata
        Number of each row's stratum (n,); None if there are no strata.
    """

    times: FloatArray
    sizes: list[int]
    log_cumulative: FloatArray
    strata: NDArray[np.intp] | None

    @classmethod
    def of(cls, baselines: Sequence[BaselineHazard | StratifiedBaseline], codes: IntArray | None) -> SharedGrid:
        """For rows in the strata of these numbers."""
        by_stratum = [list(one.baselines) if isinstance(one, StratifiedBaseline) else [one] for one in baselines]
        grids, heights = [], []
        for parts in zip(*by_stratum, strict=True):
            grids.append(np.unique(np.concatenate([part.times for part in parts])))
            heights.append(np.stack([part.log_cumulative_at(grids[-1]) for part in parts], axis=1))
        first = baselines[0]
        strata = first.codes(codes) if isinstance(first, StratifiedBaseline) and codes is not None else None
        return cls(np.concatenate(grids), [grid.size for grid in grids], np.concatenate(heights), strata)


@dataclass(kw_only=True, eq=False, repr=False)
class CauseRegressions(PointParameterMixin, SurvivalEstimator):
    """An estimator with one regression of proportional hazards for each cause, all of the same columns.

    Parameters
    ----------
    ridge
        Penalty ``½·ridge·Σ(β·s)²`` of each regression, s the standard deviation of a column.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        The summary that `predict_time` gives of the time to the first event of any cause: ``"median"``, ``"mean"``,
        ``"mode"`` or ``"restricted_mean"``.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for its readers.

    Attributes
    ----------
    causes_
        Names of the causes; None if the data had events of one kind.
    regressions_
        The regression of each cause.
    coefficients_
        One table of all, with lines such as ``"relapse: age"``.
    coefficients_by_cause_
        A table per cause.
    """

    ridge: float = 0.0
    categorical: Sequence[str | int] | None = None
    point: str = "median"
    unit: str | None = None

    design_: Design = field(init=False)
    cause_names_: tuple[str, ...] | None = field(init=False)
    cause_events_: tuple[int, ...] = field(init=False)
    regressions_: tuple[HazardRegression, ...] = field(init=False)
    trained_on_: TrainedOn = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "ridge": Number(0, meaning="0: no penalty"),
        "point": POINT,
        "unit": UNIT,
        "categorical": CATEGORICAL,
    }
    TAKES_CAUSES: ClassVar[bool] = True
    # How a prediction follows from coefficients and baselines.
    FORMULA: ClassVar[str]

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates, times and causes, as `SurvivalEstimator.fit` says."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        owner = type(self).__name__
        design = Design.learn(X, categorical=self.categorical, strata=self._strata_columns(), owner=owner)
        x, codes = design.numbers(X, owner), design.codes(X)
        data = self._read_training_target(y, sample_weight, groups)
        require_same_rows(len(x), data)
        require_right_censored(data, owner)
        self._check_data(data)
        _require_events_of_every_cause(data)
        regressions = []
        for number in range(1, len(data.causes or ("",)) + 1):
            with _naming_the_cause(None if data.causes is None else data.causes[number - 1]):
                regressions.append(self._regression(number).fit_numbers(design, x, self._target(data, number), codes))
        times = thinned(distinct_times(data))
        trained_on = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        kinds = data.exact.astype(np.int64) if data.cause is None else data.cause
        events = tuple(np.bincount(kinds, minlength=len(regressions) + 1)[1:].tolist())
        self._adopt(design, data.causes, events, tuple(regressions), trained_on, times)
        return self

    # ---- what one kind of model provides

    @abstractmethod
    def _regression(self, number: int) -> HazardRegression:
        """The regression of the cause of that number, from 1 on, not fitted."""

    @abstractmethod
    def predict_incidence(self, X: object) -> CompetingDistribution:
        """Probability of the event of each cause by any time, for each row of `X`, in the unit of the data."""

    @abstractmethod
    def _kind(self) -> str:
        """A few words for `summary`."""

    def _target(self, data: SurvivalData, number: int) -> SurvivalData:
        """What the regression of that cause learns from."""
        return data

    def _check_data(self, data: SurvivalData) -> None:
        """Raise `DataError` for rows that a kind of model cannot learn from."""

    def _strata_columns(self) -> Any:
        return None

    # ---- predictions

    def predict_distribution(self, X: object) -> SurvivalDistribution:
        """The distribution of the time to the first event of any cause, for each row of `X`."""
        return self.predict_incidence(X).overall()

    def predict_log_risks(self, X: object) -> FloatArray:
        """``β·x`` of each row and cause (n, causes), measured from an average row."""
        self._require_fitted()
        x = self.design_.numbers(X, type(self).__name__)
        return np.stack([(x - one.average_) @ one.standardised_ for one in self.regressions_], axis=1)

    def _grid(self, X: object) -> SharedGrid:
        return SharedGrid.of([one.baseline_ for one in self.regressions_], self.design_.codes(X))

    @property
    def ranking_point_(self) -> str:
        """The summary that ranks rows: within follow-up, since any median may be infinite."""
        return "follow_up"

    # ---- what was learned

    @property
    def causes_(self) -> tuple[str, ...] | None:
        """Names of the causes; None if the data had events of one kind."""
        self._require_fitted()
        return self.cause_names_

    @property
    def coefficients_by_cause_(self) -> dict[str, CoefficientTable]:
        """A table of coefficients per cause, by its name; "1" where the data had events of one kind."""
        self._require_fitted()
        tables = (one.coefficients_ for one in self.regressions_)
        return dict(zip(self.cause_names_ or ("1",), tables, strict=True))

    @property
    def coefficients_(self) -> CoefficientTable:
        """The coefficients of all causes in one table, with lines such as ``"relapse: age"``."""
        tables = self.coefficients_by_cause_
        if self.cause_names_ is None:
            return tables["1"]
        names = [f"{cause}: {name}" for cause, table in tables.items() for name in table.names]
        every = list(tables.values())
        by_model = [one.standard_error if one.model_error is None else one.model_error for one in every]
        robust = any(one.model_error is not None for one in every)
        return CoefficientTable(
            tuple(names),
            np.concatenate([one.coefficient for one in every]),
            np.concatenate([one.standard_error for one in every]),
            every[0].ratio_name,
            np.concatenate(by_model) if robust else None,
        )

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name, or by position if columns have none."""
        return self.regressions_[0].strata_columns_

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns in the training rows."""
        return self.design_.strata

    def structure(self) -> ModelStructure:
        """How hazards follow from the coefficients, and the baselines of all causes."""
        self._require_fitted()
        names = stratum_names(self.strata_columns_, self.strata_)
        baselines = [
            one
            for cause, each in zip(self.cause_names_ or ("",), self.regressions_, strict=True)
            for one in baselines_of(each.baseline_, each.baseline_centre_, names, cause)
        ]
        return ModelStructure(self.FORMULA, (("Kind of fit", self._kind()),), tuple(baselines), complete=True)

    def summary(self) -> str:
        """What the model is, what it was fitted to, and its coefficients by cause."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = percent(facts.events / facts.rows)
        lines = [
            f"{type(self).__name__}, {self._kind()}",
            f"  rows            {facts.rows_text}, {facts.events} events ({share})",
            f"  time            {plain_number(facts.first_time, 4)} to {plain_number(facts.last_time, 4)}{unit}",
        ]
        values = [f"{one.log_likelihood_:.4f}" for one in self.regressions_]
        if self.cause_names_ is None:
            lines.append(f"  log-likelihood  {values[0]}")
        else:
            every = zip(self.cause_names_, self.cause_events_, values, strict=True)
            lines += [f"  {cause:<15} {events} events, log-likelihood {value}" for cause, events, value in every]
        return "\n".join([*lines, "", str(self.coefficients_)])

    # ---- becoming fitted, and files

    def _adopt(
        self,
        design: Design,
        causes: tuple[str, ...] | None,
        events: tuple[int, ...],
        regressions: tuple[HazardRegression, ...],
        trained_on: TrainedOn,
        times: FloatArray,
    ) -> None:
        self.design_, self.features_, self.cause_names_ = design, design.features, causes
        self.regressions_, self.cause_events_ = regressions, events
        self.trained_on_, self.unique_times_ = trained_on, times
        set_columns(self, design.features)

    def _to_file(self) -> FileContent:
        documents, arrays = [], {"times": self.unique_times_}
        for number, one in enumerate(self.regressions_):
            entries, values = one._to_file()
            documents.append({name: entry for name, entry in entries.items() if name not in _SHARED})
            arrays |= {f"{number}.{name}": value for name, value in values.items()}
        document = {
            "parameters": saved_parameters(self),
            "design": self.design_.to_plain(),
            "trained_on": self.trained_on_.to_dict(),
            "causes": None if self.cause_names_ is None else list(self.cause_names_),
            "events": list(self.cause_events_),
            "regressions": documents,
        }
        return document, arrays

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> Self:
        if encoder is not None:
            raise ParameterError("encoder cannot be used: the model was trained without one.", argument="encoder")
        require(set(document) == _ENTRIES, "its entries are not those of a model")
        model: Self = with_parameters(cls, document["parameters"])
        model.check_parameters()
        times = finite_floats(arrays, "times")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        causes, documents = document["causes"], document["regressions"]
        named = isinstance(causes, list) and all(isinstance(name, str) for name in causes)
        require(causes is None or (named and len(set(causes)) == len(causes) > 0), "its causes are unclear")
        require(
            isinstance(documents, list) and all(isinstance(one, dict) for one in documents), "it has no regressions"
        )
        require(len(documents) == (1 if causes is None else len(causes)), "it must have a regression per cause")
        events = document["events"]
        require(isinstance(events, list) and all(map(WholeNumber(0).allows, events)), "its events must be counted")
        require(len(events) == len(documents), "its events must be counted for each cause")
        regressions = []
        for number, entries in enumerate(documents):
            require(not set(_SHARED) & set(entries), "its regressions are unclear")
            kind = model._regression(number + 1)
            whole = {**entries, "parameters": saved_parameters(kind), "design": document["design"]}
            mark = f"{number}."
            own = {name.removeprefix(mark): array for name, array in arrays.items() if name.startswith(mark)}
            regressions.append(type(kind)._from_file(whole, own))
        count = 1 + sum(len(one._to_file()[1]) for one in regressions)
        require(len(arrays) == count, "it holds arrays that are not of this model")
        _require_same_strata([one.baseline_ for one in regressions])
        design = regressions[0].design_
        trained_on = TrainedOn.from_dict(document["trained_on"])
        names = None if causes is None else tuple(causes)
        model._adopt(design, names, tuple(events), tuple(regressions), trained_on, times)
        return model


def _require_events_of_every_cause(data: SurvivalData) -> None:
    if data.cause is None or data.causes is None:
        return
    counts = np.bincount(data.cause[data.weights > 0], minlength=len(data.causes) + 1)[1:]
    without = [name for name, count in zip(data.causes, counts, strict=True) if not count]
    if without:
        many = len(without) > 1
        raise DataError(
            f"no row has an event of cause{'s' * many} {listed(without, 8)}: there is nothing to learn of "
            f"{'them' if many else 'it'}",
            argument="y",
            advice="Leave out causes without events, or give more rows.",
        )


def _require_same_strata(baselines: Sequence[BaselineHazard | StratifiedBaseline]) -> None:
    levels = [one.levels.tolist() if isinstance(one, StratifiedBaseline) else None for one in baselines]
    require(all(one == levels[0] for one in levels), "the baselines of its causes are of different strata")


@contextmanager
def _naming_the_cause(cause: str | None) -> Iterator[None]:
    """Warnings about a fit say of which cause it is."""
    if cause is None:
        yield
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        fit = issubclass(warning.category, FitWarning)
        text = f"cause {quoted(cause)}: {warning.message}" if fit else str(warning.message)
        warnings.warn(text, warning.category, stacklevel=4)
