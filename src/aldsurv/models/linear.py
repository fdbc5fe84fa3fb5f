"""What estimators with a linear predictor share: columns, penalty, the table of coefficients, files."""

from __future__ import annotations

import platform
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv import __version__
from aldsurv.errors import DataError, ModelFileError, ParameterError
from aldsurv.models.base import SurvivalEstimator, read_target
from aldsurv.models.coefficients import CoefficientTable
from aldsurv.models.file_entries import require, saved_parameters, with_parameters
from aldsurv.models.linear_design import Design
from aldsurv.models.newton import Evaluation, listed
from aldsurv.models.preparation import data_fingerprint
from aldsurv.survival_data import SurvivalData

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LinearSurvival", "finite_floats", "inverse", "penalised", "refuse_few_events", "spreads"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_POINTS = ("mean", "median", "mode", "restricted_mean")
_MOST_TIMES = 512
_ENTRIES = {"parameters", "design", "log_likelihood", "trained_on"}


class LinearSurvival(SurvivalEstimator):
    """An estimator whose distribution depends on covariates by a sum of columns times coefficients.

    Parameters are estimated for centred and scaled columns (`standardised_`) and told in the user's unit
    (`coefficients_`, `covariance_`).
    """

    _NAME: ClassVar[str]
    _RATIO: ClassVar[str]

    design_: Design
    standardised_: FloatArray
    standardised_covariance_: FloatArray
    log_likelihood_: float
    trained_on_: dict[str, Any]

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
        self._check_parameters()
        owner = type(self).__name__
        design = Design.learn(X, categorical=self.categorical, strata=self._strata_columns(), owner=owner)
        x, codes = design.numbers(X, owner), design.codes(X)
        data = read_target(y, sample_weight)
        if len(x) != len(data):
            raise DataError(f"X has {len(x)} rows, but y has {len(data)}. Give one row of X for each time.")
        if not (np.isfinite(data.upper) & (data.weights > 0)).any():
            raise DataError(
                "no event was observed in any row: there is nothing to learn. "
                "Check which value of the event column means an event."
            )
        learned = self._learn(design, x, data, codes)
        self._remember(design, learned, _facts(x, data), _times(data))
        return self

    @abstractmethod
    def _learn(self, design: Design, x: FloatArray, data: SurvivalData, codes: IntArray | None) -> dict[str, Any]:
        """Fitted attributes by name: what is annotated above but for the columns, and the model's own."""

    @abstractmethod
    def _to_users_unit(self, design: Design) -> tuple[list[str], FloatArray]:
        """Names of the coefficients (k,), and the matrix (k, k) that takes standardised ones to the user's unit."""

    def _strata_columns(self) -> Any:
        return None

    def _remember(self, design: Design, learned: Mapping[str, Any], facts: dict[str, Any], times: FloatArray) -> None:
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
        names, change = self._to_users_unit(self.design_)
        errors = np.sqrt(np.diag(self.covariance_))
        return CoefficientTable(tuple(names), change @ self.standardised_, errors, self._RATIO)

    @property
    def covariance_(self) -> FloatArray:
        """Covariance matrix of the coefficients, by the observed information; with a ridge, by the penalised one."""
        self._require_fitted()
        _, change = self._to_users_unit(self.design_)
        return np.asarray(change @ self.standardised_covariance_ @ change.T)

    def summary(self) -> str:
        """What the model is, what it was fitted to, and its coefficients."""
        self._require_fitted()
        facts, unit = self.trained_on_, f" {self.unit}" if self.unit else ""
        share = 100 * facts["events"] / facts["rows"]
        lines = [
            f"{type(self).__name__}, {self._kind()}",
            f"  rows            {facts['rows']}, {facts['events']} events ({share:.0f} %)",
            f"  time            {facts['first_time']:.4g} to {facts['last_time']:.4g}{unit}",
            f"  log-likelihood  {self.log_likelihood_:.4f}",
        ]
        return "\n".join([*lines, "", str(self.coefficients_)])

    @abstractmethod
    def _kind(self) -> str:
        """A few words for `summary`."""

    def _point(self) -> str:
        return self.point

    def _check_parameters(self) -> None:
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
            "trained_on": self.trained_on_,
        }
        arrays = {
            "standardised": self.standardised_,
            "covariance": self.standardised_covariance_,
            "times": self.unique_times_,
        }
        return document, {**arrays, **self._own_arrays()}

    @classmethod
    def _from_file(cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None) -> Self:
        if encoder is not None:
            raise ParameterError("encoder has no use: the model was trained without one.")
        require(set(document) == _ENTRIES, "its entries are not those of a model")
        model: Self = with_parameters(cls, document["parameters"])
        model._check_parameters()
        design = Design.from_plain(document["design"])
        size = len(model._to_users_unit(design)[0])
        estimates, covariance, times = (finite_floats(arrays, name) for name in ("standardised", "covariance", "times"))
        require(
            estimates.shape == (size,) and covariance.shape == (size, size), "its coefficients are not its columns'"
        )
        require(bool((np.diag(covariance) > 0).all()), "its covariance is none")
        require(times.ndim == 1 and times.size > 0 and bool((np.diff(times) > 0).all()), "times must be ascending")
        require(_is_number(document["log_likelihood"]), "its log-likelihood is no number")
        facts = document["trained_on"]
        numbers = [facts[name] for name in ("rows", "events", "first_time", "last_time")]
        require(all(_is_number(number) for number in numbers) and numbers[0] >= 1, "trained_on is unclear")
        learned = {
            "standardised_": estimates,
            "standardised_covariance_": covariance,
            "log_likelihood_": float(document["log_likelihood"]),
        }
        named = {"standardised", "covariance", "times"}
        own = model._own_from_arrays(design, {name: arrays[name] for name in arrays if name not in named})
        model._remember(design, {**learned, **own}, facts, times)
        return model

    def _own_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    def _own_from_arrays(self, design: Design, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
        """Fitted attributes of the model's own, from a file's further arrays; nonsense is refused."""
        require(not arrays, "it holds arrays that are not of this model")
        return {}


def spreads(x: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviation of each column (d,), rows counted by their weights."""
    share = weights / weights.sum()
    return np.asarray(np.sqrt(share @ (x - share @ x) ** 2))


def penalised(evaluate: Callable[[FloatArray], Evaluation], penalty: FloatArray) -> Callable[[FloatArray], Evaluation]:
    """The function less ``½·Σ penalty·parameter²``."""

    def less(point: FloatArray) -> Evaluation:
        value, gradient, information = evaluate(point)
        cost = 0.5 * float(penalty @ point**2)
        return Evaluation(value - cost, gradient - penalty * point, information + np.diag(penalty))

    return less


def refuse_few_events(data: SurvivalData, names: Sequence[str]) -> None:
    """An error if there are more columns than events to learn them from."""
    events = int(np.count_nonzero(np.isfinite(data.upper) & (data.weights > 0)))
    if len(names) > events:
        raise DataError(
            f"{len(names)} columns cannot be learned from {events} events: {listed(list(names))}. "
            "Set ridge > 0 or leave columns out."
        )


def inverse(information: FloatArray) -> FloatArray:
    """Inverse of a positive definite matrix, symmetric to the bit."""
    found = np.linalg.inv(information)
    return np.asarray((found + found.T) / 2)


def finite_floats(arrays: Mapping[str, NDArray[Any]], name: str) -> FloatArray:
    """An array of a file, if it is there and all finite numbers."""
    if name not in arrays:
        raise ModelFileError(f"the file cannot be used: {name} is missing.")
    found = arrays[name]
    require(found.dtype == np.float64 and bool(np.isfinite(found).all()), f"{name} must be finite numbers")
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _facts(x: FloatArray, data: SurvivalData) -> dict[str, Any]:
    times = _times(data)
    return {
        "rows": len(data),
        "events": data.n_events,
        "total_weight": data.total_weight,
        "first_time": float(times[0]),
        "last_time": float(times[-1]),
        "fingerprint": data_fingerprint(x, data),
        "versions": {"aldsurv": __version__, "numpy": np.__version__, "python": platform.python_version()},
    }


def _times(data: SurvivalData) -> FloatArray:
    known = np.concatenate([data.lower, data.upper])
    times = np.unique(known[np.isfinite(known)])
    if len(times) > _MOST_TIMES:
        times = times[np.linspace(0, len(times) - 1, _MOST_TIMES).round().astype(np.intp)]
    return times
