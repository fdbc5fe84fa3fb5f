"""What adapters of other libraries share: columns, targets, where to get the library."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Satisfies
from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, MissingDependencyError, ModelFileError, ParameterError
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, Document, FileContent
from aldsurv.models.fitted_state import FittedState, set_columns, set_fitted_state
from aldsurv.models.parameter_constraints import CATEGORICAL, POINT
from aldsurv.models.point_parameter import PointParameterMixin
from aldsurv.models.rows.training_rows import (
    TrainedOn,
    data_fingerprint,
    distinct_times,
    require_events,
    require_same_count,
    thinned,
)
from aldsurv.models.training_target import with_joined_episodes

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["PeerSurvival", "library_options"]

FloatArray = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class PeerSurvival(PointParameterMixin, SurvivalEstimator):
    """An estimator that another library fits; columns and predictions are as everywhere in aldsurv.

    Columns are not scaled: trees do not need it, and so the library gets what a user would give it.

    Parameters
    ----------
    random_state
        Seed.
    options
        Further arguments of the library, as a dict.
    categorical
        Columns, by name or number, whose numbers are categories.
    point
        The summary of the distribution that `predict_time` gives: ``"median"``, ``"mean"``, ``"mode"`` or
        ``"restricted_mean"``, by which rows are ranked, too, unless the library has a risk score; ``"follow_up"``:
        the median as the time, and rows ranked by the restricted mean up to `follow_up_`.
    """

    random_state: Any = None
    options: Mapping[str, Any] | None = None
    categorical: Sequence[str | int] | None = None
    point: str = "follow_up"

    features_: Features = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "point": POINT,
        "categorical": CATEGORICAL,
        "options": Satisfies(lambda value: value is None or isinstance(value, Mapping), "a dict or None"),
    }
    # The name by which the library is installed.
    LIBRARY: ClassVar[str]
    # Whether rows may be left- or interval-censored.
    ANY_CENSORING: ClassVar[bool] = False

    def fit(self, X: object, y: object, sample_weight: object = None, groups: object = None) -> Self:
        """Learn from covariates and times without delayed entry, as `SurvivalEstimator.fit` says."""
        self.check_parameters()
        X, y, sample_weight, groups = with_joined_episodes(X, y, sample_weight, groups)
        owner = type(self).__name__
        features = Features.learn(X, categorical=self.categorical, scale=False, owner=owner)
        x, data = features.transform(X, owner=owner), self._read_training_target(y, sample_weight, groups)
        require_same_count(len(x), data)
        if not x.shape[1]:
            raise DataError(
                f"{owner} needs a column that varies, but X (n_samples={len(x)}) has none",
                argument="X",
                advice="Add one.",
            )
        self._check_rows(data)
        # For these libraries a row without weight still counts as a row.
        counting = np.flatnonzero(data.weights > 0)
        state = self._learn(x[counting], data[counting])
        set_fitted_state(self, state)
        times = thinned(distinct_times(data))
        self.features_, self.unique_times_ = features, times
        self.trained_on_ = TrainedOn.describe(data, times=times, fingerprint=data_fingerprint(x, data))
        set_columns(self, features)
        return self

    @abstractmethod
    def _learn(self, x: NDArray[np.float32], data: SurvivalData) -> FittedState:
        """What the library learned."""

    def _numbers(self, X: object) -> NDArray[np.float32]:
        self._require_fitted()
        return self.features_.transform(X, owner=type(self).__name__)

    def _check_rows(self, data: SurvivalData) -> None:
        owner, kinds = type(self).__name__, data.exact | data.right_censored
        if not self.ANY_CENSORING and not kinds.all():
            raise DataError(
                f"{owner} takes exact and right-censored rows only, but {int((~kinds).sum())} of {len(data)} rows are "
                "left- or interval-censored",
                argument="y",
                advice="Use another model, or leave these rows out.",
            )
        if data.entry is not None and np.isfinite(data.entry).any():
            raise DataError(
                f"{owner} cannot take delayed entry: {self.LIBRARY} does not support it",
                argument="y",
                advice="Use another model.",
            )
        require_events(data)

    def _missing(self) -> MissingDependencyError:
        return MissingDependencyError(
            f"{type(self).__name__} needs {self.LIBRARY}", advice="Install it with: pip install 'aldsurv[peers]'."
        )

    def _to_file(self) -> FileContent:
        raise self._no_file()

    @classmethod
    def _from_file(cls, document: Document, arrays: Arrays, encoder: object = None) -> Self:
        raise cls._no_file()

    @classmethod
    def _no_file(cls) -> ModelFileError:
        return ModelFileError(
            f"a {cls.__name__} cannot be saved: the object of {cls.LIBRARY} would need pickle, which runs code when it "
            "is read",
            advice="Fit it again where it is needed.",
        )


def library_options(options: Mapping[str, Any] | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The library's options, none of them a parameter of the adapter."""
    for name in options or {}:
        if name in parameters:
            raise ParameterError(
                f"options holds {name!r}, which is a parameter of the model",
                argument="options",
                advice=f"Give it as {name}=....",
            )
    return dict(options or {})
