"""What estimators with a linear predictor share: columns, penalty, the table of coefficients, files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number, is_number, listed
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ParameterError
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
from aldsurv.models.fitted_state import set_columns, set_fitted_state
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import LinearFit, Penalty
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT, UNIT
from aldsurv.models.rows.strata import Stratum
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, distinct_times, require_same_rows, thinned
from aldsurv.models.search_space import Range

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RIDGE_RANGE", "LinearSurvival", "UserUnit", "number_of_events", "spreads"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# What a search tries: from a negligible penalty to one that leaves little of coefficients of a thousand events.
RIDGE_RANGE = Range(0.01, 1000.0, log=True)

_ROUNDING = 1e-12
# Of a file: of columns that are scaled, and of times, which predictions must be able to multiply.
_LARGEST_ESTIMATE = 1e6
_ENTRIES = {"parameters", "design", "log_likelihood", "trained_on"}
# Files of earlier versions have none of these.
_LATER_ENTRIES = {"dropped", "penalty"}
_ARRAYS = {"standardised", "covariance", "times"}


class UserUnit(NamedTuple):
    """How parameters of scaled columns become those of the user's columns.

    Attributes
    ----------
    names
        Of the parameters (k,).
    factors
        What each is multiplied by (k,).
    first
        The combination (k,) of all parameters that the first one becomes, if not a multiple of itself.
    """

    names: list[str]
    factors: FloatArray
    first: FloatArray | None = None

    def convert(self, values: FloatArray) -> FloatArray:
        """Parameters (k,), or rows of a matrix (k, …), in the user's unit."""
        converted: FloatArray = (values.T * self.factors).T
        if self.first is not None:
            converted[0] = self.first @ values
        return converted


@dataclass(kw_only=True, eq=False, repr=False)
class LinearSurvival(SurvivalEstimator):
    """An estimator whose distribution depends on covariates by a sum of columns times coefficients.

    Parameters are estimated for centred and scaled columns (`standardised_`) and shown in the user's unit
    (`coefficients_`, `covariance_`).

    Parameters
    ----------
    ridge
        Penalty ``½·ridge·Σ(β·s)²``, s the standard deviation of a column: it does not depend on the columns' units.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        The summary of the distribution that `predict_time` gives: ``"median"``, ``"mean"``, ``"mode"`` or
        ``"restricted_mean"``.
    unit
        Name of the unit of time, such as ``"months"``; kept with the model, for its readers.

    Attributes
    ----------
    coefficients_
        Table of coefficients in the unit of the columns, with standard errors and ratios; NaN for columns that
        were dropped.
    covariance_
        Covariance matrix of the coefficients; None if there are more columns than rows.
    dropped_
        Columns that have no coefficient, by name, and why: those that are a combination of columns before them.
    penalty_
        The ridge that the fit needed without having been given one, at separation or if columns outnumber events;
        else None.
    log_likelihood_
        Without the penalty.
    """

    ridge: float = 0.0
    categorical: Sequence[str | int] | None = None
    point: str = "median"
    unit: str | None = None

    design_: Design = field(init=False)
    standardised_: FloatArray = field(init=False)
    standardised_covariance_: FloatArray | None = field(init=False)
    dropped_: Mapping[str, str] = field(init=False)
    penalty_: Penalty | None = field(init=False)
    log_likelihood_: float = field(init=False)
    trained_on_: TrainedOn = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "ridge": Number(0, meaning="0: no penalty"),
        "point": POINT,
        "unit": UNIT,
        "categorical": CATEGORICAL,
    }
    # What the exponential of a coefficient is.
    RATIO_NAME: ClassVar[str]

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times, as `SurvivalEstimator.fit` says."""
        self.check_parameters()
        owner = type(self).__name__
        design = Design.learn(X, categorical=self.categorical, strata=self._strata_columns(), owner=owner)
        x, codes = design.numbers(X, owner), design.codes(X)
        data = self._read_training_target(y, sample_weight, groups)
        require_same_rows(len(x), data)
        fit = self._estimate(design, x, data, codes)
        times = thinned(distinct_times(data))
        trained_on = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        self._adopt(design, fit, trained_on, times)
        return self

    @abstractmethod
    def _estimate(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> LinearFit:
        """The parameters of rows of numbers (n, d), with the stratum of each row if there are strata."""

    @abstractmethod
    def _to_users_unit(self, design: Design) -> UserUnit:
        """Names of the coefficients, and how standardised ones become those of the user's unit."""

    def _strata_columns(self) -> Any:
        return None

    def _adopt(self, design: Design, fit: LinearFit, trained_on: TrainedOn, times: FloatArray) -> None:
        """Become fitted."""
        set_fitted_state(self, fit)
        self.design_, self.features_ = design, design.features
        self.trained_on_, self.unique_times_ = trained_on, times
        set_columns(self, design.features)

    @property
    def coefficients_(self) -> CoefficientTable:
        """Coefficients in the unit of the columns: names, estimates, standard errors, ratios with intervals."""
        self._require_fitted()
        unit, covariance = self._to_users_unit(self.design_), self.covariance_
        values = unit.convert(self.standardised_)
        errors = np.full(values.size, np.nan) if covariance is None else np.sqrt(np.diag(covariance))
        values[self._is_dropped(unit.names)] = np.nan
        return CoefficientTable(tuple(unit.names), values, errors, self.RATIO_NAME)

    @property
    def covariance_(self) -> FloatArray | None:
        """Covariance matrix of the coefficients, by the observed information; with a ridge, by the penalised one.

        NaN for columns that were dropped; None if there are more columns than rows.
        """
        self._require_fitted()
        if self.standardised_covariance_ is None:
            return None
        unit = self._to_users_unit(self.design_)
        covariance = unit.convert(unit.convert(self.standardised_covariance_).T)
        dropped = self._is_dropped(unit.names)
        covariance[dropped], covariance[:, dropped] = np.nan, np.nan
        return covariance

    @property
    def strata_columns_(self) -> tuple[str | int, ...]:
        """Columns of X whose levels are strata, by name, or by position if columns have none."""
        names = self.design_.features.names_in
        return tuple(names[column] if names and isinstance(column, int) else column for column in self.design_.columns)

    @property
    def strata_(self) -> tuple[Stratum, ...]:
        """The combinations of levels of these columns in the training rows."""
        return self.design_.strata

    def _is_dropped(self, names: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([name in self.dropped_ for name in names], np.bool_)

    def summary(self) -> str:
        """What the model is, what it was fitted to, and its coefficients."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = 100 * facts.events / facts.rows
        lines = [
            f"{type(self).__name__}, {self._kind()}",
            f"  rows            {facts.rows_text}, {facts.events} events ({share:.0f} %)",
            f"  time            {facts.first_time:.4g} to {facts.last_time:.4g}{unit}",
            f"  log-likelihood  {self.log_likelihood_:.4f}",
        ]
        if self.penalty_ is not None:
            many = len(self.penalty_.columns)
            named = f"of {listed(self.penalty_.columns, 8)}" if many < len(self.coefficients_) else f"of {many} columns"
            lines.append(f"  ridge           {self.penalty_.ridge:.4g} {named}: {self.penalty_.reason}")
        lines += [f"  dropped         {name!r}: {reason}" for name, reason in self.dropped_.items()]
        return "\n".join([*lines, "", str(self.coefficients_)])

    @abstractmethod
    def _kind(self) -> str:
        """A few words for `summary`."""

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        return self.point

    def _to_file(self) -> FileContent:
        document = {
            "parameters": saved_parameters(self),
            "design": self.design_.to_plain(),
            "log_likelihood": self.log_likelihood_,
            "trained_on": self.trained_on_.to_dict(),
            "dropped": dict(self.dropped_),
            "penalty": None if self.penalty_ is None else self.penalty_._asdict(),
        }
        arrays = {"standardised": self.standardised_, "times": self.unique_times_}
        if self.standardised_covariance_ is not None:
            arrays["covariance"] = self.standardised_covariance_
        return document, {**arrays, **self._further_arrays()}

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> Self:
        if encoder is not None:
            raise ParameterError("encoder cannot be used: the model was trained without one.", argument="encoder")
        require(_ENTRIES <= set(document) <= _ENTRIES | _LATER_ENTRIES, "its entries are not those of a model")
        model: Self = with_parameters(cls, document["parameters"])
        model.check_parameters()
        design, times = Design.from_plain(document["design"]), finite_floats(arrays, "times")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        fit = model._read_fit(design, document, arrays)
        further = {name: array for name, array in arrays.items() if name not in _ARRAYS}
        trained_on = TrainedOn.from_dict(document["trained_on"])
        model._adopt(design, model._with_further_arrays(fit, design, further), trained_on, times)
        return model

    def _read_fit(self, design: Design, document: Document, arrays: Arrays) -> LinearFit:
        names = self._to_users_unit(design).names
        dropped = _read_dropped(document.get("dropped", {}), design.names)
        penalty = _read_penalty(document.get("penalty"), design.names)
        estimates = finite_floats(arrays, "standardised")
        # Without a covariance columns outnumber rows, which needs a penalty.
        without = "covariance" not in arrays and (penalty is not None or bool(self.ridge))
        covariance = None if without else finite_floats(arrays, "covariance")
        size = len(names)
        lost = np.array([name in dropped for name in names], np.bool_)
        require(estimates.shape == (size,), "its coefficients are not those of its columns")
        self._check_estimates(estimates)
        require(not estimates[lost].any(), "a column that was dropped has a coefficient")
        if covariance is not None:
            require(covariance.shape == (size, size), "its coefficients are not those of its columns")
            require(bool((np.diag(covariance)[~lost] > 0).all()), "its covariance must have positive variances")
        require(is_number(document["log_likelihood"]), "its log-likelihood is not a number")
        return LinearFit(
            standardised=estimates,
            standardised_covariance=covariance,
            log_likelihood=float(document["log_likelihood"]),
            dropped=dropped,
            penalty=penalty,
        )

    def _check_estimates(self, estimates: FloatArray) -> None:
        """Refuse coefficients of a file that no rows lead to: predictions would not be numbers."""
        require(bool((np.abs(estimates) <= _LARGEST_ESTIMATE).all()), "its coefficients are too large")

    def _further_arrays(self) -> dict[str, NDArray[Any]]:
        """What one kind of model has learned beside the parameters, for its file."""
        return {}

    def _with_further_arrays(self, fit: LinearFit, design: Design, arrays: Arrays) -> LinearFit:
        """The fit with what `_further_arrays` gave; anything else is refused."""
        require(not arrays, "it holds arrays that are not of this model")
        return fit


def _read_dropped(entry: Any, names: Sequence[str]) -> dict[str, str]:
    require(isinstance(entry, dict), "the columns that were dropped are unclear")
    require(
        all(name in names and isinstance(reason, str) for name, reason in entry.items()),
        "the columns that were dropped are not columns of the model",
    )
    return dict(entry)


def _read_penalty(entry: Any, names: Sequence[str]) -> Penalty | None:
    if entry is None:
        return None
    require(isinstance(entry, dict) and set(entry) == set(Penalty._fields), "its penalty is unclear")
    reason, ridge, columns = (entry[name] for name in Penalty._fields)
    require(isinstance(reason, str) and Number(0, above=True).allows(ridge), "its penalty is unclear")
    every = set(names)
    require(isinstance(columns, (list, tuple)) and all(name in every for name in columns), "its penalty is unclear")
    return Penalty(reason, float(ridge), tuple(columns))


def spreads(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviation of each column (d,), rows counted by their weights."""
    share = weights / weights.sum()
    spread, size = np.sqrt(share @ (x - share @ x) ** 2), np.sqrt(share @ x**2)
    # A constant column has no spread but that of rounding.
    return np.where(spread > _ROUNDING * size, spread, 0.0)


def number_of_events(data: SurvivalData) -> int:
    """Rows of positive weight that are known to have had the event."""
    return int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))
