"""What estimators with a linear predictor share: columns, the table of coefficients, files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, is_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, ParameterError
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
from aldsurv.models.fitted_state import FittedState, set_columns, set_fitted_state
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.design import Design
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT, UNIT
from aldsurv.models.parted.table_summary import OutcomeSummary, summarise
from aldsurv.models.point_parameter import PointParameterMixin
from aldsurv.models.rows.strata import Stratum
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, distinct_times, require_same_rows, thinned
from aldsurv.models.training_target import warn_of_causes, with_joined_episodes
from aldsurv.plain_numbers import percent, plain_number
from aldsurv.tables.parts.parted_table import PartedTable, table_in_parts

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LinearSurvival", "States", "UserUnit", "number_of_events", "spreads"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_ROUNDING = 1e-12
# Of a file: of columns that are scaled, and of times, which predictions must be able to multiply.
_LARGEST_ESTIMATE = 1e6
_ENTRIES = {"parameters", "design", "log_likelihood", "trained_on"}
_ARRAYS = {"standardised", "times"}


# What a fit learned, in one or more parts.
States: TypeAlias = tuple[FittedState, ...]


class UserUnit(NamedTuple):
    """How parameters of scaled columns become those of the user's columns.

    Attributes
    ----------
    names
        Of the parameters (k,).
    factors
        What each is multiplied by (k,).
    combined
        Numbers of parameters that become combinations (k,) of all, not multiples of themselves, and these.
    """

    names: list[str]
    factors: FloatArray
    combined: tuple[tuple[int, FloatArray], ...] = ()

    def convert(self, values: FloatArray) -> FloatArray:
        """Parameters (k,), or rows of a matrix (k, …), in the user's unit."""
        converted: FloatArray = (values.T * self.factors).T
        for number, combination in self.combined:
            converted[number] = combination @ values
        return converted


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSurvival(PointParameterMixin, SurvivalEstimator):
    """An estimator whose distribution depends on covariates by a sum of columns times coefficients.

    Parameters are estimated for centred and scaled columns (`standardised_`) and shown in the user's unit
    (`coefficients_`).

    Parameters
    ----------
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        The summary of the distribution that `predict_time` gives: ``"median"`` (or ``"follow_up"``, which is the same
        here), ``"mean"``, ``"mode"`` or ``"restricted_mean"``. Rows have the order of the linear predictor under each.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for its readers.

    Attributes
    ----------
    coefficients_
        Table of coefficients in the unit of the columns, with ratios.
    log_likelihood_
        Without any penalty.
    """

    categorical: Sequence[str | int] | None = None
    point: str = "median"
    unit: str | None = None

    design_: Design = field(init=False)
    standardised_: FloatArray = field(init=False)
    log_likelihood_: float = field(init=False)
    trained_on_: TrainedOn = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "point": POINT,
        "unit": UNIT,
        "categorical": CATEGORICAL,
    }
    # What the exponential of a coefficient is.
    RATIO_NAME: ClassVar[str]
    # Entries and arrays of a file beside those of every linear model that `_fit_content` gives.
    FIT_ENTRIES: ClassVar[frozenset[str]]
    FIT_ARRAYS: ClassVar[frozenset[str]]

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, as `SurvivalEstimator.fit` says."""
        self.check_parameters()
        table = table_in_parts(X, y, sample_weight, groups)
        if table is not None:
            return self._fit_parts(table)
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        owner = type(self).__name__
        design = Design.learn(X, categorical=self.categorical, strata=self._strata_columns(), owner=owner)
        x, codes = design.numbers(X, owner), design.codes(X)
        data = self._read_training_target(y, sample_weight, groups)
        require_same_rows(len(x), data)
        return self.fit_numbers(design, x, data, codes)

    def fit_numbers(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> Self:
        """Learn from rows that the design has made numbers (n, d), with the stratum of each row if there are strata."""
        states = self._estimate(design, x, data, codes)
        times = thinned(distinct_times(data))
        trained_on = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        self._adopt(design, states, trained_on, times)
        return self

    def _fit_parts(self, table: PartedTable) -> Self:
        """Learn from a table in parts, on the engine that is current."""
        owner = type(self).__name__
        strata = self._strata_columns()
        summary, codes = summarise(table, Design.categorical(self.categorical, strata))
        warn_of_causes(summary.outcomes.causes, owner, stacklevel=4)
        design = Design.learn_parts(table, summary, codes, strata=strata, owner=owner)
        states = self._estimate_parts(design, table, summary.outcomes)
        self._adopt(design, states, summary.trained_on, summary.times)
        return self

    def _estimate_parts(self, design: Design, table: PartedTable, outcome: OutcomeSummary) -> States:
        """What is learned from a table in parts."""
        raise DataError(
            f"{type(self).__name__} cannot be fitted to a table in parts",
            argument="X",
            advice="Read the table into memory by read_table, or fit WeibullAFT, LogNormalAFT or CoxRegression.",
        )

    def _with_outputs_of(self, X: object, data: SurvivalData, *, pull: float, seed: int | None) -> Self:
        design, owner = self.design_, type(self).__name__
        x, codes = design.numbers(X, owner), design.codes(X)
        require_same_rows(len(x), data)
        states = self._pulled_states(x, data, codes, pull)
        times = thinned(distinct_times(data))
        facts = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        before = self.trained_on_
        model = type(self)(**self.get_params(deep=False))
        model._adopt(design, states, replace(facts, outcome=before.outcome, missing=before.missing), times)
        return model

    def _pulled_states(self, x: FloatArray, data: SurvivalData, codes: IntArray | None, pull: float) -> States:
        """What is learned from other rows of numbers (n, d) with the coefficients pulled towards what they are."""
        raise TypeError(f"{type(self).__name__} has no last layer")

    @abstractmethod
    def _free_columns(self) -> NDArray[np.bool_]:
        """Which columns (d,) have a coefficient."""

    @abstractmethod
    def _changed_fit(self, estimates: FloatArray, covariance: FloatArray, log_likelihood: float) -> FittedState:
        """The fit with other parameters, their covariance and their log-likelihood."""

    @abstractmethod
    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> States:
        """What is learned from rows of numbers (n, d), with the stratum of each row if there are strata."""

    @abstractmethod
    def _to_users_unit(self, design: Design) -> UserUnit:
        """Names of the coefficients, and how standardised ones become those of the user's unit."""

    def _strata_columns(self) -> Any:
        return None

    def _adopt(self, design: Design, states: States, trained_on: TrainedOn, times: FloatArray) -> None:
        """Become fitted."""
        for state in states:
            set_fitted_state(self, state)
        self.design_, self.features_ = design, design.features
        self.trained_on_, self.unique_times_ = trained_on, times
        set_columns(self, design.features)

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name, or by position if columns have none."""
        names = self.design_.features.names_in
        return tuple(names[column] if names and isinstance(column, int) else column for column in self.design_.columns)

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns in the training rows."""
        return self.design_.strata

    def summary(self) -> str:
        """What the model is, what it was fitted to, and its coefficients."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = percent(facts.event_share)
        lines = [
            f"{type(self).__name__}, {self._kind()}",
            f"  rows            {facts.rows_text}, {facts.known_events} events ({share})",
            f"  time            {plain_number(facts.first_time, 4)} to {plain_number(facts.last_time, 4)}{unit}",
            f"  log-likelihood  {self.log_likelihood_:.4f}",
        ]
        table = self._coefficient_text()
        return "\n".join([*lines, *self._summary_facts(), *(["", table] if table else [])])

    @property
    @abstractmethod
    def coefficients_(self) -> CoefficientTable:
        """Coefficients in the unit of the columns."""

    @abstractmethod
    def _summary_facts(self) -> list[str]:
        """Lines of `summary` on penalties and columns."""

    def _coefficient_text(self) -> str:
        return str(self.coefficients_)

    @abstractmethod
    def _kind(self) -> str:
        """A few words for `summary`."""

    def _to_file(self) -> FileContent:
        document = {
            "parameters": saved_parameters(self),
            "design": self.design_.to_plain(),
            "log_likelihood": self.log_likelihood_,
            "trained_on": self.trained_on_.to_dict(),
        }
        entries, fit_arrays = self._fit_content()
        arrays = {"standardised": self.standardised_, "times": self.unique_times_}
        return {**document, **entries}, {**arrays, **fit_arrays, **self._further_arrays()}

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> Self:
        if encoder is not None:
            raise ParameterError("encoder cannot be used: the model was trained without one.", argument="encoder")
        require(_ENTRIES <= set(document) <= _ENTRIES | cls.FIT_ENTRIES, "its entries are not those of a model")
        model: Self = with_parameters(cls, document["parameters"])
        model.check_parameters()
        design, times = Design.from_plain(document["design"]), finite_floats(arrays, "times")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        estimates, value = finite_floats(arrays, "standardised"), document["log_likelihood"]
        names = model._to_users_unit(design).names
        require(estimates.shape == (len(names),), "its coefficients are not those of its columns")
        model._check_estimates(estimates)
        require(is_number(value), "its log-likelihood is not a number")
        fit = model._read_fit(design, estimates, float(value), document, arrays)
        further = {name: array for name, array in arrays.items() if name not in _ARRAYS | cls.FIT_ARRAYS}
        trained_on = TrainedOn.from_dict(document["trained_on"])
        model._adopt(design, (fit, *model._read_further(design, further)), trained_on, times)
        return model

    @abstractmethod
    def _fit_content(self) -> FileContent:
        """Entries and arrays of the estimates, beside those of every linear model."""

    @abstractmethod
    def _read_fit(
        self, design: Design, estimates: FloatArray, log_likelihood: float, document: Document, arrays: Arrays
    ) -> FittedState:
        """The estimates with what `_fit_content` gave; anything else is refused."""

    def _check_estimates(self, estimates: FloatArray) -> None:
        """Refuse coefficients of a file that no rows lead to: predictions would not be numbers."""
        require(bool((np.abs(estimates) <= _LARGEST_ESTIMATE).all()), "its coefficients are too large")

    def _further_arrays(self) -> dict[str, NDArray[Any]]:
        """What one kind of model has learned beside the parameters, for its file."""
        return {}

    def _read_further(self, design: Design, arrays: Arrays) -> States:
        """What `_further_arrays` gave; anything else is refused."""
        require(not arrays, "it holds arrays that are not of this model")
        return ()


def spreads(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviation of each column (d,), rows counted by their weights."""
    share = weights / weights.sum()
    spread, size = np.sqrt(share @ (x - share @ x) ** 2), np.sqrt(share @ x**2)
    # A constant column has no spread but that of rounding.
    return np.where(spread > _ROUNDING * size, spread, 0.0)


def number_of_events(data: SurvivalData) -> int:
    """Rows of positive weight that are known to have had the event."""
    return int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))
