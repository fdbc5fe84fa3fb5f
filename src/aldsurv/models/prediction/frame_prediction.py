"""Predictions for the rows of a frame, as a frame: what jobs that score tables in parts call for each part."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Number, OrNone, check
from aldsurv.display.frames import data_frame
from aldsurv.errors import ParameterError
from aldsurv.models.prediction.prediction_request import SUMMARIES, PredictionRequest
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    import pandas as pd

    from aldsurv.models.base import SurvivalEstimator

__all__ = ["predict_frame", "predicted_columns", "request_of"]

_SHARE = OrNone(Number(0.0, 1.0, above=True, below=True))


def predict_frame(
    model: SurvivalEstimator,
    X: Any,
    *,
    times: Sequence[float] = (),
    quantiles: Sequence[float] = (),
    summaries: Sequence[str] = (),
    interval: float | None = None,
    band: float | None = None,
) -> pd.DataFrame:
    """Predict for each row, with the columns that ``aldsurv predict`` writes.

    Parameters
    ----------
    model
        A fitted model.
    X
        Covariates: a pandas frame or a dict of columns, of which those that the model was not trained on are ignored;
        or anything else that models take. There may be no rows: the result then has the right columns and types.
    times
        Times of ``survival_…``, in the unit of training; with causes also of ``incidence_CAUSE_…``.
    quantiles
        Probabilities of ``q…``, each from 0 to below 1.
    summaries
        Columns out of ``"mean"``, ``"median"``, ``"mode"``, ``"std"`` and ``"restricted_mean"`` (up to each of `times`,
        or to the end of follow-up).
    interval
        Probability within the central interval ``lower_…`` to ``upper_…``.
    band
        Level of the limits ``…_lower`` and ``…_upper`` between the members of an ensemble.

    Returns
    -------
    pandas.DataFrame
        A row per row of `X`, with its index if `X` is a pandas frame. Without any of the parameters, the columns are
        the median and the quantiles 0.1 and 0.9. The last column, ``outside``, says whether a value of the row lies
        beyond those of training.

    Examples
    --------
    >>> from aldsurv.models import WeibullAFT
    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(60, 10, 200)
    >>> model = WeibullAFT().fit({"age": age}, (0.3 * age * rng.weibull(2.0, 200), np.ones(200)))
    >>> predict_frame(model, {"age": [50.0, 120.0]}, times=[12], summaries=["median"]).round(1)
       median  survival_12  outside
    0    12.2          0.5    False
    1    60.7          1.0     True
    """
    request = request_of(model, times, quantiles, summaries, interval, band)
    covariates, length, index = _covariates(model, X)
    return data_frame(predicted_columns(model, request, covariates, length), index=index, length=length)


def predicted_columns(
    model: SurvivalEstimator, request: PredictionRequest, covariates: Any, length: int
) -> dict[str, NDArray[Any]]:
    """The columns of `predict_frame` by name for so many rows with only the columns of the model."""
    if not length:
        return {**dict.fromkeys(request.names, np.zeros(0)), "outside": np.zeros(0, np.bool_)}
    columns, features = request.predict(model, covariates), model.innermost.features_
    outside = np.zeros(length, np.bool_)
    if features is not None:
        outside = np.asarray(features.outside(covariates).any(axis=1))
    return {**{name: np.asarray(columns[name], np.float64) for name in request.names}, "outside": outside}


def request_of(
    model: SurvivalEstimator,
    times: Sequence[float],
    quantiles: Sequence[float],
    summaries: Sequence[str],
    interval: float | None,
    band: float | None,
) -> PredictionRequest:
    """The columns that the arguments of `predict_frame` ask for."""
    grid, levels = _numbers("times", times, math.inf), _numbers("quantiles", quantiles, 1.0)
    if isinstance(summaries, str):
        raise ParameterError(f"summaries must be a list, but is {quoted(summaries)}.", argument="summaries")
    for name in summaries:
        check("summaries", name, Choice(SUMMARIES))
    check("interval", interval, _SHARE)
    check("band", band, _SHARE)
    if band is not None and model.n_members < 2:
        raise ParameterError(
            f"band needs an ensemble, but this {type(model).__name__} has one member", argument="band",
            advice="Leave band out, or fit a model with several members.",
        )  # fmt: skip
    wanted = tuple(dict.fromkeys(summaries))
    if not (grid or levels or wanted) and interval is None:
        wanted, levels = ("median",), (0.1, 0.9)
    # As `aldsurv predict` has it: to the times asked for, or to the last one of training.
    horizons = grid or (float(model.unique_times_[-1]),)
    return PredictionRequest(wanted, levels, interval, grid, horizons, band, model.causes_ or ())


def _numbers(name: str, given: Sequence[float], below: float) -> tuple[float, ...]:
    allowed = Number(0.0, below, below=math.isfinite(below))
    for value in np.atleast_1d(np.asarray(given, dtype=object)).tolist():
        check(name, value, allowed)
    return tuple(dict.fromkeys(float(value) for value in np.atleast_1d(np.asarray(given, np.float64)).tolist()))


def _covariates(model: SurvivalEstimator, X: Any) -> tuple[Any, int, Any]:
    """The columns of the model, the number of rows, and their labels if `X` is a frame of pandas."""
    trained_with = set(getattr(model, "feature_names_in_", ()))
    if isinstance(X, Mapping):
        kept = {name: values for name, values in X.items() if not trained_with or name in trained_with}
        return kept, len(next(iter(X.values()), ())), None
    # A frame of pandas is there only if pandas has been imported.
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(X, pandas.DataFrame):
        return X, len(X), None
    if trained_with:
        return X.loc[:, [name in trained_with for name in X.columns]], len(X), X.index
    return X, len(X), X.index
