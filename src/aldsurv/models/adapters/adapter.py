"""What adapters of other libraries share: columns, targets, where to get the library."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, MissingDependencyError, ModelFileError, ParameterError
from aldsurv.models.base import SurvivalEstimator

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PeerSurvival", "library_options"]

FloatArray = NDArray[np.float64]

_POINTS = ("mean", "median", "mode", "restricted_mean")
_MOST_TIMES = 512


class PeerSurvival(SurvivalEstimator):
    """An estimator that another library fits; columns and answers are as everywhere in aldsurv.

    Columns are not scaled: trees do not heed it, and so what the library gets is what a user would give it.
    """

    # The name by which the library is installed.
    _LIBRARY: ClassVar[str]
    # Whether rows may be left- or interval-censored.
    _ANY_CENSORING: ClassVar[bool] = False

    features_: Features

    categorical: Sequence[str | int] | None
    point: str
    options: Mapping[str, Any] | None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from covariates and times.

        Parameters
        ----------
        X
            Covariates: array, pandas or polars frame, one row a subject.
        y
            What `SurvivalData.of` takes: SurvivalData, a tuple ``(time, event)``, scikit-survival's structured
            array, or a frame of two columns. No delayed entry: these libraries have none.
        sample_weight
            A weight for each row; multiplies those of `y`.
        """
        owner = type(self).__name__
        if self.point not in _POINTS:
            raise ParameterError(f"point must be one of {', '.join(_POINTS)}, but is {self.point!r}.")
        if self.options is not None and not isinstance(self.options, Mapping):
            raise ParameterError(f"options must be a dict of the library's own, but is {self.options!r:.60}.")
        features = Features.learn(X, categorical=self.categorical, scale=False, owner=owner)
        x, data = features.transform(X, owner=owner), self._read_training_target(y, sample_weight)
        if len(x) != len(data):
            raise DataError(f"X has {len(x)} rows, but y has {len(data)}. Give one row of X for each time.")
        if not x.shape[1]:
            raise DataError(f"{owner} needs a column that varies, but X (n_samples={len(x)}) has none. Add one.")
        self._refuse(data)
        # For these libraries a row without weight still counts as a row.
        counting = np.flatnonzero(data.weights > 0)
        learned = self._learn(x[counting], data[counting])
        known = np.concatenate([data.lower, data.upper])
        times = np.unique(known[np.isfinite(known)])
        if len(times) > _MOST_TIMES:
            times = times[np.linspace(0, len(times) - 1, _MOST_TIMES).round().astype(np.intp)]
        for name, value in learned.items():
            setattr(self, name, value)
        self.features_, self.unique_times_ = features, times
        self.n_features_in_ = features.n_features_in
        if features.names_in is not None:
            self.feature_names_in_ = np.array(features.names_in, dtype=object)
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_
        return self

    @abstractmethod
    def _learn(self, x: NDArray[np.float32], data: SurvivalData) -> dict[str, Any]:
        """Fitted attributes by name."""

    def _numbers(self, X: Any) -> NDArray[np.float32]:
        self._require_fitted()
        return self.features_.transform(X, owner=type(self).__name__)

    def _refuse(self, data: SurvivalData) -> None:
        owner, kinds = type(self).__name__, data.exact | data.right_censored
        if not self._ANY_CENSORING and not kinds.all():
            raise DataError(
                f"{owner} takes exact and right-censored rows only, but {int((~kinds).sum())} of {len(data)} rows are "
                "left- or interval-censored. Use another model, or leave these rows out."
            )
        if data.entry is not None and np.isfinite(data.entry).any():
            raise DataError(f"{owner} cannot heed delayed entry: {self._LIBRARY} has none. Use another model.")
        if not (np.isfinite(data.upper) & (data.weights > 0)).any():
            raise DataError(
                "no event was observed in any row: there is nothing to learn. "
                "Check which value of the event column means an event."
            )

    @property
    def error_point_(self) -> str:
        """The summary that `predict_time` gives."""
        return self.point

    def _missing(self) -> MissingDependencyError:
        return MissingDependencyError(
            f"{type(self).__name__} needs {self._LIBRARY}. Install it with: pip install 'aldsurv[peers]'."
        )

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        raise self._no_file()

    @classmethod
    def _from_file(cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], encoder: Any = None) -> Self:
        raise cls._no_file()

    @classmethod
    def _no_file(cls) -> ModelFileError:
        return ModelFileError(
            f"a {cls.__name__} cannot be saved: what {cls._LIBRARY} learned would need pickle, which runs code "
            "when it is read. Fit it again where it is needed."
        )


def library_options(options: Mapping[str, Any] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """The library's own options, none of them a parameter of the adapter."""
    found = dict(options or {})
    for name in found:
        if name in known:
            raise ParameterError(f"options holds {name!r}, which is a parameter of its own. Give it as {name}=....")
    return found
