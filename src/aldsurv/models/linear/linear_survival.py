"""What estimators with a linear predictor share: columns, penalty, the table of coefficients, files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import LARGEST_NUMBER, require, saved_parameters, with_parameters
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import LinearFit, Penalty
from aldsurv.models.linear.newton import listed
from aldsurv.models.training_rows import (
    TrainedOn,
    data_fingerprint,
    distinct_times,
    require_same_rows,
    thinned,
)

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LinearSurvival", "UserUnit", "finite_floats", "number_of_events", "spreads"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_POINTS = ("mean", "median", "mode", "restricted_mean")
_MOST_TIMES = 512
_ROUNDING = 1e-12
# Of a file: of columns that are scaled, and of times, which predictions must be able to multiply.
_LARGEST_ESTIMATE = 1e6
_ENTRIES = {"parameters", "design", "log_likelihood", "trained_on"}
# Files of earlier versions have none of these.
_LATER_ENTRIES = {"dropped", "penalty"}


class UserUnit(NamedTuple):
    """How parameters of scaled columns become those of the user's columns.

    Attributes
    ----------
    names
        Of the parameters (k,).
    factors
        What each is multiplied by (k,).
    first
        Of which combination (k,) the first one is made instead, if not of itself alone.
    """

    names: list[str]
    factors: FloatArray
    first: FloatArray | None = None

    def applied(self, values: FloatArray) -> FloatArray:
        """The change of parameters (k,) or of rows of a matrix (k, …)."""
        changed: FloatArray = (values.T * self.factors).T
        if self.first is not None:
            changed[0] = self.first @ values
        return changed


class LinearSurvival(SurvivalEstimator):
    """An estimator whose distribution depends on covariates by a sum of columns times coefficients.

    Parameters are estimated for centred and scaled columns (`standardised_`) and told in the user's unit
    (`coefficients_`, `covariance_`).
    """

    _RATIO: ClassVar[str]

    design_: Design
    standardised_: FloatArray
    standardised_covariance_: FloatArray | None
    dropped_: dict[str, str]
    penalty_: Penalty | None
    log_likelihood_: float
    trained_on_: TrainedOn

    ridge: float
    categorical: Sequence[str | int] | None
    point: str
    unit: str | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X
            Covariates: array, pandas or polars frame, one row a subject.
        y
            What `SurvivalData.of` takes: SurvivalData, a tuple ``(time, event)``, scikit-survival's structured
            array, or a frame of two columns.
        sample_weight
            A weight for each row; multiplies those of `y`.
        """
        self.check_parameters()
        owner = type(self).__name__
        design = Design.learn(X, categorical=self.categorical, strata=self._strata_columns(), owner=owner)
        x, codes = design.numbers(X, owner), design.codes(X)
        data = self._read_training_target(y, sample_weight)
        require_same_rows(len(x), data)
        learned = self._learn(design, x, data, codes)
        times = thinned(distinct_times(data))
        trained_on = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        self._remember(design, learned, trained_on, times)
        return self

    @abstractmethod
    def _learn(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> dict[str, Any]:
        """Fitted attributes by name: what is annotated above but for the columns, and the model's own."""

    @abstractmethod
    def _to_users_unit(self, design: Design) -> UserUnit:
        """Names of the coefficients, and how standardised ones become those of the user's unit."""

    def _learned(self, fit: LinearFit) -> dict[str, Any]:
        """Fitted attributes of every linear model."""
        return {
            "standardised_": fit.point,
            "standardised_covariance_": fit.covariance,
            "log_likelihood_": fit.log_likelihood,
            "dropped_": fit.dropped,
            "penalty_": fit.penalty,
        }

    def _strata_columns(self) -> Any:
        return None

    def _remember(self, design: Design, learned: Mapping[str, Any], facts: TrainedOn, times: FloatArray) -> None:
        """Become fitted: everything is set at once, after all that could fail."""
        self.design_, self.trained_on_, self.unique_times_ = design, facts, times
        for name, value in learned.items():
            setattr(self, name, value)
        self.n_features_in_ = design.features.n_features_in
        if design.features.names_in is not None:
            self.feature_names_in_ = np.array(design.features.names_in, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    @property
    def coefficients_(self) -> CoefficientTable:
        """Coefficients in the unit of the columns: names, estimates, standard errors, ratios with intervals."""
        self._require_fitted()
        unit, covariance = self._to_users_unit(self.design_), self.covariance_
        values = unit.applied(self.standardised_)
        errors = np.full(values.size, np.nan) if covariance is None else np.sqrt(np.diag(covariance))
        values[self._without_coefficient(unit.names)] = np.nan
        return CoefficientTable(tuple(unit.names), values, errors, self._RATIO)

    @property
    def covariance_(self) -> FloatArray | None:
        """Covariance matrix of the coefficients, by the observed information; with a ridge, by the penalised one.

        NaN for columns that were dropped; None if there are more columns than rows.
        """
        self._require_fitted()
        if self.standardised_covariance_ is None:
            return None
        unit = self._to_users_unit(self.design_)
        found = unit.applied(unit.applied(self.standardised_covariance_).T)
        lost = self._without_coefficient(unit.names)
        found[lost], found[:, lost] = np.nan, np.nan
        return found

    def _without_coefficient(self, names: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([name in self.dropped_ for name in names], np.bool_)

    def summary(self) -> str:
        """What the model is, what it was fitted to, and its coefficients."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = 100 * facts.events / facts.rows
        lines = [
            f"{type(self).__name__}, {self._kind()}",
            f"  rows            {facts.rows}, {facts.events} events ({share:.0f} %)",
            f"  time            {facts.first_time:.4g} to {facts.last_time:.4g}{unit}",
            f"  log-likelihood  {self.log_likelihood_:.4f}",
        ]
        if self.penalty_ is not None:
            many = len(self.penalty_.columns)
            named = f"of {listed(self.penalty_.columns)}" if many < len(self.coefficients_) else f"of {many} columns"
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

    def check_parameters(self) -> None:
        if not _is_number(self.ridge) or not 0 <= self.ridge < np.inf:
            raise ParameterError(f"ridge must be a number from 0 (no penalty) on, but is {self.ridge!r}.")
        if self.point not in _POINTS:
            raise ParameterError(f"point must be one of {', '.join(_POINTS)}, but is {self.point!r}.")
        if self.unit is not None and not isinstance(self.unit, str):
            raise ParameterError(f"unit must be text, such as 'months', but is {self.unit!r}.")
        if self.categorical is not None and not isinstance(self.categorical, (list, tuple, str)):
            raise ParameterError(f"categorical must be a list, but is {self.categorical!r:.60}.")

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        document = {
            "parameters": saved_parameters(self),
            "design": self.design_.to_plain(),
            "log_likelihood": self.log_likelihood_,
            "trained_on": self.trained_on_.to_dict(),
            "dropped": self.dropped_,
            "penalty": None if self.penalty_ is None else self.penalty_._asdict(),
        }
        arrays = {"standardised": self.standardised_, "times": self.unique_times_}
        if self.standardised_covariance_ is not None:
            arrays["covariance"] = self.standardised_covariance_
        return document, {**arrays, **self._own_arrays()}

    @classmethod
    def _from_file(cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None) -> Self:
        if encoder is not None:
            raise ParameterError("encoder has no use: the model was trained without one.")
        require(_ENTRIES <= set(document) <= _ENTRIES | _LATER_ENTRIES, "its entries are not those of a model")
        model: Self = with_parameters(cls, document["parameters"])
        model.check_parameters()
        design = Design.from_plain(document["design"])
        names = model._to_users_unit(design).names
        dropped = _checked_dropped(document.get("dropped", {}), design.names)
        penalty = _checked_penalty(document.get("penalty"), design.names)
        estimates, times = (finite_floats(arrays, name) for name in ("standardised", "times"))
        # Only with a penalty may columns outnumber rows, and have none.
        none = "covariance" not in arrays and (penalty is not None or bool(model.ridge))
        covariance = None if none else finite_floats(arrays, "covariance")
        size = len(names)
        lost = np.array([name in dropped for name in names], np.bool_)
        require(estimates.shape == (size,), "its coefficients are not its columns'")
        model._check_estimates(estimates)
        require(not estimates[lost].any(), "a column that was dropped has a coefficient")
        if covariance is not None:
            require(covariance.shape == (size, size), "its coefficients are not its columns'")
            require(bool((np.diag(covariance)[~lost] > 0).all()), "its covariance is none")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        require(_is_number(document["log_likelihood"]), "its log-likelihood is no number")
        facts = TrainedOn.from_dict(document["trained_on"])
        learned = {
            "standardised_": estimates,
            "standardised_covariance_": covariance,
            "log_likelihood_": float(document["log_likelihood"]),
            "dropped_": dropped,
            "penalty_": penalty,
        }
        named = {"standardised", "covariance", "times"}
        own = model._own_from_arrays(design, {name: arrays[name] for name in arrays if name not in named})
        model._remember(design, {**learned, **own}, facts, times)
        return model

    def _check_estimates(self, estimates: FloatArray) -> None:
        """Refuse coefficients of a file that no rows could have led to: predictions would be no numbers."""
        require(bool((np.abs(estimates) <= _LARGEST_ESTIMATE).all()), "its coefficients are too large")

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    def _own_from_arrays(self, design: Design, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Fitted attributes of the model's own, from a file's further arrays; nonsense is refused."""
        require(not arrays, "it holds arrays that are not of this model")
        return {}


def _checked_dropped(plain: Any, names: Sequence[str]) -> dict[str, str]:
    require(isinstance(plain, dict), "the columns that were dropped are unclear")
    require(
        all(name in names and isinstance(reason, str) for name, reason in plain.items()),
        "the columns that were dropped are not its own",
    )
    return dict(plain)


def _checked_penalty(plain: Any, names: Sequence[str]) -> Penalty | None:
    if plain is None:
        return None
    require(isinstance(plain, dict) and set(plain) == set(Penalty._fields), "its penalty is unclear")
    reason, ridge, columns = (plain[field] for field in Penalty._fields)
    require(isinstance(reason, str) and _is_number(ridge) and 0 < ridge < np.inf, "its penalty is unclear")
    known = set(names)
    require(isinstance(columns, (list, tuple)) and all(name in known for name in columns), "its penalty is unclear")
    return Penalty(reason, float(ridge), tuple(columns))


def spreads(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviation of each column (d,), rows counted by their weights."""
    share = weights / weights.sum()
    spread, size = np.sqrt(share @ (x - share @ x) ** 2), np.sqrt(share @ x**2)
    # What rounding leaves of a constant is none.
    return np.where(spread > _ROUNDING * size, spread, 0.0)


def number_of_events(data: SurvivalData) -> int:
    """Rows of positive weight whose event is known to have come."""
    return int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))


def finite_floats(arrays: Mapping[str, NDArray[Any]], name: str) -> FloatArray:
    """An array of a file, if it is there and all finite numbers."""
    if name not in arrays:
        raise ModelFileError(f"the file cannot be used: {name} is missing.")
    found = arrays[name]
    require(found.dtype == np.float64 and bool(np.isfinite(found).all()), f"{name} must be finite numbers")
    require(bool((np.abs(found) <= LARGEST_NUMBER).all()), f"{name} must be numbers of at most {LARGEST_NUMBER:g}")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
