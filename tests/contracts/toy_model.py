"""A model as a contributor would add it: one file, and one record in the registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number
from aldsurv.columns.features import Features
from aldsurv.distributions.families.exponential import Exponential
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import finite_floats, require, saved_parameters, with_parameters
from aldsurv.models.fitted_state import set_columns
from aldsurv.models.rows.training_rows import TrainedOn, data_fingerprint, distinct_times, require_same_rows, thinned
from aldsurv.models.search_space import Range, SearchSpace
from aldsurv.registry import ModelRecord

RECORD = ModelRecord("toy", f"{__name__}:ToySurvival", "Toy exponential", "exponential times by least squares")


@final
@dataclass(kw_only=True, eq=False, repr=False)
class ToySurvival(SurvivalEstimator):
    """Exponential times: the log mean is linear in the columns, by least squares of log time.

    Parameters
    ----------
    ridge
        Penalty on the slopes, relative to the variance of the columns.
    """

    ridge: float = 0.0

    slopes_: NDArray[np.float64] = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {"ridge": Number(0)}
    SEARCH_SPACE: ClassVar[SearchSpace] = SearchSpace({"ridge": Range(1e-6, 10.0, log=True)}, "log_likelihood")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> ToySurvival:
        self.check_parameters()
        features = Features.learn(X, exact=True, owner="ToySurvival")
        x = features.transform_exactly(X, owner="ToySurvival")
        data = self._read_training_target(y, sample_weight, groups)
        require_same_rows(len(x), data)
        share = data.weights / data.total_weight
        time = np.maximum(data.time, 1e-3 * (share @ data.time))
        centred = x - share @ x
        gram = centred.T @ (share[:, None] * centred)
        penalised = gram + (self.ridge + 1e-9) * np.diag(np.diag(gram) + 1e-9)
        slopes = np.linalg.solve(penalised, centred.T @ (share * np.log(time)))
        # With the slopes given, the maximum likelihood estimate of the intercept: events over exposure.
        intercept = np.log(share @ (time / np.exp(x @ slopes)) / share[data.event].sum())
        times = thinned(distinct_times(data))
        self._adopt(
            features,
            np.append(intercept, slopes),
            times,
            TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data)),
        )
        return self

    def predict_distribution(self, X: Any) -> Exponential:
        self._require_fitted()
        assert self.features_ is not None
        x = self.features_.transform_exactly(X, owner="ToySurvival")
        return Exponential(scale=np.exp(self.slopes_[0] + x @ self.slopes_[1:]))

    @property
    def error_point_(self) -> str:
        return "median"

    def _adopt(self, features: Features, slopes: NDArray[np.float64], times: Any, trained_on: TrainedOn) -> None:
        self.features_, self.slopes_, self.unique_times_, self.trained_on_ = features, slopes, times, trained_on
        set_columns(self, features)

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        assert self.features_ is not None
        assert self.trained_on_ is not None
        document = {"features": self.features_.to_dict(), "trained_on": self.trained_on_.to_dict()}
        arrays = {"slopes": self.slopes_, "times": self.unique_times_}
        return {"parameters": saved_parameters(self), **document}, arrays

    @classmethod
    def _from_file(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None
    ) -> ToySurvival:
        model: ToySurvival = with_parameters(cls, document["parameters"])
        features, slopes, times = (
            Features.from_dict(document["features"]),
            finite_floats(arrays, "slopes"),
            finite_floats(arrays, "times"),
        )
        require(slopes.shape == (features.width + 1,), "its slopes are not those of its columns")
        model._adopt(features, slopes, times, TrainedOn.from_dict(document["trained_on"]))
        return model
